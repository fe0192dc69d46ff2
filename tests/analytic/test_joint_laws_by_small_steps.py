"""Every law of test_joint_laws.py by small steps. A block far too heavy to be slowed down is moved along a path, and the force
of the joint is compared with the curve of its law, step by step; nothing is damped, so that all work is stored or lost by
the law. Where the laws of the two integrators differ, it is said at the test."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from test_joint_laws import (
    ALONG,
    AREA,
    DOWN,
    GLUE,
    K_N,
    K_T,
    LAWS,
    MANY,
    PIECES,
    PRESSED_SHEARED_AND_PULLED,
    SIDES,
    STIFF,
    TRIANGLES,
    UP,
    H,
    W,
    assert_curve,
    joint_model,
    upper_blocks,
)
from test_small_steps import turned_box

from drystone.build.shapes import box
from drystone.engine.simulation import initial_state
from drystone.engine.small_steps.cell_stress import BOND, CRUSHED
from drystone.engine.small_steps.initial_equilibrium import settled
from drystone.engine.small_steps.integrator import STONE, SmallSteps
from drystone.structure.joint_laws import Adhesion, JointLaw
from drystone.structure.model import Block, build_model

UNDAMPED = STONE._replace(damping=0.0, rocking=0.0, landing=0.0)
SMALL = 1e-4  # [s] a small step, of a block that no joint can slow down


def drive(model, path):
    """How far the first block above is moved [m], the force of the support on all of them [N], and the states along legs
    (velocity [m/s, rad/s], steps)."""
    engine, state = SmallSteps(model, gravity=0.0, material=UNDAMPED), initial_state(model, 0.0)
    moved, force, states = [], [], []
    for velocity, steps in path:
        state = moving(model, state, velocity)
        for _ in range(steps):
            state, report = engine.advance(state, H)
            assert report.sound
            ground = model.bodies.fixed[state.contacts.a]
            moved.append(state.position[1] - model.position[1])
            force.append(state.contacts.impulse[ground].sum(axis=0) / H)
            states.append(state)
    return np.array(moved), np.array(force), states


def moving(model, state, velocity):
    """The state with a velocity of all blocks that are not fixed, and its kinetic energy."""
    speed, bodies = np.zeros_like(state.velocity), model.bodies
    speed[~bodies.fixed, : len(velocity)] = velocity
    kinetic = 0.5 * (bodies.mass @ (speed[:, :3] ** 2).sum(axis=1))
    kinetic += 0.5 * np.einsum("bi,bij,bj->", speed[:, 3:], bodies.inertia, speed[:, 3:])
    return state._replace(velocity=speed, energy=state.energy._replace(kinetic=float(kinetic)))


def bonds(state):
    """(C,) of all cells."""
    return state.cells.state[:, BOND]


def assert_accounted(states, tolerance=1e-3):
    """No work is left over as damping, of which there is none, beyond a part of all that was lost or is stored."""
    lost = [state.energy.friction + state.energy.fracture + abs(state.energy.elastic) for state in states]
    assert max(abs(state.energy.damping) for state in states) <= tolerance * max(lost)


@pytest.mark.parametrize("planar", [False, True])
@pytest.mark.parametrize("crushing", [None, 1e9], ids=["patch", "cells"])
def test_stiffness_across_and_along(planar, crushing):
    """Truth: n = k_n closing A, t = k_t slip A up to friction n, both ways. As one patch, and cell by cell where the law has
    something to remember (a crushing that is never reached)."""
    model = joint_model(JointLaw(0.5, crushing=crushing, **STIFF), planar)
    moved, force, states = drive(model, [(2e-3 * DOWN, 50), (2e-3 * ALONG, 150), (-2e-3 * ALONG, 200), (3e-3 * UP, 60)])
    assert (len(states[0].cells.state) > 0) == (crushing is not None)
    normal = K_N * AREA * np.maximum(-moved[:, 2], 0)
    assert_curve(force[:, 2], normal)
    limit = 0.5 * normal[50]
    assert_curve(-force[50:200, 0], np.minimum(K_T * AREA * moved[50:200, 0], limit))
    turned = limit - K_T * AREA * (moved[199, 0] - moved[200:400, 0])
    assert_curve(-force[200:400, 0], np.maximum(turned, -limit))
    assert np.all(force[-20:] == 0)
    slid = moved[199, 0] - moved[399, 0] + moved[199, 0] - 3 * limit / (K_T * AREA)  # but for what is elastic
    assert states[399].energy.friction == pytest.approx(limit * slid, rel=1e-3)
    assert_accounted(states)


@pytest.mark.parametrize("planar", [False, True])
@pytest.mark.parametrize("law", [JointLaw(0.6, tension=2e5, **STIFF), LAWS["cut-off"]], ids=["apex", "cut-off"])
def test_tension_breaks_once_for_all(law, planar):
    """Truth: -n = k_n opening A up to the tension, nothing beyond; the energy under the curve is lost. Unloading before it
    comes back; the broken joint presses and does not pull."""
    early = [(1e-3 * UP, 90), (1e-3 * DOWN, 90)]
    path = [*early, (1e-3 * UP, 120), (1e-3 * DOWN, 170), (1e-3 * UP, 100)]
    moved, force, states = drive(joint_model(law, planar), path)
    sound = np.arange(len(moved)) < 180 + 100
    opening = moved[:, 2]
    expected = np.where(sound, -K_N * AREA * opening, K_N * AREA * np.maximum(-opening, 0))
    expected[279:281] = force[279:281, 2]  # the tension itself, 0.1 mm, may fall on either side
    assert_curve(force[:, 2], expected)
    assert -force[:, 2].min() == pytest.approx(AREA * 2e5, rel=0.011)  # seen at time steps, 1 % of the way apart
    assert states[281].energy.fracture == pytest.approx(0.5 * 2e5**2 / K_N * AREA, rel=3 * SMALL / 0.1)
    assert states[-1].energy.fracture == states[281].energy.fracture
    assert np.all(bonds(states[179]) == 1)
    assert np.all(bonds(states[281]) == 0)


@pytest.mark.parametrize("brittle", [False, True])
def test_mohr_coulomb_yields_and_brittle_drops(brittle):
    """Truth: t = min(k_t slip, c + mu p) A; a brittle joint falls to mu p A and stays there. What it loses is the work done
    less what it stores."""
    model = joint_model(JointLaw(0.5, cohesion=1e5, brittle=brittle, **STIFF))
    moved, force, states = drive(model, [(1e-3 * DOWN, 50), (1e-3 * ALONG, 400)])
    pressure, slip = K_N * 50e-6, moved[50:, 0]
    peak = 1e5 + 0.5 * pressure
    expected = np.minimum(K_T * slip, peak)
    if brittle:
        expected = np.where(K_T * slip >= peak, 0.5 * pressure, expected)
    assert_curve(-force[50:, 0], AREA * expected)
    assert_curve(force[50:, 2], np.full(400, AREA * pressure))
    assert np.all(bonds(states[-1]) == (0 if brittle else 1))
    at_peak, end = peak / K_T, expected[-1]
    lost = 0.5 * peak * at_peak + end * (slip[-1] - at_peak) - 0.5 * end**2 / K_T
    energy = states[-1].energy
    assert energy.friction + energy.fracture == pytest.approx(AREA * lost, rel=1e-3)
    assert_accounted(states)


@pytest.mark.parametrize("tension", [0.5e5, 1.5e5])
def test_a_bond_that_is_pulled_bears_less_shear(tension):
    """Truth: t = (c - mu |p|) A under tension, the cone of Mohr and Coulomb left of the origin; c / mu is 2e5."""
    model = joint_model(JointLaw(0.5, cohesion=1e5, **STIFF))
    lift = tension / K_N / 0.05
    moved, force, states = drive(model, [(lift * UP, 50), (1e-3 * ALONG, 200)])
    assert_curve(-force[50:, 0], AREA * np.minimum(K_T * moved[50:, 0], 1e5 - 0.5 * tension))
    assert_curve(force[50:, 2], np.full(200, -AREA * tension))
    assert np.all(bonds(states[-1]) == 1)


@pytest.mark.parametrize("planar", [False, True])
def test_adhesion_softens_and_takes_its_energy(planar):
    """Truth (T75): -n / A = k u up to u0 = sqrt(w / k), w^2 / (k u^3) beyond; back along a line to the origin; w for all."""
    model = joint_model(JointLaw(0.5, adhesion=GLUE, **STIFF), planar)
    path = [(1e-3 * UP, 120), (4e-3 * DOWN, 29), (4e-3 * UP, 29), (4e-3 * UP, 650)]
    moved, force, states = drive(model, path)
    u = moved[:, 2]
    beta = np.minimum(1.0, W / (10e9 * np.maximum.accumulate(u) ** 2))
    assert_curve(force[:, 2], -AREA * np.where(beta < 1e-3, 0.0, 10e9 * beta**2 * u), 1e-5)
    assert -force[:, 2].min() == pytest.approx(AREA * np.sqrt(10e9 * W), rel=2e-2)  # peak, seen at steps only
    assert states[-1].energy.fracture == pytest.approx(W * AREA, rel=1e-9)
    assert states[-1].energy.elastic == 0
    assert_accounted(states)


def test_adhesion_and_friction_act_together():
    """Truth: t / A = min(k_t s, mu p) of the dry joint plus k s beta^2 of the adhesion; the friction is left at the end. Here
    adhesion does not press (T345): the pressure is that of the joint alone, k_n closing."""
    model = joint_model(JointLaw(0.5, adhesion=GLUE, **STIFF))
    moved, force, states = drive(model, [(1e-3 * DOWN, 100), (2e-3 * ALONG, 750), (8e-3 * ALONG, 500)])
    pressed, s = K_N * 1e-4, moved[100:, 0]
    beta = np.minimum(1.0, W / (4e9 * s**2))
    beta[beta < 1e-3] = 0
    assert_curve(-force[100:, 0], AREA * (np.minimum(K_T * s, 0.5 * pressed) + 4e9 * beta**2 * s), 1e-5)
    assert_curve(force[100:, 2], np.full(len(s), AREA * pressed), 1e-5)
    assert states[-1].energy.friction == pytest.approx(AREA * 0.5 * pressed * (s[-1] - 0.5 * pressed / K_T), rel=1e-3)
    assert states[-1].energy.fracture == pytest.approx(W * AREA, rel=1e-9)
    assert_accounted(states)


def test_opening_and_sliding_damage_adhesion_together():
    """Truth (T75): beta = w / (c_N u^2 + c_T s^2); force c_N beta^2 u across and c_T beta^2 s along."""
    model = joint_model(JointLaw(0.5, adhesion=GLUE, **STIFF))
    moved, force, _ = drive(model, [(1e-3 * (UP + 2 * ALONG), 300)])
    s, u = moved[:, 0], moved[:, 2]
    beta = np.minimum(1.0, W / (10e9 * u**2 + 4e9 * s**2))
    assert_curve(force[:, 2], -AREA * 10e9 * beta**2 * u, 1e-5)
    assert_curve(force[:, 0], -AREA * 4e9 * beta**2 * s, 1e-5)


def test_viscous_adhesion_follows_its_equation():
    """Truth: b beta' = -(k u^2 beta - w)^+ integrated by SciPy at the same speed, to 2e-3: ten times as near as a cone program
    with steps ten times as long. Viscosity takes more than w, by the integral of b beta'^2."""
    b, speed = 5.0, 1e-3
    model = joint_model(JointLaw(0.5, adhesion=Adhesion(W, 10e9, 4e9, b), **STIFF))
    moved, force, states = drive(model, [(speed * UP, 600)])
    time = H * np.arange(1, 601)
    rate = lambda t, beta: -np.maximum(10e9 * (speed * t) ** 2 * beta - W, 0) / b  # noqa: E731
    beta = solve_ivp(rate, (0, 0.6), [1.0], t_eval=time, rtol=1e-9, atol=1e-12, method="Radau").y[0]
    assert_curve(force[:, 2], -AREA * 10e9 * beta**2 * moved[:, 2], 2e-3)
    slope = -rate(time, beta)
    lost = W * (1 - beta[-1]) + b * np.trapezoid(slope**2, time)
    assert lost > 1.2 * W
    assert states[-1].energy.fracture == pytest.approx(AREA * lost, rel=5e-3)


def test_crushing_caps_the_pressure_and_stays():
    """Truth: the cap beyond its closing (a cone program adds a thousandth of k_n, small steps need no hardening); elastic
    back; crushed again where it was left. The energy lost is the cap times what is crushed."""
    cap = 1e6
    model = joint_model(JointLaw(0.5, crushing=cap, **STIFF))
    moved, force, states = drive(model, [(10e-3 * DOWN, 150), (10e-3 * UP, 60), (10e-3 * DOWN, 110)])
    closing = -moved[:, 2]
    most = np.maximum.accumulate(closing)
    assert_curve(force[:, 2], AREA * np.maximum(np.minimum(K_N * most, cap) - K_N * (most - closing), 0))
    left = most[-1] - cap / K_N
    assert states[-1].energy.fracture == pytest.approx(AREA * cap * left, rel=1e-9)
    np.testing.assert_allclose(states[-1].cells.state[:, CRUSHED], left)
    assert_accounted(states)


def test_crushed_mortar_keeps_its_bond():
    """Truth: pressed to twice its closing at the cap f, mortar is crushed by f / k_n; it then slides at c + mu f, and pulled
    it bears the tension, counted from where it was left, and no more."""
    cohesion, friction, cap = 1e5, 0.6, 2e5
    model = joint_model(LAWS["crushing"])
    path = [(4e-3 * DOWN, 50), (8e-3 * ALONG, 50), (4e-3 * UP, 100)]
    moved, force, states = drive(model, path)
    crushed, tension = cap / K_N, cohesion / friction
    assert_curve(force[:50, 2], AREA * np.minimum(-K_N * moved[:50, 2], cap))
    assert_curve(-force[50:100, 0], AREA * np.minimum(K_T * moved[50:100, 0], cohesion + friction * cap))
    stress = -K_N * (moved[100:, 2] + crushed)
    step = K_N * 4e-3 * H
    sound, broken = stress > -tension + step, stress < -tension - step  # the tension itself may fall on either side
    assert_curve(force[100:, 2][sound], AREA * stress[sound])
    assert np.all(force[100:, 2][broken] == 0)
    assert -force[100:, 2].min() == pytest.approx(AREA * tension, rel=2 * step / tension)
    assert sound.sum() > 40
    assert broken.sum() > 10
    assert np.all(bonds(states[99]) == 1)
    assert np.all(bonds(states[-1]) == 0)


# ---------------------------------------------------------------- any joint


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kind", [TRIANGLES, MANY, PIECES])
def test_the_shape_of_the_joint_does_not_matter(kind, law):
    """Truth: the same area as one rectangle, pressed, sheared and pulled; within 1e-4 (corners are told to 1e-5 of a face)."""
    _, one, _ = drive(joint_model(LAWS[law]), PRESSED_SHEARED_AND_PULLED)
    _, other, _ = drive(joint_model(LAWS[law], upper=upper_blocks(kind)), PRESSED_SHEARED_AND_PULLED)
    assert_curve(other, one, 1e-4)


def test_a_broken_joint_stays_broken_when_it_opens_wide_and_closes():
    """Truth: dry friction: it presses with k_n closing A, does not pull, and bears mu n along the joint."""
    path = [(100e-3 * UP, 100), (100e-3 * DOWN, 101), (2e-3 * ALONG, 100), (2e-3 * UP, 75)]
    moved, force, states = drive(joint_model(LAWS["cut-off"]), path)
    assert len(states[99].contacts.gap) == 0  # 10 mm is out of sight
    closing = np.maximum(-moved[101:, 2], 0)
    assert_curve(force[101:, 2], K_N * AREA * closing, 1e-5)
    assert -force[300, 0] == pytest.approx(0.6 * force[300, 2], rel=1e-6)
    assert np.all(bonds(states[-1]) == 0)


def hung(weight, law, **material):
    """A block that hangs from a ceiling: engine and model."""
    block = box((0, 0, -0.3), (*SIDES, 0.0), density=weight / 9.81 / (AREA * 0.3), name="block")
    ceiling = box((-0.5, -0.5, 0), (0.9, 0.75, 1.0), fixed=True, name="ceiling")
    model = build_model([ceiling, block], friction=law)
    return SmallSteps(model, gravity=9.81, material=STONE._replace(**material)), model


def test_four_thousand_newton():
    """Truth: AJ's brittle cohesion: a block hangs from a ceiling on 4000 N, and falls if it weighs more. Let down gently, it
    does not swing."""
    for weight, hangs in ((3999.0, True), (4001.0, False)):
        engine, model = hung(weight, JointLaw(0.5, tension=4000.0 / AREA, brittle=True))
        state = settled(engine, initial_state(model, 9.81))
        for _ in range(4):
            state, _ = engine.advance(state, 5e-3)
        assert (bonds(state) == hangs).all()
        fallen = model.position[1, 2] - state.position[1, 2]
        assert fallen < 1e-6 if hangs else fallen == pytest.approx(0.5 * 9.81 * 0.02**2, rel=0.01)
        if hangs:
            assert state.contacts.impulse[:, 2].sum() / 5e-3 == pytest.approx(weight, rel=1e-6)


def test_a_falling_load_breaks_the_bond_and_pays_for_it():
    """Truth: a block let go below a ceiling on a spring k A swings to twice its rest: the bond breaks if the tension is below
    2 m g. What breaks is 1/2 T^2 / k A, and what a small step of 0.1 ms stretches it beyond, from which the block falls
    freely: m v^2 / 2 = m g u - 1/2 T^2 A / k."""
    mass, stiff = 600.0, 1e8
    tension = 1.5 * mass * 9.81 / AREA
    engine, model = hung(mass * 9.81, JointLaw(0.5, tension=tension, normal_stiffness=stiff), damping=0.0, rocking=0.0)
    state = initial_state(model, 9.81)
    for _ in range(50):
        state, _ = engine.advance(state, H)
    cost = 0.5 * tension**2 / stiff * AREA
    fallen = -0.15 - state.position[1, 2]
    assert state.energy.fracture == pytest.approx(cost, rel=0.02)
    assert state.energy.kinetic == pytest.approx(mass * 9.81 * fallen - cost, rel=0.001)


def test_stones_that_touch_along_a_line_are_not_glued():
    """Truth: an edge on a face has no area."""
    half = 0.2 * np.sqrt(2)
    corners = [(0, 0), (half, half), (0, 2 * half), (-half, half)]  # x, z of a square on its corner
    vertices = np.array([(x, y, z) for y in (0.0, 0.4) for x, z in corners])
    sides = [(k, 4 + k, 4 + (k + 1) % 4, (k + 1) % 4) for k in range(4)]
    block = Block(vertices, ((0, 1, 2, 3), (7, 6, 5, 4), *sides), name="block", density=1e15)
    _, force, states = drive(joint_model(LAWS["cut-off"], upper=[block]), [(1e-4 * UP, 5)])
    assert len(states[0].contacts.gap) > 0
    assert np.all(force == 0)


def test_what_is_apart_is_not_glued_however_far_its_joint_would_stretch():
    """Truth: a gap of 3 mm is seen (the bond reaches 10 mm) and is no joint; one of 0.5 mm is filled with mortar, and pulls
    from there."""
    soft = JointLaw(0.5, adhesion=Adhesion(100.0, 1e9), **STIFF)
    for gap, pulls in ((3e-3, False), (0.5e-3, True)):
        block = box((0, 0, gap), (*SIDES, 0.3 + gap), name="block", density=1e15)
        moved, force, states = drive(joint_model(soft, upper=[block]), [(1e-3 * UP, 100)])
        assert len(states[0].contacts.gap) == 4
        np.testing.assert_allclose(-force[:, 2], 1e9 * AREA * moved[:, 2] * pulls, rtol=1e-6)


def test_every_pair_of_groups_has_its_law():
    """Truth: three blocks lifted together from one support: each joint bears its own, by group, by pair and by default."""
    blocks = [box((x, 0, 0), (x + 0.2, 0.2, 0.2), name=group, group=group, density=1e15)
              for x, group in ((-0.4, "glued"), (0.0, "mortared"), (0.4, "dry"))]  # fmt: skip
    base = box((-0.5, -0.5, -1.0), (0.9, 0.75, 0.0), fixed=True, name="base")
    pairs = [("glued", "support", JointLaw(0.5, adhesion=GLUE, **STIFF)), ("dry", "support", 0.5)]
    model = build_model([base, *blocks], friction=0.5, support_friction=LAWS["cut-off"], pairs=pairs)
    _, _, states = drive(model, [(1e-3 * UP, 50)])
    contacts = states[-1].contacts
    pull = [-contacts.impulse[contacts.b == k, 2].sum() / H for k in (1, 2, 3)]
    assert pull == pytest.approx([0.04 * 10e9 * 5e-5, 0.04 * K_N * 5e-5, 0.0], rel=1e-6)


@pytest.mark.parametrize("others", [{}, {"crushing": 1e12}], ids=["patch", "cells"])
def test_friction_is_of_what_presses_with_its_damping(others):
    """Truth: Coulomb. A stone let go on a slope as it is drawn, without pressure, swings against it and slides: what the joint
    tells along is friction times what it tells across, at every instant."""
    slope = np.radians(40)
    down, up = np.array([np.cos(slope), 0, -np.sin(slope)]), np.array([np.sin(slope), 0, np.cos(slope)])
    plane = turned_box(-2.0 * up, (12, 4, 4), (0, slope, 0), fixed=True, name="plane")
    stone = turned_box(0.1 * up, (0.4, 0.4, 0.2), (0, slope, 0), name="stone")
    model = build_model([plane, stone], friction=JointLaw(0.3, **others))
    engine, state, used, pressed = SmallSteps(model, gravity=9.81), initial_state(model, 9.81), [], []
    for _ in range(300):
        state, _ = engine.advance(state, 2e-5)
        force = state.contacts.impulse.sum(axis=0) / 2e-5
        pressed.append(force @ up)
        used.append(-(force @ down) / pressed[-1])
    assert min(pressed[20:]) < 0.8 * max(pressed)  # it does swing
    assert np.array(used[20:]) == pytest.approx(0.3, rel=1e-6)


# ---------------------------------------------------------------- as areas


def couple(state, time_step=H):
    """(3,) [N m] of the joint about the middle of the block, as the contacts tell it."""
    c = state.contacts
    return np.cross(c.point - state.position[1], c.impulse).sum(axis=0) / time_step


@pytest.mark.parametrize("pressed", [-2e-6, 0.0, 1e-7, 5e-6], ids=lambda closing: f"closed by {closing} m")
def test_a_bond_that_bends_tells_its_whole_couple(pressed):
    """Truth: a bonded joint closed by c (opened, if negative) and turned by a about y and b about x bears k_n c A and the
    couples -k_n I a and -k_n I b about the middle of its foot, which stays where it is: whether its resultant lies within the
    joint (5 um), outside or nowhere."""
    about_x, about_y = 0.8e-5, -1e-5  # [rad]
    spin, foot = np.array([about_x, about_y, 0.0]) / 0.05, np.array([*SIDES, -2 * pressed]) / 2
    lift = np.cross(spin, (0, 0, 0.15))
    path = [(pressed / 0.05 * DOWN, 50), (np.concatenate([lift, spin]), 50)]
    _, force, states = drive(joint_model(LAWS["cut-off"]), path)
    about_foot = couple(states[-1]) - np.cross(foot - states[-1].position[1], force[-1])
    inertia = np.array([SIDES[0] * SIDES[1] ** 3, SIDES[1] * SIDES[0] ** 3]) / 12
    bent = -K_N * inertia * (about_x, about_y)
    assert about_foot[:2] == pytest.approx(bent, rel=1e-4)
    assert force[-1, 2] == pytest.approx(K_N * AREA * pressed, abs=1e-4 * np.abs(bent).max() / SIDES[0])
    assert np.all(bonds(states[-1]) == 1)


@pytest.mark.parametrize("law", ["cut-off", "crushing"])
def test_told_forces_are_those_that_move_the_block(law):
    """Truth: Newton and Euler. What the contacts tell at the end of every step changes the momentum of a light block that is
    bent, sheared and twisted; half of one step's force and half of the next, to second order in the small step."""
    model = joint_model(LAWS[law], upper=[box((0, 0, 0), (*SIDES, 0.3), name="block")])
    engine, state = SmallSteps(model, gravity=0.0, material=UNDAMPED), initial_state(model, 0.0)
    state = moving(model, state, [0.01, 0.004, 0.006, 0.05, -0.04, 0.03])
    mass, inertia, step = model.bodies.mass[1], model.bodies.inertia[1], 2e-6
    momenta, wrenches = [], []
    for _ in range(400):
        state, _ = engine.advance(state, step)
        c = state.contacts
        momenta.append(np.concatenate([mass * state.velocity[1, :3], inertia @ state.velocity[1, 3:]]))
        wrenches.append(np.concatenate([c.impulse.sum(axis=0) / step, couple(state, step)]))
    change = np.array([after - before for before, after in pairwise(momenta)])
    mean = np.array([0.5 * step * (before + after) for before, after in pairwise(wrenches)])
    largest = np.abs(mean).max(axis=0)
    assert np.all(np.abs(change - mean).max(axis=0) <= 2e-2 * largest)
    assert np.all(np.abs(change.sum(axis=0) - mean.sum(axis=0)) <= 2e-3 * np.abs(mean).sum(axis=0))


# ---------------------------------------------------------------- dilatancy


@pytest.mark.parametrize("cohesion", [1e5, None], ids=["bonded", "crushing only"])
def test_a_joint_that_may_not_open_presses_as_it_slides(cohesion):
    """Truth: held at its height, a joint with an angle of dilatancy gains the pressure k_n tan(psi) for every metre it slides:
    p = p0 + k_n tan(psi) (s - t / k_t) with t = c + mu p. (Free to open, it lifts: tests/analytic/test_small_steps.py.)"""
    tangent, friction, c = np.tan(np.radians(8)), 0.5, cohesion or 0.0
    law = JointLaw(friction, cohesion=cohesion, crushing=1e9, dilatancy=np.radians(8), **STIFF)
    moved, force, states = drive(joint_model(law), [(1e-3 * DOWN, 50), (2e-3 * ALONG, 400)])
    p0, s, gain = K_N * 5e-5, moved[50:, 0], K_N * tangent
    sliding = (p0 + gain * (s - c / K_T)) / (1 + gain * friction / K_T)
    pressure = np.maximum(p0, sliding)
    assert pressure[-1] > 2.4 * p0
    assert_curve(force[50:, 2], AREA * pressure, 2e-3)  # the joint opens a few small steps after it has slid
    assert_curve(-force[50:, 0], AREA * np.minimum(K_T * s, c + friction * pressure), 2e-3)
    slid = s[-1] - (c + friction * pressure[-1]) / K_T
    assert states[-1].patches.dilation[:, 0] == pytest.approx(tangent * slid, rel=2e-3)
    assert_accounted(states, 1e-2)

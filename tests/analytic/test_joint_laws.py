"""Laws of joints on one joint: a block far too heavy to be slowed down is moved along a path, and the force of the joint is
compared with the curve of its law, step by step. theta = 1: the force of a step is that of the displacement at its end."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from drystone.analysis.statics.rigid_equilibrium import solve_equilibrium
from drystone.build.shapes import box
from drystone.engine.contact_laws import ContactSurface
from drystone.engine.simulation import initial_state, simulate
from drystone.engine.solvers.methods import make_solver
from drystone.structure.joint_laws import Adhesion, JointLaw
from drystone.structure.model import Block, build_model

H = 1e-3  # [s]
SIDES = (0.4, 0.25)  # [m] of the joint
AREA = 0.1  # [m2]
K_N, K_T = 2e9, 0.8e9  # [N/m3]
STIFF = {"normal_stiffness": K_N, "shear_stiffness": K_T}
STONE = ContactSurface(young=30e9, coulomb=True)


def joint_model(law, planar=False, upper=None):
    """A block on a support; nothing that a joint can do slows it down."""
    base = box((-0.5, 0.0 if planar else -0.5, -1.0), (0.9, 0.25 if planar else 0.75, 0.0), fixed=True, name="base")
    upper = upper or [box((0, 0, 0), (*SIDES, 0.3), name="block", density=1e15)]
    return build_model([base, *upper], friction=law, planar=planar)


def drive(model, path, theta=1.0, surface=STONE):
    """Displacement (n, 3) [m], force of the joint on the blocks above (n, 3) [N], and the states, along a path of legs
    (velocity [m/s], steps)."""
    state = initial_state(model, 0.0)
    moved, force, states = [], [], []
    for velocity, steps in path:
        speed = np.zeros_like(state.velocity)
        speed[~model.bodies.fixed, :3] = velocity
        state = state._replace(velocity=speed)
        solver = make_solver("native", 1e-10, 1)
        run = simulate(model, duration=(state.step + steps) * H, time_step=H, theta=theta, gravity=0.0, surface=surface,
                       solver=solver, state=state)  # fmt: skip
        for step in run:
            assert step.solution.converged
            state = step.state
            moved.append(state.position[1] - model.position[1])
            ground = model.bodies.fixed[state.contacts.a]
            force.append(state.contacts.impulse[ground].sum(axis=0) / H)
            states.append(state)
    return np.array(moved), np.array(force), states


def assert_curve(found, expected, tolerance=1e-6):
    """Within a part of the largest force."""
    assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max()


PLANES = [False, pytest.param(True, marks=pytest.mark.soak)]  # tension, below, is tried in the plane too
DOWN, UP, ALONG = np.array([0, 0, -1.0]), np.array([0, 0, 1.0]), np.array([1.0, 0, 0])


@pytest.mark.parametrize("planar", PLANES)
def test_stiffness_across_and_along(planar):
    """Truth: n = k_n closing A, t = k_t slip A up to friction n, both ways."""
    model = joint_model(JointLaw(0.5, **STIFF), planar)
    moved, force, _ = drive(model, [(2e-3 * DOWN, 50), (2e-3 * ALONG, 150), (-2e-3 * ALONG, 200), (3e-3 * UP, 60)])
    normal = K_N * AREA * np.maximum(-moved[:, 2], 0)
    assert_curve(force[:, 2], normal)
    limit = 0.5 * normal[50]
    assert_curve(-force[50:200, 0], np.minimum(K_T * AREA * moved[50:200, 0], limit))
    turned = limit - K_T * AREA * (moved[199, 0] - moved[200:400, 0])
    assert_curve(-force[200:400, 0], np.maximum(turned, -limit))
    assert np.all(force[-20:] == 0)


BRITTLE, COHESIVE = JointLaw(0.6, tension=2e5, **STIFF), JointLaw(0.6, cohesion=3e5, tension=2e5, **STIFF)


@pytest.mark.parametrize(("law", "planar"), [
    (BRITTLE, True), (COHESIVE, False),
    pytest.param(BRITTLE, False, marks=pytest.mark.soak), pytest.param(COHESIVE, True, marks=pytest.mark.soak),
])  # fmt: skip
def test_tension_breaks_once_for_all(law, planar):
    """Truth: -n = k_n opening A up to the tension, nothing beyond; the energy under the curve is lost. Unloading before it
    comes back; the broken joint presses and does not pull."""
    model = joint_model(law, planar)
    early = [(1e-3 * UP, 90), (1e-3 * DOWN, 90)]
    moved, force, states = drive(model, [*early, (1e-3 * UP, 120), (1e-3 * DOWN, 170), (1e-3 * UP, 100)])
    sound = np.arange(len(moved)) < 180 + 100
    opening = moved[:, 2]
    expected = np.where(sound, -K_N * AREA * opening, K_N * AREA * np.maximum(-opening, 0))
    expected[279:281] = force[279:281, 2]  # the tension itself, 0.1 mm, may fall on either side
    assert_curve(force[:, 2], expected)
    assert states[280].energy.fracture == pytest.approx(0.5 * 2e5**2 / K_N * AREA, rel=0.03)  # of the step before it breaks
    assert states[-1].energy.fracture == states[281].energy.fracture
    assert np.all(states[281].contacts.bond == 0)


def test_mohr_coulomb_yields_and_brittle_drops():
    """Truth: t = min(k_t slip, c + mu p) A; a brittle joint falls to mu p A and stays there."""
    for brittle in (False, True):
        model = joint_model(JointLaw(0.5, cohesion=1e5, brittle=brittle, **STIFF))
        moved, force, states = drive(model, [(1e-3 * DOWN, 50), (1e-3 * ALONG, 400)])
        pressure, slip = K_N * 50e-6, moved[50:, 0]
        peak = 1e5 + 0.5 * pressure
        expected = np.minimum(K_T * slip, peak)
        if brittle:
            expected = np.where(K_T * slip >= peak, 0.5 * pressure, expected)
        assert_curve(-force[50:, 0], AREA * expected)
        assert_curve(force[50:, 2], np.full(400, AREA * pressure))
        assert np.all(states[-1].contacts.bond == (0 if brittle else 1))


W = 50.0  # [J/m2]
GLUE = Adhesion(W, 10e9, 4e9)
U0 = np.sqrt(W / 10e9)  # [m] 0.07 mm, where the damage begins


@pytest.mark.parametrize("planar", PLANES)
def test_adhesion_softens_and_takes_its_energy(planar):
    """Truth (T75): -n / A = k u up to u0 = sqrt(w / k), w^2 / (k u^3) beyond; back along a line to the origin; w for all."""
    model = joint_model(JointLaw(0.5, adhesion=GLUE, **STIFF), planar)
    path = [(1e-3 * UP, 120), (4e-3 * DOWN, 29), (4e-3 * UP, 29), (4e-3 * UP, 650)]
    moved, force, states = drive(model, path)
    u = moved[:, 2]
    most = np.maximum.accumulate(u)
    beta = np.minimum(1.0, W / (10e9 * most**2))
    expected = -AREA * np.where(beta < 1e-3, 0.0, 10e9 * beta**2 * u)
    assert_curve(force[:, 2], expected, 1e-5)
    assert -force[:, 2].min() == pytest.approx(AREA * np.sqrt(10e9 * W), rel=2e-2)  # peak, seen at steps only
    assert states[-1].energy.fracture == pytest.approx(W * AREA, rel=1e-9)
    work = -np.sum(0.5 * (force[1:, 2] + force[:-1, 2]) * np.diff(u))
    assert work == pytest.approx(W * AREA, rel=3e-3)
    assert states[-1].energy.elastic == 0


def test_adhesion_and_friction_act_together():
    """Truth: t / A = min(k_t s, mu p) of the dry joint plus k s beta^2 of the adhesion; the friction is left at the end. The
    adhesion takes its part of the pressure."""
    model = joint_model(JointLaw(0.5, adhesion=GLUE, **STIFF))
    moved, force, states = drive(model, [(1e-3 * DOWN, 100), (2e-3 * ALONG, 750), (8e-3 * ALONG, 500)])
    pressed, s = K_N * 1e-4, moved[100:, 0]
    beta = np.minimum(1.0, W / (4e9 * s**2))
    beta[beta < 1e-3] = 0
    assert_curve(-force[100:, 0], AREA * (np.minimum(K_T * s, 0.5 * pressed) + 4e9 * beta**2 * s), 1e-5)
    assert_curve(force[100:, 2], AREA * (pressed + 10e9 * beta**2 * 1e-4), 1e-5)
    assert states[-1].energy.friction == pytest.approx(AREA * 0.5 * pressed * (s[-1] - 0.5 * pressed / K_T), rel=1e-3)


def test_viscous_adhesion_follows_its_equation():
    """Truth: b beta' = -(k u^2 beta - w)^+ integrated by SciPy at the same speed."""
    b, speed = 5.0, 1e-2
    model = joint_model(JointLaw(0.5, adhesion=Adhesion(W, 10e9, 4e9, b), **STIFF))
    moved, force, _ = drive(model, [(0.1 * speed * UP, 600)])
    time = H * np.arange(1, 601)
    rate = lambda t, beta: -np.maximum(10e9 * (0.1 * speed * t) ** 2 * beta - W, 0) / b  # noqa: E731
    beta = solve_ivp(rate, (0, 0.6), [1.0], t_eval=time, rtol=1e-9, atol=1e-12, method="Radau").y[0]
    assert_curve(force[:, 2], -AREA * 10e9 * beta**2 * moved[:, 2], 2e-2)  # of first order in the step


def test_crushing_caps_the_pressure_and_stays():
    """Truth: bilinear, slope k_n / 1000 beyond the cap; elastic back; crushed again where it was left. The energy lost is the
    area between the two branches."""
    cap = 1e6
    model = joint_model(JointLaw(0.5, crushing=cap, **STIFF))
    path = [(10e-3 * DOWN, 150), (10e-3 * UP, 60), (10e-3 * DOWN, 110)]
    moved, force, states = drive(model, path)
    closing, first = -moved[:, 2], cap / K_N
    most = np.maximum.accumulate(closing)
    top = np.where(most > first, cap + 1e-3 * K_N * (most - first), K_N * most)
    assert_curve(force[:, 2], AREA * np.maximum(top - K_N * (most - closing), 0))
    end = top[-1]
    left = most[-1] - end / K_N
    assert states[-1].energy.fracture == pytest.approx(AREA * 0.5 * (cap + end) * left, rel=1e-9)
    np.testing.assert_allclose(states[-1].contacts.crushed, left)


# ---------------------------------------------------------------- any joint

TRIANGLES = "triangles"  # the faces above and below cut into triangles
MANY = "many sides"  # a joint of twelve corners
PIECES = "2 x 3 blocks"


def upper_blocks(kind):
    if kind == PIECES:
        xs, ys = np.linspace(0, SIDES[0], 3), np.linspace(0, SIDES[1], 4)
        cells = [(i, k) for i in range(2) for k in range(3)]
        return [box((xs[i], ys[k], 0), (xs[i + 1], ys[k + 1], 0.3), name=f"{i}{k}", density=1e15) for i, k in cells]
    block = box((0, 0, 0), (*SIDES, 0.3), name="block", density=1e15)
    if kind == TRIANGLES:
        faces = [face for face in block.faces for face in ((face[:3], face[2:] + face[:1]) if len(face) == 4 else (face,))]
        return [replace(block, faces=tuple(faces))]
    angle = 2 * np.pi * (np.arange(12) + 0.5) / 12
    size = np.sqrt(AREA / (6 * np.sin(np.pi / 6)))  # of a regular polygon of twelve corners with the same area
    ring = [(0.2 + size * np.cos(a), 0.12 + size * np.sin(a)) for a in angle]
    return [prism(ring, 0.0, 0.3)]


def prism(ring, low, high):
    """An upright prism over a polygon, counter-clockwise seen from above."""
    n = len(ring)
    vertices = np.array([(x, y, z) for z in (low, high) for x, y in ring])
    sides = [(k, (k + 1) % n, n + (k + 1) % n, n + k) for k in range(n)]
    return Block(vertices, (tuple(range(n))[::-1], tuple(range(n, 2 * n)), *sides), density=1e15, name="block")


LAWS = {
    "cut-off": JointLaw(0.6, cohesion=3e5, tension=2e5, **STIFF),
    "adhesion": JointLaw(0.6, adhesion=GLUE, **STIFF),
    "crushing": JointLaw(0.6, cohesion=1e5, crushing=2e5, **STIFF),
}

PRESSED_SHEARED_AND_PULLED = [(4e-3 * DOWN, 50), (2e-3 * ALONG, 50), (-2e-3 * ALONG, 50), (4e-3 * UP, 125)]


@cache
def force_on_one_rectangle(law):
    return drive(joint_model(LAWS[law]), PRESSED_SHEARED_AND_PULLED)[1]


ONCE = ((TRIANGLES, "cut-off"), (MANY, "adhesion"), (PIECES, "crushing"))  # the other pairs in `make soak`


@pytest.mark.parametrize(("kind", "law"), [
    pytest.param(kind, law, marks=[] if (kind, law) in ONCE else pytest.mark.soak)
    for kind in (TRIANGLES, MANY, PIECES) for law in LAWS
])  # fmt: skip
def test_the_number_of_points_does_not_matter(kind, law):
    """Truth: the same joint as one rectangle with four points, pressed, sheared and pulled; within 1e-4."""
    _, other, states = drive(joint_model(LAWS[law], upper=upper_blocks(kind)), PRESSED_SHEARED_AND_PULLED)
    assert len(states[0].contacts.gap) != 4 or np.ptp(states[0].contacts.area) > 0.1 * AREA
    assert_curve(other, force_on_one_rectangle(law), 1e-4)


def test_a_broken_joint_stays_broken_when_it_opens_wide_and_closes():
    """Truth: dry friction: it presses with k_n closing A, does not pull, and bears mu n along the joint."""
    model = joint_model(LAWS["cut-off"])
    path = [(100e-3 * UP, 100), (100e-3 * DOWN, 101), (2e-3 * ALONG, 100), (2e-3 * UP, 75)]
    moved, force, states = drive(model, path)
    assert len(states[100].contacts.gap) == 0  # 10 mm is out of sight
    closing = np.maximum(-moved[101:, 2], 0)
    assert_curve(force[101:, 2], K_N * AREA * closing, 1e-5)
    assert -force[300, 0] == pytest.approx(0.6 * force[300, 2], rel=1e-6)
    assert np.all(states[-1].contacts.bond == 0)


def test_thousand_newton_a_point():
    """Truth: AJ's brittle cohesion: a block hangs from a ceiling on four points of 1000 N, and falls if it weighs more."""
    for weight, hangs in ((3999.0, True), (4001.0, False)):
        block = box((0, 0, -0.3), (*SIDES, 0.0), density=weight / 9.81 / (AREA * 0.3), name="block")
        ceiling = box((-0.5, -0.5, 0), (0.9, 0.75, 1.0), fixed=True, name="ceiling")
        model = build_model([ceiling, block], friction=JointLaw(0.5, tension=1000.0 / (AREA / 4), brittle=True))
        found = solve_equilibrium(model, solver=make_solver("native", 1e-8, 1), surface=STONE)
        assert found.stands == hangs
        np.testing.assert_allclose(found.contacts.impulse[:, 2], 1000 * weight / 4000 if hangs else 0.0, rtol=1e-6, atol=1e-6)


def test_a_falling_load_breaks_the_bond_and_pays_for_it():
    """Truth: a block let go below a ceiling on a spring k A swings to twice its rest: the bond breaks if the tension is below
    2 m g. What breaks is 1/2 T^2 / k A, from which the block falls freely: m v^2 / 2 = m g u - 1/2 T^2 A / k."""
    mass, stiff, h = 600.0, 1e8, 1e-4
    tension = 1.5 * mass * 9.81 / AREA
    block = box((0, 0, -0.3), (*SIDES, 0.0), density=mass / (AREA * 0.3), name="block")
    ceiling = box((-0.5, -0.5, 0), (0.9, 0.75, 1.0), fixed=True, name="ceiling")
    model = build_model([ceiling, block], friction=JointLaw(0.5, tension=tension, normal_stiffness=stiff))
    steps = simulate(model, duration=0.05, time_step=h, theta=0.5, surface=STONE,
                     solver=make_solver("native", 1e-9, 1))  # fmt: skip
    state = [step.state for step in steps][-1]
    cost = 0.5 * tension**2 / stiff * AREA
    fallen = -0.15 - state.position[1, 2]
    assert state.energy.fracture == pytest.approx(cost, rel=0.02)
    assert state.energy.kinetic == pytest.approx(mass * 9.81 * fallen - cost, rel=0.02)


def test_stones_that_touch_along_a_line_are_not_glued():
    """Truth: an edge on a face has no area."""
    half = 0.2 * np.sqrt(2)
    corners = [(0, 0), (half, half), (0, 2 * half), (-half, half)]  # x, z of a square on its corner
    vertices = np.array([(x, y, z) for y in (0.0, 0.4) for x, z in corners])
    sides = [(k, 4 + k, 4 + (k + 1) % 4, (k + 1) % 4) for k in range(4)]
    block = Block(vertices, ((0, 1, 2, 3), (7, 6, 5, 4), *sides), name="block", density=1e15)
    _, force, states = drive(joint_model(LAWS["cut-off"], upper=[block]), [(1e-4 * UP, 5)])
    assert len(states[0].contacts.gap) == 2
    assert np.all(force == 0)


def test_what_is_apart_is_not_glued_however_far_its_joint_would_stretch():
    """Truth: a gap of 3 mm is seen (the bond reaches 10 mm) and is no joint; one of 0.5 mm is filled with
    mortar, and pulls from there."""
    soft = JointLaw(0.5, adhesion=Adhesion(100.0, 1e9), **STIFF)
    for gap, pulls in ((3e-3, False), (0.5e-3, True)):
        block = box((0, 0, gap), (*SIDES, 0.3 + gap), name="block", density=1e15)
        moved, force, states = drive(joint_model(soft, upper=[block]), [(1e-3 * UP, 100)])
        assert len(states[0].contacts.gap) == 4
        np.testing.assert_allclose(-force[:, 2], 1e9 * AREA * moved[:, 2] * pulls, rtol=1e-6)

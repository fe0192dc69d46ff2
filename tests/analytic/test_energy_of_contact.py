"""Cone programs make no energy by contact: landings, toppling over a shared edge, compliant contact, normals (T460 to T466)."""

from dataclasses import replace

import numpy as np
import pytest

from drystone import build, build_model
from drystone.base.units import GRAVITY
from drystone.contact.contacts import no_contacts
from drystone.contact.detection import detect
from drystone.engine.cone_step.integrator import kinetic_energy
from drystone.engine.simulation import initial_state, simulate
from drystone.engine.solvers.native import native
from drystone.structure.joint_laws import RIGID_SURFACE, ContactSurface
from tests.analytic.test_housner_rocking import LEAST, NB, coefficients, created, impacts, ratios, rock, rock_past_six

FLOOR = ("floor", (-9, -9, -1), (9, 9, 0), True)
COULOMB, SOFT, STIFF = ContactSurface(coulomb=True), ContactSurface(1e9, coulomb=True), ContactSurface(30e9, coulomb=True)


def box(name, low, high, fixed=False):
    low, high = np.array(low, float), np.array(high, float)
    block = build.block(width=high[0] - low[0], depth=high[1] - low[1], height=high[2] - low[2])[-1]
    middle = (block.vertices.min(axis=0) + block.vertices.max(axis=0)) / 2
    return replace(block, name=name, vertices=block.vertices - middle + (low + high) / 2, fixed=fixed)


def thrown(model, velocity, step, duration, surface):
    """States of a history in which the last block starts with this velocity."""
    state = initial_state(model)
    moving = np.zeros_like(state.velocity)
    moving[-1] = velocity
    energy = state.energy._replace(kinetic=kinetic_energy(model.bodies, state.rotation, moving))
    state = state._replace(velocity=moving, energy=energy)
    steps = list(simulate(model, duration=duration, time_step=step, solver=native(), surface=surface, state=state))
    return [state, *(each.state for each in steps)]


def rise(model, states):
    """The farthest that the energy goes above an earlier value, over max(largest kinetic energy, weight times 1 mm)."""
    energy = np.array([s.energy.kinetic + s.energy.potential + s.energy.elastic for s in states])
    weight = GRAVITY * model.bodies.mass[~model.bodies.fixed].sum()
    return (energy - np.minimum.accumulate(energy)).max() / max(max(s.energy.kinetic for s in states), 1e-3 * weight)


@pytest.mark.parametrize("spin", [4.0, 4.6])
@pytest.mark.parametrize("step", [2e-3, 5e-4, pytest.param(1e-4, marks=pytest.mark.soak)])
@pytest.mark.parametrize("surface", [RIGID_SURFACE, COULOMB, STIFF, SOFT], ids=["rigid", "coulomb", "30 GPa", "1 GPa"])
def test_a_cube_that_topples_over_a_shared_edge_gains_nothing(surface, step, spin):
    """Truth: energy is conserved. Contact was lost at 60 degrees, found again amid an overlap, and gave 12 to 84 % of it."""
    lower, upper = box("lower", (-0.4, 0, 0), (0, 0.4, 0.4), True), box("upper", (-0.4, 0, 0.4), (0, 0.4, 0.8))
    model = build_model([lower, upper], friction=0.6)
    turning = [0.0, spin, 0.0]
    states = thrown(model, [*np.cross(turning, [-0.2, 0, 0.2]), *turning], step, 0.8, surface)
    turned = 2 * np.arccos(np.clip(abs(np.array([s.rotation[1, 0] for s in states])), 0, 1))
    assert turned.max() > np.deg2rad(70)  # beyond 60 degrees
    assert rise(model, states) < 1e-3
    assert states[-1].energy.made < 1e-3 * max(s.energy.kinetic for s in states)


def landings(count=16):
    """Friction, velocity along and down, height of the start: random, and so where in a step they land."""
    chance = np.random.default_rng(1)
    return zip(chance.uniform(0.3, 0.8, count), chance.uniform(1, 4, count), chance.uniform(0.3, 2, count),
               chance.uniform(1e-3, 1e-2, count), strict=True)  # fmt: skip


def landed(friction, along, down, height, step, surface):
    model = build_model([box(*FLOOR), box("box", (-0.25, -0.25, height), (0.25, 0.25, height + 0.5))], friction=friction)
    return model, thrown(model, [along, 0, -down, 0, 0, 0], step, 0.2, surface)


def height_after_landing(states):
    """[m] of the bottom at most, from when it goes no further down."""
    bottom = np.array([s.position[1, 2] for s in states]) - 0.25
    return bottom[int(np.argmax(np.diff(bottom) > -1e-6)) :].max()


@pytest.mark.parametrize("surface", [COULOMB, SOFT, STIFF], ids=["rigid", "1 GPa", "30 GPa"])
def test_oblique_landings_do_not_hop_by_coulomb_friction(surface):
    """Truth: an inelastic landing. Rotation apart, which friction gives the box."""
    for step in (2e-3, 5e-4):
        for case in landings():
            model, states = landed(*case, step, surface)
            assert height_after_landing(states) < 2e-4, case
            assert rise(model, states) < 1e-3


@pytest.mark.parametrize(("surface", "most"), [(RIGID_SURFACE, 0.0), (ContactSurface(30e9), 0.01)], ids=["rigid", "30 GPa"])
def test_oblique_landings_hop_as_the_associated_law_has_it(surface, most):
    """Truth: the velocity is projected on the cone (T466); within 2 % of the hop and a tenth of a millimetre. The spring
    lets go a millisecond later, in which gravity takes 0.01 m/s."""
    for case in landings():
        friction, along, down, height = case
        down = np.sqrt(down**2 + 2 * GRAVITY * height)
        up = (friction * along - friction**2 * down) / (1 + friction**2)
        slides = along - friction * (down + friction * along) / (1 + friction**2) > 0
        hop = up**2 / (2 * GRAVITY) if up > 0 and slides else 0.0
        model, states = landed(*case, 5e-4, surface)
        assert height_after_landing(states) == pytest.approx(hop, rel=0.02, abs=1e-4 + most * np.sqrt(2 * hop / GRAVITY)), case
        assert rise(model, states) < 1e-3


@pytest.mark.parametrize("step", [5e-3, 1e-3, pytest.param(2e-4, marks=pytest.mark.soak)])
@pytest.mark.parametrize(
    ("surface", "most"), [(RIGID_SURFACE, 0.002), (STIFF, 0.002), (SOFT, 0.006)], ids=["rigid", "30 GPa", "1 GPa"]
)
def test_impact_times_at_any_step(surface, most, step):
    """Truth: Housner's, from impact to impact. Compliant contact went away from it as the step became finer."""
    run, truth = rock_past_six(*NB, step, surface=surface)
    np.testing.assert_allclose(impacts(run)[1], truth, rtol=most)
    assert abs(ratios(run, NB[0]) - coefficients(NB[0])[2]).max() < 0.005
    assert created(run) < 2e-5


def test_what_falls_elsewhere_does_not_matter():
    """Truth: the block alone, bit for bit. A block of 10 t fell 50 m away and took 10 % of the second peak."""
    alone = build.block(width=0.5, depth=0.5, height=2.0, tilt=0.1)
    other = box("other", (50, 0, 40), (52, 1.4, 41.4))
    histories = []
    for blocks in (alone, [*alone, other]):
        model = build_model(blocks, friction=2.0)
        steps = simulate(model, duration=2.0, time_step=2e-3, solver=native())
        histories.append(np.array([step.state.position[1] for step in steps]))
    np.testing.assert_allclose(*histories, atol=1e-9)


@pytest.mark.parametrize("step", [5e-3, 1e-3, 2e-4])
@pytest.mark.parametrize("surface", [STIFF, SOFT], ids=["30 GPa", "1 GPa"])
def test_a_cube_dropped_flat_hardly_bounces_at_any_step(surface, step):
    """It left with 0.004 to 0.92 of its speed, more the finer the step."""
    model = build_model([box(*FLOOR), box("box", (-0.25, -0.25, 0.2), (0.25, 0.25, 0.7))], friction=0.5)
    states = thrown(model, np.zeros(6), step, 0.5, surface)
    speed = np.array([s.velocity[1, 2] for s in states])
    assert speed.max() < 0.01 * np.sqrt(2 * GRAVITY * 0.2)
    assert states[-1].position[1, 2] == pytest.approx(0.25, abs=1e-5)
    assert rise(model, states) < 1e-3


@pytest.mark.parametrize("angle", [1.0, 10.0, 40.0, 55.0])
@pytest.mark.parametrize("inside", [1e-4, 1e-3, 0.04])
def test_an_edge_inside_a_face_has_the_normal_of_the_face(angle, inside):
    """Truth: nothing else is admissible. The bisector of both faces tilted it by half the angle, 4 mm inside at 10 degrees."""
    floor, cube = box("floor", (-2, -1, -1), (0, 1, 0), True), box("cube", (-0.4, -0.2, 0), (0, 0.2, 0.4))
    model = build_model([floor, cube], friction=0.5)
    state = initial_state(model)
    a = np.deg2rad(angle)
    arm = np.array([-0.2, 0, 0.2])  # turned about its right lower edge, and then moved inside
    rotation = state.rotation.copy()
    rotation[1] = [np.cos(a / 2), 0, np.sin(a / 2), 0]
    position = state.position.copy()
    position[1] = [np.cos(a) * arm[0] + np.sin(a) * arm[2] - inside, 0, -np.sin(a) * arm[0] + np.cos(a) * arm[2]]
    found, _ = detect(model.bodies, position, rotation, state.velocity, 1e-3, no_contacts(), 0)
    assert len(found.gap) >= 2
    np.testing.assert_allclose(found.normal, np.tile([0.0, 0, 1.0], (len(found.gap), 1)), atol=1e-12)
    assert abs(found.gap).min() < 1e-12


def test_the_ledger_tells_of_overlaps_that_are_lifted():
    """Truth: a block found 3 mm deep in the ground is lifted by them; m g times 3 mm came from nowhere, and it has no speed."""
    model = build_model([box(*FLOOR), box("box", (-0.25, -0.25, 0), (0.25, 0.25, 0.5))], friction=0.5)
    state = initial_state(model)
    state.position[1, 2] -= 3e-3
    steps = [step.state for step in simulate(model, duration=0.05, time_step=1e-3, solver=native(), state=state)]
    weight = GRAVITY * model.bodies.mass[1]
    assert steps[-1].position[1, 2] == pytest.approx(0.25, abs=1e-6)
    assert steps[-1].energy.made == pytest.approx(3e-3 * weight, rel=0.01)
    assert max(s.energy.kinetic for s in steps) < 1e-3 * 3e-3 * weight
    ends = steps[-1].energy
    spent = ends.friction + ends.impact + ends.numerical - ends.made
    assert ends.kinetic + ends.potential - state.energy.potential + spent == pytest.approx(0.0, abs=1e-9 * weight)


@pytest.mark.parametrize("surface", [RIGID_SURFACE, SOFT], ids=["rigid", "1 GPa"])
def test_resumed_in_the_middle_of_a_landing_bit_for_bit(surface):
    """What contacts remember is in the state."""
    model = build_model(build.block(width=0.6, depth=0.6, height=1.2, tilt=0.1), friction=2.0)
    options = {"time_step": 1e-3, "solver": native(), "surface": surface}
    whole = [step.state for step in simulate(model, duration=0.6, **options)]
    hit = int(np.argmax(np.diff([s.energy.impact for s in whole]))) + 1
    for cut in (hit - 1, hit, hit + 1):
        *_, last = simulate(model, duration=0.6, state=whole[cut], **options)
        assert np.array_equal(last.state.velocity, whole[-1].velocity)
        assert np.array_equal(last.state.contacts.strain, whole[-1].contacts.strain)


def test_a_spring_that_loses_its_area_has_no_more_energy():
    """Truth: (T462), by hand. Force is kept where the joint stiffens, strain where it softens; never more energy."""
    from drystone.engine.cone_step.contact_strain import found_elastic

    count = 3
    contacts = no_contacts()
    blank = {name: np.zeros((count, *getattr(contacts, name).shape[1:])) for name in contacts._fields}
    strain, old = np.tile([1e-4, 0.0, -2e-4], (count, 1)), np.array([1e8, 1e8, 0.0])
    contacts = contacts._replace(**blank)._replace(strain=strain, stiffness=old, gap=np.full(count, -5e-4))
    frame = np.tile([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]], (count, 1, 1))
    now = np.array([1e6, 4e8, 1e8])
    found = found_elastic(contacts, now, frame, 1e-3)
    np.testing.assert_allclose(found.gap, [-2e-4, -1e-4, 0.0], rtol=1e-12)
    np.testing.assert_allclose(found.memory[:, 1], -1e-3 * now * [1e-4, 0.5e-4, 0.0], rtol=1e-12)
    stored = 0.5 * old * (strain**2).sum(axis=1)
    energy = 0.5 * now * found.gap**2 + 0.5 * (found.memory**2).sum(axis=1) / (1e-6 * now)
    assert (energy <= stored * (1 + 1e-12)).all()


def test_the_least_rocking_at_two_milliseconds():
    """The lowest and squattest block, 2 degrees: its sixth impact has 0.066 rad/s. By parts of a step it was 0.9 % late."""
    run = rock(*LEAST, 2e-3, 0.9)
    assert created(run) < 1e-5
    assert run.converged.all()

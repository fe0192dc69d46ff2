"""Deformable blocks in histories by small steps. Truth: weight and waves in bars, beams, Coulomb's law, the rigid block where
stone is stiff, the other integrator, balance of energy."""

import numpy as np
import pytest

from drystone import build
from drystone.analysis.dynamics import record_history, resume_history, run
from drystone.build.shapes import box
from drystone.engine.simulation import follow_small_steps, initial_state, simulate, simulate_small_steps
from drystone.engine.small_steps.initial_equilibrium import settled
from drystone.engine.small_steps.integrator import SmallSteps
from drystone.engine.small_steps.mode_setup import LAYER
from drystone.engine.solvers.native import native
from drystone.ground.motion import Motion
from drystone.io.case import parse_case
from drystone.structure.deformable_blocks import Stone, gauss_stresses
from drystone.structure.joint_laws import JointLaw
from drystone.structure.model import build_model

G, DENSITY = 9.81, 2000.0
YOUNG = 1e8  # [Pa] of bars
SPEED = (YOUNG / DENSITY) ** 0.5  # [m/s] of waves in them: 224
GROUND = box((-4, -4, -1), (4, 4, 0), fixed=True, name="ground")
STIFF = [Stone(1e15, 0.2, (2, 2, 2))]


def history(model, duration, time_step=5e-3, velocity=None, motions=()):
    """The states of a history, the first included: from equilibrium, or with this velocity (6,) of the last block as drawn."""
    engine, start = SmallSteps(model, motions, gravity=G), initial_state(model, G)
    if velocity is None:
        start = settled(engine, start)
    else:
        start.velocity[-1] = velocity
        kinetic = 0.5 * float(model.bodies.mass[-1] * start.velocity[-1, :3] @ start.velocity[-1, :3])
        start = start._replace(energy=start.energy._replace(kinetic=kinetic))
    steps = list(follow_small_steps(engine, start, duration, time_step))
    assert all(step.solution.converged for step in steps)
    return [start, *(step.state for step in steps)]


def mechanical(states):
    """(F,) [J]"""
    return np.array([sum((s.energy.kinetic, s.energy.potential, s.energy.elastic, s.energy.strain)) for s in states])


def balance(states):
    """[J] by how much the ledger is open over the history, less what is told as numerical."""
    one, last = (state.energy for state in (states[0], states[-1]))
    kept = mechanical(states)
    lost = sum(getattr(last, name) - getattr(one, name) for name in ("friction", "impact", "damping", "geometry", "fracture"))
    return kept[0] + last.ground - one.ground - kept[-1] - lost - (last.numerical - one.numerical)


def largest_rise(states):
    """[J] of the mechanical energy above its least value so far."""
    total = mechanical(states)
    return float(np.max(total - np.minimum.accumulate(total)))


def period(time, signal):
    """[s] between the first and the last rising passage through the mean, of each oscillation."""
    signal = signal - signal.mean()
    up = np.flatnonzero((signal[:-1] < 0) & (signal[1:] >= 0))
    passed = time[up] - signal[up] * (time[up + 1] - time[up]) / (signal[up + 1] - signal[up])
    return (passed[-1] - passed[0]) / (len(passed) - 1)


def standing_bar(bricks=10):
    """1 m high, 0.1 m thick, of the modulus YOUNG."""
    body = box((0, 0, 0), (0.1, 0.1, 1.0), density=DENSITY)
    return build_model([GROUND, body], friction=0.5, deformable=[Stone(YOUNG, 0.0, (1, 1, bricks))])


def head(model, state, node=-1):
    """[m] height of a node above the ground, the last being a corner of the head."""
    return state.position[1, 2] + model.elastic.node[0, node, 2] + model.elastic.mode[0, node, 2] @ state.amplitude[0]


def test_a_bar_shortens_under_its_weight():
    """Its head sinks by rho g L^2 / 2 E, exact at the nodes of a mesh, and with the layer of the joint, LAYER L / 2 under the
    pressure rho g L; stress rho g (L - z) in the middles of the bricks; the support bears the weight."""
    model = standing_bar(4)
    state = history(model, 5e-3)[0]
    pressure = DENSITY * G
    assert 1.0 - head(model, state) == pytest.approx(pressure / YOUNG * (0.5 + LAYER / 2), rel=1e-4)
    stress = gauss_stresses(model.elastic, state.amplitude)[0][:, :, 2].mean(axis=1)
    assert -stress == pytest.approx(pressure * (1 - (np.arange(4) + 0.5) / 4), rel=1e-3)
    down = state.contacts.impulse[:, 2].sum() / 5e-3
    assert down == pytest.approx(model.bodies.mass[1] * G, rel=1e-6)


def test_an_axial_wave_of_a_standing_bar():
    """With the pressed layer LAYER L / 2 at its foot the bar hums with cot x = x LAYER / 2, x = omega L / c, 2.5 % slower than
    4 L / c: within 1 %."""
    model = standing_bar()
    engine = SmallSteps(model, gravity=G)
    start = settled(engine, initial_state(model, G))
    level = model.elastic.node[0, :, 2] + 0.5
    speed = 1e-3 * np.sin(np.pi / 2 * level)
    velocity = start.velocity.copy()
    velocity[1, 2] += 1e-3 * 2 / np.pi
    start = start._replace(velocity=velocity, rate=np.einsum("nm,n->m", model.elastic.momentum[0, :, 2], speed)[None])
    states = [step.state for step in follow_small_steps(engine, start, 0.1, 2e-4)]
    found = period(np.array([state.time for state in states]), np.array([head(model, state) for state in states]))
    x = np.pi / 2 / (1 + LAYER / 2)
    assert np.cos(x) / np.sin(x) == pytest.approx(x * LAYER / 2, rel=0.01)
    assert found == pytest.approx(2 * np.pi / (x * SPEED), rel=0.01)


@pytest.mark.parametrize("axis", [0, 2])
def test_free_vibrations_of_a_bar(axis):
    """In empty space, displaced along its length or bent: the period of the mesh within 0.5 %; that of a bar, 2 L / c, and that
    of a free beam, omega^2 = 22.37^2 E I / rho A L^4 / (1 + 6.585 (h / L)^2) (ASTM E1876), within 2.5 %. Energy falls."""
    ground, body = GROUND, box((0, 0, 5), (1, 0.1, 5.1), density=DENSITY)
    model = build_model([ground, body], friction=0.5, deformable=[Stone(YOUNG, 0.0, (10, 1, 1))])
    x = model.elastic.node[0, :, 0]
    shape = np.zeros((len(x), 3))
    shape[:, axis] = 1e-4 * (np.sin(np.pi * x) if axis == 0 else np.cos(2 * np.pi * x))
    start = initial_state(model, 0.0)
    amplitude = np.einsum("nim,ni->m", model.elastic.momentum[0], shape)[None]
    strain = 0.5 * float(model.elastic.stiffness[0] @ amplitude[0] ** 2)
    start = start._replace(amplitude=amplitude, energy=start.energy._replace(strain=strain))
    beam = 22.373 * (YOUNG * 0.01 / 12 / DENSITY / 1.06585) ** 0.5
    whole = 2 / SPEED if axis == 0 else 2 * np.pi / beam
    steps = simulate_small_steps(model, duration=10 * whole, time_step=whole / 40, gravity=0.0, state=start)
    states = [start, *(step.state for step in steps)]
    time = np.array([state.time for state in states])
    end = np.array([model.elastic.mode[0, -1, axis] @ state.amplitude[0] for state in states])
    found = period(time, end)
    assert found == pytest.approx(whole, rel=0.025)
    assert np.abs(2 * np.pi / np.sqrt(model.elastic.stiffness[0]) / found - 1).min() < 5e-3
    assert np.diff(mechanical(states)).max() < 1e-6 * strain
    assert abs(states[-1].velocity).max() < 1e-12


def test_stiff_stone_rocks_as_a_rigid_block():
    """A tilted block of 1e15 Pa, through two landings: within 2 % of the way of the rigid one, whose joint is softer."""
    ways = []
    for deformable in ([], STIFF):
        model = build_model(build.block(width=0.3, depth=0.3, height=1.0, tilt=0.05), friction=0.7, deformable=deformable)
        ways.append(np.array([state.position[1] for state in history(model, 0.6)]))
    moved = np.abs(ways[0] - ways[0][0]).max()
    assert moved > 0.04
    assert np.abs(ways[1] - ways[0]).max() < 0.02 * moved


@pytest.mark.parametrize("young", [1e9, 60e9, 1e15])
def test_braking_distance(young):
    """Of a block that slides with 1 m/s, v^2 / 2 mu g, within 1 %; its energy never rises by more than 0.1 %, and the ledger
    closes to 0.1 %."""
    body = box((0, 0, 0), (0.5, 0.4, 0.4), density=DENSITY)
    model = build_model([GROUND, body], friction=0.6, deformable=[Stone(young, 0.2, (2, 2, 2))])
    states = history(model, 0.25, velocity=[1.0, 0, 0, 0, 0, 0])
    kinetic = states[0].energy.kinetic
    assert states[-1].position[1, 0] - states[0].position[1, 0] == pytest.approx(1 / (2 * 0.6 * G), rel=0.01)
    assert abs(states[-1].position[1, 1] - states[0].position[1, 1]) < 1e-6
    assert largest_rise(states) < 1e-3 * kinetic
    assert abs(balance(states)) < 1e-9 * kinetic
    assert abs(states[-1].energy.numerical) < 1e-3 * kinetic
    assert states[-1].energy.friction == pytest.approx(kinetic, rel=0.01)


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_dropped_cube_rebounds_with_its_restitution(restitution):
    """Of stone of 60 GPa it leaves with e times the speed of its arrival, sqrt(2 g h): landings act on the block as a whole."""
    body = box((0, 0, 0.1), (0.5, 0.5, 0.6), density=DENSITY)
    law = JointLaw(0.6, restitution=restitution)
    model = build_model([GROUND, body], friction=law, deformable=[Stone(60e9, 0.2, (2, 2, 2))])
    states = history(model, 0.2, time_step=2e-3, velocity=[0.0] * 6)
    speed, arrival = np.array([state.velocity[1, 2] for state in states]), (2 * G * 0.1) ** 0.5
    assert speed.min() == pytest.approx(-arrival, rel=0.02)
    assert speed[speed.argmin() :].max() == pytest.approx(restitution * arrival, rel=0.02, abs=5e-3)
    assert largest_rise(states) < 1e-3 * max(state.energy.kinetic for state in states)


def wall(deformable, friction=0.6):
    return build_model(build.wall(length=1.0, height=0.75, courses=3, blocks=2, thickness=0.3), friction=friction,
                       deformable=deformable)  # fmt: skip


def test_rest_is_rest():
    """A wall of elastic and rigid stones in equilibrium: in a second nothing moves by 1e-9 m; the support bears the weight, and
    the bricks of the lowest course what is above their middles."""
    model = wall([Stone(60e9, 0.27, (2, 2, 2))])
    states = history(model, 1.0, time_step=0.05)
    assert max(np.abs(state.position - states[0].position).max() for state in states) < 1e-9
    contacts, weight = states[-1].contacts, G * model.bodies.mass[1:].sum()
    assert contacts.impulse[contacts.a == 0, 2].sum() / 0.05 == pytest.approx(weight, rel=1e-6)
    stresses = gauss_stresses(model.elastic, states[-1].amplitude)
    lowest = [i for i, block in enumerate(model.elastic.block) if model.blocks[block].name.startswith("block-1-")]
    stress = np.array([stresses[i].mean(axis=1)[:, 2] for i in lowest])
    assert -stress[:, :4].mean() == pytest.approx(weight / 0.3 * (1 - 0.0625 / 0.75), rel=0.01)
    assert -stress[:, 4:].mean() == pytest.approx(weight / 0.3 * (1 - 0.1875 / 0.75), rel=0.01)


def test_rigid_and_deformable_blocks_together():
    """A rigid block on a deformable one on a support: the lower one carries the weight of both, evenly."""
    lower = box((0, 0, 0), (0.4, 0.4, 0.5), density=DENSITY, name="lower")
    upper = box((0, 0, 0.5), (0.4, 0.4, 1.0), density=DENSITY, name="upper")
    model = build_model([GROUND, lower, upper], friction=0.6, deformable=[Stone(1e9, 0.0, (2, 2, 2), on="lower")])
    state = history(model, 5e-3)[-1]
    vertical = gauss_stresses(model.elastic, state.amplitude)[0][:, :, 2].mean(axis=1)
    assert vertical == pytest.approx(np.repeat(-DENSITY * G * np.array([0.875, 0.625]), 4), rel=1e-3)


def test_a_lintel_sags():
    """A beam on two supports that it touches at their inner edges, by 5 q L^4 / 384 E I, less what the ends beyond lift
    and with what shear adds: within 2 %. A rigid lintel does not."""
    pads = [box((x, 0, -1), (x + 0.05, 0.2, 0), fixed=True) for x in (-1, 0.95)]
    young, span, q = 1e10, 1.9, DENSITY * G * 0.04
    stone = Stone(young, 0.0, (8, 1, 1))
    model = build_model([*pads, box((-1, 0, 0), (1, 0.2, 0.2), density=DENSITY)], friction=0.3, deformable=[stone])
    state = settled(SmallSteps(model, gravity=G), initial_state(model, G))
    place = model.elastic.node[0] + model.elastic.mode[0] @ state.amplitude[0]
    middle = np.flatnonzero((abs(model.elastic.node[0, :, 0]) < 1e-9) & (model.elastic.node[0, :, 2] < 0))
    bending = young * 0.2**4 / 12
    sag = (5 * q * span**4 / 384 - q * 0.05**2 / 2 * span**2 / 8) / bending + 1.2 * q * span**2 / 8 / (young / 2 * 0.04)
    assert -state.position[2, 2] - place[middle, 2].mean() == pytest.approx(sag, rel=0.02)


def test_a_rocking_column_takes_no_energy_from_its_vibrations():
    """Shaken so that it rocks without sliding: friction takes nothing, and damping little of the work of the ground and never
    less than nothing."""
    model = build_model(build.column(courses=3), friction=0.5, deformable=[Stone(60e9, 0.2, (3, 3, 3))])
    states = history(model, 0.3, motions=[Motion("one-sine", amplitude=6.0, half_period=0.25)])
    assert np.abs(states[-1].position - states[0].position).max() > 0.05
    energy = states[-1].energy
    assert energy.friction < 1e-9 * energy.ground
    assert np.diff([state.energy.damping for state in states]).min() > -1e-6 * energy.ground
    assert abs(energy.numerical) < 1e-5 * energy.ground


def test_a_bar_hangs_on_its_mortar():
    """From a ceiling, its foot sinks by rho g L^2 / 2 E and by the layer of the joint; with a bond weaker than its weight it
    falls by g t^2 / 2."""
    ceiling, body = box((-1, -1, 1), (1, 1, 2), fixed=True), box((0, 0, 0), (0.1, 0.1, 1.0), density=DENSITY)
    for tension in (1e6, 1e3):
        law = JointLaw(0.5, cohesion=tension, tension=tension)
        model = build_model([ceiling, body], friction=law, deformable=[Stone(YOUNG, 0.0, (1, 1, 4))])
        state = history(model, 0.1)[-1]
        foot = -head(model, state, node=0)
        if tension > DENSITY * G:
            assert foot == pytest.approx(DENSITY * G / YOUNG * (0.5 + LAYER / 2), rel=1e-3)
        else:
            assert foot == pytest.approx(0.5 * G * 0.1**2, rel=0.01)


def test_a_soft_wall_sways_as_by_cone_programs():
    """A wall of soft stones that does not slide, shaken from the same state: both integrators after 12 ms, within 5 % of how
    far it has swayed."""
    model, motion = wall([Stone(2e7, 0.2, (2, 2, 2))], friction=2.0), Motion("one-sine", amplitude=5.0, half_period=0.03)
    states = history(model, 0.012, time_step=1e-3, motions=[motion])
    *_, cone = simulate(model, [motion], duration=0.012, time_step=1e-3, solver=native(), theta=0.53, state=states[0])
    swayed = cone.state.position[:, 0] - states[0].position[:, 0]
    assert np.abs(swayed).max() > 1e-4
    assert np.abs(states[-1].position[:, 0] - states[0].position[:, 0] - swayed).max() < 0.05 * np.abs(swayed).max()


CASE = """
structure = { generator = "wall", length = 1.0, height = 0.5, courses = 2, deformable = { young = "5 GPa", poisson = 0.2 } }
joints = { friction = 0.6 }
motion = { pulse = "one-sine", amplitude = "1 g", half_period = "0.05 s" }
analysis = { duration = "0.06 s" }
output = { every = "10 ms" }
"""


def test_a_run_goes_on_with_the_same_bits(tmp_path):
    """Stopped and resumed: amplitudes, rates and velocities are those of the run that was not; the ledger closes."""
    case = parse_case(CASE)
    whole = run(case, tmp_path / "whole")
    steps = record_history(case, tmp_path / "cut")
    for _ in range(5):
        next(steps)
    steps.close()
    *_, last = resume_history(tmp_path / "cut")
    for name in ("amplitude", "rate", "velocity", "position"):
        assert np.array_equal(getattr(last.state, name), getattr(whole.state(-1), name))
    assert whole.energy["strain"][-1] == last.state.energy.strain > 0.0
    assert abs(last.state.energy.numerical) < 1e-3 * max(whole.energy["kinetic"])

"""Histories by small steps at their defaults beside published numbers: the boundary of overturning under one sine (Zhang and
Makris: Housner's equation from impact to impact), and the problems H1, H2, H3 and H7 of the papers; then whole structures: a
house whatever the time step, rest, a tower and heaps that fall. Stone is elastic here, of
30 GPa; where that shows, the docstring tells by how much."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from housner_reference import overturns
from test_small_steps import GROUND, allowed_rise, heap, history, largest_rise, mechanical, turned_box

from drystone import build
from drystone.analysis.dynamics import case_solver, simulate_case, start_state
from drystone.base.units import GRAVITY
from drystone.engine.simulation import initial_state, simulate_small_steps
from drystone.engine.small_steps.initial_equilibrium import settled
from drystone.engine.small_steps.integrator import SmallSteps
from drystone.ground.motion import Motion
from drystone.io.case import parse_case, read_case
from drystone.results.measures import peaks
from drystone.structure.model import build_model
from drystone.study.trial import run_trial
from drystone.study.trial_records import COLLAPSED, STANDING
from drystone.validation import housner, oppenheim, planar_block, pulsed_block

BLOCK = read_case(Path(__file__).parents[2] / "examples/rocking-block.toml")
SOAK = pytest.mark.soak
FALLEN = 0.8  # of the potential energy at the start: collapse as NB have it


def by_small_steps(text, **instead):
    """A case of the papers by small steps, without what they have not; keys as motion__amplitude."""
    text = text.replace("theta = 0.7\n", "")
    changed = {key.replace("__", "."): value for key, value in instead.items()}
    return parse_case(text, Path("case.toml"), {"analysis.integrator": "small-steps", **changed})


def followed(case, end=FALLEN):
    """The states of a history, the first included, until its potential energy is below a share of that at the start."""
    model = case.model()
    states = [start_state(case, model)]
    for step in simulate_case(case, model, states[0], case_solver(case)):
        states.append(step.state)
        if step.state.energy.potential < end * states[0].energy.potential:
            break
    return states


def energy_peaks(states, prominence):
    """[s] of the potential energy."""
    energy = np.array([state.energy.potential for state in states])
    return peaks(np.array([state.time for state in states]), energy / energy[0], prominence=prominence)[0]


def tilts(states):
    """(F,) [rad] of the last block about y since the start, and its spin."""
    angle = np.array([2 * np.arctan2(state.rotation[-1, 2], state.rotation[-1, 0]) for state in states])
    return angle, np.array([state.velocity[-1, 4] for state in states])


@cache
def equation_boundary(half_period, width, height):
    """[g] the least amplitude that overturns by the equation, to 1e-4 of it: the lowest change of a look at every per cent."""
    looks = width / height * np.geomspace(1.0, 15.0, 273)
    high = next(k for k, amplitude in enumerate(looks) if overturns(amplitude, half_period, width, height, GRAVITY))
    low, high = looks[high - 1], looks[high]
    while high / low > 1 + 1e-4:
        middle = np.sqrt(low * high)
        low, high = (low, middle) if overturns(middle, half_period, width, height, GRAVITY) else (middle, high)
    return high


@pytest.mark.parametrize(
    ("half_period", "width", "height"),
    [(0.12, 0.2, 1.0), (0.7, 0.2, 1.0), (0.5, 0.6, 2.0)]
    + [pytest.param(*case, marks=SOAK) for case in ((0.2, 0.2, 1.0), (0.3, 0.2, 1.0), (0.5, 0.2, 1.0), (0.4, 1.0, 2.0))],
)
def test_boundary_of_overturning_by_one_sine(half_period, width, height):
    """Within 2 % of the equation of a rigid block; seen: 0.8 % at most. Long sines tell whether a joint bears more than its
    width can: the least of them hardly lifts the block."""
    truth = equation_boundary(half_period, width, height)
    block = {"structure.width": width, "structure.height": height, "motion.half_period": half_period}
    for share, outcome in ((0.98, STANDING), (1.02, COLLAPSED)):
        sample = {"analysis.integrator": "small-steps", **block, "motion.amplitude": share * truth * GRAVITY}
        assert run_trial(BLOCK.text, BLOCK.path, sample).status == outcome


def test_free_rocking_of_nb():
    """H1. Truth: Housner's equation; the first six impacts within 1 % (seen: 0.4 %, of the elastic stone), and his ratio
    0.8761 of the angular velocities."""
    arcs = housner.integrate_housner(housner.HALF_WIDTH, housner.HALF_HEIGHT, housner.TILT, housner.IMPACTS)
    impacts = np.array([arc.time[-1] for arc in arcs])
    case = by_small_steps(housner.CASE, analysis__time_step="2 ms", output__every="2 ms", analysis__duration=impacts[-1] + 0.2)
    states = followed(case)
    angle, spin = tilts(states)
    angle += housner.TILT
    found = housner.find_impact_times(np.array([state.time for state in states]), angle, spin)[: housner.IMPACTS]
    np.testing.assert_allclose(found, impacts, rtol=0.01)
    alpha, _, ratio = housner.coefficients(housner.HALF_WIDTH, housner.HALF_HEIGHT)
    assert housner.find_impact_ratios(angle, alpha)[: housner.IMPACTS - 1].mean() == pytest.approx(ratio, abs=0.005)


def test_a_block_in_space_that_stands():
    """H2, 8 m/s2. NB print the peaks of the potential energy to 0.05 s."""
    states = followed(by_small_steps(pulsed_block.CASE, analysis__time_step="5 ms", analysis__duration="3 s"))
    found = energy_peaks(states, pulsed_block.PEAK_PROMINENCE)
    np.testing.assert_allclose(found[:6], pulsed_block.PEAKS["8"], atol=0.06)
    assert states[-1].time == pytest.approx(3.0)


def test_a_block_in_space_that_falls():
    """H2: four peaks of the potential energy as NB print them for 9.5 m/s2; then it falls. NB's makes another small peak, at
    2.5 s, and so does this one under half a per cent less: 9.5 m/s2 is where the last peak vanishes. From 9.4 to 9.48 m/s2 it
    is there, at 2.46 to 2.58 s, from 9.49 it is not; a tenth of a degree of direction decides as well (43.9: 2.49 s)."""
    for amplitude in (9.5, 9.45):
        changed = {"motion__amplitude": amplitude, "analysis__time_step": "5 ms", "analysis__duration": "3.6 s"}
        states = followed(by_small_steps(pulsed_block.CASE, **changed))
        found = energy_peaks(states, pulsed_block.PEAK_PROMINENCE)
        np.testing.assert_allclose(found[:4], pulsed_block.PEAKS["9.5"][:4], atol=0.06)
        assert states[-1].time < 3.5
    assert found[4] == pytest.approx(pulsed_block.PEAKS["9.5"][4], abs=0.1)


def lean(states, instant):
    """[m] mean displacement along x of the voussoirs."""
    at = min(states, key=lambda state: abs(state.time - instant))
    return float((at.position - states[0].position)[2:, 0].mean())


def test_the_arch_of_oppenheim():
    """H3: its first two peaks of the potential energy, to the right first and then to the left. What follows depends on the
    last bits: over fourteen runs the third peak is within 0.05 s of NB's and the fourth up to 0.12 s late, and at NB's 1.11 g,
    where it is about to fall, half of those that were followed longer fell, all of them to the left."""
    states = followed(by_small_steps(oppenheim.CASE, analysis__time_step="5 ms", analysis__duration="2.6 s"))
    found = energy_peaks(states, 1e-4)
    for peak in oppenheim.PEAKS[:2]:
        assert np.abs(found - peak).min() < 0.06
    assert lean(states, 0.25) > 0.05
    assert lean(states, 2.5) < 0


@pytest.mark.parametrize(
    ("pulse", "published"),
    [
        pytest.param(planar_block.RECTANGULAR_PULSE, 0.204, id="rectangle"),
        pytest.param(planar_block.SINE_PULSE, 0.237, id="sine", marks=SOAK),
    ],
)
def test_least_pulse_that_overturns_the_block_of_pcl(pulse, published):
    """H7, within 2 %. A pulse that sets in at once finds elastic stone 0.7 % weaker than rigid stone, a sine 0.3 %."""
    for share, falls in ((0.98, False), (1.02, True)):
        changed = {"motion__amplitude": f"{share * published} g", "analysis__time_step": "5 ms"}
        states = followed(by_small_steps(planar_block.CASE.format(motion=pulse), **changed))
        assert (np.abs(tilts(states)[0]).max() > 2 * np.arctan(0.2)) == falls


@pytest.mark.parametrize(("young", "least"), [("30 GPa", 0.193), pytest.param("3000 GPa", 0.1995, marks=SOAK)])
def test_rocking_begins_at_the_slenderness(young, least):
    """H7, at once accelerated by 0.2 g. The jolt tilts elastic stone by twice its tilt at rest, which helps it over: by some
    sqrt(tilt of the joint / slenderness), 1.7 % at 30 GPa and a tenth of that with stone a hundred times stiffer."""
    for amplitude, rocks in ((least, False), (0.2005, True)):
        case = by_small_steps(
            planar_block.CASE.format(motion=planar_block.RECTANGULAR_PULSE),
            motion__amplitude=f"{amplitude} g", analysis__duration="0.5 s", analysis__time_step="5 ms", solver__young=young,
        )  # fmt: skip
        assert (np.abs(tilts(followed(case))[0]).max() > 1e-3) == rocks


def test_free_rocking_of_pcl():
    """H7, let go at 0.01 rad. Truth: Housner's ratio, 0.942 (PCL's own scheme has 0.925)."""
    states = followed(by_small_steps(planar_block.FREE_ROCKING_CASE))
    alpha, _, ratio = housner.coefficients(0.1, 0.5)
    assert housner.find_impact_ratios(planar_block.TILT + tilts(states)[0], alpha)[:3].mean() == pytest.approx(ratio, abs=0.008)


HOUSE = """
[structure]
generator = "house"
[joints]
friction = 0.7
support = { friction = 0.9 }
[motion]
pulse = "one-sine"
amplitude = "0.8 g"
half_period = "0.20 s"
direction = [0, -1, 0]
[analysis]
duration = "0.6 s"
time_step = "5 ms"
"""


def farthest(states):
    """(F,) [m] of any block from the start."""
    return np.array([np.linalg.norm(state.position - states[0].position, axis=1).max() for state in states])


@pytest.mark.parametrize("time_step", ["5 ms", *(pytest.param(step, marks=SOAK) for step in ("2 ms", "1 ms", "0.5 ms"))])
def test_the_house_moves_as_with_much_smaller_steps(time_step):
    """Largest displacement at 0.4, 0.5 and 0.6 s under 0.8 g within 5 % of what a quarter of the small step and half the
    interval give: 79, 203 and 298 mm (three runs within 0.6 %). Seen: 2 % at most, for all time steps."""
    moved = farthest(followed(by_small_steps(HOUSE, analysis__time_step=time_step)))
    every = round(0.1 * (len(moved) - 1) / 0.6)
    np.testing.assert_allclose(moved[[4 * every, 5 * every, 6 * every]], [0.079, 0.203, 0.298], rtol=0.05)


@pytest.mark.soak
@pytest.mark.parametrize("time_step", ["0.5 ms", "1 ms", "2 ms", "5 ms"])
def test_amplitude_at_which_the_house_falls(time_step):
    """Some stone is 0.7 m away within 1.8 s. Between 0.75 and 0.825 g whatever the time step; seen: 0.7875 stands and 0.8 g
    falls. Elastic and rigid prototypes with Coulomb friction had 0.775 to 0.8 g."""
    for amplitude, falls in (("0.75 g", False), ("0.825 g", True)):
        case = by_small_steps(HOUSE, motion__amplitude=amplitude, analysis__duration="1.8 s", analysis__time_step=time_step)
        assert (farthest(followed(case)).max() > 0.7) == falls


STRUCTURES = {
    "wall": lambda: build.wall(courses=10, blocks=10),
    "arch": lambda: build.arch(radius=1.0, thickness=0.15, embrace=np.pi, blocks=27, depth=0.15),
    "dome": lambda: build.dome(rings=8, blocks=16),
    "oppenheim": build.arch,
    "house": build.house,
}


@pytest.mark.parametrize(
    ("name", "duration"),
    [("wall", 0.3), ("arch", 0.3)] + [pytest.param(name, 1.0, marks=SOAK) for name in STRUCTURES],
)
def test_rest_is_rest(name, duration):
    """Nothing moves after letting down, for a second. Seen: 5e-11 m at most."""
    model = build_model(STRUCTURES[name](), friction=0.7)
    start = settled(SmallSteps(model, gravity=GRAVITY), initial_state(model))
    *_, last = states = [step.state for step in simulate_small_steps(model, duration=duration, time_step=5e-3, state=start)]
    assert max(np.abs(state.position - start.position).max() for state in states) < 1e-9  # [m]
    assert np.abs(last.velocity).max() < 1e-9  # [m/s], [rad/s]


@pytest.mark.parametrize("time_step", [5e-3, pytest.param(2e-3, marks=SOAK), pytest.param(5e-4, marks=SOAK)])
def test_a_tower_that_falls_makes_no_energy(time_step):
    """Six cubes thrown over by one sine: the mechanical energy less the work of the ground never rises."""
    cubes = [turned_box((0, 0, 0.25 + 0.5 * k), (0.5, 0.5, 0.5), name=f"cube-{k}") for k in range(6)]
    model = build_model([GROUND, *cubes], friction=0.6)
    sine = Motion(pulse="one-sine", amplitude=12.0, half_period=0.4)
    states = [step.state for step in simulate_small_steps(model, [sine], duration=2.5, time_step=time_step)]
    made = mechanical(states) - np.array([state.energy.ground for state in states])
    assert states[-1].energy.potential < 0.7 * states[0].energy.potential
    assert np.max(made - np.minimum.accumulate(made)) <= allowed_rise(states, 0)
    assert states[-1].contacts.gap.min() > -2e-3  # [m]


@pytest.mark.soak
@pytest.mark.parametrize("time_step", [5e-4, 2e-3, 5e-3])
@pytest.mark.parametrize("seed", range(1, 11))
def test_heaps_make_no_energy_at_any_time_step(seed, time_step):
    """Thirty stones, boxes and hulls in turn, until they lie."""
    states = history(heap("boxes" if seed % 2 else "hulls", 30, seed), 0.6, 2.05, time_step)
    assert largest_rise(states) <= allowed_rise(states, 0)
    assert states[-1].contacts.gap.min() > -2e-3  # [m]

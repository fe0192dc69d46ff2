"""Islands that are put to sleep (T360, T361). Truths: the same history with nobody put to sleep, at early instants; that held
blocks do not change by a bit; the balance of energy; free fall; the bits of a run that was never cut."""

import shutil
from dataclasses import replace

import h5py
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from drystone import build
from drystone.analysis.dynamics import record_history, resume_history, run
from drystone.base.errors import InputError
from drystone.build.shapes import box
from drystone.engine.simulation import initial_state
from drystone.engine.small_steps.initial_equilibrium import settled
from drystone.engine.small_steps.integrator import LETTING_DOWN, SmallSteps
from drystone.engine.small_steps.sleeping_islands import CALM, STILL, are_asleep
from drystone.ground.motion import Motion
from drystone.io.case import parse_case
from drystone.results.store.run_reader import read_run
from drystone.structure.block_changes import BlockChange
from drystone.structure.loads import AppliedLoad
from drystone.structure.model import build_model

G, H = 9.81, 5e-3
FALLS_ASLEEP = round(2 * CALM / H)  # time steps within which a structure that starts at rest does
ROCKS = (0.2, 0, 0.04, 0, 0.4, 0)  # [m/s, rad/s] of a block of 0.2 m by 1 m, about its right edge
SHAKE = {"amplitude": 3.0, "half_period": 0.1}


def wall_and(*others):
    return build_model([*build.wall(length=1.2, height=0.8, thickness=0.3), *others], friction=0.6)


def followed(model, duration, start=None, **how):
    """The engine, the states from the start on, and the reports of all time steps."""
    engine = SmallSteps(model, gravity=G, **how)
    states, reports = [start or settled(engine, initial_state(model, G))], []
    for _ in range(round(duration / H)):
        state, report = engine.advance(states[-1], H)
        states.append(state)
        reports.append(report)
    return engine, states, reports


def asleep(state):
    return are_asleep(state.rest)


def total(state):
    """All that the ledger has, less what has come in; it never changes."""
    e = state.energy
    lost = e.friction + e.fracture + e.impact + e.damping + e.geometry + e.numerical
    return e.kinetic + e.potential + e.elastic + lost - e.ground


def free_of(model):
    return ~model.bodies.fixed


def test_a_wall_at_rest_falls_asleep_and_nothing_changes():
    model = wall_and()
    _, states, reports = followed(model, 1.0)
    first, last = states[FALLS_ASLEEP], states[-1]
    assert asleep(first)[free_of(model)].all()
    assert reports[FALLS_ASLEEP].asleep == free_of(model).sum()
    assert not first.velocity.any()
    for name in ("position", "rotation", "velocity", "rest"):
        assert np.array_equal(getattr(first, name), getattr(last, name))
    for one, other in ((first.patches, last.patches), (first.contacts, last.contacts)):
        assert len(one[0]) > 0
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    assert first.energy == last.energy
    assert sum(report.small_steps + report.found + report.detections for report in reports[FALLS_ASLEEP:]) == 0
    _, awake, _ = followed(model, 1.0, sleeps=False)
    assert np.abs(last.position - awake[-1].position).max() < 1e-9
    assert np.abs(last.contacts.impulse - awake[-1].contacts.impulse).max() < 1e-6 * np.abs(last.contacts.impulse).max()


def test_what_falling_asleep_takes_is_damping():
    """Blocks that still move, by less than a micrometre a second, stop: the entry damping has their kinetic energy."""
    model = wall_and()
    _, states, _ = followed(model, 0.6, motions=[Motion("one-sine", **SHAKE)])
    fell = next(k for k in range(1, len(states)) if asleep(states[k])[free_of(model)].all())
    before, after = states[fell - 1].energy, states[fell].energy
    assert 0.0 == after.kinetic < before.kinetic < 0.5 * model.bodies.mass.sum() * STILL**2
    assert [total(state) for state in states] == pytest.approx([total(states[0])] * len(states), rel=1e-12)


def stone_above(height):
    """A box of 0.2 m that is turned, so that a corner of it lands."""
    stone = box((-0.1, -0.1, -0.1), (0.1, 0.1, 0.1), name="stone")
    corners = Rotation.from_rotvec((0.3, 0.2, 0.1)).apply(stone.vertices) + np.array([0.5, 0.0, height])
    return replace(stone, vertices=corners)


def test_a_stone_that_falls_on_a_wall_that_sleeps():
    """Truth: the same with nobody put to sleep, at most 0.1 ms after the first blow: it is thrown about through the wall in
    hundreds of landings, which a change of the last digits puts in another order; and a ledger that closes as well."""
    model, alone = wall_and(stone_above(1.4)), wall_and()
    start = _with_a_stone(model, settled(SmallSteps(alone, gravity=G), initial_state(alone, G)))
    ends = []
    for sleeps in (True, False):
        engine, states, reports = followed(model, 0.305, start, sleeps=sleeps)
        walls = free_of(model).sum() - 1
        assert reports[57].asleep == (walls if sleeps else 0)
        state = states[-1]._replace(step=round(states[-1].time / 1e-4))
        seen = [state]
        while seen[-1].energy.impact == 0.0:
            seen.append(engine.advance(seen[-1], 1e-4)[0])
        ends.append((seen, followed(model, 0.4, start, sleeps=sleeps)[1]))
    (one, whole), (other, awake) = ends
    assert len(one) == len(other)
    assert not asleep(one[-1]).any()
    assert np.abs(other[-1].velocity[1:-1]).max() > 1e-3
    assert one[-1].energy.impact == pytest.approx(other[-1].energy.impact, rel=1e-6)
    assert np.abs(one[-1].position - other[-1].position).max() < 1e-9
    for states in (whole, awake):
        assert total(states[-1]) == pytest.approx(total(states[0]), rel=1e-12)
        assert abs(states[-1].energy.numerical) < 1e-2 * states[-1].energy.impact


def _with_a_stone(model, start):
    """The state of the wall alone, and the stone at rest."""
    own = initial_state(model, G)
    position, rotation = own.position.copy(), own.rotation.copy()
    position[:-1], rotation[:-1] = start.position, start.rotation
    energy = own.energy._replace(elastic=start.energy.elastic, damping=-start.energy.elastic)
    rest = np.zeros(len(position))
    return own._replace(position=position, rotation=rotation, patches=start.patches, energy=energy, rest=rest)


def tall(x, **how):
    return box((x, 0.0, 0.0), (x + 0.2, 0.3, 1.0), **how)


def test_a_wall_sleeps_beside_a_block_that_rocks():
    """A block rocks on a slab of its own, some metres from a wall. The wall sleeps, and its joints cost nothing: as many pairs
    are looked at, and as many small steps taken, as for the block alone. Truth of the block: its motion alone, with small steps
    that the wall does not shorten."""
    slab, rocking = box((3, -1, -0.5), (5, 1, 0), fixed=True, name="slab"), tall(4.0, name="rocks")
    both, alone = wall_and(slab, rocking), build_model([slab, rocking], friction=0.6)
    ends = []
    for model in (both, alone):
        start = settled(SmallSteps(model, gravity=G), initial_state(model, G))
        start.velocity[-1] = ROCKS
        ends.append(followed(model, 0.5, start, longest_step=8e-6))
    (_, states, reports), (_, own, own_reports) = ends
    walls = np.arange(len(both.position) - 2)
    assert asleep(states[-1])[walls].sum() == free_of(both)[walls].sum()
    assert not asleep(states[-1])[-1]
    assert np.abs(states[-1].velocity[-1]).max() > 0.05
    k = FALLS_ASLEEP
    for mine, its in zip(reports[k:], own_reports[k:], strict=True):
        assert (mine.found, mine.small_steps) == (its.found, its.small_steps)
    assert np.abs(states[20].position[-1] - own[20].position[-1]).max() < 1e-9
    assert np.array_equal(states[k].position[walls], states[-1].position[walls])
    for entry in ("friction", "impact", "damping", "geometry", "numerical"):
        lost, its = (getattr(each[-1].energy, entry) - getattr(each[k].energy, entry) for each in (states, own))
        assert lost == pytest.approx(its, rel=1e-6, abs=1e-9)
    assert not any(report.repeated for report in reports[k:])
    on_wall = (states[-1].contacts.a < len(walls)) & (states[-1].contacts.b < len(walls))
    down = states[-1].contacts.impulse[on_wall & both.bodies.fixed[states[-1].contacts.a], 2].sum() / H
    assert down == pytest.approx(both.bodies.mass[walls][free_of(both)[walls]].sum() * G, rel=1e-6)


def test_a_block_that_rocks_has_its_own_bits_beside_one_that_sleeps_from_the_start():
    """When the wall sleeps, nothing of it is left in the steps of the other: the same bits as where the wall is not."""
    slab, rocking = box((3, -1, -0.5), (5, 1, 0), fixed=True, name="slab"), tall(4.0, name="rocks")
    both, alone = wall_and(slab, rocking), build_model([slab, rocking], friction=0.6)
    _, states, _ = followed(both, 2 * CALM)
    start, own = states[-1], followed(alone, H)[1][-1]
    assert asleep(start)[free_of(both)].all()
    position, rotation, velocity, rest = (each.copy() for each in (start.position, start.rotation, start.velocity, start.rest))
    position[-2:], rotation[-2:], rest[-1] = own.position, own.rotation, 0.0
    velocity[-1] = own.velocity[-1] = ROCKS
    count = len(both.bodies.owner) - 2
    others = (start.patches.piece < count).all(axis=1)
    mine = own.patches._replace(piece=own.patches.piece + count, face=own.patches.face + _first_face(both, count))
    patches = type(mine)(*(np.concatenate([a[others], b]) for a, b in zip(start.patches, mine, strict=True)))
    start = start._replace(position=position, rotation=rotation, velocity=velocity, rest=rest, patches=patches)
    one = followed(both, 0.3, start._replace(step=5, step_ratio=0.0, ratio_patches=0))[1][-1]
    other = followed(alone, 0.3, own._replace(step=5, step_ratio=0.0, ratio_patches=0))[1][-1]
    assert np.abs(one.velocity[-1]).max() > 0.05
    assert np.array_equal(one.position[-1], other.position[-1])
    assert np.array_equal(one.rotation[-1], other.rotation[-1])


def _first_face(model, piece):
    return model.bodies.piece_face[piece]


SUPPORT = {"supports": ("moved",), "amplitude": 2.0, "half_period": 0.1, "start": 1.0}
DISTURBANCES = {
    "ground": {"motions": [Motion("one-sine", start=1.0, **SHAKE)]},
    "support": {"motions": [Motion("one-sine", **SUPPORT)]},
    "load": {"loads": [AppliedLoad("pushed", force=400.0, direction=(1, 0, 0), history=((1.0, 0.0), (1.05, 1.0)))]},
    "taken away": {"changes": [BlockChange(1.0, remove=("moved",))]},
    "laid on": {"changes": [BlockChange(1.0, add=("laid",))]},
}


def two_stacks(what):
    """On a slab of its own each: two boxes, and one box; another is laid on it, if it is."""
    blocks = [
        box((-1, -1, -0.5), (1, 1, 0), fixed=True, name="moved"), box((0, 0, 0), (0.3, 0.3, 0.3)),
        box((0, 0, 0.3), (0.3, 0.3, 0.6), name="pushed"), box((5, -1, -0.5), (7, 1, 0), fixed=True),
        box((6, 0, 0), (6.3, 0.3, 0.3)),
    ]  # fmt: skip
    laid = [box((0, 0, 0.6), (0.3, 0.3, 0.9), name="laid")]
    return build_model(blocks + laid * (what == "laid on"), friction=0.6)


@pytest.mark.parametrize("what", DISTURBANCES)
def test_what_comes_after_a_second_of_rest_finds_them_as_if_awake(what):
    """Truth: the same with nobody put to sleep, 30 ms after."""
    model, how = two_stacks(what), DISTURBANCES[what]
    ends = []
    for sleeps in (True, False):
        engine = SmallSteps(model, gravity=G, **how)
        start = settled(engine, initial_state(model, G))
        ends.append(followed(model, 1.03, start, sleeps=sleeps, **how)[1:])
    (one, reports), (other, _) = ends
    there = 2 + 1 if what != "laid on" else 3
    assert reports[198].asleep == there
    assert reports[198].small_steps == 0
    assert not asleep(one[-1])[[1, 2]].any()
    if what in ("support", "load"):
        assert asleep(one[-1])[4]
        assert np.array_equal(one[-1].position[4], one[190].position[4])
    stir = np.abs(other[-1].position - other[200].position).max()
    assert stir > 1e-7
    assert np.abs(one[-1].position - other[-1].position).max() < 1e-9
    assert total(one[-1]) == pytest.approx(total(one[0]), rel=1e-12)


def test_a_block_thrown_upwards_does_not_sleep_in_the_air():
    """Also from a stack, by the highest point of whose flight it has left; free fall: 2 v / g until it is back."""
    model = two_stacks("")
    start = settled(SmallSteps(model, gravity=G), initial_state(model, G))
    start.velocity[2, 2] = 50 * H * G  # at rest, in flight, at the end of time step 50
    _, states, _ = followed(model, 100 * H, start)
    assert abs(states[50].velocity[2, 2]) < 1e-3
    assert not any(asleep(state)[2] for state in states)
    assert states[50].position[2, 2] - states[0].position[2, 2] == pytest.approx(0.5 * G * (50 * H) ** 2, rel=1e-3)


@pytest.mark.parametrize("off", [1e-7, -4e-7, -9e-7])
def test_a_block_let_go_near_its_unstable_equilibrium_does_not_sleep(off):
    """On its edge, with its centroid `off` [m] from above it; in equilibrium it has about -4.3e-7, as the stone under the edge
    gives way. Truth: an inverted pendulum, whose velocity grows as sinh(p t), with p^2 = m g R / I about the edge."""
    width, height = 0.2, 0.8
    radius, alpha = 0.5 * np.hypot(width, height), np.arctan2(width, height)
    model = build_model([box((-2, -2, -1), (2, 2, 0), fixed=True), box((0, -0.2, 0), (width, 0.2, height))], friction=5.0)
    state = initial_state(model, G)
    angle = alpha + off / radius
    state.rotation[1] = (np.cos(0.5 * angle), 0.0, np.sin(0.5 * angle), 0.0)
    state.position[1] = (off, 0.0, radius * np.cos(angle - alpha))
    _, states, _ = followed(model, 1.5, state)
    assert not any(asleep(each)[1] for each in states[1:])
    rate = np.sqrt(0.75 * G / radius)
    late, last = states[-1].velocity[1, 0], states[180].velocity[1, 0]
    assert late / last == pytest.approx(np.sinh(1.5 * rate) / np.sinh(0.9 * rate), rel=0.05)
    assert np.sign(late) == (1 if off > -4.2e-7 else -1)
    if off == -4e-7:  # without the rule that it must not become faster it would have slept
        assert np.linalg.norm(states[round(3 * CALM / H)].velocity[1]) < 0.5 * STILL


def test_a_block_that_rocks_does_not_sleep_where_it_turns():
    model = build_model([box((-2, -2, -1), (2, 2, 0), fixed=True), tall(0.0)], friction=0.6)
    start = settled(SmallSteps(model, gravity=G), initial_state(model, G))
    start.velocity[1] = ROCKS
    _, states, _ = followed(model, 1.0, start)
    turns = np.array([state.velocity[1, 4] for state in states])
    assert (np.diff(np.sign(turns)) != 0).sum() >= 3
    assert not any(asleep(state)[1] for state in states)


CASE = """
[structure]
generator = "wall"
length = "1.2 m"
height = "0.8 m"
[joints]
friction = 0.6
[[motion]]
pulse = "one-sine"
amplitude = "3 m/s2"
half_period = "0.1 s"
start = "0.2 s"
[analysis]
duration = "0.4 s"
time_step = "5 ms"
[output]
every = "5 ms"
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return run(parse_case(CASE), tmp_path_factory.mktemp("sleep") / "whole")


@pytest.mark.parametrize("cut", [4, 20, 39, 40, 41])
def test_a_run_that_is_cut_has_the_same_bits(whole, tmp_path, cut):
    """Before they sleep, asleep, one time step before they wake, as they wake and after."""
    assert [bool(asleep(whole.state(frame)).any()) for frame in (4, 20, 39, 40, 41)] == [False, True, True, True, False]
    steps = record_history(parse_case(CASE), tmp_path / "cut")
    for _ in range(cut):
        next(steps)
    steps.close()
    for _ in resume_history(tmp_path / "cut"):
        pass
    again = read_run(tmp_path / "cut")
    for name in ("position", "rotation", "velocity"):
        assert np.array_equal(getattr(whole, name), getattr(again, name))
    for frame in (20, -1):
        one, other = whole.state(frame), again.state(frame)
        assert np.array_equal(one.rest, other.rest)
        assert all(np.array_equal(a, b) for a, b in zip(one.patches, other.patches, strict=True))
        assert all(np.array_equal(a, b) for a, b in zip(one.contacts, other.contacts, strict=True))
        assert one.energy == other.energy


def test_a_run_that_does_not_tell_who_rested_is_read_with_all_awake(whole, tmp_path):
    """As versions before this one wrote them; gone on with, they fall asleep anew. A list of another length is damage."""
    steps = record_history(parse_case(CASE), tmp_path / "old")
    for _ in range(20):
        next(steps)
    steps.close()
    shutil.copytree(tmp_path / "old", tmp_path / "bad")
    with h5py.File(tmp_path / "old" / "run.h5", "r+") as file:
        del file["frames/rest"]
    assert len(read_run(tmp_path / "old").state(-1).rest) == 0
    for _ in resume_history(tmp_path / "old"):
        pass
    again = read_run(tmp_path / "old")
    assert np.abs(again.position[40] - whole.position[40]).max() < 1e-9
    with h5py.File(tmp_path / "bad" / "run.h5", "r+") as file:
        rows = file["frames/rest"][:, :-1]
        del file["frames/rest"]
        file["frames/rest"] = rows
    with pytest.raises(InputError, match="rest has not one number a block"):
        read_run(tmp_path / "bad")


def test_two_threads_have_the_bits_of_one():
    model = build_model(build.wall(length=4.0, height=3.0, thickness=0.3), friction=0.5)
    how = {"motions": [Motion("one-sine", amplitude=8.0, half_period=0.1, start=0.15)]}
    one, two = (followed(model, 0.25, threads=threads, **how) for threads in (1, 2))
    assert one[2][28].asleep == free_of(model).sum()
    assert np.abs(one[1][-1].position - model.position).max() > 1e-3
    for name in ("position", "velocity", "rest"):
        assert np.array_equal(getattr(one[1][-1], name), getattr(two[1][-1], name))
    assert one[1][-1].energy == two[1][-1].energy


def test_where_nobody_sleeps_nothing_changes():
    """The same bits as without the rule: a wall that is shaken all the time."""
    model, shake = wall_and(), [Motion("sine", amplitude=3.0, half_period=0.1)]
    one, other = (followed(model, 0.2, motions=shake, sleeps=sleeps) for sleeps in (True, False))
    assert not any(report.asleep for report in one[2])
    for name in ("position", "velocity"):
        assert np.array_equal(getattr(one[1][-1], name), getattr(other[1][-1], name))
    assert one[1][-1].energy == other[1][-1].energy


def heap():
    """Boxes let fall on a slab, one above the other."""
    random = np.random.default_rng(1)
    blocks = [box((-3, -3, -0.5), (3, 3, 0), fixed=True)]
    for k in range(8):
        x, y = random.uniform(-0.25, 0.25, 2)
        blocks.append(box((x, y, 0.05 + 0.35 * k), (x + 0.3, y + 0.25, 0.25 + 0.35 * k), name=f"stone-{k}"))
    return build_model(blocks, friction=0.6)


def test_stones_of_a_heap_fall_asleep_where_they_come_to_rest():
    """Whoever sleeps stands: none overlaps another, the ledger closes, and forces on the slab are the weight."""
    model = heap()
    _, states, reports = followed(model, 5.0)
    last = states[-1]
    assert reports[-1].asleep == free_of(model).sum()
    assert reports[-1].small_steps == 0
    asleep_at_once = {report.asleep for report in reports}
    assert len(asleep_at_once) > 2  # not all at the same time
    assert last.contacts.gap.min() > -1e-3
    assert total(last) == pytest.approx(total(states[0]), rel=1e-12)
    down = last.contacts.impulse[last.contacts.a == 0].sum(axis=0) / H
    weight = model.bodies.mass[1:].sum() * G
    assert down == pytest.approx([0, 0, weight], abs=1e-3 * weight)


def test_relaxing_never_sleeps_and_who_asks_for_it_has_nobody_asleep():
    model = wall_and()
    engine = SmallSteps(model, gravity=G)
    state = initial_state(model, G)
    for _ in range(FALLS_ASLEEP):
        state, report = engine.advance(state._replace(step=0), H, relaxing=LETTING_DOWN)
        assert report.asleep == 0
    _, states, reports = followed(model, 0.2, sleeps=False)
    assert all(report.asleep == 0 < report.small_steps for report in reports)
    assert len(states[-1].rest) == 0


def test_time_steps_of_several_intervals_hand_out_the_contacts_of_those_asleep():
    """A time step of 80 ms, in the middle of which the wall falls asleep, then one in which it sleeps."""
    model = wall_and()
    engine = SmallSteps(model, gravity=G)
    state = settled(engine, initial_state(model, G))
    for _ in range(2):
        state, report = engine.advance(state, 0.08)
        contacts = state.contacts
        down = contacts.impulse[model.bodies.fixed[contacts.a], 2].sum() / 0.08
        assert down == pytest.approx(model.bodies.mass[free_of(model)].sum() * G, rel=1e-6)
        assert report.asleep == free_of(model).sum()

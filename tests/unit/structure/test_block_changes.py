"""Blocks that appear and vanish in a history. Truths: free fall, the balance of energy, limit analysis of arches on and off
their centering, the bits of a run that was never cut."""

import numpy as np
import pytest

from drystone import build
from drystone.analysis.construction import present_blocks
from drystone.analysis.dynamics import record_history, resume_history, run
from drystone.analysis.second_opinion.verification import verify_run
from drystone.analysis.statics.balance import assemble_balance
from drystone.analysis.statics.collapse_multiplier import stands_with_associated_friction
from drystone.base.errors import InputError
from drystone.base.units import GRAVITY
from drystone.build.shapes import box, prism
from drystone.engine.simulation import initial_state, simulate_small_steps
from drystone.engine.small_steps.initial_equilibrium import settled
from drystone.engine.small_steps.integrator import SmallSteps
from drystone.io.case import parse_case
from drystone.results.store.run_reader import read_run
from drystone.show.page.shown_run import SERVER_BUDGET, ShownRun
from drystone.show.report.inputs import list_case_keys
from drystone.structure.block_changes import BlockChange, Presence
from drystone.structure.loads import weight_wrench
from drystone.structure.model import build_model

DROP = 0.05  # [s]


def stack(gap=0.0):
    """A slab, and three boxes of 0.3 m on it, the topmost a little above the others if told."""
    boxes = [box((0, 0, low), (0.3, 0.3, low + 0.3), name=f"box-{k + 1}") for k, low in enumerate((0.0, 0.3, 0.6 + gap))]
    return build_model([box((-1, -1, -0.5), (1, 1, 0), fixed=True, name="slab"), *boxes], friction=0.6)


def followed(model, changes, duration, gravity=GRAVITY):
    """The state at the start and after every time step of 5 ms."""
    start = settled(SmallSteps(model, gravity=gravity, changes=changes), initial_state(model, gravity))
    how = {"time_step": 5e-3, "gravity": gravity, "changes": changes, "state": start}
    return [start, *(step.state for step in simulate_small_steps(model, duration=duration, **how))]


def stored(state):
    """All that the ledger has, less what has come in; it never changes."""
    e = state.energy
    lost = e.friction + e.fracture + e.impact + e.damping + e.geometry + e.numerical
    return e.kinetic + e.potential + e.elastic + lost - e.ground


def test_who_is_there():
    """By hand: box-2 is away from 1 to 2 s, box-3 comes at 1.5 s."""
    changes = [BlockChange(2.0, add=("box-2",)), BlockChange(1.0, remove=("box-2",)), BlockChange(1.5, add=("box-3",))]
    presence = Presence(stack(), changes)
    seen = [presence.at(time)[1:].tolist() for time in (0.0, 1.0, 1.5, 2.0)]
    assert seen == [[True, True, False], [True, False, False], [True, False, True], [True, True, True]]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([BlockChange(1.0, remove=("bix-2",))], "change: no block and no group is named 'bix-2', did you mean 'box-2'"),
        ([BlockChange(1.0, remove=("box-2",)), BlockChange(2.0, remove=("box-2",))], "at 2 s: block 'box-2' is absent then"),
        ([BlockChange(1.0, add=("box-2",)), BlockChange(2.0, add=("box-2",))], "at 2 s: block 'box-2' is present already"),
        ([BlockChange(1.0, add=("box-2",)), BlockChange(1.0, remove=("box-1",))], "two changes are at 1 s"),
    ],
)
def test_changes_that_cannot_be(changes, said):
    with pytest.raises(InputError, match=said):
        Presence(stack(), changes)


@pytest.mark.parametrize("taken", ["box-2", "slab"])
def test_what_stood_on_a_block_that_is_taken_away_falls(taken):
    """Freely, by g t^2 / 2; the stone of three boxes springs back and drives them apart a little, about their centre. What it
    does not bear stays where it was. The elastic energy of its joints leaves by the entry ground."""
    model = stack()
    states = followed(model, [BlockChange(DROP, remove=(taken,))], 0.2)
    falling = [3] if taken == "box-2" else [1, 2, 3]
    before, end = states[10], states[-1]
    fallen = 0.5 * GRAVITY * (end.time - DROP) ** 2
    ways = (before.position - end.position)[falling, 2]
    assert ways == pytest.approx([fallen] * len(falling), abs=3e-4)
    assert ways.mean() == pytest.approx(fallen, rel=1e-6 if taken == "slab" else 1e-3)
    staying = [i for i in range(4) if i not in falling]
    assert np.abs((before.position - end.position)[staying]).max() < 1e-5
    assert np.abs(states[10].position - states[0].position).max() < 1e-9
    assert -before.energy.elastic < states[11].energy.ground - before.energy.ground < 0
    total = [stored(state) for state in states]
    assert total == pytest.approx([total[0]] * len(total), rel=1e-12)
    assert abs(end.energy.numerical) < 1e-3 * end.energy.kinetic


def test_a_moving_block_takes_its_energy_with_it():
    """box-3 is drawn 0.2 m up and falls for 0.1 s: the entry ground is less by m g^2 t^2 / 2, its kinetic energy."""
    model = stack(gap=0.2)
    states = followed(model, [BlockChange(0.1, remove=("box-3",))], 0.15)
    kinetic = 0.5 * model.bodies.mass[3] * (GRAVITY * 0.1) ** 2
    assert states[20].energy.kinetic == pytest.approx(kinetic, rel=1e-4)
    assert states[-1].energy.ground == pytest.approx(-kinetic, rel=1e-4)
    assert states[-1].energy.kinetic < 1e-3 * kinetic
    assert np.array_equal(states[-1].position[3], states[20].position[3])


def test_a_block_that_appears():
    """box-3, drawn 0.2 m up, is absent for 0.1 s, bears and moves nothing, and then falls freely from rest."""
    model = stack(gap=0.2)
    states = followed(model, [BlockChange(0.1, add=("box-3",))], 0.2)
    assert np.array_equal(states[20].position[3], model.position[3])
    assert states[20].energy.kinetic < 1e-9
    fallen = model.position[3, 2] - states[-1].position[3, 2]
    assert fallen == pytest.approx(0.5 * GRAVITY * 0.1**2, rel=1e-4)


def test_a_course_laid_on_others_is_borne():
    """Flush: it settles by micrometres, and the slab bears two, then three boxes."""
    model = stack()
    states = followed(model, [BlockChange(0.05, add=("box-3",))], 0.3)
    weights = (model.bodies.mass * GRAVITY)[1]
    for state, boxes in ((states[8], 2), (states[-1], 3)):
        on_slab = state.contacts.a == 0
        assert state.contacts.impulse[on_slab, 2].sum() / 5e-3 == pytest.approx(boxes * weights, rel=2e-3)
    assert np.abs(states[-1].position - model.position).max() < 5e-5


def arch_on_centering(thickness):
    """A semicircle of seven voussoirs, mean radius 1 m, on a prism below its intrados."""
    arch = build.arch(radius=1.0, thickness=thickness, embrace=np.pi, blocks=7, depth=0.3)
    angles = np.linspace(0.0, np.pi, 8)
    inside = (1.0 - thickness / 2) / 1.0
    outline = np.column_stack([inside * np.cos(angles), inside * np.sin(angles)])
    return build_model([*arch, prism(outline, (-0.15, 0.15), name="centering", fixed=True)], friction=0.7)


@pytest.mark.parametrize(("thickness", "holds"), [(0.2, True), (0.07, False)])
def test_an_arch_whose_centering_is_struck(thickness, holds):
    """Limit analysis: a semicircle of seven voussoirs stands with t / R = 0.2, and not with 0.07. On its centering both do."""
    model = arch_on_centering(thickness)
    alone = build_model([block for block in model.blocks if block.name != "centering"], friction=0.7)
    assert stands_with_associated_friction(assemble_balance(alone), weight_wrench(alone, GRAVITY)) == holds
    states = followed(model, [BlockChange(0.05, remove=("centering",))], 0.4)
    moved = [np.linalg.norm(state.position - model.position, axis=1).max() for state in (states[10], states[-1])]
    assert moved[0] < 1e-4
    assert (moved[1] < 1e-3) == holds
    assert holds or moved[1] > 0.1


def test_an_arch_without_its_keystone():
    """Its neighbours lean on nothing: they fall, as limit analysis says."""
    model = build_model(build.arch(radius=1.0, thickness=0.3, embrace=np.pi, blocks=7, depth=0.3), friction=0.7)
    rest = build_model([block for block in model.blocks if block.name != "voussoir-4"], friction=0.7)
    assert stands_with_associated_friction(assemble_balance(model), weight_wrench(model, GRAVITY))
    assert not stands_with_associated_friction(assemble_balance(rest), weight_wrench(rest, GRAVITY))
    states = followed(model, [BlockChange(0.05, remove=("voussoir-4",))], 0.3)
    moved = np.linalg.norm(states[-1].position - states[10].position, axis=1)
    names = [block.name for block in model.blocks]
    assert moved[names.index("voussoir-3")] > 0.02 < moved[names.index("voussoir-5")]
    assert moved[names.index("voussoir-4")] == 0.0


CASE = """
[structure]
generator = "column"
courses = 4
[joints]
friction = 0.6
[[change]]
time = "0.05 s"
remove = ["drum-2"]
[[change]]
time = "0.08 s"
add = ["drum-4"]
[analysis]
duration = "0.15 s"
[output]
every = "10 ms"
"""


def test_changes_in_a_case(tmp_path):
    """A run that is cut on either side of a change has the bits of the whole; frames know who is there; verify holds."""
    case = parse_case(CASE)
    whole = run(case, tmp_path / "whole")
    for steps in (9, 10, 11):
        out = tmp_path / str(steps)
        cut = record_history(case, out)
        for _ in range(steps):
            next(cut)
        cut.close()
        for _ in resume_history(out):
            pass
        again = read_run(out)
        assert np.array_equal(whole.position, again.position)
        assert np.array_equal(whole.energy["ground"], again.energy["ground"])
    names = [block.name for block in whole.model.blocks]
    seen = {round(float(whole.time[k]), 3): present_blocks(whole, k) for k in range(whole.frames)}
    for name, times in {"drum-2": (0.0, 0.05), "drum-4": (0.09, 0.15)}.items():
        here = [time for time, present in seen.items() if present[names.index(name)]]
        assert (here[0], here[-1]) == times
    assert finished(verify_run(tmp_path / "whole"))["same"]
    assert hidden_by_page(tmp_path / "whole", names) == [["drum-4"], ["drum-2"]]
    told = {key.name_in_case: key.value for key in list_case_keys(case)}
    assert "drum-2" in told["change.0.remove"]


def finished(stages):
    """What a generator returns in the end."""
    while True:
        try:
            next(stages)
        except StopIteration as end:
            return end.value


def hidden_by_page(folder, names):
    """The names of the blocks that the page hides in the first frame and in the last."""
    shown = ShownRun(folder, SERVER_BUDGET)
    return [[name for name, hides in zip(names, shown.hidden(k), strict=True) if hides] for k in (0, len(shown.frames) - 1)]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'duration = "0.15 s"',
            'integrator = "cone-program"\ntime_step = "1 ms"\nduration = "0.15 s"',
            "only in histories by small steps",
        ),
        ('duration = "0.15 s"', 'duration = "0.06 s"', r"change\[1\]\.time: is not before the end of the history, 0.06 s"),
        ('remove = ["drum-2"]', "", r"change\[0\].*nothing appears or vanishes"),
        ('remove = ["drum-2"]', 'remove = ["drum-9"]', "no block and no group is named 'drum-9'"),
        ("friction = 0.6", 'friction = 0.6\ncohesion = "0.1 MPa"\ntension = "0.1 MPa"', "need dry joints"),
    ],
)
def test_changes_that_are_refused(old, new, said, tmp_path):
    with pytest.raises(InputError, match=said):
        next(record_history(parse_case(CASE.replace(old, new)), tmp_path / "run"))

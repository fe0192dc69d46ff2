"""Studies: truths are closed forms of one block, brute force (runs to the end), outcomes made up, and counts by hand."""

import csv
import json
import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from drystone.analysis import dynamics
from drystone.base.errors import InputError
from drystone.base.units import GRAVITY
from drystone.engine.simulation import initial_state
from drystone.io.case import parse_case, read_case
from drystone.io.study_file import parse_study
from drystone.study import at_rest, motion_remainder, trial_key, workers
from drystone.study.loop import run_study
from drystone.study.preparation import STUDY_KINDS, prepare_study
from drystone.study.sweep import Sweep, combinations
from drystone.study.trial import Recording, run_trial
from drystone.study.trial_records import COLLAPSED, FAILED, STANDING, Outcome
from drystone.study.trial_table import TrialTable, read_row

ROOT = Path(__file__).parents[3]
ALPHA = math.atan(0.25)  # [rad] where the block balances
BLOCK = """
[structure]
generator = "block"
width = "0.25 m"
height = "1 m"
[joints]
friction = 0.7  # enough not to slide
[motion]
pulse = "one-sine"
amplitude = "0.3 g"
half_period = "0.2 s"
[analysis]
planar = true
duration = "{duration} s"
time_step = "5 ms"
[output]
monitor = ["block"]
"""
PUSHED = BLOCK.format(duration=6)
SHAKEN = (
    BLOCK.format(duration=12).replace("[motion]", "[[motion]]")
    + """
[[motion]]
pulse = "sine"
amplitude = "0.1 g"
half_period = "0.25 s"
start = "0.4 s"
duration = "8 s"
"""
)
SECOND_AND_THIRD = """
[[motion]]
pulse = "one-sine"
amplitude = "0.01 g"
half_period = "0.2 s"
direction = [0, 1, 0]
[[motion]]
pulse = "one-sine"
amplitude = "0.01 g"
half_period = "0.2 s"
direction = [0, 0, 1]
"""
SHORT = BLOCK.format(duration=0.1)
STATICS = """
[structure]
generator = "block"
width = "0.25 m"
height = "1 m"
[joints]
friction = 0.7
[analysis]
kind = "{kind}"
"""
SWEEP = """
[study]
kind = "sweep"
case = "case.toml"
vary = {"motion.amplitude" = ["0.1 g", "0.2 g"], "joints.friction" = [0.5, 0.6]}
"""


@pytest.fixture
def folder(tmp_path):
    """A study of four short trials of one block."""
    (tmp_path / "case.toml").write_text(SHORT)
    (tmp_path / "study.toml").write_text(SWEEP)
    return tmp_path


def outcome(status=STANDING, **numbers):
    return Outcome(status, "made up", numbers, 0.5)


class TestRest:
    """A trial ends at rest, and never before."""

    @pytest.mark.parametrize("share", [1e-3, *(pytest.param(share, marks=pytest.mark.soak) for share in (1e-2, 1e-4, 5e-5))])
    def test_a_block_falls_from_beyond_its_balance_only(self, share):
        """Closed form: released at rest, it falls if and only if it leans by more than atan(b / h). T120 promises it to 6e-6
        rad of that, 2.4e-5 of the angle."""
        for sign, status in ((1, COLLAPSED), (-1, STANDING)):
            tilt = f"{math.degrees(ALPHA * (1 + sign * share))!r} deg"
            found = run_trial(PUSHED, "case.toml", {"structure.tilt": tilt, "motion.amplitude": 0.0})
            assert found.status == status

    @pytest.mark.parametrize(
        "amplitude",
        ["0.28 g", *(pytest.param(each, marks=pytest.mark.soak) for each in ("0.2 g", "0.4 g", "0.5 g", "0.6 g", "0.8 g"))],
    )
    def test_ending_early_changes_no_outcome(self, amplitude, monkeypatch):
        """Brute force: the same trial to the end of its duration. At 0.28 g it rocks and rests after half of that; at 0.4 g
        it rocks to the end, and from 0.5 g on it falls."""
        early = run_trial(PUSHED, "case.toml", {"motion.amplitude": amplitude})
        monkeypatch.setattr(at_rest, "REST_DURATION", math.inf)
        full = run_trial(PUSHED, "case.toml", {"motion.amplitude": amplitude})
        assert early.status == full.status
        same = ("collapse_time", "peak_displacement", "peak_tilt", "peak_displacement block")
        assert [early.numbers[name] for name in same] == [full.numbers[name] for name in same]
        assert early.numbers["residual_displacement"] == pytest.approx(full.numbers["residual_displacement"], abs=1e-5)

    def test_a_block_that_never_moves_is_done_after_its_motion(self):
        """The pulse lasts 0.4 s, calm is 0.2 s. Stone gives way by micrometres."""
        found = run_trial(PUSHED, "case.toml", {"motion.amplitude": "0.2 g"})
        assert (found.status, found.reason) == (STANDING, "came to rest")
        assert found.numbers["time"] == pytest.approx(0.6, abs=0.0101)
        assert found.numbers["peak_displacement"] < 1e-4

    @pytest.mark.parametrize(("friction", "tilt", "capacity"), [(0.7, "0 deg", 0.25), (0.2, "0 deg", 0.2), (0.7, "4 deg", 0.0)])
    def test_what_a_block_bears(self, friction, tilt, capacity):
        """Closed forms: it rocks at width over height and slides at the friction; leaning by 4 degrees on one edge, with the
        joint open, it is falling back and bears nothing."""
        case = parse_case(SHAKEN, overrides={"joints.friction": friction, "structure.tilt": tilt})
        model = case.model()
        borne = motion_remainder.RemainingMotionCheck(case, model)
        found = borne._multiplier(initial_state(model), np.array([0.0, 0.1 * GRAVITY]))
        assert found == pytest.approx(capacity / 0.1, rel=1e-5)

    def test_a_box_of_accelerations(self):
        """Closed form, friction 0.2: pushed along both axes at once, and lifted, it slides under the length of the sum over the
        weight that is left: k (0.1, 0.1) g with k 0.1 g upwards, k 0.1 sqrt(2) = 0.2 (1 - 0.1 k)."""
        text = SHAKEN.replace("planar = true", "planar = false") + SECOND_AND_THIRD
        case = parse_case(text, overrides={"joints.friction": 0.2, "structure.depth": "1 m", "structure.width": "1 m"})
        model = case.model()
        borne = motion_remainder.RemainingMotionCheck(case, model)
        found = borne._multiplier(initial_state(model), 0.1 * GRAVITY * np.array([0.0, 1.0, 1.0, 1.0]))
        assert found == pytest.approx(0.2 / (0.1 * math.sqrt(2) + 0.02), rel=1e-5)

    @pytest.mark.parametrize(
        "pulse", ["0.28 g", *(pytest.param(each, marks=pytest.mark.soak) for each in ("0.2 g", "0.35 g", "0.4 g", "0.5 g"))]
    )
    def test_a_motion_that_is_borne_need_not_be_followed(self, pulse, monkeypatch):
        """Brute force: a strong pulse, then 8 s of 0.1 g, of which the block bears 2.5 times as much (0.25 g). From 0.35 g on
        it goes on rocking, and is followed."""
        early = run_trial(SHAKEN, "case.toml", {"motion.0.amplitude": pulse})
        monkeypatch.setattr(motion_remainder, "ACCELERATION_MARGIN", 1e9)
        full = run_trial(SHAKEN, "case.toml", {"motion.0.amplitude": pulse})
        assert early.status == full.status
        if pulse in ("0.2 g", "0.28 g"):
            assert early.reason == "came to rest, and bears the rest of the motion"
            assert full.reason == "came to rest"
            assert early.numbers["time"] < 7 < 8 < full.numbers["time"]
        same = ("collapse_time", "peak_displacement", "peak_tilt", "peak_displacement block")
        assert [early.numbers[name] for name in same] == [full.numbers[name] for name in same]
        assert early.numbers["residual_displacement"] == pytest.approx(full.numbers["residual_displacement"], abs=1e-5)

    def test_a_motion_that_is_not_borne_is_followed(self):
        """1.5 times 0.2 g is more than the 0.25 g under which the block rocks: it is followed into the last wave."""
        found = run_trial(SHAKEN, "case.toml", {"motion.0.amplitude": "0.22 g", "motion.1.amplitude": "0.2 g"})
        assert found.status == STANDING
        assert found.numbers["time"] > 8.2

    def test_motions_without_end_give_no_rest(self):
        endless = PUSHED.replace('pulse = "one-sine"', 'pulse = "sine"')
        found = run_trial(endless, "case.toml", {"motion.amplitude": 0.0, "analysis.duration": 1.0})
        assert found.reason == "the duration is over"


class TestTrial:
    def test_numbers_of_a_fall(self):
        """By hand: lying, the centroid of the 0.25 x 1 m block has come from 0.5 m to 0.125 m and moved by 0.5 to 0.8 m; 20 %
        of its potential energy are lost at 0.4 m, on the way there."""
        found = run_trial(PUSHED, "case.toml", {"structure.tilt": "20 deg", "motion.amplitude": 0.0})
        numbers = found.numbers
        assert (found.status, found.reason) == (COLLAPSED, "the potential energy has fallen")
        assert numbers["collapse_time"] == numbers["time"] < 6
        assert 0.1 < numbers["peak_displacement"] == numbers["peak_displacement block"] < 0.8
        assert math.radians(20) < numbers["peak_tilt"] < math.pi / 2
        assert (numbers["unconverged"], numbers["steps"]) == (0, round(numbers["time"] / 0.005))

    def test_moved_supports_are_no_displacement(self):
        """Without friction the support slides away by 0.1 m under a block that stays where it is."""
        support = next(block.name for block in parse_case(SHORT).blocks() if block.fixed)
        pulse = f'pulse = "settlement"\ndisplacement = 0.1\nduration = 1.0\ndirection = [1, 0, 0]\nsupports = ["{support}"]'
        text = PUSHED.replace('pulse = "one-sine"\namplitude = "0.3 g"\nhalf_period = "0.2 s"', pulse)
        found = run_trial(text, "case.toml", {"joints.friction": 0.0})
        assert (found.status, found.reason) == (STANDING, "came to rest")
        assert found.numbers["peak_displacement"] < 1e-6

    @pytest.mark.parametrize(
        ("kind", "sample", "name", "value"),
        [
            ("limit", {"analysis.direction": [1, 0, 0]}, "multiplier", 0.25),
            ("tilt", {}, "angle", ALPHA),
            ("tilt", {"structure.width": "0.5 m"}, "angle", math.atan(0.5)),
            ("equilibrium", {}, "stable", 1),
            ("capacity", {"analysis.directions": 4}, "multiplier", 0.25),
        ],
    )
    def test_statics(self, kind, sample, name, value):
        """Closed forms: b / h = 0.25 is less than the friction."""
        found = run_trial(STATICS.format(kind=kind), "case.toml", sample)
        assert found.status == STANDING, found.reason
        assert found.numbers[name] == pytest.approx(value, rel=1e-6)

    def test_what_does_not_stand(self):
        """A block beyond its balance has no thrust within its base."""
        found = run_trial(STATICS.format(kind="equilibrium"), "case.toml", {"structure.tilt": "20 deg"})
        assert (found.status, found.numbers["stable"]) == (COLLAPSED, 0)

    @pytest.mark.parametrize(
        ("sample", "said"),
        [
            ({"joints.frictoin": 0.5}, "did you mean 'friction'"),
            ({"motion.amplitude": "0.3 kg"}, "'kg' is not a unit of acceleration"),
            ({"output.monitor": ["blokc"]}, "no block is named 'blokc'"),
        ],
    )
    def test_a_mistake_is_an_outcome(self, sample, said):
        found = run_trial(SHORT, "case.toml", sample)
        assert found.status == FAILED
        assert said in found.reason

    def test_the_same_structure_is_let_down_once(self, monkeypatch):
        """And the bits are those of a trial alone."""
        alone = run_trial(SHORT, "case.toml", {"motion.amplitude": "0.2 g"})
        lets_down, count = dynamics.start_state, []
        monkeypatch.setattr(dynamics, "start_state", lambda *given: count.append(1) or lets_down(*given))
        other = {"joints.friction": 0.6}
        changes = [other, other | {"motion.amplitude": "0.2 g"}, {"motion.amplitude": "0.1 g"}, {"motion.amplitude": "0.2 g"}]
        found = [run_trial(SHORT, "case.toml", change) for change in changes]
        assert len(count) == 2
        assert found[-1].numbers == alone.numbers

    def test_an_error_of_the_program_is_an_outcome(self, monkeypatch):
        monkeypatch.setattr(dynamics, "simulate_case", lambda *_, **__: (1 / 0 for _ in [1]))
        found = run_trial(SHORT, "case.toml", {})
        assert (found.status, found.reason) == (FAILED, "ZeroDivisionError: division by zero")

    def test_too_long_is_an_outcome(self):
        found = run_trial(PUSHED, "case.toml", {}, limit=0.0)
        assert (found.status, found.reason) == (FAILED, "cut at 0.005 s: it took longer than the limit")
        found = run_trial(STATICS.format(kind="equilibrium"), "case.toml", {}, limit=0.0)
        assert found.reason == "cut at 'settling, then released': it took longer than the limit"

    @pytest.mark.parametrize(("only_collapsed", "kept"), [(False, True), (True, False)])
    def test_runs_are_kept(self, tmp_path, only_collapsed, kept):
        """The run has the case with the sample in it, and gives the same outcome."""
        sample = {"motion.amplitude": "0.1 g"}
        run = tmp_path / "runs" / "key"
        found = run_trial(SHORT, "case.toml", sample, recording=Recording(run, only_collapsed))
        assert found._replace(seconds=0) == run_trial(SHORT, "case.toml", sample)._replace(seconds=0)
        assert run.exists() == kept
        if kept:
            assert read_case(run / "case.toml").motions[0].amplitude == pytest.approx(0.981)

    def test_a_failed_run_is_kept_with_all_only(self, tmp_path):
        for only_collapsed in (False, True):
            out = tmp_path / str(only_collapsed)
            assert run_trial(PUSHED, "case.toml", {}, limit=0.0, recording=Recording(out, only_collapsed)).status == FAILED
            assert out.exists() != only_collapsed


class TestKey:
    def test_of_what_matters_only(self, tmp_path, monkeypatch):
        path, sample = tmp_path / "case.toml", {"motion.amplitude": "0.2 g", "joints.friction": 0.5}
        key = trial_key.trial_key(SHORT, path, sample)
        assert trial_key.trial_key(SHORT + "# a comment", path, dict(reversed(sample.items()))) == key
        assert trial_key.trial_key(SHORT.replace("0.25 m", "0.26 m"), path, sample) != key
        assert trial_key.trial_key(SHORT, path, sample | {"joints.friction": 0.6}) != key
        monkeypatch.setattr(trial_key, "__version__", "another")
        assert trial_key.trial_key(SHORT, path, sample) != key

    def test_of_the_content_of_files(self, tmp_path):
        """Block files of the case, records of the sample; a file that is not there is one more content."""
        text, sample = '[structure]\nfile = "wall.json"\n', {"motion.record": "a.AT2"}
        keys = [trial_key.trial_key(text, tmp_path / "case.toml", sample)]
        for name, value in (("wall.json", "1"), ("wall.json", "2"), ("a.AT2", "1"), ("a.AT2", "2")):
            (tmp_path / name).write_text(value)
            keys.append(trial_key.trial_key(text, tmp_path / "case.toml", sample))
        assert len(set(keys)) == 5

    def test_a_case_of_its_own_names_its_files_from_anywhere(self, tmp_path):
        text = '[[structure.parts]]\nfile = "wall.json"\n'
        assert str(tmp_path.resolve() / "wall.json") in trial_key.self_contained_case(text, tmp_path / "case.toml", {})


class TestTable:
    def table(self, folder, **options):
        return TrialTable(folder, lambda sample: f"key {sample['a']}", **options)

    def test_rows_are_there_again(self, tmp_path):
        table = self.table(tmp_path)
        kept = [({"a": k}, outcome(x=0.1 * k, y=None)) for k in range(3)]
        for row in kept:
            table.add(*row)
        assert self.table(tmp_path).trials.rows() == kept, "before it is closed, as after kill -9"

    def test_a_torn_row_is_dropped(self, tmp_path):
        """Brute force: the file cut at every byte of its last row."""
        table = self.table(tmp_path)
        for k in range(2):
            table.add({"a": k}, outcome(COLLAPSED, time=1.5))
        whole = (tmp_path / "trials.jsonl").read_bytes()
        first = whole.index(b"\n") + 1
        for cut in range(first, len(whole)):
            (tmp_path / "trials.jsonl").write_bytes(whole[:cut])
            again = self.table(tmp_path)
            assert (len(again.trials), again.torn) == (1, cut > first)
            again.add({"a": 1}, outcome(COLLAPSED, time=1.5))
            assert (tmp_path / "trials.jsonl").read_bytes() == whole

    def test_rows_of_another_case_do_not_count(self, tmp_path):
        self.table(tmp_path).add({"a": 1}, outcome())
        other = TrialTable(tmp_path, lambda sample: "another")
        assert (len(other.trials), other.others) == (0, 1)
        other.add({"a": 1}, outcome(COLLAPSED))
        assert self.table(tmp_path).trials.outcome({"a": 1}).status == STANDING, "the old row is still there"

    def test_failed_rows_count_unless_retried(self, tmp_path):
        self.table(tmp_path).add({"a": 1}, outcome(FAILED))
        assert len(self.table(tmp_path).trials) == 1
        assert len(self.table(tmp_path, retry=True).trials) == 0

    def test_a_row_that_is_none(self, tmp_path):
        (tmp_path / "trials.jsonl").write_text('{"key": 1}\n')
        with pytest.raises(InputError, match=r"trials.jsonl, line 1: is no row"):
            self.table(tmp_path)

    def test_as_csv_and_parquet(self, tmp_path):
        table = self.table(tmp_path)
        table.add({"a": "0.1 g"}, outcome(peak_tilt=0.5, steps=3))
        table.add({"a": 2.0, "b": [1, 2]}, Outcome(FAILED, 'said "no", twice', {}, 0.25))
        table.close()
        rows = list(csv.DictReader((tmp_path / "trials.csv").open()))
        assert {row["a"]: row["peak_tilt [rad]"] for row in rows} == {"0.1 g": "0.5", "2.0": ""}
        assert {row["a"]: row["reason"] for row in rows} == {"0.1 g": "made up", "2.0": 'said "no", twice'}
        parquet = pytest.importorskip("pyarrow.parquet")
        columns = parquet.read_table(tmp_path / "trials.parquet").to_pydict()
        rows = zip(columns["a"], columns["steps"], columns["b"], strict=True)
        assert sorted(rows) == [("0.1 g", 3.0, None), ("2.0", None, "[1, 2]")]

    def test_a_row_by_the_beginning_of_its_key(self, tmp_path):
        for k in (1, 12):
            self.table(tmp_path).add({"a": k}, outcome())
        assert read_row(tmp_path, "key 12").sample == {"a": 12}
        for key, said in (("key 1", "2 trials have"), ("x", "no trial has")):
            with pytest.raises(InputError, match=said):
                read_row(tmp_path, key)


class Backwards:
    """Workers that finish in the opposite order and note how many trials were under way."""

    def __init__(self, rule, room=3):
        self.rule, self._room, self.waiting, self.most, self.tried = rule, room, [], 0, []

    def max_pending(self):
        return self._room

    def submit(self, sample, key):
        self.waiting.append(sample)
        self.most = max(self.most, len(self.waiting))

    def next(self):
        sample = self.waiting.pop()
        self.tried.append(sample["x"])
        return sample, outcome(self.rule(sample["x"]))


class Bisection:
    """Halve 0 to 16 to where it falls; both ends of the next halving are proposed at once."""

    def propose(self, trials):
        low, high = 0, 16
        while high - low > 1:
            middle = (low + high) // 2
            tried = trials.outcome({"x": middle})
            if tried is None:
                return [{"x": middle}, {"x": (low + middle) // 2}, {"x": (middle + high) // 2}, {"x": middle}]
            low, high = (low, middle) if tried.status == COLLAPSED else (middle, high)
        return []


class TestLoop:
    def test_a_study_that_learns(self, tmp_path):
        """It falls from 5 on: by hand 8 falls, 4 stands, 6 falls, 5 falls."""
        crew = Backwards(lambda x: COLLAPSED if x >= 5 else STANDING)
        table = TrialTable(tmp_path, lambda sample: str(sample["x"]))
        rows = list(run_study(Bisection(), table, crew))
        assert len(crew.tried) == len(set(crew.tried)) == len(rows), "nothing twice"
        assert {8, 4, 6, 5} <= set(crew.tried)
        assert crew.most == 3, "as many as there is room for"
        assert Bisection().propose(table.trials) == []

    def test_cut_and_begun_again(self, tmp_path):
        """Cut after every number of rows: those tried are not tried again, and the rows are the same."""
        samples = combinations({"x": list(range(6))})
        for count in range(7):
            out = tmp_path / str(count)
            tried = []
            for rows in (count, 6):
                crew = Backwards(lambda x: STANDING, room=2)
                loop = run_study(Sweep(samples), TrialTable(out, lambda sample: str(sample["x"])), crew)
                for _ in range(rows):
                    if next(loop, None) is None:
                        break
                loop.close()
                tried += crew.tried
            assert sorted(tried) == list(range(6))


class TestSweep:
    def test_all_combinations_or_together(self):
        vary = {"a": [1, 2, 3], "b": ["x", "y", "z"]}
        assert len(combinations(vary)) == 9
        assert combinations(vary, together=True) == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, {"a": 3, "b": "z"}]

    def test_a_wrong_place_is_told_at_once(self, folder):
        (folder / "study.toml").write_text(SWEEP.replace("joints.friction", "joints.frictoin"))
        with pytest.raises(InputError, match="did you mean 'friction'"):
            prepare_study(folder / "study.toml")


class TestFile:
    @pytest.mark.parametrize(
        ("old", "new", "said"),
        [
            ('"sweep"', '"swep"', "study.toml, line 3: study.kind: 'swep' is not a kind of study, did you mean 'sweep'"),
            ("vary", "vari", "study.toml, line 5: study.vari: 'vari' is not a key of this table, did you mean 'vary'"),
            ("[0.5, 0.6]", "[]", "line 5: study.vary.joints.friction"),
            ("[0.5, 0.6]}", "[0.5]}\ntogether = true", "as many values of each: motion.amplitude 2, joints.friction 1"),
            ("case =", 'time_limit = "5"\ncase =', "line 4: study.time_limit: '5' has no unit"),
            ("case =", 'keep = "some"\ncase =', "line 4: study.keep: 'some' is not accepted; accepted: none, collapsed, all"),
            ("[study]", "[stud]", "study: is missing"),
            ("[study]", "[more]\n[study]", "line 2: more: 'more' is not a table of a study"),
        ],
    )
    def test_mistakes(self, old, new, said):
        with pytest.raises(InputError) as error:
            parse_study(SWEEP.replace(old, new), "study.toml", STUDY_KINDS)
        assert said in str(error.value)

    def test_the_full_set(self):
        """2 x 2 samples; of the full set 3 x 1, and a mistake in it has its line."""
        text = SWEEP + 'time_limit = "1 min"\n[study.full]\nvary = {"joints.friction" = [0.4, 0.5, 0.6]}\n'
        few, all_ = (parse_study(text, "study.toml", STUDY_KINDS, full=full) for full in (False, True))
        assert [len(combinations(file.table.vary)) for file in (few, all_)] == [4, 3]
        assert all_.conduct.time_limit == 60
        with pytest.raises(InputError, match=r"line 8: study.full.vary: is 3"):
            parse_study(text.replace('{"joints.friction" = [0.4, 0.5, 0.6]}', "3"), "study.toml", STUDY_KINDS, full=True)
        with pytest.raises(InputError, match=r"has no table \[study.full\]"):
            parse_study(SWEEP, "study.toml", STUDY_KINDS, full=True)

    @pytest.mark.parametrize("path", sorted(ROOT.glob("examples/studies/*.toml")), ids=lambda path: path.stem)
    def test_examples_are_valid(self, path):
        prepare_study(path)


class TestCommand:
    def test_begins_goes_on_and_records(self, command, folder):
        out = folder / "out"
        code, text, _ = command("study", folder / "study.toml", "-o", out, "--jobs", 1, "--json", "--plot")
        facts = json.loads(text)
        assert (code, facts["trials"]["all"], facts["expected"]) == (0, 4, 4)
        assert len(facts["found"]["rows"]) == 4
        assert Path(facts["pictures"][0]).stat().st_size > 1000
        lines = (out / "trials.jsonl").read_text().splitlines()
        code, _, error = command("study", "--resume", out)
        assert (code, "4 trials have already been computed" in error) == (0, True)
        assert (out / "trials.jsonl").read_text().splitlines() == lines, "nothing is computed again"
        key = json.loads(lines[2])["key"]
        code, text, _ = command("study", "--trial", key, out, "-o", folder / "run", "--json", "--picture")
        facts = json.loads(text)
        assert (code, facts["key"], facts["as_in_the_table"]) == (0, key, True)
        assert Path(facts["pictures"][0]).exists()
        assert command("info", folder / "run")[0] == 0

    def test_the_page_leads_from_every_trial_to_its_run(self, command, folder):
        out = folder / "out"
        (folder / "study.toml").write_text(SWEEP.replace("[study]", '[study]\nkeep = "all"'))
        facts = json.loads(command("study", folder / "study.toml", "-o", out, "--jobs", 1, "--json", "--plot")[1])
        page = Path(facts["pictures"][-1]).read_text()
        links = re.findall(r'href="([^"]+)"', page)
        assert len(links) == 4
        assert all((out / link / "run.h5").exists() for link in links)
        assert 'src="sweep.png"' in page

    def test_a_changed_case_is_computed_anew(self, command, folder):
        out = folder / "out"
        command("study", folder / "study.toml", "-o", out, "--jobs", 1)
        (folder / "case.toml").write_text(SHORT.replace("0.25 m", "0.3 m"))
        assert "4 trials have already been computed" in command("study", "--resume", out)[2], "as it was begun"
        code, _, error = command("study", folder / "study.toml", "-o", out, "--jobs", 1)
        assert (code, "4 rows are not used" in error) == (0, True)
        assert len((out / "trials.jsonl").read_text().splitlines()) == 8
        assert len((out / "trials.csv").read_text().splitlines()) == 5

    def test_a_failed_trial_is_a_row(self, command, folder):
        (folder / "study.toml").write_text(SWEEP.replace("0.6]", '"0.6 m"]'))
        code, text, _ = command("study", folder / "study.toml", "-o", folder / "out", "--jobs", 1, "--json")
        assert (code, json.loads(text)["trials"]) == (3, {"all": 4, "standing": 2, "collapsed": 0, "failed": 2})
        rows = list(csv.DictReader((folder / "out" / "trials.csv").open()))
        assert ["'m' is not a unit" in row["reason"] for row in rows].count(True) == 2

    def test_ctrl_c_keeps_all_rows(self, command, folder, monkeypatch):
        made = iter([outcome(), outcome(), KeyboardInterrupt()])

        def compute(*_, **__):
            if isinstance(result := next(made), KeyboardInterrupt):
                raise result
            return result

        monkeypatch.setattr(workers, "run_trial", compute)
        out = folder / "out"
        code, text, error = command("study", folder / "study.toml", "-o", out, "--jobs", 1, "--json")
        facts = json.loads(text)
        assert (code, facts["interrupted"], facts["trials"]["all"]) == (130, True, 2)
        assert f"Resume with: drystone study --resume {out}" in error
        assert len((out / "trials.csv").read_text().splitlines()) == 3
        monkeypatch.undo()
        assert json.loads(command("study", "--resume", out, "--jobs", 1, "--json")[1])["trials"]["all"] == 4

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("study",), "give a study file and a folder"),
            (("study", "--resume", "."), "holds no study"),
            (("study", "--trial", "12"), "give the folder of the study and a folder for the run"),
            (("study", "nothing.toml", "-o", "out"), "nothing.toml: cannot be read"),
        ],
    )
    def test_mistakes(self, command, arguments, said, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        code, _, error = command(*arguments)
        assert (code, said in error) == (2, True)

    def test_a_trial_of_statics_is_drawn(self, command, folder):
        (folder / "case.toml").write_text(STATICS.format(kind="tilt"))
        (folder / "study.toml").write_text(SWEEP.replace("motion.amplitude", "structure.width").replace("g", "m"))
        out = folder / "out"
        facts = json.loads(command("study", folder / "study.toml", "-o", out, "--jobs", 1, "--json", "--plot")[1])
        angles = [row["outcome"]["numbers"]["angle"] for row in facts["found"]["rows"]]
        assert angles == pytest.approx([math.atan(0.1)] * 2 + [math.atan(0.2)] * 2), "closed form: friction does not matter"
        key = json.loads((out / "trials.jsonl").read_text().splitlines()[0])["key"]
        facts = json.loads(command("study", "--trial", key, out, "-o", folder / "run", "--json", "--picture")[1])
        assert {Path(path).name for path in facts["pictures"]} >= {"forces.png", "mechanism.png"}

    def test_without_dask(self, command, folder, monkeypatch):
        """Several workers on this machine do not need it; a scheduler does."""
        monkeypatch.setitem(sys.modules, "distributed", None)
        monkeypatch.setitem(sys.modules, "dask", None)
        begin = ("study", folder / "study.toml", "-o", folder / "out")
        code, _, error = command(*begin, "--scheduler", "tcp://127.0.0.1:1")
        assert (code, "pip install 'drystone[study]'" in error) == (2, True)
        code, text, _ = command(*begin, "--jobs", 2, "--json")
        assert (code, json.loads(text)["trials"]["all"]) == (0, 4)

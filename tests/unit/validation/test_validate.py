"""`drystone validate`: verdicts by hand, what is kept and taken again, pages. The subjects are replaced by one that counts."""

import json
from contextlib import closing

import numpy as np
import pytest

from drystone.analysis.dynamics import record_history
from drystone.base.units import GRAVITY
from drystone.io.case import parse_case
from drystone.results.store.run_reader import read_run
from drystone.validation import house_studies, subjects
from drystone.validation.claims import EXPLAINED, FAILS, HOLDS, Claim, Figure, Subject, Workspace, judge_claim
from drystone.validation.computation import compute_history, compute_study, conduct
from drystone.validation.subjects import SUBJECTS, select_subjects

CLAIM = Claim("width", "width of the door", "m", 1.0, 0.1, "a door")
ELSEWHERE = CLAIM._replace(ours=2.0, explanation="another door")
BLOCK = """
[structure]
generator = "block"
[joints]
friction = 0.6
[analysis]
duration = "20 ms"
time_step = "1 ms"
[output]
every = "1 ms"
"""


@pytest.mark.parametrize(
    ("claim", "computed", "verdict"),
    [
        (CLAIM, 1.0999, HOLDS), (CLAIM, 0.9, HOLDS), (CLAIM, 1.11, FAILS), (CLAIM, float("nan"), FAILS),
        (ELSEWHERE, 1.05, HOLDS), (ELSEWHERE, 2.05, EXPLAINED), (ELSEWHERE, 1.5, FAILS), (ELSEWHERE, 2.2, FAILS),
        (Claim("fall", "it falls to the", "", "left"), "left", HOLDS),
        (Claim("fall", "it falls to the", "", "left"), "right", FAILS),
        (Claim("fall", "it falls to the", "", "left", ours="right", explanation="mirrored"), "right", EXPLAINED),
    ],
)  # fmt: skip
def test_verdicts(claim, computed, verdict):
    """An explanation is about one value: it does not excuse others."""
    assert judge_claim(claim, computed).verdict == verdict


def test_claims_are_whole():
    """Each subject once; numbers have a tolerance and its reason, deviations a value and an explanation."""
    assert len({subject.id for subject in SUBJECTS}) == len(SUBJECTS)
    for subject in SUBJECTS:
        assert len({claim.name for claim in subject.claims}) == len(subject.claims) > 0
        for claim in subject.claims:
            assert isinstance(claim.published, str) or (claim.tolerance > 0 and claim.why), (subject.id, claim.name)
            assert (claim.ours is None) == (claim.explanation == ""), (subject.id, claim.name)
            assert claim.ours is None or judge_claim(claim, claim.ours).verdict == EXPLAINED, (subject.id, claim.name)


def test_subjects_by_name():
    assert [subject.id for subject in select_subjects(["h3"], full=False)] == ["H3"]
    assert [subject.id for subject in select_subjects(["H6"], full=False)] == [
        "H6-capacity",
        "H6-pulse",
    ]  # a quick one is not asked for
    assert all(subject.quick for subject in select_subjects([], full=False))
    assert select_subjects([], full=True) == list(SUBJECTS)


@pytest.fixture
def doors(monkeypatch):
    """Two subjects; how often each was computed. The second is interrupted when told to."""
    calls = {"A": 0, "B": 0, "interrupt": False, "width": 1.05}

    def compute(id):
        def work(workspace):
            if id == "B" and calls["interrupt"]:
                raise KeyboardInterrupt
            calls[id] += 1
            return {"width": calls["width"]}

        return work

    def draw(workspace, out):
        (out / "door.png").write_bytes(b"")
        return [Figure("door.png", "the door")]

    made = tuple(Subject(id, f"Door {id}", "a builder", "A door.", (ELSEWHERE,), compute(id), draw) for id in "AB")
    monkeypatch.setattr(subjects, "SUBJECTS", made)
    return calls


def test_what_is_kept_is_not_computed_again(command, doors, tmp_path):
    for _ in range(2):
        code, out, _ = command("validate", "-o", tmp_path, "--json")
        assert code == 0
    assert (doors["A"], doors["B"]) == (1, 1)
    row = json.loads(out)["subjects"][1]["rows"][0]
    assert (row["published"], row["computed"], row["verdict"]) == (1.0, 1.05, "holds")
    assert row["difference"] == pytest.approx(0.05)
    command("validate", "-o", tmp_path, "--id", "B", "--again", "--json")
    assert (doors["A"], doors["B"]) == (1, 2)


def test_an_interruption_keeps_what_was_computed(command, doors, tmp_path):
    doors["interrupt"] = True
    code, out, _ = command("validate", "-o", tmp_path, "--json")
    assert (code, json.loads(out)["interrupted"]) == (130, True)
    assert [subject["id"] for subject in json.loads(out)["subjects"]] == ["A"]
    doors["interrupt"] = False
    code, _, _ = command("validate", "-o", tmp_path)
    assert (code, doors["A"], doors["B"]) == (0, 1, 1)


@pytest.mark.parametrize(("width", "code", "said"), [(2.0, 0, "explained"), (1.5, 1, "fails")])
def test_exit_codes_and_table(command, doors, tmp_path, width, code, said):
    doors["width"] = width
    found, out, _ = command("validate", "-o", tmp_path)
    assert found == code
    assert "width of the door [m]" in out  # and no markup
    assert said in out


def test_pages(command, doors, tmp_path):
    doors["width"] = 2.0
    command("validate", "-o", tmp_path / "kept", "--write", tmp_path / "pages")
    page = (tmp_path / "pages" / "A.md").read_text()
    assert "| width of the door [m] | 1 | 2 | +1 | explained |" in page
    assert "another door" in page
    assert "0.1 m (a door): width of the door" in page
    assert "![the door](door.png)" in page
    command("validate", "--id", "B", "-o", tmp_path / "kept", "--write", tmp_path / "pages")
    index = (tmp_path / "pages" / "index.md").read_text()
    assert "[A: Door A](A.md) | a builder | 1 |  | 1 |  | 0 | `--quick` |" in index  # still there
    assert index.count("by drystone") == 1


def test_data_that_are_not_there_are_named(command, doors, tmp_path, monkeypatch):
    needy = subjects.SUBJECTS[0]._replace(needs="doors/front.json")
    monkeypatch.setattr(subjects, "SUBJECTS", (needy, subjects.SUBJECTS[1]))
    code, out, said = command("validate", "-o", tmp_path, "--json")
    assert (code, [subject["id"] for subject in json.loads(out)["subjects"]]) == (0, ["B"])
    assert "doors/front.json" in said
    (tmp_path / "doors").mkdir()
    (tmp_path / "doors" / "front.json").touch()
    assert command("validate", "-o", tmp_path, "--data", tmp_path)[0] == 0
    assert doors["A"] == 1


def test_mistakes(command, doors, tmp_path):
    assert command("validate", "--id", "C", "-o", tmp_path)[0] == 2
    assert command("validate", "--quick", "--full", "-o", tmp_path)[0] == 2


def test_a_run_is_taken_again_gone_on_with_or_computed(tmp_path):
    """By the same bits as if never cut, and not by those of another case."""
    whole = compute_history(BLOCK, tmp_path / "whole")
    with closing(record_history(parse_case(BLOCK), tmp_path / "cut")) as steps:
        for _ in range(7):
            next(steps)
    assert not read_run(tmp_path / "cut").finished
    np.testing.assert_array_equal(compute_history(BLOCK, tmp_path / "cut").position, whole.position)
    stamp = (tmp_path / "whole" / "run.h5").stat().st_mtime_ns
    assert compute_history(BLOCK, tmp_path / "whole").frames == whole.frames
    assert (tmp_path / "whole" / "run.h5").stat().st_mtime_ns == stamp
    longer = compute_history(BLOCK, tmp_path / "whole", {"analysis.duration": "30 ms"})
    assert longer.time[-1] == pytest.approx(0.03)
    stamp = (tmp_path / "whole" / "run.h5").stat().st_mtime_ns
    compute_history(f"# longer\n{BLOCK}", tmp_path / "whole", {"analysis.duration": "30 ms"})  # a comment makes no other case
    assert (tmp_path / "whole" / "run.h5").stat().st_mtime_ns == stamp


STUDY = """
[study]
kind = "sweep"
case = "case.toml"
vary = { "joints.friction" = [0.2, 0.4] }
"""


def test_a_study_computes_only_the_trials_that_its_folder_has_not(tmp_path):
    def compute(workspace):
        return {"rows": len(compute_study(STUDY, BLOCK, workspace.folder / "sweep")["rows"])}

    rows = tmp_path / "S" / "sweep" / "trials.jsonl"
    subject = Subject("S", "A sweep", "us", "Two frictions.", (Claim("rows", "rows", "", 2, 0.1, "counted"),), compute)
    assert conduct(subject, tmp_path).numbers == {"rows": 2}
    first, _ = rows.read_text().splitlines(keepends=True)
    rows.write_text(first)
    assert conduct(subject, tmp_path).numbers == {"rows": 2}
    assert rows.read_text().splitlines()[0] == first.strip()  # as it was, with its time
    assert len(rows.read_text().splitlines()) == 2
    conduct(subject, tmp_path, again=True)
    assert first not in rows.read_text()


@pytest.mark.parametrize(
    ("plus", "minus", "short", "trend", "longest"),
    [
        ([None, 0.9, 0.5], [None, 0.8, 0.6], "survived", "falls", 0.5),
        ([None, 0.5, 0.5], [None, 0.8, 0.6], "survived", "does not fall", 0.5),
        ([1.5, 0.9, 0.6], [None, 0.8, 0.7], "collapses from 1.5 g", "falls", 0.6),
    ],
)
def test_what_is_read_from_a_failure_domain(monkeypatch, tmp_path, plus, minus, short, trend, longest):
    """By hand: the lower of both directions, from short to long pulses; None is beyond what was tried."""
    ways = {
        sign: {"boundary": [{"collapses": None if g is None else g * GRAVITY} for g in column], "islands": islands}
        for sign, column, islands in (("+", plus, []), ("-", minus, [{"half_period": 0.3}]))
    }
    monkeypatch.setattr(house_studies, "compute_study", lambda *_: {"curves": [{"directions": ways}]})
    found = house_studies.HOUSE_DOMAIN.compute(Workspace(tmp_path, None))
    assert found == {"short": short, "trend": trend, "longest": pytest.approx(longest), "islands": "-"}

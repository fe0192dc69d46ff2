"""kill -9 at seeded random instants. Truth: the same run and the same study with nothing happening to them, bit for bit."""

import random
import signal

import pytest

from drystone.study.preparation import prepare_study
from drystone.study.trial_table import TrialTable, read_rows
from tests.faults.programs import assert_same_run, begun, drystone, end, seconds_after, steps_of, sweep, told_here, wall

HOW_OFTEN = [pytest.param(2, id="2"), pytest.param(50, id="50", marks=pytest.mark.soak)]


@pytest.mark.parametrize("kills", HOW_OFTEN)
def test_a_run_killed_again_and_again(tmp_path, truth, kills):
    """Each time it is gone on with, and once at its end another begun: no step that was there is lost, the end is the same."""
    case, (truth, lasts) = wall(tmp_path), truth
    dice, done, number, before = random.Random(3), 0, 0, 0
    while done < kills:
        out = tmp_path / f"out {number}"
        process = drystone("run", "--resume", out, "--json") if out.exists() else drystone("run", case, "-o", out, "--json")
        if begun(process, out / "run.h5"):
            code, _ = end(process, lasts * dice.random(), signal.SIGKILL)
            done += code == -signal.SIGKILL
        now = steps_of(out)
        assert now >= before
        before = now
        if process.returncode >= 0:
            assert_same_run(truth, out)
            number, before = number + 1, 0
    if before:
        assert told_here("run", "--resume", out, "--json")[0] == 0
        assert_same_run(truth, out)


@pytest.mark.soak  # of a study that is killed twice: tests/examples/test_study_kill.py
@pytest.mark.parametrize("kills", HOW_OFTEN)
def test_a_study_killed_again_and_again(tmp_path, kills):
    """Every line that was whole is there after the next kill, none is there twice, all rows come and are the same."""
    file, truth = sweep(tmp_path), tmp_path / "truth"
    lasts = seconds_after(drystone("study", file, "-o", truth, "--jobs", 1, "--json"), truth / "trials.jsonl")
    dice, done, number = random.Random(3), 0, 0
    while done < kills:
        out = tmp_path / f"out {number}"
        rows = out / "trials.jsonl"
        before = rows.read_bytes() if rows.exists() else b""
        process = drystone("study", file, "-o", out, "--jobs", 1, "--json")
        if begun(process, rows):
            code, _ = end(process, lasts * dice.random(), signal.SIGKILL)
            done += code == -signal.SIGKILL
        assert rows.read_bytes().startswith(before[: before.rfind(b"\n") + 1])
        if process.returncode >= 0:
            assert_same_study(file, truth, out)
            number += 1
    out = tmp_path / f"out {number}"
    assert told_here("study", file, "-o", out, "--jobs", 1, "--json")[0] == 3, "some trials fail, as they should"
    assert_same_study(file, truth, out)


def assert_same_study(file, truth, out):
    key_of = prepare_study(file).key_of
    one, other = (TrialTable(folder, key_of).rows() for folder in (truth, out))
    assert [row._replace(outcome=row.outcome._replace(seconds=0.0)) for row in one] == [
        row._replace(outcome=row.outcome._replace(seconds=0.0)) for row in other
    ]
    keys = [row.key for row in read_rows(out)]
    assert len(keys) == len(set(keys)) == 18
    assert (out / "result.json").exists()

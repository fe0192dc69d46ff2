"""What kill -9 costs: of the whole study nothing that was finished, of a worker its trial. Truth: an uninterrupted study."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from drystone.study.loop import run_study
from drystone.study.preparation import prepare_study
from drystone.study.process_workers import ProcessWorkers
from drystone.study.sweep import Sweep
from drystone.study.trial_records import FAILED
from drystone.study.trial_table import TrialTable
from drystone.study.workers import SerialWorkers
from tests.unit.made_up_trials import poisoned

CASE = """
[structure]
generator = "block"
width = "0.2 m"
height = "1 m"
[joints]
friction = 0.7
[motion]
pulse = "one-sine"
amplitude = "0.3 g"
half_period = "0.2 s"
[analysis]
planar = true
duration = "0.2 s"
time_step = "4 ms"
"""
STUDY = """
[study]
kind = "sweep"
case = "case.toml"
vary = {"motion.amplitude" = ["0.15 g", "0.25 g", "0.3 g", "0.4 g", "0.5 g", "nonsense"], "joints.friction" = [0.3, 0.5, 0.7]}
"""


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    (folder / "case.toml").write_text(CASE)
    (folder / "study.toml").write_text(STUDY)
    return prepare_study(folder / "study.toml")


def without_seconds(trials):
    return [(sample, outcome._replace(seconds=0.0)) for sample, outcome in trials.rows()]


@pytest.fixture(scope="module")
def truth(begun, tmp_path_factory):
    """The rows of a study that nothing happens to."""
    folder = tmp_path_factory.mktemp("truth")
    table = TrialTable(folder, begun.key_of)
    assert len(list(run_study(begun.study, table, SerialWorkers(begun.task(folder))))) == 18
    return without_seconds(table.trials)


def test_the_whole_study_is_killed_and_goes_on(begun, truth, tmp_path):
    """At random instants (seeded): no line that was there is lost or changed, none is computed twice, the end is the same."""
    out, dice = tmp_path / "out", random.Random(7)
    file, rows = begun.file.path, out / "trials.jsonl"
    kills = 0
    while True:
        before = rows.read_bytes() if rows.exists() else b""
        command = [sys.executable, "-m", "drystone.cli", "study", str(file), "-o", str(out), "--jobs", "1", "--json"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        aim = before.count(b"\n") + dice.randint(5, 7)
        while process.poll() is None and (rows.read_bytes() if rows.exists() else b"").count(b"\n") < aim:
            time.sleep(0.005)
        time.sleep(0.03 * dice.random())
        process.send_signal(signal.SIGKILL)
        ended = process.wait() >= 0
        whole = before[: before.rfind(b"\n") + 1]
        assert rows.read_bytes().startswith(whole), "what was finished is there"
        if ended:
            break
        kills += 1
    assert kills >= 2
    table = TrialTable(out, begun.key_of)
    assert len(rows.read_bytes().splitlines()) == 18, "nothing twice"
    assert without_seconds(table.trials) == truth
    assert [outcome.status for _, outcome in truth].count(FAILED) == 3, "those of nonsense are rows"


def test_a_worker_that_dies_costs_its_trial_only(tmp_path):
    """One of 8 trials kills every worker that tries it, one the first only; the other six know nothing of it."""
    kills = {2: "always", 5: "once"}
    samples = [{"number": k, "kill": kills.get(k, "no"), "mark": str(tmp_path / f"mark {k}")} for k in range(8)]
    table = TrialTable(tmp_path / "out", lambda sample: f"{sample['number']:016d}")
    with ProcessWorkers(poisoned, 2) as workers:
        rows = list(run_study(Sweep(samples), table, workers))
    found = {row.sample["number"]: row.outcome for row in rows}
    assert len(rows) == 8
    assert [k for k in found if found[k].status == FAILED] == [2]
    assert found[2].reason == ("the worker was lost: 2 worker processes ended while they computed this trial, the last was "
                               "killed by SIGKILL")  # fmt: skip
    assert [found[k].numbers["number"] for k in range(8) if k != 2] == [0, 1, 3, 4, 5, 6, 7]


def test_a_worker_killed_from_outside(begun, truth, tmp_path):
    """Two workers, one of which is shot: all rows come, with the bits of one process alone."""
    out = tmp_path / "out"
    table = TrialTable(out, begun.key_of)
    with ProcessWorkers(begun.task(out), 2) as workers:
        for number, _ in enumerate(run_study(begun.study, table, workers)):
            if number == 3:
                os.kill(min(workers.processes()), signal.SIGKILL)
    assert without_seconds(table.trials) == truth
    assert len((out / "trials.jsonl").read_text().splitlines()) == 18

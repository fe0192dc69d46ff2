"""Workers of a study. Truths: outcomes made up, ids of processes, and for Dask the rows of a study in one process."""

import os
import signal
import time
from queue import SimpleQueue

import pytest

from drystone.base.errors import InputError
from drystone.study import dask_workers, process_workers
from drystone.study.dask_workers import DaskWorkers
from drystone.study.loop import run_study
from drystone.study.preparation import prepare_study
from drystone.study.process_workers import ProcessWorkers
from drystone.study.trial_records import FAILED, STANDING, Outcome
from drystone.study.trial_table import TrialTable
from drystone.study.worker_process import READY
from drystone.study.workers import SerialWorkers
from tests.examples.test_study_kill import CASE, STUDY, without_seconds
from tests.unit import made_up_trials
from tests.unit.made_up_trials import about_itself, broken, endless, given_up_by_dask, slow


class TestProcesses:
    def test_one_thread_no_ctrl_c_and_never_more_processes_than_trials(self, monkeypatch):
        monkeypatch.setenv("OMP_NUM_THREADS", "2")
        with ProcessWorkers(about_itself, 5) as workers:
            assert (workers.max_pending(), workers.processes()) == (5, [])
            workers.submit({"a": 1}, "first")
            (sample, first), own = workers.next(), workers.processes()
            assert sample == {"a": 1}
            assert first == Outcome(STANDING, "first", {"pid": own[0], "cores": 1, "ignores": True}, 0.0)
            for key in "xyz":
                workers.submit({"key": key}, key)
            assert workers.processes()[:1] == own, "the one that is there goes on"
            assert len(workers.processes()) == 3
            assert {workers.next()[1].reason for _ in range(3)} == {"x", "y", "z"}

    def test_in_the_order_they_are_done(self):
        with ProcessWorkers(slow, 2) as workers:
            for key in "ab":  # both workers are started before
                workers.submit({"seconds": 0.0}, key)
            assert {workers.next()[1].reason for _ in range(2)} == {"a", "b"}
            for key, seconds in (("long", 1.0), ("short", 0.01)):
                workers.submit({"seconds": seconds}, key)
            assert [workers.next()[1].reason for _ in range(2)] == ["short", "long"]

    def test_an_error_ends_the_study(self):
        """A trial tells of its own errors as a failed outcome: any other would fail them all."""
        with ProcessWorkers(broken, 2) as workers:
            workers.submit({}, "key")
            with pytest.raises(InputError, match=r"cannot compute \(OSError: the disk is gone\)"):
                workers.next()

    def test_a_task_that_cannot_be_loaded(self, monkeypatch):
        def of_this_process_alone(sample, key): ...

        of_this_process_alone.__module__, of_this_process_alone.__qualname__ = made_up_trials.__name__, "unknown_there"
        monkeypatch.setattr(made_up_trials, "unknown_there", of_this_process_alone, raising=False)
        with ProcessWorkers(of_this_process_alone, 1) as workers:
            workers.submit({}, "key")
            with pytest.raises(InputError, match=r"cannot compute \(AttributeError: .*unknown_there"):
                workers.next()

    def test_workers_that_do_not_start_end_the_study(self, monkeypatch):
        monkeypatch.setattr(process_workers, "WORKER_PROGRAM", "raise SystemExit(7)")
        with ProcessWorkers(slow, 2) as workers:
            workers.submit({}, "key")
            with pytest.raises(InputError, match=r"do not start: 3 in a row .* the last ended with exit code 7"):
                workers.next()

    def test_a_worker_that_dies_idle_costs_nothing(self):
        """Twice, so that a death that was counted would fail the trial that comes after."""
        with ProcessWorkers(about_itself, 1) as workers:
            for key in "abc":
                workers.submit({}, key)
                assert workers.next()[1].status == STANDING
                os.kill(*workers.processes(), signal.SIGKILL)
                time.sleep(0.1)

    def test_the_end_of_the_study_is_seen_in_the_middle_of_a_trial(self, tmp_path):
        """Its pipe alone is closed, as on systems that do not tell a process of the end of the one that started it."""
        answers, mark = SimpleQueue(), tmp_path / "mark"
        worker = process_workers._Worker(ProcessWorkers(endless, 1)._greeting, answers)
        assert answers.get(timeout=60)[1] == (READY, None)
        worker.begin(process_workers._PendingTrial({"mark": str(mark)}, "key"))
        while not mark.exists():
            time.sleep(0.01)
        worker._process.stdin.close()
        assert worker._process.wait(60) == 0
        assert worker.end() == "ended with exit code 0"


@pytest.fixture(scope="module")
def cluster():
    """A scheduler of Dask and a worker, in threads of this process, at an address of the loopback."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, protocol="tcp://", host="127.0.0.1",
                                  dashboard_address=None) as cluster:  # fmt: skip
        yield cluster.scheduler_address


class TestDask:
    def test_a_study(self, cluster, tmp_path):
        """The rows of one process alone, to the last bit."""
        (tmp_path / "case.toml").write_text(CASE)
        (tmp_path / "study.toml").write_text(STUDY)
        begun, found = prepare_study(tmp_path / "study.toml"), []
        for workers in (SerialWorkers(begun.task(tmp_path / "one")), DaskWorkers(begun.task(tmp_path / "two"), cluster)):
            table = TrialTable(tmp_path / type(workers).__name__, begun.key_of)
            with workers:
                assert workers.max_pending() == 1
                assert len(list(run_study(begun.study, table, workers))) == 18
            found.append(without_seconds(table.trials))
        assert found[0] == found[1]

    def test_an_error_ends_the_study(self, cluster):
        with DaskWorkers(broken, cluster) as workers:
            workers.submit({}, "key")
            with pytest.raises(InputError, match=r"cannot compute \(OSError: the disk is gone\)"):
                workers.next()

    def test_a_worker_that_was_lost(self, cluster):
        """What Dask says of a trial that has killed as many workers as the scheduler allows."""
        with DaskWorkers(given_up_by_dask, cluster) as workers:
            workers.submit({"a": 1}, "key")
            sample, outcome = workers.next()
        assert (sample, outcome.status) == ({"a": 1}, FAILED)
        assert outcome.reason.startswith("the worker was lost: ")

    def test_another_version(self, cluster, monkeypatch):
        monkeypatch.setattr(dask_workers, "_version", lambda: "0.0.1")
        with pytest.raises(InputError, match=r"its workers have drystone 0\.0\.1"):
            DaskWorkers(slow, cluster).__enter__()

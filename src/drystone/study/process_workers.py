"""Workers that are processes on this machine; outcomes come back in the order in which they are done.

The study communicates with each worker through two pipes. Nothing listens on a port or a socket, so that no other user of the
machine can reach a worker. (Workers of Dask, used earlier, listened on ports and executed whatever a local user sent them.)

A worker computes one trial at a time on one thread and is sent the next one when it is done. If it dies, only that trial is
lost; another worker computes it once more, and a trial during which two workers have died counts as failed. A terminal sends
Ctrl-C to all its processes; workers ignore it, and only the study reacts. Workers end with the study, however it ends
(worker_process.py).
"""

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Self

from drystone.base.errors import InputError
from drystone.study.trial_records import FAILED, Outcome, Sample
from drystone.study.worker_process import ERROR, READY
from drystone.study.workers import Compute

WORKER_PROGRAM = """import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
import pickle, sys
sys.path[:] = pickle.load(sys.stdin.buffer)
from drystone.study.worker_process import main
main()
"""
ONE_THREAD_ENVIRONMENT = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)  # the first: `crew.default_threads`
MAX_WORKER_DEATHS = 2  # of workers during one trial, after which the trial counts as failed
MAX_FAILED_STARTS = 3  # consecutive workers that end before they are ready, after which the study ends


@dataclass
class _PendingTrial:
    sample: Sample
    key: str
    deaths: int = 0  # of workers that computed it


class _Worker:
    """A process and the trial that it computes. Its answers are put into `answers` together with the worker; the answer is None
    when the process has ended."""

    def __init__(self, greeting: bytes, answers: SimpleQueue):
        self.is_ready = False
        self.trial: _PendingTrial | None = None
        command = [sys.executable, "-P", "-c", WORKER_PROGRAM]
        environment = os.environ | ONE_THREAD_ENVIRONMENT
        self._process: Any = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self._reader = threading.Thread(target=self._read, args=(answers,), daemon=True)
        self._reader.start()
        self._write(greeting)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_free(self) -> bool:
        return self.is_ready and self.trial is None

    def begin(self, trial: _PendingTrial) -> bool:
        """Send a trial; returns False if the process has just ended."""
        taken = self._write(pickle.dumps((dict(trial.sample), trial.key)))
        self.trial = trial if taken else None
        return taken

    def _write(self, message: bytes) -> bool:
        """Send a message; returns False if the process has ended, which `_read` reports to the study."""
        try:
            self._process.stdin.write(message)
            self._process.stdin.flush()
        except BrokenPipeError:
            return False
        return True

    def _read(self, answers: SimpleQueue) -> None:
        with suppress(EOFError, pickle.UnpicklingError):  # the end, or an answer that was cut
            while True:
                answers.put((self, pickle.load(self._process.stdout)))
        answers.put((self, None))

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> str:
        """Kill the process if it still runs, and say how it ended."""
        self.kill()
        code = self._process.wait()
        self._reader.join()
        self._process.stdout.close()
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        return f"ended with exit code {code}" if code >= 0 else f"was killed by {signal.Signals(-code).name}"


class ProcessWorkers:
    """At most `jobs` worker processes, started when there are trials for them. They import the task by its name, so that it
    must not be a function of the script that runs."""

    def __init__(self, task: Compute, jobs: int):
        self._jobs = jobs
        self._greeting = pickle.dumps(sys.path) + pickle.dumps(pickle.dumps(task))
        self._waiting: deque[_PendingTrial] = deque()
        self._workers: list[_Worker] = []
        self._answers: SimpleQueue = SimpleQueue()
        self._in_vain = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Kill all workers and abandon the trials under way."""
        for worker in self._workers:
            worker.kill()
        while self._workers:
            self._workers.pop().end()

    def max_pending(self) -> int:
        return self._jobs

    def processes(self) -> list[int]:
        """The ids of the workers' processes."""
        return [worker.pid for worker in self._workers]

    def submit(self, sample: Sample, key: str) -> None:
        self._waiting.append(_PendingTrial(sample, key))
        self._hand_out()

    def next(self) -> tuple[Sample, Outcome]:
        while True:
            worker, answer = self._answers.get()
            done = self._lost(worker) if answer is None else self._heard(worker, *answer)
            self._hand_out()
            if done is not None:
                return done

    def _hand_out(self) -> None:
        """Send waiting trials to free workers, and start new workers for the others."""
        for worker in self._workers:
            if self._waiting and worker.is_free and worker.begin(self._waiting[0]):
                self._waiting.popleft()
        busy = sum(worker.trial is not None for worker in self._workers)
        while len(self._workers) < min(self._jobs, busy + len(self._waiting)):
            self._workers.append(_Worker(self._greeting, self._answers))

    def _heard(self, worker: _Worker, kind: str, content: Any) -> tuple[Sample, Outcome] | None:
        if kind == ERROR:
            raise InputError(f"a worker process cannot compute ({content}); correct this, then run drystone study --resume")
        if kind == READY:
            worker.is_ready, self._in_vain = True, 0
            return None
        trial, worker.trial = worker.trial, None
        assert trial is not None
        return trial.sample, Outcome(*content)

    def _lost(self, worker: _Worker) -> tuple[Sample, Outcome] | None:
        """A worker has ended: try its trial again, or report it as failed."""
        self._workers.remove(worker)
        ending, trial = worker.end(), worker.trial
        self._in_vain += not worker.is_ready
        if self._in_vain == MAX_FAILED_STARTS:
            raise InputError(
                f"worker processes do not start: {MAX_FAILED_STARTS} in a row ended before they were ready, the last {ending}; "
                "give --jobs 1, or go on later with drystone study --resume"
            )
        if trial is None:
            return None
        trial.deaths += 1
        if trial.deaths < MAX_WORKER_DEATHS:
            self._waiting.appendleft(trial)
            return None
        reason = (
            f"the worker was lost: {MAX_WORKER_DEATHS} worker processes ended while they computed this trial, the last {ending}"
        )
        return trial.sample, Outcome(FAILED, reason, {}, 0.0)

"""Workers that compute trials; outcomes come back in the order in which they are done.

`SerialWorkers` is this process, `ProcessWorkers` (process_workers.py) are other processes of this machine, and `DaskWorkers`
(dask_workers.py) are the workers of a Dask scheduler.
"""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from drystone.analysis.dynamics import case_solver, is_step_compiled, simulate_case, start_state
from drystone.io.case import Case
from drystone.study.trial import Recording, run_trial
from drystone.study.trial_records import Outcome, Sample


@dataclass(frozen=True)
class Task:
    """What all trials of a study share."""

    case_text: str
    case_path: Path
    limit: float = math.inf  # [s] the longest time that a trial may take
    runs: Path | None = None  # folder in which runs are recorded; None: they are not
    only_collapsed: bool = False  # keep only the runs that collapse

    def __call__(self, sample: Sample, key: str) -> Outcome:
        recording = None if self.runs is None else Recording(self.runs / key, self.only_collapsed)
        return run_trial(self.case_text, self.case_path, sample, limit=self.limit, recording=recording)


Compute = Callable[[Sample, str], Outcome]  # computes the trial of a sample and its key: a Task


class Workers(Protocol):
    """Computes trials."""

    def max_pending(self) -> int:
        """The largest number of trials to have under way at once."""

    def submit(self, sample: Sample, key: str) -> None: ...

    def next(self) -> tuple[Sample, Outcome]:
        """Wait for the next trial that is done and return it."""


class SerialWorkers:
    """Computes trials in this process, one after another."""

    def __init__(self, task: Compute):
        self._task = task
        self._waiting: deque[tuple[Sample, str]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def max_pending(self) -> int:
        return 1

    def submit(self, sample: Sample, key: str) -> None:
        self._waiting.append((sample, key))

    def next(self) -> tuple[Sample, Outcome]:
        sample, key = self._waiting.popleft()
        return sample, self._task(sample, key)


def compile_kernels(case: Case) -> None:
    """Compute one step of the case, so that its kernels are in the disk cache before several workers need them."""
    if case.goes_through_time and not is_step_compiled(case.by_small_steps):
        model = case.model()
        next(simulate_case(case, model, start_state(case, model), case_solver(case)))

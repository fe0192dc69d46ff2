"""Who computes trials: samples go in, outcomes come out in the order they are done.

`Here` computes in this process and needs nothing. `Crew` has Dask do it: in processes of this machine, or wherever the workers
of a scheduler are. A worker computes one trial at a time on one thread, and is sent the next when it is done: if it dies, that
trial alone is lost and is computed again elsewhere; one that has killed two workers (or as many as the scheduler at that
address lets it) is a failed trial.
"""

import logging
import math
import os
import signal
from asyncio import CancelledError
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Queue
from types import TracebackType
from typing import Any, Protocol, Self

from drystone import __version__
from drystone.errors import InputError
from drystone.io.case import Case
from drystone.session import is_compiled, simulated, solver_of
from drystone.simulate import initial_state
from drystone.study.trial import Keeping, try_sample
from drystone.study.trials import FAILED, Outcome, Sample


@dataclass(frozen=True)
class Task:
    """What all trials of a study share."""

    case_text: str
    case_path: Path
    limit: float = math.inf  # [s] that a trial may take
    runs: Path | None = None  # where runs are recorded
    only_collapsed: bool = False  # of which these are kept

    def __call__(self, sample: Sample, key: str) -> Outcome:
        keeping = None if self.runs is None else Keeping(self.runs / key, self.only_collapsed)
        return try_sample(self.case_text, self.case_path, sample, limit=self.limit, keeping=keeping)


Compute = Callable[[Sample, str], Outcome]  # of a sample and its key: a Task


class Workers(Protocol):
    """Whoever computes trials."""

    def room(self) -> int:
        """How many trials to have under way."""

    def submit(self, sample: Sample, key: str) -> None: ...

    def next(self) -> tuple[Sample, Outcome]:
        """A trial that is done, waiting for one if need be."""


class Here:
    """This process."""

    def __init__(self, task: Compute):
        self._task = task
        self._waiting: deque[tuple[Sample, str]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def room(self) -> int:
        return 1

    def submit(self, sample: Sample, key: str) -> None:
        self._waiting.append((sample, key))

    def next(self) -> tuple[Sample, Outcome]:
        sample, key = self._waiting.popleft()
        return sample, self._task(sample, key)


def compile_kernels(case: Case) -> None:
    """A step of a history, so that its kernels are in the cache on disk before several workers look for them."""
    if case.goes_through_time and not is_compiled():
        model = case.model()
        next(simulated(case, model, initial_state(model, case.analysis.gravity), solver_of(case)))


def dask_setup(worker: Any) -> None:
    """What a worker of this machine does first: leave Ctrl-C, which goes to all processes of a terminal, to the study."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


LOOK, PATIENCE = 20.0, 15  # [s] after which to see whether there are workers; how often in vain
LOCAL = {  # settings of Dask for workers of this machine
    "distributed.worker.preload": [__name__],
    "distributed.scheduler.allowed-failures": 1,  # workers that a trial may kill and be tried again
    "distributed.scheduler.worker-ttl": None,  # a long solve says nothing for long
    "distributed.worker.memory.target": False,  # trials return a few numbers: there is nothing to spill
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.worker.profile.enabled": False,  # it stops the trial a hundred times a second to look where it is
    "distributed.comm.timeouts.connect": "120s",  # a loaded machine starts workers slowly
    "distributed.admin.tick.limit": "1h",
}


class Crew:
    """Workers of Dask: so many processes of this machine, or those of the scheduler at an address, tcp://host:port."""

    def __init__(self, task: Compute, jobs: int, scheduler: str | None = None):
        self._task, self._jobs, self._scheduler = task, jobs, scheduler
        self._samples: dict[str, Sample] = {}  # under way, by key
        self._done: Queue = Queue()  # of futures

    def __enter__(self) -> Self:
        dask, distributed = _import_dask()
        for name in [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._cluster: Any = None
        self._client: Any = None
        try:
            if self._scheduler is None:
                dask.config.set(LOCAL)
                self._cluster = distributed.LocalCluster(
                    n_workers=self._jobs, threads_per_worker=1, processes=True, host="127.0.0.1",
                    dashboard_address="127.0.0.1:0", scheduler_kwargs={"dashboard": False}, memory_limit=0,
                    silence_logs=logging.CRITICAL,
                )  # fmt: skip
            self._client = distributed.Client(self._cluster or self._scheduler, timeout="30s")
        except OSError as error:
            raise InputError(f"--scheduler {self._scheduler}: nobody answers there ({error}); start dask scheduler") from None
        versions = set(self._client.run(_version).values()) - {__version__}
        if versions:
            self.__exit__(None, None, None)
            raise InputError(f"--scheduler {self._scheduler}: its workers have drystone {', '.join(sorted(versions))}, this is "
                             f"{__version__}; install the same version there")  # fmt: skip
        self._killed = distributed.KilledWorker
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Trials under way are given up."""
        if self._client is not None:
            self._client.close()
        if self._cluster is not None:
            self._cluster.close()

    def room(self) -> int:
        """As many as there are workers now: those of a scheduler come and go."""
        if self._scheduler is None:
            return self._jobs
        with _answering():
            return max(1, sum(self._client.nthreads().values()))

    def processes(self) -> list[int]:
        """The ids of the workers' processes, each on its machine."""
        return list(self._client.run(os.getpid).values())

    def submit(self, sample: Sample, key: str) -> None:
        self._samples[key] = sample
        with _answering():
            future = self._client.submit(self._task, dict(sample), key, key=f"trial-{key}", pure=False)
            future.add_done_callback(self._done.put)

    def next(self) -> tuple[Sample, Outcome]:
        future = self._wait()
        sample = self._samples.pop(future.key.removeprefix("trial-"))
        with _answering():
            try:
                return sample, Outcome(*future.result())
            except self._killed as error:
                return sample, Outcome(FAILED, f"the worker was lost: {error}", {}, 0.0)


    def _wait(self) -> Any:
        """The next future that is done. Workers of a scheduler may be long in coming; those of this machine must be there."""
        in_vain = 0
        while in_vain < PATIENCE:
            try:
                return self._done.get(timeout=LOOK)
            except Empty:
                in_vain = in_vain + 1 if self._scheduler is None and not self._client.nthreads() else 0
        raise InputError(f"no worker is left, and none came back in {PATIENCE * LOOK:g} s; go on with drystone study --resume")


@contextmanager
def _answering() -> Iterator[None]:
    """A trial tells of its own errors: what else goes wrong would fail them all, and ends the study instead."""
    try:
        yield
    except (Exception, CancelledError) as error:
        raise InputError(f"the workers cannot compute ({type(error).__name__}: {error}); see that the scheduler runs and its "
                         "workers have this drystone, then go on with drystone study --resume") from None  # fmt: skip


def _version() -> str:
    return __version__


def _import_dask() -> Any:
    try:
        import dask
        import distributed
    except ImportError:
        raise InputError("more than one worker needs Dask: pip install 'drystone[study]', or give --jobs 1") from None
    return dask, distributed

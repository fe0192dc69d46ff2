"""Workers of a Dask scheduler, for clusters; outcomes come back in the order in which they are done.

A Dask scheduler executes whatever anybody who can reach it sends, so use it only in a trusted network. On one machine
`ProcessWorkers` does the same without listening on a port. A trial whose worker dies is computed again by another one, as often
as the scheduler allows.
"""

import logging
from asyncio import CancelledError
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, Self

from drystone import __version__
from drystone.base.errors import InputError
from drystone.study.trial_records import FAILED, Outcome, Sample
from drystone.study.workers import Compute


class DaskWorkers:
    """The workers of the scheduler at an address, tcp://host:port."""

    def __init__(self, task: Compute, scheduler: str):
        self._task, self._scheduler = task, scheduler
        self._samples: dict[str, Sample] = {}  # under way, by key
        self._done: SimpleQueue = SimpleQueue()  # of futures

    def __enter__(self) -> Self:
        distributed = _import_dask()
        for name in [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._killed = distributed.KilledWorker
        try:
            self._client = distributed.Client(self._scheduler, timeout="30s")
        except OSError as error:
            raise InputError(
                f"--scheduler {self._scheduler}: no scheduler answers ({error}); start one with dask scheduler"
            ) from None
        versions = set(self._client.run(_version).values()) - {__version__}
        if versions:
            self._client.close()
            raise InputError(f"--scheduler {self._scheduler}: its workers have drystone {', '.join(sorted(versions))}, this is "
                             f"{__version__}; install the same version there")  # fmt: skip
        return self

    def __exit__(self, *_: object) -> None:
        """Abandon the trials under way."""
        self._client.close()

    def max_pending(self) -> int:
        """One trial per thread of the present workers, whose number may change."""
        with _scheduler_errors():
            return max(1, sum(self._client.nthreads().values()))

    def submit(self, sample: Sample, key: str) -> None:
        self._samples[key] = sample
        with _scheduler_errors():
            future = self._client.submit(self._task, dict(sample), key, key=f"trial-{key}", pure=False)
            future.add_done_callback(self._done.put)

    def next(self) -> tuple[Sample, Outcome]:
        """Wait for the next outcome, also while no worker is connected."""
        future = self._done.get()
        sample = self._samples.pop(future.key.removeprefix("trial-"))
        with _scheduler_errors():
            try:
                return sample, Outcome(*future.result())
            except self._killed as error:
                return sample, Outcome(FAILED, f"the worker was lost: {error}", {}, 0.0)


@contextmanager
def _scheduler_errors() -> Iterator[None]:
    """Errors of a trial are part of its outcome. Any other error would make all trials fail, so it ends the study."""
    try:
        yield
    except (Exception, CancelledError) as error:
        raise InputError(f"the workers cannot compute ({type(error).__name__}: {error}); see that the scheduler runs and its "
                         "workers have this drystone, then go on with drystone study --resume") from None  # fmt: skip


def _version() -> str:
    return __version__


def _import_dask() -> Any:
    try:
        import distributed
    except ImportError:
        raise InputError("--scheduler needs Dask: pip install 'drystone[study]'; without it --jobs uses this machine") from None
    return distributed

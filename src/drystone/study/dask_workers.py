"""The workers of a Dask scheduler, for clusters: samples go in, outcomes come out in the order they are done.

Dask runs whatever it is sent by anybody who can reach the scheduler, so this is for networks that one trusts. On one machine
`ProcessWorkers` does the same without listening anywhere. A trial whose worker dies is computed again by another one, as often
as the scheduler allows.
"""

import logging
from asyncio import CancelledError
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, Self

from drystone import __version__
from drystone.errors import InputError
from drystone.study.trials import FAILED, Outcome, Sample
from drystone.study.workers import Compute


class DaskWorkers:
    """Those of the scheduler at an address, tcp://host:port."""

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
            raise InputError(f"--scheduler {self._scheduler}: nobody answers there ({error}); start dask scheduler") from None
        versions = set(self._client.run(_version).values()) - {__version__}
        if versions:
            self._client.close()
            raise InputError(f"--scheduler {self._scheduler}: its workers have drystone {', '.join(sorted(versions))}, this is "
                             f"{__version__}; install the same version there")  # fmt: skip
        return self

    def __exit__(self, *_: object) -> None:
        """Trials under way are given up."""
        self._client.close()

    def max_pending(self) -> int:
        """As many as there are workers now: they come and go."""
        with _scheduler_errors():
            return max(1, sum(self._client.nthreads().values()))

    def submit(self, sample: Sample, key: str) -> None:
        self._samples[key] = sample
        with _scheduler_errors():
            future = self._client.submit(self._task, dict(sample), key, key=f"trial-{key}", pure=False)
            future.add_done_callback(self._done.put)

    def next(self) -> tuple[Sample, Outcome]:
        """Workers may be long in coming: this waits for them."""
        future = self._done.get()
        sample = self._samples.pop(future.key.removeprefix("trial-"))
        with _scheduler_errors():
            try:
                return sample, Outcome(*future.result())
            except self._killed as error:
                return sample, Outcome(FAILED, f"the worker was lost: {error}", {}, 0.0)


@contextmanager
def _scheduler_errors() -> Iterator[None]:
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
        import distributed
    except ImportError:
        raise InputError("--scheduler needs Dask: pip install 'drystone[study]'; without it --jobs uses this machine") from None
    return distributed

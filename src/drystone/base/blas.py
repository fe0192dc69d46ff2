"""Keeps BLAS, the library of dense matrix operations, on one thread while drystone computes, and restores the user's setting.

Several threads in BLAS would change the order of sums and so the last bits of a result, and they are slower on matrices as
small as ours. The number of threads is set for the computation of one step only, and never held across a `yield`, where the
caller's own code runs.

In the OpenBLAS that NumPy and SciPy bring with them there is one number for the whole process: if several threads of Python
compute at the same time, the first to begin sets it and the last to end restores it. MKL, and OpenBLAS built with OpenMP, keep
a number for each thread of Python: there every computation sets and restores its own.

`threadpoolctl` finds the libraries, but its `threadpool_limits` cannot be used here. It looks through all loaded libraries at
every call, which takes 2 ms, twice the time of a step of one rocking block; and while one thread of Python is in charge of
OpenBLAS it ignores all others without saying so. Setting and restoring as it is done here takes 10 us.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any, NamedTuple

from threadpoolctl import ThreadpoolController


class Library(NamedTuple):
    """A BLAS library of this process."""

    path: str
    threads: Callable[[], int]  # returns the number of threads that it uses
    set_threads: Callable[[int], Any]
    per_thread: bool  # whether the number is one of the calling thread of Python, and not of the process


class _Limit:
    """Counts the computations under way and remembers how many threads the libraries had before the first of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way = 0  # computations, in all threads of Python
        self._before: dict[str, tuple[Library, int]] = {}  # by path: libraries set to one thread, and what they had
        self._libraries: list[Library] = []
        self._modules = 0  # of Python that were loaded when the libraries were last looked for

    def enter(self) -> list[tuple[Library, int]]:
        """Begin a computation; returns the limits that the computing thread must restore itself."""
        with self._lock:
            libraries = self._loaded()
            for library in libraries:
                if not library.per_thread and library.path not in self._before:
                    self._before[library.path] = (library, library.threads())
                    library.set_threads(1)
            self._under_way += 1
        own_limits = [(library, library.threads()) for library in libraries if library.per_thread]
        for library, _ in own_limits:
            library.set_threads(1)
        return own_limits

    def leave(self, own_limits: list[tuple[Library, int]]) -> None:
        for library, threads in own_limits:
            library.set_threads(threads)
        with self._lock:
            self._under_way -= 1
            while self._under_way == 0 and self._before:
                library, threads = self._before.popitem()[1]
                library.set_threads(threads)

    def _loaded(self) -> list[Library]:
        """The loaded libraries. They are searched again if modules were imported since, as one may have loaded another BLAS."""
        if self._modules != len(sys.modules):
            self._libraries = find_libraries()
            self._modules = len(sys.modules)
        return self._libraries


def find_libraries() -> list[Library]:
    """All BLAS libraries that are loaded."""
    return [_library(controller) for controller in ThreadpoolController().select(user_api="blas").lib_controllers]


def _library(controller: Any) -> Library:
    by_openmp = getattr(controller, "threading_layer", "") == "openmp"
    if controller.internal_api == "openblas" and not by_openmp:
        return Library(controller.filepath, controller.get_num_threads, _setter_of_openblas(controller.dynlib), False)
    of_each_thread = controller.internal_api == "mkl" or (controller.internal_api == "openblas" and by_openmp)
    return Library(controller.filepath, controller.get_num_threads, controller.set_num_threads, of_each_thread)


def _setter_of_openblas(library: Any) -> Callable[[int], Any]:
    """The function of the library itself; builds differ in the prefix and the suffix of its name."""
    names = [f"{prefix}openblas_set_num_threads{suffix}" for prefix, suffix in product(("", "scipy_"), ("", "64_", "_64"))]
    return getattr(library, next(name for name in names if hasattr(library, name)))


_limit = _Limit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS on one thread during the block, which must not contain a `yield`."""
    own_limits = _limit.enter()
    try:
        yield
    finally:
        _limit.leave(own_limits)

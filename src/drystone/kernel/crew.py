# mypy: disable-error-code=call-arg
"""Helper threads for a kernel: plain Python threads inside a kernel of their own that does not hold the GIL.

The kernel that runs offers jobs, a number of tiles each; it and the helpers take them one by one, and the job is over when
all are done. Who takes which tile changes nothing: tiles write to places of their own, each in one way only.

Not Numba's `prange`: of its thread pools the one without dependencies aborts when two Python threads use it, the one of GNU
OpenMP when a process that used it forks, and either is chosen for the whole process. These threads live for one call.
"""

import ctypes
import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from drystone.kernel import inner
from drystone.kernel.address import address, call

Array = np.ndarray

# Places in the control record; those that threads compete for are on cache lines of their own.
TICKET, DONE, STOP, HELPERS, JOB, WEIGHT, FAILED, NAP = 0, 8, 16, 24, 25, 28, 29, 32
# A ticket is the number of tiles times TILES, plus how many were taken from the back times BACK, plus how many from the front.
BACK, TILES = 1 << 22, 1 << 44
SPIN = 50_000  # looks for something to do, some 0.1 ms, before the first nap


def make_control() -> Array:
    """The record (48,) through which threads speak, without helpers."""
    control = np.zeros(48, np.int64)
    if os.name == "posix":
        control[NAP] = ctypes.cast(ctypes.CDLL(None).nanosleep, ctypes.c_void_p).value or 0
        control[NAP + 2] = 20_000  # [ns] after zero seconds
    return control


def cores() -> int:
    """Threads used by default: two, if this process may use two cores; OMP_NUM_THREADS = 1 (workers of a study) says no."""
    free = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return min(2, free, int(asked) if asked.isdigit() and int(asked) > 0 else free)


def together(kernel: Callable, assist: Callable, helpers: int, control: Array, *arguments: Any) -> Any:
    """kernel(*arguments) while so many helpers run assist(*arguments[:2], number)."""
    if helpers == 0:
        return kernel(*arguments)
    crew: list[threading.Thread] = []
    other_cores = _other_cores()
    control[STOP], control[HELPERS] = 0, helpers
    try:
        while len(crew) < helpers:
            work = (assist, other_cores, *arguments[:2], 1 + len(crew))
            helper = threading.Thread(target=_help, args=work, daemon=True)
            helper.start()
            crew.append(helper)
        return kernel(*arguments)
    finally:
        control[STOP], control[HELPERS] = 1, 0
        for helper in crew:
            helper.join()


def _other_cores() -> set[int]:
    """The cores that this thread may use, but is not on; none if the system does not tell. A helper on the same core would take
    turns with the kernel, some milliseconds each, while each waits for the other."""
    if not hasattr(os, "sched_setaffinity"):
        return set()
    return os.sched_getaffinity(0) - {ctypes.CDLL(None).sched_getcpu()}


def _help(assist: Callable, cores: set[int], *arguments: Any) -> None:
    if cores:
        os.sched_setaffinity(0, cores)  # of this thread alone
    assist(*arguments)


def _atomic(build: Callable) -> Any:
    """An operation on the number (int64) at an address that no thread can come in between."""

    @intrinsic
    def operation(typing_context, place, value):
        def generate(context, builder, signature, values):
            return build(builder, builder.inttoptr(values[0], ir.IntType(64).as_pointer()), values[1])

        return types.int64(types.int64, types.int64), generate

    return operation


_read = _atomic(lambda builder, place, _: builder.load_atomic(place, "seq_cst", 8))
_write = _atomic(lambda builder, place, value: builder.atomic_rmw("xchg", place, value, "seq_cst"))
_add = _atomic(lambda builder, place, value: builder.atomic_rmw("add", place, value, "seq_cst"))  # the number before it


@inner
def _nap(control, looks):
    """Called after so many looks in vain: let another process have the core after some time."""
    if looks > SPIN and control[NAP] != 0:
        call(control[NAP], (address(control, NAP + 1), np.int64(0)))


@inner
def _take(control, way):
    """A tile of the job on offer, or -1. Whoever has a tile keeps the job from ending: its description stands. The kernel takes
    them from the front (way 1), helpers from the back (way BACK): in a job that comes again and again, most tiles are done by
    the same core, which has their numbers at hand."""
    ticket = address(control, TICKET)
    seen = _read(ticket, 0)
    if _is_left(seen):
        seen = _add(ticket, way)
        if _is_left(seen):
            return seen % BACK if way == 1 else seen // TILES - 1 - seen // BACK % BACK
    return -1


@inner
def _is_left(ticket):
    return ticket % BACK + ticket // BACK % BACK < ticket // TILES


@inner
def begin(control, kind, front, block, tiles, helpers):
    """The first tile of a job, -1 if there is none; the job is offered to the helpers if there are any."""
    if helpers == 0 or tiles == 1:
        return 0 if tiles > 0 else -1
    control[JOB], control[JOB + 1], control[JOB + 2] = kind, front, block
    _write(address(control, DONE), 0)
    _write(address(control, TICKET), tiles * TILES)
    return _next(control, tiles)


@inner
def proceed(control, tile, tiles, helpers):
    """The tile is done: the next one, or -1 when all are, those of the helpers too."""
    if helpers == 0 or tiles == 1:
        return tile + 1 if tile + 1 < tiles else -1
    finish(control)
    return _next(control, tiles)


@inner
def _next(control, tiles):
    """A tile for the kernel, or -1 when all are done: helpers may have taken the last one, or even the first, and be at it."""
    tile = _take(control, 1)
    looks = 0
    while tile < 0 and _read(address(control, DONE), 0) < tiles:
        looks += 1
        _nap(control, looks)
    return tile


@inner
def finish(control):
    """A tile is done."""
    _add(address(control, DONE), 1)


@inner
def wait(control):
    """The next tile for a helper; -1 when there will be none."""
    looks = 0
    while _read(address(control, STOP), 0) == 0:
        tile = _take(control, BACK)
        if tile >= 0:
            return tile
        looks += 1
        _nap(control, looks)
    return -1

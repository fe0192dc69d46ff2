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
from drystone.kernel.aligned import CACHE_LINE, aligned

Array = np.ndarray

# Places in the control record, each line of eight on a cache line of its own. A core that looks at a line another one writes to
# makes that one wait for a third of a microsecond; so who waits looks at one place, and nothing else stands on its line.
HELPER_TICKET = 0  # ticket of the helpers, at which they look while they wait
KERNEL_TICKET = 8  # ticket of the kernel
# the job on offer (3), looks before tiles of the other are taken, what comes with the job
JOB, LOOKS_BEFORE_TAKING, JOB_WEIGHT = 16, 19, 20
# tiles that helpers have done, what they tell, looks in vain since the last tile
HELPERS_DONE, HELPERS_SUM, HELPERS_IDLE = 24, 25, 26
STOP, SLEEP_CALL = 32, 33  # seldom written: the end, a pause (2)
# OWN (KINDS): tiles of the kernel in jobs that come again
KERNEL_DONE, OFFERED_TILES, HELPER_COUNT, JOB_FAILED, KERNEL_SHARE = 40, 41, 42, 43, 44
REPEATED_KINDS = 4
HELPER_DONE = 40  # of helper h, from 1 on, on the h-th line behind this one: tiles that it has done and not yet told
MAX_HELPERS = 16
# A ticket is the number of its first tile that nobody has taken, plus STOPS times the tile at which it ends.
TICKET_BASE = 1 << 32
LOOKS_BEFORE_SLEEP = 50_000  # looks for something to do, some 0.1 ms, before the first nap
STOP_CHECK_INTERVAL = 128  # looks between two at what seldom changes
LOOKS_BEFORE_RESCUE = 20_000  # looks before tiles of the other thread are taken in a job that comes again: it has lost its core
LOOKS_BEFORE_REBALANCE = 1_000  # looks in vain, some 2 us, after which the other thread gets a tile less next time


def make_control() -> Array:
    """The record through which threads speak, without helpers. It begins on a cache line."""
    control = aligned(HELPER_DONE + CACHE_LINE * (1 + MAX_HELPERS), np.int64)
    if os.name == "posix":
        control[SLEEP_CALL] = ctypes.cast(ctypes.CDLL(None).nanosleep, ctypes.c_void_p).value or 0
        control[SLEEP_CALL + 2] = 20_000  # [ns] after zero seconds
    return control


def default_threads() -> int:
    """Threads used by default: two, if this process may use two cores; OMP_NUM_THREADS = 1 (workers of a study) says no."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    requested = os.environ.get("OMP_NUM_THREADS", "")
    return min(2, available, int(requested) if requested.isdigit() and int(requested) > 0 else available)


def run_with_helpers(kernel: Callable, assist: Callable, helpers: int, control: Array, *arguments: Any) -> Any:
    """kernel(*arguments) while so many helpers run assist(*arguments[:2], number)."""
    helpers = min(helpers, MAX_HELPERS)
    if helpers == 0:
        return kernel(*arguments)
    threads: list[threading.Thread] = []
    other_cores = _other_cores()
    control[STOP], control[HELPER_COUNT] = 0, helpers
    control[KERNEL_TICKET] = control[HELPER_TICKET] = control[KERNEL_DONE] = control[HELPERS_DONE] = control[
        HELPERS_SUM
    ] = control[OFFERED_TILES] = 0
    try:
        while len(threads) < helpers:
            work = (assist, other_cores, *arguments[:2], 1 + len(threads))
            helper = threading.Thread(target=_run_helper, args=work, daemon=True)
            helper.start()
            threads.append(helper)
        return kernel(*arguments)
    finally:
        control[STOP], control[HELPER_COUNT] = 1, 0
        for helper in threads:
            helper.join()


def _other_cores() -> set[int]:
    """The cores that this thread may use, but is not on; none if the system does not tell. A helper on the same core would take
    turns with the kernel, some milliseconds each, while each waits for the other."""
    if not hasattr(os, "sched_setaffinity"):
        return set()
    return os.sched_getaffinity(0) - {ctypes.CDLL(None).sched_getcpu()}


def _run_helper(assist: Callable, cores: set[int], *arguments: Any) -> None:
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
def _sleep_if_idle(control, looks):
    """Called after so many looks in vain: let another process have the core after some time."""
    if looks > LOOKS_BEFORE_SLEEP and control[SLEEP_CALL] != 0:
        call(control[SLEEP_CALL], (address(control, SLEEP_CALL + 1), np.int64(0)))


@inner
def _take_tile(control, ticket):
    """A tile of the job on offer from a ticket, or -1. Whoever has a tile keeps the job from ending: its description stands."""
    place = address(control, ticket)
    if _has_tiles(_read(place, 0)):
        seen = _add(place, 1)
        if _has_tiles(seen):
            return seen % TICKET_BASE
    return -1


@inner
def _has_tiles(ticket):
    return ticket % TICKET_BASE < ticket // TICKET_BASE


@inner
def begin_job(control, kind, front, block, tiles, helpers):
    """The first tile of a job, -1 if there is none; the job is offered to the helpers if there are any. The front part of the
    tiles is for the kernel, the rest for the helpers, and who is done with his own takes those of the other."""
    if helpers == 0 or tiles == 1:
        return 0 if tiles > 0 else -1
    return _offer_job(control, kind, front, block, tiles, -(-tiles // (1 + helpers)), 0)


@inner
def begin_repeated_job(control, kind, front, block, tiles, helpers):
    """As `begin`, for a job of a kind below KINDS that comes again and again: each thread keeps to its own tiles, whose numbers
    its core has at hand (to fetch those of a tile from another core takes longer than the tile), and how many are whose
    follows from who had to wait."""
    if helpers == 0 or tiles == 1:
        return 0 if tiles > 0 else -1
    own = control[KERNEL_SHARE + kind]
    own = -(-tiles // (1 + helpers)) if own == 0 else min(max(own, 1), tiles - 1)
    control[KERNEL_SHARE + kind] = own
    return _offer_job(control, kind, front, block, tiles, own, LOOKS_BEFORE_RESCUE)


@inner
def _offer_job(control, kind, front, block, tiles, own, patience):
    control[JOB], control[JOB + 1], control[JOB + 2], control[LOOKS_BEFORE_TAKING] = kind, front, block, patience
    control[OFFERED_TILES] += tiles
    _write(address(control, HELPER_TICKET), tiles * TICKET_BASE + own)
    _write(address(control, KERNEL_TICKET), own * TICKET_BASE)
    return _next_kernel_tile(control)


@inner
def next_tile(control, tile, tiles, helpers):
    """The tile is done: the next one, or -1 when all are, those of the helpers too."""
    if helpers == 0 or tiles == 1:
        return tile + 1 if tile + 1 < tiles else -1
    control[KERNEL_DONE] += 1
    return _next_kernel_tile(control)


@inner
def _next_kernel_tile(control):
    """A tile for the kernel, or -1 when all are done: helpers may have taken the last one, or even the first, and be at it."""
    tile = _take_tile(control, KERNEL_TICKET)
    looks = 0
    while tile < 0 and control[KERNEL_DONE] + _read(address(control, HELPERS_DONE), 0) < control[OFFERED_TILES]:
        if looks >= control[LOOKS_BEFORE_TAKING]:
            tile = _take_tile(control, HELPER_TICKET)
        looks += 1
        _sleep_if_idle(control, looks)
    if tile < 0 and control[LOOKS_BEFORE_TAKING] > 0:
        _rebalance(control, looks)
    return tile


@inner
def _rebalance(control, looks):
    """Who had to wait for the other gets a tile more in the next job of this kind. looks: of the kernel in vain."""
    if looks > LOOKS_BEFORE_REBALANCE:
        control[KERNEL_SHARE + control[JOB]] += 1
    elif looks == 0 and control[HELPERS_IDLE] > LOOKS_BEFORE_REBALANCE:
        control[KERNEL_SHARE + control[JOB]] -= 1


@inner
def add_to_sum(control, number):
    """A helper adds a number to what it has told in the job; nothing is written if it is nothing."""
    if number != 0:
        _add(address(control, HELPERS_SUM), number)


@inner
def take_sum(control):
    """What helpers have told in the job that is over; it is forgotten."""
    total = _read(address(control, HELPERS_SUM), 0)
    if total != 0:
        _write(address(control, HELPERS_SUM), 0)
    return total


@inner
def finish_tile(control, helper):
    """A helper has done a tile. It tells of it when it has no other."""
    control[HELPER_DONE + 8 * helper] += 1


@inner
def wait_for_tile(control, helper):
    """The next tile for a helper; -1 when there will be none."""
    looks = 0
    while True:
        tile = _take_tile(control, HELPER_TICKET)
        if tile < 0 and (looks % STOP_CHECK_INTERVAL == 0 or looks > LOOKS_BEFORE_SLEEP):
            if looks == 0 and control[HELPER_DONE + 8 * helper] > 0:
                _add(address(control, HELPERS_DONE), control[HELPER_DONE + 8 * helper])
                control[HELPER_DONE + 8 * helper] = 0
            if _read(address(control, STOP), 0) != 0:
                return -1
            if looks >= control[LOOKS_BEFORE_TAKING]:
                tile = _take_tile(control, KERNEL_TICKET)
            control[HELPERS_IDLE] = looks
        if tile >= 0:
            return tile
        looks += 1
        _sleep_if_idle(control, looks)

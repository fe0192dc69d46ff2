# mypy: disable-error-code=call-arg
"""Helper threads for a kernel: plain Python threads inside a kernel of their own that does not hold the GIL.

The kernel offers jobs, each of which consists of tiles. The kernel and its helpers take the tiles one by one, and the job is
over when all are done. The result does not depend on which thread takes which tile, as each tile writes to its own memory.

Numba's `prange` is not used: of its thread pools, the one without dependencies aborts when two Python threads use it, the one
of GNU OpenMP when a process that used it forks, and the choice is for the whole process. These threads live for one call.
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

from drystone.base.cores import available_cores
from drystone.base.kernel import inner
from drystone.base.kernel.address import address, call
from drystone.base.kernel.aligned import CACHE_LINE, aligned

Array = np.ndarray

# Positions in the control record, each group of eight on a cache line of its own. When a core reads a line that another core
# writes, the writer waits for a third of a microsecond. So a waiting thread reads one number, which has its line for itself.
HELPER_TICKET = 0  # ticket of the helpers, which they read while they wait
KERNEL_TICKET = 8  # ticket of the kernel
# The current job (3 numbers), the looks after which tiles of the other thread are taken, and the weight of the job.
JOB, LOOKS_BEFORE_TAKING, JOB_WEIGHT = 16, 19, 20
# The tiles that helpers have done, the sum of their numbers, and their looks in vain since the last tile.
HELPERS_DONE, HELPERS_SUM, HELPERS_IDLE = 24, 25, 26
STOP, SLEEP_CALL = 32, 33  # rarely written: whether the kernel has ended; the address of nanosleep and its argument (2)
# KERNEL_SHARE (REPEATED_KINDS): the number of tiles of the kernel in repeated jobs.
KERNEL_DONE, OFFERED_TILES, HELPER_COUNT, JOB_FAILED, KERNEL_SHARE = 40, 41, 42, 43, 44
REPEATED_KINDS = 4
HELPER_DONE = 40  # of helper h, from 1 on, on the h-th line after this one: tiles that it has done and not yet reported
MAX_HELPERS = 16
# A ticket is the number of the first tile that is not taken yet, plus TICKET_BASE times the tile at which the range ends.
TICKET_BASE = 1 << 32
LOOKS_BEFORE_SLEEP = 50_000  # looks for work, about 0.1 ms, before the first sleep
STOP_CHECK_INTERVAL = 128  # looks between two checks of what rarely changes
LOOKS_BEFORE_RESCUE = 20_000  # looks before tiles of the other thread are taken in a repeated job: it has lost its core
LOOKS_BEFORE_REBALANCE = 1_000  # looks in vain, about 2 us, after which the other thread gets one tile less next time


def make_control() -> Array:
    """The record through which threads communicate, without helpers. It begins on a cache line."""
    control = aligned(HELPER_DONE + CACHE_LINE * (1 + MAX_HELPERS), np.int64)
    if os.name == "posix":
        control[SLEEP_CALL] = ctypes.cast(ctypes.CDLL(None).nanosleep, ctypes.c_void_p).value or 0
        control[SLEEP_CALL + 2] = 20_000  # [ns] after zero seconds
    return control


def default_threads() -> int:
    """The default number of threads: two, unless the process has one core or OMP_NUM_THREADS is 1, as in workers of studies."""
    available = available_cores()
    requested = os.environ.get("OMP_NUM_THREADS", "")
    return min(2, available, int(requested) if requested.isdigit() and int(requested) > 0 else available)


def run_with_helpers(kernel: Callable, assist: Callable, helpers: int, control: Array, *arguments: Any) -> Any:
    """Run kernel(*arguments) while as many threads as `helpers` run assist(*arguments[:2], number)."""
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
    """The cores that this thread may use, without the one that it runs on; empty if the system does not provide them. A helper
    on
    the same core would alternate with the kernel every few milliseconds, while each waits for the other."""
    if not hasattr(os, "sched_setaffinity"):
        return set()
    return os.sched_getaffinity(0) - {ctypes.CDLL(None).sched_getcpu()}


def _run_helper(assist: Callable, cores: set[int], *arguments: Any) -> None:
    if cores:
        os.sched_setaffinity(0, cores)  # for this thread only
    assist(*arguments)


def _atomic(build: Callable) -> Any:
    """An atomic operation on the number (int64) at an address."""

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
    """Sleep for a moment once the thread has looked in vain for work often enough, so that other processes can use the core."""
    if looks > LOOKS_BEFORE_SLEEP and control[SLEEP_CALL] != 0:
        call(control[SLEEP_CALL], (address(control, SLEEP_CALL + 1), np.int64(0)))


@inner
def _take_tile(control, ticket):
    """Take a tile of the current job from a ticket; -1 if there is none. The job cannot end, and its description cannot change,
    before this tile is done."""
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
    """Begin a job, which is offered to the helpers if there are any, and return its first tile, or -1 if it has none. The first
    part of the tiles is for the kernel, the rest for the helpers; a thread that has finished its own takes those of the
    other."""
    if helpers == 0 or tiles == 1:
        return 0 if tiles > 0 else -1
    return _offer_job(control, kind, front, block, tiles, -(-tiles // (1 + helpers)), 0)


@inner
def begin_repeated_job(control, kind, front, block, tiles, helpers):
    """The same as `begin_job`, for a job of a kind below REPEATED_KINDS, which is repeated many times. Each thread keeps to its
    own tiles, whose data are in the cache of its core (to fetch them from another core takes longer than the tile). The number
    of tiles of each thread is adjusted by which of them had to wait."""
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
    """After a tile is done: the next tile for the kernel, or -1 when all tiles are done, including those of the helpers."""
    if helpers == 0 or tiles == 1:
        return tile + 1 if tile + 1 < tiles else -1
    control[KERNEL_DONE] += 1
    return _next_kernel_tile(control)


@inner
def _next_kernel_tile(control):
    """A tile for the kernel, or -1 when all are done; until then it waits for tiles that helpers have taken."""
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
    """Give the thread that had to wait one tile more in the next job of this kind. looks: how often the kernel looked in
    vain."""
    if looks > LOOKS_BEFORE_REBALANCE:
        control[KERNEL_SHARE + control[JOB]] += 1
    elif looks == 0 and control[HELPERS_IDLE] > LOOKS_BEFORE_REBALANCE:
        control[KERNEL_SHARE + control[JOB]] -= 1


@inner
def add_to_sum(control, number):
    """Add the number of a helper to the sum of the job; zero is not written."""
    if number != 0:
        _add(address(control, HELPERS_SUM), number)


@inner
def take_sum(control):
    """The sum that helpers have added up in the job that is over; it is reset to zero."""
    total = _read(address(control, HELPERS_SUM), 0)
    if total != 0:
        _write(address(control, HELPERS_SUM), 0)
    return total


@inner
def finish_tile(control, helper):
    """Count a tile that a helper has done. The helper reports its count when it finds no other tile."""
    control[HELPER_DONE + 8 * helper] += 1


@inner
def wait_for_tile(control, helper):
    """Wait for the next tile for a helper; -1 when the kernel has ended."""
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

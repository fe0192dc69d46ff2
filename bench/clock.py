"""What a call costs: processor time, which other users of the machine change little, wall time and peak memory."""

import ctypes
import gc
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from drystone.contact.broad_phase import candidate_pairs
from drystone.contact.detection import detect
from drystone.contact.placed_blocks import place
from drystone.engine.cone_step.integrator import State
from drystone.structure.model import Model

T = TypeVar("T")


def timed(call: Callable[[], T]) -> tuple[float, float, T]:
    """Seconds of processor time and on the wall, and what the call gave."""
    wall, processor = time.perf_counter(), processor_time()
    value = call()
    return processor_time() - processor, time.perf_counter() - wall, value


def processor_time() -> float:
    """[s] of this process. Not `time.process_time`: Linux brings it up to date at its ticks only, 4 ms apart, where a limit on
    processor time is set, as bench/engine.py does."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak() -> float:
    """Largest memory of this process so far [MiB], or since `forget_peak`."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def forget_peak() -> float:
    """Start the peak again from the memory in use and return it [MiB]. Only Linux can; elsewhere the old peak stays."""
    door = Path("/proc/self/clear_refs")
    if door.exists():
        gc.collect()
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # what was freed would hide what is taken next
        if trim is not None:
            trim(0)
        door.write_text("5")
    return peak()


def detection(model: Model, state: State, h: float) -> tuple[float, float]:
    """Processor seconds of the broad and of the narrow phase at a state; the memory of contacts counts as narrow."""
    where = model.bodies, state.position, state.rotation, state.velocity, h
    broad, _, _ = timed(lambda: candidate_pairs(model.bodies, place(*where)))
    whole, _, _ = timed(lambda: detect(*where, state.contacts, state.next_id))
    return broad, max(whole - broad, 0.0)

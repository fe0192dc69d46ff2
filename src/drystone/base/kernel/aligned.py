"""Arrays that begin on a cache line, so that vectors are read at once and threads do not share cache lines at their ends."""

from typing import Any

import numpy as np

CACHE_LINE = 8  # numbers


def aligned(count: int, kind: Any = float) -> np.ndarray:
    """An array of `count` zeros of a type of eight bytes."""
    room = np.zeros(count + CACHE_LINE, kind)
    first = -room.ctypes.data // room.itemsize % CACHE_LINE
    return room[first : first + count]

"""Arrays that begin on a cache line: vectors are read from them in one go, and threads do not meet at their ends."""

from typing import Any

import numpy as np

CACHE_LINE = 8  # numbers


def aligned(count: int, kind: Any = float) -> np.ndarray:
    """So many zeros of a kind of eight bytes."""
    room = np.zeros(count + CACHE_LINE, kind)
    first = -room.ctypes.data // room.itemsize % CACHE_LINE
    return room[first : first + count]

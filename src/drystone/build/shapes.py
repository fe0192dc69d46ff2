"""The few solids all generators are made of, and the checks all of them share: sizes come in, `Block`s go out."""

import math
from typing import Any

import numpy as np

from drystone.errors import InputError
from drystone.model import Block

Array = np.ndarray

# Faces of a hexahedron whose corners are 0-3 at the bottom, counter-clockwise from above, and 4-7 over them.
HEXAHEDRON = ((3, 2, 1, 0), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))


def box(low: tuple[float, float, float], high: tuple[float, float, float], **attributes: Any) -> Block:
    """The box between two corners [m]; attributes are those of `Block`."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    square = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
    corners = [(x, y, z0) for x, y in square] + [(x, y, z1) for x, y in square]
    return Block(np.array(corners, float), HEXAHEDRON, **attributes)


def slab(x: tuple[float, float], y: tuple[float, float], margin: float, density: float) -> Block:
    """The foundation: a support with its top at z = 0, wider by `margin` than x by y and as thick as the margin."""
    low, high = (x[0] - margin, y[0] - margin, -margin), (x[1] + margin, y[1] + margin, 0.0)
    return box(low, high, fixed=True, name="foundation", group="foundation", density=density)


def prism(outline: Array, y: tuple[float, float], **attributes: Any) -> Block:
    """The prism of a convex outline (n, 2) [m] in the plane x-z, counter-clockwise when x is right and z up."""
    n = len(outline)
    front, back = (np.column_stack([outline[:, 0], np.full(n, at), outline[:, 1]]) for at in y)
    sides = tuple((i, i + n, (i + 1) % n + n, (i + 1) % n) for i in range(n))
    ends = (tuple(range(n)), tuple(range(2 * n - 1, n - 1, -1)))
    # Seen from outside the front (from -y) x points right and z up, so the front keeps the outline's sense.
    return Block(np.concatenate([front, back]), ends + sides, **attributes)


def check_positive(family: str, **sizes: float) -> None:
    """Refuse sizes that are not above zero."""
    for name, size in sizes.items():
        if not 0 < size < math.inf:
            raise InputError(f"{family}: {name} is {size!r}; give a number above 0")


def check_count(family: str, least: int, **counts: int) -> None:
    """Refuse counts that are not whole numbers of at least `least`."""
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < least:
            raise InputError(f"{family}: {name} is {count!r}; give a whole number, {least} or more")

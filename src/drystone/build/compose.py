"""Composes structures of parts: moves, mirrors and renames blocks, or makes them supports.

Parts fit if their courses have the same heights. Rotations by 90 degrees and mirroring are exact, so flush faces stay flush.

>>> from drystone.build import column
>>> [b.name for b in prefix_names(move_blocks(column(courses=1), at=(2.0, 0.0, 0.0)), "east")]
['east-foundation', 'east-drum-1']
"""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np

from drystone.base.errors import InputError, did_you_mean
from drystone.structure.model import Block

AXIS_NUMBERS = {"x": 0, "y": 1, "z": 2}


def move_blocks(
    blocks: Iterable[Block], *, at: Sequence[float] = (0.0, 0.0, 0.0), turn: float = 0.0, about: Sequence[float] = (0.0, 0.0)
) -> list[Block]:
    """The blocks turned by `turn` [rad] about the vertical through `about` (x, y) [m], then moved by `at` [m]."""
    cosine, sine = _cosine(turn), _cosine(turn - math.pi / 2)
    rotation = np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
    centre = np.array([*about, 0.0])
    return [replace(b, vertices=(b.vertices - centre) @ rotation.T + (centre + at)) for b in blocks]


def _cosine(angle: float) -> float:
    """The cosine, which is exact at multiples of a quarter turn."""
    quarters = angle / (math.pi / 2)
    if abs(quarters - round(quarters)) < 1e-12:
        return (1.0, 0.0, -1.0, 0.0)[round(quarters) % 4]
    return math.cos(angle)


def mirror_blocks(blocks: Iterable[Block], axis: str, *, at: float = 0.0) -> list[Block]:
    """The blocks mirrored in the plane where the coordinate `axis` ("x", "y" or "z") is `at` [m]."""
    if axis not in AXIS_NUMBERS:
        raise InputError(f"mirror: axis is {axis!r}; give 'x', 'y' or 'z'")
    sign = np.ones(3)
    sign[AXIS_NUMBERS[axis]] = -1.0
    shift = np.zeros(3)
    shift[AXIS_NUMBERS[axis]] = 2.0 * at
    # Mirroring reverses the orientation of every face, so the faces are reversed to be counter-clockwise from outside again.
    return [replace(b, vertices=b.vertices * sign + shift, faces=tuple(face[::-1] for face in b.faces)) for b in blocks]


def prefix_names(blocks: Iterable[Block], prefix: str) -> list[Block]:
    """The blocks with names "<prefix>-<name>"."""
    return [replace(b, name=f"{prefix}-{b.name}") for b in blocks]


def fix_blocks(blocks: Sequence[Block], names: Collection[str] = (), *, below: float = -math.inf) -> list[Block]:
    """The blocks, of which those in `names` and those entirely below the level `below` [m] become supports."""
    known = [b.name for b in blocks]
    for name in names:
        if name not in known:
            raise InputError(f"supported: no block is named {name!r}{did_you_mean(name, known)}")
    return [replace(b, fixed=True) if b.name in names or b.vertices[:, 2].max() <= below else b for b in blocks]

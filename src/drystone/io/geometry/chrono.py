"""Reads brick files of the masonry simulator on Project Chrono (Beatini, Royer-Carfagni and Tasora).

Each row is one brick: number, fixed, visible, yielding, density [kg/m3], force (3), reference point (3), then the corners x, y,
z of its convex hull; 9999 or * begins another hull of the same brick. Older rows lack yielding and density. Lengths are in m,
with y up.
"""

from pathlib import Path

import numpy as np
from scipy.spatial import QhullError

from drystone.base.errors import InputError
from drystone.build.shapes import join_pieces
from drystone.io.geometry.convex_pieces import make_hull
from drystone.io.geometry.drawing import Drawing, parse_numbers, read_text
from drystone.structure.model import Block

NEXT_HULL = ("*", "9999")
HEADER_NUMBERS, OLD_HEADER_NUMBERS = 11, 9  # numbers before the corners


def read_chrono(path: Path, density: float) -> Drawing:
    """The bricks of a brick file; rows that begin with # are ignored."""
    blocks = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        words = [word.strip() for word in line.split(",") if word.strip()]
        if words and not words[0].startswith("#"):
            blocks.append(_brick(words, density, f"{path}, line {number}"))
    if not blocks:
        raise InputError(f"{path}: has no bricks; give a brick file of the Chrono masonry simulator")
    return Drawing(blocks, up="y")


def _brick(words: list[str], density: float, where: str) -> Block:
    hulls: list[list[str]] = [[]]
    for word in words:
        if word in NEXT_HULL:
            hulls.append([])
        else:
            hulls[-1].append(word)
    head = HEADER_NUMBERS if len(hulls[0]) % 3 == HEADER_NUMBERS % 3 else OLD_HEADER_NUMBERS
    if len(hulls[0]) < head + 12 or any(len(corners) % 3 for corners in (hulls[0][head:], *hulls[1:])):
        raise InputError(
            f"{where}: {len(words)} values are not a brick: {HEADER_NUMBERS} numbers and x, y, z of at least 4 corners"
        )
    values = parse_numbers(hulls[0][:head], where)
    brick = Block(np.empty((0, 3)), (), values[4] if head == HEADER_NUMBERS else density, values[1] != 0, hulls[0][0])
    corners = [np.reshape(parse_numbers(part, where), (-1, 3)) for part in (hulls[0][head:], *hulls[1:])]
    try:
        pieces = [make_hull(points, brick) for points in corners if len(points)]
    except QhullError:
        raise InputError(
            f"{where}: brick {words[0]} has a hull without volume; give at least 4 corners not in a plane"
        ) from None
    return join_pieces(pieces) if len(pieces) > 1 else pieces[0]

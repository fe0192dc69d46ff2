"""The basic solids that all generators use, as `Block`s, and the checks that they share."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from drystone.base.errors import InputError, truncated_repr
from drystone.structure.model import Block

Array = np.ndarray

MAX_STONES = 200_000  # in a structure

# Faces of a hexahedron whose corners are 0-3 at the bottom, counter-clockwise from above, and 4-7 over them.
HEXAHEDRON = ((3, 2, 1, 0), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))


def box(low: tuple[float, float, float], high: tuple[float, float, float], **attributes: Any) -> Block:
    """The box between two corners [m]; attributes are those of `Block`."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    square = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
    corners = [(x, y, z0) for x, y in square] + [(x, y, z1) for x, y in square]
    return Block(np.array(corners, float), HEXAHEDRON, **attributes)


def foundation_slab(x: tuple[float, float], y: tuple[float, float], margin: float, density: float) -> Block:
    """The foundation: a support with its top at z = 0, wider than x by y by `margin` on every side, and as thick as the
    margin."""
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
    """Refuse counts that are not whole numbers of at least `least`, and products that are too large to compute with."""
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < least:
            raise InputError(f"{family}: {name} is {truncated_repr(count)}; give a whole number, {least} or more")
    check_stones(f"{family}: {' times '.join(counts)}", math.prod(counts.values()))


def check_stones(what: str, stones: float) -> None:
    """Refuse a structure with too many stones before they are made."""
    if stones > MAX_STONES:
        raise InputError(f"{what} is {stones:.3g}, more than the limit of {MAX_STONES:,} stones; give fewer")


def loft(low: Array, high: Array, **attributes: Any) -> Block:
    """The solid between two polygons (n, 3) [m] with equal numbers of corners, both counter-clockwise seen from `high`."""
    n = len(low)
    sides = tuple((i, (i + 1) % n, (i + 1) % n + n, i + n) for i in range(n))
    ends = (tuple(range(n - 1, -1, -1)), tuple(range(n, 2 * n)))
    return Block(np.concatenate([low, high]), ends + sides, **attributes)


def polygon(sides: int, radius: float, z: float, *, x: float = 0.0, turn: float = 0.0) -> Array:
    """(sides, 3) [m] a regular polygon in a horizontal plane, counter-clockwise from above.

    radius: of the circle through its corners [m]; turn: azimuth of the first corner [rad].
    """
    azimuth = turn + 2 * np.pi * np.arange(sides) / sides
    return np.column_stack([x + radius * np.cos(azimuth), radius * np.sin(azimuth), np.full(sides, z)])


ON_PLANE_TOLERANCE = 1e-12  # of the block's size: a vertex within this distance of a cutting plane lies on it


def cut_block(block: Block, normal: Array, offset: float) -> Block | None:
    """The part of a convex block behind the plane normal . x = offset [m] (unit normal); None if nothing is there."""
    above = block.vertices @ normal - offset
    above[np.abs(above) < ON_PLANE_TOLERANCE * np.ptp(block.vertices, axis=0).max()] = 0.0
    if (above <= 0).all():
        return block
    if (above >= 0).all():
        return None
    points, height, crossing = list(block.vertices), above.tolist(), dict[tuple[int, int], int]()
    faces, after = [], dict[int, int]()  # after: the next corner of the new face, by corner
    for face in block.faces:
        kept = _clip_face(face, points, height, crossing)
        if len(kept) < 3:
            continue
        faces.append(tuple(kept))
        for corner, following in zip(kept, kept[1:] + kept[:1], strict=True):
            if height[corner] == 0 == height[following]:
                after[following] = corner
    lid = [next(iter(after))]
    while after[lid[-1]] != lid[0]:
        lid.append(after[lid[-1]])
    return keep_faces(block, np.array(points), (*faces, tuple(lid)))


def _clip_face(
    face: tuple[int, ...], points: list[Array], height: list[float], crossing: dict[tuple[int, int], int]
) -> list[int]:
    """The corners of the remaining part of a face; where an edge crosses the plane, a point of height 0 is added, once per
    edge."""
    kept = []
    for a, b in zip(face, face[1:] + face[:1], strict=True):
        if height[a] <= 0:
            kept.append(a)
        if height[a] * height[b] < 0:
            low, high = min(a, b), max(a, b)
            if (low, high) not in crossing:
                crossing[low, high] = len(points)
                share = height[low] / (height[low] - height[high])
                points.append(points[low] + share * (points[high] - points[low]))
                height.append(0.0)
            kept.append(crossing[low, high])
    return kept


def keep_faces(block: Block, points: Array, faces: tuple[tuple[int, ...], ...]) -> Block:
    """The block with other faces, and with only the points that they use."""
    used = sorted({corner for face in faces for corner in face})
    number = {v: i for i, v in enumerate(used)}
    return replace(block, vertices=points[used], faces=tuple(tuple(number[v] for v in face) for face in faces))


def join_pieces(pieces: Sequence[Block], **attributes: Any) -> Block:
    """One block of several convex pieces."""
    faces, first = list[tuple[int, ...]](), 0
    for piece in pieces:
        faces += [tuple(v + first for v in face) for face in piece.faces]
        first += len(piece.vertices)
    vertices = np.concatenate([piece.vertices for piece in pieces])
    return replace(pieces[0], vertices=vertices, faces=tuple(faces), pieces=tuple(len(p.faces) for p in pieces), **attributes)

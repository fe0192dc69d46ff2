"""Gaps that a drawing has only because its coordinates are rounded: blocks come in, blocks whose joints meet go out, and the
list of what was closed.

A face whose corners are rounded to a unit of its coordinates is off its plane by up to half a unit times the root of three; two
faces that were drawn on one plane miss or overlap each other by up to twice that. Such faces get one plane again: that of
the largest support among them, or the mean of all. What is real is left as it is (T405):

 - coordinates that are no round numbers are no rounded ones: nothing is closed;
 - faces that look along an axis are rounded alike, so that a gap between them was drawn;
 - a gap wider than the unit times the root of three was drawn.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from drystone.doctor.mend import settle, surface
from drystone.model import Block
from drystone.neighbours import connected
from drystone.solid import FLATNESS, area_vectors, diagonal, face_middles, off_plane, surface_findings

Array = np.ndarray

UNITS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)  # [m] to which coordinates may be rounded
ROUND = 1e-5  # of the unit: coordinates so near to a multiple of it are multiples
MOST = 0.02  # of the smaller block's diagonal: a wider gap is never closed
FACING = 0.95  # cosine between one normal and the other turned round
ALONG_AXIS = 1e-9  # sine of the angle to an axis
NOTHING = 1e-7  # of the unit: faces so near to one plane lie on it


class Closed(NamedTuple):
    """A joint that was closed, or a block whose faces were made plane."""

    a: str
    b: str  # "" of a block alone
    gap: float  # [m] the largest distance of the corners before, negative if they overlapped; of a block how far they moved


class _Faces(NamedTuple):
    """All faces of all blocks of one piece."""

    block: Array  # (F,) row of the block
    corners: list[Array]  # (n, 3) [m]
    normal: Array  # (F, 3) of the mean plane
    middle: Array  # (F, 3) [m]
    area: Array  # (F,) [m2]
    number: Array  # (F,) in its block


class _Joint(NamedTuple):
    """Two faces that were drawn on one plane."""

    one: int
    other: int
    gap: float  # [m]


def rounding_unit(blocks: Sequence[Block]) -> float:
    """[m] the coarsest decimal unit of which all coordinates are multiples; 0 if there is none."""
    values = np.concatenate([np.ravel(np.asarray(block.vertices, float)) for block in blocks])
    for unit in UNITS:
        if np.abs(values / unit - np.round(values / unit)).max(initial=0.0) <= ROUND:
            return unit
    return 0.0


def close_rounding_gaps(blocks: Sequence[Block]) -> tuple[list[Block], list[Closed]]:
    """The blocks with the gaps and overlaps of rounding closed, and which they were."""
    after, unit = list(blocks), rounding_unit(blocks) if blocks else 0.0
    if unit == 0.0:
        return after, []
    faces = _faces(blocks)
    if not len(faces.block):  # all blocks are of several pieces
        return after, []
    joints = _joints(blocks, faces, unit)
    planes, moved = _planes(blocks, faces, joints, NOTHING * unit)
    own = np.unique(faces.block[~np.isin(faces.block, faces.block[moved])])
    warped = [row for row in own.tolist() if _is_warped(blocks[row], unit)]
    for row in [*np.unique(faces.block[moved]).tolist(), *warped]:
        mine = np.flatnonzero(faces.block == row)
        after[row] = _moved(blocks[row], planes[0][mine], planes[1][mine], unit)
    closed = _listed(blocks, after, faces, joints, moved, NOTHING * unit)
    return after, closed + [_flattened(blocks[row], after[row]) for row in warped if after[row] is not blocks[row]]


def _is_warped(block: Block, unit: float) -> bool:
    """Whether a face is not plane, as far as the door asks, by no more than rounding can do."""
    s = surface(np.asarray(block.vertices, float), block.faces)
    return bool(FLATNESS * float(diagonal(s)[0]) < off_plane(s).max() <= np.sqrt(3.0) * unit)


def _flattened(before: Block, after: Block) -> Closed:
    moved = np.linalg.norm(np.asarray(after.vertices, float) - np.asarray(before.vertices, float), axis=1)
    return Closed(before.name, "", float(moved.max()))


def _faces(blocks: Sequence[Block]) -> _Faces:
    rows, corners, normals, middles, areas, numbers = [], [], [], [], [], []
    for row, block in enumerate(blocks):
        if block.pieces or len(block.faces) < 4:
            continue
        vertices = np.asarray(block.vertices, float)
        s = surface(vertices, block.faces)
        vector, middle = area_vectors(s), face_middles(s)
        size = np.linalg.norm(vector, axis=1)
        for k in np.flatnonzero(size > 0.0).tolist():
            rows.append(row)
            corners.append(vertices[list(block.faces[k])])
            normals.append(vector[k] / size[k])
            middles.append(middle[k])
            areas.append(size[k])
            numbers.append(k)
    return _Faces(np.array(rows, int), corners, np.array(normals).reshape(-1, 3), np.array(middles).reshape(-1, 3),
                  np.array(areas), np.array(numbers, int))  # fmt: skip


def _joints(blocks: Sequence[Block], faces: _Faces, unit: float) -> list[_Joint]:
    """Pairs of faces that look at each other and lie on one plane but for rounding."""
    low = np.array([corners.min(axis=0) for corners in faces.corners])
    high = np.array([corners.max(axis=0) for corners in faces.corners])
    size = np.array([float(np.linalg.norm(np.ptp(np.asarray(block.vertices, float), axis=0))) for block in blocks])
    fixed = np.array([block.fixed for block in blocks], bool)
    reach, found = np.sqrt(3.0) * unit, []
    slanted = np.sort(np.abs(faces.normal), axis=1)[:, :2].max(axis=1) > ALONG_AXIS
    for one, other in _near_boxes(low - reach, high + reach):
        a, b = faces.block[[one, other]]
        if a == b or (fixed[a] and fixed[b]) or not (slanted[one] or slanted[other]):
            continue
        if faces.normal[one] @ faces.normal[other] > -FACING or not _overlap(faces, one, other, reach):
            continue
        gap = _gap(faces, one, other)
        if abs(gap) <= min(reach, MOST * min(size[a], size[b])):
            found.append(_Joint(one, other, gap))
    return found


def _near_boxes(low: Array, high: Array) -> Iterator[tuple[int, int]]:
    """Pairs of boxes (F, 3) that overlap, the smaller row first."""
    axis = int(np.ptp(low, axis=0).argmax())
    order = np.argsort(low[:, axis], kind="stable")
    start = low[order, axis]
    for place, k in enumerate(order.tolist()):
        ahead = order[place + 1 : np.searchsorted(start, high[k, axis], side="right")]
        near = ahead[((low[ahead] <= high[k]) & (high[ahead] >= low[k])).all(axis=1)]
        yield from ((min(k, each), max(k, each)) for each in near.tolist())


def _gap(faces: _Faces, one: int, other: int) -> float:
    """[m] the largest distance of the corners of the smaller face from the plane of the larger."""
    small, large = (one, other) if faces.area[one] <= faces.area[other] else (other, one)
    away = (faces.corners[small] - faces.middle[large]) @ faces.normal[large]
    return float(away[np.abs(away).argmax()])


def _overlap(faces: _Faces, one: int, other: int, reach: float) -> bool:
    """Whether two faces lie over each other by more than what rounding can do, seen along their normal."""
    corners = faces.corners[one]
    sides = np.roll(corners, -1, axis=0) - corners
    along = sides[np.linalg.norm(sides, axis=1).argmax()]
    along /= np.linalg.norm(along)
    across = np.cross(faces.normal[one], along)
    for axis in (along, across):
        p, q = corners @ axis, faces.corners[other] @ axis
        if min(p.max(), q.max()) - max(p.min(), q.min()) <= 2.0 * reach:
            return False
    return True


def _planes(blocks: Sequence[Block], faces: _Faces, joints: list[_Joint], nothing: float) -> tuple[tuple[Array, Array], Array]:
    """Normal (F, 3) and offset (F,) [m] of the plane that each face is to have, and whether (F,) it is to move there."""
    normal, moved = faces.normal.copy(), np.zeros(len(faces.block), bool)
    offset = np.einsum("ij,ij->i", faces.normal, faces.middle)
    group = connected(len(faces.block), np.array([joint[:2] for joint in joints], int).reshape(-1, 2))
    off = {group[joint.one] for joint in joints if abs(joint.gap) > nothing}
    for number in off:
        mine = np.flatnonzero(group == number)
        way = faces.normal[mine[0]]
        sign = np.sign(faces.normal[mine] @ way)
        supports = [k for k in mine.tolist() if blocks[faces.block[k]].fixed]
        if supports:
            k = max(supports, key=lambda k: faces.area[k])
            mean, place = faces.normal[k] * np.sign(faces.normal[k] @ way), faces.middle[k]
        else:
            weight = faces.area[mine]
            mean = (weight * sign) @ faces.normal[mine]
            mean, place = mean / np.linalg.norm(mean), weight @ faces.middle[mine] / weight.sum()
        normal[mine], offset[mine] = sign[:, None] * mean, sign * (mean @ place)
        moved[mine] = True
    return (normal, offset), moved


def _moved(block: Block, normal: Array, offset: Array, unit: float) -> Block:
    """The block with its corners on these planes of its faces; as it is if that is no sound block near it."""
    vertices = np.asarray(block.vertices, float)
    after = settle(vertices, block.faces, normal, offset)
    new = surface(after, block.faces)
    far = np.linalg.norm(after - vertices, axis=1).max() > 3.0 * np.sqrt(3.0) * unit
    if far or off_plane(new).max() > max(1e-6 * float(diagonal(new)[0]), NOTHING * unit) or any(surface_findings(new)):
        return block
    return replace(block, vertices=after)


def _listed(
    blocks: Sequence[Block], after: list[Block], faces: _Faces, joints: list[_Joint], moved: Array, nothing: float
) -> list[Closed]:
    """The joints that are closed now."""
    now = _faces(after)
    return [
        Closed(blocks[faces.block[joint.one]].name, blocks[faces.block[joint.other]].name, joint.gap)
        for joint in joints
        if moved[joint.one] and abs(joint.gap) > nothing and abs(_gap(now, joint.one, joint.other)) < 1e-3 * abs(joint.gap)
    ]

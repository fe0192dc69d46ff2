"""Closes the gaps that a drawing has only because its coordinates are rounded, and lists them.

A corner of a face whose coordinates are rounded to a decimal unit is off the plane by up to half a unit times the square root
of three; two faces that were drawn on one plane have a gap or an overlap of up to twice that. Such faces are moved onto one
plane again: that of the largest support among them, or the mean plane of all. Real gaps are left as they are (T405):

 - if coordinates are not multiples of a decimal unit, they are not rounded, and nothing is closed;
 - faces normal to an axis are all rounded in the same way, so a gap between them was drawn;
 - a gap wider than the unit times the square root of three was drawn.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from drystone.io.doctor.block_repair import block_surface, move_onto_planes
from drystone.structure.boxes import box_diagonal
from drystone.structure.model import Block
from drystone.structure.neighbours import label_connected
from drystone.structure.polyhedra import (
    FLATNESS_TOLERANCE,
    area_vectors,
    box_diagonals,
    face_centres,
    plane_offsets,
    surface_findings,
)

Array = np.ndarray

DECIMAL_UNITS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)  # [m] to which coordinates may be rounded
MULTIPLE_TOLERANCE = 1e-5  # of the unit: allowed deviation of a coordinate from a multiple of the unit
MAX_GAP_SHARE = 0.02  # of the smaller block's diagonal: a wider gap is never closed
FACING_COSINE = 0.95  # least cosine between the normal of one face and the reversed normal of the other
AXIS_TOLERANCE = 1e-9  # sine of the angle to an axis
SAME_PLANE_TOLERANCE = 1e-7  # of the unit: faces within this distance of a plane lie on it


class ClosedGap(NamedTuple):
    """A joint that was closed, or a block whose faces were made plane."""

    a: str
    b: str  # "" if the faces of a single block were made planar
    gap: float  # [m] the largest distance of the corners before, negative for an overlap; for a single block their movement


class _FaceTable(NamedTuple):
    """All faces of all blocks that have one piece."""

    block: Array  # (F,) row of the block
    corners: list[Array]  # (n, 3) [m]
    normal: Array  # (F, 3) of the mean plane
    middle: Array  # (F, 3) [m]
    area: Array  # (F,) [m2]
    number: Array  # (F,) number of the face in its block


class _FacePair(NamedTuple):
    """Two faces that were drawn on one plane."""

    one: int
    other: int
    gap: float  # [m]


def rounding_unit(blocks: Sequence[Block]) -> float:
    """[m] the largest decimal unit of which all coordinates are multiples; 0 if there is none."""
    values = np.concatenate([np.ravel(np.asarray(block.vertices, float)) for block in blocks])
    for unit in DECIMAL_UNITS:
        if np.abs(values / unit - np.round(values / unit)).max(initial=0.0) <= MULTIPLE_TOLERANCE:
            return unit
    return 0.0


def close_rounding_gaps(blocks: Sequence[Block]) -> tuple[list[Block], list[ClosedGap]]:
    """The blocks without the gaps and overlaps caused by rounding, and the list of those that were closed."""
    after, unit = list(blocks), rounding_unit(blocks) if blocks else 0.0
    if unit == 0.0:
        return after, []
    faces = _tabulate_faces(blocks)
    if not len(faces.block):  # all blocks are of several pieces
        return after, []
    joints = _find_face_pairs(blocks, faces, unit)
    planes, moved = _common_planes(blocks, faces, joints, SAME_PLANE_TOLERANCE * unit)
    own = np.unique(faces.block[~np.isin(faces.block, faces.block[moved])])
    warped = [row for row in own.tolist() if _is_warped(blocks[row], unit)]
    for row in [*np.unique(faces.block[moved]).tolist(), *warped]:
        mine = np.flatnonzero(faces.block == row)
        after[row] = _move_onto_planes(blocks[row], planes[0][mine], planes[1][mine], unit)
    closed = _list_closed(blocks, after, faces, joints, moved, SAME_PLANE_TOLERANCE * unit)
    return after, closed + [_describe_flattening(blocks[row], after[row]) for row in warped if after[row] is not blocks[row]]


def _is_warped(block: Block, unit: float) -> bool:
    """Whether a face is not planar within the tolerance of `build_model`, but by no more than rounding can cause."""
    s = block_surface(np.asarray(block.vertices, float), block.faces)
    return bool(FLATNESS_TOLERANCE * float(box_diagonals(s)[0]) < plane_offsets(s).max() <= np.sqrt(3.0) * unit)


def _describe_flattening(before: Block, after: Block) -> ClosedGap:
    moved = np.linalg.norm(np.asarray(after.vertices, float) - np.asarray(before.vertices, float), axis=1)
    return ClosedGap(before.name, "", float(moved.max()))


def _tabulate_faces(blocks: Sequence[Block]) -> _FaceTable:
    rows, corners, normals, middles, areas, numbers = [], [], [], [], [], []
    for row, block in enumerate(blocks):
        if block.pieces or len(block.faces) < 4:
            continue
        vertices = np.asarray(block.vertices, float)
        s = block_surface(vertices, block.faces)
        vector, middle = area_vectors(s), face_centres(s)
        size = np.linalg.norm(vector, axis=1)
        for k in np.flatnonzero(size > 0.0).tolist():
            rows.append(row)
            corners.append(vertices[list(block.faces[k])])
            normals.append(vector[k] / size[k])
            middles.append(middle[k])
            areas.append(size[k])
            numbers.append(k)
    return _FaceTable(np.array(rows, int), corners, np.array(normals).reshape(-1, 3), np.array(middles).reshape(-1, 3),
                  np.array(areas), np.array(numbers, int))  # fmt: skip


def _find_face_pairs(blocks: Sequence[Block], faces: _FaceTable, unit: float) -> list[_FacePair]:
    """Pairs of opposite faces that lie on one plane up to rounding."""
    low = np.array([corners.min(axis=0) for corners in faces.corners])
    high = np.array([corners.max(axis=0) for corners in faces.corners])
    size = np.array([box_diagonal(np.asarray(block.vertices, float)) for block in blocks])
    fixed = np.array([block.fixed for block in blocks], bool)
    reach, pairs = np.sqrt(3.0) * unit, []
    slanted = np.sort(np.abs(faces.normal), axis=1)[:, :2].max(axis=1) > AXIS_TOLERANCE
    for one, other in _near_boxes(low - reach, high + reach):
        a, b = faces.block[[one, other]]
        if a == b or (fixed[a] and fixed[b]) or not (slanted[one] or slanted[other]):
            continue
        if faces.normal[one] @ faces.normal[other] > -FACING_COSINE or not _faces_overlap(faces, one, other, reach):
            continue
        gap = _face_gap(faces, one, other)
        if abs(gap) <= min(reach, MAX_GAP_SHARE * min(size[a], size[b])):
            pairs.append(_FacePair(one, other, gap))
    return pairs


def _near_boxes(low: Array, high: Array) -> Iterator[tuple[int, int]]:
    """Pairs of boxes (F, 3) that overlap, the smaller row first."""
    axis = int(np.ptp(low, axis=0).argmax())
    order = np.argsort(low[:, axis], kind="stable")
    start = low[order, axis]
    for rank, k in enumerate(order.tolist()):
        ahead = order[rank + 1 : np.searchsorted(start, high[k, axis], side="right")]
        near = ahead[((low[ahead] <= high[k]) & (high[ahead] >= low[k])).all(axis=1)]
        yield from ((min(k, each), max(k, each)) for each in near.tolist())


def _face_gap(faces: _FaceTable, one: int, other: int) -> float:
    """[m] the largest distance of the corners of the smaller face from the plane of the larger."""
    small, large = (one, other) if faces.area[one] <= faces.area[other] else (other, one)
    distance = (faces.corners[small] - faces.middle[large]) @ faces.normal[large]
    return float(distance[np.abs(distance).argmax()])


def _faces_overlap(faces: _FaceTable, one: int, other: int, reach: float) -> bool:
    """Whether two faces, seen along their normal, overlap by more than rounding can cause."""
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


def _common_planes(
    blocks: Sequence[Block], faces: _FaceTable, joints: list[_FacePair], tolerance: float
) -> tuple[tuple[Array, Array], Array]:
    """The normal (F, 3) and offset (F,) [m] of the new plane of each face, and whether (F,) the face moves."""
    normal, moved = faces.normal.copy(), np.zeros(len(faces.block), bool)
    offset = np.einsum("ij,ij->i", faces.normal, faces.middle)
    group = label_connected(len(faces.block), np.array([joint[:2] for joint in joints], int).reshape(-1, 2))
    open_groups = {group[joint.one] for joint in joints if abs(joint.gap) > tolerance}
    for number in open_groups:
        mine = np.flatnonzero(group == number)
        direction = faces.normal[mine[0]]
        sign = np.sign(faces.normal[mine] @ direction)
        supports = [k for k in mine.tolist() if blocks[faces.block[k]].fixed]
        if supports:
            k = max(supports, key=lambda k: faces.area[k])
            mean, point = faces.normal[k] * np.sign(faces.normal[k] @ direction), faces.middle[k]
        else:
            weight = faces.area[mine]
            mean = (weight * sign) @ faces.normal[mine]
            mean, point = mean / np.linalg.norm(mean), weight @ faces.middle[mine] / weight.sum()
        normal[mine], offset[mine] = sign[:, None] * mean, sign * (mean @ point)
        moved[mine] = True
    return (normal, offset), moved


def _move_onto_planes(block: Block, normal: Array, offset: Array, unit: float) -> Block:
    """The block with its corners moved onto the new planes of its faces; unchanged if the result is not sound or too far
    away."""
    vertices = np.asarray(block.vertices, float)
    after = move_onto_planes(vertices, block.faces, normal, offset)
    new = block_surface(after, block.faces)
    far = np.linalg.norm(after - vertices, axis=1).max() > 3.0 * np.sqrt(3.0) * unit
    if (
        far
        or plane_offsets(new).max() > max(1e-6 * float(box_diagonals(new)[0]), SAME_PLANE_TOLERANCE * unit)
        or any(surface_findings(new))
    ):
        return block
    return replace(block, vertices=after)


def _list_closed(
    blocks: Sequence[Block], after: list[Block], faces: _FaceTable, joints: list[_FacePair], moved: Array, tolerance: float
) -> list[ClosedGap]:
    """The gaps that are closed now."""
    now = _tabulate_faces(after)
    return [
        ClosedGap(blocks[faces.block[joint.one]].name, blocks[faces.block[joint.other]].name, joint.gap)
        for joint in joints
        if moved[joint.one]
        and abs(joint.gap) > tolerance
        and abs(_face_gap(now, joint.one, joint.other)) < 1e-3 * abs(joint.gap)
    ]

"""Moves faces until they meet, for sound blocks that nearly touch or slightly overlap.

A face moves along its normal, and its corners slide along the edges that end there, so that every other face keeps its plane. A
face that overlaps moves inwards by the depth; if the shape does not allow that, a block is cut. A face at a gap moves outwards
by the least gap of all its joints and no further, so that joints that touch do not begin to overlap. Supports are moved last.
"""

from collections import defaultdict
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from drystone.build.shapes import cut_block
from drystone.io.doctor.block_repair import REPAIR_TOLERANCE, block_surface, move_onto_planes
from drystone.io.doctor.examination import PieceTable
from drystone.io.doctor.touching_blocks import JointGaps
from drystone.structure.model import Block
from drystone.structure.overlap import TOUCH_TOLERANCE, least_extents
from drystone.structure.polyhedra import box_diagonals, face_centres, face_normals, surface_findings

Array = np.ndarray

FACING_COSINE = 0.99  # least cosine between the normal of a face and that of the joint


class FaceMove(NamedTuple):
    """A face that was moved."""

    row: int  # of the block
    face: int  # -1: the block was cut by a plane
    distance: float  # [m] outward
    other: int  # row of a block that it now meets


class _Side(NamedTuple):
    """One of the two faces of a joint."""

    row: int
    face: int


def fit_faces(blocks: list[Block], table: PieceTable, joints: JointGaps, within: float) -> list[FaceMove]:
    """Move faces, in the list of blocks, until joints touch that have gaps or overlaps up to `within`, relative to the smaller
    block; `table` has the sound blocks."""
    fitting = _Fitting(blocks, table, joints)
    fitting.shrink_overlaps(within)
    fitting.close_gaps()
    return fitting.moves


class _Fitting:
    """The blocks, each of one piece, and the gaps of their joints while faces are moved."""

    def __init__(self, blocks: list[Block], table: PieceTable, joints: JointGaps):
        piece = {int(row): p for p, row in enumerate(table.row)}
        normal = face_normals(table.surfaces)
        size, width = box_diagonals(table.surfaces), least_extents(*table.surfaces, normal)
        self.blocks = blocks
        self.size = {row: float(size[p]) for row, p in piece.items()}  # [m]
        self.width = {row: float(width[p]) for row, p in piece.items()}  # [m] across the faces
        first = table.surfaces.block_face
        self.looks = {row: normal[first[p] : first[p + 1]] for row, p in piece.items()}  # normals of the faces
        self.joints = joints = self._troubled(joints)
        self.gap = joints.gap.copy()
        self.moves: list[FaceMove] = []
        # rows of blocks that were cut: their faces are renumbered, so they are moved in the next round only
        self.cut: set[int] = set()
        self.sides = [  # of each joint: those faces that look at the other block
            [side for side in (self._side(a, d), self._side(b, -d)) if side is not None]
            for a, b, d in zip(joints.a.tolist(), joints.b.tolist(), joints.normal, strict=True)
        ]
        self.of_side: dict[_Side, list[int]] = defaultdict(list)  # joints of each face
        for j, pair in enumerate(self.sides):
            for side in pair:
                self.of_side[side].append(j)

    def _troubled(self, joints: JointGaps) -> JointGaps:
        """All joints, also closed ones, of blocks that have a gap or an overlap."""
        size = np.zeros(len(self.blocks))
        size[list(self.size)] = list(self.size.values())
        trouble = ~joints.touching | (joints.gap < -REPAIR_TOLERANCE * np.minimum(size[joints.a], size[joints.b]))
        rows = np.append(joints.a[trouble], joints.b[trouble])
        kept = np.isin(joints.a, rows) | np.isin(joints.b, rows)
        return JointGaps(*(field[kept] for field in joints))

    def _side(self, row: int, direction: Array) -> _Side | None:
        """The face of the block whose normal is along the direction, if there is one."""
        look = self.looks[row] @ direction
        face = int(np.argmax(look))
        return _Side(row, face) if look[face] > FACING_COSINE else None

    def shrink_overlaps(self, within: float) -> None:
        """Remove overlaps, the deepest first: of the two faces the one with fewer joints moves inwards; if none can, a block
        is cut."""
        for j in np.argsort(self.gap, kind="stable").tolist():
            rows = int(self.joints.a[j]), int(self.joints.b[j])
            touch, largest = (
                share * min(size[row] for row in rows) for share, size in ((TOUCH_TOLERANCE, self.width), (within, self.size))
            )
            if -largest <= self.gap[j] < -touch:
                pair = sorted(self.sides[j], key=lambda side: (self.blocks[side.row].fixed, len(self.of_side[side])))
                if not any(self._move(side, float(self.gap[j]), j) for side in pair):
                    self._cut(j)

    def _cut(self, j: int) -> None:
        """Cut the overlapping part off the first block of joint j, or off the second if the first is a support."""
        a, b = int(self.joints.a[j]), int(self.joints.b[j])
        row, direction = (b, -self.joints.normal[j]) if self.blocks[a].fixed else (a, self.joints.normal[j])
        block = self.blocks[row]
        left = cut_block(block, direction, float((block.vertices @ direction).max() + self.gap[j]))
        if left is not None and not any(surface_findings(block_surface(left.vertices, left.faces))):
            self.blocks[row] = left
            self.cut.add(row)
            self.moves.append(FaceMove(row, -1, float(self.gap[j]), b if row == a else a))
            self.gap[j] = 0.0

    def close_gaps(self) -> None:
        """Move each face that has a gap outwards by the least of its gaps."""
        for side in sorted(self.of_side, key=lambda side: (self.blocks[side.row].fixed, side)):
            mine = self.of_side[side]
            nearest = mine[int(np.argmin(self.gap[mine]))]
            if self.gap[nearest] > 0.0 and not self.joints.touching[mine].all():
                self._move(side, float(self.gap[nearest]), nearest)

    def _move(self, side: _Side, distance: float, j: int) -> bool:
        """Move a face outwards to close joint j; False if the shape of the block does not allow it."""
        moved = None if side.row in self.cut else _move_face(self.blocks[side.row], side.face, distance)
        if moved is None:
            return False
        self.blocks[side.row] = moved
        self.gap[self.of_side[side]] -= distance
        a, b = int(self.joints.a[j]), int(self.joints.b[j])
        self.moves.append(FaceMove(side.row, side.face, distance, b if side.row == a else a))
        return True


def _move_face(block: Block, face: int, distance: float) -> Block | None:
    """The block with one face moved outwards; None if its shape does not allow it."""
    vertices = np.asarray(block.vertices, float)
    s = block_surface(vertices, block.faces)
    normal = face_normals(s)
    offset = np.einsum("ij,ij->i", normal, face_centres(s))
    offset[face] += distance
    corners = list(block.faces[face])
    after = vertices.copy()
    after[corners] = move_onto_planes(vertices, block.faces, normal, offset)[corners]
    moved = block_surface(after, block.faces)
    off = np.abs(np.einsum("ij,ij->i", normal, face_centres(moved)) - offset).max()
    slid = np.linalg.norm(after - vertices, axis=1).max()
    if off > REPAIR_TOLERANCE * box_diagonals(s)[0] or slid > 3 * abs(distance) or any(surface_findings(moved)):
        return None
    return replace(block, vertices=after)

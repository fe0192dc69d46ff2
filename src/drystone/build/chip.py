"""Chipped edges: trims every edge of blocks by a plane (Nodargi and Bisegna, 4.4).

For the unit outward normals v1 and v2 of the faces that share an edge, the plane has the normal v1 + v2 and lies the ratio
times the height H inside the plane of this normal through the edge. Their H is the height of their wall, 5 m, so all
edges lose as much: 7.5 mm at 0.0015. Beside an edge of the inner angle a its faces lose a strip of 7.5 mm / cos(a/2):
10.6 mm at a right angle, 43 mm at 160 degrees. All cuts are exact, also where they meet at a corner; blocks stay convex.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from drystone.base.errors import InputError
from drystone.base.units import Length, Ratio
from drystone.build.shapes import check_positive, cut_block, join_pieces, keep_faces
from drystone.structure.model import Block
from drystone.structure.polyhedra import face_normals, make_surfaces

Array = np.ndarray

SAME_NORMAL_TOLERANCE = 1e-9  # two faces whose unit normals differ by less are one face, without an edge between them
ON_PIECE_TOLERANCE = 1e-9  # [m] a point within this distance of a piece lies on it


def chip(
    blocks: Iterable[Block], ratio: Ratio = 0.0015, *, height: Length | None = None, supports: bool = False
) -> list[Block]:
    """The blocks with their edges trimmed by ratio * height [m]; supports are left as they are by default.

    height: by default that of the structure, from the lowest to the highest vertex of its free blocks. Of a block of
    several pieces only the outer edges are trimmed, whose middle lies on no other piece.
    """
    blocks = list(blocks)
    if height is None:
        height = float(np.ptp(np.concatenate([b.vertices[:, 2] for b in blocks if not b.fixed])))
    check_positive("chip", ratio=ratio, height=height)
    return [_trimmed(block, ratio * height) if supports or not block.fixed else block for block in blocks]


def _trimmed(block: Block, distance: float) -> Block:
    """The block with each edge trimmed by a distance [m]."""
    if not block.pieces:
        return _cut_edges(block, [], distance)
    ends = np.cumsum(block.pieces).tolist()
    faces = [block.faces[end - count : end] for end, count in zip(ends, block.pieces, strict=True)]
    pieces = [replace(keep_faces(block, block.vertices, own), pieces=()) for own in faces]
    return join_pieces([_cut_edges(piece, [p for p in pieces if p is not piece], distance) for piece in pieces])


def _cut_edges(piece: Block, others: list[Block], distance: float) -> Block:
    left: Block | None = piece
    for normal, offset in _edge_planes(piece, others):
        left = left and cut_block(left, normal, offset - distance)
    if left is None:
        raise InputError(f"chip: nothing is left of block {piece.name!r} when its edges lose {1e3 * distance:g} mm; give a "
                         "smaller ratio")  # fmt: skip
    return left


def _edge_planes(piece: Block, others: list[Block]) -> Iterator[tuple[Array, float]]:
    """Unit normal and offset [m] of the plane that only touches the piece along an edge, for each of its edges."""
    normals, vertices = _normals(piece), piece.vertices
    face_of = {edge: f for f, face in enumerate(piece.faces) for edge in zip(face, face[1:] + face[:1], strict=True)}
    for (a, b), f in face_of.items():
        one, other = normals[f], normals[face_of[b, a]]
        middle = (vertices[a] + vertices[b]) / 2
        if a < b and np.abs(one - other).max() > SAME_NORMAL_TOLERANCE and not any(_lies_on(middle, p) for p in others):
            normal = (one + other) / np.linalg.norm(one + other)
            yield normal, float(normal @ middle)


def _normals(piece: Block) -> Array:
    return face_normals(make_surfaces([piece.vertices], [piece.faces], [f"block {piece.name!r}"]))


def _lies_on(point: Array, piece: Block) -> bool:
    corners = [piece.vertices[face[0]] for face in piece.faces]
    return all(normal @ (point - corner) < ON_PIECE_TOLERANCE for normal, corner in zip(_normals(piece), corners, strict=True))

"""Polyhedra as solids: faces come in, checked closed convex surfaces with exact mass properties go out.

All blocks are laid end to end in flat arrays (`Surfaces`) so that every check is one NumPy expression over all blocks:
20,000 boxes pass in about a second. The integrals are sums over tetrahedra from an inner point of each block to the
triangles of its faces, exact for any closed polyhedron.
"""

from collections.abc import Sequence
from typing import NamedTuple, NoReturn

import numpy as np

from drystone.errors import InputError

Array = np.ndarray

FLATNESS = 1e-5  # of the block's diagonal: how far a vertex may stand off its face's plane, or beyond another face's
EMPTINESS = 1e-9  # of the cube of the block's diagonal: a smaller volume is none


class Surfaces(NamedTuple):
    """B closed surfaces laid end to end, as in `Bodies`: block i owns vertices vertex_start[i]:vertex_start[i+1] and
    faces block_face[i]:block_face[i+1]; face f owns corners face_vertex[face_start[f]:face_start[f+1]]."""

    vertex: Array  # (NV, 3) [m]
    vertex_start: Array  # (B+1,) int64
    face_vertex: Array  # (NFV,) int64 rows of `vertex`
    face_start: Array  # (NF+1,) int64
    block_face: Array  # (B+1,) int64


class Solids(NamedTuple):
    """Mass properties of B blocks of density 1."""

    volume: Array  # (B,) [m3]
    centroid: Array  # (B, 3) [m]
    inertia: Array  # (B, 3, 3) [m5] about the centroid


class _Index(NamedTuple):
    """Who owns what in `Surfaces`, one entry a corner or a face."""

    face_block: Array  # (NF,) block of each face
    corner_face: Array  # (NFV,) face of each corner
    next_vertex: Array  # (NFV,) the vertex that follows in the same face
    last_vertex: Array  # (NFV,) the vertex that precedes


def lay_out(vertices: Sequence[Array], faces: Sequence[Sequence[Sequence[int]]], labels: Sequence[str]) -> Surfaces:
    """The blocks end to end, after the checks that need only counting: shapes, numbers, indices."""
    points = [_points(v, label) for v, label in zip(vertices, labels, strict=True)]
    for block_faces, label in zip(faces, labels, strict=True):
        _check_counts(block_faces, label)
    corners = [corner for block in faces for face in block for corner in face]
    index = np.array(corners)
    if index.dtype.kind not in "iu":
        _raise_not_integer(faces, labels)
    vertex_count = np.array([len(p) for p in points])
    face_count = np.array([len(f) for f in faces])
    corner_count = np.array([len(face) for block in faces for face in block])
    vertex_start, block_face, face_start = _starts(vertex_count), _starts(face_count), _starts(corner_count)
    corner_block = np.repeat(np.repeat(np.arange(len(points)), face_count), corner_count)
    wrong = (index < 0) | (index >= vertex_count[corner_block])
    surfaces = Surfaces(
        np.concatenate(points),
        vertex_start,
        index.astype(np.int64) + vertex_start[corner_block],
        face_start,
        block_face,
    )
    if wrong.any():
        c = int(np.argmax(wrong))
        f = int(np.searchsorted(face_start, c, "right")) - 1
        b = int(corner_block[c])
        _refuse(surfaces, labels, f, f"vertex index {index[c]} is out of range; use 0 to {vertex_count[b] - 1}")
    return surfaces


def _starts(count: Array) -> Array:
    return np.concatenate([[0], np.cumsum(count)]).astype(np.int64)


def _points(vertices: Array, label: str) -> Array:
    try:
        points = np.array(vertices, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{label}: vertices are not numbers ({error}); give a list of [x, y, z] in m") from None
    if points.ndim != 2 or points.shape[1] != 3:
        raise InputError(f"{label}: vertices have shape {points.shape}; give (V, 3), a list of [x, y, z] in m")
    if len(points) < 4:
        raise InputError(f"{label}: {len(points)} vertices; a solid needs at least 4")
    if not np.isfinite(points).all():
        v = int(np.argmin(np.isfinite(points).all(axis=1)))
        raise InputError(f"{label}: vertex {v} is {points[v].tolist()}; coordinates must be finite numbers in m")
    return points


def _check_counts(faces: Sequence[Sequence[int]], label: str) -> None:
    if len(faces) < 4:
        raise InputError(f"{label}: {len(faces)} faces; a closed solid needs at least 4")
    if min(map(len, faces)) < 3:
        f = next(f for f, face in enumerate(faces) if len(face) < 3)
        raise InputError(f"{label}, face {f}: {len(faces[f])} vertices; a face needs at least 3, remove or complete it")


def _raise_not_integer(faces: Sequence[Sequence[Sequence[int]]], labels: Sequence[str]) -> NoReturn:
    for block, label in zip(faces, labels, strict=True):
        for f, face in enumerate(block):
            if np.array(face).dtype.kind not in "iu":
                raise InputError(f"{label}, face {f}: {list(face)} are not vertex indices; give integers from 0")
    raise AssertionError("every face holds integers")


def check_surfaces(surfaces: Surfaces, labels: Sequence[str]) -> Solids:
    """The mass properties, after refusing every block that is not a closed, outward, convex polyhedron."""
    index = _index(surfaces)
    _check_corners(surfaces, index, labels)
    _check_closed(surfaces, index, labels)
    solids = mass_properties(surfaces)
    size = diagonal(surfaces)
    _check_volume(surfaces, solids.volume, size, labels)
    _check_single(surfaces, labels)
    _check_edges(surfaces, index, labels)
    _check_planar(surfaces, index, size, labels)
    _check_convex(surfaces, index, size, labels)
    return solids


def _index(s: Surfaces) -> _Index:
    corners = len(s.face_vertex)
    corner_face = np.repeat(np.arange(len(s.face_start) - 1), np.diff(s.face_start))
    following, preceding = np.arange(corners) + 1, np.arange(corners) - 1
    following[s.face_start[1:] - 1] = s.face_start[:-1]
    preceding[s.face_start[:-1]] = s.face_start[1:] - 1
    face_block = np.repeat(np.arange(len(s.block_face) - 1), np.diff(s.block_face))
    return _Index(face_block, corner_face, s.face_vertex[following], s.face_vertex[preceding])


def _check_corners(s: Surfaces, index: _Index, labels: Sequence[str]) -> None:
    """No vertex twice in a face, none unused."""
    key = index.corner_face * len(s.vertex) + s.face_vertex
    order = np.argsort(key, kind="stable")
    twice = np.nonzero(np.diff(key[order]) == 0)[0]
    if len(twice):
        corner = int(order[twice[0]])
        f, v = int(index.corner_face[corner]), int(s.face_vertex[corner])
        _refuse(s, labels, f, f"vertex {_local(s, f, v)} is repeated; list every vertex of a face once")
    unused = np.bincount(s.face_vertex, minlength=len(s.vertex)) == 0
    if unused.any():
        v = int(np.argmax(unused))
        b = int(np.searchsorted(s.vertex_start, v, "right")) - 1
        raise InputError(f"{labels[b]}: vertex {v - s.vertex_start[b]} is in no face; remove it or complete the faces")


def _check_edges(s: Surfaces, index: _Index, labels: Sequence[str]) -> None:
    """No edge whose two vertices are the same point."""
    short = np.linalg.norm(s.vertex[index.next_vertex] - s.vertex[s.face_vertex], axis=1) == 0.0
    if short.any():
        c = int(np.argmax(short))
        f = int(index.corner_face[c])
        a, b = _local(s, f, int(s.face_vertex[c])), _local(s, f, int(index.next_vertex[c]))
        _refuse(s, labels, f, f"vertices {a} and {b} are the same point {s.vertex[s.face_vertex[c]].tolist()}; merge them")


def _check_closed(s: Surfaces, index: _Index, labels: Sequence[str]) -> None:
    """Every edge is shared by two faces that run along it in opposite senses."""
    a, b = s.face_vertex, index.next_vertex
    key = np.minimum(a, b) * len(s.vertex) + np.maximum(a, b)
    _, edge, uses = np.unique(key, return_inverse=True, return_counts=True)
    for wrong, said in (
        (
            uses == 1,
            "belongs to this face only: the block is open; add the missing face or merge vertices that coincide",
        ),
        (uses > 2, "is shared by more than two faces; remove the surplus face or split the block"),
    ):
        if wrong.any():
            c = int(np.argmax(wrong[edge]))
            f = int(index.corner_face[c])
            _refuse(s, labels, f, f"edge {_local(s, f, int(a[c]))}-{_local(s, f, int(b[c]))} {said}")
    sense = np.bincount(edge, np.where(a < b, 1, -1))
    clash = sense[edge] != 0
    if clash.any():
        # The face that clashes along most of its edges is the one turned over; its neighbours clash along one each.
        share = np.bincount(index.corner_face, clash) / np.diff(s.face_start)
        block = index.face_block[index.corner_face[np.argmax(clash)]]
        f = int(np.argmax(np.where(index.face_block == block, share, -1.0)))
        _refuse(
            s,
            labels,
            f,
            f"points inward, its neighbours outward ({share[f]:.0%} of its edges clash); reverse its "
            f"vertex order to {_corners(s, f)[::-1]}",
        )


def _check_volume(s: Surfaces, volume: Array, size: Array, labels: Sequence[str]) -> None:
    empty = np.abs(volume) <= EMPTINESS * size**3
    if empty.any():
        b = int(np.argmax(empty))
        raise InputError(
            f"{labels[b]}: its volume is {volume[b]:.3g} m3 for a size of {size[b]:.3g} m, that is zero; "
            "give the block a thickness"
        )
    if (volume < 0).any():
        b = int(np.argmax(volume < 0))
        raise InputError(
            f"{labels[b]}: its volume is {volume[b]:.6g} m3: all faces point inward; reverse the vertex order "
            f"of every face (face 0 becomes {_corners(s, int(s.block_face[b]))[::-1]})"
        )


def _check_single(s: Surfaces, labels: Sequence[str]) -> None:
    """Euler: one closed surface without holes has V - E + F = 2."""
    corners = s.face_start[s.block_face[1:]] - s.face_start[s.block_face[:-1]]
    euler = np.diff(s.vertex_start) - corners // 2 + np.diff(s.block_face)
    if (euler != 2).any():
        b = int(np.argmax(euler != 2))
        raise InputError(
            f"{labels[b]}: V - E + F is {euler[b]}, a single closed surface has 2: the faces form separate "
            "pieces or a ring; make every piece a block of its own"
        )


def _check_planar(s: Surfaces, index: _Index, size: Array, labels: Sequence[str]) -> None:
    area = np.linalg.norm(_area_vectors(s), axis=1)
    face_size = size[index.face_block]
    if (area <= EMPTINESS * face_size**2).any():
        f = int(np.argmax(area <= EMPTINESS * face_size**2))
        _refuse(s, labels, f, f"its area is {area[f]:.3g} m2, that is zero; remove the face and merge its vertices")
    normal, middle = face_normals(s), _face_middles(s)
    offset = s.vertex[s.face_vertex] - middle[index.corner_face]
    off = np.abs(np.einsum("ij,ij->i", offset, normal[index.corner_face]))
    if (off > FLATNESS * face_size[index.corner_face]).any():
        c = int(np.argmax(off / face_size[index.corner_face]))
        f = int(index.corner_face[c])
        _refuse(
            s,
            labels,
            f,
            f"is not planar: vertex {_local(s, f, int(s.face_vertex[c]))} stands {1e3 * off[c]:.4g} mm off "
            f"its plane, {1e3 * FLATNESS * face_size[f]:.2g} mm is allowed; split the face or move the vertex",
        )


def _check_convex(s: Surfaces, index: _Index, size: Array, labels: Sequence[str]) -> None:
    """No vertex in front of any face of its block, and no face with a reflex corner."""
    normal, middle = face_normals(s), _face_middles(s)
    vertex_count = np.diff(s.vertex_start)[index.face_block]
    pair_face = np.repeat(np.arange(len(normal)), vertex_count)
    first = s.vertex_start[index.face_block] - _starts(vertex_count)[:-1]
    pair_vertex = np.arange(len(pair_face)) + np.repeat(first, vertex_count)
    front = np.einsum("ij,ij->i", s.vertex[pair_vertex] - middle[pair_face], normal[pair_face])
    front /= size[index.face_block[pair_face]]
    if (front > FLATNESS).any():
        p = int(np.argmax(front))
        f, v = int(pair_face[p]), int(pair_vertex[p])
        depth = front[p] * size[index.face_block[f]]
        _refuse(
            s,
            labels,
            f,
            f"the block is not convex: vertex {_local(s, f, v)} stands {1e3 * depth:.4g} mm in front of "
            "this face; split the block into convex pieces",
        )
    here, corner_normal = s.vertex[s.face_vertex], normal[index.corner_face]
    turn = np.cross(here - s.vertex[index.last_vertex], s.vertex[index.next_vertex] - here)
    left = np.einsum("ij,ij->i", turn, corner_normal) / size[index.face_block[index.corner_face]] ** 2
    if (left < -FLATNESS).any():
        c = int(np.argmin(left))
        f = int(index.corner_face[c])
        _refuse(
            s,
            labels,
            f,
            f"is not convex: it turns inward at vertex {_local(s, f, int(s.face_vertex[c]))}; split the face",
        )


def mass_properties(s: Surfaces) -> Solids:
    """Volume, centroid and inertia at density 1, exact: tetrahedra from each block's mean vertex to its faces."""
    a, b, c, first = _triangles(s)
    origin = np.add.reduceat(s.vertex, s.vertex_start[:-1]) / np.diff(s.vertex_start)[:, None]
    block = np.repeat(np.arange(len(origin)), np.diff(np.append(first, len(a))))
    a, b, c = (s.vertex[i] - origin[block] for i in (a, b, c))
    tetrahedron = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
    volume = np.add.reduceat(tetrahedron, first)
    with np.errstate(divide="ignore", invalid="ignore"):  # a flat block has no centroid; it is refused by its volume
        centroid = np.add.reduceat(tetrahedron[:, None] * (a + b + c) / 4, first) / volume[:, None]
    total = a + b + c
    moments = sum(np.einsum("i,ij,ik->ijk", tetrahedron / 20, p, p) for p in (a, b, c, total))
    with np.errstate(invalid="ignore"):
        second = np.add.reduceat(moments, first) - np.einsum("i,ij,ik->ijk", volume, centroid, centroid)
    inertia = np.trace(second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - second
    return Solids(volume, origin + centroid, inertia)


def _triangles(s: Surfaces) -> tuple[Array, Array, Array, Array]:
    """Fans of triangles over all faces, as three arrays of vertices, and the first triangle of each block."""
    count = np.diff(s.face_start) - 2
    start = _starts(count)
    face = np.repeat(np.arange(len(count)), count)
    step = np.arange(len(face)) - start[face]
    base = s.face_start[face]
    corner = s.face_vertex
    return corner[base], corner[base + step + 1], corner[base + step + 2], start[s.block_face[:-1]]


def _area_vectors(s: Surfaces) -> Array:
    """(NF, 3) [m2] the face's area along its outward normal; for a warped face, that of its mean plane (Newell)."""
    p, q, r, _ = _triangles(s)
    triangle = np.cross(s.vertex[q] - s.vertex[p], s.vertex[r] - s.vertex[p]) / 2
    return np.add.reduceat(triangle, _starts(np.diff(s.face_start) - 2)[:-1])


def _face_middles(s: Surfaces) -> Array:
    return np.add.reduceat(s.vertex[s.face_vertex], s.face_start[:-1]) / np.diff(s.face_start)[:, None]


def face_normals(s: Surfaces) -> Array:
    """(NF, 3) outward unit normals."""
    vector = _area_vectors(s)
    return vector / np.linalg.norm(vector, axis=1, keepdims=True)


def diagonal(s: Surfaces) -> Array:
    """(B,) [m] diagonal of each block's axis-aligned box, the size that tolerances refer to."""
    low, high = boxes(s)
    return np.linalg.norm(high - low, axis=1)


def boxes(s: Surfaces) -> tuple[Array, Array]:
    """(B, 3), (B, 3) [m] low and high corners of the axis-aligned boxes."""
    start = s.vertex_start[:-1]
    return np.minimum.reduceat(s.vertex, start), np.maximum.reduceat(s.vertex, start)


def _corners(s: Surfaces, face: int) -> list[int]:
    corners = s.face_vertex[s.face_start[face] : s.face_start[face + 1]]
    return [_local(s, face, int(v)) for v in corners]


def _local(s: Surfaces, face: int, vertex: int) -> int:
    """A vertex's number within the block that owns `face`, as the user counts."""
    return vertex - int(s.vertex_start[_block(s, face)])


def _block(s: Surfaces, face: int) -> int:
    return int(np.searchsorted(s.block_face, face, "right")) - 1


def _refuse(s: Surfaces, labels: Sequence[str], face: int, said: str) -> NoReturn:
    block = _block(s, face)
    raise InputError(f"{labels[block]}, face {face - s.block_face[block]}: {said}")

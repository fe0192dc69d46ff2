"""Checks that the surfaces of blocks are closed and convex, and computes their exact mass properties.

All blocks are stored one after the other in flat arrays (`Surfaces`), so that every check is one NumPy expression over all
blocks: 20,000 boxes take about a second. `surface_findings` lists everything that is wrong; `build_model` raises the first
finding. The integrals are sums over tetrahedra from an inner point of each block to the triangles of its faces, which is exact
for any closed polyhedron.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, NoReturn

import numpy as np

from drystone.base.errors import Finding, InputError
from drystone.structure.face_triangles import triangulate_faces

Array = np.ndarray

# of the block's diagonal: allowed distance of a vertex from the plane of its face, or in front of another
FLATNESS_TOLERANCE = 1e-5
EMPTINESS_TOLERANCE = 1e-9  # of the cube of the block's diagonal: a smaller volume counts as zero; likewise areas


class Surfaces(NamedTuple):
    """B closed surfaces stored one after the other, as in `Bodies`: block i owns vertices vertex_start[i]:vertex_start[i+1] and
    faces block_face[i]:block_face[i+1]; face f owns corners face_vertex[face_start[f]:face_start[f+1]]."""

    vertex: Array  # (NV, 3) [m]
    vertex_start: Array  # (B+1,) int64
    face_vertex: Array  # (NFV,) int64 rows of `vertex`
    face_start: Array  # (NF+1,) int64
    block_face: Array  # (B+1,) int64


class Solids(NamedTuple):
    """Mass properties of B blocks with density 1."""

    volume: Array  # (B,) [m3]
    centroid: Array  # (B, 3) [m]
    inertia: Array  # (B, 3, 3) [m5] about the centroid


class _Index(NamedTuple):
    """The owners in `Surfaces`, one entry per face or per corner."""

    face_block: Array  # (NF,) block of each face
    corner_face: Array  # (NFV,) face of each corner
    next_vertex: Array  # (NFV,) the vertex that follows in the same face
    last_vertex: Array  # (NFV,) the vertex that precedes


def make_surfaces(vertices: Sequence[Array], faces: Sequence[Sequence[Sequence[int]]], labels: Sequence[str]) -> Surfaces:
    """Store the blocks one after the other, after the checks of array shapes, numbers and indices."""
    points = [_read_points(v, label) for v, label in zip(vertices, labels, strict=True)]
    for block_faces, label in zip(faces, labels, strict=True):
        _check_counts(block_faces, label)
    corners = [corner for block in faces for face in block for corner in face]
    index = np.array(corners)
    if index.dtype.kind not in "iu":
        _raise_not_integer(faces, labels)
    vertex_count = np.array([len(p) for p in points])
    face_count = np.array([len(f) for f in faces])
    corner_count = np.array([len(face) for block in faces for face in block])
    vertex_start, block_face, face_start = _offsets(vertex_count), _offsets(face_count), _offsets(corner_count)
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
        message = f"vertex index {index[c]} is out of range"
        raise _face_finding(surfaces, f, "index", message, f"use 0 to {vertex_count[b] - 1}").to_error(labels)
    return surfaces


def _offsets(count: Array) -> Array:
    return np.concatenate([[0], np.cumsum(count)]).astype(np.int64)


def _read_points(vertices: Array, label: str) -> Array:
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
    """The mass properties; refuses every block that is not a closed convex polyhedron with faces pointing outward."""
    for finding in surface_findings(surfaces):
        raise finding.to_error(labels)
    return mass_properties(surfaces)


def surface_findings(surfaces: Surfaces) -> Iterator[Finding]:
    """Everything that keeps the blocks from being closed convex polyhedra with faces pointing outward. A block that fails one
    check is left out of the next ones, which presuppose it."""
    index = _index(surfaces)
    size = box_diagonals(surfaces)
    is_faulty = np.zeros(len(size), bool)
    with np.errstate(divide="ignore", invalid="ignore"):  # of blocks that have failed already
        for check in (
            _find_repeated_vertices,
            _find_open_edges,
            _find_empty_blocks,
            _find_several_shells,
            _find_empty_edges,
            _find_empty_faces,
            _find_warped_faces,
            _find_dents,
        ):
            newly_faulty = []
            for finding in check(surfaces, index, size):
                if not is_faulty[finding.blocks[0]]:
                    newly_faulty.append(finding.blocks[0])
                    yield finding
            is_faulty[newly_faulty] = True


def _index(s: Surfaces) -> _Index:
    corners = len(s.face_vertex)
    corner_face = np.repeat(np.arange(len(s.face_start) - 1), np.diff(s.face_start))
    following, preceding = np.arange(corners) + 1, np.arange(corners) - 1
    following[s.face_start[1:] - 1] = s.face_start[:-1]
    preceding[s.face_start[:-1]] = s.face_start[1:] - 1
    face_block = np.repeat(np.arange(len(s.block_face) - 1), np.diff(s.block_face))
    return _Index(face_block, corner_face, s.face_vertex[following], s.face_vertex[preceding])


def _find_repeated_vertices(s: Surfaces, index: _Index, size: Array) -> Iterator[Finding]:
    """Vertices that occur twice in a face, or in no face."""
    key = index.corner_face * len(s.vertex) + s.face_vertex
    order = np.argsort(key, kind="stable")
    for corner in order[np.nonzero(np.diff(key[order]) == 0)[0]]:
        f = int(index.corner_face[corner])
        message = f"vertex {_local_vertex(s, f, s.face_vertex[corner])} is repeated"
        yield _face_finding(s, f, "repeated vertex", message, "list every vertex of a face once")
    for v in np.nonzero(np.bincount(s.face_vertex, minlength=len(s.vertex)) == 0)[0]:
        b = int(np.searchsorted(s.vertex_start, v, "right")) - 1
        message = f"vertex {v - s.vertex_start[b]} is in no face"
        yield Finding("unused vertex", (b,), message, "remove it or complete the faces")


def _find_open_edges(s: Surfaces, index: _Index, size: Array) -> Iterator[Finding]:
    """Edges that are not shared by exactly two faces, running along it in opposite senses."""
    a, b = s.face_vertex, index.next_vertex
    key = np.minimum(a, b) * len(s.vertex) + np.maximum(a, b)
    _, edge, uses = np.unique(key, return_inverse=True, return_counts=True)
    corner_block = index.face_block[index.corner_face]
    for kind, wrong, words, hint in (
        ("open", uses[edge] == 1, "belongs to this face only: the block is open",
         "add the missing face or merge vertices that coincide"),
        ("surplus face", uses[edge] > 2, "is shared by more than two faces", "remove the surplus face or split the block"),
    ):  # fmt: skip
        once = np.unique(np.where(wrong, edge, -1), return_index=True)[1]  # a corner of each edge
        count = np.bincount(corner_block[once[wrong[once]]], minlength=len(size))
        for block, c in zip(*_first_of_each(corner_block, wrong), strict=True):
            f = int(index.corner_face[c])
            message = f"edge {_local_vertex(s, f, a[c])}-{_local_vertex(s, f, b[c])} {words}"
            yield _face_finding(s, f, kind, message, hint, value=float(count[block]), unit="edges")
    clash = np.bincount(edge, np.where(a < b, 1, -1))[edge] != 0
    clash &= uses[edge] == 2
    share = np.bincount(index.corner_face, clash) / np.diff(s.face_start)
    for block in np.unique(corner_block[clash]):
        for turned in find_reversed_faces(block_faces(s, block)):
            f = int(s.block_face[block]) + turned
            message = f"points inward, its neighbours outward ({share[f]:.0%} of its edges clash)"
            yield _face_finding(s, f, "inward face", message, f"reverse its vertex order to {_local_face(s, f)[::-1]}")


def find_reversed_faces(faces: Sequence[Sequence[int]]) -> list[int]:
    """The faces of one block whose orientation is opposite to that of most faces of their shell."""
    faces_of_edge: dict[tuple[int, int], list[int]] = {}
    for f, face in enumerate(faces):
        for edge in zip(face, (*face[1:], face[0]), strict=True):
            faces_of_edge.setdefault(edge, []).append(f)
    sense: dict[int, int] = {}
    turned: list[int] = []
    for first in range(len(faces)):
        if first in sense:
            continue
        sense[first], shell = 1, [first]
        for f in shell:  # the list grows during the loop
            face = faces[f]
            for tail, head in zip(face, (*face[1:], face[0]), strict=True):
                for orientation, edge in ((1, (head, tail)), (-1, (tail, head))):
                    for other in faces_of_edge.get(edge, []):
                        if other not in sense:
                            sense[other] = orientation * sense[f]
                            shell.append(other)
        minority = -1 if 2 * sum(sense[f] == 1 for f in shell) >= len(shell) else 1
        turned += [f for f in shell if sense[f] == minority]
    return sorted(turned)


def _find_empty_blocks(s: Surfaces, index: _Index, size: Array) -> Iterator[Finding]:
    volume = mass_properties(s).volume
    empty = np.abs(volume) <= EMPTINESS_TOLERANCE * size**3
    for b in np.nonzero(empty)[0].tolist():
        message = f"its volume is {volume[b]:.3g} m3 for a size of {size[b]:.3g} m, that is zero"
        yield Finding("no volume", (b,), message, "give the block a thickness", value=float(volume[b]), unit="m3")
    for b in np.nonzero(~empty & (volume < 0))[0].tolist():
        message = f"its volume is {volume[b]:.6g} m3: all faces point inward"
        first = _local_face(s, int(s.block_face[b]))[::-1]
        hint = f"reverse the vertex order of every face (face 0 becomes {first})"
        yield Finding("inside out", (b,), message, hint, value=float(volume[b]), unit="m3")


def _find_several_shells(s: Surfaces, index: _Index, size: Array) -> Iterator[Finding]:
    """Blocks of several shells or with a hole: by Euler's formula a single closed surface has V - E + F = 2."""
    corners = s.face_start[s.block_face[1:]] - s.face_start[s.block_face[:-1]]
    euler = np.diff(s.vertex_start) - corners // 2 + np.diff(s.block_face)
    for b in np.nonzero(euler != 2)[0].tolist():
        message = f"V - E + F is {euler[b]}, a single closed surface has 2: the faces form separate pieces or a ring"
        yield Finding("several shells", (b,), message, "make every piece a block of its own", value=euler[b] / 2, unit="shells")


def _find_empty_edges(s: Surfaces, index: _Index, size: Array) -> Iterator[Finding]:
    """Edges whose two vertices are at the same point."""
    a, b = s.face_vertex, index.next_vertex
    short = np.nonzero(np.linalg.norm(s.vertex[b] - s.vertex[a], axis=1) == 0.0)[0]
    _, first = np.unique(np.minimum(a, b)[short] * len(s.vertex) + np.maximum(a, b)[short], return_index=True)
    for c in short[np.sort(first)]:
        f = int(index.corner_face[c])
        message = (
            f"vertices {_local_vertex(s, f, a[c])} and {_local_vertex(s, f, b[c])} are the same point {s.vertex[a[c]].tolist()}"
        )
        yield _face_finding(s, f, "same point", message, "merge them")


def _find_empty_faces(s: Surfaces, index: _Index, size: Array) -> Iterator[Finding]:
    area = np.linalg.norm(area_vectors(s), axis=1)
    for f in np.nonzero(area <= EMPTINESS_TOLERANCE * size[index.face_block] ** 2)[0].tolist():
        message = f"its area is {area[f]:.3g} m2, that is zero"
        yield _face_finding(s, f, "no area", message, "remove the face and merge its vertices", value=float(area[f]), unit="m2")


def _find_warped_faces(s: Surfaces, index: _Index, size: Array) -> Iterator[Finding]:
    """Faces that are not planar: vertices off the mean plane of their face, the worst face first."""
    corner_size = size[index.face_block[index.corner_face]]
    off = plane_offsets(s)
    wrong = np.nonzero(off > FLATNESS_TOLERANCE * corner_size)[0]
    wrong = wrong[np.argsort(-off[wrong] / corner_size[wrong], kind="stable")]
    _, first = np.unique(index.corner_face[wrong], return_index=True)
    for c in wrong[np.sort(first)]:
        f, allowed = int(index.corner_face[c]), 1e3 * FLATNESS_TOLERANCE * corner_size[c]
        message = f"is not planar: vertex {_local_vertex(s, f, s.face_vertex[c])} stands {1e3 * off[c]:.4g} mm off its plane, "
        message += f"{allowed:.2g} mm is allowed"
        yield _face_finding(s, f, "not planar", message, "split the face or move the vertex", value=float(off[c]), unit="m")


def plane_offsets(s: Surfaces) -> Array:
    """(NFV,) [m] distance of each corner from the mean plane of its face."""
    face = np.repeat(np.arange(len(s.face_start) - 1), np.diff(s.face_start))
    offset = s.vertex[s.face_vertex] - face_centres(s)[face]
    return np.abs(np.einsum("ij,ij->i", offset, face_normals(s)[face]))


def _find_dents(s: Surfaces, index: _Index, size: Array) -> Iterator[Finding]:
    """Blocks that are not convex: a vertex in front of a face of its block, or a face with a reflex corner; the worst first."""
    normal, middle = face_normals(s), face_centres(s)
    vertex_count = np.diff(s.vertex_start)[index.face_block]
    pair_face = np.repeat(np.arange(len(normal)), vertex_count)
    first = s.vertex_start[index.face_block] - _offsets(vertex_count)[:-1]
    pair_vertex = np.arange(len(pair_face)) + np.repeat(first, vertex_count)
    front = np.einsum("ij,ij->i", s.vertex[pair_vertex] - middle[pair_face], normal[pair_face])
    front /= size[index.face_block[pair_face]]
    wrong = np.nonzero(front > FLATNESS_TOLERANCE)[0]
    wrong = wrong[np.argsort(-front[wrong], kind="stable")]
    blocks_with_dents, worst = np.unique(index.face_block[pair_face[wrong]], return_index=True)
    for p in wrong[np.sort(worst)]:
        f, v = int(pair_face[p]), int(pair_vertex[p])
        depth = float(front[p] * size[index.face_block[f]])
        message = f"the block is not convex: vertex {_local_vertex(s, f, v)} stands {1e3 * depth:.4g} mm in front of this face"
        yield _face_finding(s, f, "not convex", message, "split the block into convex pieces", value=depth, unit="m")
    here, corner_normal = s.vertex[s.face_vertex], normal[index.corner_face]
    turn = np.cross(here - s.vertex[index.last_vertex], s.vertex[index.next_vertex] - here)
    left = np.einsum("ij,ij->i", turn, corner_normal) / size[index.face_block[index.corner_face]] ** 2
    wrong = np.nonzero((left < -FLATNESS_TOLERANCE) & ~np.isin(index.face_block[index.corner_face], blocks_with_dents))[0]
    for c in wrong[np.argsort(left[wrong], kind="stable")]:
        f = int(index.corner_face[c])
        message = f"is not convex: it turns inward at vertex {_local_vertex(s, f, s.face_vertex[c])}"
        yield _face_finding(s, f, "not convex", message, "split the face")


def _first_of_each(owner: Array, wrong: Array) -> tuple[Array, Array]:
    """The owners of the wrong entries, and the first wrong entry of each owner."""
    place = np.nonzero(wrong)[0]
    owners, first = np.unique(owner[place], return_index=True)
    return owners, place[first]


def mass_properties(s: Surfaces) -> Solids:
    """Exact volume, centroid and inertia at density 1, by tetrahedra from the mean vertex of each block to its faces."""
    a, b, c = triangulate_faces(s.face_start, s.face_vertex)[0].T
    first = _offsets(np.diff(s.face_start) - 2)[s.block_face[:-1]]  # the first triangle of each block
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


def area_vectors(s: Surfaces) -> Array:
    """(NF, 3) [m2] the area of each face times its outward normal; for a warped face, that of its mean plane (Newell)."""
    p, q, r = triangulate_faces(s.face_start, s.face_vertex)[0].T
    triangle = np.cross(s.vertex[q] - s.vertex[p], s.vertex[r] - s.vertex[p]) / 2
    return np.add.reduceat(triangle, _offsets(np.diff(s.face_start) - 2)[:-1])


def face_centres(s: Surfaces) -> Array:
    """(NF, 3) [m] mean of the corners of each face."""
    return np.add.reduceat(s.vertex[s.face_vertex], s.face_start[:-1]) / np.diff(s.face_start)[:, None]


def face_normals(s: Surfaces) -> Array:
    """(NF, 3) outward unit normals."""
    vector = area_vectors(s)
    return vector / np.linalg.norm(vector, axis=1, keepdims=True)


def face_widths(s: Surfaces) -> Array:
    """(NF,) [m] twice the area over the perimeter, which is the width of a long thin face."""
    index = _index(s)
    side = np.linalg.norm(s.vertex[index.next_vertex] - s.vertex[s.face_vertex], axis=1)
    return 2 * np.linalg.norm(area_vectors(s), axis=1) / np.add.reduceat(side, s.face_start[:-1])


def box_diagonals(s: Surfaces) -> Array:
    """(B,) [m] diagonal of each block's axis-aligned box, the size that tolerances refer to."""
    low, high = bounding_boxes(s)
    return np.linalg.norm(high - low, axis=1)


def bounding_boxes(s: Surfaces) -> tuple[Array, Array]:
    """(B, 3), (B, 3) [m] low and high corners of the axis-aligned boxes."""
    start = s.vertex_start[:-1]
    return np.minimum.reduceat(s.vertex, start), np.maximum.reduceat(s.vertex, start)


def block_faces(s: Surfaces, block: int) -> list[list[int]]:
    """The faces of a block, with its vertices numbered from 0."""
    return [_local_face(s, f) for f in range(s.block_face[block], s.block_face[block + 1])]


def _local_face(s: Surfaces, face: int) -> list[int]:
    corners = s.face_vertex[s.face_start[face] : s.face_start[face + 1]]
    return (corners - s.vertex_start[_owner_block(s, face)]).tolist()


def _local_vertex(s: Surfaces, face: int, vertex: int) -> int:
    """The number of a vertex within the block that owns `face`, as in the user's input."""
    return int(vertex - s.vertex_start[_owner_block(s, face)])


def _owner_block(s: Surfaces, face: int) -> int:
    return int(np.searchsorted(s.block_face, face, "right")) - 1


def _face_finding(
    s: Surfaces, face: int, kind: str, message: str, hint: str, *, value: float | None = None, unit: str = ""
) -> Finding:
    block = _owner_block(s, face)
    return Finding(kind, (block,), message, hint, int(face - s.block_face[block]), value, unit)

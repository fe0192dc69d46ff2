"""Decomposes solids that are not convex into convex pieces, or raises an error that gives the reason why it cannot.

The decomposition is exact if few pieces suffice: the convex hull is cut by the plane of a face that passes through its inside,
and so are the parts, until no face passes through them; a cell is then entirely inside or entirely outside the solid, which the
winding number at its centre decides. A block that is bent in the middle, such as a stone of a dome with staggered joints, is
split into two halves. Other shapes are approximated by CoACD (Wei et al. 2022), only on request.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.spatial import ConvexHull, cKDTree

from drystone.base.errors import InputError, missing_library
from drystone.build.shapes import join_pieces
from drystone.io.geometry.drawing import Array, Face
from drystone.io.geometry.mesh_repair import MERGE_TOLERANCE, area_vector, open_edges, split_into_solids, volume
from drystone.structure.boxes import box_diagonal
from drystone.structure.face_triangles import triangulate_fan
from drystone.structure.model import Block

CONVEX_TOLERANCE = 1e-5  # of the block's diagonal: a vertex within this distance of a face is not in front of it, as in `solid`
WARP_TOLERANCE = 1e-4  # of the block's diagonal: a face that deviates more from a plane excludes an exact decomposition
BEND_TOLERANCE = 1e-2  # of the block's diagonal and of its volume: allowed difference of two halves from a bent block
NEARLY_CONVEX = 1e-2  # of the block's diagonal: a smaller dent is taken as an error, which `build_model` reports
MAX_PIECES = 48  # in an exact decomposition; a stone that needs more is probably a scan
CUT_CANDIDATES = 8  # planes tried for a cut: those of the largest faces inside
ON_PLANE_TOLERANCE = 1e-9  # of the block's diagonal: a point within this distance of a plane is on it
COACD_THRESHOLD = 0.05  # remaining concavity, as CoACD measures it

Polygon = Array  # (K, 3)


def make_convex(block: Block, *, decompose: bool, path: Path) -> Block:
    """The block in convex pieces; unchanged if it is convex or nearly so, is given in pieces, is open or has no size."""
    if block.pieces or open_edges(block.faces) or not box_diagonal(block.vertices):
        return block
    hollow, warp = measure_hollowness(block), _measure_warp(block)
    if hollow <= CONVEX_TOLERANCE:
        return block
    if warp > WARP_TOLERANCE and _flat_faces_are_convex(block):
        return make_hull(block.vertices, block)
    pieces = _decompose_exactly(block, warp) if warp <= WARP_TOLERANCE else _split_bent(block)
    if pieces is not None:
        return join_pieces(pieces)
    if decompose:
        return _approximate(block, path)
    if hollow <= NEARLY_CONVEX:
        return block
    why = (
        f"it needs more than {MAX_PIECES} convex pieces"
        if warp <= WARP_TOLERANCE
        else f"a face is warped by {warp:.2%} of its size"
    )
    raise InputError(
        f"{path}: block {block.name!r} is not convex: a vertex stands {hollow:.1%} of its size in front of a face, and {why}; "
        "give pieces, or decompose = true to have it approximated by convex ones"
    )


def measure_hollowness(block: Block) -> float:
    """The largest distance of a vertex in front of a face, relative to the block's diagonal."""
    vertices, size = np.asarray(block.vertices, float), box_diagonal(block.vertices)
    front = [(vertices @ n - d).max() for n, d in _planes(block, 1e-9 * size**2)]
    return float(max(front, default=0.0) / size)


def _planes(block: Block, least: float = 0.0) -> list[tuple[Array, float]]:
    """The planes of the faces that have more than the least area [m2]."""
    polygons = [np.asarray(block.vertices, float)[list(face)] for face in block.faces]
    return [_plane(polygon) for polygon in polygons if np.linalg.norm(area_vector(polygon)) > least]


def _measure_warp(block: Block) -> float:
    """The largest distance of a corner from the plane of its face, relative to the block's diagonal."""
    vertices = np.asarray(block.vertices, float)
    return max(_off_plane(vertices[list(face)]) for face in block.faces) / box_diagonal(vertices)


def _flat_faces_are_convex(block: Block) -> bool:
    """Whether only warped faces keep the block from being convex: no vertex is in front of a flat face, and all are on the
    hull.
    Four corners that are not in a plane do not define the surface between them; it is then read as folded outward."""
    vertices, size = np.asarray(block.vertices, float), box_diagonal(block.vertices)
    for face, (normal, offset) in zip(block.faces, _planes(block, -1.0), strict=True):
        flat = np.abs(vertices[list(face)] @ normal - offset).max() <= WARP_TOLERANCE * size
        if flat and len(face) > 3 and (vertices @ normal - offset).max() > WARP_TOLERANCE * size:
            return False
    return len(ConvexHull(vertices).vertices) == len(vertices) and any(len(face) > 3 for face in block.faces)


def _split_bent(block: Block) -> list[Block] | None:
    """The two halves of a block that is bent in the middle, with two opposite folded faces and the others nearly flat; None for
    another shape. Warped faces within a half are folded outward."""
    vertices, size = np.asarray(block.vertices, float), box_diagonal(block.vertices)
    folds = {face: _fold(vertices, face) for face in block.faces if len(face) > 4}
    if len(folds) != 2:
        return None
    rim = vertices[[corner for fold in folds.values() for corner in fold]]
    middle, normal = rim.mean(axis=0), np.linalg.svd(rim - rim.mean(axis=0))[2][2]
    side = (vertices - middle) @ normal
    if np.abs((rim - middle) @ normal).max() > BEND_TOLERANCE * size:
        return None
    halves = [vertices[sign * side >= -BEND_TOLERANCE * size] for sign in (1, -1)]
    if min(map(len, halves)) < 5 or max(map(len, halves)) == len(vertices):
        return None
    pieces = [make_hull(half, block) for half in halves]
    folded = [f for face in block.faces for f in (_halved(face, *folds[face]) if face in folds else [face])]
    change = sum(volume(piece.vertices, piece.faces) for piece in pieces) / volume(vertices, folded) - 1
    return pieces if abs(change) <= BEND_TOLERANCE else None


def _fold(vertices: Array, face: Face) -> tuple[int, int]:
    """The two corners between which a face is best folded into two flat parts."""
    pairs = [(a, b) for i, a in enumerate(face) for b in face[i + 2 :] if {a, b} != {face[0], face[-1]}]
    return min(pairs, key=lambda pair: max(_off_plane(vertices[list(half)]) for half in _halved(face, *pair)))


def _halved(face: Face, a: int, b: int) -> list[Face]:
    i, j = sorted((face.index(a), face.index(b)))
    return [face[i : j + 1], face[j:] + face[: i + 1]]


def _off_plane(polygon: Polygon) -> float:
    normal, offset = _plane(polygon)
    return float(np.abs(polygon @ normal - offset).max())


def _decompose_exactly(block: Block, warp: float) -> list[Block] | None:
    """The convex pieces; None if there are too many, or slivers."""
    vertices, size = np.asarray(block.vertices, float), box_diagonal(block.vertices)
    on = (ON_PLANE_TOLERANCE + 2 * warp) * size  # faces that are flat only to some digits are cut with the same precision
    polygons = [vertices[list(face)] for face in block.faces]
    outer = ConvexHull(vertices)
    off = [np.abs(polygon @ outer.equations[:, :3].T + outer.equations[:, 3]).max(axis=0) for polygon in polygons]
    inner = [polygon for polygon, distance in zip(polygons, off, strict=True) if distance.min() > on]
    if len(inner) > 2 * MAX_PIECES:
        return None
    pieces: list[Block] = []
    for cell in _cells([vertices[corners] for corners in outer.simplices], inner, on, 4 * MAX_PIECES):
        if cell is None or len(pieces) > MAX_PIECES:
            return None
        if _winding(np.concatenate(cell).mean(axis=0), polygons) > 0.5:
            pieces.append(_piece(block, cell, on))
    pieces = [piece for piece in pieces if volume(piece.vertices, piece.faces) > on * size**2]
    total = sum(volume(piece.vertices, piece.faces) for piece in pieces)
    sound = (
        1 < len(pieces) <= MAX_PIECES
        and abs(total - volume(vertices, block.faces)) <= (10 * on + MERGE_TOLERANCE * size) * size**2
    )
    return pieces if sound and all(measure_hollowness(piece) <= CONVEX_TOLERANCE for piece in pieces) else None


def _cells(cell: list[Polygon], inner: list[Polygon], on: float, budget: int) -> Iterator[list[Polygon] | None]:
    """Yields the convex cells that no face passes through; None if more than `budget` cuts are needed."""
    queue, cuts = [(cell, inner)], 0
    while queue:
        cell, inner = queue.pop()
        if not inner:
            yield cell
            continue
        cuts += 1
        if cuts > budget:
            yield None
            return
        largest = sorted(inner, key=lambda p: -np.linalg.norm(area_vector(p)))[:CUT_CANDIDATES]
        normal, offset = min((_plane(p) for p in largest), key=lambda plane: _crossed(plane, inner, on))
        for n, d in ((normal, offset), (-normal, -offset)):
            below = _cut(cell, n, d, on)
            within = [clipped for p in inner if len(clipped := _clip(p, n, d, on)) and (clipped @ n - d).min() < -10 * on]
            if below:
                queue.append((below, [p for p in within if np.linalg.norm(area_vector(p)) > on**0.5 * on]))


def _plane(polygon: Polygon) -> tuple[Array, float]:
    normal = area_vector(polygon)
    normal = normal / (np.linalg.norm(normal) or 1.0)
    return normal, float(polygon.mean(axis=0) @ normal)


def _crossed(plane: tuple[Array, float], polygons: list[Polygon], on: float) -> int:
    """How many polygons the plane cuts in two."""
    sides = [p @ plane[0] - plane[1] for p in polygons]
    return sum(1 for side in sides if side.min() < -on and side.max() > on)


def _clip(polygon: Polygon, normal: Array, offset: float, on: float) -> Polygon:
    """The part of a polygon that is not in front of a plane."""
    side = polygon @ normal - offset
    points = []
    for i in range(len(polygon)):
        j = (i + 1) % len(polygon)
        if side[i] <= on:
            points.append(polygon[i])
        if (side[i] < -on and side[j] > on) or (side[i] > on and side[j] < -on):
            points.append(polygon[i] + (polygon[j] - polygon[i]) * (side[i] / (side[i] - side[j])))
    return np.array(points) if len(points) >= 3 else np.empty((0, 3))


def _cut(cell: list[Polygon], normal: Array, offset: float, on: float) -> list[Polygon]:
    """The part of a convex cell that is not in front of a plane, closed by a new face."""
    kept = [clipped for polygon in cell if len(clipped := _clip(polygon, normal, offset, on))]
    kept = [polygon for polygon in kept if (polygon @ normal - offset).min() < -on]
    if not kept:
        return []
    rim = np.concatenate(kept)
    rim = rim[np.abs(rim @ normal - offset) <= 2 * on]
    if len(rim) < 3:
        return kept
    spokes = rim - rim.mean(axis=0)
    first = spokes[np.argmax(np.linalg.norm(spokes, axis=1))]
    angle = np.arctan2(spokes @ np.cross(normal, first), spokes @ first)
    return [*kept, rim[np.argsort(angle)]]


def _winding(point: Array, polygons: Sequence[Polygon]) -> float:
    """The winding number, 1 inside and 0 outside, from the solid angle of all faces (Van Oosterom and Strackee 1983)."""
    triangles = np.concatenate([p[triangulate_fan(range(len(p)))] for p in polygons]) - point
    a, b, c = triangles.transpose(1, 0, 2)
    la, lb, lc = (np.linalg.norm(corner, axis=1) for corner in (a, b, c))
    top = np.einsum("ij,ij->i", a, np.cross(b, c))
    dot = [np.einsum("ij,ij->i", *pair) for pair in ((a, b), (b, c), (c, a))]
    return float(np.arctan2(top, la * lb * lc + dot[0] * lc + dot[1] * la + dot[2] * lb).sum() / (2 * np.pi))


def _piece(block: Block, cell: list[Polygon], on: float) -> Block:
    """A cell as a solid, whose corners are replaced by those of the block where they coincide."""
    points = np.concatenate(cell)
    distance, nearest = cKDTree(block.vertices).query(points)
    points[distance <= 10 * on] = np.asarray(block.vertices, float)[nearest[distance <= 10 * on]]
    return make_hull(points, block)


def make_hull(points: Array, like: Block) -> Block:
    """The convex hull of points (N, 3) with polygons for faces, and with the attributes of another block."""
    faces = tuple(tuple(int(corner) for corner in face) for face in ConvexHull(points).simplices)
    return split_into_solids(replace(like, vertices=points, faces=faces, pieces=()))[0]


def _approximate(block: Block, path: Path) -> Block:
    """Convex pieces that approximate the block; a warning states the change of volume."""
    try:
        import coacd
    except ImportError:
        raise missing_library("coacd", "decompose", path) from None
    vertices = np.asarray(block.vertices, float)
    triangles = [triangle for face in block.faces for triangle in _triangulate(face, vertices)]
    coacd.set_log_level("error")
    mesh = coacd.Mesh(vertices, np.array(triangles, np.int32))
    search = {"mcts_iterations": 20, "mcts_nodes": 10, "mcts_max_depth": 2, "resolution": 500}  # seconds per stone, not minutes
    approximations = coacd.run_coacd(mesh, threshold=COACD_THRESHOLD, preprocess_mode="off", seed=0, **search)
    grid = 1e-4 * box_diagonal(vertices)  # coordinates are rounded to this, to avoid slivers
    pieces = [make_hull(np.round(np.asarray(points, float) / grid) * grid, block) for points, _ in approximations]
    change = sum(volume(piece.vertices, piece.faces) for piece in pieces) / volume(vertices, block.faces) - 1
    warnings.warn(
        f"{path}: block {block.name!r} approximated by {len(pieces)} convex pieces, volume {change:+.1%}", stacklevel=2
    )
    return join_pieces(pieces) if len(pieces) > 1 else pieces[0]


def _triangulate(face: Face, vertices: Array) -> list[tuple[int, int, int]]:
    """The triangles of a face that need not be convex, by cutting off convex corners one after the other (ear clipping)."""
    left, normal, triangles = list(face), area_vector(vertices[list(face)]), []
    while len(left) > 3:
        corners = [(left[i - 1], left[i], left[(i + 1) % len(left)]) for i in range(len(left))]
        ear = next((ear for ear in corners if _is_ear(ear, left, vertices, normal)), corners[0])
        triangles.append(ear)
        left.remove(ear[1])
    return [*triangles, (left[0], left[1], left[2])]


def _is_ear(ear: tuple[int, int, int], left: list[int], vertices: Array, normal: Array) -> bool:
    """Whether the corner is convex and no other vertex is in its triangle."""
    corners = vertices[list(ear)]
    if np.cross(corners[1] - corners[0], corners[2] - corners[1]) @ normal <= 0:
        return False
    others = vertices[[corner for corner in left if corner not in ear]]
    sides = np.roll(corners, -1, axis=0) - corners
    inside = [np.cross(side, others - corner) @ normal >= 0 for side, corner in zip(sides, corners, strict=True)]
    return not np.logical_and.reduce(inside).any()

"""Solids that are not convex: a block comes in, the block in convex pieces goes out, or the reason why not.

Exactly, where few pieces do: the convex hull is cut by the plane of a face that passes through its inside, the halves again, until
no face does; a cell is then wholly stone or wholly air, which the winding number at its centre says. Otherwise, and only when it is
asked for, approximately by CoACD (Wei et al. 2022).
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.spatial import ConvexHull, cKDTree

from drystone.errors import InputError
from drystone.io.geometry.drawing import Array, Face, need
from drystone.io.geometry.surface import area_vector, diagonal, solids, volume
from drystone.model import Block

CONVEX = 1e-5  # of the block's diagonal: a vertex nearer than this to a face is not in front of it, as `solid` has it
NEARLY = 1e-2  # of the block's diagonal: what is less hollow than this is no shape but an error, for the door to tell
MOST = 24  # pieces of an exact decomposition; a stone that needs more is a scan
ON = 1e-9  # of the block's diagonal: a point nearer than this to a plane is on it
APPROXIMATE = 0.03  # concavity that CoACD leaves, its measure

Polygon = Array  # (K, 3)


def convex(block: Block, *, decompose: bool, path: Path) -> Block:
    """The block if it is convex, given in pieces, open or nearly convex; else in convex pieces."""
    hollow = 0.0 if block.pieces else hollowness(block)
    if hollow <= CONVEX:
        return block
    pieces = _exact(block)
    if pieces is not None:
        return joined(block, pieces)
    if decompose:
        return _approximate(block, path)
    if hollow <= NEARLY:
        return block
    raise InputError(
        f"{path}: block {block.name!r} is not convex: a vertex stands {hollow:.1%} of its size in front of a face, and more than "
        f"{MOST} convex pieces would be needed; give pieces, or decompose = true to have it approximated by some"
    )


def hollowness(block: Block) -> float:
    """How far a vertex stands in front of a face at most, in units of the block's diagonal."""
    vertices = np.asarray(block.vertices, float)
    normals = np.array([area_vector(vertices[list(face)]) for face in block.faces])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.finfo(float).tiny)
    middles = np.array([vertices[list(face)].mean(axis=0) for face in block.faces])
    front = vertices @ normals.T - np.einsum("ij,ij->i", middles, normals)
    return float(front.max() / diagonal(vertices))


def _exact(block: Block) -> list[Block] | None:
    """The convex pieces; None if there are too many, or slivers, or if the faces are not flat."""
    vertices = np.asarray(block.vertices, float)
    on = ON * diagonal(vertices)
    polygons = [vertices[list(face)] for face in block.faces]
    planes = [_plane(polygon) for polygon in polygons]
    if any(np.abs(p @ n - d).max() > CONVEX * diagonal(vertices) for p, (n, d) in zip(polygons, planes, strict=True)):
        return None
    hull = ConvexHull(vertices)
    cell = [vertices[corners] for corners in hull.simplices]
    outer = hull.equations
    inner = [p for p in polygons if (np.abs(p @ outer[:, :3].T + outer[:, 3]).max(axis=0) > 10 * CONVEX * diagonal(vertices)).all()]
    pieces: list[Block] = []
    for part in _cells(cell, inner, on, 4 * MOST):
        if part is None or len(pieces) > MOST:
            return None
        if _winding(np.concatenate(part).mean(axis=0), polygons) > 0.5:
            pieces.append(_piece(block, part, vertices))
    total = sum(volume(piece.vertices, piece.faces) for piece in pieces)
    whole = volume(vertices, block.faces)
    sound = len(pieces) > 1 and abs(total - whole) <= 1e-6 * whole
    return pieces if sound and all(_is_sound(piece, whole) for piece in pieces) else None


def _is_sound(piece: Block, whole: float) -> bool:
    return hollowness(piece) <= CONVEX and volume(piece.vertices, piece.faces) > 1e-6 * whole


def _cells(cell: list[Polygon], inner: list[Polygon], on: float, budget: int) -> Iterator[list[Polygon] | None]:
    """The convex cells that no face passes through; None when there are more than `budget` cuts to make."""
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
        normal, offset = min((_plane(p) for p in inner), key=lambda plane: _crossed(plane, inner, on))
        for n, d in ((normal, offset), (-normal, -offset)):
            below = _cut(cell, n, d, on)
            within = [clipped for p in inner if len(clipped := _clip(p, n, d, on)) and (clipped @ n - d).min() < -10 * on]
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
    """What of a polygon is not in front of a plane."""
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
    """What of a convex cell is not in front of a plane, with a lid where it was cut."""
    kept = [clipped for polygon in cell if len(clipped := _clip(polygon, normal, offset, on))]
    kept = [polygon for polygon in kept if (polygon @ normal - offset).min() < -on]
    rim = np.concatenate(kept)
    rim = rim[np.abs(rim @ normal - offset) <= 2 * on]
    if len(rim) < 3:
        return kept
    spokes = rim - rim.mean(axis=0)
    first = spokes[np.argmax(np.linalg.norm(spokes, axis=1))]
    angle = np.arctan2(spokes @ np.cross(normal, first), spokes @ first)
    return [*kept, rim[np.argsort(angle)]]


def _winding(point: Array, polygons: Sequence[Polygon]) -> float:
    """1 inside, 0 outside: the solid angle of all faces (Van Oosterom and Strackee 1983)."""
    triangles = [(p[0], b, c) for p in polygons for b, c in zip(p[1:], p[2:], strict=False)]
    a, b, c = (np.array(corner) - point for corner in zip(*triangles, strict=True))
    la, lb, lc = (np.linalg.norm(corner, axis=1) for corner in (a, b, c))
    top = np.einsum("ij,ij->i", a, np.cross(b, c))
    dot = [np.einsum("ij,ij->i", *pair) for pair in ((a, b), (b, c), (c, a))]
    return float(np.arctan2(top, la * lb * lc + dot[0] * lc + dot[1] * la + dot[2] * lb).sum() / (2 * np.pi))


def _piece(block: Block, cell: list[Polygon], vertices: Array) -> Block:
    """A cell as a solid, its corners those of the block where they are the same point."""
    points = np.concatenate(cell)
    distance, nearest = cKDTree(vertices).query(points)
    same = distance <= 100 * ON * diagonal(vertices)
    points[same] = vertices[nearest[same]]
    return hull(points, block)


def hull(points: Array, like: Block) -> Block:
    """The convex hull of points (N, 3) with polygons for faces, and with the attributes of another block."""
    faces = tuple(tuple(int(corner) for corner in face) for face in ConvexHull(points).simplices)
    return solids(replace(like, vertices=points, faces=faces, pieces=()))[0]


def joined(block: Block, pieces: list[Block]) -> Block:
    """One block of several convex pieces."""
    start = np.cumsum([0] + [len(piece.vertices) for piece in pieces]).tolist()
    faces: list[Face] = [tuple(c + s for c in f) for piece, s in zip(pieces, start, strict=False) for f in piece.faces]
    vertices = np.concatenate([piece.vertices for piece in pieces])
    return replace(block, vertices=vertices, faces=tuple(faces), pieces=tuple(len(piece.faces) for piece in pieces))


def _approximate(block: Block, path: Path) -> Block:
    """Convex pieces that resemble the block; how well is said in a warning."""
    try:
        import coacd
    except ImportError:
        raise need("coacd", "decompose", path) from None
    vertices = np.asarray(block.vertices, float)
    triangles = [(face[0], b, c) for face in block.faces for b, c in zip(face[1:], face[2:], strict=False)]
    coacd.set_log_level("error")
    mesh = coacd.Mesh(vertices, np.array(triangles, np.int32))
    found = coacd.run_coacd(mesh, threshold=APPROXIMATE, preprocess_mode="off", seed=0)
    pieces = [hull(np.asarray(points, float), block) for points, _ in found]
    change = sum(volume(piece.vertices, piece.faces) for piece in pieces) / volume(vertices, block.faces) - 1
    warnings.warn(f"{path}: block {block.name!r} approximated by {len(pieces)} convex pieces, volume {change:+.1%}", stacklevel=2)
    return joined(block, pieces) if len(pieces) > 1 else pieces[0]

"""Makes solids of meshes: converts a block as another program drew it into blocks as `build_model` needs them.

In order: coincident vertices are merged; duplicate faces are removed; faces that are not connected become separate blocks; all
faces are turned outward; neighbours in one plane are merged into one polygon. No vertex is moved.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy.spatial import cKDTree

from drystone.base.errors import InputError
from drystone.io.geometry.drawing import Array, Face, describe_block, keep_used_vertices
from drystone.structure.boxes import box_diagonal
from drystone.structure.face_triangles import triangulate_fan
from drystone.structure.model import Block
from drystone.structure.neighbours import label_connected

WELD_TOLERANCE = 1e-6  # of the block's diagonal: nearer vertices are merged if the surface is not closed otherwise
MAX_SOLID_FACES = 20_000  # faces of one solid
MAX_LOOSE_PARTS = 1000  # parts that have fewer faces than any solid
# of the block's diagonal: how far a face may stand off a plane to be merged; half of what `solid` allows
MERGE_TOLERANCE = 5e-6


def split_into_solids(block: Block) -> list[Block]:
    """The solids in a block; a block with pieces is one solid and is left unchanged."""
    if block.pieces:
        return [block]
    parts = _shells(_without_surplus(_weld(block)))
    _check_parts(parts, describe_block(block))
    parts_as_solids = [solid for part in parts for solid in _close_part(part)]
    if len(parts_as_solids) == 1:
        return parts_as_solids
    label, group = block.name or "block", block.group or block.name
    return [replace(solid, name=f"{label}-{i}", group=group) for i, solid in enumerate(parts_as_solids)]


def _check_parts(parts: list[Block], where: str) -> None:
    """Refuse meshes that would take minutes: scans, and faces that are not connected."""
    counts = [len(part.faces) for part in parts]
    if max(counts, default=0) > MAX_SOLID_FACES:
        raise InputError(f"{where}: {max(counts):,} faces are connected, as in a scan; simplify it to {MAX_SOLID_FACES:,}")
    loose = sum(count < 4 for count in counts)
    if loose > MAX_LOOSE_PARTS:
        raise InputError(f"{where}: {loose:,} parts have fewer than 4 connected faces; merge its vertices and export it again")


def _close_part(part: Block) -> list[Block]:
    """The part if it is closed, or else the solids that result when near vertices are merged."""
    if not open_edges(part.faces):
        return [_merge_flat(_turn_outward(part))]
    joined = _weld(part, WELD_TOLERANCE * box_diagonal(part.vertices))
    return [_merge_flat(_turn_outward(shell)) for shell in _shells(joined)]


def _weld(block: Block, tolerance: float = 0.0) -> Block:
    """Merge vertices within the tolerance, and remove faces that lose their area by it."""
    vertices = np.asarray(block.vertices, float) + 0.0  # no negative zeros
    if tolerance > 0:
        label = label_connected(len(vertices), cKDTree(vertices).query_pairs(tolerance, output_type="ndarray"))
    else:
        _, label = np.unique(vertices, axis=0, return_inverse=True)
    first: dict[int, int] = {}
    row = [first.setdefault(int(own), i) for i, own in enumerate(label.ravel())]
    faces = [_without_repeats(tuple(row[corner] for corner in face)) for face in block.faces]
    vertices, kept = keep_used_vertices(vertices, [face for face in faces if len(face) >= 3])
    return replace(block, vertices=vertices, faces=kept)


def _without_repeats(face: Face) -> Face:
    return tuple(corner for i, corner in enumerate(face) if corner != face[i - 1])


def _without_surplus(block: Block) -> Block:
    """Remove surplus faces. Some programs write a face twice, or also the triangles that it is divided into; all edges of such
    a
    face then belong to three faces."""
    once = tuple({frozenset(face): face for face in reversed(block.faces)}.values())[::-1]
    if open_edges(once):
        once = block.faces  # two blocks that share a face
    neighbours = _neighbours(once)
    kept = [f for f in once if not all(len(neighbours[min(edge), max(edge)]) == 3 for edge in edges(f))]
    return block if len(kept) == len(block.faces) else replace(block, faces=tuple(kept))


def edges(face: Face) -> Iterator[tuple[int, int]]:
    """The edges of a face, in its sense."""
    return zip(face, face[1:] + face[:1], strict=True)


def open_edges(faces: Sequence[Face]) -> set[tuple[int, int]]:
    """The edges with an odd number of faces; a closed surface has none."""
    left: set[tuple[int, int]] = set()
    for face in faces:
        left ^= {(min(a, b), max(a, b)) for a, b in edges(face)}
    return left


def _shells(block: Block) -> list[Block]:
    """The parts of a block that are connected by edges. In some formats blocks that touch share vertices and edges. Programs
    write
    blocks one after the other, so the list of faces is first divided where the surface is closed."""
    runs: list[list[Face]] = [[]]
    left: set[tuple[int, int]] = set()
    for face in block.faces:
        runs[-1].append(face)
        left ^= {(min(a, b), max(a, b)) for a, b in edges(face)}
        if not left:
            runs.append([])
    parts = [part for run in runs if run for part in _split_connected(run)]
    if len(parts) == 1:
        return [block]
    return [replace(block, vertices=v, faces=f) for v, f in (keep_used_vertices(block.vertices, part) for part in parts)]


def _split_connected(faces: list[Face]) -> list[list[Face]]:
    neighbours = _neighbours(faces)
    seen: set[int] = set()
    parts = []
    for start in range(len(faces)):
        if start in seen:
            continue
        seen.add(start)
        connected_faces, queue = [start], [start]
        while queue:
            for other in (f for edge in edges(faces[queue.pop()]) for f in neighbours[min(edge), max(edge)]):
                if other not in seen:
                    seen.add(other)
                    connected_faces.append(other)
                    queue.append(other)
        parts.append([faces[f] for f in sorted(connected_faces)])
    return parts


def _neighbours(faces: Sequence[Face]) -> dict[tuple[int, int], list[int]]:
    """The faces at each edge."""
    at: dict[tuple[int, int], list[int]] = defaultdict(list)
    for f, face in enumerate(faces):
        for a, b in edges(face):
            at[min(a, b), max(a, b)].append(f)
    return at


def _turn_outward(block: Block) -> Block:
    """Orient all faces counter-clockwise seen from outside. A surface that is not closed is unchanged; `build_model` refuses
    it."""
    faces = [tuple(face) for face in block.faces]
    neighbours = _neighbours(faces)
    if any(len(at) != 2 for at in neighbours.values()):
        return block
    known, queue = {0}, [0]
    while queue:
        f = queue.pop()
        for a, b in edges(faces[f]):
            other = next(g for g in neighbours[min(a, b), max(a, b)] if g != f) if len(faces) > 1 else f
            if other in known:
                continue
            if (a, b) in edges(faces[other]):
                faces[other] = faces[other][::-1]
            known.add(other)
            queue.append(other)
    if volume(block.vertices, faces) < 0:
        faces = [face[::-1] for face in faces]
    return replace(block, faces=tuple(faces))


def volume(vertices: Array, faces: Sequence[Face]) -> float:
    """[m3] inside closed faces; negative if they point inward."""
    points = vertices - vertices.mean(axis=0)
    triangles = np.array([triangle for face in faces for triangle in triangulate_fan(face)])
    a, b, c = (points[triangles[:, i]] for i in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


def area_vector(points: Array) -> Array:
    """[m2] the area of a polygon times its unit normal, that of the mean plane if it is warped."""
    (x, y, z), (u, v, w) = (points[1:-1] - points[0]).T, (points[2:] - points[0]).T
    return np.array([(y * w - z * v).sum(), (z * u - x * w).sum(), (x * v - y * u).sum()]) / 2  # np.cross takes longer


def _merge_flat(block: Block) -> Block:
    """Merge neighbouring faces in one plane into one polygon, and remove vertices within a straight edge."""
    vertices, faces = block.vertices, block.faces
    tolerance = MERGE_TOLERANCE * box_diagonal(vertices)
    normals = np.array([area_vector(vertices[list(face)]) for face in faces])
    neighbours = _neighbours(faces)
    if any(len(at) != 2 for at in neighbours.values()):
        return block
    done: set[int] = set()
    polygons: list[tuple[int, Face]] = []
    for seed in np.argsort(-np.linalg.norm(normals, axis=1), kind="stable").tolist():
        if seed in done:
            continue
        region = _grow_region(seed, vertices, faces, normals, neighbours, done, tolerance)
        done |= region
        outline = _outline([faces[f] for f in sorted(region)])
        is_merged = len(region) > 1 and outline is not None
        polygons += [(min(region), outline)] if is_merged and outline else [(f, faces[f]) for f in region]
    merged = [polygon for _, polygon in sorted(polygons)]
    vertices, faces = _without_midpoints(vertices, merged, tolerance)
    return replace(block, vertices=vertices, faces=faces)


def _grow_region(
    seed: int, vertices: Array, faces: Sequence[Face], normals: Array, neighbours: dict[tuple[int, int], list[int]],
    done: set[int], tolerance: float,
) -> set[int]:  # fmt: skip
    """The faces around the seed that lie in its plane."""
    normal = normals[seed] / (np.linalg.norm(normals[seed]) or 1.0)
    origin = vertices[list(faces[seed])].mean(axis=0)
    region, queue = {seed}, [seed]
    while queue:
        for edge in edges(faces[queue.pop()]):
            for other in neighbours[min(edge), max(edge)]:
                if other in region or other in done or normals[other] @ normal < 0:
                    continue
                if np.abs((vertices[list(faces[other])] - origin) @ normal).max() <= tolerance:
                    region.add(other)
                    queue.append(other)
    return region


def _outline(faces: list[Face]) -> Face | None:
    """The outline of connected faces; None if there are several loops, as with a hole, or if the loop touches itself."""
    inner = {(a, b) for face in faces for a, b in edges(face)}
    border = [(a, b) for a, b in inner if (b, a) not in inner]
    next_corner = dict(border)
    if not border or len(next_corner) != len(border):
        return None
    start = next(a for face in faces for a in face if a in next_corner)
    loop = [start]
    while next_corner[loop[-1]] != start and len(loop) <= len(next_corner):
        loop.append(next_corner[loop[-1]])
    return tuple(loop) if len(loop) == len(next_corner) else None


def _without_midpoints(vertices: Array, faces: list[Face], tolerance: float) -> tuple[Array, tuple[Face, ...]]:
    """Remove vertices that belong to two faces only and are on the straight line between their neighbours."""
    count: dict[int, int] = defaultdict(int)
    for face in faces:
        for corner in face:
            count[corner] += 1
    removed: set[int] = set()
    for face in faces:
        for i, corner in enumerate(face):
            if count[corner] == 2 and corner not in removed:
                last = next((c for c in face[:i][::-1] + face[:i:-1] if c not in removed), corner)
                after = next((c for c in face[i + 1 :] + face[:i] if c not in removed), corner)
                along = vertices[after] - vertices[last]
                off = np.linalg.norm(np.cross(along, vertices[corner] - vertices[last]))
                if last != after and off <= tolerance * np.linalg.norm(along):
                    removed.add(corner)
    kept = [tuple(corner for corner in face if corner not in removed) for face in faces]
    if min(map(len, kept)) < 3:
        kept = faces
    return keep_used_vertices(vertices, kept)


def is_flat(block: Block) -> bool:
    """Whether the block is a surface without a volume: too few faces for one, or all vertices in one plane."""
    points = np.asarray(block.vertices, float)
    singular = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return len(block.faces) < 4 or len(points) < 4 or bool(singular[-1] <= MERGE_TOLERANCE * singular[0])


def thicken(block: Block, depth: float, others: Array) -> Block:
    """Make a prism of a flat block, with this depth [m]: away from the nearest centre (N, 3) of the other blocks if there are
    any,
    or else along its normal, in the positive direction of the axis nearest to it."""
    welded = _weld(block)
    outline = welded.faces[0] if len(welded.faces) == 1 else _outline(list(welded.faces))
    if outline is None:
        raise InputError(f"block {block.name!r}: a flat surface without a single outline; draw it as one polygon")
    points = welded.vertices[list(outline)]
    normal = area_vector(points)
    normal /= np.linalg.norm(normal) or 1.0
    side = normal[np.argmax(np.abs(normal))]
    if len(others):
        away = points.mean(axis=0) - others
        side = normal @ away[np.argmin(np.linalg.norm(away, axis=1))]
    if side < 0:
        points, normal = points[::-1], -normal
    n = len(points)
    walls = tuple((i, (i + 1) % n, (i + 1) % n + n, i + n) for i in range(n))
    ends = (tuple(range(n - 1, -1, -1)), tuple(range(n, 2 * n)))
    return replace(block, vertices=np.concatenate([points, points + depth * normal]), faces=ends + walls)

"""Repairs the surface of one block, and describes what was done.

In this order: coincident vertices are merged, empty and duplicate faces are removed, faces are turned outward, coplanar
neighbours are united, and the vertices of faces that are not planar are moved into the plane, or the faces are split. Vertices
move by at most `within`, relative to the size of the block. A hole is closed if one flat face makes the block sound. Dents are
not filled and shells are not split off, as the intended shape is unknown.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy.spatial import ConvexHull, QhullError, cKDTree

from drystone.structure.boxes import box_diagonal
from drystone.structure.model import Block
from drystone.structure.neighbours import label_connected
from drystone.structure.polyhedra import (
    EMPTINESS_TOLERANCE,
    FLATNESS_TOLERANCE,
    Surfaces,
    area_vectors,
    box_diagonals,
    face_centres,
    find_reversed_faces,
    make_surfaces,
    mass_properties,
    plane_offsets,
    surface_findings,
)

Array = np.ndarray
Faces = list[list[int]]

# of the block's diagonal: repaired faces are well within the tolerance of `build_model`
REPAIR_TOLERANCE = 0.1 * FLATNESS_TOLERANCE


def mend_block(block: Block, within: float) -> tuple[Block, list[str]]:
    """The repaired block, and descriptions of what was done; `within` is relative to its size."""
    vertices, faces = np.array(block.vertices, float), [list(face) for face in block.faces]
    done: list[str] = []
    size = box_diagonal(vertices)
    vertices, faces = _weld(vertices, faces, FLATNESS_TOLERANCE * size, done)
    _close_hole(vertices, faces, done)
    if len(faces) < 4 or not _is_closed(faces):
        return _block(block, vertices, faces), done
    _turn_outward(vertices, faces, done)
    vertices, faces = _unite_coplanar(vertices, faces, done)
    vertices, faces = _flatten(vertices, faces, within, done)
    return _block(block, vertices, faces), done


def _block(block: Block, vertices: Array, faces: Faces) -> Block:
    return replace(block, vertices=vertices, faces=tuple(tuple(face) for face in faces))


def block_surface(vertices: Array, faces: Sequence[Sequence[int]]) -> Surfaces:
    """The surface of a single block."""
    return make_surfaces([vertices], [faces], ["block"])


def _weld(vertices: Array, faces: Faces, tolerance: float, done: list[str]) -> tuple[Array, Faces]:
    """Merge coincident vertices; remove empty and duplicate faces, and vertices in no face."""
    pairs = cKDTree(vertices).query_pairs(tolerance, output_type="ndarray")
    cluster = label_connected(len(vertices), pairs)
    first = np.unique(cluster, return_index=True)[1]
    count = len(first)
    _note_count(done, len(vertices) - count, "merged {} that coincide with another", "vertex", "vertices")
    cleaned = [_without_repeats([int(first[cluster[v]]) for v in face]) for face in faces]
    kept: dict[tuple[int, ...], list[int]] = {}
    for face in cleaned:
        if len(face) >= 3:
            kept.setdefault(_from_lowest(face), face)
    full = [face for face in cleaned if len(face) >= 3]
    _note_count(done, len(cleaned) - len(full), "removed {} without area", "face", "faces")
    _note_count(done, len(full) - len(kept), "removed {} given twice", "face", "faces")
    repeats = sum(len(face) for face in faces) - sum(len(face) for face in cleaned)
    if count == len(vertices):
        _note_count(done, repeats, "removed {} repeated in a face", "vertex", "vertices")
    used = {v for face in kept.values() for v in face}
    _note_count(done, len(set(first.tolist()) - used), "removed {} in no face", "vertex", "vertices")
    return _renumber(vertices, list(kept.values()))


def _note_count(done: list[str], count: int, words: str, one: str, many: str) -> None:
    if count:
        done.append(words.format(f"{count} {one if count == 1 else many}"))


def _without_repeats(face: list[int]) -> list[int]:
    return [v for k, v in enumerate(face) if v != face[k - 1]]


def _from_lowest(face: list[int]) -> tuple[int, ...]:
    """The same face, beginning with its lowest vertex number."""
    k = face.index(min(face))
    return tuple(face[k:] + face[:k])


def _renumber(vertices: Array, faces: Faces) -> tuple[Array, Faces]:
    """Keep only the vertices in use, and renumber the faces."""
    used = sorted({v for face in faces for v in face})
    new = {v: k for k, v in enumerate(used)}
    return vertices[used], [[new[v] for v in face] for face in faces]


def _edges(face: Sequence[int]) -> Iterable[tuple[int, int]]:
    return pairwise([*face, face[0]])


def _is_closed(faces: Faces) -> bool:
    uses = Counter(frozenset(edge) for face in faces for edge in _edges(face))
    return set(uses.values()) == {2}


def _close_hole(vertices: Array, faces: Faces, done: list[str]) -> None:
    """Add, in place, a single missing face, if the block is then sound: closed, flat and convex."""
    uses = Counter(frozenset(edge) for face in faces for edge in _edges(face))
    border = [edge for face in faces for edge in _edges(face) if uses[frozenset(edge)] == 1]
    lid = _loop([edge[::-1] for edge in border])
    if lid and len(faces) > 2 and not any(surface_findings(block_surface(vertices, [*faces, lid]))):
        faces.append(lid)
        done.append(f"closed it with face {len(faces) - 1}, flat over {lid}")


def _loop(edges: list[tuple[int, int]]) -> list[int] | None:
    """The polygon that the edges form; None if they are not one simple loop."""
    after = dict(edges)
    if len(after) < max(3, len(edges)):
        return None
    loop = [edges[0][0]]
    while (following := after.get(loop[-1])) not in (None, loop[0]) and len(loop) < len(edges):
        loop.append(following)
    return loop if len(loop) == len(edges) and after.get(loop[-1]) == loop[0] else None


def _turn_outward(vertices: Array, faces: Faces, done: list[str]) -> None:
    """Reverse, in place, the faces that point inward."""
    turned = find_reversed_faces(faces)
    for f in turned:
        faces[f].reverse()
    if mass_properties(block_surface(vertices, faces)).volume[0] < 0:
        for face in faces:
            face.reverse()
        turned = sorted(set(range(len(faces))) - set(turned))
    if len(turned) == len(faces):
        done.append("turned it right side out: all faces pointed inward")
    elif turned:
        done.append(f"reversed face {turned[0]}" if len(turned) == 1 else f"reversed faces {_list_numbers(turned)}")


def _list_numbers(numbers: list[int]) -> str:
    text = ", ".join(map(str, numbers[:8]))
    return text + (f" and {len(numbers) - 8} more" if len(numbers) > 8 else "")


def _unite_coplanar(vertices: Array, faces: Faces, done: list[str]) -> tuple[Array, Faces]:
    """Unite neighbours in one plane into one face; a face without area is united with the neighbour at its longest edge."""
    groups = _coplanar_groups(vertices, faces)
    united: Faces = []
    for group in groups:
        outline = _outline([faces[f] for f in group]) if len(group) > 1 else None
        united += [outline] if outline else [faces[f] for f in group]
    if len(united) == len(faces):
        return vertices, faces
    done.append(f"united {len(faces)} faces into {len(united)}: neighbours in one plane")
    straight = {v for v, uses in Counter(v for face in united for v in face).items() if uses == 2}
    shortened = [[v for v in face if v not in straight] for face in united]
    return _renumber(vertices, shortened if min(map(len, shortened)) >= 3 else united)


def _coplanar_groups(vertices: Array, faces: Faces) -> list[list[int]]:
    s = block_surface(vertices, faces)
    vector, middle, size = area_vectors(s), face_centres(s), float(box_diagonals(s)[0])
    area = np.linalg.norm(vector, axis=1)
    empty = area <= EMPTINESS_TOLERANCE * size**2
    normal = vector / np.where(empty, 1.0, area)[:, None]
    beside: dict[tuple[int, int], int] = {edge: f for f, face in enumerate(faces) for edge in _edges(face)}
    pairs = []
    for f, face in enumerate(faces):
        if empty[f]:
            tail, head = max(_edges(face), key=lambda edge: float(np.linalg.norm(vertices[edge[1]] - vertices[edge[0]])))
            pairs.append((f, beside[head, tail]))
            continue
        for tail, head in _edges(face):
            g = beside[head, tail]
            off = np.abs((vertices[faces[g]] - middle[f]) @ normal[f]).max()
            if area[g] <= area[f] and normal[f] @ normal[g] > 0.5 and off <= REPAIR_TOLERANCE * size:
                pairs.append((f, g))
    joined = np.array(pairs, np.int64).reshape(-1, 2)
    group = label_connected(len(faces), joined)
    return [np.nonzero(group == g)[0].tolist() for g in range(group.max(initial=-1) + 1)]


def _outline(faces: Faces) -> list[int] | None:
    """The outline of adjacent faces; None if it is not one simple loop."""
    edges = [edge for face in faces for edge in _edges(face)]
    return _loop([edge for edge in edges if edge[::-1] not in edges])


def _flatten(vertices: Array, faces: Faces, within: float, done: list[str]) -> tuple[Array, Faces]:
    """Move the vertices of faces that are not planar into the mean planes, or else split the faces."""
    s = block_surface(vertices, faces)
    size, warp = float(box_diagonals(s)[0]), float(plane_offsets(s).max())
    if warp <= FLATNESS_TOLERANCE * size:
        return vertices, faces
    if warp <= within * size:
        flat = _move_into_planes(vertices, faces, size)
        moved = 0.0 if flat is None else float(np.linalg.norm(flat - vertices, axis=1).max())
        if flat is not None and moved <= within * size:
            done.append(f"moved vertices by up to {1e3 * moved:.3g} mm into the planes of their faces")
            return flat, faces
    split = _hull(vertices)
    if split is None:
        return vertices, faces
    words: list[str] = []
    vertices, split = _unite_coplanar(vertices, split, words)
    done.append(f"split faces that are not planar, by up to {1e3 * warp:.3g} mm: {len(faces)} faces became {len(split)}")
    return vertices, split


def _move_into_planes(vertices: Array, faces: Faces, size: float) -> Array | None:
    """The vertices moved into the mean planes of their faces; None if the iteration does not converge."""
    for _ in range(50):
        s = block_surface(vertices, faces)
        if plane_offsets(s).max() <= REPAIR_TOLERANCE * size:
            return vertices
        vector = area_vectors(s)
        normal = vector / np.linalg.norm(vector, axis=1, keepdims=True)
        vertices = move_onto_planes(vertices, faces, normal, np.einsum("ij,ij->i", normal, face_centres(s)))
    return None


def move_onto_planes(vertices: Array, faces: Sequence[Sequence[int]], normal: Array, offset: Array) -> Array:
    """The vertices, each moved the shortest way (least squares) onto the planes normal . x = offset of its faces."""
    moved = vertices.copy()
    around: list[list[int]] = [[] for _ in vertices]
    for f, face in enumerate(faces):
        for v in face:
            around[v].append(f)
    for v, planes in enumerate(around):
        short = offset[planes] - normal[planes] @ vertices[v]
        moved[v] += np.linalg.lstsq(normal[planes], short, rcond=1e-3)[0]  # planes within 0.06 deg count as one
    return moved


def _hull(vertices: Array) -> Faces | None:
    """The triangles of the convex hull, outward; None if a vertex lies inside."""
    try:
        hull = ConvexHull(vertices)
    except QhullError:
        return None
    if len(hull.vertices) < len(vertices):
        return None
    triangles = []
    for (a, b, c), plane in zip(hull.simplices.tolist(), hull.equations, strict=True):
        turn = np.cross(vertices[b] - vertices[a], vertices[c] - vertices[a]) @ plane[:3]
        triangles.append([a, b, c] if turn > 0 else [a, c, b])
    return triangles

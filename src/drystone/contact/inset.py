"""Blocks as shrunken copies with a skin, as BRT have them (section 2.5, figures 4 and 5): a model comes in, and one that is
searched for contacts by nearest points goes out.

Each convex piece is the set of points at most a `corner radius` from an inset copy, whose faces lie that much deeper (T454). So
its faces stay where they are, its edges and corners are rounded, and two blocks may overlap by twice the radius before their
copies touch.

The copy is cut face by face: what all other inset faces leave of the plane of each. Faces that vanish are left out.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from drystone.base.errors import InputError
from drystone.contact.placed_blocks import widths
from drystone.structure.model import Bodies, Model, NearestPoints
from drystone.structure.neighbours import find_near_pairs, label_connected

Array = np.ndarray
Polygon = Array  # (K, 3) [m] corners of a face, counter-clockwise seen from outside

SHARE = 2e-3  # of the smallest width of a piece: its corner radius if none is given
THICKEST = 0.25  # of the smallest width: a larger corner radius leaves too little of a block
SAME = 1e-9  # of the size of a piece: corners nearer than this are one


def with_nearest_points(model: Model, *, corner_radius: float | None = None, contact_distance: float | None = None) -> Model:
    """The model searched for contacts by nearest points. corner_radius [m] is BRT's eps_m, SHARE of the smallest width of each
    piece if not given; contact_distance [m] their eps_e: what is nearer, beside what moves in a step, may touch."""
    bodies = model.bodies
    width = np.empty(len(bodies.owner))
    widths(bodies, width)
    for name, given in (("corner_radius", corner_radius), ("contact_distance", contact_distance)):
        if given is not None and not (np.isfinite(given) and given > 0):
            raise InputError(f"{name} is {given!r}; give a length in m above 0")
    radius = SHARE * width if corner_radius is None else np.full_like(width, corner_radius)
    thin = np.flatnonzero(radius > THICKEST * width)
    if len(thin):
        block, most = model.blocks[bodies.owner[thin[0]]].name, THICKEST * width[thin[0]]
        said = f"corner_radius is {radius[thin[0]]:g} m and block {block!r} is {width[thin[0]]:g} m thick"
        raise InputError(f"{said}; give at most a quarter of that, {most:g} m")
    distance = -1.0 if contact_distance is None else float(contact_distance)
    return replace(model, nearest=NearestPoints(inset(bodies, radius), radius, distance))


def inset(bodies: Bodies, depth: Array) -> Bodies:
    """The shrunken copies: every face of piece p lies depth[p] [m] deeper. All but geometry is as it was."""
    pieces = [_inset_piece(bodies, p, float(depth[p])) for p in range(len(bodies.owner))]
    vertices, faces, normals = (list(each) for each in zip(*pieces, strict=True))
    first = np.cumsum([0, *(len(each) for each in vertices)])
    rows = [np.asarray(face, np.int64) + first[p] for p, own in enumerate(faces) for face in own]
    return bodies._replace(
        vertex=np.concatenate(vertices),
        vertex_start=first.astype(np.int64),
        face_vertex=np.concatenate(rows),
        face_start=np.cumsum([0, *(len(each) for each in rows)]).astype(np.int64),
        piece_face=np.cumsum([0, *(len(own) for own in faces)]).astype(np.int64),
        face_normal=np.concatenate(normals),
    )


def _inset_piece(bodies: Bodies, p: int, depth: float) -> tuple[Array, list[list[int]], Array]:
    """Vertices (V, 3), faces as rows of them, and their normals (F, 3)."""
    first, last = bodies.piece_face[p], bodies.piece_face[p + 1]
    corner = bodies.vertex[bodies.face_vertex[bodies.face_start[first:last]]]
    normal = bodies.face_normal[first:last]
    offset = np.einsum("ij,ij->i", normal, corner) - depth
    own = bodies.vertex[bodies.vertex_start[p] : bodies.vertex_start[p + 1]]
    size = float(np.ptp(own, axis=0).max())
    cut = [(f, polygon) for f in range(len(normal)) if len(polygon := _face(f, normal, offset, own.mean(axis=0), size)) > 2]
    corners = np.concatenate([polygon for _, polygon in cut])
    group = label_connected(len(corners), find_near_pairs(corners, SAME * size))
    _, vertex = np.unique(group, return_index=True)
    faces = _rows(group, [len(polygon) for _, polygon in cut])
    kept = [k for k, face in enumerate(faces) if len(face) > 2]
    return corners[vertex], [faces[k] for k in kept], normal[[cut[k][0] for k in kept]]


def _face(f: int, normal: Array, offset: Array, middle: Array, size: float) -> Polygon:
    """What the half-spaces of the others leave of the plane of face f."""
    n = normal[f]
    centre = middle + (offset[f] - n @ middle) * n
    u = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
    u *= 4.0 * size / np.linalg.norm(u)
    w = np.cross(n, u)
    polygon = centre + np.array([u + w, w - u, -u - w, u - w])
    for g in range(len(normal)):
        if g != f and len(polygon):
            polygon = _cut(polygon, normal[g], offset[g])
    return polygon


def _cut(polygon: Polygon, normal: Array, offset: float) -> Polygon:
    """What lies below a plane."""
    above = polygon @ normal - offset
    corners: list[Array] = []
    for k in range(len(polygon)):
        before, here = above[k - 1], above[k]
        if (before < 0) != (here < 0):
            corners.append(polygon[k - 1] + before / (before - here) * (polygon[k] - polygon[k - 1]))
        if here < 0:
            corners.append(polygon[k])
    return np.array(corners).reshape(-1, 3)


def _rows(group: Array, lengths: Sequence[int]) -> list[list[int]]:
    """The faces as numbers of their corners, those that coincide once."""
    faces, start = [], 0
    for length in lengths:
        face = group[start : start + length].tolist()
        faces.append([v for k, v in enumerate(face) if v != face[k - 1]])
        start += length
    return faces

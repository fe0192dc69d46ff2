"""Narrow phase of the small steps: candidate pairs of placed blocks come in, the patches in which they touch or may touch
go out.

1. Direction d of a pair, from a into b (T301):
   apart      a face of one block has the other beyond it: the normal of the face that keeps them farthest apart; if no face
              does, but two edges do: the normal to both edges.
   overlapping  the mean outward normal of that part of the surface of a which lies inside b. It is the same (up to its
   sign) from
              the surface of b inside a, it changes continuously with the pose, and it is exact wherever only one feature can be
              meant: an edge or a corner inside a face gives the normal of the face, two crossing edges the normal to both.
2. Patches: each face of a that looks along d over each face of b that looks against it, projected along d and clipped with
each other:
   convex polygons over which the gap along d is linear. What is farther apart than the margin of the pair is cut off.
"""

from typing import NamedTuple

import numpy as np

from drystone.base.kernel import inner
from drystone.contact.direction import edge_axis, edge_directions, face_separations
from drystone.contact.narrow_phase import along, plane_over
from drystone.contact.placed_blocks import Placed, pair_margin
from drystone.contact.polygon import centroid, clip, keep_below, simplify
from drystone.structure.model import Bodies

Array = np.ndarray

VISIBLE = 0.02  # cosine: faces that look less along the direction than this carry nothing
SLACK = 1e-9  # of the size: corners outside the other face by less are inside
STRAIGHT = 1e-5  # of the size: corners that stand out less than this from the line between their neighbours are dropped
SMALLEST = 1e-10  # of the square of the size: smaller polygons are dropped
FLUSH = 1e-9  # of the size: less overlap than this counts as none
FULL = -1  # instead of a number of rows: there are too few


class Patches(NamedTuple):
    """P patches, those of a pair one behind the other, pairs in the order of their pieces; also the output buffers of the
    kernel."""

    piece: Array  # (P, 2) int64 convex pieces a and b, a < b
    face: Array  # (P, 2) int64 faces of a and b
    frame: Array  # (P, 9) unit vectors n (from a into b), t1, t2 = n x t1; world axes
    origin: Array  # (P, 3) [m] world, the centroid of the polygon, half-way between both faces
    gap: Array  # (P, 3) g0 [m], gs, gt: gap = g0 + gs s + gt t, with s and t from the origin along t1 and t2
    whole: Array  # (P,) [m2] area before what is far apart was cut off
    edge: Array  # (P,) 1 for the faces of the pair that look at each other most, less for others, 0 for faces that hardly do
    corner_start: Array  # (P+1,) int64
    corner: Array  # (C, 2) [m] (s, t), counter-clockwise


class PatchScratch(NamedTuple):
    """Working memory of one pair, large enough for the largest block."""

    separation_a: Array  # (F,) [m]
    separation_b: Array  # (F,)
    edges_a: Array  # (E, 3) unit
    edges_b: Array  # (E, 3)
    face: Array  # (K, 2) [m] a face of a in the plane orthogonal to d
    polygon: Array  # (4 K, 2)
    spare: Array  # (4 K, 2)
    solid: Array  # (4 K, 3) a face of a, cut by the faces of b
    solid_spare: Array  # (4 K, 3)


def find_patches(bodies: Bodies, placed: Placed, pairs: Array, expected: int) -> Patches:
    """The patches of all pairs; `expected` is how many were found last time."""
    scratch = make_scratch(bodies)
    capacity = max(2 * len(pairs), 2 * expected) + 64
    while True:
        out = Patches(
            np.empty((capacity, 2), np.int64), np.empty((capacity, 2), np.int64), np.empty((capacity, 9)),
            np.empty((capacity, 3)),
            np.empty((capacity, 3)), np.empty(capacity), np.empty(capacity), np.empty(capacity + 1, np.int64), np.empty((8 *
            capacity, 2)),
        )  # fmt: skip
        count = _find(bodies, placed, pairs, scratch, out)
        if count != FULL:
            corners = out.corner_start[count]
            rows = Patches(*(field[:count] for field in out))
            return rows._replace(corner_start=out.corner_start[: count + 1], corner=out.corner[:corners])
        capacity *= 2


def make_scratch(bodies: Bodies) -> PatchScratch:
    """Large enough for every pair."""
    faces = int(np.diff(bodies.piece_face).max(initial=0))
    vertices = int(np.diff(bodies.vertex_start).max(initial=0))
    corners = int(np.diff(bodies.face_start).max(initial=0))
    edges = vertices + faces  # Euler: edges = vertices + faces - 2
    return PatchScratch(
        np.empty(faces), np.empty(faces), np.empty((edges, 3)), np.empty((edges, 3)), np.empty((corners, 2)), np.empty((4 *
        corners, 2)), np.empty((4 * corners, 2)), np.empty((4 * corners + 2 * faces, 3)), np.empty((4 * corners + 2 * faces,
        3)),
    )  # fmt: skip


@inner
def _find(bodies, placed, pairs, scratch, out):
    """Number of patches written, or FULL if `out` is too short."""
    count = 0
    out.corner_start[0] = 0
    for q in range(pairs.shape[0]):
        a, b = pairs[q, 0], pairs[q, 1]
        margin = pair_margin(bodies.owner[a], bodies.owner[b], bodies.radius, placed.sweep)
        found, d = direction(bodies, placed, a, b, margin, scratch)
        if not found:
            continue
        count = patches_of_pair(bodies, placed, a, b, d, margin, scratch, out, count, out.whole.shape[0], out.corner.shape[0])
        if count == FULL:
            return FULL
    return count


@inner
def patches_of_pair(bodies, placed, a, b, d, margin, scratch, out, count, last, last_corner):
    """Writes the patches of one pair with direction d from row `count` on; returns the row after, or FULL if rows beyond `last`
    or corners beyond `last_corner` would be needed."""
    stop = _patches_of(bodies, placed, a, b, d, margin, scratch, out, count, last, last_corner)
    if stop != FULL:
        _weigh(out, count, stop)
    return stop


@inner
def _weigh(out, first, stop):
    """How much the faces of each patch of a pair look at each other: the square of the cosine between them over the largest
    of the pair, to the fourth power."""
    largest = 0.0
    for p in range(first, stop):
        out.edge[p] = 1.0 / (1.0 + out.gap[p, 1] ** 2 + out.gap[p, 2] ** 2)
        largest = max(largest, out.edge[p])
    for p in range(first, stop):
        out.edge[p] = (out.edge[p] / largest) ** 4


@inner
def direction(bodies, placed, a, b, margin, scratch):
    """Whether the pieces are within the margin, and the direction from a into b."""
    none = (0.0, 0.0, 0.0)
    va, va1, vb, vb1 = bodies.vertex_start[a], bodies.vertex_start[a + 1], bodies.vertex_start[b], bodies.vertex_start[b + 1]
    fa, fa1, fb, fb1 = bodies.piece_face[a], bodies.piece_face[a + 1], bodies.piece_face[b], bodies.piece_face[b + 1]
    best_a = face_separations(placed.normal, placed.offset, fa, fa1, placed.vertex, vb, vb1, margin, scratch.separation_a)
    if best_a > margin:
        return False, none
    best_b = face_separations(placed.normal, placed.offset, fb, fb1, placed.vertex, va, va1, margin, scratch.separation_b)
    if best_b > margin:
        return False, none
    size = min(placed.size[a], placed.size[b])
    if max(best_a, best_b) > -FLUSH * size:
        return True, _best_face(placed.normal, fa, fa1, fb, fb1, best_a, best_b, scratch)
    nearest = fb
    while scratch.separation_b[nearest - fb] < best_b:
        nearest += 1
    x, y, z = _surface_inside(
        bodies.face_start, bodies.face_vertex, fa, fa1, fb, fb1, nearest, placed.vertex, placed.normal, placed.offset,
        scratch.solid, scratch.solid_spare,
    )  # fmt: skip
    length = np.sqrt(x * x + y * y + z * z)
    if length > SMALLEST * size * size:
        return True, (x / length, y / length, z / length)
    count_a = edge_directions(bodies.face_start, bodies.face_vertex, fa, fa1, placed.vertex, scratch.edges_a)
    count_b = edge_directions(bodies.face_start, bodies.face_vertex, fb, fb1, placed.vertex, scratch.edges_b)
    gap, d = edge_axis(scratch.edges_a, count_a, scratch.edges_b, count_b, placed.vertex, va, va1, vb, vb1)
    if gap > max(best_a, best_b):
        return gap <= margin, d
    return True, _best_face(placed.normal, fa, fa1, fb, fb1, best_a, best_b, scratch)


@inner
def _best_face(normal, fa, fa1, fb, fb1, best_a, best_b, scratch):
    """The normal, from a into b, of the face that keeps the pieces farthest apart."""
    if best_a >= best_b:
        f = fa
        while scratch.separation_a[f - fa] < best_a:
            f += 1
        return normal[f, 0], normal[f, 1], normal[f, 2]
    f = fb
    while scratch.separation_b[f - fb] < best_b:
        f += 1
    return -normal[f, 0], -normal[f, 1], -normal[f, 2]


@inner
def _surface_inside(face_start, face_vertex, fa, fa1, fb, fb1, nearest, vertex, normal, offset, polygon, spare):
    """Sum over the surface of a (faces fa to fa1) inside b (faces fb to fb1) of its outward normal times area [m2]. Faces are
    cut by the face of b `nearest` to the surface of a first: most have nothing behind it."""
    x, y, z = 0.0, 0.0, 0.0
    for f in range(fa, fa1):
        count = 0
        for k in range(face_start[f], face_start[f + 1]):
            v = face_vertex[k]
            for axis in range(3):
                polygon[count, axis] = vertex[v, axis]
            count += 1
        count = _cut(polygon, count, normal[nearest], offset[nearest], spare)
        g = fb
        while count > 2 and g < fb1:
            if g != nearest:
                count = _cut(polygon, count, normal[g], offset[g], spare)
            g += 1
        for k in range(1, count - 1):
            p0, p1, p2 = polygon[k, 0] - polygon[0, 0], polygon[k, 1] - polygon[0, 1], polygon[k, 2] - polygon[0, 2]
            q0, q1, q2 = polygon[k + 1, 0] - polygon[0, 0], polygon[k + 1, 1] - polygon[0, 1], polygon[k + 1, 2] - polygon[0, 2]
            x += 0.5 * (p1 * q2 - p2 * q1)
            y += 0.5 * (p2 * q0 - p0 * q2)
            z += 0.5 * (p0 * q1 - p1 * q0)
    return x, y, z


@inner
def _cut(polygon, count, normal, offset, spare):
    """Keeps the part of a polygon in space behind a plane, in place."""
    lowest, highest = np.inf, -np.inf
    for k in range(count):
        height = along(polygon, k, normal) - offset
        lowest, highest = min(lowest, height), max(highest, height)
    if highest <= 0.0:
        return count
    if lowest >= 0.0:
        return 0
    kept = 0
    last = count - 1
    h0 = along(polygon, last, normal) - offset
    for k in range(count):
        h1 = along(polygon, k, normal) - offset
        if (h0 < 0.0) != (h1 < 0.0):
            x = h0 / (h0 - h1)
            for axis in range(3):
                spare[kept, axis] = polygon[last, axis] + x * (polygon[k, axis] - polygon[last, axis])
            kept += 1
        if h1 < 0.0:
            for axis in range(3):
                spare[kept, axis] = polygon[k, axis]
            kept += 1
        last, h0 = k, h1
    for k in range(kept):
        for axis in range(3):
            polygon[k, axis] = spare[k, axis]
    return kept


@inner
def _patches_of(bodies, placed, a, b, d, margin, scratch, out, count, last, last_corner):
    size = min(placed.size[a], placed.size[b])
    still = bodies.fixed[bodies.owner[a]]
    for f in range(bodies.piece_face[a], bodies.piece_face[a + 1]):
        if along(placed.normal, f, d) <= VISIBLE:
            continue
        for g in range(bodies.piece_face[b], bodies.piece_face[b + 1]):
            if -along(placed.normal, g, d) <= VISIBLE:
                continue
            u, w = _axes(bodies.face_start, bodies.face_vertex, placed.vertex, g if still else f, d)
            sides = _project_face(bodies.face_start, bodies.face_vertex, placed.vertex, f, u, w, False, scratch.face)
            n = _project_face(bodies.face_start, bodies.face_vertex, placed.vertex, g, u, w, True, scratch.polygon)
            n = clip(scratch.polygon, n, scratch.face, sides, SLACK * size, scratch.spare)
            if n < 3:
                continue
            h0, hs, ht = plane_over(placed.normal, placed.offset, f, d, u, w)
            k0, ks, kt = plane_over(placed.normal, placed.offset, g, d, u, w)
            g0, gs, gt = k0 - h0, ks - hs, kt - ht
            whole = _area(scratch.polygon, n)
            n = keep_below(scratch.polygon, n, g0 - margin, gs, gt, scratch.spare)
            if n < 3:
                continue
            n = simplify(scratch.polygon, n, STRAIGHT * size, scratch.spare)
            if n < 3 or _area(scratch.polygon, n) <= SMALLEST * size * size:
                continue
            first = out.corner_start[count]
            if count + 1 >= last or first + n > last_corner:
                return FULL
            s, t = centroid(scratch.polygon, n)
            for k in range(n):
                out.corner[first + k, 0], out.corner[first + k, 1] = scratch.polygon[k, 0] - s, scratch.polygon[k, 1] - t
            out.corner_start[count + 1] = first + n
            out.gap[count, 0], out.gap[count, 1], out.gap[count, 2] = g0 + gs * s + gt * t, gs, gt
            height = h0 + hs * s + ht * t + 0.5 * out.gap[count, 0]
            for axis in range(3):
                out.origin[count, axis] = s * u[axis] + t * w[axis] + height * d[axis]
                out.frame[count, axis], out.frame[count, 3 + axis], out.frame[count, 6 + axis] = d[axis], u[axis], w[axis]
            out.whole[count] = whole
            out.piece[count, 0], out.piece[count, 1] = a, b
            out.face[count, 0], out.face[count, 1] = f, g
            count += 1
    return count


@inner
def _project_face(face_start, face_vertex, vertex, f, u, w, reverse, out):
    """The corners of a face in the plane of u and w; those of b are reversed, to be counter-clockwise as well. Returns how
    many."""
    start, stop = face_start[f], face_start[f + 1]
    for k in range(start, stop):
        v = face_vertex[k]
        row = stop - 1 - k if reverse else k - start
        out[row, 0], out[row, 1] = along(vertex, v, u), along(vertex, v, w)
    return stop - start


@inner
def _axes(face_start, face_vertex, vertex, f, d):
    """Two unit vectors that make a right-handed frame (d, u, w); u is the first side of face f, made orthogonal to d: it turns
    with the block, so that what a patch remembers along its axes turns too (with b if a is a support)."""
    i, j = face_vertex[face_start[f]], face_vertex[face_start[f] + 1]
    x, y, z = vertex[j, 0] - vertex[i, 0], vertex[j, 1] - vertex[i, 1], vertex[j, 2] - vertex[i, 2]
    height = x * d[0] + y * d[1] + z * d[2]
    if height * height > 0.98 * (x * x + y * y + z * z):  # the side stands upright on the joint: the next one does not
        i = face_vertex[face_start[f] + 2]
        x, y, z = vertex[i, 0] - vertex[j, 0], vertex[i, 1] - vertex[j, 1], vertex[i, 2] - vertex[j, 2]
        height = x * d[0] + y * d[1] + z * d[2]
    x, y, z = x - height * d[0], y - height * d[1], z - height * d[2]
    scale = 1.0 / np.sqrt(x * x + y * y + z * z)
    u = (x * scale, y * scale, z * scale)
    return u, (d[1] * u[2] - d[2] * u[1], d[2] * u[0] - d[0] * u[2], d[0] * u[1] - d[1] * u[0])


@inner
def _area(polygon, n):
    area, u0, w0 = 0.0, polygon[0, 0], polygon[0, 1]
    for k in range(1, n - 1):
        area += 0.5 * ((polygon[k, 0] - u0) * (polygon[k + 1, 1] - w0) - (polygon[k + 1, 0] - u0) * (polygon[k, 1] - w0))
    return area

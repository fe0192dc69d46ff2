"""Narrow phase: candidate pairs of placed blocks come in, the points where they touch or may touch go out.

2.  One direction d a pair: `direction`.
3.1 Visible faces, n.d > 0.05 for a and n.(-d) > 0.05 for b, projected on the plane orthogonal to d.
3.2 Each visible face of a is clipped with each of b, corners within 1e-6 size of a side are inside: convex polygons,
    of width 2 area / perimeter. Narrower than tol = 2e-3 size: a ledge, dropped, but of a pair that touched in the last step.
3.3 Vertices within min(3e-3 of the smaller face's diameter, a tenth of the width) of the segment between those kept
    are dropped, so that points persist from step to step; a thin joint keeps its four corners.
4.1 Back along d on both face planes: antagonist points P_a, P_b; gap = (P_b - P_a).d; dropped above the margin.
4.2 Point = mid-point; one already there from another polygon, within the tolerance of 3.3, keeps the smaller gap.
    Polygons of faces that look at each other, (n_a.d)(-n_b.d) > 0.6, go first; oblique ones add points but leave the gaps of
    those: along an edge common to both, the slack of 3.2 lets a slip s pass for a gap of -s / (n.d) on a steep plane.
4.3 Area = its shares of the polygons of faces that look at each other, with their areas and centroids (T70), counted
    before 4.1 drops any; at least (0.02 size)^2, which is all that a point on an edge has.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from drystone.base.kernel import inner
from drystone.contact.direction import TOLERANCE, contact_direction
from drystone.contact.placed_blocks import Placed, pair_margin
from drystone.contact.polygon import area_and_perimeter, clip, share_out, simplify
from drystone.structure.model import Bodies

Array = np.ndarray

_VISIBLE = 0.05
_SLACK = 1e-6  # of the size: corners outside the other face by less are inside
_FACING = 0.6  # above this (n_a.d)(-n_b.d), two faces look at each other; not 0.5, which two chips of 45 degrees have
FULL = -1  # more points than there is room for


class Points(NamedTuple):
    """Contact points by pair, before they get their memory; also the output buffers of the kernel."""

    pair: Array  # (C,) int64 row of the candidate pairs, ascending
    point: Array  # (C, 3) [m] world
    normal: Array  # (C, 3) from a into b
    gap: Array  # (C,) [m]
    area: Array  # (C,) [m2]


class NarrowPhaseScratch(NamedTuple):
    """Working memory of one pair, large enough for the largest block."""

    separation_a: Array  # (F,) [m]
    separation_b: Array  # (F,)
    edges_a: Array  # (E, 3) unit
    edges_b: Array  # (E, 3)
    plane_a: Array  # (V, 2) [m] vertices of a in the plane orthogonal to d
    plane_b: Array  # (V, 2)
    face: Array  # (K, 2) corners of the projected face of a
    polygon: Array  # (4 K, 2) its intersection with a face of b; 2 K corners at most, the rest is for safety
    spare: Array  # (4 K, 2)


def touching_points(bodies: Bodies, placed: Placed, pairs: Array, touched: Array, expected: int) -> Points:
    """Contact points of all pairs; touched (Q,) bool are those that did so in the last step, `expected` is how many points were
    found then."""
    scratch = scratch_for(bodies)
    return with_room(len(pairs), expected, lambda points: _touch(bodies, placed, pairs, touched, scratch, points))


def with_room(pairs: int, expected: int, write: Callable[[Points], int]) -> Points:
    """What `write` writes, with as much room as it needs; it returns how many points there are, or FULL."""
    capacity = max(8 * pairs, 2 * expected) + 64
    while True:
        points = Points(
            pair=np.empty(capacity, np.int64),
            point=np.empty((capacity, 3)),
            normal=np.empty((capacity, 3)),
            gap=np.empty(capacity),
            area=np.empty(capacity),
        )
        count = write(points)
        if count != FULL:
            return Points(*(field[:count] for field in points))
        capacity *= 2


def scratch_for(bodies: Bodies) -> NarrowPhaseScratch:
    """Working memory for any pair of these blocks."""
    faces = int(np.diff(bodies.piece_face).max(initial=0))
    vertices = int(np.diff(bodies.vertex_start).max(initial=0))
    corners = int(np.diff(bodies.face_start).max(initial=0))
    return NarrowPhaseScratch(
        separation_a=np.empty(faces),
        separation_b=np.empty(faces),
        edges_a=np.empty((vertices + faces, 3)),  # Euler: edges = vertices + faces - 2
        edges_b=np.empty((vertices + faces, 3)),
        plane_a=np.empty((vertices, 2)),
        plane_b=np.empty((vertices, 2)),
        face=np.empty((corners, 2)),
        polygon=np.empty((4 * corners, 2)),
        spare=np.empty((4 * corners, 2)),
    )


@inner
def _touch(bodies, placed, pairs, touched, scratch, out):
    """Number of points written, or FULL if `out` is too short."""
    count = 0
    for q in range(pairs.shape[0]):
        a, b = pairs[q, 0], pairs[q, 1]
        margin = pair_margin(bodies.owner[a], bodies.owner[b], bodies.radius, placed.sweep)
        found, d = contact_direction(
            bodies, placed, a, b, margin, touched[q], scratch.separation_a, scratch.separation_b, scratch.edges_a,
            scratch.edges_b,
        )  # fmt: skip
        if not found:
            continue
        before = count
        ledge = (2 * _SLACK if touched[q] else TOLERANCE) * min(placed.size[a], placed.size[b])
        count = joint_points(bodies, placed, a, b, d, margin, ledge, -np.inf, scratch, out, count)
        if count == FULL:
            return FULL
        for c in range(before, count):
            out.pair[c] = q
            out.normal[c, 0], out.normal[c, 1], out.normal[c, 2] = d
    return count


@inner
def joint_points(bodies, placed, a, b, d, margin, ledge, least, scratch, out, count):
    """Steps 3 and 4 for one pair. ledge [m]: narrower polygons are dropped; least [m]: no gap is less, as is known beforehand.
    Returns the number of points after it, or FULL."""
    vertex, normal, offset = placed.vertex, placed.normal, placed.offset
    polygon, face_start, face_vertex = scratch.polygon, bodies.face_start, bodies.face_vertex
    size = min(placed.size[a], placed.size[b])
    u, w = plane_axes(d)
    va, vb = bodies.vertex_start[a], bodies.vertex_start[b]
    project_vertices(vertex, va, bodies.vertex_start[a + 1], u, w, scratch.plane_a)
    project_vertices(vertex, vb, bodies.vertex_start[b + 1], u, w, scratch.plane_b)
    first = count
    nearest = np.inf  # smallest tolerance of the pair's polygons: points of a thin one are not taken for duplicates
    for oblique in (False, True):
        settled = count  # 4.2: rows first:settled keep their gaps
        for f in range(bodies.piece_face[a], bodies.piece_face[a + 1]):
            look_a = along(normal, f, d)
            if look_a <= _VISIBLE:
                continue
            sides = corners_of(face_start, face_vertex, f, va, scratch.plane_a, scratch.face)
            for g in range(bodies.piece_face[b], bodies.piece_face[b + 1]):
                look_b = -along(normal, g, d)
                if look_b <= _VISIBLE or (look_a * look_b <= _FACING) != oblique:
                    continue
                corners = corners_reversed(face_start, face_vertex, g, vb, scratch.plane_b, polygon)
                corners = clip(polygon, corners, scratch.face, sides, _SLACK * size, scratch.spare)
                if corners < 3:
                    continue
                area, perimeter = area_and_perimeter(polygon, corners)
                width = 2 * area / perimeter
                if not width >= ledge:
                    continue
                diameter = min(_diameter(face_start, face_vertex, f, vertex), _diameter(face_start, face_vertex, g, vertex))
                tolerance = max(min(3e-3 * diameter, 0.1 * width), 2 * _SLACK * size)
                nearest = min(nearest, tolerance)
                corners = simplify(polygon, corners, tolerance, scratch.spare)
                if count + corners > out.gap.shape[0]:
                    return FULL
                share_out(polygon, corners, 0.0 if oblique else area, scratch.spare)
                plane_a = plane_over(normal, offset, f, d, u, w)
                plane_b = plane_over(normal, offset, g, d, u, w)
                count = _add_points(
                    plane_a, plane_b, d, u, w, polygon, corners, scratch.spare, margin, least, nearest, out, first, settled,
                    count,
                )  # fmt: skip
    for c in range(first, count):
        out.area[c] = max(out.area[c], (0.02 * size) ** 2)
    return count


@inner
def plane_axes(d):
    """Two unit vectors that make a right-handed frame (u, w, d)."""
    x, y, z = d
    if abs(x) < 0.6:
        scale = 1 / np.sqrt(y * y + z * z)
        u = (0.0, z * scale, -y * scale)
    else:
        scale = 1 / np.sqrt(x * x + z * z)
        u = (-z * scale, 0.0, x * scale)
    w = (y * u[2] - z * u[1], z * u[0] - x * u[2], x * u[1] - y * u[0])
    return u, w


@inner
def along(vector, row, d):
    return vector[row, 0] * d[0] + vector[row, 1] * d[1] + vector[row, 2] * d[2]


@inner
def project_vertices(vertex, vertex0, vertex1, u, w, plane):
    for v in range(vertex0, vertex1):
        plane[v - vertex0, 0] = along(vertex, v, u)
        plane[v - vertex0, 1] = along(vertex, v, w)


@inner
def corners_of(face_start, face_vertex, f, vertex0, plane, polygon):
    """Projected corners of a face of a, which looks along d: counter-clockwise already."""
    start, stop = face_start[f], face_start[f + 1]
    for k in range(start, stop):
        v = face_vertex[k] - vertex0
        polygon[k - start, 0], polygon[k - start, 1] = plane[v, 0], plane[v, 1]
    return stop - start


@inner
def corners_reversed(face_start, face_vertex, f, vertex0, plane, polygon):
    """Projected corners of a face of b, which looks against d: reversed to be counter-clockwise."""
    start, stop = face_start[f], face_start[f + 1]
    for k in range(start, stop):
        v = face_vertex[k] - vertex0
        polygon[stop - 1 - k, 0], polygon[stop - 1 - k, 1] = plane[v, 0], plane[v, 1]
    return stop - start


@inner
def _diameter(face_start, face_vertex, f, vertex):
    """Longest distance between two corners of the face [m]."""
    longest2 = 0.0
    for k in range(face_start[f], face_start[f + 1]):
        i = face_vertex[k]
        for m in range(face_start[f], k):
            j = face_vertex[m]
            x, y, z = vertex[i, 0] - vertex[j, 0], vertex[i, 1] - vertex[j, 1], vertex[i, 2] - vertex[j, 2]
            longest2 = max(longest2, x * x + y * y + z * z)
    return np.sqrt(longest2)


@inner
def plane_over(normal, offset, f, d, u, w):
    """The plane of face f as height along d over the projection plane: (h0, hs, ht) with height = h0 + hs s + ht t."""
    slope = 1 / along(normal, f, d)
    return offset[f] * slope, -along(normal, f, u) * slope, -along(normal, f, w) * slope


@inner
def _add_points(plane_a, plane_b, d, u, w, polygon, corners, share, margin, least, nearest, out, first, settled, count):
    """Step 4 for one polygon; earlier polygons of the pair have written rows first:count, first:settled keep their gaps.
    share[:, 0] [m2] are the areas of its corners."""
    earlier = count
    for k in range(corners):
        s, t = polygon[k, 0], polygon[k, 1]
        height_a = plane_a[0] + plane_a[1] * s + plane_a[2] * t
        height_b = plane_b[0] + plane_b[1] * s + plane_b[2] * t
        gap = max(height_b - height_a, least)
        if gap > margin:
            continue
        c = _row_at(out.point, first, earlier, u, w, s, t, nearest)
        if c < 0:
            c = count
            count += 1
            out.gap[c], out.area[c] = np.inf, 0.0
        out.area[c] += share[k, 0]
        if c >= settled and gap < out.gap[c]:
            out.gap[c] = gap
            middle = 0.5 * (height_a + height_b)
            for axis in range(3):
                out.point[c, axis] = s * u[axis] + t * w[axis] + middle * d[axis]
    return count


@inner
def _row_at(point, first, stop, u, w, s, t, nearest):
    """Row of the earlier point over (s, t), or -1."""
    for c in range(first, stop):
        if (along(point, c, u) - s) ** 2 + (along(point, c, w) - t) ** 2 < nearest * nearest:
            return c
    return -1

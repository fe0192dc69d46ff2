"""Contact by nearest points of sphere-swept blocks (BRT sections 2.2 and 2.5), the other way beside `direction` and `narrow`:
candidate pairs of placed shrunken copies come in, the points where the blocks touch or may touch go out.

1. The nearest points of the two copies, `nearest`: their distance delta and the direction d from one to the other.
2. If a face separates the copies as far as delta, it is what really touches, and d its normal to the last bit (T452).
   If the copies overlap, d is the axis along which they overlap least, and delta < 0 (T453).
3. Points as in `narrow`, on the faces of the copies seen along d; no gap is less than delta, as the copies are that far apart.
   What rounding leaves of a joint without width, a common line or corner, is taken from the nearest features themselves.
4. Each copy has a skin of its corner radius: gaps are less by both. Within the contact distance, points count (BRT's eps_e).
"""

import numpy as np

from drystone.base.kernel import inner
from drystone.contact.direction import edge_axis, edge_directions, face_separations
from drystone.contact.narrow_phase import FULL, Points, along, joint_points, plane_axes, scratch_for, with_room
from drystone.contact.nearest_points import nearest_points, simplex
from drystone.contact.placed_blocks import NEAR, Placed, pair_margin
from drystone.structure.model import Bodies, NearestPoints

Array = np.ndarray

APART = 1e-9  # of the longest side of the two: copies that are nearer than this count as overlapping
FACE = 1e-12  # of the size: a face that separates by no less than this under the distance is what touches
FLAT = 1e-9  # of the size: vertices that far from the supporting plane lie in it
LINE = 1e-6  # of the size: what two edges share must be longer, and they are parallel and above each other within it


def swept_points(nearest: NearestPoints, placed: Placed, pairs: Array, expected: int) -> Points:
    """Contact points of all pairs; `placed` are the copies, `expected` is how many points were found last time."""
    scratch, work, ends = scratch_for(nearest.copies), simplex(), np.empty((2, 3))
    rows = np.empty((2, int(np.diff(nearest.copies.vertex_start).max(initial=0))), np.int64)
    return with_room(len(pairs), expected, lambda points: _touch(nearest, placed, pairs, scratch, work, rows, ends, points))


def reaching_out(bodies: Bodies, placed: Placed, nearest: NearestPoints) -> Placed:
    """The copies with reaches and sweeps that cover their skins and the contact distance, for the broad phase."""
    skin = np.zeros(len(bodies.radius))
    np.maximum.at(skin, bodies.owner, nearest.radius)
    more = skin + max(nearest.distance, 0.0) / 2
    sweep = placed.sweep.copy()
    sweep[:, 3] += more
    return placed._replace(sweep=sweep, reach=placed.reach + more)


@inner
def _touch(nearest, placed, pairs, scratch, work, rows, ends, out):
    """Number of points written, or FULL if `out` is too short."""
    bodies, count = nearest.copies, 0
    for q in range(pairs.shape[0]):
        a, b = pairs[q, 0], pairs[q, 1]
        skin = nearest.radius[a] + nearest.radius[b]
        margin = skin + _margin(bodies.owner[a], bodies.owner[b], bodies.radius, placed.sweep, nearest.distance)
        delta, d = _direction(bodies, placed, a, b, margin, scratch, work)
        if delta > margin:
            continue
        first = count
        count = joint_points(bodies, placed, a, b, d, margin, -np.inf, delta, scratch, out, count)
        if count == FULL:
            return FULL
        size = min(placed.size[a], placed.size[b])
        if not _has_gap(out.gap, first, count, delta + 1e-6 * size):
            if count + 2 > out.gap.shape[0]:
                return FULL
            count = _add_features(bodies, placed.vertex, a, b, d, delta, size, work, rows, ends, out, count)
        shift = 0.5 * (nearest.radius[a] - nearest.radius[b])
        for c in range(first, count):
            out.pair[c] = q
            out.gap[c] -= skin
            for k in range(3):
                out.normal[c, k] = d[k]
                out.point[c, k] += shift * d[k]
    return count


@inner
def _margin(a, b, radius, sweep, distance):
    """Gap beyond which a point is no contact [m]: as by separating axes, with the contact distance if one is given."""
    margin = pair_margin(a, b, radius, sweep)
    return margin if distance < 0.0 else margin - NEAR * min(radius[a], radius[b]) + distance


@inner
def _direction(bodies, placed, a, b, margin, scratch, work):
    """Distance [m] of the copies, below 0 if they overlap, and the direction from a to b; none if it is beyond the margin."""
    vertex, normal, offset = placed.vertex, placed.normal, placed.offset
    va, va1, vb, vb1 = bodies.vertex_start[a], bodies.vertex_start[a + 1], bodies.vertex_start[b], bodies.vertex_start[b + 1]
    fa, fa1, fb, fb1 = bodies.piece_face[a], bodies.piece_face[a + 1], bodies.piece_face[b], bodies.piece_face[b + 1]
    best_a = face_separations(normal, offset, fa, fa1, vertex, vb, vb1, margin, scratch.separation_a)
    if best_a > margin:
        return best_a, (0.0, 0.0, 0.0)
    best_b = face_separations(normal, offset, fb, fb1, vertex, va, va1, margin, scratch.separation_b)
    if best_b > margin:
        return best_b, (0.0, 0.0, 0.0)
    best, size, span = max(best_a, best_b), min(placed.size[a], placed.size[b]), _span(placed.low, placed.high, a, b)
    distance = nearest_points(vertex, va, va1, vb, vb1, span, work)
    if distance > APART * span and best < distance - FACE * size:
        return distance, (work.apart[0] / distance, work.apart[1] / distance, work.apart[2] / distance)
    if distance <= APART * span:
        count_a = edge_directions(bodies.face_start, bodies.face_vertex, fa, fa1, vertex, scratch.edges_a)
        count_b = edge_directions(bodies.face_start, bodies.face_vertex, fb, fb1, vertex, scratch.edges_b)
        gap, axis = edge_axis(scratch.edges_a, count_a, scratch.edges_b, count_b, vertex, va, va1, vb, vb1)
        if gap > best + FACE * size:
            return gap, axis
    if best_a >= best_b - FACE * size:
        return best_a, _face_normal(normal, fa, scratch.separation_a, best_a - FACE * size, 1.0)
    return best_b, _face_normal(normal, fb, scratch.separation_b, best_b - FACE * size, -1.0)


@inner
def _span(low, high, a, b):
    """The longest side of the boxes about two pieces [m]."""
    longest = 0.0
    for k in range(3):
        longest = max(longest, high[a, k] - low[a, k], high[b, k] - low[b, k])
    return longest


@inner
def _face_normal(normal, face0, separation, least, sign):
    """Normal from a to b of the first face that separates by `least`: equal faces must not change place by rounding."""
    k = 0
    while separation[k] < least:
        k += 1
    return sign * normal[face0 + k, 0], sign * normal[face0 + k, 1], sign * normal[face0 + k, 2]


@inner
def _has_gap(gap, first, stop, largest):
    for c in range(first, stop):  # noqa: SIM110
        if gap[c] <= largest:
            return True
    return False


@inner
def _add_features(bodies, vertex, a, b, d, delta, size, work, rows, ends, out, row):
    """Writes the ends of the line that two parallel edges share, or the nearest points; returns the row after."""
    points = 2
    if not _common_line(bodies, vertex, a, b, d, size, rows, ends):
        points = 1
        for k in range(3):
            ends[0, k] = 0.5 * (work.point_a[k] + work.point_b[k])
    for i in range(points):
        for k in range(3):
            out.point[row, k] = ends[i, k]
        out.gap[row], out.area[row] = delta, (0.02 * size) ** 2
        row += 1
    return row


@inner
def _common_line(bodies, vertex, a, b, d, size, rows, ends):
    """Writes the ends of the longest line that edges of the nearest features of a and b share as seen along d, halfway between
    the two; whether there is one."""
    near_a = _in_supporting_plane(bodies, vertex, a, d, 1.0, size, rows[0])
    near_b = _in_supporting_plane(bodies, vertex, b, d, -1.0, size, rows[1])
    u, w = plane_axes(d)
    longest = LINE * size
    for i in range(near_a):
        for j in range(i + 1, near_a):
            for k in range(near_b):
                for m in range(k + 1, near_b):
                    length = _overlap(vertex, rows[0, i], rows[0, j], rows[1, k], rows[1, m], u, w, LINE * size, longest, ends)
                    longest = max(longest, length)
    return longest > LINE * size


@inner
def _overlap(vertex, a0, a1, b0, b1, u, w, thin, longest, ends):
    """Length of what the lines of two vertices each have in common, seen along the third axis of u, w; 0 if they are farther
    than `thin` apart. Writes its ends if it is longer than `longest`."""
    s0, t0 = along(vertex, a0, u), along(vertex, a0, w)
    es, et = along(vertex, a1, u) - s0, along(vertex, a1, w) - t0
    length = np.sqrt(es * es + et * et)
    if not length > thin:
        return 0.0
    es, et = es / length, et / length
    r0s, r0t = along(vertex, b0, u) - s0, along(vertex, b0, w) - t0
    r1s, r1t = along(vertex, b1, u) - s0, along(vertex, b1, w) - t0
    if abs(es * r0t - et * r0s) > thin or abs(es * r1t - et * r1s) > thin:
        return 0.0
    x0, x1 = es * r0s + et * r0t, es * r1s + et * r1t
    low, high = max(0.0, min(x0, x1)), min(length, max(x0, x1))
    if high - low > longest:
        for k in range(3):
            along_a, along_b = (vertex[a1, k] - vertex[a0, k]) / length, (vertex[b1, k] - vertex[b0, k]) / (x1 - x0)
            for i in range(2):
                x = low if i == 0 else high
                ends[i, k] = 0.5 * (vertex[a0, k] + x * along_a + vertex[b0, k] + (x - x0) * along_b)
    return high - low


@inner
def _in_supporting_plane(bodies, vertex, p, d, sign, size, rows):
    """Writes the vertices of piece p that are farthest along sign d; returns how many there are."""
    best, count = -np.inf, 0
    for v in range(bodies.vertex_start[p], bodies.vertex_start[p + 1]):
        best = max(best, sign * along(vertex, v, d))
    for v in range(bodies.vertex_start[p], bodies.vertex_start[p + 1]):
        if sign * along(vertex, v, d) >= best - FLAT * size:
            rows[count] = v
            count += 1
    return count

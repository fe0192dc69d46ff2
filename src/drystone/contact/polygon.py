"""Convex polygons of the plane as rows (u, w) of a scratch array, counter-clockwise: clip, measure, simplify,
share out."""

import numpy as np

from drystone.base.kernel import inner


@inner
def clip(polygon, count, clipper, sides, slack, spare):
    """Intersection by Sutherland and Hodgman, in place; needs count + sides rows in `polygon` and `spare`.

    A corner outside by less than the slack [m] counts as inside: two sides that coincide up to rounding would
    otherwise cross anywhere along their length, and leave a corner there.
    """
    pu, pw = clipper[sides - 1, 0], clipper[sides - 1, 1]
    for side in range(sides):
        qu, qw = clipper[side, 0], clipper[side, 1]
        count = _clip_side(polygon, count, pu, pw, qu - pu, qw - pw, slack, spare)
        if count < 3:
            return 0
        pu, pw = qu, qw
    return count


@inner
def _clip_side(polygon, count, pu, pw, eu, ew, slack, spare):
    """Keeps what lies left of the line through p along e."""
    outside = -slack * np.sqrt(eu * eu + ew * ew)
    kept = 0
    u0, w0 = polygon[count - 1, 0], polygon[count - 1, 1]
    left0 = eu * (w0 - pw) - ew * (u0 - pu)
    for k in range(count):
        u1, w1 = polygon[k, 0], polygon[k, 1]
        left1 = eu * (w1 - pw) - ew * (u1 - pu)
        if (left0 < outside and left1 > 0) or (left0 > 0 and left1 < outside):
            t = left0 / (left0 - left1)
            spare[kept, 0], spare[kept, 1] = u0 + t * (u1 - u0), w0 + t * (w1 - w0)
            kept += 1
        if left1 >= outside:
            spare[kept, 0], spare[kept, 1] = u1, w1
            kept += 1
        u0, w0, left0 = u1, w1, left1
    for k in range(kept):
        polygon[k, 0], polygon[k, 1] = spare[k, 0], spare[k, 1]
    return kept


@inner
def area_and_perimeter(polygon, count):
    """Area [m2] and perimeter [m]; 2 area / perimeter is the width of a slender polygon."""
    area, perimeter = 0.0, 0.0
    u, w = polygon[0, 0], polygon[0, 1]
    for k in range(count):
        nxt = k + 1 if k + 1 < count else 0
        u0, w0 = polygon[k, 0] - u, polygon[k, 1] - w
        u1, w1 = polygon[nxt, 0] - u, polygon[nxt, 1] - w
        area += 0.5 * (u0 * w1 - u1 * w0)
        perimeter += np.sqrt((u1 - u0) ** 2 + (w1 - w0) ** 2)
    return area, perimeter


@inner
def simplify(polygon, count, tolerance, spare):
    """Fewer vertices, in place: from one kept vertex on to the farthest such that all those between are within the
    tolerance of the segment. The first kept is the first that stands out itself.

    Walking on, instead of dropping the nearest first: which vertex goes then depends on no comparison of nearly equal
    numbers, and the same points stay from step to step. Looking at all those between: a round face keeps its shape,
    where dropping one vertex after the other wears it away.
    """
    limit = tolerance * tolerance
    first = 0
    while first < count and _stray2(polygon, count, first - 1 if first > 0 else count - 1, first + 1) < limit:
        first += 1
    for k in range(count):
        row = first + k if first + k < count else first + k - count
        spare[k, 0], spare[k, 1] = polygon[row, 0], polygon[row, 1]
    kept, last = 1, 0
    for k in range(2, count + 1):
        if _stray2(spare, count, last, k) >= limit:
            last = k - 1
            polygon[kept, 0], polygon[kept, 1] = spare[last, 0], spare[last, 1]
            kept += 1
    polygon[0, 0], polygon[0, 1] = spare[0, 0], spare[0, 1]
    return kept


@inner
def share_out(polygon, count, area, out):
    """The area [m2] as shares of the corners, in out[:, 0], with the centroid of the polygon (T70): a third of each triangle on
    the mean of the corners goes to each of its three, that of the mean to all alike."""
    u, w = 0.0, 0.0
    for k in range(count):
        u += polygon[k, 0] / count
        w += polygon[k, 1] / count
        out[k, 0] = 0.0
    total = 0.0
    for k in range(count):
        nxt = k + 1 if k + 1 < count else 0
        triangle = (polygon[k, 0] - u) * (polygon[nxt, 1] - w) - (polygon[nxt, 0] - u) * (polygon[k, 1] - w)
        out[k, 0] += triangle
        out[nxt, 0] += triangle
        total += triangle
    for k in range(count):
        share = out[k, 0] / total if total > 0 else 1 / count  # nearest features may meet along a line
        out[k, 0] = area / 3 * (share + 1 / count)


@inner
def keep_below(polygon, n, g0, gs, gt, spare):
    """Keeps the part of a polygon where g0 + gs s + gt t is negative, in place."""
    kept = 0
    s, t = polygon[n - 1, 0], polygon[n - 1, 1]
    y = g0 + gs * s + gt * t
    for k in range(n):
        s1, t1 = polygon[k, 0], polygon[k, 1]
        y1 = g0 + gs * s1 + gt * t1
        if (y < 0.0) != (y1 < 0.0):
            x = y / (y - y1)
            spare[kept, 0], spare[kept, 1] = s + x * (s1 - s), t + x * (t1 - t)
            kept += 1
        if y1 < 0.0:
            spare[kept, 0], spare[kept, 1] = s1, t1
            kept += 1
        s, t, y = s1, t1, y1
    for k in range(kept):
        polygon[k, 0], polygon[k, 1] = spare[k, 0], spare[k, 1]
    return kept


@inner
def centroid(polygon, n):
    u0, w0 = polygon[0, 0], polygon[0, 1]
    total, s, t = 0.0, 0.0, 0.0
    for k in range(1, n - 1):
        u1, w1, u2, w2 = polygon[k, 0] - u0, polygon[k, 1] - w0, polygon[k + 1, 0] - u0, polygon[k + 1, 1] - w0
        area = u1 * w2 - u2 * w1
        total += area
        s += area * (u1 + u2) / 3.0
        t += area * (w1 + w2) / 3.0
    return u0 + s / total, w0 + t / total


@inner
def polygon_moments(corner, first, stop, out):
    """Area [m2], second moments about the origin ss, st, tt [m4], distance of the farthest corner [m]."""
    area = ss = st = tt = far = 0.0
    x0, y0 = corner[stop - 1, 0], corner[stop - 1, 1]
    for k in range(first, stop):
        x1, y1 = corner[k, 0], corner[k, 1]
        cross = x0 * y1 - x1 * y0
        area += 0.5 * cross
        ss += cross * (x0 * x0 + x0 * x1 + x1 * x1) / 12.0
        st += cross * (x0 * y1 + 2.0 * x0 * y0 + 2.0 * x1 * y1 + x1 * y0) / 24.0
        tt += cross * (y0 * y0 + y0 * y1 + y1 * y1) / 12.0
        far = max(far, x1 * x1 + y1 * y1)
        x0, y0 = x1, y1
    out[0], out[1], out[2], out[3], out[4] = area, ss, st, tt, np.sqrt(far)


@inner
def _stray2(polygon, count, start, stop):
    """Largest squared distance of the vertices after `start` and before `stop` from the segment between these two.
    `stop` may be `count`, which is vertex 0 again, and `start` the last vertex, before vertex 0."""
    end = stop if stop < count else 0
    stray2 = 0.0
    for k in range(start + 1 if start < stop else 0, stop):
        stray2 = max(stray2, _distance2_to_segment(polygon, k, start, end))
    return stray2


@inner
def _distance2_to_segment(polygon, k, p, q):
    eu, ew = polygon[q, 0] - polygon[p, 0], polygon[q, 1] - polygon[p, 1]
    u, w = polygon[k, 0] - polygon[p, 0], polygon[k, 1] - polygon[p, 1]
    length2 = eu * eu + ew * ew
    t = min(max((u * eu + w * ew) / length2, 0.0), 1.0) if length2 > 0 else 0.0
    return (u - t * eu) ** 2 + (w - t * ew) ** 2

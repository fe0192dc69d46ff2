"""The distribution of pressure over the area of a joint, as points that bear shares of its normal force (T410).

The pressure is linear where the joint is compressed and zero elsewhere, as in small steps (T310): uniform if the normal force
acts in the middle, and a line of pressure along an edge if it acts there. With u measured from the centre c of the force

    p ~ max(0, 1 + b . u),    b such that  integral of p u dA = 0,

which is the minimum of a convex function of b, found by Newton's method. Friction is integrated over points of that pressure.
"""

import numpy as np

from drystone.base.kernel import inner, kernel

Array = np.ndarray

EDGE_TOLERANCE = 1e-6  # of the size of a joint: a centre of pressure that is closer to a side counts as being on it
FLAT_AREA = 1e-9  # of the square of the size: a polygon with a smaller area is a line
MAX_NEWTON_STEPS = 80
NEWTON_TOLERANCE = 1e-12  # distance from the required centre, over the size
# positions and weights of the Gauss rule for the weight function 2 r
RADIAL_GAUSS_POINTS = ((0.3550510257216822, 0.3639172365120873), (0.8449489742783178, 0.6360827634879127))
SIDE_GAUSS_POINTS = (0.2113248654051871, 0.7886751345948129)  # two Gauss points of a side


@kernel
def order_hulls(start, corner):
    """Sort the corners (C, 2) of each joint, from row start[j] onwards, in the order of their convex hull, counter-clockwise;
    returns the number of corners of each hull (J,)."""
    count = np.zeros(start.shape[0] - 1, np.int64)
    most = 0
    for j in range(count.shape[0]):
        most = max(most, start[j + 1] - start[j])
    rows, chain = np.empty((most, 2)), np.empty((2 * most, 2))
    for j in range(count.shape[0]):
        n = start[j + 1] - start[j]
        for i in range(n):
            rows[i, 0], rows[i, 1] = corner[start[j] + i, 0], corner[start[j] + i, 1]
        count[j] = _hull(rows, n, chain, corner, start[j])
    return count


@inner
def _hull(rows, n, chain, out, first):
    """The convex hull by Andrew's monotone chain."""
    for i in range(1, n):  # few corners: insertion sort by s, then t
        s, t = rows[i, 0], rows[i, 1]
        k = i - 1
        while k >= 0 and (rows[k, 0] > s or (rows[k, 0] == s and rows[k, 1] > t)):
            rows[k + 1, 0], rows[k + 1, 1] = rows[k, 0], rows[k, 1]
            k -= 1
        rows[k + 1, 0], rows[k + 1, 1] = s, t
    if n < 3:
        for i in range(n):
            out[first + i, 0], out[first + i, 1] = rows[i, 0], rows[i, 1]
        return n
    kept = 0
    for way in range(2):
        low = kept
        for i in range(n):
            r = i if way == 0 else n - 1 - i
            while kept >= low + 2 and _left(chain, kept, rows, r) <= 0.0:
                kept -= 1
            chain[kept, 0], chain[kept, 1] = rows[r, 0], rows[r, 1]
            kept += 1
        kept -= 1
    kept = max(kept, 1)
    for i in range(min(kept, n)):
        out[first + i, 0], out[first + i, 1] = chain[i, 0], chain[i, 1]
    return min(kept, n)


@inner
def _left(chain, kept, rows, r):
    ax, ay = chain[kept - 2, 0], chain[kept - 2, 1]
    bx, by = chain[kept - 1, 0], chain[kept - 1, 1]
    return (bx - ax) * (rows[r, 1] - ay) - (by - ay) * (rows[r, 0] - ax)


@kernel
def spread_pressure(start, count, corner, size, centre):
    """Returns where the points of each joint begin (J + 1,), the points (K, 2) [m] in the frame of the corners, and the share
    (K,) of the normal force of its joint that each point bears."""
    joints = count.shape[0]
    begin = np.zeros(joints + 1, np.int64)
    for j in range(joints):
        begin[j + 1] = begin[j] + 8 * (count[j] + 2)
    point, share = np.zeros((begin[joints], 2)), np.zeros(begin[joints])
    most = 0
    for j in range(joints):
        most = max(most, count[j])
    polygon, spare = np.empty((most + 4, 2)), np.empty((most + 4, 2))
    used = 0
    for j in range(joints):
        first = begin[j] if j == 0 else used
        begin[j] = first
        used = _spread_one(corner, start[j], count[j], size[j], centre[j, 0], centre[j, 1], polygon, spare, point, share, first)
    begin[joints] = used
    return begin, point[:used].copy(), share[:used].copy()


@inner
def _spread_one(corner, first, n, size, cs, ct, polygon, spare, point, share, row):
    """Write the points of one joint from `row` onwards; returns the next row."""
    area = 0.0
    for k in range(n):
        m = first + (k + 1 if k + 1 < n else 0)
        polygon[k, 0], polygon[k, 1] = corner[first + k, 0] / size, corner[first + k, 1] / size
        area += 0.5 * (corner[first + k, 0] * corner[m, 1] - corner[m, 0] * corner[first + k, 1])
    if n < 3 or area < FLAT_AREA * size * size:
        return _on_a_line(polygon, n, size, cs / size, ct / size, point, share, row)
    s, t = _inside(polygon, n, cs / size, ct / size)
    for k in range(n):
        polygon[k, 0] -= s
        polygon[k, 1] -= t
    b0, b1 = _slope(polygon, n, spare)
    kept = _pressed(polygon, n, b0, b1, spare)
    total, begin = 0.0, row
    for k in range(kept):
        m = k + 1 if k + 1 < kept else 0
        row = _side(spare[k, 0], spare[k, 1], spare[m, 0], spare[m, 1], b0, b1, point, share, row)
    for k in range(begin, row):
        total += share[k]
    for k in range(begin, row):
        share[k] /= total
        point[k, 0], point[k, 1] = size * (point[k, 0] + s), size * (point[k, 1] + t)
    return row


@inner
def _inside(polygon, n, s, t):
    """The centre, moved towards the centroid until its distance to every side is at least EDGE_TOLERANCE."""
    area, ms, mt = 0.0, 0.0, 0.0
    for k in range(n):
        m = k + 1 if k + 1 < n else 0
        cross = polygon[k, 0] * polygon[m, 1] - polygon[m, 0] * polygon[k, 1]
        area += 0.5 * cross
        ms += cross * (polygon[k, 0] + polygon[m, 0]) / 6.0
        mt += cross * (polygon[k, 1] + polygon[m, 1]) / 6.0
    ms, mt = ms / area, mt / area
    way = 0.0
    for k in range(n):
        m = k + 1 if k + 1 < n else 0
        es, et = polygon[m, 0] - polygon[k, 0], polygon[m, 1] - polygon[k, 1]
        length = np.sqrt(es * es + et * et)
        if length == 0.0:
            continue
        here = (es * (t - polygon[k, 1]) - et * (s - polygon[k, 0])) / length
        middle = (es * (mt - polygon[k, 1]) - et * (ms - polygon[k, 0])) / length
        if here < EDGE_TOLERANCE < middle:
            way = max(way, (EDGE_TOLERANCE - here) / (middle - here))
    return s + way * (ms - s), t + way * (mt - t)


@inner
def _pressed(polygon, n, b0, b1, out):
    """The part of the polygon with 1 + b . u > 0; returns its number of corners."""
    kept = 0
    s0, t0 = polygon[n - 1, 0], polygon[n - 1, 1]
    y0 = 1.0 + b0 * s0 + b1 * t0
    for k in range(n):
        s1, t1 = polygon[k, 0], polygon[k, 1]
        y1 = 1.0 + b0 * s1 + b1 * t1
        if (y0 > 0.0) != (y1 > 0.0):
            x = y0 / (y0 - y1)
            out[kept, 0], out[kept, 1] = s0 + x * (s1 - s0), t0 + x * (t1 - t0)
            kept += 1
        if y1 > 0.0:
            out[kept, 0], out[kept, 1] = s1, t1
            kept += 1
        s0, t0, y0 = s1, t1, y1
    return kept


@inner
def _moments(polygon, n, b0, b1, spare):
    """Half the integral of the square of the pressure, its gradient and its second derivatives with respect to b. The
    quadrature rule of the midpoints of the sides of triangles is exact for them."""
    kept = _pressed(polygon, n, b0, b1, spare)
    value, g0, g1, h00, h01, h11 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(kept):
        m = k + 1 if k + 1 < kept else 0
        ps, pt, qs, qt = spare[k, 0], spare[k, 1], spare[m, 0], spare[m, 1]
        weight = (ps * qt - qs * pt) / 6.0
        for side in range(3):
            us = 0.5 * ps if side == 0 else (0.5 * qs if side == 1 else 0.5 * (ps + qs))
            ut = 0.5 * pt if side == 0 else (0.5 * qt if side == 1 else 0.5 * (pt + qt))
            y = 1.0 + b0 * us + b1 * ut
            value += 0.5 * weight * y * y
            g0 += weight * y * us
            g1 += weight * y * ut
            h00 += weight * us * us
            h01 += weight * us * ut
            h11 += weight * ut * ut
    return value, g0, g1, h00, h01, h11


@inner
def _slope(polygon, n, spare):
    """b of the pressure whose centre is the origin."""
    b0, b1 = 0.0, 0.0
    value, g0, g1, h00, h01, h11 = _moments(polygon, n, b0, b1, spare)
    for _ in range(MAX_NEWTON_STEPS):
        if g0 * g0 + g1 * g1 <= (NEWTON_TOLERANCE * value) ** 2:
            break
        det = h00 * h11 - h01 * h01
        if not det > 0.0:
            break
        d0, d1 = -(h11 * g0 - h01 * g1) / det, -(h00 * g1 - h01 * g0) / det
        fall, step = d0 * g0 + d1 * g1, 1.0
        while step > 1e-6:
            new = _moments(polygon, n, b0 + step * d0, b1 + step * d1, spare)
            if new[0] <= value + 1e-4 * step * fall:
                break
            step *= 0.5
        if not new[0] < value:
            break
        b0, b1 = b0 + step * d0, b1 + step * d1
        value, g0, g1, h00, h01, h11 = new
    return b0, b1


@inner
def _side(ps, pt, qs, qt, b0, b1, point, share, row):
    """The points of the triangle between the centre and a side, which is divided where the side is closest to the centre."""
    es, et = qs - ps, qt - pt
    length2 = es * es + et * et
    foot = -(ps * es + pt * et) / length2 if length2 > 0.0 else 0.0
    cuts = (0.0, min(max(foot, 0.0), 1.0), 1.0)
    cross = ps * qt - qs * pt
    for half in range(2):
        low, high = cuts[half], cuts[half + 1]
        if high - low < 1e-9:
            continue
        for radial in range(2):
            r, weight = RADIAL_GAUSS_POINTS[radial]
            for x in SIDE_GAUSS_POINTS:
                place = low + x * (high - low)
                us, ut = r * (ps + place * es), r * (pt + place * et)
                point[row, 0], point[row, 1] = us, ut
                share[row] = max(0.5 * cross * (high - low) * 0.5 * weight * (1.0 + b0 * us + b1 * ut), 0.0)
                row += 1
    return row


@inner
def _on_a_line(polygon, n, size, cs, ct, point, share, row):
    """The points of a joint whose corners are on a line or a single point: evenly spread over the longest interval between the
    corners that has the centre in its middle."""
    far0, far1, longest = 0, 0, 0.0
    for i in range(n):
        for k in range(i):
            length = np.hypot(polygon[i, 0] - polygon[k, 0], polygon[i, 1] - polygon[k, 1])
            if length > longest:
                far0, far1, longest = k, i, length
    reach, es, et = 0.0, 0.0, 0.0
    if longest > 0.0:
        es, et = (polygon[far1, 0] - polygon[far0, 0]) / longest, (polygon[far1, 1] - polygon[far0, 1]) / longest
        place = (cs - polygon[far0, 0]) * es + (ct - polygon[far0, 1]) * et
        reach = max(min(place, longest - place), 0.0)
    for side in (-1.0, 1.0):
        for x in SIDE_GAUSS_POINTS:
            way = side * x * reach
            point[row, 0], point[row, 1] = size * (cs + way * es), size * (ct + way * et)
            share[row] = 0.25
            row += 1
    return row

"""Nearest points of two convex polyhedra that are apart: the algorithm of Gilbert, Johnson and Keerthi (BRT section 2.5, T451).

Of the differences y - x, y of b and x of a, that nearest to the origin is found from simplices of them, with up to four corners
each, that come nearer and nearer:

    v = nearest point of the simplex      w = the difference of vertices that goes farthest against v
    |v| - v.w / |v| is how much nearer the true distance may be; below 1e-13 of the span it is found, else w joins the simplex

Every simplex is nearer than the one before, and there are finitely many of them; where rounding lets none be nearer, it is
found as well as it can be. Of a simplex all faces with its newest corner are tried, which needs no memory of signs.
"""

from typing import NamedTuple

import numpy as np

from drystone.base.kernel import inner

Array = np.ndarray

CLOSE = 1e-13  # of the longest side of the shapes: the distance is known to this


class Simplex(NamedTuple):
    """Working memory of `nearest_points`, and what it finds."""

    corner: Array  # (4, 3) [m] differences y - x
    row_a: Array  # (4,) int64 vertices of a
    row_b: Array  # (4,) int64 vertices of b
    share: Array  # (4,) of each corner in the nearest point, in all 1
    tried: Array  # (4,) likewise, while faces are tried
    apart: Array  # (3,) [m] the nearest difference, from the nearest point of a to that of b
    point_a: Array  # (3,) [m]
    point_b: Array  # (3,) [m]


def simplex() -> Simplex:
    return Simplex(np.empty((4, 3)), np.empty(4, np.int64), np.empty(4, np.int64), np.empty(4), np.empty(4), np.empty(3),
                   np.empty(3), np.empty(3))  # fmt: skip


@inner
def nearest_points(vertex, va, va1, vb, vb1, span, out):
    """Distance [m] of the hulls of vertices va:va1 and vb:vb1, 0 if they overlap or touch; `out` has the nearest points.
    span [m]: longest side of the two."""
    count = 1
    out.row_a[0], out.row_b[0], out.share[0] = va, vb, 1.0
    for k in range(3):
        out.corner[0, k] = out.apart[k] = vertex[vb, k] - vertex[va, k]
    distance = _length(out.apart)
    while distance > CLOSE * span:
        x, y, z = out.apart[0] / distance, out.apart[1] / distance, out.apart[2] / distance
        row_a = _farthest(vertex, va, va1, x, y, z)
        row_b = _farthest(vertex, vb, vb1, -x, -y, -z)
        for k in range(3):
            out.corner[count, k] = vertex[row_b, k] - vertex[row_a, k]
        ahead = x * out.corner[count, 0] + y * out.corner[count, 1] + z * out.corner[count, 2]
        if distance - ahead <= CLOSE * span:
            break
        out.row_a[count], out.row_b[count] = row_a, row_b
        nearer = _nearest_of_simplex(out, count + 1, distance)
        if not nearer < distance:
            break
        count, distance = _keep_used(out, count + 1), nearer
    _place_points(vertex, count, out)
    return distance if distance > CLOSE * span else 0.0


@inner
def _length(v):
    return np.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])


@inner
def _farthest(vertex, first, stop, x, y, z):
    """The row of the vertex that is farthest along a direction; the first of equals."""
    best, row = -np.inf, first
    for v in range(first, stop):
        s = x * vertex[v, 0] + y * vertex[v, 1] + z * vertex[v, 2]
        if s > best:
            best, row = s, v
    return row


@inner
def _nearest_of_simplex(out, count, distance):
    """The least distance of the origin from the faces of the simplex that have its last corner, if it is less than `distance`:
    then the shares of the corners and the nearest difference are written."""
    best, last = distance, count - 1
    for others in range(1 << last):
        used = others | (1 << last)
        if not _shares(out.corner, used, count, out.tried):
            continue
        x = y = z = 0.0
        for i in range(count):
            x += out.tried[i] * out.corner[i, 0]
            y += out.tried[i] * out.corner[i, 1]
            z += out.tried[i] * out.corner[i, 2]
        found = np.sqrt(x * x + y * y + z * z)
        if found < best:
            best = found
            out.apart[0], out.apart[1], out.apart[2] = x, y, z
            for i in range(4):
                out.share[i] = out.tried[i] if i < count else 0.0
    return best


@inner
def _shares(corner, used, count, share):
    """Shares (4,) of the corners `used` (bits) in the point of their plane nearest to the origin; whether it is within."""
    n, i, j, k = 0, 0, 0, 0  # the first, second and third of them
    for row in range(count):
        share[row] = 0.0
        if used >> row & 1:
            i, j, k = (row, j, k) if n == 0 else (i, row, k) if n == 1 else (i, j, row) if n == 2 else (i, j, k)
            n += 1
    if n == 1:
        share[i] = 1.0
        return True
    if n == 2:
        return _shares_of_segment(corner, i, j, share)
    if n == 3:
        return _shares_of_triangle(corner, i, j, k, share)
    return _shares_of_tetrahedron(corner, share)


@inner
def _shares_of_segment(corner, i, j, share):
    ex, ey, ez = corner[j, 0] - corner[i, 0], corner[j, 1] - corner[i, 1], corner[j, 2] - corner[i, 2]
    length2 = ex * ex + ey * ey + ez * ez
    if length2 == 0.0:
        return False
    t = -(ex * corner[i, 0] + ey * corner[i, 1] + ez * corner[i, 2]) / length2
    share[i], share[j] = 1.0 - t, t
    return 0.0 < t < 1.0


@inner
def _shares_of_triangle(corner, i, j, k, share):
    """By the areas that the foot of the origin makes with the sides, along the normal."""
    ax, ay, az = corner[j, 0] - corner[i, 0], corner[j, 1] - corner[i, 1], corner[j, 2] - corner[i, 2]
    bx, by, bz = corner[k, 0] - corner[i, 0], corner[k, 1] - corner[i, 1], corner[k, 2] - corner[i, 2]
    nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    area2 = nx * nx + ny * ny + nz * nz
    if area2 <= 1e-28 * (ax * ax + ay * ay + az * az) * (bx * bx + by * by + bz * bz):
        return False  # three in a line: two of them say it better
    px, py, pz = -corner[i, 0], -corner[i, 1], -corner[i, 2]
    share[j] = (nx * (py * bz - pz * by) + ny * (pz * bx - px * bz) + nz * (px * by - py * bx)) / area2
    share[k] = (nx * (ay * pz - az * py) + ny * (az * px - ax * pz) + nz * (ax * py - ay * px)) / area2
    share[i] = 1.0 - share[j] - share[k]
    return share[i] > 0.0 and share[j] > 0.0 and share[k] > 0.0


@inner
def _triple(p, q, r):
    """Volume of the parallelepiped of three corners with the origin."""
    x, y, z = q[1] * r[2] - q[2] * r[1], q[2] * r[0] - q[0] * r[2], q[0] * r[1] - q[1] * r[0]
    return p[0] * x + p[1] * y + p[2] * z


@inner
def _shares_of_tetrahedron(corner, share):
    """Whether the origin is within: all parts that it makes with the faces have the sign of the whole."""
    p, q, r, s = corner[0], corner[1], corner[2], corner[3]
    share[0], share[1], share[2], share[3] = _triple(q, r, s), -_triple(p, r, s), _triple(p, q, s), -_triple(p, q, r)
    whole = share[0] + share[1] + share[2] + share[3]
    if whole == 0.0:
        return False
    for i in range(4):
        share[i] /= whole
    return share[0] > 0.0 and share[1] > 0.0 and share[2] > 0.0 and share[3] > 0.0


@inner
def _keep_used(out, count):
    """The corners that have a share go to the front; returns how many there are."""
    kept = 0
    for i in range(count):
        if out.share[i] == 0.0:
            continue
        for k in range(3):
            out.corner[kept, k] = out.corner[i, k]
        out.row_a[kept], out.row_b[kept], out.share[kept] = out.row_a[i], out.row_b[i], out.share[i]
        kept += 1
    return kept


@inner
def _place_points(vertex, count, out):
    for k in range(3):
        out.point_a[k] = out.point_b[k] = 0.0
        for i in range(count):
            out.point_a[k] += out.share[i] * vertex[out.row_a[i], k]
            out.point_b[k] += out.share[i] * vertex[out.row_b[i], k]

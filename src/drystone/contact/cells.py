"""Joints cut into cells, each of which remembers what it went through: patches come in, cells go out.

The cells of a patch are those of a grid of CELLS by CELLS over the whole face whose axes the patch has (the face of a, of b if
a is a support). The grid belongs to the stone: a cell keeps its number, and so its memory, for as long as the faces meet there.
"""

from typing import NamedTuple

import numpy as np

from drystone.contact.narrow import along
from drystone.kernel import kernel

Array = np.ndarray

CELLS = 8  # of a face, each way
SMALLEST = 1e-6  # of the area of a whole cell: what is less is left out


class Cells(NamedTuple):
    """C cells, those of a patch one behind the other."""

    start: Array  # (P+1,) int64 first cell of each patch
    number: Array  # (C, 2) int64 in the grid of the face
    place: Array  # (C, 2) [m] (s, t) of the centroid
    area: Array  # (C,) [m2]
    own: Array  # (C, 3) [m4] second moments about the centroid: ss, st, tt
    half: Array  # (C, 2) [m] how far the cell reaches from its centroid along s and t


def make_cells(bodies, placed, patches, has_cells: Array) -> Cells:
    """The cells of the patches (P,) that have them."""
    count = int(has_cells.sum()) * (CELLS + 1) ** 2
    most = 2 * int(np.diff(patches.corner_start).max(initial=0)) + 16
    start = np.zeros(len(has_cells) + 1, np.int64)
    number, place, area = np.empty((count, 2), np.int64), np.empty((count, 2)), np.empty(count)
    own, half = np.empty((count, 3)), np.empty((count, 2))
    found = _cut_patches(bodies, placed, patches, has_cells, np.empty((4, most, 2)), start, number, place, area, own, half)
    return Cells(start, number[:found], place[:found], area[:found], own[:found], half[:found])


@kernel
def _cut_patches(bodies, placed, patches, has_cells, scratch, start, number, place, area, own, half):
    count = 0
    for p in range(has_cells.shape[0]):
        if has_cells[p]:
            face = patches.face[p, 1] if bodies.fixed[bodies.owner[patches.piece[p, 0]]] else patches.face[p, 0]
            u, w = patches.frame[p, 3:6], patches.frame[p, 6:9]
            low_s, low_t, high_s, high_t = 1e300, 1e300, -1e300, -1e300
            os = ot = 0.0
            for c in range(3):
                os += patches.origin[p, c] * u[c]
                ot += patches.origin[p, c] * w[c]
            for k in range(bodies.face_start[face], bodies.face_start[face + 1]):
                v = bodies.face_vertex[k]
                s, t = along(placed.vertex, v, u) - os, along(placed.vertex, v, w) - ot
                low_s, high_s, low_t, high_t = min(low_s, s), max(high_s, s), min(low_t, t), max(high_t, t)
            ds, dt = (high_s - low_s) / CELLS, (high_t - low_t) / CELLS
            first, stop = patches.corner_start[p], patches.corner_start[p + 1]
            for i in range(CELLS):
                n = stop - first
                for k in range(n):
                    scratch[0, k, 0], scratch[0, k, 1] = patches.corner[first + k, 0], patches.corner[first + k, 1]
                edge = 1e-9 * ds
                left = low_s + i * ds - (edge if i == 0 else 0.0)
                right = low_s + (i + 1) * ds + (edge if i == CELLS - 1 else 0.0)
                n = _keep(scratch[0], n, 0, 1.0, left, scratch[2])
                n = _keep(scratch[0], n, 0, -1.0, -right, scratch[2])
                if n < 3:
                    continue
                for j in range(CELLS):
                    edge = 1e-9 * dt
                    m = n
                    for k in range(n):
                        scratch[1, k, 0], scratch[1, k, 1] = scratch[0, k, 0], scratch[0, k, 1]
                    m = _keep(scratch[1], m, 1, 1.0, low_t + j * dt - (edge if j == 0 else 0.0), scratch[2])
                    m = _keep(scratch[1], m, 1, -1.0, -(low_t + (j + 1) * dt) - (edge if j == CELLS - 1 else 0.0), scratch[2])
                    if m < 3:
                        continue
                    if _measure(scratch[1], m, SMALLEST * ds * dt, count, place, area, own, half):
                        number[count, 0], number[count, 1] = i, j
                        count += 1
        start[p + 1] = count
    return count


@kernel
def _keep(polygon, n, axis, sign, limit, spare):
    """Keeps the part of a polygon where sign * coordinate >= limit, in place; returns its corners."""
    if n < 3:
        return 0
    kept = 0
    s, t = polygon[n - 1, 0], polygon[n - 1, 1]
    y = sign * (s if axis == 0 else t) - limit
    for k in range(n):
        s1, t1 = polygon[k, 0], polygon[k, 1]
        y1 = sign * (s1 if axis == 0 else t1) - limit
        if (y < 0.0) != (y1 < 0.0):
            x = y / (y - y1)
            spare[kept, 0], spare[kept, 1] = s + x * (s1 - s), t + x * (t1 - t)
            kept += 1
        if y1 >= 0.0:
            spare[kept, 0], spare[kept, 1] = s1, t1
            kept += 1
        s, t, y = s1, t1, y1
    for k in range(kept):
        polygon[k, 0], polygon[k, 1] = spare[k, 0], spare[k, 1]
    return kept


@kernel
def _measure(polygon, n, least, row, place, area, own, half):
    """Centroid, area, second moments and reach of a polygon; whether it is large enough."""
    s0, t0 = polygon[0, 0], polygon[0, 1]
    total = s = t = 0.0
    for k in range(1, n - 1):
        a, b, c, d = polygon[k, 0] - s0, polygon[k, 1] - t0, polygon[k + 1, 0] - s0, polygon[k + 1, 1] - t0
        cross = 0.5 * (a * d - c * b)
        total += cross
        s += cross * (a + c) / 3.0
        t += cross * (b + d) / 3.0
    if not total > least:
        return False
    s, t = s0 + s / total, t0 + t / total
    ss = st = tt = reach_s = reach_t = 0.0
    x0, y0 = polygon[n - 1, 0] - s, polygon[n - 1, 1] - t
    for k in range(n):
        x1, y1 = polygon[k, 0] - s, polygon[k, 1] - t
        cross = x0 * y1 - x1 * y0
        ss += cross * (x0 * x0 + x0 * x1 + x1 * x1) / 12.0
        st += cross * (x0 * y1 + 2.0 * x0 * y0 + 2.0 * x1 * y1 + x1 * y0) / 24.0
        tt += cross * (y0 * y0 + y0 * y1 + y1 * y1) / 12.0
        reach_s, reach_t = max(reach_s, abs(x1)), max(reach_t, abs(y1))
        x0, y0 = x1, y1
    place[row, 0], place[row, 1], area[row] = s, t, total
    own[row, 0], own[row, 1], own[row, 2] = ss, st, tt
    half[row, 0], half[row, 1] = reach_s, reach_t
    return True

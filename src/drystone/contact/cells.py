"""Joints cut into cells, each of which remembers what it went through: patches come in, cells go out.

The cells of a patch are those of a grid of CELLS by CELLS over the whole face whose axes the patch has (the face of a, of b if
a is a support). The grid belongs to the stone: a cell keeps its number, and so its memory, for as long as the faces meet there.
"""

from typing import NamedTuple

import numpy as np

from drystone.contact.narrow import along
from drystone.contact.polygon import centroid, keep_below, polygon_moments
from drystone.kernel import inner

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
    scratch, moments = np.empty((3, most, 2)), np.empty(5)
    found = _cut_patches(bodies, placed, patches, has_cells, scratch, moments, start, number, place, area, own, half)
    return Cells(start, number[:found], place[:found], area[:found], own[:found], half[:found])


@inner
def _cut_patches(bodies, placed, patches, has_cells, scratch, moments, start, number, place, area, own, half):
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
                n = keep_below(scratch[0], n, left, -1.0, 0.0, scratch[2])
                n = keep_below(scratch[0], n, -right, 1.0, 0.0, scratch[2]) if n > 2 else 0
                if n < 3:
                    continue
                for j in range(CELLS):
                    edge = 1e-9 * dt
                    low = low_t + j * dt - (edge if j == 0 else 0.0)
                    high = low_t + (j + 1) * dt + (edge if j == CELLS - 1 else 0.0)
                    for k in range(n):
                        scratch[1, k, 0], scratch[1, k, 1] = scratch[0, k, 0], scratch[0, k, 1]
                    m = keep_below(scratch[1], n, low, 0.0, -1.0, scratch[2])
                    m = keep_below(scratch[1], m, -high, 0.0, 1.0, scratch[2]) if m > 2 else 0
                    if m > 2 and _measure(scratch[1], m, SMALLEST * ds * dt, count, moments, place, area, own, half):
                        number[count, 0], number[count, 1] = i, j
                        count += 1
        start[p + 1] = count
    return count


@inner
def _measure(polygon, n, least, row, moments, place, area, own, half):
    """Centroid, area, second moments and reach of a polygon, which is moved to its centroid; whether it is large enough."""
    s, t = centroid(polygon, n)
    reach_s = reach_t = 0.0
    for k in range(n):
        polygon[k, 0] -= s
        polygon[k, 1] -= t
        reach_s, reach_t = max(reach_s, abs(polygon[k, 0])), max(reach_t, abs(polygon[k, 1]))
    polygon_moments(polygon, 0, n, moments)
    if not moments[0] > least:
        return False
    place[row, 0], place[row, 1], area[row] = s, t, moments[0]
    own[row, 0], own[row, 1], own[row, 2] = moments[1], moments[2], moments[3]
    half[row, 0], half[row, 1] = reach_s, reach_t
    return True

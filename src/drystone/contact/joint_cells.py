"""Joints cut into cells, each of which remembers what it went through: patches come in, cells go out.

The cells of a patch are those of a grid of CELLS by CELLS over the whole face whose axes the patch has (the face of a, of b if
a is a support). The grid belongs to the stone: a cell keeps its number, and so its memory, for as long as the faces meet there.

Geometry is told in units of a cell, and the corners of a patch are rounded to STEPS of them. So the cells of a joint are a
function of a few whole numbers: a joint whose corners are the same as last time keeps its cells, and has the bits that cutting
again would give, in a run that goes on and in one that is resumed.
"""

from typing import NamedTuple

import numpy as np

from drystone.base.kernel import inner
from drystone.contact.narrow_phase import along
from drystone.contact.polygon import centroid, keep_below, polygon_moments

Array = np.ndarray

CELLS = 8  # of a face, each way
STEPS = 8192  # of a cell: how finely corners of patches are told
SMALLEST = 1e-6  # of the area of a whole cell: what is less is left out
FULL = -1  # more cells than there is room for


class Cells(NamedTuple):
    """Room for the C cells of P patches, those of a patch one behind the other; rows beyond are spare."""

    piece: Array  # (P, 2) int64 of each patch
    face: Array  # (P, 2) int64
    corner_start: Array  # (P+1,) int64
    corner: Array  # (K, 2) int64 of the patches that have cells, in steps from the corner of the grid
    grid: Array  # (P, 4) [m] corner (s, t) of the grid, size of its cells along s and t
    start: Array  # (P+1,) int64 first cell of each patch
    number: Array  # (C, 2) int64 in the grid of the face
    place: Array  # (C, 2) of the centroid, in cells from the corner of the grid
    area: Array  # (C,) of a whole cell
    own: Array  # (C, 3) second moments about the centroid, in cells: ss, st, tt
    half: Array  # (C, 2) how far the cell reaches from its centroid along s and t, in cells


def room_for_cells(patches: int, corners: int, cells: int) -> Cells:
    """Room for so many; there is always room for CELLS * CELLS cells of each patch that has any."""
    return Cells(
        np.empty((patches, 2), np.int64), np.empty((patches, 2), np.int64), np.zeros(patches + 1, np.int64),
        np.empty((corners, 2), np.int64), np.empty((patches, 4)), np.zeros(patches + 1, np.int64),
        np.empty((cells, 2), np.int64), np.empty((cells, 2)), np.empty(cells), np.empty((cells, 3)), np.empty((cells, 2)),
    )  # fmt: skip


class CellScratch(NamedTuple):
    """Working memory of `cut_cells`."""

    polygon: Array  # (3, n, 2) a column of the grid, a cell of that, what is cut
    moments: Array  # (5,)


def scratch_for_cells(corners: int) -> CellScratch:
    """For patches of up to so many corners."""
    return CellScratch(np.empty((3, 2 * corners + 16, 2)), np.empty(5))


@inner
def cut_cells(bodies, placed, patches, has_cells, old, known, new, scratch):
    """Writes the cells of all patches (P,) that have them to `new`; returns their number, or FULL. What is there in `old`, of
    `known` patches that were found before, is taken from there: both lists are sorted by blocks, pieces and faces."""
    cells = corners = q = 0
    new.corner_start[0] = new.start[0] = 0
    if has_cells.shape[0] > new.piece.shape[0]:
        return FULL
    for p in range(has_cells.shape[0]):
        for side in range(2):
            new.piece[p, side], new.face[p, side] = patches.piece[p, side], patches.face[p, side]
        if has_cells[p]:
            count = patches.corner_start[p + 1] - patches.corner_start[p]
            if corners + count > new.corner.shape[0] or cells + CELLS * CELLS > new.area.shape[0]:
                return FULL
            _lay_grid(bodies, placed, patches, p, new.grid[p])
            _round_corners(patches, p, new.grid[p], new.corner, corners)
            while q < known and comes_before(bodies.owner, old.piece, old.face, q, patches.piece, patches.face, p):
                q += 1
            if q < known and _is_same(old, q, new, p, corners, count):
                cells = _copy_cells(old, old.start[q], old.start[q + 1], new, cells)
            else:
                cells = _cut(new, corners, count, cells, scratch)
            corners += count
        new.corner_start[p + 1], new.start[p + 1] = corners, cells
    return cells


@inner
def comes_before(owner, piece, face, row, other_piece, other_face, other):
    """Whether a row of a list that is sorted by blocks, pieces and faces comes before a row of another one."""
    for side in range(2):
        if owner[piece[row, side]] != owner[other_piece[other, side]]:
            return owner[piece[row, side]] < owner[other_piece[other, side]]
    for side in range(2):
        if piece[row, side] != other_piece[other, side]:
            return piece[row, side] < other_piece[other, side]
    for side in range(2):
        if face[row, side] != other_face[other, side]:
            return face[row, side] < other_face[other, side]
    return False


@inner
def _lay_grid(bodies, placed, patches, p, grid):
    """Corner and size of the cells of the face whose axes the patch has, seen from the origin of the patch."""
    face = patches.face[p, 1] if bodies.fixed[bodies.owner[patches.piece[p, 0]]] else patches.face[p, 0]
    u, w = patches.frame[p, 3:6], patches.frame[p, 6:9]
    low_s, low_t, high_s, high_t = 1e300, 1e300, -1e300, -1e300
    for k in range(bodies.face_start[face], bodies.face_start[face + 1]):
        v = bodies.face_vertex[k]
        s, t = along(placed.vertex, v, u), along(placed.vertex, v, w)
        low_s, high_s, low_t, high_t = min(low_s, s), max(high_s, s), min(low_t, t), max(high_t, t)
    grid[0], grid[1] = low_s - along(patches.origin, p, u), low_t - along(patches.origin, p, w)
    grid[2], grid[3] = (high_s - low_s) / CELLS, (high_t - low_t) / CELLS


@inner
def _round_corners(patches, p, grid, corner, row):
    first = patches.corner_start[p]
    for k in range(first, patches.corner_start[p + 1]):
        for c in range(2):
            at = int(np.floor(STEPS * (patches.corner[k, c] - grid[c]) / grid[2 + c] + 0.5))
            corner[row + k - first, c] = min(max(at, 0), CELLS * STEPS)


@inner
def _is_same(old, q, new, p, row, count):
    """Whether patch q of `old` is patch p of `new`, whose corners begin at `row`, with the same corners."""
    first = old.corner_start[q]
    if old.corner_start[q + 1] - first != count:
        return False
    for side in range(2):
        if old.piece[q, side] != new.piece[p, side] or old.face[q, side] != new.face[p, side]:
            return False
    for k in range(count):
        if old.corner[first + k, 0] != new.corner[row + k, 0] or old.corner[first + k, 1] != new.corner[row + k, 1]:
            return False
    return True


@inner
def _copy_cells(old, first, stop, new, row):
    """Writes cells first to stop of `old` to `new` from row on; returns the row after."""
    for c in range(first, stop):
        for k in range(2):
            new.number[row, k], new.place[row, k], new.half[row, k] = old.number[c, k], old.place[c, k], old.half[c, k]
        for k in range(3):
            new.own[row, k] = old.own[c, k]
        new.area[row] = old.area[c]
        row += 1
    return row


@inner
def _cut(new, first, corners, row, scratch):
    """Writes the cells of the polygon of corners from `first` on, from row on; returns the row after."""
    low_s, low_t, high_s, high_t = _bounds(new.corner, first, corners)
    column, cell, spare = scratch.polygon[0], scratch.polygon[1], scratch.polygon[2]
    for i in range(low_s // STEPS, min(-(-high_s // STEPS), CELLS)):
        for k in range(corners):  # as seen from the corner of the column, so that whole cells are whole to the last bit
            column[k, 0], column[k, 1] = new.corner[first + k, 0] / STEPS - i, new.corner[first + k, 1] / STEPS
        n = keep_below(column, corners, 0.0, -1.0, 0.0, spare)
        n = keep_below(column, n, -1.0, 1.0, 0.0, spare) if n > 2 else 0
        if n < 3:
            continue
        for j in range(low_t // STEPS, min(-(-high_t // STEPS), CELLS)):
            for k in range(n):
                cell[k, 0], cell[k, 1] = column[k, 0], column[k, 1] - j
            m = keep_below(cell, n, 0.0, 0.0, -1.0, spare)
            m = keep_below(cell, m, -1.0, 0.0, 1.0, spare) if m > 2 else 0
            if m > 2 and _measure(cell, m, scratch.moments, new, row, i, j):
                row += 1
    return row


@inner
def _bounds(corner, first, count):
    """The box of a polygon."""
    low_s, low_t, high_s, high_t = CELLS * STEPS, CELLS * STEPS, 0, 0
    for k in range(first, first + count):
        low_s, high_s = min(low_s, corner[k, 0]), max(high_s, corner[k, 0])
        low_t, high_t = min(low_t, corner[k, 1]), max(high_t, corner[k, 1])
    return low_s, low_t, high_s, high_t


@inner
def _measure(polygon, n, moments, new, row, i, j):
    """Writes a cell, the part of cell (i, j) within a polygon, which is moved to its centroid; whether it is large enough."""
    s, t = centroid(polygon, n)
    reach_s = reach_t = 0.0
    for k in range(n):
        polygon[k, 0] -= s
        polygon[k, 1] -= t
        reach_s, reach_t = max(reach_s, abs(polygon[k, 0])), max(reach_t, abs(polygon[k, 1]))
    polygon_moments(polygon, 0, n, moments)
    if not moments[0] > SMALLEST:
        return False
    new.number[row, 0], new.number[row, 1] = i, j
    new.place[row, 0], new.place[row, 1], new.area[row] = i + s, j + t, moments[0]
    new.own[row, 0], new.own[row, 1], new.own[row, 2] = moments[1], moments[2], moments[3]
    new.half[row, 0], new.half[row, 1] = reach_s, reach_t
    return True

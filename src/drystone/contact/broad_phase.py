"""Broad phase: boxes of pieces come in, the pairs whose boxes are within their margin go out, sorted.

No contact is lost: a contact joins a point of a and a point of b at most max(margin, tol) apart, tol <= margin
(`direction`), hence the boxes are within the margin along every axis, and reach_a + reach_b >= margin.

Boxes lie in a grid of levels, cells doubling from level to level. A piece is stored once, in the cell of its low
corner at the first level whose cells are as large as its box, and looks for partners on its own level and the coarser
ones: a foundation slab costs one more level, where a single grid would store it in every cell.
"""

import numpy as np

from drystone.base.kernel import inner, kernel
from drystone.contact.placed_blocks import Placed, pair_margin
from drystone.structure.model import Bodies

Array = np.ndarray

_LEVELS = 60


def candidate_pairs(bodies: Bodies, placed: Placed) -> Array:
    """Pairs (Q, 2) int64 of pieces, a < b, whose boxes are within the pair's margin; of different blocks, not both fixed.
    Sorted by blocks, those of the same two blocks by pieces."""
    pairs = np.empty((16 * len(bodies.owner) + 64, 2), np.int64)
    where = placed.low, placed.high, placed.sweep, placed.reach, bodies.owner, bodies.radius, bodies.fixed
    count = sorted_pairs(*where, pairs)
    if count > len(pairs):
        pairs = np.empty((count, 2), np.int64)
        sorted_pairs(*where, pairs)
    return pairs[:count]


@kernel
def sorted_pairs(low, high, sweep, reach, owner, radius, fixed, out_pair):
    """Writes the pairs that fit, sorted if all do, and returns how many there are."""
    count = _find_pairs(low, high, sweep, reach, owner, radius, fixed, out_pair)
    if count <= out_pair.shape[0]:
        spare = np.empty((count, 2), np.int64)
        _sort_pairs(out_pair[:count], spare, np.arange(owner.shape[0]))
        if owner.shape[0] != radius.shape[0]:
            _sort_pairs(out_pair[:count], spare, owner)
    return count


@kernel
def _find_pairs(low, high, sweep, reach, owner, radius, fixed, out_pair):
    """Writes the pairs that fit and returns how many there are."""
    box = _inflated_boxes(low, high, reach, owner)
    level, cell, edge = _assign_cells(box)
    mask = 1
    while mask < 2 * owner.shape[0]:
        mask *= 2
    mask -= 1
    start, member = _fill_buckets(level, cell, mask)
    used = _occupied(level)
    count = 0
    for other in range(_LEVELS):
        if not used[other]:
            continue
        width = edge * 2.0**other
        count = _partners(
            other, width, level, cell, mask, start, member, box, low, high, sweep, owner, radius, fixed, out_pair, count
        )  # fmt: skip
    return count


@kernel
def _inflated_boxes(low, high, reach, owner):
    """(P, 6) low and high corners, moved out by the reach [m]."""
    box = np.empty((low.shape[0], 6))
    for i in range(low.shape[0]):
        for axis in range(3):
            box[i, axis] = low[i, axis] - reach[owner[i]]
            box[i, 3 + axis] = high[i, axis] + reach[owner[i]]
    return box


@inner
def _middle(values):
    """The lower of the two middle ones if their number is even; the values are put in another order. By halves, as a sort that
    leaves aside what does not hold the middle: `np.median` compiles for two seconds."""
    low, high, middle = 0, values.shape[0] - 1, (values.shape[0] - 1) // 2
    while low < high:
        pivot, i, j = values[(low + high) // 2], low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i, j = i + 1, j - 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            break
    return values[middle]


@kernel
def _assign_cells(box):
    blocks = box.shape[0]
    extent = np.empty(blocks)
    for i in range(blocks):
        extent[i] = max(box[i, 3] - box[i, 0], box[i, 4] - box[i, 1], box[i, 5] - box[i, 2])
    edge = 1.2 * _middle(extent.copy())  # finest cell [m]; above the median so that equal blocks share one level
    level = np.zeros(blocks, np.int64)
    cell = np.empty((blocks, 3), np.int64)
    for i in range(blocks):
        width = edge
        while width < extent[i] and level[i] < _LEVELS - 1:
            width *= 2
            level[i] += 1
        for axis in range(3):
            cell[i, axis] = int(np.floor(box[i, axis] / width))
    return level, cell, edge


@kernel
def _occupied(level):
    """(_LEVELS,) bool whether a piece is of the level. Not their numbers by `np.flatnonzero`: with it Numba loads scipy."""
    used = np.zeros(_LEVELS, np.bool_)
    for i in range(level.shape[0]):
        used[level[i]] = True
    return used


@inner
def _bucket(level, x, y, z, mask):
    return ((x * 73856093) ^ (y * 19349663) ^ (z * 83492791) ^ (level * 50331653)) & mask


@kernel
def _fill_buckets(level, cell, mask):
    """Counting sort of the pieces by the hash of their cell."""
    blocks = level.shape[0]
    start = np.zeros(mask + 2, np.int64)
    member = np.empty(blocks, np.int64)
    for i in range(blocks):
        start[_bucket(level[i], cell[i, 0], cell[i, 1], cell[i, 2], mask) + 1] += 1
    for k in range(mask + 1):
        start[k + 1] += start[k]
    fill = start[:-1].copy()
    for i in range(blocks):
        k = _bucket(level[i], cell[i, 0], cell[i, 1], cell[i, 2], mask)
        member[fill[k]] = i
        fill[k] += 1
    return start, member


@inner
def _partners(other, width, level, cell, mask, start, member, box, low, high, sweep, owner, radius, fixed, out_pair, count):
    """Adds the pairs of pieces of level `other` with those of the same and of finer levels. The low corner of a partner
    lies at most one cell below the box of i, which is at most one cell wide: three cells an axis."""
    for i in range(box.shape[0]):
        if level[i] > other:
            continue
        x0, x1 = _cells(box[i, 0], box[i, 3], width)
        y0, y1 = _cells(box[i, 1], box[i, 4], width)
        z0, z1 = _cells(box[i, 2], box[i, 5], width)
        for x in range(x0, x1):
            for y in range(y0, y1):
                for z in range(z0, z1):
                    k = _bucket(other, x, y, z, mask)
                    for m in range(start[k], start[k + 1]):
                        j = member[m]
                        if level[j] != other or cell[j, 0] != x or cell[j, 1] != y or cell[j, 2] != z:
                            continue  # another cell with the same hash
                        if (level[i] == other and j <= i) or not _overlap(box, i, j):
                            continue  # found from the other side, or apart
                        a, b = owner[i], owner[j]
                        if a == b or (fixed[a] and fixed[b]):
                            continue
                        if _apart(low, high, i, j) > pair_margin(a, b, radius, sweep) * (1 + 1e-9):
                            continue
                        if count < out_pair.shape[0]:
                            out_pair[count, 0], out_pair[count, 1] = min(i, j), max(i, j)
                        count += 1
    return count


@inner
def _cells(low, high, width):
    """Range of cells along one axis where partners may be stored; three at most, even for a box of NaN."""
    first = int(np.floor(low / width)) - 1
    return first, min(first + 3, int(np.floor(high / width)) + 1)


@inner
def _overlap(box, i, j):
    return (
        box[i, 0] <= box[j, 3]
        and box[j, 0] <= box[i, 3]
        and box[i, 1] <= box[j, 4]
        and box[j, 1] <= box[i, 4]
        and box[i, 2] <= box[j, 5]
        and box[j, 2] <= box[i, 5]
    )


@inner
def _apart(low, high, i, j):
    """Largest distance of the two boxes along an axis, negative if they overlap along all [m]."""
    apart = -np.inf
    for axis in range(3):
        apart = max(apart, low[j, axis] - high[i, axis], low[i, axis] - high[j, axis])
    return apart


@kernel
def _sort_pairs(pairs, spare, key):
    """Two stable counting sorts, by key[b] and then by key[a]: linear, whatever the number of partners of a slab. spare: of the
    size of the pairs."""
    for column in (1, 0):
        start = np.zeros(key.shape[0] + 1, np.int64)
        for q in range(pairs.shape[0]):
            start[key[pairs[q, column]] + 1] += 1
        for i in range(key.shape[0]):
            start[i + 1] += start[i]
        for q in range(pairs.shape[0]):
            spare[q, 0], spare[q, 1] = pairs[q, 0], pairs[q, 1]
        for q in range(pairs.shape[0]):
            i = key[spare[q, column]]
            pairs[start[i], 0], pairs[start[i], 1] = spare[q, 0], spare[q, 1]
            start[i] += 1

"""The plan of a block Cholesky factorisation: who is eliminated when, and where each number lives.

A graph of bodies (who shares a contact with whom) and the places where they stood at the start come in; a `Plan`
goes out. The plan is a function of these alone, never of the steps before: a resumed run repeats it bit for bit.

1. order the bodies by nested dissection: halve along the longest axis, put the bodies that touch the other half last;
2. elimination tree and the rows of each column;
3. columns with the same rows become a supernode, a dense front; small ones are merged at the price of some zeros;
4. offsets of panels (the factor) and of update matrices (two stacks, by the parity of the depth in the tree).
"""

from typing import NamedTuple

import numpy as np

from drystone.kernel import kernel

Array = np.ndarray


class Plan(NamedTuple):
    """Supernode s eliminates the positions first[s]:first[s+1]; `rows` are the later positions it touches."""

    dof: int  # unknowns a body
    order: Array  # (N,) body eliminated at each position
    first: Array  # (S+1,)
    row_start: Array  # (S+1,)
    rows: Array  # (R,) positions, ascending in a supernode
    slot: Array  # (R,) where a row sits in the front of the parent supernode
    child: Array  # (S,) first child or -1
    sibling: Array  # (S,) next child of the same parent or -1
    panel: Array  # (S+1,) offset of the dense panel in the factor, column-major, (own + rows) * dof high
    update: Array  # (S,) offset of the update matrix in the work stack
    diagonal: Array  # (N,) offset in the factor of each body's diagonal block
    edge: Array  # (E,) offset in the factor of each edge's block
    edge_flipped: Array  # (E,) bool: the block is stored with the rows of the edge's first body
    height: Array  # (N + E,) column stride of the diagonal blocks, then of the edge blocks
    work: int  # size of the work stack


def plan_factorisation(place: Array, edge_a: Array, edge_b: Array, dof: int = 6) -> Plan:
    """place (N, 3) [m]; edges (E,) between different bodies, each pair once; `dof` unknowns a body.

    >>> plan = plan_factorisation(np.arange(6.0).reshape(2, 3), np.array([0]), np.array([1]))
    >>> sorted(plan.order.tolist())
    [0, 1]
    """
    start, neighbour = _adjacency(len(place), edge_a, edge_b)
    order = _dissect(place, start, neighbour)
    parent = _elimination_tree(order, start, neighbour)
    order = order[_postorder(parent)]
    parent = _elimination_tree(order, start, neighbour)
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    first, row_start, rows, owner = _supernodes(order, position, start, neighbour, parent)
    tree_parent, child, sibling, slot = _tree(first, row_start, rows, owner)
    own, below = np.diff(first), np.diff(row_start)
    panel = np.concatenate(([0], np.cumsum(dof * dof * (own + below) * own)))
    update, work = _stack(tree_parent, child, sibling, below, dof)
    heights = dof * (own + below)
    diagonal, edge, flipped, height = _offsets(position, edge_a, edge_b, first, row_start, rows, owner, panel, heights, dof)
    return Plan(dof, order, first, row_start, rows, slot, child, sibling, panel, update, diagonal, edge, flipped, height, work)


@kernel
def _adjacency(n, edge_a, edge_b):
    """Compressed rows of the symmetric graph."""
    start = np.zeros(n + 1, np.int64)
    for e in range(edge_a.shape[0]):
        start[edge_a[e] + 1] += 1
        start[edge_b[e] + 1] += 1
    for i in range(n):
        start[i + 1] += start[i]
    fill = start[:n].copy()
    neighbour = np.empty(2 * edge_a.shape[0], np.int64)
    for e in range(edge_a.shape[0]):
        a, b = edge_a[e], edge_b[e]
        neighbour[fill[a]] = b
        neighbour[fill[b]] = a
        fill[a] += 1
        fill[b] += 1
    return start, neighbour


@kernel
def _split(order, lo, hi, place):
    """Sort order[lo:hi] along the longest axis of their places; the middle index goes back."""
    axis, longest = 0, -1.0
    for d in range(3):
        low = high = place[order[lo], d]
        for k in range(lo, hi):
            low = min(low, place[order[k], d])
            high = max(high, place[order[k], d])
        if high - low > longest * (1 + 1e-9):
            axis, longest = d, high - low
    key = np.empty(hi - lo)
    for k in range(lo, hi):
        key[k - lo] = place[order[k], axis]
    order[lo:hi] = order[lo:hi][np.argsort(key, kind="mergesort")]
    return (lo + hi) // 2


@kernel
def _dissect(place, start, neighbour, leaf=4):
    """Nested dissection: in each part the bodies of one half that touch the other half (the separator) come last."""
    n = place.shape[0]
    order = np.arange(n)
    side = np.full(n, -1)
    scratch = np.empty(n, np.int64)
    stack = [(0, n)]
    stamp = 0
    while len(stack) > 0:
        lo, hi = stack.pop()
        if hi - lo <= leaf:
            continue
        mid = _split(order, lo, hi, place)
        stamp += 2
        for k in range(lo, hi):
            side[order[k]] = stamp + (1 if k >= mid else 0)
        borders = np.zeros(2, np.int64)
        for k in range(lo, hi):
            borders[1 if k >= mid else 0] += _touches(order[k], side, start, neighbour)
        thin = 0 if borders[0] <= borders[1] else 1
        left = right = cut = 0  # sizes; order them as left, right, separator
        for k in range(lo, hi):
            body = order[k]
            mine = side[body] - stamp
            if mine == thin and _touches(body, side, start, neighbour):
                scratch[hi - 1 - cut] = body
                cut += 1
            elif mine == 0:
                order[lo + left] = body
                left += 1
            else:
                scratch[right] = body
                right += 1
        for k in range(right):
            order[lo + left + k] = scratch[k]
        for k in range(cut):
            order[lo + left + right + k] = scratch[hi - 1 - k]
        stack.append((lo, lo + left))
        stack.append((lo + left, lo + left + right))
    return order


@kernel
def _touches(body, side, start, neighbour):
    """Whether a body has a neighbour on the other side of its part."""
    other = side[body] ^ 1
    found = False
    for q in range(start[body], start[body + 1]):
        found |= side[neighbour[q]] == other
    return found


@kernel
def _elimination_tree(order, start, neighbour):
    """Parent position of each position (Liu's algorithm with path compression)."""
    n = order.shape[0]
    position = np.empty(n, np.int64)
    for k in range(n):
        position[order[k]] = k
    parent, ancestor = np.full(n, -1), np.full(n, -1)
    for k in range(n):
        for q in range(start[order[k]], start[order[k] + 1]):
            i = position[neighbour[q]]
            while i != -1 and i < k:
                above = ancestor[i]
                ancestor[i] = k
                if above == -1:
                    parent[i] = k
                i = above
    return parent


@kernel
def _postorder(parent):
    """Positions such that children come before parents and subtrees are contiguous."""
    n = parent.shape[0]
    child, sibling = np.full(n, -1), np.full(n, -1)
    for i in range(n - 1, -1, -1):
        if parent[i] >= 0:
            sibling[i] = child[parent[i]]
            child[parent[i]] = i
    out, stack = np.empty(n, np.int64), np.empty(n, np.int64)
    count = 0
    for root in range(n):
        if parent[root] >= 0:
            continue
        top = 0
        stack[0] = root
        while top >= 0:
            i = stack[top]
            if child[i] == -1:
                out[count] = i
                count += 1
                top -= 1
            else:
                top += 1
                stack[top] = child[i]
                child[i] = sibling[child[i]]
    return out


@kernel
def _column_rows(order, position, start, neighbour, parent):
    """Rows below the diagonal of each column of the factor, compressed."""
    n = order.shape[0]
    head, following = np.full(n, -1), np.full(n, -1)
    mark = np.full(n, -1)
    begin = np.zeros(n + 1, np.int64)
    rows = np.empty(32 * n + 1024, np.int64)
    for j in range(n):
        end = begin[j]
        if end + n > rows.shape[0]:
            larger = np.empty(2 * rows.shape[0] + n, np.int64)
            larger[:end] = rows[:end]
            rows = larger
        mark[j] = j
        for q in range(start[order[j]], start[order[j] + 1]):
            i = position[neighbour[q]]
            if i > j and mark[i] != j:
                mark[i] = j
                rows[end] = i
                end += 1
        c = head[j]
        while c >= 0:
            for q in range(begin[c], begin[c + 1]):
                i = rows[q]
                if i > j and mark[i] != j:
                    mark[i] = j
                    rows[end] = i
                    end += 1
            c = following[c]
        rows[begin[j]:end].sort()
        begin[j + 1] = end
        if parent[j] >= 0:
            following[j] = head[parent[j]]
            head[parent[j]] = j
    return begin, rows


@kernel
def _worth_merging(columns, zeros, below):
    """Whether a merged supernode of so many columns may hold so many explicit zero blocks."""
    share = zeros / (columns * (columns + 1) / 2 + columns * below)
    return columns <= 2 or (columns <= 4 and share < 0.5) or (columns <= 10 and share < 0.25) or share < 0.1


@kernel
def _supernodes(order, position, start, neighbour, parent):
    """Merge each column into the supernode that ends right before it when that costs few zeros."""
    n = order.shape[0]
    begin, rows = _column_rows(order, position, start, neighbour, parent)
    first = np.empty(n + 1, np.int64)
    zeros = np.zeros(n)
    count = 0
    for j in range(n):
        first[count] = j
        zeros[count] = 0.0
        count += 1
        end = j + 1
        while count >= 2:  # candidates: the two last supernodes, [a, b) and [b, end)
            a, b = first[count - 2], first[count - 1]
            if parent[b - 1] < b or parent[b - 1] >= end:
                break
            below_a, below_b = begin[b] - begin[b - 1], begin[end] - begin[end - 1]
            added = zeros[count - 2] + zeros[count - 1] + (b - a) * ((end - b) + below_b - below_a)
            if not _worth_merging(end - a, added, below_b):
                break
            zeros[count - 2] = added
            count -= 1
    first[count] = n
    first = first[:count + 1].copy()
    row_start = np.zeros(count + 1, np.int64)
    owner = np.empty(n, np.int64)
    for s in range(count):
        last = first[s + 1] - 1
        row_start[s + 1] = row_start[s] + begin[last + 1] - begin[last]
        owner[first[s]:first[s + 1]] = s
    below = np.empty(row_start[count], np.int64)
    for s in range(count):
        last = first[s + 1] - 1
        below[row_start[s]:row_start[s + 1]] = rows[begin[last]:begin[last + 1]]
    return first, row_start, below, owner


@kernel
def _tree(first, row_start, rows, owner):
    """Tree of supernodes, and the slot of each row in its parent's front (own positions, then rows)."""
    count = first.shape[0] - 1
    parent, child, sibling = np.full(count, -1), np.full(count, -1), np.full(count, -1)
    slot = np.full(rows.shape[0], -1)
    for s in range(count - 1, -1, -1):
        if row_start[s + 1] == row_start[s]:
            continue
        p = owner[rows[row_start[s]]]
        parent[s] = p
        sibling[s] = child[p]
        child[p] = s
        q = row_start[p]
        for r in range(row_start[s], row_start[s + 1]):
            i = rows[r]
            if i < first[p + 1]:
                slot[r] = i - first[p]
            else:
                while rows[q] != i:
                    q += 1
                slot[r] = first[p + 1] - first[p] + q - row_start[p]
    return parent, child, sibling, slot


@kernel
def _stack(parent, child, sibling, below, dof):
    """Offsets of the update matrices. Supernodes at even and odd depth use two stacks: when one is assembled, its
    children are the top of the other stack and are popped."""
    count = parent.shape[0]
    depth = np.zeros(count, np.int64)
    for s in range(count - 1, -1, -1):
        if parent[s] >= 0:
            depth[s] = depth[parent[s]] + 1
    top, peak = np.zeros(2, np.int64), np.zeros(2, np.int64)
    offset = np.zeros(count, np.int64)
    for s in range(count):
        mine = depth[s] % 2
        offset[s] = top[mine]
        top[mine] += (dof * below[s]) ** 2
        peak[mine] = max(peak[mine], top[mine])
        if child[s] >= 0:
            top[1 - mine] = offset[child[s]]
    for s in range(count):
        offset[s] += peak[0] * (depth[s] % 2)
    return offset, peak[0] + peak[1]


@kernel
def _offsets(position, edge_a, edge_b, first, row_start, rows, owner, panel, heights, dof):
    """Where in the factor the diagonal block of each body and the lower block of each edge are stored."""
    n, m = position.shape[0], edge_a.shape[0]
    diagonal, edge = np.empty(n, np.int64), np.empty(m, np.int64)
    flipped, height = np.empty(m, np.bool_), np.empty(n + m, np.int64)
    for i in range(n):
        s = owner[position[i]]
        k = position[i] - first[s]
        height[i] = heights[s]
        diagonal[i] = panel[s] + dof * k * heights[s] + dof * k
    for e in range(m):
        a, b = position[edge_a[e]], position[edge_b[e]]
        flipped[e] = a > b
        early, late = min(a, b), max(a, b)
        s = owner[early]
        if late < first[s + 1]:
            k = late - first[s]
        else:
            k = first[s + 1] - first[s] + np.searchsorted(rows[row_start[s]:row_start[s + 1]], late)
        height[n + e] = heights[s]
        edge[e] = panel[s] + dof * (early - first[s]) * heights[s] + dof * k
    return diagonal, edge, flipped, height


@kernel
def extent(plan, s):
    """Number of own unknowns and of unknowns below, and the first own unknown, of a supernode."""
    dof = plan.dof
    own = dof * (plan.first[s + 1] - plan.first[s])
    below = dof * (plan.row_start[s + 1] - plan.row_start[s])
    return own, below, dof * plan.first[s]

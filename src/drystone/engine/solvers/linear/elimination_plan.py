"""The plan of a block factorisation: who is eliminated when, where each number lives, and what may be done side by side.

A graph of bodies (who shares a contact with whom) and the places where they stood at the start come in; a `Plan`
goes out. The plan is a function of these alone, never of the steps before: a resumed run repeats it bit for bit.

1. order the bodies (ordering.py);
2. the rows of each column; columns with the same rows become a supernode, a dense front; small ones are merged at the
   price of some zeros;
3. cut the tree of supernodes into branches that know nothing of each other, and the top above them;
4. offsets of panels (the factor) and of update matrices (two stacks for each branch, by the parity of the depth).
"""

from typing import NamedTuple

import numpy as np

from drystone.base.kernel import inner, kernel
from drystone.engine.solvers.linear.ordering import order_bodies

Array = np.ndarray

BRANCHES = 8  # a branch costs at most this part of the whole (measured: more make the top too large, fewer may be unequal)
SMALL = 3e7  # operations (about 1 ms) of a system that is left in one piece
LARGE = 16  # unknowns a body above which a block of the matrix is worth its own call


class Plan(NamedTuple):
    """Supernode s eliminates the positions first[s]:first[s+1]; `rows` are the later positions it touches. Its front is
    its own positions, then its rows; a slot is a place in a front."""

    dof: int  # unknowns a body
    order: Array  # (N,) body eliminated at each position
    first: Array  # (S+1,)
    row_start: Array  # (S+1,)
    rows: Array  # (R,) positions, ascending in a supernode
    slot: Array  # (R,) where a row sits in the front of the parent supernode
    run: Array  # (R,) so many rows from here on sit side by side there
    child: Array  # (S,) first child or -1
    sibling: Array  # (S,) next child of the same parent or -1
    panel: Array  # (S+1,) offset of the dense panel in the factor, column-major, (own + rows) * dof high
    update: Array  # (S,) offset of the update matrix in the work room
    edge_start: Array  # (S+1,) the edges whose earlier body supernode s eliminates are edge_list[start:end]
    edge_list: Array  # (E,)
    early: Array  # (E,) slot of an edge's earlier body, the column of its block in the lower part
    late: Array  # (E,) slot of its later body, the row
    flipped: Array  # (E,) bool: the edge's second body is the earlier one
    branch: Array  # (B, 2) first supernode and end of each branch, the costliest first
    top: Array  # (T,) supernodes above the branches
    work: int  # size of the work room


def plan_factorisation(place: Array, edge_a: Array, edge_b: Array, dof: int = 6) -> Plan:
    """place (N, 3) [m]; edges (E,) between different bodies, each pair once; `dof` unknowns a body.

    >>> plan = plan_factorisation(np.arange(6.0).reshape(2, 3), np.array([0]), np.array([1]))
    >>> sorted(plan.order.tolist())
    [0, 1]
    """
    order, parent, start, neighbour = order_bodies(place, edge_a, edge_b)
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    first, row_start, rows, owner = _supernodes(order, position, start, neighbour, parent, dof)
    tree_parent, child, sibling, slot, run = _tree(first, row_start, rows, owner)
    own, below = np.diff(first), np.diff(row_start)
    panel = np.concatenate(([0], np.cumsum(dof * dof * (own + below) * own)))
    branch, top, group = _cut(tree_parent, dof * own.astype(float), dof * below.astype(float))
    update, work = _stack(tree_parent, child, sibling, below, group, dof)
    edges = _edges(position[edge_a], position[edge_b], first, row_start, rows, owner)
    return Plan(dof, order, first, row_start, rows, slot, run, child, sibling, panel, update, *edges, branch, top, work)


@inner
def extent(plan, s):
    """Number of own unknowns and of unknowns below, and the first own unknown, of a supernode."""
    dof = plan.dof
    own = dof * (plan.first[s + 1] - plan.first[s])
    below = dof * (plan.row_start[s + 1] - plan.row_start[s])
    return own, below, dof * plan.first[s]


def _edges(
    a: Array, b: Array, first: Array, row_start: Array, rows: Array, owner: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """The edges of each supernode, and the slots of their blocks."""
    early, late = np.minimum(a, b), np.maximum(a, b)
    home = owner[early]
    listed = np.lexsort((late, early))
    start = np.searchsorted(home[listed], np.arange(len(first)))
    return start, listed, early - first[home], _late_slot(late, home, first, row_start, rows), a > b


@kernel
def _late_slot(late, home, first, row_start, rows):
    out = np.empty_like(late)
    for e in range(late.shape[0]):
        s = home[e]
        if late[e] < first[s + 1]:
            out[e] = late[e] - first[s]
        else:
            out[e] = first[s + 1] - first[s] + np.searchsorted(rows[row_start[s] : row_start[s + 1]], late[e])
    return out


def _cut(parent: Array, own: Array, below: Array) -> tuple[Array, Array, Array]:
    """Branches (first supernode, end), the costliest first; the top; the branch of each supernode, -1 in the top. Costs are
    operations, and 50 for each number of a front, which has to be moved (measured)."""
    cost = own**3 / 3 + own * own * below + own * below * below + 50 * (own + below) ** 2
    whole = cost.sum()
    group = _grow(parent, cost, whole if whole < SMALL else whole / BRANCHES)
    inside = np.flatnonzero(group >= 0)
    begin = inside[np.unique(group[inside], return_index=True)[1]]
    sizes, prices = np.bincount(group[inside]), np.bincount(group[inside], cost[inside])
    branch = np.stack([begin, begin + sizes], axis=1)[np.argsort(-prices, kind="stable")]
    return branch, np.flatnonzero(group < 0), group


@kernel
def _grow(parent, cost, most):
    """Branch of each supernode, in ascending order: whole subtrees side by side as long as they cost no more than `most`;
    -1 where a single subtree does."""
    count = parent.shape[0]
    whole = cost.copy()
    for s in range(count):
        if parent[s] >= 0:
            whole[parent[s]] += whole[s]
    group = np.full(count, -1)
    last, price, begin = -1, np.inf, 0  # the branch that may still grow, and where the subtree at hand begins
    for s in range(count):
        if whole[s] > most:
            price, begin = np.inf, s + 1
        elif parent[s] < 0 or whole[parent[s]] > most:
            if price + whole[s] > most:
                last, price = last + 1, 0.0
            price += whole[s]
            group[begin : s + 1] = last
            begin = s + 1
    return group


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
            for q in range(end):
                larger[q] = rows[q]
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
        rows[begin[j] : end].sort()
        begin[j + 1] = end
        if parent[j] >= 0:
            following[j] = head[parent[j]]
            head[parent[j]] = j
    return begin, rows


@inner
def _worth_merging(columns, zeros, below, dof):
    """Whether a merged supernode of so many columns may hold so many explicit zero blocks: none of large ones, which are
    fast enough alone."""
    if dof > LARGE:
        return zeros == 0.0
    share = zeros / (columns * (columns + 1) / 2 + columns * below)
    return columns <= 2 or (columns <= 4 and share < 0.5) or (columns <= 10 and share < 0.25) or share < 0.1


@kernel
def _supernodes(order, position, start, neighbour, parent, dof):
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
            if not _worth_merging(end - a, added, below_b, dof):
                break
            zeros[count - 2] = added
            count -= 1
    first[count] = n
    first = first[: count + 1].copy()
    row_start = np.zeros(count + 1, np.int64)
    owner = np.empty(n, np.int64)
    for s in range(count):
        last = first[s + 1] - 1
        row_start[s + 1] = row_start[s] + begin[last + 1] - begin[last]
        owner[first[s] : first[s + 1]] = s
    below = np.empty(row_start[count], np.int64)
    for s in range(count):
        last = first[s + 1] - 1
        below[row_start[s] : row_start[s + 1]] = rows[begin[last] : begin[last + 1]]
    return first, row_start, below, owner


@kernel
def _tree(first, row_start, rows, owner):
    """Tree of supernodes, the slot of each row in its parent's front, and how many rows sit side by side from there on."""
    count = first.shape[0] - 1
    parent, child, sibling = np.full(count, -1), np.full(count, -1), np.full(count, -1)
    slot, run = np.full(rows.shape[0], -1), np.ones(rows.shape[0], np.int64)
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
        for r in range(row_start[s + 1] - 2, row_start[s] - 1, -1):
            if slot[r + 1] == slot[r] + 1:
                run[r] = run[r + 1] + 1
    return parent, child, sibling, slot, run


@kernel
def _stack(parent, child, sibling, below, group, dof):
    """Offsets of the update matrices. Each branch, and the top, has two stacks, for supernodes at even and odd depth: when
    one is assembled, its children in the same group are the top of the other stack and are popped."""
    count = parent.shape[0]
    depth = np.zeros(count, np.int64)
    for s in range(count - 1, -1, -1):
        if parent[s] >= 0:
            depth[s] = depth[parent[s]] + 1
    groups = group.max() + 2
    top, peak = np.zeros((groups, 2), np.int64), np.zeros((groups, 2), np.int64)
    offset = np.zeros(count, np.int64)
    for s in range(count):
        g, mine = group[s], depth[s] % 2  # the top is the last group, -1
        offset[s] = top[g, mine]
        top[g, mine] += (dof * below[s]) ** 2
        peak[g, mine] = max(peak[g, mine], top[g, mine])
        c = child[s]
        while c >= 0 and group[c] != g:
            c = sibling[c]
        if c >= 0:
            top[g, 1 - mine] = offset[c]
    base = np.zeros(2 * groups + 1, np.int64)
    base[1:] = np.cumsum(peak.ravel())
    for s in range(count):
        offset[s] += base[2 * (group[s] % groups) + depth[s] % 2]
    return offset, base[-1]

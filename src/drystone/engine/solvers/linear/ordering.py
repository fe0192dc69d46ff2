"""The order in which bodies are eliminated: geometric nested dissection, then a postorder of the elimination tree.

A graph of bodies (who shares a contact with whom) and the places where they stood at the start come in; the order, its
elimination tree and the graph as compressed rows go out, functions of these alone.
"""

import numpy as np

from drystone.base.kernel import inner, kernel

Array = np.ndarray


def order_bodies(place: Array, edge_a: Array, edge_b: Array) -> tuple[Array, Array, Array, Array]:
    """place (N, 3) [m], edges (E,). Body at each position, parent position of each position, rows of the graph."""
    start, neighbour = _adjacency(len(place), edge_a, edge_b)
    along = np.argsort(place, axis=0, kind="stable").T.copy()
    order = _dissect(along, np.argsort(along, axis=1), start, neighbour)
    order = order[_postorder(_elimination_tree(order, start, neighbour))]
    return order, _elimination_tree(order, start, neighbour), start, neighbour


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
def _dissect(along, rank, start, neighbour, leaf=8):
    """Nested dissection: a part is cut in two across one of the axes, the bodies of one side that touch the other (the
    separator) come last. along (3, N): the bodies along each axis; rank (3, N): where each is."""
    n = along.shape[1]
    order, part, spot = np.arange(n), np.full(n, -1), np.empty(n, np.int64)
    stack, stamp = [(0, n)], 0
    while len(stack) > 0:
        lo, hi = stack.pop()
        if hi - lo <= leaf:
            continue
        stamp += 1
        part[order[lo:hi]] = stamp
        best, axis = n + 1, 0
        for d in range(3):
            size, _, _ = _best_cut(_sorted(order[lo:hi], along[d], rank[d]), stamp, part, spot, start, neighbour)
            if size < best:
                best, axis = size, d
        bodies = _sorted(order[lo:hi], along[axis], rank[axis])
        size, cut, side = _best_cut(bodies, stamp, part, spot, start, neighbour)
        left, right, last = lo, hi - size, hi  # where the next of each goes; the right side backwards
        for k in range(hi - lo):
            near, far = _reach(bodies[k], stamp, part, spot, start, neighbour)
            if near < cut <= far and (k >= cut) == side:
                last -= 1
                order[last] = bodies[k]
            elif k < cut:
                order[left] = bodies[k]
                left += 1
            else:
                right -= 1
                order[right] = bodies[k]
        stack.append((lo, left))
        stack.append((left, hi - size))
    return order


@kernel
def _sorted(bodies, along, rank):
    where = rank[bodies]
    where.sort()
    return along[where]


@inner
def _reach(body, stamp, part, spot, start, neighbour):
    """First and last spot of a body and its neighbours in the same part."""
    near = far = spot[body]
    for q in range(start[body], start[body + 1]):
        if part[neighbour[q]] == stamp:
            near, far = min(near, spot[neighbour[q]]), max(far, spot[neighbour[q]])
    return near, far


@kernel
def _best_cut(bodies, stamp, part, spot, start, neighbour):
    """Size of the smallest separator for a cut near the middle of a row of bodies, where the cut is, and on which side the
    separator (0 left, 1 right). A cut at m is crossed by bodies that reach from before m to m or beyond."""
    n = bodies.shape[0]
    for k in range(n):
        spot[bodies[k]] = k
    change = np.zeros((n + 1, 2), np.int64)  # of the number of bodies on either side that touch the other
    for k in range(n):
        near, far = _reach(bodies[k], stamp, part, spot, start, neighbour)
        change[k + 1, 0] += 1
        change[min(far + 1, n), 0] -= 1
        change[min(near + 1, n), 1] += 1
        change[k + 1, 1] -= 1
    best, cut, side, touch = n + 1, n // 2, 0, np.zeros(2, np.int64)
    for m in range(1, n // 2 + n // 20 + 1):
        touch += change[m]
        if m >= n // 2 - n // 20:
            here = 0 if touch[0] <= touch[1] else 1
            if touch[here] < best or (touch[here] == best and abs(2 * m - n) < abs(2 * cut - n)):
                best, cut, side = touch[here], m, here
    return best, cut, side


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

"""The order in which bodies are eliminated: geometric nested dissection, then a postorder of the elimination tree.

A graph of bodies (who shares a contact with whom) and the places where they stood at the start come in; the order, its
elimination tree and the graph as compressed rows go out, functions of these alone.
"""

import numpy as np

from drystone.kernel import kernel

Array = np.ndarray


def order_bodies(place: Array, edge_a: Array, edge_b: Array) -> tuple[Array, Array, Array, Array]:
    """place (N, 3) [m], edges (E,). Body at each position, parent position of each position, rows of the graph."""
    start, neighbour = _adjacency(len(place), edge_a, edge_b)
    order = _dissect(place, start, neighbour)
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

"""Finds pairs of points that are near each other, and the connected groups of a graph.

These replace `cKDTree.query_pairs` and `connected_components` of SciPy, which take half a second to import.

>>> find_near_pairs(np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 0.1]]), 1.0).tolist()
[[0, 2]]
>>> label_connected(5, np.array([[3, 1], [4, 3]])).tolist()
[0, 1, 2, 1, 1]
"""

import numpy as np

Array = np.ndarray


def find_near_pairs(points: Array, reach: float) -> Array:
    """(P, 2) rows of points (N, D) that are at most `reach` apart, the smaller row first.

    Such points are at most that far apart along any direction. Along a direction that is not an axis or a diagonal of typical
    structures, distant points hardly ever have the same coordinate, so that few pairs have to be checked. If many points
    coincide, the time is proportional to the number of pairs."""
    direction = np.sqrt([2.0, 3.0, 5.0, 7.0, 11.0, 13.0])[: points.shape[1]]
    along = points @ (direction / np.linalg.norm(direction))
    order = np.argsort(along, kind="stable")
    along = along[order]
    slack = reach + 1e-12 * float(np.abs(along).max(initial=0.0))  # of rounding
    batches = [np.empty((0, 2), np.int64)]
    for ahead in range(1, len(points)):
        first = np.flatnonzero(along[ahead:] - along[:-ahead] <= slack)
        if not len(first):
            break
        pairs = np.sort(np.column_stack([order[first], order[first + ahead]]), axis=1)
        batches.append(pairs[np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1) <= reach])
    return np.concatenate(batches)


def label_connected(count: int, pairs: Array) -> Array:
    """(count,) int64 the number of the connected group of each row; pairs (P, 2) are the edges. Groups are numbered in the
    order
    of their first rows."""
    root = np.arange(count)
    one, other = pairs[:, 0], pairs[:, 1]
    while (apart := root[one] != root[other]).any():
        one, other = one[apart], other[apart]
        low, high = np.minimum(root[one], root[other]), np.maximum(root[one], root[other])
        np.minimum.at(root, high, low)
        while (root[root] != root).any():
            root = root[root]
    return np.unique(root, return_inverse=True)[1]

"""Who is near whom, and who hangs together: points or pairs of rows come in, pairs or numbers of groups go out.

The same as scipy's `cKDTree.query_pairs` and `connected_components`, which take half a second to import.

>>> near_pairs(np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 0.1]]), 1.0).tolist()
[[0, 2]]
>>> connected(5, np.array([[3, 1], [4, 3]])).tolist()
[0, 1, 2, 1, 1]
"""

import numpy as np

Array = np.ndarray


def find_near_pairs(points: Array, reach: float) -> Array:
    """(P, 2) rows of points (N, D) that are at most `reach` apart, the smaller row first.

    They are at most that far apart along any direction. Along one that is no axis or diagonal of anything built, points that
    are apart hardly ever fall together, so that few pairs have to be looked at; where many do, as in a heap of copies, this
    takes as long as there are pairs."""
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
    """(count,) int64 for each row the number of its group: rows that pairs (P, 2) join, directly or through others. Groups are
    numbered by their first rows."""
    root = np.arange(count)
    one, other = pairs[:, 0], pairs[:, 1]
    while (apart := root[one] != root[other]).any():
        one, other = one[apart], other[apart]
        low, high = np.minimum(root[one], root[other]), np.maximum(root[one], root[other])
        np.minimum.at(root, high, low)
        while (root[root] != root).any():
            root = root[root]
    return np.unique(root, return_inverse=True)[1]

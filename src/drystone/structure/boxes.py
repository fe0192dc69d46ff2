"""The vertices of a structure, and the diagonal of a bounding box, to which tolerances and pictures refer."""

from collections.abc import Iterable

import numpy as np

from drystone.structure.model import Block

Array = np.ndarray


def all_vertices(blocks: Iterable[Block]) -> Array:
    """(N, 3) [m] the vertices of all blocks as built."""
    return np.concatenate([np.asarray(block.vertices) for block in blocks])


def box_diagonal(points: Array) -> float:
    """[m] The diagonal of the axis-aligned bounding box of points (N, 3).

    >>> box_diagonal(np.array([[0, 0, 0], [3, 4, 0], [1, 1, 0]]))
    5.0
    """
    return float(np.linalg.norm(np.ptp(points, axis=0)))

"""Convex faces as fans of triangles from their first corner: the corners of faces come in, triangles of them go out."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

Array = np.ndarray


def triangulate_fan(face: Sequence[int]) -> list[tuple[int, int, int]]:
    """The triangles of one face.

    >>> triangulate_fan([4, 5, 6, 7])
    [(4, 5, 6), (4, 6, 7)]
    """
    return [(face[0], b, c) for b, c in pairwise(face[1:])]


def triangulate_faces(face_start: Array, face_vertex: Array) -> tuple[Array, Array]:
    """(T, 3) corners of the triangles of all faces, in the order of the faces, and (T,) the face of each triangle.

    The corners of face f are `face_vertex[face_start[f] : face_start[f + 1]]`.

    >>> triangulate_faces(np.array([0, 4, 7]), np.array([4, 5, 6, 7, 0, 1, 2]))[0].tolist()
    [[4, 5, 6], [4, 6, 7], [0, 1, 2]]
    """
    count = np.diff(face_start) - 2
    face = np.repeat(np.arange(len(count)), count)
    first = face_start[face]
    step = np.arange(len(face)) - (np.cumsum(count) - count)[face]
    return face_vertex[np.stack([first, first + step + 1, first + step + 2], axis=1)], face

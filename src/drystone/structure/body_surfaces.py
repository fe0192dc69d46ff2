"""The vertices and faces of all bodies: the block that each belongs to, and the positions of vertices in world coordinates."""

import numpy as np

from drystone.base import quaternion
from drystone.structure.model import Bodies

Array = np.ndarray


def block_of_vertices(bodies: Bodies) -> Array:
    """(NV,) the block of each vertex."""
    return np.repeat(bodies.owner, np.diff(bodies.vertex_start))


def block_of_faces(bodies: Bodies) -> Array:
    """(NF,) the block of each face."""
    return np.repeat(bodies.owner, np.diff(bodies.piece_face))


def world_vertices(bodies: Bodies, position: Array, rotation: Array) -> Array:
    """(NV, 3) [m] the vertices in world coordinates, for centroids at position (B, 3) and quaternions rotation (B, 4)."""
    block = block_of_vertices(bodies)
    return position[block] + quaternion.rotate(rotation[block], bodies.vertex)

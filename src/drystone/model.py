"""The door: blocks, joints and supports come in, a checked `Model` goes out; inside, its arrays are trusted.

All lengths in m, masses in kg, world axes with z up. A block's body frame has its origin at the centroid and,
at the start, the world's axes.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Block:
    """One stone: a convex polyhedron."""

    vertices: Array  # (V, 3) [m] world coordinates
    faces: tuple[tuple[int, ...], ...]  # vertex indices, counter-clockwise seen from outside
    density: float = 2000.0  # [kg/m3]
    fixed: bool = False  # a support: it does not move, or moves as prescribed
    name: str = ""
    group: str = ""  # joints between two groups may have their own friction


class Bodies(NamedTuple):
    """The blocks as flat arrays, as kernels read them. Block i owns vertices vertex_start[i]:vertex_start[i+1] and
    faces block_face[i]:block_face[i+1]; face f owns corners face_vertex[face_start[f]:face_start[f+1]]."""

    vertex: Array  # (NV, 3) [m] body frame
    vertex_start: Array  # (B+1,) int64
    face_vertex: Array  # (NFV,) int64 rows of `vertex`, counter-clockwise seen from outside
    face_start: Array  # (NF+1,) int64
    block_face: Array  # (B+1,) int64
    face_normal: Array  # (NF, 3) body frame, outward, unit
    mass: Array  # (B,) [kg]
    inertia: Array  # (B, 3, 3) [kg m2] about the centroid, body frame
    radius: Array  # (B,) [m] of the sphere about the centroid that holds the block
    fixed: Array  # (B,) bool
    group: Array  # (B,) int64 row of `Model.friction`


@dataclass(frozen=True)
class Model:
    """The immutable description of a structure; everything in it has passed the checks of `build_model`."""

    blocks: tuple[Block, ...]
    bodies: Bodies
    position: Array  # (B, 3) [m] centroids at the start
    friction: Array  # (G, G) coefficient between groups of blocks, symmetric

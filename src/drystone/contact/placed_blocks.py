"""Blocks in the world: bodies and their poses come in, world vertices, face planes, boxes and margins go out.

Step 1 of detection. The margin of a pair, beyond which its points are no contacts [m]:
    margin(a, b) = 0.005 min(r_a, r_b) + 2 h (|v_b - v_a| + |w_a| r_a + |w_b| r_b) + grip_a + grip_b
Each block's own share, its `reach`, measures speed against a common velocity, so that reach_a + reach_b >= margin.
"""

from typing import NamedTuple

import numpy as np

from drystone.base.kernel import inner
from drystone.structure.model import Bodies

Array = np.ndarray

NEAR = 0.005  # of the smaller radius: blocks at rest that are nearer than this touch


class Placed(NamedTuple):
    """World geometry of the blocks at one instant; rows of vertices and faces as in `Bodies`."""

    vertex: Array  # (NV, 3) [m]
    normal: Array  # (NF, 3) outward, unit
    offset: Array  # (NF,) [m] normal . any corner of the face
    low: Array  # (P, 3) [m] box of the piece
    high: Array  # (P, 3) [m]
    size: Array  # (P,) [m] smallest width across the piece's own faces
    sweep: Array  # (B, 4) [m] linear velocity times 2 h, spin times radius times 2 h plus the grip of its joints
    reach: Array  # (B,) [m] own share of any margin


def place(bodies: Bodies, position: Array, rotation: Array, velocity: Array, h: float) -> Placed:
    """World vertices, face planes and boxes of every piece; reach of every block."""
    blocks, pieces, vertices, faces = len(position), len(bodies.owner), len(bodies.vertex), len(bodies.face_normal)
    placed = Placed(
        vertex=np.empty((vertices, 3)),
        normal=np.empty((faces, 3)),
        offset=np.empty(faces),
        low=np.empty((pieces, 3)),
        high=np.empty((pieces, 3)),
        size=np.empty(pieces),
        sweep=np.empty((blocks, 4)),
        reach=np.empty(blocks),
    )
    widths(bodies, placed.size)
    _place(bodies, position, rotation, velocity, h, placed)
    return placed


@inner
def pair_margin(a, b, radius, sweep):
    """Gap beyond which a point of blocks a and b is no contact [m]."""
    x = sweep[b, 0] - sweep[a, 0]
    y = sweep[b, 1] - sweep[a, 1]
    z = sweep[b, 2] - sweep[a, 2]
    return NEAR * min(radius[a], radius[b]) + np.sqrt(x * x + y * y + z * z) + sweep[a, 3] + sweep[b, 3]


@inner
def _place(bodies, position, rotation, velocity, h, out):
    for p in range(bodies.owner.shape[0]):
        i = bodies.owner[p]
        place_piece(bodies, p, position[i], rotation[i], out)
    sweeps(bodies.radius, bodies.fixed, bodies.grip, velocity, h, out.sweep, out.reach)


@inner
def place_piece(bodies, p, position, rotation, out):
    """Vertices, face planes and box of piece p of a block at this position (3,) and rotation (4,)."""
    turn = _matrix(rotation[0], rotation[1], rotation[2], rotation[3])
    _place_vertices(bodies, p, position, turn, out)
    _place_faces(bodies, p, turn, out)


@inner
def widths(bodies, out):
    """(P,) [m] smallest width of every piece across its own faces."""
    for p in range(bodies.owner.shape[0]):
        out[p] = np.inf
        for f in range(bodies.piece_face[p], bodies.piece_face[p + 1]):
            corner = bodies.face_vertex[bodies.face_start[f]]
            x, y, z = bodies.face_normal[f, 0], bodies.face_normal[f, 1], bodies.face_normal[f, 2]
            out[p] = min(out[p], _depth_behind(bodies, p, corner, x, y, z))


@inner
def _matrix(s, x, y, z):
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - s * z), 2 * (x * z + s * y)),
        (2 * (x * y + s * z), 1 - 2 * (x * x + z * z), 2 * (y * z - s * x)),
        (2 * (x * z - s * y), 2 * (y * z + s * x), 1 - 2 * (x * x + y * y)),
    )


@inner
def _place_vertices(bodies, p, position, turn, out):
    for axis in range(3):
        out.low[p, axis], out.high[p, axis] = np.inf, -np.inf
    for v in range(bodies.vertex_start[p], bodies.vertex_start[p + 1]):
        x, y, z = bodies.vertex[v, 0], bodies.vertex[v, 1], bodies.vertex[v, 2]
        for axis in range(3):
            row = turn[axis]
            s = position[axis] + row[0] * x + row[1] * y + row[2] * z
            out.vertex[v, axis] = s
            out.low[p, axis] = min(out.low[p, axis], s)
            out.high[p, axis] = max(out.high[p, axis], s)


@inner
def _place_faces(bodies, p, turn, out):
    for f in range(bodies.piece_face[p], bodies.piece_face[p + 1]):
        x, y, z = bodies.face_normal[f, 0], bodies.face_normal[f, 1], bodies.face_normal[f, 2]
        corner = bodies.face_vertex[bodies.face_start[f]]
        offset = 0.0
        for axis in range(3):
            row = turn[axis]
            n = row[0] * x + row[1] * y + row[2] * z
            out.normal[f, axis] = n
            offset += n * out.vertex[corner, axis]
        out.offset[f] = offset


@inner
def _depth_behind(bodies, p, corner, x, y, z):
    """Width of piece p across its face with this corner and normal, in the body frame."""
    lowest = np.inf
    for v in range(bodies.vertex_start[p], bodies.vertex_start[p + 1]):
        lowest = min(lowest, x * bodies.vertex[v, 0] + y * bodies.vertex[v, 1] + z * bodies.vertex[v, 2])
    return x * bodies.vertex[corner, 0] + y * bodies.vertex[corner, 1] + z * bodies.vertex[corner, 2] - lowest


@inner
def sweeps(radius, fixed, grip, velocity, h, sweep, reach):
    """What `pair_margin` and the boxes of the broad phase need, for blocks that move with their velocities for h [s]."""
    common = _mean_velocity(fixed, velocity)
    for i in range(radius.shape[0]):
        stray2, spin2 = 0.0, 0.0
        for axis in range(3):
            sweep[i, axis] = 2 * h * velocity[i, axis]
            stray2 += (velocity[i, axis] - common[axis]) ** 2
            spin2 += velocity[i, 3 + axis] ** 2
        sweep[i, 3] = 2 * h * np.sqrt(spin2) * radius[i] + grip[i]
        # The last factor covers rounding: a pair at exactly its margin must not be lost.
        reach[i] = (0.0025 * radius[i] + 2 * h * np.sqrt(stray2) + sweep[i, 3]) * (1 + 1e-9)


@inner
def _mean_velocity(fixed, velocity):
    """Of the free blocks; any common velocity would do, this one keeps the reach small on a moving ground [m/s]."""
    x, y, z, free = 0.0, 0.0, 0.0, 0
    for i in range(fixed.shape[0]):
        if not fixed[i]:
            x, y, z, free = x + velocity[i, 0], y + velocity[i, 1], z + velocity[i, 2], free + 1
    scale = 1 / max(free, 1)
    return x * scale, y * scale, z * scale

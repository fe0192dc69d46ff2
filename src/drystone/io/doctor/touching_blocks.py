"""Finds which sound blocks touch each other and which have a small gap, as `JointGaps`.

Contact detection is run twice: as at the start of a run, which finds the blocks that touch; and as if every block were about
to rotate, which widens the search margin and finds pairs with a small gap. All lengths are in m.
"""

from typing import NamedTuple

import numpy as np

from drystone.contact.broad_phase import candidate_pairs
from drystone.contact.contacts import Contacts, no_contacts
from drystone.contact.detection import detect
from drystone.contact.placed_blocks import place
from drystone.structure.model import Block, Bodies, combine_pieces, make_bodies
from drystone.structure.polyhedra import Solids, Surfaces, bounding_boxes, face_normals, mass_properties

Array = np.ndarray


class JointGaps(NamedTuple):
    """J pairs of blocks that touch, or have a gap below the requested distance."""

    a: Array  # (J,) row of the block, a < b
    b: Array  # (J,)
    normal: Array  # (J, 3) from a into b
    gap: Array  # (J,) [m] least gap, negative where the blocks overlap
    touching: Array  # (J,) bool: whether there is a contact for the solver


NO_JOINT_GAPS = JointGaps(np.empty(0, np.int64), np.empty(0, np.int64), np.empty((0, 3)), np.empty(0), np.empty(0, bool))


def find_joints(bodies: Bodies, position: Array, reach: Array) -> tuple[JointGaps, int]:
    """The joints with gaps up to the smaller `reach` (B,) [m] of the two blocks, and the number of points that touch."""
    still = _detect(bodies, position, 0.0)
    # A rotation by w in the step adds w times the radius of the block to its margin: enough for every requested reach.
    wide = _detect(bodies, position, float((reach / bodies.radius).max(initial=0.0)))
    first = np.flatnonzero(np.diff(wide.a, prepend=-1) | np.diff(wide.b, prepend=-1))
    order = np.lexsort((wide.gap, wide.b, wide.a))  # the closest point first
    a, b, gap = wide.a[order][first], wide.b[order][first], wide.gap[order][first]
    touching = np.isin(_pair_key(a, b, len(position)), _pair_key(still.a, still.b, len(position)))
    kept = touching | (gap <= np.minimum(reach[a], reach[b]))
    return JointGaps(a[kept], b[kept], wide.normal[order][first][kept], gap[kept], touching[kept]), len(still.gap)


def with_overlaps(joints: JointGaps, rows: Array, pieces: Array, surfaces: Surfaces) -> JointGaps:
    """The joints, with the depth of overlapping pairs replaced by their least overlap along a face normal, as contact detection
    skips pairs that share an edge only, and measures the depth where faces meet. rows, pieces: (P, 2) the overlapping pairs,
    as blocks and as pieces of `surfaces`."""
    count = 1 + int(max(rows.max(), joints.b.max(initial=0)))
    kept = ~np.isin(_pair_key(joints.a, joints.b, count), _pair_key(rows[:, 0], rows[:, 1], count))
    normal = face_normals(surfaces)
    overlaps = [_least_overlap(surfaces, normal, p, q) for p, q in pieces]
    direction, depth = np.array([d for d, _ in overlaps]), np.array([depth for _, depth in overlaps])
    overlapping = JointGaps(rows[:, 0], rows[:, 1], direction, -depth, np.ones(len(rows), bool))
    return JointGaps(*(np.concatenate([old[kept], new]) for old, new in zip(joints, overlapping, strict=True)))


def _least_overlap(s: Surfaces, normal: Array, p: int, q: int) -> tuple[Array, float]:
    """The face normal, directed from piece p into q, along which they overlap least, and the overlap [m]."""
    axes = np.concatenate([normal[s.block_face[k] : s.block_face[k + 1]] for k in (p, q)])
    a, b = (s.vertex[s.vertex_start[k] : s.vertex_start[k + 1]] @ axes.T for k in (p, q))
    forward, backward = a.max(axis=0) - b.min(axis=0), b.max(axis=0) - a.min(axis=0)
    k = int(np.argmin(np.minimum(forward, backward)))
    return (axes[k], float(forward[k])) if forward[k] <= backward[k] else (-axes[k], float(backward[k]))


def _pair_key(a: Array, b: Array, blocks: int) -> Array:
    return a * blocks + b


def _detect(bodies: Bodies, position: Array, turn: float) -> Contacts:
    """The contacts of blocks at rest, or of blocks that rotate by `turn` [rad] within a step."""
    velocity = np.zeros((len(position), 6))
    velocity[:, 3] = turn
    return detect(bodies, position, _upright(position), velocity, 0.5, no_contacts(), 0)[0]


def _upright(position: Array) -> Array:
    return np.tile([1.0, 0.0, 0.0, 0.0], (len(position), 1))


def make_sound_bodies(blocks: list[Block], surfaces: Surfaces, owner: Array) -> tuple[Bodies, Array]:
    """The bodies of sound blocks, with density 1, and their centroids (B, 3)."""
    solids = combine_pieces(mass_properties(surfaces), owner)
    return _bodies(surfaces, solids, owner, blocks), solids.centroid


def find_touching_boxes(blocks: list[Block], surfaces: Surfaces, owner: Array) -> Array:
    """(P, 2) pairs of blocks, sound or not, whose boxes touch."""
    bodies, position = make_box_bodies(blocks, surfaces, owner)
    placed = place(bodies, position, _upright(position), np.zeros((len(blocks), 6)), 0.0)
    return owner[candidate_pairs(bodies, placed)]


def make_box_bodies(blocks: list[Block], surfaces: Surfaces, owner: Array) -> tuple[Bodies, Array]:
    """Bodies of blocks, sound or not, with dummy masses, and the centre (B, 3) of the box of each; for box checks only."""
    low, high = bounding_boxes(surfaces)
    count = len(blocks)
    position = np.zeros((count, 3))
    position[owner] = (low + high) / 2  # any point of the block will do
    with np.errstate(invalid="ignore"):  # a face without area has no normal
        return _bodies(surfaces, Solids(np.ones(count), position, np.zeros((count, 3, 3))), owner, blocks), position


def _bodies(surfaces: Surfaces, solids: Solids, owner: Array, blocks: list[Block]) -> Bodies:
    fixed = np.array([block.fixed for block in blocks], bool)
    return make_bodies(surfaces, solids, owner, np.ones(len(blocks)), fixed, np.zeros(len(blocks), np.int64))

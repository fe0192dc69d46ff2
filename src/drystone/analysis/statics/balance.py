"""The balance of forces and moments of a structure as an equation, for given positions of its blocks (T30).

Forces f in the frames of the contacts act on the free blocks with the wrench matrix f. The transposed matrix maps the
velocities of the blocks to the relative velocities at the contacts. In the plane a block has 3 unknowns and a contact 2."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from drystone.contact.contacts import Contacts, no_contacts
from drystone.contact.detection import detect
from drystone.engine.contact_laws import refuse_own_laws
from drystone.structure.model import Model

Array = np.ndarray

SPACE_UNKNOWNS, PLANE_UNKNOWNS = np.arange(6), np.array([0, 2, 4])  # unknowns of a free block


class Balance(NamedTuple):
    """N free blocks with D unknowns each, C contacts with d components each."""

    model: Model
    free: Array  # (N,) int64 blocks
    unknowns: Array  # (D,) which of x, y, z and the rotations about them
    contacts: Contacts  # with the gaps found by contact detection
    frame: Array  # (C, d, 3) world vectors: normal, tangents
    friction: Array  # (C,)
    matrix: sp.csc_array  # (N D, C d) wrench [N, N m] about the centroids by forces [N]
    centroid: Array  # (B, 3) [m] centroids of the blocks
    broken: Array  # (C,) bool whether the bond of the joint is broken
    fibres: bool = False  # contacts are parts of joint areas; those without area are corners of joints that cannot be crushed

    def free_rows(self, wrench: Array) -> Array:
        """(N D,) The rows of a wrench (B, 6) that belong to the free blocks."""
        return wrench[np.ix_(self.free, self.unknowns)].ravel()

    def velocity_of_all(self, velocity: Array) -> Array:
        """(B, 6) The velocities of all blocks from those of the free blocks (N D,)."""
        full = np.zeros((len(self.model.blocks), 6))
        full[np.ix_(self.free, self.unknowns)] = velocity.reshape(len(self.free), -1)
        return full

    def relative_velocity(self, velocity: Array) -> Array:
        """(C, d) The velocities of b relative to a at the contacts, from the velocities (B, 6) of all blocks."""
        slip = self.matrix.T @ self.free_rows(velocity)
        return slip.reshape(len(self.friction), -1)

    def with_forces(self, force: Array) -> Contacts:
        """The contacts with these forces (C, d) [N] instead of impulses."""
        return self.contacts._replace(impulse=np.einsum("cd,cdk->ck", force, self.frame))


def assemble_balance(
    model: Model,
    position: Array | None = None,
    rotation: Array | None = None,
    movement: Array | None = None,
    *,
    widest: float = np.inf,
) -> Balance:
    """The balance with the blocks at these positions, by default as drawn. Blocks are in contact if contact detection finds
    them, which looks ahead by a movement (B, 6) [m, rad]. Points with a gap of more than `widest` [m] are left out."""
    refuse_own_laws(model)
    centroids = model.position if position is None else position
    rotations = np.tile([1.0, 0.0, 0.0, 0.0], (len(centroids), 1)) if rotation is None else rotation
    ahead = np.zeros((len(centroids), 6)) if movement is None else movement
    contacts, _ = detect(model.bodies, centroids, rotations, ahead, 1.0, no_contacts(), 0, model.planar)
    contacts = Contacts(*(values[contacts.gap <= widest] for values in contacts))
    friction = model.friction_between(contacts.a, contacts.b)
    free, unknowns = np.flatnonzero(~model.bodies.fixed), PLANE_UNKNOWNS if model.planar else SPACE_UNKNOWNS
    frame = _frames(contacts.normal, model.planar)
    matrix = _matrix(model, centroids, free, unknowns, contacts, frame)
    return Balance(model, free, unknowns, contacts, frame, friction, matrix, centroids, np.zeros(len(friction), bool))


def with_contacts(original: Balance, contacts: Contacts, points: Array) -> Balance:
    """The balance with other contacts: fibres of the joints, where `points` (C,) gives one original contact point of each
    joint."""
    friction = original.model.friction_between(contacts.a, contacts.b)
    frame = original.frame[points]
    matrix = _matrix(original.model, original.centroid, original.free, original.unknowns, contacts, frame)
    return original._replace(
        contacts=contacts, frame=frame, friction=friction, matrix=matrix, broken=original.broken[points], fibres=True
    )


def _frames(normal: Array, planar: bool) -> Array:
    """(C, d, 3) The normal and two tangents, or one tangent in the plane."""
    if planar:
        return np.stack([normal, np.cross(normal, (0.0, 1.0, 0.0))], axis=1)
    first = np.eye(3)[np.abs(normal).argmin(axis=1)]
    first = first - (first * normal).sum(axis=1, keepdims=True) * normal
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return np.stack([normal, first, np.cross(normal, first)], axis=1)


def _matrix(model: Model, centroids: Array, free: Array, unknowns: Array, contacts: Contacts, frame: Array) -> sp.csc_array:
    slot = np.full(len(centroids), -1)
    slot[free] = np.arange(len(free))
    count, size, directions = len(contacts.gap), len(unknowns), frame.shape[1]
    parts = []
    for body, sign in ((contacts.a, -1.0), (contacts.b, 1.0)):
        arm = (contacts.point - centroids[body])[:, None, :]
        wrench = sign * np.concatenate([frame, np.cross(arm, frame)], axis=2)[:, :, unknowns]  # (C, d, D)
        is_free = slot[body] >= 0
        row = size * slot[body][:, None, None] + np.arange(size) + np.zeros((1, directions, 1), int)
        column = np.arange(count * directions).reshape(count, directions, 1) + np.zeros((1, 1, size), int)
        parts.append((wrench[is_free].ravel(), row[is_free].ravel(), column[is_free].ravel()))
    value, i, j = (np.concatenate(part) for part in zip(*parts, strict=True))
    return sp.csc_array((value, (i, j)), shape=(size * len(free), directions * count))

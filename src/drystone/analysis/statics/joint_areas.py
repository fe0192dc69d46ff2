"""The joints of a balance as areas, with one shear force and one couple per joint, and the friction that they bear.

A rigid joint that cannot be crushed bears any normal force whose centre lies in its polygon, which is what normal forces at its
corners bear together. Its friction is one force in the joint and one couple about its normal. Their strength depends on the
distribution of pressure (joint_pressure.py) and is given for one pressure at a time by `Friction` (T411, T412).
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from drystone.analysis.statics.balance import Balance
from drystone.analysis.statics.joint_pressure import order_hulls, spread_pressure

Array = np.ndarray

# of a normal, and of the size of the structure: contact points of two blocks that agree to this are in one joint
SAME_PLANE = 1e-6
MIN_SPEED_SHARE = 1e-3  # of the fastest point of a joint: slower points count with this speed in ellipsoids
MAX_ITERATIONS = 40  # to find the slip that resists a given direction of force
CONVERGED_CHANGE = 1e-7  # relative change at which the iteration ends


class JointAreas(NamedTuple):
    """J joints of C contact points. A joint has k unknowns besides its normal forces: 3 in space, the shear force along both
    tangents and the couple about the normal at its origin over its size; 1 in the plane."""

    joint_of_point: Array  # (C,) int64 the joint of each contact point
    first_point: Array  # (J,) int64 one of its contact points
    origin: Array  # (J, 3) [m] world
    offset: Array  # (C, 2) [m] contact points from the origin of their joint, along the tangents
    start: Array  # (J + 1,) int64 where the corners of each joint begin
    corners: Array  # (J,) int64 how many corners its polygon has
    corner: Array  # (C, 2) [m] from the origin, counter-clockwise
    size: Array  # (J,) [m] farthest corner from the origin
    friction: Array  # (J,)
    matrix: sp.csc_array  # (N D, J k) wrench on the free blocks by the unknowns of the joints

    @property
    def unknowns(self) -> int:
        return self.matrix.shape[1] // max(len(self.first_point), 1)

    def normal_and_centre(self, normal: Array) -> tuple[Array, Array]:
        """(J,) [N] and (J, 2) [m] The normal forces of the joints and where they act, from those of the points (C,)."""
        count = len(self.first_point)
        total = np.bincount(self.joint_of_point, normal, count)
        centre = np.stack([np.bincount(self.joint_of_point, normal * self.offset[:, i], count) for i in (0, 1)], axis=1)
        return total, centre / np.where(total > 0.0, total, 1.0)[:, None]


class Friction(NamedTuple):
    """The friction of joints under pressures with a normal force of 1, at K points; forces and slips refer to the centres."""

    centre: Array  # (J, 2) [m] from the origin
    start: Array  # (J + 1,) int64
    arm: Array  # (K, 2) from the centre, over the size of the joint
    share: Array  # (K,) friction times share of the normal force


def find_joint_areas(balance: Balance) -> JointAreas:
    """The joints of a balance: contact points of the same two blocks, with the same normal and in one plane."""
    contacts, frame = balance.contacts, balance.frame
    of_point = _same_joint(balance)
    first = np.unique(of_point, return_index=True)[1]
    counts = np.bincount(of_point, minlength=len(first))
    origin = np.stack([np.bincount(of_point, contacts.point[:, i], len(first)) / counts for i in range(3)], axis=1)
    tangent = frame[first][:, 1:]
    if balance.model.planar:  # no area: the second tangent is across the plane
        tangent = np.concatenate([tangent, np.tile([[[0.0, 1.0, 0.0]]], (len(first), 1, 1))], axis=1)
    offset = np.einsum("ck,cik->ci", contacts.point - origin[of_point], tangent[of_point])
    order = np.argsort(of_point, kind="stable")
    start = np.concatenate([[0], np.cumsum(counts)])
    corner = np.ascontiguousarray(offset[order])
    count = order_hulls(start, corner)
    radius = np.zeros(len(first))
    np.maximum.at(radius, of_point, np.hypot(*offset.T))
    size = np.where(radius > 0.0, radius, 1.0)
    matrix = _matrix(balance, first, origin, size)
    return JointAreas(of_point, first, origin, offset, start, count, corner, size, balance.friction[first], matrix)


def _same_joint(balance: Balance) -> Array:
    contacts = balance.contacts
    size = float(np.ptp(contacts.point, axis=0).max(initial=0.0)) or 1.0
    height = np.einsum("ck,ck->c", contacts.point, contacts.normal) / size
    marks = [contacts.a, contacts.b, *np.rint(contacts.normal.T / SAME_PLANE), np.rint(height / SAME_PLANE)]
    keys = np.stack([np.asarray(values, np.int64) for values in marks], axis=1)
    return np.unique(keys, axis=0, return_inverse=True)[1].ravel() if len(keys) else np.empty(0, np.int64)


def _matrix(balance: Balance, first: Array, origin: Array, size: Array) -> sp.csc_array:
    model, contacts, frame = balance.model, balance.contacts, balance.frame[first]
    rows, unknowns = len(balance.unknowns), 1 if model.planar else 3
    slot = np.full(len(model.blocks), -1)
    slot[balance.free] = np.arange(len(balance.free))
    parts = []
    for body, sign in ((contacts.a[first], -1.0), (contacts.b[first], 1.0)):
        arm = (origin - balance.centroid[body])[:, None, :]
        shear = np.concatenate([frame[:, 1:], np.cross(arm, frame[:, 1:])], axis=2)
        if unknowns == 3:
            couple = np.concatenate([np.zeros_like(frame[:, :1]), size[:, None, None] * frame[:, :1]], axis=2)
            shear = np.concatenate([shear, couple], axis=1)
        wrench = sign * shear[:, :, balance.unknowns]
        is_free = slot[body] >= 0
        row = rows * slot[body][:, None, None] + np.arange(rows) + np.zeros((1, unknowns, 1), int)
        column = np.arange(len(first) * unknowns).reshape(-1, unknowns, 1) + np.zeros((1, 1, rows), int)
        parts.append((wrench[is_free].ravel(), row[is_free].ravel(), column[is_free].ravel()))
    value, i, j = (np.concatenate(part) for part in zip(*parts, strict=True))
    return sp.csc_array((value, (i, j)), shape=(rows * len(balance.free), unknowns * len(first)))


def friction_at(joints: JointAreas, centre: Array) -> Friction:
    """The friction of the joints with normal forces of 1 at these centres (J, 2)."""
    if joints.unknowns == 1:
        count = len(joints.first_point)
        return Friction(centre, np.arange(count + 1), np.zeros((count, 2)), joints.friction)
    start, point, share = spread_pressure(joints.start, joints.corners, joints.corner, joints.size, centre)
    of_point = np.repeat(np.arange(len(joints.first_point)), np.diff(start))
    return Friction(centre, start, (point - centre[of_point]) / joints.size[of_point, None], share * joints.friction[of_point])


def friction_of_points(joints: JointAreas, normal: Array) -> Friction:
    """What the joints bear if their pressure is at the contact points, as these normal forces (C,) are shared."""
    total, centre = joints.normal_and_centre(normal)
    order = np.argsort(joints.joint_of_point, kind="stable")
    of_point = joints.joint_of_point[order]
    arm = (joints.offset[order] - centre[of_point]) / joints.size[of_point, None]
    share = joints.friction[of_point] * normal[order] / np.where(total > 0.0, total, 1.0)[of_point]
    return Friction(centre, joints.start, arm, share)


def point_velocities(friction: Friction, slip: Array) -> Array:
    """(K, d) The slip at the points of the joints, from the slip of the joints at their centres (J, k); the spin is multiplied
    by the size of the joint."""
    of_point = np.repeat(np.arange(len(slip)), np.diff(friction.start))
    if slip.shape[1] == 1:
        return slip
    velocity = slip[of_point]
    return np.stack(
        [velocity[:, 0] - velocity[:, 2] * friction.arm[:, 1], velocity[:, 1] + velocity[:, 2] * friction.arm[:, 0]], axis=1
    )


def dissipation(friction: Friction, slip: Array) -> Array:
    """(J,) [m/s] The power that friction dissipates on this slip (J, k) under normal forces of 1 (T411)."""
    speed = np.sqrt((point_velocities(friction, slip) ** 2).sum(axis=1))
    return np.add.reduceat(friction.share * speed, friction.start[:-1]) if len(slip) else np.zeros(0)


def tangent_cones(friction: Friction, slip: Array, is_sliding: Array) -> Array:
    """(J, k, k) The matrices A of ellipsoids f . A^-1 . f <= 1 around the admissible friction of joints under normal forces of
    1, which touch it where friction opposes the slip (J, k). For joints that do not move, the ellipsoids through the largest
    force and couple (T412)."""
    begin = friction.start[:-1]
    if slip.shape[1] == 1:
        return (friction.share**2)[:, None, None]
    of_point = np.repeat(np.arange(len(slip)), np.diff(friction.start))
    speed = np.sqrt((point_velocities(friction, slip) ** 2).sum(axis=1))
    fastest = np.maximum.reduceat(speed, begin) if len(slip) else np.zeros(0)
    speed = np.maximum(speed, np.where(fastest > 0.0, MIN_SPEED_SHARE * fastest, 1.0)[of_point])
    held, (s, t) = friction.share / speed, friction.arm.T
    sums = [held, -held * t, held * s, held * (s * s + t * t), friction.share * speed, friction.share]
    sums.append(friction.share * np.hypot(s, t))
    values, first, second, spread, power, force, couple = np.add.reduceat(np.stack(sums), begin, axis=1)
    matrix = np.zeros((len(slip), 3, 3))
    matrix[:, 0, 0] = matrix[:, 1, 1] = np.where(is_sliding, power * values, force**2)
    matrix[:, 0, 2] = matrix[:, 2, 0] = np.where(is_sliding, power * first, 0.0)
    matrix[:, 1, 2] = matrix[:, 2, 1] = np.where(is_sliding, power * second, 0.0)
    matrix[:, 2, 2] = np.where(is_sliding, power * spread, couple**2)
    return matrix


def shift_matrices(centre: Array, joints: JointAreas) -> Array:
    """(J, k, k) Matrices from forces at these centres (J, 2) and couples about them to the unknowns of the joints."""
    count, unknowns = len(joints.first_point), joints.unknowns
    moved = np.tile(np.eye(unknowns), (count, 1, 1))
    if unknowns == 3:
        moved[:, 2, 0], moved[:, 2, 1] = -centre[:, 1] / joints.size, centre[:, 0] / joints.size
    return moved


def strength_along(friction: Friction, force: Array) -> tuple[Array, Array]:
    """(J,) The strength of the joints along these forces (J, k), scaled to size 1, under normal forces of 1, and (J, k) the
    slips with this resistance: the smallest dissipation of all slips on which the power of the force is 1 (T413)."""
    size = np.sqrt((force**2).sum(axis=1))
    if force.shape[1] == 1:
        return np.add.reduceat(friction.share, friction.start[:-1]), np.sign(force)
    unit = np.where(size[:, None] > 0.0, force / np.where(size > 0.0, size, 1.0)[:, None], [1.0, 0.0, 0.0])
    slip, least, everywhere = unit.copy(), np.full(len(force), np.inf), np.ones(len(force), bool)
    for _ in range(MAX_ITERATIONS):
        matrix = tangent_cones(friction, slip, everywhere)
        trace = np.trace(matrix, axis1=1, axis2=2)[:, None, None]
        slip = np.linalg.solve(matrix + 1e-12 * np.where(trace > 0, trace, 1.0) * np.eye(3), unit[:, :, None])[:, :, 0]
        along = (slip * unit).sum(axis=1)
        slip = slip / np.where(along > 0.0, along, 1.0)[:, None]
        before, least = least, np.minimum(least, dissipation(friction, slip))
        if np.all(before - least <= CONVERGED_CHANGE * np.minimum(least, 1.0)):
            break
    return least, slip

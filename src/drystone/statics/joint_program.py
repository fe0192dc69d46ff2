"""The cone program of statics with one shear force and one couple a joint: what optimise (program.py) is for contact points.

    minimise  normal cost . n + friction cost . f - multiplier
    subject to   E n + B f + dead + multiplier live = 0,   n >= 0,   f = L z,   |z| <= slope (sum of n of the joint) + level

n are the normal forces of the contact points, f shear and couple of the joints at centres of pressure that are given, and L Lᵀ the
ellipsoids of what they bear there under a normal force of 1 (T402).
"""

from typing import NamedTuple

import clarabel
import numpy as np
import scipy.sparse as sp

from drystone.statics.balance import Balance
from drystone.statics.joint_areas import Joints, moved_to
from drystone.statics.program import GOOD, SOLVED, STATUS, settings, units

Array = np.ndarray

NOTHING = 1e-9  # of the mean load of a block: a joint that bears less bears no friction
SMALL = 1e-7  # cost of normal forces, of that of the multiplier: of all best forces those without needless self-stress


class Fibres(NamedTuple):
    """F parts of the area of some joints, whose friction is a force of its own: exact for any force, where an ellipsoid is one slip's."""

    of: Array  # (F,) int64 joint
    arm: Array  # (F, 2) from the centre of pressure, over the size of the joint
    share: Array  # (F,) friction times share of the normal force


class JointForces(NamedTuple):
    """The best forces, and how the structure would move beyond them."""

    status: str
    multiplier: float  # of the live load
    normal: Array  # (C,) [N] of the contact points
    friction: Array  # (J, k) [N] at the centres of pressure, the couple over the size of the joint
    velocity: Array  # (B, 6)
    slip: Array  # (J, k) of the joints at the centres of pressure, the spin times the size


def optimise_joints(
    balance: Balance,
    joints: Joints,
    dead: Array,
    live: Array | None,
    centre: Array,  # (J, 2) [m]
    ellipsoid: Array,  # (J, k, k) matrices A
    *,
    slope: float,
    level: Array,  # (J,) [N]
    cost: tuple[Array, Array] | None = None,  # (C,) and (J, k)
    fibres: Fibres | None = None,  # in the place of the ellipsoids of their joints
    near: Array | None = None,  # (J,) [1/N] how strongly the centres of pressure are held where they are
    tolerance: float = 1e-9,
) -> JointForces:
    count, k, points = len(joints.one), joints.unknowns, len(joints.of)
    directions = balance.frame.shape[1]
    unit = units(balance, dead, live, None if cost is None else np.concatenate([each.ravel() for each in cost]))
    bears = (level > NOTHING * unit.force) | (slope > 0.0)
    if fibres is not None:
        bears[fibres.of] = False
    bears = np.flatnonzero(bears)
    moved = moved_to(centre, joints)
    root = _roots(ellipsoid)
    turned = _blocks((moved @ root)[bears], bears, count)
    normals = balance.matrix[:, ::directions]
    parts = [normals, joints.matrix @ turned]
    if fibres is not None:
        by_fibres = _blocks_of(fibres, moved, count)
        parts.append(joints.matrix @ by_fibres)
    columns = sp.hstack(parts, format="csc") * unit.force
    live = np.zeros_like(dead) if live is None else live
    push = balance.on_free(live) * unit.multiplier
    columns = sp.diags_array(1 / unit.row) @ sp.hstack([columns, sp.csc_array(push[:, None])], format="csc")
    load = balance.on_free(dead) / unit.row
    linear = np.zeros(columns.shape[1])
    linear[-1] = -unit.multiplier / unit.value if live.any() else 0.0
    if cost is not None:
        shear = np.einsum("jki,jk->ji", root, cost[1])[bears]
        linear[: points + shear.size] = np.concatenate([cost[0], shear.ravel()]) * unit.force / unit.value
        linear[:points] += SMALL
        if fibres is not None:
            way, (s, t) = cost[1][fibres.of], fibres.arm.T
            power = np.stack([way[:, 0] - way[:, 2] * t, way[:, 1] + way[:, 2] * s], axis=1)
            linear[points + shear.size : -1] = power.ravel() * unit.force / unit.value
    rows, room, cones = _cones(joints, bears, slope, level / unit.force, columns.shape[1])
    if fibres is not None:
        rows, room, cones = _with_fibres(rows, room, cones, joints, fibres, points + k * len(bears))
    matrix = sp.vstack([columns, -rows], format="csc")
    nothing = sp.csc_array((len(linear), len(linear)))
    if near is not None:
        nothing = _nearness(joints, centre, near * unit.force * unit.multiplier / unit.value, len(linear))
    cones = [clarabel.ZeroConeT(len(load)), *cones]
    answer = clarabel.DefaultSolver(nothing, linear, matrix, np.concatenate([-load, room]), cones, settings(tolerance)).solve()
    x, z = np.array(answer.x), np.array(answer.z)
    error = float(max(np.abs(columns @ x + load).max(initial=0.0), abs(answer.obj_val - answer.obj_val_dual)))
    status = STATUS.get(str(answer.status), str(answer.status))
    status = SOLVED if status not in STATUS.values() and error <= GOOD else status
    friction = np.zeros((count, k))
    inside = x[points : points + k * len(bears)].reshape(-1, k)
    friction[bears] = np.einsum("jik,jk->ji", root[bears], inside) * unit.force
    if fibres is not None:
        of_fibres = (by_fibres @ x[points + k * len(bears) : -1]).reshape(-1, k) * unit.force
        friction += np.linalg.solve(moved, of_fibres[:, :, None])[:, :, 0]
    velocity = unit.value * z[: len(load)] / unit.row
    slip = np.einsum("jik,ji->jk", moved, (joints.matrix.T @ velocity).reshape(-1, k))
    return JointForces(status, unit.multiplier * float(x[-1]), unit.force * x[:points], friction, balance.of_all(velocity), slip)


def _blocks_of(fibres: Fibres, moved: Array, count: int) -> sp.csc_array:
    """(J 3, F 2) the unknowns of the joints by the forces of the fibres."""
    many = len(fibres.of)
    force = np.zeros((many, 3, 2))
    force[:, 0, 0] = force[:, 1, 1] = 1.0
    force[:, 2, 0], force[:, 2, 1] = -fibres.arm[:, 1], fibres.arm[:, 0]
    force = moved[fibres.of] @ force
    row = 3 * fibres.of[:, None, None] + np.arange(3)[:, None] + np.zeros((1, 1, 2), int)
    column = 2 * np.arange(many)[:, None, None] + np.arange(2) + np.zeros((1, 3, 1), int)
    return sp.csc_array((force.ravel(), (row.ravel(), column.ravel())), shape=(3 * count, 2 * many))


def _with_fibres(
    rows: sp.csc_array, room: Array, cones: list, joints: Joints, fibres: Fibres, first: int
) -> tuple[sp.csc_array, Array, list]:
    """The cones with those of the fibres, whose forces are the unknowns from `first` on."""
    many, order = len(fibres.of), np.argsort(joints.of, kind="stable")
    start = np.searchsorted(joints.of[order], np.arange(len(joints.one) + 1))
    points = [order[start[j] : start[j + 1]] for j in fibres.of]
    i = np.concatenate([*(np.full(len(each), 3 * f) for f, each in enumerate(points)), *(3 * np.arange(many) + d for d in (1, 2))])
    j = np.concatenate([*points, *(first + 2 * np.arange(many) + d for d in (0, 1))])
    value = np.concatenate([*(np.full(len(each), share) for share, each in zip(fibres.share, points, strict=True)), np.ones(2 * many)])
    more = sp.csc_array((value, (i, j)), shape=(3 * many, rows.shape[1]))
    cones = [*cones, *[clarabel.SecondOrderConeT(3)] * many]
    return sp.vstack([rows, more], format="csc"), np.concatenate([room, np.zeros(3 * many)]), cones


def _nearness(joints: Joints, centre: Array, weight: Array, columns: int) -> sp.csc_array:
    """The matrix of half the sum of weight times the square of the moments about the centres, over the size of the joints."""
    arm = np.sqrt(weight)[joints.of, None] * (joints.place - centre[joints.of]) / joints.size[joints.of, None]
    points = len(joints.of)
    rows = 2 * joints.of[:, None] + np.arange(2)
    cols = np.arange(points)[:, None] + np.zeros((1, 2), int)
    moment = sp.csc_array((arm.ravel(), (rows.ravel(), cols.ravel())), shape=(2 * len(joints.one), columns))
    return sp.triu(moment.T @ moment, format="csc")


def _roots(ellipsoid: Array) -> Array:
    """(J, k, k) L with L Lᵀ = A."""
    value, axis = np.linalg.eigh(ellipsoid)
    return axis * np.sqrt(np.maximum(value, 0.0))[:, None, :]


def _blocks(matrix: Array, bears: Array, count: int) -> sp.csc_array:
    """The matrices (R, k, k) of the joints that bear as one, its columns theirs alone."""
    k = matrix.shape[1]
    row = k * bears[:, None, None] + np.arange(k)[:, None] + np.zeros((1, 1, k), int)
    column = k * np.arange(len(bears))[:, None, None] + np.arange(k) + np.zeros((1, k, 1), int)
    return sp.csc_array((matrix.ravel(), (row.ravel(), column.ravel())), shape=(k * count, k * len(bears)))


def _cones(joints: Joints, bears: Array, slope: float, level: Array, columns: int) -> tuple[sp.csc_array, Array, list]:
    """Rows and right side of `rows x + room in cones`, and the cones: of normal forces, of the joints that bear friction."""
    points, k, many = len(joints.of), joints.unknowns, len(bears)
    i, j, value = [np.arange(points)], [np.arange(points)], [np.ones(points)]
    i.append((points + (k + 1) * np.arange(many)[:, None] + np.arange(1, k + 1)).ravel())
    j.append(points + np.arange(k * many))
    value.append(np.ones(k * many))
    if slope > 0.0:
        slot = np.full(len(joints.one), -1)
        slot[bears] = np.arange(many)
        i.append(points + (k + 1) * slot[joints.of])
        j.append(np.arange(points))
        value.append(np.full(points, slope))
    rows = sp.csc_array(
        (np.concatenate(value), (np.concatenate(i), np.concatenate(j))), shape=(points + (k + 1) * many, columns)
    )
    room = np.zeros(rows.shape[0])
    room[points :: k + 1] = level[bears]
    return rows, room, [clarabel.NonnegativeConeT(points), *[clarabel.SecondOrderConeT(k + 1)] * many]

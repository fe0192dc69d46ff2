"""The cone program of statics with one shear force and one couple per joint; cone_program.py has the one for contact points.

    minimise  normal cost . n + friction cost . f - multiplier
    subject to   E n + B f + dead + multiplier live = 0,   n >= 0,   f = L z,   |z| <= slope (sum of n of the joint) + level

n are the normal forces of the contact points, f the shear forces and couples of the joints at given centres of pressure, and
L Lᵀ the ellipsoids of their strength there under a normal force of 1 (T412).
"""

from typing import NamedTuple

import clarabel
import numpy as np
import scipy.sparse as sp

from drystone.analysis.statics.balance import Balance
from drystone.analysis.statics.cone_program import ACCEPTED_ERROR, CLARABEL_STATUS, SOLVED, clarabel_settings, program_units
from drystone.analysis.statics.joint_areas import JointAreas, shift_matrices

Array = np.ndarray

UNLOADED_SHARE = 1e-5  # of the mean load of a block: a joint with a smaller normal force has no friction


class Cost(NamedTuple):
    """The cost of forces, per N, in multipliers of the live load."""

    normal: Array  # (C,)
    joint: Array  # (J, k)
    point: Array  # (C, d - 1)
    near: Array  # (J,) [1/N] of the square of the moments about the centres, over the size; it keeps the pressure in place


class JointForces(NamedTuple):
    """The best forces, and the mechanism beyond them."""

    status: str
    multiplier: float  # of the live load
    normal: Array  # (C,) [N] of the contact points
    friction: Array  # (J, k) [N] at the centres of pressure, the couple over the size of the joint
    shear: Array  # (C, d - 1) [N] of the contact points of joints without a shear force of the joint
    velocity: Array  # (B, 6)
    slip: Array  # (J, k) of the joints at the centres of pressure, the spin times the size


def optimise_joints(
    balance: Balance,
    joints: JointAreas,
    dead: Array,
    live: Array | None,
    centre: Array,  # (J, 2) [m]
    ellipsoid: Array,  # (J, k, k) matrices A
    *,
    slope: float,
    level: Array,  # (J,) [N]
    cost: Cost | None = None,
    at_points: Array | None = None,  # (J,) joints with one friction force per contact point instead
    tolerance: float = 1e-9,
) -> JointForces:
    """The optimum of the program with dead and live loads (B, 6) [N, N m]; without a live load the minimum of the cost."""
    count, k, points, directions = len(joints.first_point), joints.unknowns, len(joints.joint_of_point), balance.frame.shape[1]
    unit = program_units(balance, dead, live, None if cost is None else np.append(cost.normal, cost.joint.ravel()))
    is_point_wise = np.zeros(count, bool) if at_points is None else at_points
    frictional = np.flatnonzero(((level > UNLOADED_SHARE * unit.force) | (slope > 0.0)) & ~is_point_wise)
    point_wise = np.flatnonzero(is_point_wise[joints.joint_of_point])
    moved, root = shift_matrices(centre, joints), _roots(ellipsoid)
    turned = _blocks((moved @ root)[frictional], frictional, count)
    tangents = (directions * point_wise[:, None] + np.arange(1, directions)).ravel()
    parts = [balance.matrix[:, ::directions], joints.matrix @ turned, balance.matrix[:, tangents]]
    columns = sp.hstack(parts, format="csc") * unit.force
    live = np.zeros_like(dead) if live is None else live
    live_column = balance.free_rows(live) * unit.multiplier
    columns = sp.diags_array(1 / unit.row) @ sp.hstack([columns, sp.csc_array(live_column[:, None])], format="csc")
    load = balance.free_rows(dead) / unit.row
    linear = np.zeros(columns.shape[1])
    linear[-1] = -unit.multiplier / unit.value if live.any() else 0.0
    square = sp.csc_array((len(linear), len(linear)))
    if cost is not None:
        shear = np.einsum("jki,jk->ji", root, cost.joint)[frictional]
        linear[:-1] = np.concatenate([cost.normal, shear.ravel(), cost.point[point_wise].ravel()]) * unit.force / unit.value
        square = _nearness(joints, centre, cost.near * unit.force * unit.multiplier / unit.value, len(linear))
    rows, right_side, cones = _cones(
        joints, frictional, point_wise, slope, level / unit.force, columns.shape[1], balance.friction
    )
    matrix = sp.vstack([columns, -rows], format="csc")
    cones = [clarabel.ZeroConeT(len(load)), *cones]
    answer = clarabel.DefaultSolver(
        square, linear, matrix, np.concatenate([-load, right_side]), cones, clarabel_settings(tolerance)
    ).solve()
    x, z = np.array(answer.x), np.array(answer.z)
    error = float(max(np.abs(columns @ x + load).max(initial=0.0), abs(answer.obj_val - answer.obj_val_dual)))
    status = CLARABEL_STATUS.get(str(answer.status), str(answer.status))
    status = SOLVED if status not in CLARABEL_STATUS.values() and error <= ACCEPTED_ERROR else status
    friction, shear = np.zeros((count, k)), np.zeros((points, directions - 1))
    inside = x[points : points + k * len(frictional)].reshape(-1, k)
    friction[frictional] = np.einsum("jik,jk->ji", root[frictional], inside) * unit.force
    shear[point_wise] = x[points + k * len(frictional) : -1].reshape(-1, directions - 1) * unit.force
    velocity = unit.value * z[: len(load)] / unit.row
    slip = np.einsum("jik,ji->jk", moved, (joints.matrix.T @ velocity).reshape(-1, k))
    return JointForces(
        status,
        unit.multiplier * float(x[-1]),
        unit.force * x[:points],
        friction,
        shear,
        balance.velocity_of_all(velocity),
        slip,
    )


def _nearness(joints: JointAreas, centre: Array, weight: Array, columns: int) -> sp.csc_array:
    """The matrix of half the sum of weight times the square of the moments about the centres over the size of the joints."""
    arm = (
        np.sqrt(weight)[joints.joint_of_point, None]
        * (joints.offset - centre[joints.joint_of_point])
        / joints.size[joints.joint_of_point, None]
    )
    points = len(joints.joint_of_point)
    rows = 2 * joints.joint_of_point[:, None] + np.arange(2)
    cols = np.arange(points)[:, None] + np.zeros((1, 2), int)
    moment = sp.csc_array((arm.ravel(), (rows.ravel(), cols.ravel())), shape=(2 * len(joints.first_point), columns))
    return sp.csc_array(moment.T @ moment)


def _roots(ellipsoid: Array) -> Array:
    """(J, k, k) L with L Lᵀ = A."""
    value, axis = np.linalg.eigh(ellipsoid)
    return axis * np.sqrt(np.maximum(value, 0.0))[:, None, :]


def _blocks(matrix: Array, frictional: Array, count: int) -> sp.csc_array:
    """The block matrix of the matrices (R, k, k) of the joints with friction; other joints have rows but no columns."""
    k = matrix.shape[1]
    row = k * frictional[:, None, None] + np.arange(k)[:, None] + np.zeros((1, 1, k), int)
    column = k * np.arange(len(frictional))[:, None, None] + np.arange(k) + np.zeros((1, k, 1), int)
    return sp.csc_array((matrix.ravel(), (row.ravel(), column.ravel())), shape=(k * count, k * len(frictional)))


def _cones(
    joints: JointAreas, frictional: Array, point_wise: Array, slope: float, level: Array, columns: int, friction: Array
) -> tuple[sp.csc_array, Array, list]:
    """Rows and right side of `rows x + room in cones`, and the cones: of normal forces, of joints with one shear force, of
    contact points with friction of their own."""
    points, k, frictional_count, point_wise_count = (
        len(joints.joint_of_point),
        joints.unknowns,
        len(frictional),
        len(point_wise),
    )
    d = 2 if k == 1 else 3
    i, j, value = [np.arange(points)], [np.arange(points)], [np.ones(points)]
    i.append((points + (k + 1) * np.arange(frictional_count)[:, None] + np.arange(1, k + 1)).ravel())
    j.append(points + np.arange(k * frictional_count))
    value.append(np.ones(k * frictional_count))
    if slope > 0.0:
        slot = np.full(len(joints.first_point), -1)
        slot[frictional] = np.arange(frictional_count)
        in_frictional = np.flatnonzero(slot[joints.joint_of_point] >= 0)
        i.append(points + (k + 1) * slot[joints.joint_of_point[in_frictional]])
        j.append(in_frictional)
        value.append(np.full(len(in_frictional), slope))
    first = points + (k + 1) * frictional_count
    i += [first + d * np.arange(point_wise_count), (first + d * np.arange(point_wise_count)[:, None] + np.arange(1, d)).ravel()]
    j += [point_wise, points + k * frictional_count + np.arange((d - 1) * point_wise_count)]
    value += [friction[point_wise], np.ones((d - 1) * point_wise_count)]
    rows = sp.csc_array(
        (np.concatenate(value), (np.concatenate(i), np.concatenate(j))), shape=(first + d * point_wise_count, columns)
    )
    right_side = np.zeros(rows.shape[0])
    right_side[points : first : k + 1] = level[frictional]
    cones = [clarabel.SecondOrderConeT(k + 1)] * frictional_count + [clarabel.SecondOrderConeT(d)] * point_wise_count
    return rows, right_side, [clarabel.NonnegativeConeT(points), *cones]

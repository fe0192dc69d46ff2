"""Statics of joints that are bonded or can be crushed, whose areas are divided into fibres (T414).

A fibre of area A bears -tension A <= n <= crushing A and |t| <= friction n + cohesion A at its centroid. This is an admissible
stress field, so that the result is a lower bound of the program over all such fields. A joint that cannot be crushed also bears
pressure at its corners. Where the mechanism rotates a joint, its fibres are cut along the line between the part in tension and
the part that is crushed, whose position follows from the normal force. The program is then solved again until nothing changes.
"""

from typing import NamedTuple

import numpy as np

from drystone.analysis.statics.balance import Balance, with_contacts
from drystone.analysis.statics.cone_program import SOLVED, Optimum, optimise_forces
from drystone.analysis.statics.joint_areas import JointAreas, find_joint_areas
from drystone.analysis.statics.joint_pressure import spread_pressure
from drystone.contact.contacts import Contacts

Array = np.ndarray
Polygon = Array  # (m, 2) [m] from the origin of a joint, counter-clockwise

FIBRES_PER_SIDE = 4  # fibres along each side of a joint at the start
MAX_CUT_ROUNDS = 8  # rounds in which fibres are cut
STEADY_CHANGE = 1e-4  # the iteration ends when the relative change of the multiplier is smaller
MIN_TURN = 1e-5  # of the fastest opening of all joints: a joint whose opening differs by less over its size is not cut
MIN_PART_SHARE = 1e-7  # of the area of a joint: smaller parts are not cut off


class FibreBalance(NamedTuple):
    """A balance in fibres."""

    balance: Balance
    joint: Array  # (F,) int64 the joint of each contact point
    cell: Array  # (F,) int64 the cell of each contact point in its joint, -1: a corner


def has_strengths(balance: Balance) -> bool:
    """Whether a joint has cohesion, tension, adhesion or a pressure at which it is crushed."""
    laws = balance.model.laws
    return laws is not None and bool(laws.cohesion.any() or np.isfinite(laws.crushing).any() or laws.energy.any())


def best_in_fibres(
    balance: Balance, dead: Array, live: Array | None = None, *, cost_of_gap: float = 0.0
) -> tuple[Balance, Optimum]:
    """The balance in fibres and the optimum of the program of dead and live loads (B, 6). `cost_of_gap` is that of
    T40: one over the work of an increment; 0 if gaps count as closed."""
    joints = find_joint_areas(balance)
    cells, area_factors = _first_cells(balance, joints)
    before = np.nan
    for _ in range(MAX_CUT_ROUNDS):
        fibred = _in_fibres(balance, joints, cells, area_factors)
        cost = None
        if cost_of_gap > 0.0:
            cost = np.zeros(fibred.balance.frame.shape[:2])
            gap, crushes = fibred.balance.contacts.gap, fibred.cell >= 0
            cost[:, 0] = np.where(crushes, np.maximum(gap, 0.0), gap) * cost_of_gap
        best = optimise_forces(fibred.balance, dead, live, cost=cost)
        same = abs(best.multiplier - before) <= STEADY_CHANGE * abs(best.multiplier)
        before = best.multiplier
        if best.status != SOLVED or same or not _cut(fibred, joints, cells, best):
            break
    return fibred.balance, best


def integration_points(balance: Balance) -> Balance:
    """The balance with points over the areas of all joints that integrate quadratic functions of the position exactly."""
    joints, contacts = find_joint_areas(balance), balance.contacts
    middle = np.zeros((len(joints.first_point), 2))
    for j in range(len(joints.first_point)):
        polygon = joints.corner[joints.start[j] : joints.start[j] + joints.corners[j]]
        flat = len(polygon) < 3 or _area(polygon) <= MIN_PART_SHARE * joints.size[j] ** 2
        middle[j] = (polygon.min(axis=0) + polygon.max(axis=0)) / 2 if flat else _centroid(polygon)
    start, offset, share = spread_pressure(joints.start, joints.corners, joints.corner, joints.size, middle)
    joint_of = np.repeat(np.arange(len(joints.first_point)), np.diff(start))
    area = share * np.bincount(joints.joint_of_point, contacts.area, len(joints.first_point))[joint_of]
    return with_contacts(balance, _points(balance, joints, joint_of, offset, area), joints.first_point[joint_of])


def _first_cells(balance: Balance, joints: JointAreas) -> tuple[list[list[Polygon]], Array]:
    """The cells of each joint in a grid, and the ratio (J,) of the area of each joint to that of its polygon."""
    cells: list[list[Polygon]] = []
    factor = np.ones(len(joints.first_point))
    area = np.bincount(joints.joint_of_point, balance.contacts.area, len(joints.first_point))
    for j in range(len(joints.first_point)):
        polygon = joints.corner[joints.start[j] : joints.start[j] + joints.corners[j]]
        if balance.model.planar:
            low, high = polygon[:, 0].min(), polygon[:, 0].max()
            half = (high - low) / 4
            polygon = np.array([[low, -half], [high, -half], [high, half], [low, half]])
        size = _area(polygon)
        if size <= MIN_PART_SHARE * joints.size[j] ** 2:
            cells.append([])
            continue
        factor[j] = area[j] / size
        cells.append(_grid(polygon, 1 if balance.model.planar else FIBRES_PER_SIDE))
    return cells, factor


def _grid(polygon: Polygon, across: int) -> list[Polygon]:
    """A polygon cut into a grid along its longest side."""
    side = np.roll(polygon, -1, axis=0) - polygon
    along = side[np.hypot(*side.T).argmax()]
    along = along / np.hypot(*along)
    cells = [polygon]
    for axis, count in ((along, FIBRES_PER_SIDE), (np.array([-along[1], along[0]]), across)):
        offset = polygon @ axis
        for share in np.arange(1, count) / count:
            cells = [part for each in cells for part in _split_by_line(each, axis, offset.min() + share * np.ptp(offset), 0.0)]
    return cells


def _split_by_line(polygon: Polygon, normal: Array, height: float, least: float) -> list[Polygon]:
    """The two parts of a convex polygon on either side of the line normal . x = height; the polygon itself if one part would
    have an area below `least`."""
    parts = [_part_beyond(polygon, sign * normal, sign * height) for sign in (1.0, -1.0)]
    parts = [part for part in parts if len(part) >= 3 and _area(part) > least]
    return parts if len(parts) == 2 else [polygon]


def _part_beyond(polygon: Polygon, normal: Array, height: float) -> Polygon:
    above = polygon @ normal - height
    corners = []
    for k in range(len(polygon)):
        a, b = above[k - 1], above[k]
        if (a > 0) != (b > 0):
            corners.append(polygon[k - 1] + a / (a - b) * (polygon[k] - polygon[k - 1]))
        if b > 0:
            corners.append(polygon[k])
    return np.array(corners).reshape(-1, 2)


def _area(polygon: Polygon) -> float:
    after = np.roll(polygon, -1, axis=0)
    return float((polygon[:, 0] * after[:, 1] - polygon[:, 1] * after[:, 0]).sum() / 2)


def _centroid(polygon: Polygon) -> Array:
    middle = polygon.mean(axis=0)
    arm, after = polygon - middle, np.roll(polygon - middle, -1, axis=0)
    cross = arm[:, 0] * after[:, 1] - arm[:, 1] * after[:, 0]
    return middle + (cross[:, None] * (arm + after)).sum(axis=0) / (3 * cross.sum())


def _in_fibres(balance: Balance, joints: JointAreas, cells: list[list[Polygon]], factor: Array) -> FibreBalance:
    contacts, laws, group = balance.contacts, balance.model.laws, balance.model.bodies.group
    assert laws is not None
    hard = ~np.isfinite(laws.crushing[group[contacts.a], group[contacts.b]])
    flat = np.array([not each for each in cells], bool)[joints.joint_of_point]
    corners = np.flatnonzero(hard | flat)
    of_cells = np.repeat(np.arange(len(cells)), [len(each) for each in cells])
    joint_of = np.concatenate([joints.joint_of_point[corners], of_cells]).astype(np.int64)
    polygons = [polygon for each in cells for polygon in each]
    offset = np.concatenate([joints.offset[corners], np.array([_centroid(p) for p in polygons]).reshape(-1, 2)])
    area = np.concatenate([np.zeros(len(corners)), [_area(p) for p in polygons]]) * factor[joint_of]
    number = np.concatenate([np.full(len(corners), -1), *(np.arange(len(each)) for each in cells)]).astype(np.int64)
    order = np.argsort(joint_of, kind="stable")
    joint_of, offset, area, number = joint_of[order], offset[order], area[order], number[order]
    fibres = _points(balance, joints, joint_of, offset, area)
    return FibreBalance(with_contacts(balance, fibres, joints.first_point[joint_of]), joint_of, number)


def _points(balance: Balance, joints: JointAreas, joint_of: Array, offset: Array, area: Array) -> Contacts:
    """Contacts at these places (F, 2) of the joints, with these areas."""
    contacts, first = balance.contacts, joints.first_point[joint_of]
    tangent = balance.frame[first][:, 1:]
    point = joints.origin[joint_of] + np.einsum("ci,cik->ck", offset[:, : tangent.shape[1]], tangent)
    plane = _plane_of_gaps(balance, joints)[joint_of]
    gap = plane[:, 0] + (plane[:, 1:] * offset).sum(axis=1)
    zero, zeros, number = np.zeros(len(joint_of)), np.zeros((len(joint_of), 3)), np.arange(len(joint_of))
    return Contacts(contacts.a[first], contacts.b[first], point, contacts.normal[first], gap, area, number, zeros, zeros,
                    zero, zero, zeros, zero, zeros, zeros, zero)  # fmt: skip


def _plane_of_gaps(balance: Balance, joints: JointAreas) -> Array:
    """(J, 3) The gap [m] at the origin of each joint and its slopes along the two tangents."""
    count = len(joints.first_point)
    base = np.column_stack([np.ones(len(joints.joint_of_point)), joints.offset])
    left, right_side = np.zeros((count, 3, 3)), np.zeros((count, 3))
    np.add.at(left, joints.joint_of_point, base[:, :, None] * base[:, None, :])
    np.add.at(right_side, joints.joint_of_point, base * balance.contacts.gap[:, None])
    scale = np.column_stack([np.ones(count), joints.size, joints.size])
    left, right_side = left / scale[:, :, None] / scale[:, None, :], right_side / scale
    return np.linalg.solve(left + 1e-12 * np.eye(3), right_side[:, :, None])[:, :, 0] / scale


def _cut(fibred: FibreBalance, joints: JointAreas, cells: list[list[Polygon]], best: Optimum) -> bool:
    """Cut the cells of the joints that rotate, in place. Returns whether any was cut."""
    balance, laws = fibred.balance, fibred.balance.model.laws
    assert laws is not None
    opening = balance.relative_velocity(best.velocity)[:, 0]
    group, contacts, was_cut = balance.model.bodies.group, balance.contacts, False
    fastest = float(np.abs(opening).max(initial=0.0))
    for j in range(len(cells)):
        fibres_of_joint = np.flatnonzero(fibred.joint == j)
        first = fibres_of_joint[0]
        pair = group[contacts.a[first]], group[contacts.b[first]]
        crushing, tension = float(laws.crushing[pair]), float(laws.tension[pair])
        if not cells[j] or not np.isfinite(crushing):
            continue
        rows = np.column_stack([np.ones(len(fibres_of_joint)), _points_in_joint(balance, joints, j, fibres_of_joint)])
        slope = np.linalg.lstsq(rows, opening[fibres_of_joint], rcond=None)[0][1:]
        size = float(np.hypot(*slope))
        if size * joints.size[j] <= MIN_TURN * fastest:
            continue
        area = contacts.area[fibres_of_joint].sum()
        share = (best.force[fibres_of_joint, 0].sum() + tension * area) / ((crushing + tension) * area)
        height = _height_of_share(cells[j], -slope / size, float(np.clip(share, 0.0, 1.0)))
        area_factors = sum(_area(each) for each in cells[j])
        new = [part for each in cells[j] for part in _split_by_line(each, -slope / size, height, MIN_PART_SHARE * area_factors)]
        was_cut = was_cut or len(new) > len(cells[j])
        cells[j] = new
    return was_cut


def _points_in_joint(balance: Balance, joints: JointAreas, j: int, fibres_of_joint: Array) -> Array:
    arm = balance.contacts.point[fibres_of_joint] - joints.origin[j]
    flat = arm @ balance.frame[fibres_of_joint[0], 1:].T
    return flat if flat.shape[1] == 2 else np.column_stack([flat, np.zeros(len(fibres_of_joint))])


def _height_of_share(cells: list[Polygon], normal: Array, share: float) -> float:
    """The height of the line normal . x = height beyond which this share of the area lies, by bisection."""
    offset = np.concatenate(cells) @ normal
    low, high = float(offset.min()), float(offset.max())
    target = share * sum(_area(each) for each in cells)
    for _ in range(50):
        middle = (low + high) / 2
        beyond = sum(_area(part) for each in cells if len(part := _part_beyond(each, normal, middle)) >= 3)
        low, high = (middle, high) if beyond > target else (low, middle)
    return (low + high) / 2

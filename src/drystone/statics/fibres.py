"""Joints that are glued or can be crushed, in fibres: a balance comes in, one whose contact points are parts of the areas of
the joints goes out, and the best forces in it (T414).

A fibre of area A bears -tension A <= n <= crushing A and |t| <= friction n + cohesion A at its centroid, which is a stress
field that the law allows: what is found is a lower bound of the program of all such fields. A joint that cannot be crushed
bears pressure at its corners besides. Where the mechanism turns a joint, its fibres are cut along the line that divides what
is pulled from what is crushed, as the normal force tells it, and the program is solved again, until that changes nothing.
"""

from typing import NamedTuple

import numpy as np

from drystone.contact.contacts import Contacts
from drystone.statics.balance import Balance, with_contacts
from drystone.statics.joint_areas import Joints, joints_of
from drystone.statics.joint_pressure import spread
from drystone.statics.program import SOLVED, Optimum, optimise

Array = np.ndarray
Polygon = Array  # (m, 2) [m] from the origin of a joint, counter-clockwise

GRID = 4  # fibres along each side of a joint to begin with
ROUNDS = 8  # in which fibres are cut
STEADY = 1e-4  # relative change of the multiplier that is none
TURNS = 1e-5  # of the fastest opening of all joints: a joint that opens by less over its size is not cut
SLIVER = 1e-7  # of the area of a joint: smaller parts are not cut off


class Fibred(NamedTuple):
    """A balance in fibres."""

    balance: Balance
    joint: Array  # (F,) int64 of each contact point of it
    cell: Array  # (F,) int64 its cell in the joint, -1: a corner


def has_strengths(balance: Balance) -> bool:
    """Whether a joint has cohesion, tension, adhesion or a pressure at which it is crushed."""
    laws = balance.model.laws
    return laws is not None and bool(laws.cohesion.any() or np.isfinite(laws.crushing).any() or laws.energy.any())


def best_in_fibres(
    balance: Balance, dead: Array, live: Array | None = None, *, cost_of_gap: float = 0.0
) -> tuple[Balance, Optimum]:
    """The balance in fibres and the optimum of the program of dead and live loads (B, 6). `cost_of_gap` as in T40: one over the
    work of an increment; 0 if gaps count as closed."""
    joints = joints_of(balance)
    cells, whole = _first_cells(balance, joints)
    before = np.nan
    for _ in range(ROUNDS):
        fibred = _in_fibres(balance, joints, cells, whole)
        cost = None
        if cost_of_gap > 0.0:
            cost = np.zeros(fibred.balance.frame.shape[:2])
            gap, crushes = fibred.balance.contacts.gap, fibred.cell >= 0
            cost[:, 0] = np.where(crushes, np.maximum(gap, 0.0), gap) * cost_of_gap
        best = optimise(fibred.balance, dead, live, cost=cost)
        same = abs(best.multiplier - before) <= STEADY * abs(best.multiplier)
        before = best.multiplier
        if best.status != SOLVED or same or not _cut(fibred, joints, cells, best):
            break
    return fibred.balance, best


def integration_points(balance: Balance) -> Balance:
    """The balance with points over the areas of all joints that integrate what changes with the square of the place exactly."""
    joints, contacts = joints_of(balance), balance.contacts
    middle = np.zeros((len(joints.one), 2))
    for j in range(len(joints.one)):
        polygon = joints.corner[joints.start[j] : joints.start[j] + joints.corners[j]]
        flat = len(polygon) < 3 or _area(polygon) <= SLIVER * joints.size[j] ** 2
        middle[j] = (polygon.min(axis=0) + polygon.max(axis=0)) / 2 if flat else _centroid(polygon)
    start, place, share = spread(joints.start, joints.corners, joints.corner, joints.size, middle)
    of = np.repeat(np.arange(len(joints.one)), np.diff(start))
    area = share * np.bincount(joints.of, contacts.area, len(joints.one))[of]
    return with_contacts(balance, _points(balance, joints, of, place, area), joints.one[of])


def _first_cells(balance: Balance, joints: Joints) -> tuple[list[list[Polygon]], Array]:
    """The polygons of each joint in a grid, and the area (J,) [m2] of each over that of its polygon."""
    cells: list[list[Polygon]] = []
    factor = np.ones(len(joints.one))
    area = np.bincount(joints.of, balance.contacts.area, len(joints.one))
    for j in range(len(joints.one)):
        polygon = joints.corner[joints.start[j] : joints.start[j] + joints.corners[j]]
        if balance.model.planar:
            low, high = polygon[:, 0].min(), polygon[:, 0].max()
            half = (high - low) / 4
            polygon = np.array([[low, -half], [high, -half], [high, half], [low, half]])
        size = _area(polygon)
        if size <= SLIVER * joints.size[j] ** 2:
            cells.append([])
            continue
        factor[j] = area[j] / size
        cells.append(_grid(polygon, 1 if balance.model.planar else GRID))
    return cells, factor


def _grid(polygon: Polygon, across: int) -> list[Polygon]:
    """A polygon cut into a grid along its longest side."""
    side = np.roll(polygon, -1, axis=0) - polygon
    along = side[np.hypot(*side.T).argmax()]
    along = along / np.hypot(*along)
    cells = [polygon]
    for axis, count in ((along, GRID), (np.array([-along[1], along[0]]), across)):
        place = polygon @ axis
        for share in np.arange(1, count) / count:
            cells = [part for each in cells for part in _halves(each, axis, place.min() + share * np.ptp(place), 0.0)]
    return cells


def _halves(polygon: Polygon, normal: Array, height: float, least: float) -> list[Polygon]:
    """Both parts of a convex polygon on either side of the line normal . x = height; itself if one would have less area."""
    parts = [_beyond(polygon, sign * normal, sign * height) for sign in (1.0, -1.0)]
    parts = [part for part in parts if len(part) >= 3 and _area(part) > least]
    return parts if len(parts) == 2 else [polygon]


def _beyond(polygon: Polygon, normal: Array, height: float) -> Polygon:
    above = polygon @ normal - height
    kept = []
    for k in range(len(polygon)):
        a, b = above[k - 1], above[k]
        if (a > 0) != (b > 0):
            kept.append(polygon[k - 1] + a / (a - b) * (polygon[k] - polygon[k - 1]))
        if b > 0:
            kept.append(polygon[k])
    return np.array(kept).reshape(-1, 2)


def _area(polygon: Polygon) -> float:
    after = np.roll(polygon, -1, axis=0)
    return float((polygon[:, 0] * after[:, 1] - polygon[:, 1] * after[:, 0]).sum() / 2)


def _centroid(polygon: Polygon) -> Array:
    middle = polygon.mean(axis=0)
    arm, after = polygon - middle, np.roll(polygon - middle, -1, axis=0)
    cross = arm[:, 0] * after[:, 1] - arm[:, 1] * after[:, 0]
    return middle + (cross[:, None] * (arm + after)).sum(axis=0) / (3 * cross.sum())


def _in_fibres(balance: Balance, joints: Joints, cells: list[list[Polygon]], factor: Array) -> Fibred:
    contacts, laws, group = balance.contacts, balance.model.laws, balance.model.bodies.group
    assert laws is not None
    hard = ~np.isfinite(laws.crushing[group[contacts.a], group[contacts.b]])
    flat = np.array([not each for each in cells], bool)[joints.of]
    corners = np.flatnonzero(hard | flat)
    of_cells = np.repeat(np.arange(len(cells)), [len(each) for each in cells])
    of = np.concatenate([joints.of[corners], of_cells]).astype(np.int64)
    polygons = [polygon for each in cells for polygon in each]
    place = np.concatenate([joints.place[corners], np.array([_centroid(p) for p in polygons]).reshape(-1, 2)])
    area = np.concatenate([np.zeros(len(corners)), [_area(p) for p in polygons]]) * factor[of]
    number = np.concatenate([np.full(len(corners), -1), *(np.arange(len(each)) for each in cells)]).astype(np.int64)
    order = np.argsort(of, kind="stable")
    of, place, area, number = of[order], place[order], area[order], number[order]
    fibres = _points(balance, joints, of, place, area)
    return Fibred(with_contacts(balance, fibres, joints.one[of]), of, number)


def _points(balance: Balance, joints: Joints, of: Array, place: Array, area: Array) -> Contacts:
    """Contacts at these places (F, 2) of the joints, with these areas."""
    contacts, one = balance.contacts, joints.one[of]
    tangent = balance.frame[one][:, 1:]
    point = joints.origin[of] + np.einsum("ci,cik->ck", place[:, : tangent.shape[1]], tangent)
    plane = _plane_of_gaps(balance, joints)[of]
    gap, nothing, none = plane[:, 0] + (plane[:, 1:] * place).sum(axis=1), np.zeros(len(of)), np.zeros((len(of), 3))
    return Contacts(contacts.a[one], contacts.b[one], point, contacts.normal[one], gap, area, np.arange(len(of)), none, none,
                    nothing, nothing, none, nothing, none, none, nothing)  # fmt: skip


def _plane_of_gaps(balance: Balance, joints: Joints) -> Array:
    """(J, 3) [m] and slopes: the gap at the origin of each joint and how it grows along its tangents."""
    count = len(joints.one)
    base = np.column_stack([np.ones(len(joints.of)), joints.place])
    left, right = np.zeros((count, 3, 3)), np.zeros((count, 3))
    np.add.at(left, joints.of, base[:, :, None] * base[:, None, :])
    np.add.at(right, joints.of, base * balance.contacts.gap[:, None])
    scale = np.column_stack([np.ones(count), joints.size, joints.size])
    left, right = left / scale[:, :, None] / scale[:, None, :], right / scale
    return np.linalg.solve(left + 1e-12 * np.eye(3), right[:, :, None])[:, :, 0] / scale


def _cut(fibred: Fibred, joints: Joints, cells: list[list[Polygon]], best: Optimum) -> bool:
    """Cuts the cells of the joints that turn, in place; whether any was cut."""
    balance, laws = fibred.balance, fibred.balance.model.laws
    assert laws is not None
    opening = balance.relative(best.velocity)[:, 0]
    group, contacts, did = balance.model.bodies.group, balance.contacts, False
    fastest = float(np.abs(opening).max(initial=0.0))
    for j in range(len(cells)):
        here = np.flatnonzero(fibred.joint == j)
        one = here[0]
        pair = group[contacts.a[one]], group[contacts.b[one]]
        crushing, tension = float(laws.crushing[pair]), float(laws.tension[pair])
        if not cells[j] or not np.isfinite(crushing):
            continue
        rows = np.column_stack([np.ones(len(here)), _places(balance, joints, j, here)])
        slope = np.linalg.lstsq(rows, opening[here], rcond=None)[0][1:]
        size = float(np.hypot(*slope))
        if size * joints.size[j] <= TURNS * fastest:
            continue
        area = contacts.area[here].sum()
        share = (best.force[here, 0].sum() + tension * area) / ((crushing + tension) * area)
        height = _height(cells[j], -slope / size, float(np.clip(share, 0.0, 1.0)))
        whole = sum(_area(each) for each in cells[j])
        new = [part for each in cells[j] for part in _halves(each, -slope / size, height, SLIVER * whole)]
        did = did or len(new) > len(cells[j])
        cells[j] = new
    return did


def _places(balance: Balance, joints: Joints, j: int, here: Array) -> Array:
    arm = balance.contacts.point[here] - joints.origin[j]
    flat = arm @ balance.frame[here[0], 1:].T
    return flat if flat.shape[1] == 2 else np.column_stack([flat, np.zeros(len(here))])


def _height(cells: list[Polygon], normal: Array, share: float) -> float:
    """The height of the line normal . x = height beyond which this share of the area lies, by bisection."""
    place = np.concatenate(cells) @ normal
    low, high = float(place.min()), float(place.max())
    wanted = share * sum(_area(each) for each in cells)
    for _ in range(50):
        middle = (low + high) / 2
        beyond = sum(_area(part) for each in cells if len(part := _beyond(each, normal, middle)) >= 3)
        low, high = (middle, high) if beyond > wanted else (low, middle)
    return (low + high) / 2

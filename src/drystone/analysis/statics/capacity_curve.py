"""The capacity curve of a structure that is pushed over slowly, point by point.

There is no inertia. Each increment is the program of T31 with the gaps of the contacts as its cost (T40): among all small
movements on which the live load does a given work and in which no blocks overlap, it finds the one that lifts the dead load
least. The multiplier is the resistance to that work. The blocks move by this increment, contacts are found again, and loads
rotate with their blocks. A gap that opened by sliding closes in the next increment, so that the dilatancy of one increment at
most is left (T41)."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from drystone.analysis.statics.balance import Balance, assemble_balance
from drystone.analysis.statics.collapse_multiplier import largest_rim_speed, solve_limit
from drystone.analysis.statics.cone_program import Optimum, optimise_forces
from drystone.analysis.statics.fibres import best_in_fibres, has_strengths
from drystone.base.errors import InputError
from drystone.contact.contacts import Contacts
from drystone.engine.rotation import move_freely
from drystone.engine.simulation import initial_state
from drystone.structure.model import Model

Array = np.ndarray

# of the smallest width of a block: the first and the largest movement per increment
MIN_STEP_SHARE, MAX_STEP_SHARE = 0.005, 0.05
INCREMENTS_PER_CURVE = 60  # increments in which the multiplier should fall from its first value to zero
MAX_STEP_GROWTH = 1.5  # the largest ratio of an increment to the previous one
FARTHER_SEARCH = 10.0  # factor on the distance at which contacts are looked for if the program is infeasible
MAX_INCREMENTS = 1000  # increments
BROKEN_SHARE = 1e-4  # of the smallest width of a block: the bonds of joints that moved by less are not broken
MIN_WORK_SHARE = 0.1  # the smallest factor on the work of an increment that is repeated because a block moved too far


class CurvePoint(NamedTuple):
    """A point of the capacity curve."""

    displacement: float  # [m] of the live load in its direction: the area under force over displacement is its work
    multiplier: float  # of the live load with which the structure is in balance there; not finite if there is none
    position: Array  # (B, 3) [m]
    rotation: Array  # (B, 4)
    contacts: Contacts  # with forces [N] instead of impulses
    optimum: Optimum  # its velocity times the work of the increment is the movement to the next point


def trace_capacity_curve(
    model: Model, loads: Callable[[Array], tuple[Array, Array]], *, step: float | None = None
) -> Iterator[CurvePoint]:
    """The points of the curve until the multiplier is no longer above zero, no multiplier balances the structure, or
    MAX_INCREMENTS are done. `loads` gives the dead and live loads (B, 6) of blocks with a rotation (B, 4). `step` [m] is the
    largest movement of a block in an increment; by default it depends on how fast the multiplier falls."""
    start = initial_state(model)
    position, rotation, displacement = start.position, start.rotation, 0.0
    size = smallest_width(model)
    target = MIN_STEP_SHARE * size if step is None else step
    dead, live = loads(rotation)
    live_force = float(np.linalg.norm(live[:, :3], axis=1).sum())  # [N] of the live load
    first = solve_limit(assemble_balance(model), dead, live)
    if not 0.0 < first.multiplier < np.inf:
        why = (
            "no live load makes the structure yield"
            if first.multiplier == np.inf
            else "the structure does not bear its dead load"
        )
        raise InputError(f'pushover: {why}; use kind = "limit" and kind = "equilibrium" to find out more')
    movement_ahead, work = target * first.velocity, target * float(np.vdot(live, first.velocity))
    curve: list[tuple[float, float]] = []  # multipliers, and movements [m] from them to the next
    jumped, broken = False, np.zeros((0, 2), int)
    for _ in range(MAX_INCREMENTS):
        system, optimum, work = _increment(model, broken, position, rotation, dead, live, movement_ahead, work, target)
        movement = work * optimum.velocity
        moved = float(largest_rim_speed(system.model, movement).max())
        jumps = moved > MAX_STEP_GROWTH * target
        in_flight = jumps and jumped and optimum.status == "solved"  # between the ends of a jump there is no equilibrium
        if not in_flight:
            yield CurvePoint(displacement, optimum.multiplier, position, rotation, system.with_forces(optimum.force), optimum)
            if not optimum.multiplier > 0.0:
                return
        broken = np.concatenate([broken, _broken_pairs(system, movement, size)]) if has_strengths(system) else broken
        position, rotation = move_freely(position, rotation, movement, 1.0)
        displacement += work / live_force
        dead, live = loads(rotation)
        curve.append((optimum.multiplier, moved))
        target = _next_step(curve, target, size) if step is None else step
        movement_ahead, work, jumped = movement * target / moved, work * target / moved, jumps


class CurveSummary(NamedTuple):
    """The curve in numbers; None for what it does not reach."""

    peak: float  # largest multiplier
    peak_displacement: float  # [m]
    soft_displacement: float | None  # [m] beyond the peak, where 80 % of it are left
    ultimate_displacement: float | None  # [m] where the multiplier is zero
    work: float  # [m] area under the curve; multiplied by the live load [N] it is a work


def summarise_curve(points: Sequence[CurvePoint]) -> CurveSummary:
    """The peak, displacements and area of a curve that is straight between its points."""
    curve = [point for point in points if np.isfinite(point.multiplier)]
    displacement, height = np.array([p.displacement for p in curve]), np.array([p.multiplier for p in curve])
    top = int(height.argmax())
    soft, ultimate = (_first_below(displacement[top:], height[top:], share * height[top]) for share in (0.8, 0.0))
    within = displacement <= (np.inf if ultimate is None else ultimate)
    displacement, height = (
        np.append(displacement[within], ultimate or displacement[-1]),
        np.append(height[within], 0.0 if ultimate else height[-1]),
    )
    return CurveSummary(
        float(height.max()), float(displacement[top]), soft, ultimate, float(np.trapezoid(height, displacement))
    )


def _first_below(displacement: Array, height: Array, level: float) -> float | None:
    below = np.flatnonzero(height <= level)
    if not len(below) or below[0] == 0:
        return None
    i = int(below[0])
    return float(
        displacement[i - 1] + (displacement[i] - displacement[i - 1]) * (height[i - 1] - level) / (height[i - 1] - height[i])
    )


def smallest_width(model: Model) -> float:
    """[m] The smallest width of the free blocks as drawn, along the axes of the world."""
    return float(min(np.ptp(block.vertices, axis=0).min() for block in model.blocks if not block.fixed))


def _increment(
    model: Model,
    broken: Array,
    position: Array,
    rotation: Array,
    dead: Array,
    live: Array,
    movement_ahead: Array,
    given_work: float,
    target: float,
) -> tuple[Balance, Optimum, float]:
    """The increment and the work [J] of a unit live load in it. If a block moves too far the increment is repeated once with
    less work. A jump, in which open joints close without work, cannot be shortened; if contacts are missing for it, the search
    looks further."""
    work = given_work
    for factor in (MAX_STEP_GROWTH, FARTHER_SEARCH, FARTHER_SEARCH**2):
        joints = _with_broken(assemble_balance(model, position, rotation, factor * movement_ahead), broken)
        system, optimum = _step(joints, dead, live, work)
        if optimum.status != "impossible":
            break
    moved = work * float(largest_rim_speed(system.model, optimum.velocity).max())
    if optimum.status == "solved" and moved > MAX_STEP_GROWTH * target:
        work *= max(target / moved, MIN_WORK_SHARE)
        system, optimum = _step(joints, dead, live, work)
    return system, optimum, work


def _step(system: Balance, dead: Array, live: Array, work: float) -> tuple[Balance, Optimum]:
    if has_strengths(system):
        return best_in_fibres(system, dead, live, cost_of_gap=1 / work)
    cost = np.zeros(system.frame.shape[:2])
    cost[:, 0] = system.contacts.gap / work
    return system, optimise_forces(system, dead, live, cost=cost)


def _broken_pairs(system: Balance, movement: Array, size: float) -> Array:
    """(K, 2) The pairs of blocks whose bonds break, because this movement (B, 6) opens or slides their joints."""
    apart = np.abs(system.relative_velocity(movement)).max(axis=1) > BROKEN_SHARE * size
    return np.unique(np.column_stack([system.contacts.a, system.contacts.b])[apart], axis=0)


def _with_broken(system: Balance, pairs: Array) -> Balance:
    """The balance in which the bonds between these pairs of blocks (K, 2) are broken."""
    count = len(system.model.blocks)
    gone = np.isin(system.contacts.a * count + system.contacts.b, pairs[:, 0] * count + pairs[:, 1])
    return system._replace(broken=gone)


def _next_step(curve: list[tuple[float, float]], target: float, size: float) -> float:
    """[m] The movement in which the multiplier is expected to change by its share of the curve."""
    now, _ = curve[-1]
    before, moved = curve[-2] if len(curve) > 1 else (now, 0.0)
    ideal = moved * curve[0][0] / INCREMENTS_PER_CURVE / abs(now - before) if now != before else np.inf
    return float(
        np.clip(
            ideal, max(target / MAX_STEP_GROWTH, MIN_STEP_SHARE * size), min(target * MAX_STEP_GROWTH, MAX_STEP_SHARE * size)
        )
    )

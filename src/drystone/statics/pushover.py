"""The capacity curve of a structure that is pushed over slowly: a model and its loads come in, `Point`s of the curve go out.

Inertia is off. Each increment is the program of T31 with the gaps of the contacts as its cost (T40): of all small movements
on which the live load does a given work and in which no blocks overlap, the one that lifts the dead load least. What
resists that work is the multiplier. The blocks move by it, contacts are found anew, loads turn with their blocks. A gap
that sliding opened is closed again in the next increment, so that only one increment's dilatancy is ever left (T41).
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from drystone.contact.contacts import Contacts
from drystone.errors import InputError
from drystone.model import Model
from drystone.simulate import initial_state
from drystone.spin import move_freely
from drystone.statics.balance import Balance, assemble_balance
from drystone.statics.fibres import best_in_fibres, has_strengths
from drystone.statics.limit import largest_rim_speed, solve_limit
from drystone.statics.program import Optimum, optimise_forces

Array = np.ndarray

MIN_STEP_SHARE, MAX_STEP_SHARE = (
    0.005,
    0.05,
)  # first and largest movement in an increment, as a share of the smallest width of a block
INCREMENTS_PER_CURVE = 60  # increments in which the multiplier should fall from its first value to nothing
MAX_STEP_GROWTH = 1.5  # of an increment over the one before, at most
FARTHER_SEARCH = 10.0  # times as far contacts are looked for when those that were found balance nothing
MAX_INCREMENTS = 1000  # increments
BROKEN_SHARE = 1e-4  # of the smallest width of a block: joints that moved by less are not torn
MIN_WORK_SHARE = 0.1  # of the work of an increment is left when it is taken again because a block moved too far


class CurvePoint(NamedTuple):
    """A state of the curve."""

    displacement: float  # [m] of the live load along itself: its work is the area under force over displacement
    multiplier: float  # of the live load that holds the structure there; not finite where none does
    position: Array  # (B, 3) [m]
    rotation: Array  # (B, 4)
    contacts: Contacts  # with forces [N] in the place of impulses
    optimum: Optimum  # its velocity times the work of the increment is the movement to the next point


def trace_capacity_curve(
    model: Model, loads: Callable[[Array], tuple[Array, Array]], *, step: float | None = None
) -> Iterator[CurvePoint]:
    """Points from the start until the multiplier is no longer above zero, none holds the structure, or `MOST` increments.
    `loads` are the dead and live ones (B, 6) of blocks turned by a rotation (B, 4); `step` [m] the largest movement of a
    block in an increment, chosen by how the multiplier falls if not given."""
    start = initial_state(model)
    position, rotation, displacement = start.position, start.rotation, 0.0
    size = smallest_width(model)
    target = MIN_STEP_SHARE * size if step is None else step
    dead, live = loads(rotation)
    live_force = float(np.linalg.norm(live[:, :3], axis=1).sum())  # [N] of the live load
    first = solve_limit(assemble_balance(model), dead, live)
    if not 0.0 < first.multiplier < np.inf:
        why = "no live load makes it yield" if first.multiplier == np.inf else "it does not bear its dead load"
        raise InputError(f'pushover: {why}; see what kind = "limit" and kind = "equilibrium" say of it')
    movement_ahead, work = target * first.velocity, target * float(np.vdot(live, first.velocity))
    curve: list[tuple[float, float]] = []  # multipliers, and movements [m] from them to the next
    jumped, broken = False, np.zeros((0, 2), int)
    for _ in range(MAX_INCREMENTS):
        system, optimum, work = _increment(model, broken, position, rotation, dead, live, movement_ahead, work, target)
        movement = work * optimum.velocity
        moved = float(largest_rim_speed(system.model, movement).max())
        jumps = moved > MAX_STEP_GROWTH * target
        in_flight = jumps and jumped and optimum.status == "solved"  # between the ends of a jump nothing is in balance
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
    """The curve in numbers; none for what it does not reach."""

    peak: float  # largest multiplier
    peak_displacement: float  # [m]
    soft_displacement: float | None  # [m] beyond the peak, where four fifths of it are left
    ultimate_displacement: float | None  # [m] where nothing is left
    work: float  # [m] area under the curve: times the live load [N] its work


def summarise_curve(points: Sequence[CurvePoint]) -> CurveSummary:
    """Peak, displacements and area of a curve, between whose points it is straight."""
    curve = [point for point in points if np.isfinite(point.multiplier)]
    displacement, height = np.array([p.displacement for p in curve]), np.array([p.multiplier for p in curve])
    top = int(height.argmax())
    soft, ultimate = (_first_below(displacement[top:], height[top:], share * height[top]) for share in (0.8, 0.0))
    rest = displacement <= (np.inf if ultimate is None else ultimate)
    displacement, height = (
        np.append(displacement[rest], ultimate or displacement[-1]),
        np.append(height[rest], 0.0 if ultimate else height[-1]),
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
    """[m] of the free blocks, along the axes of the world as built."""
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
    """The increment and the work [J] of a unit live load in it: less than given, once, if a block moved too far. A jump, in
    which open joints close without work, does not get shorter; if it goes to where nothing was looked for, look further."""
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
    """(K, 2) the pairs of blocks whose joints this movement (B, 6) opens or slides by more than a hair: their bonds break."""
    apart = np.abs(system.relative_velocity(movement)).max(axis=1) > BROKEN_SHARE * size
    return np.unique(np.column_stack([system.contacts.a, system.contacts.b])[apart], axis=0)


def _with_broken(system: Balance, pairs: Array) -> Balance:
    """The balance in which the bonds between these pairs of blocks (K, 2) are broken, and those of joints that stand open."""
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

"""The capacity curve of a structure that is pushed over slowly: a model and its loads come in, `Point`s of the curve go out.

Inertia is off. Each increment is the program of T31 with the gaps of the contacts as its cost (T40): of all small movements
on which the live load does a given work and in which no blocks overlap, the one that lifts the dead load least. What
resists that work is the multiplier. The blocks move by it, contacts are found anew, loads turn with their blocks. A gap
that sliding opened is closed again in the next increment, so that only one increment's dilatancy is ever left (T41).
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from drystone.contact.contacts import Contacts
from drystone.model import Model
from drystone.simulate import initial_state
from drystone.statics.balance import Balance, balance
from drystone.statics.limit import limit, rim
from drystone.statics.program import Optimum, optimise
from drystone.stepping import drift

Array = np.ndarray

FINE, COARSE = 0.005, 0.05  # first and largest movement in an increment, as a share of the smallest width of a block
CURVE = 60  # increments in which the multiplier should fall from its first value to nothing
GROWTH = 1.5  # of an increment over the one before, at most
PATIENCE = 4  # times that an increment which moves a block too far is taken again with less work


class Point(NamedTuple):
    """A state of the curve."""

    displacement: float  # [m] of the live load along itself: its work is the area under force over displacement
    multiplier: float  # of the live load that holds the structure there; not finite where none does
    position: Array  # (B, 3) [m]
    rotation: Array  # (B, 4)
    contacts: Contacts  # with forces [N] in the place of impulses
    optimum: Optimum  # its velocity times the work of the increment is the movement to the next point


def pushover(
    model: Model, loads: Callable[[Array], tuple[Array, Array]], *, step: float | None = None
) -> Iterator[Point]:
    """Points from the start until the multiplier is no longer above zero or none holds the structure. `loads` are the dead
    and live ones (B, 6) of blocks turned by a rotation (B, 4); `step` [m] the largest movement of a block in an increment,
    chosen by how the multiplier falls if not given."""
    start = initial_state(model)
    position, rotation, displacement = start.position, start.rotation, 0.0
    size = smallest_width(model)
    wanted = FINE * size if step is None else step
    dead, live = loads(rotation)
    push = float(np.linalg.norm(live[:, :3], axis=1).sum())  # [N] of the live load
    first = limit(balance(model), dead, live)
    movement, work = first.velocity * wanted, wanted * float(np.vdot(live, first.velocity))
    curve: list[tuple[float, float]] = []  # multipliers, and movements [m] from them to the next
    while True:
        system = balance(model, position, rotation, GROWTH * movement)
        optimum, work = _increment(system, dead, live, work, wanted)
        yield Point(displacement, optimum.multiplier, position, rotation, system.with_forces(optimum.force), optimum)
        if not optimum.multiplier > 0.0:
            return
        movement = work * optimum.velocity
        position, rotation = drift(position, rotation, movement, 1.0)
        displacement += work / push
        dead, live = loads(rotation)
        curve.append((optimum.multiplier, wanted))
        wanted = _next_step(curve, size) if step is None else step
        work *= wanted / curve[-1][1]


def smallest_width(model: Model) -> float:
    """[m] of the free blocks, along the axes of the world as built."""
    return float(min(np.ptp(block.vertices, axis=0).min() for block in model.blocks if not block.fixed))


def _increment(system: Balance, dead: Array, live: Array, work: float, wanted: float) -> tuple[Optimum, float]:
    """The increment, and the work [J] of a unit live load in it: less than given if a block would move too far."""
    cost = np.zeros(system.frame.shape[:2])
    for _ in range(PATIENCE):
        cost[:, 0] = system.contacts.gap / work
        optimum = optimise(system, dead, live, cost=cost)
        moved = work * float(rim(system, optimum.velocity).max())
        if optimum.status != "solved" or moved <= GROWTH * wanted:
            break
        work *= wanted / moved
    return optimum, work


def _next_step(curve: list[tuple[float, float]], size: float) -> float:
    """[m] The movement in which the multiplier is expected to change by its share of the curve."""
    now, last = curve[-1]
    before, moved = curve[-2] if len(curve) > 1 else (now, 0.0)
    ideal = moved * curve[0][0] / CURVE / abs(now - before) if now != before else np.inf
    return float(np.clip(ideal, max(last / GROWTH, FINE * size), min(last * GROWTH, COARSE * size)))

"""How a history starts: in equilibrium under its own weight and dead loads, if the structure has one nearby.

Stones as drawn touch without force. Let go, a wall would ring for a while; so it is let down first: velocities are taken
back all the time until nothing moves. A structure that moves away instead of settling, because it is drawn in motion or
cannot stand, starts as it is drawn. Whether a structure stands is asked of the same start (T401).
"""

from typing import NamedTuple

import numpy as np

from drystone.engine.small_steps.integrator import LETTING_DOWN, SmallSteps
from drystone.engine.state import State
from drystone.structure.deformable_blocks import nodal
from drystone.structure.loads import load_wrench, loads_at, weight_wrench
from drystone.structure.model import Model

Array = np.ndarray

SPAN = 5e-3  # [s] after which it is looked whether anything still moves
SHORT = 0.3  # [s] of letting down, if no block moves by more than `NEAR`
LONGEST = 1.0  # [s] of letting down
SETTLED = 1e-10  # [m/s] slower than this is settled
NEAR = 1e-3  # of the radius of a block
FARTHEST = 1e-2  # of the radius of a block, or
FARTHEST_IN_ALL = 1e-4  # of the size of the structure, if that is more: a block that moves farther is not settling
STIFF = 3e9  # [Pa] stone that is softer may give way by more, as much as it is softer
BALANCED = 1e-2  # of gravity: forces that are out of balance by less
ELASTIC = 0.05  # of the work of weight and loads: where stones store less, the motion was not elastic; in a column it is half


class LetDown(NamedTuple):
    """A structure let down from where it is drawn."""

    state: State  # where its history starts
    found: bool  # it came to rest there; if not, the state is as drawn
    speed: float  # [m/s] of the fastest block at the end


def settled(engine: SmallSteps, start: State) -> State:
    """The state at the start, in equilibrium if there is one nearby; all blocks are awake."""
    return let_down(engine, start).state


def let_down(engine: SmallSteps, start: State) -> LetDown:
    """The structure let down, and whether that ends near where it is drawn; all its blocks are awake."""
    if engine.sleeps:
        start = start._replace(rest=np.zeros(len(start.position)))
    state, free, model = start, ~engine.model.bodies.fixed, engine.model
    near, far = NEAR * model.bodies.radius[free], farthest(model, engine.material.young)[free]
    moved, speed = np.zeros(len(near)), 0.0
    for span in range(1, round(LONGEST / SPAN) + 1):
        state, _ = engine.advance(state._replace(step=0), SPAN, relaxing=LETTING_DOWN)
        moved = np.linalg.norm(state.position - start.position, axis=1)[free]
        speed = max(float(np.abs(state.velocity[free]).max()), _vibrating(engine, state))
        if not (moved <= far).all():
            return LetDown(start, False, speed)
        if speed < SETTLED or (span >= round(SHORT / SPAN) and (moved <= near).all()):
            break
    if (moved > near).any() and not _has_settled(engine, start, state, speed):
        return LetDown(start, False, speed)
    return LetDown(_at_rest(engine, start, state), True, speed)


def _has_settled(engine: SmallSteps, start: State, state: State, speed: float) -> bool:
    """Whether blocks that have moved far did so as elastic stones that give way, and not as a block that is drawn leaning or
    above its bed, whose motion belongs into its history."""
    if LETTING_DOWN.rate * speed > BALANCED * engine.gravity:
        return False
    away, model = state.position - start.position, engine.model
    pushed = weight_wrench(model, engine.gravity) + load_wrench(model, loads_at(engine.loads, 0.0), engine.gravity)
    return state.energy.elastic + state.energy.strain >= ELASTIC * float(np.vdot(pushed[:, :3], away))


def farthest(model: Model, young: float) -> Array:
    """(B,) [m] a block that moves farther does not settle, it moves away (T401)."""
    size = float(np.linalg.norm(np.ptp(model.position, axis=0))) + 2.0 * float(model.bodies.radius[~model.bodies.fixed].max())
    return np.maximum(FARTHEST * model.bodies.radius, FARTHEST_IN_ALL * size) * max(1.0, STIFF / young)


def _at_rest(engine: SmallSteps, start: State, state: State) -> State:
    """The state let down, as the start of a history."""
    free = ~engine.model.bodies.fixed
    down = engine.gravity * float(engine.model.bodies.mass[free] @ (state.position - start.position)[free, 2])
    energy = start.energy._replace(
        potential=start.energy.potential + down, elastic=state.energy.elastic, strain=state.energy.strain
    )
    still = state._replace(velocity=np.zeros_like(state.velocity), rate=np.zeros_like(state.rate))
    return still._replace(step=0, time=0.0, energy=energy)


def _vibrating(engine: SmallSteps, state: State) -> float:
    """[m/s] of the fastest node of deformable blocks, seen from its block."""
    return 0.0 if engine.model.elastic is None else float(np.abs(nodal(engine.model.elastic, state.rate)).max())

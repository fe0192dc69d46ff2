"""How a history starts: in equilibrium under its own weight and dead loads, if the structure has one nearby.

Stones as drawn touch without force. Let go, a wall would ring for a while; so it is let down first: velocities are taken
back all the time until nothing moves. A structure that moves away instead of settling, because it is drawn in motion or
cannot stand, starts as it is drawn.
"""

import numpy as np

from drystone.elastic import nodal
from drystone.engine.small_steps import LETTING_DOWN, SmallSteps
from drystone.state import State

SPAN = 5e-3  # [s] after which it is looked whether anything still moves
LONGEST = 0.3  # [s] of letting down
SETTLED = 1e-10  # [m/s] slower than this is settled
FARTHEST = 1e-3  # of the radius of a block: one that moves farther is not settling


def settled(engine: SmallSteps, start: State) -> State:
    """The state at the start, in equilibrium if there is one nearby; all blocks are awake."""
    if engine.sleeps:
        start = start._replace(rest=np.zeros(len(start.position)))
    state, free = start, ~engine.model.bodies.fixed
    far = FARTHEST * engine.model.bodies.radius[free]
    for _ in range(round(LONGEST / SPAN)):
        state, _ = engine.advance(state._replace(step=0), SPAN, relaxing=LETTING_DOWN)
        if not (np.linalg.norm(state.position - start.position, axis=1)[free] <= far).all():
            return start
        if max(np.abs(state.velocity[free]).max(), _vibrating(engine, state)) < SETTLED:
            break
    down = engine.gravity * float(engine.model.bodies.mass[free] @ (state.position - start.position)[free, 2])
    energy = start.energy._replace(
        potential=start.energy.potential + down, elastic=state.energy.elastic, strain=state.energy.strain
    )
    still = state._replace(velocity=np.zeros_like(state.velocity), rate=np.zeros_like(state.rate))
    return still._replace(step=0, time=0.0, energy=energy)


def _vibrating(engine: SmallSteps, state: State) -> float:
    """[m/s] of the fastest node of deformable blocks, seen from its block."""
    return 0.0 if engine.model.elastic is None else float(np.abs(nodal(engine.model.elastic, state.rate)).max())

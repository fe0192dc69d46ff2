"""How a history starts: in equilibrium under its own weight and dead loads, if the structure has one nearby.

Stones as drawn touch without force. Let go, a wall would ring for a while; so it is let down first: velocities are taken
back again and again until nothing moves. A structure that moves away instead of settling, because it is drawn in motion or
cannot stand, starts as it is drawn.
"""

import numpy as np

from drystone.engine.small_steps import SmallSteps
from drystone.state import State

SPAN = 5e-4  # [s] after which velocities are taken back
KEPT = 0.9  # of the velocities
LONGEST = 0.3  # [s] of letting down
SETTLED = 1e-9  # [m/s] slower than this is settled
FARTHEST = 1e-3  # of the radius of a block: one that moves farther is not settling


def settled(engine: SmallSteps, start: State) -> State:
    """The state at the start, in equilibrium if there is one nearby."""
    state, free = start, ~engine.model.bodies.fixed
    far = FARTHEST * engine.model.bodies.radius[free]
    for _ in range(round(LONGEST / SPAN)):
        state, _ = engine.advance(state._replace(step=0), SPAN, relaxing=True)
        if (np.linalg.norm(state.position - start.position, axis=1)[free] > far).any():
            return start
        if np.abs(state.velocity[free]).max() < SETTLED:
            break
        state = state._replace(
            velocity=KEPT * state.velocity, energy=state.energy._replace(kinetic=KEPT**2 * state.energy.kinetic)
        )
    down = engine.gravity * float(engine.model.bodies.mass[free] @ (state.position - start.position)[free, 2])
    energy = start.energy._replace(potential=start.energy.potential + down, elastic=state.energy.elastic)
    return state._replace(step=0, time=0.0, velocity=np.zeros_like(state.velocity), energy=energy)

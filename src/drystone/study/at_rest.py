"""Whether a history has come to rest, so that it can be stopped.

A structure is at rest when its motions are over and, for REST_DURATION since then, no point of any block has moved by more than
MAX_REST_MOVEMENT. A small velocity or kinetic energy is not enough: a block at the top of its swing has neither, and a block
close to its point of balance has little of both for a long time. A block that is accelerated by more than
2 MAX_REST_MOVEMENT / REST_DURATION^2, which is 5 millionths of g, moves further than this limit. Only a block that balances on
its edge more closely than that is stopped too early (T120).
"""

import numpy as np

from drystone.engine.state import State
from drystone.ground.motion import last_motion_end
from drystone.io.analysis_tables import SettlementHistoryTable
from drystone.io.case import Case
from drystone.structure.block_changes import last_change_time
from drystone.structure.loads import last_load_change
from drystone.structure.model import Model

Array = np.ndarray

REST_DURATION = 0.2  # [s]
MAX_REST_MOVEMENT = 1e-6  # [m]


class AtRest:
    """Call it with the states of a history in the order of time; it returns whether the last one is at rest."""

    def __init__(self, case: Case, model: Model):
        self._over = max(last_motion_end(case.motions), last_load_change(case.loads), last_change_time(case.changes))  # [s]
        self._inert = isinstance(case.analysis, SettlementHistoryTable)  # without inertia a block may fall arbitrarily slowly
        self._radius = model.bodies.radius
        self._since: State | None = None  # nothing has moved since this state

    def __call__(self, state: State) -> bool:
        if self._inert or state.time < self._over:
            return False
        if self._since is None or largest_movement(self._since, state, self._radius) > MAX_REST_MOVEMENT:
            self._since = state
        return state.time - self._since.time >= REST_DURATION


def largest_movement(first: State, second: State, radius: Array) -> float:
    """[m] An upper bound of how far any point of a block has moved between two states: the shift of its centroid plus its
    rotation times its radius. radius (B,) [m]"""
    shift = np.linalg.norm(second.position - first.position, axis=1)
    rotation = 2 * np.linalg.norm(second.rotation - first.rotation, axis=1)  # [rad] of small turns
    return float((shift + rotation * radius).max())

"""Whether the rest of the ground motion can still move a structure that has come to rest, so that its history can be stopped
(T121).

It cannot if three conditions hold. The strongest part of every motion is over, and the loads no longer change. For
CALM_DURATION no point of any block has moved by more than MAX_SWAY. And with the blocks where they are now, forces within
Coulomb's cone at the closed joints balance the weight, the loads and ACCELERATION_MARGIN times every ground acceleration that
is still to come. The accelerations that can be balanced form a convex set, so it is enough to check the corners of the box of
the largest remaining ones, and to do so once per pose: later boxes lie inside the first.

The check does not apply, and the trial continues to the end of its motions, with moving supports, with motions that have no end
or are given by displacements (their velocity jumps), with mortar (it remembers), with deformable blocks, and with blocks that
appear or vanish. After the motions, at_rest.py decides.
"""

from itertools import product

import numpy as np

from drystone.base.units import GRAVITY
from drystone.engine.state import State
from drystone.ground.motion import Motion, last_motion_end
from drystone.io.analysis_tables import SettlementHistoryTable
from drystone.io.case import Case
from drystone.structure.loads import body_force, last_load_change, load_wrench, loads_at, weight_wrench
from drystone.structure.model import Model
from drystone.study.at_rest import largest_movement

Array = np.ndarray

# factor on the accelerations to come, because friction in the joints is not associated and blocks vibrate
ACCELERATION_MARGIN = 1.5
CALM_DURATION = 0.5  # [s]
MAX_SWAY = 5e-4  # [m] shaken blocks that stay in place sway by less, unless they are soft; those are followed longer
MIN_ACCELERATION = 0.01 * GRAVITY  # [m/s2] the smallest acceleration that is checked
MAX_CLOSED_GAP = 1e-4  # [m] joints with a wider gap carry no force
PULSE_SAMPLES = 4000  # instants of a pulse at which its acceleration is evaluated


class RemainingMotionCheck:
    """Call it with the states of a history in the order of time; it returns whether the structure at the last one is at rest
    and can bear the rest of the motions."""

    def __init__(self, case: Case, model: Model):
        self._case, self._model = case, model
        self._asks = _is_applicable(case, model)
        self._over = last_motion_end(case.motions)  # [s]
        self._peaks = [_PeakAccelerations(motion) for motion in case.motions] if self._asks else []
        self._from = max([peak.strongest for peak in self._peaks] + [last_load_change(case.loads)])  # [s]
        self._since: State | None = None  # nothing has moved since this state
        # a box of accelerations checked since then, and its largest admissible factor
        self._borne: tuple[Array, float] | None = None

    def __call__(self, state: State) -> bool:
        if not self._asks or not self._from <= state.time < self._over:
            return False
        if self._since is None or largest_movement(self._since, state, self._model.bodies.radius) > MAX_SWAY:
            self._since, self._borne = state, None
        if state.time - self._since.time < CALM_DURATION:
            return False
        remaining = np.array([max(peak.left(state.time), MIN_ACCELERATION) for peak in self._peaks])
        if self._borne is None:
            self._borne = remaining, self._multiplier(state, remaining)
        box, multiplier = self._borne
        return bool(multiplier >= ACCELERATION_MARGIN * (remaining / box).max())

    def _multiplier(self, state: State, remaining: Array) -> float:
        """The largest factor on the box of accelerations (M,) [m/s2] along the motions with which all corners are balanced."""
        from drystone.analysis.statics.balance import assemble_balance  # with SciPy and Clarabel
        from drystone.analysis.statics.collapse_multiplier import solve_limit

        model, gravity = self._model, self._case.analysis.gravity
        system = assemble_balance(model, state.position, state.rotation, widest=MAX_CLOSED_GAP)
        dead = weight_wrench(model, gravity) + load_wrench(
            model, loads_at(self._case.loads, state.time), gravity, state.rotation
        )
        directions = np.array([motion.direction for motion in self._case.motions])
        smallest = np.inf
        for signs in product((-1.0, 1.0), repeat=len(remaining)):
            acceleration = (np.array(signs) * remaining) @ directions
            size = float(np.linalg.norm(acceleration))
            multiplier = solve_limit(system, dead, body_force(model, acceleration, size)).multiplier if size > 0.0 else np.inf
            smallest = min(smallest, multiplier if multiplier > 0.0 else 0.0)  # nan: not even the weight is balanced
        return smallest


def _is_applicable(case: Case, model: Model) -> bool:
    plain = all(not motion.supports and motion.displacement_amplitude is None for motion in case.motions)
    rigid_and_dry = model.laws is None and model.elastic is None and not case.changes
    return (
        plain
        and rigid_and_dry
        and np.isfinite(last_motion_end(case.motions))
        and not isinstance(case.analysis, SettlementHistoryTable)
    )


class _PeakAccelerations:
    """The largest acceleration of a motion: when it occurs, and how large it is after an instant."""

    def __init__(self, motion: Motion):
        count = PULSE_SAMPLES if motion.record is None else len(motion.record.acceleration)
        self._time = motion.start + np.linspace(0.0, motion.length, count)
        size = np.linalg.norm(motion.acceleration(self._time), axis=1)
        self._left = np.maximum.accumulate(size[::-1])[::-1]  # the largest one from each sample to the end
        self.strongest = float(self._time[size.argmax()])  # [s] when

    def left(self, time: float) -> float:
        """[m/s2] from the last sample before this instant on."""
        if time >= self._time[-1]:
            return 0.0
        return float(self._left[max(int(np.searchsorted(self._time, time, side="right")) - 1, 0)])

"""When what is left of the ground's motion can move nothing: the states of a history come in, one after the other, yes or no
goes out (T121).

The strongest part of every motion is over, and loads change no more; for CALM seconds no point of any block has moved by SWAY;
and where the blocks are now, joints that are closed have forces, within friction, that balance weight, loads and MARGIN times
any acceleration the ground still has to come. The accelerations that can be borne are a convex set, so that it is enough to ask
for the corners of the box of the largest ones that are left, and once for a pose: later boxes lie in the first.

Where the question has no such answer it is not asked, and a trial goes on to the end of its motions: supports that are moved,
motions without an end or given by displacements, which have jumps of the velocity; mortar, which remembers; deformable blocks;
blocks that appear and vanish.
When the motions are over, rest is what rest.py says.
"""

from itertools import product

import numpy as np

from drystone.io.analysis_tables import SettlementHistoryTable
from drystone.io.case import Case
from drystone.loads import body_force, last_load_change, load_wrench, loads_at, weight_wrench
from drystone.model import Model
from drystone.motion import Motion, last_motion_end
from drystone.state import State
from drystone.study.rest import largest_movement
from drystone.units import GRAVITY

Array = np.ndarray

ACCELERATION_MARGIN = 1.5  # times the accelerations to come: friction in the joints is not associated, and stone swings
CALM_DURATION = 0.5  # [s]
MAX_SWAY = 5e-4  # [m] stone that is shaken and stays where it is sways by less, unless it is soft; then it is followed longer
MIN_ACCELERATION = 0.01 * GRAVITY  # [m/s2] so much is asked for at least
MAX_CLOSED_GAP = 1e-4  # [m] joints that are open wider bear nothing
PULSE_SAMPLES = 4000  # of a pulse, in which its largest accelerations are looked for


class RemainingMotionCheck:
    """Whether the states it was shown, in the order of time, end in one that bears what is left of the motions."""

    def __init__(self, case: Case, model: Model):
        self._case, self._model = case, model
        self._asks = _is_applicable(case, model)
        self._over = last_motion_end(case.motions)  # [s]
        self._peaks = [_PeakAccelerations(motion) for motion in case.motions] if self._asks else []
        self._from = max([peak.strongest for peak in self._peaks] + [last_load_change(case.loads)])  # [s]
        self._since: State | None = None  # the state from which on nothing has moved
        self._borne: tuple[Array, float] | None = None  # since then: a box of accelerations, and by what it may be multiplied

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
        """By what the box of accelerations (M,) [m/s2] along the motions may be multiplied until a corner is not borne."""
        from drystone.statics.balance import assemble_balance  # with SciPy and Clarabel
        from drystone.statics.limit import solve_limit

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
            smallest = min(smallest, multiplier if multiplier > 0.0 else 0.0)  # not a number: it bears not even its weight
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
    """The largest acceleration of a motion, before and after an instant."""

    def __init__(self, motion: Motion):
        count = PULSE_SAMPLES if motion.record is None else len(motion.record.acceleration)
        self._time = motion.start + np.linspace(0.0, motion.length, count)
        size = np.linalg.norm(motion.acceleration(self._time), axis=1)
        self._left = np.maximum.accumulate(size[::-1])[::-1]  # from each sample on
        self.strongest = float(self._time[size.argmax()])  # [s] when

    def left(self, time: float) -> float:
        """[m/s2] from the last sample before this instant on."""
        if time >= self._time[-1]:
            return 0.0
        return float(self._left[max(int(np.searchsorted(self._time, time, side="right")) - 1, 0)])

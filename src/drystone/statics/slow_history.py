"""What a structure of elastic stones bears that is loaded slowly from rest: a model with dead and live loads comes in, the
multipliers under which histories stand and move go out, by Coulomb friction over the areas of the joints (T419).

A slow collapse (slow_collapse.py) takes stones for rigid. Elastic ones give way, by tenths of a millimetre. Where friction in
upright joints is all that holds a stone it may slip so far, before its neighbours press it enough, that it falls; and a
structure whose joints vibrate as they slide goes on under less. So the multiplier of rigid stones is tried: the load grows to
5 % less of it within GROWING, while velocities are taken back so that nothing swings, and is then held without that. If
the structure moves away, the multiplier under which it stands is looked for below.
"""

from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from drystone import quaternion
from drystone.blas import one_blas_thread
from drystone.contact.contacts import Contacts
from drystone.engine.small_steps import Material, Relaxing, SmallSteps
from drystone.loads import weight
from drystone.model import Model
from drystone.simulate import initial_state
from drystone.state import State

Array = np.ndarray

LETTING_DOWN = 0.1  # [s] in which the structure comes to rest under its dead load
SPAN = 0.01  # [s] after which a history is looked at
GROWING, HELD = 0.2, 0.5  # [s] in which the load grows, and for which it is held
STEPS_UP = 20  # equal steps in which it grows
TAKEN_BACK = 40.0  # [1/s] rate at which velocities are taken back while it grows
QUIET, QUIET_FOR = 1e-5, 0.1  # [m/s] slower than this for so long [s]: the structure stands
AWAY = 0.02  # of the radius of a block: one that goes farther while the load is held moves away
FALLEN = 0.2  # of the radius of a block: one that has gone so far since it was built moves away
SHARES = (0.95, 0.9, 0.8, 0.6, 0.3, 0.0)  # of the multiplier of rigid stones, tried until the structure stands
WITHIN = 0.05  # of that multiplier: how closely the one under which it stands is then told


class SlowHistory(NamedTuple):
    """How a structure fared under a load that came slowly."""

    stands: bool
    velocity: Array  # (B, 6) [m/s, rad/s] the mean while the load was held: the motion, if it moves away
    contacts: Contacts  # at the end, with forces [N] in the place of impulses


class Borne(NamedTuple):
    """What a structure bears that is loaded slowly."""

    stands_at: float  # the largest multiplier with which it was seen to stand; nan if with none
    moves_at: float  # the least with which it was seen to move away; nan if it stood at once
    velocity: Array | None  # (B, 6) of that motion
    contacts: Contacts  # with forces [N], under the largest multiplier with which it stands, or 0


class SlowLoading:
    """A structure that has settled under its weight, to be loaded."""

    def __init__(self, model: Model, dead: Array, live: Array, *, gravity: float, young: float, threads: int | None = 1):
        """Dead and live loads (B, 6) [N, N m]."""
        self.model, self.besides, self.live = model, dead - weight(model, gravity), live
        self.engine = SmallSteps(model, gravity=gravity, material=Material(young=young), threads=threads)
        self.start = self._advance(initial_state(model, gravity), LETTING_DOWN, 0.0, Relaxing().rate)

    def follow(self, multiplier: float) -> Generator[float, None, SlowHistory]:
        """The history in which the load grows to this. Yields the share that is done."""
        model, radius, free, state = self.model, self.model.bodies.radius, ~self.model.bodies.fixed, self.start
        for k in range(STEPS_UP):
            state = self._advance(state, GROWING / STEPS_UP, (k + 1) / STEPS_UP * multiplier, TAKEN_BACK)
            yield 0.4 * (k + 1) / STEPS_UP
        grown, quiet, stands = state, 0, True
        for k in range(round(HELD / SPAN)):
            state = self._advance(state, SPAN, multiplier, 0.0)
            away = np.linalg.norm(state.position - grown.position, axis=1) > AWAY * radius
            fallen = np.linalg.norm(state.position - model.position, axis=1) > FALLEN * radius
            stands = bool(np.isfinite(state.velocity).all() and not (away | fallen)[free].any())
            quiet = quiet + 1 if float(np.abs(state.velocity[free]).max()) < QUIET else 0
            if not stands or quiet * SPAN >= QUIET_FOR:
                break
            yield 0.4 + 0.6 * (k + 1) * SPAN / HELD
        turn = quaternion.rotation_vector(quaternion.product(state.rotation, quaternion.conjugate(grown.rotation)))
        velocity = np.concatenate([state.position - grown.position, turn], axis=1) / ((k + 1) * SPAN)
        return SlowHistory(stands, velocity, state.contacts._replace(impulse=state.contacts.impulse / SPAN))

    def _advance(self, state: State, time: float, multiplier: float, rate: float) -> State:
        pushed = Relaxing(rate, breaks=True, pushed=self.besides + multiplier * self.live)
        with one_blas_thread():
            return self.engine.advance(state._replace(step=0), time, pushed)[0]


def bear_slowly(loading: SlowLoading, multiplier: float) -> Generator[float, None, Borne]:
    """What the structure bears of a load that rigid stones bear `multiplier` times. Yields the share that is done."""
    stands_at, moves_at, velocity = np.nan, np.nan, None
    for share in SHARES:
        history = yield from loading.follow(share * multiplier)
        if history.stands:
            stands_at = share * multiplier
            break
        moves_at, velocity = share * multiplier, history.velocity
    contacts = history.contacts
    while moves_at - stands_at > 1.01 * WITHIN * multiplier:
        middle = 0.5 * (stands_at + moves_at)
        history = yield from loading.follow(middle)
        if history.stands:
            stands_at, contacts = middle, history.contacts
        else:
            moves_at, velocity = middle, history.velocity
    return Borne(stands_at, moves_at, velocity, contacts)

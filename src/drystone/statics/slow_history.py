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
from drystone.loads import weight_wrench
from drystone.model import Model
from drystone.simulate import initial_state
from drystone.state import State

Array = np.ndarray

SETTLING_DURATION = 0.1  # [s] in which the structure comes to rest under its dead load
RAMP_DURATION = 0.2  # [s] in which the live load grows,
LOAD_STEPS = 20  # in so many equal steps,
RAMP_DAMPING_RATE = 40.0  # [1/s] and at which rate velocities are taken back meanwhile
WINDOW_DURATION, WINDOWS_PER_CHECK, MAX_CHECKS = (
    0.1,
    5,
    3,
)  # [s] in which the mean motion is told while the load is held; so many make a look
STANDING_SPEED = 1e-5  # [m/s] slower than this, in the mean over the blocks: the structure stands
FALLEN_SHARE = 0.2  # of the radius of a block: one that has gone so far since it was built moves away
VISIBLE_SURPLUS, CLEAR_MOTION_FACTOR = (
    0.005,
    5.0,
)  # of the live load: what less of it alone would do to the moving blocks is no motion,
# what so many times as much would do is one; in between the structure is looked at again
KEPT_ENERGY_SHARE = 0.5  # of the most energy that the moving blocks had: those that have less come to rest
MULTIPLIER_SHARES = (0.95, 0.9, 0.8, 0.6, 0.3, 0.0)  # of the multiplier of rigid stones, tried until the structure stands
BRACKET_TOLERANCE = 0.05  # of that multiplier: how closely the one under which it stands is then told


class SlowHistory(NamedTuple):
    """How a structure fared under a load that came slowly."""

    stands: bool
    velocity: Array  # (B, 6) [m/s, rad/s] in the end: the motion, if it moves away
    contacts: Contacts  # at the end, with forces [N] in the place of impulses


class SlowCapacity(NamedTuple):
    """What a structure bears that is loaded slowly."""

    stands_at: float  # the largest multiplier with which it was seen to stand; nan if with none
    moves_at: float  # the least with which it was seen to move away; nan if it stood at once
    velocity: Array | None  # (B, 6) of that motion
    contacts: Contacts  # with forces [N], under the largest multiplier with which it stands, or 0


class SlowLoading:
    """A structure that has settled under its weight, to be loaded."""

    def __init__(self, model: Model, dead: Array, live: Array, *, gravity: float, young: float, threads: int | None = 1):
        """Dead and live loads (B, 6) [N, N m]."""
        self.model, self.other_dead, self.live = model, dead - weight_wrench(model, gravity), live
        self.unit = float(np.abs(dead).sum() / np.abs(live).sum())  # a multiplier that tells how large they are
        self.engine = SmallSteps(model, gravity=gravity, material=Material(young=young), threads=threads, sleeps=False)
        self.start = self._advance(initial_state(model, gravity), SETTLING_DURATION, 0.0, Relaxing().rate)

    def load_to(self, multiplier: float) -> Generator[float, None, SlowHistory]:
        """The history in which the load grows to this. Yields the share that is done."""
        state, radius, free = self.start, self.model.bodies.radius, ~self.model.bodies.fixed
        for k in range(LOAD_STEPS):
            state = self._advance(state, RAMP_DURATION / LOAD_STEPS, (k + 1) / LOAD_STEPS * multiplier, RAMP_DAMPING_RATE)
            yield 0.3 * (k + 1) / LOAD_STEPS
        squares = list[float]()  # [J] twice the kinetic energy of the mean motion, window by window
        is_moving, undecided = False, True
        while undecided:
            before, state = state, self._advance(state, WINDOW_DURATION, multiplier, 0.0)
            velocity = mean_velocity(before, state, WINDOW_DURATION)
            squares.append(twice_kinetic_energy(self.model, velocity))
            fallen = np.linalg.norm(state.position - self.model.position, axis=1) > FALLEN_SHARE * radius
            is_moving = bool(fallen[free].any() or not np.isfinite(squares[-1]))
            undecided = not is_moving and squares[-1] > STANDING_SPEED**2 * float(self.model.bodies.mass[free].sum())
            if undecided and len(squares) % WINDOWS_PER_CHECK == 0:
                times = self._surplus(velocity, WINDOW_DURATION * (len(squares) - 0.5)) / (
                    VISIBLE_SURPLUS * (multiplier or self.unit)
                )
                undecided = 1.0 < times < CLEAR_MOTION_FACTOR and len(squares) < MAX_CHECKS * WINDOWS_PER_CHECK
                is_moving = times > 1.0 and squares[-1] > KEPT_ENERGY_SHARE * max(squares)
            yield 0.3 + 0.7 * min(len(squares) / WINDOWS_PER_CHECK, 1.0)
        return SlowHistory(not is_moving, velocity, state.contacts._replace(impulse=state.contacts.impulse / WINDOW_DURATION))

    def _surplus(self, velocity: Array, time: float) -> float:
        """The multiplier of the live load that alone would give the moving blocks this velocity (B, 6) within a time [s]."""
        power = abs(float(np.vdot(self.live, velocity)))
        return twice_kinetic_energy(self.model, velocity) / (power * time) if power > 0.0 else np.inf

    def _advance(self, state: State, time: float, multiplier: float, rate: float) -> State:
        pushed = Relaxing(rate, breaks=True, pushed=self.other_dead + multiplier * self.live)
        with one_blas_thread():
            return self.engine.advance(state._replace(step=0), time, pushed)[0]


def mean_velocity(before: State, after: State, time: float) -> Array:
    """(B, 6) [m/s, rad/s] between two states."""
    rotation = quaternion.rotation_vector(quaternion.product(after.rotation, quaternion.conjugate(before.rotation)))
    return np.concatenate([after.position - before.position, rotation], axis=1) / time


def twice_kinetic_energy(model: Model, velocity: Array) -> float:
    """[J] of the free blocks, as they are turned at the start."""
    free, bodies = ~model.bodies.fixed, model.bodies
    v = velocity[free]
    turning = np.einsum("bi,bij,bj->", v[:, 3:], bodies.inertia[free], v[:, 3:])
    return float(bodies.mass[free] @ (v[:, :3] ** 2).sum(axis=1) + turning)


def find_slow_capacity(loading: SlowLoading, multiplier: float) -> Generator[float, None, SlowCapacity]:
    """What the structure bears of a load that rigid stones bear `multiplier` times. Yields the share that is done."""
    stands_at, moves_at, velocity = np.nan, np.nan, None
    for share in MULTIPLIER_SHARES:
        history = yield from loading.load_to(share * multiplier)
        if history.stands:
            stands_at = share * multiplier
            break
        moves_at, velocity = share * multiplier, history.velocity
    contacts = history.contacts
    while moves_at - stands_at > 1.01 * BRACKET_TOLERANCE * multiplier:
        middle = 0.5 * (stands_at + moves_at)
        history = yield from loading.load_to(middle)
        if history.stands:
            stands_at, contacts = middle, history.contacts
        else:
            moves_at, velocity = middle, history.velocity
    return SlowCapacity(stands_at, moves_at, velocity, contacts)

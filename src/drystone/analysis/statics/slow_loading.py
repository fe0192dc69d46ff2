"""The load that a structure of elastic blocks bears if it is loaded slowly from rest: the multipliers of the live load with
which it stands and with which it moves, by Coulomb friction over the areas of the joints (T419).

A slow collapse (slow_collapse.py) takes blocks as rigid. Elastic blocks deform by tenths of a millimetre. A block that is held
only by friction in upright joints may slip so far that it falls before its neighbours press it enough. And a structure whose
joints vibrate as they slide continues to move under a smaller load. Therefore the multiplier of rigid blocks is checked: the
load grows to 5 % less within RAMP_DURATION, with damped velocities so that nothing oscillates, and is then held without
damping. If the structure moves away, the multiplier with which it stands is searched below."""

from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from drystone.base import quaternion
from drystone.base.blas import one_blas_thread
from drystone.contact.contacts import Contacts
from drystone.engine.simulation import initial_state
from drystone.engine.small_steps.integrator import Material, Relaxing, SmallSteps
from drystone.engine.state import State
from drystone.structure.loads import weight_wrench
from drystone.structure.model import Model

Array = np.ndarray

SETTLING_DURATION = 0.1  # [s] in which the structure comes to rest under its dead load
RAMP_DURATION = 0.2  # [s] in which the live load grows
LOAD_STEPS = 20  # equal steps in which the live load grows
RAMP_DAMPING_RATE = 40.0  # [1/s] rate of damping while the live load grows
WINDOW_DURATION = 0.1  # [s] over which the motion is averaged while the load is held
WINDOWS_PER_CHECK, MAX_CHECKS = 5, 3  # windows after which the motion is judged, and the largest number of such checks
STANDING_SPEED = 1e-5  # [m/s] the structure stands if the mean speed of its blocks is less
FALLEN_SHARE = 0.2  # of the radius of a block: a block that has moved farther from its initial position moves away
VISIBLE_SURPLUS = 0.005  # of the live load: a motion that a smaller surplus would cause is none
# times this surplus: a motion that a larger surplus would cause is one; in between it is checked again
CLEAR_MOTION_FACTOR = 5.0
KEPT_ENERGY_SHARE = 0.5  # of the largest energy of the moving blocks: with less they come to rest
MULTIPLIER_SHARES = (0.95, 0.9, 0.8, 0.6, 0.3, 0.0)  # of the multiplier of rigid blocks, tried until the structure stands
BRACKET_TOLERANCE = 0.05  # of that multiplier: how closely the one with which the structure stands is then determined


class SlowHistory(NamedTuple):
    """The outcome of a history with a slowly applied load."""

    stands: bool
    velocity: Array  # (B, 6) [m/s, rad/s] at the end: the motion, if the structure moves away
    contacts: Contacts  # at the end, with forces [N] instead of impulses


class SlowCapacity(NamedTuple):
    """The load that a structure bears if it is loaded slowly."""

    stands_at: float  # the largest multiplier with which a history stands; nan if there is none
    moves_at: float  # the smallest multiplier with which a history moves away; nan if the first one stood
    velocity: Array | None  # (B, 6) of that motion
    contacts: Contacts  # with forces [N], under the largest multiplier with which it stands, or 0


class SlowLoading:
    """A structure that has settled under its weight and can be loaded."""

    def __init__(self, model: Model, dead: Array, live: Array, *, gravity: float, young: float, threads: int | None = 1):
        """Dead and live loads (B, 6) [N, N m]."""
        self.model, self.other_dead, self.live = model, dead - weight_wrench(model, gravity), live
        self.unit = float(np.abs(dead).sum() / np.abs(live).sum())  # a multiplier of the right order of magnitude
        self.engine = SmallSteps(model, gravity=gravity, material=Material(young=young), threads=threads, sleeps=False)
        self.start = self._advance(initial_state(model, gravity), SETTLING_DURATION, 0.0, Relaxing().rate)

    def load_to(self, multiplier: float) -> Generator[float, None, SlowHistory]:
        """The history in which the live load grows to this multiplier. Yields the share that is done."""
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
        """The multiplier of the live load that would alone give the moving blocks this velocity (B, 6) within a time [s]."""
        power = abs(float(np.vdot(self.live, velocity)))
        return twice_kinetic_energy(self.model, velocity) / (power * time) if power > 0.0 else np.inf

    def _advance(self, state: State, time: float, multiplier: float, rate: float) -> State:
        pushed = Relaxing(rate, breaks=True, pushed=self.other_dead + multiplier * self.live)
        with one_blas_thread():
            return self.engine.advance(state._replace(step=0), time, pushed)[0]


def mean_velocity(before: State, after: State, time: float) -> Array:
    """(B, 6) [m/s, rad/s] The mean velocity between two states."""
    rotation = quaternion.rotation_vector(quaternion.product(after.rotation, quaternion.conjugate(before.rotation)))
    return np.concatenate([after.position - before.position, rotation], axis=1) / time


def twice_kinetic_energy(model: Model, velocity: Array) -> float:
    """[J] Twice the kinetic energy of the free blocks, with their inertia in the initial orientation."""
    free, bodies = ~model.bodies.fixed, model.bodies
    v = velocity[free]
    turning = np.einsum("bi,bij,bj->", v[:, 3:], bodies.inertia[free], v[:, 3:])
    return float(bodies.mass[free] @ (v[:, :3] ** 2).sum(axis=1) + turning)


def find_slow_capacity(loading: SlowLoading, multiplier: float) -> Generator[float, None, SlowCapacity]:
    """The load that the structure bears if rigid blocks bear `multiplier` times the live load. Yields the share that is
    done."""
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

"""Collapse by Coulomb friction of structures of any size: the multiplier of the live load with which the structure, once it has
started to move, continues to move slowly. Histories check it on both sides (T416 to T418).

The structure is followed by small steps, as in histories, with friction over the areas of its joints. It settles under the dead
load. The live load then grows until blocks move, and is held slightly above the resistance of the structure, so that it
continues to move slowly. This resistance is the multiplier: forces and motion are a state of collapse that the structure has
reached by itself. It is checked by histories that start from these forces without the motion: under 1 % less of the live load
the structure has to rest, and under slightly more it has to move.

Coulomb friction can cause vibrations of elastic blocks that slide. The structure then moves in jerks and under less than the
multiplier, depending on the damping of its joints. In this case the joints are damped critically, so that the multiplier is one
of statics, and the resistance before is reported besides.

Blocks should be rigid, so their stone is a hundred times stiffer than in histories. Everything happens within a tenth of a
millimetre, and ten times faster.
"""

from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from drystone.analysis.statics.slow_loading import mean_velocity, twice_kinetic_energy
from drystone.base.blas import one_blas_thread
from drystone.base.units import GRAVITY
from drystone.contact.contacts import Contacts
from drystone.engine.simulation import initial_state
from drystone.engine.small_steps.integrator import Material, Relaxing, SmallSteps
from drystone.engine.state import State
from drystone.structure.loads import weight_wrench
from drystone.structure.model import Model

Array = np.ndarray

STIFF_YOUNG = 3e12  # [Pa]
SPAN_DURATION = 5e-4  # [s] between two adjustments of the live load
SETTLING_RATE = 2000.0  # [1/s] rate of damping under the dead load alone
DRIVING_RATE = 150.0  # [1/s] rate of damping while the structure is driven by the live load
SETTLING_SPANS, MAX_SETTLING_SPANS = 40, 400  # spans of settling, and their largest number if the structure is not yet at rest
BALANCED_ACCELERATION = 1e-2  # of gravity: a block with a smaller acceleration is at rest
LOAD_SURPLUS = 0.05  # of the associated multiplier: by how much the live load exceeds the resistance
LOAD_STEPS = 40  # smallest number of steps in which the load grows to the associated multiplier
MAX_LOAD_RATIO = 100.0  # times the dead load over the live load: a structure that bears more is said not to yield
WINDOW_SPANS = 30  # spans over which the resistance is averaged
STEADY_CHANGE = 2e-3  # of the associated multiplier: the largest change of a steady resistance from one window to the next
MAX_STORED_SHARE = 0.05  # of the work of the live load: blocks that move as rigid bodies store less elastic energy
MEDIAN_SPANS = 9  # spans per median; the largest median counts where the structure moves in jerks
MAX_SPANS = 900
SPANS_BEFORE_DAMPING = 450  # spans after which a structure that moves in jerks is damped critically
DAMPED_MATERIAL = Material(young=STIFF_YOUNG, damping=1.0, rocking=1.0)  # damping of joints over critical damping
CHECK_SPANS, MAX_CHECKS = 100, 4  # spans of a history that checks a multiplier; repeated while the structure moves slowly
REST_FACTOR = 0.99  # of the multiplier: the structure has to rest under this load
# factor on the multiplier if the structure does not rest, and how often it is applied
REDUCTION_FACTOR, MAX_REDUCTIONS = 0.95, 12
# of the multiplier: the structure has to move under the first, or else another of them
MOTION_FACTORS = (1.02, 1.04, 1.08, 1.16)
MAX_DRIVES = 4  # how often the structure is driven further if it does not move under the first of these factors
VISIBLE_SURPLUS = 0.01  # of the multiplier: this surplus alone would cause a motion that counts as one
VISIBLE_SHARE = 0.1  # of the work on that motion: with less the structure rests, in between it is followed further
DOES_NOT_REST = "by Coulomb friction the structure does not stand under the dead load alone"
ZERO_SHARE = 1e-6  # of the associated multiplier: a smaller multiplier is zero


class SlowCollapse(NamedTuple):
    """A structure that has started to move under its live load."""

    multiplier: float  # of the live load with which the structure continues to move
    starts_at: float  # the largest resistance on the way from rest
    vibrating: float  # the mean resistance before the joints were damped; nan if the structure did not move in jerks
    change: float  # of the multiplier, over the last two windows
    velocity: Array  # (B, 6) [m/s, rad/s] the motion
    contacts: Contacts  # with forces [N] instead of impulses
    rests_at: float  # multiplier with which a history that starts from these forces stays at rest; nan if none was found
    moves_at: float  # multiplier with which it moves; 0 if the multiplier is 0 and it moves on without the live load

    @property
    def is_confirmed(self) -> bool:
        return bool(np.isfinite(self.moves_at) and (np.isfinite(self.rests_at) or self.multiplier == 0.0))


class DrivenSpan(NamedTuple):
    """A span of the driven motion."""

    resistance: float  # multiplier of the live load without the parts that inertia and damping carry
    work: float  # [J] of the live load at a multiplier of 1
    stored: float  # [J] increase of the elastic energy
    velocity: Array  # (B, 6) mean


class DrivenStructure:
    """A structure and the engine that drives it by its live load."""

    def __init__(self, model: Model, dead: Array, live: Array, gravity: float, threads: int | None):
        self.model = replace(model, elastic=None)
        self.engine = _engine(self.model, gravity, threads, Material(young=STIFF_YOUNG))
        self.threads, self.is_damped = threads, False
        self.other_dead, self.live = dead - weight_wrench(model, gravity), live
        self.free = ~model.bodies.fixed

    def damp_critically(self) -> None:
        """Damp the joints critically from now on."""
        self.engine, self.is_damped = _engine(self.model, self.engine.gravity, self.threads, DAMPED_MATERIAL), True

    def span(self, state: State, multiplier: float, rate: float) -> tuple[State, DrivenSpan]:
        """One span under a multiple of the live load, with velocities damped at a rate [1/s]."""
        relaxing = Relaxing(rate, breaks=True, pushed=self.other_dead + multiplier * self.live)
        with one_blas_thread():
            after, _ = self.engine.advance(state._replace(step=0), SPAN_DURATION, relaxing)
        velocity = mean_velocity(state, after, SPAN_DURATION)
        power = float(np.vdot(self.live, velocity))
        inertia = (after.energy.kinetic - state.energy.kinetic) / SPAN_DURATION + rate * twice_kinetic_energy(
            self.model, velocity
        )
        resistance = multiplier - inertia / power if power > 0.0 else np.nan
        return after, DrivenSpan(resistance, power * SPAN_DURATION, after.energy.elastic - state.energy.elastic, velocity)


def _engine(model: Model, gravity: float, threads: int | None, material: Material) -> SmallSteps:
    return SmallSteps(model, gravity=gravity, material=material, threads=threads, tells_contacts=False, sleeps=False)


def collapse_slowly(
    model: Model, dead: Array, live: Array, upper: float, *, gravity: float = GRAVITY, threads: int | None = 1
) -> Generator[float, None, SlowCollapse | str]:
    """The collapse under dead and live loads (B, 6) [N, N m], or a sentence why there is none. `upper` is the associated
    multiplier, infinite if there is none. Yields the share that is done."""
    driven = DrivenStructure(model, dead, live, gravity, threads)
    start = yield from _settle_under_dead_load(driven)
    if start is None:
        return DOES_NOT_REST
    highest = MAX_LOAD_RATIO * float(np.abs(dead).sum() / np.abs(live).sum())
    path = CollapsePath(driven, start, upper, unit=abs(upper) if np.isfinite(upper) and upper else highest / MAX_LOAD_RATIO)
    for _ in range(MAX_DRIVES):
        yield from path.drive(highest)
        if path.is_unbounded:
            return f"nothing moves under {highest:g} times the live load"
        multiplier = path.resistance
        if multiplier <= ZERO_SHARE * path.unit:
            still_moves, contacts = yield from _check_motion(path, 0.0)
            return path.result(0.0, contacts, np.nan, 0.0 if still_moves else np.nan)
        moves_at = yield from _find_moving_multiplier(path, multiplier, MOTION_FACTORS[:1])
        if np.isfinite(moves_at) or not path.has_time_left:
            still_moves, contacts = yield from _check_motion(path, REST_FACTOR * multiplier)
            if not still_moves or driven.is_damped:
                break
            path.damp_critically()
    else:
        still_moves, contacts = yield from _check_motion(path, REST_FACTOR * multiplier)
    if not np.isfinite(moves_at):
        moves_at = yield from _find_moving_multiplier(path, multiplier, MOTION_FACTORS[1:])
    for _ in range(MAX_REDUCTIONS):
        if not still_moves:
            break
        multiplier, moves_at = REDUCTION_FACTOR * multiplier, REST_FACTOR * multiplier
        still_moves, contacts = yield from _check_motion(path, REST_FACTOR * multiplier)
    return path.result(multiplier, contacts, np.nan if still_moves else REST_FACTOR * multiplier, moves_at)


def _find_moving_multiplier(path: "CollapsePath", multiplier: float, shares: Sequence[float]) -> Generator[float, None, float]:
    """The multiplier times the first of these factors with which the structure moves; nan if it moves with none."""
    for share in shares:
        if (yield from _check_motion(path, share * multiplier))[0]:
            return share * multiplier
    return np.nan


def _settle_under_dead_load(driven: DrivenStructure) -> Generator[float, None, State | None]:
    """Bring the structure to rest under its dead load; None if it does not come to rest."""
    state = initial_state(driven.model, driven.engine.gravity)
    radius = driven.model.bodies.radius[driven.free]
    for k in range(MAX_SETTLING_SPANS):
        state, _ = driven.span(state, 0.0, SETTLING_RATE)
        v = state.velocity[driven.free]
        speed = float((np.linalg.norm(v[:, :3], axis=1) + radius * np.linalg.norm(v[:, 3:], axis=1)).max())
        if k >= SETTLING_SPANS and SETTLING_RATE * speed <= BALANCED_ACCELERATION * driven.engine.gravity:
            return state
        yield 0.05 * min(k / SETTLING_SPANS, 1.0)
    return None


class CollapsePath:
    """The motion of a structure from rest until its resistance no longer changes."""

    def __init__(self, driven: DrivenStructure, start: State, upper: float, unit: float):
        """upper: the associated multiplier; unit: a multiplier of the right order of magnitude."""
        self.driven, self.state, self.upper, self.unit = driven, start, upper, unit
        self.resistances = list[float]()
        self.last = deque[DrivenSpan](maxlen=WINDOW_SPANS)
        self.multiplier, self.is_unbounded, self._last_length, self.vibrating = 0.0, False, 0, np.nan

    @property
    def has_time_left(self) -> bool:
        """Whether the motion may be followed further."""
        return len(self.resistances) < MAX_SPANS

    def drive(self, highest: float) -> Generator[float, None, None]:
        """Drive the structure until the resistance is steady and the motion is half as long again as at the last call. It is
        unbounded if it bears the highest multiplier."""
        while self.has_time_left and not (len(self.resistances) >= 1.5 * self._last_length and self._is_steady()):
            self.state, span = self.driven.span(self.state, self.multiplier, DRIVING_RATE)
            self.last.append(span)
            self.resistances.append(span.resistance)
            scale = max(self.unit, self.multiplier)
            step = scale / LOAD_STEPS
            more = span.resistance + LOAD_SURPLUS * scale - self.multiplier if np.isfinite(span.resistance) else step
            self.multiplier += float(np.clip(more, -step, step))
            if len(self.resistances) == SPANS_BEFORE_DAMPING and not self.driven.is_damped:
                self.damp_critically()
            if self.multiplier > highest or not np.isfinite(self.state.velocity).all():
                self.is_unbounded = True
                return
            yield 0.05 + 0.85 * max(min(self.multiplier / self.unit, 1.0) * 0.5, len(self.resistances) / MAX_SPANS)
        self._last_length = len(self.resistances)

    def damp_critically(self) -> None:
        """Damp the joints critically from now on, and keep the mean resistance so far."""
        self.vibrating = float(np.nanmean(self.resistances[len(self.resistances) // 2 :]))
        self.driven.damp_critically()

    def result(self, multiplier: float, contacts: Contacts, rests_at: float, moves_at: float) -> SlowCollapse:
        """The result, with a multiplier that has been checked."""
        begins = min(max(float(self._medians().max()), multiplier), self.upper)
        return SlowCollapse(multiplier, begins, self.vibrating, self.change, self.velocity, contacts, rests_at, moves_at)

    def _is_steady(self) -> bool:
        """Whether the resistance has not changed over three windows, and blocks move as rigid bodies rather than deform."""
        if len(self.resistances) < 3 * WINDOW_SPANS:
            return False
        windows = np.array(self.resistances)[-3 * WINDOW_SPANS :].reshape(3, WINDOW_SPANS)
        if not np.isfinite(windows).all():
            return False
        stored = sum(span.stored for span in self.last)
        work = float(windows[-1].mean()) * sum(span.work for span in self.last)
        is_steady = (
            np.ptp(windows.mean(axis=1)) <= STEADY_CHANGE * self.unit and np.std(windows[-1]) <= LOAD_SURPLUS * self.unit
        )
        return bool(is_steady and stored <= MAX_STORED_SHARE * work)

    @property
    def resistance(self) -> float:
        """The resistance at the end: its mean if it is steady. If the structure moves in jerks, it is the largest median over a
        few spans in the second half of the motion, because a constant load has to overcome it. It is not above the upper
        multiplier, which rounding or vibrations could exceed."""
        last = np.array(self.resistances)[-WINDOW_SPANS:].mean()
        resistance = last if self.has_time_left else self._medians()[len(self.resistances) // 2 :].max()
        return min(float(resistance), self.upper)

    @property
    def change(self) -> float:
        """The change of the mean resistance over the last two windows."""
        before, last = np.nanmean(np.array(self.resistances)[-2 * WINDOW_SPANS :].reshape(2, WINDOW_SPANS), axis=1)
        return float(abs(last - before))

    @property
    def velocity(self) -> Array:
        """(B, 6) The mean velocity at the end."""
        return np.mean([span.velocity for span in self.last], axis=0)

    def _medians(self) -> Array:
        """The medians of the resistance over a few spans; an unknown resistance counts as the smallest."""
        resistance = np.array(self.resistances)
        known = np.where(np.isfinite(resistance), resistance, np.nanmin(resistance, initial=0.0))
        return np.median(np.lib.stride_tricks.sliding_window_view(known, MEDIAN_SPANS), axis=1)


def _check_motion(path: CollapsePath, multiplier: float) -> Generator[float, None, tuple[bool, Contacts]]:
    """Whether the structure, starting without velocities, moves under a multiple of the live load in a history that only its
    joints damp; and its contacts at the end, with forces [N]. A slow motion is followed further."""
    driven, velocity, engine = path.driven, path.velocity, path.driven.engine
    power, time = float(np.vdot(driven.live, velocity)), CHECK_SPANS * SPAN_DURATION
    mass = twice_kinetic_energy(driven.model, velocity)
    visible_work = 0.5 * VISIBLE_SURPLUS * path.unit * (power * time) ** 2 / mass  # [J] along the motion
    state = path.state._replace(velocity=np.zeros_like(path.state.velocity))
    for _ in range(MAX_CHECKS):
        work = 0.0
        for k in range(CHECK_SPANS):
            engine.tells_contacts = k == CHECK_SPANS - 1 or work >= visible_work
            state, span = driven.span(state, multiplier, 0.0)
            work += span.work
            yield 0.9
            if engine.tells_contacts:
                break
        if not VISIBLE_SHARE * visible_work < work < visible_work:
            break
    engine.tells_contacts = False
    return work > VISIBLE_SHARE * visible_work, state.contacts._replace(impulse=state.contacts.impulse / SPAN_DURATION)

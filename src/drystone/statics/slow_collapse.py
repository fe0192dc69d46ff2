"""Collapse by Coulomb friction, of structures of any size: a model with dead and live loads comes in; the multiplier
with which it goes on moving, once it has begun to, goes out, tried by histories on both sides (T416 to T418).

The structure is followed by small steps as histories are, with friction over the areas of its joints. It is let down under the
dead load; the live load grows until blocks move, and is then held a little above what the structure resists with, so that it
moves on slowly. That resistance is the multiplier: forces and motion are a state of collapse that the structure has reached by
itself. It is tried from these very forces, without the motion: under 1 % less of the live load the structure has to rest, and
under a little more it has to go on moving.

Coulomb's friction can feed vibrations of elastic stones that slide: the structure then goes by fits and starts and under less
than the multiplier, by how much less depends on the damping of its joints. Where that happens they are damped critically, so
that the multiplier is one of statics, and what was seen before is told beside it.

Blocks are to be rigid, so stone is taken a hundred times as stiff as in histories: all happens within a tenth of a millimetre,
and ten times as fast.
"""

from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from drystone.blas import one_blas_thread
from drystone.contact.contacts import Contacts
from drystone.engine.small_steps import Material, Relaxing, SmallSteps
from drystone.loads import weight_wrench
from drystone.model import Model
from drystone.simulate import initial_state
from drystone.state import State
from drystone.statics.slow_history import mean_velocity, twice_kinetic_energy
from drystone.units import GRAVITY

Array = np.ndarray

STIFF_YOUNG = 3e12  # [Pa]
SPAN_DURATION = 5e-4  # [s] after which the live load is set anew
SETTLING_RATE = 2000.0  # [1/s] rate at which velocities are taken back under the dead load alone,
DRIVING_RATE = 150.0  # and while it is driven
SETTLING_SPANS, MAX_SETTLING_SPANS = 40, 400  # spans of letting down, and where the structure has not come to rest by then
BALANCED_ACCELERATION = 1e-2  # of gravity: a block that is accelerated by less is at rest
LOAD_SURPLUS = 0.05  # of the associated multiplier: by so much more than it resists with is it pushed
LOAD_STEPS = 40  # equal steps in which the load grows to the associated multiplier, at most
MAX_LOAD_RATIO = 100.0  # times the dead load over the live one: where nothing yields below, nothing is said to
WINDOW_SPANS = 30  # spans over which the resistance is averaged
STEADY_CHANGE = 2e-3  # of the associated multiplier: the change from one window to the next of a steady resistance
MAX_STORED_SHARE = 0.05  # of the work of the live load: stones store less when the structure moves as blocks
MEDIAN_SPANS = 9  # spans of the medians of which the largest counts where the structure moves by fits and starts
MAX_SPANS = 900  # at most
SPANS_BEFORE_DAMPING = 450  # spans after which a structure that goes by fits and starts is calmed
DAMPED_MATERIAL = Material(young=STIFF_YOUNG, damping=1.0, rocking=1.0)  # of joints, over critical
CHECK_SPANS, MAX_CHECKS = 100, 4  # spans of the history that tries the multiplier; as often again where it moves slowly
REST_FACTOR = 0.99  # of the multiplier: under so much it has to rest
REDUCTION_FACTOR, MAX_REDUCTIONS = (
    0.95,
    12,
)  # where it does not, so much less is taken for the multiplier, so many times at most
MOTION_FACTORS = (1.02, 1.04, 1.08, 1.16)  # of the multiplier: under the first, or else one of the others, it has to move
MAX_DRIVES = 4  # in which the structure is driven on, at most, where it does not move under the first of them
VISIBLE_SURPLUS, VISIBLE_SHARE = (
    0.01,
    0.1,
)  # of the multiplier; of the way that it alone would make the moving blocks go: what moves
DOES_NOT_REST = "by Coulomb friction the structure does not stand under the dead load alone"
ZERO_SHARE = 1e-6  # of the associated multiplier: less is none


class SlowCollapse(NamedTuple):
    """A structure that has begun to move under its live load."""

    multiplier: float  # of the live load, with which it goes on moving
    starts_at: float  # the largest that it resisted with, on the way from natural rest
    vibrating: float  # the mean that it resisted with before it was calmed; nan if it did not go by fits and starts
    change: float  # of the multiplier, over the last two windows
    velocity: Array  # (B, 6) [m/s, rad/s] the motion
    contacts: Contacts  # with forces [N] in the place of impulses
    rests_at: float  # multiplier under which a history that starts from these forces stays at rest; nan if none was found,
    moves_at: float  # and under which it moves; of a multiplier of 0, with which it goes on without the live load, 0

    @property
    def is_confirmed(self) -> bool:
        return bool(np.isfinite(self.moves_at) and (np.isfinite(self.rests_at) or self.multiplier == 0.0))


class DrivenSpan(NamedTuple):
    """A span of the way."""

    resistance: float  # multiplier of the live load that the structure has resisted with, without inertia and drag
    work: float  # [J] of the live load at a multiplier of 1
    stored: float  # [J] elastic, more than before
    velocity: Array  # (B, 6) mean


class DrivenStructure:
    """A structure with an engine that pushes it."""

    def __init__(self, model: Model, dead: Array, live: Array, gravity: float, threads: int | None):
        self.model = replace(model, elastic=None)
        self.engine = _engine(self.model, gravity, threads, Material(young=STIFF_YOUNG))
        self.threads, self.is_damped = threads, False
        self.other_dead, self.live = dead - weight_wrench(model, gravity), live
        self.free = ~model.bodies.fixed

    def damp_critically(self) -> None:
        """From now on its joints are damped critically."""
        self.engine, self.is_damped = _engine(self.model, self.engine.gravity, self.threads, DAMPED_MATERIAL), True

    def span(self, state: State, multiplier: float, rate: float) -> tuple[State, DrivenSpan]:
        """One span under so much of the live load, velocities taken back at a rate [1/s]."""
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
    """The collapse under dead and live loads (B, 6) [N, N m], of which the associated multiplier is `upper`, infinite if there
    is none; or why there is none. Yields the share that is done."""
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
    """The first of these shares of the multiplier, times it, under which the structure moves; nan if it moves under none."""
    for share in shares:
        if (yield from _check_motion(path, share * multiplier))[0]:
            return share * multiplier
    return np.nan


def _settle_under_dead_load(driven: DrivenStructure) -> Generator[float, None, State | None]:
    """The structure at rest under its dead load; None if it does not come to rest."""
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
    """The way of a structure from rest until it moves with a resistance that no longer changes."""

    def __init__(self, driven: DrivenStructure, start: State, upper: float, unit: float):
        """upper: the associated multiplier; unit: one that tells how large they are."""
        self.driven, self.state, self.upper, self.unit = driven, start, upper, unit
        self.resistances = list[float]()
        self.last = deque[DrivenSpan](maxlen=WINDOW_SPANS)
        self.multiplier, self.is_unbounded, self._looked, self.vibrating = 0.0, False, 0, np.nan

    @property
    def has_time_left(self) -> bool:
        """Whether there is time left to follow it."""
        return len(self.resistances) < MAX_SPANS

    def drive(self, highest: float) -> Generator[float, None, None]:
        """Goes on until the resistance is steady for half as long again as at the last look; endless if it bears the highest
        multiplier."""
        while self.has_time_left and not (len(self.resistances) >= 1.5 * self._looked and self._is_steady()):
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
        self._looked = len(self.resistances)

    def damp_critically(self) -> None:
        """Its joints are damped critically from now on."""
        self.vibrating = float(np.nanmean(self.resistances[len(self.resistances) // 2 :]))
        self.driven.damp_critically()

    def result(self, multiplier: float, contacts: Contacts, rests_at: float, moves_at: float) -> SlowCollapse:
        """What came out, with the multiplier tried."""
        begins = min(max(float(self._medians().max()), multiplier), self.upper)
        return SlowCollapse(multiplier, begins, self.vibrating, self.change, self.velocity, contacts, rests_at, moves_at)

    def _is_steady(self) -> bool:
        """Whether the resistance has not changed over three windows, and blocks move rather than stones give way."""
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
        """In the end: the mean where it is steady; by fits and starts the largest median of a short while, in the second half
        of the way, for a constant load has to overcome it; not above the upper one, by rounding or where it vibrates."""
        last = np.array(self.resistances)[-WINDOW_SPANS:].mean()
        resistance = last if self.has_time_left else self._medians()[len(self.resistances) // 2 :].max()
        return min(float(resistance), self.upper)

    @property
    def change(self) -> float:
        """Of the mean resistance, over the last two windows."""
        before, last = np.nanmean(np.array(self.resistances)[-2 * WINDOW_SPANS :].reshape(2, WINDOW_SPANS), axis=1)
        return float(abs(last - before))

    @property
    def velocity(self) -> Array:
        """(B, 6) in the end."""
        return np.mean([span.velocity for span in self.last], axis=0)

    def _medians(self) -> Array:
        """Of each short while; a resistance that is not known counts as the least."""
        resistance = np.array(self.resistances)
        known = np.where(np.isfinite(resistance), resistance, np.nanmin(resistance, initial=0.0))
        return np.median(np.lib.stride_tricks.sliding_window_view(known, MEDIAN_SPANS), axis=1)


def _check_motion(path: CollapsePath, multiplier: float) -> Generator[float, None, tuple[bool, Contacts]]:
    """Whether the structure, its velocities taken away, moves under so much of the live load, in a history in which nothing
    slows it but its joints; and the contacts then, with forces [N]. What moves slowly has to go on."""
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

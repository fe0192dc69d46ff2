"""Motions of the ground and of supports: acceleration, velocity and displacement of a named pulse or of an accelerogram.

For pulses all three are closed forms (ground/pulses.py). For accelerograms they are the exact integrals of samples joined by
straight lines, so that a step uses exact differences instead of samples. They are zero before `start`. After a pulse given by
its acceleration the velocity keeps the value of the integral (rectangular and half-sine leave the ground moving, one-sine and
biphasic at rest), and the displacement continues accordingly: an accelerogram with a baseline error drifts
(docs/ground-motions.md).

A sine given by its displacement, d sin(pi t / half_period), begins with the velocity d pi / half_period: the velocity
jumps at `start`, and to zero at the end of `duration`. `velocity` is the value just before an instant, so that the difference
over a step that begins at the jump contains it; `acceleration` is the value just after, and contains no impulse. A settlement
reaches its displacement within its duration and stays there: half a cosine wave, without jumps of the velocity.

>>> Motion("rectangular", amplitude=2.0, duration=0.5).velocity(3.0)
array([1., 0., 0.])
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from drystone.base.errors import InputError
from drystone.ground.accelerogram import Accelerogram
from drystone.ground.pulses import PULSES_BY_ACCELERATION, PULSES_BY_DISPLACEMENT, PULSES_BY_VELOCITY, MotionValues, Pulse

Array = np.ndarray

SAMPLED_PULSES = {"record": Pulse(("record",), lambda s, record: record.interpolator(s), lambda record: record.duration)}
# The parameters that scale a motion: the pulses that accept each of them, and its name in messages.
AMPLITUDE_KINDS: Mapping[str, tuple[Mapping[str, Pulse], str]] = {
    "amplitude": (PULSES_BY_ACCELERATION, "an amplitude in m/s2"),
    "velocity_amplitude": (PULSES_BY_VELOCITY, "a velocity in m/s"),
    "displacement_amplitude": (PULSES_BY_DISPLACEMENT, "a displacement in m"),
    "record": (SAMPLED_PULSES, "an accelerogram"),
}
# The other parameters of pulses: the unit, and the exclusive lower bound.
PULSE_PARAMETERS = {
    "duration": (" in s", 0.0),
    "half_period": (" in s", 0.0),
    "oscillations": ("", 1.0),
    "phase": (" in rad", -math.inf),
}
PULSE_NAMES = tuple(dict.fromkeys(name for pulses, _ in AMPLITUDE_KINDS.values() for name in pulses))


@dataclass(frozen=True)
class Motion:
    """One motion along one direction, of the ground or, relative to the ground, of the supports named."""

    pulse: str  # one of PULSES
    amplitude: float | None = None  # [m/s2] peak acceleration
    displacement_amplitude: float | None = None  # [m] instead of `amplitude`, for a sine or a settlement
    duration: float | None = None  # [s] of the pulse; biphasic: of its first phase; a sine without duration has no end
    half_period: float | None = None  # [s] half-sine, one-sine, sine, ricker, mavroeidis-papageorgiou
    direction: tuple[float, float, float] = (1.0, 0.0, 0.0)  # it is normalised
    start: float = 0.0  # [s] when it begins
    supports: tuple[str, ...] = ()  # names of fixed blocks; empty for the ground itself
    velocity_amplitude: float | None = None  # [m/s] instead of `amplitude`, for mavroeidis-papageorgiou
    oscillations: float | None = None  # [-] mavroeidis-papageorgiou: number of periods of its carrier, more than 1
    phase: float | None = None  # [rad] mavroeidis-papageorgiou: of its carrier in the middle
    record: Accelerogram | None = None  # the accelerogram of the pulse "record"

    def __post_init__(self) -> None:
        _check(self)
        object.__setattr__(self, "direction", _unit_direction(self.direction))
        object.__setattr__(self, "supports", tuple(self.supports))

    @property
    def label(self) -> str:
        """The name of the pulse, or of the accelerogram."""
        return self.pulse if self.record is None else self.record.label

    @property
    def length(self) -> float:
        """[s] from the start to the end of the acceleration; infinite for a sine without duration."""
        if self.pulse == "sine" and self.duration is not None:
            return self.duration
        pulse = self._pulse
        return pulse.length(*(getattr(self, name) for name in pulse.numbers))

    def acceleration(self, t: float | Array) -> Array:
        """[m/s2] at t [s]: (3,) for a number, (n, 3) for n instants."""
        s = np.asarray(t, float) - self.start
        inside = (s >= 0) & (s < self.length)
        return self._along(np.where(inside, self._shape(np.where(inside, s, 0.0))[0], 0.0))

    def velocity(self, t: float | Array) -> Array:
        """[m/s] at t [s], just before a jump if there is one."""
        s = np.asarray(t, float) - self.start
        velocity = self._shape(np.clip(s, 0.0, self.length))[1]
        if self.displacement_amplitude is not None:
            return self._along(np.where((s > 0) & (s <= self.length), velocity, 0.0))
        return self._along(velocity)

    def displacement(self, t: float | Array) -> Array:
        """[m] at t [s]."""
        s = np.asarray(t, float) - self.start
        _, velocity, displacement = self._shape(np.clip(s, 0.0, self.length))
        if self.displacement_amplitude is not None:
            return self._along(displacement)
        coasting = np.maximum(s - self.length, 0.0)
        return self._along(displacement + velocity * coasting)

    def _along(self, value: Array) -> Array:
        return value[..., None] * np.array(self.direction)

    @property
    def _pulse(self) -> Pulse:
        return next(pulses[self.pulse] for size, (pulses, _) in AMPLITUDE_KINDS.items() if getattr(self, size) is not None)

    def _shape(self, s: Array) -> MotionValues:
        """Acceleration, velocity and displacement at the time s [s] after the start, within the pulse."""
        pulse = self._pulse
        return pulse.form(s, *(getattr(self, name) for name in pulse.numbers))


def _check(motion: Motion) -> None:
    pulse = motion.pulse
    if pulse not in PULSE_NAMES:
        raise InputError(f"pulse {pulse!r} is not known; give one of {', '.join(PULSE_NAMES)}")
    possible = [size for size, (pulses, _) in AMPLITUDE_KINDS.items() if pulse in pulses]
    kinds_given = [size for size in AMPLITUDE_KINDS if getattr(motion, size) is not None]
    wanted_words = " or ".join(AMPLITUDE_KINDS[size][1] for size in possible)
    if len(kinds_given) != 1 or kinds_given[0] not in possible:
        message = f"; {', '.join(kinds_given)} given" if kinds_given else ""
        raise InputError(
            f"a {pulse} needs {f'either {wanted_words}, one of the two' if len(possible) > 1 else wanted_words}{message}"
        )
    _check_numbers(motion, AMPLITUDE_KINDS[kinds_given[0]][0][pulse].numbers)
    if motion.record is not None and not (len(motion.record.acceleration) > 1 and motion.record.time_step > 0):
        count, step = len(motion.record.acceleration), motion.record.time_step
        raise InputError(
            f"record {motion.record.name!r} has {count} samples {step:g} s apart; give at least two, at increasing times"
        )


def _check_numbers(motion: Motion, needed: Sequence[str]) -> None:
    """Check that all parameters of the pulse are given, and no others, and that they are within their ranges."""
    pulse = motion.pulse
    for name in ("amplitude", "velocity_amplitude", "displacement_amplitude", "phase", "start"):
        value = getattr(motion, name)
        if value is not None and not math.isfinite(value):
            raise InputError(f"the {name} of a {pulse} is {value!r}; give a finite number")
    for name, (unit, least) in PULSE_PARAMETERS.items():
        value = getattr(motion, name)
        if value is None and name in needed:
            raise InputError(f"a {pulse} needs its {name}{unit}")
        if value is not None and name not in needed and (pulse, name) != ("sine", "duration"):
            raise InputError(f"a {pulse} takes no {name}; it is given by {', '.join(needed)}")
        if value is not None and not least < value < math.inf:
            raise InputError(f"the {name} of a {pulse} is {value!r}; give a number above {least:g}{unit}")


def _unit_direction(direction: Sequence[float]) -> tuple[float, float, float]:
    vector = np.array(direction, float)
    if vector.shape != (3,) or not np.isfinite(vector).all() or not vector.any():
        raise InputError(f"direction {list(direction)} has no direction; give three numbers [x, y, z], not all zero")
    x, y, z = (vector / np.linalg.norm(vector)).tolist()
    return x, y, z


def select_ground_motions(motions: Sequence[Motion]) -> tuple[Motion, ...]:
    """The motions of the ground."""
    return tuple(motion for motion in motions if not motion.supports)


def select_support_motions(motions: Sequence[Motion], name: str) -> tuple[Motion, ...]:
    """The motions of the support `name` relative to the ground."""
    return tuple(motion for motion in motions if name in motion.supports)


def last_motion_end(motions: Sequence[Motion]) -> float:
    """[s] the time when the last motion ends; 0 if there is none."""
    return max((motion.start + motion.length for motion in motions), default=0.0)


def check_in_plane(motions: Sequence[Motion]) -> None:
    """Refuse a motion along y, which a planar analysis cannot have."""
    for motion in motions:
        if motion.direction[1] != 0:
            raise InputError(f"motion: the direction of the {motion.label} is {list(motion.direction)}; a planar analysis "
                             "moves in the plane of x and z: set its y to 0, or planar = false")  # fmt: skip


def total_acceleration(motions: Sequence[Motion], t: float | Array) -> Array:
    """[m/s2] of all motions together."""
    return sum((motion.acceleration(t) for motion in motions), np.zeros((*np.shape(t), 3)))


def total_velocity(motions: Sequence[Motion], t: float | Array) -> Array:
    """[m/s] of all motions together."""
    return sum((motion.velocity(t) for motion in motions), np.zeros((*np.shape(t), 3)))


def total_displacement(motions: Sequence[Motion], t: float | Array) -> Array:
    """[m] of all motions together."""
    return sum((motion.displacement(t) for motion in motions), np.zeros((*np.shape(t), 3)))

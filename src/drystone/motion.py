"""Motions of the ground and of supports: a named pulse comes in, its acceleration, velocity and displacement go out.

All three are closed forms, so that a step takes exact differences instead of samples. They are zero before `start`;
after a pulse given by its acceleration the velocity stays what the integral gives (rectangular and half-sine leave the
ground moving, one-sine and biphasic at rest), and the displacement goes on accordingly.

A sine given by its displacement, d sin(pi t / half_period), sets out with the velocity d pi / half_period: the velocity
jumps at `start`, and to zero where `duration` ends it. `velocity` is the value just before an instant, so a difference
over a step that begins at the jump contains it; `acceleration` is the value just after, and holds no impulse. A settlement
goes by its displacement within its duration and stays there: half a cosine wave, without jumps of the velocity.

>>> Motion("rectangular", amplitude=2.0, duration=0.5).velocity(3.0)
array([1., 0., 0.])
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from drystone.errors import InputError

Array = np.ndarray

# What each pulse is given by, besides its amplitude.
PULSES = {
    "rectangular": ("duration",),
    "half-sine": ("half_period",),
    "one-sine": ("half_period",),
    "biphasic": ("duration",),
    "sine": ("half_period",),
    "settlement": ("duration",),
}
BY_TRAVEL = ("sine", "settlement")  # may be given by their displacement; a settlement must be


@dataclass(frozen=True)
class Motion:
    """One pulse along one direction, of the ground or, relative to the ground, of the supports named."""

    pulse: str  # one of PULSES
    amplitude: float | None = None  # [m/s2] peak acceleration
    displacement_amplitude: float | None = None  # [m] instead of `amplitude`, for a sine or a settlement
    duration: float | None = None  # [s] rectangular, settlement; biphasic: its first phase; sine: its end, None is never
    half_period: float | None = None  # [s] half-sine, one-sine, sine
    direction: tuple[float, float, float] = (1.0, 0.0, 0.0)  # made unit
    start: float = 0.0  # [s]
    supports: tuple[str, ...] = ()  # names of fixed blocks; none is the ground itself

    def __post_init__(self) -> None:
        _check_pulse(self)
        object.__setattr__(self, "direction", _unit(self.direction))
        object.__setattr__(self, "supports", tuple(self.supports))

    @property
    def length(self) -> float:
        """[s] from the start to the end of the acceleration; infinite for a sine without duration."""
        if self.pulse in ("rectangular", "settlement"):
            return _given(self.duration)
        if self.pulse == "biphasic":
            return 3 * _given(self.duration)
        if self.pulse == "sine":
            return math.inf if self.duration is None else self.duration
        return _given(self.half_period) * (1 if self.pulse == "half-sine" else 2)

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

    def _shape(self, s: Array) -> tuple[Array, Array, Array]:
        """Acceleration, velocity and displacement at s after the start, within the pulse."""
        if self.pulse == "settlement":
            return _settling(s, _given(self.displacement_amplitude), math.pi / _given(self.duration))
        if self.displacement_amplitude is not None:
            return _sine_travel(s, self.displacement_amplitude, math.pi / _given(self.half_period))
        amplitude = _given(self.amplitude)
        if self.pulse == "rectangular":
            return amplitude + 0 * s, amplitude * s, amplitude * s**2 / 2
        if self.pulse == "biphasic":
            return _biphasic(s, amplitude, _given(self.duration))
        omega = math.pi / _given(self.half_period)
        velocity = 2 * amplitude / omega * np.sin(omega * s / 2) ** 2  # (1 - cos) without its cancellation
        displacement = amplitude / omega * (s - np.sin(omega * s) / omega)
        return amplitude * np.sin(omega * s), velocity, displacement


def _sine_travel(s: Array, travel: float, omega: float) -> tuple[Array, Array, Array]:
    displacement = travel * np.sin(omega * s)
    return -(omega**2) * displacement, omega * travel * np.cos(omega * s), displacement


def _settling(s: Array, travel: float, omega: float) -> tuple[Array, Array, Array]:
    speed, displacement = omega * travel / 2, travel * np.sin(omega * s / 2) ** 2
    return omega * speed * np.cos(omega * s), speed * np.sin(omega * s), displacement


def _biphasic(s: Array, amplitude: float, duration: float) -> tuple[Array, Array, Array]:
    """The amplitude for the duration, then half of it backwards for twice the duration."""
    first, second = np.minimum(s, duration), np.maximum(s - duration, 0.0)
    acceleration = np.where(s < duration, amplitude, -amplitude / 2)
    velocity = amplitude * first - amplitude / 2 * second
    return acceleration, velocity, amplitude * (first**2 / 2 + duration * second - second**2 / 4)


def _check_pulse(motion: Motion) -> None:
    pulse = motion.pulse
    if pulse not in PULSES:
        raise InputError(f"pulse {pulse!r} is not known; give one of {', '.join(PULSES)}")
    by_travel = motion.displacement_amplitude is not None
    if by_travel and pulse not in BY_TRAVEL:
        raise InputError(f"a {pulse} pulse is given by its acceleration; a displacement is for a sine or a settlement")
    if pulse == "settlement" and (motion.amplitude is not None or not by_travel):
        raise InputError("a settlement is given by its displacement in m, not by an acceleration")
    if by_travel == (motion.amplitude is not None):
        raise InputError(f"a {pulse} needs {'either ' if pulse == 'sine' else ''}an amplitude in m/s2"
                         + (" or a displacement in m, one of the two" if pulse == "sine" else ""))  # fmt: skip
    allowed = PULSES[pulse] + (("duration",) if pulse == "sine" else ())
    for name in ("duration", "half_period"):
        value = getattr(motion, name)
        if value is None and name in PULSES[pulse]:
            raise InputError(f"a {pulse} needs a {name} in s")
        if value is not None and name not in allowed:
            raise InputError(f"a {pulse} takes no {name}; give its {PULSES[pulse][0]}")
        if value is not None and not 0 < value < math.inf:
            raise InputError(f"the {name} of a {pulse} is {value!r}; give a number above 0 in s")
    for name in ("amplitude", "displacement_amplitude", "start"):
        value = getattr(motion, name)
        if value is not None and not math.isfinite(value):
            raise InputError(f"the {name} of a {pulse} is {value!r}; give a finite number")


def _unit(direction: Sequence[float]) -> tuple[float, float, float]:
    vector = np.array(direction, float)
    if vector.shape != (3,) or not np.isfinite(vector).all() or not vector.any():
        raise InputError(f"direction {list(direction)} has no direction; give three numbers [x, y, z], not all zero")
    x, y, z = (vector / np.linalg.norm(vector)).tolist()
    return x, y, z


def _given(value: float | None) -> float:
    assert value is not None, "checked when the motion was made"
    return value


def of_ground(motions: Sequence[Motion]) -> tuple[Motion, ...]:
    """Those that move the ground."""
    return tuple(motion for motion in motions if not motion.supports)


def of_support(motions: Sequence[Motion], name: str) -> tuple[Motion, ...]:
    """Those that move the support `name` relative to the ground."""
    return tuple(motion for motion in motions if name in motion.supports)


def check_in_plane(motions: Sequence[Motion]) -> None:
    """A planar analysis has no motion along y."""
    for motion in motions:
        if motion.direction[1] != 0:
            raise InputError(f"motion: the direction of the {motion.pulse} is {list(motion.direction)}; a planar analysis "
                             "moves in the plane of x and z: set its y to 0, or planar = false")  # fmt: skip


def acceleration(motions: Sequence[Motion], t: float | Array) -> Array:
    """[m/s2] of all motions together."""
    return sum((motion.acceleration(t) for motion in motions), np.zeros((*np.shape(t), 3)))


def velocity(motions: Sequence[Motion], t: float | Array) -> Array:
    """[m/s] of all motions together."""
    return sum((motion.velocity(t) for motion in motions), np.zeros((*np.shape(t), 3)))


def displacement(motions: Sequence[Motion], t: float | Array) -> Array:
    """[m] of all motions together."""
    return sum((motion.displacement(t) for motion in motions), np.zeros((*np.shape(t), 3)))

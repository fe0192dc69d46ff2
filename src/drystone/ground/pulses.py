"""Pulses in closed form: acceleration, velocity and displacement from the time since the start and the parameters of the pulse
(T97-T100). A form is evaluated within its length only. Each begins with zero displacement, and at rest unless it is given by
its displacement.

`half_period` [s] is half the period of the pulse's carrier everywhere: the lobe of a sine, half the period at which the Fourier
spectrum of a Ricker pulse is largest (its middle lobe is 0.90 of that), and half the prevailing period of Mavroeidis and
Papageorgiou.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

Array = np.ndarray
MotionValues = tuple[Array, Array, Array]  # acceleration, velocity, displacement

RICKER_HALF_LENGTH = 3.0  # half periods before and after the peak of a Ricker pulse: the part cut off is 1e-8 of the peak


class Pulse(NamedTuple):
    """A closed form, and the names of its parameters in the order in which it takes them after the time."""

    numbers: tuple[str, ...]
    form: Callable[..., MotionValues]
    length: Callable[..., float]  # [s] as a function of the same parameters


def _rectangular(s: Array, amplitude: float, duration: float) -> MotionValues:
    return amplitude + 0 * s, amplitude * s, amplitude * s**2 / 2


def _biphasic(s: Array, amplitude: float, duration: float) -> MotionValues:
    """The amplitude during the duration, then minus half of it during twice the duration."""
    first, second = np.minimum(s, duration), np.maximum(s - duration, 0.0)
    acceleration = np.where(s < duration, amplitude, -amplitude / 2)
    velocity = amplitude * first - amplitude / 2 * second
    return acceleration, velocity, amplitude * (first**2 / 2 + duration * second - second**2 / 4)


def _sine(s: Array, amplitude: float, half_period: float) -> MotionValues:
    omega = math.pi / half_period
    velocity = 2 * amplitude / omega * np.sin(omega * s / 2) ** 2  # (1 - cos) without its cancellation
    return amplitude * np.sin(omega * s), velocity, amplitude / omega * (s - np.sin(omega * s) / omega)


def _ricker(s: Array, amplitude: float, half_period: float) -> MotionValues:
    """The second derivative of Gauss's bell, its peak in the middle (T97)."""
    b, side = math.pi / (2 * half_period), RICKER_HALF_LENGTH * half_period
    t = s - side
    bell, cut = np.exp(-((b * t) ** 2)), math.exp(-((b * side) ** 2))
    velocity = t * bell + side * cut
    displacement = (cut - bell) / (2 * b**2) + side * cut * s
    return amplitude * (1 - 2 * (b * t) ** 2) * bell, amplitude * velocity, amplitude * displacement


def _wavelet(s: Array, velocity_amplitude: float, half_period: float, oscillations: float, phase: float) -> MotionValues:
    """The pulse of Mavroeidis and Papageorgiou (2003) (T98): its velocity, written as a sum of three cosines, is
    differentiated, and
    integrated from the start; the frequency of the third cosine may be near 0."""
    carrier, side = math.pi / half_period, oscillations * half_period
    t = s - side
    velocity = velocity_amplitude * np.sin(math.pi * s / (2 * side)) ** 2 * np.cos(carrier * t + phase)
    acceleration, displacement = np.zeros_like(t), np.zeros_like(t)
    for share, omega in ((0.5, carrier), (0.25, carrier * (1 + 1 / oscillations)), (0.25, carrier * (1 - 1 / oscillations))):
        height = share * velocity_amplitude
        acceleration = acceleration - height * omega * np.sin(omega * t + phase)
        displacement = displacement + height * s * np.sinc(omega * s / (2 * math.pi)) * np.cos(omega * (t - side) / 2 + phase)
    return acceleration, velocity, displacement


def _wavelet_by_peak(s: Array, amplitude: float, half_period: float, oscillations: float, phase: float) -> MotionValues:
    """The pulse of Mavroeidis and Papageorgiou, given by its largest acceleration."""
    return _wavelet(s, amplitude * half_period / _wavelet_peak(oscillations, phase), half_period, oscillations, phase)


@cache
def _wavelet_peak(oscillations: float, phase: float) -> float:
    """The largest acceleration for a velocity amplitude and a half period of 1, from 4,000 instants per oscillation: exact to
    1e-6."""
    instants = np.linspace(0.0, 2 * oscillations, math.ceil(4000 * oscillations))
    return float(np.abs(_wavelet(instants, 1.0, 1.0, oscillations, phase)[0]).max())


def _sine_by_displacement(s: Array, travel: float, half_period: float) -> MotionValues:
    omega = math.pi / half_period
    displacement = travel * np.sin(omega * s)
    return -(omega**2) * displacement, omega * travel * np.cos(omega * s), displacement


def _settlement(s: Array, travel: float, duration: float) -> MotionValues:
    omega = math.pi / duration
    speed, displacement = omega * travel / 2, travel * np.sin(omega * s / 2) ** 2
    return omega * speed * np.cos(omega * s), speed * np.sin(omega * s), displacement


def _unbounded_length(*numbers: float) -> float:
    return math.inf


PULSES_BY_ACCELERATION = {
    "rectangular": Pulse(("amplitude", "duration"), _rectangular, lambda amplitude, duration: duration),
    "half-sine": Pulse(("amplitude", "half_period"), _sine, lambda amplitude, half_period: half_period),
    "one-sine": Pulse(("amplitude", "half_period"), _sine, lambda amplitude, half_period: 2 * half_period),
    "biphasic": Pulse(("amplitude", "duration"), _biphasic, lambda amplitude, duration: 3 * duration),
    "sine": Pulse(("amplitude", "half_period"), _sine, _unbounded_length),
    "ricker": Pulse(("amplitude", "half_period"), _ricker, lambda amplitude, half_period: 2 * RICKER_HALF_LENGTH * half_period),
    "mavroeidis-papageorgiou": Pulse(
        ("amplitude", "half_period", "oscillations", "phase"),
        _wavelet_by_peak,
        lambda amplitude, half_period, oscillations, phase: 2 * oscillations * half_period,
    ),
}
PULSES_BY_VELOCITY = {
    "mavroeidis-papageorgiou": Pulse(
        ("velocity_amplitude", "half_period", "oscillations", "phase"),
        _wavelet,
        lambda velocity_amplitude, half_period, oscillations, phase: 2 * oscillations * half_period,
    ),
}
PULSES_BY_DISPLACEMENT = {
    "sine": Pulse(("displacement_amplitude", "half_period"), _sine_by_displacement, _unbounded_length),
    "settlement": Pulse(("displacement_amplitude", "duration"), _settlement, lambda travel, duration: duration),
}

"""Response spectra: an accelerogram, periods and a damping ratio come in, the largest responses of oscillators go out.

The acceleration is linear between samples, so the recursion from one instant to the next is exact (Nigam and Jennings, T94):
no error of integration at any period. Instants are at most a twentieth of the period apart (a step is divided where the samples
are wider), and where a rate changes its sign between two of them the peak is that of the parabola with these rates: of a free
oscillation that misses 3e-5, under white noise 0.3 %. After the last sample the ground stands still, and the oscillator is
followed for a period more.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from drystone.errors import InputError
from drystone.ground.accelerogram import Accelerogram
from drystone.kernel import inner

Array = np.ndarray

DAMPING = 0.05  # [-] of critical, when nothing else is said
INSTANTS = 20  # at least, in a period
PERIODS = np.geomspace(0.02, 4.0, 120)  # [s] of a spectrum that is drawn or looked through


class Spectrum(NamedTuple):
    """Largest responses of oscillators to one accelerogram, (P,) each."""

    period: Array  # [s]
    damping: float  # [-]
    displacement: Array  # [m] relative to the ground, Sd
    velocity: Array  # [m/s] relative to the ground, Sv
    acceleration: Array  # [m/s2] absolute

    @property
    def pseudo_velocity(self) -> Array:
        """[m/s] (2 pi / T) Sd"""
        return self._per_period(1)

    @property
    def pseudo_acceleration(self) -> Array:
        """[m/s2] (2 pi / T)2 Sd: what is called Sa; of a rigid oscillator (period 0) the peak of the ground."""
        return np.where(self.period > 0, self._per_period(2), self.acceleration)

    def _per_period(self, power: int) -> Array:
        omega = 2 * math.pi / np.where(self.period > 0, self.period, math.inf)
        return omega**power * self.displacement


def response_spectrum(record: Accelerogram, periods: Array | Sequence[float] = PERIODS, damping: float = DAMPING) -> Spectrum:
    """The spectrum at `periods` [s], each 0 or more."""
    period = np.asarray(periods, float)
    if not (np.isfinite(period).all() and (period >= 0).all()):
        raise InputError(f"the periods of a spectrum are from {period.min():g} to {period.max():g} s; give 0 or more")
    if not 0 <= damping < 1:
        raise InputError(f"the damping ratio is {damping!r}; give a share of the critical one, from 0 to below 1 (0.05 is 5 %)")
    peaks = np.zeros((len(period), 3))
    _respond(np.ascontiguousarray(record.acceleration, float), record.time_step, period, damping, peaks)
    return Spectrum(period, damping, peaks[:, 0], peaks[:, 1], peaks[:, 2])


@inner
def _respond(acceleration: Array, time_step: float, periods: Array, damping: float, out_peaks: Array) -> None:
    for k in range(len(periods)):
        if periods[k] == 0:
            out_peaks[k, 2] = np.abs(acceleration).max()
            continue
        parts = max(1, math.ceil(INSTANTS * time_step / periods[k]))
        _oscillate(acceleration, time_step / parts, parts, 2 * math.pi / periods[k], damping, out_peaks[k])


@inner
def _oscillate(acceleration: Array, h: float, parts: int, omega: float, damping: float, out_peak: Array) -> None:
    """One oscillator: u'' + 2 damping omega u' + omega^2 u = -a (T94)."""
    decay, damped = math.exp(-damping * omega * h), omega * math.sqrt(1 - damping**2)
    cosine, sine = decay * math.cos(damped * h), decay * math.sin(damped * h) / damped
    uu, uv = cosine + damping * omega * sine, sine
    vu, vv = -(omega**2) * sine, cosine - damping * omega * sine
    u = v = total = 0.0  # displacement and velocity relative to the ground, minus the absolute acceleration
    last = len(acceleration) - 1
    rest = math.ceil(2 * math.pi / omega / h / parts)  # steps of one period after the end
    for i in range(last + rest):
        start = acceleration[i] if i < last else 0.0
        slope = (acceleration[i + 1] - start) / (h * parts) if i < last else 0.0
        v_forced = -slope / omega**2
        for part in range(parts):
            ground = start + slope * part * h
            u_forced = -ground / omega**2 + 2 * damping * slope / omega**3
            du, dv = u - u_forced, v - v_forced
            u_old, v_old, a_old, total_old = u, v, -ground - total, total
            u = u_forced + v_forced * h + uu * du + uv * dv
            v = v_forced + vu * du + vv * dv
            total = omega**2 * u + 2 * damping * omega * v
            a = -ground - slope * h - total
            out_peak[0] = max(out_peak[0], abs(u), abs(_turn(u_old, v_old, v, h)))
            out_peak[1] = max(out_peak[1], abs(v), abs(_turn(v_old, a_old, a, h)))
            rate_old, rate = omega**2 * v_old + 2 * damping * omega * a_old, omega**2 * v + 2 * damping * omega * a
            out_peak[2] = max(out_peak[2], abs(total), abs(_turn(total_old, rate_old, rate, h)))


@inner
def _turn(value: float, rate: float, next_rate: float, h: float) -> float:
    """Where a parabola with these rates at both ends of h turns round; its value at the start if it does not."""
    return value + h * rate**2 / (2 * (rate - next_rate)) if rate * next_rate < 0 else value

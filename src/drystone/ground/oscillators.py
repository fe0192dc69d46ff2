"""Kernels of `spectrum`: the largest responses of oscillators to an accelerogram (T94)."""

import math

import numpy as np

from drystone.base.kernel import inner, kernel

Array = np.ndarray

STEPS_PER_PERIOD = 20  # least number of time steps in a period of the oscillator


@kernel
def compute_peak_responses(acceleration: Array, time_step: float, periods: Array, damping: float, out_peaks: Array) -> None:
    for k in range(len(periods)):
        if periods[k] == 0:
            for i in range(len(acceleration)):
                out_peaks[k, 2] = max(out_peaks[k, 2], abs(acceleration[i]))
            continue
        parts = max(1, math.ceil(STEPS_PER_PERIOD * time_step / periods[k]))
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
            out_peak[0] = max(out_peak[0], abs(u), abs(_parabola_peak(u_old, v_old, v, h)))
            out_peak[1] = max(out_peak[1], abs(v), abs(_parabola_peak(v_old, a_old, a, h)))
            rate_old, rate = omega**2 * v_old + 2 * damping * omega * a_old, omega**2 * v + 2 * damping * omega * a
            out_peak[2] = max(out_peak[2], abs(total), abs(_parabola_peak(total_old, rate_old, rate, h)))


@inner
def _parabola_peak(value: float, rate: float, next_rate: float, h: float) -> float:
    """The extremum of a parabola with these rates at both ends of h; its value at the start if it has none in between."""
    return value + h * rate**2 / (2 * (rate - next_rate)) if rate * next_rate < 0 else value

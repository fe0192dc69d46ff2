"""Housner's block on a ground that makes one sine, from impact to impact (T53): what comes in is the pulse, what goes out is
whether it overturns. Runge-Kutta with the instant of every impact found by halving; a domain takes thousands of these."""

import math

import numba
import numpy as np

STEP = 1e-3  # [s] of the integration
LAST = 4.0  # [s] after the pulse when it has either fallen or not


@numba.njit
def _rates(time, angle, spin, side, amplitude, half_period, alpha, p2):
    push = amplitude * math.sin(math.pi * time / half_period) if time < 2 * half_period else 0.0
    lean = alpha * side - angle
    return spin, -p2 * (math.sin(lean) - push * math.cos(lean))


@numba.njit
def _advanced(h, time, angle, spin, side, amplitude, half_period, alpha, p2):
    a1, s1 = _rates(time, angle, spin, side, amplitude, half_period, alpha, p2)
    a2, s2 = _rates(time + h / 2, angle + h / 2 * a1, spin + h / 2 * s1, side, amplitude, half_period, alpha, p2)
    a3, s3 = _rates(time + h / 2, angle + h / 2 * a2, spin + h / 2 * s2, side, amplitude, half_period, alpha, p2)
    a4, s4 = _rates(time + h, angle + h * a3, spin + h * s3, side, amplitude, half_period, alpha, p2)
    return angle + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4), spin + h / 6 * (s1 + 2 * s2 + 2 * s3 + s4)


@numba.njit
def overturns(amplitude, half_period, width, height, gravity):
    """Whether a block [m] falls under one sine of this amplitude [g] and half-period [s]; it does not slide."""
    alpha, p2 = math.atan(width / height), 3 * gravity / (2 * math.hypot(width, height))
    ratio = 1 - 1.5 * math.sin(alpha) ** 2
    if amplitude <= math.tan(alpha):
        return False
    time = math.asin(math.tan(alpha) / amplitude) / math.pi * half_period
    angle, spin, side = 0.0, 0.0, 1.0
    while time < 2 * half_period + LAST:
        new_angle, new_spin = _advanced(STEP, time, angle, spin, side, amplitude, half_period, alpha, p2)
        h = STEP
        if new_angle * side < 0:
            low, high = 0.0, STEP
            for _ in range(40):
                h = (low + high) / 2
                new_angle, new_spin = _advanced(h, time, angle, spin, side, amplitude, half_period, alpha, p2)
                low, high = (low, h) if new_angle * side < 0 else (h, high)
            new_angle, new_spin, side = 0.0, ratio * new_spin, -side
            if abs(new_spin) < 1e-3:  # [rad/s] rests
                return False
        time, angle, spin = time + h, new_angle, new_spin
        if abs(angle) > math.pi / 2:
            return True
    return False


def column(half_period, amplitudes, width, height, gravity):
    """(n,) whether each amplitude [g] overturns."""
    return np.array([overturns(amplitude, half_period, width, height, gravity) for amplitude in amplitudes])

"""Exact integrals of an acceleration that is linear between its samples (T93). Velocity and displacement are zero at the first
sample; nothing is subtracted, so that a record with a baseline error drifts.

>>> velocity, displacement = integrate_twice(np.array([0.0, 2.0, 0.0]), 1.0)
>>> velocity.tolist(), displacement.round(3).tolist()
([0.0, 1.0, 2.0], [0.0, 0.333, 2.0])
"""

import numpy as np

Array = np.ndarray


def integrate_twice(acceleration: Array, time_step: float) -> tuple[Array, Array]:
    """[m/s] velocity and [m] displacement (n,) at the samples."""
    before, after, h = acceleration[:-1], acceleration[1:], time_step
    velocity = _cumulative(h * (before + after) / 2)
    return velocity, _cumulative(h * velocity[:-1] + h**2 * (2 * before + after) / 6)


def integrate_squared(acceleration: Array, time_step: float) -> Array:
    """[m2/s3] integral of the squared acceleration up to each sample (n,)."""
    before, after = acceleration[:-1], acceleration[1:]
    return _cumulative(time_step * (before**2 + before * after + after**2) / 3)


def _cumulative(parts: Array) -> Array:
    return np.concatenate([[0.0], np.cumsum(parts)])


class MotionInterpolator:
    """Acceleration, velocity and displacement at any instants within the samples."""

    def __init__(self, acceleration: Array, time_step: float):
        self._acceleration, self._time_step = acceleration, time_step
        self._slope = np.diff(acceleration) / time_step
        self._velocity, self._displacement = integrate_twice(acceleration, time_step)

    def __call__(self, s: Array) -> tuple[Array, Array, Array]:
        """Acceleration, velocity and displacement at s [s] after the first sample."""
        i = np.minimum((s / self._time_step).astype(np.int64), len(self._slope) - 1)
        r = s - i * self._time_step
        a, slope, v, d = self._acceleration[i], self._slope[i], self._velocity[i], self._displacement[i]
        return a + r * slope, v + r * (a + r * slope / 2), d + r * (v + r * (a / 2 + r * slope / 6))

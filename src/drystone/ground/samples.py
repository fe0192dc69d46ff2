"""Samples of an acceleration that is linear between them: its exact integrals come out (T93). Velocity and displacement start
from zero with the first sample; nothing is subtracted, so that a record whose zero is off drifts away as it is.

>>> velocity, displacement = integrals(np.array([0.0, 2.0, 0.0]), 1.0)
>>> velocity.tolist(), displacement.round(3).tolist()
([0.0, 1.0, 2.0], [0.0, 0.333, 2.0])
"""

import numpy as np

Array = np.ndarray


def integrals(acceleration: Array, time_step: float) -> tuple[Array, Array]:
    """[m/s] velocity and [m] displacement (n,) at the samples."""
    before, after, h = acceleration[:-1], acceleration[1:], time_step
    velocity = _running(h * (before + after) / 2)
    return velocity, _running(h * velocity[:-1] + h**2 * (2 * before + after) / 6)


def arias_so_far(acceleration: Array, time_step: float) -> Array:
    """[m2/s3] integral of the squared acceleration up to each sample (n,)."""
    before, after = acceleration[:-1], acceleration[1:]
    return _running(time_step * (before**2 + before * after + after**2) / 3)


def _running(parts: Array) -> Array:
    return np.concatenate([[0.0], np.cumsum(parts)])

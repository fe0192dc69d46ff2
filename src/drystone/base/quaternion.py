"""Unit quaternions as arrays (..., 4), scalar first, for use outside kernels, which have functions of their own.

>>> turn = np.array([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])  # a quarter turn about z
>>> rotate(turn, np.array([1.0, 0.0, 0.0])).round(12) + 0.0
array([0., 1., 0.])
"""

import numpy as np

Array = np.ndarray


def product(left: Array, right: Array) -> Array:
    """The rotation by `right`, followed by that by `left`."""
    scalar = left[..., 0] * right[..., 0] - (left[..., 1:] * right[..., 1:]).sum(axis=-1)
    vector = left[..., :1] * right[..., 1:] + right[..., :1] * left[..., 1:] + np.cross(left[..., 1:], right[..., 1:])
    return np.concatenate([scalar[..., None], vector], axis=-1)


def conjugate(rotation: Array) -> Array:
    """The inverse rotation."""
    return rotation * np.array([1.0, -1.0, -1.0, -1.0])


def rotate(rotation: Array, vector: Array) -> Array:
    """(..., 3) the rotated vectors."""
    twice = 2.0 * np.cross(rotation[..., 1:], vector)
    return vector + rotation[..., :1] * twice + np.cross(rotation[..., 1:], twice)


def rotation_vector(rotation: Array) -> Array:
    """(..., 3) [rad] axis times angle, the angle at most pi."""
    rotation = np.where(rotation[..., :1] < 0.0, -rotation, rotation)
    sine = np.linalg.norm(rotation[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, rotation[..., :1])
    return rotation[..., 1:] * np.divide(angle, sine, out=np.full_like(sine, 2.0), where=sine > 0.0)

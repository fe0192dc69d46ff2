"""The camera of a picture: it projects world points to pixels and back.

A point at the depth z behind the camera's centre is seen at x / (1 + k z), y / (1 + k z) with k = 1 / distance; k = 0 is
the orthographic view. The nearness -z / (1 + k z) is linear on the screen in both views, so one z-buffer serves both.
"""

from typing import NamedTuple

import numpy as np

Array = np.ndarray


class Camera(NamedTuple):
    """The axes are unit vectors in the world; pixels are counted from the upper left corner."""

    centre: Array  # (3,) [m]
    right: Array  # (3,)
    up: Array  # (3,)
    forward: Array  # (3,) into the picture
    inverse_distance: float  # [1/m] of the viewer from the centre; 0 is orthographic
    scale: float  # [pixels/m] at the centre's depth
    middle: Array  # (2,) [pixels] where the centre appears
    size: tuple[int, int]  # [pixels] width, height


class View(NamedTuple):
    """The direction from which a picture is taken."""

    azimuth: float  # [deg] 0 looks along +y, 90 along -x
    elevation: float  # [deg] above the horizon
    field: float  # [deg] of view; 0 is orthographic


VIEWS = {
    "corner": View(28.0, 16.0, 24.0),
    "front": View(0.0, 0.0, 0.0),
    "side": View(90.0, 0.0, 0.0),
    "top": View(0.0, 90.0, 0.0),
    "iso": View(45.0, 35.26, 0.0),  # the three axes equally long
}


def camera_axes(azimuth: float, elevation: float) -> tuple[Array, Array, Array]:
    """The unit vectors right, up and forward of a camera that looks along +y at azimuth 0 [deg] and moves towards +x as the
    azimuth grows."""
    a, e = np.radians([azimuth, elevation])
    right = np.array([np.cos(a), np.sin(a), 0.0])
    forward = np.array([-np.sin(a) * np.cos(e), np.cos(a) * np.cos(e), -np.sin(e)])
    return right, np.cross(right, forward), forward


def fit_camera(
    points: Array, size: tuple[int, int], *, azimuth: float, elevation: float, field: float, margin: float
) -> Camera:
    """A camera that sees all points (N, 3) with a margin (a share of the size); `field` of view [deg], 0 is orthographic."""
    right, up, forward = camera_axes(azimuth, elevation)
    low, high = points.min(axis=0), points.max(axis=0)
    centre = (low + high) / 2
    extent = float(np.linalg.norm(high - low))
    inverse = 2.0 * np.tan(np.radians(field) / 2) / extent
    camera = Camera(centre, right, up, forward, float(inverse), 1.0, np.zeros(2), size)
    seen = project_points(camera, points)[:, :2]
    low, high = seen.min(axis=0), seen.max(axis=0)
    scale = float(((1.0 - 2.0 * margin) * np.array(size) / np.maximum(high - low, 1e-9 * extent)).min())
    return camera._replace(scale=scale, middle=np.array(size) / 2 - scale * (low + high) / 2)


def downscale(camera: Camera, times: int) -> Camera:
    """The camera of the same view on an image that is `times` times smaller."""
    size = (camera.size[0] // times, camera.size[1] // times)
    return camera._replace(scale=camera.scale / times, middle=camera.middle / times, size=size)


def project_points(camera: Camera, points: Array) -> Array:
    """(..., 3) the pixel column, the pixel row and the nearness [m] of world points."""
    offset = points - camera.centre
    z = offset @ camera.forward
    shrink = 1.0 / (1.0 + camera.inverse_distance * z)
    column = camera.middle[0] + camera.scale * (offset @ camera.right) * shrink
    row = camera.middle[1] - camera.scale * (offset @ camera.up) * shrink
    return np.stack([column, row, -z * shrink], axis=-1)

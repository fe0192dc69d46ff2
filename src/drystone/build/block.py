"""A single block on a foundation, upright or leaning on an edge or a corner: the rocking block of Housner."""

from dataclasses import replace

import numpy as np

from drystone.build.shapes import box, check_positive, slab
from drystone.errors import InputError
from drystone.model import Block
from drystone.units import Angle, Density, Length


def block(
    *,
    width: Length = 0.6,
    depth: Length = 0.6,
    height: Length = 2.0,
    tilt: Angle = 0.0,
    tilt_direction: Angle = 0.0,
    density: Density = 2000.0,
    margin: Length | None = None,
) -> list[Block]:
    """A block of width (x), depth (y) and height (z) [m] named "block", on the slab "foundation" with its top at z = 0.

    tilt: lean from the upright [rad]; tilt_direction: where it leans to, from x towards y [rad]. The lowest edge or
    corner stays where it was when upright. Leaning beyond the point of overturning is allowed.
    margin: how far the foundation goes beyond the block [m], by default the block's largest size.
    """
    check_positive("block", width=width, depth=depth, height=height, density=density)
    margin = max(width, depth, height) if margin is None else margin
    check_positive("block", margin=margin)
    if not abs(tilt) < np.pi / 2:
        raise InputError(f'block: tilt is {tilt!r} rad; give less than 90 degrees, as in "15 deg"')
    upright = box((-width / 2, -depth / 2, 0.0), (width / 2, depth / 2, height), name="block", group="block", density=density)
    leaning = replace(upright, vertices=_lean(upright.vertices, tilt, tilt_direction))
    foundation = slab((-width / 2, width / 2), (-depth / 2, depth / 2), margin, density)
    return [foundation, leaning]


def _lean(vertices: np.ndarray, tilt: float, direction: float) -> np.ndarray:
    """Vertices turned about a horizontal axis through the one that becomes the lowest (Rodrigues)."""
    axis = np.array([-np.sin(direction), np.cos(direction), 0.0])
    cross = np.cross(np.eye(3), axis)  # cross @ v is axis x v
    rotation = np.eye(3) + np.sin(tilt) * cross + (1 - np.cos(tilt)) * cross @ cross
    turned = vertices @ rotation.T
    pivot = int(np.argmin(turned[:, 2]))
    turned += vertices[pivot] - turned[pivot]
    # On an edge both ends are equally low but for rounding; none may start inside the foundation.
    turned[:, 2] -= turned[:, 2].min()
    return turned

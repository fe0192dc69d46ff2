"""A single block on a foundation, upright or leaning on an edge or a corner: the rocking block of Housner."""

from dataclasses import replace

import numpy as np

from drystone.base.errors import InputError
from drystone.base.units import Angle, Density, Length
from drystone.build.shapes import box, check_positive, foundation_slab, prism
from drystone.structure.model import Block


def block(
    *,
    width: Length = 0.6,
    depth: Length = 0.6,
    height: Length = 2.0,
    tilt: Angle = 0.0,
    tilt_direction: Angle = 0.0,
    bumps: tuple[Length, ...] = (),
    bump_height: Length = 0.002,
    density: Density = 2000.0,
    margin: Length | None = None,
) -> list[Block]:
    """A block of width (x), depth (y) and height (z) [m] named "block", on the slab "foundation" with its top at z = 0.

    tilt: lean from the upright [rad]; tilt_direction: where it leans to, from x towards y [rad]. The lowest edge or
    corner stays where it was when upright. Leaning beyond the point of overturning is allowed.
    bumps: where along the width, from its middle [m], low ridges go across the base: rocking from edge to edge then takes
    several small impacts and loses less than Housner's (T89); of two ridges those at a third of the width lose least.
    bump_height: of the lowest ridge below the edges [m].
    margin: how far the foundation goes beyond the block [m], by default the block's largest size.
    """
    check_positive("block", width=width, depth=depth, height=height, density=density)
    margin = max(width, depth, height) if margin is None else margin
    check_positive("block", margin=margin)
    if not abs(tilt) < np.pi / 2:
        raise InputError(f'block: tilt is {tilt!r} rad; give less than 90 degrees, as in "15 deg"')
    if bumps:
        outline, sides = _bumped(width, height, bumps, bump_height), (-depth / 2, depth / 2)
        upright = prism(outline, sides, name="block", group="block", density=density)
    else:
        low, high = (-width / 2, -depth / 2, 0.0), (width / 2, depth / 2, height)
        upright = box(low, high, name="block", group="block", density=density)
    leaning = replace(upright, vertices=_lean(upright.vertices, tilt, tilt_direction))
    foundation = foundation_slab((-width / 2, width / 2), (-depth / 2, depth / 2), margin, density)
    return [foundation, leaning]


def _bumped(width: float, height: float, bumps: tuple[float, ...], bump_height: float) -> np.ndarray:
    """(n, 2) [m] outline of a block whose base is a parabola through its edges, cut straight from ridge to ridge."""
    check_positive("block", bump_height=bump_height)
    if max(abs(at) for at in bumps) >= width / 2 or len(set(bumps)) < len(bumps):
        raise InputError(f"block: bumps are {list(bumps)} m; give different places between -{width / 2:g} and {width / 2:g} m")
    if bump_height >= height:
        raise InputError(f"block: bump_height is {bump_height:g} m; give less than the height, {height:g} m")
    x = np.array([-width / 2, *sorted(bumps), width / 2])
    z = bump_height * (x**2 - min(x**2)) / (max(x**2) - min(x**2))
    return np.concatenate([np.column_stack([x, z]), [(width / 2, height), (-width / 2, height)]])


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

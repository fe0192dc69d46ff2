"""A circular arch of voussoirs with radial joints between two fixed abutments."""

import numpy as np

from drystone.build.shapes import check_count, check_positive, prism
from drystone.errors import InputError
from drystone.model import Block
from drystone.units import Angle, Count, Density, Length


def arch(
    *,
    radius: Length = 10.0,
    thickness: Length = 1.5,
    embrace: Angle = 150 * np.pi / 180,
    blocks: Count = 7,
    depth: Length = 1.0,
    density: Density = 2000.0,
) -> list[Block]:
    """An arch of mid-curve radius, thickness and depth (y) [m] over the angle `embrace` [rad], spanning along x.

    Voussoirs "voussoir-1" (rightmost) to "voussoir-<blocks>" are straight between the joints, with their corners on the
    circles of radius -/+ thickness / 2 about x = 0; the lowest corner is at z = 0. The supports "abutment-right" and
    "abutment-left" continue the arch by its thickness and are wider than the joint by half of it on every side.
    """
    check_positive("arch", radius=radius, thickness=thickness, embrace=embrace, depth=depth, density=density)
    check_count("arch", 1, blocks=blocks)
    _check_shape(radius, thickness, embrace, blocks)
    angle = (np.pi - embrace) / 2 + embrace * np.arange(blocks + 1) / blocks
    inner, outer = radius - thickness / 2, radius + thickness / 2
    rim = np.stack([np.cos(angle), np.sin(angle)], axis=1)  # (blocks + 1, 2) x and z of the joints' directions
    rim = (rim + rim[::-1] * [-1, 1]) / 2  # mirror images to the last bit
    centre = np.array([0.0, -min(inner * rim[0, 1], outer * rim[0, 1])])
    supports = [
        _abutment("abutment-right", centre, rim[0], np.array([rim[0, 1], -rim[0, 0]]), inner, outer, depth, density),
        _abutment("abutment-left", centre, rim[-1], np.array([-rim[-1, 1], rim[-1, 0]]), inner, outer, depth, density),
    ]
    stones = []
    for i in range(blocks):
        outline = centre + np.array([inner * rim[i], outer * rim[i], outer * rim[i + 1], inner * rim[i + 1]])
        stones.append(prism(outline, (-depth / 2, depth / 2), name=f"voussoir-{i + 1}", group="arch", density=density))
    return supports + stones


def _check_shape(radius: float, thickness: float, embrace: float, blocks: int) -> None:
    if thickness >= 2 * radius:
        raise InputError(f"arch: thickness {thickness:g} m is not below twice the radius {radius:g} m; give a thinner arch")
    if embrace >= 2 * np.pi:
        raise InputError(f'arch: embrace is {embrace:g} rad; give less than a full turn, in rad or as "150 deg"')
    if embrace / blocks >= np.pi:
        raise InputError(f"arch: {blocks} block over {np.rad2deg(embrace):g} degrees is no voussoir; give more blocks")


def _abutment(
    name: str,
    centre: np.ndarray,
    rim: np.ndarray,
    away: np.ndarray,
    inner: float,
    outer: float,
    depth: float,
    density: float,
) -> Block:
    """The support behind the joint along `rim`, on the side of `away`."""
    thickness = outer - inner
    below = inner - min(thickness, inner) / 2
    above = outer + thickness / 2
    outline = centre + np.array([below * rim, above * rim, above * rim, below * rim])
    outline[:2] += thickness * away
    if away[0] * rim[1] - away[1] * rim[0] < 0:  # keep counter-clockwise on the left side too
        outline = outline[::-1]
    y = (depth + thickness) / 2
    return prism(outline, (-y, y), fixed=True, name=name, group="foundation", density=density)

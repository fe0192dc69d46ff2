"""A spherical dome of rings of blocks, with an oculus, on a fixed ring."""

import numpy as np

from drystone.build.shapes import HEXAHEDRON, check_count, check_positive
from drystone.errors import InputError
from drystone.model import Block
from drystone.units import Angle, Count, Density, Length


def dome(
    *,
    radius: Length = 5.0,
    thickness: Length = 0.5,
    rings: Count = 12,
    blocks: Count = 24,
    embrace: Angle = np.pi,
    oculus: Angle = 10 * np.pi / 180,
    density: Density = 2000.0,
) -> list[Block]:
    """A dome of mid-surface radius and thickness [m] in `rings` rings of `blocks` blocks each, about the z axis.

    embrace: angle of the whole meridian [rad], pi for a hemisphere; oculus: colatitude of the rim of the opening [rad].
    Blocks are flat between their corners, which lie on the spheres of radius -/+ thickness / 2; meridian joints are
    aligned from ring to ring, so all joints are plane and flush. "block-1-1" is in the lowest ring. Under each of them
    stands a support "foundation-1", ..., wider than the joint by half the thickness inside and outside; the springing's
    lowest corner is at z = 0.
    """
    check_positive("dome", radius=radius, thickness=thickness, embrace=embrace, oculus=oculus, density=density)
    check_count("dome", 1, rings=rings)
    check_count("dome", 3, blocks=blocks)
    _check_shape(radius, thickness, embrace, oculus)
    colatitude = np.linspace(embrace / 2, oculus, rings + 1)
    inner, outer = radius - thickness / 2, radius + thickness / 2
    down = np.array([0.0, 0.0, -min(inner * np.cos(embrace / 2), outer * np.cos(embrace / 2))])
    azimuth = 2 * np.pi * np.arange(blocks + 1) / blocks
    azimuth[-1] = 0.0  # the last joint is the first, to the last bit
    stones = _foundation(colatitude[0], azimuth, inner, outer, down, density)
    for ring in range(rings):
        for i in range(blocks):
            bottom = _joint(colatitude[ring], azimuth[i], azimuth[i + 1], inner, outer)
            top = _joint(colatitude[ring + 1], azimuth[i], azimuth[i + 1], inner, outer)
            vertices = np.concatenate([bottom, top]) + down
            stones.append(Block(vertices, HEXAHEDRON, name=f"block-{ring + 1}-{i + 1}", group="dome", density=density))
    return stones


def _check_shape(radius: float, thickness: float, embrace: float, oculus: float) -> None:
    if thickness >= 2 * radius:
        raise InputError(f"dome: thickness {thickness:g} m is not below twice the radius {radius:g} m; give a thinner dome")
    if embrace > np.pi:
        raise InputError(f'dome: embrace is {embrace:g} rad; give pi at most (a hemisphere), in rad or as "180 deg"')
    if 2 * oculus >= embrace:
        raise InputError(f"dome: the oculus at {np.rad2deg(oculus):g} degrees is not above the springing at "
                         f"{np.rad2deg(embrace) / 2:g} degrees of colatitude; give a smaller oculus")  # fmt: skip


def _joint(colatitude: float, start: float, end: float, inner: float, outer: float) -> np.ndarray:
    """(4, 3) [m] the joint at a colatitude between two meridians, counter-clockwise from above."""
    corners = [(inner, start), (outer, start), (outer, end), (inner, end)]
    flat, up = np.sin(colatitude), np.cos(colatitude)
    return np.array([[r * flat * np.cos(a), r * flat * np.sin(a), r * up] for r, a in corners])


def _foundation(
    colatitude: float, azimuth: np.ndarray, inner: float, outer: float, down: np.ndarray, density: float
) -> list[Block]:
    thickness = outer - inner
    inside, outside = inner - min(thickness, inner) / 2, outer + thickness / 2
    supports = []
    for i in range(len(azimuth) - 1):
        top = _joint(colatitude, azimuth[i], azimuth[i + 1], inside, outside) + down
        vertices = np.concatenate([top - [0, 0, 2 * thickness], top])
        supports.append(
            Block(vertices, HEXAHEDRON, fixed=True, name=f"foundation-{i + 1}", group="foundation", density=density)
        )
    return supports

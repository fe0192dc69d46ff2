"""A spherical dome of rings of blocks, with an oculus and perhaps a lantern, on a fixed ring."""

from dataclasses import replace
from itertools import pairwise
from typing import Literal

import numpy as np

from drystone.base.errors import InputError
from drystone.base.units import Angle, Count, Density, Length
from drystone.build.shapes import HEXAHEDRON, check_count, check_positive, check_stones, join_pieces
from drystone.structure.model import Block


def dome(
    *,
    radius: Length = 5.0,
    thickness: Length = 0.5,
    rings: Count = 12,
    blocks: Count = 24,
    embrace: Angle = np.pi,
    oculus: Angle = 10 * np.pi / 180,
    bond: Literal["aligned", "staggered"] = "aligned",
    lantern: Length = 0.0,
    density: Density = 2000.0,
) -> list[Block]:
    """A dome of mid-surface radius and thickness [m] in `rings` rings of `blocks` blocks each, about the z axis.

    embrace: angle of the whole meridian [rad], pi for a hemisphere; oculus: colatitude of the rim of the opening [rad].
    Blocks are flat between their corners, which lie on the spheres of radius -/+ thickness / 2, so all joints are plane and
    flush. bond: meridian joints "aligned" from ring to ring; or "staggered" by half a block, each block then of two flat
    halves with a ridge along its middle. lantern: how far a ring of stones "lantern-1", ... on the back of the highest ring
    rises above its rim [m]; 0 for none. "block-1-1" is in the lowest ring. The springing rests on the supports
    "foundation-1", ..., wider than the joint by half the thickness inside and outside; its lowest corner is at z = 0.
    """
    check_positive("dome", radius=radius, thickness=thickness, embrace=embrace, oculus=oculus, density=density)
    check_count("dome", 1, rings=rings)
    check_count("dome", 3, blocks=blocks)
    check_stones("dome: rings times blocks", rings * blocks)
    _check_shape(radius, thickness, embrace, oculus)
    if lantern:
        check_positive("dome", lantern=lantern)
    if bond not in ("aligned", "staggered"):
        raise InputError(f'dome: bond is {bond!r}; give "aligned" or "staggered"')
    parts = 2 if bond == "staggered" else 1  # flat parts of a block
    colatitude = np.linspace(embrace / 2, oculus, rings + 1)
    inner, outer = radius - thickness / 2, radius + thickness / 2
    down = np.array([0.0, 0.0, -min(inner * np.cos(embrace / 2), outer * np.cos(embrace / 2))])
    azimuth = 2 * np.pi * np.arange(parts * blocks + 1) / (parts * blocks)
    azimuth[-1] = 0.0  # the last joint is the first, to the last bit
    stones = _foundation(colatitude[0], azimuth, inner, outer, down, density)
    for ring in range(rings):
        joints = [_joints(colatitude[at], azimuth, inner, outer) for at in (ring, ring + 1)]
        cells = [np.concatenate(pair) + down for pair in zip(*joints, strict=True)]
        stones += _ring(cells, parts, f"block-{ring + 1}-", shifted=ring % 2 == 1, density=density)
    if lantern:
        cells = [cell + down for cell in _lantern(colatitude[-2:], azimuth, outer, lantern)]
        stones += _ring(cells, parts, "lantern-", shifted=rings % 2 == 1, density=density)
    return stones


def _check_shape(radius: float, thickness: float, embrace: float, oculus: float) -> None:
    if thickness >= 2 * radius:
        raise InputError(f"dome: thickness {thickness:g} m is not below twice the radius {radius:g} m; give a thinner dome")
    if embrace > np.pi:
        raise InputError(f'dome: embrace is {embrace:g} rad; give pi at most (a hemisphere), in rad or as "180 deg"')
    if 2 * oculus >= embrace:
        raise InputError(f"dome: the oculus at {np.rad2deg(oculus):g} degrees is not above the springing at "
                         f"{np.rad2deg(embrace) / 2:g} degrees of colatitude; give a smaller oculus")  # fmt: skip


def _joints(colatitude: float, azimuth: np.ndarray, inner: float, outer: float) -> list[np.ndarray]:
    """(4, 3) [m] the joints at a colatitude between neighbouring meridians, counter-clockwise from above."""
    flat, up = np.sin(colatitude), np.cos(colatitude)
    joints = []
    for start, end in pairwise(azimuth):
        corners = [(inner, start), (outer, start), (outer, end), (inner, end)]
        joints.append(np.array([[r * flat * np.cos(a), r * flat * np.sin(a), r * up] for r, a in corners]))
    return joints


def _lantern(colatitude: np.ndarray, azimuth: np.ndarray, outer: float, height: float) -> list[np.ndarray]:
    """(8, 3) [m] the stones over the back of the highest ring, between two colatitudes, with a level top."""
    edges = [_joints(at, azimuth, outer, outer) for at in colatitude]
    cells = []
    for low, rim in zip(*edges, strict=True):
        base = np.array([rim[1], low[1], low[2], rim[2]])
        top = base.copy()
        top[:, 2] = outer * np.cos(colatitude[1]) + height
        cells.append(np.concatenate([base, top]))
    return cells


def _ring(cells: list[np.ndarray], parts: int, prefix: str, *, shifted: bool, density: float) -> list[Block]:
    """The blocks of a ring of hexahedra, each of as many neighbouring ones as it has parts, from the second on if shifted."""
    if parts == 2 and shifted:
        cells = cells[1:] + cells[:1]
    halves = [Block(cell, HEXAHEDRON, group="dome", density=density) for cell in cells]
    pairs = [halves[i : i + parts] for i in range(0, len(halves), parts)]
    names = [f"{prefix}{i + 1}" for i in range(len(pairs))]
    if parts == 1:
        return [replace(half, name=name) for half, name in zip(halves, names, strict=True)]
    return [join_pieces(pair, name=name) for pair, name in zip(pairs, names, strict=True)]


def _foundation(
    colatitude: float, azimuth: np.ndarray, inner: float, outer: float, down: np.ndarray, density: float
) -> list[Block]:
    thickness = outer - inner
    inside, outside = inner - min(thickness, inner) / 2, outer + thickness / 2
    supports = []
    for i, joint in enumerate(_joints(colatitude, azimuth, inside, outside)):
        vertices = np.concatenate([joint + down - [0, 0, 2 * thickness], joint + down])
        name = f"foundation-{i + 1}"
        supports.append(Block(vertices, HEXAHEDRON, fixed=True, name=name, group="foundation", density=density))
    return supports

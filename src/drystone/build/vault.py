"""Vaults: a barrel vault of staggered voussoirs between two abutments, and a cross vault on four corners."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from drystone.base.errors import InputError
from drystone.base.units import Angle, Count, Density, Length
from drystone.build.arch import abutments, circular_joints, joint_outlines
from drystone.build.shapes import check_count, check_positive, cut_block, loft, prism
from drystone.structure.model import Block

Array = np.ndarray


def barrel_vault(
    *,
    radius: Length = 3.0,
    thickness: Length = 0.5,
    embrace: Angle = np.pi,
    length: Length = 4.0,
    courses: Count = 15,
    blocks: Count = 5,
    density: Density = 2000.0,
) -> list[Block]:
    """A circular vault of mid-curve radius, thickness and length (y) [m] over the angle `embrace` [rad].

    Courses run along the axis y. Courses 1, 3, ... from the right have `blocks` stones; courses 2, 4, ... have blocks - 1
    and a half at each end. "stone-2-1" is the first, at -y, of the second course. The supports "abutment-right" and
    "abutment-left" are those of an arch; the lowest corner is at z = 0.
    """
    check_positive("barrel-vault", radius=radius, thickness=thickness, embrace=embrace, length=length, density=density)
    check_count("barrel-vault", 1, courses=courses, blocks=blocks)
    joints = circular_joints("barrel-vault", radius, thickness, embrace, courses)
    aligned = np.linspace(-length / 2, length / 2, blocks + 1)
    shifted = np.concatenate([aligned[:1], (aligned[1:] + aligned[:-1]) / 2, aligned[-1:]])
    stones = abutments(*joints, (-length / 2, length / 2), density)
    for course, outline in enumerate(joint_outlines(*joints)):
        for i, y in enumerate(pairwise(shifted if course % 2 else aligned)):
            name = f"stone-{course + 1}-{i + 1}"
            stones.append(prism(outline, y, name=name, group="barrel-vault", density=density))
    return stones


def cross_vault(
    *,
    span: Length = 4.0,
    thickness: Length = 0.5,
    embrace: Angle = np.pi,
    courses: Count = 11,
    length: Length = 0.8,
    border: Length = 0.4,
    density: Density = 2000.0,
) -> list[Block]:
    """A square cross vault: two circular barrel vaults, along x and y, that meet at the groins, the planes x = y and x = -y.

    span: clear at the springing [m]; embrace: angle of the barrels, pi at most [rad]; courses: of each barrel, an odd
    number; length: of the stones along their course, staggered by half of it [m]; border: how far the webs run beyond
    the extrados of the springing, as wall arches [m].
    Each of the four webs is the part of a barrel between two groins. Its stones "web-1-3-2" (web, course, stone from the
    border inwards) are prisms; the last of each course is cut by the groin and meets its mirror image of the next web
    there. The square "key" at the top closes all four. A support continues each web behind each of its two springings,
    eight in all, two at each corner.
    """
    check_positive("cross-vault", span=span, thickness=thickness, embrace=embrace, length=length, border=border,
                   density=density)  # fmt: skip
    check_count("cross-vault", 3, courses=courses)
    if courses % 2 == 0:
        raise InputError(f"cross-vault: courses is {courses}; give an odd number, the middle one is the crown")
    if embrace > np.pi:
        raise InputError(f'cross-vault: embrace is {embrace:g} rad; give pi at most (a semicircle), in rad or as "180 deg"')
    inner, outer = circular_joints("cross-vault", span / 2 / np.sin(embrace / 2) + thickness / 2, thickness, embrace, courses)
    crown, edge = courses // 2, outer[0, 0] + border
    web = []
    for course, outline in enumerate(joint_outlines(inner, outer)):
        normal, offset = _end_of_course(course, crown, inner, outer)
        for i, y in enumerate(pairwise(_cuts(edge, outline[:, 0], length, shifted=course % 2 == 1))):
            stone = prism(outline, y[::-1], name=f"{course + 1}-{i + 1}", group="cross-vault", density=density)
            web.append(cut_block(stone, normal, offset))
    for foot, course in zip(abutments(inner, outer, (0.0, edge), density), (0, courses - 1), strict=True):
        web.append(cut_block(foot, *_end_of_course(course, crown, inner, outer)))
    stones = [_turned(stone, quarter) for quarter in range(4) for stone in web if stone is not None]
    square = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    low, high = (np.column_stack([half * square, np.full(4, z)]) for half, z in (inner[crown], outer[crown]))
    return [*stones, loft(low, high, name="key", group="cross-vault", density=density)]


def _end_of_course(course: int, crown: int, inner: Array, outer: Array) -> tuple[Array, float]:
    """The plane, as normal and offset [m], where a course of the web towards +y ends: a groin, or the side of the key."""
    if course != crown:
        return np.array([1.0 if course < crown else -1.0, -1.0, 0.0]) / np.sqrt(2), 0.0
    y, z = inner[crown]  # the key is a voussoir of the crown in both directions
    dy, dz = (outer[crown] - inner[crown]) / np.linalg.norm(outer[crown] - inner[crown])
    return np.array([0.0, -dz, dy]), float(dy * z - dz * y)


def _cuts(edge: float, x: Array, length: float, *, shifted: bool) -> list[float]:
    """[m] y where the stones of a course end, from the border to beyond the groin; none is shorter than length / 2."""
    cuts = [edge]
    step = length / 2 if shifted else length
    while cuts[-1] - step >= np.abs(x).max() + length / 2:
        cuts.append(cuts[-1] - step)
        step = length
    return [*cuts, 0.0]


def _turned(stone: Block, quarters: int) -> Block:
    """The stone of the first web turned about z by 90 degrees several times, exactly; it gets the web's name."""
    vertices = stone.vertices
    for _ in range(quarters):
        vertices = np.column_stack([-vertices[:, 1], vertices[:, 0], vertices[:, 2]])
    name = f"{stone.name}-{quarters + 1}" if stone.fixed else f"web-{quarters + 1}-{stone.name}"
    return replace(stone, vertices=vertices, name=name)

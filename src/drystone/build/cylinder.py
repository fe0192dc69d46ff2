"""A solid cylinder of radial masonry over an octagonal hole: what falls out leaves a corbelled dome."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from drystone.base.errors import InputError
from drystone.base.units import Count, Density, Length
from drystone.build.shapes import check_count, check_positive, check_stones, loft, polygon
from drystone.structure.model import Block

Array = np.ndarray


def corbelled_cylinder(
    *,
    diameter: Length = 16.2,
    height: Length = 5.0,
    hole: Length = 7.6,
    courses: Count = 10,
    rings: Count = 8,
    sectors: Count = 16,
    density: Density = 1800.0,
) -> list[Block]:
    """A cylinder of diameter and height [m] about z whose base has no support within an octagon of diameter `hole` [m].

    Diameters are of the circles through corners. Sizes and density are those of Beatini, Royer-Carfagni and Tasora (2017):
    the span and the height of their wall, the hole as wide as their arch (radius 3.8 m), friction 0.4. Their drawing is
    not at hand; chosen here: each course has a polygonal stone "core-1" (course) on the axis and rings of equal width, cut
    into `sectors` stones by radial joints; every second course is shifted by half a ring and turned by half a sector. The
    stones of the outermost ring have a corner more, so that all courses have the same outline of 2 * sectors sides.
    "stone-2-3-5" is in course 2, ring 3 from the axis, sector 5. The foundation is eight supports around the hole.
    """
    check_positive("corbelled-cylinder", diameter=diameter, height=height, hole=hole, density=density)
    check_count("corbelled-cylinder", 1, courses=courses)
    check_count("corbelled-cylinder", 2, rings=rings)
    check_count("corbelled-cylinder", 3, sectors=sectors)
    check_stones("corbelled-cylinder: courses times rings times sectors", courses * rings * sectors)
    if hole >= diameter * np.cos(np.pi / sectors):
        raise InputError(f"corbelled-cylinder: a hole of {hole:g} m leaves no support to a cylinder of {diameter:g} m; give a "
                         "smaller hole")  # fmt: skip
    level = np.linspace(0.0, height, courses + 1)
    radii_aligned = np.linspace(0.0, diameter / 2, rings + 1)[1:]
    shifted = np.append(radii_aligned - radii_aligned[0] / 2, radii_aligned[-1])
    stones = _foundation(hole / 2, 0.75 * diameter, height / courses, density)
    for course in range(courses):
        radii, turn = (shifted, np.pi / sectors) if course % 2 else (radii_aligned, 0.0)
        for name, plan in _course(sectors, radii, turn):
            attributes = {"name": name.format(course + 1), "group": "corbelled-cylinder"}
            stones.append(loft(_at(level[course], plan), _at(level[course + 1], plan), density=density, **attributes))
    return stones


def _course(sectors: int, radii: Array, turn: float) -> Iterator[tuple[str, Array]]:
    """Names, with a gap for the course, and plans (n, 2) [m] of the core and of the rings between the radii [m]."""
    yield "core-{}", polygon(sectors, radii[0], 0.0, turn=turn)[:, :2]
    middle = polygon(sectors, radii[-1], 0.0, turn=turn + np.pi / sectors)[:, :2]  # the corners more of the last ring
    for ring, (inner, outer) in enumerate(pairwise(radii)):
        for sector, plan in enumerate(_ring(sectors, inner, outer, turn)):
            last = ring == len(radii) - 2
            yield f"stone-{{}}-{ring + 1}-{sector + 1}", np.insert(plan, 2, middle[sector], axis=0) if last else plan


def _ring(sectors: int, inner: float, outer: float, turn: float) -> list[Array]:
    """(4, 2) [m] plans of the stones between two polygons, counter-clockwise."""
    inside, outside = (polygon(sectors, radius, 0.0, turn=turn)[:, :2] for radius in (inner, outer))
    after = np.roll(np.arange(sectors), -1)
    return [np.array([inside[i], outside[i], outside[j], inside[j]]) for i, j in enumerate(after)]


def _foundation(hole: float, outside: float, depth: float, density: float) -> list[Block]:
    supports = []
    for i, plan in enumerate(_ring(8, hole, outside, 0.0)):
        attributes = {"name": f"foundation-{i + 1}", "group": "foundation"}
        supports.append(loft(_at(-depth, plan), _at(0.0, plan), fixed=True, density=density, **attributes))
    return supports


def _at(z: float, plan: Array) -> Array:
    return np.column_stack([plan, np.full(len(plan), z)])

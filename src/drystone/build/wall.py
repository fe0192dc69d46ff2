"""A straight wall in one of several bonds, with openings and a gable if wanted, on a foundation."""

from typing import Literal

import numpy as np

from drystone.base.units import Count, Density, Length
from drystone.build.courses import BondName, Opening, Wall, lay_walls, make_bond
from drystone.build.shapes import check_count, check_positive, foundation_slab
from drystone.structure.model import Block


def wall(
    *,
    length: Length = 5.0,
    height: Length = 2.5,
    thickness: Length = 0.25,
    courses: Count = 10,
    blocks: Count = 10,
    bond: BondName = "running",
    through: Count = 4,
    openings: tuple[Opening, ...] = (),
    gable: Literal["sloped", "stepped"] = "sloped",
    gable_courses: Count = 0,
    density: Density = 2000.0,
    margin: Length | None = None,
) -> list[Block]:
    """A wall of length (x), thickness (y) and height (z) [m], centred on x = y = 0, on the slab "foundation".

    In running bond courses 1, 3, ... from the bottom have `blocks` blocks; courses 2, 4, ... have blocks - 1 and a half at
    each end: in all courses * blocks + courses // 2, without the foundation. "block-3-1" is the leftmost of the third
    course. bond: "running"; "stack", joints over joints; "english", courses of two leaves and of headers in turn;
    "flemish", stretchers and headers in turn in each course; "two-leaf", every `through`-th stone goes through both
    leaves ("block-3-1-back" is behind "block-3-1").
    openings: (at, sill, width, height, head) each: from the left end [m]; sill and head at levels of courses; head
    "lintel" or "arch", half a circle above `height`. gable_courses: of a gable above the height, cut to the slope or
    stepped. margin: how far the foundation goes beyond the wall [m], by default the largest size of a block.
    """
    check_positive("wall", length=length, height=height, thickness=thickness, density=density)
    check_count("wall", 1, courses=courses, blocks=blocks)
    check_count("wall", 2, through=through)
    check_count("wall", 0, gable_courses=gable_courses)
    margin = max(length / blocks, thickness, height / courses) if margin is None else margin
    check_positive("wall", margin=margin)
    x, y, rise = length / 2, thickness / 2, gable_courses * height / courses
    levels = np.linspace(0.0, height + rise, courses + gable_courses + 1)
    plan = Wall("block", (-x, -y), "x", length, thickness, height, rise, gable, tuple(Opening(*each) for each in openings))
    stones = lay_walls([plan], levels, make_bond(bond, length / blocks, through=through), group="wall", density=density)
    return [foundation_slab((-x, x), (-y, y), margin, density), *stones]

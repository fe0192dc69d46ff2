"""A wall in running bond: courses of equal blocks, every second course shifted by half a block."""

from itertools import pairwise

import numpy as np

from drystone.build.shapes import box, check_count, check_positive, slab
from drystone.model import Block
from drystone.units import Count, Density, Length


def wall(
    *,
    length: Length = 5.0,
    height: Length = 2.5,
    thickness: Length = 0.25,
    courses: Count = 10,
    blocks: Count = 10,
    density: Density = 2000.0,
    margin: Length | None = None,
) -> list[Block]:
    """A wall of length (x), thickness (y) and height (z) [m], centred on x = y = 0, on the slab "foundation".

    Courses 1, 3, ... from the bottom have `blocks` blocks; courses 2, 4, ... have blocks - 1 and a half at each end: in
    all courses * blocks + courses // 2, without the foundation. "block-3-1" is the leftmost of the third course.
    margin: how far the foundation goes beyond the wall [m], by default the largest size of a block.
    """
    check_positive("wall", length=length, height=height, thickness=thickness, density=density)
    check_count("wall", 1, courses=courses, blocks=blocks)
    margin = max(length / blocks, thickness, height / courses) if margin is None else margin
    check_positive("wall", margin=margin)
    x, y, level = length / 2, thickness / 2, np.linspace(0.0, height, courses + 1)
    stones = [slab((-x, x), (-y, y), margin, density)]
    for course in range(courses):
        joints = _joints(length, blocks, shifted=course % 2 == 1)
        for i, (left, right) in enumerate(pairwise(joints)):
            low, high = (left, -y, level[course]), (right, y, level[course + 1])
            stones.append(box(low, high, name=f"block-{course + 1}-{i + 1}", group="wall", density=density))
    return stones


def _joints(length: float, blocks: int, *, shifted: bool) -> np.ndarray:
    """[m] where the vertical joints of a course are, its ends included."""
    step = length / blocks
    if not shifted:
        return np.linspace(-length / 2, length / 2, blocks + 1)
    return np.concatenate([[-length / 2], (np.arange(blocks) + 0.5) * step - length / 2, [length / 2]])

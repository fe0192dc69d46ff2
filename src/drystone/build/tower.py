"""A square hollow tower whose walls interlock at the corners, on a foundation."""

from itertools import pairwise

import numpy as np

from drystone.build.shapes import box, check_count, check_positive, slab
from drystone.errors import InputError
from drystone.model import Block
from drystone.units import Count, Density, Length


def tower(
    *,
    blocks_per_side: Count = 10,
    courses: Count = 25,
    length: Length = 0.5,
    height: Length = 0.25,
    thickness: Length = 0.25,
    density: Density = 2000.0,
    margin: Length | None = None,
) -> list[Block]:
    """A tower of `courses` courses of 4 * blocks_per_side blocks of the length, height and thickness given [m].

    In each course every wall runs through one of its corners and butts against the next wall at the other; the next
    course turns the other way round. Corners interlock and vertical joints are staggered by the thickness, a running
    bond when length = 2 * thickness. The side is blocks_per_side * length + thickness, centred on x = y = 0.
    "block-2-11" is the eleventh of the second course. margin: of the slab "foundation" [m], by default the length.
    """
    check_positive("tower", length=length, height=height, thickness=thickness, density=density)
    check_count("tower", 1, blocks_per_side=blocks_per_side, courses=courses)
    if thickness >= length:
        raise InputError(f"tower: thickness {thickness:g} m is not below the length {length:g} m of a block, vertical "
                         "joints would not be staggered; give longer blocks")  # fmt: skip
    margin = length if margin is None else margin
    check_positive("tower", margin=margin)
    half = (blocks_per_side * length + thickness) / 2
    level = np.linspace(0.0, courses * height, courses + 1)
    stones = [slab((-half, half), (-half, half), margin, density)]
    for course in range(courses):
        plan = _plan(blocks_per_side, length, thickness, mirrored=course % 2 == 1)
        for i, (x0, y0, x1, y1) in enumerate(plan):
            low, high = (x0, y0, level[course]), (x1, y1, level[course + 1])
            stones.append(box(low, high, name=f"block-{course + 1}-{i + 1}", group="tower", density=density))
    return stones


def _plan(blocks: int, length: float, thickness: float, *, mirrored: bool) -> list[tuple[float, float, float, float]]:
    """(x0, y0, x1, y1) [m] of the blocks of one course: the wall at -y, turned by 90 degrees three times."""
    half = (blocks * length + thickness) / 2
    joints = np.linspace(-half, half - thickness, blocks + 1)
    if mirrored:
        joints = -joints[::-1]
    wall = [(left, -half, right, thickness - half) for left, right in pairwise(joints)]
    plan = list(wall)
    for _ in range(3):
        wall = [(-y1, x0, -y0, x1) for x0, y0, x1, y1 in wall]
        plan += wall
    return plan

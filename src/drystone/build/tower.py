"""A square hollow tower whose walls interlock at the corners, with openings if wanted, on a foundation."""

from dataclasses import replace

import numpy as np

from drystone.base.errors import InputError
from drystone.base.units import Count, Density, Length
from drystone.build.compose import move_blocks
from drystone.build.courses import Bond, Opening, Wall, lay_courses
from drystone.build.shapes import check_count, check_positive, foundation_slab
from drystone.structure.model import Block


def tower(
    *,
    blocks_per_side: Count = 10,
    courses: Count = 25,
    length: Length = 0.5,
    height: Length = 0.25,
    thickness: Length = 0.25,
    openings: tuple[Opening, ...] = (),
    belfry: Opening | None = None,
    density: Density = 2000.0,
    margin: Length | None = None,
) -> list[Block]:
    """A tower of `courses` courses of 4 * blocks_per_side blocks of the length, height and thickness given [m].

    In each course every wall runs through one of its corners and butts against the next wall at the other; the next
    course turns the other way round. Corners interlock and vertical joints are staggered by the thickness, a running
    bond when length = 2 * thickness. The side is blocks_per_side * length + thickness, centred on x = y = 0.
    "block-2-11" is the eleventh of the second course. margin: of the slab "foundation" [m], by default the length.
    openings: (at, sill, width, height, head) each, of the wall at -y from its left end; belfry: one in every wall.
    Sill and head are at levels of courses; head is "lintel" or "arch". A course counts the lintels and arches that
    begin in it.
    """
    check_positive("tower", length=length, height=height, thickness=thickness, density=density)
    check_count("tower", 1, blocks_per_side=blocks_per_side, courses=courses)
    if thickness >= length:
        raise InputError(f"tower: thickness {thickness:g} m is not below the length {length:g} m of a block, vertical "
                         "joints would not be staggered; give longer blocks")  # fmt: skip
    margin = length if margin is None else margin
    check_positive("tower", margin=margin)
    side, top = blocks_per_side * length + thickness, courses * height
    levels, half, stretcher = np.linspace(0.0, top, courses + 1), side / 2, ((length, 1),)
    bond = Bond(length, (stretcher, stretcher), (0.0, thickness))
    everywhere = () if belfry is None else (Opening(*belfry),)
    plain = Wall("block", (-half, -half), "x", side, thickness, top, openings=everywhere, toothed=True)
    front = replace(plain, openings=(*(Opening(*each) for each in openings), *everywhere))
    courses_of_sides = [lay_courses([front if turn == 0 else plain], levels, bond) for turn in range(4)]
    stones = [foundation_slab((-half, half), (-half, half), margin, density)]
    for number, sides in enumerate(zip(*courses_of_sides, strict=True), 1):
        course = [stone for turn, part in enumerate(sides) for stone in move_blocks(part, turn=turn * np.pi / 2)]
        stones += [
            replace(stone, name=f"block-{number}-{i}", group="tower", density=density) for i, stone in enumerate(course, 1)
        ]
    return stones

"""A stone house of three walls: a gabled facade with a door between two side walls, one with a window."""

import numpy as np

from drystone.base.units import Count, Density, Length
from drystone.build.courses import Opening, Wall, lay_walls, make_bond
from drystone.build.shapes import check_count, check_positive, foundation_slab
from drystone.structure.model import Block

DEFAULT_DOOR = Opening(1.6, 0.0, 1.0, 2.25)
DEFAULT_WINDOW = Opening(1.2, 1.125, 0.8, 0.9)


def house(
    *,
    length: Length = 4.2,
    depth: Length = 2.8,
    height: Length = 2.925,
    thickness: Length = 0.5,
    courses: Count = 13,
    gable_courses: Count = 7,
    stone: Length = 0.7,
    door: Opening = DEFAULT_DOOR,
    window: Opening = DEFAULT_WINDOW,
    density: Density = 2000.0,
    margin: Length = 0.5,
) -> list[Block]:
    """Walls of the thickness given [m], `courses` high to the eaves at `height` and interlocked at the corners.

    "facade" is along x, from x = 0 to length and y = 0 to thickness, with the door and a gable of `gable_courses` more;
    "north" (at x = 0, with the window) and "south" go back to y = depth. Openings are (at, sill, width, height, head):
    from the start of their wall, sill and head at levels of courses. Stones are `stone` long, in running bond;
    "north-3-1" is the first of its third course. margin: of the slab "foundation".

    After the house of Nodargi and Bisegna (2024, section 4.5): three walls, door, gable and window, 191 stones on
    continuous beds, and a facade that a horizontal pull of 0.372 g topples. Their drawing gives the sizes; those here
    are chosen for that count and that pull, which therefore validates nothing.
    """
    check_positive("house", length=length, depth=depth, height=height, thickness=thickness, stone=stone, density=density)
    check_positive("house", margin=margin)
    check_count("house", 1, courses=courses)
    check_count("house", 0, gable_courses=gable_courses)
    rise = gable_courses * height / courses
    levels = np.linspace(0.0, height + rise, courses + gable_courses + 1)
    walls = [
        Wall("facade", (0.0, 0.0), "x", length, thickness, height, rise, openings=(Opening(*door),)),
        Wall("north", (0.0, 0.0), "y", depth, thickness, height, openings=(Opening(*window),)),
        Wall("south", (length - thickness, 0.0), "y", depth, thickness, height),
    ]
    stones = lay_walls(walls, levels, make_bond("running", stone), group="house", density=density)
    return [foundation_slab((0.0, length), (0.0, depth), margin, density), *stones]

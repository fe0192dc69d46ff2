"""A wall on two supports with nothing under the middle of it."""

import numpy as np

from drystone.base.errors import InputError
from drystone.base.units import Count, Density, Length
from drystone.build.courses import Wall, lay_walls, make_bond
from drystone.build.shapes import box, check_count, check_positive
from drystone.structure.model import Block


def wall_over_gap(
    *,
    length: Length = 16.2,
    height: Length = 5.0,
    thickness: Length = 0.8,
    span: Length = 7.6,
    courses: Count = 13,
    blocks: Count = 20,
    density: Density = 2000.0,
    margin: Length = 0.8,
) -> list[Block]:
    """A wall in running bond of length (x), thickness (y) and height (z) [m] on "support-left" and "support-right".

    The supports end at x = -span / 2 and span / 2; the stones above the gap between them are held by their neighbours or fall.
    A span of 0 is a wall on two supports that may settle by themselves.
    By default the wall and the gap of Beatini, Royer-Carfagni and Tasora (2017, figure 9): the size and the bond of the
    spandrel arch, the gap as wide as its span.
    """
    check_positive("wall-over-gap", length=length, height=height, thickness=thickness, density=density)
    check_positive("wall-over-gap", margin=margin)
    check_count("wall-over-gap", 1, courses=courses, blocks=blocks)
    if not 0 <= span < length:
        raise InputError(f"wall-over-gap: span is {span:g} m; give 0 (two supports that meet) or more, below the length "
                         f"{length:g} m of the wall")  # fmt: skip
    x, y = length / 2, thickness / 2
    plan = Wall("block", (-x, -y), "x", length, thickness, height)
    levels = np.linspace(0.0, height, courses + 1)
    stones = lay_walls([plan], levels, make_bond("running", length / blocks), group="wall-over-gap", density=density)
    support = {"fixed": True, "group": "foundation", "density": density}
    left = box((-x - margin, -y - margin, -margin), (-span / 2, y + margin, 0.0), name="support-left", **support)
    right = box((span / 2, -y - margin, -margin), (x + margin, y + margin, 0.0), name="support-right", **support)
    return [left, right, *stones]

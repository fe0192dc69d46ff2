"""Columns on a foundation: equal rectangular drums, or tapering polygonal drums under a capital."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from drystone.base.errors import InputError
from drystone.base.units import Count, Density, Length
from drystone.build.shapes import box, check_count, check_positive, foundation_slab, loft, polygon
from drystone.structure.model import Block


def column(
    *,
    width: Length = 0.5,
    depth: Length = 0.5,
    height: Length = 3.0,
    courses: Count = 6,
    density: Density = 2000.0,
    margin: Length | None = None,
) -> list[Block]:
    """A column of width (x), depth (y) and total height (z) [m]: drums "drum-1" (lowest) to "drum-<courses>".

    margin: how far the slab "foundation" goes beyond the column [m], by default the largest size of a drum.
    """
    check_positive("column", width=width, depth=depth, height=height, density=density)
    check_count("column", 1, courses=courses)
    margin = max(width, depth, height / courses) if margin is None else margin
    check_positive("column", margin=margin)
    x, y, level = width / 2, depth / 2, np.linspace(0.0, height, courses + 1)
    blocks = [foundation_slab((-x, x), (-y, y), margin, density)]
    for i in range(courses):
        low, high = (-x, -y, level[i]), (x, y, level[i + 1])
        blocks.append(box(low, high, name=f"drum-{i + 1}", group="column", density=density))
    return blocks


def drum_column(
    *,
    bottom: Length = 1.0,
    top: Length = 0.8,
    height: Length = 6.0,
    drums: Count = 6,
    sides: Count = 20,
    capital: Length = 0.5,
    density: Density = 2500.0,
    margin: Length | None = None,
) -> list[Block]:
    """A column of drums "drum-1" (lowest) to "drum-<drums>" under the stones "echinus" and "abacus" of a capital.

    bottom, top: diameters of the shaft [m], of the circle through the corners of its `sides`; between them it tapers
    straight. height: of the shaft, equal parts for the drums [m]. capital: its height [m], half of it the echinus, which
    widens to the square abacus, as wide as the bottom of the shaft; 0 for none. By default the sizes of a small Doric
    column, six diameters high. margin: of the slab "foundation" [m], by default the bottom diameter.
    """
    shaft = Shaft(bottom, top, height, drums, sides, capital)
    check_shaft("drum-column", shaft)
    margin = bottom if margin is None else margin
    check_positive("drum-column", density=density, margin=margin)
    foundation = foundation_slab((-bottom / 2, bottom / 2), (-bottom / 2, bottom / 2), margin, density)
    return [foundation, *raise_shaft(shaft, 0.0, "", "drum-column", density)]


class Shaft(NamedTuple):
    """The sizes of a column of drums, as `drum_column` explains them."""

    bottom: float  # [m]
    top: float  # [m]
    height: float  # [m]
    drums: int
    sides: int
    capital: float  # [m]


def check_shaft(family: str, shaft: Shaft) -> None:
    bottom, top, height, drums, sides, capital = shaft
    check_positive(family, bottom=bottom, top=top, height=height)
    check_count(family, 1, drums=drums)
    check_count(family, 3, sides=sides)
    if capital:
        check_positive(family, capital=capital)
    if top > bottom:
        raise InputError(f"{family}: top {top:g} m is wider than bottom {bottom:g} m; give a top that is not wider")


def raise_shaft(shaft: Shaft, x: float, prefix: str, group: str, density: float) -> list[Block]:
    """The stones of a column whose axis stands at x [m]; `prefix` goes before their names."""
    bottom, top, height, drums, sides, capital = shaft
    level, radius = np.linspace(0.0, height, drums + 1), np.linspace(bottom, top, drums + 1) / 2
    outlines = [polygon(sides, r, z, x=x, turn=np.pi / sides) for r, z in zip(radius, level, strict=True)]
    names = [f"{prefix}drum-{i + 1}" for i in range(drums)]
    if capital:
        outlines.append(polygon(sides, bottom / 2, height + capital / 2, x=x, turn=np.pi / sides))
        names.append(f"{prefix}echinus")
    parts = zip(pairwise(outlines), names, strict=True)
    stones = [loft(low, high, name=name, group=group, density=density) for (low, high), name in parts]
    if capital:
        low, high = (x - bottom / 2, -bottom / 2, height + capital / 2), (x + bottom / 2, bottom / 2, height + capital)
        stones.append(box(low, high, name=f"{prefix}abacus", group=group, density=density))
    return stones

"""A column: equal rectangular drums one over the other on a foundation."""

import numpy as np

from drystone.build.shapes import box, check_count, check_positive, slab
from drystone.model import Block
from drystone.units import Count, Density, Length


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
    blocks = [slab((-x, x), (-y, y), margin, density)]
    for i in range(courses):
        low, high = (-x, -y, level[i]), (x, y, level[i + 1])
        blocks.append(box(low, high, name=f"drum-{i + 1}", group="column", density=density))
    return blocks

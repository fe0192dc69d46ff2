"""A circular arch that springs from coursed buttresses on a foundation."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from drystone.base.errors import InputError
from drystone.base.units import Angle, Count, Density, Length
from drystone.build.arch import circular_joints, voussoirs
from drystone.build.shapes import box, check_count, check_positive, foundation_slab, prism
from drystone.structure.model import Block

Array = np.ndarray


def buttressed_arch(
    *,
    radius: Length = 4.0,
    thickness: Length = 0.6,
    embrace: Angle = 150 * np.pi / 180,
    blocks: Count = 11,
    depth: Length = 1.0,
    width: Length = 2.0,
    height: Length = 3.0,
    courses: Count = 6,
    density: Density = 2000.0,
    margin: Length | None = None,
) -> list[Block]:
    """An arch of mid-curve radius, thickness and depth (y) [m] over the angle `embrace`, pi at most [rad], on buttresses.

    width, height: of the buttresses, up to the lowest corner of the arch [m], in equal courses. The highest course of each
    is one stone, "springer-right" and "springer-left", whose top is the joint of the arch and a level shelf behind it;
    those below have two stones, "right-1-1" the inner one of the lowest, their joint at one and two thirds of the width
    in turn. "voussoir-1" is the rightmost. margin: of the slab "foundation" [m], by default the width.
    """
    margin = width if margin is None else margin
    check_positive("buttressed-arch", radius=radius, thickness=thickness, embrace=embrace, depth=depth, width=width,
                   height=height, density=density, margin=margin)  # fmt: skip
    check_count("buttressed-arch", 1, blocks=blocks, courses=courses)
    inner, outer = (at + [0.0, height] for at in circular_joints("buttressed-arch", radius, thickness, embrace, blocks))
    _check_buttress(embrace, width, inner[0], outer[0])
    y, level = (-depth / 2, depth / 2), np.linspace(0.0, height, courses + 1)
    near, far = inner[0, 0], inner[0, 0] + width
    stones = [foundation_slab((-far, far), y, margin, density)]
    for side, name in ((1, "right"), (-1, "left")):
        plans = [side * np.array([near, near + width * part, far]) for part in (1 / 3, 2 / 3)]
        stones += pier(plans, y, level[:-1], f"{name}-", "buttressed-arch", density)
        springer = _springer(inner[0], outer[0], far, level[-2])
        outline = springer if side > 0 else springer[::-1] * [-1, 1]
        stones.append(prism(outline, y, name=f"springer-{name}", group="buttressed-arch", density=density))
    return stones + voussoirs(inner, outer, y, "buttressed-arch", density)


def pier(plans: Sequence[Array], y: tuple[float, float], level: Array, prefix: str, group: str, density: float) -> list[Block]:
    """Courses of boxes between the levels [m]; the plans, used in turn, have the x of the joints of a course [m]."""
    stones = []
    for course, (low, high) in enumerate(pairwise(level)):
        for i, ends in enumerate(pairwise(plans[course % len(plans)])):
            name = f"{prefix}{course + 1}-{i + 1}"
            corners = (min(ends), y[0], low), (max(ends), y[1], high)
            stones.append(box(*corners, name=name, group=group, density=density))
    return stones


def _check_buttress(embrace: float, width: float, inner: Array, outer: Array) -> None:
    if embrace > np.pi:
        raise InputError(f'buttressed-arch: embrace is {embrace:g} rad; give pi at most (a semicircle), in rad or as "180 deg"')
    if width <= outer[0] - inner[0]:
        raise InputError(
            f"buttressed-arch: width {width:g} m leaves no shelf behind the arch, which needs "
            f"{outer[0] - inner[0]:g} m; give wider buttresses"
        )


def _springer(inner: Array, outer: Array, far: float, base: float) -> Array:
    """(4 or 5, 2) [m] the outline of the right springer, counter-clockwise: base, back, shelf, joint of the arch."""
    shelf = [(far, outer[1]), outer] if outer[1] > inner[1] + 1e-9 else [(far, inner[1])]
    return np.array([(inner[0], base), (far, base), *shelf, inner])

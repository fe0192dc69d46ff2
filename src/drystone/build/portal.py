"""Portals and colonnades: two piers under a lintel or an arch, and columns under architraves."""

from itertools import pairwise
from typing import Literal

import numpy as np

from drystone.base.errors import InputError
from drystone.base.units import Count, Density, Length
from drystone.build.arch import circular_joints, voussoirs
from drystone.build.buttressed import pier
from drystone.build.column import Shaft, check_shaft, raise_shaft
from drystone.build.shapes import box, check_count, check_positive, foundation_slab
from drystone.structure.model import Block


def portal(
    *,
    top: Literal["lintel", "arch"] = "lintel",
    span: Length = 2.0,
    height: Length = 2.4,
    width: Length = 0.8,
    depth: Length = 0.8,
    courses: Count = 6,
    thickness: Length = 0.4,
    blocks: Count = 9,
    density: Density = 2000.0,
    margin: Length | None = None,
) -> list[Block]:
    """Two piers of width (x), depth (y) and height [m] at a clear span [m], one stone per course, under a lintel or an arch.

    top: "lintel", one stone over both piers, as high as the thickness [m]; "arch", a semicircle of as many voussoirs as
    `blocks`, as thick, whose intrados springs from the inner edges of the piers. "right-1-1" is the lowest stone at +x,
    "voussoir-1" the rightmost. margin: of the slab "foundation" [m], by default the width.
    """
    margin = width if margin is None else margin
    check_positive("portal", span=span, height=height, width=width, depth=depth, thickness=thickness, density=density,
                   margin=margin)  # fmt: skip
    check_count("portal", 1, courses=courses)
    near, far, y = span / 2, span / 2 + width, (-depth / 2, depth / 2)
    stones = [foundation_slab((-far, far), y, margin, density)]
    for side, name in ((1, "right"), (-1, "left")):
        plan = side * np.array([near, far])
        stones += pier([plan], y, np.linspace(0.0, height, courses + 1), f"{name}-", "portal", density)
    if top == "lintel":
        low, high = (-far, y[0], height), (far, y[1], height + thickness)
        return [*stones, box(low, high, name="lintel", group="portal", density=density)]
    if top != "arch":
        raise InputError(f'portal: top is {top!r}; give "lintel" or "arch"')
    check_count("portal", 2, blocks=blocks)
    if thickness > width:
        raise InputError(f"portal: an arch {thickness:g} m thick is wider than its piers of {width:g} m; give a thinner arch")
    inner, outer = circular_joints("portal", near + thickness / 2, thickness, np.pi, blocks)
    up = np.array([0.0, height])
    return stones + voussoirs(inner + up, outer + up, y, "portal", density)


def pillar_and_lintel(
    *,
    columns: Count = 4,
    spacing: Length = 3.0,
    bottom: Length = 1.0,
    top: Length = 0.8,
    height: Length = 6.0,
    drums: Count = 6,
    sides: Count = 20,
    capital: Length = 0.5,
    architrave: Length = 0.7,
    density: Density = 2500.0,
    margin: Length | None = None,
) -> list[Block]:
    """A colonnade along x: columns as of `drum_column`, their axes at a spacing [m], under a row of architraves.

    architrave: its height [m]; it is as deep as the top of the shaft, its joints are over the axes of the columns and its
    ends half a bottom diameter beyond them. "column-1-drum-1" is the lowest drum of the leftmost column, "architrave-1"
    the leftmost stone above. margin: of the slab "foundation" [m], by default the bottom diameter.
    """
    shaft = Shaft(bottom, top, height, drums, sides, capital)
    check_shaft("pillar-and-lintel", shaft)
    margin = bottom if margin is None else margin
    check_positive("pillar-and-lintel", spacing=spacing, architrave=architrave, density=density, margin=margin)
    check_count("pillar-and-lintel", 2, columns=columns)
    if spacing <= bottom:
        raise InputError(f"pillar-and-lintel: columns {bottom:g} m wide do not fit a spacing of {spacing:g} m; give more")
    axis = spacing * (np.arange(columns) - (columns - 1) / 2)
    stones = [foundation_slab((axis[0] - bottom / 2, axis[-1] + bottom / 2), (-bottom / 2, bottom / 2), margin, density)]
    for i, x in enumerate(axis):
        stones += raise_shaft(shaft, float(x), f"column-{i + 1}-", "pillar-and-lintel", density)
    joints = np.concatenate([[axis[0] - bottom / 2], axis[1:-1], [axis[-1] + bottom / 2]])
    level = height + capital
    for i, (left, right) in enumerate(pairwise(joints)):
        low, high = (left, -top / 2, level), (right, top / 2, level + architrave)
        stones.append(box(low, high, name=f"architrave-{i + 1}", group="pillar-and-lintel", density=density))
    return stones

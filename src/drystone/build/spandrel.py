"""A round arch within a wall: voussoirs with a stepped extrados, spandrels in courses, a level top."""

import numpy as np

from drystone.base.errors import InputError
from drystone.base.units import Count, Density, Length
from drystone.build.courses import Opening, Wall, lay_walls, make_bond
from drystone.build.shapes import check_count, check_positive, foundation_slab
from drystone.structure.model import Block


def spandrel_arch(
    *,
    length: Length = 16.2,
    height: Length = 5.0,
    thickness: Length = 0.8,
    radius: Length = 3.8,
    ring: Length = 0.6,
    courses: Count = 13,
    blocks: Count = 20,
    density: Density = 2000.0,
    margin: Length = 0.8,
) -> list[Block]:
    """A wall of length (x), thickness (y) and height (z) [m] over a semicircle of the radius given, on "foundation".

    The arch springs from the foundation at x = -radius and radius; its joints are radial and its stones step up with the
    courses, at least `ring` thick (`ring.py` says why no stone is L-shaped). The courses are a running bond of stones of
    length / blocks. "block-voussoir-1-1" is the rightmost voussoir, "block-3-1" the leftmost stone of course 3.

    Length, height, thickness, radius and the count of 201 stones are those of Nodargi and Bisegna (2024, section 4.4);
    their drawing gives the rest, chosen here for that count: ring, courses and blocks. With friction 0.4 this one bears
    a horizontal pull of 0.307 g along x, theirs 0.284 g.
    """
    check_positive(
        "spandrel-arch", length=length, height=height, thickness=thickness, radius=radius, ring=ring, density=density
    )
    check_positive("spandrel-arch", margin=margin)
    check_count("spandrel-arch", 1, courses=courses, blocks=blocks)
    x, y = length / 2, thickness / 2
    if radius + ring >= x or radius + ring > height:
        raise InputError(f"spandrel-arch: radius {radius:g} m and ring {ring:g} m do not fit into a wall {length:g} m long and "
                         f"{height:g} m high; give a longer or higher wall")  # fmt: skip
    opening = Opening(x - radius, 0.0, 2 * radius, 0.0, "arch", ring)
    plan = Wall("block", (-x, -y), "x", length, thickness, height, openings=(opening,))
    levels = np.linspace(0.0, height, courses + 1)
    stones = lay_walls([plan], levels, make_bond("running", length / blocks), group="spandrel-arch", density=density)
    return [foundation_slab((-x, x), (-y, y), margin, density), *stones]

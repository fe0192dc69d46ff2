"""Generators: sizes come in, named blocks with their supports go out; one file a family.

Lengths in m, angles in rad, densities in kg/m3; the foundation is at z = 0.
"""

from collections.abc import Callable

from drystone.build.arch import arch
from drystone.build.block import block
from drystone.build.church import church
from drystone.build.column import column
from drystone.build.courses import Opening
from drystone.build.dome import dome
from drystone.build.gap import wall_over_gap
from drystone.build.house import house
from drystone.build.spandrel import spandrel_arch
from drystone.build.tower import tower
from drystone.build.wall import wall
from drystone.model import Block

GENERATORS: dict[str, Callable[..., list[Block]]] = {
    "block": block,
    "column": column,
    "wall": wall,
    "wall-over-gap": wall_over_gap,
    "arch": arch,
    "spandrel-arch": spandrel_arch,
    "tower": tower,
    "house": house,
    "church": church,
    "dome": dome,
}

__all__ = [
    "GENERATORS",
    "Opening",
    "arch",
    "block",
    "church",
    "column",
    "dome",
    "house",
    "spandrel_arch",
    "tower",
    "wall",
    "wall_over_gap",
]

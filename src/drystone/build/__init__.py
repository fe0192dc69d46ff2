"""Generators of structures: named blocks with their supports from a few sizes; one file per family.

Lengths are in m, angles in rad and densities in kg/m3; the top of the foundation is at z = 0.
"""

from collections.abc import Callable

from drystone.build.arch import arch
from drystone.build.block import block
from drystone.build.buttressed import buttressed_arch
from drystone.build.chip import chip
from drystone.build.church import church
from drystone.build.column import column, drum_column
from drystone.build.courses import Opening
from drystone.build.cylinder import corbelled_cylinder
from drystone.build.dome import dome
from drystone.build.gap import wall_over_gap
from drystone.build.house import house
from drystone.build.play import with_play
from drystone.build.portal import pillar_and_lintel, portal
from drystone.build.spandrel import spandrel_arch
from drystone.build.tower import tower
from drystone.build.vault import barrel_vault, cross_vault
from drystone.build.wall import wall
from drystone.structure.model import Block

GENERATORS: dict[str, Callable[..., list[Block]]] = {
    "block": block,
    "column": column,
    "drum-column": drum_column,
    "pillar-and-lintel": pillar_and_lintel,
    "portal": portal,
    "wall": wall,
    "wall-over-gap": wall_over_gap,
    "arch": arch,
    "spandrel-arch": spandrel_arch,
    "buttressed-arch": buttressed_arch,
    "barrel-vault": barrel_vault,
    "cross-vault": cross_vault,
    "dome": dome,
    "corbelled-cylinder": corbelled_cylinder,
    "tower": tower,
    "house": house,
    "church": church,
}

__all__ = [
    "GENERATORS",
    "Opening",
    "arch",
    "barrel_vault",
    "block",
    "buttressed_arch",
    "chip",
    "church",
    "column",
    "corbelled_cylinder",
    "cross_vault",
    "dome",
    "drum_column",
    "house",
    "pillar_and_lintel",
    "portal",
    "spandrel_arch",
    "tower",
    "wall",
    "wall_over_gap",
    "with_play",
]

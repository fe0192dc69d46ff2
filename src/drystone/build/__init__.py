"""Generators: sizes come in, named blocks with their supports go out; one file a family.

Lengths in m, angles in rad, densities in kg/m3; the foundation is at z = 0.
"""

from collections.abc import Callable

from drystone.build.arch import arch
from drystone.build.block import block
from drystone.build.buttressed import buttressed_arch
from drystone.build.chip import chip
from drystone.build.column import column, drum_column
from drystone.build.cylinder import corbelled_cylinder
from drystone.build.dome import dome
from drystone.build.portal import pillar_and_lintel, portal
from drystone.build.tower import tower
from drystone.build.vault import barrel_vault, cross_vault
from drystone.build.wall import wall
from drystone.model import Block

GENERATORS: dict[str, Callable[..., list[Block]]] = {
    "block": block,
    "column": column,
    "wall": wall,
    "arch": arch,
    "tower": tower,
    "dome": dome,
    "drum-column": drum_column,
    "barrel-vault": barrel_vault,
    "cross-vault": cross_vault,
    "corbelled-cylinder": corbelled_cylinder,
    "buttressed-arch": buttressed_arch,
    "portal": portal,
    "pillar-and-lintel": pillar_and_lintel,
}

__all__ = [
    "GENERATORS",
    "arch",
    "barrel_vault",
    "block",
    "buttressed_arch",
    "chip",
    "column",
    "corbelled_cylinder",
    "cross_vault",
    "dome",
    "drum_column",
    "pillar_and_lintel",
    "portal",
    "tower",
    "wall",
]

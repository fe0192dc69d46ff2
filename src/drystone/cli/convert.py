"""`drystone convert`: blocks from one file format to another."""

from pathlib import Path

from drystone.base.units import parse_quantity
from drystone.cli.geometry_options import geometry_options
from drystone.cli.output import print_json
from drystone.io.geometry.structure_file import read_structure, write_structure


def convert(
    source: Path, out: Path, unit: str | None, up: str | None, density: str | None, supports: list[str] | None,
    only: list[str] | None, depth: str | None, decompose: bool, json: bool,
) -> None:  # fmt: skip
    options = geometry_options(unit, up, supports, only, depth)
    options |= {} if density is None else {"density": parse_quantity(density, "density")}
    blocks = read_structure(source, decompose=decompose, **options)
    write_structure(out, blocks)
    summary = {"written": str(out), "blocks": len(blocks), "supports": sum(block.fixed for block in blocks)}
    print_json(summary) if json else print(f"{out}: {summary['blocks']} blocks, {summary['supports']} of them supports")

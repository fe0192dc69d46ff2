"""`drystone convert`: blocks of one format in another."""

from pathlib import Path

from drystone.cli.reading import reading
from drystone.cli.words import print_json
from drystone.io.geometry.structure import read_structure, write_structure
from drystone.units import quantity


def convert(
    source: Path, out: Path, unit: str | None, up: str | None, density: str | None, supports: list[str] | None,
    only: list[str] | None, depth: str | None, decompose: bool, json: bool,
) -> None:  # fmt: skip
    asked = reading(unit, up, supports, only, depth)
    asked |= {} if density is None else {"density": quantity(density, "density")}
    blocks = read_structure(source, decompose=decompose, **asked)
    write_structure(out, blocks)
    facts = {"written": str(out), "blocks": len(blocks), "supports": sum(block.fixed for block in blocks)}
    print_json(facts) if json else print(f"{out}: {facts['blocks']} blocks, {facts['supports']} of them supports")

"""Commands about structures: new, schema, check, convert."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drystone.cli.words import DONE, UNSOUND, Json, announce_compiling, app, print_json
from drystone.errors import InputError

if TYPE_CHECKING:
    from drystone.doctor.examine import Report
    from drystone.io.case import Case
    from drystone.model import Block

Unit = Annotated[str | None, typer.Option(help="of a geometry file: m, dm, cm, mm or km; its own if not given")]
Up = Annotated[str | None, typer.Option(help="axis of a geometry file that points up: x, y or z")]
Supports = Annotated[list[str] | None, typer.Option(help='"lowest", or a block or group; may be repeated')]
Only = Annotated[list[str] | None, typer.Option(help="take this block or group (layer) only; may be repeated")]
Depth = Annotated[str | None, typer.Option(help='of what is flat in a geometry file, as "0.5 m"')]


@app.command()
def new(
    generator: Annotated[str | None, typer.Argument(help="what to build; --list shows them")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List what can be built.")] = False,
    json: Json = False,
) -> None:
    """Print a commented case to start from."""
    from drystone.build import GENERATORS
    from drystone.io.starter import starter, summary

    if listed:
        lines = {name: summary(name) for name in GENERATORS}
        width = max(map(len, lines))
        print_json(lines) if json else print("\n".join(f"{name:<{width}}  {line}" for name, line in lines.items()))
        return
    if generator is None:
        raise InputError("name what to build, as in drystone new arch; drystone new --list shows all")
    text = starter(generator)
    print_json({"generator": generator, "case": text}) if json else print(text, end="")


@app.command()
def schema() -> None:
    """Print the JSON schema of the case file, for editors."""
    from drystone.io.schema import case_schema

    print_json(case_schema())


@app.command()
def check(
    source: Annotated[Path, typer.Argument(help="case (TOML), geometry file, or a folder of meshes")],
    fix: Annotated[Path | None, typer.Option(help="repair what is safe and write the blocks to this new file")] = None,
    within: Annotated[float | None, typer.Option(help="what nearly touches or is nearly flat, in sizes of a block")] = None,
    picture: Annotated[Path | None, typer.Option(help="draw the blocks with findings in colour (PNG)")] = None,
    unit: Unit = None,
    up: Up = None,
    supports: Supports = None,
    only: Only = None,
    depth: Depth = None,
    json: Json = False,
) -> int:
    """Say what a structure is and what is wrong with it; repair it."""
    from drystone.doctor.examine import NEAR, examine

    blocks, case = _structure(source, _reading(unit, up, supports, only, depth))
    announce_compiling()
    share = NEAR if within is None else within
    if not 0 <= share <= 0.1:
        raise InputError(f"--within {share}: give a share of a block's size from 0 to 0.1")
    report = examine(blocks, within=share)
    facts = report.facts | {"findings": report.listed()}
    if case is not None and not report.errors:
        from drystone.session import first_facts

        facts |= first_facts(case)
    if fix is not None:
        after, repairs = _repair(report, source, fix, share)
        facts |= {"fixed": str(fix), "repairs": repairs, "remaining": after.listed()}
        report = after
    if picture is not None:
        from drystone.view.defects import defects_picture

        defects_picture(report, picture)
        facts["picture"] = str(picture)
    if json:
        print_json(facts)
    else:
        from drystone.view.tables import print_check

        print_check(facts)
    return UNSOUND if report.errors else DONE


def _structure(source: Path, asked: dict[str, Any]) -> tuple[list["Block"], "Case | None"]:
    """The blocks of a geometry file, or of a case, and the case."""
    from drystone.io.case import read_case
    from drystone.io.geometry.structure import read_structure

    if source.suffix != ".toml":
        return read_structure(source, refuse=False, **asked), None
    if any(asked.values()):
        raise InputError(f"{source}: a case says itself how its files are read; give --unit and the like with a geometry file")
    case = read_case(source)
    return case.blocks(), case


def _repair(report: "Report", source: Path, out: Path, within: float) -> tuple["Report", list[dict[str, Any]]]:
    """The repaired blocks, written and examined again, and what was done."""
    from drystone.doctor.examine import examine
    from drystone.doctor.repair import repair
    from drystone.io.geometry.structure import write_structure

    if out.exists():
        raise InputError(f"--fix {out}: the file exists; a repair never replaces a file, give another name")
    blocks, done = repair(report.blocks, within=within)
    write_structure(out, blocks)
    return examine(blocks, within=within), [repair._asdict() for repair in done]


@app.command()
def convert(
    source: Annotated[Path, typer.Argument(help="geometry file, or a folder of meshes")],
    out: Annotated[Path, typer.Argument(help="file to write: json, compas.json, obj, stl, ply, off, 3dm or dxf")],
    unit: Unit = None,
    up: Up = None,
    density: Annotated[str | None, typer.Option(help='where the source has none, as "2200 kg/m3"')] = None,
    supports: Supports = None,
    only: Only = None,
    depth: Depth = None,
    decompose: Annotated[bool, typer.Option("--decompose", help="approximate what is not convex by convex pieces")] = False,
    json: Json = False,
) -> None:
    """Write blocks of one format in another, in m with z up."""
    from drystone.io.geometry.structure import read_structure, write_structure
    from drystone.units import quantity

    asked = _reading(unit, up, supports, only, depth)
    asked |= {} if density is None else {"density": quantity(density, "density")}
    blocks = read_structure(source, decompose=decompose, **asked)
    write_structure(out, blocks)
    facts = {"written": str(out), "blocks": len(blocks), "supports": sum(block.fixed for block in blocks)}
    print_json(facts) if json else print(f"{out}: {facts['blocks']} blocks, {facts['supports']} of them supports")


def _reading(unit: str | None, up: str | None, supports: list[str] | None, only: list[str] | None, depth: str | None) -> Any:
    """The keywords of `read_structure`."""
    from drystone.units import quantity

    chosen: str | list[str] = "lowest" if supports == ["lowest"] else supports or []
    thick = None if depth is None else quantity(depth, "length")
    return {"unit": unit, "up": up, "supports": chosen, "only": only or [], "depth": thick}

"""The command that writes runs for other programs: export."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drystone.cli.words import Json, app, print_json, say
from drystone.errors import InputError

if TYPE_CHECKING:
    from drystone.record import Run

TABLES = ("histories", "energies", "joints")
MOVING = ".vtkhdf, .glb, .csv or a folder of tables"


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="folder of a run")],
    out: Annotated[Path, typer.Option("--out", "-o", help="vtkhdf, glb, csv, a folder of csv; stl, obj ... of an instant")],
    every: Annotated[float | None, typer.Option(help="[s] take the frames nearest to every so many; all if not given")] = None,
    time: Annotated[float | None, typer.Option(help="[s] instant of a shape or of joints; the last if not given")] = None,
    blocks: Annotated[str | None, typer.Option(help="of histories: numbers, ranges, names, groups, as 12:14+keystone")] = None,
    table: Annotated[str | None, typer.Option(help="of a csv file: histories (if not given), energies or joints")] = None,
    tolerance: Annotated[float | None, typer.Option(help="[m] of a glb file: by which its motion may be off")] = None,
    json: Json = False,
) -> None:
    """Write a run for ParaView, Blender, spreadsheets or CAD, by the suffix of the file."""
    from drystone.record import read_run

    run = read_run(folder)
    given = {"every": every, "time": time, "blocks": blocks, "table": table, "tolerance": tolerance}
    asked = {name: value for name, value in given.items() if value is not None}
    facts = _written(run, out, asked)
    print_json(facts) if json else print("\n".join(facts["written"]))


def _written(run: "Run", out: Path, asked: dict[str, Any]) -> dict[str, Any]:
    """Write as the suffix says, and tell what was written."""
    from drystone.io.geometry.structure import WRITERS

    ways = {".vtkhdf": (_vtkhdf, {"every"}), ".glb": (_glb, {"every", "tolerance"}),
            ".csv": (_csv, {"every", "time", "blocks", "table"}), "": (_folder, {"every", "time", "blocks"})}  # fmt: skip
    suffix = out.suffix.lower()
    if suffix not in ways and suffix not in WRITERS:
        raise InputError(f"{out}: {suffix!r} is not a format of runs; give {MOVING}, or the shape as {', '.join(WRITERS)}")
    write, known = ways.get(suffix, (_shape, {"time"}))
    for name in asked:
        if name not in known:
            raise InputError(f"--{name} is not for {suffix or 'a folder of tables'}; leave it out")
    return {"run": str(run.folder)} | write(run, out, asked)


def _vtkhdf(run: "Run", out: Path, asked: dict[str, Any]) -> dict[str, Any]:
    from drystone.export.frames import frames_every
    from drystone.export.vtkhdf import largest_size, write_vtkhdf

    frames = frames_every(run, asked.get("every"))
    say(f"{len(frames)} of {run.frames} frames, {largest_size(run, frames) / 1e6:.3g} MB before they are compressed")
    return {"written": [str(path) for path in write_vtkhdf(run, out, _watched(frames))], "frames": len(frames)}


def _glb(run: "Run", out: Path, asked: dict[str, Any]) -> dict[str, Any]:
    from drystone.export.frames import frames_every
    from drystone.export.glb import default_tolerance, write_glb

    frames, tolerance = frames_every(run, asked.get("every")), asked.get("tolerance", default_tolerance(run))
    if not tolerance >= 0.0:
        raise InputError(f"--tolerance {tolerance}: give a length from 0 up, in m")
    keys = write_glb(run, out, frames, tolerance=tolerance)
    say(f"{len(frames)} of {run.frames} frames; {keys.kept} of {keys.recorded} keys keep every corner within {tolerance:.2g} m")
    return {"written": [str(out)], "frames": len(frames), "tolerance": tolerance, "keys": keys.kept}


def _csv(run: "Run", out: Path, asked: dict[str, Any]) -> dict[str, Any]:
    from drystone.export.tables import write_table

    table = asked.get("table", TABLES[0])
    if table not in TABLES:
        raise InputError(f"--table {table}: choose one of {', '.join(TABLES)}")
    write_table(out, _table(run, table, asked))
    return {"written": [str(out)], "table": table}


def _folder(run: "Run", out: Path, asked: dict[str, Any]) -> dict[str, Any]:
    from drystone.export.tables import write_table
    from drystone.io.whole import writing

    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    paths = [out / f"{table}.csv" for table in TABLES]
    for path in paths:
        write_table(path, _table(run, path.stem, asked))
    return {"written": [str(path) for path in paths]}


def _table(run: "Run", table: str, asked: dict[str, Any]) -> Iterable[Any]:
    from drystone.export import tables
    from drystone.export.frames import frame_at, frames_every
    from drystone.measure import chosen_blocks

    if table == "energies":
        return tables.energies(run)
    if table == "joints":
        return tables.joints(run, frame_at(run, asked.get("time")))
    blocks = chosen_blocks(run, asked["blocks"]) if "blocks" in asked else range(len(run.model.blocks))
    return tables.histories(run, blocks, _watched(frames_every(run, asked.get("every"))))


def _shape(run: "Run", out: Path, asked: dict[str, Any]) -> dict[str, Any]:
    from drystone.export.frames import frame_at
    from drystone.export.shape import shape
    from drystone.io.geometry.structure import write_structure

    frame = frame_at(run, asked.get("time"))
    write_structure(out, shape(run, frame))
    return {"written": [str(out)], "frame": frame, "time": float(run.time[frame])}


def _watched(frames: list[int]) -> Iterable[int]:
    """The frames, with a bar on standard error."""
    from rich.console import Console
    from rich.progress import track

    return track(frames, "frames", console=Console(stderr=True))

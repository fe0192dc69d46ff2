"""`drystone export`: a run for other programs."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from drystone.cli.words import print_json, say
from drystone.errors import InputError
from drystone.export import tables
from drystone.export.frames import frame_at, frames_every
from drystone.export.glb import default_tolerance, write_glb
from drystone.export.shape import shape
from drystone.export.vtkhdf import largest_size, write_vtkhdf
from drystone.io.geometry.structure import WRITERS, write_structure
from drystone.io.whole import writing
from drystone.measure import chosen_blocks
from drystone.record import Run, read_run

TABLES = ("histories", "energies", "joints")
MOVING = ".vtkhdf, .glb, .csv or a folder of tables"


def export(folder: Path, out: Path, json: bool, **options: Any) -> None:
    """`options`: every, time, blocks, table and tolerance; which of them may be given, the suffix of the file says."""
    asked = {name: value for name, value in options.items() if value is not None}
    facts = _written(read_run(folder), out, asked)
    print_json(facts) if json else print("\n".join(facts["written"]))


def _written(run: Run, out: Path, asked: dict[str, Any]) -> dict[str, Any]:
    """Write as the suffix says, and tell what was written."""
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


def _vtkhdf(run: Run, out: Path, asked: dict[str, Any]) -> dict[str, Any]:
    frames = frames_every(run, asked.get("every"))
    say(f"{len(frames)} of {run.frames} frames, {largest_size(run, frames) / 1e6:.3g} MB before they are compressed")
    return {"written": [str(path) for path in write_vtkhdf(run, out, _watched(frames))], "frames": len(frames)}


def _glb(run: Run, out: Path, asked: dict[str, Any]) -> dict[str, Any]:
    frames, tolerance = frames_every(run, asked.get("every")), asked.get("tolerance", default_tolerance(run))
    if not tolerance >= 0.0:
        raise InputError(f"--tolerance {tolerance}: give a length from 0 up, in m")
    keys = write_glb(run, out, frames, tolerance=tolerance)
    say(f"{len(frames)} of {run.frames} frames; {keys.kept} of {keys.recorded} keys keep every corner within {tolerance:.2g} m")
    return {"written": [str(out)], "frames": len(frames), "tolerance": tolerance, "keys": keys.kept}


def _csv(run: Run, out: Path, asked: dict[str, Any]) -> dict[str, Any]:
    table = asked.get("table", TABLES[0])
    if table not in TABLES:
        raise InputError(f"--table {table}: choose one of {', '.join(TABLES)}")
    tables.write_table(out, _table(run, table, asked))
    return {"written": [str(out)], "table": table}


def _folder(run: Run, out: Path, asked: dict[str, Any]) -> dict[str, Any]:
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    paths = [out / f"{table}.csv" for table in TABLES]
    for path in paths:
        tables.write_table(path, _table(run, path.stem, asked))
    return {"written": [str(path) for path in paths]}


def _table(run: Run, table: str, asked: dict[str, Any]) -> Iterable[Any]:
    if table == "energies":
        return tables.energies(run)
    if table == "joints":
        return tables.joints(run, frame_at(run, asked.get("time")))
    blocks = chosen_blocks(run, asked["blocks"]) if "blocks" in asked else range(len(run.model.blocks))
    return tables.histories(run, blocks, _watched(frames_every(run, asked.get("every"))))


def _shape(run: Run, out: Path, asked: dict[str, Any]) -> dict[str, Any]:
    frame = frame_at(run, asked.get("time"))
    write_structure(out, shape(run, frame))
    return {"written": [str(out)], "frame": frame, "time": float(run.time[frame])}


def _watched(frames: list[int]) -> Iterable[int]:
    """The frames, with a bar on standard error."""
    return track(frames, "frames", console=Console(stderr=True))

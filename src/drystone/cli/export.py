"""`drystone export`: write a run in the formats of other programs."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from drystone.base.errors import InputError
from drystone.base.files.atomic_write import report_write_errors
from drystone.cli.output import print_json, print_status
from drystone.io.geometry.structure_file import WRITERS, write_structure
from drystone.results.measures import select_blocks
from drystone.results.store.run_reader import Run, read_run
from drystone.show.export import csv_tables
from drystone.show.export.frames import frame_at, frames_every, shape
from drystone.show.export.glb import default_tolerance, write_glb
from drystone.show.export.vtkhdf import uncompressed_size, write_vtkhdf

TABLES = ("histories", "energies", "joints")
MOTION_FORMATS = ".vtkhdf, .glb, .csv or a folder of tables"


def export(folder: Path, out: Path, json: bool, **options: Any) -> None:
    """`options`: every, time, blocks, table and tolerance; the suffix of the file decides which of them are allowed."""
    options = {name: value for name, value in options.items() if value is not None}
    summary = _write_as_suffix_says(read_run(folder), out, options)
    print_json(summary) if json else print("\n".join(summary["written"]))


def _write_as_suffix_says(run: Run, out: Path, options: dict[str, Any]) -> dict[str, Any]:
    """Write the format that the suffix names; return a summary of what was written."""
    writers = {".vtkhdf": (_vtkhdf, {"every"}), ".glb": (_glb, {"every", "tolerance"}),
               ".csv": (_csv, {"every", "time", "blocks", "table"}), "": (_folder, {"every", "time", "blocks"})}  # fmt: skip
    suffix = out.suffix.lower()
    if suffix not in writers and suffix not in WRITERS:
        formats = f"{MOTION_FORMATS}, or one instant as {', '.join(WRITERS)}"
        raise InputError(f"{out}: runs cannot be written as {suffix!r}; give {formats}")
    write, allowed = writers.get(suffix, (_shape, {"time"}))
    for name in options:
        if name not in allowed:
            raise InputError(f"--{name} does not apply to {suffix or 'a folder of tables'}; leave it out")
    return {"run": str(run.folder)} | write(run, out, options)


def _vtkhdf(run: Run, out: Path, options: dict[str, Any]) -> dict[str, Any]:
    frames = frames_every(run, options.get("every"))
    print_status(f"{len(frames)} of {run.frames} frames, {uncompressed_size(run, frames) / 1e6:.3g} MB before compression")
    return {"written": [str(path) for path in write_vtkhdf(run, out, _with_progress_bar(frames))], "frames": len(frames)}


def _glb(run: Run, out: Path, options: dict[str, Any]) -> dict[str, Any]:
    frames, tolerance = frames_every(run, options.get("every")), options.get("tolerance", default_tolerance(run))
    if not tolerance >= 0.0:
        raise InputError(f"--tolerance {tolerance}: give a length in m that is not negative")
    keys = write_glb(run, out, frames, tolerance=tolerance)
    print_status(
        f"{len(frames)} of {run.frames} frames; {keys.kept} of {keys.recorded} animation keys keep every corner "
        f"within {tolerance:.2g} m"
    )
    return {"written": [str(out)], "frames": len(frames), "tolerance": tolerance, "keys": keys.kept}


def _csv(run: Run, out: Path, options: dict[str, Any]) -> dict[str, Any]:
    table = options.get("table", TABLES[0])
    if table not in TABLES:
        raise InputError(f"--table {table}: choose one of {', '.join(TABLES)}")
    csv_tables.write_table(out, _table(run, table, options))
    return {"written": [str(out)], "table": table}


def _folder(run: Run, out: Path, options: dict[str, Any]) -> dict[str, Any]:
    with report_write_errors(out):
        out.mkdir(parents=True, exist_ok=True)
    paths = [out / f"{table}.csv" for table in TABLES]
    for path in paths:
        csv_tables.write_table(path, _table(run, path.stem, options))
    return {"written": [str(path) for path in paths]}


def _table(run: Run, table: str, options: dict[str, Any]) -> Iterable[Any]:
    if table == "energies":
        return csv_tables.energy_rows(run)
    if table == "joints":
        return csv_tables.joint_rows(run, frame_at(run, options.get("time")))
    blocks = select_blocks(run, options["blocks"]) if "blocks" in options else range(len(run.model.blocks))
    return csv_tables.history_rows(run, blocks, _with_progress_bar(frames_every(run, options.get("every"))))


def _shape(run: Run, out: Path, options: dict[str, Any]) -> dict[str, Any]:
    frame = frame_at(run, options.get("time"))
    write_structure(out, shape(run, frame))
    return {"written": [str(out)], "frame": frame, "time": float(run.time[frame])}


def _with_progress_bar(frames: list[int]) -> Iterable[int]:
    """Iterate over the frames with a progress bar on standard error."""
    return track(frames, "frames", console=Console(stderr=True))

"""The origin of a run: its stamp and its stored input come in, the rows of a table go out."""

from datetime import UTC, datetime

from drystone import __version__
from drystone.results.store.run_reader import Run
from drystone.results.store.stamp import describe_inputs, format_stamp
from drystone.show.report.amounts import amount


def digests(run: Run) -> list[tuple[str, str]]:
    """SHA-256 of the case, of the blocks, and of the samples of each accelerogram, as stored in the run."""
    records = run.records
    kept = describe_inputs(run.case, run.model.blocks, records)
    samples = [(f"record of motion {number}, {records[int(number)].label}", digest)
               for number, digest in kept["records"].items()]  # fmt: skip
    return [("case text", kept["case"]), ("geometry", kept["geometry"]), *samples]


def computed_with(run: Run) -> list[tuple[str, str]]:
    """The rows on how the run was computed."""
    written, stamp = datetime.fromtimestamp((run.folder / "run.h5").stat().st_mtime, UTC), run.stamp
    return [
        ("run last written", f"{written:%Y-%m-%d %H:%M} UTC (time of run.h5)"),
        ("computed with", format_stamp(stamp)),
        ("report written by", f"drystone {__version__}"),
        *((f"SHA-256 of the {name}", digest) for name, digest in digests(run)),
        *((f"SHA-256 of {name}", digest or "file was missing") for name, digest in stamp.get("files", {}).items()),
        ("frames, steps", f"{amount(run.frames)}, {amount(len(run.steps['time']))}"),
    ]

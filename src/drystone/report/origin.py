"""Where a run comes from: digests of what it was computed from, when, and with what this report was written."""

import hashlib
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from drystone import __version__
from drystone.record import Run
from drystone.report.amounts import amount

LIBRARIES = ("numpy", "scipy", "numba", "clarabel", "h5py", "matplotlib")


def digests(run: Run) -> list[tuple[str, str]]:
    """SHA-256 of the case, of the blocks, and of the samples of each record, as the run has kept them."""
    found = [("case text", _sha256([run.case.encode()])), ("geometry", _geometry(run))]
    for number, record in run.records.items():
        samples = np.ascontiguousarray(record.acceleration, "<f8").tobytes()
        found.append((f"record of motion {number}, {record.label}", _sha256([samples, np.float64(record.time_step).tobytes()])))
    return found


def _geometry(run: Run) -> str:
    """Of vertices, faces, density and support of every block, in their order."""
    parts = []
    for block in run.model.blocks:
        parts.append(np.ascontiguousarray(block.vertices, "<f8").tobytes())
        parts.append(repr((block.faces, float(block.density), bool(block.fixed), block.name, block.group)).encode())
    return _sha256(parts)


def _sha256(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def computed_with(run: Run) -> list[tuple[str, str]]:
    """What is known of how the run was made."""
    written = datetime.fromtimestamp((run.folder / "run.h5").stat().st_mtime, UTC)
    return [
        ("run last written", f"{written:%Y-%m-%d %H:%M} UTC (time of run.h5)"),
        ("computed by", f"drystone {run.version}" if run.version else "a drystone that did not write its version"),
        ("report written by", f"drystone {__version__}"),
        ("libraries here", ", ".join(f"{name} {_version(name)}" for name in LIBRARIES)),
        ("Python, machine here", f"{platform.python_version()}, {platform.system()} {platform.machine()}"),
        *((f"SHA-256 of the {name}", digest) for name, digest in digests(run)),
        ("frames, steps", f"{amount(run.frames)}, {amount(len(run.steps['time']))}"),
    ]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"

"""The stamp of a result: the program, the machine and the input that it was computed with, as plain values for JSON.

created              when, UTC
drystone, sources    the version, and SHA-256 of the package's sources, as one of two copies of a version may be edited
python, libraries    versions of all libraries that influence the numbers
platform, processor  BLAS and NumPy choose their code by the processor, which may change the last bits of results
compiled_for         the processor that kernels are compiled for, the same for all machines of a kind
                     (base/kernel/target.py)
threads              cores this process may use; results have the same bits with any number (docs/decisions/0008)
case_file            the path of the case
case, geometry       SHA-256 of the text of the case and of the blocks
records              SHA-256 of the samples of accelerograms, by the number of the motion
files                SHA-256 of the files that the case names, by name
"""

import hashlib
import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import drystone
from drystone import __version__
from drystone.base.cores import available_cores
from drystone.ground.accelerogram import Accelerogram
from drystone.ground.motion import Motion
from drystone.io.case import case_content
from drystone.io.named_files import file_digests
from drystone.structure.model import Block

STAMPED_LIBRARIES = ("numpy", "scipy", "numba", "llvmlite", "clarabel", "h5py")


@cache
def _digest_sources() -> str:
    """SHA-256 of the package as it is on disk."""
    return digest_bytes(path.read_bytes() for path in sorted(Path(drystone.__file__).parent.rglob("*.py")))


def describe_environment() -> dict[str, Any]:
    """The part of a stamp that describes the program and the machine."""
    from llvmlite import binding  # loaded with Numba, which is not needed to read a stamp

    from drystone.base.kernel.target import target_processor

    return {
        "drystone": __version__,
        "sources": _digest_sources(),
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in STAMPED_LIBRARIES},
        "platform": f"{platform.system()} {platform.machine()}",
        "processor": binding.get_host_cpu_name(),  # as LLVM names it
        "compiled_for": target_processor() or binding.get_host_cpu_name(),
        "threads": available_cores(),
    }


def describe_inputs(case: str, blocks: Iterable[Block], records: dict[int, Accelerogram]) -> dict[str, Any]:
    """The part of a stamp that describes what a run stores: the text of its case, its blocks and its accelerograms."""
    return {
        "case": digest_bytes([case.encode()]),
        "geometry": _digest_geometry(blocks),
        "records": {str(number): _digest_samples(record) for number, record in records.items()},
    }


def make_stamp(case: str, path: Path | None, blocks: Iterable[Block], motions: Sequence[Motion] = ()) -> dict[str, Any]:
    """The stamp of a result that begins now. `path`: of the case file, which is in the folder of the files that it names, or
    None."""
    records = {number: motion.record for number, motion in enumerate(motions) if motion.record is not None}
    return {
        "created": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        **describe_environment(),
        **describe_inputs(case, blocks, records),
        "case_file": "" if path is None else str(path.resolve()),
        "files": {} if path is None else file_digests(case_content(case, path), path.parent),
    }


def format_stamp(stamp: dict[str, Any]) -> str:
    """The program and the machine in one line; for a run without a stamp, a note that it has none."""
    if not stamp:
        return "it has no stamp: an older version of drystone began it"
    libraries = ", ".join(f"{name} {number}" for name, number in stamp["libraries"].items())
    machine = f"{stamp['platform']}, {stamp['processor']}, {stamp['threads']} threads"
    return f"drystone {stamp['drystone']}, Python {stamp['python']}, {libraries}; {machine}; {stamp['created']}"


def _digest_geometry(blocks: Iterable[Block]) -> str:
    """SHA-256 of the vertices, faces, density, support, name and group of every block, in order."""
    parts = []
    for block in blocks:
        parts.append(np.ascontiguousarray(block.vertices, "<f8").tobytes())
        faces = tuple(tuple(map(int, face)) for face in block.faces)
        parts.append(repr((faces, float(block.density), bool(block.fixed), str(block.name), str(block.group))).encode())
    return digest_bytes(parts)


def _digest_samples(record: Accelerogram) -> str:
    return digest_bytes([np.ascontiguousarray(record.acceleration, "<f8").tobytes(), np.float64(record.time_step).tobytes()])


def digest_bytes(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()

"""Where a result comes from: what a case is computed from comes in, its stamp goes out, plain values that JSON can hold.

    created              when, UTC
    drystone, sources    the version, and SHA-256 of the package's sources: of two that call themselves 0.1.0 one may be edited
    python, libraries    versions of all that has a part in the numbers
    platform, processor  BLAS and NumPy choose their code by the processor, and the last bits may differ from one to the next
    compiled_for         the processor that kernels are compiled for, the same for all machines of a kind (kernel/target.py)
    threads              cores this process may use; results have the same bits with any number (docs/decisions/0008)
    case_file            where the case was
    case, geometry       SHA-256 of its text and of the blocks
    records              SHA-256 of the samples of motions that have such, by the number of the motion
    files                SHA-256 of the files the case names, by these names
"""

import hashlib
import os
import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from drystone import __version__
from drystone.ground.accelerogram import Accelerogram
from drystone.io.case import case_content
from drystone.io.named_files import file_digests
from drystone.model import Block
from drystone.motion import Motion

STAMPED_LIBRARIES = ("numpy", "scipy", "numba", "llvmlite", "clarabel", "h5py")


@cache
def _digest_sources() -> str:
    """SHA-256 of the package as it is on disk."""
    return digest_bytes(path.read_bytes() for path in sorted(Path(__file__).parent.rglob("*.py")))


def describe_environment() -> dict[str, Any]:
    """The part of a stamp that tells of program and machine."""
    from llvmlite import binding  # loaded with Numba, which whoever only reads a stamp does without

    from drystone.kernel.target import target_processor

    return {
        "drystone": __version__,
        "sources": _digest_sources(),
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in STAMPED_LIBRARIES},
        "platform": f"{platform.system()} {platform.machine()}",
        "processor": binding.get_host_cpu_name(),  # as LLVM names it
        "compiled_for": target_processor() or binding.get_host_cpu_name(),
        "threads": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
    }


def describe_inputs(case: str, blocks: Iterable[Block], records: dict[int, Accelerogram]) -> dict[str, Any]:
    """The part of a stamp that tells of what a run keeps: the text of its case, its blocks, its samples."""
    return {
        "case": digest_bytes([case.encode()]),
        "geometry": _digest_geometry(blocks),
        "records": {str(number): _digest_samples(record) for number, record in records.items()},
    }


def make_stamp(case: str, path: Path | None, blocks: Iterable[Block], motions: Sequence[Motion] = ()) -> dict[str, Any]:
    """Of a result that is begun now. `path`: of the case file, beside which are the files it names; None if it has none."""
    records = {number: motion.record for number, motion in enumerate(motions) if motion.record is not None}
    return {
        "created": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        **describe_environment(),
        **describe_inputs(case, blocks, records),
        "case_file": "" if path is None else str(path.resolve()),
        "files": {} if path is None else file_digests(case_content(case, path), path.parent),
    }


def format_stamp(stamp: dict[str, Any]) -> str:
    """Program and machine in a line; of a run without a stamp that it has none."""
    if not stamp:
        return "it has no stamp: an older drystone began it"
    libraries = ", ".join(f"{name} {number}" for name, number in stamp["libraries"].items())
    machine = f"{stamp['platform']}, {stamp['processor']}, {stamp['threads']} threads"
    return f"drystone {stamp['drystone']}, Python {stamp['python']}, {libraries}; {machine}; {stamp['created']}"


def _digest_geometry(blocks: Iterable[Block]) -> str:
    """Of vertices, faces, density and support of every block, in their order."""
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

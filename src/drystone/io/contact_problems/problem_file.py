"""Contact problems in files: those of other programs come in, our own go out as dumps and come back bit for bit.

A dump is a `.npz` with the arrays of a `Problem` (problem_a, problem_row_a ...) and a `Guess` (guess_velocity ...), and a text
`about` (JSON) that says where they come from. Nothing in it is pickled.
"""

import json
import os
import zipfile
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from drystone.base.errors import InputError
from drystone.base.files.atomic_write import replace_atomically
from drystone.base.files.reading import check_readable
from drystone.engine.solvers.problem import Problem
from drystone.engine.solvers.solution import Guess
from drystone.io.contact_problems.fclib import read_fclib
from drystone.io.contact_problems.foreign_problem import ForeignProblem
from drystone.io.contact_problems.siconos import read_siconos

Array = np.ndarray

SHAPES = {  # of C contacts, N bodies, D unknowns a body
    "problem_a": "C", "problem_b": "C", "problem_row_a": "C3D", "problem_row_b": "C3D", "problem_bias": "C3",
    "problem_friction": "C", "problem_dilatancy": "C", "problem_compliance": "C", "problem_memory": "C3", "problem_free": "ND",
    "problem_mass": "N", "problem_place": "N3", "problem_speed": "", "problem_total_mass": "",
    "guess_velocity": "ND", "guess_impulse": "C3", "guess_hardship": "",
}  # fmt: skip
WHOLE = ("problem_a", "problem_b", "guess_hardship")


class Dump(NamedTuple):
    """A contact problem of ours as it was met."""

    problem: Problem
    guess: Guess
    about: dict[str, Any]


def read_contact_problem(path: str | Path) -> ForeignProblem | Dump:
    """A dump, an FCLIB file or a siconos text file: told by how it begins, not by its name."""
    try:
        with check_readable(path).open("rb") as file:
            begin = file.read(4)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); give the file of a contact problem") from None
    if begin == b"\x89HDF":
        return read_fclib(path)
    return read_problem(path) if begin == b"PK\x03\x04" else read_siconos(path)


def write_problem(path: str | Path, problem: Problem, guess: Guess, about: dict[str, Any]) -> None:
    """Write a dump. It is there whole or not at all."""
    fields = {f"problem_{name}": value for name, value in problem._asdict().items()}
    fields |= {f"guess_{name}": value for name, value in guess._asdict().items()}
    with replace_atomically(Path(path)) as part, open(part, "wb") as file:
        np.savez(file, about=json.dumps(about), **fields)


def read_problem(path: str | Path) -> Dump:
    """The dump that `write_problem` wrote."""
    try:
        _check_lengths(path)
        with np.load(path, allow_pickle=False) as archive:
            fields = {name: archive[name] for name in SHAPES}
            about = json.loads(str(archive["about"]))
    except (OSError, ValueError, EOFError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        said = str(error).partition("\n")[0][:100]
        raise InputError(f"{path}: not a dump of drystone ({said}); give one, or an FCLIB or siconos file") from None
    _check(fields, str(path))
    values = {name: _value(field) for name, field in fields.items()}
    problem, guess = (
        {name.removeprefix(kind): value for name, value in values.items() if name.startswith(kind)}
        for kind in ("problem_", "guess_")
    )
    return Dump(Problem(**problem), Guess(**guess), about if isinstance(about, dict) else {})


def _value(field: Array) -> Any:
    return np.ascontiguousarray(field) if field.ndim else field.item()


def _check_lengths(path: str | Path) -> None:
    """Refuse an array that says to be longer than the file: NumPy would make room for it."""
    limit = os.path.getsize(path)
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            with archive.open(member) as file:
                np.lib.format.read_magic(file)
                shape, _, dtype = np.lib.format.read_array_header_1_0(file)
            if np.prod(shape, dtype=float) * dtype.itemsize > limit:
                raise ValueError(f"{member.filename} is said to be {shape}")


def _check(fields: dict[str, Array], path: str) -> None:
    sizes: dict[str, int] = {"3": 3}
    for name, letters in SHAPES.items():
        field, kind = fields[name], np.int64 if name in WHOLE else np.float64
        fits = field.ndim == len(letters) and field.dtype == kind
        if not (fits and all(sizes.setdefault(x, n) == n for x, n in zip(letters, field.shape, strict=True))):
            raise InputError(f"{path}: {name} has shape {field.shape} and type {field.dtype}; give a dump of drystone")
        if not np.isfinite(field).all():
            raise InputError(f"{path}: {name} has a value that is not finite; there is nothing to solve")
    for name in ("problem_a", "problem_b"):
        if not np.all((fields[name] >= -1) & (fields[name] < sizes["N"])):
            raise InputError(f"{path}: {name} names a body that is not there; give a dump of drystone")

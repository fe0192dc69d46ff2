"""Contact problems of the FCLIB collection: an HDF5 file comes in, a `ForeignProblem` goes out.

The group `fclib_local` has W, q and friction, `fclib_global` M, H, f, w and friction. A matrix has its sizes m x n, its storage
nz and three arrays: nz >= 0 triplets (rows i, columns p, values x), nz = -1 compressed columns (p where columns start, rows i),
nz = -2 compressed rows (p where rows start, columns i). Equalities (V, R; G) are not read, solutions and guesses not looked at.
"""

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import scipy.sparse as sp

from drystone.base.errors import InputError
from drystone.base.files.hdf5_check import reject_external_links
from drystone.io.contact_problems.foreign_problem import ForeignProblem, global_problem, local_problem

Array = np.ndarray

LONGEST = 2**24  # numbers in an array: one that is declared longer is not read


def read_fclib(path: str | Path) -> ForeignProblem:
    """The problem of an FCLIB file."""
    try:
        with h5py.File(path, "r") as file:
            reject_external_links(file, path, 2**62)  # sizes are looked at below, of what is read
            return _read(file, str(path))
    except InputError:
        raise
    except (OSError, RuntimeError, LookupError, ValueError, TypeError) as error:  # what h5py makes of damage
        raise InputError(f"{path}: cannot be read as HDF5 ({error}); is the file cut?") from None


def _read(file: Any, name: str) -> ForeignProblem:
    form = next((form for form in ("fclib_local", "fclib_global") if isinstance(file.get(form), h5py.Group)), None)
    if form is None:
        raise InputError(f"{name}: has {', '.join(file) or 'nothing'}; give a file with fclib_local or fclib_global")
    group = file[form]
    for key in ("V", "R", "G"):
        if key in group and 0 not in _matrix(group, key, name).shape:
            raise InputError(f"{name}: {form}/{key}: equalities are not read; leave them out, or solve for them first")
    dimension = _integer(group, "spacedim", name)
    friction = _numbers(group, "vectors/mu", name)
    if form == "fclib_local":
        return local_problem(name, dimension, _matrix(group, "W", name), _numbers(group, "vectors/q", name), friction)
    M, H = _matrix(group, "M", name), _matrix(group, "H", name)
    f, w = _numbers(group, "vectors/f", name), _numbers(group, "vectors/w", name)
    return global_problem(name, dimension, M, H, f, w, friction)


def _array(group: Any, key: str, name: str) -> Array:
    found = group.get(key)
    if not isinstance(found, h5py.Dataset) or found.dtype.kind not in "iuf":
        raise InputError(f"{name}: {group.name}/{key} is missing or not numbers; is it an FCLIB file?")
    if found.size > LONGEST:
        raise InputError(f"{name}: {group.name}/{key} has {found.size:,} values; at most {LONGEST:,} are read")
    return np.ravel(found[()])


def _numbers(group: Any, key: str, name: str) -> Array:
    return _array(group, key, name).astype(float)


def _integer(group: Any, key: str, name: str) -> int:
    values = _array(group, key, name)
    if len(values) != 1 or values.dtype.kind == "f":
        raise InputError(f"{name}: {group.name}/{key} is {values}; give one whole number")
    return int(values[0])


def _matrix(group: Any, key: str, name: str) -> sp.csc_matrix:
    inner = group.get(key)
    if not isinstance(inner, h5py.Group):
        raise InputError(f"{name}: {group.name}/{key} is missing; is it an FCLIB file?")
    m, n, nz = (_integer(inner, size, name) for size in ("m", "n", "nz"))
    where = f"{name}: {inner.name} ({m} x {n}, nz {nz})"
    if min(m, n) < 0 or max(m, n) > LONGEST or nz < -2:
        raise InputError(f"{where}: sizes from 0 to {LONGEST:,} and nz from -2 up are read")
    if m == 0 or n == 0:
        return sp.csc_matrix((m, n))
    p, i = (_array(inner, part, name).astype(np.int64) for part in "pi")
    x = _numbers(inner, "x", name)
    if nz >= 0:
        starts, count = p[:nz], nz
    else:
        count = int(p[-1]) if len(p) else -1
        if len(p) != (n if nz == -1 else m) + 1 or p[0] != 0 or np.any(np.diff(p) < 0):
            raise InputError(f"{where}: p does not count the entries of each column or row; correct it")
        starts = np.repeat(np.arange(len(p) - 1), np.diff(p)) if count <= len(i) else p
    if min(len(starts), len(i), len(x)) < count:
        raise InputError(f"{where}: {count} entries are due, p, i, x have {len(p)}, {len(i)}, {len(x)}; is the file cut?")
    rows, columns = (starts, i[:count]) if nz == -2 else (i[:count], starts)
    if not np.all((rows >= 0) & (rows < m) & (columns >= 0) & (columns < n)):
        raise InputError(f"{where}: has an entry outside; correct its indices")
    return sp.csc_matrix((x[:count], (rows, columns)), shape=(m, n))

"""Contact problems in the text format of siconos: a `.dat` file comes in, a `ForeignProblem` goes out.

The file is a row of numbers: dimension, number of contacts, W, q, friction (local form), or dimension, number of contacts, M,
H, f, w, friction (global form). A matrix is its storage, its two sizes and its entries:

    0 dense     the sizes again, all values down the columns
    1 blocks    a matrix of blocks, compressed by rows; sizes of blocks are told by where they end; values of a block down its
                columns, after its number
    2 sparse    1 triplets, 2 compressed columns, 3 compressed rows; then what CSparse prints

Old files end with one number more, a flag.
"""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from drystone.base.errors import InputError
from drystone.io.contact_problems.foreign_problem import ForeignProblem, global_problem, local_problem

Array = np.ndarray
Entries = tuple[Array, Array, Array]  # values, rows, columns


def read_siconos(path: str | Path) -> ForeignProblem:
    """The problem of a siconos `.dat` file."""
    words = _Words(Path(path))
    dimension, contacts = words.count("dimension"), words.count("number of contacts")
    matrix, size = _matrix(words, "the first matrix"), dimension * contacts
    rows = matrix.shape[0]
    problem: ForeignProblem
    if words.left >= rows + size + contacts + 4:  # room for another matrix and another vector
        directions = _matrix(words, "H")
        vectors = words.numbers(rows, "f"), words.numbers(size, "w"), words.numbers(contacts, "friction")
        problem = global_problem(str(path), dimension, matrix, directions, *vectors)
    else:
        if rows != size:
            said = f"W has {rows} rows, {contacts} contacts of dimension {dimension} need {size}"
            raise InputError(f"{path}: {said}; correct one of them")
        q, friction = words.numbers(size, "q"), words.numbers(contacts, "friction")
        problem = local_problem(str(path), dimension, matrix, q, friction)
    if words.left > 1:
        raise InputError(f"{path}: {words.left} values are left after friction; is it a contact problem?")
    return problem


class _Words:
    """The words of a file from the first to the last. What is asked for is known to be there before room is made for it."""

    def __init__(self, path: Path):
        self.path, self._at = path, 0
        try:
            self._words = path.read_text(encoding="ascii").split()
        except UnicodeDecodeError:
            raise InputError(f"{path}: neither text nor HDF5 nor a dump (.npz); give a contact problem") from None

    @property
    def left(self) -> int:
        return len(self._words) - self._at

    def take(self, count: int, what: str) -> list[str]:
        if not 0 <= count <= self.left:
            raise InputError(f"{self.path}: {what} needs {count} values, {self.left} are left; is the file cut?")
        self._at += count
        return self._words[self._at - count : self._at]

    def numbers(self, count: int, what: str) -> Array:
        return _numbers(self.take(count, what), f"{self.path}: {what}")

    def counts(self, count: int, what: str) -> Array:
        return _counts(self.take(count, what), f"{self.path}: {what}")

    def count(self, what: str) -> int:
        return int(self.counts(1, what)[0])


def _numbers(words: list[str] | Array, where: str) -> Array:
    try:
        return np.array(words, str).astype(float)
    except ValueError:
        raise InputError(f"{where}: {' '.join(words)[:60]!r} are not numbers; is it a contact problem?") from None


def _counts(words: list[str] | Array, where: str) -> Array:
    values = _numbers(words, where)
    if not np.all((values >= 0) & (values < 2**53) & (values == np.rint(values))):
        raise InputError(f"{where}: not a whole number from 0 up; is it a contact problem?")
    return values.astype(np.int64)


def _matrix(words: _Words, what: str) -> sp.csc_matrix:
    """A matrix in any storage. Its rows and columns have values in the vectors to come: larger sizes are wrong."""
    storage, (rows, columns) = words.count(f"storage of {what}"), words.counts(2, f"size of {what}").tolist()
    size = f"{words.path}: {what} is {rows} x {columns}"
    if max(rows, columns) > words.left:
        raise InputError(f"{size}, {words.left} values are left; is the file cut?")
    if storage == 0:
        again = words.counts(2, f"size of {what}").tolist()
        if again != [rows, columns]:
            raise InputError(f"{size}, then {again[0]} x {again[1]}; correct one of them")
        return sp.csc_matrix(words.numbers(rows * columns, what).reshape(columns, rows).T)
    if storage not in (1, 2):
        raise InputError(f"{words.path}: storage of {what} is {storage}; give 0 dense, 1 blocks or 2 sparse")
    values, i, j = _blocks(words, rows, columns, what) if storage == 1 else _sparse(words, columns, what)
    if not np.all((i < rows) & (j < columns)):
        raise InputError(f"{size} and has an entry outside; correct its indices")
    return sp.csc_matrix((values, (i, j)), shape=(rows, columns))


def _blocks(words: _Words, rows: int, columns: int, what: str) -> Entries:
    if words.count(f"blocks of {what}") == 0:
        return np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64)
    name = f"block index of {what}"
    counts = words.counts(2, name)
    ends = [np.concatenate([[0], words.counts(count, name)]) for count in counts]
    start, column = (words.counts(count, name) for count in words.counts(2, name))
    sizes = all(np.all(np.diff(edge) > 0) for edge in ends) and (ends[0][-1], ends[1][-1]) == (rows, columns)
    order = len(start) <= len(ends[0]) and np.all(np.diff(start) >= 0) and start[-1:].sum() <= len(column)
    if not (sizes and order and np.all(column < counts[1])):
        raise InputError(f"{words.path}: {name} does not fit a matrix of {rows} x {columns}; correct it")
    parts = []
    for row in range(len(start) - 1):
        i = np.arange(ends[0][row], ends[0][row + 1])
        for block in range(start[row], start[row + 1]):
            words.take(1, f"number of block {block} of {what}")
            j = np.arange(ends[1][column[block]], ends[1][column[block] + 1])
            values = words.numbers(len(i) * len(j), f"block {block} of {what}")
            parts.append((values, np.tile(i, len(j)), np.repeat(j, len(i))))
    values, i, j = (np.concatenate(part) for part in zip(*parts, strict=True))
    return values, i, j


def _sparse(words: _Words, columns: int, what: str) -> Entries:
    """The lines are "col 3 : locations 5 to 7" and then "row : value", or "row column : value" if triplets."""
    where = f"{words.path}: {what}"
    kind, word = words.count(f"kind of {what}"), ""
    while word != "nnz:":  # a line about CSparse, then the sizes again
        word = words.take(1, what)[0]
    entries = int(_counts([words.take(1, what)[0].rstrip(",")], where)[0])
    if kind == 1:
        lines = np.array(words.take(4 * entries, what), str).reshape(-1, 4)
        return _numbers(lines[:, 3], where), _counts(lines[:, 0], where), _counts(lines[:, 1], where)
    words.take(2, what)  # the 1-norm
    text = np.array(words.take(7 * columns + 3 * entries, what), str)
    head = np.flatnonzero(text == "col")
    lengths = np.diff(np.append(head, len(text))) - 7
    if len(head) != columns or np.any((lengths < 0) | (lengths % 3 != 0)):
        raise InputError(f"{where}: its lines are not those of {columns} columns; is it a contact problem?")
    lines = np.delete(text, head[:, None] + np.arange(7)).reshape(-1, 3)
    values, i, j = _numbers(lines[:, 2], where), _counts(lines[:, 0], where), np.repeat(np.arange(columns), lengths // 3)
    return (values, j, i) if kind == 3 else (values, i, j)

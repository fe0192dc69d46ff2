"""The table of a study on disk. Trials are appended one by one, so that they survive even a kill -9.

    study.toml, case.toml   the study file and the case as they were when the study was last started
    study.json              where these came from, whether the full set was requested, one stamp (results/store/stamp.py) per
                            start
    trials.jsonl            one line per trial, in the order they ended: key, sample, outcome; appended and synced to disk
    trials.csv, .parquet    the same as a table with units, written when the study ends or is interrupted
    result.json             the result of the study
    runs/KEY/               the runs that `keep` in [study] asks for

Only the process that runs the study writes. A row is used if its key is still the key of its sample. Rows of another case, of
changed files or of another version of drystone stay in the file, and their trials are computed again.
"""

import csv
import io
import json
import os
from collections.abc import Callable
from errno import ENOSPC
from pathlib import Path
from typing import Any, NamedTuple

from drystone.base.errors import InputError
from drystone.base.files.atomic_write import replace_atomically, report_write_errors, write_atomic
from drystone.base.files.reading import parse_json
from drystone.base.signals import defer_signals
from drystone.study.trial_records import COLLAPSED, FAILED, STANDING, Outcome, Sample, Trials

TRIALS_FILE, RESULT_FILE = "trials.jsonl", "result.json"
COLUMN_UNITS = {  # of the numbers, by the first word of their name; all others have no unit
    "time": "s", "collapse_time": "s", "peak_displacement": "m", "residual_displacement": "m", "peak_tilt": "rad",
    "angle": "rad", "direction": "rad",
}  # fmt: skip


class TrialRow(NamedTuple):
    """A trial as it is stored."""

    key: str
    sample: Sample
    outcome: Outcome


class TrialTable:
    """The rows of a study's folder that are still valid; `add` appends one."""

    def __init__(self, folder: Path, key_of: Callable[[Sample], str], *, retry: bool = False):
        """retry: ignore the rows of failed trials, so that they are computed again."""
        self.folder, self.key_of = folder, key_of
        self.trials = Trials()
        self.torn, self.others = False, 0  # whether the last line was incomplete; how many rows are not used
        path = folder / TRIALS_FILE
        with report_write_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        if path.exists():
            self._mend(path)
        for row in read_rows(folder):
            if row.key == key_of(row.sample) and not (retry and row.outcome.status == FAILED):
                self.trials.add(row.sample, row.outcome)
            else:
                self.others += 1
        with report_write_errors(path):
            self._file = path.open("ab", buffering=0)

    def _mend(self, path: Path) -> None:
        """Remove an incomplete last line, which a killed process may have left."""
        content = path.read_bytes()
        end = content.rfind(b"\n") + 1
        if end < len(content):
            self.torn = True
            os.truncate(path, end)

    def add(self, sample: Sample, outcome: Outcome) -> TrialRow:
        """Store a trial; it is on disk when this returns."""
        row = TrialRow(self.key_of(sample), sample, outcome)
        line = {"key": row.key, "sample": dict(sample), **outcome._asdict()}
        with defer_signals(), report_write_errors(self.folder / TRIALS_FILE):
            self._write(json.dumps(line, allow_nan=False).encode() + b"\n")
            self.trials.add(sample, outcome)
        return row

    def _write(self, line: bytes) -> None:
        if self._file.write(line) < len(line):  # the disk is full; whoever opens the table next removes the incomplete line
            raise OSError(ENOSPC, os.strerror(ENOSPC))
        os.fsync(self._file.fileno())

    def rows(self) -> list[TrialRow]:
        """The rows that are used."""
        return [TrialRow(self.key_of(sample), sample, outcome) for sample, outcome in self.trials.rows()]

    def counts(self) -> dict[str, int]:
        """The number of trials, in total and by status."""
        statuses = [outcome.status for _, outcome in self.trials.rows()]
        return {"all": len(statuses)} | {status: statuses.count(status) for status in (STANDING, COLLAPSED, FAILED)}

    def close(self) -> None:
        """Close the file and write trials.csv and trials.parquet."""
        self._file.close()
        columns = self._columns()
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        write_atomic(self.folder / "trials.csv", text.getvalue())
        _write_parquet(self.folder / "trials.parquet", columns)

    def _columns(self) -> dict[str, list[Any]]:
        """The columns by name and unit: changed values, outcome, measured numbers."""
        rows = self.trials.rows()
        changed = dict.fromkeys(key for sample, _ in rows for key in sample)
        measured = dict.fromkeys(name for _, outcome in rows for name in outcome.numbers)
        return {
            **{key: [sample.get(key) for sample, _ in rows] for key in changed},
            "status": [outcome.status for _, outcome in rows],
            "reason": [outcome.reason for _, outcome in rows],
            **{column_name(name): [outcome.numbers.get(name) for _, outcome in rows] for name in measured},
            "seconds [s]": [outcome.seconds for _, outcome in rows],
            "key": [self.key_of(sample) for sample, _ in rows],
        }


def read_rows(folder: Path) -> list[TrialRow]:
    """All rows of a study's folder, including those that are no longer used."""
    path = folder / TRIALS_FILE
    lines = path.read_bytes().splitlines() if path.exists() else []
    return [_row(line, path, number) for number, line in enumerate(lines, 1)]


def read_row(folder: Path, key: str) -> TrialRow:
    """The row whose key is, or begins with, `key`."""
    matches = {row.key: row for row in read_rows(folder) if row.key.startswith(key)}
    if len(matches) != 1:
        count_text = "no trial has" if not matches else f"{len(matches)} trials have"
        raise InputError(f"{folder}: {count_text} a key that begins with {key!r}; take one from trials.csv")
    return next(iter(matches.values()))


def _row(line: bytes, path: Path, number: int) -> TrialRow:
    try:
        fields = parse_json(line)
        row = TrialRow(fields.pop("key"), fields.pop("sample"), Outcome(**fields))
        if not (isinstance(row.key, str) and isinstance(row.sample, dict) and isinstance(row.outcome.numbers, dict)):
            raise TypeError("a part of the row is of another kind")
        return row
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(
            f"{path}, line {number}: is no row of a study; remove the line, and its trial is computed again"
        ) from None


def column_name(name: str) -> str:
    """The name of a number with its unit."""
    unit = COLUMN_UNITS.get(name.split()[0])
    return f"{name} [{unit}]" if unit else name


def _write_parquet(path: Path, columns: dict[str, list[Any]]) -> None:
    """Write the table if pyarrow is installed. A column that has numbers in some rows and texts in others becomes texts."""
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        return
    plain = {name: _same_type(values) for name, values in columns.items()}
    with replace_atomically(path) as part:
        parquet.write_table(arrow.table(plain), part)


def _same_type(values: list[Any]) -> list[Any]:
    present = [value for value in values if value is not None]
    if all(isinstance(value, bool | int | float) for value in present):
        return [None if value is None else float(value) for value in values]
    return [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]

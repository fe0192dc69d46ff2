"""The table of a study on disk: trials come in one by one, `Trials` go out, also of a study that was cut by kill -9.

    study.toml, case.toml   as they were when the study was last begun
    study.json              where these came from, whether the full set was asked for, a stamp (stamp.py) a sitting
    trials.jsonl            a line a trial, in the order they ended: key, sample, outcome; appended and synced to disk
    trials.csv, .parquet    the same as a table with units, made when the study ends or is interrupted
    result.json             what the study found
    runs/KEY/               recorded runs, of [study] keep

Only the process that runs the study writes. A row counts if its key is that of its sample now: rows of another case, of changed
files or of another drystone stay in the file and are computed anew.
"""

import csv
import io
import json
import os
from collections.abc import Callable
from errno import ENOSPC
from pathlib import Path
from typing import Any, NamedTuple

from drystone.errors import InputError
from drystone.io.given import parse_json
from drystone.io.whole import whole, write_whole, writing
from drystone.study.trials import COLLAPSED, FAILED, STANDING, Outcome, Sample, Trials
from drystone.undisturbed import undisturbed

TRIALS_FILE, RESULT_FILE = "trials.jsonl", "result.json"
COLUMN_UNITS = {  # of numbers, by the first word of their name; those not here have none
    "time": "s", "collapse_time": "s", "peak_displacement": "m", "residual_displacement": "m", "peak_tilt": "rad",
    "angle": "rad", "direction": "rad",
}  # fmt: skip


class TrialRow(NamedTuple):
    """A trial as it is kept."""

    key: str
    sample: Sample
    outcome: Outcome


class TrialTable:
    """The rows of a folder that count; `add` appends one."""

    def __init__(self, folder: Path, key_of: Callable[[Sample], str], *, retry: bool = False):
        """retry: rows of failed trials do not count."""
        self.folder, self.key_of = folder, key_of
        self.trials = Trials()
        self.torn, self.others = False, 0  # whether a line was cut in writing; rows that do not count
        path = folder / TRIALS_FILE
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        if path.exists():
            self._mend(path)
        for row in read_rows(folder):
            if row.key == key_of(row.sample) and not (retry and row.outcome.status == FAILED):
                self.trials.add(row.sample, row.outcome)
            else:
                self.others += 1
        with writing(path):
            self._file = path.open("ab", buffering=0)

    def _mend(self, path: Path) -> None:
        """What a kill left of the last line is taken away."""
        content = path.read_bytes()
        end = content.rfind(b"\n") + 1
        if end < len(content):
            self.torn = True
            os.truncate(path, end)

    def add(self, sample: Sample, outcome: Outcome) -> TrialRow:
        """Keep a trial: on disk when this returns."""
        row = TrialRow(self.key_of(sample), sample, outcome)
        line = {"key": row.key, "sample": dict(sample), **outcome._asdict()}
        with undisturbed(), writing(self.folder / TRIALS_FILE):
            self._write(json.dumps(line, allow_nan=False).encode() + b"\n")
            self.trials.add(sample, outcome)
        return row

    def _write(self, line: bytes) -> None:
        if self._file.write(line) < len(line):  # what a disk takes before it is full; the next to open the table mends it
            raise OSError(ENOSPC, os.strerror(ENOSPC))
        os.fsync(self._file.fileno())

    def rows(self) -> list[TrialRow]:
        """Those that count."""
        return [TrialRow(self.key_of(sample), sample, outcome) for sample, outcome in self.trials.rows()]

    def counts(self) -> dict[str, int]:
        """How many trials there are, in all and by status."""
        statuses = [outcome.status for _, outcome in self.trials.rows()]
        return {"all": len(statuses)} | {status: statuses.count(status) for status in (STANDING, COLLAPSED, FAILED)}

    def close(self) -> None:
        """Write the rows as tables."""
        self._file.close()
        columns = self._columns()
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        write_whole(self.folder / "trials.csv", text.getvalue())
        _write_parquet(self.folder / "trials.parquet", columns)

    def _columns(self) -> dict[str, list[Any]]:
        """By name and unit: what was changed, what came of it, what was measured."""
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
    """All rows of a study's folder, whether they count now or not."""
    path = folder / TRIALS_FILE
    lines = path.read_bytes().splitlines() if path.exists() else []
    return [_row(line, path, number) for number, line in enumerate(lines, 1)]


def read_row(folder: Path, key: str) -> TrialRow:
    """The row of a key, or of the beginning of one."""
    matches = {row.key: row for row in read_rows(folder) if row.key.startswith(key)}
    if len(matches) != 1:
        said = "no trial has" if not matches else f"{len(matches)} trials have"
        raise InputError(f"{folder}: {said} a key that begins with {key!r}; take one from trials.csv")
    return next(iter(matches.values()))


def _row(line: bytes, path: Path, number: int) -> TrialRow:
    try:
        kept = parse_json(line)
        row = TrialRow(kept.pop("key"), kept.pop("sample"), Outcome(**kept))
        if not (isinstance(row.key, str) and isinstance(row.sample, dict) and isinstance(row.outcome.numbers, dict)):
            raise TypeError("a part of the row is of another kind")
        return row
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(f"{path}, line {number}: is no row of a study; remove the line, its trial is computed anew") from None


def column_name(name: str) -> str:
    """The name of a number with its unit."""
    unit = COLUMN_UNITS.get(name.split()[0])
    return f"{name} [{unit}]" if unit else name


def _write_parquet(path: Path, columns: dict[str, list[Any]]) -> None:
    """If pyarrow is there. Values of the case that are numbers in some rows and texts in others are texts."""
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        return
    plain = {name: _same_type(values) for name, values in columns.items()}
    with whole(path) as part:
        parquet.write_table(arrow.table(plain), part)


def _same_type(values: list[Any]) -> list[Any]:
    present = [value for value in values if value is not None]
    if all(isinstance(value, bool | int | float) for value in present):
        return [None if value is None else float(value) for value in values]
    return [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]

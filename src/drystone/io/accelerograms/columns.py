"""Columns of numbers: one or several components come in, one `Accelerogram` a column goes out.

Columns are parted by blanks, tabs, commas or semicolons. Lines of text may stand above; the last may name the columns, with
their unit in brackets: "time [s], x [m/s2]". Several columns begin with the time, whose step must be even. Without a time the
step must be stated, and of several columns which one.
"""

import re

import numpy as np

from drystone.ground.accelerogram import Accelerogram
from drystone.io.accelerograms.sheet import WIDE, Sheet, factor
from drystone.units import UNITS

Array = np.ndarray

BRACKET = re.compile(r"[(\[]([^)\]]*)[)\]]")


def is_columns(sheet: Sheet) -> bool:
    """Whether there is a line that begins with a number."""
    return _first_row(sheet) is not None


def read_columns(sheet: Sheet, column: int | None) -> list[Accelerogram]:
    """The components of a file of columns; `column`: the one to take, counted from 1."""
    first = _first_row(sheet) or 0
    names, units = _heading(sheet, first)
    sheet = sheet._replace(lines=[_parted(line) for line in sheet.lines])
    count = len(sheet.floats(first))
    values = sheet.table(first, count)
    if count > len(values):
        raise sheet.refusal(first, f"{count} values in a line, and {len(values)} lines; give a line for each sample")
    timed = count > 1 and (sheet.time_step is None or bool(np.all(np.diff(values[:, 0]) > 0)))
    if not timed and sheet.time_step is None:
        raise sheet.refusal(first, "one column, without a time step; state it (--time-step 0.01)")
    if len(names) != count:
        names, units = [""] * count, [_only_unit(units)] * count
    time_unit = UNITS["time"].get(units[0] or "s", 1.0)  # [s]
    rows = [line for line in range(first, len(sheet.lines)) if sheet.lines[line].strip()]
    if timed:
        time_step = sheet.even_step(time_unit * values[:, 0], time_unit * _rounding(sheet.lines[rows[-1]]), rows)
    else:
        time_step = sheet.time_step or 0.0
    taken = _taken(sheet, first, column, timed, count)
    if not any(names) and count > 2:
        names = [f"column {c + 1}" for c in range(count)]
    return [sheet.accelerogram(first, names[c], time_step, values[:, c], units[c], {"format": "columns"}) for c in taken]


def _first_row(sheet: Sheet) -> int | None:
    for line, text in enumerate(sheet.lines):
        word = (re.split(r"[\s,;]", text.strip(), maxsplit=1))[0]
        if re.match(r"[-+]?\.?\d|[-+]?(?:nan|inf)\b", word, re.IGNORECASE):
            return line
    return None


def _parted(line: str) -> str:
    """Blanks between the columns, points in the numbers: beside semicolons, commas are decimal."""
    if ";" in line:
        return line.replace(",", ".").replace(";", " ")
    return line.replace(",", " ")


def _heading(sheet: Sheet, first: int) -> tuple[list[str], list[str | None]]:
    """Names and units of the columns, as far as the lines above the numbers say them."""
    above = [line[:WIDE].strip().lstrip("#%!*/ ") for line in sheet.lines[:first] if line.strip()]
    words = re.split(r"\s*[,;\t]\s*|\s{2,}", above[-1]) if above else []
    if len(words) > 1:
        units = [BRACKET.search(word) for word in words]
        return [BRACKET.sub("", word).strip() for word in words], [unit and unit[1].strip() for unit in units]
    return [], [unit.strip() for line in above for unit in BRACKET.findall(line)]


def _only_unit(units: list[str | None]) -> str | None:
    """The unit of acceleration among what is in brackets, if there is exactly one."""
    known = {unit for unit in units if unit is not None and factor(unit) is not None}
    return known.pop() if len(known) == 1 else None


def _taken(sheet: Sheet, first: int, column: int | None, timed: bool, count: int) -> list[int]:
    """The columns to read."""
    if column is None:
        if not timed and count > 1:
            raise sheet.refusal(first, f"{count} columns, the first of which is no time; state which to take (--column 1)")
        return list(range(1 if timed else 0, count))
    lowest = 2 if timed else 1
    if not lowest <= column <= count:
        with_time = ", the first of which is the time" if timed else ""
        raise sheet.refusal(first, f"column {column} is asked for among {count}{with_time}; give {lowest} to {count}")
    return [column - 1]


def _rounding(line: str) -> float:
    """[s] half of the last digit of the time that a line begins with."""
    time = re.match(r"\s*[-+]?\d*\.?(\d*)(?:[ed]([-+]?\d+))?", line, re.IGNORECASE)
    return 0.5 * 10.0 ** (float(time[2] or 0) - len(time[1])) if time else 0.0

"""Reads columns of numbers, one `Accelerogram` per column.

Columns are separated by blanks, tabs, commas or semicolons. Lines of text may precede them; the last one may name the columns,
with their units in brackets: "time [s], x [m/s2]". If there are several columns, the first is the time, whose step must be
even. Without times the user must state the time step and, of several columns, which one to read.
"""

import re

import numpy as np

from drystone.base.units import UNITS
from drystone.ground.accelerogram import Accelerogram
from drystone.ground.formats.text_reader import HEADER_LINES, HEADER_WIDTH, Sheet, acceleration_factor

Array = np.ndarray

BRACKETED = re.compile(r"[(\[][^)\]]*[)\]]")
# a column may be in, besides accelerations
OTHER_UNITS = {unit for kind in ("time", "length", "velocity") for unit in UNITS[kind]}


def is_columns(sheet: Sheet) -> bool:
    """Whether one of the first lines begins with a number."""
    return _first_row(sheet) is not None


def read_columns(sheet: Sheet, column: int | None) -> list[Accelerogram]:
    """The components of a file of columns; `column`: the one to take, counted from 1."""
    first = _first_row(sheet) or 0
    names, units = _heading(sheet, first)
    sheet = sheet._replace(lines=[_separate_columns(line) for line in sheet.lines])
    count = len(sheet.read_line(first))
    values = sheet.read_table(first, count)
    if count > len(values):
        raise sheet.to_error(first, f"{count} values per line, and {len(values)} lines; give one line per sample")
    if len(names) != count:
        names = ["" if count <= 2 else f"column {c + 1}" for c in range(count)]
        units = [_only_unit(units)] * count
    timed = count > 1 and (sheet.time_step is None or bool(np.all(np.diff(values[:, 0]) > 0)))
    if timed:
        time_step = _step(sheet, first, values[:, 0], UNITS["time"].get(units[0] or "s", 1.0))
    elif sheet.time_step is not None:
        time_step = sheet.time_step
    else:
        raise sheet.to_error(first, "one column, without a time step; state it (--time-step 0.01)")
    taken = _choose_columns(sheet, first, column, timed, count)
    return [sheet.make_accelerogram(first, names[c], time_step, values[:, c], units[c], {"format": "columns"}) for c in taken]


def _first_row(sheet: Sheet) -> int | None:
    number = re.compile(r"\s*[-+]?(?:\.?\d|nan\b|inf\b)", re.IGNORECASE)
    return next((line for line, text in enumerate(sheet.lines[:HEADER_LINES]) if number.match(text)), None)


def _separate_columns(line: str) -> str:
    """Separate the columns by blanks; if there are semicolons, commas are decimal points."""
    if ";" in line:
        return line.replace(",", ".").replace(";", " ")
    return line.replace(",", " ")


def _heading(sheet: Sheet, first: int) -> tuple[list[str], list[str | None]]:
    """The names and units of the columns, as far as the lines above the numbers state them."""
    above = [line[:HEADER_WIDTH].strip().lstrip("#%!*/ ") for line in sheet.lines[:first] if line.strip()]
    words = re.split(r"\s*[,;\t]\s*|\s{2,}", above[-1]) if above else []
    if len(words) > 1:
        return [BRACKETED.sub("", word).strip() for word in words], [_unit(word) for word in words]
    return [], [_unit(found) for line in above for found in BRACKETED.findall(line)]


def _unit(text: str) -> str | None:
    """The unit in brackets in a text; None if the brackets contain something else, as in "x (EW)"."""
    match = BRACKETED.search(text)
    unit = match[0][1:-1].strip() if match else ""
    return unit if unit in OTHER_UNITS or acceleration_factor(unit) is not None else None


def _only_unit(units: list[str | None]) -> str | None:
    """The unit of acceleration among the units, if there is exactly one."""
    known = {unit for unit in units if unit is not None and acceleration_factor(unit) is not None}
    return known.pop() if len(known) == 1 else None


def _choose_columns(sheet: Sheet, first: int, column: int | None, timed: bool, count: int) -> list[int]:
    """The columns to read."""
    if column is None:
        if not timed and count > 1:
            raise sheet.to_error(
                first, f"{count} columns, the first of which is not the time; state which one to read (--column 1)"
            )
        return list(range(1 if timed else 0, count))
    lowest = 2 if timed else 1
    if not lowest <= column <= count:
        with_time = ", the first of which is the time" if timed else ""
        raise sheet.to_error(first, f"there is no column {column} among {count}{with_time}; give {lowest} to {count}")
    return [column - 1]


def _step(sheet: Sheet, first: int, time: Array, unit: float) -> float:
    """[s] the step of the times, which are in the unit [s] of their column and rounded to half of their last digit."""
    rows = [line for line in range(first, len(sheet.lines)) if sheet.lines[line].strip()]
    last = re.match(r"\s*[-+]?\d*\.?(\d*)(?:[ed]([-+]?\d+))?", sheet.lines[rows[-1]], re.IGNORECASE)
    rounding = 0.5 * 10.0 ** (float(last[2] or 0) - len(last[1])) if last else 0.0
    return sheet.require_even_step(unit * time, unit * rounding, rows)

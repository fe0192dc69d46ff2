"""What every reader of text gets and how it ends: the lines of a file come in, `Accelerogram`s in m/s2 go out.

Numbers are read line by line, so that what is wrong is named with its line. Values may stick together (1.234-5.678E-02), as
they do in columns of a fixed width. The unit is the one the file states or the user states, never a guess.
"""

import math
import re
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from drystone.errors import InputError
from drystone.ground.accelerogram import Accelerogram
from drystone.units import UNITS

Array = np.ndarray

MAX_LINE_CHARACTERS = 1_000_000  # [characters] of a line; a file with a longer one is no table of numbers
MAX_VALUE = 1e9  # of a number in a header, [m/s2] of a sample
MIN_TIME_STEP = 1e-9  # [s] between samples
STEP_TOLERANCE = 0.01  # of the time step: how far a time may be from its place
ACCELERATION_UNITS = UNITS["acceleration"] | {"nm/s2": 1e-9}  # [m/s2] the last is SAC's
COUNT_UNIT = re.compile(r"(\d+\.?\d*)\(([^)]+)\)/(-?\d+\.?\d*)")  # a unit of counts: 3920(gal)/6182761
HEADER_LINES, HEADER_WIDTH = 200, 400  # [lines, characters] within which a header is looked for


class Sheet(NamedTuple):
    """The lines of a file, and what the user states about it. Lines count from 0 here and from 1 in messages."""

    path: Path
    lines: list[str]
    unit: str | None = None  # of the values
    time_step: float | None = None  # [s]

    def to_error(self, line: int | None, message: str) -> InputError:
        """What to raise about a line; None: a file that has no lines."""
        return InputError(f"{self.path}: {message}" if line is None else f"{self.path}, line {line + 1}: {message}")

    def header_field(self, pattern: str, start: int = 0, stop: int | None = None) -> str:
        """What the header says: the group of the first line that has the pattern, empty if there is none."""
        return self._search(pattern, start, stop)[1]

    def required_field(self, pattern: str, what: str, start: int = 0, stop: int | None = None) -> tuple[int, str]:
        """The same with its line, or an `InputError` that misses it."""
        line, value = self._search(pattern, start, stop)
        if line < 0:
            raise self.to_error(start, f"its header does not state {what}; take the file as it was published")
        return line, value

    def _search(self, pattern: str, start: int, stop: int | None) -> tuple[int, str]:
        sought = re.compile(pattern, re.IGNORECASE)
        for line in range(start, min(len(self.lines), start + HEADER_LINES if stop is None else stop)):
            match = sought.search(self.lines[line][:HEADER_WIDTH])
            if match:
                return line, match[1].strip()
        return -1, ""

    def positive_number(self, pattern: str, what: str, start: int = 0, stop: int | None = None) -> float:
        """A number above zero that the header states."""
        line, value = self.required_field(pattern, what, start, stop)
        try:
            number = float(_convert_exponents(value))
        except ValueError:
            number = math.nan
        if not 0 < number < MAX_VALUE:
            raise self.to_error(line, f"{what} is {_shorten(value)}; give a number above 0 and below {MAX_VALUE:g}")
        return number

    def whole_number(self, pattern: str, what: str, start: int = 0, stop: int | None = None) -> int:
        """A whole number above zero that the header states."""
        number = self.positive_number(pattern, what, start, stop)
        if number != int(number):
            raise self.to_error(
                self.required_field(pattern, what, start, stop)[0], f"{what} is {number:g}; give a whole number"
            )
        return int(number)

    def read_values(self, first: int, count: int, width: int | None = None) -> tuple[Array, int]:
        """`count` values from a line on, however many a line has, and the line after them; `width`: of each, in characters."""
        values, line = array("d"), first
        while line < len(self.lines) and len(values) < count:
            values.extend(self.read_line(line, width))
            line += 1
        if len(values) != count:
            message = f"{len(values)} values up to here, its header states {count}; take the file as it was published"
            raise self.to_error(line - 1, message)
        return np.array(values), line

    def read_table(self, first: int, columns: int) -> Array:
        """(n, columns) values from a line on to the end, a row a line."""
        values = array("d")
        for line in range(first, len(self.lines)):
            row = self.read_line(line)
            if row and len(row) != columns:
                raise self.to_error(line, f"{len(row)} values, the lines before have {columns}; complete or delete it")
            values.extend(row)
        return np.array(values).reshape(-1, columns)

    def read_line(self, line: int, width: int | None = None) -> list[float]:
        """The values of a line."""
        text = _convert_exponents(self.lines[line])
        if width is None:
            words = _separate_values(text).split()
        else:
            words = [text[at : at + width] for at in range(0, len(text.rstrip()), width)]
        try:
            values = list(map(float, words))
        except ValueError as error:
            word = str(error).partition(": ")[2].strip("'")
            raise self.to_error(line, f"{_shorten(word)} stands where a number should; correct or delete the line") from None
        if not all(map(math.isfinite, values)):
            raise self.to_error(line, f"{_shorten(text.strip())} has a value that is not finite; give numbers only")
        return values

    def has_more(self, line: int) -> bool:
        """Whether there is anything from a line on."""
        return any(self.lines[after].strip() for after in range(line, len(self.lines)))

    def reject_more(self, line: int, count: int, stop: int | None = None) -> None:
        """Refuse more values than the header states."""
        for after in range(line, len(self.lines) if stop is None else stop):
            if self.lines[after].strip():
                message = f"goes on after the {count} values that its header states; correct the number or delete the rest"
                raise self.to_error(after, message)

    def check_count(self, line: int, count: int, stated: int) -> None:
        """Refuse a table of fewer or more samples than the header states."""
        if count != stated:
            message = f"{count} samples follow, its header states {stated}; take the file as it was published"
            raise self.to_error(line, message)

    def require_even_step(self, time: Array, rounding: float, rows: Sequence[int]) -> float:
        """[s] between the times of the samples, which must be even; `rounding` [s] of each, `rows`: the line of each."""
        step = find_even_step(time, rounding)
        if step is not None:
            return step
        if len(time) < 2:
            raise self.to_error(rows[0], "1 sample; give at least 2")
        steps = np.diff(time)
        usual = float(np.median(steps))
        row = int(np.argmax((np.abs(steps - usual) > _time_tolerance(usual, rounding)) | (steps <= 0)))
        message = (
            f"the time goes from {time[row]:g} s to {time[row + 1]:g} s, most are {usual:g} s apart; give an even time step"
        )
        raise self.to_error(rows[row + 1], message)

    def make_accelerogram(
        self, line: int | None, component: str, time_step: float, values: Array, unit: str | None, about: Mapping[str, str]
    ) -> Accelerogram:
        """One component; `unit` as the file states it, None if it does not; `line`: where its values begin."""
        if len(values) < 2:
            raise self.to_error(line, f"{len(values)} samples; give at least 2")
        if self.time_step is not None and abs(self.time_step - time_step) > 1e-2 * time_step:
            message = f"the file has a time step of {time_step:g} s, {self.time_step:g} s is stated besides; leave that out"
            raise self.to_error(line, message)
        unit, scale = self._agree_unit(line, unit)
        peak = float(np.abs(values).max()) * scale
        if time_step < MIN_TIME_STEP or peak > MAX_VALUE:
            message = f"a sample every {time_step:g} s, up to {peak:g} m/s2; no ground moves so, correct its header or its unit"
            raise self.to_error(line, message)
        known = {key: value for key, value in about.items() if value}
        return Accelerogram(self.path.stem, component, float(time_step), values * scale, unit, known)

    def _agree_unit(self, line: int | None, unit: str | None) -> tuple[str, float]:
        """The unit of the values and what it is in m/s2."""
        known = ", ".join(ACCELERATION_UNITS)
        if self.unit is not None and acceleration_factor(self.unit) is None:
            raise InputError(f"unit {self.unit!r} is not known; give one of {known}")
        if unit is not None and acceleration_factor(unit) is None:
            raise self.to_error(line, f"its unit {_shorten(unit)} is none of acceleration that is known; convert its values")
        if unit is not None and self.unit is not None and acceleration_factor(unit) != acceleration_factor(self.unit):
            raise self.to_error(line, f"the file states its unit {unit}, {self.unit!r} is stated besides; leave that out")
        agreed = unit or self.unit
        scale = acceleration_factor(agreed) if agreed else None
        if agreed is None or scale is None:
            raise self.to_error(line, f"the file does not say the unit of its values; state it (--unit g; known: {known})")
        return normalise_unit(agreed), scale


def split_lines(path: Path, data: bytes) -> list[str]:
    """The lines of a text file of these bytes."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{path}: is text in UTF-16; save it as UTF-8 or ASCII")
    if b"\0" in data:
        raise InputError(f"{path}: is binary, of a format that is not known; give the text file of the record")
    text = data.removeprefix(b"\xef\xbb\xbf").decode("latin-1").rstrip("\x1a \t\r\n")  # 1A ends files of DOS
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not text:
        raise InputError(f"{path}: is empty; give a file with samples")
    longest = max(range(len(lines)), key=lambda line: len(lines[line]))
    if len(lines[longest]) >= MAX_LINE_CHARACTERS:
        message = f"{len(lines[longest])} characters; give a file with lines below {MAX_LINE_CHARACTERS}"
        raise InputError(f"{path}, line {longest + 1}: {message}")
    return lines


def find_even_step(time: Array, rounding: float) -> float | None:
    """[s] between times if all are in their place, but for their rounding [s]; None if they are not."""
    if len(time) < 2 or np.any(np.diff(time) <= 0):
        return None
    step = float(f"{(time[-1] - time[0]) / (len(time) - 1):.10g}")  # 0.005, not 0.004999999999999999
    deviation = np.abs(time - time[0] - step * np.arange(len(time)))
    return step if deviation.max() <= _time_tolerance(step, rounding) else None


def format_peak(peak: str, unit: str) -> str:
    """[m/s2] of a peak that a header states, as text; empty if it states none."""
    try:
        return f"{float(peak) * (acceleration_factor(unit) or math.nan):.6g}"
    except ValueError:
        return ""


def acceleration_factor(unit: str) -> float | None:
    """[m/s2] of a unit however it is spelled: cm/sec/sec, CM/S^2, gal, mm/s/s, G/10; of a count, 3920(gal)/6182761, too.

    None if it is none of acceleration."""
    counts = COUNT_UNIT.fullmatch(unit)
    if counts:
        full, count = acceleration_factor(counts[2]), float(counts[3])
        return None if full is None or not count else full * float(counts[1]) / count
    plain = normalise_unit(unit)
    known = ACCELERATION_UNITS.get(plain.removesuffix("/10"))
    return known / 10 if known is not None and plain.endswith("/10") else known


def normalise_unit(unit: str) -> str:
    """A unit in one spelling: cm/s2 for CM/SEC/SEC; that of a count as it is."""
    if COUNT_UNIT.fullmatch(unit):
        return unit
    plain = "".join(unit.split()).rstrip(".").lower().replace("sec", "s").replace("^", "").replace("**", "").replace("²", "2")
    return plain.replace("/s/s", "/s2")


def _time_tolerance(step: float, rounding: float) -> float:
    """[s] that a time may be away from its place. Rounding excuses less than half a step only: a gap must be seen."""
    return STEP_TOLERANCE * step + (2 * rounding if 2 * rounding < 0.49 * step else 0.0)


def _convert_exponents(text: str) -> str:
    """Exponents as Fortran writes them, 1.5D-03, as Python reads them, which must not take 1_5 for 15."""
    return text.replace("D", "E").replace("d", "E").replace("e", "E").replace("_", "?")


def _separate_values(text: str) -> str:
    """A blank before every sign that is not an exponent's: 1.2-3.4E-02 is two values."""
    return text.replace("-", " -").replace("+", " +").replace("E -", "E-").replace("E +", "E+")


def _shorten(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")

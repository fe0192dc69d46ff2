"""What the readers of text files share: finds values in the lines of a file and makes `Accelerogram`s in m/s2.

Numbers are read line by line, so that errors name the line. Values may have no blanks between them (1.234-5.678E-02), as
in columns of a fixed width. The unit is the one that the file or the user states; it is never guessed.
"""

import math
import re
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from drystone.base.errors import InputError
from drystone.base.units import UNITS
from drystone.ground.accelerogram import Accelerogram

Array = np.ndarray

MAX_LINE_CHARACTERS = 1_000_000  # [characters] a file with a longer line is not a table of numbers
MAX_VALUE = 1e9  # of a number in a header, and [m/s2] of a sample
MIN_TIME_STEP = 1e-9  # [s] between samples
STEP_TOLERANCE = 0.01  # of the time step: allowed deviation of a time
ACCELERATION_UNITS = UNITS["acceleration"] | {"nm/s2": 1e-9}  # [m/s2] the last one is used by SAC
COUNT_UNIT = re.compile(r"(\d+\.?\d*)\(([^)]+)\)/(-?\d+\.?\d*)")  # a unit of counts: 3920(gal)/6182761
HEADER_LINES, HEADER_WIDTH = 200, 400  # [lines, characters] within which a header is searched


class Sheet(NamedTuple):
    """The lines of a file, and what the user states about it. Lines are numbered from 0 here and from 1 in messages."""

    path: Path
    lines: list[str]
    unit: str | None = None  # of the values
    time_step: float | None = None  # [s]

    def to_error(self, line: int | None, message: str) -> InputError:
        """The error about a line; None for a file without lines."""
        return InputError(f"{self.path}: {message}" if line is None else f"{self.path}, line {line + 1}: {message}")

    def header_field(self, pattern: str, start: int = 0, stop: int | None = None) -> str:
        """A field of the header: the group of the first match of the pattern; an empty string if there is none."""
        return self._search(pattern, start, stop)[1]

    def required_field(self, pattern: str, what: str, start: int = 0, stop: int | None = None) -> tuple[int, str]:
        """A field of the header, after the number of its line; an `InputError` if it is missing."""
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
        """A positive number in the header."""
        line, value = self.required_field(pattern, what, start, stop)
        try:
            number = float(_convert_exponents(value))
        except ValueError:
            number = math.nan
        if not 0 < number < MAX_VALUE:
            raise self.to_error(line, f"{what} is {_shorten(value)}; give a number above 0 and below {MAX_VALUE:g}")
        return number

    def whole_number(self, pattern: str, what: str, start: int = 0, stop: int | None = None) -> int:
        """A positive whole number in the header."""
        number = self.positive_number(pattern, what, start, stop)
        if number != int(number):
            raise self.to_error(
                self.required_field(pattern, what, start, stop)[0], f"{what} is {number:g}; give a whole number"
            )
        return int(number)

    def read_values(self, first: int, count: int, width: int | None = None) -> tuple[Array, int]:
        """`count` values from a line on, whatever the number per line, and the line after them; `width` [characters]: of a
        value."""
        values, line = array("d"), first
        while line < len(self.lines) and len(values) < count:
            values.extend(self.read_line(line, width))
            line += 1
        if len(values) != count:
            message = f"{len(values)} values up to here, its header states {count}; take the file as it was published"
            raise self.to_error(line - 1, message)
        return np.array(values), line

    def read_table(self, first: int, columns: int) -> Array:
        """(n, columns) values from a line to the end, one row per line."""
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
            raise self.to_error(line, f"{_shorten(word)} is not a number; correct or delete the line") from None
        if not all(map(math.isfinite, values)):
            raise self.to_error(line, f"{_shorten(text.strip())} has a value that is not finite; give numbers only")
        return values

    def has_more(self, line: int) -> bool:
        """Whether there is any text from a line on."""
        return any(self.lines[after].strip() for after in range(line, len(self.lines)))

    def reject_more(self, line: int, count: int, stop: int | None = None) -> None:
        """Refuse more values than the header states."""
        for after in range(line, len(self.lines) if stop is None else stop):
            if self.lines[after].strip():
                message = f"has data after the {count} values that its header states; correct the number or delete the rest"
                raise self.to_error(after, message)

    def check_count(self, line: int, count: int, stated: int) -> None:
        """Refuse a table with fewer or more samples than the header states."""
        if count != stated:
            message = f"{count} samples follow, its header states {stated}; take the file as it was published"
            raise self.to_error(line, message)

    def require_even_step(self, time: Array, rounding: float, rows: Sequence[int]) -> float:
        """[s] the time step of samples, which must be even; `rounding` [s]: of the times; `rows`: the line of each time."""
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
        """Make the accelerogram of one component; `unit`: that of the file, None if it states none; `line`: where values
        begin."""
        if len(values) < 2:
            raise self.to_error(line, f"{len(values)} samples; give at least 2")
        if self.time_step is not None and abs(self.time_step - time_step) > 1e-2 * time_step:
            message = f"the file has a time step of {time_step:g} s, but {self.time_step:g} s was given; leave that out"
            raise self.to_error(line, message)
        unit, scale = self._agree_unit(line, unit)
        peak = float(np.abs(values).max()) * scale
        if time_step < MIN_TIME_STEP or peak > MAX_VALUE:
            message = (
                f"one sample per {time_step:g} s, up to {peak:g} m/s2, is not a ground motion; correct its header or its unit"
            )
            raise self.to_error(line, message)
        known = {key: value for key, value in about.items() if value}
        return Accelerogram(self.path.stem, component, float(time_step), values * scale, unit, known)

    def _agree_unit(self, line: int | None, unit: str | None) -> tuple[str, float]:
        """The unit of the values, and its factor to m/s2."""
        known = ", ".join(ACCELERATION_UNITS)
        if self.unit is not None and acceleration_factor(self.unit) is None:
            raise InputError(f"unit {self.unit!r} is not known; give one of {known}")
        if unit is not None and acceleration_factor(unit) is None:
            raise self.to_error(line, f"its unit {_shorten(unit)} is not a known unit of acceleration; convert its values")
        if unit is not None and self.unit is not None and acceleration_factor(unit) != acceleration_factor(self.unit):
            raise self.to_error(line, f"the file states its unit {unit}, but {self.unit!r} was given; leave that out")
        agreed = unit or self.unit
        scale = acceleration_factor(agreed) if agreed else None
        if agreed is None or scale is None:
            raise self.to_error(line, f"the file does not state the unit of its values; give it (--unit g; known: {known})")
        return normalise_unit(agreed), scale


def split_lines(path: Path, data: bytes) -> list[str]:
    """Decode the bytes of a text file and split them into lines."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{path}: is text in UTF-16; save it as UTF-8 or ASCII")
    if b"\0" in data:
        raise InputError(f"{path}: is binary, of an unknown format; give the text file of the record")
    text = data.removeprefix(b"\xef\xbb\xbf").decode("latin-1").rstrip("\x1a \t\r\n")  # 1A is the end-of-file character of DOS
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not text:
        raise InputError(f"{path}: is empty; give a file with samples")
    longest = max(range(len(lines)), key=lambda line: len(lines[line]))
    if len(lines[longest]) >= MAX_LINE_CHARACTERS:
        message = f"{len(lines[longest])} characters; give a file with lines below {MAX_LINE_CHARACTERS}"
        raise InputError(f"{path}, line {longest + 1}: {message}")
    return lines


def find_even_step(time: Array, rounding: float) -> float | None:
    """[s] the time step if the times are even, up to their rounding [s]; None if they are not."""
    if len(time) < 2 or np.any(np.diff(time) <= 0):
        return None
    step = float(f"{(time[-1] - time[0]) / (len(time) - 1):.10g}")  # 0.005, not 0.004999999999999999
    deviation = np.abs(time - time[0] - step * np.arange(len(time)))
    return step if deviation.max() <= _time_tolerance(step, rounding) else None


def format_peak(peak: str, unit: str) -> str:
    """The peak that a header states, converted to m/s2, as text; an empty string if it states none."""
    try:
        return f"{float(peak) * (acceleration_factor(unit) or math.nan):.6g}"
    except ValueError:
        return ""


def acceleration_factor(unit: str) -> float | None:
    """[m/s2] the factor of a unit in any spelling: cm/sec/sec, CM/S^2, gal, mm/s/s, G/10; also of a count, 3920(gal)/6182761.

    None if it is not a unit of acceleration."""
    counts = COUNT_UNIT.fullmatch(unit)
    if counts:
        full, count = acceleration_factor(counts[2]), float(counts[3])
        return None if full is None or not count else full * float(counts[1]) / count
    plain = normalise_unit(unit)
    known = ACCELERATION_UNITS.get(plain.removesuffix("/10"))
    return known / 10 if known is not None and plain.endswith("/10") else known


def normalise_unit(unit: str) -> str:
    """A unit in the standard spelling: cm/s2 for CM/SEC/SEC; the unit of a count is unchanged."""
    if COUNT_UNIT.fullmatch(unit):
        return unit
    plain = "".join(unit.split()).rstrip(".").lower().replace("sec", "s").replace("^", "").replace("**", "").replace("²", "2")
    return plain.replace("/s/s", "/s2")


def _time_tolerance(step: float, rounding: float) -> float:
    """[s] the allowed deviation of a time. Rounding is allowed for only below half a step, so that gaps are detected."""
    return STEP_TOLERANCE * step + (2 * rounding if 2 * rounding < 0.49 * step else 0.0)


def _convert_exponents(text: str) -> str:
    """Convert exponents of Fortran, 1.5D-03, to those of Python; an underscore is replaced, so that 1_5 is not read as 15."""
    return text.replace("D", "E").replace("d", "E").replace("e", "E").replace("_", "?")


def _separate_values(text: str) -> str:
    """Insert a blank before every sign that is not that of an exponent: 1.2-3.4E-02 has two values."""
    return text.replace("-", " -").replace("+", " +").replace("E -", "E-").replace("E +", "E+")


def _shorten(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")

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

LONGEST = 1_000_000  # [characters] of a line; a file with a longer one is no table of numbers
LARGEST = 1e9  # of a number in a header, [m/s2] of a sample
SHORTEST = 1e-9  # [s] between samples
EVEN = 0.01  # of the time step: how far a time may be from its place
ACCELERATIONS = UNITS["acceleration"] | {"nm/s2": 1e-9}  # [m/s2] the last is SAC's
COUNTS = re.compile(r"(\d+\.?\d*)\(([^)]+)\)/(-?\d+\.?\d*)")  # a unit of counts: 3920(gal)/6182761
HEADER, WIDE = 200, 400  # [lines, characters] within which a header is looked for


class Sheet(NamedTuple):
    """The lines of a file, and what the user states about it. Lines count from 0 here and from 1 in messages."""

    path: Path
    lines: list[str]
    unit: str | None = None  # of the values
    time_step: float | None = None  # [s]

    def refusal(self, line: int | None, said: str) -> InputError:
        """What to raise about a line; None: a file that has no lines."""
        return InputError(f"{self.path}: {said}" if line is None else f"{self.path}, line {line + 1}: {said}")

    def told(self, pattern: str, start: int = 0, stop: int | None = None) -> str:
        """What the header says: the group of the first line that has the pattern, empty if there is none."""
        return self._search(pattern, start, stop)[1]

    def find(self, pattern: str, what: str, start: int = 0, stop: int | None = None) -> tuple[int, str]:
        """The same with its line, or an `InputError` that misses it."""
        line, value = self._search(pattern, start, stop)
        if line < 0:
            raise self.refusal(start, f"its header does not state {what}; take the file as it was published")
        return line, value

    def _search(self, pattern: str, start: int, stop: int | None) -> tuple[int, str]:
        sought = re.compile(pattern, re.IGNORECASE)
        for line in range(start, min(len(self.lines), start + HEADER if stop is None else stop)):
            match = sought.search(self.lines[line][:WIDE])
            if match:
                return line, match[1].strip()
        return -1, ""

    def positive(self, pattern: str, what: str, start: int = 0, stop: int | None = None) -> float:
        """A number above zero that the header states."""
        line, value = self.find(pattern, what, start, stop)
        try:
            number = float(_fortran(value))
        except ValueError:
            number = math.nan
        if not 0 < number < LARGEST:
            raise self.refusal(line, f"{what} is {_short(value)}; give a number above 0 and below {LARGEST:g}")
        return number

    def whole(self, pattern: str, what: str, start: int = 0, stop: int | None = None) -> int:
        """A whole number above zero that the header states."""
        number = self.positive(pattern, what, start, stop)
        if number != int(number):
            raise self.refusal(self.find(pattern, what, start, stop)[0], f"{what} is {number:g}; give a whole number")
        return int(number)

    def numbers(self, first: int, count: int, width: int | None = None) -> tuple[Array, int]:
        """`count` values from a line on, however many a line has, and the line after them; `width`: of each, in characters."""
        values, line = array("d"), first
        while line < len(self.lines) and len(values) < count:
            values.extend(self.floats(line, width))
            line += 1
        if len(values) != count:
            said = f"{len(values)} values up to here, its header states {count}; take the file as it was published"
            raise self.refusal(line - 1, said)
        return np.array(values), line

    def table(self, first: int, columns: int) -> Array:
        """(n, columns) values from a line on to the end, a row a line."""
        values = array("d")
        for line in range(first, len(self.lines)):
            row = self.floats(line)
            if row and len(row) != columns:
                raise self.refusal(line, f"{len(row)} values, the lines before have {columns}; complete or delete it")
            values.extend(row)
        return np.array(values).reshape(-1, columns)

    def floats(self, line: int, width: int | None = None) -> list[float]:
        """The values of a line."""
        text = _fortran(self.lines[line])
        if width is None:
            words = _parted(text).split()
        else:
            words = [text[at : at + width] for at in range(0, len(text.rstrip()), width)]
        try:
            values = list(map(float, words))
        except ValueError as error:
            found = str(error).partition(": ")[2].strip("'")
            raise self.refusal(line, f"{_short(found)} stands where a number should; correct or delete the line") from None
        if not all(map(math.isfinite, values)):
            raise self.refusal(line, f"{_short(text.strip())} has a value that is not finite; give numbers only")
        return values

    def goes_on(self, line: int) -> bool:
        """Whether there is anything from a line on."""
        return any(self.lines[after].strip() for after in range(line, len(self.lines)))

    def ends(self, line: int, count: int, stop: int | None = None) -> None:
        """Refuse more values than the header states."""
        for after in range(line, len(self.lines) if stop is None else stop):
            if self.lines[after].strip():
                said = f"goes on after the {count} values that its header states; correct the number or delete the rest"
                raise self.refusal(after, said)

    def must_agree(self, line: int, found: int, stated: int) -> None:
        """Refuse a table of fewer or more samples than the header states."""
        if found != stated:
            said = f"{found} samples follow, its header states {stated}; take the file as it was published"
            raise self.refusal(line, said)

    def even_step(self, time: Array, rounding: float, rows: Sequence[int]) -> float:
        """[s] between the times of the samples, which must be even; `rounding` [s] of each, `rows`: the line of each."""
        step = even(time, rounding)
        if step is not None:
            return step
        if len(time) < 2:
            raise self.refusal(rows[0], "1 sample; give at least 2")
        steps = np.diff(time)
        usual = float(np.median(steps))
        row = int(np.argmax((np.abs(steps - usual) > _slack(usual, rounding)) | (steps <= 0)))
        said = f"the time goes from {time[row]:g} s to {time[row + 1]:g} s, most are {usual:g} s apart; give an even time step"
        raise self.refusal(rows[row + 1], said)

    def accelerogram(
        self, line: int | None, component: str, time_step: float, values: Array, unit: str | None, about: Mapping[str, str]
    ) -> Accelerogram:
        """One component; `unit` as the file states it, None if it does not; `line`: where its values begin."""
        if len(values) < 2:
            raise self.refusal(line, f"{len(values)} samples; give at least 2")
        if self.time_step is not None and abs(self.time_step - time_step) > 1e-2 * time_step:
            said = f"the file has a time step of {time_step:g} s, {self.time_step:g} s is stated besides; leave that out"
            raise self.refusal(line, said)
        unit, scale = self._agreed(line, unit)
        peak = float(np.abs(values).max()) * scale
        if time_step < SHORTEST or peak > LARGEST:
            said = f"a sample every {time_step:g} s, up to {peak:g} m/s2; no ground moves so, correct its header or its unit"
            raise self.refusal(line, said)
        known = {key: value for key, value in about.items() if value}
        return Accelerogram(self.path.stem, component, float(time_step), values * scale, unit, known)

    def _agreed(self, line: int | None, unit: str | None) -> tuple[str, float]:
        """The unit of the values and what it is in m/s2."""
        known = ", ".join(ACCELERATIONS)
        if self.unit is not None and factor(self.unit) is None:
            raise InputError(f"unit {self.unit!r} is not known; give one of {known}")
        if unit is not None and factor(unit) is None:
            raise self.refusal(line, f"its unit {_short(unit)} is none of acceleration that is known; convert its values")
        if unit is not None and self.unit is not None and factor(unit) != factor(self.unit):
            raise self.refusal(line, f"the file states its unit {unit}, {self.unit!r} is stated besides; leave that out")
        agreed = unit or self.unit
        scale = factor(agreed) if agreed else None
        if agreed is None or scale is None:
            raise self.refusal(line, f"the file does not say the unit of its values; state it (--unit g; known: {known})")
        return spelled(agreed), scale


def lines_of(path: Path, data: bytes) -> list[str]:
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
    if len(lines[longest]) >= LONGEST:
        said = f"{len(lines[longest])} characters; give a file with lines below {LONGEST}"
        raise InputError(f"{path}, line {longest + 1}: {said}")
    return lines


def even(time: Array, rounding: float) -> float | None:
    """[s] between times if all are in their place, but for their rounding [s]; None if they are not."""
    if len(time) < 2 or np.any(np.diff(time) <= 0):
        return None
    step = float(f"{(time[-1] - time[0]) / (len(time) - 1):.10g}")  # 0.005, not 0.004999999999999999
    away = np.abs(time - time[0] - step * np.arange(len(time)))
    return step if away.max() <= _slack(step, rounding) else None


def in_si(peak: str, unit: str) -> str:
    """[m/s2] of a peak that a header states, as text; empty if it states none."""
    try:
        return f"{float(peak) * (factor(unit) or math.nan):.6g}"
    except ValueError:
        return ""


def factor(unit: str) -> float | None:
    """[m/s2] of a unit however it is spelled: cm/sec/sec, CM/S^2, gal, mm/s/s, G/10; of a count, 3920(gal)/6182761, too.

    None if it is none of acceleration."""
    counts = COUNTS.fullmatch(unit)
    if counts:
        full, whole = factor(counts[2]), float(counts[3])
        return None if full is None or not whole else full * float(counts[1]) / whole
    plain = spelled(unit)
    known = ACCELERATIONS.get(plain.removesuffix("/10"))
    return known / 10 if known is not None and plain.endswith("/10") else known


def spelled(unit: str) -> str:
    """A unit in one spelling: cm/s2 for CM/SEC/SEC; that of a count as it is."""
    if COUNTS.fullmatch(unit):
        return unit
    plain = "".join(unit.split()).rstrip(".").lower().replace("sec", "s").replace("^", "").replace("**", "").replace("²", "2")
    return plain.replace("/s/s", "/s2")


def _slack(step: float, rounding: float) -> float:
    """[s] that a time may be away from its place. Rounding excuses less than half a step only: a gap must be seen."""
    return EVEN * step + (2 * rounding if 2 * rounding < 0.49 * step else 0.0)


def _fortran(text: str) -> str:
    """Exponents as Fortran writes them, 1.5D-03, as Python reads them, which must not take 1_5 for 15."""
    return text.replace("D", "E").replace("d", "E").replace("e", "E").replace("_", "?")


def _parted(text: str) -> str:
    """A blank before every sign that is not an exponent's: 1.2-3.4E-02 is two values."""
    return text.replace("-", " -").replace("+", " +").replace("E -", "E-").replace("E +", "E+")


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")

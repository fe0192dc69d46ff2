"""Reads volume 1 in the format of Caltech (USC, RENADIC of Chile, BHRC of Iran), with components one after the other.

Each component is 13 lines of text, 7 of integers, 7 of reals, then either pairs of time and acceleration or accelerations
alone, in the unit of the line "UNITS ARE SEC AND G/10". A component ends at a line with /& or at the end of the file. Times
digitised from film are not even: such a record is interpolated, at half the usual step so that its peaks are preserved.
"""

from dataclasses import replace

import numpy as np

from drystone.ground.accelerogram import Accelerogram
from drystone.ground.formats.text_reader import Sheet, find_even_step, format_peak

Array = np.ndarray

HEADER_LINES = 13 + 7 + 7  # [lines]
UNIT_PATTERN = r"^UNITS (?:OF UNCOR ACCEL )?ARE SEC(?:ONDS)? AND ([\w/]+)"
POINTS_PATTERN = r"^NO\. OF POINTS\s*=\s*(\S+)"
TIME_ROUNDING = 0.0005  # [s] of times with three decimals
MAX_STEP_RATIO = 10  # largest mean step, relative to the usual step


def is_volume1(sheet: Sheet) -> bool:
    """Whether the header states points and a unit as volume 1 does."""
    return bool(sheet.header_field(UNIT_PATTERN)) and bool(sheet.header_field(POINTS_PATTERN))


def read_volume1(sheet: Sheet) -> list[Accelerogram]:
    """The components of a file."""
    components, start = [], 0
    while sheet.has_more(start):
        ends = (line for line in range(start, len(sheet.lines)) if sheet.lines[line].startswith("/&"))
        stop = next(ends, len(sheet.lines))
        components.append(_component(sheet, start, stop))
        start = stop + 1
    return components


def _component(sheet: Sheet, start: int, stop: int) -> Accelerogram:
    first, head = start + HEADER_LINES, (start, start + HEADER_LINES)
    count = sheet.whole_number(POINTS_PATTERN, "the number of points", *head)
    _, unit = sheet.required_field(UNIT_PATTERN, "the unit of its values", *head)
    lines = [line for line in range(first, stop) if sheet.lines[line].strip()]
    values_per_line = len(sheet.read_line(lines[0])) if lines else 1
    paired = len(lines) * values_per_line >= 2 * count
    values, after = sheet.read_values(first, 2 * count if paired else count)
    sheet.reject_more(after, count, stop)
    done: tuple[str, ...] = ()
    if paired:
        time, values = values[::2], values[1::2]
        step = find_even_step(time, TIME_ROUNDING)
        if step is None:
            step, values = _interpolate(sheet, first, time, values)
            done = (f"interpolated from {count} samples at uneven times",)
    else:
        step = sheet.positive_number(r"\b(?:DURATION|RECORD LENGTH)\s*=\s*(\S+)", "the duration", *head) / count
    about = {
        "format": "volume 1",
        "station": sheet.header_field(r"^STATION (USC# \d+)", *head) or sheet.header_field(r"^(\S.*?)\s+Station\b", *head),
        "stated_pga": format_peak(sheet.header_field(r"\bMAX\s*=\s*(\S+) G\b", *head), "g"),
    }
    component = sheet.header_field(r"^(?:COMP|CHAN\s+\d+:)\s*(\S+)", *head)
    return replace(sheet.make_accelerogram(first, component, step, values, unit, about), done=done)


def _interpolate(sheet: Sheet, first: int, time: Array, values: Array) -> tuple[float, Array]:
    """The step [s] and the samples, interpolated linearly between all points."""
    steps = np.diff(time)
    usual = float(np.median(steps)) if len(steps) else 0.0
    if not usual > 0 or np.any(steps < 0) or time[-1] - time[0] > MAX_STEP_RATIO * usual * len(time):
        raise sheet.to_error(first, f"its times, most {usual:g} s apart, do not increase step by step; correct them")
    step = float(f"{usual:.6g}") / 2
    grid = time[0] + step * np.arange(int((time[-1] - time[0]) / step) + 1)
    return step, np.interp(grid, time, values)

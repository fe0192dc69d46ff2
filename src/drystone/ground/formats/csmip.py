"""Reads CSMIP/DMG volumes 1 and 2 (California), with channels one after the other.

Each channel is lines of text, tables of integers and reals, a line that states the number of values, their step, unit and
format, then the values:

    13200 Accelerogram points at 200 pts/sec in units of g .      Format: (8f9.6)            volume 1
    12000 points of accel data equally spaced at  .005 sec, in cm/sec2. (8f10.6)             volume 2

In volume 2 velocities and displacements follow, which are not read. A line with /& ends a channel.
"""

from drystone.ground.accelerogram import Accelerogram
from drystone.ground.formats.text_reader import Sheet, format_peak

DATA_LINE = r"^\s*(\S+) (?:accelerogram points at|points of accel data)"
RATE_PATTERN, SPACING_PATTERN = r"points at\s*(\S+) pts/sec", r"equally spaced at\s*(\S+)\s*sec"
UNIT_PATTERN = r"(?:in units of|sec, in) ([\w/]+)"
WIDTH_PATTERN = r"\(\d*f(\d+)\.\d+\)"
PEAK_PATTERN = r"^(?:Units of .*Max\s*=|Peak acceleration\s*=)\s*(\S+ *\S+)"


def is_csmip(sheet: Sheet) -> bool:
    """Whether a line counts points of acceleration as CSMIP does."""
    return bool(sheet.header_field(DATA_LINE))


def read_csmip(sheet: Sheet) -> list[Accelerogram]:
    """The channels of a .V1 or .V2 file."""
    channels, start = [], 0
    while sheet.has_more(start):
        channel, after = _channel(sheet, start)
        channels.append(channel)
        start = sheet.required_field(r"^(/&)", "the end of a channel, /&", after, len(sheet.lines))[0] + 1
    return channels


def _channel(sheet: Sheet, start: int) -> tuple[Accelerogram, int]:
    line, _ = sheet.required_field(DATA_LINE, "the number of points of a channel", start)
    here = line, line + 1
    count = sheet.whole_number(DATA_LINE, "the number of points", *here)
    if sheet.header_field(RATE_PATTERN, *here):
        time_step = 1 / sheet.positive_number(RATE_PATTERN, "the rate", *here)
    else:
        time_step = sheet.positive_number(SPACING_PATTERN, "the time step", *here)
    _, unit = sheet.required_field(UNIT_PATTERN, "the unit of its values", *here)
    width = sheet.whole_number(WIDTH_PATTERN, "the format of its values, as (8f10.6)", *here)
    values, after = sheet.read_values(line + 1, count, width)
    peak, _, peak_unit = sheet.header_field(PEAK_PATTERN, start, line).partition(" ")
    about = {
        "format": "CSMIP",
        "date": sheet.header_field(r"^(?:Record|Rcrd) of (.*?)(?:\s{2,}|$)", start, line),
        "station": sheet.header_field(r"^Station No\.\s*(\S+)", start, line),
        "stated_pga": format_peak(peak, peak_unit),
    }
    component = sheet.header_field(r"^Chan\s+\d+:\s*(.*)", start, line)
    return sheet.make_accelerogram(line + 1, component, time_step, values, unit, about), after

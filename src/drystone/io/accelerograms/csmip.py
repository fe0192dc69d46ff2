"""CSMIP/DMG volume 1 and 2 (California): channels one after the other come in, an `Accelerogram` each goes out.

Each channel is lines of text, tables of integers and reals, a line that counts the values and says their step, unit and
format, then the values:

    13200 Accelerogram points at 200 pts/sec in units of g .      Format: (8f9.6)            volume 1
    12000 points of accel data equally spaced at  .005 sec, in cm/sec2. (8f10.6)             volume 2

In volume 2 velocities and displacements follow, which are not read. A line with /& ends a channel.
"""

from drystone.ground.accelerogram import Accelerogram
from drystone.io.accelerograms.sheet import Sheet, in_si

DATA = r"^\s*(\S+) (?:accelerogram points at|points of accel data)"
RATE, SPACING = r"points at\s*(\S+) pts/sec", r"equally spaced at\s*(\S+)\s*sec"
UNIT = r"(?:in units of|sec, in) ([\w/]+)"
WIDTH = r"\(\d*f(\d+)\.\d+\)"
PEAK = r"^(?:Units of .*Max\s*=|Peak acceleration\s*=)\s*(\S+ *\S+)"


def is_csmip(sheet: Sheet) -> bool:
    """Whether a line counts points of acceleration as CSMIP does."""
    return bool(sheet.told(DATA))


def read_csmip(sheet: Sheet) -> list[Accelerogram]:
    """The channels of a .V1 or .V2 file."""
    found, start = [], 0
    while sheet.goes_on(start):
        channel, after = _channel(sheet, start)
        found.append(channel)
        start = sheet.find(r"^(/&)", "the end of a channel, /&", after, len(sheet.lines))[0] + 1
    return found


def _channel(sheet: Sheet, start: int) -> tuple[Accelerogram, int]:
    line, _ = sheet.find(DATA, "the number of points of a channel", start)
    here = line, line + 1
    count = sheet.whole(DATA, "the number of points", *here)
    if sheet.told(RATE, *here):
        time_step = 1 / sheet.positive(RATE, "the rate", *here)
    else:
        time_step = sheet.positive(SPACING, "the time step", *here)
    _, unit = sheet.find(UNIT, "the unit of its values", *here)
    width = sheet.whole(WIDTH, "the format of its values, as (8f10.6)", *here)
    values, after = sheet.numbers(line + 1, count, width)
    peak, _, peak_unit = sheet.told(PEAK, start, line).partition(" ")
    about = {
        "format": "CSMIP",
        "date": sheet.told(r"^(?:Record|Rcrd) of (.*?)(?:\s{2,}|$)", start, line),
        "station": sheet.told(r"^Station No\.\s*(\S+)", start, line),
        "stated_pga": in_si(peak, peak_unit),
    }
    component = sheet.told(r"^Chan\s+\d+:\s*(.*)", start, line)
    return sheet.accelerogram(line + 1, component, time_step, values, unit, about), after

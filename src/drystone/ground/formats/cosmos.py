"""Reads COSMOS volumes 0 to 2, with channels one after the other.

Each channel is lines of text, 100 integers, 100 reals (the 62nd is the time step [ms], the 64th the peak), comments, a line
that describes the data, "7000 acceleration pts, approx 70 secs, units=cm/sec2(04),Format=(8F10.5)", and the values. A channel
may also be a velocity or a displacement, which is skipped.
"""

from drystone.ground.accelerogram import Accelerogram
from drystone.ground.formats.text_reader import Sheet, format_peak

REALS_LINE = r"^\s*(\d+) Real-header values follow"
DATA_LINE = r"^\s*(\S+)\s+\w+\s+pts,.*units\s*="
WIDTH_PATTERN = r"Format\s*=\s*\([^)]*?[EFGI](\d+)"
END_LINE = r"^\s*(/&|End-of-data)"


def is_cosmos(sheet: Sheet) -> bool:
    """Whether there is a line before the reals as in COSMOS files."""
    return bool(sheet.header_field(REALS_LINE))


def read_cosmos(sheet: Sheet) -> list[Accelerogram]:
    """The accelerations of a file."""
    channels, kinds, start = [], [], 0
    while sheet.has_more(start):
        line, _ = sheet.required_field(DATA_LINE, "the number of points of a channel", start)
        kinds.append(sheet.header_field(r"^\s*\S+\s+(\w+)", line, line + 1).lower())
        after = line + 1
        if kinds[-1].startswith("accel"):
            channel, after = _channel(sheet, start, line)
            channels.append(channel)
        start = sheet.required_field(END_LINE, "the end of a channel, /& or End-of-data", after, len(sheet.lines))[0] + 1
    if not channels:
        message = f"the file has {' and '.join(dict.fromkeys(kinds))}, an acceleration is needed; take that of the same record"
        raise sheet.to_error(0, message)
    return channels


def _channel(sheet: Sheet, start: int, line: int) -> tuple[Accelerogram, int]:
    here = line, line + 1
    count = sheet.whole_number(DATA_LINE, "the number of points", *here)
    _, unit = sheet.required_field(r"units\s*=\s*([^,(]+)", "the unit of its values", *here)
    width = sheet.whole_number(WIDTH_PATTERN, "the format of its values, as (8F10.5)", *here)
    announced, _ = sheet.required_field(REALS_LINE, "its reals", start, line)
    reals, _ = sheet.read_values(
        announced + 1, 100, sheet.whole_number(WIDTH_PATTERN, "the format of its reals", announced, announced + 1)
    )
    if reals[61] <= 0:
        raise sheet.to_error(announced, f"the time step, its 62nd value, is {reals[61]:g} ms; give a number above 0")
    values, after = sheet.read_values(line + 1, count, width)
    about = {
        "format": "COSMOS",
        "event": sheet.header_field(r"^(?:Record|Rcrd) of (.*)", start, line),
        "station": sheet.header_field(r"Code:\s*(\S+)", start, line),
        "date": sheet.header_field(r"^Origin:\s*(.*)", start, line),
        "stated_pga": format_peak(str(reals[63]), unit),
    }
    channel = sheet.header_field(r"<SCNL>[^.]*\.([^.\s]+)\.", start, line)
    component = channel or sheet.header_field(r"^Sta Cha\w*:?\s*\S+?:\s*(.*?)\s*\(", start, line)
    return sheet.make_accelerogram(line + 1, component, reals[61] / 1000, values, unit, about), after

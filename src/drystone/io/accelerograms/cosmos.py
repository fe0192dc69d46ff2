"""COSMOS volumes 0 to 2: channels one after the other come in, an `Accelerogram` each goes out.

Each channel is lines of text, 100 integers, 100 reals (the 62nd is the time step [ms], the 64th the peak), comments, a line
that says what follows, "7000 acceleration pts, approx 70 secs, units=cm/sec2(04),Format=(8F10.5)", and the values. A channel
may also be a velocity or a displacement: those are passed over.
"""

from drystone.ground.accelerogram import Accelerogram
from drystone.io.accelerograms.sheet import Sheet, in_si

REALS = r"^\s*(\d+) Real-header values follow"
DATA = r"^\s*(\S+)\s+\w+\s+pts,.*units\s*="
WIDTH = r"Format\s*=\s*\([^)]*?[EFGI](\d+)"
END = r"^\s*(/&|End-of-data)"


def is_cosmos(sheet: Sheet) -> bool:
    """Whether a line announces the reals as COSMOS does."""
    return bool(sheet.told(REALS))


def read_cosmos(sheet: Sheet) -> list[Accelerogram]:
    """The accelerations of a file."""
    found, kinds, start = [], [], 0
    while sheet.goes_on(start):
        line, _ = sheet.find(DATA, "the number of points of a channel", start)
        kinds.append(sheet.told(r"^\s*\S+\s+(\w+)", line, line + 1).lower())
        after = line + 1
        if kinds[-1].startswith("accel"):
            channel, after = _channel(sheet, start, line)
            found.append(channel)
        start = sheet.find(END, "the end of a channel, /& or End-of-data", after, len(sheet.lines))[0] + 1
    if not found:
        said = f"the file has {' and '.join(dict.fromkeys(kinds))}, an acceleration is needed; take that of the same record"
        raise sheet.refusal(0, said)
    return found


def _channel(sheet: Sheet, start: int, line: int) -> tuple[Accelerogram, int]:
    here = line, line + 1
    count = sheet.whole(DATA, "the number of points", *here)
    _, unit = sheet.find(r"units\s*=\s*([^,(]+)", "the unit of its values", *here)
    width = sheet.whole(WIDTH, "the format of its values, as (8F10.5)", *here)
    announced, _ = sheet.find(REALS, "its reals", start, line)
    reals, _ = sheet.numbers(announced + 1, 100, sheet.whole(WIDTH, "the format of its reals", announced, announced + 1))
    if reals[61] <= 0:
        raise sheet.refusal(announced, f"the time step, its 62nd value, is {reals[61]:g} ms; give a number above 0")
    values, after = sheet.numbers(line + 1, count, width)
    about = {
        "format": "COSMOS",
        "event": sheet.told(r"^(?:Record|Rcrd) of (.*)", start, line),
        "station": sheet.told(r"Code:\s*(\S+)", start, line),
        "date": sheet.told(r"^Origin:\s*(.*)", start, line),
        "stated_pga": in_si(str(reals[63]), unit),
    }
    channel = sheet.told(r"<SCNL>[^.]*\.([^.\s]+)\.", start, line)
    component = channel or sheet.told(r"^Sta Cha\w*:?\s*\S+?:\s*(.*?)\s*\(", start, line)
    return sheet.accelerogram(line + 1, component, reals[61] / 1000, values, unit, about), after

"""PEER AT2: one component comes in, one `Accelerogram` goes out.

Three lines of text, one of them with the unit ("... IN UNITS OF G"), then the number of points and the step in one of two
styles, "NPTS=  7999, DT= .0050 SEC" or "4096 0.0100 NPTS, DT", then the values. VT2 and DT2 are the same in velocity and
displacement.
"""

import re

from drystone.ground.accelerogram import Accelerogram
from drystone.io.accelerograms.sheet import Sheet

TOP = 10  # [lines] within which the number of points must be
SIZE = r"(?=.*\bNPTS\b)(?=.*\bDT\b)(.*)"
UNIT = r"\bunits?\s*(?:of|are|in|:|=)?\s*[(\[]?\s*(g/10|g|gal|[cm]?m/s\S*)(?![\w/])"


def is_peer(sheet: Sheet) -> bool:
    """Whether the top states NPTS and DT."""
    return bool(sheet.told(SIZE, stop=TOP))


def read_peer(sheet: Sheet) -> list[Accelerogram]:
    """The component of an AT2 file."""
    line, _ = sheet.find(SIZE, "NPTS and DT", stop=TOP)
    other = sheet.told(r"\b(velocity|displacement)\b.*\bunits?\b", stop=line)
    if other:
        raise sheet.refusal(line, f"the file has a {other.lower()}, an acceleration is needed; take the AT2 of the same record")
    number = r"([-+.\w]+)"
    if re.search(r"NPTS\s*=", sheet.lines[line], re.IGNORECASE):
        points, step = rf"NPTS\s*=\s*{number}", rf"\bDT\s*=\s*{number}"
    else:
        points, step = rf"^\s*{number}", rf"^\s*\S+\s+{number}"
    count = sheet.whole(points, "NPTS", line, line + 1)
    time_step = sheet.positive(step, "the time step DT", line, line + 1)
    values, after = sheet.numbers(line + 1, count)
    sheet.ends(after, count)
    said = [part.strip() for part in sheet.lines[1].split(",")] if line >= 3 else []
    event, date, station, component = said if len(said) == 4 else ["", "", "", ""]
    about = {"format": "PEER", "event": event, "date": date, "station": station}
    unit = sheet.told(UNIT, stop=line) or None
    return [sheet.accelerogram(line + 1, component, time_step, values, unit, about)]

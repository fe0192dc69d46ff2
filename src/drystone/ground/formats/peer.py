"""Reads PEER AT2, with one component.

Three lines of text, one of them with the unit ("... IN UNITS OF G"), then the number of points and the step in one of two
styles, "NPTS=  7999, DT= .0050 SEC" or "4096 0.0100 NPTS, DT", then the values. VT2 and DT2 have the same format, but are
velocities and displacements.
"""

import re

from drystone.ground.accelerogram import Accelerogram
from drystone.ground.formats.text_reader import Sheet

TOP_LINES = 10  # [lines] within which the number of points must be
SIZE_LINE = r"(?=.*\bNPTS\b)(?=.*\bDT\b)(.*)"
UNIT_PATTERN = r"\bunits?\s*(?:of|are|in|:|=)?\s*[(\[]?\s*(g/10|g|gal|[cm]?m/s\S*)(?![\w/])"


def is_peer(sheet: Sheet) -> bool:
    """Whether the top states NPTS and DT."""
    return bool(sheet.header_field(SIZE_LINE, stop=TOP_LINES))


def read_peer(sheet: Sheet) -> list[Accelerogram]:
    """The component of an AT2 file."""
    line, _ = sheet.required_field(SIZE_LINE, "NPTS and DT", stop=TOP_LINES)
    other_kind = sheet.header_field(r"\b(velocity|displacement)\b.*\bunits?\b", stop=line)
    if other_kind:
        raise sheet.to_error(
            line, f"the file has a {other_kind.lower()}, an acceleration is needed; take the AT2 of the same record"
        )
    number = r"([-+.\w]+)"
    if re.search(r"NPTS\s*=", sheet.lines[line], re.IGNORECASE):
        points, step = rf"NPTS\s*=\s*{number}", rf"\bDT\s*=\s*{number}"
    else:
        points, step = rf"^\s*{number}", rf"^\s*\S+\s+{number}"
    count = sheet.whole_number(points, "NPTS", line, line + 1)
    time_step = sheet.positive_number(step, "the time step DT", line, line + 1)
    values, after = sheet.read_values(line + 1, count)
    sheet.reject_more(after, count)
    parts = [part.strip() for part in sheet.lines[1].split(",")] if line >= 3 else []
    event, date, station, component = parts if len(parts) == 4 else ["", "", "", ""]
    about = {"format": "PEER", "event": event, "date": date, "station": station}
    unit = sheet.header_field(UNIT_PATTERN, stop=line) or None
    return [sheet.make_accelerogram(line + 1, component, time_step, values, unit, about)]

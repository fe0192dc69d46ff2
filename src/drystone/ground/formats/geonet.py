"""Reads GeoNet V1A and V2A (New Zealand), with three components one after the other.

Each component is 16 lines of text, 4 of integers, 6 of reals, then accelerations in mm/s2, ten per line of eight characters
each, velocities and displacements; the integers state how many of each there are. Velocities and displacements are skipped.
"""

from drystone.ground.accelerogram import Accelerogram
from drystone.ground.formats.text_reader import Sheet, format_peak

TEXT_LINES, INTEGER_LINES, REAL_LINES = 16, 4, 6  # [lines]
NUMBER_WIDTH = 8  # [characters] of a number
INTERVAL_PATTERN = r"\bat\s+(?:intervals of\s+)?(\S+)\s*s(?:ec)?\b"
PEAK_PATTERN = r"^Acceleration:\s*peak\s*(\S+)\s+mm/s/s"


def is_geonet(sheet: Sheet) -> bool:
    """Whether the first line names an accelerogram as GeoNet does."""
    return bool(sheet.header_field(r"^(?:un)?corrected accelerogram\s+(\d{8}_\d{6}_)", stop=1))


def read_geonet(sheet: Sheet) -> list[Accelerogram]:
    """The components of a file."""
    components, start = [], 0
    while sheet.has_more(start):
        component, start = _component(sheet, start)
        components.append(component)
    return components


def _component(sheet: Sheet, start: int) -> tuple[Accelerogram, int]:
    head = start, start + TEXT_LINES
    time_step = sheet.positive_number(INTERVAL_PATTERN, "the time step", start, start + 12)
    _, peak = sheet.required_field(PEAK_PATTERN, "the peak acceleration in mm/s/s", *head)
    integers, reals_at = sheet.read_values(start + TEXT_LINES, 10 * INTEGER_LINES, NUMBER_WIDTH)
    first = after = reals_at + REAL_LINES
    count, velocities, displacements = (int(number) for number in integers[33:36])
    sheet.check_count(reals_at - 1, count, sheet.whole_number(r"^Number of points\s*(\S+)", "the number of points", *head))
    values, after = sheet.read_values(first, count, NUMBER_WIDTH)
    for rest in (velocities, displacements):
        _, after = sheet.read_values(after, rest, NUMBER_WIDTH)
    about = {
        "format": "GeoNet",
        "event": sheet.lines[start + 6].strip(),
        "date": sheet.lines[start + 7].strip(),
        "station": sheet.header_field(r"^Site\s*(\S+)", *head),
        "stated_pga": format_peak(peak, "mm/s2"),
    }
    component = sheet.header_field(r"^Component\s*(\S+)", *head)
    return sheet.make_accelerogram(first, component, time_step, values, "mm/s2", about), after

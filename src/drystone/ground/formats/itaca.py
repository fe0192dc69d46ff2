"""Reads corrected accelerations of the older ITACA (`.cor.acc`), with one component.

Nine lines "key : value", a title with the unit, then values of fixed width, which have no blank before a negative one.
"""

from drystone.ground.accelerogram import Accelerogram
from drystone.ground.formats.text_reader import Sheet, format_peak

TITLE_LINE = r"^Acc\w+ time series in (\S+)"


def is_itaca(sheet: Sheet) -> bool:
    """Whether the header states an increment and a number of data."""
    return bool(sheet.header_field(r"^(Time Increment)")) and bool(sheet.header_field(r"^(Number of Data)"))


def read_itaca(sheet: Sheet) -> list[Accelerogram]:
    """The component of a `.cor.acc` file."""
    time_step = sheet.positive_number(r"^Time Increment \(s\)\s*:(.*)", "the time increment")
    count = sheet.whole_number(r"^Number of Data\s*:(.*)", "the number of data")
    title, unit = sheet.required_field(TITLE_LINE, "the unit of the acceleration")
    values, after = sheet.read_values(title + 1, count)
    sheet.reject_more(after, count)
    about = {
        "format": "ITACA",
        "date": sheet.header_field(r"^Event Date & Time\s*:(.*)"),
        "station": sheet.header_field(r"^Station Code / Name\s*:(.*)"),
        "stated_pga": format_peak(sheet.header_field(r"^PGA \(m/s/s\)\s*:(.*)"), "m/s2"),
    }
    component = sheet.header_field(r"^Orientation\s*:(.*)")
    return [sheet.make_accelerogram(title + 1, component, time_step, values, unit, about)]

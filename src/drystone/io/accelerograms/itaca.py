"""Corrected accelerations of the older ITACA (`.cor.acc`): one component comes in, one `Accelerogram` goes out.

Nine lines "key : value", a title with the unit, then values of fixed width, which stick together where they are negative.
"""

from drystone.ground.accelerogram import Accelerogram
from drystone.io.accelerograms.sheet import Sheet, in_si

TITLE = r"^Acc\w+ time series in (\S+)"


def is_itaca(sheet: Sheet) -> bool:
    """Whether the header states an increment and a number of data."""
    return bool(sheet.told(r"^(Time Increment)")) and bool(sheet.told(r"^(Number of Data)"))


def read_itaca(sheet: Sheet) -> list[Accelerogram]:
    """The component of a `.cor.acc` file."""
    time_step = sheet.positive(r"^Time Increment \(s\)\s*:(.*)", "the time increment")
    count = sheet.whole(r"^Number of Data\s*:(.*)", "the number of data")
    title, unit = sheet.find(TITLE, "the unit of the acceleration")
    values, after = sheet.numbers(title + 1, count)
    sheet.ends(after, count)
    about = {
        "format": "ITACA",
        "date": sheet.told(r"^Event Date & Time\s*:(.*)"),
        "station": sheet.told(r"^Station Code / Name\s*:(.*)"),
        "stated_pga": in_si(sheet.told(r"^PGA \(m/s/s\)\s*:(.*)"), "m/s2"),
    }
    component = sheet.told(r"^Orientation\s*:(.*)")
    return [sheet.accelerogram(title + 1, component, time_step, values, unit, about)]

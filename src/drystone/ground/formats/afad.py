"""Reads text files of AFAD/NSMN (Turkey), with three components in columns.

Lines "KEY : value", a line with the names of the columns, then the columns in the unit of the peaks, gal.
"""

import re

from drystone.ground.accelerogram import Accelerogram
from drystone.ground.formats.text_reader import Sheet, format_peak


def is_afad(sheet: Sheet) -> bool:
    """Whether the header states peaks and a sampling interval as AFAD does."""
    return bool(sheet.header_field(r"^(SAMPLING INTERVAL) \(sec\)")) and bool(sheet.header_field(r"^(RAW PGA VALUES)"))


def read_afad(sheet: Sheet) -> list[Accelerogram]:
    """The components of an AFAD file."""
    time_step = sheet.positive_number(r"^SAMPLING INTERVAL \(sec\)\s*:(.*)", "the sampling interval")
    count = sheet.whole_number(r"^NUMBER OF DATA\s*:(.*)", "the number of data")
    _, unit = sheet.required_field(r"^RAW PGA VALUES \((\S+)\)", "the unit of its peaks")
    titles, names = sheet.required_field(r"^\s+(\w-\w(?:\s+\w-\w)*)\s*$", "the names of the columns, N-S E-W U-D")
    components = names.split()
    values = sheet.read_table(titles + 1, len(components))
    sheet.check_count(titles + 1, len(values), count)
    peaks = dict(re.findall(r"\((\w-\w)\)\s*(\S+)", sheet.header_field(r"^(RAW PGA VALUES.*)")))
    about = {
        "format": "AFAD",
        "date": sheet.header_field(r"^EARTHQUAKE DATE\s*:(.*)"),
        "station": sheet.header_field(r"^STATION ID\s*:(.*)"),
    }
    return [
        sheet.make_accelerogram(
            titles + 1, name, time_step, column, unit, about | {"stated_pga": format_peak(peaks.get(name, ""), unit)}
        )
        for name, column in zip(components, values.T, strict=True)
    ]

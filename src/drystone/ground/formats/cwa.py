"""Reads text files of CWA (Taiwan), with the time and three components in columns.

Lines "#Key: value"; "#DataSequence: Time U(+); N(+); E(+)" names the columns, the values are of fixed width.
"""

import re

from drystone.ground.accelerogram import Accelerogram
from drystone.ground.formats.text_reader import Sheet, format_peak


def is_cwa(sheet: Sheet) -> bool:
    """Whether the header states a sequence of data and a unit as CWA does."""
    return bool(sheet.header_field(r"^#(DataSequence)")) and bool(sheet.header_field(r"^#(AmplitudeUnit)"))


def read_cwa(sheet: Sheet) -> list[Accelerogram]:
    """The components of a CWA file."""
    rate = sheet.positive_number(r"^#SampleRate\(Hz\):(.*)", "the sampling rate [Hz]")
    length = sheet.positive_number(r"^#RecordLength\(sec\):(.*)", "the length of the record [s]")
    _, unit = sheet.required_field(r"^#AmplitudeUnit:\s*(\w+(?:/s(?:ec)?2)?)", "the unit of its values")
    _, sequence = sheet.required_field(r"^#DataSequence:\s*Time(.*)", "the sequence of its columns")
    first, _ = sheet.required_field(r"^#(Data):", "where the data begin")
    components = re.findall(r"(\w+)\(\+\)", sequence)
    values = sheet.read_table(first + 1, 1 + len(components))
    sheet.check_count(first + 1, len(values), round(length * rate))
    about = {
        "format": "CWA",
        "date": sheet.header_field(r"^#Origin Time\(\S+\):(.*)"),
        "station": sheet.header_field(r"^#StationCode:(.*)"),
    }
    return [
        sheet.make_accelerogram(first + 1, name, 1 / rate, column, unit, about | {"stated_pga": _peak(sheet, name, unit)})
        for name, column in zip(components, values.T[1:], strict=True)
    ]


def _peak(sheet: Sheet, component: str, unit: str) -> str:
    """The larger of the two values in "0.658~ -0.837"."""
    ends = sheet.header_field(rf"^#AmplitudeMAX\. {component}:(.*)").split("~")
    return max((format_peak(end, unit) for end in ends), key=lambda peak: abs(float(peak or 0)))

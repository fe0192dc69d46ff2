"""CWA text (Taiwan): time and three components in columns come in, three `Accelerogram`s go out.

Lines "#Key: value"; "#DataSequence: Time U(+); N(+); E(+)" names the columns, the values are of fixed width.
"""

import re

from drystone.ground.accelerogram import Accelerogram
from drystone.io.accelerograms.sheet import Sheet, in_si


def is_cwa(sheet: Sheet) -> bool:
    """Whether the header states a sequence of data and a unit as CWA does."""
    return bool(sheet.told(r"^#(DataSequence)")) and bool(sheet.told(r"^#(AmplitudeUnit)"))


def read_cwa(sheet: Sheet) -> list[Accelerogram]:
    """The components of a CWA file."""
    rate = sheet.positive(r"^#SampleRate\(Hz\):(.*)", "the sampling rate [Hz]")
    length = sheet.positive(r"^#RecordLength\(sec\):(.*)", "the length of the record [s]")
    _, unit = sheet.find(r"^#AmplitudeUnit:\s*(\w+(?:/s(?:ec)?2)?)", "the unit of its values")
    _, sequence = sheet.find(r"^#DataSequence:\s*Time(.*)", "the sequence of its columns")
    first, _ = sheet.find(r"^#(Data):", "where the data begin")
    components = re.findall(r"(\w+)\(\+\)", sequence)
    values = sheet.table(first + 1, 1 + len(components))
    sheet.must_agree(first + 1, len(values), round(length * rate))
    about = {
        "format": "CWA",
        "date": sheet.told(r"^#Origin Time\(\S+\):(.*)"),
        "station": sheet.told(r"^#StationCode:(.*)"),
    }
    return [
        sheet.accelerogram(first + 1, name, 1 / rate, column, unit, about | {"stated_pga": _peak(sheet, name, unit)})
        for name, column in zip(components, values.T[1:], strict=True)
    ]


def _peak(sheet: Sheet, component: str, unit: str) -> str:
    """The larger of the two, "0.658~ -0.837"."""
    ends = sheet.told(rf"^#AmplitudeMAX\. {component}:(.*)").split("~")
    return max((in_si(end, unit) for end in ends), key=lambda peak: abs(float(peak or 0)))

"""Reads text files of K-NET and KiK-net (NIED, Japan), with one component.

Seventeen lines of header, with the values from the 19th character on, then counts; multiplied by the scale factor,
"3920(gal)/6182761", they are in gal. The offset of the record is kept: "Max. Acc." is that of the record without its mean.
"""

from drystone.ground.accelerogram import Accelerogram
from drystone.ground.formats.text_reader import Sheet, format_peak

# 1 in the borehole, 2 at the surface
KIKNET_COMPONENTS = {"1": "NS1", "2": "EW1", "3": "UD1", "4": "NS2", "5": "EW2", "6": "UD2"}


def is_knet(sheet: Sheet) -> bool:
    """Whether the header has a scale factor and a sampling frequency."""
    return bool(sheet.header_field(r"^(Scale Factor)")) and bool(sheet.header_field(r"^(Sampling Freq)"))


def read_knet(sheet: Sheet) -> list[Accelerogram]:
    """The component of a K-NET or KiK-net file."""
    rate = sheet.positive_number(r"^Sampling Freq\(Hz\)\s*([-+.\d]*)", "the sampling frequency [Hz]")
    duration = sheet.positive_number(r"^Duration Time\(s\)\s*(\S*)", "the duration [s]")
    _, unit = sheet.required_field(r"^Scale Factor\s*(.*)", "the scale factor")
    memo, _ = sheet.required_field(r"^(Memo)", "the end of the header, Memo.")
    values, after = sheet.read_values(memo + 1, round(duration * rate))
    sheet.reject_more(after, len(values))
    about = {
        "format": "K-NET",
        "date": sheet.header_field(r"^Origin Time\s*(.*)"),
        "station": sheet.header_field(r"^Station Code\s*(.*)"),
        "stated_pga": format_peak(sheet.header_field(r"^Max\. Acc\. \(gal\)\s*(.*)"), "gal"),
    }
    direction = sheet.header_field(r"^Dir\.\s*(.*)")
    return [sheet.make_accelerogram(memo + 1, KIKNET_COMPONENTS.get(direction, direction), 1 / rate, values, unit, about)]

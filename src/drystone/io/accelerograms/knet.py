"""K-NET and KiK-net ASCII (NIED, Japan): one component comes in, one `Accelerogram` goes out.

Seventeen lines of header, the value from the 19th character on, then counts; times the scale factor, "3920(gal)/6182761", they
are gal. The record's own offset is left in: "Max. Acc." is that of the record without its mean.
"""

from drystone.ground.accelerogram import Accelerogram
from drystone.io.accelerograms.sheet import Sheet, in_si

KIKNET = {"1": "NS1", "2": "EW1", "3": "UD1", "4": "NS2", "5": "EW2", "6": "UD2"}  # 1 in the borehole, 2 at the surface


def is_knet(sheet: Sheet) -> bool:
    """Whether the header has a scale factor and a sampling frequency."""
    return bool(sheet.told(r"^(Scale Factor)")) and bool(sheet.told(r"^(Sampling Freq)"))


def read_knet(sheet: Sheet) -> list[Accelerogram]:
    """The component of a K-NET or KiK-net file."""
    rate = sheet.positive(r"^Sampling Freq\(Hz\)\s*([-+.\d]*)", "the sampling frequency [Hz]")
    duration = sheet.positive(r"^Duration Time\(s\)\s*(\S*)", "the duration [s]")
    _, unit = sheet.find(r"^Scale Factor\s*(.*)", "the scale factor")
    memo, _ = sheet.find(r"^(Memo)", "the end of the header, Memo.")
    values, after = sheet.numbers(memo + 1, round(duration * rate))
    sheet.ends(after, len(values))
    about = {
        "format": "K-NET",
        "date": sheet.told(r"^Origin Time\s*(.*)"),
        "station": sheet.told(r"^Station Code\s*(.*)"),
        "stated_pga": in_si(sheet.told(r"^Max\. Acc\. \(gal\)\s*(.*)"), "gal"),
    }
    direction = sheet.told(r"^Dir\.\s*(.*)")
    return [sheet.accelerogram(memo + 1, KIKNET.get(direction, direction), 1 / rate, values, unit, about)]

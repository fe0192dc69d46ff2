"""Reads USGS SMC, with one component.

Eleven lines of text, 48 integers, 50 reals, comments that begin with |, then the values in cm/s2. The second real is the rate
[1/s], the 16th integer the number of comments, the 17th the number of values.
"""

from drystone.ground.accelerogram import Accelerogram
from drystone.ground.formats.text_reader import Sheet, format_peak

TEXT_LINES, INTEGER_COUNT, REAL_COUNT = 11, 48, 50
KIND_LINE = r"^\s*\d\s+((?:UN)?CORRECTED ACCELEROGRAM|VELOCITY|DISPLACEMENT|RESPONSE SPECTRA)\b"


def is_smc(sheet: Sheet) -> bool:
    """Whether the first line states the kind of data and the next lines are marked with asterisks."""
    return bool(sheet.header_field(KIND_LINE, stop=1)) and bool(sheet.header_field(r"^(\*)", start=1, stop=TEXT_LINES))


def read_smc(sheet: Sheet) -> list[Accelerogram]:
    """The component of an SMC file."""
    kind = sheet.header_field(KIND_LINE, stop=1)
    if "ACCELEROGRAM" not in kind.upper():
        raise sheet.to_error(0, f"the file has {kind.lower()}, an acceleration is needed; take that of the same record")
    integers, reals_at = sheet.read_values(TEXT_LINES, INTEGER_COUNT, width=10)
    reals, comments_at = sheet.read_values(reals_at, REAL_COUNT, width=15)
    comments, count, rate = int(integers[15]), int(integers[16]), float(reals[1])
    if count < 1 or comments < 0 or not 0 < rate < 1e38:
        message = f"{comments} comments, {count} values and {rate:g} samples per second; take the file as it was published"
        raise sheet.to_error(TEXT_LINES, message)
    first = comments_at + comments
    values, after = sheet.read_values(first, count)
    sheet.reject_more(after, count)
    about = {
        "format": "SMC",
        "event": " ".join(sheet.lines[3].split()),
        "station": sheet.header_field(r"^station\s*=\s*(.*?)\s+component", stop=TEXT_LINES),
        "stated_pga": format_peak(str(reals[29]), "cm/s2"),
    }
    component = sheet.header_field(r"component\s*=\s*(\S+)", stop=TEXT_LINES)
    return [sheet.make_accelerogram(first, component, 1 / rate, values, "cm/s2", about)]

"""Reads text files of ESM and ITACA (DYNA), with one component.

About 64 lines "KEY: value", then one value per line. Files of TADAS (AFAD, Turkey) have the same format.
"""

from drystone.ground.accelerogram import Accelerogram
from drystone.ground.formats.text_reader import Sheet, format_peak


def is_esm(sheet: Sheet) -> bool:
    """Whether the header has the keys of DYNA."""
    return bool(sheet.header_field(r"^(SAMPLING_INTERVAL_S):")) and bool(sheet.header_field(r"^(NDATA):"))


def read_esm(sheet: Sheet) -> list[Accelerogram]:
    """The component of an .ASC file."""
    kind = sheet.header_field(r"^DATA_TYPE:\s*(\S+)") or "ACCELERATION"
    if kind != "ACCELERATION":
        raise sheet.to_error(0, f"the file has a {kind.lower()}, an acceleration is needed; take the ACC of the same record")
    time_step = sheet.positive_number(r"^SAMPLING_INTERVAL_S:\s*(.*)", "the time step SAMPLING_INTERVAL_S")
    count = sheet.whole_number(r"^NDATA:\s*(.*)", "the number of samples NDATA")
    first = next((line for line, text in enumerate(sheet.lines) if ":" not in text), 0)
    values, after = sheet.read_values(first, count)
    sheet.reject_more(after, count)
    unit = sheet.header_field(r"^UNITS:\s*(\S+)") or None
    about = {
        "format": "ESM",
        "event": sheet.header_field(r"^EVENT_NAME:(.*)") or sheet.header_field(r"^EVENT_ID:(.*)"),
        "date": sheet.header_field(r"^EVENT_DATE_YYYYMMDD:(.*)"),
        "station": ".".join(filter(None, (sheet.header_field(rf"^{key}:(.*)") for key in ("NETWORK", "STATION_CODE")))),
        "stated_pga": format_peak(sheet.header_field(r"^PGA_CM/S\^2:\s*(\S+)"), "cm/s2"),
    }
    return [sheet.make_accelerogram(first, sheet.header_field(r"^STREAM:(.*)"), time_step, values, unit, about)]

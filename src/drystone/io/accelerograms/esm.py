"""ESM and ITACA ASCII (DYNA): one component comes in, one `Accelerogram` goes out.

About 64 lines "KEY: value", then a value a line. Files of TADAS (AFAD, Turkey) are the same.
"""

from drystone.ground.accelerogram import Accelerogram
from drystone.io.accelerograms.sheet import Sheet, in_si


def is_esm(sheet: Sheet) -> bool:
    """Whether the header has the keys of DYNA."""
    return bool(sheet.told(r"^(SAMPLING_INTERVAL_S):")) and bool(sheet.told(r"^(NDATA):"))


def read_esm(sheet: Sheet) -> list[Accelerogram]:
    """The component of an .ASC file."""
    kind = sheet.told(r"^DATA_TYPE:\s*(\S+)") or "ACCELERATION"
    if kind != "ACCELERATION":
        raise sheet.refusal(0, f"the file has a {kind.lower()}, an acceleration is needed; take the ACC of the same record")
    time_step = sheet.positive(r"^SAMPLING_INTERVAL_S:\s*(.*)", "the time step SAMPLING_INTERVAL_S")
    count = sheet.whole(r"^NDATA:\s*(.*)", "the number of samples NDATA")
    first = next((line for line, text in enumerate(sheet.lines) if ":" not in text), 0)
    values, after = sheet.numbers(first, count)
    sheet.ends(after, count)
    unit = sheet.told(r"^UNITS:\s*(\S+)") or None
    about = {
        "format": "ESM",
        "event": sheet.told(r"^EVENT_NAME:(.*)") or sheet.told(r"^EVENT_ID:(.*)"),
        "date": sheet.told(r"^EVENT_DATE_YYYYMMDD:(.*)"),
        "station": ".".join(filter(None, (sheet.told(rf"^{key}:(.*)") for key in ("NETWORK", "STATION_CODE")))),
        "stated_pga": in_si(sheet.told(r"^PGA_CM/S\^2:\s*(\S+)"), "cm/s2"),
    }
    return [sheet.accelerogram(first, sheet.told(r"^STREAM:(.*)"), time_step, values, unit, about)]

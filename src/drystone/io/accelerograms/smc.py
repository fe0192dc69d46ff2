"""USGS SMC: one component comes in, one `Accelerogram` goes out.

Eleven lines of text, 48 integers, 50 reals, comments that begin with |, then the values in cm/s2. The second real is the rate
[1/s], the 16th integer the number of comments, the 17th the number of values.
"""

from drystone.ground.accelerogram import Accelerogram
from drystone.io.accelerograms.sheet import Sheet, in_si

TEXT, INTEGERS, REALS = 11, 48, 50
KIND = r"^\s*\d\s+((?:UN)?CORRECTED ACCELEROGRAM|VELOCITY|DISPLACEMENT|RESPONSE SPECTRA)\b"


def is_smc(sheet: Sheet) -> bool:
    """Whether the first line says what is in it and the next lines are marked with asterisks."""
    return bool(sheet.told(KIND, stop=1)) and bool(sheet.told(r"^(\*)", start=1, stop=TEXT))


def read_smc(sheet: Sheet) -> list[Accelerogram]:
    """The component of an SMC file."""
    kind = sheet.told(KIND, stop=1)
    if "ACCELEROGRAM" not in kind.upper():
        raise sheet.refusal(0, f"the file has {kind.lower()}, an acceleration is needed; take that of the same record")
    integers, reals_at = sheet.numbers(TEXT, INTEGERS, width=10)
    reals, comments_at = sheet.numbers(reals_at, REALS, width=15)
    comments, count, rate = int(integers[15]), int(integers[16]), float(reals[1])
    if count < 1 or comments < 0 or not 0 < rate < 1e38:
        said = f"{comments} comments, {count} values and {rate:g} samples a second; take the file as it was published"
        raise sheet.refusal(TEXT, said)
    first = comments_at + comments
    values, after = sheet.numbers(first, count)
    sheet.ends(after, count)
    about = {
        "format": "SMC",
        "event": " ".join(sheet.lines[3].split()),
        "station": sheet.told(r"^station\s*=\s*(.*?)\s+component", stop=TEXT),
        "stated_pga": in_si(str(reals[29]), "cm/s2"),
    }
    component = sheet.told(r"component\s*=\s*(\S+)", stop=TEXT)
    return [sheet.accelerogram(first, component, 1 / rate, values, "cm/s2", about)]

"""Reads accelerograms of all formats, as `Accelerogram`s in m/s2, one per component.

The format is recognised by the content, and by the suffix only if the content does not decide. Units are never guessed.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from drystone.base.errors import InputError
from drystone.base.files.reading import read_bytes
from drystone.ground.accelerogram import Accelerogram
from drystone.ground.formats.afad import is_afad, read_afad
from drystone.ground.formats.columns import is_columns, read_columns
from drystone.ground.formats.cosmos import is_cosmos, read_cosmos
from drystone.ground.formats.csmip import is_csmip, read_csmip
from drystone.ground.formats.cwa import is_cwa, read_cwa
from drystone.ground.formats.esm import is_esm, read_esm
from drystone.ground.formats.geonet import is_geonet, read_geonet
from drystone.ground.formats.itaca import is_itaca, read_itaca
from drystone.ground.formats.knet import is_knet, read_knet
from drystone.ground.formats.peer import is_peer, read_peer
from drystone.ground.formats.seismology import is_miniseed, is_sac, read_seismology
from drystone.ground.formats.smc import is_smc, read_smc
from drystone.ground.formats.text_reader import Sheet, split_lines
from drystone.ground.formats.unam import is_unam, read_unam
from drystone.ground.formats.volume1 import is_volume1, read_volume1


class Format(NamedTuple):
    """A format of text files."""

    name: str
    suffixes: tuple[str, ...]
    is_it: Callable[[Sheet], bool]
    read: Callable[[Sheet], list[Accelerogram]]


TEXT_FORMATS = [
    Format("PEER", (".at2", ".vt2", ".dt2"), is_peer, read_peer),
    Format("ESM", (".asc",), is_esm, read_esm),
    Format("ITACA", (), is_itaca, read_itaca),
    Format("COSMOS", (".v1c", ".v2c"), is_cosmos, read_cosmos),
    Format("CSMIP", (".v1", ".v2"), is_csmip, read_csmip),
    Format("volume 1", (), is_volume1, read_volume1),
    Format("GeoNet", (".v1a", ".v2a"), is_geonet, read_geonet),
    Format("K-NET", (".ew", ".ns", ".ud", ".ew1", ".ns1", ".ud1", ".ew2", ".ns2", ".ud2"), is_knet, read_knet),
    Format("AFAD", (), is_afad, read_afad),
    Format("CWA", (), is_cwa, read_cwa),
    Format("UNAM", (), is_unam, read_unam),
    Format("SMC", (".smc",), is_smc, read_smc),
]
BINARY_FORMATS = {"SAC": is_sac, "miniSEED": is_miniseed}


def read_accelerograms(
    path: str | Path, *, unit: str | None = None, time_step: float | None = None, column: int | None = None
) -> list[Accelerogram]:
    """Read all components in a file of ground motions.

    unit: of the values, if the file does not state it ("g", "m/s2", "cm/s2", "gal", "mm/s2"); time_step [s]: if the file has no
    times; column: the one to read in a file of columns, numbered from 1 (times count as a column).
    """
    path = Path(path)
    if time_step is not None and not 0 < time_step < float("inf"):
        raise InputError(f"time step {time_step!r} is not above 0; give it in s")
    data, sheet = read_bytes(path), Sheet(path, [], unit, time_step)
    binary = next((kind for kind, is_it in BINARY_FORMATS.items() if is_it(data)), None)
    if binary is not None:
        _reject_column(path, column, binary)
        return read_seismology(sheet, data, binary)
    sheet = sheet._replace(lines=split_lines(path, data))
    known = next((each for each in TEXT_FORMATS if each.is_it(sheet)), None)
    known = known or next((each for each in TEXT_FORMATS if path.suffix.lower() in each.suffixes), None)
    if known is not None:
        _reject_column(path, column, known.name)
        return known.read(sheet)
    if is_columns(sheet):
        return read_columns(sheet, column)
    names = ", ".join(each.name for each in TEXT_FORMATS)
    raise InputError(
        f"{path}: not a ground motion that is known; give {names}, {', '.join(BINARY_FORMATS)} or columns of numbers"
    )


def _reject_column(path: Path, column: int | None, name: str) -> None:
    if column is not None:
        raise InputError(f"{path}: column {column} of a file in the format {name}, which has none; leave it out")

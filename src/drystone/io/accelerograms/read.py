"""The door of ground motions: a path comes in, `Accelerogram`s in m/s2 go out, one a component.

What a file is, its content says; its suffix only if the content does not. A unit is never guessed.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from drystone.errors import InputError
from drystone.ground.accelerogram import Accelerogram
from drystone.io.accelerograms.afad import is_afad, read_afad
from drystone.io.accelerograms.columns import is_columns, read_columns
from drystone.io.accelerograms.cwa import is_cwa, read_cwa
from drystone.io.accelerograms.esm import is_esm, read_esm
from drystone.io.accelerograms.itaca import is_itaca, read_itaca
from drystone.io.accelerograms.knet import is_knet, read_knet
from drystone.io.accelerograms.peer import is_peer, read_peer
from drystone.io.accelerograms.sheet import Sheet, read_sheet
from drystone.io.accelerograms.smc import is_smc, read_smc
from drystone.io.accelerograms.unam import is_unam, read_unam


class Format(NamedTuple):
    """A format of text files."""

    name: str
    suffixes: tuple[str, ...]
    is_it: Callable[[Sheet], bool]
    read: Callable[[Sheet], list[Accelerogram]]


FORMATS = [
    Format("PEER", (".at2", ".vt2", ".dt2"), is_peer, read_peer),
    Format("ESM", (".asc",), is_esm, read_esm),
    Format("ITACA", (), is_itaca, read_itaca),
    Format("K-NET", (".ew", ".ns", ".ud", ".ew1", ".ns1", ".ud1", ".ew2", ".ns2", ".ud2"), is_knet, read_knet),
    Format("AFAD", (), is_afad, read_afad),
    Format("CWA", (), is_cwa, read_cwa),
    Format("UNAM", (), is_unam, read_unam),
    Format("SMC", (".smc",), is_smc, read_smc),
]


def read_accelerograms(
    path: str | Path, *, unit: str | None = None, time_step: float | None = None, column: int | None = None
) -> list[Accelerogram]:
    """The components in a file of ground motions.

    unit: of the values, where the file does not state it ("g", "m/s2", "cm/s2", "gal", "mm/s2"); time_step [s]: where there is
    no time; column: of a file of columns the one to take, counted from 1 (the time is one too).
    """
    path = Path(path)
    if time_step is not None and not 0 < time_step < float("inf"):
        raise InputError(f"time step {time_step!r} is not above 0; give it in s")
    sheet = read_sheet(path)._replace(unit=unit, time_step=time_step)
    known = next((each for each in FORMATS if each.is_it(sheet)), None)
    known = known or next((each for each in FORMATS if path.suffix.lower() in each.suffixes), None)
    if known is None and is_columns(sheet):
        return read_columns(sheet, column)
    if known is None:
        names = ", ".join(each.name for each in FORMATS)
        raise InputError(f"{path}: not a ground motion that is known; give one of {names}, or columns of numbers")
    if column is not None:
        raise InputError(f"{path}: column {column} of a file in the format {known.name}, which has none; leave it out")
    return known.read(sheet)

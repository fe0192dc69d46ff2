"""Reads SAC and miniSEED with ObsPy, one `Accelerogram` per trace.

SAC does not state its unit, which the user must give. miniSEED has counts, whose sensitivity is in the StationXML (`*.xml`) of
the same folder; without it the user must give the unit of the counts.
"""

import re
import struct
import warnings
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from drystone.base.errors import InputError, missing_library
from drystone.base.files.reading import read_bytes
from drystone.ground.accelerogram import Accelerogram
from drystone.ground.formats.text_reader import Sheet

SAC_HEADER_BYTES = 632  # [byte] of SAC
OBSPY_NAMES = {"SAC": "SAC", "miniSEED": "MSEED"}  # its names
SAC_KINDS = {6: "displacement", 7: "velocity"}  # of SAC's IDEP


def is_sac(data: bytes) -> bool:
    """Whether the header has the version of SAC, in either byte order, in its place."""
    return len(data) >= SAC_HEADER_BYTES and any(struct.unpack(order + "i", data[304:308])[0] in (6, 7) for order in "<>")


def is_miniseed(data: bytes) -> bool:
    """Whether it begins with the number and quality of a record."""
    return re.match(rb"\d{6}[DRQM][ \0]", data) is not None


def read_seismology(sheet: Sheet, data: bytes, kind: str) -> list[Accelerogram]:
    """The traces of a file of the kind "SAC" or "miniSEED"; `sheet` has its path and what the user states."""
    try:
        from obspy import read
    except ImportError:
        raise missing_library("obspy", "seismology", sheet.path) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)  # ObsPy only warns of truncated or damaged records,
            warnings.simplefilter("error", RuntimeWarning)  # and NumPy of a time step that is 0
            traces = list(read(BytesIO(data), format=OBSPY_NAMES[kind]))
        _check_complete(sheet.path, data, traces)
        return [_component(sheet, trace) for trace in traces]
    except InputError:
        raise
    except Exception as error:  # ObsPy raises what its parts raise
        message = str(error).strip().partition("\n")[0][:80]
        raise InputError(f"{sheet.path}: not a {kind} file that can be read ({message}); take it as it was published") from None


def _check_complete(path: Path, data: bytes, traces: list[Any]) -> None:
    """Refuse a file that ends within a record, and a channel with gaps."""
    length = min((trace.stats.mseed.record_length for trace in traces if "mseed" in trace.stats), default=1)
    if len(data) % length:
        raise InputError(f"{path}: ends within a record of {length} bytes; take the file as it was published")
    channel, pieces = Counter(trace.id for trace in traces).most_common(1)[0]
    if pieces > 1:
        raise InputError(f"{path}: {channel} has gaps; give a record without gaps, or fill them")


def _component(sheet: Sheet, trace: Any) -> Accelerogram:
    values = np.asarray(trace.data, float)
    if not np.all(np.isfinite(values)):
        raise InputError(f"{sheet.path}: {trace.id} has a value that is not finite; give numbers only")
    if not 0 < trace.stats.delta < float("inf"):
        raise InputError(f"{sheet.path}: the time step of {trace.id} is {trace.stats.delta:g} s; give one above 0")
    about = {"format": "SAC", "station": f"{trace.stats.network}.{trace.stats.station}", "date": str(trace.stats.starttime)}
    unit = None
    if "sac" in trace.stats:
        other_kind = SAC_KINDS.get(int(trace.stats.sac.get("idep", -1)))
        if other_kind:
            raise InputError(
                f"{sheet.path}: the file has a {other_kind}, an acceleration is needed; take that of the same record"
            )
    else:
        sensitivity = _sensitivity(sheet.path.parent, trace)
        about["format"] = "miniSEED"
        if sensitivity is not None:
            unit = f"1(m/s2)/{sensitivity}"
    return sheet.make_accelerogram(None, trace.stats.channel, float(trace.stats.delta), values, unit, about)


def _sensitivity(folder: Path, trace: Any) -> float | None:
    """[s2/m] counts per m/s2, from the StationXML that has the channel; None if there is none."""
    from obspy import read_inventory

    for path in sorted(folder.glob("*.xml")):
        data = read_bytes(path)
        if trace.stats.station.encode() not in data:
            continue
        try:
            known = read_inventory(BytesIO(data), format="STATIONXML").get_response(trace.id, trace.stats.starttime)
        except Exception:  # not a StationXML, or it does not know this channel at this time
            continue
        sensitivity = known.instrument_sensitivity
        if sensitivity and (sensitivity.input_units or "").upper() in ("M/S**2", "M/S2", "M/S/S", "M/S^2"):
            return float(sensitivity.value)
        raise InputError(f"{path}: the sensitivity of {trace.id} is not one to acceleration; give an accelerometer's record")
    return None

"""`drystone record`: describe accelerograms."""

import math
from pathlib import Path
from typing import Any

import numpy as np

from drystone.base.errors import InputError
from drystone.base.files.atomic_write import replace_atomically
from drystone.cli.output import print_json
from drystone.ground.accelerogram import Accelerogram
from drystone.ground.corrections import apply_corrections
from drystone.ground.formats.accelerogram_files import read_accelerograms
from drystone.ground.intensity_measures import summarise_accelerogram
from drystone.ground.response_spectra import DEFAULT_DAMPING, response_spectrum
from drystone.io.motion_tables import read_component
from drystone.show.plots.ground_motion_plots import accelerograms_picture, print_accelerograms


def record(
    files: list[Path], component: str | None, column: int | None, unit: str | None, time_step: float | None,
    baseline: str | None, band: tuple[float, float] | None, window: tuple[float, float] | None,
    arias: tuple[float, float] | None, damping: float | None, plot: Path | None, out: Path | None, json: bool,
) -> None:  # fmt: skip
    if component is not None and column is not None:
        raise InputError("--component and --column choose the same thing; give only one of them")
    ratio = DEFAULT_DAMPING if damping is None else damping
    records, results = [], []
    for file in files:
        for each in _read(file, component or column, unit, time_step):
            record = apply_corrections(each, baseline=baseline, band=band, arias=arias, window=window)
            records.append(record)
            results.append({"file": str(file)} | summarise_accelerogram(record) | {"spectrum": _spectrum(record, ratio)})
    if out is not None:
        _write(records, out)
    if plot is not None:
        accelerograms_picture(records, plot, ratio)
    if json:
        print_json(results[0] if len(results) == 1 else {"records": results})
    else:
        print_accelerograms(results)


def _read(file: Path, component: str | int | None, unit: str | None, time_step: float | None) -> list[Accelerogram]:
    """Read all components of a file, or only the selected one."""
    if component is None:
        return read_accelerograms(file, unit=unit, time_step=time_step)
    return [read_component(file, component, unit, time_step)]


def _spectrum(record: Accelerogram, damping: float) -> dict[str, Any]:
    """Return the response spectrum [s, m/s2, m/s, m]; Sa and Sv are pseudo-spectral values."""
    spectrum = response_spectrum(record, damping=damping)
    values = {"period": spectrum.period, "sa": spectrum.pseudo_acceleration, "sv": spectrum.pseudo_velocity,
              "sd": spectrum.displacement}  # fmt: skip
    return {"damping": damping} | {name: column.tolist() for name, column in values.items()}


def _write(records: list[Accelerogram], out: Path) -> None:
    if len(records) != 1:
        raise InputError(f"--out {out}: a file holds one accelerogram, not {len(records)}; choose it with --component")
    record = records[0]
    table = np.column_stack([np.arange(len(record.acceleration)) * record.time_step, record.acceleration])
    digits = max(0, 6 - math.floor(math.log10(record.time_step)))
    with replace_atomically(out) as part:
        np.savetxt(part, table, fmt=[f"%.{digits}f", "%.17g"], delimiter=",", comments="",
                   header="time [s],acceleration [m/s2]")  # fmt: skip

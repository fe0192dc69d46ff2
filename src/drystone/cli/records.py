"""The command about ground motions: record."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drystone.cli.words import Json, app, print_json
from drystone.errors import InputError

if TYPE_CHECKING:
    from drystone.ground.accelerogram import Accelerogram


@app.command()
def record(
    files: Annotated[list[Path], typer.Argument(help="files of accelerograms; the format is found out")],
    component: Annotated[str | None, typer.Option(help="the component to take, by its name; all if not given")] = None,
    column: Annotated[int | None, typer.Option(help="the same for a file of columns, counted from 1, the time too")] = None,
    unit: Annotated[str | None, typer.Option(help="of the values, where a file does not say: g, m/s2, cm/s2, ...")] = None,
    time_step: Annotated[float | None, typer.Option(help="[s] between samples, where a file does not say")] = None,
    baseline: Annotated[str | None, typer.Option(help="to take off: constant, linear, quadratic or cubic")] = None,
    band: Annotated[tuple[float, float] | None, typer.Option(help="[Hz] keep frequencies from the one to the other")] = None,
    window: Annotated[tuple[float, float] | None, typer.Option(help="[s] keep what lies between these instants")] = None,
    arias: Annotated[tuple[float, float] | None, typer.Option(help="keep what lies between these shares of Arias")] = None,
    damping: Annotated[float | None, typer.Option(help="ratio of the response spectrum; 0.05 if not given")] = None,
    plot: Annotated[Path | None, typer.Option(help="draw time histories and response spectra (PNG, SVG, PDF)")] = None,
    out: Annotated[Path | None, typer.Option(help="write time and acceleration in m/s2 (CSV)")] = None,
    json: Json = False,
) -> None:
    """Say what ground motions are like: peaks, durations, spectra."""
    from drystone.ground.corrections import corrected
    from drystone.ground.measures import facts
    from drystone.ground.spectrum import DAMPING

    if component is not None and column is not None:
        raise InputError("--component and --column say the same thing twice; give one of the two")
    ratio = DAMPING if damping is None else damping
    records, found = [], []
    for file in files:
        for each in _read(file, component or column, unit, time_step):
            done = corrected(each, baseline=baseline, band=band, arias=arias, window=window)
            records.append(done)
            found.append({"file": str(file)} | facts(done) | {"spectrum": _spectrum(done, ratio)})
    if out is not None:
        _write(records, out)
    if plot is not None:
        from drystone.view.ground import records_picture

        records_picture(records, plot, ratio)
    if json:
        print_json(found[0] if len(found) == 1 else {"records": found})
    else:
        from drystone.view.ground import print_records

        print_records(found)


def _read(file: Path, component: str | int | None, unit: str | None, time_step: float | None) -> "list[Accelerogram]":
    """The components of a file, or the one asked for."""
    from drystone.io.accelerograms.read import read_accelerograms
    from drystone.io.motion_tables import read_component

    if component is None:
        return read_accelerograms(file, unit=unit, time_step=time_step)
    return [read_component(file, component, unit, time_step)]


def _spectrum(record: "Accelerogram", damping: float) -> dict[str, Any]:
    """[s, m/s2, m/s, m] Sa and Sv are pseudo."""
    from drystone.ground.spectrum import response_spectrum

    spectrum = response_spectrum(record, damping=damping)
    values = {"period": spectrum.period, "sa": spectrum.pseudo_acceleration, "sv": spectrum.pseudo_velocity,
              "sd": spectrum.displacement}  # fmt: skip
    return {"damping": damping} | {name: column.tolist() for name, column in values.items()}


def _write(records: "list[Accelerogram]", out: Path) -> None:
    if len(records) != 1:
        raise InputError(f"--out {out}: {len(records)} records, and one goes into a file; choose it with --component")
    import numpy as np

    from drystone.io.whole import whole

    record = records[0]
    table = np.column_stack([np.arange(len(record.acceleration)) * record.time_step, record.acceleration])
    digits = max(0, 6 - math.floor(math.log10(record.time_step)))
    with whole(out) as part:
        np.savetxt(part, table, fmt=[f"%.{digits}f", "%.17g"], delimiter=",", comments="",
                   header="time [s],acceleration [m/s2]")  # fmt: skip

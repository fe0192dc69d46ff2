"""Ground motions for reading: tables of their measures on standard output, and a figure of time histories and spectra."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from drystone.base.units import GRAVITY
from drystone.ground.accelerogram import Accelerogram
from drystone.ground.motion import Motion
from drystone.ground.response_spectra import DEFAULT_DAMPING, response_spectrum
from drystone.ground.samples import integrate_twice
from drystone.show.plots.style import COLOURS, FAINT_GREY, LANDSCAPE_WIDTH, drawing, line_style
from drystone.show.tables.summary_tables import print_rows

TABLE_COLUMNS = {  # of the table of several accelerograms
    "dt": "dt",
    "length": "duration",
    "PGA": "pga",
    "PGV": "pgv",
    "PGD": "pgd",
    "Arias": "arias",
    "D5-95": "duration_5_95",
}
MAX_LEGEND_ROWS = 7  # accelerograms for which a legend has room


def print_accelerograms(records: Sequence[dict[str, Any]]) -> None:
    """Print one accelerogram as a list of its measures, several as a table with one line each."""
    if len(records) == 1:
        print_rows(_title(records[0]), _rows(records[0]))
        return
    print("".join(f"{heading:>10}" for heading in TABLE_COLUMNS) + "  record (unit in file)")
    for record in records:
        numbers = "".join(f"{record[name]:>10.4g}" for name in TABLE_COLUMNS.values())
        print(f"{numbers}  {_title(record)} ({record['unit_in_file']})")
    print(f"dt, length and D5-95 in s, PGA in m/s2, PGD in m, others in m/s; {_describe_integration(records[0]['done'])}")


def _title(record: dict[str, Any]) -> str:
    return f"{record['name']} {record['component']}".rstrip()


def _rows(record: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        ("samples", f"{record['samples']}, {record['dt']:g} s apart: {record['duration']:g} s"),
        ("unit in file", record["unit_in_file"]),
        ("PGA", f"{record['pga']:.4g} m/s2, {record['pga'] / GRAVITY:.4g} g"),
        ("PGV", f"{record['pgv']:.4g} m/s"),
        ("PGD", f"{record['pgd']:.4g} m"),
        ("Arias intensity", f"{record['arias']:.4g} m/s"),
        ("significant duration", f"{record['duration_5_95']:.4g} s (5-95 %), {record['duration_5_75']:.4g} s (5-75 %)"),
        ("cumulative absolute velocity", f"{record['cav']:.4g} m/s"),
        ("predominant period", f"{record['predominant_period']:.3g} s"),
        ("corrections", "; ".join(record["done"]) or "none"),
        ("velocity and displacement", _describe_integration(record["done"])),
    ]


def _describe_integration(done: Sequence[str]) -> str:
    corrected = any("baseline" in axis_label for axis_label in done)
    return "integrated " + ("after a baseline correction" if corrected else "as recorded, without a baseline correction")


def accelerograms_picture(records: Sequence[Accelerogram], path: str | Path, damping: float = DEFAULT_DAMPING) -> None:
    """Draw acceleration, velocity and displacement over time, and response spectra over the period."""
    with drawing(path, width=LANDSCAPE_WIDTH, height=7.5) as figure:
        _draw_records(figure, records, damping)


def _draw_records(figure: Any, records: Sequence[Accelerogram], damping: float) -> None:
    axes = figure.subplots(3, 2, sharex="col", width_ratios=(1.6, 1.0))
    for i, record in enumerate(records):
        colour, label = COLOURS[i % len(COLOURS)], record.label
        spectrum = response_spectrum(record, damping=damping)
        time = np.arange(len(record.acceleration)) * record.time_step
        histories = (record.acceleration, *integrate_twice(record.acceleration, record.time_step))
        responses = (spectrum.pseudo_acceleration, spectrum.pseudo_velocity, spectrum.displacement)
        for row, (history, response) in enumerate(zip(histories, responses, strict=True)):
            axes[row, 0].plot(time, history, color=colour, linewidth=0.7, label=label)
            axes[row, 1].plot(spectrum.period, response, color=colour, linewidth=1.3)
    labels = ("acceleration [m/s²]", "velocity [m/s]", "displacement [m]")
    response_labels = ("pseudo-acceleration [m/s²]", "pseudo-velocity [m/s]", "displacement [m]")
    for (left, right), history_label, response_label in zip(axes, labels, response_labels, strict=True):
        left.set_ylabel(history_label)
        left.axhline(0.0, color=FAINT_GREY, linewidth=0.6, zorder=0)
        right.set_ylabel(response_label)
        right.set_xscale("log")
        right.set_ylim(bottom=0.0)
    axes[0, 1].set_title(f"response spectra, {100 * damping:g} % damping")
    axes[0, 0].set_title(_describe_integration(records[0].done).replace("integrated", "velocity and displacement"))
    axes[2, 0].set_xlabel("time [s]")
    axes[2, 1].set_xlabel("period [s]")
    axes[2, 1].set_xticks([0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 4], ["0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "4"])
    axes[2, 1].minorticks_off()
    if len(records) <= MAX_LEGEND_ROWS:
        axes[0, 0].legend(loc="upper right")


def draw_motions(figure: Any, motions: Sequence[Motion], duration: float, step: float) -> None:
    """Draw acceleration, velocity and displacement of the motions of a case along their directions, up to `duration` [s]."""
    time = np.arange(round(duration / step) + 1) * step
    axes = figure.subplots(3, sharex=True)
    labels = ("acceleration [g]", "velocity [m/s]", "displacement [m]")
    for panel, axis_label in zip(axes, labels, strict=True):
        panel.axhline(0.0, color=FAINT_GREY, linewidth=0.6)
        panel.set_ylabel(axis_label)
    for k, motion in enumerate(motions):
        motion_histories = (motion.acceleration(time) / GRAVITY, motion.velocity(time), motion.displacement(time))
        of_supports = f" of {', '.join(motion.supports)}" if motion.supports else ""
        direction_text = ", ".join(f"{value:g}" for value in motion.direction)
        for panel, motion_history in zip(axes, motion_histories, strict=True):
            panel.plot(
                time,
                motion_history @ np.array(motion.direction),
                label=f"{motion.label}{of_supports}, along ({direction_text})",
                **line_style(k),
            )
    axes[-1].set_xlabel("time [s]")
    axes[0].legend()

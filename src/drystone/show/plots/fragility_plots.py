"""Pictures of a fragility study: its result comes in, files in its folder go out.

One shows fractions of collapse and fitted curves, as in NB's figure 22. The other shows the response to each accelerogram:
intensity against displacement, from an incremental dynamic analysis or from a cloud.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np

from drystone.base.errors import InputError
from drystone.base.units import GRAVITY
from drystone.show.plots.style import COLOURS, LINE_MARKERS, drawing, line_style
from drystone.study.lognormal_fit import Fit

Curve = dict[str, Any]


def fragility_pictures(result: dict[str, Any], folder: Path) -> list[Path]:
    """Draw the fragility curves, and the response to each accelerogram if the displacements were kept."""
    paths = [folder / "fragility.png"]
    with drawing(paths[0]) as figure:
        draw_fragility(figure, result)
    if result["method"] != "stripes":
        paths.append(folder / f"{result['method']}.png")
        with drawing(paths[1]) as figure:
            draw_records(figure, result)
    return paths


def draw_records(figure: Any, result: dict[str, Any]) -> None:
    """Draw the response to each accelerogram."""
    if result["method"] == "stripes":
        raise InputError("the method stripes keeps no displacements of the records; draw fragility instead")
    (_draw_incremental if result["method"] == "ida" else _draw_cloud)(figure, result)


def draw_fragility(figure: Any, result: dict[str, Any]) -> None:
    """Draw fractions of collapse, fitted curves and their confidence bands."""
    if not any(curve["rows"] for curve in result["curves"]):
        raise InputError("there is nothing to plot yet: no trial has ended")
    axes = figure.add_subplot()
    factor, unit = _intensity_unit(result)
    largest = 0.0
    for k, curve in enumerate(result["curves"]):
        line, marker = line_style(k), LINE_MARKERS[k % len(LINE_MARKERS)]
        x, share = _fractions(result["method"], curve)
        largest = max([largest, *x])
        axes.plot(factor * x, share, marker, color=line["color"], markersize=6, markerfacecolor="white", markeredgewidth=1.5,
                  clip_on=False, zorder=3)  # fmt: skip
        _draw_curve(axes, curve, line, factor, 1.1 * largest, _curve_label(curve, factor, unit))
    axes.set_xlim(0, 1.1 * factor * largest)
    axes.set_ylim(0, 1)
    axes.set_xlabel(f"{result['measure']} [{unit}]")
    limit = result["limit"]
    limit_text = (
        "collapse" if limit == "collapse" else f"a displacement of {limit if isinstance(limit, str) else f'{limit:g} m'}"
    )
    axes.set_ylabel(f"probability of {limit_text}")
    records, specimens = len(result["records"]), result["specimens"]
    counts = f"{records} records" + (f", {specimens} specimens" if specimens != records else "")
    failed = sum(curve["failed"] for curve in result["curves"])
    axes.set_title(f"{result['method']}, {counts}; bands 95 %" + (f"; {failed} failed trials left out" if failed else ""))
    axes.legend(loc="lower right")


def _fractions(method: str, curve: Curve) -> tuple[np.ndarray, np.ndarray]:
    """Intensities, and the share that collapsed: of the trials of a level, of the records up to a capacity, or of one trial."""
    if method == "stripes":
        levels = [level for level in curve["levels"] if level["trials"]]
        return (np.array([level["intensity"] for level in levels]),
                np.array([level["collapses"] / level["trials"] for level in levels]))  # fmt: skip
    if method == "cloud":
        rows = [row for row in curve["rows"] if row["collapsed"] is not None]
        return np.array([row["intensity"] for row in rows]), np.array([float(row["collapsed"]) for row in rows])
    brackets = np.array([(each["low"], math.inf if each["high"] is None else each["high"]) for each in curve["capacities"]])
    middle = np.sort(np.where(brackets[:, 0] > 0, np.sqrt(brackets[:, 0] * brackets[:, 1]), brackets[:, 1]))
    known = np.isfinite(middle)
    return middle[known], ((np.arange(len(middle)) + 0.5) / len(middle))[known]


def _draw_curve(axes: Any, curve: Curve, line: dict[str, Any], factor: float, largest: float, label: str) -> None:
    fitted = Fit(**curve["fit"])
    if fitted.theta is None:
        low, high = fitted.between
        axes.axvspan(factor * (low or 0), factor * (largest if high is None else high), color=line["color"], alpha=0.12,
                     label=label)  # fmt: skip
        return
    x = np.linspace(1e-3 * largest, largest, 400)
    axes.plot(factor * x, fitted.probability(x), label=label, **line)
    if curve["band"] is not None:
        band = curve["band"]
        axes.fill_betweenx(band["probability"], factor * np.array(band["low"]), factor * np.array(band["high"]), alpha=0.12,
                           color=line["color"], linewidth=0)  # fmt: skip


def _draw_incremental(figure: Any, result: dict[str, Any]) -> None:
    """Draw intensity against the largest displacement for each accelerogram, up to collapse."""
    axes = figure.add_subplot()
    factor, unit = _intensity_unit(result)
    for k, curve in enumerate(result["curves"]):
        colour = COLOURS[k % len(COLOURS)]
        by_record: dict[str, list[dict[str, Any]]] = {}
        for row in curve["rows"]:
            by_record.setdefault(row["record"], []).append(row)
        for rows in by_record.values():
            rows = [row for row in rows if row["displacement"] and row["collapsed"] is False]
            axes.plot([row["displacement"] for row in rows], [factor * row["intensity"] for row in rows], ".-", color=colour,
                      linewidth=0.8, markersize=4, alpha=0.7)  # fmt: skip
        collapsing = [each for each in curve["capacities"] if each["high"] is not None]
        axes.plot([], [], color=colour, label=_curve_label(curve, factor, unit))
        for each in collapsing:
            axes.axhline(factor * each["high"], xmin=0.97, color=colour, linewidth=1.2)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("largest displacement [m]")
    axes.set_ylabel(f"{result['measure']} [{unit}]")
    axes.set_title("one line per record up to collapse; marks on the right: intensity of collapse")
    axes.grid(which="both")
    axes.legend()


def _draw_cloud(figure: Any, result: dict[str, Any]) -> None:
    """Draw displacement against intensity, with the power law fitted to the trials that stand."""
    axes = figure.add_subplot()
    factor, unit = _intensity_unit(result)
    for k, curve in enumerate(result["curves"]):
        colour = COLOURS[k % len(COLOURS)]
        rows = [row for row in curve["rows"] if row["displacement"]]
        for collapsed, marker in ((False, "o"), (True, "x")):
            points = [row for row in rows if row["collapsed"] is collapsed]
            axes.plot([factor * row["intensity"] for row in points], [row["displacement"] for row in points], marker,
                      color=colour, markersize=5)  # fmt: skip
        law = curve["regression"]
        if law is None:
            axes.plot([], [], color=colour, label=", ".join([*_varied_values(curve), "no regression"]))
            continue
        x = np.geomspace(min(row["intensity"] for row in rows), max(row["intensity"] for row in rows), 50)
        y = np.exp(law["intercept"] + law["slope"] * np.log(x))
        label = ", ".join([*_varied_values(curve), f"slope {law['slope']:.2f}, scatter {law['scatter']:.2f}"])
        axes.plot(factor * x, y, color=colour, linewidth=1.8, label=label)
        axes.fill_between(factor * x, y * math.exp(-law["scatter"]), y * math.exp(law["scatter"]), color=colour, alpha=0.12)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(f"{result['measure']} [{unit}]")
    axes.set_ylabel("largest displacement [m]")
    axes.set_title("circles: standing; crosses: collapsed, until the trial ended")
    axes.grid(which="both")
    axes.legend()


def _intensity_unit(result: dict[str, Any]) -> tuple[float, str]:
    """The factor and the unit in which intensities are drawn; accelerations are drawn in g."""
    return (1 / GRAVITY, "g") if result["unit"] == "m/s2" else (1.0, result["unit"])


def _varied_values(curve: Curve) -> list[str]:
    return [f"{key.rsplit('.', 1)[-1]} {value}" for key, value in curve["vary"].items()]


def _curve_label(curve: Curve, factor: float, unit: str) -> str:
    fitted = Fit(**curve["fit"])
    fit_text = (
        f"no fit: {fitted.status}" if fitted.theta is None else f"θ = {factor * fitted.theta:.3g} {unit}, β = {fitted.beta:.2f}"
    )
    return ", ".join([*_varied_values(curve), fit_text])

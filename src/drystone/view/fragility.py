"""Pictures of a fragility study: what it found comes in, files in its folder go out. Fractions and curves as in NB fig. 22, and
what each record did: intensity against displacement, of incremental analysis and of a cloud."""

import math
from pathlib import Path
from typing import Any

import numpy as np

from drystone.errors import InputError
from drystone.study.fit import Fit
from drystone.units import GRAVITY
from drystone.view.style import COLOURS, MARKERS, drawing, look

Curve = dict[str, Any]


def fragility_pictures(found: dict[str, Any], folder: Path) -> list[Path]:
    """The fragility, and the records if their displacements were kept."""
    paths = [folder / "fragility.png"]
    with drawing(paths[0]) as figure:
        draw_fragility(figure, found)
    if found["method"] != "stripes":
        paths.append(folder / f"{found['method']}.png")
        with drawing(paths[1]) as figure:
            draw_records(figure, found)
    return paths


def draw_records(figure: Any, found: dict[str, Any]) -> None:
    """What each record did."""
    if found["method"] == "stripes":
        raise InputError("the records of stripes leave no displacements; draw fragility instead")
    (_draw_incremental if found["method"] == "ida" else _draw_cloud)(figure, found)


def draw_fragility(figure: Any, found: dict[str, Any]) -> None:
    """Fractions of collapse, fitted curves and their bands."""
    if not any(curve["rows"] for curve in found["curves"]):
        raise InputError("nothing to plot; no trial has ended yet")
    axes = figure.add_subplot()
    factor, unit = _shown(found)
    most = 0.0
    for k, curve in enumerate(found["curves"]):
        line, marker = look(k), MARKERS[k % len(MARKERS)]
        x, share = _fractions(found["method"], curve)
        most = max([most, *x])
        axes.plot(factor * x, share, marker, color=line["color"], markersize=6, markerfacecolor="white", markeredgewidth=1.5,
                  clip_on=False, zorder=3)  # fmt: skip
        _curve(axes, curve, line, factor, 1.1 * most, _label(curve, factor, unit))
    axes.set_xlim(0, 1.1 * factor * most)
    axes.set_ylim(0, 1)
    axes.set_xlabel(f"{found['measure']} [{unit}]")
    limit = found["limit"]
    reached = "collapse" if limit == "collapse" else f"a displacement of {limit if isinstance(limit, str) else f'{limit:g} m'}"
    axes.set_ylabel(f"probability of {reached}")
    records, specimens = len(found["records"]), found["specimens"]
    about = f"{records} records" + (f", {specimens} specimens" if specimens != records else "")
    failed = sum(curve["failed"] for curve in found["curves"])
    axes.set_title(f"{found['method']}, {about}; bands 95 %" + (f"; {failed} failed trials left out" if failed else ""))
    axes.legend(loc="lower right")


def _fractions(method: str, curve: Curve) -> tuple[np.ndarray, np.ndarray]:
    """Intensities and the share that collapsed: of the trials of a level, of records up to a capacity, or each trial."""
    if method == "stripes":
        levels = [level for level in curve["levels"] if level["trials"]]
        return (np.array([level["intensity"] for level in levels]),
                np.array([level["collapses"] / level["trials"] for level in levels]))  # fmt: skip
    if method == "cloud":
        rows = [row for row in curve["rows"] if row["collapsed"] is not None]
        return np.array([row["intensity"] for row in rows]), np.array([float(row["collapsed"]) for row in rows])
    ends = np.array([(each["low"], math.inf if each["high"] is None else each["high"]) for each in curve["capacities"]])
    middle = np.sort(np.where(ends[:, 0] > 0, np.sqrt(ends[:, 0] * ends[:, 1]), ends[:, 1]))
    known = np.isfinite(middle)
    return middle[known], ((np.arange(len(middle)) + 0.5) / len(middle))[known]


def _curve(axes: Any, curve: Curve, line: dict[str, Any], factor: float, most: float, label: str) -> None:
    best = Fit(**curve["fit"])
    if best.theta is None:
        low, high = best.between
        axes.axvspan(factor * (low or 0), factor * (most if high is None else high), color=line["color"], alpha=0.12,
                     label=label)  # fmt: skip
        return
    x = np.linspace(1e-3 * most, most, 400)
    axes.plot(factor * x, best.probability(x), label=label, **line)
    if curve["band"] is not None:
        band = curve["band"]
        axes.fill_betweenx(band["probability"], factor * np.array(band["low"]), factor * np.array(band["high"]), alpha=0.12,
                           color=line["color"], linewidth=0)  # fmt: skip


def _draw_incremental(figure: Any, found: dict[str, Any]) -> None:
    """Intensity against the largest displacement of each record, up to where it collapses."""
    axes = figure.add_subplot()
    factor, unit = _shown(found)
    for k, curve in enumerate(found["curves"]):
        colour = COLOURS[k % len(COLOURS)]
        by_record: dict[str, list[dict[str, Any]]] = {}
        for row in curve["rows"]:
            by_record.setdefault(row["record"], []).append(row)
        for rows in by_record.values():
            rows = [row for row in rows if row["displacement"] and row["collapsed"] is False]
            axes.plot([row["displacement"] for row in rows], [factor * row["intensity"] for row in rows], ".-", color=colour,
                      linewidth=0.8, markersize=4, alpha=0.7)  # fmt: skip
        ends = [each for each in curve["capacities"] if each["high"] is not None]
        axes.plot([], [], color=colour, label=_label(curve, factor, unit))
        for each in ends:
            axes.axhline(factor * each["high"], xmin=0.97, color=colour, linewidth=1.2)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("largest displacement [m]")
    axes.set_ylabel(f"{found['measure']} [{unit}]")
    axes.set_title("records while they stand; marks on the right: where they collapse")
    axes.grid(which="both")
    axes.legend()


def _draw_cloud(figure: Any, found: dict[str, Any]) -> None:
    """Displacement against intensity, with the power law through those that stand."""
    axes = figure.add_subplot()
    factor, unit = _shown(found)
    for k, curve in enumerate(found["curves"]):
        colour = COLOURS[k % len(COLOURS)]
        rows = [row for row in curve["rows"] if row["displacement"]]
        for fell, marker in ((False, "o"), (True, "x")):
            points = [row for row in rows if row["collapsed"] is fell]
            axes.plot([factor * row["intensity"] for row in points], [row["displacement"] for row in points], marker,
                      color=colour, markersize=5)  # fmt: skip
        law = curve["regression"]
        if law is None:
            axes.plot([], [], color=colour, label=", ".join([*_varied(curve), "no regression"]))
            continue
        x = np.geomspace(min(row["intensity"] for row in rows), max(row["intensity"] for row in rows), 50)
        y = np.exp(law["intercept"] + law["slope"] * np.log(x))
        label = ", ".join([*_varied(curve), f"slope {law['slope']:.2f}, scatter {law['scatter']:.2f}"])
        axes.plot(factor * x, y, color=colour, linewidth=1.8, label=label)
        axes.fill_between(factor * x, y * math.exp(-law["scatter"]), y * math.exp(law["scatter"]), color=colour, alpha=0.12)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(f"{found['measure']} [{unit}]")
    axes.set_ylabel("largest displacement [m]")
    axes.set_title("circles: standing; crosses: collapsed, until the trial ended")
    axes.grid(which="both")
    axes.legend()


def _shown(found: dict[str, Any]) -> tuple[float, str]:
    """Accelerations are shown in g."""
    return (1 / GRAVITY, "g") if found["unit"] == "m/s2" else (1.0, found["unit"])


def _varied(curve: Curve) -> list[str]:
    return [f"{key.rsplit('.', 1)[-1]} {value}" for key, value in curve["vary"].items()]


def _label(curve: Curve, factor: float, unit: str) -> str:
    best = Fit(**curve["fit"])
    said = f"no fit: {best.status}" if best.theta is None else f"θ = {factor * best.theta:.3g} {unit}, β = {best.beta:.2f}"
    return ", ".join([*_varied(curve), said])

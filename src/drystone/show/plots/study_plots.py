"""The pictures of a study: its result comes in, files in its folder go out. Only the sweep is drawn in this module itself."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from drystone.base.errors import InputError
from drystone.base.units import split_number_and_unit
from drystone.show.plots.failure_domain_plot import domain_pictures
from drystone.show.plots.fragility_plots import fragility_pictures
from drystone.show.plots.style import drawing, line_style

PLOTTED_NUMBERS = ("peak_displacement", "multiplier", "angle")  # the first of these that was measured is drawn
NUMBER_UNITS = {"peak_displacement": " [m]", "angle": " [rad]"}


def study_pictures(kind: str, result: dict[str, Any], folder: Path) -> list[Path]:
    """Draw the result of a study."""
    return STUDY_PICTURES[kind](result, folder)


def _sweep(result: dict[str, Any], folder: Path) -> list[Path]:
    path = folder / "sweep.png"
    with drawing(path) as figure:
        draw_sweep(figure, result)
    return [path]


def draw_sweep(figure: Any, result: dict[str, Any]) -> None:
    """Draw a measured number against the first varied number, with one line for every combination of the other values."""
    rows = [row for row in result["rows"] if row["outcome"]["status"] != "failed"]
    measured = next(
        (name for name in PLOTTED_NUMBERS if any(row["outcome"]["numbers"].get(name) is not None for row in rows)), None
    )
    varied_key = next((key for key in (rows[0]["sample"] if rows else ()) if _is_number(rows[0]["sample"][key])), None)
    if measured is None or varied_key is None:
        raise InputError("there is nothing to plot; a sweep is drawn once some trials have ended, if a number was varied")
    lines: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        others = ", ".join(f"{key} {value}" for key, value in row["sample"].items() if key != varied_key)
        lines.setdefault(others, []).append(row)
    axes = figure.add_subplot()
    for k, (label, members) in enumerate(sorted(lines.items())):
        _draw_line(axes, members, varied_key, measured, label, line_style(k))
    unit = _number(rows[0]["sample"][varied_key])[1]
    axes.set_xlabel(f"{varied_key}{f' [{unit}]' if unit else ''}")
    axes.set_ylabel(measured.replace("_", " ") + NUMBER_UNITS.get(measured, ""))
    axes.set_title("crosses: collapsed")
    if any(lines):
        axes.legend()


def _draw_line(axes: Any, rows: list[dict[str, Any]], varied_key: str, measured: str, label: str, line: dict[str, Any]) -> None:
    """Draw a line through its points, with crosses where the structure collapsed."""
    rows = sorted(rows, key=lambda row: _number(row["sample"][varied_key])[0])
    x = [_number(row["sample"][varied_key])[0] for row in rows]
    y = [row["outcome"]["numbers"].get(measured) for row in rows]
    y = [float("nan") if value is None else value for value in y]
    collapsed = [i for i, row in enumerate(rows) if row["outcome"]["status"] == "collapsed"]
    axes.plot(x, y, marker="o", label=label or None, **line)
    axes.plot([x[i] for i in collapsed], [y[i] for i in collapsed], "x", color=line["color"], markersize=10, markeredgewidth=2)


def _number(value: Any) -> tuple[float, str]:
    """The number and the unit of a value of a case."""
    return split_number_and_unit(value) if isinstance(value, str) else (float(value), "")


def _is_number(value: Any) -> bool:
    try:
        _number(value)
    except (InputError, TypeError):
        return False
    return True


STUDY_PICTURES: dict[str, Callable[[dict[str, Any], Path], list[Path]]] = {
    "failure-domain": domain_pictures,
    "fragility": fragility_pictures,
    "sweep": _sweep,
}

"""The picture of docs/performance.md: time of a step against the number of blocks, a panel a form, a line a method."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.measure import Row
from bench.scenes import FORMS, SIZES

matplotlib.use("agg")
STYLE = {  # Okabe and Ito's colours, which all eyes tell apart, and a mark each
    "native": ("#0072B2", "o"), "clarabel-kinematic": ("#D55E00", "s"), "clarabel-static": ("#E69F00", "D"),
    "gauss-seidel": ("#009E73", "v"), "p-spg-fb": ("#CC79A7", "P"), "nlgs": ("#56B4E9", "X"),
}  # fmt: skip


def draw(groups: Sequence[dict[str, Row]], path: Path) -> None:
    """Moving steps (starting and impacting) of every method, and standing ones of the native solver."""
    rows = [row for group in groups for row in group.values()]
    figure = Figure(figsize=(10, 4.6), layout="constrained")
    panels = figure.subplots(1, len(FORMS), sharey=True)
    for axes, form in zip(panels, FORMS, strict=True):
        here = [row for row in rows if row["form"] == form]
        for method, (colour, mark) in STYLE.items():
            mine = [row for row in here if row["method"] == method]
            moving = [row for row in mine if row["phase"] != "standing"]
            line(axes, [row for row in moving if row["law"] == "associated"], colour, mark, "-", method)
            if method == "native":
                line(axes, [row for row in mine if row["phase"] == "standing"], colour, mark, ":", "native, standing")
            line(axes, [row for row in moving if row["law"] == "coulomb"], colour, mark, "-.", f"{method}, Coulomb")
    for axes, form in zip(panels, FORMS, strict=True):
        finish(axes, form)
    panels[0].set_ylabel("processor time of a step [ms]")
    handles = {label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside right center", frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def time_of(row: Row) -> float:
    """[ms]; the limit if it was stopped there."""
    return max(row["ms"], 1e3 * row["limit"]) if row["stopped"] else row["ms"]


def line(axes: Axes, rows: Sequence[Row], colour: str, mark: str, dash: str, label: str) -> None:
    """Points of all rows, faint, hollow if the error asked for was not reached; a line through the geometric means of the
    scenes and phases that were measured at all sizes."""
    for row in rows:
        axes.plot(row["blocks"], time_of(row), mark, ms=4, alpha=0.45, color=colour, mfc=colour if row["reached"] else "none")
    sizes = [size for size in SIZES if any(row["size"] == size for row in rows)]
    places = [{(row["scene"], row["phase"]) for row in rows if row["size"] == size} for size in sizes]
    common = set.intersection(*places) if places else set()
    if not common:
        return
    chosen = [[row for row in rows if row["size"] == size and (row["scene"], row["phase"]) in common] for size in sizes]
    blocks = [np.exp(np.mean(np.log([row["blocks"] for row in some]))) for some in chosen]
    times = [np.exp(np.mean(np.log([time_of(row) for row in some]))) for some in chosen]
    axes.plot(blocks, times, dash, marker=mark, ms=6, color=colour, label=label)


def finish(axes: Axes, form: str) -> None:
    """Scales, a guide of slope one, words."""
    axes.set(xlim=(150, 27000), xscale="log", yscale="log", title=form, xlabel="blocks")
    axes.grid(True, which="major", alpha=0.3)
    axes.set_xticks(SIZES, [f"{size:,}" for size in SIZES])
    axes.minorticks_off()
    bottom = axes.get_ylim()[0]
    axes.plot(SIZES, [1.5 * bottom * size / SIZES[0] for size in SIZES], color="0.6", lw=1, label="linear in the blocks")

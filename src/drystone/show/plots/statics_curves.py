"""Curves of statics: capacity against direction or displacement, and the reactions of the supports.

Each `draw_...` draws in a given figure, each `..._picture` writes a file.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from drystone.base.errors import InputError
from drystone.show.plots.style import BLUE, FAINT_GREY, RED, drawing, line_style

Array = np.ndarray

Curves = Mapping[str, tuple[Array, Array]]  # two columns by the label of a curve

MAX_LEGEND_CURVES = 8  # curves in a legend
MIN_DRAWN_ERROR = 1e-12  # of the weight: smaller errors are drawn at this value


def polar_picture(curves: Curves, path: str | Path) -> None:
    """Collapse multipliers [share of the weight] of a horizontal load against its direction [deg]: 0 is +x, 90 is +y. The least
    of the first curve is marked."""
    with drawing(path) as figure:
        draw_polar(figure, curves)


def curve_picture(curves: Curves, path: str | Path) -> None:
    """Capacity curves by their labels: displacement [m] and multiplier [share of the weight]."""
    with drawing(path) as figure:
        draw_curves(figure, curves)


def base_picture(curves: Curves, path: str | Path) -> None:
    """Vertical reactions of the supports by their labels: time [s] and reaction [share of weight and loads]. A second plot
    shows the deviation from the full load on a logarithmic scale."""
    with drawing(path) as figure:
        draw_base(figure, curves)


def settlement_picture(result: Mapping[str, Any], path: str | Path) -> None:
    """Vertical and horizontal reactions of the supports [kN] and the widest crack [mm] against the settlement [mm]."""
    with drawing(path, height=5.5) as figure:
        draw_settlement(figure, result)


def draw_settlement(figure: Any, result: Mapping[str, Any]) -> None:
    """Draw the result of a settlement analysis."""
    settlement = 1e3 * np.array(result["settlement"])
    above, across, below = figure.subplots(3, sharex=True)
    for k, (name, support) in enumerate(result["supports"].items()):
        force = 1e-3 * np.array(support["reaction"])
        above.plot(settlement, force[:, 2], label=name, **line_style(k))
        across.plot(settlement, np.linalg.norm(force[:, :2], axis=1), **line_style(k))
    below.plot(settlement, 1e3 * np.array(result["widest_crack"]), **line_style(0))
    above.set_ylabel("vertical\nreaction [kN]")
    across.set_ylabel("horizontal\nreaction [kN]")
    below.set_ylabel("widest crack [mm]")
    below.set_xlabel("settlement [mm]")
    if len(result["supports"]) <= MAX_LEGEND_CURVES:
        above.legend()


def draw_polar(figure: Any, curves: Curves) -> None:
    _check_any(curves)
    axes: Any = figure.add_subplot(projection="polar")
    largest = 0.0
    for k, (label, (directions, multipliers)) in enumerate(curves.items()):
        directions, multipliers = _checked_columns(f"directions of {label!r}", directions, multipliers)
        order = np.argsort(directions % 360.0)
        angle, radius = np.radians(directions[order] % 360.0), multipliers[order]
        closed_line = np.append(angle, angle[0]), np.append(radius, radius[0])
        if k == 0:
            axes.fill(angle, radius, color=BLUE, alpha=0.18)
            least = int(radius.argmin())
            axes.plot(angle[least], radius[least], "D", color=RED, markersize=8, zorder=5)
            axes.set_title(f"collapse multiplier [-]; least {radius[least]:.3f} at {np.degrees(angle[least]):.0f}°")
        axes.plot(*closed_line, marker="o" if k == 0 else None, label=label, **line_style(k))
        largest = max(largest, float(radius.max()))
    axes.set_ylim(0.0, 1.1 * largest)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.06), ncols=2)


def draw_curves(figure: Any, curves: Curves) -> None:
    _check_any(curves)
    axes = figure.add_subplot()
    axes.axhline(0.0, color=FAINT_GREY, linewidth=0.8)
    for k, (label, (displacement, multiplier)) in enumerate(curves.items()):
        axes.plot(*_checked_columns(f"displacement of {label!r}", displacement, multiplier), label=label, **line_style(k))
    axes.set_xlabel("displacement [m]")
    axes.set_ylabel("multiplier of the live load [-]")
    axes.legend()


def draw_base(figure: Any, curves: Curves) -> None:
    _check_any(curves)
    above, below = figure.subplots(2, sharex=True)
    above.axhline(1.0, color=FAINT_GREY, linewidth=0.8)
    below.axhline(1e-4, color=FAINT_GREY, linewidth=0.8, linestyle="--")
    for k, (label, (time, share)) in enumerate(curves.items()):
        time, share = _checked_columns(f"time of {label!r}", time, share)
        above.plot(time, share, label=label, **line_style(k))
        below.semilogy(time, np.maximum(np.abs(share - 1), MIN_DRAWN_ERROR), **line_style(k))
    above.set_ylabel("reaction / weight [-]")
    below.set_ylabel("|reaction / weight - 1| [-]")
    below.set_xlabel("time [s]")
    above.legend()


def _check_any(curves: Curves) -> None:
    if not curves:
        raise InputError("there are no curves to draw; give at least one")


def _checked_columns(name: str, one: Array, other: Array) -> tuple[Array, Array]:
    """Two columns of finite numbers, equally long."""
    one, other = np.asarray(one, float), np.asarray(other, float)
    if one.shape != other.shape or one.ndim != 1 or not len(one):
        raise InputError(f"{name}: {one.shape} against multipliers {other.shape}; give equally many of both, at least one")
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        raise InputError(f"{name}: some values are not finite numbers; leave them out")
    return one, other

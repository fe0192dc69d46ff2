"""Curves for reports, drawn by matplotlib (extra `plot`): capacity against direction, capacity against displacement."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from drystone.errors import InputError

Array = np.ndarray

BLUE, RED = (0.0, 0.45, 0.70), (0.70, 0.18, 0.36)


def polar_picture(directions: Array, multipliers: Array, path: str | Path) -> None:
    """The collapse multiplier [share of the weight] of a horizontal load against its direction [deg], 0 is +x and 90 +y."""
    directions, multipliers = _checked("directions", directions, multipliers)
    figure = new_figure()
    axes: Any = figure.add_subplot(projection="polar")
    order = np.argsort(directions % 360.0)
    angle, radius = np.radians(directions[order] % 360.0), multipliers[order]
    if len(angle) > 2:
        axes.fill(angle, radius, color=BLUE, alpha=0.18)
        axes.plot(np.append(angle, angle[0]), np.append(radius, radius[0]), color=BLUE, linewidth=1.5)
    axes.plot(angle, radius, "o", color=BLUE, markersize=4)
    least = int(radius.argmin())
    axes.plot(angle[least], radius[least], "o", color=RED, markersize=8)
    axes.set_ylim(0.0, 1.1 * float(radius.max()))
    axes.set_title(f"collapse multiplier; least {radius[least]:.3f} at {np.degrees(angle[least]):.0f}°")
    figure.savefig(path)


def curve_picture(curves: Mapping[str, tuple[Array, Array]], path: str | Path) -> None:
    """Capacity curves by their labels: displacement [m] and multiplier [share of the weight]."""
    if not curves:
        raise InputError(f"{path}: there is no curve to draw; give at least one")
    figure = new_figure()
    axes = figure.add_subplot()
    for label, (displacement, multiplier) in curves.items():
        axes.plot(*_checked(f"displacement of {label!r}", displacement, multiplier), linewidth=1.8, label=label)
    axes.set_xlabel("displacement [m]")
    axes.set_ylabel("multiplier of the horizontal load")
    axes.axhline(0.0, color="0.6", linewidth=0.8)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path)


def base_picture(curves: Mapping[str, tuple[Array, Array]], path: str | Path) -> None:
    """What supports bear over time, by labels: time [s] and vertical reaction [share of weight and loads]. Below, on a
    logarithmic scale, how far it is from all of it."""
    if not curves:
        raise InputError(f"{path}: there is no curve to draw; give at least one")
    figure = new_figure()
    above, below = figure.subplots(2, sharex=True)
    for label, (time, share) in curves.items():
        time, share = _checked(f"time of {label!r}", time, share)
        above.plot(time, share, linewidth=1.5, label=label)
        below.semilogy(time, np.maximum(np.abs(share - 1), 1e-12), linewidth=1.5)
    above.axhline(1.0, color="0.6", linewidth=0.8)
    below.axhline(1e-4, color="0.6", linewidth=0.8, linestyle="--")
    above.set_ylabel("reaction / weight")
    below.set_ylabel("|reaction / weight - 1|")
    below.set_xlabel("time [s]")
    for axes in (above, below):
        axes.grid(alpha=0.3)
    above.legend(frameon=False)
    figure.savefig(path)


def new_figure() -> Any:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("matplotlib is needed to draw curves; install it with: pip install 'drystone[plot]'") from None
    figure = Figure(figsize=(7.0, 5.0), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _checked(name: str, one: Array, other: Array) -> tuple[Array, Array]:
    """Two columns of as many finite numbers."""
    one, other = np.asarray(one, float), np.asarray(other, float)
    if one.shape != other.shape or one.ndim != 1 or not len(one):
        raise InputError(f"{name}: {one.shape} against multipliers {other.shape}; give as many of both, one or more")
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        raise InputError(f"{name}: some are not finite numbers; leave those out")
    return one, other

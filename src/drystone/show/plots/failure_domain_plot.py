"""Failure domains drawn as in NB's figure 21: the result of a study comes in, a PNG and an SVG go out.

There is a panel for each curve. Every trial that collapsed is a dot in the colour of its direction, every trial that stood is a
small dot; lines are the boundaries of the two directions, bars are islands, and a dashed line is the static capacity. Several
curves have one more panel, with their convex hulls. In the SVG every dot has a text and links to its run if that was kept.
"""

import re
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from drystone.base.errors import InputError
from drystone.base.files.atomic_write import write_atomic
from drystone.base.units import GRAVITY
from drystone.show.plots.style import BLUE, RED, drawing, line_style
from drystone.study.trial_records import sample_text
from drystone.study.trial_table import read_rows

DIRECTION_COLOURS, DIRECTION_STYLES = {"+": BLUE, "-": RED}, {"+": "-", "-": "--"}
OUTCOME_LABELS = {True: "collapsed, direction {}", False: "stood, direction {}", None: "failed, direction {}"}
FAILED_COLOUR = "0.35"  # grey, for trials that failed to give a result
PANEL_SIZE = 6.0, 4.6  # [in]

DotAnchors = dict[str, str]  # the opening tag of each dot in the SVG, by its placeholder


def domain_pictures(result: dict[str, Any], folder: Path) -> list[Path]:
    """Draw the result of a study and write the pictures into its folder."""
    paths = [folder / "domain.png", folder / "domain.svg"]
    width, height = domain_size(result)
    with drawing(*paths, width=width, height=height) as figure:
        dots = draw_domain(figure, result, folder)
    write_atomic(paths[1], _with_anchors(paths[1].read_text(encoding="utf-8"), dots))
    return paths


def domain_size(result: Mapping[str, Any]) -> tuple[float, float]:
    """The width and height [in] of the figure."""
    high, wide = _rows_and_columns(result)
    return PANEL_SIZE[0] * wide, PANEL_SIZE[1] * high


def _rows_and_columns(result: Mapping[str, Any]) -> tuple[int, int]:
    panels = len(result["curves"]) + (len(result["curves"]) > 1)
    wide = 1 if panels == 1 else 2
    return -(-panels // wide), wide


def draw_domain(figure: Any, result: Mapping[str, Any], folder: Path) -> DotAnchors:
    """Draw the panels of a domain; return the anchors of the dots for the SVG."""
    if not any(direction["points"] for curve in result["curves"] for direction in curve["directions"].values()):
        raise InputError(f"{folder}: there is nothing to plot yet; a failure domain is drawn once some trials have ended")
    keys = _keys(folder)
    curves, dots = result["curves"], DotAnchors()
    panels = len(curves) + (len(curves) > 1)
    axes = figure.subplots(*_rows_and_columns(result), squeeze=False).ravel()
    labels = _labels(curves)
    for panel, curve, label in zip(axes, curves, labels, strict=False):
        _draw_curve(panel, curve, dots, folder, keys)
        panel.set_title(label)
    if len(curves) > 1:
        _draw_hulls(axes[len(curves)], curves, labels)
    for panel in axes[:panels]:
        _label_panel(panel, result)
    for panel in axes[panels:]:
        panel.set_visible(False)
    return dots


def _draw_curve(axes: Any, curve: Mapping[str, Any], dots: DotAnchors, folder: Path, keys: Mapping[str, str]) -> None:
    for sign, direction in curve["directions"].items():
        colour, place = (
            DIRECTION_COLOURS[sign],
            _shifted_sideways(axes, sign) if len(curve["directions"]) > 1 else axes.transData,
        )
        for collapsed, dot in ((False, {"s": 5, "alpha": 0.5}), (True, {"s": 16}), (None, {"s": 24, "marker": "x"})):
            points = [point for point in direction["points"] if point["collapsed"] is collapsed]
            drawn = axes.scatter(
                [point["half_period"] for point in points],
                [point["amplitude"] / GRAVITY for point in points],
                color=FAILED_COLOUR if collapsed is None else colour,
                linewidths=1 if collapsed is None else 0,
                label=OUTCOME_LABELS[collapsed].format(sign) if points else None,
                transform=place,
                **dot,
            )
            drawn.set_urls([_placeholder(dots, _anchor(point, sign, folder, keys)) for point in points])
        for line in _continuous_stretches(direction["boundary"]):
            axes.plot([point["half_period"] for point in line], [_boundary_amplitude(point) for point in line], color=colour,
                      linestyle=DIRECTION_STYLES[sign])  # fmt: skip
        for island in direction["islands"]:
            bar = [island[end] / GRAVITY for end in ("stands_from", "stands_to")]
            axes.plot([island["half_period"]] * 2, bar, color=colour, linewidth=5, alpha=0.25, solid_capstyle="butt",
                      transform=place)  # fmt: skip
    _draw_hull(axes, curve, color="0.3", linewidth=1.0, linestyle=":", label="convex hull")
    for capacity in _capacities(curve):
        axes.axhline(capacity, color="0.3", linestyle="--", linewidth=1.1, label=f"static capacity {capacity} g")


def _shifted_sideways(axes: Any, sign: str) -> Any:
    """The transform of the dots of a direction: shifted sideways by 2 points, so that the dots of both directions are
    visible."""
    from matplotlib.transforms import ScaledTranslation

    return axes.transData + ScaledTranslation(float(f"{sign}2") / 72, 0.0, axes.figure.dpi_scale_trans)


def _capacities(curve: Mapping[str, Any]) -> list[float]:
    """The static capacities [g] of the directions, rounded to four digits, each value once."""
    capacities = [value for value in (curve["capacity"] or {}).values() if value is not None]
    return sorted({float(f"{value / GRAVITY:.4g}") for value in capacities})


def _draw_hull(axes: Any, curve: Mapping[str, Any], **line: Any) -> None:
    """The convex hull of both directions of a curve, closed upwards (T107)."""
    if curve["hull"]:
        periods, amplitudes = zip(*curve["hull"], strict=True)
        top = max(point["amplitude"] for direction in curve["directions"].values() for point in direction["points"])
        axes.plot([periods[0], *periods], [amplitude / GRAVITY for amplitude in (top, *amplitudes)], **line)


def _draw_hulls(axes: Any, curves: list[dict[str, Any]], labels: list[str]) -> None:
    for k, (curve, label) in enumerate(zip(curves, labels, strict=True)):
        _draw_hull(axes, curve, label=label, **line_style(k))
        for capacity in _capacities(curve):
            axes.axhline(capacity, linewidth=0.8, **line_style(k))
    axes.set_title("convex hulls of both directions; horizontal lines: static capacity")


def _label_panel(axes: Any, result: Mapping[str, Any]) -> None:
    axes.set_xlabel(f"{result['time_key'].removeprefix('motion.').replace('_', '-')} of the {result['pulse']} [s]")
    axes.set_ylabel("amplitude [g]")
    axes.set_xlim(0.0, 1.04 * result["half_periods"][-1])
    axes.set_ylim(0.0, 1.04 * result["amplitudes"][-1] / GRAVITY)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(loc="upper right", frameon=True)


def _labels(curves: list[dict[str, Any]]) -> list[str]:
    """The labels of the curves: the values in which they differ."""
    shared = [key for key in curves[0]["vary"] if len({sample_text({key: curve["vary"][key]}) for curve in curves}) == 1]
    return [", ".join(f"{key} = {value}" for key, value in curve["vary"].items() if key not in shared) for curve in curves]


def _continuous_stretches(boundary: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """The stretches of a boundary without a gap, where both of its sides are within the range."""
    line: list[dict[str, Any]] = []
    for point in boundary:
        if point["stands"] is None or point["collapses"] is None:
            yield line
            line = []
        else:
            line.append(point)
    yield line


def _boundary_amplitude(point: Mapping[str, float]) -> float:
    """[g] the middle between the amplitude that stands and the one that collapses."""
    return (point["stands"] + point["collapses"]) / 2 / GRAVITY


def _keys(folder: Path) -> dict[str, str]:
    """The keys of the trials in a study's folder, by their samples."""
    return {sample_text(row.sample): row.key for row in read_rows(folder)}


def _anchor(point: Mapping[str, Any], sign: str, folder: Path, keys: Mapping[str, str]) -> str:
    """The opening tag of a dot in the SVG: its link and its tooltip."""
    outcome = {True: "collapsed", False: "stood", None: "failed"}[point["collapsed"]]
    text = f"{point['half_period']:g} s, {sign}{point['amplitude'] / GRAVITY:.4g} g: {outcome}"
    key = keys.get(sample_text(point["sample"]))
    if key is not None and (folder / "runs" / key).exists():
        return f'<a xlink:href="runs/{key}/"><title>{escape(f"{text}; runs/{key}")}</title>'
    if key is not None:
        text += f"; to compute its run: drystone study --trial {key} {folder} -o run"
    return f"<a><title>{escape(text)}</title>"


def _placeholder(dots: DotAnchors, anchor: str) -> str:
    """A placeholder that matplotlib writes as the address of a dot, until `_with_anchors` replaces it by the anchor."""
    name = f"dot-{len(dots)}"
    dots[name] = anchor
    return name


def _with_anchors(svg: str, dots: DotAnchors) -> str:
    return re.sub(r'<a xlink:href="(dot-\d+)"[^>]*>', lambda match: dots[match[1]], svg)

"""Figures in the layout of the papers: a run comes in, a PNG goes out."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from drystone.base.units import GRAVITY
from drystone.results.store.run_reader import Run
from drystone.show.pictures.picture import strip
from drystone.show.pictures.png import write_png
from drystone.show.plots.energies_and_errors import draw_energy
from drystone.show.plots.style import FAINT_GREY, LANDSCAPE_WIDTH, drawing

ENERGIES = "energies over the weight, the potential energy relative to the start"


def plot_beside_energy(run: Run, path: Path, draw: Callable[[Any], None]) -> None:
    """Plot in the layout of NB: (a) a motion, which `draw` draws into the axes, and (b) the energies."""
    with drawing(path, width=LANDSCAPE_WIDTH, height=4.0) as figure:
        left, right = figure.subfigures(1, 2)
        axes = left.add_subplot()
        axes.axhline(0.0, color=FAINT_GREY, linewidth=0.6)
        draw(axes)
        axes.legend()
        draw_energy(right, run, GRAVITY)


def draw_snapshots(run: Run, instants: Sequence[float], path: Path, **line_style: Any) -> None:
    """Draw the structure at some instants [s], three per row."""
    image = strip(run, [int(np.abs(run.time - instant).argmin()) for instant in instants], width=480, **line_style)
    write_png(path, np.concatenate(np.split(image, len(instants) // 3, axis=1)))

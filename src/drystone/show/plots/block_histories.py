"""Plots of blocks over time: displacement, rotation and velocity against time, and rotation against angular velocity.

Everything is relative to the first frame and to the moving ground.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from drystone.base.errors import InputError
from drystone.io.case import Case
from drystone.results import quantities
from drystone.results.measures import monitored_blocks, phase_portrait, select_blocks
from drystone.results.store.run_reader import Run
from drystone.show.plots.style import COLOURS, FAINT_GREY, LINE_STYLES, line_style

Array = np.ndarray

AXIS_NAMES = "xyz"
DRAWN_COMPONENT_SHARE = 0.01  # of the largest component: smaller components are drawn only on request
MAX_LINES = len(COLOURS) * len(LINE_STYLES)  # lines in one plot that can be told apart


class BlockHistory(NamedTuple):
    """A vector quantity of each block over time."""

    label_format: str  # with {} for the component
    unit: str
    factor: float  # from SI to the unit
    columns: slice  # of the displacements or velocities (F, B, 6)
    rate: bool = False


BLOCK_HISTORIES = {
    "displacement": BlockHistory("displacement {}", "m", 1.0, slice(0, 3)),
    "rotation": BlockHistory("rotation about {}", "deg", 180 / np.pi, slice(3, 6)),
    "velocity": BlockHistory("velocity {}", "m/s", 1.0, slice(0, 3), rate=True),
}


def draw_history(figure: Any, run: Run, name: str, blocks: Sequence[int], components: str = "") -> None:
    """Draw a panel for each component (x, y or z) that is requested, or else that moves, with one line per block."""
    history = BLOCK_HISTORIES[name]
    motion = run.velocity if history.rate else quantities.displacements(run)
    values = history.factor * motion[:, blocks, history.columns]
    shown_components = components or _moving(values)
    panels = figure.subplots(len(shown_components), sharex=True, squeeze=False)[:, 0]
    for panel, axis in zip(panels, shown_components, strict=True):
        panel.axhline(0.0, color=FAINT_GREY, linewidth=0.6)
        for k, block in enumerate(blocks):
            panel.plot(run.time, values[:, k, AXIS_NAMES.index(axis)], label=_label(run, block), **line_style(k))
        panel.set_ylabel(f"{history.label_format.format(axis)} [{history.unit}]")
    panels[0].legend(ncols=min(len(blocks), 4), loc="best")
    panels[-1].set_xlabel("time [s]")


def draw_phase(figure: Any, run: Run, blocks: Sequence[int], axis: str = "") -> None:
    """Draw the rotation of each block about an axis against its rate; by default about the axis of the largest rotation."""
    largest_turn = np.abs(quantities.displacements(run)[:, blocks, 3:]).max(axis=(0, 1))
    axis = axis or AXIS_NAMES[int(largest_turn.argmax())]
    panel = figure.add_subplot()
    panel.axhline(0.0, color=FAINT_GREY, linewidth=0.6)
    panel.axvline(0.0, color=FAINT_GREY, linewidth=0.6)
    for k, block in enumerate(blocks):
        angle, rate = phase_portrait(run, block, np.eye(3)[AXIS_NAMES.index(axis)])
        panel.plot(angle, rate, label=_label(run, block), **line_style(k))
        panel.plot(angle[0], rate[0], "o", color=line_style(k)["color"])
    panel.set_xlabel(f"rotation about {axis} [rad]")
    panel.set_ylabel(f"angular velocity about {axis} [rad/s]")
    panel.legend(title="dots: start")


def choose_drawn_blocks(run: Run, case: Case, names: str) -> list[int]:
    """The blocks that a user names, or else those that are monitored or move most, as many as can be told apart."""
    if not names:
        return monitored_blocks(run, case.output.monitor)[:MAX_LINES]
    chosen = select_blocks(run, names)
    if len(chosen) > MAX_LINES:
        raise InputError(
            f"blocks {names!r}: {len(chosen)} blocks; a plot shows at most {MAX_LINES} lines that can be told apart; name fewer"
        )
    return chosen


def _moving(values: Array) -> str:
    """The components of values (F, n, 3) that move; x if none does."""
    largest = np.abs(values).max(axis=(0, 1))
    return (
        "".join(axis for axis, each in zip(AXIS_NAMES, largest, strict=True) if each > DRAWN_COMPONENT_SHARE * largest.max())
        or "x"
    )


def _label(run: Run, block: int) -> str:
    name = run.model.blocks[block].name
    return f"{block}: {name}" if name else str(block)

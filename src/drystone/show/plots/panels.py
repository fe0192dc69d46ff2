"""The plots of a run or a study: its folder and a request such as "energy,blocks=12:14" come in, a figure goes out.

name              one of `PANELS`
name.xz           the components of a history, or the axis of a phase portrait
name=12:14+crown  blocks by number, by a range that includes both ends, by name or by group
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from drystone.base.errors import InputError, did_you_mean
from drystone.base.files.reading import read_own_json, read_utf8
from drystone.engine.solvers.residual import MARGIN
from drystone.io.case import Case
from drystone.io.toml_problems import read_toml
from drystone.results.measures import base_resultant
from drystone.results.store.run_reader import read_result, read_run, recorded_case
from drystone.show.pictures.analysis_pictures import capacity_curves, pushover_curve
from drystone.show.plots.block_histories import AXIS_NAMES, BLOCK_HISTORIES, choose_drawn_blocks, draw_history, draw_phase
from drystone.show.plots.elevation import draw_forces, draw_thrust
from drystone.show.plots.energies_and_errors import draw_convergence, draw_energy, draw_ledger
from drystone.show.plots.failure_domain_plot import domain_size, draw_domain
from drystone.show.plots.fragility_plots import draw_fragility, draw_records
from drystone.show.plots.ground_motion_plots import draw_motions
from drystone.show.plots.statics_curves import draw_base, draw_curves, draw_polar, draw_settlement
from drystone.show.plots.study_plots import draw_sweep
from drystone.show.plots.style import PAGE_WIDTH, drawing
from drystone.structure.loads import loads_at, vertical_forces
from drystone.study.trial_table import RESULT_FILE

ALL_HISTORIES = "blocks"  # stands for all of BLOCK_HISTORIES
BLOCK_PANELS = (*BLOCK_HISTORIES, "phase")


class PlotRequest(NamedTuple):
    """One plot that a user asks for."""

    name: str
    components: str = ""  # some of x, y and z
    blocks: str = ""  # in the form that `select_blocks` reads


class PlotSource(NamedTuple):
    """What is plotted: a run, or a study, which has a result but neither a run nor a case."""

    folder: Path
    kind: str  # of the analysis or of the study
    result: dict[str, Any]  # the result of an analysis of statics or of a study; empty if there is none
    run: Any = None  # Run; None for a study
    case: Any = None  # Case; None for a study
    frame: int = -1  # the frame of plots that show one instant

    @property
    def goes_through_time(self) -> bool:
        return self.case is not None and self.case.goes_through_time

    @property
    def pose(self) -> int:
        """The frame with the blocks at the places where the contacts of the chosen frame are. An analysis of statics displaces
        the blocks in its later frames only to show its mechanism."""
        return self.frame if self.goes_through_time or self.kind in ("pushover", "settlement") else 0


class Panel(NamedTuple):
    """One kind of plot."""

    description: str
    applies: Callable[[PlotSource], bool]  # whether the source has this plot
    draw: Callable[[Any, PlotSource, PlotRequest], object]  # draws it in a figure
    is_default: bool = True  # drawn when no plot is named
    height: float = 3.0  # [in]


def open_source(folder: str | Path, frame: int = -1) -> PlotSource:
    """Read a run or a study from its folder."""
    folder = Path(folder)
    if (folder / "study.json").exists():
        kind = read_toml(read_utf8(folder / "study.toml"), folder / "study.toml")["study"]["kind"]
        path = folder / RESULT_FILE
        return PlotSource(folder, kind, read_own_json(path) if path.exists() else {})
    run = read_run(folder)
    case = recorded_case(run)
    if not -run.frames <= frame < run.frames:
        raise InputError(f"frame {frame}: {folder} has frames 0 to {run.frames - 1}")
    return PlotSource(folder, case.analysis.kind, read_result(folder) or {}, run, case, frame)


def read_requests(text: str, source: PlotSource) -> list[PlotRequest]:
    """The plots that a text asks for; an empty text asks for those that are drawn by default."""
    if not text.strip():
        return [PlotRequest(name) for name in available_panels(source) if PANELS[name].is_default]
    requests = [_parse_request(word.strip(), source) for word in text.split(",") if word.strip()]
    return [each for request in requests for each in _expand_histories(request)]


def available_panels(source: PlotSource) -> list[str]:
    """The names of the panels that a run or a study has."""
    return [name for name, panel in PANELS.items() if panel.applies(source)]


def plot(source: PlotSource, requests: Sequence[PlotRequest], path: str | Path, width: float = PAGE_WIDTH) -> None:
    """Draw the requested plots one above the other in one file: PNG, SVG or PDF."""
    if not requests:
        raise InputError(f"{source.folder} has nothing to plot; it may have been interrupted before its first result")
    heights = [_height(source, each) for each in requests]
    if source.kind == "failure-domain":
        width = domain_size(source.result)[0]
    with drawing(path, width=width, height=sum(heights)) as figure:
        parts = figure.subfigures(len(requests), height_ratios=heights, squeeze=False)[:, 0] if len(requests) > 1 else [figure]
        for part, each in zip(parts, requests, strict=True):
            PANELS[each.name].draw(part, source, each)


def _parse_request(word: str, source: PlotSource) -> PlotRequest:
    """One request of a user, checked."""
    spec, _, blocks = word.partition("=")
    name, _, components = spec.partition(".")
    names = [*available_panels(source), *([ALL_HISTORIES] if source.goes_through_time else [])]
    if name not in names:
        reason = "is not in this " + ("study" if source.run is None else "run") if name in PANELS else "is not a plot"
        raise InputError(f"{name!r} {reason}{did_you_mean(name, names)}; {source.folder} has {', '.join(names)}")
    takes_blocks = name == ALL_HISTORIES or name in BLOCK_PANELS
    if (blocks or components) and not takes_blocks:
        raise InputError(f"{word!r}: {name} takes neither blocks nor components; write only {name!r}")
    if "=" in word and not blocks:
        raise InputError(f"{word!r}: no blocks are named after =; name some, as in {name}=12:14")
    if set(components) - set(AXIS_NAMES) or (name == "phase" and len(components) > 1):
        raise InputError(f"{word!r}: the components are x, y and z, and phase takes one of them; write {name}.x")
    return PlotRequest(name, components, blocks)


def _expand_histories(request: PlotRequest) -> list[PlotRequest]:
    return [request._replace(name=name) for name in BLOCK_HISTORIES] if request.name == ALL_HISTORIES else [request]


def _height(source: PlotSource, request: PlotRequest) -> float:
    if source.kind == "failure-domain":
        return domain_size(source.result)[1]
    return PANELS[request.name].height


def residual_limits(case: Case) -> dict[str, float]:
    """The tolerance of a case, and the residual up to which the solver accepts a step of rigid contact as converged."""
    limits = {"tolerance": case.solver.tolerance}
    if case.solver.method == "native" and not case.surface.compliant:
        limits["accepted for rigid contact"] = MARGIN * case.solver.tolerance
    return limits


def _chosen(source: PlotSource, request: PlotRequest) -> list[int]:
    return choose_drawn_blocks(source.run, source.case, request.blocks)


def _history(figure: Any, source: PlotSource, request: PlotRequest) -> None:
    draw_history(figure, source.run, request.name, _chosen(source, request), request.components)


def _phase(figure: Any, source: PlotSource, request: PlotRequest) -> None:
    draw_phase(figure, source.run, _chosen(source, request), request.components)


def _ground(figure: Any, source: PlotSource, request: PlotRequest) -> None:
    draw_motions(figure, source.case.motions, source.case.history.duration, source.case.history.time_step)


def _base(figure: Any, source: PlotSource, request: PlotRequest) -> None:
    run, case = source.run, source.case
    pressed = vertical_forces(run.model, loads_at(case.loads, run.time[-1]), case.analysis.gravity).sum()
    share = base_resultant(run, case.history.time_step) / pressed
    draw_base(figure, {case.analysis.kind: (run.time[1:], share[1:])})


def _convergence(figure: Any, source: PlotSource, request: PlotRequest) -> None:
    draw_convergence(figure, source.run, residual_limits(source.case))


def _thrust(figure: Any, source: PlotSource, request: PlotRequest) -> None:
    lines = source.result.get("thrust", {}).get("lines", {})
    named_lines = {name: np.array(line) for name, line in lines.items()}
    draw_thrust(figure, source.run, source.frame, source.pose, named_lines)


def _is_history(source: PlotSource) -> bool:
    return source.goes_through_time and source.run.frames > 1


def _has_forces(source: PlotSource) -> bool:
    return source.run is not None and source.run.frames > 1


def _is_kind(kind: str) -> Callable[[PlotSource], bool]:
    return lambda source: source.kind == kind and bool(source.result)


PANELS: dict[str, Panel] = {
    "ground": Panel(
        "acceleration, velocity and displacement of the ground or of the supports",
        lambda source: source.goes_through_time and bool(source.case.motions),
        _ground,
        height=4.2,
    ),
    "displacement": Panel("displacement of blocks over time", _is_history, _history, height=3.6),
    "rotation": Panel("rotation of blocks over time", _is_history, _history, height=3.6),
    "velocity": Panel("velocity of blocks over time", _is_history, _history, is_default=False, height=3.6),
    "phase": Panel("rotation of blocks against angular velocity", _is_history, _phase, is_default=False, height=4.0),
    "energy": Panel(
        "energies per unit of weight",
        _is_history,
        lambda figure, source, request: draw_energy(figure, source.run, source.case.analysis.gravity),
    ),
    "ledger": Panel(
        "where the energy went", _is_history, lambda figure, source, request: draw_ledger(figure, source.run), is_default=False
    ),
    "base": Panel(
        "vertical reaction of the supports over time",
        lambda source: _is_history(source) and source.case.analysis.gravity > 0,
        _base,
        is_default=False,
        height=4.0,
    ),
    "thrust": Panel("thrust line of an arch or a column", _has_forces, _thrust, is_default=False, height=4.5),
    "forces": Panel(
        "forces in the joints in one frame",
        _has_forces,
        lambda figure, source, request: draw_forces(figure, source.run, source.frame, source.pose),
        height=4.5,
    ),
    "curve": Panel(
        "capacity curve: multiplier against displacement",
        _is_kind("pushover"),
        lambda figure, source, request: draw_curves(figure, {"pushover": pushover_curve(source.result)}),
        height=4.0,
    ),
    "settlement": Panel(
        "reaction of each support, and the widest crack, against the settlement",
        lambda source: _is_kind("settlement")(source) and len(source.result["settlement"]) > 1,
        lambda figure, source, request: draw_settlement(figure, source.result),
        height=5.5,
    ),
    "capacity": Panel(
        "collapse multiplier against direction",
        _is_kind("capacity"),
        lambda figure, source, request: draw_polar(figure, capacity_curves(source.result)),
        height=5.0,
    ),
    "convergence": Panel(
        "residual, cost and overlap of blocks in every step", _is_history, _convergence, is_default=False, height=4.2
    ),
    "domain": Panel(
        "failure domain",
        _is_kind("failure-domain"),
        lambda figure, source, request: draw_domain(figure, source.result, source.folder),
    ),
    "fragility": Panel(
        "fractions of collapse and fitted curves",
        _is_kind("fragility"),
        lambda figure, source, request: draw_fragility(figure, source.result),
        height=5.0,
    ),
    "records": Panel(
        "response to each accelerogram",
        lambda source: _is_kind("fragility")(source) and source.result["method"] != "stripes",
        lambda figure, source, request: draw_records(figure, source.result),
        is_default=False,
        height=5.0,
    ),
    "sweep": Panel(
        "measured numbers against the varied value",
        _is_kind("sweep"),
        lambda figure, source, request: draw_sweep(figure, source.result),
        height=5.0,
    ),
}

"""What can be plotted of a run or a study: its folder and words such as "energy,blocks=12:14" come in, a figure goes out.

    name              one of PANELS
    name.xz           components of a history, axis of a phase portrait
    name=12:14+crown  blocks by number, range with both ends, name or group
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from drystone.errors import InputError, did_you_mean
from drystone.io.case import Case
from drystone.io.given import read_json, read_text
from drystone.io.problems import read_toml
from drystone.loads import at_time, pressing
from drystone.measure import base_resultant
from drystone.record import read_result, read_run, recorded_case
from drystone.solvers.residual import MARGIN
from drystone.study.table import RESULT
from drystone.view.accounts import draw_convergence, draw_energy, draw_ledger
from drystone.view.domain import domain_size, draw_domain
from drystone.view.elevation import draw_forces, draw_thrust
from drystone.view.fragility import draw_fragility, draw_records
from drystone.view.ground import draw_motions
from drystone.view.histories import AXES, HISTORIES, draw_history, draw_phase, drawn_blocks
from drystone.view.plots import draw_base, draw_curves, draw_polar, draw_settlement
from drystone.view.results import capacity_of, curve_of
from drystone.view.studies import draw_sweep
from drystone.view.style import PAGE, drawing

BLOCKS = "blocks"  # stands for the histories of HISTORIES
OF_BLOCKS = (*HISTORIES, "phase")


class Asked(NamedTuple):
    """One of the things that a user wants to see."""

    name: str
    components: str = ""  # some of x, y and z
    blocks: str = ""  # as measure.chosen_blocks reads them


class Source(NamedTuple):
    """What is plotted: a run, or a study, of which there are facts only."""

    folder: Path
    kind: str  # of the analysis or of the study
    facts: dict[str, Any]  # what an analysis of statics or a study found; empty if there is no such
    run: Any = None  # Run; the run and the case of a study's panels are not looked at
    case: Any = None  # Case
    frame: int = -1  # of pictures of one instant

    @property
    def goes_through_time(self) -> bool:
        return self.case is not None and self.case.goes_through_time

    @property
    def pose(self) -> int:
        """The frame in which the blocks lie where the contacts of the chosen one are: statics moves blocks to be seen."""
        return self.frame if self.goes_through_time or self.kind in ("pushover", "settlement") else 0


class Panel(NamedTuple):
    """Something that can be plotted."""

    words: str
    fits: Callable[[Source], bool]  # whether the source has it
    draw: Callable[[Any, Source, Asked], object]  # in a figure
    usual: bool = True  # drawn when nothing is said
    height: float = 3.0  # [in]


def open_source(folder: str | Path, frame: int = -1) -> Source:
    """A run or a study from its folder."""
    folder = Path(folder)
    if (folder / "study.json").exists():
        kind = read_toml(read_text(folder / "study.toml"), folder / "study.toml")["study"]["kind"]
        found = folder / RESULT
        return Source(folder, kind, read_json(found) if found.exists() else {})
    run = read_run(folder)
    case = recorded_case(run)
    if not -run.frames <= frame < run.frames:
        raise InputError(f"frame {frame}: {folder} has frames 0 to {run.frames - 1}")
    return Source(folder, case.analysis.kind, read_result(folder) or {}, run, case, frame)


def read_asked(words: str, source: Source) -> list[Asked]:
    """What is asked for, or, of no words, what is usual."""
    if not words.strip():
        return [Asked(name) for name in offered(source) if PANELS[name].usual]
    found = [_asked(word.strip(), source) for word in words.split(",") if word.strip()]
    return [one for asked in found for one in _histories(asked)]


def offered(source: Source) -> list[str]:
    """The panels that a run or a study has."""
    return [name for name, panel in PANELS.items() if panel.fits(source)]


def plot(source: Source, asked: Sequence[Asked], path: str | Path, width: float = PAGE) -> None:
    """Draw what is asked for, one upon the other, in one file: PNG, SVG or PDF."""
    if not asked:
        raise InputError(f"{source.folder}: nothing of it can be plotted; is it cut before it found anything?")
    heights = [_height(source, each) for each in asked]
    if source.kind == "failure-domain":
        width = domain_size(source.facts)[0]
    with drawing(path, width=width, height=sum(heights)) as figure:
        parts = figure.subfigures(len(asked), height_ratios=heights, squeeze=False)[:, 0] if len(asked) > 1 else [figure]
        for part, each in zip(parts, asked, strict=True):
            PANELS[each.name].draw(part, source, each)


def _asked(word: str, source: Source) -> Asked:
    """One word of a user, checked."""
    said, _, blocks = word.partition("=")
    name, _, components = said.partition(".")
    names = [*offered(source), *([BLOCKS] if source.goes_through_time else [])]
    if name not in names:
        there = "is not in this " + ("study" if source.run is None else "run") if name in PANELS else "is no plot"
        raise InputError(f"{name!r} {there}{did_you_mean(name, names)}; {source.folder} has {', '.join(names)}")
    takes = name == BLOCKS or name in OF_BLOCKS
    if (blocks or components) and not takes:
        raise InputError(f"{word!r}: {name} takes no blocks or components; write {name!r} alone")
    if "=" in word and not blocks:
        raise InputError(f"{word!r}: name blocks after =, as in {name}=12:14")
    if set(components) - set(AXES) or (name == "phase" and len(components) > 1):
        raise InputError(f"{word!r}: components are x, y and z, of phase one; write as {name}.x")
    return Asked(name, components, blocks)


def _histories(asked: Asked) -> list[Asked]:
    return [asked._replace(name=name) for name in HISTORIES] if asked.name == BLOCKS else [asked]


def _height(source: Source, asked: Asked) -> float:
    if source.kind == "failure-domain":
        return domain_size(source.facts)[1]
    return PANELS[asked.name].height


def accepted(case: Case) -> dict[str, float]:
    """The tolerance of a case, and up to where the solver takes a rigid step for converged."""
    limits = {"tolerance": case.solver.tolerance}
    if case.solver.method == "native" and not case.surface.compliant:
        limits["accepted of rigid contact"] = MARGIN * case.solver.tolerance
    return limits


def _chosen(source: Source, asked: Asked) -> list[int]:
    return drawn_blocks(source.run, source.case, asked.blocks)


def _history(figure: Any, source: Source, asked: Asked) -> None:
    draw_history(figure, source.run, asked.name, _chosen(source, asked), asked.components)


def _phase(figure: Any, source: Source, asked: Asked) -> None:
    draw_phase(figure, source.run, _chosen(source, asked), asked.components)


def _ground(figure: Any, source: Source, asked: Asked) -> None:
    draw_motions(figure, source.case.motions, source.case.history.duration, source.case.history.time_step)


def _base(figure: Any, source: Source, asked: Asked) -> None:
    run, case = source.run, source.case
    pressed = pressing(run.model, at_time(case.loads, run.time[-1]), case.analysis.gravity).sum()
    share = base_resultant(run, case.history.time_step) / pressed
    draw_base(figure, {case.analysis.kind: (run.time[1:], share[1:])})


def _convergence(figure: Any, source: Source, asked: Asked) -> None:
    draw_convergence(figure, source.run, accepted(source.case))


def _thrust(figure: Any, source: Source, asked: Asked) -> None:
    lines = source.facts.get("thrust", {}).get("lines", {})
    given = {name: np.array(line) for name, line in lines.items()}
    draw_thrust(figure, source.run, source.frame, source.pose, given)


def _in_time(source: Source) -> bool:
    return source.goes_through_time and source.run.frames > 1


def _bears(source: Source) -> bool:
    return source.run is not None and source.run.frames > 1


def _is(kind: str) -> Callable[[Source], bool]:
    return lambda source: source.kind == kind and bool(source.facts)


PANELS: dict[str, Panel] = {
    "ground": Panel("acceleration, velocity and displacement of the ground or of supports",
                    lambda source: source.goes_through_time and bool(source.case.motions), _ground, height=4.2),
    "displacement": Panel("displacement of blocks over time", _in_time, _history, height=3.6),
    "rotation": Panel("rotation of blocks over time", _in_time, _history, height=3.6),
    "velocity": Panel("velocity of blocks over time", _in_time, _history, usual=False, height=3.6),
    "phase": Panel("rotation of blocks against angular velocity", _in_time, _phase, usual=False, height=4.0),
    "energy": Panel("energies per unit weight", _in_time, lambda figure, source, asked:
                    draw_energy(figure, source.run, source.case.analysis.gravity)),
    "ledger": Panel("where the energy went", _in_time, lambda figure, source, asked: draw_ledger(figure, source.run),
                    usual=False),
    "base": Panel("what the supports bear", lambda source: _in_time(source) and source.case.analysis.gravity > 0, _base,
                  usual=False, height=4.0),
    "thrust": Panel("thrust lines of an arch or a column", _bears, _thrust, usual=False, height=4.5),
    "forces": Panel("what the joints carry, in one frame", _bears, lambda figure, source, asked:
                    draw_forces(figure, source.run, source.frame, source.pose), height=4.5),
    "curve": Panel("capacity curve: multiplier against displacement", _is("pushover"), lambda figure, source, asked:
                   draw_curves(figure, {"pushover": curve_of(source.facts)}), height=4.0),
    "settlement": Panel("what each support bears, and the widest crack, against settlement",
                        lambda source: _is("settlement")(source) and len(source.facts["settlement"]) > 1,
                        lambda figure, source, asked: draw_settlement(figure, source.facts), height=5.5),
    "capacity": Panel("collapse multiplier against direction", _is("capacity"), lambda figure, source, asked:
                      draw_polar(figure, capacity_of(source.facts)), height=5.0),
    "convergence": Panel("how well steps were solved, their cost, overlap", _in_time, _convergence, usual=False, height=4.2),
    "domain": Panel("failure domain", _is("failure-domain"), lambda figure, source, asked:
                    draw_domain(figure, source.facts, source.folder)),
    "fragility": Panel("fractions of collapse and fitted curves", _is("fragility"), lambda figure, source, asked:
                       draw_fragility(figure, source.facts), height=5.0),
    "records": Panel("what each record did", lambda source: _is("fragility")(source) and source.facts["method"] != "stripes",
                     lambda figure, source, asked: draw_records(figure, source.facts), usual=False, height=5.0),
    "sweep": Panel("what was measured against what was varied", _is("sweep"), lambda figure, source, asked:
                   draw_sweep(figure, source.facts), height=5.0),
}  # fmt: skip

"""The head of a run (docs/decisions/0012): a `ShownRun` comes in, everything that the page shows beside the blocks goes out."""

from typing import Any

import numpy as np

from drystone.base.json_numbers import finite_or_none
from drystone.results import quantities
from drystone.results.measures import block_number, step_history, summarise
from drystone.results.store.run_reader import read_result, with_totals
from drystone.show.page.shown_run import ShownRun
from drystone.show.tables.statics_tables import result_rows
from drystone.show.tables.summary_tables import summary_rows

Array = np.ndarray
Curve = dict[str, Any]

MAX_CURVE_POINTS = 1000  # curves with more points are thinned out
QUANTITIES_FROM_POSES = ("displacement", "rotation")  # quantities that the page computes by itself
ENERGY_LABELS = {"kinetic": "kinetic", "potential": "potential, change", "elastic": "in joints", "strain": "in blocks",
            "dissipated": "dissipated"}  # fmt: skip


def run_head(shown: ShownRun, joints: list[int]) -> dict[str, Any]:
    """The head of a run; `joints` are the frames whose forces can be requested."""
    run, bodies = shown.run, shown.run.model.bodies
    return run_update(shown, 0) | {
        "name": shown.name,
        "title": _title(run.case) or shown.name,
        "analysis": shown.case.analysis.kind,
        "axis": ["time", "s"] if shown.case.goes_through_time else ["stage", ""],
        "origin": shown.origin.tolist(),
        "blocks": {
            "name": [block.name for block in run.model.blocks],
            "group": [block.group for block in run.model.blocks],
            "fixed": bodies.fixed.tolist(),
            "mass": bodies.mass.tolist(),
        },
        "chunks": shown.chunks,
        "joints": joints,
        "quantities": _quantities(shown),
        "facts": fact_rows(shown),
    }


def run_update(shown: ShownRun, since: int) -> dict[str, Any]:
    """What is new in a growing run from frame `since` on; curves are always complete."""
    frames = shown.frames[since:]
    return {
        "time": shown.run.time[frames].tolist(),
        "frame": frames,
        "joints": list(range(since, since + len(frames))),
        "curves": curves(shown),
        "live": shown.live,
    }


def _quantities(shown: ShownRun) -> list[dict[str, Any]]:
    """The quantities whose values the page can request; velocities in analyses of statics have no meaning and are left out."""
    left_out = {*QUANTITIES_FROM_POSES} | (set() if shown.case.goes_through_time else {"velocity"})
    named = {name: quantities.QUANTITIES[name] for name in quantities.list_quantities(shown.run) if name not in left_out}
    many = len(shown.frames) * len(shown.run.model.blocks) > shown.budget.class_values
    return [{"name": name, "unit": each.unit, "counted": each.categorical} for name, each in named.items()
            if not (each.categorical and many)]  # fmt: skip


def fact_rows(shown: ShownRun) -> list[tuple[str, str]]:
    """The result in words."""
    run, result = shown.run, read_result(shown.folder)
    if result is not None:
        rows = result_rows(result)
    else:
        rows = summary_rows(summarise(run, loss=shown.case.history.collapse)) if shown.case.goes_through_time else []
    thinned = [] if shown.stride == 1 else [("shown", f"{len(shown.frames)} of {run.frames} frames: every {shown.stride}")]
    return [("analysis", shown.case.analysis.kind), *rows, *thinned, ("computed by", f"drystone {run.version}".strip())]


def curves(shown: ShownRun) -> list[Curve]:
    """The charts beside the blocks. `time` is the abscissa; a curve with its own `axis` is not drawn over time."""
    if not shown.case.goes_through_time:
        return _curves_of_statics(read_result(shown.folder) or {})
    return [*_energies(shown), *_histories(shown), *_ground(shown)]


def _energies(shown: ShownRun) -> list[Curve]:
    if len(shown.run.steps["time"]) == 0:
        return []
    parts = {name: step_history(shown.run, name)[1] for name in shown.run.energy if name in shown.run.steps}
    parts = with_totals(parts)
    parts["potential"] = parts["potential"] - parts["potential"][0]
    series = {label: parts[name] for name, label in ENERGY_LABELS.items() if parts[name].any()}
    return [_curve("energy", "J", step_history(shown.run, "kinetic")[0], series)] if series else []


def _histories(shown: ShownRun) -> list[Curve]:
    """Curves of the blocks that the case monitors, or else of the one that has moved most."""
    moved = np.linalg.norm(shown.motion[:, :, :3], axis=2)  # not from the run, which may grow in the meantime
    watched = [block_number(shown.run, name) for name in shown.case.output.monitor] or [int(moved.max(axis=0).argmax())]
    turned = np.linalg.norm(shown.motion[:, watched, 3:], axis=2)
    names = [shown.run.model.blocks[i].name for i in watched]
    time = shown.run.time[shown.frames]
    return [
        _curve("displacement", "m", time, dict(zip(names, moved[:, watched].T, strict=True))),
        _curve("rotation", "rad", time, dict(zip(names, turned.T, strict=True))),
    ]


def _ground(shown: ShownRun) -> list[Curve]:
    steps = shown.run.steps
    moved = {axis: steps["ground_displacement"][:, i] for i, axis in enumerate("xyz")}
    moved = {axis: values for axis, values in moved.items() if values.any()}
    return [_curve("ground", "m", steps["time"], moved)] if moved else []


def _curves_of_statics(result: dict[str, Any]) -> list[Curve]:
    if "curve" in result:
        curve = result["curve"]
        return [_curve("capacity", "of 1 g", curve["displacement"], {"multiplier": curve["multiplier"]}, ("displacement", "m"))]
    if result.get("analysis") == "capacity":
        angle = [row["direction_deg"] for row in result["directions"]]
        by_angle = {"multiplier": [row["multiplier"] for row in result["directions"]]}
        return [_curve("capacity", "of 1 g", angle, by_angle, ("direction from +x", "deg"))]
    if result.get("analysis") == "settlement":
        moved = 1e3 * np.array(result["settlement"])
        forces = {name: [force[2] for force in each["reaction"]] for name, each in result["supports"].items()}
        return [_curve("supports bear", "N", moved, forces, ("settlement", "mm"))]
    if result.get("analysis") == "construction":
        forces = {"pressing": result["stages"]["pressing"], "on supports": result["stages"]["base_resultant"]}
        return [_curve("load", "N", range(1, 1 + len(forces["pressing"])), forces)]
    return []


def _curve(title: str, unit: str, abscissa: Any, series: dict[str, Any], axis: tuple[str, str] | None = None) -> Curve:
    """A curve, thinned out to equally spaced points and the last one."""
    count = len(abscissa)
    kept = np.unique([*range(0, count, max(1, count // MAX_CURVE_POINTS)), count - 1])
    lines = [{"label": label, "values": _json_numbers(values, kept)} for label, values in series.items()]
    curve = {"title": title, "unit": unit, "time": _json_numbers(abscissa, kept), "series": lines}
    return curve if axis is None else curve | {"axis": axis}


def _json_numbers(values: Any, kept: Array) -> list[float | None]:
    """The chosen values as JSON has them: None for a value that is not finite."""
    chosen = np.asarray(values, float)[kept]
    return [finite_or_none(value) for value in chosen]


def _title(case: str) -> str:
    """The comment at the beginning of a case."""
    first = case.lstrip().split("\n", 1)[0]
    return first.lstrip("# ").rstrip() if first.startswith("#") else ""

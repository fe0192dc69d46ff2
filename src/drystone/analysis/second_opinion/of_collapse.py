"""A second opinion on the collapse multiplier of a run of kind `limit` or `tilt`, by three methods.

 1. Limit analysis: the safe and the upper multiplier of a body force along a direction, or of the live loads.
 2. The tilted table, for a body force only: the tangents of its angles.
 3. Slow histories by Coulomb friction, which are independent of limit analysis: the force grows from zero during RAMP_DURATION
    and is held for HOLD_DURATION. The structure either stands or moves away, and the multiplier between the two is found by
    bisection to within MULTIPLIER_TOLERANCE.

By Coulomb friction there may be many states of collapse. Limit analysis finds low ones, and the slow history finds one. The
methods therefore agree if the history moves away between the safe and the upper multiplier, within MULTIPLIER_TOLERANCE (T455).
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from drystone.analysis.stages import Stage, Stages
from drystone.analysis.statics_run import analyse_case
from drystone.base.errors import InputError
from drystone.engine.simulation import simulate_small_steps
from drystone.io.analysis_tables import LimitTable, TiltTable
from drystone.io.case import Case
from drystone.results.store.run_reader import Run, read_result, recorded_case
from drystone.structure.loads import AppliedLoad
from drystone.structure.model import Model

RAMP_DURATION, HOLD_DURATION = 1.0, 2.0  # [s] in which the force grows, and for which it is held
FRAME_INTERVAL = 0.02  # [s] between two checks whether a block moves away
MOVING_SHARE = 0.02  # of its radius: a block that moves farther in the second half of the holding time moves away; one that
# has slipped by more before and has come to rest does not
FALLEN_SHARE = 0.2  # of its radius: a block that has moved so far from its initial position has moved away
MULTIPLIER_TOLERANCE = 0.02  # of the multiplier: how closely slow histories determine it
BRACKET_FACTOR = 1.25  # the search starts between the safe multiplier divided by this and the upper one times this
MAX_HISTORIES = 20  # the largest number of slow histories

Result = dict[str, Any]


def cross_collapse(run: Run) -> Stages:
    """Compare the multiplier of a run with those of the other methods."""
    case, model = recorded_case(run), run.model
    _check(run, case)
    methods: dict[str, Result] = {}
    for kind, each in _analyses(case):
        recorded = read_result(run.folder) if kind == case.analysis.kind else None
        if recorded is None:
            with closing(analyse_case(each, model)) as stages:
                recorded = yield from _leading_stages(stages, kind)
        methods[kind] = {"safe": recorded["multiplier_safe"], "upper": recorded["multiplier_upper"]}
    upper = next(values["upper"] for values in methods.values())
    if upper is None or not upper > 0:
        raise InputError(f"{run.folder}: the result has no multiplier above 0 that slow histories could check: "
                         f"{(read_result(run.folder) or {}).get('note', '')}")  # fmt: skip
    stands_at, moves_at, count = yield from _bracket_by_histories(
        case, model, next(values["safe"] for values in methods.values()) or upper, upper
    )
    methods["slow history"] = {"safe": stands_at, "upper": moves_at}
    result = {"out": str(run.folder), "ways": methods, "histories": count, "disagree": _disagreements(methods)}
    return result | {"parted": bool(result["disagree"]), "verdict": _verdict(result)}


def _check(run: Run, case: Case) -> None:
    if read_result(run.folder) is None:
        raise InputError(f"{run.folder}: the analysis was cut and has no result.json; run it again: drystone run ... --force")
    if run.model.own is not None:
        raise InputError(f"{run.folder}: its joints have a user-defined law, which limit analysis does not support")


def _analyses(case: Case) -> Iterator[tuple[str, Case]]:
    """The limit analysis of a case, and its tilt if possible: a tilted table acts on all weights and on nothing else."""
    analysis = case.analysis
    assert isinstance(analysis, LimitTable | TiltTable)
    direction, gravity, planar = analysis.direction, analysis.gravity, analysis.planar
    common: Result = {"direction": direction, "gravity": gravity, "planar": planar}
    limit = analysis if isinstance(analysis, LimitTable) else LimitTable(kind="limit", **common)
    yield "limit", replace(case, analysis=limit)
    if direction is not None and direction[2] == 0 and not case.loads:
        yield "tilt", replace(case, analysis=analysis if isinstance(analysis, TiltTable) else TiltTable(kind="tilt", **common))


def _leading_stages(stages: Stages, kind: str) -> Stages:
    """The stages of an analysis as the first part of a longer one."""
    while True:
        try:
            stage = next(stages)
        except StopIteration as end:
            return dict(end.value)
        yield Stage(0.3 * stage.share, f"{kind}: {stage.words}")


def _bracket_by_histories(case: Case, model: Model, safe: float, upper: float) -> Stages:
    """The largest multiplier tried with which the structure stands (None: it stood with none), the smallest with which it does
    not, and the number of histories."""
    stands_at: float | None = None
    moves_at: float | None = None
    count = 0
    while count < MAX_HISTORIES and (
        stands_at is None or moves_at is None or moves_at - stands_at > MULTIPLIER_TOLERANCE * moves_at
    ):
        if stands_at is None:
            multiplier = min(safe, moves_at or safe) / BRACKET_FACTOR
        elif moves_at is None:
            multiplier = max(upper, stands_at) * BRACKET_FACTOR
        else:
            multiplier = 0.5 * (stands_at + moves_at)
        yield Stage(0.3 + 0.7 * count / (count + 6), f"slow history {count + 1}, multiplier {multiplier:.4g}")
        stands, count = stands_slowly(case, model, multiplier), count + 1
        stands_at, moves_at = (multiplier, moves_at) if stands else (stands_at, multiplier)
    return stands_at, moves_at, count  # type: ignore[return-value]


def stands_slowly(case: Case, model: Model, multiplier: float) -> bool:
    """Whether the structure stands under a multiple of the live loads that is applied slowly."""
    radius = model.bodies.radius
    loads = [*(load for load in case.loads if not load.live), *_growing_loads(case, model, multiplier)]
    steps = simulate_small_steps(
        model,
        duration=RAMP_DURATION + HOLD_DURATION,
        time_step=FRAME_INTERVAL,
        gravity=case.analysis.gravity,
        young=case.young,
        loads=loads,
        threads=case.solver.threads,
    )
    late = None
    for step in steps:
        position = step.state.position
        if late is None and step.state.time >= RAMP_DURATION + HOLD_DURATION / 2:
            late = position
        if (np.linalg.norm(position - model.position, axis=1) > FALLEN_SHARE * radius).any():
            return False
        if late is not None and (np.linalg.norm(position - late, axis=1) > MOVING_SHARE * radius).any():
            return False
    return True


def _growing_loads(case: Case, model: Model, multiplier: float) -> list[AppliedLoad]:
    """The growing live loads: those of the case, and the body force if the analysis has a direction."""
    analysis = case.analysis
    assert isinstance(analysis, LimitTable | TiltTable)
    grows = ((0.0, 0.0), (RAMP_DURATION, multiplier))
    live = [replace(load, live=False, history=grows) for load in case.loads if load.live]
    if analysis.direction is None:
        return live
    free = [block.name for block in model.blocks if not block.fixed]
    return live + [AppliedLoad(name, share=1.0, of=name, direction=analysis.direction, history=grows) for name in free]


def _disagreements(methods: dict[str, Result]) -> list[str]:
    """The disagreements between the methods, in words."""
    disagreements, limit, slow = [], methods["limit"], methods["slow history"]
    if "tilt" in methods and abs(methods["tilt"]["upper"] - limit["upper"]) > MULTIPLIER_TOLERANCE * limit["upper"]:
        disagreements.append(f"tilt has the upper multiplier {methods['tilt']['upper']:.4g}, limit {limit['upper']:.4g}")
    if slow["safe"] is None or slow["upper"] is None:
        disagreements.append("no slow history stands, or none falls")
        return disagreements
    if slow["safe"] > limit["upper"] * (1 + MULTIPLIER_TOLERANCE):
        disagreements.append(f"a slow history stands at {slow['safe']:.4g}, above the upper multiplier {limit['upper']:.4g}")
    if limit["safe"] is not None and slow["upper"] < limit["safe"] * (1 - MULTIPLIER_TOLERANCE):
        disagreements.append(f"a slow history falls at {slow['upper']:.4g}, below the safe multiplier {limit['safe']:.4g}")
    return disagreements


def _verdict(result: Result) -> str:
    slow, limit = result["ways"]["slow history"], result["ways"]["limit"]
    if result["disagree"]:
        return "they disagree: " + "; ".join(result["disagree"])
    safe = "not searched" if limit["safe"] is None else f"{limit['safe']:.4g}"
    between = f"{slow['safe']:.4g} and {slow['upper']:.4g}"
    return (
        f"they agree within {100 * MULTIPLIER_TOLERANCE:.0f} %: gives way between {between} in slow histories; limit analysis: "
        f"safe {safe}, upper {limit['upper']:.4g}"
    )

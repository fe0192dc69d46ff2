"""Pushover: the capacity curve of a case."""

import numpy as np

from drystone.analysis.limit_tilt_capacity import ANSWERED_STATUSES
from drystone.analysis.safe_multiplier import MultiplierProblem, safe_multiplier, scale_stages
from drystone.analysis.stages import Stage, Stages, dead_and_live_loads, optimum_as_solution
from drystone.analysis.statics.capacity_curve import CurvePoint, summarise_curve, trace_capacity_curve
from drystone.analysis.statics.collapse_multiplier import solve_limit, stands_with_associated_friction
from drystone.analysis.statics.standing import balance_of_closed_joints
from drystone.base.json_numbers import finite_or_none
from drystone.engine.simulation import Step, initial_state
from drystone.io.analysis_tables import PushoverTable
from drystone.io.case import Case
from drystone.structure.model import Model


def analyse_pushover(case: Case, model: Model) -> Stages:
    analysis = case.analysis
    assert isinstance(analysis, PushoverTable)
    yield Stage(0.0, "associated multiplier")
    system, (dead, live) = balance_of_closed_joints(model), dead_and_live_loads(case, model, analysis.direction)
    start = solve_limit(system, dead, live)
    problem = MultiplierProblem(
        system,
        dead,
        live,
        start,
        stands_with_associated_friction(system, dead),
        analysis.gravity,
        case.solver.threads,
        young=case.young,
    )
    _, safe_result = yield from scale_stages(safe_multiplier(problem), 0, 4, "Coulomb friction, slow collapse")
    points: list[CurvePoint] = []
    for point in trace_capacity_curve(
        model, lambda rotation: dead_and_live_loads(case, model, analysis.direction, rotation), step=analysis.step
    ):
        points.append(point)
        done = 1 - point.multiplier / points[0].multiplier if point.multiplier > 0 else 1.0
        words = f"multiplier {point.multiplier:.4f} at {1e3 * point.displacement:.1f} mm"
        yield Stage(0.25 + 0.75 * max(done, 0.0), words, _pose(case, model, len(points), point))
        if analysis.until is not None and point.displacement >= analysis.until:
            break
    moved = np.array([point.position - points[0].position for point in points])
    return safe_result | {
        **summarise_curve(points)._asdict(),
        "multiplier": finite_or_none(points[0].multiplier),
        "limit": finite_or_none(start.multiplier),  # by limit analysis: the curve starts there
        "end": _end(points[-1], analysis.until),
        "converged": points[-1].optimum.status in ANSWERED_STATUSES,
        "curve": {
            "displacement": [point.displacement for point in points],
            "multiplier": [finite_or_none(point.multiplier) for point in points],
            "most_moved": np.linalg.norm(moved, axis=2).max(axis=1).tolist(),  # [m] of the block that has moved most
        },
        "monitored": {name: moved[:, model.block_numbers[name]].tolist() for name in case.output.monitor},
    }


def _end(last: CurvePoint, until: float | None) -> str:
    """Why the curve ends."""
    if last.optimum.status != "solved":
        return {"impossible": "nothing holds it any longer", "endless": "nothing yields"}.get(last.optimum.status, "not solved")
    if last.multiplier <= 0:
        return "no capacity left"
    return "until" if until is not None and last.displacement >= until else "too many increments; give a larger step, or until"


def _pose(case: Case, model: Model, number: int, point: CurvePoint) -> Step:
    """The frame of a point of the capacity curve."""
    start = initial_state(model, case.analysis.gravity)
    no_motion = np.zeros((len(model.blocks), 6))
    state = start._replace(
        step=number,
        time=float(number),
        position=point.position,
        rotation=point.rotation,
        velocity=no_motion,
        contacts=point.contacts,
    )
    return Step(state, optimum_as_solution(point.optimum), (0.0, 0.0, 0.0))

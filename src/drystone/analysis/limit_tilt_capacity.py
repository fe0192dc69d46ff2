"""Analyses of collapse multipliers: of a live load, on a tilted table, and of a horizontal load in every direction."""

from typing import Any

import numpy as np

from drystone.analysis.safe_multiplier import (
    DOES_NOT_STAND,
    LAW_ASSOCIATED,
    LAW_OVER_AREAS,
    MultiplierProblem,
    SafeState,
    safe_multiplier,
    scale_stages,
)
from drystone.analysis.stages import (
    MECHANISM_TOLERANCE,
    Stage,
    Stages,
    dead_and_live_loads,
    displaced_frame,
    mechanism_result,
    optimum_as_solution,
)
from drystone.analysis.statics.balance import Balance
from drystone.analysis.statics.collapse_multiplier import (
    LimitState,
    gain_by_friction,
    gain_by_load,
    multiplier_shortfall,
    normalise_mechanism,
    solve_limit,
    stands_with_associated_friction,
)
from drystone.analysis.statics.cone_program import INFEASIBLE, SOLVED, UNBOUNDED
from drystone.analysis.statics.standing import balance_of_closed_joints
from drystone.base.errors import InputError
from drystone.base.json_numbers import finite_or_none
from drystone.io.analysis_tables import CapacityTable, LimitTable, TiltTable
from drystone.io.case import Case
from drystone.structure.loads import body_force, load_wrench, weight_wrench
from drystone.structure.model import Model

Array = np.ndarray

ANSWERED_STATUSES = (SOLVED, UNBOUNDED, INFEASIBLE)  # a program that ends with another status gives no information


def analyse_limit(case: Case, model: Model) -> Stages:
    analysis = case.analysis
    assert isinstance(analysis, LimitTable)
    dead, live = dead_and_live_loads(case, model, analysis.direction)
    yield Stage(0.0, "associated multiplier")
    system = balance_of_closed_joints(model)
    associated = solve_limit(system, dead, live)
    stable = stands_with_associated_friction(system, dead)
    yield Stage(
        0.1,
        "associated multiplier",
        displaced_frame(case, model, 1, associated.velocity, associated.contacts, optimum_as_solution(associated.optimum)),
    )
    at_corners = analysis.friction_at == "corners"
    problem = MultiplierProblem(
        system, dead, live, associated, stable, analysis.gravity, case.solver.threads, analysis.starts, at_corners, case.young
    )
    safe, result = yield from safe_multiplier(problem)
    velocity, contacts, read = associated.velocity, associated.contacts, MECHANISM_TOLERANCE
    if safe is not None:
        velocity, contacts, read = normalise_mechanism(system, safe.velocity), safe.contacts, safe.read
        yield Stage(0.9, "lowest multiplier", displaced_frame(case, model, 2, velocity, contacts, safe.as_solution()))
    result |= {
        "multiplier": finite_or_none(associated.multiplier),
        "status": associated.optimum.status,
        "converged": associated.optimum.status in ANSWERED_STATUSES,
        "error": finite_or_none(multiplier_shortfall(associated.balance, associated.optimum)),
        "sensitivities": _sensitivities(case, associated.balance, associated, analysis.direction),
        "note": describe_limit(associated, result["stable"]),
    }
    if _has_mechanism(associated, safe):
        law = "associated" if safe is None else "coulomb"
        result["mechanism"] = {"law": law} | mechanism_result(model, contacts, velocity, read)
    return result


def _has_mechanism(associated: LimitState, safe: SafeState | None) -> bool:
    """Whether there is a mechanism to report: there is none if nothing bounds the multiplier."""
    return safe is not None or associated.optimum.status != UNBOUNDED


def describe_limit(associated: LimitState, stable: bool) -> str:
    if associated.optimum.status == UNBOUNDED:
        return "nothing bounds the multiplier: by the associated law the load has no mechanism"
    if associated.optimum.status == INFEASIBLE:
        return "no multiple of the live load makes the structure stand: the mechanism is that of the dead load"
    if not stable:
        return "the upper multiplier is the largest with which associated friction lets the structure stand"
    return "the structure collapses at the multiplier" if associated.optimum.status == SOLVED else "the program was not solved"


def _sensitivities(
    case: Case, system: Balance, associated: LimitState, direction: tuple[float, float, float] | None
) -> dict[str, Any] | None:
    """The change of the associated multiplier in per cent if one quantity at a time is increased by 1 %."""
    if associated.optimum.status != SOLVED or abs(associated.multiplier) < 1e-9:
        return None
    model, gravity, multiplier = system.model, case.analysis.gravity, associated.multiplier
    by_contact = gain_by_friction(associated.optimum) * system.friction / multiplier
    kind = np.array([block.group or ("supports" if block.fixed else "blocks") for block in model.blocks])
    between = [" / ".join(sorted(pair)) for pair in zip(kind[system.contacts.a], kind[system.contacts.b], strict=True)]
    nothing = np.zeros((len(model.blocks), 6))
    own = weight_wrench(model, gravity), nothing if direction is None else body_force(model, direction, gravity)
    names = sorted(set(kind[system.free]))
    pushes = [(load, load_wrench(model, [load], gravity)) for load in case.loads]
    return {
        "unit": "% for 1 % more",
        "friction": float(by_contact.sum()),
        "friction_between": {name: float(by_contact[np.array(between) == name].sum()) for name in sorted(set(between))},
        "density": {
            name: gain_by_load(associated.optimum, *((kind == name)[:, None] * part for part in own)) / multiplier
            for name in names
        },
        "loads": [
            {
                "on": load.on,
                "live": load.live,
                "gain": gain_by_load(associated.optimum, *((nothing, push) if load.live else (push, nothing))) / multiplier,
            }
            for load, push in pushes
        ],
    }


def analyse_tilt(case: Case, model: Model) -> Stages:
    analysis = case.analysis
    assert isinstance(analysis, TiltTable)
    if case.loads:
        raise InputError(f"{case.path}: a tilt acts on weights only; remove the [[load]] on {case.loads[0].on!r}")
    dead, live = dead_and_live_loads(case, model, analysis.direction)
    yield Stage(0.0, "multiplier of the horizontal body force")
    system = balance_of_closed_joints(model)
    associated, stable = solve_limit(system, dead, live), stands_with_associated_friction(system, dead)
    yield Stage(
        0.1,
        "tilted table",
        displaced_frame(case, model, 1, associated.velocity, associated.contacts, optimum_as_solution(associated.optimum)),
    )
    problem = MultiplierProblem(system, dead, live, associated, stable, analysis.gravity, case.solver.threads, young=case.young)
    safe, safe_result = yield from safe_multiplier(problem)
    velocity, contacts, read = associated.velocity, associated.contacts, MECHANISM_TOLERANCE
    if safe is not None:
        velocity, contacts, read = normalise_mechanism(system, safe.velocity), safe.contacts, safe.read
        yield Stage(0.9, "lowest angle", displaced_frame(case, model, 2, velocity, contacts, safe.as_solution()))
    result: dict[str, Any] = {"angle_safe": tilt_angle(safe_result["multiplier_safe"])} | safe_result | {
        "angle": tilt_angle(associated.multiplier),
        "multiplier": finite_or_none(associated.multiplier),
        "status": associated.optimum.status,
        "converged": associated.optimum.status in ANSWERED_STATUSES,
        "error": finite_or_none(multiplier_shortfall(associated.balance, associated.optimum)),
        "note": describe_limit(associated, safe_result["stable"]),
    }  # fmt: skip
    if _has_mechanism(associated, safe):
        result["mechanism"] = mechanism_result(model, contacts, velocity, read)
    return result


def tilt_angle(multiplier: float | None) -> float | None:
    """[deg] The angle of a tilted table on which the weight along the table is this multiple of the weight across it."""
    return float(np.degrees(np.arctan(multiplier))) if multiplier is not None and np.isfinite(multiplier) else None


def analyse_capacity(case: Case, model: Model) -> Stages:
    analysis = case.analysis
    assert isinstance(analysis, CapacityTable)
    system, table, weakest = balance_of_closed_joints(model), [], None
    stable = stands_with_associated_friction(system, dead_and_live_loads(case, model, (1.0, 0.0, 0.0))[0])
    for k in range(analysis.directions):
        angle = 2 * np.pi * k / analysis.directions
        words = f"direction {k + 1} of {analysis.directions}"
        yield Stage(k / analysis.directions, words)
        dead, live = dead_and_live_loads(case, model, (float(np.cos(angle)), float(np.sin(angle)), 0.0))
        associated = solve_limit(system, dead, live)
        problem = MultiplierProblem(
            system, dead, live, associated, stable, analysis.gravity, case.solver.threads, analysis.starts, young=case.young
        )
        safe, safe_result = yield from scale_stages(safe_multiplier(problem), k, analysis.directions, words)
        upper = finite_or_none(associated.multiplier)
        search_result = {
            name: safe_result[name] for name in ("multiplier_safe", "confirmed", "multiplier_from_rest", "multiplier_upper")
        }
        stable = stable and safe_result["stable"]
        row = (
            {"direction_deg": 360.0 * k / analysis.directions}
            | search_result
            | {"multiplier": upper, "status": associated.optimum.status}
        )
        table.append(row)
        state = (
            (
                associated.multiplier,
                associated.velocity,
                associated.contacts,
                MECHANISM_TOLERANCE,
                optimum_as_solution(associated.optimum),
            )
            if safe is None
            else (safe.multiplier, normalise_mechanism(system, safe.velocity), safe.contacts, safe.read, safe.as_solution())
        )
        if np.isfinite(state[0]) and (weakest is None or state[0] < weakest[1][0]):
            weakest = row, state
    result: dict[str, Any] = {
        "law_safe": LAW_OVER_AREAS,
        "law_upper": LAW_ASSOCIATED,
        "stable": stable,
        "directions": table,
        "weakest": None if weakest is None else weakest[0],
        "converged": all(row["status"] in ANSWERED_STATUSES for row in table),
    }
    if not stable:
        result = {"words": DOES_NOT_STAND} | result
    if weakest is not None:
        _, velocity, contacts, read, solution = weakest[1]
        yield Stage(1.0, "weakest direction", displaced_frame(case, model, 1, velocity, contacts, solution))
        result["mechanism"] = mechanism_result(model, contacts, velocity, read)
    return result

"""Collapse multipliers: of a live load, of a tilted table, of a horizontal load in every direction."""

from typing import Any

import numpy as np

from drystone.analyse.safe_multiplier import (
    DOES_NOT_STAND,
    LAW_ASSOCIATED,
    LAW_OVER_AREAS,
    MultiplierProblem,
    SafeState,
    safe_multiplier,
    scale_stages,
)
from drystone.analyse.stages import (
    MECHANISM_TOLERANCE,
    Stage,
    Stages,
    dead_and_live_loads,
    displaced_frame,
    finite_or_none,
    mechanism_result,
    optimum_as_solution,
)
from drystone.errors import InputError
from drystone.io.analysis_tables import Capacity, Limit, Tilt
from drystone.io.case import Case
from drystone.loads import body_force, weight, wrench
from drystone.model import Model
from drystone.statics.balance import Balance
from drystone.statics.limit import (
    LimitState,
    gain_by_friction,
    gain_by_load,
    multiplier_shortfall,
    normalise_mechanism,
    solve_limit,
    stands_with_associated_friction,
)
from drystone.statics.program import INFEASIBLE, SOLVED, UNBOUNDED
from drystone.statics.standing import balance_of_closed_joints

Array = np.ndarray

ANSWERED_STATUSES = (SOLVED, UNBOUNDED, INFEASIBLE)  # a program that ends with another status says nothing


def analyse_limit(case: Case, model: Model) -> Stages:
    asked = case.analysis
    assert isinstance(asked, Limit)
    dead, live = dead_and_live_loads(case, model, asked.direction)
    yield Stage(0.0, "associated multiplier")
    system = balance_of_closed_joints(model)
    found = solve_limit(system, dead, live)
    stable = stands_with_associated_friction(system, dead)
    yield Stage(0.1, "associated multiplier", displaced_frame(case, model, 1, found.velocity, found.contacts, optimum_as_solution(found.optimum)))
    at_corners = asked.friction_at == "corners"
    question = MultiplierProblem(system, dead, live, found, stable, asked.gravity, case.solver.threads, asked.starts, at_corners,
                        case.young)  # fmt: skip
    safe, facts = yield from safe_multiplier(question)
    velocity, contacts, read = found.velocity, found.contacts, MECHANISM_TOLERANCE
    if safe is not None:
        velocity, contacts, read = normalise_mechanism(system, safe.velocity), safe.contacts, safe.read
        yield Stage(0.9, "lowest multiplier", displaced_frame(case, model, 2, velocity, contacts, safe.as_solution()))
    facts |= {
        "multiplier": finite_or_none(found.multiplier),
        "status": found.optimum.status,
        "converged": found.optimum.status in ANSWERED_STATUSES,
        "error": finite_or_none(multiplier_shortfall(found.balance, found.optimum)),
        "sensitivities": _sensitivities(case, found.balance, found, asked.direction),
        "note": describe_limit(found, facts["stable"]),
    }
    if _has_mechanism(found, safe):
        law = "associated" if safe is None else "coulomb"
        facts["mechanism"] = {"law": law} | mechanism_result(model, contacts, velocity, read)
    return facts


def _has_mechanism(found: LimitState, safe: SafeState | None) -> bool:
    """Whether there is a mechanism to tell: where nothing bounds the multiplier there is none."""
    return safe is not None or found.optimum.status != UNBOUNDED


def describe_limit(found: LimitState, stable: bool) -> str:
    if found.optimum.status == UNBOUNDED:
        return "nothing bounds the multiplier: by the associated law the load finds no mechanism"
    if found.optimum.status == INFEASIBLE:
        return "no multiple of the live load makes it stand: the mechanism is that of the dead load"
    if not stable:
        return "the upper multiplier is the largest with which associated friction lets it stand"
    return "collapses at the multiplier" if found.optimum.status == SOLVED else "the program was not solved"


def _sensitivities(
    case: Case, system: Balance, found: LimitState, direction: tuple[float, float, float] | None
) -> dict[str, Any] | None:
    """By how many per cent the associated multiplier grows with 1 % more of each quantity alone."""
    if found.optimum.status != SOLVED or abs(found.multiplier) < 1e-9:
        return None
    model, gravity, whole = system.model, case.analysis.gravity, found.multiplier
    by_contact = gain_by_friction(found.optimum) * system.friction / whole
    kind = np.array([block.group or ("supports" if block.fixed else "blocks") for block in model.blocks])
    between = [" / ".join(sorted(pair)) for pair in zip(kind[system.contacts.a], kind[system.contacts.b], strict=True)]
    nothing = np.zeros((len(model.blocks), 6))
    own = weight(model, gravity), nothing if direction is None else body_force(model, direction, gravity)
    names = sorted(set(kind[system.free]))
    pushes = [(load, wrench(model, [load], gravity)) for load in case.loads]
    return {
        "unit": "% for 1 % more",
        "friction": float(by_contact.sum()),
        "friction_between": {name: float(by_contact[np.array(between) == name].sum()) for name in sorted(set(between))},
        "density": {
            name: gain_by_load(found.optimum, *((kind == name)[:, None] * part for part in own)) / whole for name in names
        },
        "loads": [
            {"on": load.on, "live": load.live,
             "gain": gain_by_load(found.optimum, *((nothing, push) if load.live else (push, nothing))) / whole}
            for load, push in pushes
        ],
    }  # fmt: skip


def analyse_tilt(case: Case, model: Model) -> Stages:
    asked = case.analysis
    assert isinstance(asked, Tilt)
    if case.loads:
        raise InputError(f"{case.path}: a tilt turns weights alone; take out [[load]] on {case.loads[0].on!r}")
    dead, live = dead_and_live_loads(case, model, asked.direction)
    yield Stage(0.0, "multiplier of the horizontal body force")
    system = balance_of_closed_joints(model)
    found, stable = solve_limit(system, dead, live), stands_with_associated_friction(system, dead)
    yield Stage(0.1, "tilted table", displaced_frame(case, model, 1, found.velocity, found.contacts, optimum_as_solution(found.optimum)))
    question = MultiplierProblem(system, dead, live, found, stable, asked.gravity, case.solver.threads, young=case.young)
    safe, search = yield from safe_multiplier(question)
    velocity, contacts, read = found.velocity, found.contacts, MECHANISM_TOLERANCE
    if safe is not None:
        velocity, contacts, read = normalise_mechanism(system, safe.velocity), safe.contacts, safe.read
        yield Stage(0.9, "lowest angle", displaced_frame(case, model, 2, velocity, contacts, safe.as_solution()))
    facts: dict[str, Any] = {"angle_safe": tilt_angle(search["multiplier_safe"])} | search | {
        "angle": tilt_angle(found.multiplier),
        "multiplier": finite_or_none(found.multiplier),
        "status": found.optimum.status,
        "converged": found.optimum.status in ANSWERED_STATUSES,
        "error": finite_or_none(multiplier_shortfall(found.balance, found.optimum)),
        "note": describe_limit(found, search["stable"]),
    }  # fmt: skip
    if _has_mechanism(found, safe):
        facts["mechanism"] = mechanism_result(model, contacts, velocity, read)
    return facts


def tilt_angle(multiplier: float | None) -> float | None:
    """[deg] of a table on which weights push along it by this share of what they push across it."""
    return float(np.degrees(np.arctan(multiplier))) if multiplier is not None and np.isfinite(multiplier) else None


def analyse_capacity(case: Case, model: Model) -> Stages:
    asked = case.analysis
    assert isinstance(asked, Capacity)
    system, table, weakest = balance_of_closed_joints(model), [], None
    stable = stands_with_associated_friction(system, dead_and_live_loads(case, model, (1.0, 0.0, 0.0))[0])
    for k in range(asked.directions):
        angle = 2 * np.pi * k / asked.directions
        words = f"direction {k + 1} of {asked.directions}"
        yield Stage(k / asked.directions, words)
        dead, live = dead_and_live_loads(case, model, (float(np.cos(angle)), float(np.sin(angle)), 0.0))
        found = solve_limit(system, dead, live)
        question = MultiplierProblem(system, dead, live, found, stable, asked.gravity, case.solver.threads, asked.starts,
                            young=case.young)  # fmt: skip
        safe, search = yield from scale_stages(safe_multiplier(question), k, asked.directions, words)
        upper = finite_or_none(found.multiplier)
        told = {name: search[name] for name in ("multiplier_safe", "confirmed", "multiplier_from_rest", "multiplier_upper")}
        stable = stable and search["stable"]
        row = {"direction_deg": 360.0 * k / asked.directions} | told | {"multiplier": upper, "status": found.optimum.status}
        table.append(row)
        state = (found.multiplier, found.velocity, found.contacts, MECHANISM_TOLERANCE, optimum_as_solution(found.optimum)) if safe is None else (
            safe.multiplier, normalise_mechanism(system, safe.velocity), safe.contacts, safe.read, safe.as_solution())  # fmt: skip
        if np.isfinite(state[0]) and (weakest is None or state[0] < weakest[1][0]):
            weakest = row, state
    facts: dict[str, Any] = {
        "law_safe": LAW_OVER_AREAS,
        "law_upper": LAW_ASSOCIATED,
        "stable": stable,
        "directions": table,
        "weakest": None if weakest is None else weakest[0],
        "converged": all(row["status"] in ANSWERED_STATUSES for row in table),
    }
    if not stable:
        facts = {"words": DOES_NOT_STAND} | facts
    if weakest is not None:
        _, velocity, contacts, read, solution = weakest[1]
        yield Stage(1.0, "weakest direction", displaced_frame(case, model, 1, velocity, contacts, solution))
        facts["mechanism"] = mechanism_result(model, contacts, velocity, read)
    return facts

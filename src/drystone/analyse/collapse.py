"""Collapse multipliers: of a live load, of a tilted table, of a horizontal load in every direction."""

from collections.abc import Generator
from typing import Any

import numpy as np

from drystone.analyse.stages import Stage, Stages, as_frame, loads_of, mechanism_facts, number, report
from drystone.errors import InputError
from drystone.io.analysis_tables import Capacity, Limit, Tilt
from drystone.io.case import Case
from drystone.loads import body_force, weight, wrench
from drystone.model import Model
from drystone.session import solver_of
from drystone.statics.balance import Balance, balance
from drystone.statics.limit import Limit as LimitState
from drystone.statics.limit import gain_by_friction, gain_by_load, limit, paced, shortfall, stands
from drystone.statics.nonassociated import Collapse, collapses, distinct, starts_by_size
from drystone.statics.program import ENDLESS, IMPOSSIBLE, SOLVED
from drystone.statics.trial import Direction, try_in_time, try_tilt

Array = np.ndarray

ANSWERS = (SOLVED, ENDLESS, IMPOSSIBLE)  # a program that ends with another status says nothing


def analyse_limit(case: Case, model: Model) -> Stages:
    asked = case.analysis
    assert isinstance(asked, Limit)
    dead, live = loads_of(case, model, asked.direction)
    if asked.check and (asked.direction is None or case.loads):
        raise InputError(f"{case.path}: analysis.check follows a body force in time; give analysis.direction and no [[load]]")
    yield Stage(0.0, "associated multiplier")
    system = balance(model)
    found = limit(system, dead, live)
    stable = stands(system, dead)
    yield Stage(0.1, "associated multiplier", as_frame(case, model, 1, found.velocity, found.contacts, report(found.optimum)))
    starts = starts_by_size(system) if asked.starts is None else asked.starts
    exact, facts = yield from _exact(system, dead, live, found, starts, stable)
    velocity, contacts = found.velocity, found.contacts
    if exact is not None:
        velocity, contacts = paced(system, exact.velocity), system.with_forces(exact.force)
        yield Stage(0.9, "lowest multiplier", as_frame(case, model, 2, velocity, contacts, report(exact)))
    facts = {"multiplier": number(found.multiplier)} | facts | {
        "stable": stable,
        "status": found.optimum.status,
        "converged": found.optimum.status in ANSWERS,
        "error": number(shortfall(system, found.optimum)),
        "mechanism": {"law": "associated" if exact is None else "exact"} | mechanism_facts(model, contacts, velocity),
        "sensitivities": _sensitivities(case, system, found, asked.direction),
    }  # fmt: skip
    if asked.check and asked.direction is not None and np.isfinite(found.multiplier):
        yield Stage(0.9, "through time")
        solver = solver_of(case)
        tried = try_in_time(model, found.multiplier, asked.direction, solver=solver, gravity=asked.gravity)
        facts["checked"] = tried._asdict()
    return facts | {"note": verdict(found, stable)}


def _exact(
    system: Balance, dead: Array, live: Array, found: LimitState, starts: int, stable: bool
) -> Generator[Stage, None, tuple[Collapse | None, dict[str, Any]]]:
    """The lowest state of collapse by the exact law, if any, and the facts of the search."""
    if found.optimum.status == IMPOSSIBLE:
        return None, {"multiplier_nonassociated": None}
    if starts == 0 or system.model.laws is not None:
        said = f"exact friction was not searched ({len(system.friction)} contact points); give analysis.starts to do so"
        said = said if system.model.laws is None else "exact friction is searched of dry joints only"
        return None, {"multiplier_nonassociated": [None, number(found.multiplier)], "search": {"starts": 0, "note": said}}
    states, count = [], 0
    for each in collapses(system, dead, live, found.optimum, starts=starts, stands=stable):
        count += 1
        states += [each.collapse] if each.collapse is not None else []
        yield Stage(0.1 + 0.8 * each.start / starts, f"exact friction, start {each.start + 1} of {starts}")
    lowest = min(states, key=lambda state: state.multiplier, default=None)
    return lowest, {
        "multiplier_nonassociated": [None if lowest is None else lowest.multiplier, number(found.multiplier)],
        "search": {
            "starts": starts,
            "rounds": count,
            "verified": len(states),
            "found": distinct([state.multiplier for state in states]),
            "error": None if lowest is None else lowest.error,
            "note": "the lower end is the lowest found, not a proven minimum" if states
            else "no state passed the check of the exact law: nothing is known below the associated value; try more starts",
        },
    }


def verdict(found: LimitState, stable: bool) -> str:
    if found.optimum.status == ENDLESS:
        return "nothing bounds the multiplier: by the associated law the load finds no mechanism"
    if found.optimum.status == IMPOSSIBLE:
        return "no multiple of the live load makes it stand: the mechanism is that of the dead load"
    if not stable:
        return "it does not stand under the dead load alone; the multiplier is the largest with which it does"
    return "collapses at the multiplier" if found.optimum.status == SOLVED else "the program was not solved"


def _sensitivities(case: Case, system: Balance, found: LimitState, direction: Direction | None) -> dict[str, Any] | None:
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
    dead, live = loads_of(case, model, asked.direction)
    yield Stage(0.0, "multiplier of the horizontal body force")
    system = balance(model)
    found = limit(system, dead, live)
    yield Stage(0.5, "tilted table", as_frame(case, model, 1, found.velocity, found.contacts, report(found.optimum)))
    facts: dict[str, Any] = {
        "angle": None,
        "multiplier": number(found.multiplier),
        "stable": stands(system, dead),
        "status": found.optimum.status,
        "converged": found.optimum.status in ANSWERS,
        "error": number(shortfall(system, found.optimum)),
    }
    facts["note"] = verdict(found, facts["stable"])
    if not np.isfinite(found.multiplier):
        return facts
    angle = float(np.arctan(found.multiplier))
    solver = solver_of(case)
    tried = try_tilt(model, angle, asked.direction, solver=solver, gravity=asked.gravity)
    mechanism = mechanism_facts(model, found.contacts, found.velocity)
    return facts | {"angle": float(np.degrees(angle)), "checked": tried._asdict(), "mechanism": mechanism}


def analyse_capacity(case: Case, model: Model) -> Stages:
    asked = case.analysis
    assert isinstance(asked, Capacity)
    system, table, weakest = balance(model), [], None
    stable = stands(system, loads_of(case, model, (1.0, 0.0, 0.0))[0])
    for k in range(asked.directions):
        yield Stage(k / asked.directions, f"direction {k + 1} of {asked.directions}")
        angle = 2 * np.pi * k / asked.directions
        dead, live = loads_of(case, model, (float(np.cos(angle)), float(np.sin(angle)), 0.0))
        found = limit(system, dead, live)
        row = {"direction_deg": 360.0 * k / asked.directions, "multiplier": number(found.multiplier),
               "status": found.optimum.status}  # fmt: skip
        if asked.starts:
            _, search = yield from _exact(system, dead, live, found, asked.starts, stable)
            row["multiplier_nonassociated"] = search["multiplier_nonassociated"]
        table.append(row)
        if np.isfinite(found.multiplier) and (weakest is None or found.multiplier < weakest[1].multiplier):
            weakest = row, found
    facts: dict[str, Any] = {
        "stable": stable,
        "directions": table,
        "weakest": None if weakest is None else weakest[0],
        "converged": all(row["status"] in ANSWERS for row in table),
    }
    if weakest is not None:
        _, found = weakest
        yield Stage(1.0, "weakest direction", as_frame(case, model, 1, found.velocity, found.contacts, report(found.optimum)))
        facts["mechanism"] = mechanism_facts(model, found.contacts, found.velocity)
    return facts

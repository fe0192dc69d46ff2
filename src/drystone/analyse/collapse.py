"""Collapse multipliers: of a live load, of a tilted table, of a horizontal load in every direction."""

from collections.abc import Generator, Iterator
from dataclasses import replace
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
from drystone.statics.collapse_states import search_states
from drystone.statics.crack import first_crack
from drystone.statics.limit import Limit as LimitState
from drystone.statics.limit import gain_by_friction, gain_by_load, limit, paced, shortfall, stands
from drystone.statics.nonassociated import LARGE, Collapse, Round, collapses, distinct, starts_by_size
from drystone.statics.program import ENDLESS, IMPOSSIBLE, SOLVED
from drystone.statics.trial import Direction, try_in_time, try_tilt

Array = np.ndarray

AREAS = "exact Coulomb friction over the areas of the joints"
CORNERS = "exact Coulomb friction at the corners of the joints"
UPPER = "associated friction at the corners of the joints"
HOPS, MANY = 12, 2000  # hops of a search, and contact points of a structure too large for them
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
    exact, facts = yield from _exact(system, dead, live, found, asked.starts, stable)
    velocity, contacts = found.velocity, found.contacts
    if exact is not None:
        velocity, contacts = paced(system, exact.velocity), system.with_forces(exact.force)
        yield Stage(0.9, "lowest multiplier", as_frame(case, model, 2, velocity, contacts, report(exact)))
    facts = facts | {"multiplier": number(found.multiplier)} | {
        "stable": stable,
        "status": found.optimum.status,
        "converged": found.optimum.status in ANSWERS,
        "error": number(shortfall(found.balance, found.optimum)),
        "mechanism": {"law": "associated" if exact is None else "exact"} | mechanism_facts(model, contacts, velocity),
        "sensitivities": _sensitivities(case, found.balance, found, asked.direction),
    }  # fmt: skip
    if asked.check and asked.direction is not None and np.isfinite(found.multiplier):
        yield Stage(0.9, "through time")
        solver = solver_of(case)
        tried = try_in_time(model, found.multiplier, asked.direction, solver=solver, gravity=asked.gravity)
        facts["checked"] = tried._asdict()
    return facts | {"note": verdict(found, stable)}


def _exact(
    system: Balance, dead: Array, live: Array, found: LimitState, starts: int | None, stable: bool
) -> Generator[Stage, None, tuple[Collapse | None, dict[str, Any]]]:
    """The lowest state of collapse by the exact law, if any, and the facts of the search: the safe value first."""
    upper = number(found.multiplier)
    unknown: dict[str, Any] = {"multiplier_safe": None, "multiplier_upper": upper, "law_safe": None, "law_upper": UPPER}
    if found.optimum.status == IMPOSSIBLE:
        return None, unknown | {"multiplier_nonassociated": None}
    if system.model.laws is not None:  # of bonds nothing is left, of crushing all
        return None, unknown | (yield from _without_bonds(system, dead, live, upper))
    if starts == 0 or (starts is None and len(system.friction) > LARGE):  # a minute a round, and none has passed yet
        note = f"exact friction was not searched ({len(system.friction)} contact points); give analysis.starts to do so"
        return None, unknown | {"multiplier_nonassociated": [None, upper], "search": {"starts": 0, "note": note}}
    states: list[tuple[str, Collapse]] = []
    rounds = 0
    for law, share, each in _rounds(system, dead, live, found, starts, stable):
        rounds += 1
        states += [(law, each.collapse)] if each.collapse is not None else []
        yield Stage(0.1 + 0.8 * share, f"exact friction, {law}, round {rounds}")
    least = min(states, key=lambda state: state[1].multiplier, default=None)
    lowest = None if least is None else least[1]
    return lowest, unknown | {
        "multiplier_safe": None if lowest is None else min(lowest.multiplier, found.multiplier),  # above it by rounding only
        "law_safe": None if least is None else least[0],
        "multiplier_nonassociated": [None if lowest is None else lowest.multiplier, upper],
        "search": {
            "starts": starts_of(system, starts),
            "rounds": rounds,
            "verified": len(states),
            "found": distinct([state.multiplier for _, state in states]),
            "error": None if lowest is None else lowest.error,
            "note": "the lower end is the lowest found, not a proven minimum" if states
            else "no state passed the check of the exact law: nothing is known below the associated value; try more starts",
        },
    }


def _rounds(
    system: Balance, dead: Array, live: Array, found: LimitState, starts: int | None, stable: bool
) -> Iterator[tuple[str, float, Round]]:
    """The law, the share of the search that is done, and the rounds: of joints with areas, then, if none of their states passed
    the check, of corner points."""
    wanted, passed = starts_of(system, starts), False
    hops = HOPS if len(system.friction) <= MANY else 0
    for each in search_states(system, dead, live, found.optimum, starts=wanted, hops=hops, stands=stable):
        passed = passed or each.collapse is not None
        yield AREAS, 0.5 * each.start / wanted, each
    if not passed:
        wanted = starts_by_size(system) if starts is None else starts
        for each in collapses(system, dead, live, found.optimum, starts=wanted, stands=stable):
            yield CORNERS, 0.5 + 0.5 * each.start / wanted, each


def starts_of(system: Balance, starts: int | None) -> int:
    """How many starts are made: as many as asked for, or by size."""
    return max(starts_by_size(system) // 2, 1) if starts is None else starts


def _without_bonds(
    system: Balance, dead: Array, live: Array, upper: float | None
) -> Generator[Stage, None, dict[str, Any]]:
    """The associated multiplier when all bonds are broken, a bound of what brittle joints still bear, and where the first crack
    opens in sound, elastic joints (T415)."""
    yield Stage(0.3, "all bonds broken")
    laws = system.model.laws
    assert laws is not None
    gone = np.zeros_like(laws.cohesion)
    model = replace(system.model, laws=laws._replace(cohesion=gone, tension=gone, energy=gone))
    broken = limit(system._replace(model=model), dead, live)
    crack = first_crack(system, dead, live) if (laws.tension.any() or laws.energy.any()) else None
    note = ("the upper value is the plastic limit, with all bonds sound; the safe one is that of the same joints with all "
            "bonds broken, by associated friction, for exact friction is searched of dry joints only")  # fmt: skip
    return {
        "multiplier_safe": number(broken.multiplier) if broken.optimum.status == SOLVED else None,
        "law_safe": "all bonds broken, associated friction",
        "multiplier_first_crack": crack,
        "multiplier_nonassociated": [None, upper],
        "search": {"starts": 0, "note": note},
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
    yield Stage(0.1, "tilted table", as_frame(case, model, 1, found.velocity, found.contacts, report(found.optimum)))
    _, search = yield from _exact(system, dead, live, found, None, stands(system, dead))
    safe = search["multiplier_safe"]
    facts: dict[str, Any] = search | {
        "angle_safe": None if safe is None else float(np.degrees(np.arctan(safe))),
        "angle": None,
        "multiplier": number(found.multiplier),
        "stable": stands(system, dead),
        "status": found.optimum.status,
        "converged": found.optimum.status in ANSWERS,
        "error": number(shortfall(found.balance, found.optimum)),
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
        upper = number(found.multiplier)
        row = {"direction_deg": 360.0 * k / asked.directions, "multiplier_safe": None, "multiplier_upper": upper,
               "multiplier": upper, "status": found.optimum.status}  # fmt: skip
        if asked.starts:
            _, search = yield from _exact(system, dead, live, found, asked.starts, stable)
            row["multiplier_nonassociated"] = search["multiplier_nonassociated"]
            row["multiplier_safe"] = search["multiplier_safe"]
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

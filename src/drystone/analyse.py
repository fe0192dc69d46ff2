"""From a case of statics to its result: a case comes in, stages go by, the facts go out.

Every analysis is a generator of `Stage`s that returns its facts, plain numbers in SI: what `drystone run --json` prints and
`result.json` keeps. States worth keeping become frames of the run, so that whatever reads a run (pictures, mechanisms, force
flow) reads statics too: the first frame is the structure as built, the forces [N] of a frame stand in the place of impulses.
"""

import json
import time
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from drystone.contact.contacts import Contacts
from drystone.errors import InputError
from drystone.io.analysis_tables import Capacity, Equilibrium, Limit, Tilt
from drystone.io.case import Case
from drystone.loads import body_force, weight, wrench
from drystone.model import Model
from drystone.record import RunWriter
from drystone.simulate import Step, initial_state
from drystone.solvers.methods import make_solver
from drystone.solvers.solution import Residual, Solution
from drystone.statics.balance import Balance, balance
from drystone.statics.equilibrium import bounds, equilibrium
from drystone.statics.limit import Limit as LimitState
from drystone.statics.limit import gain_by_friction, gain_by_load, limit, paced, shortfall, stands
from drystone.statics.nonassociated import Collapse, collapses, distinct, starts_by_size
from drystone.statics.program import ENDLESS, IMPOSSIBLE, SOLVED, Optimum
from drystone.statics.trial import Direction, try_in_time, try_tilt
from drystone.stepping import State, drift

Array = np.ndarray

MOVES = 1e-3  # of the fastest block: what counts as moving
RESULT = "result.json"
SHOWN = 0.05  # share of the size of a structure by which the fastest block is drawn moved along a mechanism


class Stage(NamedTuple):
    """How far an analysis has come."""

    share: float  # done, 0 to 1
    words: str
    step: Step | None = None  # a state to keep


Stages = Generator[Stage, None, dict[str, Any]]


def record(case: Case, out: str | Path, *, overwrite: bool = False) -> Stages:
    """The stages of a case, each already taken into the run in `out`; result.json comes last, whole or not at all."""
    model = case.model()
    folder = Path(out)
    writer = RunWriter.create(folder, case.text, model, initial_state(model, case.analysis.gravity), every_steps=1,
                              overwrite=overwrite)  # fmt: skip
    (folder / RESULT).unlink(missing_ok=True)
    with writer, closing(analyse(case, model)) as stages:
        while True:
            try:
                stage = next(stages)
            except StopIteration as end:
                facts = end.value
                break
            if stage.step is not None:
                writer.add(stage.step)
            yield stage
    fresh = folder / (RESULT + ".new")
    fresh.write_text(json.dumps(facts, indent=2), encoding="utf-8")
    fresh.replace(folder / RESULT)
    return facts


def read_result(folder: str | Path) -> dict[str, Any] | None:
    """The facts of an analysis of statics; None if the run is no such or was cut."""
    path = Path(folder) / RESULT
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def analyse(case: Case, model: Model) -> Stages:
    """The stages and facts of a case that is no history."""
    begin = time.perf_counter()
    if case.goes_through_time:
        raise InputError(f'{case.path}: "{case.analysis.kind}" goes through time; run it as a history')
    facts = yield from ANALYSES[case.analysis.kind](case, model)
    bodies = model.bodies
    about = {
        "analysis": case.analysis.kind,
        "blocks": len(model.blocks),
        "fixed_blocks": int(bodies.fixed.sum()),
        "weight": float(case.analysis.gravity * bodies.mass[~bodies.fixed].sum()),
    }
    return about | facts | {"seconds": time.perf_counter() - begin}


def _equilibrium(case: Case, model: Model) -> Stages:
    asked = case.analysis
    assert isinstance(asked, Equilibrium)
    yield Stage(0.0, "contact forces")
    solver = make_solver(case.solver.method, case.solver.tolerance, case.solver.threads)
    found = equilibrium(model, solver=solver, gravity=asked.gravity, loads=case.loads, surface=case.surface)
    yield Stage(0.5, "contact forces", _frame(case, model, 1, found.acceleration, found.contacts, found.solution))
    facts: dict[str, Any] = {
        "stable": found.stands,
        "acceleration": found.motion,
        "reactions": _reactions(model, found.contacts),
        "contact": case.surface.words,
        "residual": found.solution.residual.error,
    }
    if asked.bounds:
        system = balance(model)
        dead = weight(model, asked.gravity) + wrench(model, case.loads, asked.gravity)
        facts["bounds"] = []
        for k, bound in enumerate(asked.bounds):
            yield Stage(0.5 + 0.5 * k / len(asked.bounds), f"bounds of {bound.between[0]} on {bound.between[1]}")
            least, largest = bounds(system, dead, bound.between, bound.direction)
            facts["bounds"].append(bound.model_dump() | {"least": _number(least), "largest": _number(largest)})
    return facts


def _limit(case: Case, model: Model) -> Stages:
    asked = case.analysis
    assert isinstance(asked, Limit)
    dead, live = _loads(case, model, asked.direction)
    if asked.check and (asked.direction is None or case.loads):
        raise InputError(f"{case.path}: analysis.check follows a body force in time; give analysis.direction and no [[load]]")
    yield Stage(0.0, "associated multiplier")
    system = balance(model)
    found = limit(system, dead, live)
    stable = stands(system, dead)
    yield Stage(0.1, "associated multiplier", _frame(case, model, 1, found.velocity, found.contacts, _report(found.optimum)))
    starts = starts_by_size(system) if asked.starts is None else asked.starts
    exact, facts = yield from _exact(system, dead, live, found, starts, stable)
    velocity, contacts = found.velocity, found.contacts
    if exact is not None:
        velocity, contacts = paced(system, exact.velocity), system.with_forces(exact.force)
        yield Stage(0.9, "lowest multiplier", _frame(case, model, 2, velocity, contacts, _report(exact)))
    facts = {"multiplier": _number(found.multiplier)} | facts | {
        "stable": stable,
        "status": found.optimum.status,
        "error": _number(shortfall(system, found.optimum)),
        "mechanism": {"law": "associated" if exact is None else "exact"} | _mechanism(model, contacts, velocity),
        "sensitivities": _sensitivities(case, system, found, asked.direction),
    }  # fmt: skip
    if asked.check and asked.direction is not None and np.isfinite(found.multiplier):
        yield Stage(0.9, "through time")
        solver = make_solver(case.solver.method, case.solver.tolerance, case.solver.threads)
        tried = try_in_time(model, found.multiplier, asked.direction, solver=solver, gravity=asked.gravity)
        facts["checked"] = tried._asdict()
    return facts | {"note": _verdict(found, stable)}


def _exact(
    system: Balance, dead: Array, live: Array, found: LimitState, starts: int, stable: bool
) -> Generator[Stage, None, tuple[Collapse | None, dict[str, Any]]]:
    """The lowest state of collapse by the exact law, if any, and the facts of the search."""
    if found.optimum.status == IMPOSSIBLE:
        return None, {"multiplier_nonassociated": None}
    if starts == 0:
        said = f"exact friction was not searched ({len(system.friction)} contact points); give analysis.starts to do so"
        return None, {"multiplier_nonassociated": None, "search": {"starts": 0, "note": said}}
    states, count = [], 0
    for each in collapses(system, dead, live, found.optimum, starts=starts, stands=stable):
        count += 1
        states += [each.collapse] if each.collapse is not None else []
        yield Stage(0.1 + 0.8 * each.start / starts, f"exact friction, start {each.start + 1} of {starts}")
    lowest = min(states, key=lambda state: state.multiplier, default=None)
    return lowest, {
        "multiplier_nonassociated": [None if lowest is None else lowest.multiplier, _number(found.multiplier)],
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


def _verdict(found: LimitState, stable: bool) -> str:
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


def _mechanism(model: Model, contacts: Contacts, velocity: Array) -> dict[str, Any]:
    """The joints that give way, of a mechanism whose fastest block moves at 1 m/s: those whose points part unevenly hinge,
    those where a point slips while it stays closed, or opens by no more than the associated law makes it, slide."""
    a, b = contacts.a, contacts.b
    here = [velocity[i, :3] + np.cross(velocity[i, 3:], contacts.point - model.position[i]) for i in (a, b)]
    drift = here[1] - here[0]
    opening = (drift * contacts.normal).sum(axis=1)
    slip = np.linalg.norm(drift - opening[:, None] * contacts.normal, axis=1)
    group = model.bodies.group
    slides = (slip > MOVES) & (opening <= model.friction[group[a], group[b]] * slip + MOVES)
    joints, row = np.unique(np.column_stack([a, b]), axis=0, return_inverse=True)
    least, most = np.full(len(joints), np.inf), np.full(len(joints), -np.inf)
    np.minimum.at(least, row.ravel(), opening)
    np.maximum.at(most, row.ravel(), opening)
    slide = np.isin(np.arange(len(joints)), row.ravel()[slides])
    hinge = (most - least > MOVES) & ~slide
    names = [f"{model.blocks[i].name} | {model.blocks[j].name}" for i, j in joints]
    return {
        "sliding": int(slide.sum()),
        "hinging": int(hinge.sum()),
        "sliding_joints": [names[k] for k in np.flatnonzero(slide)],
        "hinging_joints": [names[k] for k in np.flatnonzero(hinge)],
    }


def _tilt(case: Case, model: Model) -> Stages:
    asked = case.analysis
    assert isinstance(asked, Tilt)
    if case.loads:
        raise InputError(f"{case.path}: a tilt turns weights alone; take out [[load]] on {case.loads[0].on!r}")
    dead, live = _loads(case, model, asked.direction)
    yield Stage(0.0, "multiplier of the horizontal body force")
    system = balance(model)
    found = limit(system, dead, live)
    yield Stage(0.5, "tilted table", _frame(case, model, 1, found.velocity, found.contacts, _report(found.optimum)))
    facts: dict[str, Any] = {
        "angle": None,
        "multiplier": _number(found.multiplier),
        "stable": stands(system, dead),
        "status": found.optimum.status,
        "error": _number(shortfall(system, found.optimum)),
    }
    facts["note"] = _verdict(found, facts["stable"])
    if not np.isfinite(found.multiplier):
        return facts
    angle = float(np.arctan(found.multiplier))
    solver = make_solver(case.solver.method, case.solver.tolerance, case.solver.threads)
    tried = try_tilt(model, angle, asked.direction, solver=solver, gravity=asked.gravity)
    mechanism = _mechanism(model, found.contacts, found.velocity)
    return facts | {"angle": float(np.degrees(angle)), "checked": tried._asdict(), "mechanism": mechanism}


def _capacity(case: Case, model: Model) -> Stages:
    asked = case.analysis
    assert isinstance(asked, Capacity)
    system, table, weakest = balance(model), [], None
    stable = stands(system, _loads(case, model, (1.0, 0.0, 0.0))[0])
    for k in range(asked.directions):
        yield Stage(k / asked.directions, f"direction {k + 1} of {asked.directions}")
        angle = 2 * np.pi * k / asked.directions
        dead, live = _loads(case, model, (float(np.cos(angle)), float(np.sin(angle)), 0.0))
        found = limit(system, dead, live)
        row = {"direction_deg": 360.0 * k / asked.directions, "multiplier": _number(found.multiplier),
               "status": found.optimum.status}  # fmt: skip
        if asked.starts:
            _, search = yield from _exact(system, dead, live, found, asked.starts, stable)
            row["multiplier_nonassociated"] = search["multiplier_nonassociated"]
        table.append(row)
        if np.isfinite(found.multiplier) and (weakest is None or found.multiplier < weakest[1].multiplier):
            weakest = row, found
    facts: dict[str, Any] = {"stable": stable, "directions": table, "weakest": None if weakest is None else weakest[0]}
    if weakest is not None:
        _, found = weakest
        yield Stage(1.0, "weakest direction", _frame(case, model, 1, found.velocity, found.contacts, _report(found.optimum)))
        facts["mechanism"] = _mechanism(model, found.contacts, found.velocity)
    return facts


ANALYSES: dict[str, Callable[[Case, Model], Stages]] = {
    "equilibrium": _equilibrium,
    "limit": _limit,
    "tilt": _tilt,
    "capacity": _capacity,
}


def _loads(case: Case, model: Model, direction: tuple[float, float, float] | None) -> tuple[Array, Array]:
    """Dead and live loads (B, 6); `direction` is that of a live body force of 1 g."""
    gravity = case.analysis.gravity
    dead = weight(model, gravity) + wrench(model, [load for load in case.loads if not load.live], gravity)
    live = wrench(model, [load for load in case.loads if load.live], gravity)
    if direction is not None:
        live = live + body_force(model, direction, gravity)
    if not live.any():
        raise InputError(f"{case.path}: nothing is live; give analysis.direction, or live = true in a [[load]]")
    return dead, live


def _frame(case: Case, model: Model, number: int, velocity: Array, contacts: Contacts, solution: Solution) -> Step:
    """The structure with these forces, moved along a velocity so far that it is seen; not at all by none."""
    start = initial_state(model, case.analysis.gravity)
    rim = np.linalg.norm(velocity[:, :3], axis=1) + model.bodies.radius * np.linalg.norm(velocity[:, 3:], axis=1)
    size = float(np.ptp(np.concatenate([block.vertices for block in model.blocks]), axis=0).max())
    stretch = SHOWN * size / rim.max() if rim.max() > 1e-4 else 0.0
    position, rotation = drift(start.position, start.rotation, velocity, stretch)
    state = State(number, float(number), position, rotation, np.zeros_like(velocity), contacts, 0, 0, start.energy)
    return Step(state, solution, (0.0, 0.0, 0.0))


def _report(found: Optimum | Collapse) -> Solution:
    """The answer of a cone program as a run reports it."""
    residual = Residual(found.error, found.error, 0.0, 0.0, 0.0)
    solved = isinstance(found, Collapse) or found.status == SOLVED
    return Solution(np.empty((0, 6)), np.empty((0, 3)), solved, "clarabel", 0, residual, 0)


def _reactions(model: Model, contacts: Contacts) -> dict[str, list[float]]:
    """[N] by which each support pushes the structure."""
    total = np.zeros((len(model.blocks), 3))
    np.add.at(total, contacts.a, contacts.impulse)
    np.add.at(total, contacts.b, -contacts.impulse)
    return {block.name: total[i].tolist() for i, block in enumerate(model.blocks) if block.fixed}


def _number(value: float) -> float | None:
    """A number as JSON has them: none for what is not finite."""
    return float(value) if np.isfinite(value) else None

"""From a case of statics to its result: a case comes in, stages go by, the facts go out.

Every analysis is a generator of `Stage`s that returns its facts, plain numbers in SI: what `drystone run --json` prints and
`result.json` keeps. States worth keeping become frames of the run, so that whatever reads a run (pictures, mechanisms, force
flow) reads statics too: the first frame is the structure as built, the forces [N] of a frame stand in the place of impulses.
"""

import json
import time
from collections.abc import Callable, Generator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from drystone.contact.contacts import Contacts
from drystone.errors import InputError
from drystone.io.analysis_tables import Equilibrium, Limit, Pushover
from drystone.io.case import Case
from drystone.loads import body_force, weight, wrench
from drystone.model import Model
from drystone.record import RunWriter
from drystone.simulate import Step, initial_state
from drystone.solvers.methods import make_solver
from drystone.solvers.solution import Residual, Solution
from drystone.statics.balance import Balance, balance
from drystone.statics.equilibrium import bounds, equilibrium
from drystone.statics.limit import limit
from drystone.statics.pushover import Point, capacity, pushover
from drystone.statics.remaining import remaining
from drystone.statics.surcharge import under_the_rest
from drystone.statics.thrust import Arch, Line, conventional_thrust, find_arch
from drystone.stepping import State, drift

Array = np.ndarray

RESULT = "result.json"
TOUCH = 1e-6  # share of half a joint within which a thrust line touches its edge
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
    if asked.remaining and not found.stands:
        yield Stage(0.5, "what remains")
        left = remaining(model, solver=solver, gravity=asked.gravity, loads=case.loads, surface=case.surface)
        still = np.zeros_like(found.acceleration)
        yield Stage(0.5, "what remains", _frame(case, model, 2, still, left.rest.contacts, left.rest.solution))
        facts["falls"] = [block.name for block, stays in zip(model.blocks, left.stays, strict=True) if not stays]
        facts["rest_stands"] = left.rest.stands
    system = balance(model)
    dead = weight(model, asked.gravity) + wrench(model, case.loads, asked.gravity)
    if (arch := _arch(asked.arch, system, dead)) is not None:
        facts["thrust"] = _thrust(arch, model)
    if asked.bounds:
        facts["bounds"] = []
        for k, bound in enumerate(asked.bounds):
            yield Stage(0.5 + 0.5 * k / len(asked.bounds), f"bounds of {bound.between[0]} on {bound.between[1]}")
            least, largest = bounds(system, dead, bound.between, bound.direction)
            facts["bounds"].append(bound.model_dump() | {"least": _number(least), "largest": _number(largest)})
    return facts


def _arch(name: str, system: Balance, load: Array) -> Arch | None:
    """The arch of that name under what is above it; without a name the arch that the whole structure is, if it is one."""
    model = system.model
    if not name:
        return find_arch(system, load)
    chosen = np.array([block.group == name or block.name.startswith(name) for block in model.blocks])
    arch = find_arch(system, load, chosen) if chosen.any() else None
    if arch is None:
        raise InputError(f"analysis.arch: the {chosen.sum()} blocks of the group {name!r}, or whose names begin so, are no "
                         "chain from support to support in a vertical plane; name the voussoirs of one arch")  # fmt: skip
    return under_the_rest(arch, model, load)


def _thrust(arch: Arch, model: Model) -> dict[str, Any]:
    """What the conventional thrust lines say; joints by the names of their two blocks."""
    found = conventional_thrust(arch)
    names = [model.blocks[i].name for i in arch.blocks]
    joints = [list(pair) for pair in pairwise(names)]
    lines = {"minimum": found.minimum, "maximum": found.maximum, "safest": found.safest}

    def touched(line: Line) -> list[dict[str, Any]]:
        edges = np.flatnonzero(np.abs(line.offset) > 1 - TOUCH)
        return [{"joint": joints[k], "side": "inside" if line.offset[k] > 0 else "outside"} for k in edges]

    def too_steep(line: Line) -> list[dict[str, Any]]:
        return [{"joint": joints[k], "slope": float(line.slope[k])} for k in np.flatnonzero(line.slope > arch.friction)]

    return {
        "minimum": None if found.minimum is None else found.minimum.thrust,
        "maximum": None if found.maximum is None else found.maximum.thrust,
        "geometric_safety_factor": found.safety_factor,
        "touches": {name: touched(line) for name, line in lines.items() if line},
        "friction_check": {name: too_steep(line) for name, line in lines.items() if line},
        "lines": {name: line.point.tolist() for name, line in lines.items() if line},
    }


def _limit(case: Case, model: Model) -> Stages:
    asked = case.analysis
    assert isinstance(asked, Limit)
    dead, live = _loads(case, model, asked.direction)
    yield Stage(0.0, "associated multiplier")
    found = limit(balance(model), dead, live)
    yield Stage(1.0, "associated multiplier", _frame(case, model, 1, found.velocity, found.contacts, _report(found.optimum)))
    return {"multiplier": _number(found.multiplier), "status": found.optimum.status}


def _pushover(case: Case, model: Model) -> Stages:
    asked = case.analysis
    assert isinstance(asked, Pushover)
    yield Stage(0.0, "associated multiplier")
    start = limit(balance(model), *_loads(case, model, asked.direction)).multiplier
    points: list[Point] = []
    for point in pushover(model, lambda rotation: _loads(case, model, asked.direction, rotation), step=asked.step):
        points.append(point)
        done = 1 - point.multiplier / points[0].multiplier if point.multiplier > 0 else 1.0
        words = f"multiplier {point.multiplier:.4f} at {1e3 * point.displacement:.1f} mm"
        yield Stage(max(done, 0.0), words, _pose(case, model, len(points), point))
        if asked.until is not None and point.displacement >= asked.until:
            break
    moved = np.array([point.position - points[0].position for point in points])
    names = [block.name for block in model.blocks]
    return {
        **capacity(points)._asdict(),
        "multiplier": _number(points[0].multiplier),
        "limit": _number(start),  # of a limit analysis: the curve starts there
        "end": _end(points[-1], asked.until),
        "curve": {
            "displacement": [point.displacement for point in points],
            "multiplier": [_number(point.multiplier) for point in points],
            "most_moved": np.linalg.norm(moved, axis=2).max(axis=1).tolist(),  # [m] of the block that has moved most
        },
        "monitored": {name: moved[:, names.index(name)].tolist() for name in case.output.monitor},
    }


def _end(last: Point, until: float | None) -> str:
    """Why a curve ends."""
    if last.optimum.status != "solved":
        return {"impossible": "nothing holds it any longer", "endless": "nothing yields"}.get(last.optimum.status, "not solved")
    if last.multiplier <= 0:
        return "no capacity left"
    return "until" if until is not None and last.displacement >= until else "too many increments; give a larger step, or until"


ANALYSES: dict[str, Callable[[Case, Model], Stages]] = {
    "equilibrium": _equilibrium,
    "limit": _limit,
    "pushover": _pushover,
}


def _loads(
    case: Case, model: Model, direction: tuple[float, float, float] | None, rotation: Array | None = None
) -> tuple[Array, Array]:
    """Dead and live loads (B, 6) of turned blocks; `direction` is that of a live body force of 1 g."""
    gravity = case.analysis.gravity
    dead = weight(model, gravity) + wrench(model, [load for load in case.loads if not load.live], gravity, rotation)
    live = wrench(model, [load for load in case.loads if load.live], gravity, rotation)
    if direction is not None:
        live = live + body_force(model, direction, gravity)
    if not live.any():
        raise InputError(f"{case.path}: nothing is live; give analysis.direction, or live = true in a [[load]]")
    return dead, live


def _frame(case: Case, model: Model, number: int, velocity: Array, contacts: Contacts, solution: Solution) -> Step:
    """The structure with these forces and the velocity with which it gives way, moved along it so far that it is seen; not at
    all by what is rounding."""
    start = initial_state(model, case.analysis.gravity)
    rim = np.linalg.norm(velocity[:, :3], axis=1) + model.bodies.radius * np.linalg.norm(velocity[:, 3:], axis=1)
    size = float(np.ptp(np.concatenate([block.vertices for block in model.blocks]), axis=0).max())
    if rim.max() <= 1e-4:
        velocity = np.zeros_like(velocity)
    stretch = SHOWN * size / (rim.max() or 1.0)
    position, rotation = drift(start.position, start.rotation, velocity, stretch)
    state = State(number, float(number), position, rotation, velocity, contacts, 0, 0, start.energy)
    return Step(state, solution, (0.0, 0.0, 0.0))


def _pose(case: Case, model: Model, number: int, point: Point) -> Step:
    """A point of a capacity curve where it is."""
    start = initial_state(model, case.analysis.gravity)
    still = np.zeros((len(model.blocks), 6))
    state = start._replace(step=number, time=float(number), position=point.position, rotation=point.rotation, velocity=still,
                           contacts=point.contacts)  # fmt: skip
    return Step(state, _report(point.optimum), (0.0, 0.0, 0.0))


def _report(optimum: Any) -> Solution:
    """The answer of a cone program as a run reports it."""
    residual = Residual(optimum.error, optimum.error, 0.0, 0.0, 0.0)
    return Solution(np.empty((0, 6)), np.empty((0, 3)), optimum.status == "solved", "clarabel", 0, residual, 0)


def _reactions(model: Model, contacts: Contacts) -> dict[str, list[float]]:
    """[N] by which each support pushes the structure."""
    total = np.zeros((len(model.blocks), 3))
    np.add.at(total, contacts.a, contacts.impulse)
    np.add.at(total, contacts.b, -contacts.impulse)
    return {block.name: total[i].tolist() for i, block in enumerate(model.blocks) if block.fixed}


def _number(value: float) -> float | None:
    """A number as JSON has them: none for what is not finite."""
    return float(value) if np.isfinite(value) else None

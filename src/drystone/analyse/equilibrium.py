"""Equilibrium: stands or not, reactions, bounds of forces, thrust lines of an arch, what remains when something falls."""

from itertools import pairwise
from typing import Any

import numpy as np

from drystone.analyse.stages import Stage, Stages, as_frame, mechanism_facts, number
from drystone.contact.contacts import Contacts
from drystone.errors import InputError
from drystone.io.analysis_tables import Equilibrium
from drystone.io.case import Case
from drystone.loads import weight, wrench
from drystone.model import Model
from drystone.session import solver_of
from drystone.statics.balance import Balance, balance
from drystone.statics.equilibrium import bounds, equilibrium
from drystone.statics.remaining import remaining
from drystone.statics.surcharge import under_the_rest
from drystone.statics.thrust import Arch, Line, conventional_thrust, find_arch

Array = np.ndarray

TOUCH = 1e-6  # share of half a joint within which a thrust line touches its edge


def analyse_equilibrium(case: Case, model: Model) -> Stages:
    asked = case.analysis
    assert isinstance(asked, Equilibrium)
    yield Stage(0.0, "contact forces")
    solver = solver_of(case)
    found = equilibrium(model, solver=solver, gravity=asked.gravity, loads=case.loads, surface=case.surface)
    yield Stage(0.5, "contact forces", as_frame(case, model, 1, found.acceleration, found.contacts, found.solution))
    facts: dict[str, Any] = {
        "stable": found.stands,
        "acceleration": found.motion,
        "reactions": reactions(model, found.contacts),
        "contact": case.surface.words,
        "residual": found.solution.residual.error,
        "converged": found.solution.converged,
    }
    if not found.stands:
        facts["mechanism"] = mechanism_facts(model, found.contacts, found.acceleration)
    if asked.remaining and not found.stands:
        yield Stage(0.5, "what remains")
        left = remaining(model, solver=solver, gravity=asked.gravity, loads=case.loads, surface=case.surface)
        still = np.zeros_like(found.acceleration)
        yield Stage(0.5, "what remains", as_frame(case, model, 2, still, left.rest.contacts, left.rest.solution))
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
            facts["bounds"].append(bound.model_dump() | {"least": number(least), "largest": number(largest)})
    return facts


def reactions(model: Model, contacts: Contacts) -> dict[str, list[float]]:
    """[N] by which each support pushes the structure."""
    total = np.zeros((len(model.blocks), 3))
    np.add.at(total, contacts.a, contacts.impulse)
    np.add.at(total, contacts.b, -contacts.impulse)
    return {block.name: total[i].tolist() for i, block in enumerate(model.blocks) if block.fixed}


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

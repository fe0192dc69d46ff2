"""Equilibrium: whether the structure stands by Coulomb friction, reactions, bounds of forces, thrust lines of an arch, and what
remains after some blocks have fallen."""

from collections.abc import Generator
from itertools import pairwise
from typing import Any

import numpy as np

from drystone.analysis.dynamics import case_solver
from drystone.analysis.stages import Stage, Stages, displaced_frame
from drystone.analysis.statics.balance import Balance, assemble_balance
from drystone.analysis.statics.remaining_blocks import remove_falling_blocks
from drystone.analysis.statics.rigid_equilibrium import force_bounds, solve_equilibrium
from drystone.analysis.statics.standing import (
    SAME_BODY_SHARE,
    SELF_STRESS,
    STANDS,
    Standing,
    StandingTrial,
    balance_of_closed_joints,
    judge_standing,
    widest_closed,
)
from drystone.analysis.statics.surcharge import load_from_above
from drystone.analysis.statics.thrust_lines import MAX_SAFETY_FACTOR, Arch, ThrustLine, conventional_thrust, find_arch
from drystone.base.errors import InputError
from drystone.base.json_numbers import finite_or_none
from drystone.contact.contacts import Contacts
from drystone.contact.pairs import hung_by_friction
from drystone.engine.solvers.solution import SMALL_STEPS, Residual, Solution
from drystone.io.analysis_tables import EquilibriumTable
from drystone.io.case import Case
from drystone.results.mechanism import read_mechanism
from drystone.results.resultants import blocks_called
from drystone.structure.loads import load_wrench, weight_wrench
from drystone.structure.model import Model

Array = np.ndarray

EDGE_TOLERANCE = 1e-6  # of half the height of a joint: a thrust line that is closer to the edge touches it
MAX_NAMES = 4  # blocks or joints named in a sentence; more are counted
BY_SMALL_STEPS = "elastic blocks, Coulomb friction, by small steps"


def analyse_equilibrium(case: Case, model: Model) -> Stages:
    analysis = case.analysis
    assert isinstance(analysis, EquilibriumTable)
    yield Stage(0.0, "settling, then released")
    judged = judge_standing(model, gravity=analysis.gravity, loads=case.loads, young=case.young, threads=case.solver.threads)
    yield Stage(0.4, "contact forces")
    result = yield from _forces(case, model, judged)
    if analysis.remaining and not judged.trial.stands:
        result |= yield from _what_remains(case, model)
    system = balance_of_closed_joints(model)
    dead = weight_wrench(model, analysis.gravity) + load_wrench(model, case.loads, analysis.gravity)
    if (arch := _find_named_arch(analysis.arch, system, dead)) is not None:
        result["thrust"] = _thrust_result(arch, model)
    if analysis.bounds:
        result["bounds"] = []
        for k, bound in enumerate(analysis.bounds):
            yield Stage(0.5 + 0.5 * k / len(analysis.bounds), f"bounds of {bound.between[0]} on {bound.between[1]}")
            least, largest = force_bounds(system, dead, bound.between, bound.direction)
            result["bounds"].append(bound.model_dump() | {"least": finite_or_none(least), "largest": finite_or_none(largest)})
    return result


def verdict_result(model: Model, judged: Standing) -> dict[str, Any]:
    """The verdict in one word, in one sentence and in numbers."""
    trial, names = judged.trial, [block.name for block in model.blocks]
    moving = [names[i] for i in trial.moving]
    joints = [[names[a], names[b]] for a, b in judged.joints]
    hung = [] if trial.moving.size else names_of_hung_blocks(model)
    return {
        "verdict": judged.verdict,
        "stable": judged.verdict == STANDS,
        "words": _describe_verdict(trial, judged.verdict, moving, joints, model.laws is None) + _hung_blocks_note(hung),
        "hung_by_friction": hung,
        "moving": moving,
        "self_stress_joints": joints,
        "moved": float(trial.moved.max()),
        "trial_time": trial.time,
    }


def names_of_hung_blocks(model: Model) -> list[str]:
    """The blocks that rest on no other block and may be held by friction in tight upright joints."""
    c = assemble_balance(model).contacts
    return [model.blocks[i].name for i in hung_by_friction(c.a, c.b, c.normal, c.gap, model.bodies.radius, model.bodies.fixed)]


def _hung_blocks_note(hung: list[str]) -> str:
    """A note for a structure that stands although some blocks rest on no other block."""
    if not hung:
        return ""
    blocks = "block rests" if len(hung) == 1 else "blocks rest"
    return f" But {len(hung)} {blocks} on nothing ({_list_names(hung)}): with play in the upright joints they may fall."


def _describe_verdict(trial: StandingTrial, verdict: str, moving: list[str], joints: list[list[str]], is_dry: bool) -> str:
    """The verdict in a sentence."""
    if verdict == STANDS:
        return f"It stands by Coulomb friction: released as drawn, it comes to rest within {_millimetres(trial)}."
    if not trial.finite:
        return "It is not known whether it stands: the trial could not be computed to its end."
    motion = f"{_list_names(moving)} move{'s' if len(moving) == 1 else ''} away, {_millimetres(trial)} in {trial.time:.2g} s"
    if verdict == SELF_STRESS and not is_dry:
        return f"Forces within the strength of its bonds would hold it, but it does not reach them: bonds break, and {motion}."
    if verdict == SELF_STRESS and not joints:
        return f"It stands only with self-stress that nothing has created; without it {motion}."
    if verdict == SELF_STRESS:
        pressed = _list_names(["|".join(pair) for pair in joints])
        return (f"It stands only with self-stress that nothing has created: wedges or prestress would have to press together "
                f"{pressed}; without them {motion}.")  # fmt: skip
    return f"It falls: no forces within Coulomb's cone of friction hold it; {motion}."


def _millimetres(trial: StandingTrial) -> str:
    return f"{1e3 * trial.moved.max():.3g} mm"


def _list_names(names: list[str]) -> str:
    if len(names) <= MAX_NAMES:
        return ", ".join(names)
    return f"{', '.join(names[:MAX_NAMES])} and {len(names) - MAX_NAMES} more"


def _forces(case: Case, model: Model, judged: Standing) -> Generator[Stage, None, dict[str, Any]]:
    """The verdict and its contact forces: if the structure stands, those of the contact problem from rest; for self-stress the
    least ones; if it falls, those of the joints while it moves."""
    trial, velocity = judged.trial, np.zeros_like(judged.trial.velocity)
    contacts, solution = trial.contacts, _trial_as_solution(trial)
    surface, words = case.surface, BY_SMALL_STEPS
    if judged.verdict == STANDS:
        equilibrium = solve_equilibrium(
            model,
            solver=case_solver(case),
            gravity=case.analysis.gravity,
            loads=case.loads,
            surface=surface,
            widest=widest_closed(model),
        )
        if equilibrium.stands:
            contacts, solution, words, velocity = (
                equilibrium.contacts,
                equilibrium.solution,
                surface.words,
                equilibrium.acceleration,
            )
    else:
        velocity = trial.mechanism
        if judged.contacts is not None:
            contacts, words = judged.contacts, "the least self-stress that would hold it"
    yield Stage(0.5, "contact forces", displaced_frame(case, model, 1, velocity, contacts, solution))
    result = verdict_result(model, judged) | {
        "acceleration": 0.0 if judged.verdict == STANDS else _acceleration(case, model, trial),
        "reactions": support_reactions(model, contacts),
        "contact": words,
        "residual": solution.residual.error,
        "converged": trial.finite,
    }
    if judged.verdict != STANDS:
        result["mechanism"] = read_mechanism(model, contacts, velocity, tolerance=SAME_BODY_SHARE).as_dict()
    return result


def _what_remains(case: Case, model: Model) -> Generator[Stage, None, dict[str, Any]]:
    """Remove the blocks that fall, stage by stage, and report which they are and whether the rest stands."""
    last, threads = None, case.solver.threads
    for last in remove_falling_blocks(
        model, gravity=case.analysis.gravity, loads=case.loads, young=case.young, threads=threads
    ):
        yield Stage(0.5, f"what remains: {int((~last.stays).sum())} blocks have fallen")
    assert last is not None
    no_motion = np.zeros((len(model.blocks), 6))
    yield Stage(
        0.5, "what remains", displaced_frame(case, model, 2, no_motion, last.rest.contacts, _trial_as_solution(last.rest))
    )
    falls = [block.name for block, stays in zip(model.blocks, last.stays, strict=True) if not stays]
    return {"falls": falls, "rest_stands": last.rest.stands}


def _trial_as_solution(trial: StandingTrial) -> Solution:
    """A trial in the form of a solution for the run: small steps solve no contact problem."""
    none = np.empty((0, 6)), np.empty((0, 3))
    return Solution(*none, trial.finite, SMALL_STEPS, 0, Residual(0.0, 0.0, 0.0, 0.0, 0.0), 0)


def _acceleration(case: Case, model: Model, trial: StandingTrial) -> float | None:
    """[g] The mean acceleration in the trial, mass-weighted rms over the blocks that move away: twice their mean speed over the
    time."""
    if not trial.finite:
        return None
    rows = trial.moving
    mass = model.bodies.mass[rows]
    speed = np.sqrt(mass @ (trial.velocity[rows, :3] ** 2).sum(axis=1) / mass.sum())
    return float(2.0 * speed / trial.time / (case.analysis.gravity or 1.0))


def support_reactions(model: Model, contacts: Contacts) -> dict[str, list[float]]:
    """[N] The force of each support on the structure."""
    total = np.zeros((len(model.blocks), 3))
    np.add.at(total, contacts.a, contacts.impulse)
    np.add.at(total, contacts.b, -contacts.impulse)
    return {block.name: total[i].tolist() for i, block in enumerate(model.blocks) if block.fixed}


def _find_named_arch(name: str, system: Balance, load: Array) -> Arch | None:
    """The arch of this name with the loads from above; without a name the whole structure, if it is an arch."""
    model = system.model
    if not name:
        return find_arch(system, load)
    chosen = blocks_called(model, name)
    arch = find_arch(system, load, chosen) if chosen.any() else None
    if arch is None:
        raise InputError(f"analysis.arch: the {chosen.sum()} blocks of the group {name!r}, or whose names begin so, are no "
                         "chain from support to support in a vertical plane; name the voussoirs of one arch")  # fmt: skip
    return load_from_above(arch, model, load)


def _thrust_result(arch: Arch, model: Model) -> dict[str, Any]:
    """The results of the conventional thrust lines, with joints given by the names of their two blocks."""
    judged = conventional_thrust(arch)
    factor = judged.safety_factor if judged.safety_factor < MAX_SAFETY_FACTOR * (1 - EDGE_TOLERANCE) else np.inf
    names = [model.blocks[i].name for i in arch.blocks]
    joints = [list(pair) for pair in pairwise(names)]
    lines = {"minimum": judged.minimum, "maximum": judged.maximum, "safest": judged.safest}

    def touched(line: ThrustLine) -> list[dict[str, Any]]:
        edges = np.flatnonzero(np.abs(line.offset) > 1 - EDGE_TOLERANCE)
        return [{"joint": joints[k], "side": "inside" if line.offset[k] > 0 else "outside"} for k in edges]

    def too_steep(line: ThrustLine) -> list[dict[str, Any]]:
        return [{"joint": joints[k], "slope": float(line.slope[k])} for k in np.flatnonzero(line.slope > arch.friction)]

    return {
        "minimum": None if judged.minimum is None else judged.minimum.thrust,
        "maximum": None if judged.maximum is None else judged.maximum.thrust,
        "geometric_safety_factor": finite_or_none(factor),
        "touches": {name: touched(line) for name, line in lines.items() if line},
        "friction_check": {name: too_steep(line) for name, line in lines.items() if line},
        "lines": {name: line.point.tolist() for name, line in lines.items() if line},
    }

"""The analyses of statics that the studio shows at once: a case comes in, plain numbers for the page go out, in two parts.

`answer_collapse`: whether the structure stands, the upper multiplier and the mechanism, and for a small structure the safe
multiplier. `answer_at_rest`: the safe multiplier of any structure, tried by a history; the forces of a structure that stands,
and the conventional thrust lines of an arch. The multipliers come from the same functions as in `drystone run`.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from drystone.analysis.dynamics import case_solver
from drystone.analysis.equilibrium import verdict_result
from drystone.analysis.limit_tilt_capacity import describe_limit, tilt_angle
from drystone.analysis.safe_multiplier import MultiplierProblem, safe_multiplier, safe_multiplier_by_programs
from drystone.analysis.stages import MECHANISM_TOLERANCE, dead_and_live_loads, structure_size
from drystone.analysis.statics.balance import Balance
from drystone.analysis.statics.collapse_multiplier import normalise_mechanism, solve_limit, stands_with_associated_friction
from drystone.analysis.statics.cone_program import SOLVED
from drystone.analysis.statics.rigid_equilibrium import ContactEquilibrium, solve_equilibrium
from drystone.analysis.statics.standing import (
    FALLS,
    SAME_BODY_SHARE,
    STANDS,
    balance_of_closed_joints,
    judge_standing,
    widest_closed,
)
from drystone.analysis.statics.thrust_lines import conventional_thrust, find_arch
from drystone.base.json_numbers import finite_or_none
from drystone.contact.contacts import Contacts
from drystone.engine.contact_laws import ContactSurface
from drystone.io.analysis_tables import LimitTable, TiltTable
from drystone.io.case import DEFAULT_STONE_YOUNG, Case, parse_case
from drystone.results.mechanism import Mechanism, read_mechanism
from drystone.results.quantities import joint_pressures
from drystone.results.resultants import joint_resultants, thrust_lines
from drystone.show.page.block_arrays import coordinate_origin
from drystone.structure.loads import AppliedLoad, load_wrench, weight_wrench
from drystone.structure.model import Model

Array = np.ndarray

ANIMATION_DISPLACEMENT = 0.12  # of the size of a structure: displacement of the fastest block at the end of the animation
MAX_CONTACTS_SAFE_AT_ONCE = 250  # contact points; the safe multiplier of a larger structure comes later
MAX_CONTACTS_AT_ONCE = 6000  # contact points; with more, an answer takes more than ten seconds and is computed only on request


class PreparedStructure(NamedTuple):
    """The model of a structure and its equations of balance, which all answers need."""

    model: Model
    system: Balance


@lru_cache(maxsize=4)
def prepare_structure(text: str, path: Path) -> PreparedStructure:
    """The structure of a case without its loads and analysis; cached, because many questions are about the same structure."""
    model = parse_case(text, path).model()
    return PreparedStructure(model, balance_of_closed_joints(model))


def answer_collapse(case: Case, structure: PreparedStructure) -> dict[str, Any]:
    """Whether the structure stands, the multiplier of the live load at which it collapses, and the mechanism."""
    model, system = structure
    assert isinstance(case.analysis, LimitTable | TiltTable)
    dead, live = dead_and_live_loads(case, model, case.analysis.direction)
    dead_load = judge_standing(model, gravity=case.analysis.gravity, loads=_dead(case), young=case.young)
    stable = dead_load.verdict == STANDS
    limit = solve_limit(system, dead, live)
    velocity = (
        limit.velocity if stable or not dead_load.trial.finite else normalise_mechanism(system, dead_load.trial.mechanism)
    )
    mechanism = read_mechanism(model, limit.contacts, velocity, tolerance=MECHANISM_TOLERANCE if stable else SAME_BODY_SHARE)
    question = MultiplierProblem(system, dead, live, limit, stable, case.analysis.gravity, threads=1)
    quick = safe_multiplier_by_programs(question) if stable and len(system.friction) <= MAX_CONTACTS_SAFE_AT_ONCE else None
    return {
        "stable": stable,
        "multiplier_safe": quick,
        "angle_safe": tilt_angle(quick),
        "multiplier": finite_or_none(limit.multiplier),
        "angle": tilt_angle(limit.multiplier),
        "status": limit.optimum.status,
        "standing": verdict_result(model, dead_load),
        "verdict": describe_limit(limit, dead_load.verdict != FALLS),
        "words": mechanism.words,
        "hinges": _hinges(mechanism, coordinate_origin(model)),
        "macro": mechanism.macro.tolist(),
        "motion": _drawn(model, velocity).ravel().tolist(),
        "forces": _forces(model, limit.contacts) if limit.optimum.status == SOLVED else None,
    }


def answer_at_rest(case: Case, structure: PreparedStructure) -> dict[str, Any]:
    """The forces under the dead load only, made unique by elastic joints, and the thrust lines of a single arch. A structure
    that does not stand has none."""
    model, gravity = structure.model, case.analysis.gravity
    equilibrium = _equilibrium_at_rest(case, model, ContactSurface(DEFAULT_STONE_YOUNG))
    arch = find_arch(structure.system, weight_wrench(model, gravity) + load_wrench(model, _dead(case), gravity))
    lines = None if arch is None else conventional_thrust(arch)
    return {
        "safe": _safe(case, structure),
        "forces": _forces(model, equilibrium.contacts) if equilibrium.stands else None,
        "safety_factor": None if lines is None else finite_or_none(lines.safety_factor),
        "lines": {} if lines is None else {
            name: (line.point - coordinate_origin(model)).ravel().tolist() for name, line in
            (("minimum", lines.minimum), ("maximum", lines.maximum), ("safest", lines.safest)) if line is not None
        },
        "thrust": [] if lines is None else [line and line.thrust for line in (lines.minimum, lines.maximum)],
    }  # fmt: skip


def _safe(case: Case, structure: PreparedStructure) -> dict[str, Any]:
    """The safe multiplier, whether histories confirm it, and notes on it."""
    assert isinstance(case.analysis, LimitTable | TiltTable)
    system, (dead, live) = structure.system, dead_and_live_loads(case, structure.model, case.analysis.direction)
    limit, stable, gravity = (
        solve_limit(system, dead, live),
        stands_with_associated_friction(system, dead),
        case.analysis.gravity,
    )
    search = safe_multiplier(
        MultiplierProblem(system, dead, live, limit, stable, gravity, case.solver.threads, young=case.young)
    )
    while True:
        try:
            next(search)
        except StopIteration as ended:
            result = ended.value[1]
            break
    answer = {name: result[name] for name in ("multiplier_safe", "confirmed", "multiplier_from_rest")}
    return answer | {"angle_safe": tilt_angle(answer["multiplier_safe"]), "note": result["search"].get("note", "")}


def _equilibrium_at_rest(case: Case, model: Model, surface: ContactSurface) -> ContactEquilibrium:
    """The equilibrium under the dead load only."""
    return solve_equilibrium(model, solver=case_solver(case), gravity=case.analysis.gravity, loads=_dead(case), surface=surface,
                       widest=widest_closed(model))  # fmt: skip


def _dead(case: Case) -> list[AppliedLoad]:
    return [load for load in case.loads if not load.live]


def _drawn(model: Model, velocity: Array) -> Array:
    """(B, 6) [m, rad] the motion of the blocks at the end of the animation."""
    return ANIMATION_DISPLACEMENT * structure_size(model) * velocity


def _hinges(mechanism: Mechanism, origin: Array) -> list[dict[str, Any]]:
    return [{"between": [mechanism.names[joint.a], mechanism.names[joint.b]], "block": joint.a, "kind": joint.kind,
             "side": joint.side, "place": (joint.place - origin).tolist()} for joint in mechanism.joints]  # fmt: skip


def _forces(model: Model, contacts: Contacts) -> dict[str, Any]:
    """The forces of the joints as in the answer `joints` of a run (docs/decisions/0012), as lists."""
    resultants = joint_resultants(model, contacts)
    lines, start = thrust_lines(model, resultants), coordinate_origin(model)
    return {
        "a": resultants.a.tolist(),
        "b": resultants.b.tolist(),
        "centre": (resultants.centre - start).ravel().tolist(),
        "force": resultants.force.ravel().tolist(),
        "pressure": np.nan_to_num(joint_pressures(resultants)).tolist(),
        "lines": [(line - start).ravel().tolist() for line in lines],
    }

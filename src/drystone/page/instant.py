"""What the studio shows at once: a case of statics comes in, plain numbers for the page go out, in three parts.

`shape`: the blocks. `collapse`: whether it stands, the multiplier and the mechanism. `at_rest`: the forces of a structure that
stands and the conventional thrust line of an arch. The multiplier is that of `drystone run`, by the same functions.
"""

from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from drystone.analyse.collapse import verdict
from drystone.analyse.stages import READ, loads_of, number
from drystone.contact.contacts import Contacts
from drystone.io.analysis_tables import Limit, Tilt
from drystone.io.case import STONE, Case, parse_case
from drystone.joints import Surface
from drystone.mechanism import Mechanism, read_mechanism
from drystone.model import Model
from drystone.resultants import joint_resultants, thrust_lines
from drystone.session import solver_of
from drystone.statics.balance import Balance, balance
from drystone.statics.equilibrium import equilibrium
from drystone.statics.limit import limit, paced
from drystone.statics.program import SOLVED, optimise
from drystone.statics.thrust import conventional_thrust, find_arch

Array = np.ndarray

DRAWN = 0.12  # share of the size of a structure by which the fastest block is moved at the end of the animation
AT_ONCE = 6000  # contact points: the answer for more takes above ten seconds and is given when asked for


class Desk(NamedTuple):
    """A case as far as all parts need it."""

    case: Case
    model: Model
    system: Balance
    dead: Array  # (B, 6) [N, N m]
    live: Array  # (B, 6)


@lru_cache(maxsize=4)
def desk(text: str, path: Path) -> Desk:
    """The case of a text; the parts of an answer ask for the same one after another."""
    case = parse_case(text, path)
    model = case.model()
    assert isinstance(case.analysis, Limit | Tilt)
    return Desk(case, model, balance(model), *loads_of(case, model, case.analysis.direction))


def collapse(desk: Desk) -> dict[str, Any]:
    """Whether it stands, by which multiplier of the live load it collapses, and how."""
    begin = perf_counter()
    model, system = desk.model, desk.system
    rest = optimise(system, desk.dead)
    stable = rest.status == SOLVED
    found = limit(system, desk.dead, desk.live)
    velocity = found.velocity if stable else paced(system, rest.velocity)
    mechanism = read_mechanism(model, found.contacts, velocity, tolerance=READ)
    multiplier = number(found.multiplier)
    return {
        "stable": stable,
        "multiplier": multiplier,
        "angle": None if multiplier is None or not isinstance(desk.case.analysis, Tilt) else float(np.degrees(np.arctan(multiplier))),
        "status": found.optimum.status,
        "verdict": verdict(found, stable),
        "words": mechanism.words,
        "hinges": _hinges(mechanism),
        "macro": mechanism.macro.tolist(),
        "motion": _drawn(model, velocity).ravel().tolist(),
        "forces": _forces(model, found.contacts) if found.optimum.status == SOLVED else None,
        "contacts": len(system.friction),
        "seconds": perf_counter() - begin,
    }  # fmt: skip


def at_rest(desk: Desk) -> dict[str, Any]:
    """The forces under the dead load alone, made unique by elastic joints, and the thrust lines of a lone arch; nothing of
    a structure that does not stand."""
    case, model = desk.case, desk.model
    dead = [load for load in case.loads if not load.live]
    found = equilibrium(model, solver=solver_of(case), gravity=case.analysis.gravity, loads=dead, surface=Surface(STONE))
    arch = find_arch(desk.system, desk.dead)
    lines = None if arch is None else conventional_thrust(arch)
    return {
        "forces": _forces(model, found.contacts) if found.stands else None,
        "safety_factor": None if lines is None else number(lines.safety_factor),
        "lines": {} if lines is None else {
            name: line.point.ravel().tolist() for name, line in
            (("minimum", lines.minimum), ("maximum", lines.maximum), ("safest", lines.safest)) if line is not None
        },
        "thrust": [] if lines is None else [line and line.thrust for line in (lines.minimum, lines.maximum)],
    }  # fmt: skip


def _drawn(model: Model, velocity: Array) -> Array:
    """(B, 6) [m, rad] the motion of the blocks at the end of the animation."""
    size = float(np.ptp(np.concatenate([block.vertices for block in model.blocks]), axis=0).max())
    return DRAWN * size * velocity


def _hinges(mechanism: Mechanism) -> list[dict[str, Any]]:
    return [{"between": [mechanism.names[joint.a], mechanism.names[joint.b]], "kind": joint.kind, "side": joint.side,
             "place": joint.place.tolist()} for joint in mechanism.joints]  # fmt: skip


def _forces(model: Model, contacts: Contacts) -> dict[str, Any]:
    """What the joints carry, as the answer `joints` of a run (docs/decisions/0012), as lists."""
    found = joint_resultants(model, contacts)
    lines = thrust_lines(model, found)
    pressure = np.where(found.area > 0.0, found.thrust / np.where(found.area > 0.0, found.area, 1.0), 0.0)
    return {
        "a": found.a.tolist(),
        "b": found.b.tolist(),
        "centre": found.centre.ravel().tolist(),
        "force": found.force.ravel().tolist(),
        "pressure": pressure.tolist(),
        "lines": [line.ravel().tolist() for line in lines],
    }

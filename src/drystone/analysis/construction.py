"""Construction: a case built in stages, and how its forces differ from those of the structure built all at once."""

from functools import lru_cache
from typing import Any

import numpy as np

from drystone.analysis.dynamics import case_solver
from drystone.analysis.equilibrium import support_reactions
from drystone.analysis.stages import Stage, Stages
from drystone.analysis.statics.building_stages import BuiltStage, build_in_stages, presence_by_stage
from drystone.contact.contacts import Contacts, head_joint_opening
from drystone.engine.simulation import Step
from drystone.io.analysis_tables import ConstructionTable
from drystone.io.case import Case
from drystone.results.resultants import joint_resultants
from drystone.results.store.run_reader import Run, recorded_case
from drystone.structure.block_changes import Presence
from drystone.structure.loads import vertical_forces
from drystone.structure.model import Model

Array = np.ndarray

FALLING_SHARE = 0.5  # of the fastest fall: the falling blocks of a stage that are at least this fast are reported


def analyse_construction(case: Case, model: Model) -> Stages:
    analysis = case.analysis
    assert isinstance(analysis, ConstructionTable)
    stages = presence_by_stage(model, analysis.order, analysis.strike)
    solver = case_solver(case)
    options: dict[str, Any] = {"solver": solver, "surface": case.surface, "gravity": analysis.gravity, "loads": case.loads}
    built: list[BuiltStage] = []
    for number, built_stage in enumerate(build_in_stages(model, stages, **options), 1):
        built.append(built_stage)
        state = built_stage.state._replace(step=number, time=float(number))
        words = f"stage {number} of {len(stages)}"
        yield Stage(number / (len(stages) + 1), words, Step(state, built_stage.balance.solution, (0.0, 0.0, 0.0)))
    yield Stage(1.0, "all at once")
    down = vertical_forces(model, case.loads, analysis.gravity)
    *_, at_once = build_in_stages(model, stages[-1:], **options)
    result: dict[str, Any] = {
        "stable": built_stage.balance.stands,
        "converged": built_stage.balance.solution.converged,
        "contact": case.surface.words,
        "planned_stages": len(stages),
        "stages": {  # those that were reached
            "blocks": [int((stage.present & ~model.bodies.fixed).sum()) for stage in built],
            "pressing": [float(down[stage.present].sum()) for stage in built],
            "base_resultant": [_vertical_reaction(model, stage.state.contacts) for stage in built],
            "head_joint_opening": [head_joint_opening(stage.state.contacts) for stage in built],
        },
        "all_at_once": {
            "stable": at_once.balance.stands,
            "base_resultant": _vertical_reaction(model, at_once.state.contacts),
            "head_joint_opening": head_joint_opening(at_once.state.contacts),
        },
    }
    if not built_stage.balance.stands:
        falling = -built_stage.balance.acceleration[:, 2]
        result["falls"] = [model.blocks[i].name for i in np.flatnonzero(falling > FALLING_SHARE * falling.max())]
    elif at_once.balance.stands:
        result["change_by_stages"] = _change(model, at_once.state.contacts, built_stage.state.contacts)
    return result


def _vertical_reaction(model: Model, contacts: Contacts) -> float:
    """[N] The vertical force of all supports on the structure."""
    return sum(force[2] for force in support_reactions(model, contacts).values())


def present_blocks(run: Run, frame: int) -> Array | None:
    """(B,) bool The blocks that are present in a frame of a structure built in stages, or of a history in which blocks appear
    or vanish (those of the step that ended in the frame). None for other runs, in which all blocks are present."""
    case = _case_of(run)
    analysis = case.analysis
    if case.changes:
        return Presence(run.model, case.changes).at(max(float(run.time[frame]) - case.history.time_step, 0.0))
    if not isinstance(analysis, ConstructionTable) or frame == 0:
        return None
    return presence_by_stage(run.model, analysis.order, analysis.strike)[frame - 1]


@lru_cache(maxsize=1)
def _case_of(run: Run) -> Case:
    """The case of a run, read once for all frames."""
    return recorded_case(run)


def _change(model: Model, one: Contacts, other: Contacts) -> dict[str, Any]:
    """The differences of the joint forces [N], as shares of the largest force, and the joint that differs most."""
    forces = [
        dict(zip(zip(joints.a.tolist(), joints.b.tolist(), strict=True), joints.force, strict=True))
        for joints in (joint_resultants(model, contacts) for contacts in (one, other))
    ]
    pairs = sorted(set().union(*forces))
    first, second = (np.array([force.get(pair, np.zeros(3)) for pair in pairs]) for force in forces)
    change = np.linalg.norm(second - first, axis=1)
    largest, largest_row = np.linalg.norm(first, axis=1).max(), int(change.argmax())
    return {
        "largest_change": float(change[largest_row] / largest),
        "mean_change": float(np.sqrt(np.mean(change**2)) / largest),
        "joint": [model.blocks[i].name for i in pairs[largest_row]],
        "force_at_once": first[largest_row].tolist(),
        "force_in_stages": second[largest_row].tolist(),
    }

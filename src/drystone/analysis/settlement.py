"""Settlement: the reactions of the supports while some of them move, the joints that open, and whether the structure stands."""

from typing import Any

import numpy as np

from drystone.analysis.equilibrium import support_reactions
from drystone.analysis.stages import Stage, Stages, mechanism_result
from drystone.analysis.statics.open_joints import Crack, find_cracks, joint_openings, joints_as_drawn
from drystone.analysis.statics.support_settlement import IN_BALANCE, RESTLESS, SettlementState, settle_supports, straight_path
from drystone.contact.contacts import Contacts, in_head_joints
from drystone.engine.simulation import Step, initial_state
from drystone.engine.solvers.solution import SMALL_STEPS, Residual, Solution
from drystone.engine.state import State
from drystone.ground.motion import last_motion_end
from drystone.io.analysis_tables import SettlementTable
from drystone.io.case import Case
from drystone.structure.loads import find_blocks, vertical_forces
from drystone.structure.model import Model

Array = np.ndarray

MOTION_SAMPLES = 500  # instants at which the motions of supports are evaluated


def analyse_settlement(case: Case, model: Model) -> Stages:
    analysis = case.analysis
    assert isinstance(analysis, SettlementTable)
    path = support_path(case, model)
    states = settle_supports(
        model, path, gravity=analysis.gravity, young=case.young, loads=case.loads, threads=case.solver.threads
    )
    yield Stage(0.0, "under its weight")
    reached: list[SettlementState] = []
    for number, settled in enumerate(states, 1):
        reached.append(settled)
        words = f"{1e3 * _largest_settlement(settled):.4g} mm, {settled.rest.verdict}"
        yield Stage(min(number / len(path), 1.0), words, _frame(number, settled))
    return settlement_result(case, model, reached)


def support_path(case: Case, model: Model) -> Array:
    """(n + 1, B, 3) [m] The displacement of the supports after each increment: equal parts of the path of the one that moves
    farthest. Of the motions only the order matters, not when and how fast they take place."""
    analysis = case.analysis
    assert isinstance(analysis, SettlementTable)
    if not case.motions:
        moves = [
            straight_path(model, {entry.support: (entry.dx, entry.dy, entry.dz)}, analysis.increments)
            for entry in analysis.moves
        ]
        return np.sum(moves, axis=0) if moves else np.zeros((1, len(model.blocks), 3))
    end = last_motion_end(case.motions)
    paths = np.zeros((MOTION_SAMPLES + 1, len(model.blocks), 3))
    for motion in case.motions:
        for name in motion.supports:
            paths[:, find_blocks(model, name, "motion.supports")] += motion.displacement(np.linspace(0.0, end, len(paths)))[
                :, None
            ]
    along = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(paths, axis=0), axis=2).max(axis=1)))
    if along[-1] == 0.0:
        return paths[:1]  # no support moves
    targets = np.linspace(0.0, along[-1], analysis.increments + 1)
    columns = [np.interp(targets, along, column) for column in paths.reshape(len(paths), -1).T]
    return np.stack(columns, axis=1).reshape(-1, len(model.blocks), 3)


def _largest_settlement(settled: SettlementState) -> float:
    """[m] The displacement of the support that has moved farthest."""
    return float(np.linalg.norm(settled.moved, axis=1).max())


def _frame(number: int, settled: SettlementState) -> Step:
    """The step that a run stores, with the number of the increment instead of the time."""
    rest_state, none = settled.rest, (np.empty((0, 6)), np.empty((0, 3)))
    residual = Residual(rest_state.off_balance, rest_state.off_balance, 0.0, 0.0, 0.0)
    solution = Solution(*none, rest_state.verdict != RESTLESS, SMALL_STEPS, 0, residual, 0)
    return Step(rest_state.state._replace(step=number, time=float(number)), solution, (0.0, 0.0, 0.0))


def settlement_result(case: Case, model: Model, reached: list[SettlementState]) -> dict[str, Any]:
    """The result in words and numbers. Lists have one entry per state, the first of which is under the weight alone."""
    start, last = initial_state(model, case.analysis.gravity), reached[-1]
    drawn = joints_as_drawn(model, start)
    reactions = [support_reactions(model, settled.rest.state.contacts) for settled in reached]
    opened = [_widest_openings(drawn, start, settled.rest.state) for settled in reached]
    stays = last.rest.verdict == IN_BALANCE
    result: dict[str, Any] = {
        "stable": stays,
        "verdict": "stays in balance" if stays else last.rest.verdict,
        "falls_from": None if stays else _largest_settlement(last),
        "converged": last.rest.verdict != RESTLESS,
        "contact": case.surface.words,
        "increments": len(reached) - 1,
        "settlement": [_largest_settlement(settled) for settled in reached],
        "off_balance": [settled.rest.off_balance for settled in reached],
        "supports": {
            name: {
                "moved": [settled.moved[i].tolist() for settled in reached],
                "reaction": [force[name] for force in reactions],
            }
            for i, name in enumerate(block.name for block in model.blocks) if name in reactions[0]
        },
        "base_resultant": {
            "settlement": [_largest_settlement(settled) for settled in reached],
            "force": [sum(force[2] for force in entry.values()) for entry in reactions],
            "weight": float(vertical_forces(model, case.loads, case.analysis.gravity).sum()),
        },
        "head_joint_openings": [head for _, head in opened],
        "widest_crack": [widest for widest, _ in opened],
        "cracks": [_crack_dict(model, crack) for crack in find_cracks(model, drawn, start, last.rest.state)],
    }  # fmt: skip
    now = last.rest.state
    if not stays:
        result["falls"] = [model.blocks[i].name for i in np.flatnonzero(last.rest.falls)]
        result["mechanism"] = mechanism_result(model, now.contacts, now.velocity)
    return result


def _widest_openings(drawn: Contacts, start: State, now: State) -> tuple[float, float]:
    """[m] The widest opening since the start of any joint, and of the head joints."""
    opening, _ = joint_openings(drawn, start, now)
    return float(opening.max(initial=0.0)), float(opening[in_head_joints(drawn)].max(initial=0.0))


def _crack_dict(model: Model, crack: Crack) -> dict[str, Any]:
    names = [model.blocks[crack.a].name, model.blocks[crack.b].name]
    return {"blocks": names, "width": crack.width, "slip": crack.slip, "place": crack.place.tolist()}

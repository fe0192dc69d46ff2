"""A second opinion on a recorded history: its folder comes in; the other integrator follows it, and facts go out.

A history by small steps is followed by cone programs, one by cone programs by small steps. The two share the shapes of the
blocks and the ground's motion and hardly a line of what moves them. How far they are apart is told by block (T450):

    distance = |x' - x| + 2 r sin(angle / 2)        no point of the block, of radius r, is farther from where the other has it

They have parted where the distance of a block first is more than a stated amount. The same model and loads, with Coulomb's
friction if the cone programs are not asked for the associated law. Structures that move after impacts part sooner or later,
whatever computes them: what the comparison tells is until when, and by how much.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from drystone.analyse.stages import Stage, Stages
from drystone.errors import InputError
from drystone.io.analysis_tables import DynamicsTable, SettlementHistoryTable
from drystone.io.case import Case
from drystone.io.case_tables import SolverTable
from drystone.model import Model
from drystone.record import Run, recorded_case
from drystone.session import case_solver, simulate_case, start_state
from drystone.simulate import Step

Array = np.ndarray

APART_SHARE = 0.01  # of the radius of a block: the two have parted, if nothing else is stated
MAX_CONE_STEP = 1e-3  # [s] of cone programs that follow small steps, at most
MAX_OUTPUT_STEP = 5e-3  # [s] after which small steps that follow cone programs hand out their state, at most
TIME_TOLERANCE = 1e-9  # [s]


class FrameComparison(NamedTuple):
    """One recorded frame, and the same instant by the other integrator."""

    time: float  # [s]
    distance: Array  # (B,) [m] between the two, by block
    position: Array  # (B, 3) [m] centroids by the other
    unconverged: int  # steps of the other so far that did not converge


def cross_history(
    run: Run, *, apart: float | None = None, time_step: float | None = None, friction_law: str | None = None
) -> Stages:
    """Follow a run with the other integrator until the two are more than `apart` [m] apart, if not given APART of the radius of
    a block. The stages go by, and the facts are returned."""
    case = recorded_case(run)
    other = other_case(case, time_step=time_step, friction_law=friction_law)
    _check(run, case, apart)
    radius = run.model.bodies.radius
    allowed = APART_SHARE * radius if apart is None else np.full_like(radius, apart)
    last, parted = FrameComparison(0.0, np.zeros_like(radius), run.position[0], 0), False
    largest, end = np.zeros_like(radius), float(run.time[-1])
    for last in compare_frames(run, other):
        parted = bool((last.distance > allowed).any())
        if parted:
            break
        largest = np.maximum(largest, last.distance)
        yield Stage(last.time / end, f"{last.time:.3g} s of {end:.3g} s, {1e3 * float(largest.max()):.3g} mm apart at most")
    farthest = int(np.argmax(last.distance / allowed if parted else largest))
    result = {
        "out": str(run.folder),
        "recorded_by": describe_integrator(case),
        "followed_by": describe_integrator(other),
        "apart": apart,  # [m]; None: APART of the radius of the block
        "parted": parted,
        "time": last.time,
        "of": end,
        "block": run.model.blocks[farthest].name,
        "distance": float(last.distance[farthest] if parted else largest[farthest]),
        "allowed": float(allowed[farthest]),
        "before": float(largest.max()),
        "unconverged": last.unconverged,
    }
    return result | {"verdict": _verdict(result)}


def _verdict(result: dict[str, Any]) -> str:
    where = f"{1e3 * result['distance']:.3g} mm at block {result['block']!r}"
    if not result["parted"]:
        return f"together to the end, {result['time']:.4g} s: apart by {where} at most"
    return (f"together until {result['time']:.4g} s of {result['of']:.4g} s, then apart by {where}, more than "
            f"{1e3 * result['allowed']:.3g} mm")  # fmt: skip


def _check(run: Run, case: Case, apart: float | None) -> None:
    if apart is not None and not 0 < apart < math.inf:
        raise InputError(f"apart is {apart!r}; give a length in m above 0")
    if run.frames < 2:
        raise InputError(f"{run.folder} holds no step yet; go on with: drystone run --resume {run.folder}")
    if case.changes:
        raise InputError(f"{run.folder}: blocks appear or vanish in this history, which small steps alone can follow; there is "
                         "no other integrator for it")  # fmt: skip
    if run.model.own is not None or run.model.dilatancy is not None:
        raise InputError(f"{run.folder}: its joints have a law from outside or a dilatancy, which small steps alone have; "
                         "there is no other integrator for it")  # fmt: skip


def other_case(case: Case, *, time_step: float | None = None, friction_law: str | None = None) -> Case:
    """The same case by the other integrator. friction_law: of cone programs, Coulomb's if not given."""
    if isinstance(case.analysis, SettlementHistoryTable) or not isinstance(case.analysis, DynamicsTable):
        raise InputError(f'{case.path}: on an analysis of kind "{case.analysis.kind}" there is no second opinion; there is on '
                         '"dynamics", "limit" and "tilt"')  # fmt: skip
    if friction_law not in (None, "coulomb", "associated"):
        raise InputError(f'the friction law is {friction_law!r}; give "coulomb" or "associated"')
    if time_step is not None and not 0 < time_step < math.inf:
        raise InputError(f"the time step is {time_step!r}; give a time in s above 0")
    if not case.by_small_steps and friction_law is not None:
        raise InputError(f"{case.path}: its history is by cone programs, and small steps that follow it have no friction law "
                         "but Coulomb's; leave the law out")  # fmt: skip
    frame = case.frame_interval
    longest = min(time_step or (MAX_CONE_STEP if case.by_small_steps else MAX_OUTPUT_STEP), frame)
    step = frame / math.ceil(frame / longest - 1e-9)
    integrator = "cone-program" if case.by_small_steps else "small-steps"
    # Whole frames only: what comes after the last of them is not compared.
    changes = {"integrator": integrator, "time_step": step, "small_step": None}
    law = friction_law or "coulomb"
    solver = SolverTable(young=case.solver.young, threads=case.solver.threads)
    return replace(
        case,
        analysis=case.analysis.model_copy(update=changes),
        joints=case.joints.model_copy(update={"friction_law": law}),
        solver=solver,
    )


def describe_integrator(case: Case) -> str:
    """How a history goes through time, in words."""
    if case.by_small_steps:
        return f"small steps, {case.surface.words}, Coulomb's friction"
    law = "Coulomb's friction" if case.friction_law == "coulomb" else "associated friction"
    return f"cone programs of {1e3 * case.history.time_step:.4g} ms, contact {case.surface.words}, {law}"


def compare_frames(run: Run, other: Case) -> Iterator[FrameComparison]:
    """The frames of a run after the first, each beside the same instant of the other case."""
    model = run.model
    pending = ((frame, time) for frame, time in enumerate(run.time.tolist()) if frame)
    frame, time = next(pending)
    unconverged = 0
    for step in _other_steps(other, model):
        unconverged += not step.solution.converged
        if step.state.time < time - TIME_TOLERANCE:
            continue
        if step.state.time < time + TIME_TOLERANCE:
            distance = block_distances(model, *run.pose(frame), step.state.position, step.state.rotation)
            yield FrameComparison(time, distance, step.state.position, unconverged)
        following = next(pending, None)
        if following is None:
            return
        frame, time = following


def _other_steps(other: Case, model: Model) -> Iterator[Step]:
    return simulate_case(other, model, start_state(other, model), case_solver(other), tells_contacts=False)


def block_distances(model: Model, position: Array, rotation: Array, other_position: Array, other_rotation: Array) -> Array:
    """(B,) [m] by how much no point of a block is farther from where the other pose has it (T450).

    Half of the chord between two quaternions is the sine of a quarter of the angle between the poses."""
    chord = np.minimum(np.linalg.norm(rotation - other_rotation, axis=1), np.linalg.norm(rotation + other_rotation, axis=1))
    turned = 2.0 * chord * np.sqrt(np.maximum(1.0 - 0.25 * chord * chord, 0.0))
    return np.linalg.norm(position - other_position, axis=1) + model.bodies.radius * turned

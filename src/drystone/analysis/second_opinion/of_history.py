"""A second opinion on a recorded history: it is computed again with the other integrator and compared.

A history by small steps is computed with cone programs, and one by cone programs with small steps. The two share the shapes of
the blocks and the ground motion, but hardly any code that moves the blocks. Their distance is given for each block (T450):

    distance = |x' - x| + 2 r sin(angle / 2)        an upper bound for all points of a block of radius r

The two histories part when the distance of a block first exceeds a given amount. Model and loads are the same, with Coulomb
friction unless the associated law is requested for the cone programs. Two computations of a structure that moves after impacts
always part sooner or later; the comparison shows when they do, and by how much.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from drystone.analysis.dynamics import case_solver, simulate_case, start_state
from drystone.analysis.stages import Stage, Stages
from drystone.base.errors import InputError
from drystone.engine.simulation import Step
from drystone.io.analysis_tables import DynamicsTable, SettlementHistoryTable
from drystone.io.case import Case
from drystone.io.case_tables import SolverTable
from drystone.results.store.run_reader import Run, recorded_case
from drystone.structure.model import Model

Array = np.ndarray

APART_SHARE = 0.01  # of the radius of a block: the distance at which the two histories part, if none is given
MAX_CONE_STEP = 1e-3  # [s] the longest time step of cone programs that are compared with small steps
MAX_OUTPUT_STEP = 5e-3  # [s] the longest time step of small steps that are compared with cone programs
TIME_TOLERANCE = 1e-9  # [s]


class FrameComparison(NamedTuple):
    """A recorded frame compared with the same instant by the other integrator."""

    time: float  # [s]
    distance: Array  # (B,) [m] between the two, for each block
    position: Array  # (B, 3) [m] centroids by the other integrator
    unconverged: int  # its steps so far that did not converge


def cross_history(
    run: Run, *, apart: float | None = None, time_step: float | None = None, friction_law: str | None = None
) -> Stages:
    """Compute a run with the other integrator until the two differ by more than `apart` [m], by default APART_SHARE of the
    radius of a block. Yields stages and returns the result."""
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
        "apart": apart,  # [m]; None: APART_SHARE of the radius of the block
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
        raise InputError(f"{run.folder}: blocks appear or vanish in this history, which only small steps support; there is "
                         "no other integrator for it")  # fmt: skip
    if run.model.own is not None or run.model.dilatancy is not None:
        raise InputError(f"{run.folder}: its joints have a user-defined law or a dilatancy, which only small steps support; "
                         "there is no other integrator for it")  # fmt: skip


def other_case(case: Case, *, time_step: float | None = None, friction_law: str | None = None) -> Case:
    """The same case with the other integrator. friction_law: for cone programs, by default Coulomb's."""
    if isinstance(case.analysis, SettlementHistoryTable) or not isinstance(case.analysis, DynamicsTable):
        raise InputError(f'{case.path}: there is no second opinion on an analysis of kind "{case.analysis.kind}", only on '
                         '"dynamics", "limit" and "tilt"')  # fmt: skip
    if friction_law not in (None, "coulomb", "associated"):
        raise InputError(f'the friction law is {friction_law!r}; give "coulomb" or "associated"')
    if time_step is not None and not 0 < time_step < math.inf:
        raise InputError(f"the time step is {time_step!r}; give a time in s above 0")
    if not case.by_small_steps and friction_law is not None:
        raise InputError(f"{case.path}: its history is by cone programs, and small steps have no friction law "
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
    """The integrator of a case and its settings, in words."""
    if case.by_small_steps:
        return f"small steps, {case.surface.words}, Coulomb friction"
    law = "Coulomb friction" if case.friction_law == "coulomb" else "associated friction"
    return f"cone programs of {1e3 * case.history.time_step:.4g} ms, contact {case.surface.words}, {law}"


def compare_frames(run: Run, other: Case) -> Iterator[FrameComparison]:
    """The frames of a run after the first, each compared with the same instant of the other case."""
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
    """(B,) [m] An upper bound of the distance between the two positions of any point of a block (T450).

    Half of the chord between two quaternions is the sine of a quarter of the angle between the poses."""
    chord = np.minimum(np.linalg.norm(rotation - other_rotation, axis=1), np.linalg.norm(rotation + other_rotation, axis=1))
    turned = 2.0 * chord * np.sqrt(np.maximum(1.0 - 0.25 * chord * chord, 0.0))
    return np.linalg.norm(position - other_position, axis=1) + model.bodies.radius * turned

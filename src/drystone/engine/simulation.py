"""Simulate a structure as a generator of time steps. Recording, viewing and stopping are plain `for` loops over it."""

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import NamedTuple

import numpy as np

from drystone.base.blas import one_blas_thread
from drystone.base.errors import InputError
from drystone.base.signals import defer_signals
from drystone.base.units import GRAVITY
from drystone.contact.contacts import no_contacts
from drystone.engine.cone_step.integrator import Energy, Load, Scheme, State, step
from drystone.engine.contact_laws import RIGID_SURFACE, ContactSurface
from drystone.engine.small_steps.initial_equilibrium import settled
from drystone.engine.small_steps.integrator import Material, Report, SmallSteps
from drystone.engine.solvers.solution import FINER_STEPS, SMALL_STEPS, ContactSolver, Residual, Solution
from drystone.ground.motion import Motion, check_in_plane
from drystone.structure.block_changes import BlockChange
from drystone.structure.joint_laws import DEFAULT_YOUNG
from drystone.structure.loads import AppliedLoad, load_wrench, mean_loads
from drystone.structure.model import Model

Array = np.ndarray

BATCH_SECONDS = 2e-3  # [s] of computing time: shorter time steps are computed in batches, because each batch costs 0.05 ms


class Step(NamedTuple):
    """A computed step and its computing time."""

    state: State
    solution: Solution
    seconds: tuple[float, float, float]  # contact detection, solver, all the rest


def initial_state(model: Model, gravity: float = GRAVITY) -> State:
    """The structure at rest, as it is drawn."""
    count = len(model.position)
    rotation = np.zeros((count, 4))
    rotation[:, 0] = 1.0
    energy = Energy(0.0, potential_energy(model, gravity), 0.0, 0.0, 0.0, 0.0, 0.0)
    state = State(0, 0.0, model.position.copy(), rotation, np.zeros((count, 6)), no_contacts(), 0, 0, energy)
    if model.elastic is None:
        return state
    undeformed = np.zeros((len(model.elastic.block), model.elastic.mode.shape[3]))
    return state._replace(amplitude=undeformed, rate=undeformed.copy())


def potential_energy(model: Model, gravity: float) -> float:
    """[J] at the start, from the level of the lowest point of the free blocks."""
    free = np.flatnonzero(~model.bodies.fixed)
    floor = min(float(model.blocks[i].vertices[:, 2].min()) for i in free)
    return float(gravity * model.bodies.mass[free] @ (model.position[free, 2] - floor))


def simulate(
    model: Model,
    motions: Sequence[Motion] = (),
    *,
    duration: float,
    time_step: float,
    solver: ContactSolver,
    theta: float = 0.53,
    gyroscopic: str = "implicit",
    gravity: float = GRAVITY,
    surface: ContactSurface = RIGID_SURFACE,
    loads: Sequence[AppliedLoad] = (),
    from_rest: bool = False,
    modal_mass: float = 1.0,
    state: State | None = None,
) -> Iterator[Step]:
    """The steps from `state` (None: the initial state) until `duration` [s], or until one is not finite. The bits do not depend
    on where a simulation was interrupted. from_rest: every step starts with zero velocity, which removes inertia (T43).
    modal_mass: factor on the inertia of the elastic modes of deformable blocks; with 0 only their rigid modes have inertia
    (T358)."""
    if model.planar:
        check_in_plane(motions)
    if from_rest or modal_mass == 0 or model.laws is not None:
        surface = surface._replace(relaxation=0.0)  # what has no inertia has nothing to damp; mortar has its own viscosity
    scheme = Scheme(time_step, theta, gyroscopic == "implicit", surface, GRAVITY * time_step, modal_mass)
    state = state or initial_state(model, gravity)
    last = round(duration / time_step)
    while state.step < last:
        if from_rest:
            state = state._replace(velocity=np.zeros_like(state.velocity), rate=np.zeros_like(state.rate))
        with defer_signals(max_deferred=1), one_blas_thread():  # a step is completed unless Ctrl-C is pressed a second time
            start = state.step * time_step
            push = load_wrench(model, mean_loads(loads, start, start + time_step), gravity, state.rotation)
            load = load_between(model, motions, gravity, state.step, time_step, push)
            state, solution, seconds = step(model, state, load, scheme, solver)
        yield Step(state, solution, seconds)
        if not np.isfinite(state.velocity).all():
            return  # the step has already reported that it did not converge; the simulation cannot continue


def simulate_small_steps(
    model: Model,
    motions: Sequence[Motion] = (),
    *,
    duration: float,
    time_step: float,
    gravity: float = GRAVITY,
    young: float = DEFAULT_YOUNG,
    loads: Sequence[AppliedLoad] = (),
    state: State | None = None,
    threads: int | None = 1,
    changes: Sequence[BlockChange] = (),
) -> Iterator[Step]:
    """As `simulate`, by small steps (engine/small_steps/integrator.py): Coulomb friction, joints with areas. The time step is
    how often the state is handed out. Without a state the structure starts in equilibrium under its own weight, where it has
    one."""
    material = Material(young=young)
    engine = SmallSteps(model, motions, gravity=gravity, loads=loads, material=material, threads=threads, changes=changes)
    if state is None:
        with one_blas_thread():
            state = settled(engine, initial_state(model, gravity))
    yield from follow_small_steps(engine, state, duration, time_step)


def follow_small_steps(engine: SmallSteps, state: State, duration: float, time_step: float) -> Iterator[Step]:
    """Steps of `engine` from `state` until `duration` [s], or until one is not finite. Same bits however cut."""
    if engine.model.planar:
        check_in_plane(engine.motions)
    last = round(duration / time_step)
    while state.step < last and np.isfinite(state.velocity).all():
        begin = perf_counter()
        done: list[Step] = []
        with defer_signals(max_deferred=1):
            while not done or (perf_counter() - begin < BATCH_SECONDS and state.step < last):
                state, report = engine.advance(state, time_step)
                done.append(Step(state, _as_solution(report), report.seconds))
                if not np.isfinite(state.velocity).all():
                    break
        yield from done


def _as_solution(report: Report) -> Solution:
    """A solution for the run: small steps solve no contact problem, so there is no solver error, and small steps are
    counted."""
    none = np.empty((0, 6)), np.empty((0, 3))
    path = FINER_STEPS if report.repeated else SMALL_STEPS
    return Solution(*none, report.sound, path, report.small_steps, Residual(0.0, 0.0, 0.0, 0.0, 0.0), 0)


def load_between(
    model: Model, motions: Sequence[Motion], gravity: float, index: int, time_step: float, push: Array | None = None
) -> Load:
    """The ground and support motion over step `index`, as exact differences of the motions so that nothing drifts, and the
    loads push (B, 6) [N, N m]."""
    start, end, h = index * time_step, (index + 1) * time_step, time_step
    ground, support = np.zeros(3), np.zeros((len(model.position), 6))
    for motion in motions:
        if not motion.supports:
            ground += motion.velocity(end) - motion.velocity(start)
            continue
        moved = (motion.displacement(end) - motion.displacement(start)) / h
        for name in motion.supports:
            support[_support_number(model, name), :3] += moved
    return Load(gravity, ground, support, np.zeros_like(support) if push is None else push)


def _support_number(model: Model, name: str) -> int:
    if name not in model.block_numbers:
        raise InputError(f"motion: there is no block {name!r}; name one of the supports")
    number = model.block_numbers[name]
    if not model.blocks[number].fixed:
        raise InputError(f"motion: block {name!r} is not fixed; only supports can be moved: set fixed = true")
    return number


def ground_displacement(motions: Sequence[Motion], time: float) -> Array:
    """(3,) [m] The displacement of the ground; add it to relative positions to obtain absolute ones."""
    return sum((motion.displacement(time) for motion in motions if not motion.supports), np.zeros(3))

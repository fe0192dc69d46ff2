"""Compute the history of a case and record it in a folder: here case, model, solver, simulation and run writer come together.

`run` does all of it. `record_history` and `resume_history` are generators of the steps, each already written to the run, for
callers that follow the computation, for example with a progress bar.
"""

import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

from drystone import __version__
from drystone.analysis.forecast import first_contacts, planned_steps, steps_per_frame
from drystone.base import kernel
from drystone.base.blas import one_blas_thread
from drystone.base.errors import InputError
from drystone.base.files.atomic_write import report_write_errors
from drystone.base.signals import defer_signals
from drystone.contact.pairs import hung_by_friction
from drystone.engine.cone_step.integrator import kinetic_energy
from drystone.engine.simulation import Step, follow_small_steps, ground_displacement, initial_state, simulate
from drystone.engine.small_steps.corner_contacts import tell_corners
from drystone.engine.small_steps.initial_equilibrium import settled
from drystone.engine.small_steps.integrator import Material, SmallSteps
from drystone.engine.small_steps.interval import follow_interval
from drystone.engine.solvers.problem import Problem
from drystone.engine.solvers.solution import ContactSolver, Guess, Solution
from drystone.engine.state import State
from drystone.io.analysis_tables import SettlementHistoryTable
from drystone.io.case import Case, read_case
from drystone.results.store.run_reader import Run, failed_problems, read_run, recorded_case
from drystone.results.store.run_writer import RunWriter
from drystone.results.store.stored_laws import restore_own_laws
from drystone.structure.joint_laws import JointLaw
from drystone.structure.model import Model

Pair = tuple[str, str, JointLaw]  # two groups, and the law of the joints between them
MAX_FAILED_PROBLEMS = 20  # contact problems per run that are written: those of the first steps that did not converge


def run(case: Case | str | Path, out: str | Path, *, overwrite: bool = False, pairs: Sequence[Pair] = ()) -> Run:
    """Compute a case (or the case in a file) and record it in the folder `out`. pairs: further joint laws between
    groups, in the form of `build_model`; this is the only way to give user-defined laws (`OwnLaw`)."""
    case = case if isinstance(case, Case) else read_case(case)
    with closing(record_history(case, out, overwrite=overwrite, pairs=pairs)) as steps:
        for _ in steps:
            pass
    return read_run(out)


def record_history(case: Case, out: str | Path, *, overwrite: bool = False, pairs: Sequence[Pair] = ()) -> Generator[Step]:
    """The steps of a case, each already written to the run in `out`. Closing the generator keeps what was computed."""
    model = case.model(pairs)
    yield from _record_from_start(case, model, start_state(case, model), out, overwrite)


def repeat_history(run: Run, out: str | Path, *, laws: Sequence[Callable[..., None]] = ()) -> Generator[Step]:
    """The steps of a run computed again into the folder `out`, from the model, the accelerograms and the first state that the
    run has stored. laws: the functions of its user-defined joint laws, if it has any."""
    yield from _record_from_start(recorded_case(run), restore_own_laws(run.model, laws), run.state(0), out)


def _record_from_start(case: Case, model: Model, state: State, out: str | Path, overwrite: bool = False) -> Generator[Step]:
    writer = RunWriter.create(
        out,
        case.text,
        model,
        state,
        every_steps=steps_per_frame(case),
        planned_steps=planned_steps(case),
        ground=_ground_at(case, 0.0),
        motions=case.motions,
        path=case.path,
        hung=_hung_blocks(case, model),
        overwrite=overwrite,
    )
    yield from _record_steps(case, model, writer, state)


def _hung_blocks(case: Case, model: Model) -> list[int]:
    """The blocks of the structure as drawn that rest on no other block."""
    c = first_contacts(model, case)
    return hung_by_friction(c.a, c.b, c.normal, c.gap, model.bodies.radius, model.bodies.fixed)


def resume_history(out: str | Path, *, laws: Sequence[Callable[..., None]] = ()) -> Generator[Step]:
    """The steps that are missing from the run in `out`, each already written to it, with the same bits as without an
    interruption. laws: the functions of its user-defined joint laws, if it has any."""
    run = read_run(out)
    case = recorded_case(run)
    model = restore_own_laws(run.model, laws)  # not the model of the case, whose files may have moved or changed since
    writer, state = RunWriter.resume(out)
    yield from _record_steps(case, model, writer, state)


def is_step_compiled(small_steps: bool = True) -> bool:
    """Whether the kernels of a step are in the cache. It checks the largest one and the last one that a step calls, which is
    compiled after all others. Compiling them takes half a minute to a minute."""
    if small_steps:
        return kernel.is_compiled(follow_interval, tell_corners)
    from drystone.engine.solvers.newton import follow

    return kernel.is_compiled(follow, kinetic_energy)


def _record_steps(case: Case, model: Model, writer: RunWriter, state: State) -> Generator[Step]:
    recorder = _FailureRecorder(partial(case_solver, case))
    can_write = True
    with writer:
        for step in simulate_case(case, model, state, recorder):
            failure = recorder.take_failure(step.solution)
            if failure is not None and can_write:
                can_write = _write_failed_problem(case, writer.folder, step, failure)
            writer.add(step, _ground_at(case, step.state.time))
            yield step


class _Failure(NamedTuple):
    """A contact problem that was not solved."""

    problem: Problem
    guess: Guess
    solution: Solution


def _residual_error(failure: _Failure) -> float:
    return failure.solution.residual.error


class _FailureRecorder:
    """A solver, created at its first call, that remembers the problems it did not solve in a step: the problem of the whole
    step, and the worst of its parts if it was divided."""

    def __init__(self, make: Callable[[], ContactSolver]):
        self._make = make
        self._calls = 0
        self._whole: _Failure | None = None
        self._part: _Failure | None = None

    @cached_property
    def _solver(self) -> ContactSolver:
        return self._make()

    def __call__(self, problem: Problem, guess: Guess) -> Solution:
        solution = self._solver(problem, guess)
        self._calls += 1
        if not solution.converged:
            failure = _Failure(problem, guess, solution)
            if self._calls == 1:
                self._whole = failure
            else:
                self._part = failure if self._part is None else max(self._part, failure, key=_residual_error)
        return solution

    def take_failure(self, reported: Solution) -> _Failure | None:
        """The problem that belongs to the reported solution of a step if it was not solved. Forgets the step."""
        failures = [failure for failure in (self._whole, self._part) if failure is not None]
        self._calls, self._whole, self._part = 0, None, None
        return next((failure for failure in failures if failure.solution.residual is reported.residual), None)


def _write_failed_problem(case: Case, folder: Path, step: Step, failure: _Failure) -> bool:
    """Write a problem that was not solved. Returns False, with a message, if it cannot be written: the run continues."""
    from drystone.io.contact_problems.problem_file import write_problem  # loads SciPy's sparse matrices

    path = folder / "failed" / f"step-{step.state.step:06d}.npz"
    if len(failed_problems(folder)) >= MAX_FAILED_PROBLEMS and not path.exists():
        return True
    solver, solution = case.solver, failure.solution
    header = {
        "drystone": __version__,
        "step": step.state.step,
        "time": step.state.time,
        "method": solver.method,
        "tolerance": solver.tolerance,
        "path": solution.path,
        "residual": [float(value) for value in solution.residual],
    }
    try:
        with report_write_errors(path):
            path.parent.mkdir(exist_ok=True)
        write_problem(path, failure.problem, failure.guess, header)
    except InputError as error:
        print(f"{error}; the contact problems of steps that fail are not kept", file=sys.stderr, flush=True)
        return False
    return True


def start_state(case: Case, model: Model) -> State:
    """The initial state of the history of a case: as drawn or, with small steps, in equilibrium if there is one nearby."""
    start = initial_state(model, case.analysis.gravity)
    if not case.by_small_steps:
        return start
    with defer_signals(max_deferred=1), one_blas_thread():
        return settled(_engine(case, model), start)


def simulate_case(
    case: Case, model: Model, state: State, solver: ContactSolver, *, tells_contacts: bool = True
) -> Iterator[Step]:
    """The steps of a case from `state` onwards, in memory. tells_contacts: with False small steps do not report contacts."""
    analysis = case.history
    if analysis.by_small_steps:
        return follow_small_steps(_engine(case, model, tells_contacts), state, analysis.duration, analysis.time_step)
    return simulate(
        case.with_contact_search(model),
        case.motions,
        duration=analysis.duration,
        time_step=analysis.time_step,
        theta=analysis.theta,
        gyroscopic=analysis.gyroscopic,
        gravity=analysis.gravity,
        surface=case.surface,
        loads=case.loads,
        from_rest=isinstance(analysis, SettlementHistoryTable) and analysis.scheme in ("velocity-zeroing", "rigid-modes"),
        modal_mass=0.0 if isinstance(analysis, SettlementHistoryTable) and analysis.scheme == "rigid-modes" else 1.0,
        solver=solver,
        state=state,
    )


def _engine(case: Case, model: Model, tells_contacts: bool = True) -> SmallSteps:
    analysis = case.history
    material = Material(young=case.young)
    return SmallSteps(
        model, case.motions, gravity=analysis.gravity, loads=case.loads, material=material, longest_step=analysis.small_step,
        threads=case.solver.threads, tells_contacts=tells_contacts, changes=case.changes,
    )  # fmt: skip


def case_solver(case: Case) -> ContactSolver:
    """The solver that a case asks for."""
    from drystone.engine.solvers.methods import (
        make_solver,  # a quarter of the start-up time, which programs without a solver save
    )

    return make_solver(case.solver.method, case.solver.tolerance, case.solver.threads)


def _ground_at(case: Case, time: float) -> tuple[float, float, float]:
    x, y, z = ground_displacement(case.motions, time)
    return float(x), float(y), float(z)

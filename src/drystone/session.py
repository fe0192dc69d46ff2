"""From a case to a recorded `Run`: the one place where case, model, solver, simulation and record meet.

`run` does all of it; `record` and `resume` are the same as generators of steps already taken into the file, for who
wants to look on (a progress bar is a `for` loop over them). A module of its own, since neither the simulator knows
about cases and files nor the record about solvers.
"""

import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

from drystone import __version__, kernel
from drystone.blas import one_blas_thread
from drystone.contact.beds import hung_by_friction
from drystone.engine.corner_contacts import tell_corners
from drystone.engine.interval import follow_interval
from drystone.engine.rest import settled
from drystone.engine.small_steps import Material, SmallSteps
from drystone.errors import InputError
from drystone.forecast import first_contacts, planned_steps, steps_a_frame
from drystone.io.analysis_tables import SettlementHistory
from drystone.io.case import Case, read_case
from drystone.io.stored_laws import given_again
from drystone.io.whole import writing
from drystone.laws import JointLaw
from drystone.model import Model
from drystone.problem import Problem
from drystone.record import Run, failed_problems, read_run, recorded_case
from drystone.simulate import Step, follow_small_steps, ground_displacement, initial_state, simulate
from drystone.solvers.solution import ContactSolver, Guess, Solution
from drystone.state import State
from drystone.stepping import kinetic_energy
from drystone.undisturbed import undisturbed
from drystone.writer import RunWriter

Pair = tuple[str, str, JointLaw]  # two groups, and the law of the joints between them
DUMPS = 20  # contact problems of a run that are kept, at most: the first steps that did not converge


def run(case: Case | str | Path, out: str | Path, *, overwrite: bool = False, pairs: Sequence[Pair] = ()) -> Run:
    """Compute a case (or the case in a file) and record it in the folder `out`. pairs: joint laws between groups, as
    `build_model` takes them, besides those of the case; laws from outside (`OwnLaw`) can only be given so."""
    case = case if isinstance(case, Case) else read_case(case)
    with closing(record(case, out, overwrite=overwrite, pairs=pairs)) as steps:
        for _ in steps:
            pass
    return read_run(out)


def record(case: Case, out: str | Path, *, overwrite: bool = False, pairs: Sequence[Pair] = ()) -> Generator[Step]:
    """The steps of a case, each already taken into the run in `out`. Closing the generator keeps what was computed."""
    model = case.model(pairs)
    yield from _from_the_start(case, model, start_of(case, model), out, overwrite)


def repeat(run: Run, out: str | Path, *, laws: Sequence[Callable[..., None]] = ()) -> Generator[Step]:
    """The steps of a run computed anew into the folder `out`, from the model, the samples and the first state it has kept.
    laws: the functions of its joint laws from outside, if it has any."""
    yield from _from_the_start(recorded_case(run), given_again(run.model, laws), run.state(0), out)


def _from_the_start(case: Case, model: Model, state: State, out: str | Path, overwrite: bool = False) -> Generator[Step]:
    writer = RunWriter.create(
        out,
        case.text,
        model,
        state,
        every_steps=steps_a_frame(case),
        planned_steps=planned_steps(case),
        ground=_ground(case, 0.0),
        motions=case.motions,
        path=case.path,
        hung=_hung(case, model),
        overwrite=overwrite,
    )
    yield from _go_on(case, model, writer, state)


def _hung(case: Case, model: Model) -> list[int]:
    """Blocks of the structure as drawn that rest on nothing."""
    c = first_contacts(model, case)
    return hung_by_friction(c.a, c.b, c.normal, c.gap, model.bodies.radius, model.bodies.fixed)


def resume(out: str | Path, *, laws: Sequence[Callable[..., None]] = ()) -> Generator[Step]:
    """The steps still missing from the run in `out`, each already taken into it; the same bits as if never stopped. laws: the
    functions of its joint laws from outside, if it has any."""
    run = read_run(out)
    case = recorded_case(run)
    model = given_again(run.model, laws)  # not the case's: its files may have moved or changed since
    writer, state = RunWriter.resume(out)
    yield from _go_on(case, model, writer, state)


def is_compiled(small_steps: bool = True) -> bool:
    """Whether the kernels of a step are compiled already, as they are now and for this Python: the largest, and the last one
    that a step calls, which is compiled after all others. Compiling them takes half a minute to a minute."""
    if small_steps:
        return kernel.is_compiled(follow_interval, tell_corners)
    from drystone.solvers.newton import follow

    return kernel.is_compiled(follow, kinetic_energy)


def _go_on(case: Case, model: Model, writer: RunWriter, state: State) -> Generator[Step]:
    witness = _Witness(partial(solver_of, case))
    able = True
    with writer:
        for step in simulated(case, model, state, witness):
            failure = witness.hand_over(step.solution)
            if failure is not None and able:
                able = _dump(case, writer.folder, step, failure)
            writer.add(step, _ground(case, step.state.time))
            yield step


class _Failure(NamedTuple):
    """A contact problem that was not solved."""

    problem: Problem
    guess: Guess
    solution: Solution


def _severity(failure: _Failure) -> float:
    return failure.solution.residual.error


class _Witness:
    """A solver, made when it is first called, which keeps what it did not solve in a step: the step as a whole,
    and the worst of its parts if there are any."""

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
                self._part = failure if self._part is None else max(self._part, failure, key=_severity)
        return solution

    def hand_over(self, reported: Solution) -> _Failure | None:
        """The problem behind the report of a step if it was not solved; forget the step."""
        kept = [failure for failure in (self._whole, self._part) if failure is not None]
        self._calls, self._whole, self._part = 0, None, None
        return next((failure for failure in kept if failure.solution.residual is reported.residual), None)


def _dump(case: Case, folder: Path, step: Step, failure: _Failure) -> bool:
    """Write a problem that was not solved; False, said once, if it cannot be: that is no reason to lose the run."""
    from drystone.io.contact_problems import write_problem  # loads SciPy's sparse matrices

    path = folder / "failed" / f"step-{step.state.step:06d}.npz"
    if len(failed_problems(folder)) >= DUMPS and not path.exists():
        return True
    solver, solution = case.solver, failure.solution
    about = {
        "drystone": __version__,
        "step": step.state.step,
        "time": step.state.time,
        "method": solver.method,
        "tolerance": solver.tolerance,
        "path": solution.path,
        "residual": [float(value) for value in solution.residual],
    }
    try:
        with writing(path):
            path.parent.mkdir(exist_ok=True)
        write_problem(path, failure.problem, failure.guess, about)
    except InputError as error:
        print(f"{error}; steps that fail are not kept", file=sys.stderr, flush=True)
        return False
    return True


def start_of(case: Case, model: Model) -> State:
    """The state from which the history of a case starts: as built or, by small steps, in equilibrium if there is one nearby."""
    start = initial_state(model, case.analysis.gravity)
    if not case.by_small_steps:
        return start
    with undisturbed(patience=1), one_blas_thread():
        return settled(_engine(case, model), start)


def simulated(case: Case, model: Model, state: State, solver: ContactSolver, *, tells_contacts: bool = True) -> Iterator[Step]:
    """The steps of a case from `state` on, in memory. tells_contacts: False spares small steps what nobody looks at."""
    analysis = case.history
    if analysis.by_small_steps:
        return follow_small_steps(_engine(case, model, tells_contacts), state, analysis.duration, analysis.time_step)
    return simulate(
        case.searched(model),
        case.motions,
        duration=analysis.duration,
        time_step=analysis.time_step,
        theta=analysis.theta,
        gyroscopic=analysis.gyroscopic,
        gravity=analysis.gravity,
        surface=case.surface,
        loads=case.loads,
        from_rest=isinstance(analysis, SettlementHistory) and analysis.scheme in ("velocity-zeroing", "rigid-modes"),
        modal_mass=0.0 if isinstance(analysis, SettlementHistory) and analysis.scheme == "rigid-modes" else 1.0,
        solver=solver,
        state=state,
    )


def _engine(case: Case, model: Model, tells_contacts: bool = True) -> SmallSteps:
    asked = case.history
    material = Material(young=case.young)
    return SmallSteps(
        model, case.motions, gravity=asked.gravity, loads=case.loads, material=material, longest_step=asked.small_step,
        threads=case.solver.threads, tells_contacts=tells_contacts, changes=case.changes,
    )  # fmt: skip


def solver_of(case: Case) -> ContactSolver:
    """The solver that a case asks for."""
    from drystone.solvers.methods import make_solver  # a quarter of the start of a program that goes without

    return make_solver(case.solver.method, case.solver.tolerance, case.solver.threads)


def _ground(case: Case, time: float) -> tuple[float, float, float]:
    x, y, z = ground_displacement(case.motions, time)
    return float(x), float(y), float(z)

"""One contact problem from a file, solved and graded: the work of `drystone solve`.

A foreign problem starts cold and is graded by its own matrices (`ForeignProblem.residual`). If its matrix is not symmetric and
positive it is solved in rounds: that part of it which is, with the velocity that the round before left out. This contracts as
long as the rest is the smaller part. A dump starts from the guess it was met with: with the same method it gives the bits of
the run it is from; its residual is the larger of momentum and natural map.
"""

from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from drystone.base.blas import one_blas_thread
from drystone.base.errors import InputError, truncated_repr
from drystone.base.files.atomic_write import replace_atomically
from drystone.base.json_numbers import finite_or_none
from drystone.engine.solvers.methods import METHODS, make_solver
from drystone.engine.solvers.problem import Problem, relative_velocity
from drystone.engine.solvers.solution import ContactSolver, Guess, Solution
from drystone.io.contact_problems.foreign_problem import ForeignProblem, remainder
from drystone.io.contact_problems.problem_file import Dump, read_contact_problem

Array = np.ndarray

LAWS = ("associated", "coulomb")
ROUNDS = 20  # of a foreign problem, at most
MARGIN = 10.0  # residual of a good answer to a foreign problem, in units of the tolerance
CLOSER = 0.01  # tolerance of the rounds after the first, in units of that asked for


class Answer(NamedTuple):
    """What was found."""

    reaction: Array  # (C, 3) normal, tangent, tangent; in a dump impulses [N s]
    velocity: Array  # (C, 3) [m/s] relative velocity, with its bias
    good: bool  # converged; of a foreign problem: its own residual is within MARGIN tolerances
    facts: dict[str, Any]  # what `drystone solve --json` prints


def solve_file(
    path: str | Path, *, method: str | None = None, tolerance: float | None = None, law: str | None = None
) -> Answer:
    """Solve the problem in a file. What is not given is as in the run that wrote a dump, else native and 1e-6; the law is that
    of the file, Coulomb's if it is a foreign one."""
    given = read_contact_problem(path)
    about = given.about if isinstance(given, Dump) else {}
    method = about.get("method", "native") if method is None else method
    tolerance = about.get("tolerance", 1e-6) if tolerance is None else tolerance
    for name, value, accepted in (("method", method, METHODS), ("law", law, (*LAWS, None))):
        if value not in accepted:
            raise InputError(
                f"{path}: {name} {truncated_repr(value)} is not known; give one of {', '.join(filter(None, accepted))}"
            )
    if not (isinstance(tolerance, float) and 0 < tolerance < 1):
        raise InputError(f"{path}: tolerance {truncated_repr(tolerance)}: give a number between 0 and 1, such as 1e-6")
    solver = make_solver(method, tolerance)
    with one_blas_thread():  # as in a run: threads would change the bits
        problem = _under(given.problem if isinstance(given, Dump) else given.problem(), law)
        begin = perf_counter()
        if isinstance(given, Dump):
            solution, rounds = solver(problem, given.guess), 1
        else:
            solution, rounds = _in_rounds(given, problem, solver, make_solver(method, CLOSER * tolerance), tolerance)
        seconds = perf_counter() - begin
    residual, velocity = _outcome(given, problem, solution)
    if isinstance(given, ForeignProblem):
        solution = solution._replace(converged=residual <= MARGIN * tolerance)  # judged by its own residual alone
    settings = {"method": method, "friction_law": law_of(problem), "tolerance": tolerance}
    facts = {"file": str(path), **settings, **_facts(given, problem, solution, residual, rounds), "seconds": seconds}
    return Answer(solution.impulse, velocity, bool(solution.converged), facts)


def _outcome(given: ForeignProblem | Dump, problem: Problem, solution: Solution) -> tuple[float, Array]:
    """The residual of a solution and the velocity (C, 3) of its contacts."""
    if isinstance(given, Dump):
        residual = max(solution.residual.momentum, solution.residual.natural_map)
        return residual, relative_velocity(problem, solution.velocity)
    return given.residual(solution.impulse, law_of(problem)), given.velocity(solution.impulse)


def _facts(given: ForeignProblem | Dump, problem: Problem, solution: Solution, residual: float, rounds: int) -> dict[str, Any]:
    notes = [] if isinstance(given, Dump) else list(given.notes)
    if rounds > 1:
        notes.append(f"{rounds} rounds, each closer and corrected by what the file's own matrix says")
    return {
        "form": "dump" if isinstance(given, Dump) else given.form,
        "contacts": len(problem.a),
        "unknowns": int(problem.free.size),
        "converged": bool(solution.converged),
        "path": solution.path,
        "residual": finite_or_none(residual),
        "iterations": int(solution.factorisations),
        **{name: finite_or_none(value) for name, value in solution.residual._asdict().items()},
        "notes": notes,
    }


def save_answer(path: str | Path, answer: Answer) -> None:
    """Write reaction and velocity of the contacts to a `.npz`."""
    with replace_atomically(Path(path)) as part, part.open("wb") as file:
        np.savez(file, reaction=answer.reaction, velocity=answer.velocity)


def law_of(problem: Problem) -> str:
    """The friction law in words."""
    if np.array_equal(problem.dilatancy, problem.friction):
        return "associated"
    return "mixed" if problem.dilatancy.any() else "coulomb"


def _under(problem: Problem, law: str | None) -> Problem:
    """The problem under another friction law, or its own if None."""
    if law is None:
        return problem
    return problem._replace(dilatancy=problem.friction.copy() if law == "associated" else np.zeros_like(problem.friction))


def _in_rounds(
    given: ForeignProblem, problem: Problem, solver: ContactSolver, closer: ContactSolver, tolerance: float
) -> tuple[Solution, int]:
    """The best solution by the file's own residual, with the factorisations of all rounds, and their number."""
    law = law_of(problem)
    best = solver(problem, _cold(problem))
    least, spent, rounds = given.residual(best.impulse, law), best.factorisations, 1
    while least > tolerance and rounds < ROUNDS:
        here = problem._replace(bias=problem.bias + remainder(given, problem, best.impulse))
        solution = closer(here, Guess(best.velocity, best.impulse, best.hardship))
        residual, spent, rounds = given.residual(solution.impulse, law), spent + solution.factorisations, rounds + 1
        if not residual < least:
            break
        best, least = solution, residual
    return best._replace(factorisations=spent), rounds


def _cold(problem: Problem) -> Guess:
    """No impulses, and the velocities that go with them."""
    return Guess(problem.free.copy(), np.zeros_like(problem.bias), 0)

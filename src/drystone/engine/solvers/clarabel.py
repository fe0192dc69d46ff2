"""Independent solvers of the step by Clarabel, an open interior-point solver: the truth the native one is held to.

`kinematic` minimises over velocities (T10, NB eq. 21), `static` over impulses (T11, NB eq. 22), `planar` over velocities
with the linear friction of the plane, a quadratic program (T52, PCL eq. 7). All take rigid and compliant problems; a compliant
contact adds y = sqrt(compliance) impulse to the unknowns, its memory goes to the bias. Cones are made standard by scaling
tangents with the friction coefficient, in the plane by taking either side of the cone; unknowns are scaled to order one.

Velocities are counted from those without contact: Clarabel stops at a gap that is small beside the objective, and with
velocities counted from nothing the objective holds the kinetic energy, ten thousand times what the contacts do in the step.
"""

from collections.abc import Callable
from typing import NamedTuple

import clarabel
import numpy as np
import scipy.sparse as sp

from drystone.engine.solvers.cone import project_all
from drystone.engine.solvers.first_order.impulse_problem import slip_into
from drystone.engine.solvers.problem import Problem
from drystone.engine.solvers.residual import judge
from drystone.engine.solvers.solution import Guess, Solution

Array = np.ndarray

LOOSER = 1e3  # tolerance of a second attempt in units of the first: at the finest one Clarabel may lose its way at the end


def kinematic(
    tolerance: float = 1e-12, threads: int = 1, accept: float = 1e-6, time_limit: float = np.inf, ldl: str = "auto"
) -> Callable[[Problem, Guess], Solution]:
    """Velocities are the unknowns, impulses the multipliers. `tolerance`, `time_limit` [s] and `ldl`, its linear solver,
    are Clarabel's; a step is converged if its error is within `accept` by the measure of all methods (`residual.judge`)."""
    return _over_velocities("clarabel-kinematic", _round, tolerance, threads, accept, time_limit, ldl)


def planar(
    tolerance: float = 1e-12, threads: int = 1, accept: float = 1e-6, time_limit: float = np.inf, ldl: str = "auto"
) -> Callable[[Problem, Guess], Solution]:
    """`kinematic` for problems whose second tangent has no rows, as those of the plane: others it does not solve."""
    return _over_velocities("qp", _flat, tolerance, threads, accept, time_limit, ldl)


def _round(problem: Problem) -> tuple[sp.csr_matrix, list]:
    """Contact vectors (3C) -> (3C) whose dual cone is round, and Clarabel's cones."""
    scale = np.ones((len(problem.a), 3))
    scale[:, 1:] = problem.friction[:, None]
    return sp.diags(scale.ravel(), format="csr"), [clarabel.SecondOrderConeT(3)] * len(problem.a)


def _flat(problem: Problem) -> tuple[sp.csr_matrix, list]:
    """Contact vectors (3C) -> (2C) normal + friction tangent and normal - friction tangent: the dual cone is their positive
    part. The second tangent, out of the plane, is left out."""
    count = len(problem.a)
    either = np.arange(2 * count).reshape(count, 2)
    normal, tangent = (np.repeat(3 * np.arange(count) + k, 2) for k in (0, 1))
    value = np.concatenate([np.ones(2 * count), (problem.friction[:, None] * [1.0, -1.0]).ravel()])
    where = (np.tile(either.ravel(), 2), np.concatenate([normal, tangent]))
    return sp.csr_matrix((value, where), shape=(2 * count, 3 * count)), [clarabel.NonnegativeConeT(2 * count)]


def _over_velocities(path, shape, tolerance, threads, accept, time_limit, ldl) -> Callable[[Problem, Guess], Solution]:
    """`shape` gives the matrix that makes the dual cone of all contacts Clarabel's, and these cones."""

    def solve(problem: Problem, guess: Guess) -> Solution:
        sides, cones = shape(problem)
        rows = sides @ _rows(problem)
        n = rows.shape[1]
        soft = np.repeat(problem.compliance, 3)
        unit = np.sqrt(problem.total_mass / max(len(problem.free), 1))  # sqrt of the mean mass: x ~ unit * speed
        bias = sides @ (problem.bias.ravel() - soft * problem.memory.ravel()) + rows @ problem.free.ravel()
        strain = sides @ sp.diags(np.sqrt(soft) * unit, format="csc")
        used = soft > 0
        quadratic = sp.identity(n + int(used.sum()), format="csc")
        linear = np.zeros(n + int(used.sum()))
        # cone: rows (x - free) + bias + sqrt(soft) y in K*, with y = sqrt(soft) impulse at the optimum
        matrix = sp.hstack([rows * unit, strain.tocsc()[:, used]], format="csc")
        program = ConicProgram(quadratic, linear, -matrix, bias / problem.speed, cones)

        def read(answer) -> tuple[Array, Array]:
            x = problem.free + np.array(answer.x)[:n].reshape(problem.free.shape) * unit * problem.speed
            return x, (sides.T @ np.array(answer.z)).reshape(-1, 3) * unit**2 * problem.speed

        return _solution(problem, program, read, path, Effort(tolerance, threads, accept, time_limit, ldl))

    return solve


def static(
    tolerance: float = 1e-12, threads: int = 1, accept: float = 1e-6, time_limit: float = np.inf, ldl: str = "auto"
) -> Callable[[Problem, Guess], Solution]:
    """Impulses are the unknowns; momentum given by them, p = rows^T impulse, is kept as a variable for sparsity."""

    def solve(problem: Problem, guess: Guess) -> Solution:
        sides, cones = _round(problem)
        rows, scale = sides @ _rows(problem), sides.diagonal()
        n, m = rows.shape[1], rows.shape[0]
        unit = np.sqrt(problem.total_mass / max(len(problem.free), 1))
        soft = np.repeat(problem.compliance, 3) * scale**2 * unit**2
        rest = np.repeat(problem.compliance, 3) * scale * problem.memory.ravel()
        arriving = (rows @ problem.free.ravel() + problem.bias.ravel() * scale - rest) / problem.speed
        quadratic = sp.block_diag([sp.identity(n), sp.diags(soft)], format="csc")
        linear = np.concatenate([np.zeros(n), arriving])
        matrix = sp.bmat([[sp.identity(n), -rows.T * unit], [None, -sp.identity(m)]], format="csc")
        cones = [clarabel.ZeroConeT(n), *cones]
        program = ConicProgram(quadratic, linear, matrix, np.zeros(n + m), cones)

        def read(answer) -> tuple[Array, Array]:
            unknown = np.array(answer.x)
            x = problem.free + unknown[:n].reshape(problem.free.shape) * unit * problem.speed
            return x, (unknown[n:] * scale).reshape(-1, 3) * unit**2 * problem.speed

        return _solution(problem, program, read, "clarabel-static", Effort(tolerance, threads, accept, time_limit, ldl))

    return solve


def _rows(problem: Problem) -> sp.csr_matrix:
    """Rows (3C, D N)."""
    count, (bodies, size) = len(problem.a), problem.free.shape
    row = np.arange(3 * count).reshape(count, 3, 1) + np.zeros((1, 1, size), int)
    parts = []
    for body, block in ((problem.a, problem.row_a), (problem.b, problem.row_b)):
        here = body >= 0
        column = size * body[here, None, None] + np.arange(size) + np.zeros((1, 3, 1), int)
        parts.append((block[here].ravel(), row[here].ravel(), column.ravel()))
    value, i, j = (np.concatenate(x) for x in zip(*parts, strict=True))
    return sp.csr_matrix((value, (i, j)), shape=(3 * count, size * bodies))


class ConicProgram(NamedTuple):
    """min x . quadratic x / 2 + linear . x with right - matrix x in the cones."""

    quadratic: sp.csc_matrix
    linear: Array
    matrix: sp.csc_matrix
    right: Array
    cones: list


class Effort(NamedTuple):
    """How hard Clarabel tries, and what is good enough."""

    tolerance: float
    threads: int
    accept: float
    time_limit: float  # [s]
    ldl: str

    def run(self, program: ConicProgram):
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_threads = self.threads
        settings.time_limit = self.time_limit
        settings.direct_solve_method = self.ldl
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = self.tolerance
        settings.presolve_enable = False
        settings.max_iter = 100
        upper = sp.triu(program.quadratic, format="csc")
        return clarabel.DefaultSolver(
            upper, program.linear, program.matrix.tocsc(), program.right, program.cones, settings
        ).solve()


def _solution(problem: Problem, program: ConicProgram, read: Callable, path: str, effort: Effort) -> Solution:
    """The answer; if it is not good enough, the better one of this and of a looser tolerance."""
    first = _attempt(problem, effort.run(program), read, path, effort.accept)
    if first.converged:
        return first
    second = _attempt(problem, effort._replace(tolerance=LOOSER * effort.tolerance).run(program), read, path, effort.accept)
    best = second if second.residual.error < first.residual.error else first
    return best._replace(factorisations=first.factorisations + second.factorisations)


def _attempt(problem: Problem, answer, read: Callable, path: str, accept: float) -> Solution:
    """Of the velocities as they came, and of those that the impulses give, the ones with the smaller error; impulses are put on
    their cones, outside of which the interior point leaves them by rounding."""
    x, impulse = read(answer)
    impulse = project_all(impulse, problem.friction)
    given, slip = np.empty_like(x), np.empty_like(impulse)
    slip_into(problem, impulse, given, slip)
    found = [(*judge(problem, velocity, impulse, accept), velocity) for velocity in (given, x)]
    residual, good, velocity = min(found, key=lambda each: each[0].error)
    return Solution(velocity, impulse, good, path, int(answer.iterations), residual, 0)

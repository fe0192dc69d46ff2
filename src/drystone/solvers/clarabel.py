"""Independent solvers of the step by Clarabel, an open interior-point solver: the truth the native one is held to.

`kinematic` minimises over velocities (T10, NB eq. 21), `static` over impulses (T11, NB eq. 22), `planar` over velocities
with the linear friction of the plane, a quadratic program (T52, PCL eq. 7). All take rigid and compliant problems; a compliant
contact adds y = sqrt(compliance) impulse to the unknowns, its memory goes to the bias. Cones are made standard by scaling
tangents with the friction coefficient, in the plane by taking either side of the cone; unknowns are scaled to order one.
"""

from collections.abc import Callable

import clarabel
import numpy as np
import scipy.sparse as sp

from drystone.problem import Problem
from drystone.solvers.residual import grade
from drystone.solvers.solution import Guess, Solution

Array = np.ndarray


def kinematic(
    tolerance: float = 1e-9, threads: int = 1, accept: float = 1e-6, time_limit: float = np.inf, ldl: str = "auto"
) -> Callable[[Problem, Guess], Solution]:
    """Velocities are the unknowns, impulses the multipliers. `tolerance`, `time_limit` [s] and `ldl`, its linear solver,
    are Clarabel's; a step is converged if Clarabel says so and momentum, penetration and, a hundredfold, the gap are
    within `accept`."""
    return _over_velocities("clarabel-kinematic", _round, tolerance, threads, accept, time_limit, ldl)


def planar(
    tolerance: float = 1e-9, threads: int = 1, accept: float = 1e-6, time_limit: float = np.inf, ldl: str = "auto"
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
        bias = sides @ (problem.bias.ravel() - soft * problem.memory.ravel())
        strain = sides @ sp.diags(np.sqrt(soft) * unit, format="csc")
        used = soft > 0
        quadratic = sp.identity(n + int(used.sum()), format="csc")
        linear = np.concatenate([-problem.free.ravel() / (unit * problem.speed), np.zeros(int(used.sum()))])
        # cone: rows x + bias + sqrt(soft) y in K*, with y = sqrt(soft) impulse at the optimum
        matrix = sp.hstack([rows * unit, strain.tocsc()[:, used]], format="csc")
        answer = _run(quadratic, linear, -matrix, bias / problem.speed, cones, tolerance, threads, time_limit, ldl)
        x = np.array(answer.x)[:n].reshape(problem.free.shape) * unit * problem.speed
        impulse = (sides.T @ np.array(answer.z)).reshape(-1, 3) * unit**2 * problem.speed
        return _solution(problem, x, impulse, answer, path, accept)

    return solve


def static(
    tolerance: float = 1e-9, threads: int = 1, accept: float = 1e-6, time_limit: float = np.inf, ldl: str = "auto"
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
        answer = _run(quadratic, linear, matrix, np.zeros(n + m), cones, tolerance, threads, time_limit, ldl)
        unknown = np.array(answer.x)
        x = problem.free + unknown[:n].reshape(problem.free.shape) * unit * problem.speed
        impulse = (unknown[n:] * scale).reshape(-1, 3) * unit**2 * problem.speed
        return _solution(problem, x, impulse, answer, "clarabel-static", accept)

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


def _run(quadratic, linear, matrix, right, cones, tolerance, threads, time_limit, ldl):
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = threads
    settings.time_limit = time_limit
    settings.direct_solve_method = ldl
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    settings.presolve_enable = False
    settings.max_iter = 100
    upper = sp.triu(quadratic, format="csc")
    return clarabel.DefaultSolver(upper, linear, matrix.tocsc(), right, cones, settings).solve()


def _solution(problem: Problem, x: Array, impulse: Array, answer, path: str, accept: float) -> Solution:
    residual = grade(problem, x, impulse)
    solved = str(answer.status) == "Solved"
    good = bool(solved and max(residual.momentum, residual.penetration) <= accept and residual.gap <= 0.01 * accept)
    return Solution(x, impulse, good, path, int(answer.iterations), residual, 0)

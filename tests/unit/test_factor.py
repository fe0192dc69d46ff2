"""The block Cholesky against a dense solve, on graphs of every kind; the plan depends on the graph alone."""

import numpy as np
import pytest

from drystone.problem import Problem
from drystone.solvers.factor import assemble, factorise, make_system, solve


def random_problem(bodies: int, contacts: int, rng: np.random.Generator, supports: float = 0.2) -> Problem:
    """Contacts between random bodies, some with a support; everything a solver reads, of order one."""
    a, b = np.sort(rng.integers(0, bodies, (2, contacts)), axis=0)
    a = np.where((a == b) | (rng.random(contacts) < supports), -1, a)
    order = np.lexsort((b, a))
    a, b = a[order], b[order]
    row_a, row_b = rng.standard_normal((2, contacts, 3, 6))
    row_a[a < 0] = 0.0
    bias = np.zeros((contacts, 3))
    bias[:, 0] = rng.uniform(-0.01, 0.5, contacts)
    friction = rng.uniform(0.0, 1.5, contacts)
    return Problem(
        a, b, row_a, row_b, bias, friction, friction, np.zeros(contacts), np.zeros((contacts, 3)),
        rng.standard_normal((bodies, 6)), np.ones(bodies), rng.random((bodies, 3)), 1.0, float(bodies),
    )  # fmt: skip


def dense_rows(problem: Problem) -> np.ndarray:
    """Rows (3C, 6N), written out."""
    out = np.zeros((len(problem.a), 3, len(problem.free), 6))
    for c in range(len(problem.a)):
        if problem.a[c] >= 0:
            out[c, :, problem.a[c]] += problem.row_a[c]
        out[c, :, problem.b[c]] += problem.row_b[c]
    return out.reshape(3 * len(problem.a), -1)


@pytest.mark.parametrize(("bodies", "contacts"), [(1, 1), (1, 5), (2, 3), (7, 9), (40, 30), (60, 200), (300, 900)])
def test_solves_like_a_dense_matrix(bodies: int, contacts: int) -> None:
    """(I + rows^T weight rows) x = right, by numpy.linalg."""
    rng = np.random.default_rng(bodies)
    problem = random_problem(bodies, contacts, rng)
    half = rng.standard_normal((contacts, 3, 3))
    weight = half @ half.transpose(0, 2, 1)
    system = make_system(problem)
    assemble(problem, system, weight)
    assert factorise(system)
    right = rng.standard_normal((bodies, 6))
    found = np.empty_like(right)
    solve(system, right, found)
    rows = dense_rows(problem)
    big = np.zeros((3 * contacts, 3 * contacts))
    for c in range(contacts):
        big[3 * c : 3 * c + 3, 3 * c : 3 * c + 3] = weight[c]
    matrix = np.eye(6 * bodies) + rows.T @ big @ rows
    assert np.allclose(matrix @ found.ravel(), right.ravel(), atol=1e-9 * np.abs(matrix).max())


def test_says_when_the_matrix_is_not_positive_definite() -> None:
    problem = random_problem(5, 8, np.random.default_rng(0))
    system = make_system(problem)
    assemble(problem, system, -100.0 * np.tile(np.eye(3), (8, 1, 1)))
    assert not factorise(system)


def test_plan_depends_on_the_graph_alone() -> None:
    """A plan made afresh equals one kept from the step before: a resumed run must repeat the same sums."""
    rng = np.random.default_rng(3)
    problem, other = random_problem(50, 120, rng), random_problem(50, 90, rng)
    fresh = make_system(problem)
    after_another = make_system(problem, make_system(other))
    assert all(np.array_equal(x, y) for x, y in zip(fresh.plan, after_another.plan, strict=True))
    kept = make_system(problem, fresh)
    assert kept.factor is fresh.factor

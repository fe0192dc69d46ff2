"""The block Cholesky and LU against a dense solve, on graphs of every kind; the plan depends on the graph alone."""

import numpy as np
import pytest

from drystone.problem import Problem
from drystone.solvers.factor import assemble, factorise, make_system, solve


def random_problem(bodies: int, contacts: int, rng: np.random.Generator, supports: float = 0.2, dof: int = 6) -> Problem:
    """Contacts between random bodies, some with a support; everything a solver reads, of order one."""
    a, b = np.sort(rng.integers(0, bodies, (2, contacts)), axis=0)
    a = np.where((a == b) | (rng.random(contacts) < supports), -1, a)
    order = np.lexsort((b, a))
    a, b = a[order], b[order]
    row_a, row_b = rng.standard_normal((2, contacts, 3, dof))
    row_a[a < 0] = 0.0
    bias = np.zeros((contacts, 3))
    bias[:, 0] = rng.uniform(-0.01, 0.5, contacts)
    friction = rng.uniform(0.0, 1.5, contacts)
    return Problem(
        a, b, row_a, row_b, bias, friction, friction, np.zeros(contacts), np.zeros((contacts, 3)),
        rng.standard_normal((bodies, dof)), np.ones(bodies), rng.random((bodies, 3)), 1.0, float(bodies),
    )  # fmt: skip


def dense_matrix(problem: Problem, weight: np.ndarray) -> np.ndarray:
    """I + rows^T weight rows, written out."""
    contacts, (bodies, dof) = len(problem.a), problem.free.shape
    rows = np.zeros((contacts, 3, bodies, dof))
    for c in range(contacts):
        if problem.a[c] >= 0:
            rows[c, :, problem.a[c]] += problem.row_a[c]
        rows[c, :, problem.b[c]] += problem.row_b[c]
    rows = rows.reshape(contacts, 3, -1)
    return np.eye(bodies * dof) + rows.reshape(3 * contacts, -1).T @ (weight @ rows).reshape(3 * contacts, -1)


GRAPHS = [(1, 1, 6), (1, 5, 6), (1, 20, 37), (2, 3, 6), (7, 9, 6), (9, 20, 37), (40, 30, 6), (60, 200, 6), (300, 900, 6)]


@pytest.mark.parametrize(("bodies", "contacts", "dof"), GRAPHS)
@pytest.mark.parametrize("symmetric", [True, False])
def test_solves_like_a_dense_matrix(bodies: int, contacts: int, dof: int, symmetric: bool) -> None:
    """(I + rows^T weight rows) x = right, written out."""
    rng = np.random.default_rng(bodies)
    problem = random_problem(bodies, contacts, rng, dof=dof)
    half = rng.standard_normal((contacts, 3, 3))
    weight = half @ half.transpose(0, 2, 1) if symmetric else half
    system = make_system(problem, symmetric=symmetric)
    assemble(problem, system, weight)
    assert factorise(system)
    right = rng.standard_normal((bodies, dof))
    found = np.empty_like(right)
    solve(system, right, found)
    matrix = dense_matrix(problem, weight)
    assert np.allclose(matrix @ found.ravel(), right.ravel(), atol=1e-9 * np.abs(matrix).max())


def test_both_kinds_agree_on_a_symmetric_matrix() -> None:
    rng = np.random.default_rng(1)
    problem = random_problem(80, 200, rng)
    half = rng.standard_normal((200, 3, 3))
    weight, found = half @ half.transpose(0, 2, 1), np.empty((2, 80, 6))
    system = None
    for symmetric, out in zip((True, False), found, strict=True):
        system = make_system(problem, system, symmetric)
        assemble(problem, system, weight)
        assert factorise(system)
        solve(system, problem.free, out)
    assert np.allclose(*found, rtol=0.0, atol=1e-10)


def test_says_when_the_matrix_is_not_positive_definite() -> None:
    problem = random_problem(5, 8, np.random.default_rng(0))
    system = make_system(problem)
    assemble(problem, system, -100.0 * np.tile(np.eye(3), (8, 1, 1)))
    assert not factorise(system)


def test_says_when_the_matrix_is_singular() -> None:
    """One contact of a body with a support, rows of orthonormal vectors: weight -1 cancels three ones of I, exactly."""
    problem = random_problem(3, 1, np.random.default_rng(0), supports=1.0)
    problem.row_b[0] = np.eye(3, 6)
    system = make_system(problem, symmetric=False)
    weight = np.zeros((1, 3, 3))
    weight[0] = -np.eye(3)
    assemble(problem, system, weight)
    assert not factorise(system)
    weight[0, 1, 0] = 7.0  # still singular, no longer symmetric
    assemble(problem, system, weight)
    assert not factorise(system)
    weight[0] = [[-1.0, 1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 0.0, 0.0]]  # regular, but only with an exchange of rows
    assemble(problem, system, weight)
    assert factorise(system)


def test_plan_depends_on_the_graph_alone() -> None:
    """A plan made afresh equals one kept from the step before: a resumed run must repeat the same sums."""
    rng = np.random.default_rng(3)
    problem, other = random_problem(50, 120, rng), random_problem(50, 90, rng)
    fresh = make_system(problem)
    after_another = make_system(problem, make_system(other))
    assert all(np.array_equal(x, y) for x, y in zip(fresh.plan, after_another.plan, strict=True))
    kept = make_system(problem, fresh)
    assert kept.factor is fresh.factor
    lopsided = make_system(problem, fresh, symmetric=False)
    assert lopsided.plan is fresh.plan
    assert make_system(problem, lopsided, symmetric=False).upper is lopsided.upper

"""The block Cholesky and LU against a dense solve, on graphs of every kind; the plan depends on the graph alone."""

import numpy as np
import pytest

from drystone import build
from drystone.engine.simulation import simulate
from drystone.engine.solvers.linear.factorisation import assemble_matrix, factorise, helped, make_system, solve_factorised
from drystone.engine.solvers.native import native
from drystone.engine.solvers.problem import Problem
from drystone.ground.motion import Motion
from drystone.structure.model import build_model


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


def dense_rows(problem: Problem) -> np.ndarray:
    """Rows (3C, D N), written out."""
    out = np.zeros((len(problem.a), 3, *problem.free.shape))
    for c in range(len(problem.a)):
        if problem.a[c] >= 0:
            out[c, :, problem.a[c]] += problem.row_a[c]
        out[c, :, problem.b[c]] += problem.row_b[c]
    return out.reshape(3 * len(problem.a), -1)


def dense_matrix(problem: Problem, weight: np.ndarray) -> np.ndarray:
    """I + rows^T weight rows, written out."""
    rows = dense_rows(problem)
    weighted = (weight @ rows.reshape(len(weight), 3, -1)).reshape(rows.shape)
    return np.eye(rows.shape[1]) + rows.T @ weighted


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
    assemble_matrix(problem, system, weight)
    assert factorise(system)
    right = rng.standard_normal((bodies, dof))
    found = np.empty_like(right)
    solve_factorised(system, right, found)
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
        assemble_matrix(problem, system, weight)
        assert factorise(system)
        solve_factorised(system, problem.free, out)
    assert np.allclose(*found, rtol=0.0, atol=1e-10)


def test_says_when_the_matrix_is_not_positive_definite() -> None:
    problem = random_problem(5, 8, np.random.default_rng(0))
    system = make_system(problem)
    assemble_matrix(problem, system, -100.0 * np.tile(np.eye(3), (8, 1, 1)))
    assert not factorise(system)


def test_says_when_the_matrix_is_singular() -> None:
    """One contact of a body with a support, rows of orthonormal vectors: weight -1 cancels three ones of I, exactly."""
    problem = random_problem(3, 1, np.random.default_rng(0), supports=1.0)
    problem.row_b[0] = np.eye(3, 6)
    system = make_system(problem, symmetric=False)
    weight = np.zeros((1, 3, 3))
    weight[0] = -np.eye(3)
    assemble_matrix(problem, system, weight)
    assert not factorise(system)
    weight[0, 1, 0] = 7.0  # still singular, no longer symmetric
    assemble_matrix(problem, system, weight)
    assert not factorise(system)
    weight[0] = [[-1.0, 1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 0.0, 0.0]]  # regular, but only with an exchange of rows
    assemble_matrix(problem, system, weight)
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


def wall_like(columns: int, courses: int, rng: np.random.Generator) -> Problem:
    """A random problem on the graph of a wall: each body touches the next one and the one above it, twice."""
    bodies = np.arange(columns * courses).reshape(courses, columns)
    pairs = [(bodies[:, :-1], bodies[:, 1:]), (bodies[:-1], bodies[1:])]
    a, b = (np.concatenate([np.repeat(pair[side].ravel(), 2) for pair in pairs]) for side in (0, 1))
    order = np.lexsort((b, a))
    problem = random_problem(bodies.size, len(a), rng)
    place = np.stack([bodies.ravel() % columns, 0 * bodies.ravel(), bodies.ravel() // columns], axis=1)
    row_a = rng.standard_normal(problem.row_a.shape)
    return problem._replace(a=a[order], b=b[order], row_a=row_a, place=place.astype(float))


def threaded(problem: Problem, weight: np.ndarray, symmetric: bool, threads: int) -> tuple[np.ndarray, ...]:
    """Factor, upper part and solution."""
    system = make_system(problem, symmetric=symmetric, threads=threads)
    assert len(system.plan.branch) > 1
    assert len(system.plan.top) > 0
    helped(assemble_matrix, problem, system, weight)
    assert helped(lambda problem, system: factorise(system), problem, system)
    out = np.empty_like(problem.free)
    helped(lambda problem, system: solve_factorised(system, problem.free, out), problem, system)
    return system.factor, system.upper, out


@pytest.mark.parametrize("symmetric", [True, False])
def test_threads_change_no_bit(symmetric: bool) -> None:
    """A system large enough to be shared, by one, two and five threads; the solution by its residual."""
    rng = np.random.default_rng(5)
    problem = wall_like(60, 20, rng)
    half = rng.standard_normal((len(problem.a), 3, 3))
    weight = half @ half.transpose(0, 2, 1) if symmetric else half
    alone = threaded(problem, weight, symmetric, 1)
    for threads in (2, 2, 2, 5):
        assert all(np.array_equal(x, y) for x, y in zip(alone, threaded(problem, weight, symmetric, threads), strict=True))
    residual = alone[2] - problem.free
    for c in range(len(problem.a)):
        a, b = problem.a[c], problem.b[c]
        force = weight[c] @ (problem.row_a[c] @ alone[2][a] + problem.row_b[c] @ alone[2][b])
        residual[a] += problem.row_a[c].T @ force
        residual[b] += problem.row_b[c].T @ force
    assert np.abs(residual).max() < 1e-8


def test_threads_change_no_bit_of_a_run() -> None:
    model, push = build_model(build.dome(), friction=0.6), Motion("one-sine", amplitude=8.0, half_period=0.1)
    runs = [simulate(model, [push], duration=0.03, time_step=0.01, solver=native(threads=threads)) for threads in (1, 2)]
    alone, shared = ([step.state.velocity for step in run] for run in runs)
    assert np.array_equal(alone, shared)


def test_says_when_a_shared_matrix_is_not_positive_definite() -> None:
    """Minus the identity in one contact only: the other branches are fine."""
    problem = wall_like(60, 20, np.random.default_rng(5))
    weight = np.tile(np.eye(3), (len(problem.a), 1, 1))
    system = make_system(problem, threads=2)
    helped(assemble_matrix, problem, system, weight)
    assert helped(lambda problem, system: factorise(system), problem, system)
    weight[1000] = -1e3 * np.eye(3)
    helped(assemble_matrix, problem, system, weight)
    assert not helped(lambda problem, system: factorise(system), problem, system)

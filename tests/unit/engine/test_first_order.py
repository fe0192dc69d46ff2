"""Parts of the first-order methods: the reduced form against dense matrices, one contact against its law written out, bounds
against errors, stops."""

import typing

import numpy as np
import pytest

from drystone.engine.solvers.cone import project
from drystone.engine.solvers.first_order.gauss_seidel import gauss_seidel
from drystone.engine.solvers.first_order.impulse_problem import diagonal_blocks, duality_gap, product_into, slip_into
from drystone.engine.solvers.first_order.nlgs import nlgs
from drystone.engine.solvers.first_order.single_contact import local_impulse
from drystone.engine.solvers.first_order.spectral_gradient import spectral
from drystone.engine.solvers.methods import METHODS, SPATIAL, make_solver
from drystone.engine.solvers.native import native
from drystone.engine.solvers.residual import grade
from drystone.io.case_tables import SolverTable
from tests.properties.test_random_problems import cold, feasible, random_case
from tests.unit.engine.test_factorisation import dense_rows, random_problem


def dense_delassus(problem):
    return dense_rows(problem) @ dense_rows(problem).T + np.diag(np.repeat(problem.compliance, 3))


def objective(problem, impulse) -> float:
    """The static program (T11), dense."""
    r, rest = impulse.ravel(), (problem.bias - problem.compliance[:, None] * problem.memory).ravel()
    return float(0.5 * r @ dense_delassus(problem) @ r + r @ (dense_rows(problem) @ problem.free.ravel() + rest))


def test_reduced_form_is_the_dense_one() -> None:
    rng = np.random.default_rng(0)
    problem = random_problem(5, 12, rng)._replace(compliance=rng.random(12), memory=rng.standard_normal((12, 3)))
    big, r, x, out = dense_delassus(problem), rng.standard_normal((12, 3)), np.empty((5, 6)), np.empty((12, 3))
    product_into(problem, r, x, out)
    assert np.allclose(out.ravel(), big @ r.ravel())
    assert np.allclose(diagonal_blocks(problem), [big[k : k + 3, k : k + 3] for k in range(0, 36, 3)])
    slip_into(problem, r, x, out)
    assert np.allclose(x.ravel(), problem.free.ravel() + dense_rows(problem).T @ r.ravel())
    slip = dense_rows(problem) @ x.ravel() + problem.bias.ravel() + (problem.compliance[:, None] * (r - problem.memory)).ravel()
    assert np.allclose(out.ravel(), slip)


def local_case(kind: str, rng: np.random.Generator):
    """W, slip, friction, dilatancy, impulse of one contact."""
    half = rng.standard_normal((3, 3))
    if kind == "plane":
        half[2] = 0.0
    if kind == "nearly singular":
        half[2] = half[1] + 1e-5 * half[2]
    w = half @ half.T
    w += 1e-9 * np.trace(w) / 3 * np.eye(3)
    mu = float(rng.choice([0.0, 0.3, 0.8, 3.0]))
    psi = mu * float(rng.choice([0.0, 0.4, 1.0]))
    impulse = np.array(project(*rng.standard_normal(3), mu)) * rng.integers(0, 2)
    return w, rng.standard_normal(3), mu, psi, impulse


@pytest.mark.parametrize("kind", ["any", "plane", "nearly singular"])
def test_a_contact_by_itself_keeps_its_law(kind: str) -> None:
    """Truth: Coulomb's law with dilatancy, each condition by itself."""
    rng = np.random.default_rng(3)
    for _ in range(3000):
        w, slip, mu, psi, old = local_case(kind, rng)
        r = np.array(local_impulse(w, *slip, mu, psi, *old))
        v = slip + w @ (r - old)
        small = 1e-7 * (np.linalg.norm(slip) + np.linalg.norm(w) * np.linalg.norm(old))
        light = small * 3 / np.trace(w) + 1e-7 * np.linalg.norm(r)
        opening, sliding = v[0] - psi * np.hypot(v[1], v[2]), np.hypot(v[1], v[2])
        assert np.hypot(r[1], r[2]) <= mu * r[0] * (1 + 1e-12)
        assert opening >= -small
        assert min(opening, r[0] * np.trace(w) / 3) <= small
        assert sliding <= small or np.allclose(r[1:] * sliding, -mu * r[0] * v[1:], rtol=0, atol=max(sliding, 1.0) * light)


@pytest.mark.parametrize("seed", range(20))
def test_the_duality_gap_bounds_the_error(seed: int) -> None:
    """(T21) at impulses near and far. Truth: native at 1e-10."""
    rng = np.random.default_rng(seed)
    problem = random_case(8 + 16 * seed)  # plain, compliant
    exact = native(1e-10)(problem, cold(problem))
    assert exact.converged
    for far in (1.0, 1e-2, 1e-4):
        moved = exact.impulse + far * rng.standard_normal(exact.impulse.shape)
        impulse = np.array([project(*z, mu) for z, mu in zip(moved, problem.friction, strict=True)])
        x, slip = np.empty_like(problem.free), np.empty_like(impulse)
        slip_into(problem, impulse, x, slip)
        assert np.linalg.norm(x - exact.velocity) <= np.sqrt(duality_gap(problem, x, impulse)) + 1e-9


def test_no_impulse_is_no_proof() -> None:
    """Free motion into a rigid contact: momentum is balanced, impulse . slip is nothing, and yet it is wrong."""
    problem = random_case(3)
    problem = problem._replace(bias=problem.bias - np.array([5.0, 0.0, 0.0]))
    assert grade(problem, problem.free, np.zeros((1, 3))).error > 0.1


@pytest.mark.parametrize("stretch", [1.0, 20.0])
def test_gauss_seidel_never_rises(stretch: float) -> None:
    """Nor where the normal rows outweigh the tangents, and 3 / trace alone would step too far."""
    rng = np.random.default_rng(2)
    problem = random_problem(4, 9, rng)
    problem.row_a[:, 0] *= stretch
    problem.row_b[:, 0] *= stretch
    problem = feasible(problem, rng)
    values = [objective(problem, gauss_seidel(1e-9, sweeps)(problem, cold(problem)).impulse) for sweeps in range(1, 40)]
    assert np.all(np.diff(values) <= 1e-12 * abs(values[-1]))
    assert gauss_seidel(1e-9)(problem, cold(problem)).converged


@pytest.mark.parametrize("make", [gauss_seidel, spectral, nlgs])
def test_stops(make) -> None:
    problem = random_case(0)
    answer = make(1e-8)(problem, cold(problem))
    assert answer.converged
    again = make(1e-8)(problem, cold(problem)._replace(impulse=answer.impulse))
    assert (again.factorisations, again.converged) == (0, True)
    few = make(1e-8, 7)(problem, cold(problem))
    assert (few.factorisations, few.converged) == (7, False)
    late = make(1e-30, 10**9, time_limit=0.1)(problem, cold(problem))  # so many sweeps would take hours
    assert not late.converged
    assert late.factorisations < 10**9


def test_a_case_knows_the_methods() -> None:
    assert typing.get_args(SolverTable.model_fields["method"].annotation) == METHODS
    problem = random_case(0)
    for method in SPATIAL[3:]:
        assert make_solver(method)(problem, cold(problem)).path == method

"""Native and Clarabel on random small problems, rigid and compliant: the velocity is unique, so it must be the same."""

import numpy as np
import pytest

from drystone.problem import Problem, relative_velocity
from drystone.solvers import clarabel
from drystone.solvers.native import native
from drystone.solvers.solution import Guess
from tests.unit.test_factor import random_problem


def cold(problem: Problem) -> Guess:
    """A guess that knows nothing."""
    count = len(problem.a)
    return Guess(np.zeros((len(problem.free), 6)), np.zeros((count, 3)), np.zeros((count, 3)), 0)


def difference(problem: Problem, one, other) -> float:
    """Mass-weighted rms of the velocity difference, in units of g h (1 here)."""
    return float(np.linalg.norm(one.velocity - other.velocity) / (problem.speed * np.sqrt(problem.total_mass)))


@pytest.mark.parametrize("compliance", [0.0, 1e-3])
@pytest.mark.parametrize("seed", range(60))
def test_all_solvers_find_the_same_velocity(seed: int, compliance: float) -> None:
    """Truth: two independent programs of Clarabel. Feasible by construction: a common velocity opens all contacts."""
    rng = np.random.default_rng(seed)
    bodies = int(rng.integers(1, 12))
    problem = random_problem(bodies, int(rng.integers(1, 5 * bodies + 2)), rng)
    problem = feasible(problem, rng)._replace(compliance=np.full(len(problem.a), compliance))
    if seed % 5 == 0:
        problem = problem._replace(friction=np.zeros(len(problem.a)), dilatancy=np.zeros(len(problem.a)))
    found = native(1e-7)(problem, cold(problem))
    truth = clarabel.kinematic(1e-11)(problem, cold(problem))
    check = clarabel.static(1e-11)(problem, cold(problem))
    assert found.converged
    assert difference(problem, truth, check) < 1e-5
    assert difference(problem, found, truth) < 1e-5


def feasible(problem: Problem, rng: np.random.Generator) -> Problem:
    """Shift the bias so that some velocity has every contact strictly inside K*: random rows alone may contradict."""
    y = rng.standard_normal(problem.free.shape)
    w = relative_velocity(problem, y)
    need = problem.friction * np.hypot(w[:, 1], w[:, 2]) + 0.1 - w[:, 0]
    bias = problem.bias.copy()
    bias[:, 0] += np.maximum(need, 0.0)
    return problem._replace(bias=bias)


def test_no_contacts_is_free_motion() -> None:
    problem = random_problem(3, 0, np.random.default_rng(0))
    answer = native()(problem, cold(problem))
    assert answer.converged
    assert answer.path == "free"
    assert np.allclose(answer.velocity, problem.free)


def test_duplicated_contacts_change_nothing() -> None:
    """Velocities are unique whatever the number of copies of a contact."""
    rng = np.random.default_rng(1)
    problem = feasible(random_problem(6, 15, rng), rng)
    twice = np.repeat(np.arange(15), 4)
    by_contact = ("a", "b", "row_a", "row_b", "bias", "friction", "dilatancy", "compliance", "memory")
    copied = problem._replace(**{name: getattr(problem, name)[twice] for name in by_contact})
    assert difference(problem, native(1e-8)(problem, cold(problem)), native(1e-8)(copied, cold(copied))) < 1e-6

"""The cascade of the native solver is data: what it says is what runs. Truth of answers: Clarabel, and Coulomb's law as `grade`
states it."""

import numpy as np
import pytest

from drystone.engine.solvers import cascade as data
from drystone.engine.solvers.attempts import RUN, StepProblem, Systems, run_interior, run_stiffening
from drystone.engine.solvers.cascade import (
    COLD,
    GUESS,
    Clarabel,
    Descent,
    Interior,
    Newton,
    Stiffening,
    Sweeps,
    cascade,
    describe,
)
from drystone.engine.solvers.native import LEVEL, RETRY_COMPLIANT, RETRY_MOST, native, solve
from drystone.engine.solvers.residual import MARGIN, contact_mass
from tests.properties.test_random_problems import clarabel_best, cold, difference, random_case

FORMS = [(law, compliant) for law in ("associated", "coulomb") for compliant in (False, True)]
TOLERANCE = 1e-7


def step_of(seed: int, law: str = "associated") -> StepProblem:
    problem = random_case(seed)
    if law == "coulomb":
        problem = problem._replace(dilatancy=np.zeros_like(problem.friction))
    return StepProblem(problem, cold(problem), TOLERANCE, Systems(1))


@pytest.mark.parametrize(("law", "compliant"), FORMS)
def test_a_cascade_is_what_can_be_run(law, compliant):
    attempts = cascade(law, compliant)
    assert isinstance(attempts[0], Newton), "after a step in which it failed the first is left out"
    assert attempts[0].start == GUESS
    assert all(type(attempt) in RUN and attempt.start in data.STARTS for attempt in attempts)
    convex = [attempt for attempt in attempts if isinstance(attempt, Interior | Clarabel | Descent)]
    assert law == "associated" or not convex
    lines = describe(attempts).splitlines()
    assert len(lines) == len(attempts)
    assert all(data.NAMES[type(attempt)] in line for attempt, line in zip(attempts, lines, strict=True))


@pytest.mark.parametrize("seed", [0, 2, 5, 8, 10, 13, 16, 18])  # plain, rough and copied, rigid and compliant
@pytest.mark.parametrize("attempt", [Newton(), Interior(), Interior(soft=0.01), Sweeps(times=5000), Stiffening(), Clarabel(),
                                     Descent(most=100)])  # fmt: skip
def test_each_attempt_by_itself(attempt, seed):
    """Velocities are unique with associated friction."""
    step = step_of(seed)
    if isinstance(attempt, Descent) and not step.compliant:
        return
    answer = solve(step, (attempt,))
    assert not answer.converged or difference(step.problem, answer, clarabel_best(step.problem)) < 1e-5
    sure = isinstance(attempt, Stiffening) or (step.compliant and isinstance(attempt, Interior | Descent))
    assert answer.converged or not sure


@pytest.mark.parametrize("seed", range(8, 160, 16))
def test_the_interior_point_bounds_its_error_in_compliant_contact(seed):
    """Truth: native at 1e-10. Stopped early, too."""
    step = step_of(seed)
    exact = native(1e-10)(step.problem, step.guess)
    for tolerance in (1e-2, 1e-4, 1e-6):
        answer = run_interior(step._replace(tolerance=tolerance), step.guess, Interior())
        assert answer.converged
        assert difference(step.problem, answer, exact) <= answer.residual.error + 1e-9
        assert answer.residual.error <= tolerance


def test_compliance_counts_in_the_interior_point():
    """Truth: one contact, pressed by a unit of velocity: the impulse is 1 / (W + compliance), by hand."""
    problem = random_case(1 * 8 + 3)._replace(friction=np.zeros(1), dilatancy=np.zeros(1))
    problem.row_a[:], problem.row_b[:] = 0.0, 0.0
    problem.row_b[0, 0, 0] = 1.0
    problem.bias[:] = 0.0
    problem.free[:] = 0.0
    problem.free[problem.b[0], 0] = -1.0
    for compliance in (1e-6, 0.5, 3.0):
        given = problem._replace(compliance=np.array([compliance]), memory=np.zeros((1, 3)))
        answer = run_interior(StepProblem(given, cold(given), 1e-8, Systems(1)), cold(given), Interior())
        assert answer.impulse[0, 0] == pytest.approx(1 / (1 + compliance), rel=1e-6)


@pytest.mark.parametrize("seed", [0, 2, 8, 10, 16, 24])
@pytest.mark.parametrize("start", [GUESS, COLD])
def test_stiffening_keeps_coulombs_law(seed, start):
    """Truth: the law as `grade` states it (T19)."""
    step = step_of(seed, "coulomb")
    answer = solve(step, (Stiffening(start),))
    assert answer.converged
    assert answer.residual.natural_map <= MARGIN * TOLERANCE
    assert answer.residual.momentum <= MARGIN * TOLERANCE


def test_stiffening_gives_back_its_best_and_says_so():
    """With a tolerance beyond double precision nothing converges, and what comes back is finite."""
    step = step_of(0, "coulomb")._replace(tolerance=1e-25)
    answer = run_stiffening(step, step.guess, Stiffening())
    assert not answer.converged
    assert np.isfinite(answer.velocity).all()


def test_newton_is_left_out_after_it_failed():
    """As `hardship` says: once more than was waited is tried, and each failure in a row doubles the wait."""
    step = step_of(8)
    moving = step.guess._replace(velocity=np.ones_like(step.guess.velocity))
    hopeless = (Newton(), Sweeps(times=1))
    step, waits = step._replace(tolerance=1e-25, guess=moving), []
    hardship = 0
    for _ in range(100):
        answer = solve(step._replace(guess=moving._replace(hardship=hardship)), hopeless)
        assert answer.path == ("sweeps" if hardship % LEVEL else "newton+sweeps")
        if hardship % LEVEL == 0:
            waits.append(answer.hardship % LEVEL)
        hardship = answer.hardship
    assert waits[:5] == [RETRY_COMPLIANT, 2 * RETRY_COMPLIANT, 4 * RETRY_COMPLIANT, 8 * RETRY_COMPLIANT, RETRY_MOST]
    easy = solve(step._replace(tolerance=1e-3, guess=moving._replace(hardship=3 * LEVEL)))
    assert (easy.path, easy.hardship) == ("newton", 0)


def test_the_best_answer_comes_back():
    """Not the last one, if none is good enough."""
    step = step_of(8)._replace(tolerance=1e-25)
    alone = [solve(step, (attempt,)) for attempt in (Interior(), Sweeps(times=1))]
    both = solve(step, (Interior(), Sweeps(times=1)))
    assert not both.converged
    assert both.residual.error == min(answer.residual.error for answer in alone)
    assert both.path == "interior+sweeps"
    assert contact_mass(step.problem).min() > 0

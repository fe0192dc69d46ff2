"""Coulomb's law: sliding without dilatancy. Truth: closed forms, and all solutions of one contact by enumeration."""

import numpy as np
import pytest

from drystone import Motion, build, build_model
from drystone.base.units import GRAVITY
from drystone.engine.contact_laws import ContactSurface
from drystone.engine.simulation import simulate
from drystone.engine.solvers.methods import make_solver
from drystone.engine.solvers.native import native
from drystone.engine.solvers.problem import Problem, relative_velocity
from drystone.engine.solvers.residual import grade
from drystone.engine.solvers.solution import Guess
from tests.analytic.test_incline import FRICTION, axes, slope

RIGID, COMPLIANT = ContactSurface(coulomb=True), ContactSurface(30e9, coulomb=True)


@pytest.mark.parametrize("surface", [RIGID, COMPLIANT], ids=["rigid", "compliant"])
@pytest.mark.parametrize("step", [1e-3, 5e-3])
def test_a_sliding_block_leaves_no_gap(surface, step):
    """It goes g (sin a - mu cos a) t2 / 2 down the plane (first order in the step) and stays on it: the associated law would
    lift it by mu v h, 1e-3 m and more here; what is left is the compliance (rho g h / E, 1e-7 m)."""
    angle = np.deg2rad(40.0)
    model, (down, out) = slope(angle), axes(angle)
    *_, last = simulate(model, duration=0.5, time_step=step, solver=native(), surface=surface)
    moved = (last.state.position - model.position)[1]
    rate = GRAVITY * (np.sin(angle) - FRICTION * np.cos(angle))
    assert last.solution.converged
    assert abs(out @ moved) < 1e-6
    assert down @ last.state.velocity[1, :3] == pytest.approx(0.5 * rate, rel=1e-4)


def test_both_laws_meet_as_the_step_shrinks():
    """NB remark 5. A wall slides on its base; the difference of the two laws falls with the step, at first order or faster."""
    motion = Motion("one-sine", amplitude=0.8 * GRAVITY, half_period=0.1, direction=(1, 0, 0))
    model = build_model(build.wall(length=1.5, height=0.6, courses=3, blocks=3), friction=0.3)
    apart = []
    for step in (4e-3, 1e-3):
        ends = []
        for surface in (ContactSurface(), RIGID):
            steps = list(simulate(model, [motion], duration=0.2, time_step=step, solver=native(), surface=surface))
            assert all(s.solution.converged for s in steps)
            ends.append(steps[-1].state.position)
        apart.append(np.abs(ends[0] - ends[1]).max())
    assert apart[0] > 1e-5
    assert apart[-1] < 0.3 * apart[0]


def one_contact(wnn, wtt, wnt, qn, qt, mu) -> Problem:
    """A plane contact with W = [[wnn, wnt], [wnt, wtt]]: rows are a root of W."""
    root = np.linalg.cholesky(np.array([[wnn, wnt], [wnt, wtt]]))
    row = np.zeros((1, 3, 6))
    row[0, :2, :2] = root
    friction = np.array([mu])
    return Problem(
        np.array([-1]), np.array([0]), np.zeros((1, 3, 6)), row, np.array([[qn, qt, 0.0]]), friction, np.zeros(1), np.zeros(1),
        np.zeros((1, 3)), np.zeros((1, 6)), np.ones(1), np.zeros((1, 3)), 1.0, 1.0,
    )  # fmt: skip


def all_solutions(wnn, wtt, wnt, qn, qt, mu) -> list[tuple[float, float]]:
    """Every (n, t): open, stick, and sliding both ways."""
    found = [(0.0, 0.0)] if qn >= 0 else []
    n, t = np.linalg.solve([[wnn, wnt], [wnt, wtt]], [-qn, -qt])
    if n >= 0 and abs(t) <= mu * n:
        found.append((n, t))
    for sign in (1, -1):  # friction along sign, sliding against it
        slope = wnn + sign * mu * wnt
        n = -qn / slope if slope != 0 else np.inf
        if 0 <= n < np.inf and sign * (wnt * n + wtt * sign * mu * n + qt) <= 0:
            found.append((n, sign * mu * n))
    return found


@pytest.mark.parametrize("method", ["native", "nlgs"])
def test_painleve_contacts_answer_or_say_they_have_none(method):
    """Strong friction and strong coupling of normal and tangent, as in Painleve's rod (mu |wnt| > wnn): some of these have no
    solution or three. What is called converged is one of them."""
    rng, solver = np.random.default_rng(7), make_solver(method, 1e-8)
    solved = painleve = none = 0
    for _ in range(300):
        wnn, wtt = rng.uniform(0.5, 2.0, 2)
        wnt = rng.uniform(-0.95, 0.95) * np.sqrt(wnn * wtt)
        qn, qt, mu = rng.normal(), rng.normal(), rng.uniform(0.0, 4.0)
        problem = one_contact(wnn, wtt, wnt, qn, qt, mu)
        known = all_solutions(wnn, wtt, wnt, qn, qt, mu)
        answer = solver(problem, Guess(np.zeros((1, 6)), np.zeros((1, 3)), 0))
        n, t = answer.impulse[0, :2]
        painleve += mu * abs(wnt) > wnn
        none += not known
        solved += answer.converged
        if answer.converged:
            assert known, (wnn, wtt, wnt, qn, qt, mu)
            assert min(np.hypot(n - a, t - b) for a, b in known) < 1e-5 * max(1.0, np.hypot(n, t))
    assert painleve > 50
    assert solved >= 0.97 * (300 - none)


def test_the_moving_wall_obeys_the_exact_law():
    """On steps of a wall that slides: a sliding joint closes (u_n = 0 where it presses), friction opposes sliding. This law
    has no convex program behind it, and whether a step of so strong a motion converges is up to the last bits: what is called
    converged obeys, and so are 95 of 100."""
    model = build_model(build.wall(length=1.5, height=1.0, courses=4, blocks=3), friction=0.3)
    motion = Motion("half-sine", amplitude=6.0, half_period=0.1, direction=(1.0, 0.4, 0.0))
    solve, seen, said = native(), 0, []

    def watch(problem, guess):
        nonlocal seen
        answer = solve(problem, guess)
        said.append(answer.converged)
        if not answer.converged:
            return answer
        w, r = relative_velocity(problem, answer.velocity), answer.impulse
        sliding = (np.hypot(w[:, 1], w[:, 2]) > 1e-2) & (r[:, 0] > 1e-3)
        seen += sliding.sum()
        if sliding.any():
            assert np.abs(w[sliding, 0]).max() < 1e-6
            assert np.abs((r[:, 1:] * w[:, 1:]).sum(axis=1) + 0.3 * r[:, 0] * np.hypot(w[:, 1], w[:, 2]))[sliding].max() < 1e-5
        assert grade(problem, answer.velocity, answer.impulse).natural_map < 1e-5
        return answer

    for _ in simulate(model, [motion], duration=0.15, time_step=1e-3, solver=watch, surface=RIGID):
        pass
    assert seen > 500
    assert np.mean(said) > 0.95

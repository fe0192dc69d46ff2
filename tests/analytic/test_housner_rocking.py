"""Free rocking of one block (H1). Truth: Housner's equation (NB eq. 23), integrated from impact to impact by an adaptive
Runge-Kutta scheme with events, and his angular-velocity ratio r = (1 + 3 cos 2 alpha) / 4.

Every discrete impact loses about two steps' worth of gravity: the step in which the free edge would touch is solved as
if the block stood on the new edge from the step's start. Impact times are therefore early, by an amount of first order
in the time step; `one_degree_of_freedom` shows that the scheme and not the contact solver makes it so.
"""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from drystone import build, build_model
from drystone.simulate import initial_state, simulate
from drystone.solvers.native import native
from drystone.units import GRAVITY

IMPACTS = 6
HALF_WIDTH = 0.30
NB = (1.0, np.deg2rad(15))  # half height and tilt of NB section 4.1
GRID = [  # slenderness h / b and tilt [rad]: 2 degrees to 0.9 alpha
    (2.0, np.deg2rad(2)),
    (2.0, 0.9 * np.arctan(1 / 2)),
    (4.0, np.deg2rad(2)),
    (4.0, 0.9 * np.arctan(1 / 4)),
    (8.0, np.deg2rad(2)),
]


class Rocking(NamedTuple):
    step: float  # [s]
    angle: np.ndarray  # (S+1,) [rad] from the upright
    spin: np.ndarray  # (S+1,) [rad/s]
    energy: np.ndarray  # (S+1,) [J]
    base: np.ndarray  # (S+1, 4, 3) [m] corners of the base
    lift: np.ndarray  # (S, 2) [-] upward impulse at the edges x < 0 and x > 0 over that of gravity, in each step
    converged: np.ndarray  # (S,)


def coefficients(half_height):
    """alpha, p^2 and r of NB eq. 23."""
    alpha = np.arctan2(HALF_WIDTH, half_height)
    return alpha, 3 * GRAVITY / (4 * np.hypot(HALF_WIDTH, half_height)), (1 + 3 * np.cos(2 * alpha)) / 4


def event_driven(half_height, tilt):
    """(6,) [s] impact times."""
    alpha, p2, r = coefficients(half_height)
    time, angle, spin, times = 0.0, tilt, 0.0, []
    for k in range(IMPACTS):
        side = 1.0 if k % 2 == 0 else -1.0

        def upright(t, y):
            return y[0]

        upright.terminal, upright.direction = True, -side
        half_cycle = solve_ivp(
            lambda t, y, side=side: [y[1], -p2 * np.sin(alpha * side - y[0])],
            (time, time + 100.0), [angle, spin], events=upright, rtol=1e-11, atol=1e-13, first_step=1e-6,
        )  # fmt: skip
        time, angle, spin = half_cycle.t_events[0][-1], 0.0, r * half_cycle.y_events[0][-1][1]
        times.append(time)
    return np.array(times)


def one_degree_of_freedom(half_height, tilt, step):
    """(6,) [s] impact times of NB's scheme reduced by hand to the one angle: an impact, then gravity about the new edge,
    in the step in which the angle would change its sign."""
    alpha, p2, r = coefficients(half_height)
    angle, spin, side, k, times = tilt, 0.0, 1.0, 0, []
    while len(times) < IMPACTS:
        new = spin - step * p2 * np.sin(alpha * side - angle)
        if (angle + step * new) * side < 0:
            times.append(k * step - angle / spin)
            side = -side
            new = r * spin - step * p2 * np.sin(alpha * side - angle)
        angle, spin, k = angle + step * new, new, k + 1
    return np.array(times)


def rock(half_height, tilt, step, duration) -> Rocking:
    blocks = build.block(width=2 * HALF_WIDTH, depth=2 * HALF_WIDTH, height=2 * half_height, tilt=tilt)
    model = build_model(blocks, friction=2.0)
    start = initial_state(model)
    steps = list(simulate(model, duration=duration, time_step=step, solver=native()))
    states = [start] + [s.state for s in steps]
    turn = np.array([s.rotation[1] for s in states])
    angle = tilt + 2 * np.arctan2(turn[:, 2], turn[:, 0])
    arm = model.bodies.vertex[model.bodies.vertex_start[1] :][:4]  # body axes are world axes at the start
    c, s = np.cos(angle - tilt), np.sin(angle - tilt)
    rotation = np.zeros((len(angle), 3, 3))
    rotation[:, 0, 0], rotation[:, 0, 2], rotation[:, 1, 1], rotation[:, 2, 0], rotation[:, 2, 2] = c, s, 1.0, -s, c
    return Rocking(
        step,
        angle,
        np.array([s.velocity[1, 4] for s in states]),
        np.array([s.energy.kinetic + s.energy.potential + s.energy.elastic for s in states]),
        np.array([s.position[1] for s in states])[:, None] + np.einsum("sij,kj->ski", rotation, arm),
        np.array([edge_lift(s.state.contacts) for s in steps]) / (model.bodies.mass[1] * GRAVITY * step),
        np.array([s.solution.converged for s in steps]),
    )


def edge_lift(contacts):
    right = contacts.point[:, 0] > 0
    return contacts.impulse[~right, 2].sum(), contacts.impulse[right, 2].sum()


def impacts(run: Rocking):
    """(6,) number of the last state before the angle changes its sign, and (6,) [s] when it would have, going on."""
    last = np.flatnonzero(run.angle[1:] * run.angle[:-1] < 0)[:IMPACTS]
    return last, last * run.step - run.angle[last] / run.spin[last]


def ratios(run: Rocking, half_height):
    """(6,) angular velocity after over before the impact. Before: the last step before the angle changes its sign. After:
    two steps on (an impact takes two: the first closes the gap, the second stops the edge), less what gravity and the
    weight still on the old edge do in these two steps by their moment about the new edge: that is not the impact."""
    alpha, p2, _ = coefficients(half_height)
    last, _ = impacts(run)
    side = np.sign(run.angle[last])  # a positive angle: on the edge x > 0
    old_edge = np.where(side > 0, 1, 0)
    weight = run.lift[last, old_edge] + run.lift[last + 1, old_edge]  # state k + 1 ends step k
    assert weight.max() < 2.001  # the old edge carries weight at most, no part of the impact: Housner's hypothesis
    return (run.spin[last + 2] - run.step * p2 * np.sin(alpha) * side * (2 - 2 * weight)) / run.spin[last]


@pytest.fixture(scope="module")
def nb_rocking():
    truth = event_driven(*NB)
    return rock(*NB, 1e-3, truth[-1] + 0.02), truth


@pytest.fixture(scope="module", params=GRID, ids=lambda case: f"{case[0]:g}-{np.rad2deg(case[1]):.1f}deg")
def grid_rocking(request):
    slenderness, tilt = request.param
    half_height = slenderness * HALF_WIDTH
    truth = event_driven(half_height, tilt)
    return half_height, tilt, rock(half_height, tilt, 1e-3, truth[-1] + 0.02), truth


@pytest.mark.xfail(strict=True, reason="H1 at dt 1e-3: 1.6 % early at the sixth impact; the scheme's first-order error")
def test_impact_times_of_nb_within_one_per_cent(nb_rocking):
    run, truth = nb_rocking
    np.testing.assert_allclose(impacts(run)[1], truth, rtol=0.01)


def test_impact_times_of_nb_at_a_tenth_of_a_millisecond():
    """The bar of 0.3 %, over six impacts."""
    truth = event_driven(*NB)
    run = rock(*NB, 1e-4, truth[-1] + 0.02)
    np.testing.assert_allclose(impacts(run)[1], truth, rtol=0.003)
    assert abs(ratios(run, NB[0]) - coefficients(NB[0])[2]).max() < 1e-3
    assert np.diff(run.energy).max() <= 1e-6 * run.energy[0]
    assert run.converged.all()


def test_impact_times_are_those_of_the_scheme(nb_rocking):
    """Truth: NB's scheme by hand with one unknown. It differs in the angle at which an impact leaves the block (half a step
    of turning), so the comparison is to 0.2 %, eight times closer than the event-driven times."""
    run, _ = nb_rocking
    np.testing.assert_allclose(impacts(run)[1], one_degree_of_freedom(*NB, 1e-3), rtol=2e-3)


def test_impact_times_are_of_first_order(nb_rocking):
    """Error of the sixth impact: below 2 % at 1e-3; with a quarter of the step below 0.6 of it. (It depends on where in the
    step the impacts fall, so a rate is not asked for.)"""
    run, truth = nb_rocking
    fine = rock(*NB, 2.5e-4, truth[-1] + 0.02)
    coarse_error, fine_error = (abs(impacts(r)[1][-1] / truth[-1] - 1) for r in (run, fine))
    assert coarse_error < 0.02
    assert fine_error < 0.6 * coarse_error


def test_angle_before_the_first_impact_is_of_first_order():
    """Truth: eq. 23 up to 0.9 s, before the impact at 1.12 s; the error halves with the step."""
    half_height, tilt = NB
    alpha, p2, _ = coefficients(half_height)
    exact = solve_ivp(lambda t, y: [y[1], -p2 * np.sin(alpha - y[0])], (0, 0.9), [tilt, 0.0], rtol=1e-12, atol=1e-14)
    errors = np.array([rock(half_height, tilt, h, 0.9).angle[-1] - exact.y[0, -1] for h in (2e-3, 1e-3, 5e-4)])
    assert abs(errors[-1]) < 1e-3
    np.testing.assert_allclose(errors[:-1] / errors[1:], 2.0, atol=0.1)


def test_nb_loses_angular_velocity_by_housner(nb_rocking):
    run, _ = nb_rocking
    assert abs(ratios(run, NB[0]) - coefficients(NB[0])[2]).max() < 1e-3


def test_nb_does_not_gain_energy_or_slide(nb_rocking):
    check_energy_and_edges(nb_rocking[0])


def test_first_impact_of_the_grid(grid_rocking):
    """Before any impact only the integration counts: half a step early, here within 0.5 %."""
    _, _, run, truth = grid_rocking
    np.testing.assert_allclose(impacts(run)[1][0], truth[0], rtol=0.005)


def test_impact_times_of_the_grid_are_those_of_the_scheme(grid_rocking):
    half_height, tilt, run, _ = grid_rocking
    assert len(impacts(run)[0]) == IMPACTS
    np.testing.assert_allclose(impacts(run)[1], one_degree_of_freedom(half_height, tilt, 1e-3), rtol=0.012)


def test_ratio_of_the_grid(grid_rocking):
    """The bar of 0.01."""
    half_height, _, run, _ = grid_rocking
    assert abs(ratios(run, half_height) - coefficients(half_height)[2]).max() < 0.01


def test_grid_does_not_gain_energy_or_slide(grid_rocking):
    check_energy_and_edges(grid_rocking[2])


def check_energy_and_edges(run: Rocking):
    """Energy is never created (1e-6 of all of it); an edge on the ground stays where it was and does not sink."""
    assert run.converged.all()
    assert np.diff(run.energy).max() <= 1e-6 * run.energy[0]
    down = run.base[..., 2] < 1e-6
    assert run.base[..., 2].min() > -1e-8
    assert abs(abs(run.base[..., 0][down]) - HALF_WIDTH).max() < 5e-5
    assert abs(run.base[..., 1].mean(axis=1)).max() < 1e-8

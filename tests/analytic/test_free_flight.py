"""Bodies without contact. Truth: closed forms, Euler's equations by a high-order Runge-Kutta scheme, convergence rates."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from drystone import build_model
from drystone.base import quaternion
from drystone.base.units import GRAVITY
from drystone.build.shapes import box
from drystone.engine.simulation import initial_state, simulate
from drystone.engine.solvers.native import native


def lone_block(size=(0.3, 1.0, 2.0)):
    """A block of three different moments of inertia, far above a support."""
    ground = box((-1, -1, -501), (1, 1, -500), fixed=True)
    return build_model([ground, box(tuple(-s / 2 for s in size), tuple(s / 2 for s in size))], friction=0.5)


def fly(model, velocity, duration, step, **options):
    start = initial_state(model)
    moving = start.velocity.copy()
    moving[1] = velocity
    return [s.state for s in simulate(
        model, duration=duration, time_step=step, solver=native(), state=start._replace(velocity=moving), **options
    )]  # fmt: skip


@pytest.mark.parametrize("theta", [1.0, 0.75, 0.5])
def test_thrown_block(theta):
    """Velocity v0 + g t at every step; position v0 t + g t2 / 2 + (theta - 1/2) g h t, exact for theta = 1/2."""
    launch, h = np.array([1.0, -2.0, 3.0]), 1e-2
    for state in fly(lone_block(), [*launch, 0, 0, 0], 1.0, h, theta=theta):
        t, gravity = state.time, np.array([0, 0, -GRAVITY])
        np.testing.assert_allclose(state.velocity[1, :3], launch + gravity * t, rtol=1e-12, atol=1e-12)
        exact = launch * t + gravity * t**2 / 2 + (theta - 0.5) * gravity * h * t
        np.testing.assert_allclose(state.position[1], exact, atol=1e-11)


def test_weightless_block_keeps_its_velocity():
    """Newton's first law; g h is not the only scale of velocities."""
    last = fly(lone_block(), [1.0, 2.0, 3.0, 0, 0, 0], 0.1, 1e-2, gravity=0.0)[-1]
    np.testing.assert_allclose(last.position[1], [0.1, 0.2, 0.3], atol=1e-14)


# Turning about the intermediate axis y, slightly off: it tumbles (Dzhanibekov).
SPIN = np.array([1e-2, 5.0, 1e-2])


def principal(model):
    return np.diag(model.bodies.inertia[1])


def euler(model, duration):
    """Rotation matrices' quaternion and spin in body axes after the duration, rtol 1e-12."""
    moment = principal(model)

    def rate(t, y):
        q, w = y[:4], y[4:]
        spin = np.array([0.0, *w])
        return np.concatenate([0.5 * quaternion.product(q, spin), -np.cross(w, moment * w) / moment])

    return solve_ivp(rate, (0, duration), [1.0, 0, 0, 0, *SPIN], method="DOP853", rtol=1e-12, atol=1e-13, dense_output=True).sol


def angular_momentum(model, state):
    q = state.rotation[1]
    body = quaternion.rotate(quaternion.conjugate(q), state.velocity[1, 3:])
    return quaternion.rotate(q, principal(model) * body)


def angle_between(q, other):
    return 2 * np.linalg.norm(quaternion.product(quaternion.conjugate(q), other / np.linalg.norm(other))[1:])


def test_angular_momentum_is_kept():
    """The implicit form solves J(end) omega(end) = J(start) omega(start): to rounding, over 1,000 steps."""
    model = lone_block()
    states = fly(model, [0, 0, 0, *SPIN], 3.0, 3e-3)
    first = principal(model) * SPIN
    for state in states[::50]:
        assert np.linalg.norm(angular_momentum(model, state) - first) < 1e-12 * np.linalg.norm(first)


def test_turns_over_about_the_intermediate_axis():
    """The spin along the body's own y changes its sign, when Euler's equations say so (within 2 %)."""
    model = lone_block()
    exact = euler(model, 5.0)
    time = np.linspace(0, 5.0, 50001)
    turn_over = time[np.argmax(exact(time)[5] < 0)]
    assert 0.5 < turn_over < 4.0
    states = fly(model, [0, 0, 0, *SPIN], 1.1 * turn_over, 1e-3)
    along = [quaternion.rotate(quaternion.conjugate(s.rotation[1]), s.velocity[1, 3:])[1] for s in states]
    assert states[int(np.argmax(np.array(along) < 0))].time == pytest.approx(turn_over, rel=0.02)


@pytest.mark.parametrize(
    ("theta", "gyroscopic", "order"),
    [(1.0, "implicit", 1), (0.5, "implicit", 2), (0.5, "explicit", 1)]
    + [pytest.param(*case, marks=pytest.mark.soak) for case in ((0.75, "implicit", 1), (1.0, "explicit", 1))],
)
def test_order_of_spin(theta, gyroscopic, order):
    """Orientation after 0.5 s against Euler's equations. NB's inertia, taken in the middle of the step, is of second order;
    with theta above 1/2, or with the couple of the start of the step, the error halves with the step only."""
    model = lone_block()
    exact = euler(model, 0.5)(0.5)[:4]
    errors = []
    for h in (4e-3, 2e-3, 1e-3):
        last = fly(model, [0, 0, 0, *SPIN], 0.5, h, gyroscopic=gyroscopic, theta=theta)[-1]
        errors.append(angle_between(last.rotation[1], exact))
    errors = np.array(errors)
    assert errors[-1] < (1e-6 if order == 2 else 1e-4)
    np.testing.assert_allclose(np.log2(errors[:-1] / errors[1:]), order, atol=0.1)

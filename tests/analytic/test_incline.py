"""A block on a tilted plane, mu 0.5. Truth: it rests below the friction angle, slides at g (sin a - mu cos a) above it.

The associated law makes a sliding block rise by mu v h a step; the gap then holds it there, so the rise does not add up
(NB section 3): the gap is at most mu v h here, and the bar is twice that.
"""

import numpy as np
import pytest

from drystone import Block, build_model
from drystone.base.units import GRAVITY
from drystone.build.shapes import box
from drystone.engine.simulation import initial_state, simulate
from drystone.engine.solvers.native import native

FRICTION = 0.5


def turned(block: Block, angle):
    """The block turned about y so that +x goes down."""
    c, s = np.cos(angle), np.sin(angle)
    return Block(block.vertices @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]).T, block.faces, fixed=block.fixed)


def slope(angle):
    plane = box((-2, -1, -0.5), (12, 1, 0), fixed=True)
    return build_model([turned(plane, angle), turned(box((-0.4, -0.3, 0), (0.4, 0.3, 0.3)), angle)], friction=FRICTION)


def axes(angle):
    """Down the slope, and out of it."""
    return np.array([np.cos(angle), 0, -np.sin(angle)]), np.array([np.sin(angle), 0, np.cos(angle)])


@pytest.mark.parametrize("theta", [pytest.param(1.0, marks=pytest.mark.soak), 0.5])
def test_rests_just_below_the_friction_angle(theta):
    """tan a = 0.999 mu: within 0.1 % of the limit it does not move."""
    model = slope(np.arctan(0.999 * FRICTION))
    for step in simulate(model, duration=1.0, time_step=1e-3, solver=native(), theta=theta):
        assert step.solution.converged
    assert abs(step.state.position - model.position).max() < 1e-6
    assert abs(step.state.velocity).max() < 1e-6


def test_slides_just_above_the_friction_angle():
    """tan a = 1.001 mu: its acceleration is 0.1 % of mu g cos a, and it has gone a t2 / 2."""
    angle = np.arctan(1.001 * FRICTION)
    model = slope(angle)
    *_, last = simulate(model, duration=1.0, time_step=1e-3, solver=native())
    down, _ = axes(angle)
    exact = GRAVITY * (np.sin(angle) - FRICTION * np.cos(angle))
    assert down @ last.state.velocity[1, :3] == pytest.approx(exact, rel=0.02)  # 0.02 of 0.1 % of g


@pytest.mark.parametrize(("degrees", "step"), [
    (30.0, 1e-3), (45.0, 5e-3),
    pytest.param(30.0, 5e-3, marks=pytest.mark.soak), pytest.param(45.0, 1e-3, marks=pytest.mark.soak),
])  # fmt: skip
def test_slides_at_the_coulomb_rate(degrees, step):
    angle = np.deg2rad(degrees)
    model = slope(angle)
    down, out = axes(angle)
    exact = GRAVITY * (np.sin(angle) - FRICTION * np.cos(angle))
    speed, rise = [], []
    for s in simulate(model, duration=1.0, time_step=step, solver=native()):
        assert s.solution.converged
        speed.append(down @ s.state.velocity[1, :3])
        rise.append(out @ (s.state.position[1] - model.position[1]))
    speed, rise = np.array(speed), np.array(rise)
    time = step * np.arange(1, len(speed) + 1)
    rate = np.polyfit(time[len(time) // 10 :], speed[len(time) // 10 :], 1)[0]
    assert rate == pytest.approx(exact, rel=1e-3)
    # Starting to rise, once, costs mu^2 of the speed of a step: with v_n = mu (change of v_t), v_t = a t - mu v_n.
    assert speed[-1] == pytest.approx(exact * (time[-1] - FRICTION**2 * step), rel=1e-4)
    assert (rise <= 2 * FRICTION * speed * step + 1e-9).all()
    assert rise[-1] == pytest.approx(FRICTION * speed[-1] * step, rel=0.01)  # it follows the speed: nothing is added up
    assert rise.min() > -1e-9


def test_comes_to_rest_with_the_gap_closed():
    """Thrown along level ground it stops after v2 / (2 mu g), and the gap is gone."""
    model = slope(0.0)
    start = initial_state(model)
    velocity = start.velocity.copy()
    velocity[1, 0] = 1.0
    *_, last = simulate(model, duration=0.5, time_step=1e-3, solver=native(), state=start._replace(velocity=velocity))
    moved = last.state.position[1] - model.position[1]
    assert moved[0] == pytest.approx(1.0 / (2 * FRICTION * GRAVITY), rel=5e-3)  # first order: half a step of the speed
    assert abs(moved[2]) < 1e-7
    assert abs(last.state.velocity).max() < 1e-7

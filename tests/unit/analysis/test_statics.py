"""One contact problem from rest: truths are closed forms and balance."""

import numpy as np
import pytest

from drystone import build
from drystone.analysis.statics.rigid_equilibrium import solve_equilibrium
from drystone.base.units import GRAVITY
from drystone.build.shapes import box
from drystone.engine.simulation import simulate
from drystone.engine.solvers.methods import make_solver
from drystone.ground.motion import Motion
from drystone.structure.model import build_model


def test_a_tower_bears_its_weight():
    """Balance: the foundation pushes up with the weight, and with nothing else."""
    model = build_model(build.tower(blocks_per_side=4, courses=6), friction=0.6)
    found = solve_equilibrium(model, solver=make_solver("native"))
    assert found.stands
    assert np.abs(found.acceleration).max() < 1e-3 * GRAVITY
    fixed, contacts = model.bodies.fixed, found.contacts
    push = contacts.impulse[fixed[contacts.a]].sum(axis=0) - contacts.impulse[fixed[contacts.b]].sum(axis=0)
    weight = GRAVITY * model.bodies.mass[~fixed].sum()
    np.testing.assert_allclose(push / weight, [0.0, 0.0, 1.0], atol=1e-5)


@pytest.mark.parametrize(("friction", "stands"), [(0.27, True), (0.26, False)])
def test_a_block_slides_off_a_slope_beyond_the_angle_of_friction(friction, stands):
    """tan(15 degrees) = 0.2679. The slope is a tilted block that is fixed, with a cube on top."""
    slope, cube = _on_a_slope(np.deg2rad(15))
    found = solve_equilibrium(build_model([slope, cube], friction=friction), solver=make_solver("native"))
    assert found.stands == stands


def test_a_leaning_block_starts_as_a_pendulum_upside_down():
    """Rigid body turning about its edge: angular acceleration m g b cos(..) / I_edge, closed form."""
    width, height, tilt = 0.6, 2.0, 0.05
    model = build_model(build.block(width=width, height=height, tilt=tilt), friction=2.0)
    found = solve_equilibrium(model, solver=make_solver("native"))
    radius, slender = np.hypot(width, height) / 2, np.arctan(width / height)
    truth = 3 * GRAVITY / (4 * radius) * np.sin(slender - tilt)
    assert not found.stands
    assert np.linalg.norm(found.acceleration[1, 3:]) == pytest.approx(truth, rel=2e-3)


def _on_a_slope(angle):
    turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    foundation, cube = build.block(width=1.0, depth=1.0, height=1.0)
    return [type(each)(each.vertices @ turn.T, each.faces, fixed=each.fixed, name=each.name) for each in (foundation, cube)]


def test_a_settled_support_takes_its_column_along():
    """Two columns on supports of their own; one goes down by 30 mm in 0.3 s and its column follows, the other stays."""
    stones = []
    for k, x in enumerate((0.0, 2.0)):
        stones.append(box((x, 0, -0.5), (x + 1, 1, 0), fixed=True, name=f"support-{k}"))
        stones += [box((x, 0, i), (x + 1, 1, i + 1), name=f"drum-{k}-{i}") for i in range(3)]
    model = build_model(stones, friction=0.6)
    motion = Motion("settlement", displacement_amplitude=0.03, duration=0.3, direction=(0, 0, -1), supports=("support-1",))
    *_, last = simulate(model, [motion], duration=0.4, time_step=2e-3, solver=make_solver("native"))
    down = model.position[:, 2] - last.state.position[:, 2]
    np.testing.assert_allclose(down, [0, 0, 0, 0, 0.03, 0.03, 0.03, 0.03], atol=1e-6)

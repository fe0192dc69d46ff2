"""Loads in space and in time: truths are closed forms."""

import numpy as np
import pytest

from drystone import build
from drystone.build.shapes import box
from drystone.errors import InputError
from drystone.io.case import parse_case
from drystone.loads import Push, wrench
from drystone.model import build_model
from drystone.simulate import simulate
from drystone.solvers.methods import make_solver
from drystone.statics.equilibrium import equilibrium
from drystone.units import GRAVITY

QUARTER = np.array([np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0])  # about y: z becomes x, x becomes -z


def cube(friction=0.5, planar=False):
    """1 x 1 x 1 m on a slab, 2000 kg."""
    return build_model(build.block(width=1.0, depth=1.0, height=1.0, density=2000.0), friction=friction, planar=planar)


def afloat():
    """A cube of 2000 kg far above a support."""
    far, body = box((0, 0, -1), (1, 1, 0), fixed=True, name="far"), box((0, 0, 5), (1, 1, 6), name="body")
    return build_model([far, body], friction=0.5)


def test_a_pressure_turns_with_its_face_and_a_force_keeps_its_direction():
    """A quarter turn: 1 kPa on the top of 1 m2 pushes along -x; a force along x at the top has lost its lever."""
    model = cube()
    turn = np.array([[1.0, 0.0, 0.0, 0.0], QUARTER])
    pressure = wrench(model, [Push("block", pressure=1e3, face=(0, 0, 1))], GRAVITY, turn)
    np.testing.assert_allclose(pressure[1], [-1e3, 0, 0, 0, 0, 0], atol=1e-9)
    force = [Push("block", force=1e3, direction=(1, 0, 0), at=(0, 0, 1.0))]
    np.testing.assert_allclose(wrench(model, force, GRAVITY)[1], [1e3, 0, 0, 0, 500.0, 0], atol=1e-9)
    np.testing.assert_allclose(wrench(model, force, GRAVITY, turn)[1], [1e3, 0, 0, 0, 0, 0], atol=1e-9)


def test_a_force_moves_a_free_body_and_its_work_becomes_kinetic_energy():
    """F = m a without gravity or contact: x = F t^2 / 2 m; theta = 1/2 makes up no energy."""
    model = afloat()
    push = Push("body", force=4e3, direction=(1, 0, 0))
    *_, last = simulate(model, duration=0.5, time_step=0.01, theta=0.5, gravity=0.0, loads=[push], solver=make_solver("native"))
    energy, way = last.state.energy, 0.5 * 2.0 * 0.5**2  # 2000 kg: 2 m/s2
    assert last.state.position[1, 0] - model.position[1, 0] == pytest.approx(way, rel=1e-9)
    assert energy.ground == pytest.approx(4e3 * way, rel=1e-9)
    assert energy.kinetic == pytest.approx(4e3 * way, rel=1e-9)
    assert energy.numerical == pytest.approx(0.0, abs=1e-6)


def test_a_couple_spins_a_free_body_and_its_work_is_in_the_ledger():
    """Two opposite forces at 0.5 m from the centroid: I a = F, about the vertical, so that the arms turn out of line slowly."""
    model = afloat()
    pair = [Push("body", force=1e3, direction=(0, s, 0), at=(0.5 + 0.5 * s, 0.5, 5.5)) for s in (1, -1)]
    *_, last = simulate(model, duration=0.1, time_step=1e-3, theta=0.5, gravity=0.0, loads=pair, solver=make_solver("native"))
    inertia = 2000.0 / 6
    spin = 1e3 / inertia * 0.1  # [rad/s]
    assert last.state.velocity[1, 5] == pytest.approx(spin, rel=1e-3)
    assert last.state.energy.ground == pytest.approx(0.5 * inertia * spin**2, rel=2e-3)
    assert last.state.energy.numerical == pytest.approx(0.0, abs=1e-3 * last.state.energy.kinetic)


@pytest.mark.parametrize("planar", [False, True])
def test_a_pulled_block_slides_by_what_friction_leaves(planar):
    """a = F / m - mu g; pulled at the base, so that it does not tilt. 10 % less than friction, and it stays."""
    model, mass, solver = cube(friction=0.5, planar=planar), 2000.0, make_solver("native")
    for force, acceleration in ((0.9 * 0.5 * mass * GRAVITY, 0.0), (0.6 * mass * GRAVITY, 0.1 * GRAVITY)):
        push = Push("block", force=force, direction=(1, 0, 0), at=(0, 0, 0.0))
        *_, last = simulate(model, duration=0.2, time_step=1e-3, loads=[push], solver=solver)
        assert last.state.velocity[1, 0] == pytest.approx(acceleration * 0.2, rel=5e-3, abs=1e-6)


def test_what_is_at_rest_under_a_load_pushes_the_ground_by_weight_and_load():
    """Statics takes the same way: twice the weight."""
    model = cube()
    found = equilibrium(model, solver=make_solver("native"), loads=[Push("block", share=1.0)])
    assert found.stands
    np.testing.assert_allclose(found.contacts.impulse.sum(axis=0), [0, 0, 2 * 2000.0 * GRAVITY], atol=1.0)


def test_a_live_load_has_no_place_in_a_history():
    case = '[structure]\ngenerator = "block"\n[joints]\nfriction = 0.5\n[[load]]\non = "block"\nforce = 1e3\nlive = true\n'
    with pytest.raises(InputError, match=r'line 8: load.*no multiplier; remove live, or use "limit" or "pushover"'):
        parse_case(case + '[analysis]\nduration = "1 s"\ntime_step = "1 ms"\n', "case.toml")

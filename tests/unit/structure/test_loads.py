"""Loads in space and in time: truths are closed forms."""

import numpy as np
import pytest

from drystone import build
from drystone.analysis.dynamics import record_history, resume_history, run
from drystone.analysis.statics.rigid_equilibrium import solve_equilibrium
from drystone.base.errors import InputError
from drystone.base.units import GRAVITY
from drystone.build.shapes import box
from drystone.engine.simulation import initial_state, simulate, simulate_small_steps
from drystone.engine.small_steps.integrator import SmallSteps
from drystone.engine.solvers.methods import make_solver
from drystone.io.case import parse_case
from drystone.results.store.run_reader import read_run
from drystone.show.report.inputs import list_case_keys
from drystone.structure.loads import AppliedLoad, last_load_change, load_wrench, loads_at, mean_loads
from drystone.structure.model import build_model

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
    pressure = load_wrench(model, [AppliedLoad("block", pressure=1e3, face=(0, 0, 1))], GRAVITY, turn)
    np.testing.assert_allclose(pressure[1], [-1e3, 0, 0, 0, 0, 0], atol=1e-9)
    force = [AppliedLoad("block", force=1e3, direction=(1, 0, 0), at=(0, 0, 1.0))]
    np.testing.assert_allclose(load_wrench(model, force, GRAVITY)[1], [1e3, 0, 0, 0, 500.0, 0], atol=1e-9)
    np.testing.assert_allclose(load_wrench(model, force, GRAVITY, turn)[1], [1e3, 0, 0, 0, 0, 0], atol=1e-9)


def test_a_force_moves_a_free_body_and_its_work_becomes_kinetic_energy():
    """F = m a without gravity or contact: x = F t^2 / 2 m; theta = 1/2 makes up no energy."""
    model = afloat()
    push = AppliedLoad("body", force=4e3, direction=(1, 0, 0))
    *_, last = simulate(model, duration=0.5, time_step=0.01, theta=0.5, gravity=0.0, loads=[push], solver=make_solver("native"))
    energy, way = last.state.energy, 0.5 * 2.0 * 0.5**2  # 2000 kg: 2 m/s2
    assert last.state.position[1, 0] - model.position[1, 0] == pytest.approx(way, rel=1e-9)
    assert energy.ground == pytest.approx(4e3 * way, rel=1e-9)
    assert energy.kinetic == pytest.approx(4e3 * way, rel=1e-9)
    assert energy.numerical == pytest.approx(0.0, abs=1e-6)


def test_a_couple_spins_a_free_body_and_its_work_is_in_the_ledger():
    """Two opposite forces at 0.5 m from the centroid: I a = F, about the vertical, so that the arms turn out of line slowly."""
    model = afloat()
    pair = [AppliedLoad("body", force=1e3, direction=(0, s, 0), at=(0.5 + 0.5 * s, 0.5, 5.5)) for s in (1, -1)]
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
        push = AppliedLoad("block", force=force, direction=(1, 0, 0), at=(0, 0, 0.0))
        *_, last = simulate(model, duration=0.2, time_step=1e-3, loads=[push], solver=solver)
        assert last.state.velocity[1, 0] == pytest.approx(acceleration * 0.2, rel=5e-3, abs=1e-6)


def test_what_is_at_rest_under_a_load_pushes_the_ground_by_weight_and_load():
    """Statics takes the same way: twice the weight."""
    model = cube()
    found = solve_equilibrium(model, solver=make_solver("native"), loads=[AppliedLoad("block", share=1.0)])
    assert found.stands
    np.testing.assert_allclose(found.contacts.impulse.sum(axis=0), [0, 0, 2 * 2000.0 * GRAVITY], atol=1.0)


def test_a_live_load_has_no_place_in_a_history():
    case = '[structure]\ngenerator = "block"\n[joints]\nfriction = 0.5\n[[load]]\non = "block"\nforce = 1e3\nlive = true\n'
    with pytest.raises(InputError, match=r'line 8: load.*no load multiplier; remove live, or use "limit" or "pushover"'):
        parse_case(case + '[analysis]\nduration = "1 s"\ntime_step = "1 ms"\n', "case.toml")


HALF_SINE = tuple((0.01 + 0.1 * k / 20, float(np.sin(np.pi * k / 20))) for k in range(21))  # from 0.01 to 0.11 s
RAMP = ((0.0, 0.0), (0.2, 1.0))


def test_a_history_is_linear_between_its_rows_and_held_beyond():
    """By hand: from 2 at 1 s to 4 at 3 s; areas of trapezoids."""
    push = AppliedLoad("body", share=0.5, history=((1.0, 2.0), (3.0, 4.0), (4.0, 0.0)))
    assert push.factor(np.array([0.0, 1.0, 2.0, 3.5, 9.0])) == pytest.approx([2, 2, 3, 2, 0])
    assert np.diff(push.factor_summed(np.array([0.0, 1.0, 2.0, 3.0, 4.0, 9.0]))) == pytest.approx([2, 2.5, 3.5, 2, 0])
    assert loads_at([push], 2.0) == [AppliedLoad("body", share=1.5)]
    assert mean_loads([push], 0.5, 2.0)[0].share == pytest.approx(0.5 * (1.0 + 2.5) / 1.5)
    assert last_load_change([push, AppliedLoad("body", force=1.0)]) == 4.0


@pytest.mark.parametrize("history", [((0.0, 1.0),), ((1.0, 0.0), (1.0, 1.0)), ((1.0, 0.0), (0.5, 1.0))])
def test_times_of_a_history_rise(history):
    with pytest.raises(InputError, match=r"load on 'body': the times of its history are .*each later than the one before"):
        AppliedLoad("body", force=1.0, history=history)


def free_flight(push, small_step):
    """The end, 0.15 s later, of a cube of 2000 kg in space, pushed."""
    model = afloat()
    engine = SmallSteps(model, gravity=0.0, loads=[push], longest_step=small_step)
    state = initial_state(model, 0.0)
    for _ in range(30):
        state, _ = engine.advance(state, 5e-3)
    return state


def test_the_impulse_of_a_load_is_that_of_its_history():
    """No contact, no gravity: the velocity is the area of the polygon through the rows over the mass, to rounding, whatever the
    small step; the work of the load is the kinetic energy, to rounding since the load is zero in the end."""
    push = AppliedLoad("body", force=1e5, direction=(1, 0, 0), history=HALF_SINE)
    area = 0.1 / 20 * sum(factor for _, factor in HALF_SINE)
    for small_step in (1e-4, 5e-5):
        state = free_flight(push, small_step)
        assert state.velocity[1, 0] == pytest.approx(1e5 * area / 2000.0, rel=1e-11)
        assert state.energy.kinetic == pytest.approx(1000.0 * state.velocity[1, 0] ** 2, rel=1e-12)
        assert abs(state.energy.numerical) < 1e-11 * state.energy.kinetic


def test_the_way_of_a_free_body_converges_by_the_square_of_the_small_step():
    """F = 1e5 N t / 0.2 s on 2000 kg: x = 50 t^3 / 1.2; what is left over in the ledger likewise."""
    push, exact = AppliedLoad("body", force=1e5, direction=(1, 0, 0), history=RAMP), 50 * 0.15**3 / 1.2
    ends = [free_flight(push, small_step) for small_step in (1e-4, 5e-5)]
    off = [abs(end.position[1, 0] - 0.5 - exact) for end in ends]
    assert off[0] < 1e-6 * exact
    assert off[1] < 0.3 * off[0]
    left = [abs(end.energy.numerical) for end in ends]
    assert left[0] < 1e-6 * ends[0].energy.kinetic
    assert left[1] < 0.3 * left[0]


def test_a_constant_history_is_a_constant_load():
    constant, steady = (AppliedLoad("body", force=1e5, direction=(1, 0.5, 0), at=(0.2, 0.3, 5.1), history=history)
                        for history in ((), ((0.0, 1.0), (1.0, 1.0))))  # fmt: skip
    one, other = free_flight(constant, None), free_flight(steady, None)
    assert other.velocity == pytest.approx(one.velocity, rel=1e-9)
    assert other.energy.ground == pytest.approx(one.energy.ground, rel=1e-7)


def test_a_block_slides_when_a_growing_force_exceeds_friction():
    """A cube of 2000 kg on mu = 0.5, pushed at its base so that it does not tip, by F = 2 m g t / 0.2 s: it slides from
    t0 = 0.05 s on, by x = F' (t - t0)^3 / 6 m. The stone of the joint gives way by micrometres before."""
    model, rate = cube(0.5), 2 * 2000.0 * GRAVITY / 0.2
    push = AppliedLoad("block", force=2 * 2000.0 * GRAVITY, direction=(1, 0, 0), at=(0.0, 0.0, 0.0), history=RAMP)
    begin, way, states = 0.05, [], []
    for step in simulate_small_steps(model, duration=0.1, time_step=1e-3, loads=[push]):
        states.append(step.state)
        way.append(step.state.position[1, 0] - model.position[1, 0])
    time = np.array([state.time for state in states])
    exact = rate * np.maximum(time - begin, 0.0) ** 3 / (6 * 2000.0)
    assert np.abs(np.array(way) - exact).max() < 0.01 * exact.max()
    assert np.array(way)[time < 0.049].max() < 5e-6
    lost = 0.5 * 2000.0 * GRAVITY * exact[-1]
    energy = states[-1].energy
    assert energy.friction == pytest.approx(lost, rel=0.01)
    assert energy.ground == pytest.approx(lost + energy.kinetic, rel=0.01)
    assert abs(energy.numerical) < 1e-3 * energy.ground


def test_cone_programs_take_the_mean_of_a_step():
    """The same free cube: the impulse is exact, however long the step."""
    push = AppliedLoad("body", force=1e5, direction=(1, 0, 0), history=HALF_SINE)
    how = {"theta": 0.5, "gravity": 0.0, "loads": [push], "solver": make_solver("native")}
    *_, last = simulate(afloat(), duration=0.15, time_step=7.5e-3, **how)
    area = 0.1 / 20 * sum(factor for _, factor in HALF_SINE)
    assert last.state.velocity[1, 0] == pytest.approx(1e5 * area / 2000.0, rel=1e-11)
    assert last.state.energy.ground == pytest.approx(last.state.energy.kinetic, rel=1e-9)


IN_TIME = """
[structure]
generator = "column"
courses = 3
[joints]
friction = 0.5
[[load]]
on = "drum-3"
share = 0.8
direction = [1, 0, 0]
history = [["0 s", 0], ["50 ms", 1.0], ["0.1 s", 0.0]]
[analysis]
after = "50 ms"
[output]
every = "10 ms"
"""


def test_a_load_in_time_in_a_case(tmp_path):
    """`after` counts from its last row; a run that was cut goes on with the same bits; statics refuses it."""
    case = parse_case(IN_TIME)
    told = {key.name_in_case: key.value for key in list_case_keys(case)}
    assert (told["load.0.history.1.time"], told["load.0.history.1.factor"]) == ("50 ms", "1")
    assert case.history.duration == pytest.approx(0.15)
    whole = run(case, tmp_path / "whole")
    steps = record_history(case, tmp_path / "cut")
    for _ in range(11):
        next(steps)
    steps.close()
    for _ in resume_history(tmp_path / "cut"):
        pass
    assert np.array_equal(whole.position, read_run(tmp_path / "cut").position)
    assert np.abs(whole.position[-1] - whole.position[0]).max() > 1e-4
    with pytest.raises(InputError, match=r'load\[0\]\.history: an analysis of kind "equilibrium" has no time'):
        parse_case(IN_TIME.replace('after = "50 ms"', 'kind = "equilibrium"').replace('[output]\nevery = "10 ms"', ""))


def test_loads_in_time_on_two_threads_have_the_bits_of_one():
    model = build_model(build.wall(length=2.0, height=1.5, thickness=0.3), friction=0.5)
    pushes = [AppliedLoad("wall", share=0.9, direction=(0.2, 1, 0), history=RAMP), AppliedLoad("wall", share=0.1)]
    ends = []
    for threads in (1, 2):
        engine = SmallSteps(model, gravity=GRAVITY, loads=pushes, threads=threads)
        state = initial_state(model)
        for _ in range(20):
            state, _ = engine.advance(state, 5e-3)
        ends.append(state)
    assert np.array_equal(ends[0].position, ends[1].position)
    assert ends[0].energy == ends[1].energy

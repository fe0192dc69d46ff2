"""Newton's restitution (T88). Truths: free flight between impacts, heights e^(2k) of a block that falls flat, the exchange of
velocities of equal blocks, and a ledger that never gains."""

import numpy as np
import pytest

from drystone import build, build_model
from drystone.base.errors import InputError
from drystone.base.units import GRAVITY
from drystone.build.compose import move_blocks
from drystone.engine.simulation import initial_state, simulate
from drystone.engine.solvers.native import native
from drystone.ground.motion import Motion
from drystone.io.case import parse_case
from drystone.structure.joint_laws import JointLaw

DROP = 0.5  # [m]


def drop(restitution, step, theta=0.53, duration=0.9):
    """Heights [m] of a cube let fall flat on a floor, and its energies (S+1, 2) [J]: mechanical, booked as impact."""
    floor, cube = build.block(width=0.4, depth=0.4, height=0.4)
    model = build_model([floor, *move_blocks([cube], at=(0.0, 0.0, DROP))], friction=JointLaw(0.5, restitution=restitution))
    steps = simulate(model, duration=duration, time_step=step, theta=theta, solver=native())
    states = [initial_state(model), *(s.state for s in steps)]
    energy = np.array([(s.energy.kinetic + s.energy.potential, s.energy.impact) for s in states])
    return np.array([s.position[1, 2] - 0.2 for s in states]), energy


ALWAYS = ((0.3, 0.5), (0.7, 0.53))  # the other pairs of restitution and theta are tried by `make soak`
FALLS = [pytest.param(restitution, theta, marks=[] if (restitution, theta) in ALWAYS else pytest.mark.soak)
         for restitution in (0.3, 0.7, 1.0) for theta in (0.5, 0.53, 1.0)]  # fmt: skip


@pytest.mark.parametrize(("restitution", "theta"), FALLS)
def test_a_cube_that_falls_flat_bounces_to_e_squared(restitution, theta):
    """The first rebound; what is missing is of first order in the step: u h at the impact and g h (theta - 1/2) in flight."""
    speed = np.sqrt(2 * GRAVITY * DROP)
    fall = speed / GRAVITY
    for step in (2e-3, 5e-4):
        height, energy = drop(restitution, step, theta, fall + 1.5 * restitution * fall)
        landed = int(height[: round(1.1 * fall / step)].argmin())
        assert abs(height[landed:].max() - restitution**2 * DROP) < 2 * speed * step
        assert height.min() > -speed * step
        assert np.diff(energy[:, 0]).max() <= 1e-9 * energy[0, 0]


def test_bounces_end_in_rest():
    """Below three times g h a contact does not bounce: the cube lies still, on the floor."""
    height, energy = drop(0.5, 1e-3, duration=1.4)
    assert abs(np.diff(height[-200:])).max() < 1e-12
    assert abs(height[-1]) < 1e-6
    assert energy[-1, 1] == pytest.approx(energy[0, 0] - energy[-1, 0], rel=0.02)  # what is lost is lost in impacts


def test_equal_blocks_exchange_their_velocities():
    """A block that slides without friction meets an equal one at rest: (1 - e) / 2 and (1 + e) / 2 of its velocity."""
    floor, first = build.block(width=0.4, depth=0.4, height=0.4, margin=2.0)
    second = move_blocks([build.block(width=0.4, depth=0.4, height=0.4)[1]], at=(0.6, 0.0, 0.0))[0]
    model = build_model([floor, first, type(first)(second.vertices, second.faces, name="second")],
                        friction=JointLaw(0.0, restitution=0.6))  # fmt: skip
    start = initial_state(model)
    start.velocity[1, 0] = 2.0
    *_, last = simulate(model, duration=0.2, time_step=1e-3, solver=native(), state=start)
    np.testing.assert_allclose(last.state.velocity[1:, 0], [0.4, 1.6], atol=1e-6)
    assert abs(last.state.velocity[1:, 2]).max() < 1e-6


def test_a_shaken_wall_gains_no_energy():
    """Friction, sliding and many impacts at once: in no step does contact give more than a thousandth of the largest kinetic
    energy. Seven histories whose amplitudes differ by 1e-7 had 6e-7 to 5e-4; without restitution 6e-7 to 1e-4."""
    model = build_model(build.wall(length=1.5, height=1.0, courses=4, blocks=3), friction=JointLaw(0.6, restitution=0.5))
    motion = Motion("one-sine", amplitude=9.0, half_period=0.1, direction=(0.3, 1, 0))
    steps = simulate(model, [motion], duration=0.5, time_step=1e-3, solver=native())
    energy = np.array([(s.state.energy.friction + s.state.energy.impact, s.state.energy.kinetic) for s in steps])
    assert np.diff(energy[:, 0]).min() > -1e-3 * energy[:, 1].max()


def test_a_wall_at_rest_stays_at_rest():
    """To the bit: nothing closes faster than the threshold."""
    laws = [JointLaw(0.6, restitution=e) for e in (0.0, 0.9)]
    models = [build_model(build.wall(length=1.5, height=1.0, courses=4, blocks=3), friction=law) for law in laws]
    ends = [list(simulate(model, duration=0.02, time_step=1e-3, solver=native()))[-1].state for model in models]
    assert np.array_equal(ends[0].position, ends[1].position)
    assert np.array_equal(ends[0].velocity, ends[1].velocity)


def test_in_a_case():
    text = """
    [structure]
    generator = "block"
    [joints]
    friction = 0.5
    restitution = 0.4
    [analysis]
    duration = 1
    time_step = 0.01
    """
    assert (parse_case(text).model().restitution == 0.4).all()
    only_on_the_ground = text.replace("restitution = 0.4", "support = { restitution = 0.4 }")
    assert np.unique(parse_case(only_on_the_ground).model().restitution).tolist() == [0.0, 0.4]
    assert parse_case(only_on_the_ground).model().friction.min() == 0.5
    cone = text.replace("[analysis]", '[analysis]\n    integrator = "cone-program"')
    with pytest.raises(InputError, match="restitution is 0"):
        _ = parse_case(cone + '[solver]\ncontact = "compliant"').surface
    with pytest.raises(InputError, match="restitution"):
        parse_case(text.replace("0.4", "1.4"))

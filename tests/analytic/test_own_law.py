"""A law of joints that is added from outside: tension that softens exponentially. Truth: its own closed form.

With the stiffness k, the strength f and the energy G it bears, stretched to w and once to W,

    k w                      up to f / k
    f exp(-(W - f/k) f / G) w / W      beyond: along a line to the origin and back to where it was
"""

import pickle

import numpy as np
import pytest

from drystone import build
from drystone.build.shapes import box
from drystone.engine.joint_law import (
    ALONG_1,
    ALONG_2,
    BOND,
    FRACTURE,
    NORMAL,
    PRESSURE,
    SHEAR,
    SLIDING,
    SLIP,
    SLOPE,
    SLOPE_LOST,
    STORED,
)
from drystone.engine.small_steps import STONE, SmallSteps
from drystone.errors import InputError
from drystone.kernel import inner
from drystone.laws import JointLaw, OwnLaw
from drystone.loads import Push
from drystone.model import build_model
from drystone.motion import Motion
from drystone.simulate import initial_state, simulate, simulate_small_steps
from drystone.solvers.methods import make_solver
from drystone.statics.balance import balance

STRENGTH, ENERGY = 3, 4  # its numbers [Pa], [J/m2]
FARTHEST, SLID = 4, 5  # its memory [m]: how far it was stretched, and two numbers: how far it is moved along

K, F, G = 2e9, 2e5, 30.0
AREA = 0.1  # [m2]
H = 1e-3  # [s]


@inner
def left(farthest, stiffness, strength, energy):
    """Of the stiffness of a cell that was stretched so far."""
    first = strength / stiffness
    return 1.0 if farthest <= first else first / farthest * np.exp(-(farthest - first) * strength / energy)


@inner
def softening(numbers, opening, farthest, rate, v1, v2, dt, damping, memory, out):
    k, strength, energy = numbers[NORMAL], numbers[STRENGTH], numbers[ENERGY]
    last = memory[FARTHEST]
    before = left(last, k, strength, energy)
    memory[FARTHEST] = max(last, opening)
    now = left(memory[FARTHEST], k, strength, energy)
    memory[SLID] += dt * v1
    memory[SLID + 1] += dt * v2
    along = 0.5 * numbers[SHEAR] * (memory[SLID] ** 2 + memory[SLID + 1] ** 2)
    most = max(opening, 0.0)
    out[PRESSURE] = -k * opening if opening < 0.0 else -now * k * opening
    out[ALONG_1], out[ALONG_2] = -now * numbers[SHEAR] * memory[SLID], -now * numbers[SHEAR] * memory[SLID + 1]
    out[STORED] = 0.5 * k * min(opening, 0.0) ** 2 + now * (0.5 * k * most * most + along)
    out[FRACTURE] = (before - now) * (0.25 * k * (last * last + memory[FARTHEST] ** 2) + along)
    out[SLIDING] = out[SLOPE] = out[SLOPE_LOST] = out[SLIP] = 0.0
    memory[BOND] = now


LAW = JointLaw(0.6, normal_stiffness=K, own=OwnLaw(softening, (F, G), memory=3, strengths=(0,), reach=3e-3))


def a_block_on_a_support(law, density=1e15):
    """So heavy that nothing a joint can do slows it down."""
    base = box((-0.5, -0.5, -1.0), (0.9, 0.75, 0.0), fixed=True, name="base")
    return build_model([base, box((0, 0, 0), (0.4, 0.25, 0.3), name="block", density=density)], friction=law)


def drive(model, path):
    """How far it is moved [m], the force of the joint [N] and the states along legs (velocity [m/s], steps)."""
    undamped = STONE._replace(damping=0.0, rocking=0.0, landing=0.0)
    state, moved, force, states = initial_state(model, 0.0), [], [], []
    engine = SmallSteps(model, gravity=0.0, material=undamped)
    for velocity, steps in path:
        speed = np.zeros_like(state.velocity)
        speed[1, :3] = velocity
        state = state._replace(velocity=speed)
        for _ in range(steps):
            state, _ = engine.advance(state, H)
            moved.append(state.position[1] - model.position[1])
            force.append(state.contacts.impulse.sum(axis=0) / H)
            states.append(state)
    return np.array(moved), np.array(force), states


UP, ALONG = np.array([0, 0, 1.0]), np.array([1.0, 0, 0])
PATH = [(2e-3 * UP, 120), (-4e-3 * UP, 70), (4e-3 * UP, 70), (8e-3 * UP, 200)]  # opens, closes, opens again to 1.8 mm


def borne(opening):
    """[N] by the closed form, along a path that starts at nothing."""
    first, most = F / K, np.maximum.accumulate(np.maximum(opening, 0.0))
    share = np.where(most <= first, 1.0, F / K / np.maximum(most, first) * np.exp(-(np.maximum(most, first) - first) * F / G))
    return -AREA * K * np.where(opening > 0, share, 1.0) * opening


def test_force_and_energy_are_those_of_the_law():
    """Within 1e-6 of the strength at every step; the energy lost is what the closed form says of the farthest opening, to 1e-4
    (the law sums it step by step); all of it, f^2 / 2k + G, at the end, to what an opening of 1.8 mm leaves over (5e-5)."""
    moved, force, states = drive(a_block_on_a_support(LAW), PATH)
    opening = moved[:, 2]
    assert opening.min() < -1e-5
    assert np.abs(force[:, 2] - borne(opening)).max() <= 1e-6 * AREA * F
    most = np.maximum.accumulate(np.maximum(opening, F / K))
    pulled = F * np.exp(-(most - F / K) * F / G)
    lost = F**2 / (2 * K) + G * (1 - pulled / F) - 0.5 * pulled * most
    fracture = np.array([state.energy.fracture for state in states])
    assert np.abs(fracture - AREA * lost).max() <= 1e-4 * AREA * G
    assert fracture[-1] == pytest.approx(AREA * (F**2 / (2 * K) + G), rel=2e-4)
    left_over = [state.energy.damping for state in states]  # work that was neither stored nor lost; there is no damping
    assert np.abs(left_over).max() < 1e-4 * fracture[-1]


def test_it_holds_along_the_joint_too():
    """k_t s, that of the normal, for a bond that was not stretched."""
    moved, force, _ = drive(a_block_on_a_support(LAW), [(1e-3 * ALONG, 60)])
    assert force[:, 0] == pytest.approx(-AREA * K * moved[:, 0], abs=1e-6 * AREA * F)


def test_a_history_that_is_cut_has_the_same_bits():
    """The states carry its memory, which is wider than ours: a wall, shaken until its joints are damaged, cut in the middle,
    packed and unpacked, and taken on by another engine."""
    law = JointLaw(0.6, normal_stiffness=K, own=OwnLaw(softening, (1e4, 2.0), memory=7, strengths=(0,), reach=3e-3))
    model = build_model(build.wall(length=1.0, height=0.5, courses=2), friction=law)
    shake = [Motion("one-sine", amplitude=30.0, half_period=0.05, direction=(0.2, 1, 0))]
    states = [step.state for step in simulate_small_steps(model, shake, duration=0.1, time_step=5e-3)]
    cut = pickle.loads(pickle.dumps(states[9]))
    *_, last = simulate_small_steps(model, shake, duration=0.1, time_step=5e-3, state=cut)
    assert states[-1].cells.state.shape[1] == 4 + 7
    bond = states[-1].cells.state[:, BOND]
    assert 0.02 < (bond < 0.5).mean() < 0.98
    for one, other in zip(states[-1].cells, last.state.cells, strict=True):
        assert np.array_equal(one, other)
    assert np.array_equal(states[-1].position, last.state.position)
    assert states[-1].energy == last.state.energy


def test_it_may_stand_beside_our_own_laws():
    """Two stones side by side, one of each law, pulled by the same force: half
    of the strength is borne by both, more than all of it by none."""
    base = box((-0.5, -0.5, -1.0), (2, 0.75, 0.0), fixed=True, name="base")
    stones = [box((x, 0, 0), (x + 0.4, 0.25, 0.3), name=name, group=name) for x, name in ((0, "one"), (1, "other"))]
    ours = JointLaw(0.6, tension=F, normal_stiffness=K)
    model = build_model([base, *stones], friction=0.5, pairs=[("one", "support", LAW), ("other", "support", ours)])
    for share, holds in ((0.45, True), (1.2, False)):  # a force that comes at once stretches twice as far
        loads = [Push(name, force=share * F * AREA, direction=(0, 0, 1), at=tuple(model.position[k]))
                 for k, name in ((1, "one"), (2, "other"))]  # fmt: skip
        *_, last = simulate_small_steps(model, duration=0.02, time_step=5e-3, loads=loads, gravity=0.0,
                                        state=initial_state(model, 0.0))  # fmt: skip
        lifted = last.state.position[1:, 2] - model.position[1:, 2]
        assert np.all((lifted < 4 * F / K) == holds), lifted


def returns(numbers, opening, farthest, rate, v1, v2, dt, damping, memory, out):
    return opening


def lacks(numbers, opening):
    pass


@pytest.mark.parametrize(
    ("own", "said"),
    [
        (OwnLaw(3.0), r"own\.stress is 3\.0; give a function"),
        (OwnLaw(softening, (1.0, np.nan)), r"own\.numbers: number 1 is nan"),
        (OwnLaw(softening, (1.0, 2.0), memory=-1), r"own\.memory is -1"),
        (OwnLaw(softening, (1.0, 2.0), strengths=(2,)), r"own\.strengths names number 2 of 2"),
        (OwnLaw(softening, (1.0, 2.0), reach=-1.0), r"own\.reach is -1\.0"),
        (OwnLaw(returns), r"own\.stress 'returns' is no law: it returns float64"),
        (OwnLaw(lacks), r"own\.stress 'lacks' is no law"),
    ],
    ids=lambda value: "" if isinstance(value, OwnLaw) else value,
)
def test_what_is_no_law_is_refused(own, said):
    with pytest.raises(InputError, match=said):
        SmallSteps(a_block_on_a_support(JointLaw(0.6, own=own)), gravity=0.0)


def test_who_does_not_know_it_refuses_it():
    model = a_block_on_a_support(LAW)
    with pytest.raises(InputError, match="which histories by small steps alone know"):
        next(simulate(model, duration=H, time_step=H, solver=make_solver("native")))
    with pytest.raises(InputError, match="which histories by small steps alone know"):
        balance(model)
    with pytest.raises(InputError, match="own is given, and cohesion"):
        a_block_on_a_support(JointLaw(0.6, cohesion=1e5, own=LAW.own))

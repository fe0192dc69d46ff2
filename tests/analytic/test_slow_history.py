"""What structures of elastic stones bear that are loaded slowly: truths are closed forms, histories of the same loads, and the
multipliers of rigid stones, which elastic ones tend to as they become stiffer."""

import numpy as np
import pytest

from drystone import build
from drystone.analysis.statics.slow_loading import SlowLoading, find_slow_capacity
from drystone.base.units import GRAVITY
from drystone.build.shapes import box
from drystone.engine.simulation import simulate_small_steps
from drystone.structure import loads
from drystone.structure.loads import AppliedLoad
from drystone.structure.model import build_model

FLOOR = box((-5, -5, -1), (5, 5, 0), fixed=True, name="floor")


def ended(shares):
    """What a generator returns."""
    while True:
        try:
            assert 0.0 <= next(shares) <= 1.0
        except StopIteration as end:
            return end.value


def loading(model, direction=(1, 0, 0), young=30e9):
    live = loads.body_force(model, direction, GRAVITY)
    return SlowLoading(model, loads.weight_wrench(model, GRAVITY), live, gravity=GRAVITY, young=young)


def pillar(friction):
    """1 m wide and 4 m high: it tips at 0.25, or slides at its friction."""
    return build_model([FLOOR, box((0, 0, 0), (1, 1, 4), name="pillar")], friction=friction)


@pytest.mark.parametrize(("friction", "truth"), [(0.8, 0.25), (0.2, 0.2)])
def test_a_pillar_stands_until_it_tips_or_slides(friction, truth):
    slowly = loading(pillar(friction))
    assert ended(slowly.load_to(0.97 * truth)).stands
    assert not ended(slowly.load_to(1.03 * truth)).stands


def test_the_motion_of_a_pillar_that_tips():
    """About the edge on the side to which it is pushed: its foot stays, its centre goes across and, first, up."""
    history = ended(loading(pillar(0.8)).load_to(0.3))
    assert history.velocity[1, 0] > 0.0
    assert history.velocity[1, 4] > 0.0  # [rad/s] about y
    assert history.velocity[1, 0] == pytest.approx(2.0 * history.velocity[1, 4], rel=0.05)  # centre 2 m above the edge


def test_what_is_borne_is_told_with_the_forces_that_bear_it():
    """A pillar that is said to bear 0.3 as a rigid one bears 0.25: between 0.24 (0.8 times that) and 0.255 to 0.27."""
    model = pillar(0.8)
    borne = ended(find_slow_capacity(loading(model), 0.3))
    assert borne.stands_at <= 0.25 <= borne.moves_at
    assert borne.moves_at - borne.stands_at <= 0.05 * 0.3 * 1.02
    push = np.array([borne.stands_at, 0.0, -1.0]) * GRAVITY * model.bodies.mass[1]
    assert borne.contacts.impulse.sum(axis=0) == pytest.approx(-push, rel=2e-2, abs=1e-3 * abs(push[2]))


def test_a_multiplier_that_is_borne_is_left_alone():
    borne = ended(find_slow_capacity(loading(pillar(0.8)), 0.25))
    assert borne.stands_at == pytest.approx(0.95 * 0.25)
    assert np.isnan(borne.moves_at)
    assert borne.velocity is None


def test_a_stone_that_nothing_holds_bears_nothing():
    """Between two walls, pushed across: with any load it falls, for no force presses it when the load comes."""
    stones = [
        box((-1, 0, 0), (0, 1, 1), fixed=True, name="left"),
        box((0.001, 0.3, 0.3), (0.401, 0.7, 0.7), name="stone"),
        box((0.402, 0, 0), (1.4, 1, 1), fixed=True, name="right"),
    ]
    borne = ended(find_slow_capacity(loading(build_model(stones, friction=0.6), (0, 1, 0)), 1.0))
    assert np.isnan(borne.stands_at)
    assert borne.moves_at == 0.0


def wall_over_a_gap():
    return build_model(build.wall_over_gap(), friction=0.6)


def test_a_stone_over_a_gap_falls_out_of_a_wall_of_elastic_stones():
    """Rigid stones bear 0.167, elastic ones less: a stone over the gap slips until it falls."""
    model = wall_over_a_gap()
    borne = ended(find_slow_capacity(loading(model), 0.167))
    assert 0.09 < borne.stands_at < borne.moves_at < 0.8 * 0.167
    farthest = np.argmax(np.linalg.norm(borne.velocity[:, :3], axis=1))
    assert model.blocks[farthest].name in {"block-1-10", "block-1-11"}


@pytest.mark.soak
@pytest.mark.parametrize(("multiplier", "falls"), [(0.09, False), (0.13, True)])
def test_the_history_that_anyone_would_run_says_the_same(multiplier, falls):
    """The loads grow within a second, and nothing takes velocities back."""
    model, grows = wall_over_a_gap(), ((0.0, 0.0), (1.0, multiplier))
    free = [block.name for block in model.blocks if not block.fixed]
    pushes = [AppliedLoad(name, share=1.0, of=name, direction=(1, 0, 0), history=grows) for name in free]
    *_, last = simulate_small_steps(model, duration=2.0, time_step=0.1, loads=pushes)
    assert bool((np.linalg.norm(last.state.position - model.position, axis=1) > 0.1).any()) == falls


def test_stiffer_stones_tend_to_rigid_ones():
    """The wall over a gap bears nearly the 0.167 of rigid stones if its own are a hundred times as stiff as stone."""
    slowly = loading(wall_over_a_gap(), young=3e12)
    assert ended(slowly.load_to(0.9 * 0.167)).stands


def test_two_threads_give_the_same_bits():
    model = build_model(build.wall(), friction=0.6)
    dead, live = loads.weight_wrench(model, GRAVITY), loads.body_force(model, (0, 1, 0), GRAVITY)
    one, two = (
        ended(SlowLoading(model, dead, live, gravity=GRAVITY, young=30e9, threads=threads).load_to(0.09)) for threads in (1, 2)
    )
    np.testing.assert_array_equal(one.velocity, two.velocity)
    np.testing.assert_array_equal(one.contacts.impulse, two.contacts.impulse)


def test_a_structure_that_needs_no_live_load_to_stand_is_told_so():
    """A pillar alone, of which an absurd multiplier was said to be borne: it stands without the load, and so under 0."""
    borne = ended(find_slow_capacity(loading(pillar(0.8)), 100.0))
    assert borne.stands_at == 0.0
    assert 0.0 < borne.moves_at <= 0.05 * 100.0 * 1.02

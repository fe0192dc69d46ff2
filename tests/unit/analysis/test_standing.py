"""Whether a structure stands by Coulomb's friction: truths are closed forms, balance, and the history of the same start."""

from dataclasses import replace

import numpy as np
import pytest

from drystone import build
from drystone.analysis.statics.balance import assemble_balance
from drystone.analysis.statics.cone_program import SOLVED, optimise_forces
from drystone.analysis.statics.remaining_blocks import find_remaining
from drystone.analysis.statics.standing import FALLS, SELF_STRESS, STANDS, balance_of_closed_joints, judge_standing
from drystone.base.units import GRAVITY
from drystone.build.play import with_play
from drystone.build.shapes import box
from drystone.engine.simulation import simulate_small_steps
from drystone.engine.small_steps.initial_equilibrium import farthest
from drystone.structure.joint_laws import DEFAULT_YOUNG
from drystone.structure.loads import AppliedLoad, weight_wrench
from drystone.structure.model import build_model


def between_walls(play=0.0, friction=0.6):
    """A cube of 0.4 m between two fixed walls, nothing below it."""
    stones = [
        box((-1, 0, 0), (0, 1, 1), fixed=True, name="left"),
        box((play, 0.3, 0.3), (play + 0.4, 0.7, 0.7), name="stone"),
        box((0.4 + 2 * play, 0, 0), (1.4 + 2 * play, 1, 1), fixed=True, name="right"),
    ]
    return build_model(stones, friction=friction)


def over_an_opening(play=0.0, seed=None):
    """A running bond of six courses over a gap of 1 m, of the example of mortar, but dry."""
    stones = build.wall_over_gap(length=3.0, height=1.5, thickness=0.3, span=1.0, courses=6, blocks=6)
    return build_model(with_play(stones, play, seed) if play else stones, friction=0.6)


def names(model, rows):
    return {model.blocks[i].name for i in rows}


def moved_in_a_second(model, **given):
    """(B,) [m] in the history that anyone would run of this model."""
    *_, last = simulate_small_steps(model, duration=1.0, time_step=0.02, **given)
    return np.linalg.norm(last.state.position - model.position, axis=1)


def test_a_stone_flush_between_two_walls_would_need_to_be_wedged_in():
    """No joint has a force before it is let go, and without one there is no friction: free fall. Pressed in by W / (2 mu) a
    side it would hold."""
    model = between_walls()
    found = judge_standing(model)
    assert found.verdict == SELF_STRESS
    assert names(model, found.trial.moving) == {"stone"}
    assert {tuple(sorted(names(model, pair))) for pair in found.joints} == {("left", "stone"), ("right", "stone")}
    weight_of_stone = GRAVITY * model.bodies.mass[1]
    thrust = np.abs(found.contacts.impulse[:, 0]).sum() / 2
    assert thrust == pytest.approx(weight_of_stone / (2 * 0.6), rel=1e-4)
    fall = 0.5 * GRAVITY * found.trial.time**2
    assert found.trial.moved[1] == pytest.approx(fall, rel=1e-6)


@pytest.mark.parametrize("play", [1e-6, 1e-4, 1.5e-3])
def test_a_stone_with_play_falls(play):
    """An open joint bears nothing, however narrow it is."""
    found = judge_standing(between_walls(play))
    assert found.verdict == FALLS
    assert found.joints == ()
    assert len(balance_of_closed_joints(between_walls(play)).friction) == 0


@pytest.mark.parametrize(("play", "seed", "verdict"), [(0.0, None, SELF_STRESS), (1e-4, None, FALLS), (1e-4, 3, FALLS)])
def test_three_stones_fall_out_over_an_opening(play, seed, verdict):
    """The three that nothing bears from below, nor each other's ends. Flush and with play; the history says the same."""
    model = over_an_opening(play, seed)
    found = judge_standing(model)
    assert found.verdict == verdict
    assert names(model, found.trial.moving) == {"block-1-3", "block-1-4", "block-2-4"}
    fallen = moved_in_a_second(model) > 0.1
    assert names(model, np.flatnonzero(fallen)) == {"block-1-3", "block-1-4", "block-2-4"}


def test_the_joints_that_would_have_to_be_pressed_are_those_of_the_stones_that_fall():
    model = over_an_opening()
    found = judge_standing(model)
    falling = set(found.trial.moving.tolist())
    assert found.joints
    assert all(falling & set(pair) for pair in found.joints)


def test_self_stress_is_balanced_and_within_coulombs_cone():
    """The definition of the middle answer, checked on its forces themselves."""
    model = over_an_opening()
    found = judge_standing(model)
    system = balance_of_closed_joints(model)
    force = np.einsum("cdk,ck->cd", system.frame, found.contacts.impulse)
    left_over = system.matrix @ force.ravel() + system.free_rows(weight_wrench(model, GRAVITY))
    largest = GRAVITY * model.bodies.mass.max()
    assert np.abs(left_over).max() < 1e-6 * largest
    assert (np.linalg.norm(force[:, 1:], axis=1) <= system.friction * force[:, 0] + 1e-6 * largest).all()


@pytest.mark.parametrize(("friction", "verdict"), [(0.28, STANDS), (0.25, FALLS)])
def test_a_block_on_a_slope(friction, verdict):
    """tan(15 degrees) = 0.2679."""
    turn = np.array([[np.cos(a := np.deg2rad(15)), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
    stones = build.block(width=1.0, depth=1.0, height=1.0)
    tilted = [type(each)(each.vertices @ turn.T, each.faces, fixed=each.fixed, name=each.name) for each in stones]
    assert judge_standing(build_model(tilted, friction=friction)).verdict == verdict


@pytest.mark.parametrize(("force", "verdict"), [(0.45, STANDS), (0.55, FALLS)])
def test_a_block_that_is_pushed_at_its_centroid(force, verdict):
    """It overturns at width over height of its weight: 1 m by 2 m, 0.5."""
    model = build_model(build.block(width=1.0, depth=1.0, height=2.0), friction=2.0)
    push = AppliedLoad("block", force=force * GRAVITY * model.bodies.mass[1], direction=(1.0, 0.0, 0.0))
    assert judge_standing(model, loads=[push]).verdict == verdict


def test_a_stone_drawn_a_millimetre_above_its_bed_settles_on_it():
    """Real play is not closed: it goes down by it, and then stands."""
    stones = [box((0, 0, -1), (1, 1, 0), fixed=True, name="bed"), box((0, 0, 1e-3), (1, 1, 1), name="stone")]
    found = judge_standing(build_model(stones, friction=0.6))
    assert found.verdict == STANDS
    assert found.trial.moved[1] == pytest.approx(1e-3, rel=1e-2)


def test_soft_stone_settles_farther_and_stands():
    """Ten drums at 300 MPa: the shortening of an elastic column under its weight is far more than that of stone at 30 GPa."""
    model = build_model(build.column(), friction=0.6)
    assert judge_standing(model, young=3e8).verdict == STANDS


GALLERY = ["block", "column", "drum_column", "pillar_and_lintel", "portal", "wall", "arch", "buttressed_arch", "barrel_vault"]


@pytest.mark.parametrize("name", GALLERY)
def test_the_verdict_is_that_of_a_history(name):
    """The docs have the table of all generators."""
    model = build_model(getattr(build, name)(), friction=0.6)
    found = judge_standing(model)
    stays = bool((moved_in_a_second(model) <= farthest(model, DEFAULT_YOUNG)).all())
    assert (found.verdict == STANDS) == stays
    assert found.verdict == STANDS


def test_what_stands_has_a_state_of_forces():
    """Coulomb's cones are those of the associated law: a structure that stands is feasible there."""
    model = build_model(build.arch(), friction=0.6)
    assert judge_standing(model).verdict == STANDS
    assert optimise_forces(assemble_balance(model), weight_wrench(model, GRAVITY)).status == SOLVED


def test_what_remains_over_an_opening():
    """A triangle falls and the rest bears itself."""
    model = over_an_opening()
    found = find_remaining(model)
    assert names(model, np.flatnonzero(~found.stays)) == {"block-1-3", "block-1-4", "block-2-4"}
    assert found.rest.stands


def test_rounding_of_a_file_in_single_precision_opens_no_joint():
    """An arch a kilometre away from the origin, where single precision steps by 0.06 mm: its joints are askew, and all of them
    bear; a tenth of a millimetre of play still opens them."""
    blocks = build.arch()
    far = [replace(block, vertices=(block.vertices + 1e3).astype(np.float32).astype(float)) for block in blocks]
    rounded = build_model(far, friction=0.6)
    assert assemble_balance(rounded).contacts.gap.max() > 1e-6
    assert len(balance_of_closed_joints(rounded).friction) == len(assemble_balance(rounded).friction)
    loose = build_model(with_play(blocks, 1e-4), friction=0.6)
    assert len(balance_of_closed_joints(loose).friction) < 0.2 * len(
        assemble_balance(build_model(blocks, friction=0.6)).friction
    )

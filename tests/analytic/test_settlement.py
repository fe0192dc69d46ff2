"""Supports that settle, by small steps: truths are statics of determinate structures, beams, and independence of increments."""

import numpy as np
import pytest

from drystone import build
from drystone.analysis.statics.open_joints import find_cracks, joints_as_drawn
from drystone.analysis.statics.support_settlement import FALLS, IN_BALANCE, settle_supports, straight_path
from drystone.base.units import GRAVITY
from drystone.build.shapes import box
from drystone.engine.state import State
from drystone.structure.deformable_blocks import Stone
from drystone.structure.joint_laws import JointLaw
from drystone.structure.model import build_model


def names_of(model):
    return [block.name for block in model.blocks]


def settled(model, increments, **moves):
    """The states of supports that go by moves (3,) [m], by their names with _ for -."""
    path = straight_path(model, {name.replace("_", "-"): move for name, move in moves.items()}, increments)
    return list(settle_supports(model, path))


def reaction(model, state: State, name):
    """[N] (3,) by which a support pushes the structure."""
    contacts, i = state.contacts, names_of(model).index(name)
    return contacts.impulse[contacts.a == i].sum(axis=0) - contacts.impulse[contacts.b == i].sum(axis=0)


def weight_of(model):
    return GRAVITY * model.bodies.mass[~model.bodies.fixed].sum()


def two_piers():
    """An arch on two piers of four stones, each on a support of its own."""
    blocks = [block for block in build.portal(top="arch", span=3.0, height=2.0, width=1.0, depth=1.0, courses=4,
                                              thickness=0.5, blocks=13) if not block.fixed]  # fmt: skip
    for side, x in (("left", -2.0), ("right", 2.0)):
        blocks.append(box((x - 0.6, -0.6, -0.4), (x + 0.6, 0.6, 0.0), fixed=True, name=f"pier-{side}"))
    return build_model(blocks, friction=0.6)


@pytest.fixture(scope="module")
def piers_in_5():
    model = two_piers()
    return model, settled(model, 5, pier_right=(0, 0, -0.05))


def test_supports_bear_the_weight_at_every_increment(piers_in_5):
    """The bar: 1e-4 of the weight, and no block accelerated by more than 5e-5 g. Vertical forces balance the weight, horizontal
    ones each other."""
    model, states = piers_in_5
    assert len(states) == 6
    for _, rest in states:
        assert rest.verdict == IN_BALANCE
        assert rest.off_balance <= 5e-5
        total = reaction(model, rest.state, "pier-left") + reaction(model, rest.state, "pier-right")
        np.testing.assert_allclose(total, (0, 0, weight_of(model)), atol=1e-4 * weight_of(model))


@pytest.mark.parametrize("increments", [1, 50, 500])
def test_reactions_do_not_depend_on_the_increments(piers_in_5, increments):
    """50 mm by 5, 50 and 500 increments, and at once: the bar is 1 % of the forces."""
    model, states = piers_in_5
    other = settled(model, increments, pier_right=(0, 0, -0.05))
    for name in ("pier-left", "pier-right"):
        one, two = (reaction(model, each[-1].rest.state, name) for each in (states, other))
        np.testing.assert_allclose(two, one, atol=0.01 * np.abs(one[0]))


def test_a_wall_over_a_door_on_two_supports_has_the_same_reactions():
    """Stones that slide on each other, in bond: friction keeps the way there. 5 mm by 2 and 10 increments, 1 % of the force on
    a support; both bear the weight at every increment."""
    blocks = [block for block in build.wall(length=6.0, height=3.0, thickness=0.4, courses=10, blocks=10, openings=(
        build.Opening(at=2.0, sill=0.0, width=2.0, height=1.5),)) if not block.fixed]  # fmt: skip
    low, high = (np.concatenate([block.vertices for block in blocks]).min(axis=0),
                 np.concatenate([block.vertices for block in blocks]).max(axis=0))  # fmt: skip
    middle, found = (low[0] + high[0]) / 2, []
    for side, (start, end) in {"left": (low[0], middle - 0.5), "right": (middle + 0.5, high[0])}.items():
        blocks.append(box((start, low[1] - 0.3, low[2] - 0.5), (end, high[1] + 0.3, low[2]), fixed=True, name=f"pier-{side}"))
    model = build_model(blocks, friction=0.6)
    for increments in (2, 10):
        states = settled(model, increments, pier_right=(0, 0, -0.005))
        for _, rest in states:
            assert rest.verdict == IN_BALANCE
            pushes = [reaction(model, rest.state, f"pier-{side}") for side in ("left", "right")]
            np.testing.assert_allclose(np.sum(pushes, axis=0), (0, 0, weight_of(model)), atol=1e-4 * weight_of(model))
        found.append(pushes)
    np.testing.assert_allclose(found[0], found[1], atol=0.01 * np.linalg.norm(found[0], axis=1).min())


def test_a_beam_on_three_supports_is_left_on_two():
    """The middle one goes: the outer ones bear half the weight each. One load away from the middle: its lever."""
    supports = [box((x - 0.02, 0, -0.2), (x + 0.02, 0.3, 0), fixed=True, name=f"support-{k}") for k, x in enumerate((-2, 0, 2))]
    model = build_model([*supports, box((-2.1, 0, 0), (2.1, 0.3, 0.4), name="beam")], friction=0.6)
    first, *_, last = settled(model, 2, support_1=(0, 0, -1e-4))
    assert reaction(model, first.rest.state, "support-1")[2] > 0.1 * weight_of(model)
    for name, share in (("support-0", 0.5), ("support-1", 0.0), ("support-2", 0.5)):
        assert reaction(model, last.rest.state, name)[2] == pytest.approx(share * weight_of(model), abs=1e-4 * weight_of(model))


def test_an_elastic_beam_on_three_supports_yields_its_middle_one():
    """Beam theory, two spans L under q with ends c beyond the supports: the middle one bears q (5 L / 4 - 3 c^2 / 2 L), and
    6 E I / L^3 less for every metre that it goes: the beam is deformable in statics, too. At half of what takes it off, it
    bears half. With little friction, which acts below the axis; shear adds two per cent."""
    span, beyond, high, wide, young, density = 4.0, 0.2, 0.4, 0.4, 20e9, 2500.0
    load, bending = density * GRAVITY * high * wide, young * wide * high**3 / 12
    bears = load * (1.25 * span - 1.5 * beyond**2 / span)
    lifts = bears * span**3 / (6 * bending)
    supports = [box((x - 0.01, 0, -0.2), (x + 0.01, wide, 0), fixed=True, name=f"support-{k}")
                for k, x in enumerate((-span, 0, span))]  # fmt: skip
    beam = box((-span - beyond, 0, 0), (span + beyond, wide, high), name="beam", density=density)
    model = build_model([*supports, beam], friction=0.02, deformable=[Stone(young, 0.0, (16, 1, 1))])
    states = settled(model, 3, support_1=(0, 0, -1.5 * lifts))
    share = [reaction(model, each.rest.state, "support-1")[2] / bears for each in states]
    assert [each.rest.verdict for each in states] == [IN_BALANCE] * 4
    np.testing.assert_allclose(share, [1.0, 0.5, 0.0, 0.0], atol=0.03)


def spread_arch():
    return build_model(build.arch(radius=2.0, thickness=0.5, embrace=np.deg2rad(120), blocks=2, depth=0.5), friction=2.0)


def test_an_arch_whose_abutments_part_has_its_least_thrust():
    """On three hinges, at the inner corners of the springings and the outer one of the crown, it is determinate: with the
    weight W of a half, a away from its foot, and the rise r between hinges, H = W a / r where the half now is."""
    model = spread_arch()
    first, last = settled(model, 1, abutment_right=(0.01, 0, 0))
    half, state = names_of(model).index("voussoir-1"), last.rest.state
    corners = model.blocks[half].vertices
    foot, crown = corners[corners[:, 2].argmin()], corners[corners[:, 2].argmax()]
    turn = np.arctan2(*(np.array([state.rotation[half, 2], state.rotation[half, 0]]))) * 2  # about y
    assert abs(turn) < 0.02
    arm = state.position[half, 0] - (foot[0] + 0.01), crown[2] - foot[2] - 0.005 * (foot[0] - crown[0]) / (crown[2] - foot[2])
    thrust = abs(reaction(model, state, "abutment-right")[0])
    assert thrust == pytest.approx(GRAVITY * model.bodies.mass[half] * abs(arm[0]) / arm[1], rel=0.01)
    assert thrust < 0.8 * abs(reaction(model, first.rest.state, "abutment-right")[0])
    drawn = joints_as_drawn(model, first.rest.state._replace(position=model.position, rotation=np.tile([1.0, 0, 0, 0], (4, 1))))
    start = state._replace(position=model.position.copy(), rotation=np.tile([1.0, 0, 0, 0], (4, 1)))
    assert len(find_cracks(model, drawn, start, state)) == 3


def test_an_arch_falls_from_the_same_spread_whatever_the_increments():
    """A semicircle that is hardly thick enough loses its balance slowly: it follows its abutment for millimetres before it
    moves by itself. By 1 increment and by 8: the same to what is kept of the way, a millimetre."""
    model = build_model(build.arch(radius=5.0, thickness=0.56, embrace=np.pi, blocks=21, depth=1.0), friction=0.7)
    moving, found = names_of(model).index("abutment-right"), []
    for increments in (1, 8):
        *_, last = settled(model, increments, abutment_right=(0.1, 0, 0))
        assert last.rest.verdict == FALLS
        found.append(last.moved[moving, 0])
    assert found[0] == pytest.approx(found[1], abs=2e-3)
    *_, stays = settled(model, 1, abutment_right=(min(found) - 3e-3, 0, 0))
    assert stays.rest.verdict == IN_BALANCE


def ledge():
    """A lintel that bears 200 mm deep on one support, where it is rough, and 50 mm on another one."""
    blocks = [box((-0.5, 0, 0), (0.2, 0.3, 0.3), fixed=True, name="rough", group="rough"),
              box((1.15, 0, 0), (1.8, 0.3, 0.3), fixed=True, name="smooth", group="smooth"),
              box((0, 0, 0.3), (1.2, 0.3, 0.6), name="lintel", group="lintel")]  # fmt: skip
    return build_model(blocks, friction=0.9, pairs=[("smooth", "lintel", JointLaw(friction=0.2))])


@pytest.mark.parametrize("increments", [1, 12])
def test_a_lintel_falls_when_its_support_has_gone_from_under_it(increments):
    """The smooth support goes away from under it, by 50 mm; before, it stays in balance. Told to a millimetre, whatever the
    increments."""
    model = ledge()
    *_, last = settled(model, increments, smooth=(0.06, 0, 0))
    assert last.rest.verdict == FALLS
    assert names_of(model)[int(np.flatnonzero(last.rest.falls)[0])] == "lintel"
    assert last.moved[1, 0] == pytest.approx(0.05, abs=1e-3)
    *_, stays = settled(model, 1, smooth=(0.045, 0, 0))
    assert stays.rest.verdict == IN_BALANCE


@pytest.mark.parametrize(("strength", "verdict"), [(0.0, FALLS), (0.9, FALLS), (1.1, IN_BALANCE)])
def test_a_stone_glued_to_a_pillar_stands_if_its_bond_bears_the_weight(strength, verdict):
    """Cohesion of so many times weight over area, which yields, so that all of the joint bears; nothing presses, so that
    friction does not. The same structure dry falls."""
    stones = [box((-1, 0, 0), (0, 0.3, 1), fixed=True, name="pillar"), box((0, 0, 0.4), (0.2, 0.3, 0.8), name="stone")]
    needed = 2000.0 * GRAVITY * 0.2  # [Pa]
    law = JointLaw(friction=0.05, cohesion=strength * needed or None)
    (_, rest), *_ = settled(build_model(stones, friction=law), 1)
    assert rest.verdict == verdict

"""Mechanisms made by hand: which blocks move as one, about what axis and what each joint does is known beforehand."""

import json
from dataclasses import replace

import numpy as np
import pytest

from drystone import build
from drystone.base import quaternion
from drystone.base.errors import InputError
from drystone.build.arch import circular_joints
from drystone.build.shapes import box, prism
from drystone.results.mechanism import read_displacement, read_mechanism
from drystone.structure.model import build_model
from tests.unit.hand_contacts import arch_contacts, contacts_of, rectangle

UP = [0.0, 0.0, 1.0]
Y = np.array([0.0, 1.0, 0.0])


def stack(count, friction=0.6):
    """A support and `count` cubes of 1 m on it, centred on z, and their contacts."""
    blocks = [box((-2, -2, -1), (2, 2, 0), fixed=True, name="ground")]
    blocks += [box((-0.5, -0.5, k), (0.5, 0.5, k + 1), name=f"cube-{k + 1}") for k in range(count)]
    square = ((-0.5, 0.5), (-0.5, 0.5))
    return build_model(blocks, friction=friction), contacts_of((k, k + 1, rectangle(*square, k), UP) for k in range(count))


def turning(model, blocks, axis, point):
    """(B, 6) velocities of blocks that turn about an axis [rad/s] through a point."""
    motion = np.zeros((len(model.blocks), 6))
    for block in blocks:
        motion[block] = [*np.cross(axis, model.position[block] - point), *axis]
    return motion


def noise(model, size):
    return size * np.random.default_rng(5).normal(size=(len(model.blocks), 6))


def told(mechanism):
    """What must not depend on noise: sets of names, and the joints with their kinds and sides."""
    names = mechanism.names
    sets = [frozenset(names[b] for b in body.blocks) for body in mechanism.bodies]
    joints = {(frozenset((names[j.a], names[j.b])), j.kind, j.side) for j in mechanism.joints}
    return sets[0], set(sets[1:]), joints


def test_nothing_moves():
    model, contacts = stack(2)
    found = read_mechanism(model, contacts, np.zeros((3, 6)))
    assert found.words == "nothing moves"
    assert found.bodies[0].blocks.tolist() == [0, 1, 2]
    assert not found.joints


@pytest.mark.parametrize("scale", [1.0, 1e-9, 300.0])
def test_a_rocking_block(scale):
    """About the right edge of its base (x = 0.5) at 1 rad/s: the far top corner moves sqrt 2, the left edge lifts 1."""
    model, contacts = stack(1)
    found = read_mechanism(model, contacts, scale * turning(model, [1], Y, [0.5, 0.0, 0.0]))
    assert found.largest == pytest.approx(scale * np.sqrt(2))
    (joint,) = found.joints
    assert (joint.kind, joint.side) == ("hinge", "right")
    assert joint.opening == pytest.approx(1 / np.sqrt(2))
    assert joint.slip == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(joint.place, [0.5, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(found.bodies[1].axis, [0.5, 0.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(found.bodies[1].turn, Y / np.sqrt(2))
    assert found.words == (
        "1 macro-block moves, 1 block is at rest: cube-1 (2 t) turns about an axis along y at x = 0.50 m, z = 0.00 m; "
        "hinges at ground|cube-1 (right)"
    )


def test_the_upper_two_of_three_turn_together():
    model, contacts = stack(3)
    found = read_mechanism(model, contacts, turning(model, [2, 3], -Y, [-0.5, 0.0, 1.0]))
    assert told(found) == (
        {"ground", "cube-1"},
        {frozenset({"cube-2", "cube-3"})},
        {(frozenset({"cube-1", "cube-2"}), "hinge", "left")},
    )
    assert found.bodies[1].mass == pytest.approx(4000.0)
    np.testing.assert_allclose(found.bodies[1].centroid, [0, 0, 2], atol=1e-12)
    np.testing.assert_allclose(found.bodies[1].axis, [-0.5, 0.0, 1.0], atol=1e-9)


ARCH = {"radius": 10.0, "thickness": 1.5, "embrace": np.radians(150), "blocks": 7, "depth": 1.0}


def four_hinges():
    """Hinges at the joints 0 (extrados), 2 (intrados), 5 (extrados), 7 (intrados) of seven voussoirs: from the right abutment
    the segments of 2, 3 and 2 voussoirs turn about the first hinge, the absolute centre of the middle one (where the
    lines through hinges 0-2 and 7-5 meet) and the last: exact kinematics of a four-bar chain."""
    model = build_model(build.arch(**ARCH), friction=2.0)
    inner, outer = circular_joints("arch", ARCH["radius"], ARCH["thickness"], ARCH["embrace"], ARCH["blocks"])
    at = [outer[0], inner[2], outer[5], inner[7]]
    first, last = at[1] - at[0], at[2] - at[3]
    along = np.linalg.solve(np.stack([first, -last], axis=1), at[3] - at[0])
    centre = at[0] + along[0] * first
    middle = -1.0  # [rad/s], so that all four open; the outer ones from the velocity of the shared hinge
    right = middle * ((at[1] - centre) @ first) / (first @ first)
    left = middle * ((at[2] - centre) @ last) / (last @ last)
    three = lambda p: np.array([p[0], 0.0, p[1]])  # noqa: E731
    motion = turning(model, [2, 3], right * Y, three(at[0]))
    motion += turning(model, [4, 5, 6], middle * Y, three(centre)) + turning(model, [7, 8], left * Y, three(at[3]))
    return model, motion, [three(p) for p in at], three(centre)


def test_a_four_hinge_arch():
    model, motion, hinges, centre = four_hinges()
    contacts = arch_contacts(**ARCH)
    found = read_mechanism(model, contacts, motion)
    still, moving, joints = told(found)
    assert still == {"abutment-right", "abutment-left"}
    assert moving == {frozenset(f"voussoir-{i}" for i in r) for r in (range(1, 3), range(3, 6), range(6, 8))}
    assert joints == {
        (frozenset({"abutment-right", "voussoir-1"}), "hinge", "extrados"),
        (frozenset({"voussoir-2", "voussoir-3"}), "hinge", "intrados"),
        (frozenset({"voussoir-5", "voussoir-6"}), "hinge", "extrados"),
        (frozenset({"voussoir-7", "abutment-left"}), "hinge", "intrados"),
    }
    assert min(joint.opening for joint in found.joints) > 0.05
    for place in hinges:
        assert min(np.linalg.norm(joint.place - place) for joint in found.joints) < 1e-9
    middle = next(body for body in found.bodies if 4 in body.blocks)
    np.testing.assert_allclose(middle.axis, centre, atol=1e-9)
    assert found.bodies[1] is middle, "the heaviest first"
    assert "voussoir-3 to voussoir-5" in found.words


def test_noise_changes_nothing():
    model, motion, _, _ = four_hinges()
    contacts = arch_contacts(**ARCH)
    plain = read_mechanism(model, contacts, motion)
    assert told(read_mechanism(model, contacts, motion + noise(model, 1e-6 * plain.largest))) == told(plain)


def test_the_order_of_blocks_changes_nothing():
    model, motion, _, _ = four_hinges()
    contacts = arch_contacts(**ARCH)
    order = np.random.default_rng(2).permutation(len(model.blocks))
    number = np.argsort(order)
    rows = zip(number[contacts.a], number[contacts.b], contacts.point, contacts.normal, strict=True)
    joints = [(a, b, [point], normal) for a, b, point, normal in rows]
    shuffled = build_model([model.blocks[i] for i in order], friction=2.0)
    found = read_mechanism(shuffled, contacts_of(joints), motion[order])
    plain = read_mechanism(model, contacts, motion)
    assert told(found) == told(plain)
    assert [body.mass for body in found.bodies] == pytest.approx([body.mass for body in plain.bodies])


def test_turning_the_world_changes_nothing():
    model, motion, _, _ = four_hinges()
    contacts = arch_contacts(**ARCH)
    turn = np.array([0.8, 0.2, -0.4, 0.4]) / np.linalg.norm([0.8, 0.2, -0.4, 0.4])
    world = lambda x: quaternion.rotate(turn, np.asarray(x))  # noqa: E731
    moved = build_model([replace(b, vertices=world(b.vertices) + [3, 1, 2]) for b in model.blocks], friction=2.0)
    carried = contacts._replace(point=world(contacts.point) + [3, 1, 2], normal=world(contacts.normal))
    found = read_mechanism(moved, carried, np.concatenate([world(motion[:, :3]), world(motion[:, 3:])], axis=1))
    plain = read_mechanism(model, contacts, motion)
    assert told(found) == told(plain)
    for one, other in zip(found.joints, plain.joints, strict=True):
        assert one.opening == pytest.approx(other.opening)
        np.testing.assert_allclose(one.place, world(other.place) + [3, 1, 2], atol=1e-9)


@pytest.mark.parametrize("dilatancy", [0.6, 0.0])
def test_a_sliding_block(dilatancy):
    """The associated law opens a sliding joint by friction times slip: it slides all the same."""
    model, contacts = stack(1, friction=0.6)
    found = read_mechanism(model, contacts, np.array([[0.0] * 6, [1.0, 0, dilatancy, 0, 0, 0]]))
    (joint,) = found.joints
    size = np.hypot(1.0, dilatancy)
    assert joint.kind == "sliding"
    assert (joint.slip, joint.opening) == pytest.approx((1 / size, dilatancy / size))
    assert found.bodies[1].axis is None


def test_a_wedge_that_sinks_and_pushes_its_neighbours_away():
    """Faces inclined by 45 degrees. The wedge sinks by 1, the neighbours go aside by u and up by friction u, and the inclined
    joints open by friction times their slip: u (1 - f) - 1 = f (u (1 + f) + 1). Four joints slide, none is a hinge."""
    friction = 0.2
    aside = (1 + friction) / (1 - 2 * friction - friction**2)
    ground = box((-9, -1, -1), (9, 2, 0), fixed=True, name="ground")
    left = prism(np.array([[-4, 0], [-1, 0], [-3, 2], [-4, 2]]), (0, 1), name="left")
    right = prism(np.array([[1, 0], [4, 0], [4, 2], [3, 2]]), (0, 1), name="right")
    wedge = prism(np.array([[-1.5, 0.5], [1.5, 0.5], [2.5, 1.5], [-2.5, 1.5]]), (0, 1), name="wedge")
    model = build_model([ground, left, right, wedge], friction=friction)
    feet = [(0, i, rectangle(x, (0, 1), 0.0), UP) for i, x in ((1, (-4, -1)), (2, (1, 4)))]
    flanks = [(i, 3, [[s * x, y, x - 1] for x in (1.5, 2.5) for y in (0, 1)], [-s, 0, 1]) for i, s in ((1, -1), (2, 1))]
    motion = np.zeros((4, 6))
    motion[1:, :3] = [[-aside, 0, friction * aside], [aside, 0, friction * aside], [0, 0, -1]]
    found = read_mechanism(model, contacts_of(feet + flanks), motion)
    assert [joint.kind for joint in found.joints] == ["sliding"] * 4
    assert len(found.bodies) == 4
    for joint in found.joints:
        assert joint.opening == pytest.approx(friction * joint.slip)


def test_torsion_of_a_block_upon_a_block():
    model, contacts = stack(2)
    found = read_mechanism(model, contacts, turning(model, [2], np.array(UP), [0.1, 0.0, 0.0]))
    (joint,) = found.joints
    assert joint.kind == "torsion"
    assert np.linalg.norm(joint.turn) * found.largest == pytest.approx(1.0)
    aside = read_mechanism(model, contacts, turning(model, [2], np.array(UP), [3.0, 0.0, 0.0]))
    assert aside.joints[0].kind == "sliding", "about a point outside the joint"


@pytest.mark.parametrize("rise", [1.0, 0.2])
def test_a_block_that_flies_off(rise):
    """It opens by more, or by less, than friction 0.6 times the slip of 0.6: not as a joint that slides."""
    model, contacts = stack(2)
    found = read_mechanism(model, contacts, np.array([[0.0] * 6, [0.0] * 6, [0.6, 0, rise, 0, 0, 0]]))
    assert [joint.kind for joint in found.joints] == ["opening"]


@pytest.mark.parametrize("extra", [[0.05, 0, 0], [0, 0, 0.02]])
def test_a_hinge_that_slips_or_parts_a_little_is_a_hinge(extra):
    model, contacts = stack(1)
    motion = turning(model, [1], Y, [0.5, 0.0, 0.0])
    motion[1, :3] += extra
    (joint,) = read_mechanism(model, contacts, motion).joints
    assert (joint.kind, joint.side) == ("hinge", "right")


def test_a_long_joint_that_slides_and_tips_is_not_torsion():
    """A joint of 1 by 6 m slides by 1.2 and lifts by up to 1: it turns, but not about its normal."""
    blocks = [box((-2, -4, -1), (2, 4, 0), fixed=True), box((-0.5, -3, 0), (0.5, 3, 1))]
    model = build_model(blocks, friction=0.0)
    motion = turning(model, [1], Y, [0.5, 0.0, 0.0])
    motion[1, 0] += 1.2
    (joint,) = read_mechanism(model, contacts_of([(0, 1, rectangle((-0.5, 0.5), (-3, 3), 0.0), UP)]), motion).joints
    assert joint.kind == "sliding"


def test_a_support_that_settles():
    """It takes its cube along: both are one macro-block, whose mass is that of the cube; the other support is still."""
    blocks = [box((5 * k, 0, -1), (5 * k + 1, 1, 0), fixed=True, name=f"support-{k}") for k in range(2)]
    blocks += [box((5 * k, 0, 0), (5 * k + 1, 1, 1), name=f"cube-{k}") for k in range(2)]
    model = build_model(blocks, friction=0.6)
    contacts = contacts_of((k, k + 2, rectangle((5 * k, 5 * k + 1), (0, 1), 0.0), UP) for k in range(2))
    motion = np.zeros((4, 6))
    motion[[1, 3], 2] = -0.01
    found = read_mechanism(model, contacts, motion)
    assert [body.blocks.tolist() for body in found.bodies] == [[0, 2], [1, 3]]
    assert found.bodies[1].mass == pytest.approx(2000.0)
    assert found.words == "1 macro-block moves, 2 blocks are at rest: support-1 and cube-1 (2 t) move down"


def test_a_block_that_turns_about_an_edge_contact_is_not_still():
    """Two points on the line x = 0: nothing moves there, and yet the block turns about it."""
    model, _ = stack(1)
    contacts = contacts_of([(0, 1, [[0.0, -0.5, 0.0], [0.0, 0.5, 0.0]], UP)])
    found = read_mechanism(model, contacts, turning(model, [1], Y, [0.0, 0.0, 0.0]))
    assert [joint.kind for joint in found.joints] == ["hinge"]
    assert found.joints[0].side == "middle"
    model, contacts = stack(2)
    contacts = contacts_of([(0, 1, contacts.point[:4], UP), (1, 2, [[0.0, -0.5, 1.0], [0.0, 0.5, 1.0]], UP)])
    motion = turning(model, [2], 0.1 * Y, [0.0, 0.0, 1.0])
    motion[1:, 0] += 1.0
    found = read_mechanism(model, contacts, motion)
    assert [joint.kind for joint in found.joints] == ["sliding", "hinge"], "on a block that moves, too"


def test_a_chain_that_creeps_does_not_take_its_support_along():
    """Each cube slides 0.4 per mille of what the last one does against the one below: too little to see, but the fourth has
    gone 1.6 per mille from the ground. What moves is what has left, never the support."""
    model, contacts = stack(8)
    motion = np.zeros((9, 6))
    motion[:, 0] = [*(0.0004 * np.arange(8)), 1.0]
    found = read_mechanism(model, contacts, motion)
    assert [body.blocks.tolist() for body in found.bodies] == [[0, 1, 2], [3, 4, 5, 6, 7], [8]]


def test_a_finite_turn():
    """A cube turned by 0.3 rad about its right edge, on a cube that has gone 5 m away and turned by 1 rad about z: the crack
    is sin 0.3 wide, seen from the cube below, whose axis of turning is where its motion leaves points in place."""
    model, contacts = stack(2)
    tilt, away = np.array([np.cos(0.15), 0, np.sin(0.15), 0]), np.array([np.cos(0.5), 0, 0, np.sin(0.5)])
    edge, arm = np.array([0.5, 0.0, 1.0]), model.position[2] - [0.5, 0.0, 1.0]
    place = edge + quaternion.rotate(tilt, arm)
    turn = np.array([[1.0, 0, 0, 0], away, quaternion.product(away, tilt)])
    shift = np.array([[0.0, 0, 0], quaternion.rotate(away, model.position[1]), quaternion.rotate(away, place)])
    shift[1:] += [5.0, 0, 0] - model.position[1:]
    found = read_displacement(model, contacts, shift, turn)
    hinge = next(joint for joint in found.joints if joint.b == 2)
    assert (hinge.kind, hinge.side) == ("hinge", "right")
    assert hinge.opening * found.largest == pytest.approx(np.sin(0.3))
    assert np.linalg.norm(hinge.turn) * found.largest == pytest.approx(0.3)
    lower = next(body for body in found.bodies if body.blocks.tolist() == [1])
    np.testing.assert_allclose(quaternion.rotate(away, lower.axis) + [5.0, 0, 0], lower.axis, atol=1e-9)


def test_facts_are_plain():
    model, motion, _, _ = four_hinges()
    facts = read_mechanism(model, arch_contacts(**ARCH), motion).as_dict()
    assert json.loads(json.dumps(facts)) == facts
    assert (facts["hinge_joints"], facts["sliding_joints"], len(facts["macro_blocks"])) == (4, 0, 3)


def test_names_are_grouped():
    """Ten stones of two walls that overturn together, in courses; the names as the generators give them."""
    blocks = [box((0, 0, -1), (20, 2, 0), fixed=True, name="ground")]
    names = [f"{'north' if k < 7 else 'south'}-{1 + k % 2}-{k}" for k in range(10)]
    blocks += [box((2 * k, 0, 0), (2 * k + 1, 1, 1), name=name) for k, name in enumerate(names)]
    model = build_model(blocks, friction=0.6)
    contacts = contacts_of((0, k + 1, rectangle((2 * k, 2 * k + 1), (0, 1), 0.0), UP) for k in range(10))
    square = [[0.0, y, z] for y in (0, 1) for z in (0, 1)]
    neighbours = contacts_of((k, k + 1, [np.array(p) + [2 * k - 0.5, 0, 0] for p in square], [1, 0, 0]) for k in range(1, 10))
    both = type(contacts)(*(np.concatenate(pair) for pair in zip(contacts, neighbours, strict=True)))
    found = read_mechanism(model, both, turning(model, range(1, 11), np.array([1.0, 0, 0]), np.zeros(3)))
    assert found.words == (
        "1 macro-block moves, 1 block is at rest: 10 blocks (7 north-*, 3 south-*) (20 t) turn about an axis along x at "
        "y = 0.00 m, z = 0.00 m; hinges at 10 joints (4 ground|north-1, 3 ground|north-2, 2 ground|south-2, 1 ground|south-1)"
    )


def test_a_wrong_shape_is_refused():
    model, contacts = stack(1)
    with pytest.raises(InputError, match=r"shape \(2, 3\); give \(2, 6\)"):
        read_mechanism(model, contacts, np.zeros((2, 3)))
    with pytest.raises(InputError, match="block 1"):
        read_mechanism(model, contacts, np.array([[0.0] * 6, [np.nan] * 6]))

"""Joint resultants: closed forms of stacks and of a three-hinged arch, and the balance of every block."""

import numpy as np
import pytest

from drystone import build
from drystone.analysis.statics.rigid_equilibrium import solve_equilibrium
from drystone.base.errors import InputError
from drystone.base.units import GRAVITY
from drystone.build.shapes import box, prism
from drystone.contact.contacts import no_contacts
from drystone.contact.pairs import chains
from drystone.engine.solvers.methods import make_solver
from drystone.results.resultants import force_flow, joint_resultants, thrust_lines
from drystone.structure.model import build_model
from tests.unit.hand_contacts import arch_contacts, contacts_of, rectangle

UP = [0.0, 0.0, 1.0]


def leaning_stack(count, lean):
    """A support and cubes of 1 m, each shifted by `lean` [m] towards +x against the one below; joints as long as they meet."""
    blocks = [box((-2, -2, -1), (2, 2, 0), fixed=True, name="ground")]
    blocks += [box((k * lean - 0.5, -0.5, k), (k * lean + 0.5, 0.5, k + 1), name=f"cube-{k + 1}") for k in range(count)]
    spans = [(-0.5, 0.5)] + [(k * lean - 0.5, (k - 1) * lean + 0.5) for k in range(1, count)]
    joints = [(k, k + 1, rectangle(span, (-0.5, 0.5), k), UP) for k, span in enumerate(spans)]
    return build_model(blocks, friction=0.6), contacts_of(joints)


def shared_among_corners(contacts, row, force, point):
    """The forces of the four corners of a rectangle in the plane z: those of a force at a point, by bilinear shares."""
    corners = contacts.point[row]
    low, high = corners.min(axis=0), corners.max(axis=0)
    at = (point - low)[:2] / (high - low)[:2]
    side = corners[:, :2] > (low + high)[:2] / 2
    return np.outer(np.where(side, at, 1 - at).prod(axis=1), force)


@pytest.mark.parametrize("lean", [0.0, 0.12])
def test_a_leaning_stack(lean):
    """The joint under cube k carries the weight above, under the centroid of what is above; torsion from a pair of shears."""
    model, contacts = leaning_stack(4, lean)
    weight = GRAVITY * 2000.0
    above = [(4 - k, (k + 3) / 2 * lean) for k in range(4)]  # cubes above joint k, and x of their centroid
    forces = np.zeros_like(contacts.impulse)
    for k, (count, x) in enumerate(above):
        row = np.flatnonzero(contacts.a == k)
        forces[row] = shared_among_corners(contacts, row, np.array([0, 0, count * weight]), np.array([x, 0.1, k]))
    top = np.flatnonzero(contacts.a == 3)
    forces[top[0]] += [0, -100.0, 0]  # at (-x, -y): the first two corners of a joint of length 1 - lean
    forces[top[1]] += [0, 100.0, 0]
    found = joint_resultants(model, contacts._replace(impulse=forces))
    for k, (count, x) in enumerate(above):
        np.testing.assert_allclose(found.force[k], [0, 0, count * weight], atol=1e-9 * weight)
        np.testing.assert_allclose(found.centre[k], [x, 0.1, k], atol=1e-12)
        length = 1.0 if k == 0 else 1 - lean
        assert found.area[k] == pytest.approx(length)
        middle = 0.0 if k == 0 else (k - 0.5) * lean
        np.testing.assert_allclose(found.middle[k], [middle, 0, k], atol=1e-12)
        offset = np.array([x - middle, 0.1])
        assert found.eccentricity[k] == pytest.approx(offset @ offset / (np.abs(offset) @ [length / 2, 0.5]))
    np.testing.assert_allclose(found.torsion, [0, 0, 0, 100.0 * (1 - lean)], atol=1e-8)
    np.testing.assert_allclose(found.friction_used, 0.0, atol=1e-12)
    (line,) = thrust_lines(model, found)
    np.testing.assert_allclose(line, found.centre)


@pytest.mark.parametrize("pressed", [30.0, 3.0, 0.0, -20.0])
def test_a_joint_that_bends_in_tension_keeps_its_couple(pressed):
    """A rectangle of 1 m with the force N and the couple 12 N m about its middle: as a force at N's place within it, or at its
    rim or middle with the couple that is left."""
    blocks = [box((-2, -2, -1), (2, 2, 0), fixed=True, name="ground"), box((-0.5, -0.5, 0), (0.5, 0.5, 1), name="cube")]
    contacts = contacts_of([(0, 1, rectangle((-0.5, 0.5), (-0.5, 0.5), 0), UP)])
    side = np.sign(contacts.point[:, 0])
    forces = np.outer(pressed / 4 + side * 6.0, UP)
    found = joint_resultants(build_model(blocks, friction=0.6), contacts._replace(impulse=forces))
    at = {30.0: 0.4, 3.0: 0.5, 0.0: 0.0, -20.0: 0.0}[pressed]
    np.testing.assert_allclose(found.centre[0], [at, 0, 0], atol=1e-9)
    np.testing.assert_allclose(found.moment[0], [0, -12.0 + at * pressed, 0], atol=1e-9)
    assert found.thrust[0] == pytest.approx(pressed)
    assert found.eccentricity[0] == pytest.approx(12.0 / pressed / 0.5 if pressed > 0 else 0.0)


def test_the_centroid_and_area_of_a_joint_that_is_no_rectangle():
    """A triangle, on a plane inclined by 45 degrees, an edge, and a trapezium with sides 3 and 1 at a distance of 2."""
    blocks = [box((-9, -9, -1), (9, 9, 0), fixed=True), box((0, 0, 0), (1, 1, 1)), box((3, 0, 0), (4, 1, 1))]
    blocks += [box((6, 0, 0), (7, 1, 1))]
    trapezium = [[0.0, 0, 0], [1, 2, 0], [3, 0, 0], [0, 2, 0]]
    triangle = [[0.0, 0, 0], [3, 0, 3], [0, 2, 0]]
    contacts = contacts_of([(0, 1, triangle, [-1, 0, 1]), (0, 2, [[3.0, 0, 0], [3, 1, 0]], UP), (0, 3, trapezium, UP)])
    found = joint_resultants(build_model(blocks, friction=0.6), contacts)
    assert found.area == pytest.approx([3 * np.sqrt(2), 0.0, 4.0])
    np.testing.assert_allclose(found.middle, [[1, 2 / 3, 1], [3, 0.5, 0], [13 / 12, 5 / 6, 0]], atol=1e-12)
    np.testing.assert_allclose(found.centre, found.middle)


def test_friction_used():
    model, contacts = leaning_stack(1, 0.0)
    forces = np.tile([30.0, -40.0, 100.0], (4, 1))  # shear 50 a point: 50 / (0.6 100)
    found = joint_resultants(model, contacts._replace(impulse=forces))
    assert found.friction_used == pytest.approx([50 / 60])
    assert found.thrust == pytest.approx([400.0])


def three_hinged_arch():
    """Two half arches that touch at the crown and at the springings along one edge each: a triangle of thrust."""
    inner, outer = np.array([[4.0, 0.0], [0.0, 4.0]]), np.array([[5.0, 0.0], [0.0, 5.0]])
    half = np.array([inner[0], outer[0], outer[1], inner[1]])
    right = prism(half, (0, 1), name="right")
    left = prism(half[::-1] * [-1, 1], (0, 1), name="left")
    ground = box((-6, -1, -1), (6, 2, 0), fixed=True, name="ground")
    edges = [((4.5, 0.0), 0, 1, UP), ((-4.5, 0.0), 0, 2, UP), ((0.0, 5.0), 1, 2, [-1, 0, 0])]
    contacts = contacts_of((a, b, [[x, 0, z], [x, 1, z]], normal) for (x, z), a, b, normal in edges)
    return build_model([ground, right, left], friction=5.0), contacts


def test_a_three_hinged_arch():
    """Closed form: half weight W at the centroid x from the axis; crown at height 5 over springings at 4.5: the thrust is
    H = W (4.5 - x) / 5, at each springing the reaction is (H, W)."""
    model, contacts = three_hinged_arch()
    solution = equilibrium_of(model, contacts)
    found = joint_resultants(model, contacts._replace(impulse=solution))
    weight = GRAVITY * model.bodies.mass[1]
    push = weight * (4.5 - model.position[1, 0]) / 5.0
    np.testing.assert_allclose(found.force, [[-push, 0, weight], [push, 0, weight], [-push, 0, 0]], atol=1e-9 * weight)
    (line,) = thrust_lines(model, found)
    np.testing.assert_allclose(line, [[4.5, 0.5, 0], [0, 0.5, 5], [-4.5, 0.5, 0]], atol=1e-9)


def equilibrium_of(model, contacts):
    """(C, 3) [N] the forces of least squares that balance the weights, of a structure with no choice but how the two points of
    an edge share."""
    free = np.flatnonzero(~model.bodies.fixed)
    balance = np.zeros((6 * len(free), 3 * len(contacts.a)))
    for c, (a, b, point) in enumerate(zip(contacts.a, contacts.b, contacts.point, strict=True)):
        for body, sign in ((a, -1.0), (b, 1.0)):
            if body in free:
                arm, k = point - model.position[body], 6 * int(np.flatnonzero(free == body)[0])
                balance[k : k + 3, 3 * c : 3 * c + 3] = sign * np.eye(3)
                balance[k + 3 : k + 6, 3 * c : 3 * c + 3] = sign * np.cross(arm, np.eye(3)).T
    load = np.concatenate([[0, 0, GRAVITY * model.bodies.mass[i], 0, 0, 0] for i in free])
    forces, *_ = np.linalg.lstsq(balance, load, rcond=None)
    np.testing.assert_allclose(balance @ forces, load, atol=1e-6)
    return forces.reshape(-1, 3)


@pytest.mark.parametrize("make", [lambda: build.dome(), lambda: build.tower(blocks_per_side=4, courses=6)])
def test_joints_balance_a_block_as_its_contacts_do(make):
    """Summed over the joints, force and moment on each block are those of its contact points, to rounding."""
    model = build_model(make(), friction=0.6)
    contacts = solve_equilibrium(model, solver=make_solver("native")).contacts
    found = joint_resultants(model, contacts)
    assert len(found.a) < len(contacts.a)
    by_points = wrenches(model, contacts.a, contacts.b, contacts.point, contacts.impulse, 0.0 * contacts.impulse)
    by_joints = wrenches(model, found.a, found.b, found.centre, found.force, found.moment)
    carried = np.abs(contacts.impulse).sum()
    np.testing.assert_allclose(by_joints, by_points, atol=1e-12 * carried)
    free, weight = ~model.bodies.fixed, GRAVITY * model.bodies.mass
    np.testing.assert_allclose(by_joints[free, 2] / weight[free].max(), weight[free] / weight[free].max(), atol=1e-4)
    plane = np.linalg.norm(np.cross(found.moment, found.normal), axis=1)
    assert plane.max() < 1e-9 * carried, "in a plane joint all that is left is torsion"
    assert found.thrust.min() > -1e-6 * carried
    assert found.eccentricity.max() < 1 + 1e-9, "within the joint"
    assert found.friction_used[found.thrust > 1e-3 * found.thrust.max()].max() < 1 + 1e-3, "within the cone of friction"


def wrenches(model, a, b, point, force, moment):
    """(B, 6) [N, N m] about the centroids."""
    out = np.zeros((len(model.blocks), 6))
    for body, sign in ((a, -1.0), (b, 1.0)):
        np.add.at(out, body, sign * np.concatenate([force, moment + np.cross(point - model.position[body], force)], axis=1))
    return out


def test_chains():
    """An arch, a column and a fork, written down by hand; supports are 0 and 1."""
    fixed = np.array([True, True] + [False] * 8)
    arch = [[0, 4], [3, 4], [2, 3], [1, 2]]
    column = [[0, 5], [5, 6]]
    fork = [[0, 7], [7, 8], [7, 9]]
    found = chains(np.array(arch + column + fork), fixed)
    assert found == [[1, 2, 3, 4, 0], [0, 5, 6]]
    members = np.array([False] * 5 + [True] * 4 + [False])
    assert chains(np.array(arch + column + fork), fixed, members) == [[0, 5, 6], [0, 7, 8]]
    assert chains(np.array([[0, 2], [1, 2]]), fixed) == [[0, 2, 1]], "a keystone alone"
    assert chains(np.array([[0, 6], [5, 6]]), fixed) == [[0, 6, 5]], "a column numbered from its top"
    ring = np.array([[2, 3], [3, 4], [2, 4]])
    assert chains(ring, fixed) == []


def test_the_segments_of_the_flow_are_as_long_as_the_forces():
    model, contacts = leaning_stack(2, 0.0)
    forces = np.repeat([[0, 0, 300.0], [0, 0, 100.0]], 4, axis=0)
    flow = force_flow(joint_resultants(model, contacts._replace(impulse=forces)), length=0.6)
    np.testing.assert_allclose(flow, [[[0, 0, -0.3], [0, 0, 0.3]], [[0, 0, 0.9], [0, 0, 1.1]]], atol=1e-12)


def test_an_unknown_group():
    size = {"radius": 10.0, "thickness": 1.5, "embrace": 2.0, "blocks": 5, "depth": 1.0}
    model = build_model(build.arch(**size), friction=0.6)
    found = joint_resultants(model, arch_contacts(**size))
    assert [len(line) for line in thrust_lines(model, found, only="arch")] == [6]
    with pytest.raises(InputError, match="did you mean 'arch'"):
        thrust_lines(model, found, only="arcade")


def test_the_ring_of_an_arch_within_a_wall():
    """Its voussoirs touch the wall above; looked at alone they are a chain, and all its centres lie within the ring."""
    blocks = build.spandrel_arch()
    model = build_model(blocks, friction=0.6)
    found = joint_resultants(model, solve_equilibrium(model, solver=make_solver("native")).contacts)
    assert not thrust_lines(model, found)
    (line,) = thrust_lines(model, found, only="block-voussoir")
    ring = [block for block in blocks if block.name.startswith("block-voussoir")]
    assert len(line) == len(ring) + 1
    reach = np.hypot(*np.concatenate([block.vertices for block in ring])[:, [0, 2]].T)
    away = np.hypot(line[:, 0], line[:, 2])
    assert reach.min() - 1e-6 < away.min()
    assert away.max() < reach.max() + 1e-6


def test_what_touches_nothing_carries_nothing():
    model = build_model([box((0, 0, 0), (1, 1, 1), fixed=True), box((0, 0, 5), (1, 1, 6))], friction=0.5)
    assert len(joint_resultants(model, no_contacts()).force) == 0

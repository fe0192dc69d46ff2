"""Nearest points of convex polyhedra against a quadratic program, and contact by nearest points against what can be said by
hand and against separating axes."""

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.spatial.transform import Rotation

from drystone import build
from drystone.base.errors import InputError
from drystone.base.kernel import kernel
from drystone.build.shapes import box as block
from drystone.contact.contacts import no_contacts
from drystone.contact.detection import detect
from drystone.contact.inset import inset, with_nearest_points
from drystone.contact.nearest_points import nearest_points, simplex
from drystone.structure.model import Block, build_model

sys.path.insert(0, str(Path(__file__).parents[2] / "reference"))
from contact_reference import bodies_of, hull

UP = np.array([1.0, 0.0, 0.0, 0.0])


@kernel
def _distance(vertex, count, size, out):
    return nearest_points(vertex, 0, count, count, vertex.shape[0], size, out)


def distance_of(a, b):
    """Distance [m] of the hulls of two sets of points, and the vector from one to the other."""
    work = simplex()
    found = _distance(np.concatenate([a, b]), len(a), 1.0, work)
    return found, work.point_b - work.point_a, work


def by_quadratic_program(a, b):
    """The least |y - x| with x, y in the hulls: least squares with shares that are not negative, a heavy row for each sum."""
    heavy, one, other = 1e4, np.r_[np.ones(len(a)), np.zeros(len(b))], np.r_[np.zeros(len(a)), np.ones(len(b))]
    rows = np.vstack([np.hstack([-a.T, b.T]), heavy * one, heavy * other])
    share, _ = nnls(rows, np.array([0, 0, 0, heavy, heavy]), maxiter=1000)
    first, second = share[: len(a)], share[len(a) :]
    return b.T @ (second / second.sum()) - a.T @ (first / first.sum())


def random_hulls(seed):
    """A box, a plate, a stick or a ball of points, turned, beside another of them; apart or nearly."""
    rng = np.random.default_rng(seed)
    sides = [[1, 1, 1], [1, 1, 0.05], [0.1, 0.1, 2], [0.6, 0.3, 0.2]]
    cube = np.array(list(itertools.product([-0.5, 0.5], repeat=3)))
    shapes = []
    for _ in range(2):
        kind = rng.integers(5)
        points = rng.normal(size=(12, 3)) / 3 if kind == 4 else cube * sides[kind]
        shapes.append(points @ Rotation.random(random_state=rng).as_matrix().T)
    away = rng.normal(size=3)
    return shapes[0], shapes[1] + away / np.linalg.norm(away) * rng.uniform(0.2, 2.5)


def test_the_distance_is_that_of_a_quadratic_program():
    apart = 0
    for seed in range(500):
        a, b = random_hulls(seed)
        truth = by_quadratic_program(a, b)
        found, vector, work = distance_of(a, b)
        assert abs(found - np.linalg.norm(truth)) < 1e-7, seed
        if np.linalg.norm(truth) > 1e-2:
            apart += 1
            np.testing.assert_allclose(vector, truth, atol=1e-5, err_msg=str(seed))
            n = vector / found  # no vertex is nearer along the direction than the points are: proof that they are the nearest
            assert (b @ n).min() - (a @ n).max() > found - 1e-12, seed
            assert abs(work.point_a @ n - (a @ n).max()) < 1e-12, seed
    assert apart > 300


def test_shapes_that_cut_into_each_other_have_no_distance():
    cube = np.array(list(itertools.product([-0.5, 0.5], repeat=3)))
    for seed in range(50):
        turn = Rotation.random(random_state=seed).as_matrix()
        assert distance_of(cube, cube @ turn.T + [0.4, 0.2, 0.1])[0] == 0.0


@pytest.mark.parametrize(
    ("shift", "vector"),
    [((0.2, 0.3, 1.7), (0, 0, 0.7)), ((1.3, 0.1, 1.4), (0.3, 0, 0.4)), ((1.2, -1.3, 1.6), (0.2, -0.3, 0.6))],
    ids=["face", "edge", "corner"],
)
def test_boxes_have_the_distance_of_their_closed_form(shift, vector):
    """Of boxes along the axes: max(0, |shift| - 1) along each."""
    cube = np.array(list(itertools.product([-0.5, 0.5], repeat=3)))
    found, between, _ = distance_of(cube, cube + shift)
    assert found == pytest.approx(np.linalg.norm(vector), abs=1e-14)
    np.testing.assert_allclose(between, vector, atol=1e-13)


# ---------------------------------------------------------------- shrunken copies


def test_the_copy_of_a_box_is_smaller_by_the_depth_on_every_side():
    bodies = build_model([block((0, 0, 0), (1, 2, 3)), block((0, 0, 3), (1, 1, 4), fixed=True)], friction=0.5).bodies
    copies = inset(bodies, np.array([0.1, 0.1]))
    own = copies.vertex[: copies.vertex_start[1]]
    assert sorted(map(tuple, own.round(12))) == sorted(itertools.product((-0.4, 0.4), (-0.9, 0.9), (-1.4, 1.4)))
    assert np.diff(copies.face_start).tolist() == [4] * 12
    for f in range(6):  # corners run counter-clockwise seen from outside
        p, q, r = copies.vertex[copies.face_vertex[copies.face_start[f] :][:3]]
        assert np.cross(q - p, r - q) @ copies.face_normal[f] > 0


def test_the_copy_of_any_polyhedron_is_what_is_so_deep_inside():
    """A corner of the copy lies on three planes or more and behind all others."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        bodies = bodies_of([hull(rng.normal(size=(12, 3)))])
        copies = inset(bodies, np.array([0.05]))
        corner = bodies.vertex[bodies.face_vertex[bodies.face_start[:-1]]]
        depth = np.einsum("fj,fj->f", bodies.face_normal, corner)[:, None] - bodies.face_normal @ copies.vertex.T
        assert depth.min() > 0.05 - 1e-12
        assert (np.sum(depth < 0.05 + 1e-9, axis=0) >= 3).all()


def test_a_face_that_vanishes_is_left_out():
    chipped = build.chip([block((0, 0, 0), (1, 1, 1)), block((0, 0, 1), (1, 1, 2), fixed=True)], 1e-3)
    bodies = build_model(chipped, friction=0.5).bodies
    assert bodies.piece_face[1] > 6
    copies = inset(bodies, np.array([0.1, 0.1]))
    assert copies.piece_face[1] == 6


# ---------------------------------------------------------------- contacts


def found(blocks, radius=1e-3, turns=None, **keys):
    model = build_model(blocks, friction=0.5)
    rotation = np.tile(UP, (len(model.position), 1))
    if turns is not None:
        rotation[:] = turns
    both = []
    for each in (with_nearest_points(model, corner_radius=radius, **keys), model):
        still = np.zeros((len(rotation), 6))
        both.append(detect(each.bodies, each.position, rotation, still, 1e-3, no_contacts(), 0, nearest=each.nearest)[0])
    return both


STRUCTURES = {
    "wall": lambda: build.wall(),
    "arch": lambda: build.arch(),
    "dome": lambda: build.dome(),
    "drum-column": lambda: build.drum_column(),
    "house": lambda: build.house(),
}


@pytest.mark.parametrize("name", STRUCTURES)
def test_flush_joints_are_those_of_separating_axes(name):
    """The same pairs, normals to the last bits, no gap, points within 2 radii / sin(half the sharpest corner) of their corners.
    Pairs that only share an edge are found as well, with the gap of rounded corners, which is more than none."""
    by_points, by_axes = found(STRUCTURES[name]())
    joints = {(a, b) for a, b in zip(by_axes.a, by_axes.b, strict=True)}
    inside = np.array([(a, b) in joints for a, b in zip(by_points.a, by_points.b, strict=True)])
    assert {(a, b) for a, b in zip(by_points.a[inside], by_points.b[inside], strict=True)} == joints
    assert (by_points.gap[~inside] > 1e-5).all()
    for pair in joints:
        here, there = ((c.a == pair[0]) & (c.b == pair[1]) for c in (by_points, by_axes))
        near = there & (by_axes.gap < 1e-9)
        if not near.any():
            continue
        assert np.abs(by_points.normal[here] - by_axes.normal[near][0]).max() < 2e-12, pair
        assert np.abs(by_points.gap[here].min()) < 1e-12, pair
        away = np.linalg.norm(by_axes.point[near][:, None] - by_points.point[here][None], axis=2)
        assert away.min(axis=1).max() < 6e-3, pair
        assert by_points.area[here].sum() == pytest.approx(by_axes.area[there].sum(), rel=0.05), pair


def test_contacts_turn_and_move_with_the_blocks():
    """The same contacts, turned and moved, 100 m from the origin."""
    turn = Rotation.from_rotvec([0.3, -0.8, 1.1])
    blocks = [block((0, 0, 0), (1, 1, 1), fixed=True), block((0.25, 0.4, 1.0005), (0.9, 1.3, 1.4))]
    model = with_nearest_points(build_model(blocks, friction=0.5), corner_radius=2e-3)
    tilt = Rotation.from_rotvec([[0, 0, 0], [0.0004, 0.0003, 0.2]])
    still, away = np.zeros((2, 6)), np.array([60.0, -50.0, 70.0])
    here, there = (
        detect(model.bodies, at, as_turned.as_quat(scalar_first=True), still, 1e-3, no_contacts(), 0, nearest=model.nearest)[0]
        for at, as_turned in ((model.position, tilt), (turn.apply(model.position) + away, turn * tilt))
    )
    assert len(here.gap) == len(there.gap) > 2
    np.testing.assert_allclose(there.normal, turn.apply(here.normal), atol=1e-9)
    order = np.linalg.norm((turn.apply(here.point) + away)[:, None] - there.point[None], axis=2)
    assert order.min(axis=1).max() < 1e-9
    np.testing.assert_allclose(here.gap, there.gap[order.argmin(axis=1)], atol=1e-12)


@pytest.mark.parametrize("degrees", [1.0, 10.0, 40.0, 55.0])
@pytest.mark.parametrize("inside", [0.0005, 0.001, 0.003, 0.04])
def test_an_edge_within_a_face_is_pushed_along_the_normal_of_the_face(degrees, inside):
    """A cube that stands on its edge, the edge `inside` [m] from the rim of the block below: nothing else touches. (By
    separating axes the direction is tilted by half the angle up to 4 mm inside.) On a rim that is rounded by 0.2 mm it is the
    face from 0.2 mm (1 + sine) inside on."""
    angle = np.deg2rad(degrees)
    lower, upper = block((-1, 0, -0.4), (0, 0.4, 0), fixed=True), block((-0.4 - inside, 0, 0), (-inside, 0.4, 0.4))
    radius = 2e-4
    pivot, centre = np.array([-inside, 0.2, 0.0]), np.array([-0.2 - inside, 0.2, 0.2])
    turn = Rotation.from_rotvec([0, angle, 0])  # its right lower edge stays, it leans to the right
    model = with_nearest_points(build_model([lower, upper], friction=0.5), corner_radius=radius)
    position = np.array([model.position[0], pivot + turn.apply(centre - pivot)])
    rotation = np.array([UP, turn.as_quat(scalar_first=True)])
    c = detect(model.bodies, position, rotation, np.zeros((2, 6)), 1e-3, no_contacts(), 0, nearest=model.nearest)[0]
    # the rounded edge is higher than the sharp one: both inset faces go through its axis
    lift = radius * (np.cos(angle) + np.sin(angle) - 1)
    near = c.gap < lift + 1e-6
    assert near.sum() == 2
    np.testing.assert_allclose(c.normal[near], [[0, 0, 1]] * 2, atol=1e-12)
    np.testing.assert_allclose(c.gap[near], lift, atol=1e-12)


def test_blocks_that_share_an_edge_only_keep_their_distance_by_the_fillets():
    """Two cubes corner to corner across: rounded by r each, they are (sqrt 2 - 1) 2 r apart, at two points of the edge."""
    blocks = [block((0, 0, 0), (1, 1, 1), fixed=True), block((1, 0, 1), (2, 1, 2))]
    c, by_axes = found(blocks, radius=1e-3)
    assert len(by_axes.gap) == 0
    near = c.gap < 2e-3
    np.testing.assert_allclose(c.gap[near], (np.sqrt(2) - 1) * 2e-3, atol=1e-12)
    np.testing.assert_allclose(c.normal[near], [[np.sqrt(0.5), 0, np.sqrt(0.5)]] * near.sum(), atol=1e-12)
    assert np.ptp(c.point[near][:, 1]) == pytest.approx(1 - 2e-3, abs=1e-9)


@pytest.mark.parametrize("slip", [-3e-3, -1e-3, -1e-5, -1e-7, 0.0, 1e-7, 1e-5, 1e-3, 3e-3])
def test_as_a_block_slides_past_an_edge_the_joint_is_never_lost(slip):
    """Overhanging by all but a few mm, then past the edge: two ends of a line remain, with the gap of the rounded edges. A face
    that separates as well but for 1e-12 of the size counts as touching, here up to a slip of 6e-8 m."""
    radius = 1e-3
    blocks = [block((0, 0, 0), (1, 1, 1), fixed=True), block((1 - 2 * radius + slip, 0, 1), (1.9, 1, 2))]
    c = found(blocks, radius=radius)[0]
    across = max(slip, 0.0)  # between the axes of the two fillets
    gap = np.hypot(across, 2 * radius) - 2 * radius
    near = c.gap < gap + 1e-9
    assert np.ptp(c.point[near][:, 1]) == pytest.approx(1 - 2 * radius, abs=1e-7)
    np.testing.assert_allclose(c.gap[near], gap, atol=2e-12)
    expected = np.array([across, 0, 2 * radius]) / np.hypot(across, 2 * radius)
    np.testing.assert_allclose(c.normal[near], np.tile(expected, (near.sum(), 1)), atol=1e-9 if abs(slip) > 1e-6 else 1e-4)


@pytest.mark.parametrize("depth", [0.0, 1e-4, 1.5e-3, 3e-3, 2e-2])
def test_overlaps_are_told_as_deep_as_they_are(depth):
    """Up to twice the radius by nearest points, beyond by the axis along which the copies overlap least."""
    blocks = [block((0, 0, 0), (1, 1, 1), fixed=True), block((0.2, 0.2, 1), (0.8, 0.8, 1.5))]
    model = with_nearest_points(build_model(blocks, friction=0.5), corner_radius=1e-3)
    position = model.position - [[0, 0, 0], [0, 0, depth]]
    still = np.zeros((2, 6))
    c = detect(model.bodies, position, np.tile(UP, (2, 1)), still, 1e-3, no_contacts(), 0, nearest=model.nearest)[0]
    np.testing.assert_allclose(c.gap, -depth, atol=1e-12)
    np.testing.assert_allclose(c.normal, [[0, 0, 1]] * 4, atol=1e-12)


def test_the_contact_distance_says_what_may_touch():
    blocks = [block((0, 0, 0), (1, 1, 1), fixed=True), block((0.2, 0.2, 1.02), (0.8, 0.8, 1.5))]
    assert len(found(blocks)[0].gap) == 0
    assert len(found(blocks, contact_distance=0.019)[0].gap) == 0
    assert len(found(blocks, contact_distance=0.021)[0].gap) == 4


def test_crossing_keels_touch_at_one_point():
    """Two wedges whose edges cross at right angles: the nearest points of the two edges, the normal that of both."""
    wedge = Block(np.array([[-1, -0.3, 0], [1, -0.3, 0], [1, 0.3, 0], [-1, 0.3, 0], [-1, 0, 0.5], [1, 0, 0.5]], float),
                  ((0, 3, 2, 1), (0, 1, 5, 4), (2, 3, 4, 5), (1, 2, 5), (3, 0, 4)), fixed=True)  # fmt: skip
    turn = np.array([[0, 1, 0], [1, 0, 0], [0, 0, -1.0]])
    upper = Block(wedge.vertices @ turn.T + [0, 0, 1.0], wedge.faces)
    c = found([wedge, upper], radius=1e-3)[0]
    deepest = np.argmin(c.gap)
    np.testing.assert_allclose(c.point[deepest], [0, 0, 0.5], atol=1e-9)
    np.testing.assert_allclose(c.normal[deepest], [0, 0, 1], atol=1e-9)
    half = np.arctan2(0.3, 0.5)
    np.testing.assert_allclose(c.gap[deepest], 2e-3 * (1 / np.sin(half) - 1), atol=1e-9)
    assert np.sum(c.gap < c.gap[deepest] + 1e-9) == 1


def test_what_cannot_be_is_refused():
    model = build_model([block((0, 0, 0), (1, 1, 0.1), fixed=True), block((0, 0, 0.1), (1, 1, 1), name="stone")], friction=0.5)
    with pytest.raises(InputError, match=r"radius is 0.03 m and block 'block-0' is 0.1 m thick; give at most .* 0.025 m"):
        with_nearest_points(model, corner_radius=0.03)
    with pytest.raises(InputError, match="contact_distance is -1"):
        with_nearest_points(model, contact_distance=-1.0)

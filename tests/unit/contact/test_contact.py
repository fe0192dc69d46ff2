"""Contact detection on configurations whose contacts can be counted and placed by hand."""

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from drystone import build, build_model
from drystone.contact.broad_phase import candidate_pairs
from drystone.contact.contact_memory import remember
from drystone.contact.contacts import Contacts, no_contacts
from drystone.contact.detection import detect
from drystone.contact.narrow_phase import touching_points
from drystone.contact.placed_blocks import place
from drystone.contact.polygon import area_and_perimeter, clip, share_out, simplify

sys.path.insert(0, str(Path(__file__).parents[2] / "reference"))
from contact_reference import bodies_of, box, hull, margin_of

H = 1e-3  # [s]


def find(shapes, position, turns=None, velocity=None, fixed=None, previous=None, next_id=0):
    position = np.asarray(position, float)
    turns = Rotation.identity(len(shapes)) if turns is None else turns
    velocity = np.zeros((len(shapes), 6)) if velocity is None else velocity
    rotation = turns.as_quat(scalar_first=True)
    return detect(bodies_of(shapes, fixed), position, rotation, velocity, H, previous or no_contacts(), next_id)


def rows(points):
    """Points as a sorted list of rounded tuples."""
    return sorted(map(tuple, (np.round(points, 9) + 0.0).tolist()))


def turned(axis, *degrees):
    return Rotation.from_rotvec(np.outer(np.deg2rad(degrees), axis))


# ---------------------------------------------------------------- two blocks


def test_two_cubes_face_to_face_touch_at_the_corners_of_the_overlap():
    contacts, next_id = find([box(1, 1, 1), box(1, 1, 1)], [[0, 0, 0], [0.25, 0.4, 1]])
    assert rows(contacts.point) == [(-0.25, -0.1, 0.5), (-0.25, 0.5, 0.5), (0.5, -0.1, 0.5), (0.5, 0.5, 0.5)]
    assert np.allclose(contacts.normal, [0, 0, 1])
    assert np.allclose(contacts.gap, 0)
    assert contacts.area.sum() == pytest.approx(0.75 * 0.6)
    assert sorted(contacts.id) == [0, 1, 2, 3]
    assert next_id == 4


@pytest.mark.parametrize("gap", [0.003, -0.001, -0.02])
def test_gap_is_signed_and_the_point_half_way(gap):
    contacts, _ = find([box(1, 1, 1), box(1, 1, 1)], [[0, 0, 0], [0, 0, 1 + gap]])
    assert np.allclose(contacts.gap, gap)
    assert np.allclose(contacts.point[:, 2], 0.5 + gap / 2)
    assert len(contacts.gap) == 4


def test_beyond_the_margin_there_is_no_contact_unless_the_blocks_close_in():
    """0.005 radius = 4.3 mm at rest; a block falling at 1 m/s covers 2 mm in two steps of 1 ms."""
    apart = [[0, 0, 0], [0, 0, 1.005]]
    assert len(find([box(1, 1, 1)] * 2, apart)[0].gap) == 0
    falling = np.array([[0.0] * 6, [0, 0, -1, 0, 0, 0]])
    assert len(find([box(1, 1, 1)] * 2, apart, velocity=falling)[0].gap) == 4
    together = np.array([[0.0, 0, -1, 0, 0, 0]] * 2)
    assert len(find([box(1, 1, 1)] * 2, apart, velocity=together)[0].gap) == 0


def test_block_on_slab_touches_at_its_own_corners():
    contacts, _ = find([box(20, 20, 1), box(0.4, 0.2, 0.3)], [[0, 0, -0.5], [3, -2, 0.15]], fixed=[True, False])
    assert rows(contacts.point) == [(2.8, -2.1, 0), (2.8, -1.9, 0), (3.2, -2.1, 0), (3.2, -1.9, 0)]
    assert np.allclose(contacts.area, 0.02)


def test_supports_do_not_touch_each_other():
    assert len(find([box(1, 1, 1)] * 2, [[0, 0, 0], [0, 0, 1]], fixed=[True, True])[0].gap) == 0


@pytest.mark.parametrize("degrees", [0.01, 1, 5, 30, 50])
def test_hinge_between_equal_cubes_takes_the_bisector_and_the_shared_edge(degrees):
    """Turned about the edge x = z = 0.5: shrunken copies are nearest along the bisector (NB figure 2)."""
    turn = turned([0, 1, 0], 0, degrees)
    edge = np.array([0.5, 0, 0.5])
    contacts, _ = find([box(1, 1, 1)] * 2, [[0, 0, 0], edge + turn[1].apply([-0.5, 0, 0.5])], turn)
    half = np.deg2rad(degrees) / 2
    assert np.allclose(contacts.normal, [np.sin(half), 0, np.cos(half)])
    shut = contacts.gap < 1e-9
    assert rows(contacts.point[shut]) == [(0.5, -0.5, 0.5), (0.5, 0.5, 0.5)]
    # the far edge opens by 2 sin(angle / 2): it stays a potential contact below the margin of 4.3 mm
    assert np.sum(~shut) == (2 if degrees < 0.2 else 0)


def test_crossing_edges_touch_in_one_point_along_their_common_normal():
    """Both cubes stand on an edge; the gap of 1 mm is along z, where no face separates."""
    turn = Rotation.from_matrix([turned([1, 0, 0], 45).as_matrix()[0], turned([0, 1, 0], 45).as_matrix()[0]])
    contacts, _ = find([box(1, 1, 1)] * 2, [[0, 0, 0], [0.1, 0.2, np.sqrt(2) + 0.001]], turn)
    assert np.allclose(contacts.normal, [0, 0, 1])
    assert rows(contacts.point) == [(0.1, 0, np.round(np.sqrt(0.5) + 0.0005, 9))]
    assert np.allclose(contacts.gap, 0.001)


def test_vertex_on_slab_touches_in_one_point():
    turn = Rotation.concatenate([Rotation.identity(), Rotation.align_vectors([[0, 0, -1]], [[1, 1, 1]])[0]])
    contacts, _ = find([box(9, 9, 1), box(1, 1, 1)], [[0, 0, -0.5], [1, 2, np.sqrt(0.75)]], turn)
    assert rows(contacts.point) == [(1, 2, 0)]
    assert np.allclose(contacts.normal, [0, 0, 1])


def test_a_thin_joint_keeps_its_four_corners():
    """Cubes of 1 m that overlap by 5 mm; by 1 mm, less than 2e-3 of the size, it is no joint any more."""
    contacts, _ = find([box(1, 1, 1)] * 2, [[0, 0, 0], [0.995, 0, 1]])
    assert rows(contacts.point) == [(0.495, -0.5, 0.5), (0.495, 0.5, 0.5), (0.5, -0.5, 0.5), (0.5, 0.5, 0.5)]
    assert len(find([box(1, 1, 1)] * 2, [[0, 0, 0], [0.999, 0, 1]])[0].gap) == 0


def test_plates_of_5_mm_standing_on_edge_keep_both_sides():
    plate = box(1, 0.005, 1)
    contacts, _ = find([box(3, 3, 1), plate, plate], [[0, 0, -0.5], [0, 0, 0.5], [0, 0, 1.5]])
    assert len(contacts.gap) == 8
    assert np.allclose(np.abs(contacts.point[:, 1]), 0.0025)


def test_no_contact_is_lost_when_the_buffers_are_too_short():
    """256-sided drums: more points than the first guess of 8 a pair. An arc of k sides lies within 6e-3 R (3e-3 of the
    diameter) of its chord if 1 - cos(pi k / 256) < 6e-3, k <= 8: 256 / 8 = 32 points."""
    angle = 2 * np.pi * np.arange(256) / 256
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    drum = hull(np.concatenate([np.column_stack([ring, np.full(256, z)]) for z in (0, 1.0)]))
    contacts, _ = find([drum] * 30, [[0, 0, k] for k in range(30)])
    count = np.bincount(contacts.a)
    assert np.all(count == 32)
    assert np.allclose(np.hypot(contacts.point[:, 0], contacts.point[:, 1]), 1)


# ---------------------------------------------------------------- tapered blocks


def voussoir(start, stop):
    """The voussoir between these angles [rad] from z towards x, of radii 10 and 11.5 m and 1 m deep: shape and place."""
    corners = np.array([[r * np.sin(p), y, r * np.cos(p)] for r in (10, 11.5) for p in (start, stop) for y in (-0.5, 0.5)])
    shape = hull(corners)
    return shape, corners.mean(0) - shape.vertices.mean(0)


@pytest.mark.parametrize("turn", [0, 1])
@pytest.mark.parametrize("slip", [1e-7, -1e-7, 9e-7, -9e-7, 1e-5, -1e-5])
@pytest.mark.parametrize("taper", [0.058, 0.13])
def test_a_slip_along_the_joint_of_voussoirs_is_no_gap(taper, slip, turn):
    """The joint is the plane x = 0; the intrados of both is visible along it, n.d = taper. b slips by `slip` in the joint
    and turns by as much a metre. Planes n_a.x = 0 and n_b.x = c: from the point P along d they lie at -n_a.P / (n_a.d)
    and (c - n_b.P) / (n_b.d), and the gap is the difference. Read on the intrados, it would be up to -slip / taper."""
    angle = 2 * np.arcsin(taper)
    (a, place_a), (b, place_b) = voussoir(-angle, 0), voussoir(0, angle)
    assert np.isclose(a.normals[:, 0], taper).any()
    turns = Rotation.from_rotvec([[0, 0, 0], turn * abs(slip) * np.array([1, -2, 0.5])])
    shift = slip * np.array([0, 0.6, 0.8])
    contacts, _ = find([a, b], [place_a, place_b + shift], turns)
    assert len(contacts.gap) == 4
    assert np.allclose(np.abs(contacts.point - [0, 0, 10.75]), [0, 0.5, 0.75], rtol=0, atol=5e-5)
    d, normal = contacts.normal[0], turns[1].apply([1, 0, 0])
    c = normal @ (place_b + shift - turns[1].apply(place_b))  # the joint of b went through the origin
    expected = (c - contacts.point @ normal) / (normal @ d) + contacts.point[:, 0] / d[0]
    assert np.abs(contacts.gap - expected).max() < 1e-3 * abs(slip)
    if not turn:
        assert np.abs(contacts.gap).max() < 1e-3 * abs(slip)


ARCH = {"blocks": 27, "embrace": np.pi, "radius": 10.0, "thickness": 1.5}


@pytest.mark.parametrize("step", [1e-7, 1e-6, 1e-5])
@pytest.mark.parametrize(
    ("family", "sizes", "one", "other"),
    [
        (build.arch, ARCH, "voussoir-13", "voussoir-14"),
        (build.dome, {}, "block-3-1", "block-3-2"),  # across a meridian
        (build.dome, {}, "block-3-1", "block-4-1"),  # across a parallel
    ],
)
def test_gaps_change_with_the_normal_velocity_to_second_order(family, sizes, one, other, step):
    """b is moved twice by about `step` [m] and [rad]. d turns by half the rotation, and the points wander over planes
    inclined by it, at most 2 sqrt(3) step: what is left of the gap's change after n.w is rotation times way. The way is
    about the slip, but where two nearly parallel sides cross within 3e-3 diameters of a corner either may stay."""
    blocks = [block for block in family(**sizes) if block.name in (one, other)]
    model = build_model(blocks, friction=0.6)
    rng = np.random.default_rng(5)
    for _ in range(100):
        motion = step * rng.uniform(-1, 1, (2, 6))
        motion[:, :3] /= 2
        turns = Rotation.from_rotvec(motion[:, 3:])
        before, middle = _touch_after(model, motion[0, :3], turns[0])
        after, _ = _touch_after(model, motion[:, :3].sum(0), turns[1] * turns[0])
        assert len(before.gap) == len(after.gap) == 4
        match = np.linalg.norm(before.point[:, None] - after.point[None], axis=2).argmin(1)
        velocity = motion[1, :3] + np.cross(motion[1, 3:], before.point - middle)
        change = after.gap[match] - before.gap - np.sum(before.normal * velocity, axis=1)
        assert sorted(match) == [0, 1, 2, 3]
        way = np.linalg.norm(after.point[match] - before.point, axis=1)
        assert way.max() < 3e-3 * 2 * model.bodies.radius.max()
        assert np.all(np.abs(change) < 4 * step * (step + way) + 1e-14)


def _touch_after(model, shift, turn):
    """Contacts once the second block has moved, and its centroid."""
    position = model.position + np.array([np.zeros(3), shift])
    rotation = Rotation.concatenate([Rotation.identity(), turn]).as_quat(scalar_first=True)
    contacts, _ = detect(model.bodies, position, rotation, np.zeros((2, 6)), H, no_contacts(), 0)
    return contacts, position[1]


# ---------------------------------------------------------------- many blocks


def test_twelve_offset_cubes_stacked_have_four_points_a_joint():
    contacts, _ = find([box(1, 1, 1)] * 12, [[0.1 * (k % 2), 0.03 * k, k] for k in range(12)])
    assert np.array_equal(contacts.a, np.repeat(np.arange(11), 4))
    assert np.array_equal(contacts.b, contacts.a + 1)
    overlaps = [0.9 * 0.97] * 11
    assert np.allclose(contacts.area.reshape(-1, 4).sum(1), overlaps)


def test_stack_bond_wall_has_no_diagonal_contacts():
    """20 x 30 aligned blocks: 20 * 29 head joints and 19 * 30 bed joints, nothing across the crossings of joints."""
    centre = np.array([[0.5 * i, 0, 0.25 * j] for j in range(20) for i in range(30)])
    contacts, _ = find([box(0.5, 0.3, 0.25)] * 600, centre)
    joints = np.unique(np.column_stack([contacts.a, contacts.b]), axis=0)
    assert len(joints) == 20 * 29 + 19 * 30
    assert len(contacts.gap) == 4 * len(joints)
    step = np.abs(centre[joints[:, 0]] - centre[joints[:, 1]])
    assert np.all(np.sum(step > 1e-9, axis=1) == 1)


@pytest.mark.parametrize("shake", [0.0, 2e-5])
def test_running_bond_wall_has_four_points_a_joint(shake):
    """c columns, r courses, odd ones with two half blocks at the ends, on a slab.
    Head joints: c - 1 in even courses, c in odd ones. Bed joints: 2 c between courses; c on the slab."""
    courses, columns = 10, 14
    shapes, centre = [box(20, 2, 1)], [[3.5, 0, -0.5]]
    for r in range(courses):
        ends = np.arange(columns + 1) * 0.5 if r % 2 == 0 else np.r_[0, np.arange(columns) * 0.5 + 0.25, columns * 0.5]
        for left, right in itertools.pairwise(ends):
            shapes.append(box(right - left, 0.25, 0.25))
            centre.append([(left + right) / 2, 0, 0.25 * r + 0.125])
    rng = np.random.default_rng(0)
    turns = Rotation.from_rotvec(shake * rng.normal(size=(len(shapes), 3)))
    centre = np.array(centre) + shake * rng.normal(size=(len(shapes), 3))
    contacts, _ = find(shapes, centre, turns)
    joints = (courses // 2) * (2 * columns - 1) + (courses - 1) * 2 * columns + columns
    assert len(np.unique(contacts.a * 1000 + contacts.b)) == joints
    assert len(contacts.gap) == 4 * joints


# ---------------------------------------------------------------- broad phase


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(2, 6))])
def test_broad_phase_finds_the_pairs_that_brute_force_finds(seed):
    rng = np.random.default_rng(seed)
    count = 300
    shapes = [box(*s) for s in rng.uniform(0.05, 0.5, (count, 3)) * rng.choice([1, 8], (count, 1), p=[0.95, 0.05])]
    shapes[17] = box(60, 60, 1)
    position = rng.uniform(-2, 2, (count, 3)) * [4, 2, 1]
    rotation = Rotation.random(count, rng=rng).as_quat(scalar_first=True)
    velocity = 3 * rng.normal(size=(count, 6)) + [50, 0, 0, 0, 0, 0]
    bodies = bodies_of(shapes, rng.random(count) < 0.3)
    placed = place(bodies, position, rotation, velocity, H)
    expected = []
    for a in range(count):
        for b in range(a + 1, count):
            margin = margin_of(shapes[a], shapes[b], velocity[a], velocity[b], H)
            apart = max((placed.low[b] - placed.high[a]).max(), (placed.low[a] - placed.high[b]).max())
            if apart <= margin and not (bodies.fixed[a] and bodies.fixed[b]):
                expected.append([a, b])
    assert candidate_pairs(bodies, placed).tolist() == expected


def test_broad_phase_grows_its_buffer():
    """100 blocks in one place: 4,950 pairs, more than the 16 a block first provided for."""
    bodies = bodies_of([box(1, 1, 1)] * 100)
    rotation = np.tile([1.0, 0, 0, 0], (100, 1))
    placed = place(bodies, np.zeros((100, 3)), rotation, np.zeros((100, 6)), H)
    assert len(candidate_pairs(bodies, placed)) == 4950


def test_one_block_alone_and_no_pair_at_all():
    contacts, next_id = find([box(1, 1, 1)], [[0, 0, 0]], next_id=5)
    assert len(contacts.gap) == 0
    assert next_id == 5


# ---------------------------------------------------------------- identity


def test_ids_persist_while_a_block_slides():
    """1 mm a step over 0.3 m; over the slab's edge a corner of the block becomes one of the slab, and keeps its id."""
    slab, block = box(1, 1, 1), box(0.5, 0.5, 0.5)
    contacts, next_id = find([slab, block], [[0, 0, 0], [0, 0, 0.75]])
    for step in range(1, 301):
        contacts, next_id = find([slab, block], [[0, 0, 0], [1e-3 * step, 0, 0.75]], previous=contacts, next_id=next_id)
        assert sorted(contacts.id) == [0, 1, 2, 3]
    assert next_id == 4


def test_memory_goes_to_the_nearest_and_to_nobody_far():
    contacts, next_id = find([box(1, 1, 1)] * 3, [[0, 0, 0], [0, 0, 1], [0, 0, 2]])
    count = len(contacts.gap)
    rng = np.random.default_rng(0)
    old = contacts._replace(impulse=rng.normal(size=(count, 3)), velocity=rng.normal(size=(count, 3)),
                            bond=rng.random(count), rest=rng.random(count), crushed=rng.random(count),
                            stretch=rng.normal(size=(count, 3)))  # fmt: skip
    new, after = find([box(1, 1, 1)] * 3, [[0.01, 0, 0], [0.01, 0, 1], [0.4, 0, 2]], previous=old, next_id=next_id)
    lower = new.a == 0
    for name in ("id", "impulse", "velocity", "bond", "rest", "stretch", "crushed"):
        assert np.array_equal(getattr(new, name)[lower], getattr(old, name)[old.a == 0])
    # the upper block has jumped by 0.4 m: the right corners stay, the left ones are new
    stays = ~lower & (new.point[:, 0] > 0.4)
    assert np.all(new.id[stays] < count)
    assert sorted(new.id[~lower & ~stays]) == [count, count + 1]
    assert np.all(new.impulse[~lower & ~stays] == 0)
    assert after == count + 2


@pytest.mark.parametrize("seed", range(20))
def test_matching_is_nearest_first(seed):
    """Against sorting all distances."""
    rng = np.random.default_rng(seed)
    old, new = (_cloud(rng.uniform(0, 0.1, (n, 3))) for n in rng.integers(1, 12, 2))
    old.id[:] = 100 + np.arange(len(old.id))
    after = remember(new, old, np.array([0.5, 0.7]), 1000)
    distance = np.linalg.norm(new.point[:, None] - old.point[None], axis=2)
    expected = np.full(len(new.id), -1)
    for flat in np.argsort(distance, axis=None, kind="stable"):
        n, o = np.unravel_index(flat, distance.shape)
        if distance[n, o] < 0.05 and expected[n] < 0 and 100 + o not in expected:
            expected[n] = 100 + o
    fresh = expected < 0
    expected[fresh] = 1000 + np.arange(fresh.sum())
    assert np.array_equal(new.id, expected)
    assert after == 1000 + fresh.sum()


def _cloud(points) -> Contacts:
    """Contacts of the pair (0, 1) at these points."""
    n = len(points)
    zeros, none = np.zeros((n, 3)), np.zeros(n)
    pair = np.zeros(n, np.int64), np.ones(n, np.int64)
    return Contacts(*pair, points, zeros, none, none, np.zeros(n, np.int64), zeros.copy(), zeros.copy(), none.copy(),
                    none.copy(), zeros.copy(), none.copy(), zeros.copy(), zeros.copy(),
                    none.copy())  # fmt: skip


# ---------------------------------------------------------------- polygons


def buffer(polygon, rows=16):
    out = np.zeros((rows, 2))
    out[: len(polygon)] = np.reshape(polygon, (-1, 2))
    return out


def test_clip_of_two_squares_is_the_octagon_or_the_common_square():
    square = np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]])
    polygon = buffer(square)
    turned_square = square @ np.array([[1, 1], [-1, 1]]) / np.sqrt(2)
    count = clip(polygon, 4, turned_square, 4, 1e-9, buffer([]))
    area, perimeter = area_and_perimeter(polygon, count)
    assert count == 8
    assert area == pytest.approx(8 * (np.sqrt(2) - 1))
    assert perimeter == pytest.approx(16 * (np.sqrt(2) - 1))
    polygon = buffer(square)
    assert area_and_perimeter(polygon, clip(polygon, 4, square, 4, 1e-9, buffer([]))) == (4, 8)
    assert clip(buffer(square), 4, square + [2.5, 0], 4, 1e-9, buffer([])) == 0


def test_sides_that_coincide_up_to_rounding_do_not_cross():
    square = np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]])
    turned_square = square @ Rotation.from_rotvec([0, 0, 1e-12]).as_matrix()[:2, :2]
    polygon = buffer(square)
    assert clip(polygon, 4, turned_square, 4, 1e-9, buffer([])) == 4
    assert polygon[:4].tolist() == square.tolist()


def test_simplify_keeps_one_of_two_near_vertices_and_the_corners_of_a_square():
    polygon = buffer([[0.5, -0.001], [1, 0], [1, 0.001], [1, 1], [0, 1], [0, 0]])
    assert simplify(polygon, 6, 0.003, buffer([])) == 4
    assert polygon[:4].tolist() == [[1, 1], [0, 1], [0, 0], [1, 0.001]]


@pytest.mark.parametrize(("sides", "kept"), [(8, 8), (50, 50), (300, 30)])
def test_simplify_keeps_a_round_polygon_round(sides, kept):
    """An arc of k of n sides lies within 1 - cos(pi k / n) of its chord: below 0.006 up to k = 10 for n = 300. All that
    was dropped is within the tolerance of what was kept: the area falls by less than perimeter * tolerance."""
    angle = 2 * np.pi * np.arange(sides) / sides
    polygon = buffer(np.column_stack([np.cos(angle), np.sin(angle)]), sides)
    before, perimeter = area_and_perimeter(polygon, sides)
    count = simplify(polygon, sides, 0.006, buffer([], sides))
    after, _ = area_and_perimeter(polygon, count)
    assert before - perimeter * 0.006 < after <= before
    assert count == kept


@pytest.mark.parametrize("seed", range(10))
def test_shares_of_a_polygon_have_its_area_and_centroid(seed):
    """Truth: area and centroid by cutting the polygon into triangles from its first corner."""
    rng = np.random.default_rng(seed)
    angle = np.sort(rng.uniform(0, 2 * np.pi, rng.integers(3, 9)))
    corners = np.column_stack([3 * np.cos(angle), np.sin(angle)]) + rng.normal(size=2)
    cut = [(corners[0], corners[k], corners[k + 1]) for k in range(1, len(corners) - 1)]
    areas = np.array([0.5 * np.linalg.det([q - p, r - p]) for p, q, r in cut])
    centre = areas @ np.array([np.mean(each, axis=0) for each in cut]) / areas.sum()
    out = buffer([])
    share_out(buffer(corners), len(corners), areas.sum(), out)
    share = out[: len(corners), 0]
    assert np.all(share > 0)
    assert share.sum() == pytest.approx(areas.sum())
    assert share @ corners / share.sum() == pytest.approx(centre)


@pytest.mark.parametrize(("make", "joint"), [(build.arch, 1.5 * 1.0), (lambda: build.arch(blocks=31), 1.5 * 1.0)])
def test_points_of_an_arch_have_the_area_of_its_joints(make, joint):
    """Truth: a joint is thickness by depth; oblique faces near it add nothing."""
    model = build_model(make(), friction=0.5)
    rotation = np.tile([1.0, 0, 0, 0], (len(model.position), 1))
    contacts, _ = detect(model.bodies, model.position, rotation, np.zeros((len(model.position), 6)), H, no_contacts(), 0)
    pair = contacts.a * len(model.position) + contacts.b
    for each in np.unique(pair):
        assert contacts.area[pair == each].sum() == pytest.approx(joint, rel=0.02)


def test_what_touches_does_not_depend_on_what_touched_before():
    shapes, centre = [box(1, 1, 1)] * 3, [[0, 0, 0], [0.1, 0, 1], [0.2, 0.1, 2]]
    one, next_id = find(shapes, centre)
    two, _ = find(shapes, centre, previous=one, next_id=next_id)
    for name in ("a", "b", "point", "normal", "gap", "area", "id"):
        assert np.array_equal(getattr(one, name), getattr(two, name))


def test_buffers_of_points_grow_from_nothing():
    bodies = bodies_of([box(1, 1, 1)] * 2)
    rotation = np.tile([1.0, 0, 0, 0], (2, 1))
    placed = place(bodies, np.array([[0.0, 0, 0], [0, 0, 1]]), rotation, np.zeros((2, 6)), H)
    assert len(touching_points(bodies, placed, np.empty((0, 2), np.int64), np.empty(0, bool), 0).gap) == 0
    assert len(touching_points(bodies, placed, np.array([[0, 1]]), np.zeros(1, bool), 0).gap) == 4

"""Generators: counts, volumes against closed forms, and soundness as `build_model` sees it (convex, no overlaps)."""

import numpy as np
import pytest

from drystone.base.errors import InputError
from drystone.build import GENERATORS, arch, block, column, dome, tower, wall
from drystone.structure.model import build_model


def free_volume(blocks):
    model = build_model(blocks, friction=0.6)
    free = ~model.bodies.fixed
    return (model.bodies.mass[free] / [b.density for b in model.blocks if not b.fixed]).sum()


def corners(model):
    return np.concatenate([b.vertices for b in model.blocks if not b.fixed])


@pytest.mark.parametrize("name", GENERATORS)
def test_defaults_are_sound_and_stand_on_the_foundation(name):
    """Convex and without overlaps by the checks of the door; z = 0 is the foundation's level."""
    model = build_model(GENERATORS[name](), friction=0.6)
    assert model.bodies.fixed.any()
    assert corners(model)[:, 2].min() == pytest.approx(0.0, abs=1e-12)
    assert {b.group for b in model.blocks} == {name, "foundation"}


@pytest.mark.parametrize("name", GENERATORS)
def test_density_is_that_of_all_blocks(name):
    assert {b.density for b in GENERATORS[name](density=1234.0)} == {1234.0}


def test_block_sizes():
    assert free_volume(block(width=0.6, depth=0.6, height=2.0)) == pytest.approx(0.72)


def test_leaning_block_rests_on_its_edge():
    """Housner's block (b 0.3, h 1, 15 deg): the centroid is at R = sqrt(b2 + h2) from the edge x = 0.3, at
    alpha - 15 deg from the vertical, alpha = atan(b/h)."""
    model = build_model(block(width=0.6, depth=0.5, height=2.0, tilt=np.deg2rad(15)), friction=2.0)
    angle = np.arctan2(0.3, 1.0) - np.deg2rad(15)
    radius = np.hypot(0.3, 1.0)
    np.testing.assert_allclose(model.position[1], [0.3 - radius * np.sin(angle), 0, radius * np.cos(angle)], atol=1e-14)
    resting = corners(model)[np.abs(corners(model)[:, 2]) < 1e-12]
    np.testing.assert_allclose(resting[:, 0], 0.3)
    assert len(resting) == 2


@pytest.mark.parametrize("degrees", [30.0, 90.0, 200.0])
def test_leaning_in_any_direction(degrees):
    """The centroid moves towards the direction given; off the axes the block rests on one corner."""
    model = build_model(block(tilt=0.2, tilt_direction=np.deg2rad(degrees)), friction=2.0)
    heading = np.array([np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees)), 0.0])
    upright = np.array([0, 0, 1.0])
    top = model.blocks[1].vertices[4:].mean(axis=0) - model.blocks[1].vertices[:4].mean(axis=0)
    np.testing.assert_allclose(top / 2.0, np.cos(0.2) * upright + np.sin(0.2) * heading, atol=1e-14)


def test_leaning_beyond_overturning_is_allowed():
    assert len(build_model(block(tilt=np.deg2rad(60)), friction=0.6).blocks) == 2


def test_column():
    assert free_volume(column(width=0.5, depth=0.4, height=3.0, courses=70)) == pytest.approx(0.6)
    assert len(column(courses=70)) == 71


@pytest.mark.parametrize(("courses", "blocks", "count"), [(10, 10, 105), (14, 14, 203), (20, 50, 1010), (1, 1, 1), (2, 1, 3)])
def test_wall(courses, blocks, count):
    """Count: courses * blocks + one more in every second course; volume: that of the wall."""
    stones = wall(length=5.0, height=2.5, thickness=0.25, courses=courses, blocks=blocks)
    assert len(stones) == count + 1
    assert free_volume(stones) == pytest.approx(5.0 * 2.5 * 0.25)


def test_wall_is_a_running_bond():
    """A vertical joint stands over the middle of a block: joints of neighbouring courses are half a block apart."""
    stones = wall(length=4.0, courses=2, blocks=4)
    left = {b.name: b.vertices[:, 0].min() for b in stones}
    assert [left[f"block-1-{i}"] for i in range(1, 5)] == pytest.approx([-2, -1, 0, 1])
    assert [left[f"block-2-{i}"] for i in range(1, 6)] == pytest.approx([-2, -1.5, -0.5, 0.5, 1.5])


@pytest.mark.parametrize(("embrace", "blocks"), [(150, 7), (180, 27), (40, 1), (220, 9)])
def test_arch(embrace, blocks):
    """Voussoirs are trapezoids: area (ro2 - ri2)/2 sin(embrace/blocks); corners lie on the two circles."""
    stones = arch(radius=10.0, thickness=1.5, embrace=np.deg2rad(embrace), blocks=blocks, depth=1.2)
    model = build_model(stones, friction=2.0)
    area = (10.75**2 - 9.25**2) / 2 * np.sin(np.deg2rad(embrace) / blocks)
    assert free_volume(stones) == pytest.approx(1.2 * blocks * area)
    lowest = 9.25 if embrace <= 180 else 10.75
    centre = -lowest * np.cos(np.deg2rad(embrace) / 2)
    radii = np.hypot(corners(model)[:, 0], corners(model)[:, 2] - centre)
    assert set(np.round(radii, 10)) == {9.25, 10.75}
    assert corners(model)[:, 0].sum() == pytest.approx(0.0, abs=1e-9)  # symmetric


def test_arch_is_numbered_from_right_to_left_between_flush_abutments():
    model = build_model(arch(), friction=2.0)
    x = {b.name: c[0] for b, c in zip(model.blocks, model.position, strict=True)}
    order = ["abutment-right", *(f"voussoir-{i}" for i in range(1, 8)), "abutment-left"]
    assert np.all(np.diff([x[name] for name in order]) < 0)
    assert touching_area(model, "abutment-right", "voussoir-1") == pytest.approx(1.5)  # thickness x depth
    assert touching_area(model, "voussoir-3", "voussoir-4") == pytest.approx(1.5)
    assert touching_area(model, "voussoir-7", "abutment-left") == pytest.approx(1.5)


def touching_area(model, one, other):
    """[m2] of the smaller of two faces that lie in one plane and look at each other; 0 if there are none."""
    index = {b.name: i for i, b in enumerate(model.blocks)}
    planes = []
    for i in (index[one], index[other]):
        bodies = model.bodies
        faces = range(bodies.piece_face[i], bodies.piece_face[i + 1])
        points = [bodies.vertex[bodies.face_vertex[bodies.face_start[f] : bodies.face_start[f + 1]]] for f in faces]
        planes.append([(bodies.face_normal[f], p + model.position[i]) for f, p in zip(faces, points, strict=True)])
    areas = []
    for normal, points in planes[0]:
        for against, others in planes[1]:
            flush = np.abs((others - points[0]) @ normal).max() < 1e-12
            if flush and normal @ against < -1 + 1e-12:
                areas.append(min(quadrilateral(points), quadrilateral(others)))
    return max(areas, default=0.0)


def quadrilateral(p):
    return np.linalg.norm(np.cross(p[2] - p[0], p[3] - p[1])) / 2


def test_tower_of_the_bar():
    """10 blocks a side, 25 courses: 1000 blocks of 0.5 x 0.25 x 0.25 m."""
    stones = tower(blocks_per_side=10, courses=25)
    assert len(stones) == 1001
    assert free_volume(stones) == pytest.approx(1000 * 0.5 * 0.25 * 0.25)
    top = max(b.vertices[:, 2].max() for b in stones)
    assert top == pytest.approx(25 * 0.25)


def front_joints(stones, course, half):
    """[m] x of the vertical joints of the wall at -y in one course, ends of the wall included."""
    front = [b.vertices for b in stones if b.name.startswith(f"block-{course}-") and b.vertices[:, 1].min() < 1e-9 - half]
    along = [v[:, 0] for v in front if np.ptp(v[:, 0]) > 0.3]  # without the end of the side wall, 0.25 m wide
    return {round(x, 9) for v in along for x in (v.min(), v.max())}


def test_tower_interlocks():
    """No vertical joint of a course goes on in the next, and its corners belong to different walls: the blocks that
    hold the corner (-x, -y) run along x in one course and along y in the next."""
    stones = tower(blocks_per_side=3, courses=2)
    half = (3 * 0.5 + 0.25) / 2
    corner = [b for b in stones[1:] if np.allclose(b.vertices.min(axis=0)[:2], -half)]
    spans = [np.ptp(b.vertices, axis=0)[:2] for b in corner]
    np.testing.assert_allclose(spans, [[0.5, 0.25], [0.25, 0.5]])
    joints = [front_joints(stones, course, half) for course in (1, 2)]
    assert len(joints[0]) == 4
    assert joints[0].isdisjoint(joints[1])


def test_dome():
    """A block is a truncated pyramid from the centre: (ro3 - ri3) times the pyramid over its intrados on the unit
    sphere, a trapezoid between two parallels: 1/3 base x height. With many blocks the sum tends to the shell's."""
    rings, blocks, top, low = 12, 24, np.deg2rad(10), np.pi / 2
    edges = np.linspace(low, top, rings + 1)
    half = np.pi / blocks
    wide, narrow = np.sin(edges[:-1]) * np.sin(half), np.sin(edges[1:]) * np.sin(half)  # half sides along the parallels
    middle = np.stack([np.sin(edges) * np.cos(half), np.cos(edges)], axis=1)  # mid-points of those sides, radial and up
    slant = np.linalg.norm(np.diff(middle, axis=0), axis=1)
    cross = middle[:-1, 0] * middle[1:, 1] - middle[:-1, 1] * middle[1:, 0]
    pyramid = (wide + narrow) * slant * (np.abs(cross) / slant) / 3
    volume = free_volume(dome(radius=5.0, thickness=0.5, rings=rings, blocks=blocks))
    assert volume == pytest.approx(blocks * pyramid.sum() * (5.25**3 - 4.75**3))
    shell = 2 * np.pi / 3 * (5.25**3 - 4.75**3) * np.cos(top)
    assert volume == pytest.approx(shell, rel=0.02)  # second order in the sizes of the blocks


def test_dome_is_flush():
    model = build_model(dome(rings=4, blocks=8, embrace=np.deg2rad(140)), friction=0.6)
    pairs = [
        ("block-1-1", "block-1-2"),
        ("block-1-8", "block-1-1"),
        ("block-2-3", "block-3-3"),
        ("foundation-5", "block-1-5"),
    ]
    for one, other in pairs:
        assert touching_area(model, one, other) > 0.1
    assert len(model.blocks) == 4 * 8 + 8


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: block(width=-0.6), "block: width is -0.6; give a number above 0"),
        (lambda: block(tilt=15), "block: tilt is 15 rad; give less than 90 degrees"),
        (lambda: column(courses=0), "column: courses is 0; give a whole number, 1 or more"),
        (lambda: wall(blocks=2.5), "wall: blocks is 2.5; give a whole number"),
        (lambda: wall(density=float("nan")), "wall: density is nan"),
        (lambda: arch(embrace=150), "arch: embrace is 150 rad; give less than a full turn"),
        (lambda: arch(thickness=20.0), "thickness 20 m is not below twice the radius"),
        (lambda: arch(embrace=3.2, blocks=1), "is no voussoir; give more blocks"),
        (lambda: tower(thickness=0.5), "would not be staggered; give longer blocks"),
        (lambda: dome(oculus=2.0), "give a smaller oculus"),
        (lambda: dome(blocks=2), "dome: blocks is 2; give a whole number, 3 or more"),
    ],
)
def test_bad_sizes_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()

"""Chipped edges: volumes in closed form, half-spaces by brute force, contact areas, balance."""

import numpy as np
import pytest

from drystone.base.errors import InputError
from drystone.build import arch, block, chip, dome, wall
from drystone.build.shapes import box, join_pieces
from drystone.structure.model import Block, build_model
from tests.unit.flush_joints import flush_joints, rest, volume


def test_chipped_box():
    """A right-angled edge loses an isosceles right triangle of height d, legs s = d sqrt(2), over its length; where three
    meet in a corner, inclusion-exclusion: pairs share s3 / 3, all three s3 / 4. Lost: 2 s2 (a + b + c) - 6 s3."""
    a, b, c, distance = 0.7, 0.5, 1.1, 0.02
    (trimmed,) = chip([box((1, 2, 3), (1 + a, 2 + b, 3 + c), name="box")], distance / c)
    s = distance * np.sqrt(2)
    assert volume([trimmed]) == pytest.approx(a * b * c - 2 * s**2 * (a + b + c) + 6 * s**3, rel=1e-13)
    assert len(trimmed.faces) == 6 + 12
    assert len(trimmed.vertices) == 6 * 4 + 8  # four corners a face, and where three facets meet
    assert sorted(map(len, trimmed.faces)) == [4] * 6 + [6] * 12


def octahedron():
    corners = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], float)
    upper = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4)]
    return Block(corners, tuple(upper + [(b, a, 5) for a, b, _ in upper]), name="octahedron")


def test_chipped_octahedron():
    """Four facets meet at a corner. In one octant the planes are x + y = 1 - s, ..., s = d sqrt(2): beyond one of them and
    within x + y + z = 1 is the integral of u (1 - u) from 1 - s to 1, beyond two of them s3 / 3, beyond all nothing."""
    (trimmed,) = chip([octahedron()], 0.1, height=1.0)
    s = 0.1 * np.sqrt(2)
    beyond = 1 / 2 - 1 / 3 - ((1 - s) ** 2 / 2 - (1 - s) ** 3 / 3)
    assert volume([trimmed]) == pytest.approx(4 / 3 - 8 * (3 * beyond - 3 * s**3 / 3), rel=1e-13)
    assert len(trimmed.faces) == 8 + 12


@pytest.mark.parametrize("blocks", [arch(), wall(courses=3, blocks=3), dome(rings=3, blocks=6)])
def test_only_edges_are_lost(blocks):
    """Brute force: random points of a block remain if and only if they are behind all planes of its edges; supports
    remain as they are."""
    trimmed = chip(blocks, 0.01, height=1.0)
    random = np.random.default_rng(1)
    for before, after in zip(blocks, trimmed, strict=True):
        if before.fixed:
            assert after is before
            continue
        points = random.dirichlet(np.full(len(before.vertices), 0.2), 500) @ before.vertices
        np.testing.assert_array_equal(inside(after, points), inside(before, points) & behind_edges(before, points, 0.01))
    build_model(trimmed, friction=0.6)


def planes(solid):
    p = [np.asarray(solid.vertices)[list(face)] for face in solid.faces]
    normals = [np.cross(q[1] - q[0], q[2] - q[0]) for q in p]
    return [(n / np.linalg.norm(n), q) for n, q in zip(normals, p, strict=True)]


def inside(solid, points):
    return np.all([(points - q[0]) @ n < 1e-12 for n, q in planes(solid)], axis=0)


def behind_edges(solid, points, distance):
    """Edges are pairs of faces with two vertices in common."""
    kept = np.ones(len(points), bool)
    listed = list(zip(planes(solid), solid.faces, strict=True))
    for (n, _), one in listed:
        for (m, _), other in listed:
            common = sorted(set(one) & set(other))
            if one != other and len(common) == 2:
                normal = (n + m) / np.linalg.norm(n + m)
                kept &= (points - solid.vertices[common[0]]) @ normal <= -distance
    return kept


def test_joints_shrink_by_the_facets():
    """A block of 0.6 x 0.6 m on the slab: its base loses d sqrt(2) on each side; it still stands."""
    stones = chip(block(), 0.01 / 2.0)
    assert flush_joints(stones)[0, 1] == pytest.approx((0.6 - 2 * 0.01 * np.sqrt(2)) ** 2)
    assert rest(stones).stands


def test_a_chipped_wall_stands():
    """Joints of a chipped wall are as many as before."""
    whole = wall(courses=4, blocks=4)
    assert flush_joints(chip(whole)).keys() == flush_joints(whole).keys()
    assert rest(chip(whole)).stands


def test_pieces_are_trimmed_at_the_outer_edges_only():
    """Two boxes side by side as one block of 2 x 1 x 1 m: nothing is cut at their common face. It loses the prisms of its
    8 edges of 1 m and of its 4 long ones of 2 m, and at its corners as a box."""
    two = join_pieces([box((0, 0, 0), (1, 1, 1)), box((1, 0, 0), (2, 1, 1))], name="two")
    (trimmed,) = chip([two], 0.02)
    s = 0.02 * np.sqrt(2)
    assert volume([trimmed]) == pytest.approx(2 - 2 * s**2 * (2 + 1 + 1) + 6 * s**3, rel=1e-12)


def test_supports_when_asked_for():
    assert len(chip(block(), supports=True)[0].faces) == 18


def test_too_much_is_refused():
    with pytest.raises(InputError, match=r"chip: nothing is left of block 'block' when its edges lose 800 mm"):
        chip(block(), 0.4)
    with pytest.raises(InputError, match=r"chip: ratio is -0\.1"):
        chip(block(), -0.1)

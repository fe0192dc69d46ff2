"""Mass properties against closed forms of elementary solids."""

import numpy as np
import pytest

from drystone.build.shapes import box, prism
from drystone.structure.model import Block
from drystone.structure.polyhedra import check_surfaces, make_surfaces, mass_properties

OCTAHEDRON = Block(
    np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], float),
    ((0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)),
)
TETRAHEDRON = Block(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float),
                    ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)))  # fmt: skip


def solids_of(*blocks):
    surfaces = make_surfaces([b.vertices for b in blocks], [b.faces for b in blocks], [str(i) for i in range(len(blocks))])
    return check_surfaces(surfaces, [str(i) for i in range(len(blocks))])


def test_box():
    """I = V/12 diag(b2 + c2, a2 + c2, a2 + b2)."""
    a, b, c = 0.6, 0.7, 2.0
    solids = solids_of(box((10.0, 20.0, 30.0), (10 + a, 20 + b, 30 + c)))
    assert solids.volume[0] == pytest.approx(a * b * c, rel=1e-13)
    np.testing.assert_allclose(solids.centroid[0], [10.3, 20.35, 31.0], rtol=1e-14)
    expected = np.diag([b * b + c * c, a * a + c * c, a * a + b * b]) * a * b * c / 12
    np.testing.assert_allclose(solids.inertia[0], expected, atol=1e-13)


def test_regular_octahedron():
    """Edge s = sqrt(2): V = sqrt(2)/3 s3 = 4/3, I = V s2 / 10 about every axis."""
    solids = solids_of(OCTAHEDRON)
    assert solids.volume[0] == pytest.approx(4 / 3)
    np.testing.assert_allclose(solids.inertia[0], np.eye(3) * 4 / 3 * 2 / 10, atol=1e-15)


def test_corner_tetrahedron():
    """x + y + z < 1: V = 1/6, centroid 1/4; int x2 = 1/60, int xy = 1/120, moved to the centroid."""
    solids = solids_of(TETRAHEDRON)
    assert solids.volume[0] == pytest.approx(1 / 6)
    np.testing.assert_allclose(solids.centroid[0], [0.25] * 3)
    square, product = 1 / 60 - 1 / 6 / 16, 1 / 120 - 1 / 6 / 16
    expected = np.full((3, 3), -product)
    np.fill_diagonal(expected, 2 * square)
    np.testing.assert_allclose(solids.inertia[0], expected, atol=1e-16)


def test_prism_with_many_sides_tends_to_a_cylinder():
    """Regular n-gon of circumradius 1: area n/2 sin(2 pi/n); about its axis I = V (2 + cos(2 pi/n)) / 6."""
    n, height = 24, 3.0
    angle = 2 * np.pi * np.arange(n) / n
    outline = np.column_stack([np.cos(angle), np.sin(angle)])
    solids = solids_of(prism(outline, (0.0, height)))
    volume = height * n / 2 * np.sin(2 * np.pi / n)
    assert solids.volume[0] == pytest.approx(volume)
    assert solids.inertia[0, 1, 1] == pytest.approx(volume * (2 + np.cos(2 * np.pi / n)) / 6)


def test_mixed_blocks_do_not_disturb_each_other():
    """Blocks of different topology, laid end to end, have the properties they have alone."""
    blocks = [OCTAHEDRON, box((0, 0, 0), (1, 2, 3)), TETRAHEDRON]
    together = solids_of(*blocks)
    for i, block in enumerate(blocks):
        alone = solids_of(block)
        assert together.volume[i] == alone.volume[0]
        np.testing.assert_array_equal(together.inertia[i], alone.inertia[0])


def test_far_from_the_origin():
    """Translation changes nothing: a stone at map coordinates (1e6 m) keeps its inertia but for rounding."""
    here = box((0, 0, 0), (0.5, 0.25, 0.25))
    there = Block(here.vertices + [1e6, 2e6, 100.0], here.faces)
    surfaces = make_surfaces([here.vertices, there.vertices], [here.faces, there.faces], ["here", "there"])
    solids = mass_properties(surfaces)
    np.testing.assert_allclose(solids.inertia[1], solids.inertia[0], rtol=1e-8, atol=1e-11)

"""Shapes of arches, and the arch on buttresses: corners on their circles, areas in closed form, joints, balance."""

import numpy as np
import pytest

from drystone.base.errors import InputError
from drystone.build import arch, buttressed_arch
from tests.unit.flush_joints import check_joints, rest, volume


def corners(stones):
    points = np.concatenate([b.vertices for b in stones if b.name.startswith("voussoir")])
    return np.unique(np.round(points[:, [0, 2]], 10), axis=0)


def test_segmental_arch():
    """The circle through (-4, 0), (0, 2) and (4, 0) has radius 5 and its centre at z = -3; a voussoir is a trapezoid."""
    stones = arch(shape="segmental", span=8.0, rise=2.0, thickness=0.6, blocks=9, depth=1.5)
    radii = np.hypot(corners(stones)[:, 0], corners(stones)[:, 1] + 3.0)
    assert set(np.round(radii, 9)) == {5.0, 5.6}
    embrace = 2 * np.arcsin(4 / 5)
    assert volume(stones) == pytest.approx(1.5 * 9 * (5.6**2 - 5.0**2) / 2 * np.sin(embrace / 9))
    assert check_joints(stones) == 10
    assert rest(stones).stands


def test_a_segmental_arch_of_half_its_span_is_a_semicircle():
    one = arch(shape="segmental", span=8.0, rise=4.0, thickness=0.6)
    other = arch(radius=4.3, thickness=0.6, embrace=np.pi)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a.vertices, b.vertices, atol=1e-14)


def test_pointed_arch():
    """Equilateral: rise = span sqrt(3)/2, each intrados centred on the other springing. Corners right of the middle lie on
    the circles of 8 and 9 m about (-4, 0); the middle joint is vertical; radial trapezoids but for the two highest."""
    stones = arch(shape="pointed", span=8.0, rise=4 * np.sqrt(3), thickness=1.0, blocks=12, depth=1.0)
    points = corners(stones)
    right = points[points[:, 0] >= 0]
    assert set(np.round(np.hypot(right[:, 0] + 4, right[:, 1]), 8)) == {8.0, 9.0}
    assert {tuple(p) for p in points + 0.0} == {tuple(p) for p in points * [-1, 1] + 0.0}
    top = points[points[:, 0] == 0]
    np.testing.assert_allclose(top[:, 1], [4 * np.sqrt(3), np.sqrt(81 - 16)])
    step = np.pi / 3 / 6
    trapezoid = (9**2 - 8**2) / 2 * np.sin(step)
    last = [8 * np.cos(5 * step) - 4, 8 * np.sin(5 * step)], [9 * np.cos(5 * step) - 4, 9 * np.sin(5 * step)], top[1], top[0]
    assert volume(stones) == pytest.approx(2 * (5 * trapezoid + shoelace(last)))
    assert check_joints(stones) == 13
    assert rest(stones).stands


def shoelace(points):
    x, z = np.array(points).T
    return (x * np.roll(z, -1) - z * np.roll(x, -1)).sum() / 2


@pytest.mark.parametrize(("degrees", "courses"), [(150, 6), (180, 3), (120, 1)])
def test_buttressed_arch(degrees, courses):
    """Two stones a course but for the springers; a springer is the box of its course, and above it the trapezoid between
    the height of the lowest and of the highest corner of the joint, behind the joint."""
    embrace = np.deg2rad(degrees)
    stones = buttressed_arch(embrace=embrace, courses=courses)
    assert len(stones) == 1 + 2 * (2 * (courses - 1) + 1) + 11
    run, rise = 0.6 * np.sin(embrace / 2), 0.6 * np.cos(embrace / 2)  # of the joint
    arch_area = 11 * (4.3**2 - 3.7**2) / 2 * np.sin(embrace / 11)
    springer_top = rise * (2.0 - run / 2)
    assert volume(stones) == pytest.approx(2 * (2.0 * 3.0 + springer_top) + arch_area)
    beside, between = courses - 1, 3 * max(courses - 2, 0)  # joints in a course, and between two of two stones
    under = 2 if courses > 1 else 0  # joints of the springer with the course below
    on_the_ground = 2 if courses > 1 else 1
    assert check_joints(stones) == 2 * (beside + between + under + on_the_ground) + 12
    assert rest(stones).stands


def test_slender_buttresses_overturn():
    """Half the arch weighs 73 kN, 2.55 m (2 r / pi) from the middle; about the inner corner of the springing, at 3.7 m, the
    thrust at the crown, at most 4.3 m higher, is at least 73 x 1.15 / 4.3 = 19.5 kN. On buttresses of 0.7 x 8 m (110 kN)
    19.5 x 8 = 156 kNm turn them over against at most 110 x 0.35 + 73 x 0.7 = 90 kNm."""
    assert not rest(buttressed_arch(embrace=np.pi, width=0.7, height=8.0)).stands


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: arch(shape="gothic"), "arch: shape is 'gothic'; give"),
        (lambda: arch(shape="pointed"), "arch: the pointed shape needs a span and a rise"),
        (lambda: arch(span=3.0), "arch: span and rise are for the shapes"),
        (lambda: arch(shape="pointed", span=8, rise=6), "arch: 7 blocks do not make a pointed arch"),
        (lambda: arch(shape="pointed", span=8, rise=3, blocks=8), "lower than half its span"),
        (lambda: arch(shape="segmental", span=8, rise=5), "higher than half its span"),
        (lambda: buttressed_arch(width=0.5), "buttressed-arch: width 0.5 m leaves no shelf"),
        (lambda: buttressed_arch(embrace=4.0), "buttressed-arch: embrace is 4 rad; give pi at most"),
    ],
)
def test_bad_sizes_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()

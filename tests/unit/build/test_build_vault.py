"""Vaults: counts by hand, volumes in closed form, joints by brute force, balance."""

from dataclasses import replace

import numpy as np
import pytest

from drystone.base.errors import InputError
from drystone.build import barrel_vault, cross_vault
from drystone.structure.model import build_model
from tests.unit.flush_joints import check_joints, flush_joints, rest, volume


@pytest.mark.parametrize(("embrace", "courses", "blocks"), [(180, 15, 5), (120, 4, 1)])
def test_barrel_vault(embrace, courses, blocks):
    """Stones: courses * blocks and one more in every second; joints: blocks - 1 within a course (one more in every
    second), two a stone between courses, one a stone with an abutment; volume: trapezoids times the length."""
    stones = barrel_vault(embrace=np.deg2rad(embrace), courses=courses, blocks=blocks)
    assert len(stones) == 2 + courses * blocks + courses // 2
    area = courses * (3.25**2 - 2.75**2) / 2 * np.sin(np.deg2rad(embrace) / courses)
    assert volume(stones) == pytest.approx(4.0 * area)
    within = courses * (blocks - 1) + courses // 2
    at_the_foot = blocks + (blocks if courses % 2 else blocks + 1)
    assert check_joints(stones) == within + (courses - 1) * 2 * blocks + at_the_foot
    assert rest(stones).stands


def test_a_thin_barrel_falls():
    """Milankovitch: a semicircular arch stands from a thickness of 0.1075 mean radii on."""
    assert rest(barrel_vault(thickness=0.115 * 3.0)).stands
    assert not rest(barrel_vault(thickness=0.095 * 3.0)).stands


@pytest.mark.parametrize(("embrace", "courses", "length"), [(180, 11, 0.8), (140, 7, 0.5), (60, 3, 3.0)])
def test_cross_vault(embrace, courses, length):
    """A course between the groin y = x and the border y = e has the volume A (e - x) of its outline's area A and
    centroid x (Pappus). The crowns and the key: the four crowns reach the axis but for the key, which all four share."""
    stones = cross_vault(span=4.0, thickness=0.5, embrace=np.deg2rad(embrace), courses=courses, length=length, border=0.4)
    angle, half = np.deg2rad(embrace) / courses, np.deg2rad(embrace) / 2
    inner = 2.0 / np.sin(half)
    outer = inner + 0.5
    edge = outer * np.sin(half) + 0.4
    area = (outer**2 - inner**2) / 2 * np.sin(angle)
    middle = 2 / 3 * np.cos(angle / 2) * (outer**3 - inner**3) / (outer**2 - inner**2)  # of a course, from the axis
    away = middle * np.sin(angle * np.arange(1, courses // 2 + 1))
    webs = 4 * 2 * (area * (edge - away)).sum()
    a, b = inner * np.sin(angle / 2), outer * np.sin(angle / 2)
    squares = 0.5 * np.cos(angle / 2) * (a**2 + a * b + b**2) / 3  # integral of the key's half width squared over its height
    assert volume(stones) == pytest.approx(webs + 4 * area * edge - 4 * squares)
    check_joints(stones)
    assert rest(stones).stands


def test_cross_vault_is_the_same_from_four_sides():
    """Turning by 90 degrees about z maps the set of vertices of all stones onto itself; mirroring at a groin too."""
    points = np.concatenate([b.vertices for b in cross_vault()])
    image = {tuple(p) for p in np.round(points, 9) + 0.0}
    for turned in (points * [1, -1, 1], points[:, [1, 0, 2]]):
        assert {tuple(p) for p in np.round(turned, 9) + 0.0} == image


def test_a_stone_out_of_place_is_noticed():
    """The check of the joints itself: lifting the key by a micrometre opens its joints, a narrower one hides them."""
    *stones, key = cross_vault(courses=5)
    with pytest.raises(AssertionError):
        check_joints([*stones, replace(key, vertices=key.vertices + [0, 0, 1e-6])])
    with pytest.raises(AssertionError):
        check_joints([*stones, replace(key, vertices=key.vertices * [0.999, 0.999, 1.0])])


def test_groins_are_joints():
    """Mirror images across a groin touch: course c of a web with course n + 1 - c of the web before it; the key touches
    the crown of all webs."""
    stones = build_model(cross_vault(courses=5, length=5.0), friction=0.6).blocks
    names = [b.name for b in stones]
    joints = {frozenset((names[i], names[j])) for i, j in flush_joints(stones)}
    for web in range(1, 5):
        before = web - 1 or 4
        for course in (1, 2):
            assert {f"web-{web}-{course}-1", f"web-{before}-{6 - course}-1"} in joints
        assert {f"web-{web}-3-1", "key"} in joints


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: barrel_vault(thickness=6.0), "barrel-vault: thickness 6 m is not below twice the radius"),
        (lambda: barrel_vault(length=0.0), "barrel-vault: length is 0.0; give a number above 0"),
        (lambda: cross_vault(courses=10), "cross-vault: courses is 10; give an odd number"),
        (lambda: cross_vault(embrace=3.5), "cross-vault: embrace is 3.5 rad; give pi at most"),
    ],
)
def test_bad_sizes_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()

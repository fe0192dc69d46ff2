"""Domes with a lantern and with staggered joints: joints counted by hand and by brute force, volumes, balance."""

import numpy as np
import pytest

from drystone.base.errors import InputError
from drystone.build import dome
from tests.unit.flush_joints import check_joints, rest, volume


def test_lantern():
    """A lantern stone is a prism over a trapezoid in plan, from the slope of the highest ring's back to a level top: area
    times the height over the centroid. Joints: five kinds of 8, and one more between the two rings."""
    stones = dome(rings=2, blocks=8, embrace=np.deg2rad(60), oculus=np.deg2rad(10), lantern=1.5)
    low, rim, half = np.deg2rad(20), np.deg2rad(10), np.pi / 8
    wide, narrow = 5.25 * np.sin(low), 5.25 * np.sin(rim)  # radii of the corners
    a, b = 2 * wide * np.sin(half), 2 * narrow * np.sin(half)
    depth = (wide - narrow) * np.cos(half)
    area = (a + b) / 2 * depth
    from_the_rim = depth / 3 * (b + 2 * a) / (a + b)
    slope = 5.25 * (np.cos(rim) - np.cos(low)) / depth
    lantern = 8 * area * (1.5 + slope * from_the_rim)
    plain = dome(rings=2, blocks=8, embrace=np.deg2rad(60), oculus=np.deg2rad(10))
    assert volume(stones) - volume(plain) == pytest.approx(lantern)
    assert check_joints(stones) == 6 * 8
    assert rest(stones).stands


def test_staggered():
    """A block covers two supports and two blocks of the ring below; the solid is that of twice as many aligned blocks."""
    stones = dome(rings=4, blocks=8, bond="staggered", lantern=0.5)
    assert len(stones) == 16 + 4 * 8 + 8
    assert check_joints(stones) == (1 + 3 + 1) * 16 + 5 * 8
    assert volume(stones) == pytest.approx(volume(dome(rings=4, blocks=16, lantern=0.5)))
    assert rest(stones).stands


def test_bad_choices_are_refused():
    with pytest.raises(InputError, match="dome: bond is 'running'; give"):
        dome(bond="running")
    with pytest.raises(InputError, match="dome: lantern is -1; give a number above 0"):
        dome(lantern=-1)

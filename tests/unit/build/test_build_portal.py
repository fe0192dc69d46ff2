"""Portals and colonnades: volumes and joints by hand, joints by brute force, balance."""

import numpy as np
import pytest

from drystone.base.errors import InputError
from drystone.build import drum_column, pillar_and_lintel, portal
from tests.unit.flush_joints import check_joints, rest, volume


def test_portal_with_a_lintel():
    """Two stacks of six, and a lintel over both: 2 x 6 joints below and 2 above."""
    stones = portal()
    assert volume(stones) == pytest.approx(0.8 * (2 * 0.8 * 2.4 + 3.6 * 0.4))
    assert check_joints(stones) == 2 * 6 + 2
    assert rest(stones).stands


def test_portal_with_an_arch():
    """Nine trapezoids between the circles of 1 and 1.4 m; nine stones have ten joints."""
    stones = portal(top="arch")
    assert volume(stones) == pytest.approx(0.8 * (2 * 0.8 * 2.4 + 9 * (1.4**2 - 1.0**2) / 2 * np.sin(np.pi / 9)))
    assert check_joints(stones) == 2 * 6 + 10
    assert rest(stones).stands


def test_colonnade():
    """Columns as `drum_column` makes them; three architraves of 10 x 0.8 x 0.7 m in all, that meet over the axes of the
    inner columns: each column bears on the slab and has 7 joints, inner capitals bear two architraves."""
    stones = pillar_and_lintel()
    assert volume(stones) == pytest.approx(4 * volume(drum_column()) + 10.0 * 0.8 * 0.7)
    assert check_joints(stones) == 4 * (1 + 7) + (1 + 2 + 2 + 1) + 2
    assert rest(stones).stands


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: portal(top="beam"), "portal: top is 'beam'; give"),
        (lambda: portal(top="arch", thickness=1.0), "portal: an arch 1 m thick is wider than its piers"),
        (lambda: pillar_and_lintel(spacing=0.9), "pillar-and-lintel: columns 1 m wide do not fit a spacing of 0.9 m"),
        (lambda: pillar_and_lintel(columns=1), "pillar-and-lintel: columns is 1; give a whole number, 2 or more"),
    ],
)
def test_bad_sizes_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()

"""Drum columns: volumes of frusta in closed form, joints by brute force, balance."""

import numpy as np
import pytest

from drystone.base.errors import InputError
from drystone.build import drum_column
from tests.unit.flush_joints import check_joints, rest, volume


def polygon_area(sides, radius):
    return sides / 2 * np.sin(2 * np.pi / sides) * radius**2


@pytest.mark.parametrize(("drums", "sides", "capital"), [(6, 20, 0.5), (3, 5, 0.0), (1, 4, 0.3)])
def test_drum_column(drums, sides, capital):
    """Shaft and echinus are frusta, h/3 (A + B + sqrt(A B)); a joint between all neighbours in the stack."""
    stones = drum_column(drums=drums, sides=sides, capital=capital)
    foot, neck = polygon_area(sides, 0.5), polygon_area(sides, 0.4)
    mean = (foot + neck + np.sqrt(foot * neck)) / 3
    assert len(stones) == 1 + drums + 2 * (capital > 0)
    assert volume(stones) == pytest.approx(6.0 * mean + capital / 2 * (mean + 1.0**2))
    assert check_joints(stones) == len(stones) - 1
    assert rest(stones).stands


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"top": 1.2}, "drum-column: top 1.2 m is wider than bottom 1 m"),
        ({"sides": 2}, "drum-column: sides is 2; give a whole number, 3 or more"),
        ({"capital": -0.1}, "drum-column: capital is -0.1; give a number above 0"),
    ],
)
def test_bad_sizes_are_refused(sizes, message):
    with pytest.raises(InputError, match=message):
        drum_column(**sizes)

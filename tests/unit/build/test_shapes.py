"""Cuts by planes: the two parts of a solid make the whole, whatever the plane meets on its way."""

import numpy as np
import pytest

from drystone.build.shapes import box, cut_block, join_pieces, loft, polygon
from drystone.structure.model import build_model
from tests.unit.flush_joints import flush_joints, volume

CUBE = box((0, 0, 0), (1, 1, 1), name="cube")
PLANES = [  # normal, offset, volume behind: counted by hand
    ((0, 0, 1), 0.25, 0.25),
    ((1, 1, 0), 1.0, 0.5),  # through two edges
    ((1, 1, 1), 1.0, 1 / 6),  # through three corners
    ((1, 1, 1), 1.5, 0.5),  # a hexagon
    ((1, 1, 1), 2.0, 5 / 6),
    ((2, 1, 0), 1.0, 0.25),  # through an edge and the middle of another face's edge
    ((1, -1, 0), 0.5, 7 / 8),
    ((1, 1, 0), 1 + 1e-14, 0.5),  # through two edges but for rounding
]


@pytest.mark.parametrize(("normal", "offset", "part"), PLANES)
def test_two_parts_of_a_cube(normal, offset, part):
    """Both parts are sound solids, the plane is a joint of the same area on both sides."""
    length = np.linalg.norm(normal)
    behind = cut_block(CUBE, np.array(normal) / length, offset / length)
    front = cut_block(CUBE, -np.array(normal) / length, -offset / length)
    assert volume([behind]) == pytest.approx(part, abs=1e-13)
    assert volume([front]) == pytest.approx(1 - part, abs=1e-13)
    assert len(flush_joints([behind, front])) == 1


@pytest.mark.parametrize(("offset", "left"), [(1.0, CUBE), (2.0, CUBE), (0.0, None), (-1.0, None)])
def test_planes_that_only_touch_or_miss(offset, left):
    assert cut_block(CUBE, np.array([0, 0, 1.0]), offset) is left


def test_many_cuts_of_a_drum():
    """Random planes, some through a corner: the parts make the whole, and every part is a sound solid."""
    random = np.random.default_rng(3)
    drum = loft(polygon(9, 1.0, 0.0), polygon(9, 0.7, 1.5, turn=0.0), name="drum")
    parts = [drum]
    for k in range(8):
        normal = random.normal(size=3)
        normal /= np.linalg.norm(normal)
        through = parts[0].vertices[0] if k % 2 else random.uniform([-0.5, -0.5, 0.2], [0.5, 0.5, 1.3])
        halves = [cut_block(part, sign * normal, sign * float(normal @ through)) for part in parts for sign in (1, -1)]
        parts = [half for half in halves if half is not None]
        assert sum(volume([part]) for part in parts) == pytest.approx(volume([drum]), rel=1e-12)
    assert len(parts) > 20


def test_joined_pieces_are_one_block():
    two = join_pieces([CUBE, box((1, 0, 0), (2, 1, 1))], name="two")
    model = build_model([two], friction=0.6)
    assert model.bodies.mass[0] == pytest.approx(2 * 2000.0)
    np.testing.assert_allclose(model.position[0], [1.0, 0.5, 0.5])

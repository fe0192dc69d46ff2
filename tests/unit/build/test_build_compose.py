"""Parts moved, mirrored, renamed, held: exactness against the coordinates written out, soundness by the door."""

import numpy as np
import pytest

from drystone.base.errors import InputError
from drystone.build import arch, wall
from drystone.build.compose import fix_blocks, mirror_blocks, move_blocks, prefix_names
from drystone.build.shapes import prism
from drystone.structure.model import build_model


def wedge():
    """A stone without symmetry, of volume 0.5 * 0.7 * 0.3 * 1.1."""
    return prism(np.array([(0.1, 0.2), (0.8, 0.2), (0.1, 0.5)]), (0.3, 1.4), name="wedge", density=1.0)


def mass(block):
    return build_model([block], friction=0.5).bodies.mass[0]


@pytest.mark.parametrize("quarters", [-3, -1, 0, 1, 2, 3, 4, 7])
def test_quarter_turns_are_exact(quarters):
    """(x, y) becomes (-y, x) once a quarter, to the last bit."""
    (turned,) = move_blocks([wedge()], turn=quarters * np.pi / 2)
    truth = wedge().vertices
    for _ in range(quarters % 4):
        truth = np.column_stack([-truth[:, 1], truth[:, 0], truth[:, 2]])
    np.testing.assert_array_equal(turned.vertices, truth)


def test_any_turn_about_any_vertical():
    """30 degrees about (1, 2): the centre stays, distances stay, a point east of it goes to 30 degrees north."""
    (turned,) = move_blocks([wedge()], turn=np.pi / 6, about=(1.0, 2.0), at=(0.0, 0.0, 3.0))
    arm, moved = wedge().vertices - [1, 2, 0], turned.vertices - [1, 2, 3]
    np.testing.assert_allclose(moved[:, 0], arm[:, 0] * np.sqrt(0.75) - arm[:, 1] * 0.5, atol=1e-15)
    np.testing.assert_allclose(moved[:, 1], arm[:, 0] * 0.5 + arm[:, 1] * np.sqrt(0.75), atol=1e-15)
    np.testing.assert_allclose(moved[:, 2], arm[:, 2], atol=1e-15)
    assert mass(turned) == pytest.approx(0.5 * 0.7 * 0.3 * 1.1)


@pytest.mark.parametrize(("axis", "row"), [("x", 0), ("y", 1), ("z", 2)])
def test_a_mirror_image_is_exact_and_still_a_solid(axis, row):
    """One coordinate changes sign; the door finds the faces outward again; twice is the stone itself."""
    (image,) = mirror_blocks([wedge()], axis)
    truth = wedge().vertices.copy()
    truth[:, row] *= -1
    np.testing.assert_array_equal(image.vertices, truth)
    assert mass(image) == pytest.approx(0.5 * 0.7 * 0.3 * 1.1)
    (twice,) = mirror_blocks([image], axis)
    assert twice.faces == wedge().faces
    np.testing.assert_array_equal(twice.vertices, wedge().vertices)


def test_a_mirror_may_stand_anywhere():
    (image,) = mirror_blocks([wedge()], "x", at=0.8)
    assert image.vertices[:, 0].min() == 0.8
    assert image.vertices[:, 0].max() == pytest.approx(1.5)


def test_parts_with_the_same_courses_join():
    """Two walls end to end, the second turned half round: flush ends, one model, names apart."""
    left = prefix_names(wall(), "left")
    right = prefix_names([b for b in move_blocks(wall(), at=(5.0, 0.0, 0.0), turn=np.pi) if not b.fixed], "right")
    model = build_model(left + right, friction=0.6)
    ends = {b.name: b.vertices[:, 0] for b in model.blocks}
    assert ends["left-block-1-10"].max() == ends["right-block-1-10"].min() == 2.5
    assert len(model.blocks) == 2 * 105 + 1


def test_supports_by_name_and_by_level():
    stones = fix_blocks(wall(), ["block-10-1"], below=0.5)
    fixed = {b.name for b in stones if b.fixed}
    courses = {f"block-1-{i}" for i in range(1, 11)} | {f"block-2-{i}" for i in range(1, 12)}
    assert fixed == {"foundation", "block-10-1"} | courses


def test_mistakes_are_told():
    with pytest.raises(InputError, match="mirror: axis is 'w'; give 'x', 'y' or 'z'"):
        mirror_blocks(arch(), "w")
    with pytest.raises(InputError, match="no block is named 'voussoir-77', did you mean 'voussoir-7'"):
        fix_blocks(arch(), ["voussoir-77"])

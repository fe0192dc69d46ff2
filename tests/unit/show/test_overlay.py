"""Lines over pictures: which pixels they cover, and what colour the stones have, is known beforehand."""

import sys

import numpy as np
import pytest

from drystone.base.errors import InputError
from drystone.base.units import GRAVITY
from drystone.results.mechanism import read_mechanism
from drystone.results.resultants import joint_resultants, thrust_lines
from drystone.show.pictures import camera
from drystone.show.pictures.colours import CLASS_PALETTE, SUPPORT_COLOUR
from drystone.show.pictures.force_pictures import MOVING_COLOUR, UNLOADED_COLOUR, force_picture, thrust_picture
from drystone.show.pictures.mechanism_picture import HINGE_COLOUR, SLIDING_COLOUR, mechanism_picture
from drystone.show.pictures.overlay import Lines, draw_legend, draw_lines, lines, lines_behind, polyline
from drystone.show.pictures.picture import picture
from drystone.show.plots.statics_curves import curve_picture, polar_picture
from tests.unit.hand_contacts import contacts_of, rectangle
from tests.unit.synthetic import boxes

SIZE = (160, 120)
RED = np.array([1.0, 0.0, 0.0])
FRONT = {"azimuth": 0.0, "elevation": 0.0, "field": 0.0}


def front_eye():
    """10 pixels a metre, x to the right and z up, the origin in the middle of 160 by 120 pixels."""
    axes = camera.camera_axes(0.0, 0.0)
    return camera.Camera(np.zeros(3), *axes, 0.0, 10.0, np.array([80.0, 60.0]), SIZE)


def painted(*drawn):
    """(H, W) which pixels of a white image are wholly covered by red lines."""
    image = np.ones((120, 160, 3))
    for some in drawn:
        draw_lines(image, front_eye(), some)
    return (image == RED).all(axis=2), (image != 1.0).any(axis=2)


def test_a_line_covers_its_length_and_width():
    """From x = -3 to 3 m at z = 1 m, 4 pixels wide: rows 48..51, columns 50..109 and round ends."""
    ends = np.array([[-3.0, 7.0, 1.0]]), np.array([[3.0, -5.0, 1.0]])
    full, touched = painted(lines(*ends, 4.0, RED))
    assert full[48:52, 52:108].all()
    assert not touched[:47].any()
    assert not touched[53:].any()
    assert not touched[:, :47].any()
    assert not touched[:, 113:].any()


def test_a_dot_is_a_disc():
    dot = np.array([[2.0, 0.0, -3.0]])
    full, touched = painted(lines(dot, dot, 20.0, RED))
    rows, columns = np.mgrid[:120, :160] + 0.5
    distance = np.hypot(columns - 100.0, rows - 90.0)
    assert full[distance < 9.4].all()
    assert not touched[distance > 10.6].any()


def test_a_line_outside_the_picture_leaves_it_alone():
    away = np.array([[-30.0, 0, 0], [30.0, 0, 0], [0, 0, 30.0], [0, 0, -30.0]])
    _, touched = painted(lines(away, away + 0.1, 6.0, RED))
    assert not touched.any()


def test_a_polyline_has_its_corners():
    full, _ = painted(polyline(np.array([[-2.0, 0, 0], [0, 0, 0], [0, 0, 2.0]]), 3.0, RED))
    assert full[60, 65]
    assert full[45, 80]
    assert full[60, 80]
    assert not full[45, 65]


def test_later_lines_are_drawn_over_earlier_ones():
    start, end = np.array([[-1.0, 0, 0], [0, 0, -1.0]]), np.array([[1.0, 0, 0], [0, 0, 1.0]])
    image = np.ones((120, 160, 3))
    draw_lines(image, front_eye(), Lines(start, end, np.array([4.0, 4.0]), np.array([RED, [0.0, 0.0, 1.0]])))
    np.testing.assert_array_equal(image[60, 80], [0.0, 0.0, 1.0])


def test_lines_far_behind_the_stones_are_known():
    """A cube about the origin and one 5 m behind it; a line in each, one 5 m behind but beside, and one out of the picture."""
    found = {}
    places = np.array([[0.0, 0, 0], [0, 5.0, 0], [1.5, 5.0, 0], [99.0, 5.0, 0]])

    def look(image, eye, near):
        found["far"] = lines_behind(lines(places, places, 2.0, RED), eye, near, 1.0)

    picture(boxes([[0, 0, 0.0], [0, 5, 0.0]]), size=SIZE, overlay=look, **FRONT)
    assert found["far"].tolist() == [False, True, False, False]


def test_an_empty_legend_draws_nothing():
    image = np.ones((120, 160, 3))
    draw_legend(image, [])
    assert (image == 1.0).all()


def test_the_overlay_sees_what_the_picture_shows():
    """The camera given to an overlay maps the corners of a cube onto the rim of its front."""
    seen = {}

    def look(image, eye, near):
        seen.update(image=image, eye=eye, near=near)

    picture(boxes([[0, 0, 0.5]]), size=SIZE, overlay=look, **FRONT)
    assert seen["image"].shape == (120, 160, 3)
    assert seen["near"][60, 80] == pytest.approx(0.5), "the front is half a metre before the centre"
    assert seen["near"][2, 2] < -1e9
    corners = camera.project_points(seen["eye"], np.array([[-0.5, 0, 0.0], [0.5, 0, 1.0]]))[:, :2]
    side = 0.82 * 120  # the margin is 9 % on every side
    np.testing.assert_allclose(corners, [[80 - side / 2, 60 + side / 2], [80 + side / 2, 60 - side / 2]])


def test_what_is_not_shown_hides_nothing():
    """Of two cubes one behind the other only the farther, a support, is drawn: as it is seen from where it is alone."""
    model = boxes([[0, 0, 0.5], [0, 3, 0.5]], fixed=[1])
    view = {"size": SIZE, **FRONT}
    image = picture(model, shown=np.array([False, True]), **view).astype(int)
    assert np.ptp(image[60, 80]) < 15 + 255 * np.ptp(SUPPORT_COLOUR), "grey"
    stone = picture(model, shown=np.array([True, True]), **view).astype(int)
    assert stone[60, 80, 0] > stone[60, 80, 2] + 15, "limestone"


def test_a_motion_moves_the_blocks_of_a_model():
    """Two cubes 4 m apart; one is drawn where the other was and the other turned upside down in the first one's place."""
    model = boxes([[0, 0, 0.5], [4, 0, 0.5]], fixed=[1])
    motion = np.array([[4.0, 0, 0, 0, 0, 0], [-4.0, 0, 0, 0, np.pi, 0]])
    exchanged = boxes([[4, 0, 0.5], [0, 0, 0.5]], fixed=[1])
    view = {"size": SIZE, **FRONT}
    moved, plain = picture(model, motion=motion, **view).astype(int), picture(exchanged, **view).astype(int)
    assert np.abs(moved - plain).mean() < 1.0


def stone_and_ground():
    """A support 0, a stone 1 on it and a stone 2 on that one, their contacts."""
    model = boxes([[0, 0, 0.5], [0, 0, 1.5], [0, 0, 2.5]], fixed=[0])
    square = ((-0.5, 0.5), (-0.5, 0.5))
    return model, contacts_of((k, k + 1, rectangle(*square, k + 1.0), [0.0, 0.0, 1.0]) for k in range(2))


def nearest_hue(pixel, colours):
    """The name of the colour whose hue and saturation are nearest, whatever the light."""
    hue = lambda c: np.asarray(c, float) / np.linalg.norm(c)  # noqa: E731
    return min(colours, key=lambda name: float(np.linalg.norm(hue(pixel) - hue(colours[name]))))


def test_a_mechanism_in_colours(tmp_path):
    """The upper stone slides, the lower is still: orange over grey, with a blue rim between them."""
    model, contacts = stone_and_ground()
    motion = np.zeros((3, 6))
    motion[2, 0] = 1.0
    image = mechanism_picture(model, read_mechanism(model, contacts, motion), tmp_path / "m.png", size=(320, 240), **FRONT)
    colours = {"moving": CLASS_PALETTE[0], "still": SUPPORT_COLOUR, "sliding": SLIDING_COLOUR, "hinge": HINGE_COLOUR}
    assert (tmp_path / "m.png").exists()
    seen = np.array([nearest_hue(pixel, colours) for pixel in image[:, 160]])
    assert (seen[40:80] == "moving").all()
    assert (seen[100:200] == "still").all()
    assert 1 <= (seen[80:100] == "sliding").sum() <= 4
    assert "hinge" not in seen


def test_a_hinge_is_a_dot(tmp_path):
    model, contacts = stone_and_ground()
    motion = np.zeros((3, 6))
    motion[2] = [0.5, 0, 0.5, 0, 1.0, 0]  # about the right edge of the upper joint, which is at (0.5, 0, 2)
    image = mechanism_picture(model, read_mechanism(model, contacts, motion), size=(320, 240), **FRONT)
    red = (np.abs(image.astype(int) - np.round(255 * np.array(HINGE_COLOUR))) < 3).all(axis=2)
    rows, columns = np.nonzero(red[60:, 100:])  # the legend aside
    assert 40 < len(rows) < 80, "a disc of 9 pixels"
    assert columns.mean() + 100 > 160, "right of the middle"


def test_forces_and_who_carries_none(tmp_path):
    """The lower joint carries the weight of both, the upper nothing: the upper stone is unloaded; if it moves it is falling."""
    model, contacts = stone_and_ground()
    forces = np.zeros_like(contacts.impulse)
    forces[:4, 2] = 2 * 2000.0 * GRAVITY / 4
    loaded = contacts._replace(impulse=forces)
    view = {"size": (320, 240), **FRONT}
    image = force_picture(model, loaded, tmp_path / "f.png", **view)
    colours = {"unloaded": UNLOADED_COLOUR, "stone": (0.9, 0.86, 0.78), "support": SUPPORT_COLOUR}
    top, bottom = 60, 130  # rows in the upper and in the lower stone, beside the force
    assert nearest_hue(image[top, 180], colours) == "unloaded"
    assert nearest_hue(image[bottom, 180], colours) == "stone"
    falling = np.zeros((3, 6))
    falling[2, 2] = -GRAVITY
    fell = force_picture(model, loaded, moving=falling, **view)
    assert nearest_hue(fell[top, 180], colours | {"falling": MOVING_COLOUR}) == "falling"
    dark = (image[:, 160].astype(int).sum(axis=1) < 150).nonzero()[0]  # the force, through the lower joint at row 152
    assert dark.min() < 152 < dark.max()
    above = force_picture(model, loaded, shown=np.array([False, True, True]), **view)
    assert above[100:200, 160].astype(int).sum(axis=1).min() > 250, "the joint with what is not shown is not drawn either"


def test_no_forces_is_a_picture_too():
    model, contacts = stone_and_ground()
    assert force_picture(model, contacts, size=SIZE).shape == (120, 160, 3)


def test_a_thrust_line_is_drawn_through_the_stones(tmp_path):
    model, contacts = stone_and_ground()
    forces = np.tile([0.0, 0.0, 1000.0], (8, 1))
    found = thrust_lines(model, joint_resultants(model, contacts._replace(impulse=forces)))
    image = thrust_picture(model, {"effective": found, "given": np.array([[0.4, 0, 0], [0.4, 0, 3.0]])}, size=(320, 240))
    rows = image[:, 160, 1].astype(int) - image[:, 150, 1] < -60
    assert 50 < rows.sum() < 80, "from joint to joint a third of 197 pixels"


@pytest.mark.parametrize("draw", ["polar", "curve"])
def test_plots(tmp_path, draw):
    pytest.importorskip("matplotlib")
    path = tmp_path / "x.png"
    if draw == "polar":
        directions = np.array([0.0, 90.0, 180.0])
        polar_picture({"safe": (directions, np.array([0.3, 0.2, 0.3])), "upper": (directions, directions + 0.4)}, path)
    else:
        curve_picture({"push": (np.array([0.0, 0.1]), np.array([0.3, 0.0]))}, path)
    assert path.read_bytes()[:4] == b"\x89PNG"


def test_plots_refuse_what_does_not_fit(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"\(2,\) against multipliers \(1,\)"):
        polar_picture({"safe": (np.array([0.0, 90.0]), np.array([0.3]))}, tmp_path / "x.png")
    with pytest.raises(InputError, match="no curve"):
        curve_picture({}, tmp_path / "x.png")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match=r"drystone\[plot\]"):
        polar_picture({"safe": (np.array([0.0]), np.array([0.3]))}, tmp_path / "x.png")

"""Facts of pictures that are known beforehand: what hides what, what is background, that a PNG is a PNG."""

import struct
import zlib

import numpy as np
import pytest

from drystone.base.errors import InputError
from drystone.show.pictures import camera, raster, render
from drystone.show.pictures.colours import CLASS_PALETTE, SUPPORT_COLOUR, class_legend_rows, format_quantity, scale_colours
from drystone.show.pictures.moment import Moment, moment_at_frame, moment_label, values_at
from drystone.show.pictures.picture import picture, strip
from drystone.show.pictures.png import write_png
from drystone.structure.body_surfaces import world_vertices
from drystone.structure.face_triangles import triangulate_faces
from tests.unit.hand_contacts import contacts_of, rectangle
from tests.unit.synthetic import boxes, hand_run

SIZE = (160, 120)


def faces_seen(model, **view):
    """(H, W) number of the block seen in each pixel, -1 for none; front view along +y."""
    upright = np.tile([1.0, 0.0, 0.0, 0.0], (len(model.blocks), 1))
    corners = world_vertices(model.bodies, model.position, upright)
    eye = camera.fit_camera(corners, SIZE, **{"azimuth": 0, "elevation": 0, "field": 0, "margin": 0.1} | view)
    triangle, face = triangulate_faces(model.bodies.face_start, model.bodies.face_vertex)
    _, number = raster.rasterise_nearest(eye, camera.project_points(eye, corners)[triangle], face)
    return np.where(number >= 0, number // 6, -1)  # boxes have 6 faces


@pytest.mark.parametrize("field", [0.0, 30.0])
def test_nearer_block_hides_the_farther(field):
    seen = faces_seen(boxes([[0, 0, 0.5], [0, 3, 0.5]]), field=field)  # the eye is at y = -infinity
    assert seen[60, 80] == 0
    assert (seen == 1).sum() == 0
    behind = faces_seen(boxes([[0, 0, 0.5], [0, 3, 0.5]]), field=field, azimuth=180)
    assert behind[60, 80] == 1
    assert (behind == 0).sum() == 0


def test_a_box_covers_the_pixels_of_its_front():
    seen = faces_seen(boxes([[0, 0, 0.5]]))  # 120 rows less two margins of 12: a square of 96 pixels
    rows, columns = np.nonzero(seen == 0)
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (12, 107, 32, 127)
    assert len(rows) == 96 * 96


@pytest.mark.parametrize("field", [0.0, 40.0])
def test_a_pixel_and_its_world_point(field):
    points = np.random.default_rng(2).normal(size=(20, 3))
    eye = camera.fit_camera(points, SIZE, azimuth=35, elevation=20, field=field, margin=0.1)
    for point, (column, row, near) in zip(points, camera.project_points(eye, points), strict=True):
        assert raster.world_point(eye, column - 0.5, row - 0.5, near) == pytest.approx(point)
    seen = camera.project_points(eye, points)[:, :2]
    assert seen.min() >= 0.1 * 120 - 1e-9
    assert (seen <= np.array(SIZE) * 0.9 + 1e-9).all()


def test_background_stone_and_support(tmp_path):
    image = picture(boxes([[0, 0, 0.5], [0, 0, 1.5]], fixed=[0]), tmp_path / "x.png", size=SIZE, azimuth=0, elevation=0)
    assert image.shape == (120, 160, 3)
    top_corner = image[2, 2].astype(int)
    assert top_corner.min() > 200, "pale background"
    stone, support = image[40, 80].astype(int), image[80, 80].astype(int)
    assert stone[0] > stone[2] + 15, "limestone is warm"
    assert np.ptp(support) < 15 + 255 * np.ptp(SUPPORT_COLOUR), "supports are grey"


def test_png_holds_the_same_pixels(tmp_path):
    image = np.random.default_rng(3).integers(0, 256, (7, 5, 3), dtype=np.uint8)
    write_png(tmp_path / "x.png", image)
    np.testing.assert_array_equal(read_png(tmp_path / "x.png"), image)


def read_png(path):
    """The obvious reader of what write_png writes, with the check sums."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + body)
        chunks[kind] = body
        at += 12 + length
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, 1 + 3 * width)
    assert (rows[:, 0] == 0).all()
    return rows[:, 1:].reshape(height, width, 3)


def test_strip_and_displacement_of_a_run(tmp_path):
    model = boxes([[0, 0, 0.5], [0, 0, 1.5]], fixed=[0])
    run = hand_run(tmp_path / "run", model, [[[0, 0, 0.5], [0.5, 0, 1.5]], [[0, 0, 0.5], [1, 0, 1.5]]])
    image = strip(run, [0, 1, 2], tmp_path / "strip.png", width=80)
    assert image.shape[1] == 240
    np.testing.assert_array_equal(read_png(tmp_path / "strip.png"), image)
    assert picture(run, color="displacement", exaggerate=2.0, size=(80, 60)).shape == (60, 80, 3)
    with pytest.raises(InputError, match="color"):
        picture(run, color="pink")


def hue(pixel):
    """A colour whatever the light."""
    return np.asarray(pixel, float) / np.linalg.norm(pixel)


@pytest.fixture(scope="module")
def apart(tmp_path_factory):
    """A support and two stones beside it, seen side by side from the front; the right one goes up by 0.5 m, then by 1 m."""
    model = boxes([[-2, 0, 0.5], [0, 0, 0.5], [2, 0, 0.5]], fixed=[0])
    up = [[[-2, 0, 0.5], [0, 0, 0.5], [2, 0, 0.5 + rise]] for rise in (0.5, 1.0)]
    return hand_run(tmp_path_factory.mktemp("apart") / "run", model, up)


FRONT = {"view": "front", "size": (320, 180)}


def test_values_have_one_scale_in_a_strip(apart):
    """Displacements 0, half and all of the largest are the begin, the middle and the end of the scale."""
    image = strip(apart, [0, 1, 2], width=320, color="displacement", view="front")
    row, columns = image.shape[0] // 2 + 20, np.array([90, 250])
    seen = [image[row - 45 * (k > 0) : row + 1, 320 * k + columns[1]] for k in range(3)]
    for pixels, share in zip(seen, (0.0, 0.5, 1.0), strict=True):
        away = [np.linalg.norm(hue(pixel) - hue(scale_colours(np.array(share)))) for pixel in pixels]
        assert min(away) < 0.15, share
    alone = picture(apart, frame=1, color="displacement", most=1.0, **FRONT)
    largest = picture(apart, frame=1, color="displacement", **FRONT)
    assert not np.array_equal(alone, largest), "alone, half a metre is the end of the scale"


def test_without_a_value_stones_are_plain(apart):
    """Nothing touches: no joint has a pressure. The bar aside the picture is that of the stones."""
    plain, pressure = (picture(apart, color=color, **FRONT)[:128] for color in ("stone", "joint pressure"))
    np.testing.assert_array_equal(plain, pressure)


def test_macro_blocks_have_the_palette(apart):
    image = picture(apart, color="macro-block", **FRONT)
    pixels = image.reshape(-1, 3)[image.reshape(-1, 3).min(axis=1) < 120]
    assert min(np.linalg.norm(hue(pixel) - hue(CLASS_PALETTE[0])) for pixel in pixels) < 0.1, "what moves is orange"
    assert [words for _, words in class_legend_rows(np.array([0.0, 1, 1, 2, 3, 4, 5, 6]))] == [
        "still: 1", "2 blocks", "1 block", "1 block", "1 block", "and 2 more macro-blocks",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [(0.25, "m", "250 mm"), (1.5, "m", "1.5 m"), (np.pi / 6, "rad", "30 deg"), (2.5e5, "Pa", "250 kPa"), (3e6, "Pa", "3 MPa"),
     (2e5, "N", "200 kN"), (0.0, "m/s", "0 mm/s")],
)  # fmt: skip
def test_values_in_the_units_of_people(value, unit, words):
    assert format_quantity(value, unit) == words


def test_the_ghost_is_the_outline_of_what_was_built(apart):
    """The rim of the right stone as built has lines; where the other stones are, and in the open sky, nothing changes."""
    bare, ghost = (picture(apart, ghost=ghost, **FRONT).astype(int) for ghost in (False, True))
    changed = np.abs(bare - ghost).max(axis=2) > 8
    changed[:60, :120] = False  # the legend
    box = np.array([[-2.5, -0.5, 0.0], [2.5, 0.5, 2.0]])
    eye = render.image_camera(render.make_scene(apart.model, box, (320, 180), camera.VIEWS["front"]))
    (left, bottom, _), (right, top, _) = camera.project_points(eye, np.array([[1.5, 0, 0.0], [2.5, 0, 1.0]]))
    rows, columns = np.nonzero(changed)
    moved = columns > 200
    assert abs(columns[moved].min() - left) <= 2
    assert abs(columns[moved].max() - right) <= 2
    assert abs(rows[moved].max() - bottom) <= 2
    assert abs(rows[moved].min() - top) <= 2
    inner = changed[int(top) + 3 : int(bottom) - 3, int(left) + 3 : int(right) - 3]
    assert not inner.any(), "seen through"


def test_a_section_leaves_out_what_is_on_the_side_of_the_eye(tmp_path):
    model = boxes([[0, 0, 0.5], [0, 3, 0.5]])
    run = hand_run(tmp_path / "run", model, [model.position])
    for azimuth, kept in ((0.0, [False, True]), (180.0, [True, False])):
        view = {"azimuth": azimuth, "elevation": 5.0, "size": SIZE}
        cut = picture(run, section="y = 1.5", **view)
        np.testing.assert_array_equal(cut, picture(run, shown=np.array(kept), **view))
        np.testing.assert_array_equal(cut, picture(model, section="y=1.5", **view))
    for section, said in (
        ("x=1", "looks along this plane"),
        ("w=1", "as in x=0.5"),
        ("x=one", "as in x=0.5"),
        ("xy=1", "as in x=0.5"),
    ):
        with pytest.raises(InputError, match=said):
            picture(run, section=section, view="front", size=SIZE)


def test_options_combine(tmp_path):
    """A column under its weight: forces, thrust line, ghost and colours together change what each alone changes."""
    model = boxes([[0, 0, 0.5], [0, 0, 1.5], [0, 0, 2.5]], fixed=[0])
    square = ((-0.5, 0.5), (-0.5, 0.5))
    contacts = contacts_of((k, k + 1, rectangle(*square, k + 1.0), [0.0, 0.0, 1.0]) for k in range(2))
    contacts = contacts._replace(impulse=np.tile([0.0, 0.0, 5.0], (8, 1)))
    run = hand_run(tmp_path / "run", model, [model.position, model.position + [0.1, 0, 0]], contacts=contacts)
    pressure = (
        values_at(run, Moment(0, 1, 0.25, 0), "joint pressure"),
        values_at(run, moment_at_frame(run, 1), "joint pressure"),
    )
    assert np.isnan(pressure[0]).all(), "nothing touches in the first frame, which is shown"
    np.testing.assert_allclose(pressure[1], 5.0 * 4 / 0.001, err_msg="[Pa] four impulses of 5 N s in 1 ms on 1 m2")
    np.testing.assert_array_equal(values_at(run, Moment(0, 1, 0.75, 1), "joint pressure"), pressure[1])
    together = {"forces": True, "thrust": True, "ghost": True, "color": "displacement"}
    images = {name: picture(run, size=SIZE, **{name: value}) for name, value in together.items()}
    everything = picture(run, size=SIZE, **together)
    bare = picture(run, size=SIZE)
    assert all(not np.array_equal(image, bare) for image in images.values())
    assert all(not np.array_equal(everything, image) for image in images.values())
    with pytest.raises(InputError, match="need a run"):
        picture(model, forces=True)


def test_views_by_name(apart):
    """From the top z is not seen: where the right stone has gone to changes nothing but light; from the side x is not."""
    for name, axis in (("front", 1), ("side", 0), ("top", 2)):
        forward = camera.camera_axes(*camera.VIEWS[name][:2])[2]
        np.testing.assert_allclose(np.abs(forward), np.eye(3)[axis], atol=1e-12)
    right, up, _ = camera.camera_axes(*camera.VIEWS["top"][:2])
    np.testing.assert_allclose([right, up], [[1, 0, 0], [0, 1, 0]], atol=1e-12)
    assert picture(apart, view="iso", size=SIZE).shape == (120, 160, 3)
    with pytest.raises(InputError, match=r"'frnt', did you mean 'front'"):
        picture(apart, view="frnt")


def test_a_stone_that_has_flown_away_does_not_count(tmp_path):
    """50 m away it is not in the picture, which is as large as without it; farther than half the extent is away."""
    model = boxes([[0, 0, 0.5], [2, 0, 0.5], [4, 0, 0.5]])
    points = np.array([[0.0, 0, 0], [50.0, 0, 0], [0, 0, 2.0]])
    np.testing.assert_array_equal(render.points_near_structure(model, points), points[[0, 2]])
    run = hand_run(tmp_path / "run", model, [[[0, 0, 0.5], [2, 0, 0.5], [50, 0, 0.5]]])
    near = boxes([[0, 0, 0.5], [2, 0, 0.5]])
    seen = picture(run, view="front", size=SIZE)
    columns = np.flatnonzero(seen[60, :, 0].astype(int) - seen[60, :, 2] > 15)
    alone = picture(near, view="front", size=SIZE)
    np.testing.assert_array_equal(columns, np.flatnonzero(alone[60, :, 0].astype(int) - alone[60, :, 2] > 15))


def test_frames_are_labelled_by_time_or_stage(apart, tmp_path):
    assert moment_label(apart, moment_at_frame(apart, 2)) == "t = 0.00 s"
    still = hand_run(tmp_path / "run", apart.model, [apart.model.position], kind='kind = "limit"')
    assert moment_label(still, moment_at_frame(still, -1)) == "stage 1"
    with pytest.raises(InputError, match=r"frame 3: .* has frames 0 to 2"):
        picture(apart, frame=3)


def test_the_table_of_the_screen():
    light = np.linspace(0.0, 1.0, 5000)
    np.testing.assert_allclose([raster.to_srgb(value) for value in light], light ** (1 / 2.2), atol=1e-3)

"""Facts of pictures that are known beforehand: what hides what, what is background, that a PNG is a PNG."""

import struct
import zlib

import numpy as np
import pytest

from drystone.errors import InputError
from drystone.record import RunWriter, read_run
from drystone.view import camera, raster, render
from drystone.view.colours import SUPPORT
from drystone.view.picture import picture, strip
from drystone.view.png import write_png
from tests.unit.synthetic import boxes, ground, start, steps

SIZE = (160, 120)
CASE = 'structure = { generator = "block" }\njoints = { friction = 0.6 }\nanalysis = { duration = 1.0, time_step = 0.001 }\n'


def faces_seen(model, **view):
    """(H, W) number of the block seen in each pixel, -1 for none; front view along +y."""
    upright = np.tile([1.0, 0.0, 0.0, 0.0], (len(model.blocks), 1))
    corners = render.corners(render.Stones(model.bodies, model.position, upright, np.ones(len(model.blocks), bool)))
    eye = camera.frame(corners, SIZE, **{"azimuth": 0, "elevation": 0, "field": 0, "margin": 0.1} | view)
    triangle, face = render.triangles(model.bodies)
    _, number = raster.nearest(eye, camera.project(eye, corners)[triangle], face)
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
    eye = camera.frame(points, SIZE, azimuth=35, elevation=20, field=field, margin=0.1)
    for point, (column, row, near) in zip(points, camera.project(eye, points), strict=True):
        assert raster.world_point(eye, column - 0.5, row - 0.5, near) == pytest.approx(point)
    seen = camera.project(eye, points)[:, :2]
    assert seen.min() >= 0.1 * 120 - 1e-9
    assert (seen <= np.array(SIZE) * 0.9 + 1e-9).all()


def test_background_stone_and_support(tmp_path):
    image = picture(boxes([[0, 0, 0.5], [0, 0, 1.5]], fixed=[0]), tmp_path / "x.png", size=SIZE, azimuth=0, elevation=0)
    assert image.shape == (120, 160, 3)
    top_corner = image[2, 2].astype(int)
    assert top_corner.min() > 200, "pale background"
    stone, support = image[40, 80].astype(int), image[80, 80].astype(int)
    assert stone[0] > stone[2] + 15, "limestone is warm"
    assert np.ptp(support) < 15 + 255 * np.ptp(SUPPORT), "supports are grey"


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
    assert (rows[:, 0] == 2).all()
    return np.cumsum(rows[:, 1:], axis=0, dtype=np.uint8).reshape(height, width, 3)


def test_strip_and_displacement_of_a_run(tmp_path):
    model = boxes([[0, 0, 0.5], [0, 0, 1.5]], fixed=[0])
    with RunWriter.create(tmp_path, CASE, model, start(model), every_steps=1) as writer:
        for step in steps(start(model), 2):
            writer.add(step, ground(step.state.step))
    run = read_run(tmp_path)
    image = strip(run, [0, 1, 2], tmp_path / "strip.png", width=80)
    assert image.shape[1] == 240
    np.testing.assert_array_equal(read_png(tmp_path / "strip.png"), image)
    assert picture(run, color="displacement", exaggerate=2.0, size=(80, 60)).shape == (60, 80, 3)
    with pytest.raises(InputError, match="color"):
        picture(run, color="pink")

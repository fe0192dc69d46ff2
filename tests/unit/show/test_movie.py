"""Movies: moments counted by hand, closed forms between frames, and files read back by others."""

import numpy as np
import pytest

from drystone.base import quaternion
from drystone.base.errors import InputError
from drystone.show.pictures import movie as movies
from drystone.show.pictures.camera import project_points
from drystone.show.pictures.moment import Moment, bodies_at, moment_label, values_at
from drystone.show.pictures.movie import movie, movie_moments
from drystone.show.pictures.picture import Look, prepare_settings, render_moment, to_uint8
from drystone.show.pictures.render import drawn_vertices
from tests.unit.show.test_picture import read_png
from tests.unit.synthetic import boxes, hand_run

SIZE = (96, 64)
QUARTER = np.array([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])  # about z


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A support and a stone that goes 1 m along x while it makes a quarter turn about z, and rests: frames at 0, 1 and 2 ms."""
    model = boxes([[0, 0, 0.5], [0, 0, 1.5]], fixed=[0])
    after = [[0, 0, 0.5], [1, 0, 1.5]]
    return hand_run(tmp_path_factory.mktemp("run") / "out", model, [after, after], [[[1.0, 0, 0, 0], QUARTER]] * 2)


def test_between_frames_motion_is_even(run):
    """Half of the way is half a metre and an eighth of a turn."""
    moment = Moment(0, 1, 0.5, 1)
    stones = bodies_at(run, moment, 1.0)
    np.testing.assert_allclose(stones.position[1], [0.5, 0, 1.5])
    np.testing.assert_allclose(quaternion.rotation_vector(stones.rotation[1:]), [[0, 0, np.pi / 4]], atol=1e-12)
    np.testing.assert_allclose(values_at(run, moment, "displacement"), [0.0, 0.5])
    doubled = bodies_at(run, moment, 2.0)
    np.testing.assert_allclose(doubled.position[1], [1.0, 0, 1.5])
    np.testing.assert_allclose(quaternion.rotation_vector(doubled.rotation[1:]), [[0, 0, np.pi / 2]], atol=1e-12)


def test_images_are_chosen_by_time(run):
    """4000 images a second of a run of 2 ms: one every 0.25 ms, both ends with them, 9 in all."""
    chosen = movie_moments(run, 4000.0, None, None)
    np.testing.assert_allclose([m.frame + m.share for m in chosen], np.arange(9) / 4)
    assert [m.shown_frame for m in chosen] == [0, 0, 1, 1, 1, 1, 2, 2, 2]
    part = movie_moments(run, 4000.0, 0.0005, 0.001)
    np.testing.assert_allclose([m.frame + m.share for m in part], [0.5, 0.75, 1.0])
    for start, end in ((-0.1, None), (None, 5.0), (0.001, 0.0005)):
        with pytest.raises(InputError, match=r"the run goes from 0 to 0\.002 s"):
            movie_moments(run, 4000.0, start, end)


def test_a_mechanism_goes_to_and_fro(run, tmp_path):
    """Statics: from the structure as built to where it is drawn and back, a cosine; the label is the stage."""
    moved = run.model.position + [[0, 0, 0], [0.2, 0, 0]]
    still = hand_run(tmp_path / "limit", run.model, [moved], kind='kind = "limit"')
    chosen = movie_moments(still, 4 / 3, None, None)  # 4 images in 3 s
    np.testing.assert_allclose([m.share for m in chosen], [0.0, 0.5, 1.0, 0.5])
    assert {moment_label(still, moment) for moment in chosen} == {"stage 1"}
    np.testing.assert_allclose(bodies_at(still, chosen[1], 1.0).position[1], [0.1, 0, 1.5])
    at_rest = hand_run(tmp_path / "rest", run.model, [run.model.position], kind='kind = "limit"')
    with pytest.raises(InputError, match="nothing moves in this analysis"):
        movie_moments(at_rest, 25.0, None, None)


def test_numbered_pictures_are_the_moments(run, tmp_path):
    """From 0.5 to 1.5 ms at 1000 images a second: two, the same pixels that one camera for both gives."""
    how = {"fps": 25.0, "speed": 0.025, "start": 0.0005, "end": 0.0015, "size": SIZE, "color": "displacement"}
    assert movie(run, tmp_path / "f-%02d.png", **how) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f-00.png", "f-01.png"]
    moments = movie_moments(run, 1000.0, 0.0005, 0.0015)
    setting = prepare_settings(run, moments, SIZE, Look(color="displacement"))._replace(label_height=11.0)
    for number, moment in enumerate(moments):
        wanted = to_uint8(render_moment(run, moment, setting)[0])
        np.testing.assert_array_equal(read_png(tmp_path / f"f-{number:02d}.png"), wanted)


def test_two_processes_write_the_same_bytes(run, tmp_path):
    pytest.importorskip("PIL")
    how = {"fps": 50.0, "speed": 0.02, "size": SIZE, "ghost": True}
    for jobs in (1, 2):
        movie(run, tmp_path / f"{jobs}.gif", jobs=jobs, **how)
    assert (tmp_path / "1.gif").read_bytes() == (tmp_path / "2.gif").read_bytes()


def test_a_gif_lasts_as_long_as_it_should(run, tmp_path):
    """15 images a second are 66.7 ms each; a gif counts in 10 ms, and is still as long as all of them."""
    pillow = pytest.importorskip("PIL.Image")
    assert movie(run, tmp_path / "a.gif", fps=15.0, speed=0.015, end=0.001, size=SIZE) == 2
    with pillow.open(tmp_path / "a.gif") as read:
        lasted = [read.seek(k) or read.info["duration"] for k in range(read.n_frames)]
    assert lasted == [70, 60], "[ms]"


def test_a_gif_holds_the_images(run, tmp_path):
    pillow = pytest.importorskip("PIL.Image")
    shown = []
    count = movie(run, tmp_path / "a.gif", fps=50.0, speed=0.02, size=SIZE, on_progress=shown.append)
    np.testing.assert_allclose(shown, np.arange(1, 7) / 6)
    with pillow.open(tmp_path / "a.gif") as read:
        assert read.size == SIZE
        assert read.info["duration"] == 20, "[ms]"
        assert count == 6
        read.seek(1)
        image = np.asarray(read.convert("RGB")).astype(int)
    moments = movie_moments(run, 2500.0, None, None)
    setting = prepare_settings(run, moments, SIZE, Look())._replace(label_height=11.0)
    wanted = to_uint8(render_moment(run, moments[1], setting)[0]).astype(int)
    assert np.abs(image - wanted).mean() < 3.0, "but for 256 colours"


def test_an_mp4_holds_the_images(run, tmp_path):
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    assert movie(run, tmp_path / "a.mp4", fps=25.0, speed=0.01, size=SIZE) == 6
    reader = ffmpeg.read_frames(str(tmp_path / "a.mp4"))
    about = next(reader)
    images = [np.frombuffer(data, np.uint8).reshape(SIZE[1], SIZE[0], 3).astype(int) for data in reader]
    assert about["size"] == SIZE
    assert about["fps"] == 25.0
    moments = movie_moments(run, 2500.0, None, None)
    setting = prepare_settings(run, moments, SIZE, Look())._replace(label_height=11.0)
    assert len(images) == len(moments) == 6
    for image, moment in zip(images, moments, strict=True):
        assert np.abs(image - to_uint8(render_moment(run, moment, setting)[0])).mean() < 6.0


@pytest.mark.parametrize("name", ["cut.mp4", "cut.gif"])
def test_what_is_cut_leaves_no_file(run, tmp_path, name):
    pytest.importorskip("imageio_ffmpeg")

    def stop(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        movie(run, tmp_path / name, speed=0.01, size=SIZE, on_progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_round_about_all_stays_in_sight_and_equally_large(run):
    moments = movie_moments(run, 4000.0, None, None)
    shots = movies._shots(run, moments, SIZE, Look(), 360.0)
    cameras = [shot.setting.scene.camera for shot in shots]
    assert len({camera.scale for camera in cameras}) == 1
    np.testing.assert_allclose(cameras[0].forward, cameras[-1].forward, atol=1e-12)
    assert abs(cameras[0].forward @ cameras[4].forward) < 0.999, "half way round"
    for shot, camera in zip(shots, cameras, strict=True):
        seen = project_points(camera, drawn_vertices(bodies_at(run, shot.moment, 1.0)))[:, :2]
        assert seen.min() > 0.0
        assert (seen < camera.size).all()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"path": "a.avi"}, "a movie is an .mp4, a .gif or numbered"),
        ({"path": "a.png"}, "numbered pictures such as frame-%04d.png"),
        ({"path": "a-%s-%d.png"}, "numbered pictures"),
        ({"path": "no/a.gif"}, "there is no folder"),
        ({"fps": 0.0}, "fps = 0"),
        ({"speed": -1.0}, "speed = -1"),
        ({"jobs": 0}, "jobs = 0"),
        ({"path": "a.mp4", "size": (95, 64)}, "95x64: an mp4 needs an even number"),
    ],
)
def test_mistakes_are_told(run, tmp_path, asked, said):
    with pytest.raises(InputError, match=said):
        movie(run, tmp_path / asked.pop("path", "a.gif"), **{"size": SIZE} | asked)
    assert list(tmp_path.iterdir()) == []


def test_by_command(run, tmp_path, command):
    code, out, _ = command("movie", run.folder, "-o", tmp_path / "f%d.png", "--speed", 0.04, "--size", "96x64", "--json")
    assert code == 0
    assert '"images": 2' in out
    assert (tmp_path / "f1.png").exists()
    code, out, _ = command("picture", run.folder, "-o", tmp_path / "p.png", "--size", "big")
    assert code == 2
    assert not (tmp_path / "p.png").exists()

"""Movies of runs, drawn like pictures without graphics hardware: a `Run` comes in, a file goes out, written atomically.

    fall.mp4            with ffmpeg, in a process of its own (extra `movie`)
    fall.gif            with Pillow (extra `movie`, or `plot`)
    frame-%04d.png      one file per image, without further packages

The movie of a history follows time, that of a pushover or a construction follows its stages; the mechanisms of other analyses
of statics move to and fro. Each image is drawn independently, so that the result does not depend on the number of processes.
"""

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from drystone.base.errors import InputError
from drystone.base.files.atomic_write import replace_atomically
from drystone.base.signals import leave_ctrl_c_to_parent
from drystone.results.store.run_reader import Run, read_run
from drystone.show.pictures.camera import fit_camera
from drystone.show.pictures.moment import SEQUENTIAL_ANALYSES, Moment, analysis_kind, is_history
from drystone.show.pictures.picture import (
    ImageSettings,
    Look,
    framed_points,
    prepare_settings,
    render_moment,
    resolve_view,
    to_uint8,
)
from drystone.show.pictures.png import write_png
from drystone.show.pictures.render import IMAGE_MARGIN, Scene

Array = np.ndarray

SEQUENCE_SECONDS = 6.0  # [s] duration of the movie of a pushover, construction or settlement
MECHANISM_PERIOD = 3.0  # [s] for one motion of a mechanism to and fro
MIN_MOTION = 1e-9  # [m] smaller displacements count as no motion
PALETTE_IMAGES = 6  # images from which the colours of a gif are taken
MOVIE_SUFFIXES = (".mp4", ".gif", ".png")


class Shot(NamedTuple):
    """One image of a movie."""

    moment: Moment
    setting: ImageSettings


def movie(
    run: Run,
    path: str | Path,
    *,
    fps: float = 25.0,
    speed: float = 1.0,
    start: float | None = None,
    end: float | None = None,
    size: tuple[int, int] = (1280, 720),
    orbit: float = 0.0,
    jobs: int = 1,
    on_progress: Callable[[float], None] | None = None,
    **look: Any,
) -> int:
    """Write a movie to `path` and return the number of its images.

    fps: images per second
    speed: how many times faster than real time
    start, end: [s], or stages of an analysis of statics; by default everything
    orbit: [deg] by which the camera turns around the structure during the movie
    jobs: number of processes
    on_progress: is called with the share that is done
    look: the fields of `Look`
    """
    path = Path(path)
    _check(path, fps, speed, size, jobs)
    moments = movie_moments(run, fps / speed, start, end)
    shots = _shots(run, moments, size, Look(**look), orbit)
    images = _report_progress(draw_images(run, shots, jobs), len(shots), on_progress)
    if path.suffix == ".mp4":
        _write_mp4(path, images, size, fps)
    elif path.suffix == ".gif":
        _write_gif(path, images, fps)
    else:
        for number, image in enumerate(images):
            write_png(str(path) % number, image)
    return len(shots)


def movie_moments(run: Run, rate: float, start: float | None, end: float | None) -> list[Moment]:
    """The moments that the images show, `rate` of them per second."""
    kind = analysis_kind(run)
    if is_history(run):
        return _moments_between(run.time, 1.0 / rate, start, end, "s")
    if kind in SEQUENTIAL_ANALYSES:
        stages = np.arange(run.frames, dtype=float)
        return _moments_between(stages, max(run.frames - 1, 1) / (SEQUENCE_SECONDS * rate), start, end, "(stages)")
    moved = np.abs(run.position - run.position[0]).max(axis=(1, 2)) > MIN_MOTION
    shares = (
        1.0 - np.cos(2.0 * np.pi * np.arange(max(2, round(MECHANISM_PERIOD * rate))) / round(MECHANISM_PERIOD * rate))
    ) / 2
    all_moments = [Moment(0, int(k), float(share), int(k)) for k in np.flatnonzero(moved) for share in shares]
    if not all_moments:
        raise InputError(f"{run.folder}: nothing moves in this analysis ({kind}); draw a picture instead")
    return all_moments


def draw_images(run: Run, shots: Sequence[Shot], jobs: int) -> Iterator[Array]:
    """The images (H, W, 3) uint8, in their order."""
    if jobs == 1:
        for shot in shots:
            yield to_uint8(render_moment(run, *shot)[0])
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=leave_ctrl_c_to_parent) as pool:
        waiting, coming = deque[Future[Array]](), iter(shots)
        try:
            for shot in islice(coming, 2 * jobs):
                waiting.append(pool.submit(_draw, run.folder, shot))
            while waiting:
                yield waiting.popleft().result()
                for shot in islice(coming, 1):
                    waiting.append(pool.submit(_draw, run.folder, shot))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _check(path: Path, fps: float, speed: float, size: tuple[int, int], jobs: int) -> None:
    if path.suffix not in MOVIE_SUFFIXES or (path.suffix == ".png" and _first_file_name(path) is None):
        raise InputError(f"{path}: a movie is an .mp4, a .gif or numbered pictures such as frame-%04d.png")
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}; create it first")
    if not 0.0 < fps <= 240.0:
        raise InputError(f"fps = {fps:g}: give the number of images per second, up to 240")
    if not (0.0 < speed < np.inf):
        raise InputError(f"speed = {speed:g}: give a factor above 0; 2 is twice as fast as real time, 0.5 is slow motion")
    if jobs < 1:
        raise InputError(f"jobs = {jobs}: give at least one process")
    if path.suffix == ".mp4" and (size[0] % 2 or size[1] % 2):
        raise InputError(f"size {size[0]}x{size[1]}: an mp4 needs an even number of pixels in both directions")


def _first_file_name(path: Path) -> str | None:
    """The name of the first of the numbered pictures; None if the pattern has no place for a number."""
    try:
        return str(path) % 0
    except (TypeError, ValueError):
        return None


def _moments_between(at: Array, step: float, start: float | None, end: float | None, unit: str) -> list[Moment]:
    """Moments at equal steps between frames at the times or stages `at`."""
    first, last = at[0] if start is None else start, at[-1] if end is None else end
    if not at[0] <= first <= last <= at[-1]:
        raise InputError(
            f"from {first:g} to {last:g}: the run goes from {at[0]:g} to {at[-1]:g} {unit}; choose an interval within it"
        )
    places = np.interp(first + step * np.arange(int((last - first) / step + 1e-9) + 1), at, np.arange(len(at)))
    before = np.minimum(places.astype(int), max(len(at) - 2, 0))
    after = np.minimum(before + 1, len(at) - 1)
    return [
        Moment(int(i), int(j), float(share), int(i if share < 0.5 else j))
        for i, j, share in zip(before, after, places - before, strict=True)
    ]


def _shots(run: Run, moments: Sequence[Moment], size: tuple[int, int], look: Look, orbit: float) -> list[Shot]:
    """One setting for all images; only the camera moves, at a constant distance, if it orbits."""
    setting = prepare_settings(run, moments, size, look)._replace(label_height=max(11.0, size[1] / 30))
    if orbit == 0.0:
        return [Shot(moment, setting) for moment in moments]
    points = framed_points(run, moments, look)
    scenes = _orbit(setting.scene, points, look, np.linspace(0.0, orbit, len(moments)))
    return [Shot(moment, setting._replace(scene=scene)) for moment, scene in zip(moments, scenes, strict=True)]


def _orbit(scene: Scene, points: Array, look: Look, turns: Array) -> list[Scene]:
    """The scene from all sides, with the box around the points always in view and of constant size."""
    view = resolve_view(look)
    low, high = points.min(axis=0), points.max(axis=0)
    box = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    cameras = [
        fit_camera(
            box, scene.camera.size, azimuth=view.azimuth + turn, elevation=view.elevation, field=view.field, margin=IMAGE_MARGIN
        )
        for turn in turns
    ]
    scale = min(camera.scale for camera in cameras)
    half = np.array(scene.camera.size) / 2
    return [
        scene._replace(camera=camera._replace(scale=scale, middle=half + (camera.middle - half) * scale / camera.scale))
        for camera in cameras
    ]


def _draw(folder: Path, shot: Shot) -> Array:
    return to_uint8(render_moment(_open_run(folder), *shot)[0])


@lru_cache(maxsize=1)
def _open_run(folder: Path) -> Run:
    """The run, kept open in this process from image to image."""
    return read_run(folder)


def _report_progress(images: Iterator[Array], count: int, on_progress: Callable[[float], None] | None) -> Iterator[Array]:
    for number, image in enumerate(images, 1):
        yield image
        if on_progress is not None:
            on_progress(number / count)


def _write_mp4(path: Path, images: Iterator[Array], size: tuple[int, int], fps: float) -> None:
    """Write H.264, which every browser and presentation program plays."""
    try:
        from imageio_ffmpeg import count_frames_and_secs, write_frames
    except ImportError:
        raise InputError(f"{path}: mp4 needs ffmpeg; pip install 'drystone[movie]', or write frame-%04d.png") from None
    with replace_atomically(path) as part:
        options = ["-f", "mp4", "-movflags", "+faststart", "-crf", "20", "-preset", "medium"]
        settings = {"codec": "libx264", "quality": None, "macro_block_size": 2, "output_params": options}
        writer = write_frames(str(part), size, fps=fps, ffmpeg_log_level="error", **settings)
        writer.send(None)
        sent = 0
        try:
            for image in images:
                writer.send(np.ascontiguousarray(image))
                sent += 1
        finally:
            writer.close()
        try:  # the writer does not report failures of ffmpeg: on a full disk it leaves a file without images
            written, _ = count_frames_and_secs(str(part))
        except RuntimeError:
            written = 0
        if written != sent:
            raise InputError(f"{path}: ffmpeg wrote {written} of {sent} images; free disk space, or give another folder")


def _write_gif(path: Path, images: Iterator[Array], fps: float) -> None:
    """Write a GIF of 256 colours, taken from a few of the images and used for all."""
    try:
        from PIL import Image
    except ImportError:
        raise InputError(f"{path}: gif needs Pillow; pip install 'drystone[movie]', or write frame-%04d.png") from None
    pixels = list(images)
    few = np.concatenate([pixels[round(k)] for k in np.linspace(0, len(pixels) - 1, PALETTE_IMAGES)])
    # other methods spend most colours on the sky
    palette = Image.fromarray(few).quantize(256, method=Image.Quantize.FASTOCTREE)
    first, *rest = [Image.fromarray(image).quantize(palette=palette, dither=Image.Dither.NONE) for image in pixels]
    ends = 10 * np.round(100 * np.arange(len(pixels) + 1) / fps).astype(int)  # [ms] a gif stores hundredths of a second
    settings: dict[str, Any] = {"format": "GIF", "save_all": True, "loop": 0, "optimize": True}
    with replace_atomically(path) as part:
        first.save(part, append_images=rest, duration=np.diff(ends).tolist(), **settings)

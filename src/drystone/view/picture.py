"""Still pictures of a model or of frames of a run, drawn without graphics hardware: `picture` and `strip`.

Comes in: a `Model` or a `Run`; goes out: an image (H, W, 3) uint8, also as a PNG file. Stones are limestone with a
slight variation by block, supports grey; or all are coloured by how far they have moved.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from drystone import quaternion
from drystone.errors import InputError
from drystone.model import Bodies, Model
from drystone.record import Run
from drystone.view import lettering, raster
from drystone.view.camera import Camera, frame, project, shrunk
from drystone.view.lettering import INK
from drystone.view.png import write_png

Array = np.ndarray
Overlay = Callable[[Array, Camera, Array], None]  # draws over an image, seen by a camera, stones as near as (H, W) [m]

SUPERSAMPLING = 2  # pixels a side computed for one shown
SHADOW_MAP = 1536  # pixels a side
COLOURS = ("stone", "displacement")

LIMESTONE = np.array([[0.87, 0.80, 0.67], [0.84, 0.75, 0.61], [0.89, 0.83, 0.72], [0.82, 0.75, 0.64]])  # sRGB
SUPPORT = np.array([0.63, 0.64, 0.65])
SKY, HORIZON = np.array([0.83, 0.87, 0.91]), np.array([0.965, 0.962, 0.955])
# eight colours from blue to yellow of equal steps in lightness (viridis, sampled)
SCALE = np.array(
    [
        [0.267, 0.005, 0.329],
        [0.275, 0.195, 0.496],
        [0.213, 0.359, 0.552],
        [0.153, 0.497, 0.558],
        [0.122, 0.633, 0.531],
        [0.290, 0.759, 0.428],
        [0.622, 0.854, 0.226],
        [0.993, 0.906, 0.144],
    ]
)


class Pose(NamedTuple):
    """Where the blocks are."""

    position: Array  # (B, 3) [m] centroids
    rotation: Array  # (B, 4) quaternions
    moved: Array  # (B,) [m] real displacement since the start
    time: float  # [s]


def picture(
    source: Run | Model,
    path: str | Path | None = None,
    *,
    frame: int = -1,
    size: tuple[int, int] = (1280, 720),
    azimuth: float = 28.0,
    elevation: float = 16.0,
    field: float = 24.0,
    color: str | Array = "stone",
    exaggerate: float = 1.0,
    motion: Array | None = None,
    shown: Array | None = None,
    overlay: Overlay | None = None,
) -> Array:
    """One frame as an image (H, W, 3) uint8, written to `path` as PNG if given.

    The eye looks along +y at azimuth 0 [deg]; `field` [deg] of view, 0 is orthographic; `color` is "stone",
    "displacement" or a colour (B, 3) sRGB a block; displacements and rotations are drawn `exaggerate` times as large.
    `motion` (B, 6) [m, rad] displaces the blocks of a model; `shown` (B,) leaves out all others, to look inside; `overlay`
    draws over the finished image (H, W, 3) of 0..1, given the camera it was taken with and the nearness (H, W) [m] of what
    is seen.
    """
    if motion is not None and not isinstance(source, Model):
        raise InputError("motion displaces the blocks of a model, and this is a run; choose a frame")
    images = _draw(source, [frame], size, (azimuth, elevation, field), color, exaggerate, motion, shown, overlay)
    return _finish(images[0], path)


def strip(
    run: Run,
    frames: Sequence[int],
    path: str | Path | None = None,
    *,
    width: int = 560,
    azimuth: float = 28.0,
    elevation: float = 16.0,
    field: float = 24.0,
    color: str = "stone",
    exaggerate: float = 1.0,
) -> Array:
    """Several instants side by side, all from one camera, with their times; each is `width` pixels wide and as high as
    the structure asks for."""
    view = (azimuth, elevation, field)
    size = (width, _fitting_height(run, frames, width, view, exaggerate))
    images = _draw(run, frames, size, view, color, exaggerate)
    letter = max(10.0, width / 30)
    for image, index in zip(images, frames, strict=True):
        text = f"t = {run.time[index]:.2f} s"
        lettering.write(image, text, 0.04 * width, 0.04 * width + letter, height=letter, colour=INK)
    return _finish(np.concatenate(images, axis=1), path)


def _draw(
    source: Run | Model,
    frames: Sequence[int],
    size: tuple[int, int],
    view: tuple[float, float, float],
    color: str | Array,
    exaggerate: float,
    motion: Array | None = None,
    shown: Array | None = None,
    overlay: Overlay | None = None,
) -> list[Array]:
    """Images of values 0..1, all from one camera and in one scale of colours."""
    if isinstance(color, str) and color not in COLOURS:
        raise InputError(f"color {color!r}: choose one of {', '.join(COLOURS)}")
    model = source if isinstance(source, Model) else source.model
    poses = [_pose(source, index, exaggerate, motion) for index in frames]
    points = [_corners(model.bodies, pose) for pose in poses]
    fine = (size[0] * SUPERSAMPLING, size[1] * SUPERSAMPLING)
    seen = np.concatenate(points)
    camera = _framed(seen, fine, view)
    most = max(float(pose.moved.max()) for pose in poses)
    floor = _floor(model, seen)
    shown = np.ones(len(model.blocks), bool) if shown is None else shown
    images = []
    for pose, corners in zip(poses, points, strict=True):
        colours = _colours(model, color, pose.moved / (most or 1.0))
        light, near = _render(model.bodies, pose, corners, colours, shown, camera, floor)
        image = _shown(light)
        if isinstance(color, str) and color == "displacement":
            colour_bar(image, _length(most))
        if overlay is not None:
            overlay(image, shrunk(camera, SUPERSAMPLING), near[::SUPERSAMPLING, ::SUPERSAMPLING])
        images.append(image)
    return images


def _colours(model: Model, color: str | Array, share: Array) -> Array:
    """(B, 3) sRGB of the blocks, which have moved by a share of the largest displacement."""
    if not isinstance(color, str):
        return color
    colours = stone_colours(len(model.blocks)) if color == "stone" else scale_colours(share)
    return np.where(model.bodies.fixed[:, None], SUPPORT, colours)


def _fitting_height(
    run: Run, frames: Sequence[int], width: int, view: tuple[float, float, float], exaggerate: float
) -> int:
    """[pixels] so that the structure fills the picture, with room for the time above it."""
    points = np.concatenate([_corners(run.model.bodies, _pose(run, index, exaggerate)) for index in frames])
    seen = np.ptp(project(_framed(points, (width, width), view), points)[:, :2], axis=0)
    return round(width * float(np.clip(0.82 * seen[1] / seen[0] + 0.25, 0.5, 1.6)))


def _framed(points: Array, size: tuple[int, int], view: tuple[float, float, float]) -> Camera:
    azimuth, elevation, field = view
    return frame(points, size, azimuth=azimuth, elevation=elevation, field=field, margin=0.09)


def _pose(source: Run | Model, index: int, exaggerate: float, motion: Array | None = None) -> Pose:
    if isinstance(source, Model):
        motion = np.zeros((len(source.position), 6)) if motion is None else motion
        shift, turn = exaggerate * motion[:, :3], exaggerate * motion[:, 3:]
        return Pose(source.position + shift, turned(turn), np.linalg.norm(motion[:, :3], axis=1), 0.0)
    first, now = source.state(0), source.state(index)
    shift = now.position - first.position
    position, rotation = now.position, now.rotation
    if exaggerate != 1.0:
        position = first.position + exaggerate * shift
        turn = quaternion.rotation_vector(quaternion.product(now.rotation, quaternion.conjugate(first.rotation)))
        rotation = quaternion.product(turned(exaggerate * turn), first.rotation)
    return Pose(position, rotation, np.linalg.norm(shift, axis=1), now.time)


def turned(vector: Array) -> Array:
    """(B, 4) quaternions of rotation vectors (B, 3)."""
    angle = np.linalg.norm(vector, axis=1, keepdims=True)
    return np.concatenate([np.cos(angle / 2), vector * np.sinc(angle / 2 / np.pi) / 2], axis=1)


def _corners(bodies: Bodies, pose: Pose) -> Array:
    """(NV, 3) [m] vertices of all blocks in the world."""
    block = np.repeat(bodies.owner, np.diff(bodies.vertex_start))
    return pose.position[block] + quaternion.rotate(pose.rotation[block], bodies.vertex)


def _triangles(bodies: Bodies) -> tuple[Array, Array]:
    """(T, 3) rows of vertices and (T,) faces: each convex face as a fan."""
    size = np.diff(bodies.face_start)
    face = np.repeat(np.arange(len(size)), size - 2)
    first = np.cumsum(size - 2) - (size - 2)
    second = bodies.face_start[face] + np.arange(len(face)) - first[face] + 1
    corner = np.stack([bodies.face_start[face], second, second + 1], axis=1)
    return bodies.face_vertex[corner], face


def _render(
    bodies: Bodies, pose: Pose, corners: Array, colours: Array, shown: Array, camera: Camera, floor: float
) -> tuple[Array, Array]:
    """(H, W, 3) light that reaches the eye and (H, W) [m] nearness of what sends it, at the fine resolution."""
    triangle, face = _triangles(bodies)
    block_of = np.repeat(bodies.owner, np.diff(bodies.piece_face))
    triangle, face = triangle[shown[block_of[face]]], face[shown[block_of[face]]]
    normal = quaternion.rotate(pose.rotation[block_of], bodies.face_normal)
    near, number = raster.nearest(camera, project(camera, corners)[triangle], face)
    sun = _sun(corners, camera)
    sun_near, _ = raster.nearest(sun, project(sun, corners)[triangle], face)
    extent = float(np.linalg.norm(np.ptp(corners, axis=0)))
    # half a block and a tenth of the structure: joints darken as well as the foot of a wall
    reach = min(1.2 * float(np.median(bodies.radius)), 0.10 * extent)
    line = 0.80 * float(np.clip(np.median(bodies.radius) * camera.scale / (12.0 * SUPERSAMPLING), 0.15, 1.0))
    samples = raster.hemisphere(16)
    image = _background(camera.size)
    if not np.isnan(floor):
        raster.shade_floor(camera, near, sun, sun_near, samples, reach, floor, 0.9 * extent, image)
    tones = _linear(colours)
    raster.shade_blocks(camera, near, number, block_of, normal, tones, sun, sun_near, samples, reach, line, image)
    return image, near


def _sun(corners: Array, camera: Camera) -> Camera:
    """The scene as the sun sees it: high behind the left shoulder of whoever looks."""
    azimuth = float(np.degrees(np.arctan2(camera.right[1], camera.right[0])))
    return frame(corners, (SHADOW_MAP, SHADOW_MAP), azimuth=azimuth - 48.0, elevation=46.0, field=0.0, margin=0.01)


def _floor(model: Model, seen: Array) -> float:
    """[m] Level of a plane that catches the shadow; nan if stones have fallen below it, where no floor held them."""
    level = min(float(np.asarray(block.vertices)[:, 2].min()) for block in model.blocks)
    height = float(np.ptp(seen[:, 2]))
    return level if seen[:, 2].min() > level - 0.02 * height else float("nan")


def stone_colours(count: int) -> Array:
    """(B, 3) sRGB: a tone by block, the same in every picture."""
    block = np.arange(count)
    chance = (43758.5453 * np.sin(12.9898 * block)) % 1.0, (24634.6345 * np.sin(78.233 * block)) % 1.0
    tone = LIMESTONE[(chance[0] * len(LIMESTONE)).astype(int)]
    shade = 0.96 + 0.08 * chance[1]
    return np.clip(tone * shade[:, None], 0.0, 1.0)


def paled(colours: Array) -> Array:
    """The same colours, so pale that what is drawn in or over them is seen."""
    return 0.45 * colours + 0.55 * 0.93


def scale_colours(share: Array) -> Array:
    """(B, 3) sRGB of values 0..1."""
    at = np.linspace(0.0, 1.0, len(SCALE))
    return np.stack([np.interp(share, at, SCALE[:, i]) for i in range(3)], axis=-1)


def _length(most: float) -> str:
    text = f"{most:.3g} m" if most >= 1e-3 else f"{1e3 * most:.3g} mm"
    return text if set(text) <= set(lettering.STROKES) else f"{most:.6f} m"


def colour_bar(image: Array, text: str, title: str = "") -> None:
    """A bar of colours from 0 to the largest value, told by `text`, in the lower right corner, under a title."""
    height, width, _ = image.shape
    letter = max(11.0, height / 45)
    left, right, top = int(0.72 * width), int(0.94 * width), int(0.963 * height)
    image[top : top + int(letter * 0.8), left:right] = scale_colours(np.linspace(0.0, 1.0, right - left))
    lettering.write(image, "0", left, top - 0.5 * letter, height=letter, colour=INK)
    start = right - lettering.width(text, letter)
    lettering.write(image, text, start, top - 0.5 * letter, height=letter, colour=INK)
    lettering.write(image, title, left, top - 2.2 * letter, height=letter, colour=INK)


def _background(size: tuple[int, int]) -> Array:
    """(H, W, 3) linear: a pale sky that clears towards the horizon."""
    share = np.linspace(0.0, 1.0, size[1])[:, None] ** 0.8
    column = _linear((1.0 - share) * SKY + share * HORIZON)
    return np.ascontiguousarray(np.broadcast_to(column[:, None, :], (size[1], size[0], 3)))


def _linear(colour: Array) -> Array:
    return np.clip(colour, 0.0, 1.0) ** 2.2


def _shown(image: Array) -> Array:
    """(H, W, 3) values 0..1 as a screen shows them, averaged from the fine pixels."""
    height, width, _ = image.shape
    s = SUPERSAMPLING
    mean = image.reshape(height // s, s, width // s, s, 3).mean(axis=(1, 3))
    return np.clip(mean, 0.0, 1.0) ** (1 / 2.2)


def _finish(image: Array, path: str | Path | None) -> Array:
    pixels = np.round(255.0 * image).astype(np.uint8)
    if path is not None:
        write_png(path, pixels)
    return pixels

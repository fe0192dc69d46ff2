"""Still pictures of a model or of frames of a run, drawn without graphics hardware: `picture` and `strip`.

A `Model` or a `Run` and a `Look` come in; an image (H, W, 3) uint8 goes out, and a PNG file on request. Blocks have the colour
of limestone, slightly different from block to block, and supports are grey; or blocks have the colours of a quantity. Over them
come the outline of the initial shape,
what the joints carry and thrust lines. Movies (`movie.py`) are made of the same `render_moment`.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from drystone.base.errors import InputError, did_you_mean
from drystone.results.quantities import QUANTITIES
from drystone.results.resultants import Resultants, thrust_lines
from drystone.results.store.run_reader import Run
from drystone.show.pictures import lettering
from drystone.show.pictures.camera import VIEWS, Camera, View, camera_axes, project_points
from drystone.show.pictures.colours import (
    SUPPORT_COLOUR,
    class_colours,
    class_legend_rows,
    draw_colour_bar,
    format_quantity,
    pale_colours,
    scale_colours,
    stone_colours,
)
from drystone.show.pictures.force_flow import (
    FORCE_COLOURS,
    draw_flow,
    draw_scale_bar,
    fit_segment_length,
    flow_lines,
    force_magnitudes,
)
from drystone.show.pictures.lettering import TEXT_COLOUR
from drystone.show.pictures.moment import (
    Moment,
    bodies_at,
    joints_at,
    moment_at_frame,
    moment_label,
    rotation_quaternions,
    values_at,
)
from drystone.show.pictures.overlay import draw_legend, draw_lines, polyline
from drystone.show.pictures.png import write_png
from drystone.show.pictures.render import (
    DrawnBodies,
    Scene,
    drawn_vertices,
    image_camera,
    make_scene,
    outline_cover,
    points_near_structure,
    render,
)
from drystone.show.pictures.stressed_bricks import STRESS_MEASURES, stressed_bricks
from drystone.structure.model import Model

Array = np.ndarray
Overlay = Callable[
    [Array, Camera, Array], None
]  # draws over an image, given its camera and the nearness (H, W) [m] of the visible surface

GHOST_COLOUR = np.array([0.06, 0.16, 0.42])  # sRGB of the outline of the initial shape
GHOST_OPACITY = 0.75  # of its lines over the image
COLOUR_NAMES = ("stone", *QUANTITIES, *(name for name in STRESS_MEASURES if name not in QUANTITIES))
MAX_FRAMED_MOMENTS = 12  # moments of a long movie that decide where the camera stands


class Look(NamedTuple):
    """How a run or a model is drawn: the keywords of `picture`, `strip` and `movie`."""

    color: str | Array = "stone"  # or one of COLOUR_NAMES, or (B, 3) sRGB
    most: float | None = None  # [SI] the value at the end of the colour scale; None for the largest value of all images
    exaggerate: float = 1.0  # factor on displacements and rotations; in pictures of stresses, on strains
    view: str = "corner"  # one of VIEWS; the next three fields change it
    azimuth: float | None = None  # [deg] of the camera; 0 looks along +y
    elevation: float | None = None  # [deg] above the horizon
    field: float | None = None  # [deg] of view; 0 is orthographic
    section: str = ""  # such as "x = 0.5": blocks built on the near side of this plane [m] are left out
    shown: Array | None = None  # (B,) bool: all other blocks are left out, to look inside
    ghost: bool = False  # the outline of the initial shape
    forces: bool = False  # the forces in the joints
    thrust: bool = False  # thrust lines of arches and columns

    @property
    def quantity(self) -> str:
        """The quantity that the colours show; empty for the colours of stone and for given colours."""
        return self.color if isinstance(self.color, str) and self.color != "stone" else ""

    @property
    def categorical(self) -> bool:
        """Whether the colours show classes instead of amounts."""
        return self.quantity in QUANTITIES and QUANTITIES[self.quantity].categorical


class ImageSettings(NamedTuple):
    """The settings that all images of a strip or a movie share."""

    look: Look
    scene: Scene
    most: float  # the value at the end of the colour scale
    largest: float  # [N] the largest force
    length: float  # [m] length of its segment
    label_height: float = 0.0  # [pixels] height of the label; 0 for none
    bar: bool = True  # whether the colour bar is drawn


def picture(
    source: Run | Model,
    path: str | Path | None = None,
    *,
    frame: int = -1,
    size: tuple[int, int] = (1280, 720),
    motion: Array | None = None,
    overlay: Overlay | None = None,
    **look: Any,
) -> Array:
    """One frame as an image (H, W, 3) uint8, written to `path` as PNG if given; `look` are the fields of `Look`.

    `motion` (B, 6) [m, rad] displaces the blocks of a model; `overlay` draws over the finished image (H, W, 3) of 0..1, given
    its camera and the nearness (H, W) [m] of the visible surface.
    """
    request = Look(**look)
    if isinstance(source, Model):
        image, camera, near = _picture_of_model(source, size, request, motion)
    elif motion is not None:
        raise InputError("motion displaces the blocks of a model, but this is a run; choose a frame instead")
    else:
        moment = moment_at_frame(source, frame)
        image, camera, near = render_moment(source, moment, prepare_settings(source, [moment], size, request))
    if overlay is not None:
        overlay(image, camera, near)
    return _write_and_return(image, path)


def strip(run: Run, frames: Sequence[int], path: str | Path | None = None, *, width: int = 560, **look: Any) -> Array:
    """Several instants side by side, all from one camera and in one scale, with their times; each is `width` pixels wide and as
    high as the structure asks for; `look` are the fields of `Look`."""
    request, moments = Look(**look), [moment_at_frame(run, index) for index in frames]
    height = _fitting_height(run, moments, width, request)
    setting = prepare_settings(run, moments, (width, height), request)._replace(label_height=max(10.0, width / 30))
    images = [render_moment(run, moment, setting._replace(bar=moment is moments[-1]))[0] for moment in moments]
    return _write_and_return(np.concatenate(images, axis=1), path)


def prepare_settings(run: Run, moments: Sequence[Moment], size: tuple[int, int], look: Look) -> ImageSettings:
    """Camera, scales and floor for images of all the moments."""
    _check(look)
    setting = ImageSettings(
        look, make_scene(run.model, framed_points(run, moments, look), size, resolve_view(look)), 0.0, 0.0, 0.0
    )
    if look.quantity:
        largest = (float(np.nanmax(_drawn_bodies(run, moment, look)[1], initial=0.0)) for moment in moments)
        setting = setting._replace(most=max(largest) if look.most is None else look.most)
    if look.forces:
        carried = [
            force_magnitudes(joints_at(run, moment, run.position[0])) for moment in {m.shown_frame: m for m in moments}.values()
        ]
        size_of = np.concatenate(carried)
        setting = setting._replace(largest=float(size_of.max(initial=0.0)), length=fit_segment_length(run.model, size_of))
    return setting


def render_moment(run: Run, moment: Moment, setting: ImageSettings) -> tuple[Array, Camera, Array]:
    """The image (H, W, 3) of 0..1 of a moment, its camera, and (H, W) [m] the nearness of the visible surface."""
    look, scene = setting.look, setting.scene
    stones, value = _drawn_bodies(run, moment, look)
    image, near = render(stones, _colours(stones, value, setting), scene)
    camera = image_camera(scene)
    rows: list[tuple[Any, str]] = []
    if look.ghost:
        first = bodies_at(run, moment_at_frame(run, 0), 1.0)
        built = first._replace(shown=_visible(run.model.position, look, first.shown))
        image += (GHOST_OPACITY * outline_cover(built, scene))[..., None] * (GHOST_COLOUR - image)
        rows.append((GHOST_COLOUR, "as built"))
    if look.forces or look.thrust:
        blocks = bodies_at(run, moment, look.exaggerate)
        resultants = joints_at(run, moment, blocks.position)
        shown = _visible(run.model.position, look, blocks.shown)
        rows += _draw_forces(image, camera, near, run.model, resultants, shown, setting)
    if look.categorical:
        rows = class_legend_rows(value) + rows
    elif look.quantity and setting.bar:
        unit = QUANTITIES[look.quantity].unit if look.quantity in QUANTITIES else "Pa"
        draw_colour_bar(image, format_quantity(setting.most, unit), look.quantity)
    _write_label(image, moment_label(run, moment), rows, setting.label_height)
    return image, camera, near


def resolve_view(look: Look) -> View:
    """The view that a `Look` asks for."""
    if look.view not in VIEWS:
        raise InputError(f"view {look.view!r}{did_you_mean(look.view, VIEWS)}: choose one of {', '.join(VIEWS)}")
    overrides = {name: getattr(look, name) for name in View._fields if getattr(look, name) is not None}
    return VIEWS[look.view]._replace(**overrides)


def _check(look: Look) -> None:
    if isinstance(look.color, str) and look.color not in COLOUR_NAMES:
        raise InputError(
            f"color {look.color!r}{did_you_mean(look.color, COLOUR_NAMES)}: choose one of {', '.join(COLOUR_NAMES)}"
        )
    if look.most is not None and not look.most > 0.0:
        raise InputError(f"most = {look.most}: the value at the end of the colour scale must be above 0")


def _picture_of_model(model: Model, size: tuple[int, int], look: Look, motion: Array | None) -> tuple[Array, Camera, Array]:
    """A structure as built, or displaced by a motion."""
    _check(look)
    if look.ghost or look.forces or look.thrust or look.quantity:
        raise InputError("ghost, forces, thrust and colours of quantities need a run; run the case first")
    motion = np.zeros((len(model.position), 6)) if motion is None else look.exaggerate * motion
    everything = np.ones(len(model.blocks), bool)
    stones = DrawnBodies(model.bodies, model.position + motion[:, :3], rotation_quaternions(motion[:, 3:]), everything)
    stones = stones._replace(shown=_visible(model.position, look, everything))
    scene = make_scene(model, drawn_vertices(stones), size, resolve_view(look))
    setting = ImageSettings(look, scene, 0.0, 0.0, 0.0)
    image, near = render(stones, _colours(stones, np.full(len(model.blocks), np.nan), setting), scene)
    return image, image_camera(scene), near


def _drawn_bodies(run: Run, moment: Moment, look: Look) -> tuple[DrawnBodies, Array]:
    """The bodies to draw and their values (B,), nan if there is none; stresses are drawn on the bricks of deformable blocks."""
    if look.quantity in STRESS_MEASURES:
        model, value = stressed_bricks(run, moment.shown_frame, look.quantity, look.exaggerate)
        everything, upright = np.ones(len(value), bool), rotation_quaternions(np.zeros((len(value), 3)))
        stones = DrawnBodies(model.bodies, model.position, upright, _visible(model.position, look, everything))
        return stones, value
    stones = bodies_at(run, moment, look.exaggerate)
    stones = stones._replace(shown=_visible(run.model.position, look, stones.shown))
    if look.quantity:
        return stones, values_at(run, moment, look.quantity)
    return stones, np.full(len(stones.position), np.nan)


def _visible(position: Array, look: Look, present: Array) -> Array:
    """(B,) whether a body, built at a position (B, 3) [m], is drawn."""
    shown = present
    if look.shown is not None:
        if len(look.shown) != len(position):
            raise InputError(
                f"shown has {len(look.shown)} values, but {len(position)} bodies are drawn; give one value per body"
            )
        shown = shown & look.shown
    if look.section:
        axis, level = _section_plane(look.section)
        forward = camera_axes(*resolve_view(look)[:2])[2][axis]
        if abs(forward) < 1e-6:
            raise InputError(f"section {look.section!r}: the camera looks along this plane; choose another view or azimuth")
        shown = shown & ((position[:, axis] - level) * forward > 0.0)
    return shown


def _section_plane(section: str) -> tuple[int, float]:
    """The axis of a section and its coordinate [m] on it."""
    axis, _, level = (part.strip() for part in section.partition("="))
    try:
        return "xyz".index(axis if len(axis) == 1 else "?"), float(level)
    except ValueError:
        raise InputError(f"section {section!r}: give an axis and a coordinate [m] on it, as in x=0.5") from None


def _colours(stones: DrawnBodies, value: Array, setting: ImageSettings) -> Array:
    """(B, 3) sRGB of the bodies."""
    look = setting.look
    if not isinstance(look.color, str):
        return look.color
    plain = stone_colours(len(value))
    plain = pale_colours(plain) if look.forces or look.thrust else plain
    number = np.nan_to_num(value)
    coloured = class_colours(number) if look.categorical else scale_colours(number / (setting.most or 1.0))
    coloured = np.where(np.isnan(value)[:, None], plain, coloured)
    return np.where(stones.bodies.fixed[:, None], SUPPORT_COLOUR, coloured)


def _draw_forces(
    image: Array, camera: Camera, near: Array, model: Model, resultants: Resultants, shown: Array, setting: ImageSettings
) -> list[tuple[Any, str]]:
    """Draw the forces of the joints between blocks that are shown; return the rows of the legend."""
    rows = []
    if setting.look.forces:
        drawn = flow_lines(resultants, setting.largest, setting.length, shown)
        draw_flow(image, camera, near, drawn, model)
        draw_scale_bar(image, camera, setting.largest, setting.length)
    if setting.look.thrust:
        lines = thrust_lines(model, resultants)
        for line in lines:
            draw_lines(image, camera, polyline(line, 4.0, FORCE_COLOURS[2]))
        rows.append((FORCE_COLOURS[2], "thrust line" if lines else "thrust line: no arch or column in contact"))
    return rows


def _write_label(image: Array, text: str, rows: list[tuple[Any, str]], label_height: float) -> None:
    """Draw the label and the legend below it in the upper left corner."""
    height, width, _ = image.shape
    top = 0.04 * min(height, width)
    draw_legend(image, rows, top=top + 2.6 * label_height)
    if label_height:
        lettering.draw_text(image, text, 0.04 * width, top + label_height, height=label_height, colour=TEXT_COLOUR)


def framed_points(run: Run, moments: Sequence[Moment], look: Look) -> Array:
    """(N, 3) [m] the points that must be in view."""
    some = [moments[round(k)] for k in np.linspace(0, len(moments) - 1, min(len(moments), MAX_FRAMED_MOMENTS))]
    some += [moment_at_frame(run, 0)] * look.ghost
    points = np.concatenate([drawn_vertices(bodies_at(run, moment, look.exaggerate)) for moment in some])
    return points if look.exaggerate != 1.0 else points_near_structure(run.model, points)


def _fitting_height(run: Run, moments: Sequence[Moment], width: int, look: Look) -> int:
    """[pixels] the height at which the structure fills the picture, with room for the label above it."""
    points = framed_points(run, moments, look)
    scene = make_scene(run.model, points, (width, width), resolve_view(look))
    seen = np.ptp(project_points(scene.camera, points)[:, :2], axis=0)
    return round(width * float(np.clip(0.82 * seen[1] / seen[0] + 0.25, 0.5, 1.6)))


def to_uint8(image: Array) -> Array:
    """The image (H, W, 3) uint8 of values 0..1."""
    return np.round(255.0 * image).astype(np.uint8)


def _write_and_return(image: Array, path: str | Path | None) -> Array:
    pixels = to_uint8(image)
    if path is not None:
        write_png(path, pixels)
    return pixels

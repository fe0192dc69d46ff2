"""Pictures of forces: `force_picture` draws the force of every joint, `thrust_picture` draws thrust lines over an arch."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from drystone.base.units import GRAVITY
from drystone.contact.contacts import Contacts
from drystone.results.resultants import Resultants, joint_resultants
from drystone.show.pictures.camera import Camera
from drystone.show.pictures.colours import CLASS_PALETTE, SUPPORT_COLOUR, pale_colours, stone_colours
from drystone.show.pictures.force_flow import (
    FORCE_COLOURS,
    draw_flow,
    draw_scale_bar,
    fit_segment_length,
    flow_lines,
    force_magnitudes,
)
from drystone.show.pictures.overlay import draw_legend, draw_lines, polyline
from drystone.show.pictures.picture import picture
from drystone.structure.model import Model

Array = np.ndarray

UNLOADED_COLOUR = (0.80, 0.88, 0.93)
MOVING_COLOUR = (0.56, 0.74, 0.86)
MOVING_SHARE = 0.05  # of the largest motion: a block that moves more is shown as moving


def force_picture(
    model: Model,
    contacts: Contacts,
    path: str | Path | None = None,
    *,
    moving: Array | None = None,
    motion: Array | None = None,
    shown: Array | None = None,
    length: float | None = None,
    title: str = "",
    **view: Any,
) -> Array:
    """The forces of the joints as an image (H, W, 3) uint8, written to `path` as PNG if given.

    Each joint has a segment along its force; its length grows with the force, its width and darkness with the root.

    contacts: with forces [N]
    moving: (B, 6) accelerations or velocities; blocks that move have a colour of their own
    motion: (B, 6) [m, rad] the motion of the blocks since the model was built, if the contacts are of a later time
    shown: (B,) bool; all other blocks and their joints are left out, to look inside
    length: [m] of the longest segment
    title: the first row of the legend
    view: keywords of `picture`
    """
    resultants = joint_resultants(model, contacts)
    size = force_magnitudes(resultants)
    largest = float(size.max(initial=0.0))
    length = fit_segment_length(model, size) if length is None else length
    drawn = flow_lines(resultants, largest, length, np.ones(len(model.blocks), bool) if shown is None else shown)
    moves = _moving_blocks(model, moving)
    unloaded = _unloaded(model, resultants, size) & ~moves & (True if shown is None else shown)
    groups = ((UNLOADED_COLOUR, "carries no load", unloaded), (MOVING_COLOUR, "moves", moves))
    rows: list[tuple[Any, str]] = [(None, title)] if title else []
    rows += [(colour, f"{words}: {int(members.sum())}") for colour, words, members in groups if members.any()]

    def draw(image: Array, camera: Camera, near: Array) -> None:
        draw_flow(image, camera, near, drawn, model)
        draw_legend(image, rows)
        draw_scale_bar(image, camera, largest, length)

    colours = _pale_stones(model)
    colours[unloaded], colours[moves] = UNLOADED_COLOUR, MOVING_COLOUR
    return picture(model, path, color=colours, motion=motion, shown=shown, overlay=draw, **view)


def thrust_picture(
    model: Model, thrusts: Mapping[str, Array | Sequence[Array]], path: str | Path | None = None, **view: Any
) -> Array:
    """Thrust lines (n, 3) [m] by their labels, one or several per label, over the pale structure; seen from the front unless
    `view` (keywords of `picture`) changes it."""
    labelled_lines = [(label, [lines] if isinstance(lines, np.ndarray) else list(lines)) for label, lines in thrusts.items()]
    colours = [FORCE_COLOURS[2], CLASS_PALETTE[4], CLASS_PALETTE[2], CLASS_PALETTE[5], CLASS_PALETTE[3]]
    rows = [(colours[k % len(colours)], label) for k, (label, _) in enumerate(labelled_lines)]

    def draw(image: Array, camera: Camera, near: Array) -> None:
        for (_, lines), (colour, _) in zip(labelled_lines, rows, strict=True):
            for line in lines:
                draw_lines(image, camera, polyline(line, 4.0, colour))
        draw_legend(image, rows)

    front: dict[str, Any] = {"azimuth": 0.0, "elevation": 0.0, "field": 0.0}
    return picture(model, path, color=_pale_stones(model), overlay=draw, **front | view)


def _moving_blocks(model: Model, moving: Array | None) -> Array:
    """(B,) whether a block moves, compared with the one that moves most."""
    if moving is None:
        return np.zeros(len(model.blocks), bool)
    path = np.linalg.norm(moving[:, :3], axis=1)
    return path > MOVING_SHARE * path.max()


def _pale_stones(model: Model) -> Array:
    """(B, 3) sRGB"""
    return np.where(model.bodies.fixed[:, None], SUPPORT_COLOUR, pale_colours(stone_colours(len(model.blocks))))


def _unloaded(model: Model, resultants: Resultants, size: Array) -> Array:
    """(B,) whether a block is free and its joints together carry less than half of its weight, so that nothing holds it."""
    carried = sum(np.bincount(side, size, len(model.blocks)) for side in (resultants.a, resultants.b))
    return (carried < 0.5 * GRAVITY * model.bodies.mass) & ~model.bodies.fixed

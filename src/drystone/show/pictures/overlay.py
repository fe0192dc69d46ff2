"""Lines and a legend over a finished picture: world points, a camera and an image of values 0..1 come in; the image is changed.

Lines inside the blocks show through them; lines far behind the visible surfaces can be drawn faint.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from drystone.show.pictures import lettering
from drystone.show.pictures.camera import Camera, project_points

Array = np.ndarray
Colour = Sequence[float] | Array  # (3,) sRGB


class Lines(NamedTuple):
    """N straight lines; a line with equal ends is a dot."""

    start: Array  # (N, 3) [m] world
    end: Array  # (N, 3) [m]
    width: Array  # (N,) [pixels]
    colour: Array  # (N, 3) sRGB


def lines(start: Array, end: Array, width: float, colour: Colour) -> Lines:
    """Lines between points (N, 3) [m], all of one width [pixels] and colour."""
    count = len(start)
    return Lines(start, end, np.full(count, float(width)), np.tile(colour, (count, 1)))


def polyline(points: Array, width: float, colour: Colour) -> Lines:
    """The lines from point to point (N, 3) [m], with a dot twice as wide on each point."""
    through, dots = lines(points[:-1], points[1:], width, colour), lines(points, points, 2 * width, colour)
    return Lines(*(np.concatenate(part) for part in zip(through, dots, strict=True)))


def draw_lines(image: Array, camera: Camera, drawn: Lines) -> None:
    """Draw the lines, later ones over earlier ones."""
    start, end = project_points(camera, drawn.start)[:, :2], project_points(camera, drawn.end)[:, :2]
    for a, b, width, colour in zip(start, end, drawn.width, drawn.colour, strict=True):
        lettering.draw_line(image, tuple(a), tuple(b), width / 2, colour)


def lines_behind(drawn: Lines, camera: Camera, near: Array, depth: float) -> Array:
    """(N,) whether the middle of a line is more than `depth` [m] behind the visible surface, of nearness `near` (H, W)."""
    column, row, nearness = project_points(camera, (drawn.start + drawn.end) / 2).T
    height, width = near.shape
    inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
    seen = near[np.clip(row, 0, height - 1).astype(int), np.clip(column, 0, width - 1).astype(int)]
    return inside & (nearness < seen - depth)


def select_lines(drawn: Lines, which: Array) -> Lines:
    """A selection of the lines."""
    return Lines(*(part[which] for part in drawn))


def faded_lines(drawn: Lines) -> Lines:
    """The same lines, thin and pale."""
    return drawn._replace(width=np.minimum(drawn.width, 1.5), colour=0.35 * drawn.colour + 0.65 * 0.85)


def draw_legend(image: Array, rows: Sequence[tuple[Colour | None, str]], *, top: float | None = None) -> None:
    """Draw a legend in the upper left corner, `top` pixels below the edge: per row a coloured square and a text."""
    height, width, _ = image.shape
    letter = max(10.0, height / 48)
    left, side = int(0.04 * width), int(1.2 * letter)
    row = int(0.04 * height if top is None else top)
    if not rows:
        return
    right = left + 3 * side + int(max(lettering.text_width(words, letter) for _, words in rows))
    ground = image[row - side : row + int(2.2 * letter) * len(rows), left - side : right]
    ground[...] = 0.25 * ground + 0.75 * 0.97
    for colour, words in rows:
        if colour is not None:
            image[row : row + side, left : left + side] = colour
        start = left if colour is None else left + 2 * side
        lettering.draw_text(image, words, start, row + side, height=letter, colour=lettering.TEXT_COLOUR)
        row += int(2.2 * letter)

"""Forces over a picture: a segment for the force of each joint, thicker and darker for larger forces, and a scale bar."""

import numpy as np

from drystone.results.resultants import Resultants, force_flow
from drystone.show.pictures import lettering
from drystone.show.pictures.camera import Camera
from drystone.show.pictures.colours import format_quantity
from drystone.show.pictures.overlay import Lines, draw_lines, faded_lines, lines_behind, select_lines
from drystone.show.pictures.render import bounding_diagonal
from drystone.structure.model import Model

Array = np.ndarray

# from weak to strong, ever darker, so that it can be read without hue
FORCE_COLOURS = np.array([[0.98, 0.70, 0.36], [0.90, 0.40, 0.25], [0.70, 0.18, 0.36], [0.40, 0.08, 0.43], [0.12, 0.04, 0.28]])
MAX_LINE_PIXELS = 9.0  # [pixels] line width of the largest force
MIN_FORCE_SHARE = 0.005  # of the largest force: smaller forces are not drawn
FAINT_DEPTH = 3.0  # in radii of a block: forces farther behind the visible blocks are drawn faint


def force_magnitudes(resultants: Resultants) -> Array:
    """(J,) [N] the magnitudes of the forces of the joints."""
    return np.linalg.norm(resultants.force, axis=1)


def flow_lines(resultants: Resultants, largest: float, length: float, shown: Array) -> Lines:
    """The segments of the forces between blocks that are shown, weak ones first; a force of `largest` [N] is `length` [m]
    long."""
    size = force_magnitudes(resultants)
    largest_here = float(size.max(initial=0.0))
    flow = force_flow(resultants, length=length * largest_here / (largest or 1.0))
    order = np.argsort(size)
    order = order[size[order] > MIN_FORCE_SHARE * largest]
    order = order[shown[resultants.a[order]] & shown[resultants.b[order]]]
    root = np.sqrt(np.minimum(size[order] / (largest or 1.0), 1.0))
    at = np.linspace(0.0, 1.0, len(FORCE_COLOURS))
    colour = np.stack([np.interp(root, at, FORCE_COLOURS[:, k]) for k in range(3)], axis=1)
    return Lines(flow[order, 0], flow[order, 1], MAX_LINE_PIXELS * root, colour)


def draw_flow(image: Array, camera: Camera, near: Array, drawn: Lines, model: Model) -> None:
    """Draw segments over an image; those far behind the visible blocks are faint."""
    is_far = lines_behind(drawn, camera, near, FAINT_DEPTH * float(np.median(model.bodies.radius)))
    draw_lines(image, camera, faded_lines(select_lines(drawn, is_far)))
    draw_lines(image, camera, select_lines(drawn, ~is_far))


def fit_segment_length(model: Model, size: Array) -> float:
    """[m] the length of the longest segment; a typical one is then about half a block long, and none is too long."""
    radius = float(np.median(model.bodies.radius))
    common = float(np.median(size[size > MIN_FORCE_SHARE * size.max(initial=0.0)])) if size.any() else 1.0
    return float(
        np.clip(0.7 * radius * size.max(initial=0.0) / common, 2.0 * radius, max(2.0 * radius, 0.08 * bounding_diagonal(model)))
    )


def draw_scale_bar(image: Array, camera: Camera, largest: float, length: float) -> None:
    """Draw a line in the lower left corner, labelled with the round force that it stands for."""
    if largest == 0.0:
        return
    force = _round_below(largest)
    height, width, _ = image.shape
    left, row, letter = 0.04 * width, 0.955 * height, max(11.0, height / 48)
    share = force / largest
    right = left + share * length * camera.scale
    lettering.draw_line(image, (left, row), (right, row), MAX_LINE_PIXELS * np.sqrt(share) / 2, FORCE_COLOURS[-1])
    lettering.draw_text(
        image, format_quantity(force, "N"), left, row - 1.2 * letter, height=letter, colour=lettering.TEXT_COLOUR
    )


def _round_below(force: float) -> float:
    """The largest number not above `force` that is 1, 2 or 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(force))
    return float(max(step * power for step in (1, 2, 5) if step * power <= force))

"""Numbers written into pictures without a font file: each sign is a few strokes on a grid 4 wide and 6 high."""

from itertools import pairwise

import numpy as np

Array = np.ndarray

STROKES: dict[str, list[list[tuple[float, float]]]] = {  # x from the left, y from the base line
    "0": [[(0, 1), (0, 5), (1, 6), (3, 6), (4, 5), (4, 1), (3, 0), (1, 0), (0, 1)]],
    "1": [[(0.5, 4.5), (2, 6), (2, 0)], [(0.5, 0), (3.5, 0)]],
    "2": [[(0, 5), (1, 6), (3, 6), (4, 5), (4, 4), (0, 0), (4, 0)]],
    "3": [[(0, 6), (4, 6), (2, 3.6), (3, 3.6), (4, 2.6), (4, 1), (3, 0), (1, 0), (0, 1)]],
    "4": [[(3, 0), (3, 6), (0, 2), (4, 2)]],
    "5": [[(4, 6), (0.4, 6), (0, 3.4), (3, 3.4), (4, 2.5), (4, 1), (3, 0), (1, 0), (0, 0.8)]],
    "6": [[(3.5, 6), (2, 6), (0, 3.5), (0, 1), (1, 0), (3, 0), (4, 1), (4, 2.4), (3, 3.4), (1, 3.4), (0, 2.4)]],
    "7": [[(0, 6), (4, 6), (1.5, 0)]],
    "8": [
        [(1, 3.3), (0.2, 4.2), (0.2, 5.2), (1, 6), (3, 6), (3.8, 5.2), (3.8, 4.2), (3, 3.3), (1, 3.3)],
        [(1, 3.3), (0, 2.3), (0, 1), (1, 0), (3, 0), (4, 1), (4, 2.3), (3, 3.3)],
    ],
    "9": [[(0.5, 0), (2, 0), (4, 2.5), (4, 5), (3, 6), (1, 6), (0, 5), (0, 3.6), (1, 2.6), (3, 2.6), (4, 3.6)]],
    ".": [[(0.9, 0), (1.1, 0)]],
    "-": [[(0.5, 3), (3.5, 3)]],
    "=": [[(0.3, 3.8), (3.7, 3.8)], [(0.3, 2.2), (3.7, 2.2)]],
    "s": [[(3.6, 3.4), (2.8, 4), (1, 4), (0.3, 3.3), (0.3, 2.7), (3.6, 1.4), (3.6, 0.7), (2.8, 0), (1, 0), (0.3, 0.6)]],
    "t": [[(1.5, 5.5), (1.5, 1), (2.3, 0), (3.3, 0)], [(0.3, 4), (3.3, 4)]],
    "m": [
        [(0, 0), (0, 4)],
        [(0, 3), (0.8, 4), (1.5, 4), (2, 3.3), (2, 0)],
        [(2, 3), (2.8, 4), (3.5, 4), (4, 3.3), (4, 0)],
    ],
    " ": [],
}
ADVANCE = {".": 2.5, " ": 3.0}  # others 5.6


def write(image: Array, text: str, column: float, row: float, *, height: float, colour: Array) -> float:
    """Draw text into an image (H, W, 3), base line at `row`; returns the column after it. All in pixels."""
    unit = height / 6.0
    for sign in text:
        for stroke in STROKES[sign]:
            for (ax, ay), (bx, by) in pairwise(stroke):
                start = (column + ax * unit, row - ay * unit)
                _draw_line(image, start, (column + bx * unit, row - by * unit), 0.42 * unit, colour)
        column += ADVANCE.get(sign, 5.6) * unit
    return column


def width(text: str, height: float) -> float:
    """[pixels] that a text takes."""
    return sum(ADVANCE.get(sign, 5.6) for sign in text) * height / 6.0


def _draw_line(image: Array, start: tuple[float, float], end: tuple[float, float], half_width: float, colour: Array) -> None:
    """A smooth line: each pixel is covered by how far it lies from the stroke."""
    reach = half_width + 1.0
    left, right = int(min(start[0], end[0]) - reach), int(max(start[0], end[0]) + reach) + 1
    top, bottom = int(min(start[1], end[1]) - reach), int(max(start[1], end[1]) + reach) + 1
    left, top = max(left, 0), max(top, 0)
    patch = image[top:bottom, left:right]
    y, x = np.mgrid[top : top + patch.shape[0], left : left + patch.shape[1]] + 0.5
    along = np.array(end) - np.array(start)
    share = ((x - start[0]) * along[0] + (y - start[1]) * along[1]) / (along @ along)
    share = np.clip(share, 0.0, 1.0)
    distance = np.hypot(x - start[0] - share * along[0], y - start[1] - share * along[1])
    cover = np.clip(half_width + 0.5 - distance, 0.0, 1.0)[..., None]
    patch[...] = patch + cover * (np.asarray(colour) - patch)

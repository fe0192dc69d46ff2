"""The colours of pictures: values of blocks come in, colours (N, 3) sRGB go out, and the colour bar or legend for them."""

import numpy as np

from drystone.show.pictures import lettering
from drystone.show.pictures.lettering import TEXT_COLOUR

Array = np.ndarray

LIMESTONE_COLOURS = np.array([[0.87, 0.80, 0.67], [0.84, 0.75, 0.61], [0.89, 0.83, 0.72], [0.82, 0.75, 0.64]])  # sRGB
SUPPORT_COLOUR = np.array([0.63, 0.64, 0.65])
# eight colours from blue to yellow in equal steps of lightness (samples of viridis)
COLOUR_SCALE = np.array(
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
# distinguishable with colour blindness (Okabe and Ito), without the yellow, which is lost on bright stone
CLASS_PALETTE = np.array(
    [
        [0.90, 0.62, 0.0],
        [0.34, 0.71, 0.91],
        [0.0, 0.62, 0.45],
        [0.80, 0.47, 0.65],
        [0.0, 0.45, 0.70],
        [0.84, 0.37, 0.0],
    ]
)
MAX_LISTED_CLASSES = 4  # classes that have a row of their own in the legend
DISPLAY_UNITS = {  # by SI unit, the largest unit first: a value is shown in the first unit of which it is at least half
    "m": ((1.0, "m"), (1e-3, "mm")),
    "m/s": ((1.0, "m/s"), (1e-3, "mm/s")),
    "rad": ((np.pi / 180.0, "deg"),),
    "Pa": ((1e6, "MPa"), (1e3, "kPa"), (1.0, "Pa")),
    "N": ((1e6, "MN"), (1e3, "kN"), (1.0, "N")),
}


def stone_colours(count: int) -> Array:
    """(N, 3) a tone of limestone for each block, the same in every picture."""
    block = np.arange(count)
    chance = (43758.5453 * np.sin(12.9898 * block)) % 1.0, (24634.6345 * np.sin(78.233 * block)) % 1.0
    tone = LIMESTONE_COLOURS[(chance[0] * len(LIMESTONE_COLOURS)).astype(int)]
    shade = 0.96 + 0.08 * chance[1]
    return np.clip(tone * shade[:, None], 0.0, 1.0)


def pale_colours(colours: Array) -> Array:
    """The same colours, pale enough to show what is drawn over them."""
    return 0.45 * colours + 0.55 * 0.93


def scale_colours(share: Array) -> Array:
    """(N, 3) the colours of values 0..1."""
    at = np.linspace(0.0, 1.0, len(COLOUR_SCALE))
    return np.stack([np.interp(share, at, COLOUR_SCALE[:, i]) for i in range(3)], axis=-1)


def class_colours(number: Array) -> Array:
    """(N, 3) the colours of classes counted from 1; class 0 is grey."""
    return np.where(number[:, None] > 0, CLASS_PALETTE[(number.astype(int) - 1) % len(CLASS_PALETTE)], SUPPORT_COLOUR)


def class_legend_rows(number: Array) -> list[tuple[Array | None, str]]:
    """The rows of the legend of classes (N,): how many blocks are in each."""
    size = np.bincount(number.astype(int)).tolist()
    rows: list[tuple[Array | None, str]] = [(SUPPORT_COLOUR, f"still: {size[0]}")]
    rows += [
        (CLASS_PALETTE[k % len(CLASS_PALETTE)], f"{count} block{'s' * (count > 1)}")
        for k, count in enumerate(size[1 : 1 + MAX_LISTED_CLASSES])
    ]
    if len(size) > 1 + MAX_LISTED_CLASSES:
        rows.append((None, f"and {len(size) - 1 - MAX_LISTED_CLASSES} more macro-blocks"))
    return rows


def format_quantity(value: float, unit: str) -> str:
    """A value in SI as text in a convenient unit."""
    units = DISPLAY_UNITS.get(unit, ((1.0, unit),))
    factor, name = next((pair for pair in units if value >= 0.5 * pair[0]), units[-1])
    return f"{value / factor:.3g} {name}"


def draw_colour_bar(image: Array, text: str, title: str) -> None:
    """Draw a colour bar from 0 to the largest value, written as `text`, in the lower right corner, under a title."""
    height, width, _ = image.shape
    letter = max(11.0, height / 45)
    right, top = int(0.96 * width), int(0.955 * height)
    wide = max(0.22 * width, lettering.text_width(title, letter), lettering.text_width(text + "   0", letter))
    left = max(0, right - int(wide))
    ground = image[max(0, int(top - 3.8 * letter)) :, max(0, left - int(letter)) : right + int(letter)]
    ground[...] = 0.25 * ground + 0.75 * 0.97
    image[top : top + int(letter * 0.8), left:right] = scale_colours(np.linspace(0.0, 1.0, right - left))
    lettering.draw_text(image, "0", left, top - 0.5 * letter, height=letter, colour=TEXT_COLOUR)
    start = right - lettering.text_width(text, letter)
    lettering.draw_text(image, text, start, top - 0.5 * letter, height=letter, colour=TEXT_COLOUR)
    lettering.draw_text(image, title, left, top - 2.2 * letter, height=letter, colour=TEXT_COLOUR)

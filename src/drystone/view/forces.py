"""Pictures of forces: `force_picture` draws what every joint carries, `thrust_picture` lines of thrust over an arch."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from drystone.contact.contacts import Contacts
from drystone.model import Model
from drystone.resultants import Resultants, force_flow, joint_resultants
from drystone.units import GRAVITY
from drystone.view import lettering
from drystone.view.camera import Camera
from drystone.view.mechanisms import PALETTE, extent
from drystone.view.overlay import Lines, behind, chosen, draw_legend, draw_lines, faint, polyline
from drystone.view.picture import SUPPORT, paled, picture, stone_colours

Array = np.ndarray

# from weak to strong: ever darker, so that no hue is needed to read it
STRENGTH = np.array([[0.98, 0.70, 0.36], [0.90, 0.40, 0.25], [0.70, 0.18, 0.36], [0.40, 0.08, 0.43], [0.12, 0.04, 0.28]])
UNLOADED = (0.80, 0.88, 0.93)
FALLING = (0.56, 0.74, 0.86)
WIDEST = 9.0  # [pixels] the line of the largest force
LEAST = 0.005  # of the largest force: less is not drawn
DEEP = 3.0  # radii of a block: forces farther behind the stones that are seen are faint
MOVES = 0.05  # of the largest motion: a block that moves more does not stand


def force_picture(
    model: Model,
    contacts: Contacts,
    path: str | Path | None = None,
    *,
    moving: Array | None = None,
    motion: Array | None = None,
    shown: Array | None = None,
    length: float | None = None,
    **view: Any,
) -> Array:
    """What the joints carry, from contacts with forces [N], as an image (H, W, 3) uint8, written to `path` as PNG if given.

    A segment a joint along its force, as long as the force is large, wide and dark as its root; `length` [m] of the longest.
    `moving` (B, 6) accelerations or velocities: blocks that do not stand have a colour of their own. `motion` (B, 6) [m, rad]
    where the blocks have gone to since the model was built, if the contacts are those of a later time. `shown` (B,) leaves
    out all other blocks and their joints, to look inside. `view` are keywords of `picture`.
    """
    resultants = joint_resultants(model, contacts)
    size = np.linalg.norm(resultants.force, axis=1)
    largest = float(size.max(initial=0.0))
    length = _fitting_length(model, size) if length is None else length
    drawn = _flow_lines(resultants, size, largest, length, shown)
    falls = _falling(model, moving)
    idle = _unloaded(model, resultants, size) & ~falls & (True if shown is None else shown)
    told = ((UNLOADED, "carries nothing", idle), (FALLING, "moves", falls))
    rows = [(colour, f"{words}: {int(who.sum())}") for colour, words, who in told if who.any()]

    def draw(image: Array, camera: Camera, near: Array) -> None:
        far = behind(drawn, camera, near, DEEP * float(np.median(model.bodies.radius)))
        draw_lines(image, camera, faint(chosen(drawn, far)))
        draw_lines(image, camera, chosen(drawn, ~far))
        draw_legend(image, rows)
        _scale_bar(image, camera, largest, length)

    colours = _pale_stones(model)
    colours[idle], colours[falls] = UNLOADED, FALLING
    return picture(model, path, color=colours, motion=motion, shown=shown, overlay=draw, **view)


def thrust_picture(
    model: Model, thrusts: Mapping[str, Array | Sequence[Array]], path: str | Path | None = None, **view: Any
) -> Array:
    """Lines of thrust (n, 3) [m] by their labels, one or several a label, over the pale structure, seen from the front unless
    `view` (keywords of `picture`) says otherwise."""
    given = [(label, [lines] if isinstance(lines, np.ndarray) else list(lines)) for label, lines in thrusts.items()]
    colours = [STRENGTH[2], PALETTE[4], PALETTE[2], PALETTE[5], PALETTE[3]]
    rows = [(colours[k % len(colours)], label) for k, (label, _) in enumerate(given)]

    def draw(image: Array, camera: Camera, near: Array) -> None:
        for (_, lines), (colour, _) in zip(given, rows, strict=True):
            for line in lines:
                draw_lines(image, camera, polyline(line, 4.0, colour))
        draw_legend(image, rows)

    front: dict[str, Any] = {"azimuth": 0.0, "elevation": 0.0, "field": 0.0}
    return picture(model, path, color=_pale_stones(model), overlay=draw, **front | view)


def _flow_lines(resultants: Resultants, size: Array, largest: float, length: float, shown: Array | None) -> Lines:
    """The segments of the flow of forces, weak ones first."""
    flow = force_flow(resultants, length=length)
    order = np.argsort(size)
    order = order[size[order] > LEAST * largest]
    if shown is not None:
        order = order[shown[resultants.a[order]] & shown[resultants.b[order]]]
    root = np.sqrt(size[order] / (largest or 1.0))
    at = np.linspace(0.0, 1.0, len(STRENGTH))
    colour = np.stack([np.interp(root, at, STRENGTH[:, k]) for k in range(3)], axis=1)
    return Lines(flow[order, 0], flow[order, 1], WIDEST * root, colour)


def _falling(model: Model, moving: Array | None) -> Array:
    """(B,) which blocks move, compared with the one that moves most."""
    if moving is None:
        return np.zeros(len(model.blocks), bool)
    path = np.linalg.norm(moving[:, :3], axis=1)
    return path > MOVES * path.max()


def _pale_stones(model: Model) -> Array:
    """(B, 3) sRGB"""
    return np.where(model.bodies.fixed[:, None], SUPPORT, paled(stone_colours(len(model.blocks))))


def _unloaded(model: Model, resultants: Resultants, size: Array) -> Array:
    """(B,) the free blocks whose joints carry, all together, less than half of their weight: nothing holds them."""
    carried = sum(np.bincount(side, size, len(model.blocks)) for side in (resultants.a, resultants.b))
    return (carried < 0.5 * GRAVITY * model.bodies.mass) & ~model.bodies.fixed


def _fitting_length(model: Model, size: Array) -> float:
    """[m] of the longest segment, so that a common one is about half a block long and none too long for the picture."""
    radius = float(np.median(model.bodies.radius))
    common = float(np.median(size[size > LEAST * size.max(initial=0.0)])) if size.any() else 1.0
    return float(np.clip(0.7 * radius * size.max(initial=0.0) / common, 2.0 * radius, max(2.0 * radius, 0.08 * extent(model))))


def _scale_bar(image: Array, camera: Camera, largest: float, length: float) -> None:
    """A round force and the line it is drawn as, in the lower right corner."""
    if largest == 0.0:
        return
    force = _round_below(largest)
    height, width, _ = image.shape
    right, row, letter = 0.95 * width, 0.94 * height, height / 48
    share = force / largest
    left = right - share * length * camera.scale
    lettering.draw_line(image, (left, row), (right, row), WIDEST * np.sqrt(share) / 2, STRENGTH[-1])
    unit, text = (1e6, "MN") if force >= 1e6 else (1e3, "kN") if force >= 1e3 else (1.0, "N")
    words = f"{force / unit:g} {text}"
    start = right - lettering.width(words, letter)
    lettering.write(image, words, start, row - 1.2 * letter, height=letter, colour=lettering.INK)


def _round_below(force: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not above."""
    power = 10.0 ** np.floor(np.log10(force))
    return float(max(step * power for step in (1, 2, 5) if step * power <= force))

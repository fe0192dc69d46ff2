"""A picture of a mechanism: a `Model` and its `Mechanism` come in, a PNG goes out.

Every macro-block has its own colour and is displaced far enough to be visible; hinges are dots, and joints that slide or twist
have outlines.
"""

from pathlib import Path
from typing import Any

import numpy as np

from drystone.base import quaternion
from drystone.results.mechanism import JointMotion, Mechanism
from drystone.show.pictures.camera import Camera
from drystone.show.pictures.colours import CLASS_PALETTE, MAX_LISTED_CLASSES, SUPPORT_COLOUR, class_colours
from drystone.show.pictures.moment import rotation_quaternions
from drystone.show.pictures.overlay import Lines, draw_legend, draw_lines, lines
from drystone.show.pictures.picture import picture
from drystone.show.pictures.render import bounding_diagonal
from drystone.structure.model import Model

Array = np.ndarray

HINGE_COLOUR, SLIDING_COLOUR, TORSION_COLOUR = (0.75, 0.05, 0.10), (0.10, 0.15, 0.75), (0.45, 0.05, 0.55)
PICTURE_DISPLACEMENT = 0.06  # of the structure's extent: the largest displacement in the picture


def mechanism_picture(model: Model, mechanism: Mechanism, path: str | Path | None = None, **view: Any) -> Array:
    """The mechanism as an image (H, W, 3) uint8, written to `path` as PNG if given; `view` are keywords of `picture`."""
    motion = mechanism.motion * PICTURE_DISPLACEMENT * bounding_diagonal(model)
    marks = [mark for joint in mechanism.joints for mark in _joint_marks(model, joint, motion)]

    def draw(image: Array, camera: Camera, near: Array) -> None:
        for mark in marks:
            draw_lines(image, camera, mark)
        draw_legend(image, _legend_rows(mechanism))

    return picture(model, path, color=class_colours(mechanism.macro), motion=motion, overlay=draw, **view)


def _joint_marks(model: Model, joint: JointMotion, motion: Array) -> list[Lines]:
    """The marks of a joint: a dot on a hinge, the outline of a joint that slides or twists, and none if it opens visibly."""
    turn = rotation_quaternions(motion[[joint.a], 3:])[0]
    place = model.position[joint.a] + motion[joint.a, :3]

    def moved(points: Array) -> Array:
        return place + quaternion.rotate(turn, points - model.position[joint.a])

    if joint.kind == "hinge":
        dot = moved(joint.place[None])
        return [lines(dot, dot, 13.0, (1.0, 1.0, 1.0)), lines(dot, dot, 9.0, HINGE_COLOUR)]
    if joint.kind == "opening":
        return []
    rim = moved(_ordered_corners(joint.points))
    return [lines(rim, np.roll(rim, -1, axis=0), 3.0, SLIDING_COLOUR if joint.kind == "sliding" else TORSION_COLOUR)]


def _ordered_corners(points: Array) -> Array:
    """The corners of a flat polygon in their order around its centre."""
    arm = points - points.mean(axis=0)
    first, second = np.linalg.svd(arm)[2][:2]
    return points[np.argsort(np.arctan2(arm @ second, arm @ first))]


def _legend_rows(mechanism: Mechanism) -> list[tuple[Any, str]]:
    """The rows of the legend."""
    still, *moving = mechanism.bodies
    rows: list[tuple[Any, str]] = [(SUPPORT_COLOUR, f"still: {len(still.blocks)}")]
    for k, body in enumerate(moving[:MAX_LISTED_CLASSES]):
        words = mechanism.names[body.blocks[0]] if len(body.blocks) == 1 else f"{len(body.blocks)} blocks"
        rows.append((CLASS_PALETTE[k % len(CLASS_PALETTE)], f"{words}, {body.mass / 1e3:.3g} t"))
    if len(moving) > MAX_LISTED_CLASSES:
        rows.append((None, f"and {len(moving) - MAX_LISTED_CLASSES} more macro-blocks"))
    kinds = [joint.kind for joint in mechanism.joints]
    for kind, colour in (("hinge", HINGE_COLOUR), ("sliding", SLIDING_COLOUR), ("torsion", TORSION_COLOUR), ("opening", None)):
        if kind in kinds:
            rows.append((colour, f"{kind}: {kinds.count(kind)}"))
    return rows

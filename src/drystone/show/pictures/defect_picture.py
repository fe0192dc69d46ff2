"""A picture of the doctor's findings: a `Examination` comes in, a PNG with the faulty blocks in colour and a legend goes out.

A block has the colour of its first finding, errors before warnings; sound blocks are pale. Blocks that are not solids are
drawn with both sides of their faces visible, so that a missing face shows.
"""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

from drystone.base.errors import InputError
from drystone.io.doctor.examination import Examination, tabulate_readable
from drystone.io.doctor.touching_blocks import make_box_bodies
from drystone.show.pictures.colours import SUPPORT_COLOUR, pale_colours, stone_colours
from drystone.show.pictures.overlay import draw_legend
from drystone.show.pictures.picture import picture
from drystone.show.pictures.png import write_png
from drystone.structure.model import Block, Model

Array = np.ndarray

# one colour per kind of finding, the same in every picture: strong for errors, pale for warnings
KIND_COLOURS = {
    "open": (0.84, 0.26, 0.0),
    "surplus face": (0.55, 0.12, 0.10),
    "inward face": (0.0, 0.42, 0.70),
    "inside out": (0.10, 0.20, 0.55),
    "not planar": (0.80, 0.35, 0.62),
    "not convex": (0.45, 0.20, 0.60),
    "duplicate": (0.0, 0.58, 0.42),
    "overlap": (0.93, 0.66, 0.0),
    "several shells": (0.50, 0.36, 0.16),
    "gap": (0.45, 0.76, 0.93),
    "floating": (0.72, 0.70, 0.84),
    "no contact": (0.42, 0.42, 0.56),
    "thin block": (0.62, 0.80, 0.45),
    "thin face": (0.78, 0.86, 0.50),
}
OTHER_COLOUR = (0.25, 0.22, 0.30)  # rarer kinds


def defects_picture(report: Examination, path: str | Path) -> Array:
    """The structure with its defective blocks in colour, as an image (H, W, 3) uint8 and as a PNG file."""
    laid = tabulate_readable(_double_sided(report))[0]
    if laid is None:
        raise InputError(f"{path}: none of the blocks can be drawn; see the findings")
    bodies, position = make_box_bodies(laid.blocks, laid.surfaces, laid.owner)
    model = Model(tuple(laid.blocks), bodies, position, np.zeros((1, 1)))
    image = picture(model, color=_block_colours(report)[laid.row]) / 255.0
    _draw_legend(image, report)
    pixels = np.round(255.0 * image).astype(np.uint8)
    write_png(path, pixels)
    return pixels


def _double_sided(report: Examination) -> tuple[Block, ...]:
    """The blocks; those with errors have each face twice, once per side, because it may face the wrong way."""
    faulty = {row for finding in report.findings if finding.severity == "error" for row in finding.blocks}
    return tuple(
        replace(block, faces=(*block.faces, *(tuple(face)[::-1] for face in block.faces)), pieces=())
        if row in faulty
        else block
        for row, block in enumerate(report.blocks)
    )


def _block_colours(report: Examination) -> Array:
    count = len(report.blocks)
    fixed = np.array([bool(block.fixed) for block in report.blocks])
    pale = pale_colours(stone_colours(count))
    colours = np.where(fixed[:, None], SUPPORT_COLOUR, pale)
    for finding in reversed(report.findings):  # the first finding of a block is painted last
        if finding.blocks:
            colours[list(finding.blocks)] = KIND_COLOURS.get(finding.kind, OTHER_COLOUR)
    return colours


def _draw_legend(image: Array, report: Examination) -> None:
    """Draw the legend: the kinds of findings and how many there are of each."""
    kinds = Counter(finding.kind for finding in report.findings if finding.blocks)
    rows = [(KIND_COLOURS.get(kind, OTHER_COLOUR), f"{kind} {count}") for kind, count in kinds.items()]
    draw_legend(image, rows or [(None, "no defects")])

"""The structure at an instant: a `Run` and a frame come in, the blocks at their positions go out, for any program that reads
geometry (`io/geometry/structure.py`) or for another case."""

from dataclasses import replace

import numpy as np

from drystone import quaternion
from drystone.analyse.construction import present_blocks
from drystone.model import Block
from drystone.record import Run


def shape(run: Run, frame: int) -> list[Block]:
    """The blocks that are present in a frame, moved and rotated; deformable blocks as if they were rigid."""
    shown = present_blocks(run, frame)
    turn = quaternion.product(run.rotation[frame], quaternion.conjugate(run.rotation[0]))
    blocks = []
    for i, block in enumerate(run.model.blocks):
        if shown is None or shown[i]:
            arm = np.asarray(block.vertices, float) - run.position[0, i]
            blocks.append(replace(block, vertices=run.position[frame, i] + quaternion.rotate(turn[i], arm)))
    return blocks

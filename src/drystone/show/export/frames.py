"""The frames of a run to export, and the positions of the blocks in them."""

from dataclasses import replace

import numpy as np

from drystone.analysis.construction import present_blocks
from drystone.base import quaternion
from drystone.base.errors import InputError
from drystone.results.store.run_reader import Run
from drystone.structure.body_surfaces import world_vertices
from drystone.structure.model import Block

Array = np.ndarray


SINGLE_PRECISION_LIMIT = 150.0  # [m] from zero: farther away, single precision rounds coordinates by more than 10 micrometres


def frames_every(run: Run, interval: float | None) -> list[int]:
    """The frames nearest to multiples of an interval [s] (or of stages) from the first one on, and the last; all if `interval`
    is None."""
    if interval is None:
        return list(range(run.frames))
    if not 0.0 < interval < np.inf:
        raise InputError(f"every {interval:g}: give a time above zero, in seconds")
    number = np.floor((run.time - run.time[0]) / interval + 0.5)  # number of the nearest multiple of the interval
    off = np.abs(run.time - run.time[0] - number * interval)
    order = np.lexsort((off, number))
    first = order[np.unique(number[order], return_index=True)[1]]
    return sorted({*first.tolist(), run.frames - 1})


def frame_at(run: Run, time: float | None) -> int:
    """The frame nearest to a time [s] or a stage; the last if `time` is None."""
    if time is None:
        return run.frames - 1
    if not run.time[0] <= time <= run.time[-1]:
        raise InputError(
            f"time {time:g}: {run.folder} goes from {run.time[0]:g} to {run.time[-1]:g}; give a time in this range"
        )
    return int(np.abs(run.time - time).argmin())


def vertices_at(run: Run, frame: int) -> Array:
    """(NV, 3) [m] the vertices of all blocks in a frame."""
    return world_vertices(run.model.bodies, run.position[frame], run.rotation[frame])


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

"""Play in upright joints: makes blocks that are drawn flush a little narrower.

Real joints always have play, which drawings rarely show. Where stones are held only by friction in upright joints, the play
decides the result: drawn flush they may hold, with a tenth of a millimetre of play they fall (docs/limits.md).
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from drystone.base.errors import InputError
from drystone.base.units import Length
from drystone.structure.model import Block

MAX_PLAY_SHARE = 0.05  # of the width of a block


def with_play(blocks: Iterable[Block], width: Length, seed: int | None = None) -> list[Block]:
    """The blocks, of which each free one is narrower by `width` [m] along both of its horizontal axes, about its centre; with a
    seed, by a random 0 to 2 times that for each block. Heights and supports are unchanged."""
    blocks = list(blocks)
    random = np.random.default_rng(seed)
    share = np.ones(len(blocks)) if seed is None else random.uniform(0.0, 2.0, len(blocks))
    return [block if block.fixed else _narrower(block, width * float(s)) for block, s in zip(blocks, share, strict=True)]


def _narrower(block: Block, width: float) -> Block:
    corners = np.array(block.vertices, float)
    middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    flat = (corners - middle)[:, :2]
    _, axes = np.linalg.eigh(flat.T @ flat)
    along = flat @ axes
    extent = np.ptp(along, axis=0)
    if width > MAX_PLAY_SHARE * extent.min():
        raise InputError(f"structure.play: {1e3 * width:g} mm is more than {MAX_PLAY_SHARE:.0%} of block {block.name!r}, "
                         f"{1e3 * extent.min():.4g} mm wide; give less")  # fmt: skip
    corners[:, :2] = middle[:2] + (along * (1 - width / extent)) @ axes.T
    return replace(block, vertices=corners)

"""A run as the page shows it: a folder and a `Budget` come in, a `ShownRun` goes out, which has a selection of the frames.

A run that is still being computed grows: `ShownRun.grow` adds its new frames, and never changes earlier answers.
"""

import math
import threading
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from drystone.analysis.construction import present_blocks
from drystone.base.errors import InputError
from drystone.io.case import Case
from drystone.results import quantities
from drystone.results.store.run_reader import RESULT, Run, read_run, recorded_case
from drystone.show.page.block_arrays import coordinate_origin

Array = np.ndarray

POSE_BYTES = 12  # [bytes] per block and frame: six numbers of 16 bits
CHUNK_BYTES = 2**20  # [bytes] of the poses in one answer, before compression
MAX_CHUNK_FRAMES = 64
LIVE_SECONDS = 300.0  # [s] a run without a new write for longer is taken as no longer computed


class Budget(NamedTuple):
    """The limits on what is shown of a run."""

    frames: int
    poses: int  # [bytes] of all frames, before compression
    joints: int | None  # [bytes] of the forces in the joints of all frames, compressed; None for no limit
    class_values: int  # blocks times frames; with more, macro-blocks are left out, because they take long to find


SERVER_BUDGET = Budget(frames=600, poses=64 * 10**6, joints=None, class_values=2**60)
FILE_BUDGET = Budget(frames=600, poses=20 * 10**6, joints=6 * 10**6, class_values=300_000)


class ShownRun:
    """A run and the frames of it that are shown, numbered from 0; `frames` has their numbers in the run."""

    def __init__(self, folder: str | Path, budget: Budget):
        self.folder = Path(folder)
        self.name = self.folder.resolve().name
        self.run = read_run(folder)
        self.case = recorded_case(self.run)
        self.origin = coordinate_origin(self.run.model)
        self.frames: list[int] = []
        self.motion = np.empty((0, len(self.run.model.blocks), 6), np.float32)  # (n, B, 6) [m, rad]
        self.stride = _stride(self.run, self.case, budget)
        self.budget = budget
        self._growing = threading.Lock()
        self._take_in(self.run)

    def grow(self) -> None:
        """Add the new frames; if the run is just being written, they are added the next time."""
        with self._growing, suppress(InputError, OSError, KeyError, RuntimeError):
            self._take_in(read_run(self.folder))

    @property
    def live(self) -> bool:
        """Whether the run is still being computed, judged by its last write."""
        done = self.run.finished if self.case.goes_through_time else (self.folder / RESULT).exists()
        return not done and time.time() - (self.folder / "run.h5").stat().st_mtime < LIVE_SECONDS

    @property
    def chunks(self) -> list[tuple[int, int]]:
        """The first frame of each chunk of poses and values, and the frame after its last."""
        length = min(max(CHUNK_BYTES // (POSE_BYTES * self.motion.shape[1]), 4), MAX_CHUNK_FRAMES)
        return list(pairwise([*range(0, len(self.frames), length), len(self.frames)]))

    def hidden(self, frame: int) -> Array | None:
        """(B,) the blocks that are not laid yet or are removed; None for a structure whose blocks are always present."""
        if self.case.analysis.kind != "construction" and not self.case.changes:
            return None
        present = present_blocks(self.run, self.frames[frame])
        return None if present is None else ~present

    def _take_in(self, run: Run) -> None:
        begin = self.frames[-1] + 1 if self.frames else 0
        if run.frames <= begin:
            return
        moved = quantities.displacements(run, begin, self.motion[-1].astype(float) if self.frames else None)
        self.run = run
        last = None if self.live else run.frames - 1
        new = [frame for frame in range(begin, run.frames) if frame % self.stride == 0 or frame == last]
        self.motion = np.concatenate([self.motion, moved[[frame - begin for frame in new]].astype(np.float32)])
        self.frames = [*self.frames, *new]


def _stride(run: Run, case: Case, budget: Budget) -> int:
    """The step from one shown frame to the next, which also counts planned frames."""
    planned = 1 + math.ceil(case.history.duration / case.frame_interval) if case.goes_through_time else 0
    frames = max(run.frames, planned)
    room = min(budget.frames, max(budget.poses // (POSE_BYTES * len(run.model.blocks)), 2))
    return max(1, math.ceil((frames - 1) / (room - 1)))

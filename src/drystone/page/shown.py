"""A run as the page shows it: a folder and a `Budget` come in, `ShownRun` goes out, a run of which some frames are chosen.

A run that is still being computed grows: `ShownRun.grow` takes in what has come since, and never changes what was told before.
"""

import math
import threading
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from drystone import quantities
from drystone.analyse.construction import present_blocks
from drystone.errors import InputError
from drystone.io.case import Case
from drystone.page.geometry import coordinate_origin
from drystone.record import RESULT, Run, read_run, recorded_case

Array = np.ndarray

POSE_BYTES = 12  # [bytes] of a block in a frame: six numbers of 16 bits
CHUNK_BYTES = 2**20  # [bytes] of poses that come at once, before they are packed
MAX_CHUNK_FRAMES = 64  # frames
LIVE_SECONDS = 300.0  # [s] a run that was not written to for so long is not being computed


class Budget(NamedTuple):
    """How much of a run is shown."""

    frames: int
    poses: int  # [bytes] of all frames, before they are packed
    joints: int | None  # [bytes] of the forces in joints of all frames, packed; None: any
    class_values: int  # blocks times frames: where there are more, macro-blocks are not read, which takes long


SERVER_BUDGET = Budget(frames=600, poses=64 * 10**6, joints=None, class_values=2**60)
FILE_BUDGET = Budget(frames=600, poses=20 * 10**6, joints=6 * 10**6, class_values=300_000)


class ShownRun:
    """Frames are counted as they are shown; `frames` has their numbers in the run."""

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
        """Take in the frames that have come since; who is met in the middle of a write has a next time."""
        with self._growing, suppress(InputError, OSError, KeyError, RuntimeError):
            self._take_in(read_run(self.folder))

    @property
    def live(self) -> bool:
        """It is still being computed, as far as one can see."""
        done = self.run.finished if self.case.goes_through_time else (self.folder / RESULT).exists()
        return not done and time.time() - (self.folder / "run.h5").stat().st_mtime < LIVE_SECONDS

    @property
    def chunks(self) -> list[tuple[int, int]]:
        """From and to which frame poses and values come at once."""
        length = min(max(CHUNK_BYTES // (POSE_BYTES * self.motion.shape[1]), 4), MAX_CHUNK_FRAMES)
        return list(pairwise([*range(0, len(self.frames), length), len(self.frames)]))

    def hidden(self, frame: int) -> Array | None:
        """(B,) the blocks that are not laid yet, or no longer there; None of a structure whose blocks are always there."""
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
    """Every which frame is shown, also of those still to come."""
    planned = 1 + math.ceil(case.history.duration / case.frame_interval) if case.goes_through_time else 0
    frames = max(run.frames, planned)
    room = min(budget.frames, max(budget.poses // (POSE_BYTES * len(run.model.blocks)), 2))
    return max(1, math.ceil((frames - 1) / (room - 1)))

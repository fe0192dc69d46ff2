"""Blocks that appear and vanish in a history: the blocks that are present at an instant.

A change takes effect with the first time step that does not begin before its time. A block that a change adds is absent until
then, and appears at rest at its initial position. A block that is removed is absent from then on, and returns at the position
where it was removed if a later change adds it again. Absent blocks take no part in the computation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter

import numpy as np

from drystone.base.errors import InputError
from drystone.structure.loads import find_blocks
from drystone.structure.model import Model

Array = np.ndarray

TIME_ROUNDING = 1e-9  # [s] a change takes effect in a time step that begins at most this much before it


@dataclass(frozen=True)
class BlockChange:
    """The blocks that appear and vanish at an instant."""

    time: float  # [s] it takes effect with the first time step that does not begin before this time
    remove: tuple[str, ...] = ()  # blocks or groups that vanish
    add: tuple[str, ...] = ()  # blocks or groups that appear at their initial position, and are absent until then

    def __post_init__(self) -> None:
        if not (self.remove or self.add):
            raise InputError(f"change at {self.time:g} s: nothing appears or vanishes; name blocks in remove or add")


class Presence:
    """The blocks that are present, by time."""

    def __init__(self, model: Model, changes: Sequence[BlockChange]):
        self._model = model
        ordered = sorted(changes, key=attrgetter("time"))
        self._changes = [(change.time, _mask_of(model, change.remove), _mask_of(model, change.add)) for change in ordered]
        self._start = np.ones(len(model.blocks), bool)
        # in reverse, so that the first change that names a block decides whether it is present at the start
        for _, gone, new in reversed(self._changes):
            self._start = (self._start | gone) & ~new
        self._check()

    def at(self, time: float) -> Array:
        """(B,) bool the blocks that are present in the time step that begins at `time` [s]."""
        present = self._start
        for begin, gone, new in self._changes:
            if begin <= time + TIME_ROUNDING:
                present = (present & ~gone) | new
        return present

    def _check(self) -> None:
        """Refuse to remove absent blocks, to add present ones, and two changes at the same time."""
        for (begin, _, _), (following, _, _) in pairwise(self._changes):
            if begin == following:
                raise InputError(f"change: two changes are at {begin:g} s; combine them into one")
        present, blocks = self._start, self._model.blocks
        for begin, gone, new in self._changes:
            for i in np.flatnonzero(gone & ~present):
                raise InputError(f"change.remove at {begin:g} s: block {blocks[i].name!r} is absent then; leave it out")
            for i in np.flatnonzero(new & (present | gone)):
                raise InputError(f"change.add at {begin:g} s: block {blocks[i].name!r} is present already; leave it out")
            present = (present & ~gone) | new


def last_change_time(changes: Sequence[BlockChange]) -> float:
    """[s] the time of the last change; 0 if there is none."""
    return max((change.time for change in changes), default=0.0)


def _mask_of(model: Model, names: Sequence[str]) -> Array:
    """(B,) bool the blocks with these names."""
    chosen = np.zeros(len(model.blocks), bool)
    for name in names:
        chosen[find_blocks(model, name, "change")] = True
    return chosen

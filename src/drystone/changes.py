"""Blocks that appear and vanish in a history: a model, changes and an instant come in, who is there then goes out.

A change takes effect with the first time step that does not begin before its time. A block that a change adds is absent until
then, and appears at rest where it is drawn; one that is removed is absent from then on, and comes back where it was if a later
change adds it again. What is absent takes part in nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter

import numpy as np

from drystone.errors import InputError
from drystone.loads import find_blocks
from drystone.model import Model

Array = np.ndarray

TIME_ROUNDING = 1e-9  # [s] by which a time step may begin before the time of a change and have it


@dataclass(frozen=True)
class BlockChange:
    """What appears and vanishes at an instant."""

    time: float  # [s] when; it takes effect with the first time step that does not begin before it
    remove: tuple[str, ...] = ()  # blocks or groups that are taken away
    add: tuple[str, ...] = ()  # blocks or groups that appear where they are drawn, and are absent until then

    def __post_init__(self) -> None:
        if not (self.remove or self.add):
            raise InputError(f"change at {self.time:g} s: nothing appears or vanishes; name blocks in remove or add")


class Presence:
    """Who is there, by time."""

    def __init__(self, model: Model, changes: Sequence[BlockChange]):
        self._model = model
        ordered = sorted(changes, key=attrgetter("time"))
        self._changes = [(change.time, _mask_of(model, change.remove), _mask_of(model, change.add)) for change in ordered]
        self._start = np.ones(len(model.blocks), bool)
        for _, gone, new in reversed(self._changes):  # so that the first to name a block decides how it starts
            self._start = (self._start | gone) & ~new
        self._check()

    def at(self, time: float) -> Array:
        """(B,) bool the blocks that are there in the time step that begins at `time` [s]."""
        present = self._start
        for begin, gone, new in self._changes:
            if begin <= time + TIME_ROUNDING:
                present = (present & ~gone) | new
        return present

    def _check(self) -> None:
        """Nothing taken away that is absent, nothing added that is there, one change a time."""
        for (begin, _, _), (following, _, _) in pairwise(self._changes):
            if begin == following:
                raise InputError(f"change: two of them are at {begin:g} s; write what happens at one time as one change")
        present, blocks = self._start, self._model.blocks
        for begin, gone, new in self._changes:
            for i in np.flatnonzero(gone & ~present):
                raise InputError(f"change.remove at {begin:g} s: block {blocks[i].name!r} is not there then; leave it out")
            for i in np.flatnonzero(new & (present | gone)):
                raise InputError(f"change.add at {begin:g} s: block {blocks[i].name!r} is there already; leave it out")
            present = (present & ~gone) | new


def last_change_time(changes: Sequence[BlockChange]) -> float:
    """[s] when the last of them is."""
    return max((change.time for change in changes), default=0.0)


def _mask_of(model: Model, names: Sequence[str]) -> Array:
    """(B,) bool"""
    chosen = np.zeros(len(model.blocks), bool)
    for name in names:
        chosen[find_blocks(model, name, "change")] = True
    return chosen

"""Loads on a structure, and their wrenches (B, 6) [N, N m] about the centroids of the blocks.

A load is a force on one block, or shared by mass among the blocks of a group, given in newtons or as a share of a weight; or
it is a pressure on the faces that look in one direction. A force acts in a fixed direction at a point that moves with its
block; a pressure stays normal to its faces. Live loads are scaled by the load multiplier, dead loads are not. In a history a
load may have a factor that changes with time.

>>> AppliedLoad("keystone", force=1e3).direction
(0.0, 0.0, -1.0)
>>> loads_at([AppliedLoad("keystone", force=1e3, history=((0.0, 0.0), (2.0, 1.0)))], 0.5)[0].force
250.0
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from drystone.base import quaternion
from drystone.base.errors import InputError, did_you_mean, truncated_repr
from drystone.structure.model import Model

Array = np.ndarray

FACING_COSINE = math.cos(math.radians(5.0))  # a face looks in a direction if its normal is within 5 degrees of it


@dataclass(frozen=True)
class AppliedLoad:
    """One load. Exactly one of force, share and pressure is given."""

    on: str  # name of a block or of a group
    force: float | None = None  # [N] give one of force, share and pressure
    share: float | None = None  # of the weight of `of`
    pressure: float | None = None  # [Pa] into the faces that look in the direction `face`
    of: str = ""  # block or group of whose weight `share` is a part; all free blocks if not given
    direction: tuple[float, float, float] = (0.0, 0.0, -1.0)  # of a force; it is normalised
    at: tuple[float, float, float] | None = None  # [m] where the force acts at the start; the centroid if not given
    face: tuple[float, float, float] | None = None  # outward direction of the faces under pressure
    live: bool = False  # whether the load multiplier scales it
    history: tuple[tuple[float, float], ...] = ()  # rows of time [s] and factor: linear between, constant beyond; 1 if empty

    def __post_init__(self) -> None:
        kinds = [name for name in ("force", "share", "pressure") if getattr(self, name) is not None]
        if len(kinds) != 1:
            raise InputError(f"load on {self.on!r}: give exactly one of force, share and pressure, not {kinds or 'none'}")
        if (self.pressure is None) != (self.face is None):
            raise InputError(
                f"load on {self.on!r}: face, the direction of the loaded faces, is needed with pressure, and only then"
            )
        times = [time for time, _ in self.history]
        if len(times) == 1 or any(later <= earlier for earlier, later in pairwise(times)):
            raise InputError(f"load on {self.on!r}: the times of its history are {times} s; give two rows or more, each later "
                             "than the one before")  # fmt: skip

    def factor(self, time: float | Array) -> Array:
        """The factor of the load at instants [s]."""
        return np.interp(time, *self._columns) if self.history else np.ones_like(time, float)

    def factor_summed(self, time: float | Array) -> Array:
        """[s] the integral of the factor over time up to these instants [s], up to an arbitrary constant."""
        if not self.history:
            return np.asarray(time, float)
        times, factors = self._columns
        sums = np.append(0.0, np.cumsum(0.5 * (factors[1:] + factors[:-1]) * np.diff(times)))
        inside = np.clip(time, times[0], times[-1])
        row = np.clip(np.searchsorted(times, inside, side="right") - 1, 0, len(times) - 2)
        beyond = factors[0] * np.minimum(time - times[0], 0.0) + factors[-1] * np.maximum(time - times[-1], 0.0)
        return sums[row] + 0.5 * (factors[row] + self.factor(inside)) * (inside - times[row]) + beyond

    def varies_between(self, start: float, end: float) -> bool:
        """Whether the factor is not constant from one instant [s] to another."""
        if not self.history:
            return False
        times, factors = self._columns
        inside = factors[(times > start) & (times < end)]
        return bool(np.ptp([self.factor(start), *inside, self.factor(end)]) > 0.0)

    @property
    def _columns(self) -> tuple[Array, Array]:
        table = np.array(self.history)
        return table[:, 0], table[:, 1]


def loads_at(loads: Iterable[AppliedLoad], time: float) -> list[AppliedLoad]:
    """The loads at an instant [s], without histories."""
    return [_scale_load(load, float(load.factor(time))) for load in loads]


def mean_loads(loads: Iterable[AppliedLoad], start: float, end: float) -> list[AppliedLoad]:
    """The mean loads over the time from one instant [s] to another, without histories."""
    return [
        _scale_load(load, float(load.factor_summed(end) - load.factor_summed(start)) / (end - start)) if load.history else load
        for load in loads
    ]


def _scale_load(load: AppliedLoad, factor: float) -> AppliedLoad:
    if not load.history:
        return load
    size = next(name for name in ("force", "share", "pressure") if getattr(load, name) is not None)
    return replace(load, history=(), **{size: factor * getattr(load, size)})


def last_load_change(loads: Sequence[AppliedLoad]) -> float:
    """[s] the time after which all loads are constant."""
    return max((load.history[-1][0] for load in loads if load.history), default=0.0)


def weight_wrench(model: Model, gravity: float) -> Array:
    """(B, 6) the weight of the blocks; zero for supports."""
    return body_force(model, (0.0, 0.0, -1.0), gravity)


def body_force(model: Model, direction: Iterable[float], acceleration: float) -> Array:
    """(B, 6) mass times acceleration [m/s2] along a direction of any length; zero for supports."""
    wrench = np.zeros((len(model.blocks), 6))
    wrench[:, :3] = (acceleration * model.bodies.mass * ~model.bodies.fixed)[:, None] * unit_vector(direction)
    return wrench


def load_wrench(model: Model, loads: Iterable[AppliedLoad], gravity: float, rotation: Array | None = None) -> Array:
    """(B, 6) the sum of all given loads, live and dead, at full size and without their histories; `rotation` (B, 4): of the
    blocks since the start, by default none."""
    count = len(model.blocks)
    turn = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)) if rotation is None else rotation
    total = np.zeros((count, 6))
    for load in loads:
        chosen = find_blocks(model, load.on, "load.on")
        if load.pressure is not None:
            _add_pressure(model, load, chosen, turn, total)
        else:
            _add_force(model, load, chosen, gravity, turn, total)
    return total


def vertical_forces(model: Model, loads: Iterable[AppliedLoad], gravity: float) -> Array:
    """(B,) [N] weight and vertical loads, downwards, of the free blocks as built; at rest the supports bear their sum."""
    down = -(weight_wrench(model, gravity) + load_wrench(model, loads, gravity))[:, 2]
    return np.where(model.bodies.fixed, 0.0, down)


def find_blocks(model: Model, name: str, key: str) -> Array:
    """The numbers of the block, or of the blocks of the group, with this name."""
    rows = [i for i, block in enumerate(model.blocks) if name in (block.name, block.group)]
    if not rows or not name:
        known = {block.name for block in model.blocks} | {block.group for block in model.blocks if block.group}
        hint = did_you_mean(name, known) or "; give the name of one"
        raise InputError(f"{key}: no block and no group is named {truncated_repr(name)}{hint}")
    return np.array(rows)


def unit_vector(direction: Iterable[float]) -> Array:
    """The unit vector along a direction."""
    vector = np.array(tuple(direction), float)
    return vector / np.linalg.norm(vector)


def _add_force(model: Model, load: AppliedLoad, chosen: Array, gravity: float, turn: Array, total: Array) -> None:
    bodies = model.bodies
    amount = load.force
    if load.share is not None:
        weighed = find_blocks(model, load.of, "load.of") if load.of else np.flatnonzero(~bodies.fixed)
        amount = load.share * gravity * float(bodies.mass[weighed].sum())
    assert amount is not None
    force = amount * unit_vector(load.direction)
    for i, part in zip(chosen, bodies.mass[chosen] / bodies.mass[chosen].sum(), strict=True):
        arm = np.zeros(3) if load.at is None else np.array(load.at) - model.position[i]
        total[i, :3] += part * force
        total[i, 3:] += part * np.cross(quaternion.rotate(turn[i], arm), force)


def _add_pressure(model: Model, load: AppliedLoad, chosen: Array, turn: Array, total: Array) -> None:
    assert load.pressure is not None
    assert load.face is not None
    look, any_face = unit_vector(load.face), False
    for i in chosen:
        corners = np.asarray(model.blocks[i].vertices, float) - model.position[i]
        for face in model.blocks[i].faces:
            area, centre = _area_vector(corners[list(face)])
            size = float(np.linalg.norm(area))
            if size == 0.0 or area @ look < FACING_COSINE * size:
                continue
            any_face = True
            force = quaternion.rotate(turn[i], -load.pressure * area)
            total[i, :3] += force
            total[i, 3:] += np.cross(quaternion.rotate(turn[i], centre), force)
    if not any_face:
        raise InputError(f"load on {load.on!r}: no face has the outward normal {list(load.face)}; give the outward direction")


def _area_vector(corners: Array) -> tuple[Array, Array]:
    """Area times outward normal, and centroid, of a plane convex polygon."""
    areas = np.cross(corners[1:-1] - corners[0], corners[2:] - corners[0]) / 2
    total = areas.sum(axis=0)
    share = areas @ total / (total @ total)
    return total, share @ (corners[0] + corners[1:-1] + corners[2:]) / 3

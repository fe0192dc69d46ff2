"""A moment of a run: a frame, or a share of the way from one frame to another. Goes out: where the blocks are then, what they
are coloured by, what the joints carry, how it is labelled."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from drystone import quaternion
from drystone.analyse.construction import there
from drystone.errors import InputError
from drystone.quantities import joints, quantity
from drystone.record import Run, recorded_case
from drystone.resultants import Resultants
from drystone.view.render import Stones

Array = np.ndarray

IN_TURN = ("pushover", "construction", "settlement")  # statics whose frames follow each other; in others each frame is the
# built structure moved


class Moment(NamedTuple):
    """From a frame to another one."""

    frame: int
    other: int
    share: float  # 0: at the frame .. 1: at the other
    shows: int  # the frame of what cannot be between two: forces, classes, which blocks are there


def at_frame(run: Run, frame: int) -> Moment:
    """A frame, counted from the end if negative."""
    if not -run.frames <= frame < run.frames:
        raise InputError(f"frame {frame}: {run.folder} has frames 0 to {run.frames - 1}")
    frame = frame % run.frames
    return Moment(frame, frame, 0.0, frame)


def label(run: Run, moment: Moment) -> str:
    """The time, or of statics the stage."""
    if goes_through_time(run):
        time = (1.0 - moment.share) * run.time[moment.frame] + moment.share * run.time[moment.other]
        return f"t = {time:.2f} s"
    return f"stage {moment.shows}"


def stones_at(run: Run, moment: Moment, exaggerate: float) -> Stones:
    """The blocks, with displacements and rotations since the first frame `exaggerate` times as large."""
    position, rotation = _between(run, moment)
    if exaggerate != 1.0:
        first = run.state(0)
        turn = quaternion.rotation_vector(quaternion.product(rotation, quaternion.conjugate(first.rotation)))
        position = first.position + exaggerate * (position - first.position)
        rotation = quaternion.product(turned(exaggerate * turn), first.rotation)
    present = there(run, moment.shows)
    shown = np.ones(len(position), bool) if present is None else present
    return Stones(run.model.bodies, position, rotation, shown)


def values_at(run: Run, moment: Moment, name: str) -> Array:
    """(B,) of one of the `QUANTITIES`; where a block has none in one of the frames, that of the frame shown."""
    shown = _values(run, name, moment.shows)
    if quantity(name).counted or moment.share == 0.0:
        return shown
    between = (1.0 - moment.share) * _values(run, name, moment.frame) + moment.share * _values(run, name, moment.other)
    return np.where(np.isnan(between), shown, between)


def joints_at(run: Run, moment: Moment, drawn: Array) -> Resultants:
    """What the joints carry [N] in the frame that is shown, moved to where their blocks (B, 3) [m] are drawn."""
    found = joints(run, moment.shows)
    real = run.position[moment.shows if goes_through_time(run) or analysis_of(run) in IN_TURN else 0]
    shift = ((drawn - real)[found.a] + (drawn - real)[found.b]) / 2
    return found._replace(centre=found.centre + shift, middle=found.middle + shift)


def turned(vector: Array) -> Array:
    """(B, 4) quaternions of rotation vectors (B, 3)."""
    angle = np.linalg.norm(vector, axis=1, keepdims=True)
    return np.concatenate([np.cos(angle / 2), vector * np.sinc(angle / 2 / np.pi) / 2], axis=1)


def _between(run: Run, moment: Moment) -> tuple[Array, Array]:
    """(B, 3) [m] and (B, 4): straight on and at a constant spin from frame to frame."""
    one, other = run.position[moment.frame], run.position[moment.other]
    start = run.rotation[moment.frame]
    if moment.share == 0.0:
        return one, start
    spin = quaternion.rotation_vector(quaternion.product(run.rotation[moment.other], quaternion.conjugate(start)))
    return one + moment.share * (other - one), quaternion.product(turned(moment.share * spin), start)


@lru_cache(maxsize=4)
def _values(run: Run, name: str, frame: int) -> Array:
    return quantity(name).of(run, frame)


@lru_cache(maxsize=8)
def goes_through_time(run: Run) -> bool:
    """Whether it is a history; else its frames are states of statics."""
    return recorded_case(run).goes_through_time


@lru_cache(maxsize=8)
def analysis_of(run: Run) -> str:
    """The kind of the analysis."""
    return recorded_case(run).analysis.kind

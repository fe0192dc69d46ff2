"""A moment of a run: a frame, or an instant between two frames.

Each function takes a run and a moment and returns what a picture of that moment needs: the positions of the blocks, the values
that colour them, the forces in the joints, or the label.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from drystone.analysis.construction import present_blocks
from drystone.base import quaternion
from drystone.base.errors import InputError
from drystone.results.quantities import find_quantity, frame_resultants
from drystone.results.resultants import Resultants
from drystone.results.store.run_reader import Run, recorded_case
from drystone.show.pictures.render import DrawnBodies

Array = np.ndarray

# analyses of statics whose frames follow each other; in all others each frame is the structure as built, displaced
SEQUENTIAL_ANALYSES = ("pushover", "construction", "settlement")


class Moment(NamedTuple):
    """An instant between two frames."""

    frame: int
    next_frame: int
    share: float  # 0 at the first frame, 1 at the next
    shown_frame: int  # the frame for what cannot be interpolated: forces, classes and which blocks are present


def moment_at_frame(run: Run, frame: int) -> Moment:
    """The moment of a frame; a negative number counts from the end."""
    if not -run.frames <= frame < run.frames:
        raise InputError(f"frame {frame}: {run.folder} has frames 0 to {run.frames - 1}")
    frame = frame % run.frames
    return Moment(frame, frame, 0.0, frame)


def moment_label(run: Run, moment: Moment) -> str:
    """The time; for an analysis of statics the stage."""
    if is_history(run):
        time = (1.0 - moment.share) * run.time[moment.frame] + moment.share * run.time[moment.next_frame]
        return f"t = {time:.2f} s"
    return f"stage {moment.shown_frame}"


def bodies_at(run: Run, moment: Moment, exaggerate: float) -> DrawnBodies:
    """The blocks, with the displacements and rotations since the first frame multiplied by `exaggerate`."""
    position, rotation = _interpolated_pose(run, moment)
    if exaggerate != 1.0:
        first = run.state(0)
        turn = quaternion.rotation_vector(quaternion.product(rotation, quaternion.conjugate(first.rotation)))
        position = first.position + exaggerate * (position - first.position)
        rotation = quaternion.product(rotation_quaternions(exaggerate * turn), first.rotation)
    present = present_blocks(run, moment.shown_frame)
    shown = np.ones(len(position), bool) if present is None else present
    return DrawnBodies(run.model.bodies, position, rotation, shown)


def values_at(run: Run, moment: Moment, name: str) -> Array:
    """(B,) one of the `QUANTITIES`; where a block has no value in one of the two frames, the value in the frame shown."""
    shown = _values(run, name, moment.shown_frame)
    if find_quantity(name).categorical or moment.share == 0.0:
        return shown
    between = (1.0 - moment.share) * _values(run, name, moment.frame) + moment.share * _values(run, name, moment.next_frame)
    return np.where(np.isnan(between), shown, between)


def joints_at(run: Run, moment: Moment, drawn: Array) -> Resultants:
    """The resultants of the joints [N] in the frame shown, moved along with the blocks, which are drawn at (B, 3) [m]."""
    resultants = frame_resultants(run, moment.shown_frame)
    recorded = run.position[moment.shown_frame if is_history(run) or analysis_kind(run) in SEQUENTIAL_ANALYSES else 0]
    shift = ((drawn - recorded)[resultants.a] + (drawn - recorded)[resultants.b]) / 2
    return resultants._replace(centre=resultants.centre + shift, middle=resultants.middle + shift)


def rotation_quaternions(vector: Array) -> Array:
    """(B, 4) quaternions of rotation vectors (B, 3)."""
    angle = np.linalg.norm(vector, axis=1, keepdims=True)
    return np.concatenate([np.cos(angle / 2), vector * np.sinc(angle / 2 / np.pi) / 2], axis=1)


def _interpolated_pose(run: Run, moment: Moment) -> tuple[Array, Array]:
    """Positions (B, 3) [m] and quaternions (B, 4), interpolated along straight lines and at a constant angular velocity."""
    position, next_position = run.position[moment.frame], run.position[moment.next_frame]
    start = run.rotation[moment.frame]
    if moment.share == 0.0:
        return position, start
    spin = quaternion.rotation_vector(quaternion.product(run.rotation[moment.next_frame], quaternion.conjugate(start)))
    return position + moment.share * (next_position - position), quaternion.product(
        rotation_quaternions(moment.share * spin), start
    )


@lru_cache(maxsize=4)
def _values(run: Run, name: str, frame: int) -> Array:
    return find_quantity(name).of(run, frame)


@lru_cache(maxsize=8)
def is_history(run: Run) -> bool:
    """Whether the run is a history; otherwise its frames are states of an analysis of statics."""
    return recorded_case(run).goes_through_time


@lru_cache(maxsize=8)
def analysis_kind(run: Run) -> str:
    """The kind of the analysis."""
    return recorded_case(run).analysis.kind

"""Stores the accelerograms of motions in an HDF5 group; they are read back without the files they came from."""

import json
from collections.abc import Sequence
from typing import Any

from drystone.ground.accelerogram import Accelerogram
from drystone.ground.motion import Motion


def write_accelerograms(group: Any, motions: Sequence[Motion]) -> None:
    """Write each accelerogram under the number of its motion, with the list of its processing."""
    for number, motion in enumerate(motions):
        record = motion.record
        if record is not None:
            samples = group.create_dataset(str(number), data=record.acceleration)
            samples.attrs.update(
                name=record.name,
                component=record.component,
                time_step=record.time_step,
                unit_in_file=record.unit_in_file,
                about=json.dumps(dict(record.about)),
                done=json.dumps(record.done),
            )


def read_stored_accelerograms(group: Any) -> dict[int, Accelerogram]:
    """The accelerograms that `write_accelerograms` wrote, by the number of their motion."""
    return {int(number): _read(samples) for number, samples in group.items()}


def _read(samples: Any) -> Accelerogram:
    attributes = samples.attrs
    return Accelerogram(
        name=str(attributes["name"]),
        component=str(attributes["component"]),
        time_step=float(attributes["time_step"]),
        acceleration=samples[:],
        unit_in_file=str(attributes["unit_in_file"]),
        about=json.loads(attributes["about"]),
        done=tuple(json.loads(attributes["done"])),
    )

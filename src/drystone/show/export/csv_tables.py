"""Export of tables: a `Run` comes in, CSV files go out, whose first row has names and units.

`history_rows` has a row per frame and block, `energy_rows` a row per step, and `joint_rows` a row per joint of a frame. Values
are in SI; displacements and rotations are since the first frame and relative to the moving ground, and whole turns are counted;
nan stands for a missing value.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from drystone.base.files.atomic_write import replace_atomically
from drystone.engine.state import Energy
from drystone.results import quantities
from drystone.results.measures import step_history
from drystone.results.store.run_reader import Run, recorded_case, with_totals

Row = Iterable[Any]


def write_table(path: Path, rows: Iterable[Row]) -> None:
    """Write a table; numbers keep all their digits."""
    with replace_atomically(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def history_rows(run: Run, blocks: Sequence[int], frames: Iterable[int]) -> Iterator[Row]:
    """The motion of the blocks."""
    yield ["frame", _axis(run), "block", "name", *_vector("displacement", "m"), *_vector("rotation", "rad"),
           *_vector("velocity", "m/s"), *_vector("angular velocity", "rad/s")]  # fmt: skip
    moved = quantities.displacements(run)
    for frame in frames:
        for block in blocks:
            numbers = [*moved[frame, block].tolist(), *run.velocity[frame, block].tolist()]
            yield [frame, float(run.time[frame]), block, run.model.blocks[block].name, *numbers]


def energy_rows(run: Run) -> Iterator[Row]:
    """The energies at the start and after every step."""
    ledger = with_totals({name: step_history(run, name)[1] for name in Energy._fields})
    yield ["step", _axis(run), *(f"{name} [J]" for name in ledger)]
    time, _ = step_history(run, Energy._fields[0])
    steps = range(len(time))
    yield from zip(steps, time.tolist(), *(values.tolist() for values in ledger.values()), strict=True)


def joint_rows(run: Run, frame: int) -> Iterator[Row]:
    """The forces of the joints; they act on block b."""
    resultants = quantities.frame_resultants(run, frame)
    names = [block.name for block in run.model.blocks]
    yield ["a", "b", "name a", "name b", *_vector("centre", "m"), *_vector("normal", ""), *_vector("force", "N"), "thrust [N]",
           "pressure [Pa]", "area [m2]", "friction used", "eccentricity"]  # fmt: skip
    pressure = quantities.joint_pressures(resultants)
    numbers = np.column_stack(
        [
            resultants.centre,
            resultants.normal,
            resultants.force,
            resultants.thrust,
            pressure,
            resultants.area,
            resultants.friction_used,
            resultants.eccentricity,
        ]
    )
    for a, b, row in zip(resultants.a.tolist(), resultants.b.tolist(), numbers.tolist(), strict=True):
        yield [a, b, names[a], names[b], *row]


def _axis(run: Run) -> str:
    return "time [s]" if recorded_case(run).goes_through_time else "stage"


def _vector(name: str, unit: str) -> list[str]:
    return [f"{name} {axis} [{unit}]" if unit else f"{name} {axis}" for axis in "xyz"]

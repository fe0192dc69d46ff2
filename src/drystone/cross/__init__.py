"""A second opinion on a result: the folder of a run comes in, and what another way of computing it says goes out as facts."""

from pathlib import Path

from drystone.analyse.stages import Stages
from drystone.cross.collapse import cross_collapse
from drystone.cross.histories import cross_history
from drystone.errors import InputError
from drystone.io.analysis_tables import LimitTable, TiltTable
from drystone.record import read_run, recorded_case

__all__ = ["cross"]


def cross(
    folder: str | Path, *, apart: float | None = None, time_step: float | None = None, friction_law: str | None = None
) -> Stages:
    """Histories are followed by the other integrator until the two part; collapse multipliers of `limit` and `tilt` are held
    against each other and against slow histories. The stages go by, and the facts are returned."""
    run = read_run(folder)
    if not isinstance(recorded_case(run).analysis, LimitTable | TiltTable):
        return (yield from cross_history(run, apart=apart, time_step=time_step, friction_law=friction_law))
    if not (apart is time_step is friction_law is None):
        message = "amounts, laws and time steps are of histories; leave them out for a collapse multiplier"
        raise InputError(f"{run.folder}: {message}")
    return (yield from cross_collapse(run))

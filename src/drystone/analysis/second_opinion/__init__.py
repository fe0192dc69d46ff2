"""A second opinion on a result: the result of a run is compared with that of an independent method."""

from pathlib import Path

from drystone.analysis.second_opinion.of_collapse import cross_collapse
from drystone.analysis.second_opinion.of_history import cross_history
from drystone.analysis.stages import Stages
from drystone.base.errors import InputError
from drystone.io.analysis_tables import LimitTable, TiltTable
from drystone.results.store.run_reader import read_run, recorded_case

__all__ = ["second_opinion"]


def second_opinion(
    folder: str | Path, *, apart: float | None = None, time_step: float | None = None, friction_law: str | None = None
) -> Stages:
    """Compare a run with another method. A history is computed with the other integrator until the two differ. A collapse
    multiplier is compared with the other analysis (`limit`, `tilt`) and with slow histories. Yields stages and returns the
    result."""
    run = read_run(folder)
    if not isinstance(recorded_case(run).analysis, LimitTable | TiltTable):
        return (yield from cross_history(run, apart=apart, time_step=time_step, friction_law=friction_law))
    if not (apart is time_step is friction_law is None):
        message = "amounts, laws and time steps apply to histories only; leave them out for a collapse multiplier"
        raise InputError(f"{run.folder}: {message}")
    return (yield from cross_collapse(run))

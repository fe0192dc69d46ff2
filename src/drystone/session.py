"""From a case to a recorded `Run`: the one place where case, model, solver, simulation and record meet.

`run` does all of it; `record` and `resume` are the same as generators of steps already taken into the file, for who wants
to look on (a progress bar is a `for` loop over them). A module of its own, since neither the simulator knows about
cases and files nor the record about solvers.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from drystone.contact.contacts import Contacts, no_contacts
from drystone.contact.detect import detect
from drystone.io.case import Case, parse_case, read_case
from drystone.model import Model
from drystone.record import Run, RunWriter, read_run
from drystone.simulate import Step, ground_displacement, initial_state, simulate
from drystone.solvers import clarabel, native
from drystone.stepping import State


def run(case: Case | str | Path, out: str | Path, *, overwrite: bool = False) -> Run:
    """Compute a case (or the case in a file) and record it in the folder `out`."""
    case = case if isinstance(case, Case) else read_case(case)
    with closing(record(case, out, overwrite=overwrite)) as steps:
        for _ in steps:
            pass
    return read_run(out)


def record(case: Case, out: str | Path, *, overwrite: bool = False) -> Iterator[Step]:
    """The steps of a case, each already taken into the run in `out`. Closing the generator keeps what was computed."""
    model = case.model()
    state = initial_state(model, case.analysis.gravity)
    writer = RunWriter.create(
        out,
        case.text,
        model,
        state,
        every_steps=max(1, round(case.frame_interval / case.analysis.time_step)),
        planned_steps=planned_steps(case),
        ground=_ground(case, 0.0),
        overwrite=overwrite,
    )
    yield from _go_on(case, model, writer, state)


def resume(out: str | Path) -> Iterator[Step]:
    """The steps still missing from the run in `out`, each already taken into it; the same bits as if never stopped."""
    run = read_run(out)
    case = recorded_case(run)
    model = run.model  # not the case's: its files may have moved or changed since
    writer, state = RunWriter.resume(out)
    yield from _go_on(case, model, writer, state)


def recorded_case(run: Run) -> Case:
    """The case a run was computed from."""
    return parse_case(run.case, run.folder / "case.toml")


def planned_steps(case: Case) -> int:
    """How many steps reach the duration, as `simulate` counts them."""
    return round(case.analysis.duration / case.analysis.time_step)


@dataclass(frozen=True)
class Start:
    """What can be told of a case before it is computed."""

    model: Model
    contacts: Contacts  # at the start


def inspect(case: Case) -> Start:
    """The model of a case and its first contacts."""
    model = case.model()
    state = initial_state(model, case.analysis.gravity)
    contacts, _ = detect(
        model.bodies, state.position, state.rotation, state.velocity, case.analysis.time_step, no_contacts(), 0
    )
    return Start(model, contacts)


def _go_on(case: Case, model: Model, writer: RunWriter, state: State) -> Iterator[Step]:
    with writer:
        for step in _simulate(case, model, state):
            writer.add(step, _ground(case, step.state.time))
            yield step


def _simulate(case: Case, model: Model, state: State) -> Iterator[Step]:
    analysis = case.analysis
    return simulate(
        model,
        case.motions,
        duration=analysis.duration,
        time_step=analysis.time_step,
        theta=analysis.theta,
        gyroscopic=analysis.gyroscopic,
        gravity=analysis.gravity,
        young=case.solver.young,
        solver=_solver(case),
        state=state,
    )


def _solver(case: Case) -> Callable:
    """The contact solver that a case asks for."""
    asked = case.solver
    if asked.method == "native":
        return native.native(tolerance=asked.tolerance)
    make = clarabel.kinematic if asked.method == "clarabel-kinematic" else clarabel.static
    return make(accept=asked.tolerance, threads=asked.threads or os.cpu_count() or 1)


def _ground(case: Case, time: float) -> tuple[float, float, float]:
    x, y, z = ground_displacement(case.motions, time)
    return float(x), float(y), float(z)

"""From a case to a recorded `Run`: the one place where case, model, solver, simulation and record meet.

`run` does all of it; `record` and `resume` are the same as generators of steps already taken into the file, for who
wants to look on (a progress bar is a `for` loop over them). A module of its own, since neither the simulator knows
about cases and files nor the record about solvers.
"""

import math
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numba
import numpy as np

from drystone.contact.contacts import Contacts, no_contacts
from drystone.contact.detect import detect
from drystone.io.case import Case, parse_case, read_case
from drystone.joints import Surface
from drystone.model import Model
from drystone.record import Run, RunWriter, read_run
from drystone.simulate import Step, ground_displacement, initial_state, simulate
from drystone.solvers.methods import make_solver
from drystone.stepping import State


def run(case: Case | str | Path, out: str | Path, *, overwrite: bool = False) -> Run:
    """Compute a case (or the case in a file) and record it in the folder `out`."""
    case = case if isinstance(case, Case) else read_case(case)
    with closing(record(case, out, overwrite=overwrite)) as steps:
        for _ in steps:
            pass
    return read_run(out)


def record(case: Case, out: str | Path, *, overwrite: bool = False) -> Generator[Step]:
    """The steps of a case, each already taken into the run in `out`. Closing the generator keeps what was computed."""
    model = case.model()
    state = initial_state(model, case.analysis.gravity)
    writer = RunWriter.create(
        out,
        case.text,
        model,
        state,
        every_steps=_steps_a_frame(case),
        planned_steps=planned_steps(case),
        ground=_ground(case, 0.0),
        overwrite=overwrite,
    )
    yield from _go_on(case, model, writer, state)


def resume(out: str | Path) -> Generator[Step]:
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


def first_facts(case: Case) -> dict[str, Any]:
    """What can be told of a case before it is computed, as plain numbers in SI: what `drystone check --json` prints."""
    model, analysis = case.model(), case.analysis
    contacts = _first_contacts(model, case)
    bodies = model.bodies
    free = ~bodies.fixed
    levels = np.concatenate([block.vertices[:, 2] for block in model.blocks if not block.fixed])
    frictions = model.friction[bodies.group[contacts.a], bodies.group[contacts.b]]
    frictions = frictions if len(frictions) else model.friction
    return {
        "blocks": len(model.blocks),
        "fixed_blocks": int(bodies.fixed.sum()),
        "mass": float(bodies.mass[free].sum()),
        "weight": float(bodies.mass[free].sum() * analysis.gravity),
        "height": float(np.ptp(levels)),
        "contacts": len(contacts.gap),
        "smallest_friction": float(frictions.min()),
        "largest_friction": float(frictions.max()),
        "motions": [motion.pulse for motion in case.motions],
        "duration": analysis.duration,
        "time_step": analysis.time_step,
        "steps": planned_steps(case),
        "frames": 1 + math.ceil(planned_steps(case) / _steps_a_frame(case)),
        "contact": case.solver.contact,
        "method": case.solver.method,
    }


def _first_contacts(model: Model, case: Case) -> Contacts:
    state = initial_state(model, case.analysis.gravity)
    h = case.analysis.time_step
    return detect(model.bodies, state.position, state.rotation, state.velocity, h, no_contacts(), 0)[0]


def _steps_a_frame(case: Case) -> int:
    return max(1, round(case.frame_interval / case.analysis.time_step))


def is_compiled() -> bool:
    """Whether the kernels of a step are in Numba's cache; compiling them takes about a minute."""
    folder = Path(numba.config.CACHE_DIR)  # type: ignore[attr-defined]
    return any(folder.glob("*/stepping.*.nbi"))


def _go_on(case: Case, model: Model, writer: RunWriter, state: State) -> Generator[Step]:
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
        surface=Surface(case.solver.young, case.solver.stiffness, exact=case.joints.friction_law == "coulomb"),
        impact_substeps=analysis.impact_substeps,
        solver=make_solver(case.solver.method, case.solver.tolerance, case.solver.threads),
        state=state,
    )


def _ground(case: Case, time: float) -> tuple[float, float, float]:
    x, y, z = ground_displacement(case.motions, time)
    return float(x), float(y), float(z)

"""`drystone run`: compute a case, or go on with one that was cut."""

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from drystone import session
from drystone.cli.compiling import announce_compiling
from drystone.cli.summary import show_summary
from drystone.cli.words import DONE, INTERRUPTED, NOT_CONVERGED, say
from drystone.errors import InputError
from drystone.forecast import planned_steps
from drystone.io.case import Case, read_case
from drystone.record import read_run, recorded_case
from drystone.simulate import Step
from drystone.solvers.solution import FINER_STEPS, SMALL_STEPS


def run(case: Path | None, out: Path | None, resume: Path | None, force: bool, picture: bool, json: bool) -> int:
    if resume is not None:
        if case is not None or out is not None:
            raise InputError("--resume takes the folder of a run and nothing else: drystone run --resume out")
        what, folder = None, resume
    elif case is None or out is None:
        raise InputError("give a case and a folder: drystone run case.toml -o out")
    else:
        what, folder = read_case(case), out
        if not what.goes_through_time:
            from drystone.cli.statics import analyse

            return analyse(what, folder, force, picture, json)
    closed = [] if what is None else [gap._asdict() for gap in what.closed_gaps()]
    if closed:
        from drystone.view.tables import closed_words

        say(f"gaps that rounding has made in the drawing: {closed_words(closed)}")
    interrupted = _compute(what, folder, force)
    if picture:
        from drystone.view.picture import picture as draw

        draw(read_run(folder), folder / "last.png")
    summary = show_summary(folder, json, {"out": str(folder), "interrupted": interrupted, "closed_gaps": closed})
    if interrupted:
        return INTERRUPTED
    return NOT_CONVERGED if summary["unconverged_steps"] else DONE


def _compute(case: Case | None, folder: Path, force: bool) -> bool:
    """Compute and record; a `case` of None goes on with what is in the folder. True if interrupted by Ctrl-C."""
    what = recorded_case(read_run(folder)) if case is None else case
    steps = session.resume(folder) if case is None else session.record(what, folder, overwrite=force)
    announce_compiling()
    try:
        with closing(steps) as generator:
            _watch(generator, what, planned_steps(what))
    except KeyboardInterrupt:
        if not (folder / "run.h5").exists():
            raise
        say(f"interrupted; what was computed is kept. Go on with: drystone run --resume {folder}")
        return True
    return False


def _watch(steps: Iterable[Step], case: Case, planned: int) -> None:
    """A bar on standard error with simulated time, contacts, how a step went, and time left."""
    columns = (BarColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("starting", total=planned)
        shown = 0.0
        for step in steps:
            if monotonic() - shown < 0.1 and step.state.step < planned:
                continue
            shown = monotonic()
            progress.update(task, completed=step.state.step, description=_status(step, case.history.duration))


def _status(step: Step, duration: float) -> str:
    state, solution = step.state, step.solution
    small_steps = solution.path in (SMALL_STEPS, FINER_STEPS)
    cost = f"{solution.factorisations} small steps" if small_steps else f"residual {solution.residual.error:.0e}"
    return f"t {state.time:.3f} of {duration:g} s  {len(state.contacts.gap)} contacts  {cost}"

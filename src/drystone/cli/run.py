"""`drystone run`: compute a case, or resume one that was interrupted."""

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from drystone.analysis import dynamics
from drystone.analysis.forecast import planned_steps
from drystone.base.errors import InputError
from drystone.cli.compiling_notice import show_compiling_notice
from drystone.cli.output import EXIT_DONE, EXIT_INTERRUPTED, EXIT_NOT_CONVERGED, print_status
from drystone.cli.summary import show_summary
from drystone.engine.simulation import Step
from drystone.engine.solvers.solution import FINER_STEPS, SMALL_STEPS
from drystone.io.case import Case, read_case
from drystone.results.store.run_reader import read_run, recorded_case


def run(case: Path | None, out: Path | None, resume: Path | None, force: bool, picture: bool, json: bool) -> int:
    if resume is not None:
        if case is not None or out is not None:
            raise InputError("--resume takes the folder of a run and no other argument: drystone run --resume out")
        computed, folder = None, resume
    elif case is None or out is None:
        raise InputError("give a case and a folder: drystone run case.toml -o out")
    else:
        computed, folder = read_case(case), out
        if not computed.goes_through_time:
            from drystone.cli.run_statics import analyse

            return analyse(computed, folder, force, picture, json)
    closed_gaps = [] if computed is None else [gap._asdict() for gap in computed.closed_gaps()]
    if closed_gaps:
        from drystone.show.tables.summary_tables import describe_closed_gaps

        print_status(f"gaps that come from rounding in the drawing: {describe_closed_gaps(closed_gaps)}")
    interrupted = _compute(computed, folder, force)
    if picture:
        from drystone.show.pictures.picture import picture as draw

        draw(read_run(folder), folder / "last.png")
    summary = show_summary(folder, json, {"out": str(folder), "interrupted": interrupted, "closed_gaps": closed_gaps})
    if interrupted:
        return EXIT_INTERRUPTED
    return EXIT_NOT_CONVERGED if summary["unconverged_steps"] else EXIT_DONE


def _compute(case: Case | None, folder: Path, force: bool) -> bool:
    """Compute and record a case, or resume the run in the folder if `case` is None; return True if Ctrl-C interrupted it."""
    computed = recorded_case(read_run(folder)) if case is None else case
    steps = dynamics.resume_history(folder) if case is None else dynamics.record_history(computed, folder, overwrite=force)
    show_compiling_notice()
    try:
        with closing(steps) as generator:
            _show_progress(generator, computed, planned_steps(computed))
    except KeyboardInterrupt:
        if not (folder / "run.h5").exists():
            raise
        print_status(f"interrupted; the computed part is kept. Resume with: drystone run --resume {folder}")
        return True
    return False


def _show_progress(steps: Iterable[Step], case: Case, planned: int) -> None:
    """Show simulated time, contacts, the cost of a step and the time left as a progress bar on standard error."""
    columns = (BarColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("starting", total=planned)
        last_update = 0.0
        for step in steps:
            if monotonic() - last_update < 0.1 and step.state.step < planned:
                continue
            last_update = monotonic()
            progress.update(task, completed=step.state.step, description=_status(step, case.history.duration))


def _status(step: Step, duration: float) -> str:
    state, solution = step.state, step.solution
    small_steps = solution.path in (SMALL_STEPS, FINER_STEPS)
    cost = f"{solution.factorisations} small steps" if small_steps else f"residual {solution.residual.error:.0e}"
    return f"t {state.time:.3f} of {duration:g} s  {len(state.contacts.gap)} contacts  {cost}"

"""Commands that compute, or tell what was computed: run, search, info, verify, solve."""

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drystone.cli.words import DONE, INTERRUPTED, NOT_CONVERGED, Json, announce_compiling, app, print_json, say
from drystone.errors import InputError

if TYPE_CHECKING:
    from drystone.analyse.stages import Stage, Stages
    from drystone.io.case import Case
    from drystone.simulate import Step


@app.command()
def run(
    case: Annotated[Path | None, typer.Argument(help="case file (TOML)")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="folder for the run")] = None,
    resume: Annotated[Path | None, typer.Option(help="go on with the run in this folder")] = None,
    force: Annotated[bool, typer.Option("--force", help="overwrite a run")] = False,
    picture: Annotated[bool, typer.Option("--picture", help="also draw: the last frame, or what statics found")] = False,
    json: Json = False,
) -> int:
    """Compute a case, or go on with one that was cut."""
    if resume is not None:
        if case is not None or out is not None:
            raise InputError("--resume takes the folder of a run and nothing else: drystone run --resume out")
        what, folder = None, resume
    elif case is None or out is None:
        raise InputError("give a case and a folder: drystone run case.toml -o out")
    else:
        from drystone.io.case import read_case

        what, folder = read_case(case), out
        if not what.goes_through_time:
            return _analyse(what, folder, force, picture, json)
    interrupted = _compute(what, folder, force)
    if picture:
        from drystone.record import read_run
        from drystone.view.picture import picture as draw

        draw(read_run(folder), folder / "last.png")
    summary = _show(folder, json, {"out": str(folder), "interrupted": interrupted})
    if interrupted:
        return INTERRUPTED
    return NOT_CONVERGED if summary["unconverged_steps"] else DONE


def _analyse(case: "Case", folder: Path, force: bool, picture: bool, json: bool) -> int:
    """A case of statics: its stages on standard error, its facts on standard output."""
    from drystone.analyse.record import read_result, record

    announce_compiling()
    with closing(record(case, folder, overwrite=force)) as stages:
        _watch_stages(stages)
    facts = (read_result(folder) or {}) | {"out": str(folder)}
    if picture:
        from drystone.record import read_run
        from drystone.view.results import result_pictures

        facts["pictures"] = [str(path) for path in result_pictures(read_run(folder), facts)]
    _show_result(facts, json)
    return DONE if facts["converged"] else NOT_CONVERGED


def _show_result(facts: dict[str, Any], json: bool) -> None:
    """Print what an analysis of statics found."""
    from drystone.view.result_tables import print_result

    print_json(facts) if json else print_result(facts)


def _watch_stages(stages: Iterable["Stage"]) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task("starting", total=1.0)
        for stage in stages:
            bar.update(task, completed=stage.share, description=stage.words)


def _compute(case: "Case | None", folder: Path, force: bool) -> bool:
    """Compute and record; a `case` of None goes on with what is in the folder. True if interrupted by Ctrl-C."""
    from drystone import session
    from drystone.record import read_run

    what = session.recorded_case(read_run(folder)) if case is None else case
    steps = session.resume(folder) if case is None else session.record(what, folder, overwrite=force)
    announce_compiling()
    try:
        with closing(steps) as generator:
            _watch(generator, what, session.planned_steps(what))
    except KeyboardInterrupt:
        if not (folder / "run.h5").exists():
            raise
        say(f"interrupted; what was computed is kept. Go on with: drystone run --resume {folder}")
        return True
    return False


def _watch(steps: Iterable["Step"], case: "Case", planned: int) -> None:
    """A bar on standard error with simulated time, contacts, residual and time left."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("starting", total=planned)
        shown = 0.0
        for step in steps:
            if monotonic() - shown < 0.1 and step.state.step < planned:
                continue
            shown = monotonic()
            progress.update(task, completed=step.state.step, description=_status(step, case.history.duration))


def _status(step: "Step", duration: float) -> str:
    state, residual = step.state, step.solution.residual
    return f"t {state.time:.3f} of {duration:g} s  {len(state.contacts.gap)} contacts  residual {residual.error:.0e}"


@app.command()
def search(
    case: Annotated[Path, typer.Argument(help="case file (TOML)")],
    key: Annotated[str, typer.Option(help="the number to vary: table and key, as motion.amplitude or motion.0.amplitude")],
    event: Annotated[str, typer.Option("--for", help="rocking, overturning or standing")],
    between: Annotated[tuple[str, str], typer.Option(help='where it does not happen and where it does: "0.1 g" "0.5 g"')],
    tolerance: Annotated[str, typer.Option(help='how far apart these may be in the end, in the same unit: "0.001 g"')],
    scan: Annotated[int, typer.Option(min=0, help="try this many values between first, and take the lowest change")] = 0,
    json: Json = False,
) -> int:
    """Find the least value for which it rocks, overturns or stands."""
    from drystone.io.case import read_case
    from drystone.search import EVENTS, search, summarise
    from drystone.units import number_and_unit

    announce_compiling()
    unit, trials = number_and_unit(between[0])[1], []
    for trial in search(read_case(case), key, event, between, tolerance, scan=scan):
        say(f"{key} = {f'{trial.value:g} {unit}'.strip()}: {EVENTS[event] if trial.happens else 'does not'}")
        trials.append(trial)
    facts = {"case": str(case), "key": key, "event": event} | summarise(trials, between[0])
    if json:
        print_json(facts)
    else:
        from drystone.view.tables import print_search

        print_search(facts)
    return NOT_CONVERGED if any(trial.unconverged for trial in trials) else DONE


@app.command()
def info(
    folder: Annotated[Path, typer.Argument(help="folder of a run")],
    mechanism: Annotated[bool, typer.Option("--mechanism", help="also how the last frame differs from the first")] = False,
    json: Json = False,
) -> None:
    """Summarise a run."""
    from drystone.analyse.record import read_result
    from drystone.record import read_run

    facts, stamp = read_result(folder), read_run(folder).stamp
    more = {"out": str(folder), "stamp": stamp} | (_mechanism_facts(folder) if mechanism else {})
    if facts is None:
        _show(folder, json, more)
    else:
        _show_result(facts | more, json)


def _mechanism_facts(folder: Path) -> dict[str, Any]:
    """The mechanism of the last frame and its cracks [mm]."""
    from drystone import measure
    from drystone.record import read_run

    found = measure.mechanism(read_run(folder))
    return {"mechanism": found.as_facts(), "cracks": measure.crack_widths(found)}


def _show(folder: Path, json: bool, more: dict[str, Any]) -> dict[str, Any]:
    """Print the summary of a run, and return it."""
    from drystone.loads import pressing
    from drystone.measure import balanced_from, base_resultant, head_joint_openings, summarise
    from drystone.record import read_run
    from drystone.session import recorded_case

    run = read_run(folder)
    case = recorded_case(run)
    summary = summarise(run, loss=case.history.collapse) | more
    if case.analysis.kind == "settlement":
        push = base_resultant(run, case.history.time_step)
        borne = float(pressing(run.model, case.loads, case.analysis.gravity).sum())
        summary["base_resultant"] = {"time": run.time.tolist(), "force": push.tolist(), "weight": borne,
                                     "balanced_from": balanced_from(run.time, push, borne)}  # fmt: skip
        summary["head_joint_openings"] = head_joint_openings(run).tolist()
    if json:
        print_json(summary)
    else:
        from drystone.view.tables import print_summary

        print_summary(summary)
    return summary


@app.command()
def verify(
    folder: Annotated[Path, typer.Argument(help="folder of a run")],
    steps: Annotated[int | None, typer.Option(min=1, help="only so many steps; all if not given")] = None,
    json: Json = False,
) -> int:
    """Compute a run again and compare bit for bit. Exit code 3: other bits. Only what its folder holds is read."""
    from drystone.verify import verify

    announce_compiling()
    facts: dict[str, Any] = {}

    def stages() -> "Stages":
        facts.update((yield from verify(folder, steps=steps)))
        return facts

    with closing(stages()) as followed:
        _watch_stages(followed)
    if json:
        print_json(facts)
    else:
        from drystone.view.tables import print_verification

        print_verification(facts)
    return DONE if facts["same"] else NOT_CONVERGED


@app.command()
def solve(
    file: Annotated[Path, typer.Argument(help="FCLIB (HDF5), siconos (.dat), or a failed step of a run (.npz)")],
    method: Annotated[str | None, typer.Option(help="native if not given, or that of the run")] = None,
    tolerance: Annotated[float | None, typer.Option(help="1e-6 if not given, or that of the run")] = None,
    law: Annotated[str | None, typer.Option(help="associated or coulomb; the file's if not given")] = None,
    output: Annotated[Path | None, typer.Option(help="write reaction and velocity of the contacts (.npz)")] = None,
    json: Json = False,
) -> int:
    """Solve one contact problem from a file."""
    from drystone.solve import save_answer, solve_file

    announce_compiling()
    answer = solve_file(file, method=method, tolerance=tolerance, law=law)
    if output is not None:
        save_answer(output, answer)
    if json:
        print_json(answer.facts)
    else:
        from drystone.view.tables import print_answer

        print_answer(answer.facts)
    return DONE if answer.good else NOT_CONVERGED

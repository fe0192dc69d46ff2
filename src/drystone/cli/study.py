"""`drystone study`: a case tried many times."""

import json as json_format
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from drystone.cli.compiling import announce_compiling
from drystone.cli.words import DONE, INTERRUPTED, NOT_CONVERGED, cores, print_json, say
from drystone.errors import InputError
from drystone.io.alone import alone_in
from drystone.io.whole import write_whole
from drystone.record import read_result, read_run
from drystone.study.begin import Begun, begin, begin_again, keep_texts
from drystone.study.dask_workers import DaskWorkers
from drystone.study.process_workers import ProcessWorkers
from drystone.study.run import run_study
from drystone.study.table import RESULT, Row, TrialTable, read_row
from drystone.study.trial import Keeping, try_sample
from drystone.study.trials import FAILED
from drystone.study.workers import SerialWorkers, compile_kernels
from drystone.view.picture import picture as draw
from drystone.view.results import result_pictures
from drystone.view.studies import study_pictures
from drystone.view.study_page import study_page
from drystone.view.study_tables import print_study, print_trial


def study(
    source: Path | None, out: Path | None, resume: Path | None, retry: bool, jobs: int | None, scheduler: str | None,
    full: bool, plot: bool, trial: str | None, picture: bool, json: bool,
) -> int:  # fmt: skip
    if trial is not None:
        if source is None or out is None:
            raise InputError("give the folder of the study and one for the run: drystone study --trial KEY out -o run")
        return _record_trial(source, trial, out, picture, json)
    if resume is not None:
        if source is not None or out is not None or full:
            raise InputError("--resume takes the folder of a study and no file: drystone study --resume out")
        begun, folder = begin_again(resume), resume
    elif source is None or out is None:
        raise InputError("give a study file and a folder: drystone study study.toml -o out")
    else:
        begun, folder = begin(source, full=full), out
    with alone_in(folder):
        facts, rows = _conduct(begun, folder, jobs, scheduler, retry)
    if plot:
        facts["pictures"] = _draw(facts, rows, folder)
    print_json(facts) if json else print_study(facts)
    if facts["interrupted"]:
        return INTERRUPTED
    return NOT_CONVERGED if facts["trials"]["failed"] else DONE


def _conduct(
    begun: Begun, folder: Path, jobs: int | None, scheduler: str | None, retry: bool
) -> tuple[dict[str, Any], list[Row]]:
    """Run what is missing; the facts of the study and its rows."""
    keep_texts(begun, folder)
    table = TrialTable(folder, begun.key_of, retry=retry)
    _tell_what_is_there(table)
    interrupted = False
    try:
        if _something_to_do(begun, table):
            with _workers(begun, folder, jobs, scheduler) as workers, closing(run_study(begun.study, table, workers)) as rows:
                _watch(rows, begun, table)
    except KeyboardInterrupt:
        interrupted = True
        say(f"interrupted; all trials that ended are kept. Go on with: drystone study --resume {folder}")
    finally:
        table.close()
    found = begun.study.facts(table.trials)
    write_whole(folder / RESULT, json_format.dumps(found, indent=2))
    facts = {
        "study": str(begun.file.path),
        "kind": begun.file.table.kind,
        "out": str(folder),
        "interrupted": interrupted,
        "trials": table.counts(),
        "expected": begun.study.expected(table.trials),
        "found": found,
    }
    return facts, table.rows()


def _tell_what_is_there(table: TrialTable) -> None:
    if table.torn:
        say(f"{table.folder}: the last row was cut in writing and is dropped; its trial is computed anew")
    if table.others:
        say(f"{table.folder}: {table.others} rows do not count: the case, a file it names or drystone has changed since, or "
            "they failed and are to be tried again")  # fmt: skip
    if len(table.trials):
        say(f"{table.folder}: {len(table.trials)} trials are there already")


def _something_to_do(begun: Begun, table: TrialTable) -> bool:
    return any(table.trials.outcome(sample) is None for sample in begun.study.propose(table.trials))


def _workers(
    begun: Begun, folder: Path, jobs: int | None, scheduler: str | None
) -> SerialWorkers | ProcessWorkers | DaskWorkers:
    """Those asked for; by default one a core."""
    task = begun.task(folder)
    if scheduler is not None:
        return DaskWorkers(task, scheduler)
    jobs = jobs or cores()
    announce_compiling()
    if jobs == 1:
        return SerialWorkers(task)
    compile_kernels(begun.case)
    return ProcessWorkers(task, jobs)


def _watch(rows: Iterable[Row], begun: Begun, table: TrialTable) -> None:
    """A bar on standard error with trials done, their rate, failures and time left."""
    columns, console = (BarColumn(), TextColumn("{task.description}"), TimeRemainingColumn()), Console(stderr=True)
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("starting", total=begun.study.expected(table.trials), completed=len(table.trials))
        start = monotonic()
        for done, row in enumerate(rows, 1):
            expected, counts = begun.study.expected(table.trials), table.counts()
            told = f"{counts['all']} of {expected} trials, {60 * done / (monotonic() - start):.3g} a minute"
            told += f", {counts['failed']} failed" if counts["failed"] else ""
            progress.update(bar, completed=counts["all"], total=expected, description=told)
            if not console.is_terminal:  # a log, as of a batch job
                say(f"{told}: {row.key} {row.outcome.status} after {row.outcome.seconds:.3g} s")


def _record_trial(folder: Path, key: str, out: Path, picture: bool, json: bool) -> int:
    """From a point of a study to its run."""
    if out.exists():
        raise InputError(f"{out} exists; give a new folder for the run")
    begun, row = begin_again(folder), read_row(folder, key)
    announce_compiling()
    outcome = try_sample(begun.case.text, begun.case.path, row.sample, keeping=Keeping(out))
    facts: dict[str, Any] = {"key": row.key, "sample": dict(row.sample), **outcome._asdict(), "out": str(out)}
    facts["as_in_the_table"] = outcome._replace(seconds=0.0) == row.outcome._replace(seconds=0.0)
    if picture and outcome.status != FAILED:
        facts["pictures"] = _pictures(out)
    print_json(facts) if json else print_trial(facts)
    return NOT_CONVERGED if outcome.status == FAILED else DONE


def _pictures(folder: Path) -> list[str]:
    """Of a run: its last frame, or what statics found."""
    run, found = read_run(folder), read_result(folder)
    if found is not None:
        return [str(path) for path in result_pictures(run, found)]
    draw(run, folder / "last.png")
    return [str(folder / "last.png")]


def _draw(facts: dict[str, Any], rows: list[Row], folder: Path) -> list[str]:
    """The pictures of a study, and the page that has them and all trials."""
    pictures = study_pictures(facts["kind"], facts["found"], folder)
    return [str(path) for path in (*pictures, study_page(facts, rows, pictures, folder))]

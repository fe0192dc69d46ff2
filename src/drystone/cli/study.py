"""`drystone study`: compute a case many times."""

import json as json_format
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from drystone.base.cores import available_cores
from drystone.base.errors import InputError
from drystone.base.files.atomic_write import write_atomic
from drystone.base.files.folder_lock import lock_folder
from drystone.cli.compiling_notice import show_compiling_notice
from drystone.cli.output import EXIT_DONE, EXIT_INTERRUPTED, EXIT_NOT_CONVERGED, print_json, print_status
from drystone.results.store.run_reader import read_result, read_run
from drystone.show.pictures.analysis_pictures import result_pictures
from drystone.show.pictures.picture import picture as draw
from drystone.show.plots.study_plots import study_pictures
from drystone.show.report.study_page import study_page
from drystone.show.tables.study_tables import print_study, print_trial
from drystone.study.dask_workers import DaskWorkers
from drystone.study.loop import run_study
from drystone.study.preparation import PreparedStudy, prepare_study, resume_study, write_manifest
from drystone.study.process_workers import ProcessWorkers
from drystone.study.trial import Recording, run_trial
from drystone.study.trial_records import FAILED
from drystone.study.trial_table import RESULT_FILE, TrialRow, TrialTable, read_row
from drystone.study.workers import SerialWorkers, compile_kernels


def study(
    source: Path | None, out: Path | None, resume: Path | None, retry: bool, jobs: int | None, scheduler: str | None,
    full: bool, plot: bool, trial: str | None, picture: bool, json: bool,
) -> int:  # fmt: skip
    if trial is not None:
        if source is None or out is None:
            raise InputError("give the folder of the study and a folder for the run: drystone study --trial KEY out -o run")
        return _record_trial(source, trial, out, picture, json)
    if resume is not None:
        if source is not None or out is not None or full:
            raise InputError("--resume takes the folder of a study and no study file: drystone study --resume out")
        prepared, folder = resume_study(resume), resume
    elif source is None or out is None:
        raise InputError("give a study file and a folder: drystone study study.toml -o out")
    else:
        prepared, folder = prepare_study(source, full=full), out
    with lock_folder(folder):
        summary, rows = _run_or_resume(prepared, folder, jobs, scheduler, retry)
    if plot:
        summary["pictures"] = _draw(summary, rows, folder)
    print_json(summary) if json else print_study(summary)
    if summary["interrupted"]:
        return EXIT_INTERRUPTED
    return EXIT_NOT_CONVERGED if summary["trials"]["failed"] else EXIT_DONE


def _run_or_resume(
    prepared: PreparedStudy, folder: Path, jobs: int | None, scheduler: str | None, retry: bool
) -> tuple[dict[str, Any], list[TrialRow]]:
    """Compute the trials that are missing; return the summary of the study and its rows."""
    write_manifest(prepared, folder)
    table = TrialTable(folder, prepared.key_of, retry=retry)
    _report_kept_trials(table)
    interrupted = False
    try:
        if _trials_missing(prepared, table):
            selected = _workers(prepared, folder, jobs, scheduler)
            with selected as workers, closing(run_study(prepared.study, table, workers)) as rows:
                _show_progress(rows, prepared, table)
    except KeyboardInterrupt:
        interrupted = True
        print_status(f"interrupted; all finished trials are kept. Resume with: drystone study --resume {folder}")
    finally:
        table.close()
    result = prepared.study.result(table.trials)
    write_atomic(folder / RESULT_FILE, json_format.dumps(result, indent=2))
    summary = {
        "study": str(prepared.file.path),
        "kind": prepared.file.table.kind,
        "out": str(folder),
        "interrupted": interrupted,
        "trials": table.counts(),
        "expected": prepared.study.expected(table.trials),
        "found": result,
    }
    return summary, table.rows()


def _report_kept_trials(table: TrialTable) -> None:
    if table.torn:
        print_status(f"{table.folder}: the last row was only partly written and is dropped; its trial is computed again")
    if table.others:
        print_status(f"{table.folder}: {table.others} rows are not used: the case, a file that it names or drystone has "
                     "changed since, or the trials failed and are to be computed again")  # fmt: skip
    if len(table.trials):
        print_status(f"{table.folder}: {len(table.trials)} trials have already been computed")


def _trials_missing(prepared: PreparedStudy, table: TrialTable) -> bool:
    return any(table.trials.outcome(sample) is None for sample in prepared.study.propose(table.trials))


def _workers(
    prepared: PreparedStudy, folder: Path, jobs: int | None, scheduler: str | None
) -> SerialWorkers | ProcessWorkers | DaskWorkers:
    """Return the workers that the options select; by default one per core."""
    task = prepared.task(folder)
    if scheduler is not None:
        return DaskWorkers(task, scheduler)
    jobs = jobs or available_cores()
    show_compiling_notice()
    if jobs == 1:
        return SerialWorkers(task)
    compile_kernels(prepared.case)
    return ProcessWorkers(task, jobs)


def _show_progress(rows: Iterable[TrialRow], prepared: PreparedStudy, table: TrialTable) -> None:
    """Show finished trials, their rate, failures and the time left as a progress bar on standard error."""
    columns, console = (BarColumn(), TextColumn("{task.description}"), TimeRemainingColumn()), Console(stderr=True)
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("starting", total=prepared.study.expected(table.trials), completed=len(table.trials))
        start = monotonic()
        for done, row in enumerate(rows, 1):
            expected, counts = prepared.study.expected(table.trials), table.counts()
            status = f"{counts['all']} of {expected} trials, {60 * done / (monotonic() - start):.3g} per minute"
            status += f", {counts['failed']} failed" if counts["failed"] else ""
            progress.update(bar, completed=counts["all"], total=expected, description=status)
            if not console.is_terminal:  # a log file, as in a batch job
                print_status(f"{status}: {row.key} {row.outcome.status} after {row.outcome.seconds:.3g} s")


def _record_trial(folder: Path, key: str, out: Path, picture: bool, json: bool) -> int:
    """Compute a trial of a study again as a recorded run."""
    if out.exists():
        raise InputError(f"{out} exists; give a new folder for the run")
    prepared, row = resume_study(folder), read_row(folder, key)
    show_compiling_notice()
    outcome = run_trial(prepared.case.text, prepared.case.path, row.sample, recording=Recording(out))
    summary: dict[str, Any] = {"key": row.key, "sample": dict(row.sample), **outcome._asdict(), "out": str(out)}
    summary["as_in_the_table"] = outcome._replace(seconds=0.0) == row.outcome._replace(seconds=0.0)
    if picture and outcome.status != FAILED:
        summary["pictures"] = _draw_run(out)
    print_json(summary) if json else print_trial(summary)
    return EXIT_NOT_CONVERGED if outcome.status == FAILED else EXIT_DONE


def _draw_run(folder: Path) -> list[str]:
    """Draw the last frame of a run, or the result of statics; return the paths."""
    run, result = read_run(folder), read_result(folder)
    if result is not None:
        return [str(path) for path in result_pictures(run, result)]
    draw(run, folder / "last.png")
    return [str(folder / "last.png")]


def _draw(summary: dict[str, Any], rows: list[TrialRow], folder: Path) -> list[str]:
    """Draw the pictures of a study and write the page that shows them with all trials; return the paths."""
    pictures = study_pictures(summary["kind"], summary["found"], folder)
    return [str(path) for path in (*pictures, study_page(summary, rows, pictures, folder))]

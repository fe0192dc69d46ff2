"""Compute subjects and keep their results: a subject and a folder come in, a `SubjectResult` goes out, and a file.

    H3.json     the numbers, the time that they took, the date and the machine
    H3/arch/    a run or study from which the numbers and figures are taken

An interrupted run or study is resumed, so Ctrl-C loses no more than one frame or one trial.
"""

import json
import os
import platform
import tomllib
from collections import deque
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from drystone import __version__
from drystone.analysis.dynamics import resume_history, run
from drystone.analysis.statics_run import record_statics
from drystone.base.files.atomic_write import write_atomic
from drystone.base.files.folder_lock import lock_folder
from drystone.base.files.reading import read_own_json
from drystone.io.case import Case, parse_case
from drystone.results.store.run_reader import FILE, Run, read_result, read_run
from drystone.study.loop import run_study
from drystone.study.preparation import prepare_study, write_manifest
from drystone.study.trial_key import self_contained_case
from drystone.study.trial_table import TRIALS_FILE, TrialTable, read_rows
from drystone.study.workers import SerialWorkers
from drystone.validation.claims import Subject, Value, Workspace

CASE_PATH = Path("case.toml")  # the name that errors give to a case without a file


class SubjectResult(NamedTuple):
    """The result of a subject."""

    numbers: dict[str, Value]  # by the names of the claims
    seconds: float  # of computing, including runs and trials that were already kept
    date: str
    drystone: str  # version
    machine: str


def conduct(subject: Subject, folder: Path, data: Path | None = None, *, again: bool = False) -> SubjectResult:
    """Compute the numbers of a subject and keep them. `again`: compute everything anew, even what is kept."""
    if again:
        _delete_results(subject, folder)
    folder.mkdir(parents=True, exist_ok=True)
    start = perf_counter()
    workspace = workspace_of(subject, folder, data)
    numbers = subject.compute(workspace)
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    result = SubjectResult(
        numbers, max(perf_counter() - start, _seconds_spent(workspace.folder)), date, __version__, _machine()
    )
    write_atomic(folder / f"{subject.id}.json", json.dumps(result._asdict(), indent=2))
    return result


def read_subject_result(subject: Subject, folder: Path) -> SubjectResult | None:
    """Read a kept result of this version of drystone; None if there is none or a claim has no value in it."""
    path = folder / f"{subject.id}.json"
    if not path.exists():
        return None
    kept = SubjectResult(**read_own_json(path))
    answered = all(claim.name in kept.numbers for claim in subject.claims)
    return kept if answered and kept.drystone == __version__ else None


def workspace_of(subject: Subject, folder: Path, data: Path | None) -> Workspace:
    return Workspace(folder / subject.id, data)


def compute_history(text: str, folder: Path, overrides: Mapping[str, Any] | None = None) -> Run:
    """Return the run of a case: read it if it is complete, resume it if it was interrupted, or compute it. `overrides`: values
    that replace those of the text, by keys such as "motion.amplitude"."""
    case = parse_case(self_contained_case(text, CASE_PATH, overrides or {}), CASE_PATH)
    if _is_run_of(case, folder):
        if not read_run(folder).finished:
            deque(resume_history(folder), maxlen=0)
        return read_run(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    return run(case, folder, overwrite=True)


def compute_statics(text: str, folder: Path) -> dict[str, Any]:
    """Return the result of an analysis of statics: read it if it is kept, otherwise compute it."""
    case = parse_case(text, CASE_PATH)
    if not _is_run_of(case, folder) or read_result(folder) is None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        deque(record_statics(case, folder, overwrite=True), maxlen=0)
    return read_result(folder) or {}


def compute_study(text: str, case: str, folder: Path) -> dict[str, Any]:
    """Return the result of a study of a case. Trials that its folder holds are not computed again."""
    inputs = folder / "given"
    inputs.mkdir(parents=True, exist_ok=True)
    write_atomic(inputs / "case.toml", case)
    write_atomic(inputs / "study.toml", text)
    prepared = prepare_study(inputs / "study.toml")
    with lock_folder(folder):
        write_manifest(prepared, folder)
        table = TrialTable(folder, prepared.key_of)
        try:
            with SerialWorkers(prepared.task(folder)) as workers, closing(run_study(prepared.study, table, workers)) as rows:
                deque(rows, maxlen=0)
        finally:
            table.close()
    return prepared.study.result(table.trials)


def _is_run_of(case: Case, folder: Path) -> bool:
    """Return whether a folder holds a run of a case by this version; comments and the order of tables do not matter."""
    if not (folder / FILE).exists():
        return False
    kept = read_run(folder)
    return tomllib.loads(kept.case) == tomllib.loads(case.text) and kept.version == __version__


def _seconds_spent(folder: Path) -> float:
    """Return the time [s] that all runs and trials of a subject took."""
    runs = sum(read_run(path.parent).steps["seconds"].sum() for path in folder.glob(f"*/{FILE}"))
    return float(runs + sum(row.outcome.seconds for path in folder.glob(f"*/{TRIALS_FILE}") for row in read_rows(path.parent)))


def _delete_results(subject: Subject, folder: Path) -> None:
    """Delete the numbers of a subject and the runs and trials from which they were taken."""
    runs, trials = ((folder / subject.id).glob(f"*/{name}") for name in (FILE, TRIALS_FILE))
    for path in (folder / f"{subject.id}.json", *runs, *trials):
        path.unlink(missing_ok=True)


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"

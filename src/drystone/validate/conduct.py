"""Subjects computed and kept: a subject and a folder come in, a `Result` goes out, which is also in the folder.

    H3.json     the numbers, how long they took, when and where
    H3/arch/    a run that they were read from, or a study, which the figures show

A run or a study that was cut is gone on with; so Ctrl-C loses no more than a frame or a trial.
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
from drystone.analyse.record import record_statics
from drystone.io.alone import alone_in
from drystone.io.case import Case, parse_case
from drystone.io.given import read_json
from drystone.io.whole import write_whole
from drystone.record import FILE, Run, read_result, read_run
from drystone.session import resume_history, run
from drystone.study.begin import prepare_study, write_manifest
from drystone.study.content import self_contained_case
from drystone.study.run import run_study
from drystone.study.table import TRIALS_FILE, TrialTable, read_rows
from drystone.study.workers import SerialWorkers
from drystone.validate.claims import Subject, Value, Workspace

CASE_PATH = Path("case.toml")  # what errors would call a case that is in no file


class SubjectResult(NamedTuple):
    """What a subject came to."""

    numbers: dict[str, Value]  # by the names of the claims
    seconds: float  # of computing; of runs and trials that were there already too
    date: str
    drystone: str  # version
    machine: str


def conduct(subject: Subject, folder: Path, data: Path | None = None, *, again: bool = False) -> SubjectResult:
    """The numbers of a subject, computed and kept. `again`: from the beginning, whatever runs there are."""
    if again:
        _delete_results(subject, folder)
    folder.mkdir(parents=True, exist_ok=True)
    begin = perf_counter()
    workspace = workspace_of(subject, folder, data)
    numbers = subject.compute(workspace)
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    result = SubjectResult(
        numbers, max(perf_counter() - begin, _seconds_spent(workspace.folder)), date, __version__, _machine()
    )
    write_whole(folder / f"{subject.id}.json", json.dumps(result._asdict(), indent=2))
    return result


def read_subject_result(subject: Subject, folder: Path) -> SubjectResult | None:
    """What is kept of this version of drystone; None if a claim is not answered by it."""
    path = folder / f"{subject.id}.json"
    if not path.exists():
        return None
    kept = SubjectResult(**read_json(path))
    answered = all(claim.name in kept.numbers for claim in subject.claims)
    return kept if answered and kept.drystone == __version__ else None


def workspace_of(subject: Subject, folder: Path, data: Path | None) -> Workspace:
    return Workspace(folder / subject.id, data)


def compute_history(text: str, folder: Path, overrides: Mapping[str, Any] | None = None) -> Run:
    """The run of a case: read if it is there whole, gone on with if it was cut, and computed if it is not there. `instead`:
    values in place of the text's, as "motion.amplitude"."""
    case = parse_case(self_contained_case(text, CASE_PATH, overrides or {}), CASE_PATH)
    if _is_run_of(case, folder):
        if not read_run(folder).finished:
            deque(resume_history(folder), maxlen=0)
        return read_run(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    return run(case, folder, overwrite=True)


def compute_statics(text: str, folder: Path) -> dict[str, Any]:
    """What an analysis of statics finds: read if its result is there, and computed if it is not."""
    case = parse_case(text, CASE_PATH)
    if not _is_run_of(case, folder) or read_result(folder) is None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        deque(record_statics(case, folder, overwrite=True), maxlen=0)
    return read_result(folder) or {}


def compute_study(text: str, case: str, folder: Path) -> dict[str, Any]:
    """What a study of a case finds. Trials that its folder has are not computed again."""
    given = folder / "given"
    given.mkdir(parents=True, exist_ok=True)
    write_whole(given / "case.toml", case)
    write_whole(given / "study.toml", text)
    begun = prepare_study(given / "study.toml")
    with alone_in(folder):
        write_manifest(begun, folder)
        table = TrialTable(folder, begun.key_of)
        try:
            with SerialWorkers(begun.task(folder)) as workers, closing(run_study(begun.study, table, workers)) as rows:
                deque(rows, maxlen=0)
        finally:
            table.close()
    return begun.study.result(table.trials)


def _is_run_of(case: Case, folder: Path) -> bool:
    """Whatever the comments and the order of its tables."""
    if not (folder / FILE).exists():
        return False
    kept = read_run(folder)
    return tomllib.loads(kept.case) == tomllib.loads(case.text) and kept.version == __version__


def _seconds_spent(folder: Path) -> float:
    """[s] that the runs and trials of a subject took, whenever that was."""
    runs = sum(read_run(path.parent).steps["seconds"].sum() for path in folder.glob(f"*/{FILE}"))
    return float(runs + sum(row.outcome.seconds for path in folder.glob(f"*/{TRIALS_FILE}") for row in read_rows(path.parent)))


def _delete_results(subject: Subject, folder: Path) -> None:
    """The numbers, and the runs and trials that they come from."""
    runs, trials = ((folder / subject.id).glob(f"*/{name}") for name in (FILE, TRIALS_FILE))
    for path in (folder / f"{subject.id}.json", *runs, *trials):
        path.unlink(missing_ok=True)


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"

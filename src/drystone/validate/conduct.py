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
from drystone.analyse.record import record
from drystone.io.alone import alone_in
from drystone.io.case import Case, parse_case
from drystone.io.given import read_json
from drystone.io.whole import write_whole
from drystone.record import FILE, Run, read_run
from drystone.record import read_result as read_facts
from drystone.session import resume, run
from drystone.study.begin import begin, keep_texts
from drystone.study.content import own_text
from drystone.study.run import run_study
from drystone.study.table import ROWS, TrialTable, read_rows
from drystone.study.workers import SerialWorkers
from drystone.validate.claims import Place, Subject, Value

CASE = Path("case.toml")  # what errors would call a case that is in no file


class Result(NamedTuple):
    """What a subject came to."""

    numbers: dict[str, Value]  # by the names of the claims
    seconds: float  # of computing; of runs and trials that were there already too
    date: str
    drystone: str  # version
    machine: str


def conduct(subject: Subject, folder: Path, data: Path | None = None, *, again: bool = False) -> Result:
    """The numbers of a subject, computed and kept. `again`: from the beginning, whatever runs there are."""
    if again:
        _forget(subject, folder)
    folder.mkdir(parents=True, exist_ok=True)
    begin = perf_counter()
    place = place_of(subject, folder, data)
    numbers = subject.compute(place)
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    result = Result(numbers, max(perf_counter() - begin, _spent(place.folder)), date, __version__, _machine())
    write_whole(folder / f"{subject.id}.json", json.dumps(result._asdict(), indent=2))
    return result


def read_result(subject: Subject, folder: Path) -> Result | None:
    """What is kept of this version of drystone; None if a claim is not answered by it."""
    path = folder / f"{subject.id}.json"
    if not path.exists():
        return None
    kept = Result(**read_json(path))
    answered = all(claim.name in kept.numbers for claim in subject.claims)
    return kept if answered and kept.drystone == __version__ else None


def place_of(subject: Subject, folder: Path, data: Path | None) -> Place:
    return Place(folder / subject.id, data)


def history(text: str, folder: Path, instead: Mapping[str, Any] | None = None) -> Run:
    """The run of a case: read if it is there whole, gone on with if it was cut, and computed if it is not there. `instead`:
    values in place of the text's, as "motion.amplitude"."""
    case = parse_case(own_text(text, CASE, instead or {}), CASE)
    if _is_run_of(case, folder):
        if not read_run(folder).finished:
            deque(resume(folder), maxlen=0)
        return read_run(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    return run(case, folder, overwrite=True)


def statics(text: str, folder: Path) -> dict[str, Any]:
    """What an analysis of statics finds: read if its result is there, and computed if it is not."""
    case = parse_case(text, CASE)
    if not _is_run_of(case, folder) or read_facts(folder) is None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        deque(record(case, folder, overwrite=True), maxlen=0)
    return read_facts(folder) or {}


def study(text: str, case: str, folder: Path) -> dict[str, Any]:
    """What a study of a case finds. Trials that its folder has are not computed again."""
    given = folder / "given"
    given.mkdir(parents=True, exist_ok=True)
    write_whole(given / "case.toml", case)
    write_whole(given / "study.toml", text)
    begun = begin(given / "study.toml")
    with alone_in(folder):
        keep_texts(begun, folder)
        table = TrialTable(folder, begun.key_of)
        try:
            with SerialWorkers(begun.task(folder)) as workers, closing(run_study(begun.study, table, workers)) as rows:
                deque(rows, maxlen=0)
        finally:
            table.close()
    return begun.study.facts(table.trials)


def _is_run_of(case: Case, folder: Path) -> bool:
    """Whatever the comments and the order of its tables."""
    if not (folder / FILE).exists():
        return False
    kept = read_run(folder)
    return tomllib.loads(kept.case) == tomllib.loads(case.text) and kept.version == __version__


def _spent(folder: Path) -> float:
    """[s] that the runs and trials of a subject took, whenever that was."""
    runs = sum(read_run(path.parent).steps["seconds"].sum() for path in folder.glob(f"*/{FILE}"))
    return float(runs + sum(row.outcome.seconds for path in folder.glob(f"*/{ROWS}") for row in read_rows(path.parent)))


def _forget(subject: Subject, folder: Path) -> None:
    """The numbers, and the runs and trials that they come from."""
    runs, trials = ((folder / subject.id).glob(f"*/{name}") for name in (FILE, ROWS))
    for path in (folder / f"{subject.id}.json", *runs, *trials):
        path.unlink(missing_ok=True)


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"

"""Prepare a study from a study file, or from the folder of an earlier one.

The folder keeps the text of the study file and of the case, and where they came from. A study can therefore be resumed with
the same input even if the original files have changed since; relative paths still refer to the folder of the originals.
"""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from drystone.base.errors import InputError
from drystone.base.files.atomic_write import report_write_errors, write_atomic
from drystone.base.files.reading import read_own_json, read_utf8
from drystone.io.case import Case, parse_case, read_case
from drystone.io.study_file import StudyFile, parse_study
from drystone.io.table_base import Table
from drystone.results.store.stamp import make_stamp
from drystone.study.failure_domain import FailureDomainTable
from drystone.study.fragility import FragilityTable
from drystone.study.sweep import SweepTable
from drystone.study.trial_key import trial_key
from drystone.study.trial_records import Sample, Study
from drystone.study.workers import Task

STUDY_KINDS: dict[str, type[Table]] = {"failure-domain": FailureDomainTable, "fragility": FragilityTable, "sweep": SweepTable}


class PreparedStudy(NamedTuple):
    """A study that is ready to run."""

    file: StudyFile
    case: Case
    study: Study
    key_of: Callable[[Sample], str]

    def task(self, folder: Path) -> Task:
        """What all trials share; `folder` is the folder of the study's table."""
        keep = self.file.conduct.keep
        runs = None if keep == "none" else (folder / "runs").resolve()
        return Task(self.case.text, self.case.path.resolve(), self.file.conduct.time_limit, runs, keep == "collapsed")


def prepare_study(path: str | Path, *, full: bool = False) -> PreparedStudy:
    """Read a study file and its case."""
    file = parse_study(read_utf8(path), path, STUDY_KINDS, full=full)
    return _prepared_study(file, read_case(file.case_path))


def resume_study(folder: str | Path) -> PreparedStudy:
    """Read the study that a folder holds."""
    folder = Path(folder)
    if not (folder / "study.json").exists():
        raise InputError(f"{folder}: holds no study; give the folder that drystone study FILE -o has made")
    manifest = read_own_json(folder / "study.json")
    kinds = {"study": str, "case": str, "full": bool}
    if not isinstance(manifest, dict) or not all(isinstance(manifest.get(key), kind) for key, kind in kinds.items()):
        raise InputError(
            f"{folder / 'study.json'}: does not say which files the study was started from; start it again with its file"
        )
    file = parse_study(read_utf8(folder / "study.toml"), manifest["study"], STUDY_KINDS, full=manifest["full"])
    return _prepared_study(file, parse_case(read_utf8(folder / "case.toml"), manifest["case"]))


def _prepared_study(file: StudyFile, case: Case) -> PreparedStudy:
    study = file.table.begin(case, file.path.parent)
    return PreparedStudy(file, case, study, partial(trial_key, case.text, case.path))


def write_manifest(prepared: PreparedStudy, folder: Path) -> None:
    """Write into the folder which study and case it belongs to. Each start or resumption adds a stamp of the program and
    files."""
    manifest_path, case = folder / "study.json", prepared.case
    with report_write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    stamps = json.loads(read_utf8(manifest_path)).get("stamps", []) if manifest_path.exists() else []
    manifest = {"study": str(prepared.file.path.resolve()), "case": str(case.path.resolve()), "full": prepared.file.full,
             "stamps": [*stamps, make_stamp(case.text, case.path, case.blocks(), case.motions)]}  # fmt: skip
    write_atomic(folder / "study.toml", prepared.file.text)
    write_atomic(folder / "case.toml", prepared.case.text)
    write_atomic(manifest_path, json.dumps(manifest, indent=2))

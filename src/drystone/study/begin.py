"""What a study begins from: a study file, or the folder of a study begun, comes in; the checked file and its case go out.

A folder keeps the texts of both and where they came from, so that a study goes on as it was begun whatever became of its files;
paths in them are still those beside the originals.
"""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from drystone.errors import InputError
from drystone.io.case import Case, parse_case, read_case
from drystone.io.given import read_json, read_text
from drystone.io.study import StudyFile, parse_study
from drystone.io.whole import write_whole, writing
from drystone.stamp import stamp
from drystone.study.content import trial_key
from drystone.study.kinds import STUDY_KINDS
from drystone.study.trials import Sample, Study
from drystone.study.workers import Task


class PreparedStudy(NamedTuple):
    """A study that is ready to run."""

    file: StudyFile
    case: Case
    study: Study
    key_of: Callable[[Sample], str]

    def task(self, folder: Path) -> Task:
        """What its trials share when its table is in `folder`."""
        keep = self.file.conduct.keep
        runs = None if keep == "none" else (folder / "runs").resolve()
        return Task(self.case.text, self.case.path.resolve(), self.file.conduct.time_limit, runs, keep == "collapsed")


def prepare_study(path: str | Path, *, full: bool = False) -> PreparedStudy:
    """From a study file."""
    file = parse_study(read_text(path), path, STUDY_KINDS, full=full)
    return _prepared_study(file, read_case(file.case_path))


def resume_study(folder: str | Path) -> PreparedStudy:
    """From the folder of a study."""
    folder = Path(folder)
    if not (folder / "study.json").exists():
        raise InputError(f"{folder}: holds no study; give the folder that drystone study FILE -o made")
    manifest = read_json(folder / "study.json")
    kinds = {"study": str, "case": str, "full": bool}
    if not isinstance(manifest, dict) or not all(isinstance(manifest.get(key), kind) for key, kind in kinds.items()):
        raise InputError(f"{folder / 'study.json'}: does not tell what the study was begun from; begin it anew, with its file")
    file = parse_study(read_text(folder / "study.toml"), manifest["study"], STUDY_KINDS, full=manifest["full"])
    return _prepared_study(file, parse_case(read_text(folder / "case.toml"), manifest["case"]))


def _prepared_study(file: StudyFile, case: Case) -> PreparedStudy:
    study = file.table.begin(case, file.path.parent)
    return PreparedStudy(file, case, study, partial(trial_key, case.text, case.path))


def write_manifest(prepared: PreparedStudy, folder: Path) -> None:
    """Let the folder know what it is the study of, and with what program and files each sitting went on with it."""
    manifest_path, case = folder / "study.json", prepared.case
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    stamps = json.loads(read_text(manifest_path)).get("stamps", []) if manifest_path.exists() else []
    manifest = {"study": str(prepared.file.path.resolve()), "case": str(case.path.resolve()), "full": prepared.file.full,
             "stamps": [*stamps, stamp(case.text, case.path, case.blocks(), case.motions)]}  # fmt: skip
    write_whole(folder / "study.toml", prepared.file.text)
    write_whole(folder / "case.toml", prepared.case.text)
    write_whole(manifest_path, json.dumps(manifest, indent=2))

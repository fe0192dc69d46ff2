"""Reads a study file, TOML with the table [study]: returns the checked table of its kind, or raises one `InputError` that lists
every problem in the file with its line.

    [study]                  kind, case, time_limit, keep, and the keys of the kind
    [study.full]             keys that replace those of [study] when the full study is requested
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from drystone.base.errors import InputError, truncated_repr
from drystone.base.units import Time
from drystone.io.table_base import Table
from drystone.io.toml_problems import InputProblem, KeyPath, describe_error, format_problems, read_toml


class Conduct(Table):
    """How a study of any kind is conducted."""

    time_limit: Annotated[Time, Field(gt=0)] = math.inf  # [s] of computing time for one trial
    keep: Literal["none", "collapsed", "all"] = "none"  # the trials whose runs are stored


@dataclass(frozen=True)
class StudyFile:
    """A checked study file, with the text it was read from."""

    path: Path
    text: str
    full: bool
    conduct: Conduct
    table: Any  # the table of its kind

    @property
    def case_path(self) -> Path:
        return self.path.parent / self.table.case


def parse_study(text: str, path: str | Path, kinds: Mapping[str, type[Table]], *, full: bool = False) -> StudyFile:
    """Parse a study from `text`; its case is searched beside `path`. full: use the keys of [study.full]."""
    path, content = Path(path), read_toml(text, path)
    problems = [InputProblem((name,), "is not a table of a study", value=name, accepted=("study",))
                for name in content if name != "study"]  # fmt: skip
    content_of_study = content.get("study")
    if not isinstance(content_of_study, dict):
        raise InputError(f"{path}: study: is missing; write a table [study] with kind and case")
    full_keys = content_of_study.pop("full", {})
    if full and not full_keys:
        raise InputError(f"{path}: has no table [study.full]; add one with the keys that change, or leave out --full")
    if not isinstance(full_keys, dict):
        raise InputError(f"{path}: study.full is {truncated_repr(full_keys)}; write it as a table, [study.full]")
    keys = content_of_study | full_keys if full else content_of_study
    kind = keys.get("kind")
    if kind not in tuple(kinds):
        problems.append(InputProblem(("study", "kind"), "is not a kind of study", value=kind, accepted=tuple(kinds)))
        raise InputError(format_problems(problems, text, path, "study"))
    common = {key: value for key, value in keys.items() if key in Conduct.model_fields}
    changed = tuple(full_keys) if full else ()
    conduct = _read(Conduct, common, changed, problems)
    table = _read(kinds[kind], {key: value for key, value in keys.items() if key not in common}, changed, problems)
    if problems:
        raise InputError(format_problems(problems, text, path, "study"))
    return StudyFile(path, text, full, conduct, table)


def _read(table: type[Table], content: dict[str, Any], changed: tuple[str, ...], problems: list[InputProblem]) -> Any:
    """The validated table; None if it has problems, which are added to `problems` with their place in the file."""
    try:
        return table.model_validate(content)
    except ValidationError as error:
        for each in error.errors():
            within: KeyPath = ("study", "full") if each["loc"] and each["loc"][0] in changed else ("study",)
            problems.append(describe_error(each, table, within))
        return None

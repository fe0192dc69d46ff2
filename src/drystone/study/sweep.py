"""Sweeps: a case is computed with every combination of given values of its keys.

>>> combinations({"joints.friction": [0.5, 0.7], "structure.height": ["1 m", "2 m"]})[1]
{'joints.friction': 0.5, 'structure.height': '2 m'}
>>> combinations({"joints.friction": [0.5, 0.7], "structure.height": ["1 m", "2 m"]}, together=True)
[{'joints.friction': 0.5, 'structure.height': '1 m'}, {'joints.friction': 0.7, 'structure.height': '2 m'}]
"""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from drystone.base.errors import InputError
from drystone.io.case import Case, parse_case
from drystone.io.table_base import Table
from drystone.study.trial_records import Sample, Trials, sample_text

Values = Annotated[list[Any], Field(min_length=1)]  # as a case file has them


class SweepTable(Table):
    """[study] of this kind."""

    kind: Literal["sweep"]
    case: str  # path, relative to the study file
    vary: Annotated[dict[str, Values], Field(min_length=1)]  # by key of the case: {"motion.amplitude" = ["0.2 g", "0.3 g"]}
    together: bool = False  # the first values of all keys, then the second values of all ...; else every combination

    @model_validator(mode="after")
    def _check_counts(self) -> Self:
        combinations(self.vary, together=self.together)
        return self

    def begin(self, case: Case, folder: Path) -> "Sweep":
        samples = combinations(self.vary, together=self.together)
        parse_case(case.text, case.path, samples[0])  # an unknown key is reported now and not by every trial
        return Sweep(samples)


def combinations(vary: Mapping[str, Sequence[Any]], *, together: bool = False) -> list[Sample]:
    """The samples of all combinations, with the last key changing fastest; `together` steps through all lists at once."""
    if together and len({len(values) for values in vary.values()}) > 1:
        counts = ", ".join(f"{key} {len(values)}" for key, values in vary.items())
        raise InputError(f"together takes as many values of each: {counts}; give as many, or remove together")
    rows = zip(*vary.values(), strict=True) if together else product(*vary.values())
    return [dict(zip(vary, row, strict=True)) for row in rows]


class Sweep:
    """All samples, known from the start."""

    def __init__(self, samples: Sequence[Sample]):
        self._samples = samples

    def propose(self, trials: Trials) -> Sequence[Sample]:
        return self._samples

    def expected(self, trials: Trials) -> int:
        missing = {sample_text(sample) for sample in self._samples if trials.outcome(sample) is None}
        return len(trials) + len(missing)

    def result(self, trials: Trials) -> dict[str, Any]:
        done = [(sample, trials.outcome(sample)) for sample in self._samples]
        return {"rows": [{"sample": sample, "outcome": outcome._asdict()} for sample, outcome in done if outcome is not None]}

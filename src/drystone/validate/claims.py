"""What was published and what comes out here: claims and our numbers come in, rows with a verdict go out.

    holds      within the tolerance of what was published
    explained  beyond it, but within the same tolerance of the value that the claim's explanation is about
    fails      neither: either the engine has changed or the explanation is not true any more

>>> claim = Claim("round", "multiplier, round voussoirs", "g", 0.444, 5e-4, "printed to three digits")
>>> judge(claim, 0.4442).verdict, judge(claim, 0.4471).verdict
('holds', 'fails')
>>> judge(claim._replace(ours=0.447, explanation="straight sides lower the centroids"), 0.4471).verdict
'explained'
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

Value = float | str  # a number, or what is said to happen

HOLDS, EXPLAINED, FAILS = "holds", "explained", "fails"


class Claim(NamedTuple):
    """One published number or outcome."""

    name: str  # under which it is computed
    words: str
    unit: str
    published: Value
    tolerance: float = 0.0  # in the unit; outcomes are the same or not
    why: str = ""  # this tolerance
    ours: Value | None = None  # where it is known not to be the published one
    explanation: str = ""  # why it is not


class Workspace(NamedTuple):
    """Where a subject works."""

    folder: Path  # for its runs
    data: Path | None  # published layouts and measurements, which are not part of drystone


class Figure(NamedTuple):
    file: str  # beside the page
    caption: str


def no_figures(workspace: Workspace, out: Path) -> list[Figure]:
    return []


class Subject(NamedTuple):
    """Claims that are computed together."""

    id: str
    title: str
    source: str  # paper, section, figure
    about: str  # what is computed, for the page
    claims: tuple[Claim, ...]
    compute: Callable[[Workspace], dict[str, Value]]  # a value for the name of every claim
    draw: Callable[[Workspace, Path], list[Figure]] = no_figures  # after `compute`, into a folder
    quick: bool = True  # otherwise it takes part in --full only
    needs: str = ""  # a file of the data


class Row(NamedTuple):
    """A claim beside what was computed."""

    claim: Claim
    computed: Value
    verdict: str

    @property
    def difference(self) -> float | None:
        """In the unit; None of outcomes."""
        if isinstance(self.computed, str) or isinstance(self.claim.published, str):
            return None
        return self.computed - self.claim.published


def judge(claim: Claim, computed: Value) -> Row:
    if _agree(computed, claim.published, claim.tolerance):
        return Row(claim, computed, HOLDS)
    explained = claim.ours is not None and _agree(computed, claim.ours, claim.tolerance)
    return Row(claim, computed, EXPLAINED if explained else FAILS)


def judge_all(subject: Subject, numbers: Mapping[str, Value]) -> list[Row]:
    return [judge(claim, numbers[claim.name]) for claim in subject.claims]


def _agree(one: Value, other: Value, tolerance: float) -> bool:
    """A number that is none, nan, agrees with nothing."""
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return abs(one - other) <= tolerance * (1 + 1e-12)

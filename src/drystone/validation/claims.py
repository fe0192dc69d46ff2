"""Published numbers beside computed ones: claims and computed numbers come in, rows with a verdict go out.

    holds      the computed number is within the tolerance of the published one
    explained  it is not, but it is within the same tolerance of the value that the explanation of the claim is about
    fails      neither: either the engine has changed, or the explanation no longer applies

>>> claim = Claim("round", "multiplier, round voussoirs", "g", 0.444, 5e-4, "printed to three digits")
>>> judge_claim(claim, 0.4442).verdict, judge_claim(claim, 0.4471).verdict
('holds', 'fails')
>>> judge_claim(claim._replace(ours=0.447, explanation="straight sides lower the centroids"), 0.4471).verdict
'explained'
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

Value = float | str  # a number, or an outcome in words

HOLDS, EXPLAINED, FAILS = "holds", "explained", "fails"


class Claim(NamedTuple):
    """One published number or outcome."""

    name: str  # the key of the computed value
    words: str
    unit: str
    published: Value
    tolerance: float = 0.0  # in the unit; outcomes have no tolerance
    why: str = ""  # the reason for the tolerance
    ours: Value | None = None  # the computed value, if it is known to differ from the published one
    explanation: str = ""  # why it differs


class Workspace(NamedTuple):
    """The folders of a subject."""

    folder: Path  # for its runs
    data: Path | None  # published layouts and measurements, which are not part of drystone


class Figure(NamedTuple):
    file: str  # in the folder of the page
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
    compute: Callable[[Workspace], dict[str, Value]]  # one value for the name of every claim
    draw: Callable[[Workspace, Path], list[Figure]] = no_figures  # called after `compute`; draws into a folder
    quick: bool = True  # False: computed by --full only
    needs: str = ""  # a file in the folder of the data


class Row(NamedTuple):
    """A claim beside what was computed."""

    claim: Claim
    computed: Value
    verdict: str

    @property
    def difference(self) -> float | None:
        """The difference in the unit of the claim; None for an outcome in words."""
        if isinstance(self.computed, str) or isinstance(self.claim.published, str):
            return None
        return self.computed - self.claim.published


def judge_claim(claim: Claim, computed: Value) -> Row:
    """Compare a computed value with its claim."""
    if _agree(computed, claim.published, claim.tolerance):
        return Row(claim, computed, HOLDS)
    explained = claim.ours is not None and _agree(computed, claim.ours, claim.tolerance)
    return Row(claim, computed, EXPLAINED if explained else FAILS)


def judge_claims(subject: Subject, numbers: Mapping[str, Value]) -> list[Row]:
    return [judge_claim(claim, numbers[claim.name]) for claim in subject.claims]


def _agree(one: Value, other: Value, tolerance: float) -> bool:
    """Return whether two values agree. NaN agrees with nothing."""
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return abs(one - other) <= tolerance * (1 + 1e-12)

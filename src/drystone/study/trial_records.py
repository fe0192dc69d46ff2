"""Samples, outcomes and the protocol of a study. A sample is what a trial changes in the case: {"motion.amplitude": "0.8 g"}.

A study is a pure function of its trials so far: it proposes the samples to compute. The loop that runs it calls `propose` again
whenever a trial has ended, and stops when every proposed sample has an outcome. A study can therefore be interrupted and
resumed at any point, and its trials may end in any order."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

Sample = Mapping[str, Any]  # values as a case file has them

COLLAPSED, STANDING, FAILED = "collapsed", "standing", "failed"
DURATION_OVER = "the duration is over"  # the reason of a history whose outcome was not known earlier
MOVING_AWAY_SHARE = 0.98  # of the largest displacement: a structure that ends with more is taken to be moving away


class Outcome(NamedTuple):
    """The outcome of a trial."""

    status: str  # COLLAPSED, STANDING, or FAILED if it is not known which of the two
    reason: str  # how it ended ("came to rest", "the duration is over", ...) or what failed
    numbers: Mapping[str, float | None]  # measured numbers in SI units, by name
    seconds: float  # [s] time of the computation


def is_unfinished(outcome: Outcome) -> bool:
    """Whether a structure that counts as standing may be falling: the duration was over while it was still moving away
    (T108)."""
    residual, peak = (outcome.numbers.get(name) or 0.0 for name in ("residual_displacement", "peak_displacement"))
    return outcome.status == STANDING and outcome.reason.startswith(DURATION_OVER) and 0 < MOVING_AWAY_SHARE * peak < residual


class Trials:
    """Outcomes by sample. The order of a sample's keys does not matter; 1 and 1.0 are two samples."""

    def __init__(self) -> None:
        self._rows: dict[str, tuple[Sample, Outcome]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, sample: Sample, outcome: Outcome) -> None:
        self._rows[sample_text(sample)] = (sample, outcome)

    def outcome(self, sample: Sample) -> Outcome | None:
        """The outcome of a sample; None if it was not computed yet."""
        row = self._rows.get(sample_text(sample))
        return None if row is None else row[1]

    def rows(self) -> list[tuple[Sample, Outcome]]:
        """All rows, sorted by the text of their samples, so that the order does not depend on which trial ended first."""
        return [self._rows[key] for key in sorted(self._rows)]


def sample_text(sample: Sample) -> str:
    """A sample as one line of text, the same for equal samples."""
    return json.dumps(sample, sort_keys=True, separators=(",", ":"), allow_nan=False)


class Study(Protocol):
    """A kind of study: which samples to compute, and the result of their outcomes. It does not compute them."""

    def propose(self, trials: Trials) -> Sequence[Sample]:
        """All samples that should be computed as far as is known now, the most urgent first. Samples that have an outcome
        already may be among them. The study is complete when all of them have one."""

    def expected(self, trials: Trials) -> int:
        """The expected total number of trials, as far as is known now."""

    def result(self, trials: Trials) -> dict[str, Any]:
        """The result, as plain numbers in SI units."""

"""What was tried and what came of it. A sample is what a trial changes in the case, by place: {"motion.amplitude": "0.8 g"}.

A study is a pure function from the trials so far to the samples wanted: whoever runs it calls `propose` again whenever a trial
has ended, and is done when nothing is proposed that is not there. So a study can be cut and started again at any point, and
its trials may end in any order.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

Sample = Mapping[str, Any]  # values as a case file has them

COLLAPSED, STANDING, FAILED = "collapsed", "standing", "failed"
DURATION_OVER = "the duration is over"  # the reason of a history that was not decided before
MOVING_AWAY_SHARE = 0.98  # share of the largest displacement: who ends with more is taken to move on


class Outcome(NamedTuple):
    """What a trial came to."""

    status: str  # COLLAPSED, STANDING, or FAILED: it is not known which
    reason: str  # how it ended: "came to rest", "the duration is over", ... or what failed
    numbers: Mapping[str, float | None]  # what was measured, in SI, by names that say what
    seconds: float  # [s] it took to compute


def is_unfinished(outcome: Outcome) -> bool:
    """Whether a structure that counts as standing may have been falling: time ran out while it was still moving away (T108)."""
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
        """None if it was not tried yet."""
        row = self._rows.get(sample_text(sample))
        return None if row is None else row[1]

    def rows(self) -> list[tuple[Sample, Outcome]]:
        """All, in the order of the samples' text, which is the same however they were computed."""
        return [self._rows[key] for key in sorted(self._rows)]


def sample_text(sample: Sample) -> str:
    """A sample as one line, the same for the same changes."""
    return json.dumps(sample, sort_keys=True, separators=(",", ":"), allow_nan=False)


class Study(Protocol):
    """What a kind of study knows; running it is not its business."""

    def propose(self, trials: Trials) -> Sequence[Sample]:
        """All that should be tried as far as can be told now, in the order of urgency; those tried already may be among
        them. Done when all of them are."""

    def expected(self, trials: Trials) -> int:
        """How many trials it will be in all, as far as can be told now."""

    def result(self, trials: Trials) -> dict[str, Any]:
        """What was found, as plain numbers in SI."""

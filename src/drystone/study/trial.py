"""One trial of a study: a case with a sample inserted is computed and gives an `Outcome`, whatever happens.

A history is computed in memory until the structure has collapsed (its potential energy has dropped by the share
`analysis.collapse`), has come to rest after its motions, has come to rest earlier and can bear the rest of the motions, or
until its duration is over. An analysis of statics gives its scalar results. A mistake in the sample, an error of the program or
a computation that takes too long gives a failed outcome with the reason."""

import math
import shutil
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from drystone.analysis import dynamics
from drystone.analysis import statics_run as statics
from drystone.analysis.stages import Stage
from drystone.base.errors import InputError
from drystone.engine.simulation import Step
from drystone.engine.state import State
from drystone.io.case import Case, parse_case
from drystone.structure.model import Model
from drystone.study.at_rest import AtRest
from drystone.study.motion_remainder import RemainingMotionCheck
from drystone.study.trial_key import self_contained_case, start_key
from drystone.study.trial_records import COLLAPSED, DURATION_OVER, FAILED, STANDING, Outcome, Sample

UNCONVERGED_SHARE = 0.01  # the reason mentions steps that did not converge if their share is larger than this
MULTIPLIER_KEYS = ("multiplier_safe", "multiplier_from_rest", "multiplier_upper", "multiplier")  # of the weakest direction
GENERAL_KEYS = ("blocks", "fixed_blocks", "weight", "seconds")  # of every result of statics; they are not results of the trial

TrialFindings = tuple[str, str, Mapping[str, float | None]]  # status, reason, numbers


class Recording(NamedTuple):
    """Where the run of a trial is recorded, and whether it is kept if the structure stands."""

    out: Path
    only_collapsed: bool = False


def run_trial(
    case_text: str, case_path: str | Path, sample: Sample, *, limit: float = math.inf, recording: Recording | None = None
) -> Outcome:
    """Compute the case with this sample. limit [s]: the longest time that the computation may take."""
    started = perf_counter()
    if recording is not None:
        recording.out.parent.mkdir(parents=True, exist_ok=True)
    try:
        status, reason, numbers = _run_case(case_text, Path(case_path), sample, started + limit, recording)
    except InputError as error:
        status, reason, numbers = FAILED, str(error), {}
    except Exception as error:  # an error in one trial must not end the study
        status, reason, numbers = FAILED, f"{type(error).__name__}: {error}", {}
    if recording is not None and recording.only_collapsed and status != COLLAPSED:
        shutil.rmtree(recording.out, ignore_errors=True)
    return Outcome(status, reason, {name: _finite_number(value) for name, value in numbers.items()}, perf_counter() - started)


def _run_case(text: str, path: Path, sample: Sample, deadline: float, recording: Recording | None) -> TrialFindings:
    case = parse_case(text, path, sample)
    out = None if recording is None else recording.out
    if out is not None:
        case = parse_case(
            self_contained_case(text, path, sample), out / "case.toml"
        )  # the recorded run has a case file of its own
    if not case.goes_through_time:
        return _run_statics(case, out, deadline)
    model = case.model()
    return _run_history(case, model, _start_state(case, model, start_key(text, path, sample)), out, deadline)


_cached_start: dict[str, State] = {}  # the initial state of the last history in this process, by its key


def _start_state(case: Case, model: Model, key: str) -> State:
    """The initial state of a history. It is reused if the case differs from the one before only in its motions."""
    if key not in _cached_start:
        state = dynamics.start_state(case, model)
        _cached_start.clear()
        _cached_start[key] = state
    return _cached_start[key]


def _run_history(case: Case, model: Model, start: State, out: Path | None, deadline: float) -> TrialFindings:
    """Compute a history until its outcome is known."""
    peaks = _HistoryPeaks(model, start, case.output.monitor)
    at_rest, can_bear_rest = AtRest(case, model), RemainingMotionCheck(case, model)
    collapse_energy = (1 - case.history.collapse) * start.energy.potential
    steps = (dynamics.simulate_case(case, model, start, dynamics.case_solver(case), tells_contacts=False) if out is None
             else dynamics.record_history(case, out, overwrite=True))  # fmt: skip
    status, reason = STANDING, DURATION_OVER
    with closing(steps):  # type: ignore[type-var]  # a generator, by name an iterator
        for step in steps:
            peaks.add(step)
            if not np.isfinite(step.state.velocity).all():
                status, reason = FAILED, f"step {step.state.step} is not finite"
            elif step.state.energy.potential < collapse_energy:
                status, reason = COLLAPSED, "the potential energy has fallen"
            elif at_rest(step.state):
                reason = "came to rest"
            elif can_bear_rest(step.state):
                reason = "came to rest, and bears the rest of the motion"
            elif perf_counter() > deadline:
                status, reason = FAILED, f"cut at {step.state.time:g} s: it took longer than the limit"
            else:
                continue
            break
    return status, reason + peaks.convergence_note(), peaks.numbers(status)


class _HistoryPeaks:
    """The largest movements of a history, collected step by step."""

    def __init__(self, model: Model, start: State, monitored: Sequence[str]):
        self._start, self._last = start, start
        self._free = ~model.bodies.fixed
        self._furthest = np.zeros(len(start.position))  # [m] of each block
        self._tilt, self._steps, self._unconverged = 0.0, 0, 0
        self._monitored = {name: model.block_numbers[name] for name in monitored}

    def add(self, step: Step) -> None:
        self._last = step.state
        self._furthest = np.maximum(self._furthest, self._moved())
        self._tilt = max(self._tilt, largest_tilt(step.state))
        self._steps += 1
        self._unconverged += not step.solution.converged

    def _moved(self) -> np.ndarray:
        """(B,) [m] displacement since the start, relative to the ground."""
        return np.linalg.norm(self._last.position - self._start.position, axis=1)

    def convergence_note(self) -> str:
        """A note if many steps did not converge, else an empty string."""
        few = self._unconverged <= UNCONVERGED_SHARE * self._steps
        return "" if few else f"; {self._unconverged} of {self._steps} steps did not converge"

    def numbers(self, status: str) -> dict[str, float | None]:
        return {
            "time": self._last.time,
            "collapse_time": self._last.time if status == COLLAPSED else None,
            "peak_displacement": float(self._furthest[self._free].max()),
            "residual_displacement": float(self._moved()[self._free].max()),
            "peak_tilt": self._tilt,
            "steps": self._steps,
            "unconverged": self._unconverged,
            **{f"peak_displacement {name}": float(self._furthest[i]) for name, i in self._monitored.items()},
        }


def largest_tilt(state: State) -> float:
    """[rad] The largest angle, over all blocks, between the vertical axis of a block at the start and now."""
    return float(2 * np.arcsin(np.minimum(np.hypot(state.rotation[:, 1], state.rotation[:, 2]), 1.0)).max())


def _run_statics(case: Case, out: Path | None, deadline: float) -> TrialFindings:
    """Compute an analysis of statics."""
    result: dict[str, Any] = {}

    def stages() -> Generator[Stage]:
        steps = statics.analyse_case(case, case.model()) if out is None else statics.record_statics(case, out, overwrite=True)
        result.update((yield from steps))

    with closing(stages()) as followed:
        for stage in followed:
            if perf_counter() > deadline:
                return FAILED, f"cut at {stage.words!r}: it took longer than the limit", {}
    numbers = _scalar_results(result)
    if not result["converged"]:
        return FAILED, "the analysis was not solved", numbers
    stands = result["stable"] if "stable" in result else (numbers.get("multiplier") or 0.0) > 0
    reason = result.get("note") or result.get("words") or ("in balance" if stands else "does not stand")
    return (STANDING if stands else COLLAPSED), reason, numbers


def _scalar_results(result: dict[str, Any]) -> dict[str, float | None]:
    """The scalar numbers of a result of statics, with angles in rad; for a capacity those of the weakest direction."""
    if result.get("weakest"):
        weakest = result["weakest"]
        result = result | {name: weakest.get(name) for name in MULTIPLIER_KEYS}
        result = result | {"direction": math.radians(weakest["direction_deg"])}
    result = result | {name: math.radians(result[name]) for name in ("angle", "angle_safe") if result.get(name) is not None}
    return {name: value for name, value in result.items() if (value is None or isinstance(value, bool | int | float))
            and name not in GENERAL_KEYS}  # fmt: skip


def _finite_number(value: float | None) -> float | None:
    """A number as tables have it: finite or None; true and false are 1 and 0."""
    return None if value is None or not math.isfinite(value) else int(value) if isinstance(value, bool | int) else float(value)

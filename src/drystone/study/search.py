"""Find by bisection the smallest value of a number in a case at which an event happens.

`search` tries both ends, which must bracket the event, and halves the bracket until it is shorter than the tolerance. Every
trial is a run in memory that ends as soon as its outcome is known. The event need not be monotone: overturning by a pulse may
come and go with its amplitude. Bisection then finds one of the changes; `scan` first tries some values, from the lowest
upwards, and takes the lowest change among them.

    rocking      some block has tilted by more than ROCKING_TILT
    overturning  the potential energy has dropped by the share `analysis.collapse`, or some block has tilted beyond return
    standing     the structure bears its weight (statics)
"""

from collections.abc import Generator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from drystone.analysis.dynamics import case_solver, simulate_case, start_state
from drystone.analysis.statics.standing import try_standing
from drystone.base.errors import InputError, did_you_mean
from drystone.base.units import split_number_and_unit
from drystone.engine.state import State
from drystone.io.case import Case, parse_case
from drystone.structure.loads import loads_at
from drystone.study.at_rest import AtRest
from drystone.study.trial import largest_tilt

EVENT_VERBS = {"rocking": "rocks", "overturning": "overturns", "standing": "stands"}
ROCKING_TILT = 1e-3  # [rad] a larger tilt is motion; a wall at rest close to its limit tilts by 1e-12
OVERTURNING_TILT = 1.0  # [rad] a block that tilts by more is assumed not to come back


class SearchTrial(NamedTuple):
    """The outcome of one value."""

    value: float  # in the unit of the ends
    happens: bool
    time: float | None  # [s] simulated time until the event, or until it could no longer happen; None for statics
    unconverged: int  # steps that did not converge


def search(
    case: Case, key: str, event: str, between: tuple[str, str], tolerance: str, *, scan: int = 0
) -> Generator[SearchTrial]:
    """Trials until the bracket is within the tolerance; `summarise_search` reads the result. The ends and the tolerance are
    numbers with the same unit, such as "0.2 g"; `key` names a value of the case, such as "motion.0.amplitude"."""
    if event not in EVENT_VERBS:
        raise InputError(f"{event!r} is no event{did_you_mean(event, EVENT_VERBS)}; look for {', '.join(EVENT_VERBS)}")
    (low, high, tolerance_value), unit = _numbers_and_unit(*between, tolerance)
    if not (low < high and tolerance_value > 0):
        raise InputError(f"search between {between[0]!r} and {between[1]!r} within {tolerance!r}: give the lower end first and "
                         "a tolerance above 0")  # fmt: skip
    low, high = yield from _bracket(case, key, event, low, high, unit, scan)
    while high - low > tolerance_value * (1 + 1e-9):
        middle = 0.5 * (low + high)
        trial = _run_trial(case, key, event, middle, unit)
        yield trial
        low, high = (low, middle) if trial.happens else (middle, high)


def summarise_search(trials: list[SearchTrial], like: str) -> dict[str, Any]:
    """The result as plain numbers in the unit of `like`, which is one of the ends: what `drystone search --json` prints."""
    lowest = min(trial.value for trial in trials if trial.happens)
    return {
        "value": lowest,
        "does_not": max(trial.value for trial in trials if trial.value < lowest),
        "unit": split_number_and_unit(like)[1],
        "note": "a boundary by bisection; there may be others where no trial was made",
        "trials": [trial._asdict() for trial in trials],
    }


def _numbers_and_unit(*texts: str) -> tuple[list[float], str]:
    """The numbers and their common unit, which is empty if there is none."""
    numbers, units = zip(*(split_number_and_unit(text) for text in texts), strict=True)
    if len(set(units)) > 1:
        raise InputError(f"search: {', '.join(texts)} have different units; give both ends and the tolerance in one")
    return list(numbers), units[0]


def _bracket(
    case: Case, key: str, event: str, low: float, high: float, unit: str, scan: int
) -> Generator[SearchTrial, None, tuple[float, float]]:
    """The first two neighbouring values, among the ends and the scanned values, between which the event starts to happen."""
    first = _run_trial(case, key, event, low, unit)
    yield first
    if first.happens:
        raise InputError(
            f"{key} = {_case_value(low, unit)}: the structure {EVENT_VERBS[event]} already; give a lower first value"
        )
    for before, value in pairwise(np.linspace(low, high, scan + 2).tolist()):
        trial = _run_trial(case, key, event, value, unit)
        yield trial
        if trial.happens:
            return before, value
    raise InputError(
        f"{key}: up to {_case_value(high, unit)} the structure never {EVENT_VERBS[event]}; give a higher last value, a longer "
        "duration, or scan the values between"
    )


def _case_value(value: float, unit: str) -> Any:
    """A value as a case file has it."""
    return f"{value!r} {unit}" if unit else value


def _run_trial(case: Case, key: str, event: str, value: float, unit: str) -> SearchTrial:
    changed = parse_case(case.text, case.path, {key: _case_value(value, unit)})
    return _try_standing(changed, value) if event == "standing" else _try_history(changed, event, value)


def _try_standing(case: Case, value: float) -> SearchTrial:
    loads = loads_at(case.loads, 0.0)
    trial = try_standing(case.model(), gravity=case.analysis.gravity, loads=loads, young=case.young)
    return SearchTrial(value, trial.stands, None, int(not trial.finite))


def _try_history(case: Case, event: str, value: float) -> SearchTrial:
    """Compute a history until the event happens, the structure is at rest, or the duration is over."""
    model = case.model()
    start = start_state(case, model)
    at_rest, time, unconverged = AtRest(case, model), 0.0, 0
    for step in simulate_case(case, model, start, case_solver(case)):
        state, time = step.state, step.state.time
        unconverged += not step.solution.converged
        if _rocks(state) if event == "rocking" else _overturns(state, start, case.history.collapse):
            return SearchTrial(value, True, time, unconverged)
        if at_rest(state):
            break
    return SearchTrial(value, False, time, unconverged)


def _rocks(state: State) -> bool:
    return largest_tilt(state) > ROCKING_TILT


def _overturns(state: State, start: State, loss: float) -> bool:
    return state.energy.potential < (1 - loss) * start.energy.potential or largest_tilt(state) > OVERTURNING_TILT

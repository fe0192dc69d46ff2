"""Failure domains: the half-periods and amplitudes of its pulse for which a case collapses (NB section 4.5.2).

Every combination of a direction (the sign of the amplitude) and of the values in `vary` has one column per half-period, and all
columns have the same amplitudes. `method = "grid"` tries all of them. `method = "trace"` tries only those that are needed to
find where each column turns from standing to collapse and back (T106): some columns are scanned from the lowest to the highest
amplitude, and the others start from the result of their neighbours. All amplitudes belong to the grid, so that the two methods
share their trials."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import BeforeValidator, Field

from drystone.analysis.stages import dead_and_live_loads
from drystone.analysis.statics.balance import assemble_balance
from drystone.analysis.statics.collapse_multiplier import solve_limit
from drystone.base.errors import InputError
from drystone.base.json_numbers import finite_or_none
from drystone.base.units import Count, parse_quantity
from drystone.ground.motion import Motion, last_motion_end
from drystone.io.case import Case, parse_case
from drystone.io.table_base import Table
from drystone.study.boundary_trace import (
    done_neighbours,
    evenly_spread_levels,
    initial_levels_between,
    next_levels,
    transitions,
)
from drystone.study.sweep import Values, combinations
from drystone.study.trial_records import COLLAPSED, FAILED, Sample, Trials, is_unfinished, sample_text

SIGN_FACTORS = {"+": 1.0, "-": -1.0}


def _read_values(spec: Any, dimension: str) -> Any:
    """The values of a list, or of a range {from, to} with a `count` or a relative `resolution`; they must be positive and
    rise."""
    if isinstance(spec, Mapping):
        spec = _values_of_range(spec, dimension)
    elif not isinstance(spec, Sequence) or isinstance(spec, str) or not spec:
        raise InputError(f"{spec!r} is no list; give a list, or a range {{from = ..., to = ..., count = ...}}")
    values = [parse_quantity(value, dimension) for value in spec]
    if values[0] <= 0 or any(one >= other for one, other in pairwise(values)):
        raise InputError(f"{spec!r} do not rise from above 0; give positive values from the lowest to the highest")
    return tuple(values)


def _values_of_range(spec: Mapping[str, Any], dimension: str) -> list[float]:
    """The values of a range, to six digits: at equal ratios, or at equal distances with `spacing = "even"`."""
    unknown = sorted(spec.keys() - {"from", "to", "count", "resolution", "spacing"})
    spacing = spec.get("spacing", "log")
    if unknown or not {"from", "to"} <= spec.keys() or ("count" in spec) == ("resolution" in spec):
        problem = f"{unknown[0]!r} is no key of a range" if unknown else f"{dict(spec)!r} is no range"
        raise InputError(f"{problem}; give from, to and either count or resolution")
    if spacing not in ("log", "even") or (spacing == "even" and "resolution" in spec):
        raise InputError(f'spacing = {spacing!r}; give "log" or, with a count, "even"')
    first, last = (parse_quantity(spec[end], dimension) for end in ("from", "to"))
    if not 0 < first < last:
        raise InputError(f"from {spec['from']!r} to {spec['to']!r} does not rise from above 0; give the lower end first")
    if "resolution" in spec:
        share = parse_quantity(spec["resolution"], "dimensionless")
        if not 1e-4 <= share < 1:
            raise InputError(f'resolution = {spec["resolution"]!r}; give a share from 0.01 % to 100 %, as "1 %"')
        count = 1 + math.ceil(math.log(last / first) / math.log1p(share))
    else:
        count = spec["count"]
        if not isinstance(count, int) or isinstance(count, bool) or not 2 <= count <= 10_000:
            raise InputError(f"count = {count!r}; give a whole number from 2 to 10000")
    space = np.geomspace if spacing == "log" else np.linspace
    return [float(f"{value:.6g}") for value in space(first, last, count)]


class FailureDomainTable(Table):
    """[study] of this kind."""

    kind: Literal["failure-domain"]
    case: str  # path of the case, relative to the study
    half_periods: Annotated[tuple[float, ...], BeforeValidator(partial(_read_values, dimension="time"))]
    amplitudes: Annotated[tuple[float, ...], BeforeValidator(partial(_read_values, dimension="acceleration"))]
    directions: Annotated[tuple[Literal["+", "-"], ...], Field(min_length=1)] = ("+", "-")  # sign of the amplitude
    method: Literal["trace", "grid"] = "trace"
    scan: Annotated[Count, Field(ge=2)] = 12  # amplitudes that are tried in a scanned column, to find islands
    scan_every: Annotated[Count, Field(ge=1)] = 4  # every n-th column is scanned, and the last one
    vary: dict[str, Values] = Field({})  # one domain for every combination of these values
    capacity: bool = False  # also compute the static capacity by limit analysis

    def begin(self, case: Case, folder: Path) -> "FailureDomain":
        """The study of a case. The case with the longest and strongest pulse of every curve is read, to check its keys."""
        study = FailureDomain(case, self, _time_key(case))
        for curve in range(len(study.curves)):
            longest = Column(curve, self.directions[0], len(self.half_periods) - 1)
            _check_time(parse_case(case.text, case.path, study.sample(longest, -1)))
        return study


def _time_key(case: Case) -> str:
    """The key of the case that sets the duration or half-period of its only pulse."""
    motion = case.motions[0] if len(case.motions) == 1 else None
    if motion is None or motion.amplitude is None or motion.supports:
        pulses = ", ".join(motion.pulse for motion in case.motions) or "none"
        raise InputError(f"{case.path}: a failure domain varies half-period and amplitude of one pulse of the ground; "
                         f"the motions of the case: {pulses}; give one [motion] such as a one-sine")  # fmt: skip
    return "motion.duration" if motion.half_period is None else "motion.half_period"


def _check_time(case: Case) -> None:
    shaken, duration = last_motion_end(case.motions), case.history.duration
    if math.isfinite(shaken) and duration < shaken:
        raise InputError(f"{case.path}: analysis.duration is {duration:g} s, the longest pulse of the study ends at "
                         f"{shaken:g} s; make it longer, or give analysis.after")  # fmt: skip


class Column(NamedTuple):
    """One half-period of one direction of one curve."""

    curve: int  # which combination of `vary`
    sign: str  # "+" or "-"
    period: int  # which half-period


class ColumnOutcomes(NamedTuple):
    """The outcomes of a column, by level."""

    collapsed_at: dict[int, bool]  # whether the structure collapsed
    failed: dict[int, str]  # why the trial failed
    unfinished: list[int]  # still standing when the duration was over, but further from the start than ever before


class ColumnPlan(NamedTuple):
    """The trials of a column."""

    first_levels: Sequence[int]  # levels to start with; none while the column waits for its neighbours
    next_levels: list[int]  # levels to try now


@dataclass(frozen=True)
class FailureDomain:
    """The study of a failure domain; implements `Study`."""

    case: Case
    table: FailureDomainTable
    time_key: str  # key of the half-period in the case

    @cached_property
    def curves(self) -> list[Sample]:
        """What each curve changes in the case: every combination of `vary`."""
        return combinations(self.table.vary)

    @cached_property
    def columns(self) -> list[Column]:
        """All columns, in the order in which they can be computed."""
        return [Column(curve, sign, period) for period in self._neighbours for curve in range(len(self.curves))
                for sign in dict.fromkeys(self.table.directions)]  # fmt: skip

    def sample(self, column: Column, level: int) -> Sample:
        """What a trial changes in the case."""
        amplitude = SIGN_FACTORS[column.sign] * self.table.amplitudes[level]
        return {**self.curves[column.curve], self.time_key: self.table.half_periods[column.period],
                "motion.amplitude": amplitude}  # fmt: skip

    def propose(self, trials: Trials) -> list[Sample]:
        plan = self._plan(self._outcomes(trials))
        return [self.sample(column, level) for column in self.columns for level in plan[column].next_levels]

    def expected(self, trials: Trials) -> int:
        known = self._outcomes(trials)
        plan = self._plan(known)
        return sum(self._expected(plan[column], known[column]) for column in self.columns)

    def result(self, trials: Trials) -> dict[str, Any]:
        """The domain of each curve. Half-periods in s; amplitudes in m/s2 without sign, which is given by the direction."""
        known = self._outcomes(trials)
        return {
            "kind": self.table.kind,
            "pulse": self.case.motions[0].pulse,
            "time_key": self.time_key,
            "half_periods": list(self.table.half_periods),
            "amplitudes": list(self.table.amplitudes),
            "complete": not any(plan.next_levels for plan in self._plan(known).values()),
            "trials": sum(len(outcomes.collapsed_at) + len(outcomes.failed) for outcomes in known.values()),
            "grid_trials": len(self.columns) * len(self.table.amplitudes),
            "failed": [
                {"sample": self.sample(column, level), "reason": reason}
                for column, outcomes in known.items() for level, reason in sorted(outcomes.failed.items())
            ],
            "unfinished_trials": sum(len(outcomes.unfinished) for outcomes in known.values()),
            "unfinished": [self.sample(column, level) for column, outcomes in known.items() for level in outcomes.unfinished],
            "curves": [self._curve_result(curve, known) for curve in range(len(self.curves))],
        }  # fmt: skip

    @property
    def _scan(self) -> int:
        """The number of levels tried in a scanned column: all of them for a grid."""
        return len(self.table.amplitudes) if self.table.method == "grid" else self.table.scan

    @cached_property
    def _neighbours(self) -> dict[int, tuple[int, ...]]:
        return done_neighbours(len(self.table.half_periods), 1 if self.table.method == "grid" else self.table.scan_every)

    @cached_property
    def _column_and_level(self) -> dict[str, tuple[Column, int]]:
        """The column and level of each sample, by its text."""
        levels = range(len(self.table.amplitudes))
        return {sample_text(self.sample(column, level)): (column, level) for column in self.columns for level in levels}

    def _outcomes(self, trials: Trials) -> dict[Column, ColumnOutcomes]:
        known = {column: ColumnOutcomes({}, {}, []) for column in self.columns}
        for sample, outcome in trials.rows():
            column, level = self._column_and_level.get(sample_text(sample), (None, 0))
            if column is None:  # a trial of an earlier study with other keys
                continue
            if outcome.status == FAILED:
                known[column].failed[level] = outcome.reason
            else:
                known[column].collapsed_at[level] = outcome.status == COLLAPSED
                known[column].unfinished.extend([level] if is_unfinished(outcome) else [])
        return known

    def _plan(self, known: Mapping[Column, ColumnOutcomes]) -> dict[Column, ColumnPlan]:
        """The plan of every column; columns whose neighbours are not complete have none yet."""
        count = len(self.table.amplitudes)
        plan: dict[Column, ColumnPlan] = {}
        for column in self.columns:
            neighbour_columns = [column._replace(period=period) for period in self._neighbours[column.period]]
            if any(not plan[other].first_levels or plan[other].next_levels for other in neighbour_columns):
                plan[column] = ColumnPlan([], [])
                continue
            collapsed_at = [known[other].collapsed_at for other in neighbour_columns]
            first_levels = (
                initial_levels_between(collapsed_at, count) if neighbour_columns else evenly_spread_levels(self._scan, count)
            )
            plan[column] = ColumnPlan(
                first_levels, next_levels(first_levels, known[column].collapsed_at, known[column].failed, count)
            )
        return plan

    def _expected(self, plan: ColumnPlan, outcomes: ColumnOutcomes) -> int:
        """The expected number of trials in a column: those known, those to try now, and the halvings left after them."""
        count = len(self.table.amplitudes)
        if not plan.first_levels:
            return 2 + math.ceil(math.log2(count) / 2)
        tried = {*outcomes.collapsed_at, *outcomes.failed, *plan.next_levels}
        gaps = [upper - lower for lower, upper in transitions(outcomes.collapsed_at)] or [
            count // len(plan.first_levels)
        ] * bool(plan.next_levels)
        return len(tried) + sum(math.ceil(math.log2(gap)) - 1 for gap in gaps if gap > 1)

    def _curve_result(self, curve: int, known: Mapping[Column, ColumnOutcomes]) -> dict[str, Any]:
        own_columns = {column: outcomes for column, outcomes in known.items() if column.curve == curve}
        signs = list(dict.fromkeys(self.table.directions))
        collapsed = [
            (self.table.half_periods[column.period], self.table.amplitudes[level])
            for column, outcomes in own_columns.items()
            for level, did_collapse in outcomes.collapsed_at.items()
            if did_collapse
        ]
        return {
            "vary": dict(self.curves[curve]),
            "hull": lower_hull(collapsed),
            "directions": {sign: self._direction_result(sign, own_columns) for sign in signs},
            "capacity": {sign: finite_or_none(self._capacity[curve, sign]) for sign in signs} if self.table.capacity else None,
        }

    def _direction_result(self, sign: str, known: Mapping[Column, ColumnOutcomes]) -> dict[str, Any]:
        own_columns = sorted((column for column in known if column.sign == sign), key=lambda column: column.period)
        return {
            "boundary": [
                self._boundary(column, known[column].collapsed_at) for column in own_columns if known[column].collapsed_at
            ],
            "islands": [island for column in own_columns for island in self._islands(column, known[column].collapsed_at)],
            "points": [
                {
                    "half_period": self.table.half_periods[column.period],
                    "amplitude": self.table.amplitudes[level],
                    "collapsed": known[column].collapsed_at.get(level),
                    "sample": self.sample(column, level),
                }
                for column in own_columns
                for level in sorted({*known[column].collapsed_at, *known[column].failed})
            ],
        }

    def _boundary(self, column: Column, collapsed_at: Mapping[int, bool]) -> dict[str, float | None]:
        """The largest amplitude up to which all trials stand, and the lowest that collapses; None beyond the range."""
        collapses = min((level for level in collapsed_at if collapsed_at[level]), default=None)
        stands = max((level for level in collapsed_at if collapses is None or level < collapses), default=None)
        return {"half_period": self.table.half_periods[column.period],
                "stands": self._amplitude(stands), "collapses": self._amplitude(collapses)}  # fmt: skip

    def _islands(self, column: Column, collapsed_at: Mapping[int, bool]) -> list[dict[str, float | None]]:
        """Amplitudes that stand above some that collapse; `collapses_above` is None if they reach beyond the range."""
        found = transitions(collapsed_at)
        return [
            {"half_period": self.table.half_periods[column.period],
             "collapses_below": self._amplitude(begin.lower), "stands_from": self._amplitude(begin.upper),
             "stands_to": self._amplitude(end.lower if end else max(collapsed_at)),
             "collapses_above": self._amplitude(end.upper if end else None)}
            for begin, end in pairwise([*found, None]) if begin and collapsed_at[begin.lower]
        ]  # fmt: skip

    def _amplitude(self, level: int | None) -> float | None:
        return None if level is None else self.table.amplitudes[level]

    @cached_property
    def _capacity(self) -> dict[tuple[int, str], float]:
        """[m/s2] by curve and direction: the amplitude below which the structure follows the ground as one body (T105)."""
        cases = [parse_case(self.case.text, self.case.path, changed) for changed in self.curves]
        found = [pulse_capacities(case) for case in cases]
        return {(curve, sign): by_sign[sign] for curve, by_sign in enumerate(found) for sign in by_sign}


def pulse_capacities(case: Case) -> dict[str, float]:
    """[m/s2] by sign: the amplitude at which the case's pulse first reaches the static capacity (T105)."""
    model, motion = case.model(), case.motions[0]
    system = assemble_balance(model)
    capacity = {}
    for sign, factor in SIGN_FACTORS.items():
        x, y, z = (-factor * part for part in motion.direction)  # blocks are pushed against the ground's acceleration
        capacity[sign] = solve_limit(system, *dead_and_live_loads(case, model, (x, y, z))).multiplier * case.analysis.gravity
    forward, backward = _peak_shares(motion)
    return {
        sign: min(capacity[sign] / forward, capacity[other] / backward if backward else math.inf)
        for sign, other in ("+-", "-+")
    }


def _peak_shares(motion: Motion) -> tuple[float, float]:
    """The largest acceleration of a pulse along and against its direction, as shares of the amplitude."""
    length = motion.length if math.isfinite(motion.length) else 2 * (motion.half_period or 0.0)
    values = motion.acceleration(motion.start + length * np.arange(1000) / 1000) @ np.array(motion.direction)
    share = values / (motion.amplitude or 1.0)
    return float(share.max()), float(max(-share.min(), 0.0))


def lower_hull(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """The lower edge, by rising half-period, of the convex hull of points (half-period, amplitude) that collapse and of all
    larger amplitudes (T107).

    >>> lower_hull([(1, 5), (1, 4), (2, 3), (3, 1), (4, 2), (4, 1)])
    [(1, 4), (3, 1), (4, 1)]
    """
    lowest: dict[float, float] = {}
    for period, amplitude in points:
        lowest[period] = min(amplitude, lowest.get(period, amplitude))
    hull: list[tuple[float, float]] = []
    for point in sorted(lowest.items()):
        while len(hull) > 1 and not _turns_left(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    return hull


def _turns_left(one: tuple[float, float], other: tuple[float, float], third: tuple[float, float]) -> bool:
    return (other[0] - one[0]) * (third[1] - one[1]) > (other[1] - one[1]) * (third[0] - one[0])

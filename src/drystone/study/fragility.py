"""Fragility: the probability of collapse as a function of the intensity of the shaking (NB section 4.5.3).

    stripes  every accelerogram is scaled to every level; with assume_monotone levels are found by halving
    ida      every accelerogram is scaled up until the case collapses, then its capacity is found by halving
    cloud    every accelerogram is used once, unscaled

Specimens (specimens.py) combine accelerograms with random draws. `vary` repeats the study, with one curve per combination.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator

from drystone.base.errors import InputError
from drystone.base.json_numbers import finite_or_none
from drystone.base.units import GRAVITY, Count, Ratio, Time, parse_quantity
from drystone.io.case import Case
from drystone.io.table_base import Table
from drystone.study.intensity_search import (
    bracket,
    next_intensities,
    next_middle_level,
    round_to_six_digits,
    stands_above_collapse,
)
from drystone.study.lognormal_fit import (
    CapacityBounds,
    bounds_of_trials,
    confidence_bands,
    describe_fit,
    fit_lognormal,
    fit_power_law,
    goodness_of_fit,
)
from drystone.study.specimens import (
    Random,
    Shaking,
    Specimen,
    choices_from_files,
    choices_from_seeds,
    draw_samples,
    measure_intensity,
    pair_specimens,
)
from drystone.study.sweep import combinations
from drystone.study.trial_records import COLLAPSED, FAILED, Outcome, Sample, Trials, is_unfinished

COLLAPSE_LIMIT = "collapse"
MEASURE_DIMENSIONS = {"PGV": "velocity", "PGD": "length", "Arias": "velocity", "CAV": "velocity"}  # others: acceleration
DIMENSION_UNITS = {"acceleration": "m/s2", "velocity": "m/s", "length": "m"}


class FragilityTable(Table):
    """[study] of this kind."""

    kind: Literal["fragility"]
    case: str  # path of the case, relative to the study
    records: tuple[str | tuple[str, ...], ...] = ()  # files or patterns; an inner list has one per [[motion]] of the ground
    seeds: Annotated[Count, Field(ge=0, le=10_000)] = 0  # instead of records: the number of seeds 1, 2, ... of motion.seed
    unit: str | None = None  # of the records, if the files do not state it
    time_step: Annotated[Time, Field(gt=0)] | None = None  # [s] likewise
    method: Literal["stripes", "ida", "cloud"] = "stripes"
    measure: str = "PGA"  # intensity measure: PGA, PGV, PGD, Arias, CAV, Sa(0.5 s), avgSa(0.2 s, 1 s)
    combine: Literal["first", "geometric mean"] = "first"  # of several motions; the mean is that of the horizontal ones
    levels: tuple[float | str, ...] = ()  # stripes: intensities, rising
    assume_monotone: bool = False  # stripes: a record that collapses is not tried higher, one that stands not lower
    lowest: float | str | None = None  # ida: the first intensity
    highest: float | str | None = None  # ida: a record that stands at this intensity is not tried further
    tolerance: Annotated[Ratio, Field(gt=0)] = 0.05  # ida: of the capacity of a record
    beyond: Annotated[Count, Field(ge=0)] = 1  # ida: doublings tried above the first collapse, to see whether it stands again
    scale: Annotated[Ratio, Field(gt=0)] = 1.0  # cloud: factor on all records
    limit: float | str = COLLAPSE_LIMIT  # or the displacement [m] that must not be reached
    block: str | None = None  # whose displacement, one of output.monitor; the largest of any if not given
    vary: dict[str, Annotated[tuple[Any, ...], Field(min_length=1)]] = Field({})  # one curve per combination of the values
    random: dict[str, Random] = Field({})  # by key of the case: {"joints.friction" = {mean = 0.6, cov = 0.15}}
    draws: Annotated[Count, Field(ge=1, le=10_000)] | None = None
    seed: Annotated[Count, Field(ge=0)] = 0  # of the draws and of the bands
    resamples: Annotated[Count, Field(ge=100, le=100_000)] = 1000  # for the bands

    @model_validator(mode="after")
    def _check_keys(self) -> Self:
        if bool(self.records) == bool(self.seeds):
            raise InputError("a fragility study needs either records or seeds, one of the two")
        if self.method == "stripes":
            rising = [self.to_si(level) for level in self.levels]
            if not rising or rising[0] <= 0 or any(one >= other for one, other in pairwise(rising)):
                raise InputError(f'levels = {list(self.levels)!r}; stripes need some above 0 that rise, as in ["0.5 g", "1 g"]')
        if self.method == "ida" and (self.lowest is None or self.highest is None
                                     or not 0 < self.to_si(self.lowest) < self.to_si(self.highest)):  # fmt: skip
            raise InputError(f"lowest = {self.lowest!r} and highest = {self.highest!r}; ida needs both, the lower first")
        if self.limit != COLLAPSE_LIMIT and not parse_quantity(self.limit, "length") > 0:
            raise InputError(f'limit = {self.limit!r}; give "collapse" or a displacement above 0')
        twice = sorted(self.random.keys() & self.vary.keys())
        if twice:
            raise InputError(f"{twice[0]} is in random and in vary; leave it in one of them")
        if self.random and self.draws is None:
            raise InputError("random needs draws, the number of structures that are drawn")
        return self

    def to_si(self, intensity: float | str) -> float:
        """An intensity in SI units."""
        return parse_quantity(intensity, MEASURE_DIMENSIONS.get(self.measure, "acceleration"))

    def begin(self, case: Case, folder: Path) -> "Fragility":
        """The study of a case. All accelerograms are read and their intensity is measured."""
        if self.block is not None and self.block not in case.output.monitor:
            raise InputError(f"block = {self.block!r} is not in output.monitor of {case.path}; add it there")
        keys = {key: value for key in ("unit", "time_step") if (value := getattr(self, key)) is not None}
        choices = choices_from_files(case, self.records, folder, keys) if self.records else choices_from_seeds(case, self.seeds)
        shakings = [Shaking(choice, measure_intensity(case, choice, self.measure, self.combine)) for choice in choices]
        draws = [{}] if self.draws is None else draw_samples(case, self.random, self.draws, self.seed)
        return Fragility(self, tuple(pair_specimens(shakings, draws)), tuple(combinations(self.vary)))


class FragilityRow(NamedTuple):
    """A specimen at an intensity."""

    record: str
    intensity: float  # in SI units
    collapsed: bool | None  # whether the limit state was reached; None: the trial failed
    displacement: float | None  # [m]
    unfinished: bool = False  # still moving away when the duration was over
    inferred: bool = False  # not tried: it follows from another level


@dataclass(frozen=True)
class Fragility:
    """The study of fragility curves; implements `Study`."""

    table: FragilityTable
    specimens: tuple[Specimen, ...]
    curves: tuple[Sample, ...]  # what each changes in the case

    @cached_property
    def levels(self) -> list[float]:
        return [self.table.to_si(level) for level in self.table.levels]

    @property
    def dimension(self) -> str:
        return MEASURE_DIMENSIONS.get(self.table.measure, "acceleration")

    def sample(self, curve: Sample, specimen: Specimen, level: float) -> Sample:
        return dict(curve) | dict(specimen.at(level))

    def propose(self, trials: Trials) -> Sequence[Sample]:
        """The samples to compute, for stripes the highest level first: a collapse ends early and shows that the levels reach
        far enough."""
        proposed = [
            (step, self.sample(curve, specimen, level))
            for curve in self.curves
            for specimen in self.specimens
            for step, level in enumerate(self._next_levels(self._outcomes(trials, curve, specimen), specimen))
        ]
        return [sample for _, sample in sorted(proposed, key=lambda pair: pair[0])]

    def expected(self, trials: Trials) -> int:
        """Specimens that are complete count with their number of trials, the others with the mean of these, or with an
        estimate."""
        done = []
        for curve in self.curves:
            for specimen in self.specimens:
                known = self._outcomes(trials, curve, specimen)
                done += [] if set(self._next_levels(known, specimen)) - known.keys() else [len(known)]
        mean = sum(done) / len(done) if done else self._expected_per_specimen
        return sum(done) + math.ceil(mean * (len(self.curves) * len(self.specimens) - len(done)))

    @property
    def _expected_per_specimen(self) -> float:
        """The expected number of trials per specimen, before any is complete."""
        if self.table.method == "cloud":
            return 1
        if self.table.method == "stripes":
            return math.log2(len(self.levels) + 1) if self.table.assume_monotone else len(self.levels)
        doublings = math.log2(self._highest / self._lowest)
        return 1 + doublings / 2 + math.log2(math.log(2) / math.log1p(self.table.tolerance)) + self.table.beyond

    @cached_property
    def _lowest(self) -> float:
        return self.table.to_si(self.table.lowest or 0)

    @cached_property
    def _highest(self) -> float:
        return self.table.to_si(self.table.highest or 0)

    def _next_levels(self, known: Mapping[float, bool | None], specimen: Specimen) -> list[float]:
        """The levels at which a specimen should be tried next."""
        table = self.table
        if table.method == "cloud":
            return [self._unscaled_intensity(specimen)]
        if table.method == "ida":
            return next_intensities(known, self._lowest, self._highest, table.tolerance, table.beyond)
        return next_middle_level(known, self.levels) if table.assume_monotone else self.levels[::-1]

    def _unscaled_intensity(self, specimen: Specimen) -> float:
        return round_to_six_digits(self.table.scale * specimen.shaking.intensity)

    def _outcomes(self, trials: Trials, curve: Sample, specimen: Specimen) -> dict[float, bool | None]:
        """The outcomes of a specimen by level, collected by following the levels that it asks for until one is missing."""
        known: dict[float, bool | None] = {}
        while True:
            result = {level: outcome for level in self._next_levels(known, specimen) if level not in known
                     and (outcome := trials.outcome(self.sample(curve, specimen, level))) is not None}  # fmt: skip
            if not result:
                return known
            known |= {level: self._verdict(outcome) for level, outcome in result.items()}

    def _verdict(self, outcome: Outcome) -> bool | None:
        """Whether the limit state was reached; None: the trial failed."""
        if outcome.status == FAILED:
            return None
        if outcome.status == COLLAPSED or self.table.limit == COLLAPSE_LIMIT:
            return outcome.status == COLLAPSED
        moved = self._displacement(outcome)
        return None if moved is None else moved >= parse_quantity(self.table.limit, "length")

    def _displacement(self, outcome: Outcome) -> float | None:
        return outcome.numbers.get("peak_displacement" + (f" {self.table.block}" if self.table.block else ""))

    def result(self, trials: Trials) -> dict[str, Any]:
        table = self.table
        curves = [self._curve(trials, curve) for curve in self.curves]
        return {
            "sentence": "\n".join(", ".join([*(f"{key} {value}" for key, value in curve["vary"].items()), curve["sentence"]])
                                  for curve in curves),
            "method": table.method,
            "measure": table.measure,
            "unit": DIMENSION_UNITS[self.dimension],
            "limit": table.limit,
            "assume_monotone": table.assume_monotone,
            "records": list(dict.fromkeys(specimen.name for specimen in self.specimens)),
            "specimens": len(self.specimens),
            "curves": curves,
        }  # fmt: skip

    def _curve(self, trials: Trials, curve: Sample) -> dict[str, Any]:
        """The result for one combination of `vary`."""
        known = [self._outcomes(trials, curve, specimen) for specimen in self.specimens]
        rows = [self._rows(trials, curve, specimen, outcomes) for specimen, outcomes in zip(self.specimens, known, strict=True)]
        bounds = self._bounds(known, rows)
        best, band = fit_lognormal(bounds), confidence_bands(bounds, resamples=self.table.resamples, seed=self.table.seed)
        size, unit = (GRAVITY, "g") if self.dimension == "acceleration" else (1.0, DIMENSION_UNITS[self.dimension])
        every = [row for rows_of_specimen in rows for row in rows_of_specimen]
        result: dict[str, Any] = {
            "vary": dict(curve),
            "sentence": describe_fit(best, band, size=size, unit=unit),
            "fit": best._asdict() | {"between": [finite_or_none(x) for x in best.between]},
            "band": None if band is None else {key: value.tolist() if hasattr(value, "tolist") else value
                                               for key, value in band._asdict().items()},
            "goodness": goodness_of_fit(bounds, best, seed=self.table.seed),
            "trials": sum(not row.inferred for row in every),
            "inferred": sum(row.inferred for row in every),
            "failed": sum(row.collapsed is None for row in every),
            "unfinished": sum(row.unfinished for row in every),
            "rows": [row._asdict() for row in every],
        }  # fmt: skip
        if self.table.method == "stripes":
            result["levels"] = [_level_result(level, [row for row in every if row.intensity == level]) for level in self.levels]
        elif self.table.method == "ida":
            pairs = zip(self.specimens, known, strict=True)
            result["capacities"] = [_capacity_result(specimen, outcomes) for specimen, outcomes in pairs if outcomes]
            result["came_back"] = sum(stands_above_collapse(outcomes) for outcomes in known)
        else:
            moved = [(row.intensity, row.displacement) for row in every if row.collapsed is False and row.displacement]
            result["regression"] = fit_power_law([x for x, _ in moved], [y for _, y in moved])
        return result

    def _rows(
        self, trials: Trials, curve: Sample, specimen: Specimen, known: Mapping[float, bool | None]
    ) -> list[FragilityRow]:
        """The levels that were tried and, with assume_monotone, the levels whose outcome follows from them."""
        rows = []
        for level, collapsed in sorted(known.items()):
            outcome = trials.outcome(self.sample(curve, specimen, level))
            assert outcome is not None, "what is known was tried"
            rows.append(FragilityRow(specimen.name, level, collapsed, self._displacement(outcome), is_unfinished(outcome)))
        if self.table.assume_monotone and self.table.method == "stripes":
            low, high = bracket(known)
            rows += [FragilityRow(specimen.name, level, level >= high, None, inferred=True) for level in self.levels
                     if known.get(level) is None and (level < low or level > high)]  # fmt: skip
            inferred = {row.intensity for row in rows if row.inferred}
            rows = [row for row in rows if row.collapsed is not None or row.intensity not in inferred]
        return rows

    def _bounds(self, known: Sequence[Mapping[float, bool | None]], rows: Sequence[Sequence[FragilityRow]]) -> CapacityBounds:
        """The bounds on capacities from all these rows."""
        numbers = [specimen.record for specimen in self.specimens]
        if self.table.method == "ida":
            low, high = np.array([bracket(outcomes) for outcomes in known]).reshape(-1, 2).T
            return CapacityBounds(low, high, np.array(numbers))
        known_rows = [
            (row.intensity, row.collapsed, k)
            for k, rows_of_specimen in zip(numbers, rows, strict=True)
            for row in rows_of_specimen
            if row.collapsed is not None
        ]
        return bounds_of_trials(*zip(*known_rows, strict=True)) if known_rows else bounds_of_trials([], [], [])


def _level_result(level: float, rows: Sequence[FragilityRow]) -> dict[str, Any]:
    """The number of trials and collapses at a level; failed trials are counted separately."""
    known = [row for row in rows if row.collapsed is not None]
    return {
        "intensity": level,
        "trials": len(known),
        "collapses": sum(bool(row.collapsed) for row in known),
        "inferred": sum(row.inferred for row in known),
        "failed": len(rows) - len(known),
    }


def _capacity_result(specimen: Specimen, known: Mapping[float, bool | None]) -> dict[str, Any]:
    low, high = bracket(known)
    return {
        "record": specimen.name,
        "low": low,
        "high": finite_or_none(high),
        "came_back": stands_above_collapse(known),
        "failed": sum(collapsed is None for collapsed in known.values()),
    }

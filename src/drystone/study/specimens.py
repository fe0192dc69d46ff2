"""The specimens of a fragility study: accelerograms combined with random draws of the case.

Accelerograms come from files or from the seeds of a synthetic motion. Random numbers (`random` of the study, the seed of the
scatter in [joints]) are drawn `draws` times. Specimen k has accelerogram k and draw k, both repeated cyclically. There are as
many specimens as accelerograms or draws, whichever are more; not every combination of the two is computed."""

import glob
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import Field

from drystone.base.errors import InputError
from drystone.base.units import Ratio, parse_quantity, split_number_and_unit
from drystone.ground.accelerogram import Accelerogram
from drystone.ground.intensity_measures import intensity
from drystone.ground.motion import Motion
from drystone.io.case import Case, case_content, parse_case
from drystone.io.table_base import Table
from drystone.structure.joint_laws import Scatter
from drystone.study.intensity_search import round_to_six_digits
from drystone.study.trial_records import Sample

Array = np.ndarray

STRENGTH_DIMENSIONS = {"amplitude": "acceleration", "ag": "acceleration", "velocity": "velocity", "displacement": "length"}
PULSE_SAMPLE_INTERVAL = 1e-3  # [s] at which a pulse is sampled to measure its intensity


class Random(Table):
    """A random number."""

    mean: float | str  # as in the case, "0.6" or "20 kN/m3"
    cov: Annotated[Ratio, Field(ge=0)]  # standard deviation over mean
    distribution: Literal["lognormal", "uniform"] = "lognormal"

    def values(self, uniform: Array) -> list[Any]:
        number, unit = split_number_and_unit(self.mean) if isinstance(self.mean, str) else (self.mean, "")
        scatter = Scatter(self.cov, 0, self.distribution)
        scatter.check()
        drawn = [round_to_six_digits(number * factor) for factor in scatter.quantile(uniform)]
        return [f"{value:g} {unit}" for value in drawn] if unit else drawn


class RecordChoice(NamedTuple):
    """An accelerogram, or one per motion of the ground, and what it changes in the case."""

    name: str
    changes: Sample
    strengths: Mapping[str, float]  # by key of the case: the value in SI units that is scaled


class Shaking(NamedTuple):
    """An accelerogram with its intensity."""

    choice: RecordChoice
    intensity: float  # in SI units, unscaled


class Specimen(NamedTuple):
    """An accelerogram and a draw, the same at all levels and in all curves."""

    record: int  # number of the record
    shaking: Shaking
    drawn: Sample

    @property
    def name(self) -> str:
        return self.shaking.choice.name

    def at(self, level: float) -> Sample:
        """What the specimen changes in the case at an intensity."""
        choice, size = self.shaking
        scaled = {motion_key: round_to_six_digits(value * level / size) for motion_key, value in choice.strengths.items()}
        return dict(self.drawn) | dict(choice.changes) | scaled


def choices_from_files(case: Case, records: Sequence[str | tuple[str, ...]], folder: Path, keys: Sample) -> list[RecordChoice]:
    """The accelerograms of files and patterns, relative to `folder`; `keys`, such as unit or time_step, hold for all of
    them."""
    tables = _motion_places(case)
    for motion_key, motion in tables.items():
        if "record" not in motion or "pga" in motion or "pgv" in motion:
            raise InputError(
                f'{case.path}: {motion_key}: a study of records scales a motion with record = "...", neither pga nor '
                "pgv; change it so"
            )
    choices = []
    for files in _files(records, folder, len(tables)):
        changes: dict[str, Any] = {}
        for motion_key, file in zip(tables, files, strict=True):
            relative_path = Path(os.path.relpath(file, case.path.parent)).as_posix()
            changes |= {f"{motion_key}.record": relative_path, **{f"{motion_key}.{key}": value for key, value in keys.items()}}
        choices.append(
            RecordChoice(" + ".join(Path(file).stem for file in files), changes, {f"{p}.scale": 1.0 for p in tables})
        )
    return choices


def choices_from_seeds(case: Case, seeds: int) -> list[RecordChoice]:
    """Synthetic motions with the seeds 1, 2, ...; a second motion has the seeds 1001, 1002, ..."""
    strengths: dict[str, float] = {}
    tables = _motion_places(case)
    for motion_key, motion in tables.items():
        if "seed" not in motion:
            raise InputError(
                f"{case.path}: {motion_key} has no seed; make it kanai-tajimi or spectrum, or give the study records"
            )
        key = next(key for key in STRENGTH_DIMENSIONS if key in motion)
        strengths[f"{motion_key}.{key}"] = parse_quantity(motion[key], STRENGTH_DIMENSIONS[key])
    return [
        RecordChoice(f"seed {seed}", {f"{motion_key}.seed": seed + 1000 * i for i, motion_key in enumerate(tables)}, strengths)
        for seed in range(1, seeds + 1)
    ]


def _motion_places(case: Case) -> dict[str, dict[str, Any]]:
    """The tables of the motions that shake the ground, by their key in the case."""
    entry = case_content(case.text, case.path).get("motion", [])
    tables = {f"motion.{i}": table for i, table in enumerate(entry)} if isinstance(entry, list) else {"motion": entry}
    selected = {motion_key: table for motion_key, table in tables.items() if not table.get("supports")}
    if not selected:
        raise InputError(f"{case.path}: nothing shakes the ground; add a [motion] for the study to scale")
    return selected


def _files(records: Sequence[str | tuple[str, ...]], folder: Path, motions: int) -> list[tuple[str, ...]]:
    """The files of each record; all missing files are reported at once."""
    selected: list[tuple[str, ...]] = []
    missing: list[str] = []
    for entry in records:
        group = (entry,) if isinstance(entry, str) else entry
        if len(group) != motions:
            raise InputError(f"records: {entry!r} is {len(group)} and the case has {motions} motions of the ground; give a "
                             "list with one for each")  # fmt: skip
        matches = [sorted(glob.glob(str(folder / pattern), recursive=True)) for pattern in group]
        missing += [pattern for pattern, files in zip(group, matches, strict=True) if not files]
        if len({len(files) for files in matches}) > 1 and not missing:
            counts = ", ".join(f"{pattern!r} {len(files)}" for pattern, files in zip(group, matches, strict=True))
            raise InputError(f"records: patterns of a group must find as many files each: {counts}; give them one by one")
        selected += zip(*matches, strict=False)
    if missing:
        raise InputError(f"records: no file in {folder} is {', '.join(map(repr, missing))}; put them there, or change records")
    return list(dict.fromkeys(selected))


def measure_intensity(case: Case, choice: RecordChoice, measure: str, combine: str) -> float:
    """The intensity of a choice, in SI; combine: "first" motion, or "geometric mean" of those that are horizontal."""
    motions = parse_case(case.text, case.path, dict(choice.changes) | dict(choice.strengths)).motions
    shaking = [motion for motion in motions if not motion.supports]
    measured = shaking[:1] if combine == "first" else [motion for motion in shaking if abs(motion.direction[2]) < 1e-6]
    sizes = [intensity(_samples(motion), measure) for motion in measured]
    if not sizes or min(sizes) <= 0:
        raise InputError(f"{choice.name}: its {measure} is {min(sizes, default=0.0):g}; leave it out, or take another measure")
    return math.exp(float(np.mean(np.log(sizes))))


def _samples(motion: Motion) -> Accelerogram:
    """The samples of a recorded motion, or of a pulse at every PULSE_SAMPLE_INTERVAL."""
    if motion.record is not None:
        return motion.record
    instants = motion.start + PULSE_SAMPLE_INTERVAL * np.arange(1 + math.ceil(motion.length / PULSE_SAMPLE_INTERVAL))
    return Accelerogram(
        motion.pulse, "", PULSE_SAMPLE_INTERVAL, motion.acceleration(instants) @ np.array(motion.direction), "m/s2"
    )


def draw_samples(case: Case, random: Mapping[str, Random], draws: int, seed: int) -> list[Sample]:
    """What each draw changes in the case: NumPy's PCG64 with one stream per key."""
    if not random and case.joints.scatter is None:
        raise InputError("draws: nothing is random; give random, or scatter in [joints] of the case")
    columns: dict[str, list[Any]] = {}
    for motion_key, number in random.items():
        columns[motion_key] = number.values(np.random.default_rng([seed, *motion_key.encode()]).random(draws))
    if case.joints.scatter is not None:
        columns["joints.scatter.seed"] = [seed + k for k in range(draws)]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def pair_specimens(shakings: Sequence[Shaking], draws: Sequence[Sample]) -> list[Specimen]:
    count = max(len(shakings), len(draws))
    return [Specimen(k % len(shakings), shakings[k % len(shakings)], draws[k % len(draws)]) for k in range(count)]

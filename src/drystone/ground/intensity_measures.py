"""Intensity measures of accelerograms: peaks, energies and durations, in SI (T95-T96).

Velocity and displacement are integrated from rest without correction. Their peaks are those of the samples as they are, with
drift, unless a baseline was subtracted before (corrections.py), which the accelerogram then lists.
"""

import math
import re
from typing import Any

import numpy as np

from drystone.base.errors import InputError
from drystone.base.units import GRAVITY, parse_quantity
from drystone.ground.accelerogram import Accelerogram
from drystone.ground.response_spectra import response_spectrum
from drystone.ground.samples import integrate_squared, integrate_twice

Array = np.ndarray

AVERAGED_PERIODS = 10  # number of periods of avgSa, equally spaced, with both ends


def pga(record: Accelerogram) -> float:
    """[m/s2] peak ground acceleration, of either sign."""
    return _largest(record.acceleration)


def pgv(record: Accelerogram) -> float:
    """[m/s] peak ground velocity."""
    return _largest(integrate_twice(record.acceleration, record.time_step)[0])


def pgd(record: Accelerogram) -> float:
    """[m] peak ground displacement."""
    return _largest(integrate_twice(record.acceleration, record.time_step)[1])


def arias(record: Accelerogram) -> float:
    """[m/s] Arias intensity, pi/(2 g) times the integral of the squared acceleration (T95)."""
    return math.pi / (2 * GRAVITY) * float(integrate_squared(record.acceleration, record.time_step)[-1])


def arias_times(record: Accelerogram, shares: tuple[float, float]) -> tuple[float, float]:
    """[s] the times after the first sample at which the Arias intensity reaches two shares of its final value."""
    grown = integrate_squared(record.acceleration, record.time_step)
    if grown[-1] == 0:
        raise InputError(f"record {record.name!r} is zero throughout; it has no duration of shaking")
    instants = np.arange(len(grown)) * record.time_step
    first, last = np.interp(shares, grown / grown[-1], instants)
    return float(first), float(last)


def significant_duration(record: Accelerogram, shares: tuple[float, float] = (0.05, 0.95)) -> float:
    """[s] between two shares of the Arias intensity."""
    first, last = arias_times(record, shares)
    return last - first


def cav(record: Accelerogram) -> float:
    """[m/s] cumulative absolute velocity: integral of |a|, exact where the sign changes between samples (T95)."""
    before, after = record.acceleration[:-1], record.acceleration[1:]
    both = np.abs(before) + np.abs(after)
    crossed = (before**2 + after**2) / (2 * np.where(both > 0, both, 1.0))
    return record.time_step * float(np.where(before * after < 0, crossed, both / 2).sum())


def predominant_period(record: Accelerogram) -> float:
    """[s] the period with the largest Sa at 5 % damping, among 120 periods from 0.02 to 4 s."""
    spectrum = response_spectrum(record)
    return float(spectrum.period[np.argmax(spectrum.pseudo_acceleration)])


def spectral_acceleration(record: Accelerogram, *periods: float) -> float:
    """[m/s2] Sa with 5 % damping; for several periods [s] the geometric mean (T96)."""
    values = response_spectrum(record, periods).pseudo_acceleration
    return float(np.exp(np.log(np.maximum(values, 1e-300)).mean()))


INTENSITY_MEASURES = {"PGA": pga, "PGV": pgv, "PGD": pgd, "Arias": arias, "CAV": cav}


def intensity(record: Accelerogram, measure: str) -> float:
    """A measure by its name, in SI: "PGA", "PGV", "PGD", "Arias", "CAV", "Sa(0.5 s)" or "avgSa(0.2 s, 1 s)"."""
    if measure in INTENSITY_MEASURES:
        return INTENSITY_MEASURES[measure](record)
    return spectral_acceleration(record, *_periods(measure))


def _periods(measure: str) -> list[float]:
    """[s] of "Sa(T)" or "avgSa(T1, T2)"."""
    match = re.fullmatch(r"\s*(Sa|avgSa)\s*\(([^()]*)\)\s*", measure)
    periods = [parse_quantity(text.strip(), "time") for text in match[2].split(",")] if match else []
    if match and match[1] == "Sa" and len(periods) == 1 and periods[0] >= 0:
        return periods
    if match and match[1] == "avgSa" and len(periods) == 2 and 0 <= periods[0] < periods[1]:
        return np.linspace(periods[0], periods[1], AVERAGED_PERIODS).tolist()
    known = ", ".join(INTENSITY_MEASURES)
    raise InputError(f'{measure!r} is not an intensity measure; give one of {known}, or as in "Sa(0.5 s)", "avgSa(0.2 s, 1 s)"')


def summarise_accelerogram(record: Accelerogram) -> dict[str, Any]:
    """All intensity measures, as plain numbers in SI."""
    return {
        "name": record.name,
        "component": record.component,
        "unit_in_file": record.unit_in_file,
        "dt": record.time_step,
        "samples": len(record.acceleration),
        "duration": record.duration,
        "pga": pga(record),
        "pgv": pgv(record),
        "pgd": pgd(record),
        "arias": arias(record),
        "cav": cav(record),
        "duration_5_95": significant_duration(record),
        "duration_5_75": significant_duration(record, (0.05, 0.75)),
        "predominant_period": predominant_period(record),
        "done": list(record.done),
        "about": dict(record.about),
    }


def _largest(values: Array) -> float:
    return float(np.abs(values).max())

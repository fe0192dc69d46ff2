"""Corrections of accelerograms. Each returns a new accelerogram that lists its processing; nothing is done unless requested."""

import math
from dataclasses import replace

import numpy as np

from drystone.base.errors import InputError
from drystone.ground.accelerogram import Accelerogram
from drystone.ground.intensity_measures import arias_times, pga, pgv
from drystone.ground.samples import integrate_twice

Array = np.ndarray

# degree of the polynomial that is subtracted from the acceleration
BASELINE_DEGREES = {"constant": 0, "linear": 1, "quadratic": 2, "cubic": 3}
FILTER_ORDER = 4  # of the Butterworth filter, which is run forwards and backwards
MAX_PADDING_SAMPLES = 10**7
PADDING_PERIODS = 1.5 * FILTER_ORDER  # zeros on both sides, in periods of the lower corner frequency (Boore 2005)


def apply_corrections(
    record: Accelerogram,
    *,
    baseline: str | None = None,
    band: tuple[float, float] | None = None,
    arias: tuple[float, float] | None = None,
    window: tuple[float, float] | None = None,
) -> Accelerogram:
    """Apply the requested corrections, in the order of the arguments."""
    if baseline is not None:
        record = remove_baseline(record, baseline)
    if band is not None:
        record = filter_band(record, *band)
    if arias is not None:
        record = cut_by_arias(record, arias)
    return record if window is None else cut_window(record, *window)


def scale(record: Accelerogram, factor: float) -> Accelerogram:
    """Multiply the acceleration by a factor."""
    return _with_acceleration(record, factor * record.acceleration, f"scaled by {factor:.6g}")


def scale_to_pga(record: Accelerogram, target: float) -> Accelerogram:
    """Scale to a peak acceleration [m/s2]."""
    return scale(record, _scale_factor(record, target, pga(record), "PGA"))


def scale_to_pgv(record: Accelerogram, target: float) -> Accelerogram:
    """Scale to a peak velocity [m/s]; it should be the last correction."""
    return scale(record, _scale_factor(record, target, pgv(record), "PGV"))


def _scale_factor(record: Accelerogram, target: float, actual: float, what: str) -> float:
    if actual == 0:
        raise InputError(f"record {record.name!r} is zero throughout; it cannot be scaled to a {what} of {target:g}")
    return target / actual


def remove_baseline(record: Accelerogram, kind: str) -> Accelerogram:
    """Subtract the least-squares polynomial in time from the acceleration: "constant" is its mean (T101). The squares have the
    weights of the integral over the samples, so that for any degree the velocity ends at zero."""
    if kind not in BASELINE_DEGREES:
        raise InputError(f"baseline {kind!r} is not known; give one of {', '.join(BASELINE_DEGREES)}")
    count = len(record.acceleration)
    weight = np.ones(count)
    weight[[0, -1]] = 0.5
    root = np.sqrt(weight)
    shapes = np.polynomial.legendre.legvander(np.linspace(-1.0, 1.0, count), BASELINE_DEGREES[kind])
    coefficients = np.linalg.lstsq(shapes * root[:, None], record.acceleration * root, rcond=None)[0]
    return _with_acceleration(record, record.acceleration - shapes @ coefficients, f"{kind} baseline taken off")


def filter_band(record: Accelerogram, low: float, high: float) -> Accelerogram:
    """Keep frequencies from `low` to `high` [Hz], by a Butterworth filter of fourth order that is run forwards and backwards:
    no
    phase shift, half the amplitude at the corners. Zeros are added on both sides for it and removed again."""
    from scipy.signal import butter, sosfiltfilt  # half a second to import

    nyquist = 0.5 / record.time_step
    if not 0 < low < high < nyquist:
        raise InputError(f"band from {low:g} to {high:g} Hz; give two frequencies above 0, the lower first, and below "
                         f"{nyquist:g} Hz, which is half of what record {record.name!r} was sampled with")  # fmt: skip
    if PADDING_PERIODS / low > MAX_PADDING_SAMPLES * record.time_step:
        raise InputError(f"band from {low:g} Hz: record {record.name!r} is too short for so low a frequency; give a higher one")
    pad = math.ceil(PADDING_PERIODS / low / record.time_step)
    sections = butter(FILTER_ORDER, (low, high), "bandpass", fs=1 / record.time_step, output="sos")
    passed = sosfiltfilt(sections, np.pad(record.acceleration, pad), padtype=None)[pad:-pad]
    return _with_acceleration(record, passed, f"band from {low:g} to {high:g} Hz")


def cut_window(record: Accelerogram, begin: float, end: float) -> Accelerogram:
    """Keep the samples from `begin` to `end` [s after the first], without tapering: the acceleration begins and ends
    abruptly."""
    first = math.ceil(begin / record.time_step - 1e-6)
    last = math.floor(min(end, record.duration) / record.time_step + 1e-6)
    if not 0 <= first < last:
        raise InputError(f"record {record.name!r} from {begin:g} to {end:g} s has no two samples; it is {record.duration:g} s "
                         f"long, with one sample per {record.time_step:g} s")  # fmt: skip
    times = f"{first * record.time_step:g} to {last * record.time_step:g} s"
    return _with_acceleration(record, record.acceleration[first : last + 1], f"cut to {times}")


def cut_by_arias(record: Accelerogram, shares: tuple[float, float]) -> Accelerogram:
    """Keep the samples between two shares of the Arias intensity, with at most one sample more on either side."""
    low, high = shares
    if not 0 <= low < high <= 1:
        raise InputError(f"arias = [{low:g}, {high:g}]; give two shares of the Arias intensity, from 0 to 1, the lower first")
    begin, end = (time / record.time_step for time in arias_times(record, shares))
    return cut_window(record, math.floor(begin + 1e-6) * record.time_step, math.ceil(end - 1e-6) * record.time_step)


def bring_to_rest(acceleration: Array, time_step: float) -> Array:
    """Subtract a cubic that is zero at both ends, such that velocity and displacement end at zero (T101)."""
    s = np.linspace(0.0, 1.0, len(acceleration))
    shapes = np.stack([s * (1 - s), s * (1 - s) * (2 * s - 1)])
    ends = np.array([[path[-1] for path in integrate_twice(shape, time_step)] for shape in shapes])
    end_values = [path[-1] for path in integrate_twice(acceleration, time_step)]
    return acceleration - np.linalg.solve(ends.T, end_values) @ shapes


def _with_acceleration(record: Accelerogram, acceleration: Array, done: str) -> Accelerogram:
    return replace(record, acceleration=acceleration, done=(*record.done, done))

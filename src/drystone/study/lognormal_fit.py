"""Fit a lognormal fragility, with median theta and standard deviation beta of the logarithm, to bounds of capacities.

A trial that collapses at intensity x bounds the capacity for its accelerogram to (0, x], one that stands to (x, inf), and an
incremental analysis to (low, high]. One likelihood covers all of them (T110); for counts by level it is the binomial likelihood
of NB (25), a probit regression. It is concave, so that Newton's method finds its only maximum. Where there is none (all stand,
all collapse, sharply separated levels, ...) the status says so and there are no numbers (T112).

>>> fit_lognormal(bounds_of_counts([0.5, 1.0, 2.0], [10, 10, 10], [1, 5, 9])).theta
1.0
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtrc, log_ndtr, ndtr, ndtri, stdtrit

from drystone.base.errors import InputError

Array = np.ndarray

FITTED, ALL_STAND, ALL_COLLAPSE, SHARP_STEP, NOT_RISING, NO_TRIALS = (
    "fitted", "all stand", "all collapse", "sharp", "not rising", "no trials")  # fmt: skip
MAX_NEWTON_STEPS = 100  # ten are usual
MIN_TRIALS_PER_GROUP = 5  # levels with fewer trials are grouped with their neighbours before they are compared with the fit
TOO_FEW_TO_JUDGE = "too few levels or records to tell whether the lognormal curve describes them"
DOUBTFUL_LOST_SHARE = 0.1  # bands are called doubtful if a larger share of the resamples has no fit


class CapacityBounds(NamedTuple):
    """The bounds that K trials put on capacities."""

    low: Array  # (K,) the capacity is above this intensity; 0: not known
    high: Array  # (K,) the capacity is at most this intensity; inf: not known
    record: Array  # (K,) int64 number of the accelerogram, from 0: trials with the same one are not independent


class Fit(NamedTuple):
    """The fragility Phi(ln(x / theta) / beta), or the reason why there is none."""

    status: str  # FITTED, or why there is no fit
    theta: float | None  # median capacity, in the unit of the intensities
    beta: float | None  # standard deviation of ln capacity
    error_theta: float | None  # standard error of ln theta from the information matrix, assuming independent trials
    error_beta: float | None  # standard error of ln beta
    between: tuple[float, float]  # without a fit: intensities between which the median lies; (0, inf) if unknown
    likelihood: float | None  # logarithm of the likelihood, without the binomial constants

    def probability(self, x: Array) -> Array:
        """The probability of collapse at intensities x."""
        return ndtr(np.log(np.asarray(x, float) / self.theta) / self.beta)


class Bands(NamedTuple):
    """Confidence bands of a fit, by resampling accelerograms (T113)."""

    theta: tuple[float, float]
    beta: tuple[float, float]
    probability: Array  # (p,) of collapse
    low: Array  # (p,) lower end of the intensity at which the curve has this probability
    high: Array  # (p,) upper end
    lost: float  # share of the resamples that have no fit


def bounds_of_trials(
    x: Sequence[float] | Array, collapsed: Sequence[bool] | Array, record: Sequence[int] | Array
) -> CapacityBounds:
    """The bounds of trials at intensities x."""
    x, collapsed = np.asarray(x, float), np.asarray(collapsed, bool)
    return CapacityBounds(np.where(collapsed, 0.0, x), np.where(collapsed, x, np.inf), np.asarray(record, np.int64))


def bounds_of_counts(x: Sequence[float] | Array, n: Sequence[int] | Array, z: Sequence[int] | Array) -> CapacityBounds:
    """The bounds of n independent trials at intensity x of which z collapse."""
    collapsed = [k < collapses for trials, collapses in zip(n, z, strict=True) for k in range(trials)]
    return bounds_of_trials(np.repeat(np.asarray(x, float), n), collapsed, np.arange(len(collapsed)))


def fit_lognormal(bounds: CapacityBounds) -> Fit:
    """Fit the fragility of maximum likelihood."""
    _check_bounds(bounds)
    low, high, counts = _columns(bounds)
    weight = counts.sum(axis=0)[None]
    status = _status(low, high, weight)[0]
    if status != FITTED:
        return Fit(status, None, None, None, None, _median_bracket(low, high, status), None)
    peak = _maximise(low, high, weight)
    information = np.linalg.inv(peak.information[0])
    slope = np.array([[-1, peak.a[0] / peak.b[0]], [0, -1]]) / peak.b[0]  # of ln theta and ln beta by a and b
    error_theta, error_beta = np.sqrt(np.diag(slope @ information @ slope.T)).tolist()
    theta, beta = float(np.exp(peak.median[0])), float(1 / peak.b[0])
    return Fit(status, theta, beta, error_theta, error_beta, (0.0, math.inf), float(peak.value[0]))


def confidence_bands(bounds: CapacityBounds, *, confidence: float = 0.95, resamples: int = 1000, seed: int = 0) -> Bands | None:
    """The bands of a fit from accelerograms drawn with replacement, each with all its trials; None if there is no fit or a
    single accelerogram. The mean bias of the resamples is subtracted, and their scatter is widened by Student's t for the
    number of accelerograms (T113)."""
    best = fit_lognormal(bounds)
    low, high, counts = _columns(bounds)
    records = len(counts)
    if best.theta is None or best.beta is None or records < 2:
        return None
    drawn = np.random.default_rng(seed).multinomial(records, np.full(records, 1 / records), size=resamples)
    weight = drawn @ counts
    weight = weight[_status(low, high, weight) == FITTED]
    if len(weight) < resamples / 2:
        return None
    peak = _maximise(low, high, weight)
    half_width = float(stdtrit(records - 1, 0.5 + confidence / 2)) * math.sqrt(records / (records - 1))

    def band(value: Array, resampled: Array) -> tuple[Array, Array]:
        middle, half = 2 * value - resampled.mean(axis=0), half_width * resampled.std(axis=0)
        return np.exp(middle - half), np.exp(middle + half)

    probability = np.concatenate([[0.001, 0.005], np.linspace(0.01, 0.99, 99), [0.995, 0.999]])
    spread = ndtri(probability)
    curve = band(math.log(best.theta) + best.beta * spread, peak.median[:, None] + spread / peak.b[:, None])
    theta = band(np.log(best.theta), peak.median)
    beta = band(np.log(best.beta), -np.log(peak.b))
    return Bands((float(theta[0]), float(theta[1])), (float(beta[0]), float(beta[1])), probability, *curve,
                 1 - len(weight) / resamples)  # fmt: skip


def goodness_of_fit(bounds: CapacityBounds, best: Fit, *, seed: int = 0) -> dict[str, Any]:
    """How well the fit describes the trials, in numbers and in a sentence; p is the probability of a worse agreement if the fit
    is true."""
    if best.theta is None:
        return {"sentence": _explain_missing_fit(best)}
    if np.any((bounds.low > 0) & np.isfinite(bounds.high)):
        distance, p = _kolmogorov(bounds, best, seed)
        sentence = TOO_FEW_TO_JUDGE if p is None else _verdict(p, f"the steps of the capacities are within {distance:.2f}")
        return {"distance": distance, "p": p, "sentence": sentence}
    deviance, pearson, freedom = _by_level(bounds, best)
    if freedom < 1:
        return {"deviance": deviance, "pearson": pearson, "freedom": freedom, "p": None, "sentence": TOO_FEW_TO_JUDGE}
    p = float(chdtrc(freedom, pearson))
    sentence = f"chi2 is {pearson:.3g} with {freedom} degrees of freedom"
    return {"deviance": deviance, "pearson": pearson, "freedom": freedom, "p": p, "sentence": _verdict(p, sentence)}


def fit_power_law(x: Sequence[float], y: Sequence[float]) -> dict[str, float] | None:
    """ln y = intercept + slope ln x, by least squares; scatter is the standard deviation about it (T114). None if there are
    fewer than three points or all have one x."""
    across, along = np.log(np.asarray(x, float)), np.log(np.asarray(y, float))
    if len(across) < 3 or np.ptp(across) < 1e-9:
        return None
    slope, intercept = np.polyfit(across, along, 1)
    deviation = along - intercept - slope * across
    return {
        "intercept": float(intercept),
        "slope": float(slope),
        "scatter": float(np.sqrt((deviation**2).sum() / (len(deviation) - 2))),
        "points": len(deviation),
    }


def describe_fit(best: Fit, band: Bands | None, *, size: float = 1.0, unit: str = "") -> str:
    """The fit as a sentence, with intensities in `unit`, which has this size in SI units."""
    unit = f" {unit}" if unit else ""
    if best.theta is None:
        return _explain_missing_fit(best, size, unit)
    sentence = f"theta {best.theta / size:.4g}{unit}, beta {best.beta:.3g}"
    if band is None:
        return f"{sentence}; no band: there are too few records, and most resamples have no fit"
    low, high = band.theta
    sentence += f"; 95 %: {low / size:.4g} to {high / size:.4g}{unit}, {band.beta[0]:.3g} to {band.beta[1]:.3g}"
    return (
        sentence
        if band.lost < DOUBTFUL_LOST_SHARE
        else f"{sentence}; doubtful: {band.lost:.0%} of the resamples have no fit, because there are too few records"
    )


def _explain_missing_fit(best: Fit, size: float = 1.0, unit: str = "") -> str:
    low, high = (x / size for x in best.between)
    bracket = f"the median capacity is between {low:.4g} and {high:.4g}{unit}" if low > 0 and high < math.inf else ""
    return {
        NO_TRIALS: "no trial gives information",
        ALL_STAND: f"all stand: the median capacity is above {low:.4g}{unit}; try higher intensities",
        ALL_COLLAPSE: f"all collapse: the median capacity is at most {high:.4g}{unit}; try lower intensities",
        SHARP_STEP: "at most one level has both standing and collapsed trials, so that beta goes to 0 and there is no fit: "
        f"{bracket or 'the median is not bracketed'}; try levels closer to each other",
        NOT_RISING: "collapses do not become more frequent with intensity; try other levels, more records or another measure",
    }[best.status]


def _verdict(p: float, sentence: str) -> str:
    if p < 0.01:
        return f"the lognormal curve does not describe the trials ({sentence}, p = {p:.2g})"
    opinion = "is in doubt" if p < 0.05 else "describes the trials"
    return f"the lognormal curve {opinion} ({sentence}, p = {p:.2g})"


def _check_bounds(bounds: CapacityBounds) -> None:
    low, high = bounds.low, bounds.high
    wrong = ~((low >= 0) & (low < high) & np.isfinite(low))
    if wrong.any():
        k = int(np.flatnonzero(wrong)[0])
        raise InputError(f"capacity {k} is between {low[k]:g} and {high[k]:g}; give intensities above 0, the lower one first")


def _columns(bounds: CapacityBounds) -> tuple[Array, Array, Array]:
    """The different bounds, and how often each record (row) has each of them. Trials that give no bound are left out."""
    informative = (bounds.low > 0) | np.isfinite(bounds.high)
    pairs, column = np.unique(
        np.stack([bounds.low[informative], bounds.high[informative]], axis=1), axis=0, return_inverse=True
    )
    names, row = np.unique(bounds.record[informative], return_inverse=True)
    counts = np.zeros((len(names), len(pairs)))
    np.add.at(counts, (row, column.ravel()), 1.0)
    return pairs[:, 0], pairs[:, 1], counts


def _median_bracket(low: Array, high: Array, status: str) -> tuple[float, float]:
    """The intensities between which the median lies if it satisfies all bounds (T112)."""
    if status in (NO_TRIALS, NOT_RISING):
        return 0.0, math.inf
    above, below = low.max(), high.min()
    if above == below:  # a level with both: between its neighbours
        above, below = low[low < below].max(initial=0.0), high[high > above].min(initial=math.inf)
    return float(above), float(below)


def _status(low: Array, high: Array, weight: Array) -> Array:
    """(R,) the status, FITTED if the likelihood has a maximum, for R weightings (R, K) of the bounds."""
    if not len(low):
        return np.full(len(weight), NO_TRIALS, object)
    used = weight > 0
    above, below = np.where(used, low, 0.0).max(axis=1), np.where(used, high, np.inf).min(axis=1)
    status = np.full(len(weight), FITTED, object)
    status[_is_not_rising(low, high, weight)] = NOT_RISING
    status[above <= below] = SHARP_STEP
    status[np.isinf(below)] = ALL_STAND
    status[above == 0] = ALL_COLLAPSE
    return status


def _is_not_rising(low: Array, high: Array, weight: Array) -> Array:
    """(R,) whether the mean of ln x is no higher for collapsed than for standing trials: the likelihood then decreases with the
    slope. If a trial has bounds on both sides the slope is positive anyway."""
    collapsed, standing = low == 0, np.isinf(high)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_collapsed = (weight[:, collapsed] @ np.log(high[collapsed])) / weight[:, collapsed].sum(axis=1)
        mean_standing = (weight[:, standing] @ np.log(low[standing])) / weight[:, standing].sum(axis=1)
        return (mean_collapsed <= mean_standing) & ~(weight[:, ~collapsed & ~standing] > 0).any(axis=1)


class _Peak(NamedTuple):
    """Maxima of R likelihoods, in which the probability is Phi(a + b (ln x - centre))."""

    a: Array  # (R,)
    b: Array  # (R,)
    median: Array  # (R,) ln theta
    value: Array  # (R,)
    information: Array  # (R, 2, 2) minus the second derivatives by a and b


def _maximise(low: Array, high: Array, weight: Array) -> _Peak:
    """Newton's method with halved steps on R concave functions at once; the bounds are (K,) or (R, K)."""
    with np.errstate(divide="ignore"):
        low, high = np.log(low), np.log(high)
    ends = np.concatenate([low[np.isfinite(low)], high[np.isfinite(high)]])
    centre = ends.mean()
    low, high = low - centre, high - centre
    parameters = np.tile([0.0, 1.0 / max(ends.std(), 0.1)], (len(weight), 1))  # a, b
    for _ in range(MAX_NEWTON_STEPS):
        value, slope, curvature = _likelihood(parameters, low, high, weight)
        step = np.linalg.solve(-curvature, slope[:, :, None])[:, :, 0]
        gain = np.einsum("ri,ri->r", slope, step)
        if gain.max() < 1e-14 * (1 + np.abs(value).max()):
            break
        share = np.ones(len(parameters))
        while True:
            candidate = parameters + share[:, None] * step
            candidate[:, 1] = np.maximum(candidate[:, 1], 0.1 * parameters[:, 1])
            with np.errstate(over="ignore", invalid="ignore"):  # a step that is too long is halved
                too_low = ~(_likelihood(candidate, low, high, weight)[0] >= value + 1e-4 * share * gain - 1e-12 * np.abs(value))
            if not too_low.any() or share.min() < 1e-9:
                break
            share[too_low] *= 0.5
        parameters = candidate
    a, b = parameters.T
    return _Peak(a, b, centre - a / b, value, -curvature)


def _likelihood(parameters: Array, low: Array, high: Array, weight: Array) -> tuple[Array, Array, Array]:
    """The logarithm (R,) of the likelihood (T110), its derivatives by a and b (R, 2) and the second ones (R, 2, 2)."""
    a, b = parameters[:, :1], parameters[:, 1:]
    x_low, x_high = (np.where(np.isfinite(x), x, 0.0) for x in (low, high))
    below, above = a + b * x_low, a + b * x_high
    inside = _log_between(np.where(np.isfinite(low), below, -np.inf), np.where(np.isfinite(high), above, np.inf))
    at_low = np.where(np.isfinite(low), np.exp(-0.5 * below**2 - inside), 0.0) / math.sqrt(2 * math.pi)
    at_high = np.where(np.isfinite(high), np.exp(-0.5 * above**2 - inside), 0.0) / math.sqrt(2 * math.pi)
    bend_low, bend_high, both = below * at_low - at_low**2, -above * at_high - at_high**2, at_low * at_high

    def total(value: Array) -> Array:
        return (weight * value).sum(axis=1)

    slope = np.stack([total(at_high - at_low), total(at_high * x_high - at_low * x_low)], axis=1)
    aa = total(bend_low + bend_high + 2 * both)
    ab = total(bend_low * x_low + bend_high * x_high + both * (x_low + x_high))
    bb = total(bend_low * x_low**2 + bend_high * x_high**2 + 2 * both * x_low * x_high)
    return total(inside), slope, np.stack([aa, ab, ab, bb], axis=1).reshape(-1, 2, 2)


def _log_between(below: Array, above: Array) -> Array:
    """ln(Phi(above) - Phi(below)) without cancellation: in the upper tail by its mirror image."""
    below, above = np.broadcast_arrays(below, above)
    mirrored = below > 0
    top, bottom = np.where(mirrored, -below, above), np.where(mirrored, -above, below)
    log_top = log_ndtr(top)
    return log_top + np.log(-np.expm1(np.minimum(log_ndtr(bottom) - log_top, -1e-300)))


def _by_level(bounds: CapacityBounds, best: Fit) -> tuple[float, float, int]:
    """Deviance, Pearson's chi2 and degrees of freedom of collapses by level; neighbouring levels are grouped until
    each group has MIN_TRIALS_PER_GROUP trials."""
    x = np.where(bounds.low > 0, bounds.low, bounds.high)
    level, row = np.unique(x, return_inverse=True)
    trials = np.bincount(row).astype(float)
    collapses = np.bincount(row, weights=bounds.low == 0)
    group = np.minimum(
        (np.cumsum(trials) - trials) // MIN_TRIALS_PER_GROUP, max(trials.sum() // MIN_TRIALS_PER_GROUP - 1, 0)
    ).astype(int)
    group = np.unique(group, return_inverse=True)[1]
    n, z, expected = (np.bincount(group, weights=w) for w in (trials, collapses, trials * best.probability(level)))
    expected = np.clip(expected, 1e-12 * n, (1 - 1e-12) * n)
    pearson = float(((z - expected) ** 2 * n / (expected * (n - expected))).sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(z > 0, z * np.log(z / expected), 0) + np.where(z < n, (n - z) * np.log((n - z) / (n - expected)), 0)
    return float(2 * parts.sum()), pearson, len(n) - 2


def _kolmogorov(bounds: CapacityBounds, best: Fit, seed: int, samples: int = 500) -> tuple[float, float | None]:
    """The largest distance between the step function of the capacities and the fit, and the share of random samples of the fit
    that are further away, censored and fitted in the same way as the capacities; None if most samples have no fit."""
    low, high = bounds.low, bounds.high
    exact = (low > 0) & np.isfinite(high)
    floor, ceiling = min(high[low == 0], default=0.0), max(low[np.isinf(high)], default=math.inf)
    width = float(np.median(high[exact] / low[exact]))
    theta, beta = float(best.theta or 0), float(best.beta or 0)
    capacity = theta * np.exp(beta * np.random.default_rng(seed).standard_normal((samples, len(low))))
    drawn_low = np.where(capacity <= floor, 0.0, np.where(capacity > ceiling, ceiling, capacity / math.sqrt(width)))
    drawn_high = np.where(capacity <= floor, floor, np.where(capacity > ceiling, np.inf, capacity * math.sqrt(width)))
    has_fit = drawn_low.max(axis=1) > drawn_high.min(axis=1)
    distance = float(_distance(low[None], high[None], np.array([math.log(theta)]), np.array([beta]))[0])
    if has_fit.mean() < 0.5:
        return distance, None
    drawn_low, drawn_high = drawn_low[has_fit], drawn_high[has_fit]
    peak = _maximise(drawn_low, drawn_high, np.ones(drawn_low.shape))
    further = _distance(drawn_low, drawn_high, peak.median, 1 / peak.b)
    return distance, float((further >= distance).mean())


def _distance(low: Array, high: Array, median: Array, spread: Array) -> Array:
    """(R,) the Kolmogorov distance of the middles of brackets with two ends; the others count as below or above."""
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = np.where(low == 0, -np.inf, np.where(np.isinf(high), np.inf, 0.5 * (np.log(low) + np.log(high))))
    middle = np.sort(middle, axis=1)
    count = middle.shape[1]
    curve = ndtr((middle - median[:, None]) / spread[:, None])
    rank = np.arange(count)
    deviation = np.maximum((rank + 1) / count - curve, curve - rank / count)
    return np.where(np.isfinite(middle), deviation, 0.0).max(axis=1)

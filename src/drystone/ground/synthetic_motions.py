"""Synthetic accelerograms, from a seed and the wanted properties; the same seed gives the same motion.

Both kinds are noise with an envelope that rises with the square of time, is constant, and decays exponentially (Jennings,
T103), and both end with zero velocity and displacement (corrections.py).
"""

import math
from functools import cache

import numpy as np

from drystone.base.errors import InputError
from drystone.ground.accelerogram import Accelerogram
from drystone.ground.corrections import bring_to_rest
from drystone.ground.design_spectra import DesignSpectrum
from drystone.ground.response_spectra import response_spectrum

Array = np.ndarray

STRONG_SHARES = (0.15, 0.5)  # shares of the duration between which the envelope is 1 by default
END_ENVELOPE = 0.05  # value of the envelope at the end
MATCHED_PERIODS = (0.05, 2.0)  # [s] range of periods for which the mismatch is stated, from a thousand of them
MATCHING_PERIODS = np.geomspace(0.02, 4.0, 320)  # [s] at which the spectrum is matched; six lie within a bandwidth
REST_NOTE = "brought to rest by a cubic baseline"
RAMP_SHARE = 0.05  # of a matched motion, over which it begins and ends: corrections spread beyond the envelope
MAX_SAMPLES = 10**6  # of a synthetic motion
MAX_ROUNDS = 60  # of matching; the best round is used


def make_kanai_tajimi(
    *, seed: int, duration: float, amplitude: float, frequency: float, damping: float, time_step: float = 0.01,
    strong: tuple[float, float] | None = None,
) -> Accelerogram:  # fmt: skip
    """White noise filtered by a layer of soil of `frequency` [Hz] and `damping` ratio (T104), with the peak `amplitude` [m/s2].
    `strong` [s, s]: the interval in which the envelope is 1."""
    count, envelope = _make_envelope(duration, time_step, strong)
    noise = np.fft.rfft(np.random.default_rng(seed).standard_normal(count))
    ratio = np.fft.rfftfreq(count, time_step) / frequency
    layer = (1 + 2j * damping * ratio) / (1 - ratio**2 + 2j * damping * ratio)
    shaking = bring_to_rest(envelope * np.fft.irfft(layer * noise, count), time_step)
    shaking *= amplitude / np.abs(shaking).max()
    made = f"made from seed {seed}: Kanai-Tajimi, {frequency:g} Hz, damping {damping:g}"
    return Accelerogram("kanai-tajimi", "", time_step, shaking, "m/s2", done=(made, REST_NOTE))


@cache  # a case is read many times in a study
def match_spectrum(
    target: DesignSpectrum, *, seed: int, duration: float, time_step: float = 0.01, strong: tuple[float, float] | None = None
) -> Accelerogram:
    """Noise whose Fourier amplitudes are corrected, at each frequency by the ratio of Sa at its period, until its spectrum is
    that of the code; `done` states the remaining mismatch."""
    count, envelope = _make_envelope(duration, time_step, strong)
    padded = 2 * count  # so that corrections do not wrap around the ends
    frequencies = np.fft.rfftfreq(padded, time_step)
    ramp = (
        np.sin(math.pi / 2 * np.clip(np.minimum(np.arange(count), np.arange(count)[::-1]) / (RAMP_SHARE * count), 0.0, 1.0))
        ** 2
    )
    shaking = envelope * np.random.default_rng(seed).standard_normal(count)
    factor = np.minimum(frequencies * MATCHING_PERIODS[-1], 1.0) ** 2  # reduces motion slower than the longest period
    judged = slice(*np.searchsorted(MATCHING_PERIODS, MATCHED_PERIODS))
    best, least = shaking, math.inf
    for _ in range(MAX_ROUNDS):
        corrected = np.fft.irfft(factor * np.fft.rfft(shaking, padded), padded)[:count]
        shaking = bring_to_rest(ramp * corrected, time_step)
        ratio = _spectral_ratio(shaking, time_step, target, MATCHING_PERIODS)
        mismatch = float(np.abs(ratio - 1)[judged].max())
        if mismatch < least:
            best, least = shaking, mismatch
        factor = np.interp(frequencies, 1 / MATCHING_PERIODS[::-1], 1 / ratio[::-1], left=1.0)
    mismatch = float(np.abs(_spectral_ratio(best, time_step, target, np.linspace(*MATCHED_PERIODS, 1000)) - 1).max())
    mismatch_words = f"at most {100 * mismatch:.1f} % off from {MATCHED_PERIODS[0]:g} to {MATCHED_PERIODS[1]:g} s"
    made = f"made from seed {seed}: matched to a design spectrum, {mismatch_words}"
    return Accelerogram("spectrum", "", time_step, best, "m/s2", done=(made, REST_NOTE))


def _spectral_ratio(shaking: Array, time_step: float, target: DesignSpectrum, periods: Array) -> Array:
    """The ratio of Sa to that of the code."""
    spectrum = response_spectrum(Accelerogram("", "", time_step, shaking, "m/s2"), periods, target.damping)
    return spectrum.pseudo_acceleration / target.acceleration(periods)


def _make_envelope(duration: float, time_step: float, strong: tuple[float, float] | None) -> tuple[int, Array]:
    """The number of samples, and the envelope (T103)."""
    begin, end = strong or (STRONG_SHARES[0] * duration, STRONG_SHARES[1] * duration)
    if not 0 <= begin <= end < duration:
        raise InputError(f"strong shaking from {begin:g} to {end:g} s of {duration:g} s; give two instants within the duration")
    if not duration <= MAX_SAMPLES * time_step:
        message = f"{duration:g} s at every {time_step:g} s are more than {MAX_SAMPLES:,} samples"
        raise InputError(f"{message}; give a shorter motion or a longer time step")
    count = round(duration / time_step) + 1
    t = np.arange(count) * time_step
    rise = np.minimum(t / begin, 1.0) ** 2 if begin > 0 else np.ones(count)
    return count, rise * np.exp(math.log(END_ENVELOPE) * np.maximum(t - end, 0.0) / (duration - end))

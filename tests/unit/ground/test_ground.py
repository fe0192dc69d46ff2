"""Measures, spectra, corrections and made-up motions: closed forms, quadrature, an ODE solver, and what a thing must be."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from drystone.base.errors import InputError
from drystone.ground import corrections, intensity_measures
from drystone.ground.accelerogram import Accelerogram
from drystone.ground.design_spectra import eurocode, ntc
from drystone.ground.response_spectra import response_spectrum
from drystone.ground.samples import integrate_twice
from drystone.ground.synthetic_motions import _make_envelope, make_kanai_tajimi, match_spectrum


def record(acceleration, time_step=0.01):
    return Accelerogram("made", "", time_step, np.asarray(acceleration, float), "m/s2")


NOISE = record(np.random.default_rng(8).normal(size=400) * np.hanning(400), 0.02)


def interpolated(s):
    return np.interp(s, np.arange(400) * 0.02, NOISE.acceleration)


# --- measures ---


def test_peaks_of_a_triangle():
    """0, 3, 0, -3, 0 a second apart: velocity 0, 1.5, 3, 1.5, 0; displacement by hand 0, 1/2, 3, 5.5, 6."""
    triangle = record([0, 3, 0, -3, 0], 1.0)
    velocity, displacement = integrate_twice(triangle.acceleration, 1.0)
    np.testing.assert_allclose(velocity, [0, 1.5, 3, 1.5, 0])
    np.testing.assert_allclose(displacement, [0, 0.5, 3, 5.5, 6])
    assert (
        intensity_measures.pga(triangle),
        intensity_measures.pgv(triangle),
        intensity_measures.pgd(triangle),
    ) == pytest.approx((3, 3, 6))
    assert intensity_measures.cav(triangle) == pytest.approx(6)  # two triangles of base 2 and height 3
    assert intensity_measures.arias(triangle) == pytest.approx(math.pi / (2 * 9.81) * 12)  # four times 9/3


def test_integral_measures_by_quadrature():
    """Of straight lines between samples; CAV and Arias need the sign changes between samples to be right."""
    lines = [(i * 0.02, (i + 1) * 0.02) for i in range(399)]
    both = [sum(quad(f, a, b, epsabs=1e-12, limit=200)[0] for a, b in lines)
            for f in (lambda s: abs(interpolated(s)), lambda s: interpolated(s) ** 2)]  # fmt: skip
    assert intensity_measures.cav(NOISE) == pytest.approx(both[0], rel=1e-7)
    assert intensity_measures.arias(NOISE) == pytest.approx(math.pi / (2 * 9.81) * both[1], rel=1e-9)


def test_durations_of_a_block():
    """Constant acceleration: the Arias intensity grows evenly, so 5-95 % is nine tenths of the time."""
    block = record(np.full(101, 2.0))
    assert intensity_measures.significant_duration(block) == pytest.approx(0.9)
    assert intensity_measures.significant_duration(block, (0.05, 0.75)) == pytest.approx(0.7)
    assert intensity_measures.arias_times(block, (0.25, 0.5)) == pytest.approx((0.25, 0.5))
    with pytest.raises(InputError, match="zero throughout"):
        intensity_measures.significant_duration(record(np.zeros(5)))


def test_predominant_period_of_a_sine():
    t = np.arange(4000) * 0.005
    assert intensity_measures.predominant_period(record(np.sin(2 * np.pi * t / 0.4), 0.005)) == pytest.approx(0.4, rel=0.03)


def test_intensities_by_name():
    """The same numbers by other ways; avgSa by the definition: the tenth root of a product."""
    spectrum = response_spectrum(NOISE, np.linspace(0.2, 1.0, 10)).pseudo_acceleration
    assert intensity_measures.intensity(NOISE, "avgSa(0.2 s, 1 s)") == pytest.approx(np.prod(spectrum) ** 0.1)
    assert intensity_measures.intensity(NOISE, "Sa(200 ms)") == pytest.approx(spectrum[0])
    assert (
        intensity_measures.intensity(NOISE, "PGA")
        == intensity_measures.intensity(NOISE, "Sa(0 s)")
        == np.abs(NOISE.acceleration).max()
    )
    assert intensity_measures.intensity(NOISE, "PGV") == intensity_measures.pgv(NOISE)
    for wrong in ("pga", "Sa", "Sa(1 s, 2 s)", "avgSa(1 s)", "avgSa(2 s, 1 s)", "Sa(-1 s)"):
        with pytest.raises(InputError, match="is not an intensity measure"):
            intensity_measures.intensity(NOISE, wrong)
    with pytest.raises(InputError, match=r"'0\.5' has no unit"):
        intensity_measures.intensity(NOISE, "Sa(0.5)")


# --- spectra ---


ALWAYS = ((0.03, 0.05), (0.1, 0.0), (0.7, 0.3), (3.0, 0.05))  # every period and damping; all pairs of them in `make soak`
OSCILLATORS = [pytest.param(period, damping, marks=[] if (period, damping) in ALWAYS else pytest.mark.soak)
               for period in (0.03, 0.1, 0.7, 3.0) for damping in (0.0, 0.05, 0.3)]  # fmt: skip


@pytest.mark.parametrize(("period", "damping"), OSCILLATORS)
def test_spectrum_against_an_ode_solver(period, damping):
    """u'' + 2 z w u' + w2 u = -a by DOP853 on a fine table, from rest to one period after the end; 0.03 s is 1.5 samples.
    White noise is the worst there is: its slope changes at every sample, and with it the curvature of the response."""
    omega = 2 * math.pi / period

    def rate(s, state, begin):
        ground = interpolated(s) if begin < 7.97 else 0.0
        return [state[1], -2 * damping * omega * state[1] - omega**2 * state[0] - ground]

    peaks, state = np.zeros(3), [0.0, 0.0]
    for begin, end in pairwise([*(np.arange(400) * 0.02), 7.98 + period]):
        points = np.linspace(begin, end, 400)
        found = solve_ivp(rate, (begin, end), state, method="DOP853", t_eval=points, rtol=1e-9, atol=1e-12, args=(begin,)).y
        state = found[:, -1]
        total = omega**2 * found[0] + 2 * damping * omega * found[1]
        peaks = np.maximum(peaks, np.abs([found[0], found[1], total]).max(axis=1))
    spectrum = response_spectrum(NOISE, [period], damping)
    ours = (spectrum.displacement[0], spectrum.velocity[0], spectrum.acceleration[0])
    np.testing.assert_allclose(ours, peaks, rtol=3e-3)


def test_a_step_pushes_twice_as_far():
    """A constant a from rest on: without damping u = -a/w2 (1 - cos wt), damped it overshoots by exp(-pi z/sqrt(1 - z2))."""
    step, omega = record(np.full(1001, 3.0)), 2 * math.pi / 0.5
    assert response_spectrum(step, [0.5], 0.0).displacement[0] == pytest.approx(2 * 3.0 / omega**2, rel=1e-4)
    overshoot = 1 + math.exp(-math.pi * 0.1 / math.sqrt(1 - 0.01))
    assert response_spectrum(step, [0.5], 0.1).pseudo_acceleration[0] == pytest.approx(3.0 * overshoot, rel=2e-4)


def test_resonance_of_a_sine():
    """Steady state of a damped oscillator at its own frequency: 1/(2 z) times the static displacement."""
    t = np.arange(20000) * 0.002
    found = response_spectrum(record(1.5 * np.sin(2 * np.pi * t / 0.5), 0.002), [0.5], 0.05)
    assert found.pseudo_acceleration[0] == pytest.approx(1.5 / 0.1, rel=1e-3)


def test_a_peak_after_the_end_is_seen():
    """A short push, long period: the largest displacement comes a quarter period later: impulse / omega."""
    push, omega = record([0.0, 50.0, 0.0], 0.01), 2 * math.pi / 2.0
    assert response_spectrum(push, [2.0], 0.0).displacement[0] == pytest.approx(0.5 / omega, rel=0.006)


def test_bad_spectra_are_refused():
    with pytest.raises(InputError, match="from -1 to 2 s; give 0 or more"):
        response_spectrum(NOISE, [-1.0, 2.0])
    with pytest.raises(InputError, match="damping ratio is 5"):
        response_spectrum(NOISE, [1.0], 5)


# --- corrections ---


@pytest.mark.parametrize(("kind", "added"), [("constant", [0.3]), ("linear", [0.1, -0.2]), ("quadratic", [0.1, 0.2, 0.3])])
def test_a_baseline_is_found(kind, added):
    """What was added is taken off again, and the velocity ends at zero."""
    clean = corrections.remove_baseline(NOISE, kind)
    offset = np.polynomial.Polynomial(added)(np.arange(400) * 0.02)
    again = corrections.remove_baseline(record(NOISE.acceleration + offset, 0.02), kind)
    np.testing.assert_allclose(again.acceleration, clean.acceleration, atol=1e-12)
    assert abs(integrate_twice(again.acceleration, 0.02)[0][-1]) < 1e-12
    assert again.done == (f"{kind} baseline taken off",)


def test_a_band_keeps_what_is_in_it():
    """Sines of 0.02, 2 and 20 Hz with a band of 0.2 to 10 Hz: the middle one stays, with its phase; at a corner half."""
    t = np.arange(8000) * 0.01
    bell = np.hanning(8000)
    middle = np.sin(2 * np.pi * 2 * t) * bell
    mixed = middle + (np.sin(2 * np.pi * 0.02 * t) + np.sin(2 * np.pi * 20 * t)) * bell
    passed = corrections.filter_band(record(mixed), 0.2, 10.0).acceleration
    np.testing.assert_allclose(passed, middle, atol=2e-3)
    high = np.sin(2 * np.pi * 10 * t) * bell
    corner = corrections.filter_band(record(high), 0.2, 10.0).acceleration
    np.testing.assert_allclose(corner, high / 2, atol=0.002)


def test_brought_to_rest():
    """Neither velocity nor displacement in the end, and nothing new at both ends."""
    rest = corrections.bring_to_rest(NOISE.acceleration, 0.02)
    velocity, displacement = integrate_twice(rest, 0.02)
    assert abs(velocity[-1]) < 1e-13
    assert abs(displacement[-1]) < 1e-13
    assert rest[[0, -1]] == pytest.approx(NOISE.acceleration[[0, -1]])


# --- design spectra and made-up motions ---


def test_design_spectra_by_hand():
    """EC8 type 1, soil B, ag 0.2 g: S 1.2, corners 0.15, 0.5, 2 s. NTC 2018, soil C, ag 0.25 g, F0 2.4, TC* 0.35 s:
    SS = 1.7 - 0.6 2.4 0.25 = 1.34, CC = 1.05 0.35^-0.33 = 1.485, TC = 0.5197 s, TD = 2.6 s."""
    ground = 0.2 * 9.81 * 1.2
    found = eurocode(0.2 * 9.81, "B").acceleration(np.array([0.0, 0.075, 0.3, 1.0, 4.0]))
    np.testing.assert_allclose(found, ground * np.array([1, 1.75, 2.5, 1.25, 2.5 * 0.5 * 2 / 16]))
    assert eurocode(1.0, "A", 2, damping=0.20).acceleration(np.array(0.1)) == pytest.approx(2.5 * math.sqrt(10 / 25))
    assert eurocode(1.0, "A", damping=0.50).acceleration(np.array(0.2)) == pytest.approx(2.5 * 0.55)
    italian = ntc(0.25 * 9.81, "C", 2.4, 0.35)
    assert italian.ground == pytest.approx(0.25 * 9.81 * 1.34)
    assert italian.corners == pytest.approx((0.5197 / 3, 0.5197, 2.6), rel=1e-3)
    with pytest.raises(InputError, match="soil 'F' is not known; give one of A, B, C, D, E"):
        eurocode(1.0, "F")


@pytest.mark.parametrize("target", [eurocode(2.0, "B"), ntc(2.5, "C", 2.4, 0.35)], ids=["EC8", "NTC"])
def test_a_matched_motion_has_the_spectrum(target):
    """As near as it says of itself, at other periods than it was matched or told at; and that is near."""
    motion = match_spectrum(target, seed=1, duration=20.0)
    periods = np.linspace(0.05, 2.0, 500)
    ratio = response_spectrum(motion, periods).pseudo_acceleration / target.acceleration(periods)
    assert "from 0.05 to 2 s" in motion.done[0]
    said = float(motion.done[0].split("at most ")[1].split(" %")[0])
    assert 100 * np.abs(ratio - 1).max() < said + 0.3
    assert said < 13.0
    assert (motion.acceleration[[0, -1]] == 0.0).all()
    _, velocity, displacement = motion.interpolator(np.array(20.0))
    assert abs(velocity) < 1e-12
    assert abs(displacement) < 1e-11


def test_kanai_tajimi_has_its_density():
    """The mean periodogram of 300 stationary motions against |H|2 of the soil layer, in bands; it would be off for another
    frequency or damping. Under the envelope and the peak the motion is made the same way."""
    frequency, damping, count = 2.5, 0.6, 2001
    bands = np.zeros(12)
    edges = np.linspace(0.5, 12.5, 13)
    for seed in range(300):
        layer = {"frequency": frequency, "damping": damping}
        motion = make_kanai_tajimi(seed=seed, duration=20.0, amplitude=1.0, **layer, strong=(0.0, 19.99))
        power = np.abs(np.fft.rfft(motion.acceleration[:-1])) ** 2
        power /= power.sum()
        at = np.fft.rfftfreq(count - 1, 0.01)
        bands += [power[(at >= a) & (at < b)].sum() for a, b in pairwise(edges)]
    ratio = np.linspace(0.5, 12.5, 12001) / frequency
    density = (1 + 4 * damping**2 * ratio**2) / ((1 - ratio**2) ** 2 + 4 * damping**2 * ratio**2)
    expected = density[:-1].reshape(12, -1).sum(axis=1)
    np.testing.assert_allclose(bands / bands.sum(), expected / expected.sum(), rtol=0.03)


def test_envelope():
    """Square rise, one, and 5 % left at the end."""
    count, envelope = _make_envelope(10.0, 0.1, (2.0, 5.0))
    assert count == 101
    np.testing.assert_allclose(envelope[[0, 10, 20, 50, 100]], [0, 0.25, 1, 1, 0.05])
    assert envelope[75] == pytest.approx(math.sqrt(0.05))

"""Motions: the closed forms are integrals of each other (checked by quadrature), and known end values are met."""

import numpy as np
import pytest
from scipy.integrate import quad

from drystone.base.errors import InputError
from drystone.ground.accelerogram import Accelerogram
from drystone.ground.motion import (
    Motion,
    select_ground_motions,
    select_support_motions,
    total_acceleration,
    total_displacement,
    total_velocity,
)
from drystone.ground.samples import integrate_twice

SAMPLES = np.random.default_rng(4).normal(size=9)  # [m/s2] 0.4 s of them
MOTIONS = {
    "rectangular": Motion("rectangular", amplitude=2.0, duration=0.4, start=0.3),
    "half-sine": Motion("half-sine", amplitude=-3.0, half_period=0.25),
    "one-sine": Motion("one-sine", amplitude=8.0, half_period=0.25, start=0.1),
    "biphasic": Motion("biphasic", amplitude=10.0, duration=0.3, start=0.2),
    "sine": Motion("sine", amplitude=1.5, half_period=0.2),
    "settlement": Motion("settlement", displacement_amplitude=0.05, duration=0.8, start=0.3),
    "stopped sine": Motion("sine", amplitude=1.5, half_period=0.2, duration=0.7),
    "ricker": Motion("ricker", amplitude=4.0, half_period=0.15, start=0.1),
    "mavroeidis-papageorgiou": Motion(
        "mavroeidis-papageorgiou", velocity_amplitude=0.5, half_period=0.2, oscillations=2.3, phase=0.7, start=0.1
    ),
    "hardly one oscillation": Motion(
        "mavroeidis-papageorgiou", amplitude=3.0, half_period=0.4, oscillations=1.0 + 1e-9, phase=1.2
    ),
    "record": Motion("record", record=Accelerogram("made", "EW", 0.05, SAMPLES, "m/s2"), start=0.1),
}
# Where some pulse has a jump or a kink.
BREAKS = [0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 1.0, 1.02, 1.1]


@pytest.mark.parametrize("name", MOTIONS)
@pytest.mark.parametrize("t", [0.05, 0.27, 0.61, 1.5])
def test_velocity_and_displacement_are_integrals(name, t):
    """Source of truth: adaptive quadrature of the acceleration and of the velocity, split at the jumps."""
    motion = MOTIONS[name]
    breaks = [b for b in BREAKS if b < t] or None
    for rate, value in ((motion.acceleration, motion.velocity), (motion.velocity, motion.displacement)):
        integral, _ = quad(lambda s, f=rate: f(s)[0], 0.0, t, points=breaks, epsabs=1e-13, limit=200)
        assert value(t)[0] == pytest.approx(integral, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "end_velocity"),
    [
        ("rectangular", 2.0 * 0.4),  # a d
        ("half-sine", -3.0 * 2 * 0.25 / np.pi),  # 2 a T / pi
        ("one-sine", 0.0),
        ("biphasic", 0.0),  # a d - a/2 2d
    ],
)
def test_velocity_after_the_pulse(name, end_velocity):
    assert MOTIONS[name].velocity(5.0)[0] == pytest.approx(end_velocity, abs=1e-14)


def test_displacement_after_a_biphasic():
    """a d2/2 + a d 2d - a/4 (2d)2 = 3/2 a d2, and it stays there."""
    np.testing.assert_allclose(MOTIONS["biphasic"].displacement([2.0, 9.0])[:, 0], 1.5 * 10 * 0.3**2)


def test_nothing_before_the_start():
    for motion in MOTIONS.values():
        for values in (motion.velocity, motion.displacement):
            np.testing.assert_array_equal(values(np.array([-1.0, 0.0, motion.start])), 0.0)
        np.testing.assert_array_equal(motion.acceleration(motion.start - 1e-9), 0.0)


def test_sine_by_displacement():
    """x = d sin(pi t/T): derivatives by central differences; the velocity jumps to d pi/T and back to 0."""
    d, half_period = 0.02, 0.25
    motion = Motion("sine", displacement_amplitude=d, half_period=half_period, duration=0.5, start=0.1)
    t, h = np.array([0.13, 0.2, 0.41, 0.55]), 1e-5
    np.testing.assert_allclose(motion.displacement(t)[:, 0], d * np.sin(np.pi * (t - 0.1) / half_period))
    for rate, value in ((motion.velocity, motion.displacement), (motion.acceleration, motion.velocity)):
        np.testing.assert_allclose(rate(t), (value(t + h) - value(t - h)) / (2 * h), rtol=1e-6, atol=1e-6)
    assert motion.velocity(0.1)[0] == 0.0
    assert motion.velocity(0.1 + 1e-12)[0] == pytest.approx(d * np.pi / half_period)
    assert motion.velocity(0.7)[0] == 0.0
    np.testing.assert_allclose(motion.displacement(0.7), 0.0, atol=1e-16)  # two half periods: back where it was


def test_a_settlement_stays_where_it_went():
    motion = MOTIONS["settlement"]
    np.testing.assert_allclose(motion.displacement([0.3, 0.7, 1.1, 9.0])[:, 0], [0.0, 0.025, 0.05, 0.05], atol=1e-15)
    np.testing.assert_allclose(motion.velocity([0.3, 1.1, 9.0])[:, 0], 0.0, atol=1e-15)


def test_ricker_is_the_second_derivative_of_a_bell():
    """Its peak is the amplitude, three half periods after the start; zeros of the acceleration 1/(sqrt(2) b) before and after
    it, b = pi/(2 half_period); and the Fourier spectrum is largest at the period of two half periods."""
    motion = Motion("ricker", amplitude=4.0, half_period=0.15)
    np.testing.assert_allclose(motion.acceleration(0.45)[0], 4.0)
    zero = np.sqrt(0.5) * 2 * 0.15 / np.pi
    np.testing.assert_allclose(motion.acceleration([0.45 - zero, 0.45 + zero])[:, 0], 0.0, atol=1e-14)
    t = np.arange(0.0, 30.0, 1e-3)  # [s]; the frequencies are 1/30 Hz apart
    spectrum = np.abs(np.fft.rfft(motion.acceleration(t)[:, 0]))
    assert np.fft.rfftfreq(len(t), 1e-3)[spectrum.argmax()] == pytest.approx(1 / 0.3, abs=1 / 60)
    assert abs(motion.velocity(9.0)[0]) < 1e-9
    assert abs(motion.acceleration(0.0)[0]) < 1e-7


def test_mavroeidis_papageorgiou_is_the_published_velocity():
    """v = A/2 (1 + cos(2 pi f t / gamma)) cos(2 pi f t + nu) for |t| < gamma/(2 f), f = 1/(2 half_period) (BSSA 2003, their
    equation 3)."""
    motion, f, gamma, nu = MOTIONS["mavroeidis-papageorgiou"], 2.5, 2.3, 0.7
    t = np.linspace(-gamma / (2 * f), gamma / (2 * f), 41)
    published = 0.25 * (1 + np.cos(2 * np.pi * f * t / gamma)) * np.cos(2 * np.pi * f * t + nu)
    assert motion.length == pytest.approx(gamma / f)
    np.testing.assert_allclose(motion.velocity(0.1 + gamma / (2 * f) + t)[:, 0], published, atol=1e-14)
    assert abs(motion.velocity(9.0)[0]) < 1e-15


def test_a_pulse_given_by_its_amplitude_has_that_peak():
    """Of a fine table of accelerations."""
    for motion in (MOTIONS["hardly one oscillation"], MOTIONS["ricker"]):
        t = np.linspace(motion.start, motion.start + motion.length, 200_001)
        assert np.abs(motion.acceleration(t)).max() == pytest.approx(motion.amplitude, rel=2e-6)


def test_a_record_goes_through_its_samples():
    """Acceleration: straight lines between the samples, by numpy. A sample is met at its instant, after the last it coasts."""
    motion = MOTIONS["record"]
    t = np.linspace(0.1, 0.4999, 77)
    np.testing.assert_allclose(motion.acceleration(t)[:, 0], np.interp(t - 0.1, 0.05 * np.arange(9), SAMPLES), atol=1e-13)
    velocity, displacement = integrate_twice(SAMPLES, 0.05)
    at = 0.1 + 0.05 * np.arange(9)
    np.testing.assert_allclose(motion.velocity(at)[:, 0], velocity, atol=1e-14)
    np.testing.assert_allclose(motion.displacement(at)[:, 0], displacement, atol=1e-14)
    np.testing.assert_array_equal(motion.acceleration([0.51, 3.0]), 0.0)
    np.testing.assert_allclose(motion.displacement(2.5)[0], displacement[-1] + 2.0 * velocity[-1])
    assert (motion.length, motion.label) == (pytest.approx(0.4), "made EW")


def test_direction_is_made_unit():
    motion = Motion("rectangular", amplitude=5.0, duration=1.0, direction=(-3.0, 0.0, 4.0))
    np.testing.assert_allclose(motion.acceleration(0.5), [-3.0, 0.0, 4.0])
    assert motion.acceleration(0.5).shape == (3,)
    assert motion.acceleration(np.linspace(0, 1, 7)).shape == (7, 3)


def test_motions_are_summed_and_sorted_by_what_they_move():
    ground = Motion("rectangular", amplitude=1.0, duration=1.0)
    upward = Motion("rectangular", amplitude=2.0, duration=1.0, direction=(0, 0, 1))
    pier = Motion("rectangular", amplitude=4.0, duration=1.0, supports=("pier",))
    motions = [ground, upward, pier]
    assert select_ground_motions(motions) == (ground, upward)
    assert select_support_motions(motions, "pier") == (pier,)
    np.testing.assert_allclose(total_acceleration(select_ground_motions(motions), 0.5), [1.0, 0.0, 2.0])
    np.testing.assert_allclose(total_velocity(select_ground_motions(motions), 0.5), [0.5, 0.0, 1.0])
    np.testing.assert_allclose(total_displacement(select_ground_motions(motions), 2.0), [1.5, 0.0, 3.0])
    assert total_displacement((), np.zeros(4)).shape == (4, 3)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"pulse": "bang"}, "pulse 'bang' is not known; give one of rectangular"),
        ({"pulse": "sine", "half_period": 1.0}, "either an amplitude in m/s2 or a displacement in m"),
        ({"pulse": "half-sine", "half_period": 1.0}, "a half-sine needs an amplitude"),
        ({"pulse": "half-sine", "half_period": 1.0, "displacement_amplitude": 1.0}, "an amplitude in m/s2; displacement_amp"),
        ({"pulse": "half-sine", "amplitude": 1.0}, "needs its half_period in s"),
        ({"pulse": "settlement", "amplitude": 1.0, "duration": 1.0}, "a settlement needs a displacement in m; amplitude given"),
        ({"pulse": "half-sine", "amplitude": 1.0, "half_period": 1.0, "duration": 1.0}, "takes no duration"),
        ({"pulse": "rectangular", "amplitude": 1.0, "duration": 0.0}, "duration of a rectangular is 0.0"),
        ({"pulse": "ricker", "half_period": 1.0, "velocity_amplitude": 1.0}, "needs an amplitude in m/s2; velocity_amplitude"),
        ({"pulse": "mavroeidis-papageorgiou", "amplitude": 1.0, "half_period": 1.0, "phase": 0.0}, "needs its oscillations"),
        (
            {"pulse": "mavroeidis-papageorgiou", "amplitude": 1.0, "half_period": 1.0, "phase": 0.0, "oscillations": 0.5},
            "oscillations of a mavroeidis-papageorgiou is 0.5; give a number above 1",
        ),
        ({"pulse": "record"}, "a record needs an accelerogram"),
        ({"pulse": "record", "record": Accelerogram("x", "", 0.1, np.zeros(1), "g")}, "record 'x' has 1 samples"),
        ({"pulse": "rectangular", "amplitude": np.nan, "duration": 1.0}, "amplitude of a rectangular is nan"),
        ({"pulse": "rectangular", "amplitude": 1.0, "duration": 1.0, "direction": (0, 0, 0)}, "not all zero"),
    ],
)
def test_bad_motions_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        Motion(**values)

"""Motions: the closed forms are integrals of each other (checked by quadrature), and known end values are met."""

import numpy as np
import pytest
from scipy.integrate import quad

from drystone.errors import InputError
from drystone.motion import Motion, acceleration, displacement, of_ground, of_support, velocity

MOTIONS = {
    "rectangular": Motion("rectangular", amplitude=2.0, duration=0.4, start=0.3),
    "half-sine": Motion("half-sine", amplitude=-3.0, half_period=0.25),
    "one-sine": Motion("one-sine", amplitude=8.0, half_period=0.25, start=0.1),
    "biphasic": Motion("biphasic", amplitude=10.0, duration=0.3, start=0.2),
    "sine": Motion("sine", amplitude=1.5, half_period=0.2),
    "settlement": Motion("settlement", displacement_amplitude=0.05, duration=0.8, start=0.3),
    "stopped sine": Motion("sine", amplitude=1.5, half_period=0.2, duration=0.7),
}
BREAKS = [0.1, 0.2, 0.25, 0.3, 0.5, 0.6, 0.7, 1.1]  # where some pulse has a jump or a kink


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
    assert of_ground(motions) == (ground, upward)
    assert of_support(motions, "pier") == (pier,)
    np.testing.assert_allclose(acceleration(of_ground(motions), 0.5), [1.0, 0.0, 2.0])
    np.testing.assert_allclose(velocity(of_ground(motions), 0.5), [0.5, 0.0, 1.0])
    np.testing.assert_allclose(displacement(of_ground(motions), 2.0), [1.5, 0.0, 3.0])
    assert displacement((), np.zeros(4)).shape == (4, 3)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"pulse": "bang"}, "pulse 'bang' is not known; give one of rectangular"),
        ({"pulse": "sine", "half_period": 1.0}, "either an amplitude in m/s2 or a displacement in m"),
        ({"pulse": "half-sine", "half_period": 1.0}, "a half-sine needs an amplitude"),
        ({"pulse": "half-sine", "half_period": 1.0, "displacement_amplitude": 1.0}, "given by its acceleration"),
        ({"pulse": "half-sine", "amplitude": 1.0}, "needs a half_period in s"),
        ({"pulse": "settlement", "amplitude": 1.0, "duration": 1.0}, "a settlement is given by its displacement"),
        ({"pulse": "half-sine", "amplitude": 1.0, "half_period": 1.0, "duration": 1.0}, "takes no duration"),
        ({"pulse": "rectangular", "amplitude": 1.0, "duration": 0.0}, "duration of a rectangular is 0.0"),
        ({"pulse": "rectangular", "amplitude": np.nan, "duration": 1.0}, "amplitude of a rectangular is nan"),
        ({"pulse": "rectangular", "amplitude": 1.0, "duration": 1.0, "direction": (0, 0, 0)}, "not all zero"),
    ],
)
def test_bad_motions_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        Motion(**values)

"""Quantities with units against their definitions (SI brochure; g = 9.81 m/s2 is the project's choice)."""

import math

import pytest

from drystone.base.errors import InputError
from drystone.base.units import GRAVITY, UNITS, parse_quantity


@pytest.mark.parametrize(
    ("given", "dimension", "si"),
    [
        (2.5, "length", 2.5),
        (3, "length", 3.0),
        ("12 mm", "length", 0.012),
        ("12cm", "length", 0.12),
        ("1 ms", "time", 0.001),
        ("180 deg", "angle", math.pi),
        ("90°", "angle", math.pi / 2),
        ("0.8 g", "acceleration", 0.8 * 9.81),
        ("250 cm/s^2", "acceleration", 2.5),
        ("-1.5e1 m/s²", "acceleration", -15.0),
        ("2 t/m3", "density", 2000.0),
        ("19.62 kN/m3", "density", 2000.0),  # 19.62 kN/m3 / 9.81 m/s2
        ("36 km/h", "velocity", 10.0),
        ("30 GPa", "stress", 30e9),
        ("5 N/mm2", "stress", 5e6),
        ("2 kN", "force", 2000.0),
        ("2 Hz", "frequency", 2.0),
        (0.6, "dimensionless", 0.6),
        ("20 %", "dimensionless", 0.2),
    ],
)
def test_value_in_si(given, dimension, si):
    assert parse_quantity(given, dimension) == pytest.approx(si, rel=1e-15)


def test_decimal_units_round_as_the_literal_does():
    """A time step of "3 ms" must be the float 0.003, not 3 * 0.001 = 0.003 + 1 ulp."""
    assert all(parse_quantity(f"{n} ms", "time") == n / 1000 for n in range(1, 100))


def test_g_is_gravity():
    assert parse_quantity("1 g", "acceleration") == GRAVITY == 9.81


@pytest.mark.parametrize("dimension", UNITS)
@pytest.mark.parametrize("given", ["1 parsec", "m", "", None, True, [1], math.nan, math.inf, 10**400, "nan m", "1e999 m"])
def test_refusal_lists_the_accepted_units(given, dimension):
    with pytest.raises(InputError) as caught:
        parse_quantity(given, dimension)
    assert all(unit in str(caught.value) for unit in UNITS[dimension])


def test_a_bare_number_in_a_string_is_not_guessed():
    with pytest.raises(InputError, match=r"'10' has no unit; give a number in SI \(m\)"):
        parse_quantity("10", "length")

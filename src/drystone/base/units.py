"""Units of input: reads a number in SI, or a string with a unit, as a float in SI.

Plain numbers are in SI (angles in rad); a string must have a unit, which is never guessed. `Length`, `Time`, ... are floats
to Python and to mypy. Pydantic reads them through `parse_quantity`, so a signature states the units that a case may use.

>>> parse_quantity("150 deg", "angle") == math.radians(150)
True
>>> parse_quantity("1 ms", "time")
0.001
"""

import math
import re
from functools import partial
from typing import Annotated, Any

from pydantic import BeforeValidator, Strict

from drystone.base.errors import InputError, truncated_repr

GRAVITY = 9.81  # [m/s2] the one value of g, for weights and for the unit "g"

# The factor to SI of every accepted unit. A weight density (kN/m3) is divided by g to obtain a mass density.
UNITS: dict[str, dict[str, float]] = {
    "length": {"m": 1.0, "dm": 0.1, "cm": 0.01, "mm": 1e-3, "km": 1e3},
    "time": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0},
    "angle": {"rad": 1.0, "mrad": 1e-3, "deg": math.pi / 180, "°": math.pi / 180},
    "acceleration": {"m/s2": 1.0, "cm/s2": 0.01, "mm/s2": 1e-3, "gal": 0.01, "g": GRAVITY},
    "velocity": {"m/s": 1.0, "cm/s": 0.01, "mm/s": 1e-3, "km/h": 1 / 3.6},
    "density": {"kg/m3": 1.0, "t/m3": 1e3, "g/cm3": 1e3, "N/m3": 1 / GRAVITY, "kN/m3": 1e3 / GRAVITY},
    "stress": {"Pa": 1.0, "kPa": 1e3, "MPa": 1e6, "GPa": 1e9, "N/m2": 1.0, "kN/m2": 1e3, "N/mm2": 1e6, "kN/mm2": 1e9},
    "stiffness": {"N/m": 1.0, "kN/m": 1e3, "MN/m": 1e6, "GN/m": 1e9, "N/mm": 1e3, "kN/mm": 1e6},
    "joint stiffness": {"N/m3": 1.0, "kN/m3": 1e3, "MN/m3": 1e6, "GN/m3": 1e9, "N/mm3": 1e9, "MPa/m": 1e6, "GPa/m": 1e9},
    "fracture energy": {"J/m2": 1.0, "kJ/m2": 1e3, "N/m": 1.0, "N/mm": 1e3},
    "damage viscosity": {"Ns/m": 1.0, "Js/m2": 1.0, "kNs/m": 1e3},
    "force": {"N": 1.0, "kN": 1e3, "MN": 1e6},
    "frequency": {"Hz": 1.0, "kHz": 1e3, "1/s": 1.0, "rad/s": 1 / (2 * math.pi)},
    "dimensionless": {"%": 0.01},
}

_NUMBER_AND_UNIT = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(\S.*)?")


def parse_quantity(value: Any, dimension: str) -> float:
    """`value` in SI. A number is in SI already; a string is a number with a unit of `dimension`."""
    if isinstance(value, str):
        return _finite(_from_text(value, dimension), value, dimension)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"{truncated_repr(value)} is {_describe_rejection(dimension)}; give {describe_accepted(dimension)}")
    # TOML has integers of any length; those beyond the range of floats are taken as infinite.
    return _finite(float(value) if abs(value) < 1e308 else math.inf, value, dimension)


def _from_text(text: str, dimension: str) -> float:
    try:
        number, unit = split_number_and_unit(text)
    except InputError:
        raise InputError(
            f"{truncated_repr(text)} is {_describe_rejection(dimension)}; give {describe_accepted(dimension)}"
        ) from None
    if not unit:
        raise InputError(f"{truncated_repr(text)} has no unit; give {describe_accepted(dimension)}")
    if unit not in UNITS[dimension]:
        raise InputError(
            f"{truncated_repr(text)}: {truncated_repr(unit)} is not a unit of {dimension}; give {describe_accepted(dimension)}"
        )
    # Dividing by the inverse keeps decimal units exact: 1 / 1000 is the float 0.001, 3 * 0.001 is not 0.003.
    factor = UNITS[dimension][unit]
    return number / round(1 / factor) if factor in (0.1, 0.01, 1e-3, 1e-6) else number * factor


def split_number_and_unit(text: str) -> tuple[float, str]:
    """The number in a text, and its unit in the standard spelling, or an empty string if the text has no unit."""
    match = _NUMBER_AND_UNIT.fullmatch(text)
    if match is None:
        raise InputError(f'{truncated_repr(text)} is not a number with a unit; give one as in "0.2 g"')
    return float(match[1]), _normalise_unit(match[2] or "")


def _normalise_unit(unit: str) -> str:
    """One spelling per unit: m/s^2, m/s**2, m/s² and m / s2 all become m/s2."""
    unit = unit.replace("**", "").replace("^", "").replace("²", "2").replace("³", "3").replace("µ", "u")
    return "".join(unit.split())


def _finite(number: float, given: Any, dimension: str) -> float:
    if not math.isfinite(number):
        raise InputError(f"{truncated_repr(given)} is not finite; give {describe_accepted(dimension)}")
    return number


def _describe_rejection(dimension: str) -> str:
    return "not a number" if dimension == "dimensionless" else f"not a {dimension}"


def describe_accepted(dimension: str) -> str:
    """What may be given for a quantity of this dimension, as a phrase for messages."""
    units = ", ".join(UNITS[dimension])
    if dimension == "dimensionless":
        return f"a number, or a string with one of the units {units}"
    return f"a number in SI ({next(iter(UNITS[dimension]))}) or a string with one of the units {units}"


def _validator(dimension: str) -> BeforeValidator:
    return BeforeValidator(partial(parse_quantity, dimension=dimension))


# The dimension is named beside its reader, so that a message about a missing value can say what is accepted.
Length = Annotated[float, _validator("length"), "length"]  # [m]
Time = Annotated[float, _validator("time"), "time"]  # [s]
Angle = Annotated[float, _validator("angle"), "angle"]  # [rad]
Acceleration = Annotated[float, _validator("acceleration"), "acceleration"]  # [m/s2]
Velocity = Annotated[float, _validator("velocity"), "velocity"]  # [m/s]
Density = Annotated[float, _validator("density"), "density"]  # [kg/m3]
Stress = Annotated[float, _validator("stress"), "stress"]  # [Pa]
Stiffness = Annotated[float, _validator("stiffness"), "stiffness"]  # [N/m]
JointStiffness = Annotated[float, _validator("joint stiffness"), "joint stiffness"]  # [N/m3]
FractureEnergy = Annotated[float, _validator("fracture energy"), "fracture energy"]  # [J/m2]
DamageViscosity = Annotated[float, _validator("damage viscosity"), "damage viscosity"]  # [N s/m]
Force = Annotated[float, _validator("force"), "force"]  # [N]
Frequency = Annotated[float, _validator("frequency"), "frequency"]  # [Hz]
Ratio = Annotated[float, _validator("dimensionless"), "dimensionless"]  # [-]
Count = Annotated[int, Strict()]  # a whole number; 7.0 and "7" are refused

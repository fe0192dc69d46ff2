"""Amounts as text: a number in SI and its dimension come in, text such as "12.3 kN" or "0.4 mm" goes out.

>>> amount(0.0123, "length"), amount(2.6e9, "stress"), amount(0.5, "angle")
('12.3 mm', '2.6 GPa', '28.65 deg')
>>> amount(2600, "count")
'2,600'
"""

import math
from typing import Any

# Units by dimension, the largest first: an amount is written in the first unit that it reaches, or else in the last.
READABLE_UNITS: dict[str, tuple[tuple[str, float], ...]] = {
    "length": (("m", 1.0), ("mm", 1e-3)),
    "time": (("s", 1.0), ("ms", 1e-3)),
    "angle": (("deg", math.pi / 180),),
    "acceleration": (("m/s²", 1.0),),
    "velocity": (("m/s", 1.0), ("mm/s", 1e-3)),
    "density": (("kg/m³", 1.0),),
    "stress": (("GPa", 1e9), ("MPa", 1e6), ("kPa", 1e3), ("Pa", 1.0)),
    "stiffness": (("MN/m", 1e6), ("kN/m", 1e3), ("N/m", 1.0)),
    "joint stiffness": (("GN/m³", 1e9), ("MN/m³", 1e6), ("kN/m³", 1e3)),
    "fracture energy": (("J/m²", 1.0),),
    "damage viscosity": (("N s/m", 1.0),),
    "force": (("MN", 1e6), ("kN", 1e3), ("N", 1.0)),
    "frequency": (("Hz", 1.0),),
    "energy": (("MJ", 1e6), ("kJ", 1e3), ("J", 1.0)),
    "mass": (("t", 1e3), ("kg", 1.0)),
    "dimensionless": (("", 1.0),),
}


def amount(value: Any, dimension: str = "dimensionless") -> str:
    """A number, several numbers or none, as text."""
    if value is None or value == "":
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return "(" + ", ".join(amount(each, dimension) for each in value) + ")" if value else "none"
    if isinstance(value, int) or dimension == "count":
        return f"{value:,}"
    if not isinstance(value, float):
        return str(value)
    units = READABLE_UNITS[dimension]
    magnitude = 1.0 if value == 0.0 else abs(value)  # zero is written in the SI unit
    unit, factor = next(((unit, factor) for unit, factor in units if magnitude >= factor), units[-1])
    return f"{value / factor + 0.0:.4g} {unit}".rstrip()

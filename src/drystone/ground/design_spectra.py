"""Elastic response spectra of codes: Sa at any period, from the parameters of the code (T102).

Eurocode 8 (EN 1998-1:2004, 3.2.2.2, recommended values of types 1 and 2) and the Italian code (NTC 2018, 3.2.3.2.1) have
horizontal spectra of the same form; they differ in how its four parameters are obtained.
"""

import math
from typing import NamedTuple

import numpy as np

from drystone.base.errors import InputError
from drystone.base.units import GRAVITY

Array = np.ndarray

# Soil: S, TB, TC, TD.
EC8_TYPE_1 = {
    "A": (1.0, 0.15, 0.4, 2.0),
    "B": (1.2, 0.15, 0.5, 2.0),
    "C": (1.15, 0.20, 0.6, 2.0),
    "D": (1.35, 0.20, 0.8, 2.0),
    "E": (1.4, 0.15, 0.5, 2.0),
}
EC8_TYPE_2 = {
    "A": (1.0, 0.05, 0.25, 1.2),
    "B": (1.35, 0.05, 0.25, 1.2),
    "C": (1.5, 0.10, 0.25, 1.2),
    "D": (1.8, 0.10, 0.30, 1.2),
    "E": (1.6, 0.05, 0.25, 1.2),
}
EC8_PLATEAU = 2.5
# Soil: least and largest SS, the two numbers of SS = a - b F0 ag/g, and the two of CC = a TC*^-b.
NTC_SOILS = {
    "A": ((1.0, 1.0), (1.0, 0.0), (1.0, 0.0)),
    "B": ((1.0, 1.2), (1.4, 0.4), (1.10, 0.20)),
    "C": ((1.0, 1.5), (1.7, 0.6), (1.05, 0.33)),
    "D": ((0.9, 1.8), (2.4, 1.5), (1.25, 0.50)),
    "E": ((1.0, 1.6), (2.0, 1.1), (1.15, 0.40)),
}


class DesignSpectrum(NamedTuple):
    """Sa rises from the peak ground acceleration to a plateau, then falls with the period and finally with its square."""

    ground: float  # [m/s2] ag S
    plateau: float  # [-] over `ground`, at 5 % damping
    corners: tuple[float, float, float]  # [s] TB, TC, TD
    damping: float  # [-]

    def acceleration(self, period: Array) -> Array:
        """[m/s2] Sa at periods [s]."""
        first, second, third = self.corners
        top = max(math.sqrt(0.10 / (0.05 + self.damping)), 0.55) * self.plateau
        rise = 1 + np.minimum(period / first, 1.0) * (top - 1)
        fall = second / np.maximum(period, second) * np.minimum(third / np.maximum(period, third), 1.0)
        return self.ground * rise * fall


def eurocode(ag: float, soil: str, type: int = 1, damping: float = 0.05) -> DesignSpectrum:
    """The spectrum of Eurocode 8; type 1 is for earthquakes above magnitude 5.5; `ag` [m/s2] is on rock, with the importance
    factor."""
    amplification, *corners = _soil_parameters(EC8_TYPE_1 if type == 1 else EC8_TYPE_2, soil)
    first, second, third = corners
    return DesignSpectrum(ag * amplification, EC8_PLATEAU, (first, second, third), damping)


def ntc(ag: float, soil: str, plateau: float, corner: float, topography: float = 1.0, damping: float = 0.05) -> DesignSpectrum:
    """The spectrum of NTC 2018; `ag` [m/s2], `plateau` (F0) and `corner` (TC*) [s] are the hazard parameters of the site on
    rock."""
    (least, largest), (a, b), (c, d) = _soil_parameters(NTC_SOILS, soil)
    amplification = min(max(a - b * plateau * ag / GRAVITY, least), largest)
    second = c * corner ** (1 - d)
    return DesignSpectrum(ag * amplification * topography, plateau, (second / 3, second, 4.0 * ag / GRAVITY + 1.6), damping)


def _soil_parameters(soils: dict, soil: str) -> tuple:
    if soil not in soils:
        raise InputError(f"soil {soil!r} is not known; give one of {', '.join(soils)}")
    return soils[soil]

"""One component of a ground motion: what every reader of files and every generator of motions gives."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from drystone.ground.samples import MotionInterpolator

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Accelerogram:
    """Evenly spaced samples of the acceleration, taken as linear between them."""

    name: str  # of the file without its suffix, or what made it
    component: str  # as the file says it: "270", "EW", "UP"; empty if it does not
    time_step: float  # [s]
    acceleration: Array  # (n,) [m/s2]
    unit_in_file: str  # of the values: "g", "cm/s2", "3920(gal)/6182761"
    about: Mapping[str, str] = field(default_factory=dict)  # what else the file says: format, event, station, date
    done: tuple[str, ...] = ()  # what was done to the samples since, in words

    @property
    def label(self) -> str:
        """The name and the component."""
        return f"{self.name} {self.component}".rstrip()

    @property
    def duration(self) -> float:
        """[s] from the first sample to the last."""
        return self.time_step * (len(self.acceleration) - 1)

    @cached_property
    def interpolator(self) -> MotionInterpolator:
        """Acceleration, velocity and displacement at any instant."""
        return MotionInterpolator(self.acceleration, self.time_step)

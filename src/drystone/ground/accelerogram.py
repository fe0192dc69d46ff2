"""One component of a ground motion, as all readers of files and all generators of synthetic motions return it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from drystone.ground.samples import MotionInterpolator

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Accelerogram:
    """Evenly spaced samples of the acceleration, which is linear between them."""

    name: str  # of the file without its suffix, or of the generator
    component: str  # as stated in the file: "270", "EW", "UP"; empty if it states none
    time_step: float  # [s]
    acceleration: Array  # (n,) [m/s2]
    unit_in_file: str  # of the values: "g", "cm/s2", "3920(gal)/6182761"
    about: Mapping[str, str] = field(default_factory=dict)  # other data in the file: format, event, station, date
    done: tuple[str, ...] = ()  # descriptions of the processing of the samples

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

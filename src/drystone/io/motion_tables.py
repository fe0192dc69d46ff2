"""The tables of [motion], by pulse or for an accelerogram: keys, types, units and defaults. `to_motion` makes the `Motion`."""

import math
from abc import abstractmethod
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from drystone.base.errors import InputError
from drystone.base.units import Acceleration, Angle, Count, Frequency, Length, Ratio, Time, Velocity
from drystone.ground import corrections
from drystone.ground.accelerogram import Accelerogram
from drystone.ground.design_spectra import EC8_TYPE_1, eurocode, ntc
from drystone.ground.formats.accelerogram_files import read_accelerograms
from drystone.ground.motion import Motion
from drystone.ground.synthetic_motions import make_kanai_tajimi, match_spectrum
from drystone.io.table_base import Direction, PositiveTime, Table

PositiveFrequency = Annotated[Frequency, Field(gt=0)]
StrongPhase = tuple[Time, Time]  # [s] the interval in which the envelope of a synthetic motion is 1


class MotionTable(Table):
    """The keys that all motions share."""

    direction: Direction = (1.0, 0.0, 0.0)  # a vector of any length
    start: Annotated[Time, Field(ge=0)] = 0.0
    supports: tuple[str, ...] = ()

    @abstractmethod
    def to_motion(self, folder: Path, stored: Accelerogram | None = None) -> Motion:
        """The motion of the table. `folder`: of the files that the table names; `stored`: the accelerogram stored in a run."""


class PulseTable(MotionTable):
    """A pulse in closed form."""

    pulse: str  # the shape of the pulse

    def to_motion(self, folder: Path, stored: Accelerogram | None = None) -> Motion:
        values = self.model_dump()
        for name in ("velocity", "displacement"):
            if name in values:
                values[name + "_amplitude"] = values.pop(name)
        return Motion(**values)


class DurationPulse(PulseTable):
    pulse: Literal["rectangular", "biphasic"]
    amplitude: Acceleration
    duration: PositiveTime


class HalfPeriodPulse(PulseTable):
    pulse: Literal["half-sine", "one-sine", "ricker"]
    amplitude: Acceleration
    half_period: PositiveTime


class ContinuousSine(PulseTable):
    pulse: Literal["sine"]
    amplitude: Acceleration | None = None
    displacement: Length | None = None  # [m] largest displacement, instead of amplitude
    half_period: PositiveTime
    duration: PositiveTime | None = None

    @model_validator(mode="after")
    def _one_amplitude(self) -> Self:
        if (self.amplitude is None) == (self.displacement is None):
            raise InputError("a sine needs either an amplitude (m/s2 or g) or a displacement (m), one of the two")
        return self


class WaveletPulse(PulseTable):
    """The pulse of Mavroeidis and Papageorgiou, given by its largest acceleration or, as in their paper, by its velocity."""

    pulse: Literal["mavroeidis-papageorgiou"]
    amplitude: Acceleration | None = None
    velocity: Velocity | None = None  # [m/s] of the envelope, instead of amplitude
    half_period: PositiveTime
    oscillations: Annotated[Ratio, Field(gt=1, le=1000)]
    phase: Angle = 0.0

    @model_validator(mode="after")
    def _one_amplitude(self) -> Self:
        if (self.amplitude is None) == (self.velocity is None):
            raise InputError("this pulse needs either an amplitude (m/s2 or g) or a velocity (m/s), one of the two")
        return self


class SettlementPulse(PulseTable):
    pulse: Literal["settlement"]
    displacement: Length  # [m] final displacement
    duration: PositiveTime
    direction: Direction = (0.0, 0.0, -1.0)


class SampledMotion(MotionTable):
    """A motion given by samples, from a file or synthetic."""

    def to_motion(self, folder: Path, stored: Accelerogram | None = None) -> Motion:
        record = self.accelerogram(folder) if stored is None else stored
        return Motion("record", record=record, direction=self.direction, start=self.start, supports=self.supports)

    @abstractmethod
    def accelerogram(self, folder: Path) -> Accelerogram: ...


class KanaiTajimiTable(SampledMotion):
    """White noise filtered by a layer of soil; by default Kanai's firm soil."""

    pulse: Literal["kanai-tajimi"]
    seed: Annotated[Count, Field(ge=0)]  # each seed gives another earthquake of the same kind
    amplitude: Acceleration  # peak acceleration
    duration: PositiveTime
    frequency: PositiveFrequency = 2.5  # [Hz] of the layer
    damping: Annotated[Ratio, Field(gt=0, lt=1)] = 0.6  # of the layer
    strong: StrongPhase | None = None  # when the envelope is 1; None: from 15 % to 50 % of the duration
    time_step: PositiveTime = 0.01  # [s] between samples

    def accelerogram(self, folder: Path) -> Accelerogram:
        return make_kanai_tajimi(**self.model_dump(exclude={"pulse", *MotionTable.model_fields}))


class SpectrumTable(SampledMotion):
    """Noise that is matched to the response spectrum of a code."""

    pulse: Literal["spectrum"]
    seed: Annotated[Count, Field(ge=0)]  # each seed gives another earthquake of the same kind
    code: Literal["EC8 type 1", "EC8 type 2", "NTC 2018"] = "EC8 type 1"  # the code of the spectrum
    ag: Annotated[Acceleration, Field(gt=0)]  # on rock
    soil: Literal[tuple(EC8_TYPE_1)] = "A"  # type: ignore[valid-type]  # ground type; A is rock
    plateau: Annotated[Ratio, Field(gt=1)] | None = None  # NTC: F0
    corner: PositiveTime | None = None  # NTC: TC*
    topography: Annotated[Ratio, Field(ge=1)] = 1.0  # NTC: ST
    damping: Annotated[Ratio, Field(gt=0, lt=1)] = 0.05  # of the spectrum
    duration: PositiveTime
    strong: StrongPhase | None = None  # when the envelope is 1; None: from 15 % to 50 % of the duration
    time_step: PositiveTime = 0.01  # [s] between samples

    @model_validator(mode="after")
    def _italian_hazard(self) -> Self:
        given = self.plateau is not None and self.corner is not None
        if self.code == "NTC 2018" and not given:
            raise InputError("NTC 2018 needs plateau (F0) and corner (TC* in s) of the site beside ag")
        if self.code != "NTC 2018" and self.model_fields_set & {"plateau", "corner", "topography"}:
            raise InputError('plateau, corner and topography are for code = "NTC 2018"; remove them')
        return self

    def accelerogram(self, folder: Path) -> Accelerogram:
        if self.plateau is not None and self.corner is not None:
            target = ntc(self.ag, self.soil, self.plateau, self.corner, self.topography, self.damping)
        else:
            target = eurocode(self.ag, self.soil, 1 if self.code == "EC8 type 1" else 2, self.damping)
        return match_spectrum(target, seed=self.seed, duration=self.duration, strong=self.strong, time_step=self.time_step)


class AccelerogramTable(SampledMotion):
    """An accelerogram from a file, and its processing: baseline, band, cut and scale, in this order."""

    record: Annotated[str, Field(min_length=1)]  # path, relative to the case
    component: str | Count | None = None  # its name in the file, or the number of the column
    unit: str | None = None  # of the values, if the file states none
    time_step: PositiveTime | None = None  # if the file states none
    baseline: Literal[tuple(corrections.BASELINE_DEGREES)] | None = None  # type: ignore[valid-type]  # polynomial that is subtracted
    band: tuple[PositiveFrequency, PositiveFrequency] | None = None  # corners of a band-pass filter
    arias: tuple[Ratio, Ratio] | None = None  # keep the part between these shares of the Arias intensity
    begin: Annotated[Time, Field(ge=0)] | None = Field(None, alias="from")  # [s] keep what comes after
    end: Annotated[Time, Field(gt=0)] | None = Field(None, alias="to")  # [s] keep what comes before
    scale: Ratio | None = None  # factor of the samples; None: as recorded
    pga: Annotated[Acceleration, Field(gt=0)] | None = None  # scaled to this largest acceleration
    pgv: Annotated[Velocity, Field(gt=0)] | None = None  # scaled to this largest velocity

    @model_validator(mode="after")
    def _said_once(self) -> Self:
        given = [name for name in ("scale", "pga", "pgv") if getattr(self, name) is not None]
        if len(given) > 1:
            raise InputError(f"{' and '.join(given)} all scale the record; give one of them, or none to leave it as recorded")
        if self.arias is not None and (self.begin is not None or self.end is not None):
            raise InputError("arias and from/to both cut the record; give one of the two")
        return self

    def accelerogram(self, folder: Path) -> Accelerogram:
        record = read_component(folder / self.record, self.component, self.unit, self.time_step)
        is_uncut = self.begin is None and self.end is None
        window = None if is_uncut else (self.begin or 0.0, math.inf if self.end is None else self.end)
        record = corrections.apply_corrections(record, baseline=self.baseline, band=self.band, arias=self.arias, window=window)
        if self.pga is not None:
            return corrections.scale_to_pga(record, self.pga)
        if self.pgv is not None:
            return corrections.scale_to_pgv(record, self.pgv)
        return record if self.scale is None else corrections.scale(record, self.scale)


def read_component(
    path: Path, component: str | int | None = None, unit: str | None = None, time_step: float | None = None
) -> Accelerogram:
    """The requested component of a file, by its name or, in a file of columns, by its number; by default the only one."""
    column = component if isinstance(component, int) else None
    records = read_accelerograms(path, unit=unit, time_step=time_step, column=column)
    by_name = isinstance(component, str)
    matching = [record for record in records if not by_name or record.component.lower() == str(component).lower()]
    if len(matching) != 1:
        names = ", ".join(repr(record.component) for record in records)
        message = (
            "none is chosen" if component is None else f"{component!r} is {'none' if not matching else 'more than one'} of them"
        )
        raise InputError(f"{path}: its components are {names}, {message}; give component = the name of one")
    return matching[0]


PULSE_TABLES: dict[str, type[MotionTable]] = {
    "rectangular": DurationPulse,
    "biphasic": DurationPulse,
    "half-sine": HalfPeriodPulse,
    "one-sine": HalfPeriodPulse,
    "sine": ContinuousSine,
    "ricker": HalfPeriodPulse,
    "mavroeidis-papageorgiou": WaveletPulse,
    "settlement": SettlementPulse,
    "kanai-tajimi": KanaiTajimiTable,
    "spectrum": SpectrumTable,
}

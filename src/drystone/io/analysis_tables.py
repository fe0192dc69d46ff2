"""The tables of [analysis] by its kind, and of [[load]]: keys, types, units and defaults."""

from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from drystone.base.errors import InputError
from drystone.base.units import GRAVITY, Acceleration, Count, Force, Length, Ratio, Stress, Time
from drystone.io.table_base import Direction, PositiveTime, Table
from drystone.structure.block_changes import BlockChange
from drystone.structure.loads import AppliedLoad


class HistoryRow(NamedTuple):
    """The factor of a load at an instant."""

    time: Time  # [s] since the start
    factor: Ratio  # of the load at this instant


class LoadTable(Table):
    """A force, a share of a weight, or a pressure. A load multiplier scales the live loads."""

    on: str
    force: Force | None = None
    share: Ratio | None = None
    pressure: Stress | None = None
    of: str = ""
    direction: Direction = (0.0, 0.0, -1.0)
    at: tuple[Length, Length, Length] | None = None
    face: Direction | None = None
    live: bool = False
    history: tuple[HistoryRow, ...] = ()

    @model_validator(mode="after")
    def _is_one_push(self) -> Self:
        self.to_applied_load()
        return self

    def to_applied_load(self) -> AppliedLoad:
        return AppliedLoad(**self.model_dump())


class ChangeTable(Table):
    """Blocks that appear and vanish at an instant of a history."""

    time: Annotated[Time, Field(ge=0)]
    remove: tuple[str, ...] = ()
    add: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        self.to_change()
        return self

    def to_change(self) -> BlockChange:
        return BlockChange(**self.model_dump())


class AnalysisTable(Table):
    """The keys that all kinds of analysis share."""

    kind: str  # the analysis to compute
    planar: bool = False  # the blocks are prisms along y that move in the plane of x and z only
    gravity: Annotated[Acceleration, Field(ge=0)] = GRAVITY  # [m/s2] along -z

    @property
    def by_small_steps(self) -> bool:
        return False


class DynamicsTable(AnalysisTable):
    kind: Literal["dynamics"] = "dynamics"
    duration: PositiveTime = 0.0  # [s]; 0: not given
    after: PositiveTime | None = None  # [s] instead of duration: this long after the end of the motions
    integrator: Literal["small-steps", "cone-program"] = "small-steps"  # cone-program: the papers' step, one program per step
    time_step: PositiveTime = 0.0  # [s] of a cone program; in small steps the interval of states: 5 ms if not given
    small_step: PositiveTime | None = None  # [s] longest small step; None: 0.9 of the longest stable one
    collapse: Annotated[Ratio, Field(gt=0)] = 0.20  # lost share of the potential energy that counts as collapse
    theta: Annotated[Ratio, Field(ge=0.5, le=1)] = 0.53  # of a cone program: 0.5 has the least damping, 1 is backward Euler
    gyroscopic: Literal["implicit", "explicit"] = "implicit"  # how the spin of a block enters a cone program

    @model_validator(mode="before")
    @classmethod
    def _takes_no_parts(cls, given: Any) -> Any:
        if "impact_substeps" in given:
            raise InputError("impact_substeps is no key any more: landings are followed within a step, which is not taken in "
                             "parts; remove it (docs/decisions/0023)")  # fmt: skip
        return given

    @model_validator(mode="after")
    def _at_least_one_step(self) -> Self:
        if (self.duration > 0) == (self.after is not None):
            raise InputError("needs either duration, or after (the time after the end of the motions), in s: one of the two")
        name, lasts = ("duration", self.duration) if self.after is None else ("after", self.after)
        if self.time_step > lasts:
            raise InputError(f"time_step ({self.time_step:g} s) is longer than {name} ({lasts:g} s)")
        if self.time_step == 0 and self.integrator == "cone-program":
            raise InputError('the cone program needs a time_step, such as time_step = "1 ms"')
        if self.small_step is not None and self.integrator == "cone-program":
            raise InputError("small_step is for small steps; remove it: time_step is the step of the cone program")
        return self

    @property
    def by_small_steps(self) -> bool:
        return self.integrator == "small-steps"


class BoundTable(Table):
    """A force of which the least and the largest value are computed: that of one block or group on another, along a
    direction."""

    between: tuple[str, str]  # two blocks or groups; the force of the first on the second
    direction: Direction  # of the force


class EquilibriumTable(AnalysisTable):
    kind: Literal["equilibrium"]
    bounds: tuple[BoundTable, ...] = ()  # forces of which the least and the largest value are computed
    remaining: bool = False  # remove the blocks that fall, in stages, until the rest stands
    arch: str = ""  # group, or prefix of the names, of the voussoirs for thrust lines; not needed for a lone arch


class LimitTable(AnalysisTable):
    kind: Literal["limit"]
    direction: Direction | None = None  # of a horizontal body force of 1 g, in addition to the live loads or instead of them
    starts: Annotated[Count, Field(ge=0, le=1000)] | None = None  # of the search by cone programs; by size if not given
    friction_at: Literal["areas", "corners"] = "areas"  # where the safe multiplier places friction; corners: as in the papers


class TiltTable(AnalysisTable):
    kind: Literal["tilt"]
    direction: Direction = (1.0, 0.0, 0.0)  # downhill

    @model_validator(mode="after")
    def _is_horizontal(self) -> Self:
        if self.direction[2] != 0:
            raise InputError(f"direction {list(self.direction)} is not horizontal; a tilting table needs [x, y, 0]")
        return self


class CapacityTable(AnalysisTable):
    kind: Literal["capacity"]
    directions: Annotated[Count, Field(ge=4, le=360)] = 24  # of the horizontal body force, equally spaced
    starts: Annotated[Count, Field(ge=0, le=1000)] = 0  # of an additional search by cone programs in each direction


class PushoverTable(AnalysisTable):
    kind: Literal["pushover"]
    direction: Direction | None = None  # as of a limit analysis
    step: Annotated[Length, Field(gt=0)] | None = None  # [m] largest movement of a block in an increment
    until: Annotated[Length, Field(gt=0)] | None = None  # [m] displacement where it ends; None: where no capacity is left


class ConstructionTable(AnalysisTable):
    """The structure is built in stages, each in equilibrium before the next (T90)."""

    kind: Literal["construction"]
    order: tuple[str | tuple[str, ...], ...] = ()  # blocks or groups, one stage each; by the height of their beds if not given
    strike: tuple[str, ...] = ()  # blocks or groups that are removed in the end: the centering


class MoveTable(Table):
    """The final displacement of a support."""

    support: Annotated[str, Field(min_length=1)]  # a support, or a group of supports
    dx: Length = 0.0  # [m] displacement along x
    dy: Length = 0.0  # [m] displacement along y
    dz: Length = 0.0  # [m] displacement upwards; negative for a settlement


class SettlementTable(AnalysisTable):
    """Supports that are displaced without inertia; the structure is in equilibrium after every increment (T357)."""

    kind: Literal["settlement"]
    integrator: Literal["small-steps"] = "small-steps"  # "cone-program": a history by one of the papers' schemes
    moves: tuple[MoveTable, ...] = ()  # all at the same time, in proportion; none: the structure comes to rest under its weight
    increments: Annotated[Count, Field(ge=1, le=10_000)] = 20  # equal parts of the displacement, each of which gives a frame

    @model_validator(mode="before")
    @classmethod
    def _knows_no_time(cls, content: Any) -> Any:
        times = [name for name in DynamicsTable.model_fields if name in content and name not in cls.model_fields]
        if times:
            raise InputError(f"a settlement has displacements and no {', '.join(times)}; give the displacements of supports in "
                             '[[analysis.moves]], or set integrator = "cone-program" for a history by a scheme of the '
                             "papers")  # fmt: skip
        return content

    @property
    def by_small_steps(self) -> bool:
        return True


class SettlementHistoryTable(DynamicsTable):
    """A history without inertia, by a scheme of Acary and Jean: every step starts from rest, or the steps are so large that
    backward Euler filters inertia, or blocks deform without inertia and only their rigid modes have mass (T43, T358)."""

    kind: Literal["settlement"]  # type: ignore[assignment]
    integrator: Literal["cone-program"] = "cone-program"
    scheme: Literal["velocity-zeroing", "large-steps", "rigid-modes"] = "velocity-zeroing"  # how inertia is removed
    theta: Annotated[Ratio, Field(ge=0.5, le=1)] = 1.0


ANALYSIS_TABLES: dict[str, type[AnalysisTable]] = {
    "dynamics": DynamicsTable,
    "equilibrium": EquilibriumTable,
    "limit": LimitTable,
    "tilt": TiltTable,
    "capacity": CapacityTable,
    "pushover": PushoverTable,
    "construction": ConstructionTable,
    "settlement": SettlementTable,
}


def analysis_table(kind: str, content: dict[str, Any]) -> type[AnalysisTable]:
    """The table of a kind. A settlement is a history if it names a scheme of the papers, or their integrator."""
    by_paper = "scheme" in content or content.get("integrator") == "cone-program"
    return SettlementHistoryTable if kind == "settlement" and by_paper else ANALYSIS_TABLES[kind]

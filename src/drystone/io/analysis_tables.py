"""The tables of [analysis] by its kind, and of [[load]]: keys, types, units and defaults."""

from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from drystone.changes import Change
from drystone.errors import InputError
from drystone.io.table import Direction, Positive, Table
from drystone.loads import Push
from drystone.units import GRAVITY, Acceleration, Count, Force, Length, Ratio, Stress, Time


class HistoryRow(NamedTuple):
    """The factor of a load at an instant."""

    time: Time  # [s] since the start
    factor: Ratio  # of the load at this instant


class LoadTable(Table):
    """A force, a share of a weight, or a pressure; live ones are what a multiplier scales."""

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
        self.to_push()
        return self

    def to_push(self) -> Push:
        return Push(**self.model_dump())


class ChangeTable(Table):
    """Blocks that appear and vanish at an instant of a history."""

    time: Annotated[Time, Field(ge=0)]
    remove: tuple[str, ...] = ()
    add: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        self.to_change()
        return self

    def to_change(self) -> Change:
        return Change(**self.model_dump())


class Analysis(Table):
    """What every kind shares."""

    kind: str  # what is computed
    planar: bool = False  # prisms along y that move in the plane of x and z only
    gravity: Annotated[Acceleration, Field(ge=0)] = GRAVITY  # [m/s2] along -z

    @property
    def by_small_steps(self) -> bool:
        return False


class Dynamics(Analysis):
    kind: Literal["dynamics"] = "dynamics"
    duration: Positive = 0.0  # [s]; 0 is not given
    after: Positive | None = None  # [s] instead: as long as the motions last and this much more
    integrator: Literal["small-steps", "cone-program"] = "small-steps"  # cone-program: the papers' step, one program each
    time_step: Positive = 0.0  # [s] of a cone program; by small steps how often the state is handed out: 5 ms if not given
    small_step: Positive | None = None  # [s] longest of the small steps; None: 0.9 of the longest stable one
    collapse: Annotated[Ratio, Field(gt=0)] = 0.20  # lost share of the potential energy that is collapse
    theta: Annotated[Ratio, Field(ge=0.5, le=1)] = 0.53  # of a cone program: 0.5 least damping, 1 backward Euler
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
            raise InputError("needs either duration, or after (so long after the motions), in s: one of the two")
        name, lasts = ("duration", self.duration) if self.after is None else ("after", self.after)
        if self.time_step > lasts:
            raise InputError(f"time_step ({self.time_step:g} s) is longer than {name} ({lasts:g} s)")
        if self.time_step == 0 and self.integrator == "cone-program":
            raise InputError('the cone program needs a time_step, such as time_step = "1 ms"')
        if self.small_step is not None and self.integrator == "cone-program":
            raise InputError("small_step is of small steps; remove it: time_step is the step of the cone program")
        return self

    @property
    def by_small_steps(self) -> bool:
        return self.integrator == "small-steps"


class Bound(Table):
    """The force that one block or group exerts on another, along a direction: least and largest value wanted."""

    between: tuple[str, str]  # blocks or groups; the force of the first on the second
    direction: Direction  # of the force


class Equilibrium(Analysis):
    kind: Literal["equilibrium"]
    bounds: tuple[Bound, ...] = ()  # forces whose least and largest value is wanted
    remaining: bool = False  # take away what falls, in stages, until the rest stands
    arch: str = ""  # group, or how names begin, of the voussoirs whose thrust lines are wanted; a lone arch needs none


class Limit(Analysis):
    kind: Literal["limit"]
    direction: Direction | None = None  # of a horizontal body force of 1 g; live loads besides it or instead of it
    starts: Annotated[Count, Field(ge=0, le=1000)] | None = None  # of the search by cone programs; by size if not given
    friction_at: Literal["areas", "corners"] = "areas"  # of the safe multiplier; corners: as the papers have it


class Tilt(Analysis):
    kind: Literal["tilt"]
    direction: Direction = (1.0, 0.0, 0.0)  # downhill

    @model_validator(mode="after")
    def _is_horizontal(self) -> Self:
        if self.direction[2] != 0:
            raise InputError(f"direction {list(self.direction)} is not horizontal; a table tilts towards [x, y, 0]")
        return self


class Capacity(Analysis):
    kind: Literal["capacity"]
    directions: Annotated[Count, Field(ge=4, le=360)] = 24  # of the horizontal body force, equally spaced
    starts: Annotated[Count, Field(ge=0, le=1000)] = 0  # of a search by cone programs in each direction, besides


class Pushover(Analysis):
    kind: Literal["pushover"]
    direction: Direction | None = None  # as of a limit analysis
    step: Annotated[Length, Field(gt=0)] | None = None  # [m] largest movement of a block in an increment
    until: Annotated[Length, Field(gt=0)] | None = None  # [m] displacement where it ends; until no capacity is left


class Construction(Analysis):
    """The structure laid in stages, each in balance before the next (T90)."""

    kind: Literal["construction"]
    order: tuple[str | tuple[str, ...], ...] = ()  # blocks or groups, a stage each; by the height of their beds if not given
    strike: tuple[str, ...] = ()  # blocks or groups taken away in the end: the centering


class Move(Table):
    """How far a support has gone in the end."""

    support: Annotated[str, Field(min_length=1)]  # a support, or a group of supports
    dx: Length = 0.0  # [m] from where it was built, along x
    dy: Length = 0.0  # [m] likewise, along y
    dz: Length = 0.0  # [m] likewise, up; down is negative


class Settlement(Analysis):
    """Supports that go so many millimetres, without inertia: in balance at every increment (T357)."""

    kind: Literal["settlement"]
    integrator: Literal["small-steps"] = "small-steps"  # "cone-program": a history by one of the papers' schemes
    moves: tuple[Move, ...] = ()  # all at once, in proportion; none: the structure comes to rest under its weight
    increments: Annotated[Count, Field(ge=1, le=10_000)] = 20  # equal parts of the way, after each of which the state is told

    @model_validator(mode="before")
    @classmethod
    def _knows_no_time(cls, given: Any) -> Any:
        times = [name for name in Dynamics.model_fields if name in given and name not in cls.model_fields]
        if times:
            raise InputError(f"a settlement is told in millimetres and knows no {', '.join(times)}; say how far supports go in "
                             '[[analysis.moves]], or set integrator = "cone-program" for a history by a scheme of the '
                             "papers")  # fmt: skip
        return given

    @property
    def by_small_steps(self) -> bool:
        return True


class SettlementHistory(Dynamics):
    """A history whose inertia is taken out by a scheme of Acary and Jean: every step starts from rest, or steps are so large
    that backward Euler filters it, or blocks deform without inertia and only their rigid modes have mass (T43, T358)."""

    kind: Literal["settlement"]  # type: ignore[assignment]
    integrator: Literal["cone-program"] = "cone-program"
    scheme: Literal["velocity-zeroing", "large-steps", "rigid-modes"] = "velocity-zeroing"  # how inertia is taken out
    theta: Annotated[Ratio, Field(ge=0.5, le=1)] = 1.0


ANALYSIS_TABLES: dict[str, type[Analysis]] = {
    "dynamics": Dynamics,
    "equilibrium": Equilibrium,
    "limit": Limit,
    "tilt": Tilt,
    "capacity": Capacity,
    "pushover": Pushover,
    "construction": Construction,
    "settlement": Settlement,
}


def analysis_table(kind: str, content: dict[str, Any]) -> type[Analysis]:
    """The table of a kind. A settlement is a history where one of the papers' schemes is written, by its name or integrator."""
    by_paper = "scheme" in content or content.get("integrator") == "cone-program"
    return SettlementHistory if kind == "settlement" and by_paper else ANALYSIS_TABLES[kind]

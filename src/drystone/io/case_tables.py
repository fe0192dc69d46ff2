"""The tables of a case and their keys, with types, units and defaults. Each is a pydantic model that forbids unknown keys.

[structure] takes its keys from the signature of the generator that it names, so a generator is described in one place only.
"""

import inspect
from functools import cache
from typing import Annotated, Any, Literal, Self

from pydantic import Field, create_model, field_validator, model_validator

from drystone.base.errors import InputError
from drystone.base.units import (
    Angle,
    Count,
    DamageViscosity,
    Density,
    FractureEnergy,
    JointStiffness,
    Length,
    Ratio,
    Stiffness,
    Stress,
    Time,
)  # fmt: skip
from drystone.build import GENERATORS
from drystone.io.table_base import PositiveTime, Table
from drystone.structure.deformable_blocks import Stone
from drystone.structure.joint_laws import Adhesion, JointLaw, Scatter
from drystone.structure.model import Block


class DeformableTable(Table):
    """Elastic blocks; `Stone` explains the keys."""

    young: Annotated[Stress, Field(gt=0)]
    poisson: Annotated[Ratio, Field(ge=0, lt=0.5)]
    mesh: tuple[Count, Count, Count] = (2, 2, 2)
    on: str = ""  # a block or a group; all free blocks if not given

    @model_validator(mode="after")
    def _of_few_nodes(self) -> Self:
        self.to_stone()
        return self

    def to_stone(self) -> Stone:
        return Stone(**self.model_dump())


class StructureTable(Table):
    """The keys that any [structure] may have besides those of its generator or file."""

    chip: Annotated[Ratio, Field(ge=0, lt=0.1)] = 0.0  # edges are trimmed by this share of the height of the structure
    play: Annotated[Length, Field(ge=0)] = 0.0  # [m] play in upright joints: blocks become narrower by this
    play_seed: Annotated[Count, Field(ge=0, lt=2**63)] | None = None  # each block by 0 to 2 times that; None: all by the same
    deformable: tuple[DeformableTable, ...] = ()  # blocks that are not rigid; one table for all, or a list of tables

    @field_validator("deformable", mode="before", json_schema_input_type=DeformableTable | tuple[DeformableTable, ...])
    @classmethod
    def _listed(cls, content: Any) -> Any:
        return [content] if isinstance(content, dict) else content


class PartTable(Table):
    """The position of one of [[structure.parts]]: it is mirrored first, then turned about z, then moved."""

    name: Annotated[str, Field(min_length=1)]  # prefix of the names of its blocks
    mirror: Literal["x", "y", "z"] | None = None  # in the plane where this coordinate is 0
    turn: Angle = 0.0  # [rad] about z, from x towards y
    at: tuple[Length, Length, Length] = (0.0, 0.0, 0.0)  # [m] where its origin goes


class FileKeys(Table):
    """The keywords of `read_structure`, which explains them."""

    file: str  # geometry file, relative to the case
    unit: Literal["m", "dm", "cm", "mm", "km"] | None = None  # None: the unit that the file states, or m
    up: Literal["x", "y", "z"] | None = None  # the file's axis that points up; None: that of its format
    density: Annotated[Density, Field(gt=0)] = Block.density  # used where the file states none
    supports: str | tuple[str, ...] = ()  # blocks or groups, or "lowest"; in addition to those that the file marks
    only: tuple[str, ...] = ()  # take these blocks or groups and no others
    depth: Annotated[Length, Field(gt=0)] | None = None  # [m] of flat outlines and of supports that are planes
    decompose: bool = False  # approximate blocks that have no simple exact convex decomposition


class FileStructureTable(StructureTable, FileKeys):
    pass


class FilePartTable(PartTable, FileKeys):
    pass


class AssemblyTable(StructureTable):
    """A structure of several parts, with their own supports."""

    parts: tuple[PartTable, ...] = ()  # each is a generator or a file, with its keys and its position


class AdhesionTable(Table):
    """A bond that is damaged as it is stretched."""

    energy: Annotated[FractureEnergy, Field(gt=0)]  # to break it
    normal_stiffness: Annotated[JointStiffness, Field(gt=0)]  # stress per opening of the undamaged bond
    shear_stiffness: Annotated[JointStiffness, Field(gt=0)] | None = None  # None: the same as normal
    viscosity: Annotated[DamageViscosity, Field(ge=0)] = 0.0  # slows the damage


class JointKeys(Table):
    """The law of a joint; `JointLaw` explains the keys."""

    friction: Annotated[Ratio, Field(ge=0)] | None = None
    cohesion: Annotated[Stress, Field(ge=0)] | None = None
    tension: Annotated[Stress, Field(ge=0)] | None = None
    brittle: bool = False
    normal_stiffness: Annotated[JointStiffness, Field(gt=0)] | None = None
    shear_stiffness: Annotated[JointStiffness, Field(gt=0)] | None = None
    crushing: Annotated[Stress, Field(gt=0)] | None = None
    adhesion: AdhesionTable | None = None
    restitution: Annotated[Ratio, Field(ge=0, le=1)] = 0.0  # speed after an impact over speed before it
    dilatancy: Annotated[Angle, Field(ge=0)] = 0.0  # angle at which a sliding joint opens, in histories by small steps


class RuleTable(JointKeys):
    between: tuple[str, str]  # two groups of blocks; "support" stands for all supports


class ScatterTable(Table):
    """Friction that differs from joint to joint; `Scatter` explains the keys."""

    cov: Annotated[Ratio, Field(ge=0, le=10)]
    seed: Annotated[Count, Field(ge=0, lt=2**63)] = 0
    distribution: Literal["lognormal", "uniform"] = "lognormal"

    @model_validator(mode="after")
    def _can_be(self) -> Self:
        self.to_scatter().check()
        return self

    def to_scatter(self) -> Scatter:
        return Scatter(**self.model_dump())


BOND_KEYS = {"cohesion", "tension", "brittle", "adhesion"}  # a rule that sets one of these keys replaces the whole bond


class JointsTable(JointKeys):
    friction: Annotated[Ratio, Field(ge=0)]
    friction_law: Literal["associated", "coulomb"] | None = None  # coulomb: without dilatancy, the only law of small steps
    support: JointKeys | None = None  # joints of which one block is a support
    rule: tuple[RuleTable, ...] = ()  # other laws between two groups; the last matching rule counts
    scatter: ScatterTable | None = None  # friction that differs from joint to joint

    def law(self, changes: JointKeys | None = None) -> JointLaw:
        """The joint law, with the changed keys if any are given."""
        keys = {name: getattr(self, name) for name in JointKeys.model_fields}
        changed = {} if changes is None else {name: getattr(changes, name) for name in changes.model_fields_set - {"between"}}
        if BOND_KEYS & changed.keys():
            keys = {name: value for name, value in keys.items() if name not in BOND_KEYS}
        keys |= changed
        if keys.get("adhesion") is not None:
            keys["adhesion"] = Adhesion(**dict(keys["adhesion"]))
        return JointLaw(**keys)

    @property
    def are_dry(self) -> bool:
        """Whether no joint has more than friction."""
        return all(law.is_dry for law in self.laws)

    @property
    def laws(self) -> list[JointLaw]:
        """All joint laws of the case."""
        return [self.law(changes) for changes in (None, self.support, *self.rule)]


Method = Literal["native", "clarabel-kinematic", "clarabel-static", "gauss-seidel", "p-spg-fb", "nlgs", "qp"]


class SolverTable(Table):
    contact: Literal["rigid", "compliant"] | None = None  # None: rigid, unless a modulus, a stiffness or coulomb is given
    young: Annotated[Stress, Field(gt=0)] | None = None  # [Pa] of the stone in compliant contact; None: 30 GPa
    stiffness: Annotated[Stiffness, Field(gt=0)] | None = None  # [N/m] of a contact point, instead of young
    relaxation: Annotated[Time, Field(ge=0)] | None = None  # [s] damping of compliant contact over its stiffness; None: 5 ms
    method: Method = "native"  # native is drystone's own, the others are for comparison; qp is for planar analyses only
    tolerance: Annotated[Ratio, Field(gt=0, lt=1)] = 1e-6  # rms error of velocities in a step, over g times the step
    threads: Annotated[Count, Field(ge=1)] | None = None  # None: as many as the machine has cores
    contact_search: Literal["separating-axes", "nearest-points"] = "separating-axes"  # of cone programs; the latter as BRT
    contact_distance: Annotated[Length, Field(gt=0)] | None = None  # [m] nearer blocks may touch: eps_e; None: by size
    corner_radius: Annotated[Length, Field(gt=0)] | None = None  # [m] of rounded corners, eps_m of BRT; None: 0.2 % of width

    @model_validator(mode="after")
    def _one_stiffness(self) -> Self:
        given = [name for name in ("young", "stiffness") if getattr(self, name) is not None]
        if len(given) > 1:
            raise InputError("young and stiffness say the same thing twice; give one of the two")
        given += ["relaxation"] if self.relaxation is not None else []
        if self.contact == "rigid" and given:
            raise InputError(f'{given[0]} is for contact = "compliant" only; remove it or change the contact')
        return self

    @model_validator(mode="after")
    def _of_nearest_points(self) -> Self:
        given = [name for name in ("contact_distance", "corner_radius") if getattr(self, name) is not None]
        if given and self.contact_search != "nearest-points":
            raise InputError(f'{given[0]} is for contact_search = "nearest-points" only; set that, or remove it')
        return self


class OutputTable(Table):
    every: PositiveTime | None = None  # [s] between recorded frames
    monitor: tuple[str, ...] = ()  # names of blocks


@cache
def structure_table(generator: str, common: type[Table] = StructureTable) -> type[Table]:
    """The table of a generator: a key for each parameter of its signature, with its type, unit and default."""
    signature = inspect.signature(GENERATORS[generator])
    fields: dict[str, Any] = {"generator": (Literal[generator], ...)}
    fields |= {parameter.name: (parameter.annotation, parameter.default) for parameter in signature.parameters.values()}
    return create_model(generator, __base__=common, **fields)

"""Cases: a TOML file comes in, a checked `Case` goes out, or one `InputError` that lists every problem in the file.

Each table is a pydantic model that forbids unknown keys; [structure] takes its keys, types, units and defaults from the
signature of the generator it names, so a generator is described in one place only. What geometry alone can tell (do the
blocks overlap, does a monitored block exist) is asked by `Case.model`.
"""

import inspect
import math
import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model, model_validator

from drystone.build import GENERATORS, chip
from drystone.build.compose import mirror, named, place
from drystone.errors import InputError
from drystone.io.geometry.structure import read_structure
from drystone.io.problems import Problem, Where, describe, find_line
from drystone.joints import Surface
from drystone.model import Block, Model, build_model
from drystone.motion import PULSES, Motion
from drystone.units import GRAVITY, Acceleration, Angle, Count, Density, Length, Ratio, Stiffness, Stress, Time

STONE = 30e9  # [Pa] modulus of the stone in compliant contact when the case does not say
FRAME_INTERVAL = 0.01  # [s] between recorded frames when the case does not say


class Table(BaseModel):
    """A table of the case: nothing unknown, nothing changed afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Structure(Table):
    """What any [structure] may say besides what it is."""

    chip: Annotated[Ratio, Field(ge=0, lt=0.1)] = 0.0  # edges trimmed by this share of the height of the structure


class Part(Table):
    """Where one of [[structure.parts]] goes: mirrored first, then turned about z, then moved."""

    name: Annotated[str, Field(min_length=1)]  # goes before the names of its blocks
    mirror: Literal["x", "y", "z"] | None = None  # in the plane where this coordinate is 0
    turn: Angle = 0.0  # [rad]
    at: tuple[Length, Length, Length] = (0.0, 0.0, 0.0)  # [m]


class FileKeys(Table):
    """The keywords of `read_structure`, which says what they mean."""

    file: str  # of geometry, relative to the case
    unit: Literal["m", "dm", "cm", "mm", "km"] | None = None
    up: Literal["x", "y", "z"] | None = None
    density: Annotated[Density, Field(gt=0)] = Block.density
    supports: str | tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    depth: Annotated[Length, Field(gt=0)] | None = None
    decompose: bool = False


class FileStructure(Structure, FileKeys):
    pass


class FilePart(Part, FileKeys):
    pass


class Assembly(Structure):
    """Parts with their own supports."""

    parts: tuple[Part, ...] = ()


class SupportJoint(Table):
    friction: Annotated[Ratio, Field(ge=0)]


class GroupJoint(Table):
    between: tuple[str, str]  # groups of blocks
    friction: Annotated[Ratio, Field(ge=0)]


class Joints(Table):
    friction: Annotated[Ratio, Field(ge=0)]
    friction_law: Literal["associated", "coulomb"] = "associated"  # coulomb: sliding without dilatancy
    support: SupportJoint | None = None  # where one of the blocks is a support
    groups: tuple[GroupJoint, ...] = ()


def _direction(value: Any) -> Any:
    if not isinstance(value, (list, tuple)) or len(value) != 3 or not all(type(x) in (int, float) for x in value):
        raise InputError(f"{value!r} is not a direction; give three numbers [x, y, z]")
    if not any(value) or not all(math.isfinite(x) for x in value):
        raise InputError(f"{list(value)} has no direction; give three numbers [x, y, z], not all zero")
    return tuple(value)


Positive = Annotated[Time, Field(gt=0)]


class MotionTable(Table):
    """What all pulses share; `to_motion` makes the record of the engine."""

    pulse: str
    direction: Annotated[tuple[float, float, float], BeforeValidator(_direction)] = (1.0, 0.0, 0.0)
    start: Annotated[Time, Field(ge=0)] = 0.0
    supports: tuple[str, ...] = ()

    def to_motion(self) -> Motion:
        values = self.model_dump()
        if "displacement" in values:
            values["displacement_amplitude"] = values.pop("displacement")
        return Motion(**values)


class LastingPulse(MotionTable):
    pulse: Literal["rectangular", "biphasic"]
    amplitude: Acceleration
    duration: Positive


class SinePulse(MotionTable):
    pulse: Literal["half-sine", "one-sine"]
    amplitude: Acceleration
    half_period: Positive


class Sine(MotionTable):
    pulse: Literal["sine"]
    amplitude: Acceleration | None = None
    displacement: Length | None = None
    half_period: Positive
    duration: Positive | None = None

    @model_validator(mode="after")
    def _one_amplitude(self) -> Self:
        if (self.amplitude is None) == (self.displacement is None):
            raise InputError("a sine needs either an amplitude (m/s2 or g) or a displacement (m), one of the two")
        return self


class Settlement(MotionTable):
    pulse: Literal["settlement"]
    displacement: Length
    duration: Positive
    direction: Annotated[tuple[float, float, float], BeforeValidator(_direction)] = (0.0, 0.0, -1.0)


PULSE_TABLES: dict[str, type[MotionTable]] = {
    "rectangular": LastingPulse,
    "biphasic": LastingPulse,
    "half-sine": SinePulse,
    "one-sine": SinePulse,
    "sine": Sine,
    "settlement": Settlement,
}


class Analysis(Table):
    kind: Literal["dynamics"] = "dynamics"
    duration: Positive
    time_step: Positive
    theta: Annotated[Ratio, Field(ge=0.5, le=1)] = 0.53
    gyroscopic: Literal["implicit", "explicit"] = "implicit"
    collapse: Annotated[Ratio, Field(gt=0)] = 0.20  # lost share of the potential energy that is collapse
    gravity: Annotated[Acceleration, Field(ge=0)] = GRAVITY  # [m/s2] along -z
    impact_substeps: Annotated[Count, Field(ge=1, le=1000)] = 20  # of a step with a notable impact; 1: never refine

    @model_validator(mode="after")
    def _at_least_one_step(self) -> Self:
        if self.time_step > self.duration:
            raise InputError(f"time_step ({self.time_step:g} s) is longer than duration ({self.duration:g} s)")
        return self


class Solver(Table):
    contact: Literal["rigid", "compliant"] | None = None  # None: rigid, unless a modulus, a stiffness or coulomb is given
    young: Annotated[Stress, Field(gt=0)] | None = None  # [Pa] of the stone in compliant contact; None: STONE
    stiffness: Annotated[Stiffness, Field(gt=0)] | None = None  # [N/m] of a contact point, instead of young
    method: Literal["native", "clarabel-kinematic", "clarabel-static", "gauss-seidel", "p-spg-fb", "nlgs"] = "native"
    tolerance: Annotated[Ratio, Field(gt=0, lt=1)] = 1e-6
    threads: Annotated[Count, Field(ge=1)] | None = None  # None: as many as the machine has

    @model_validator(mode="after")
    def _one_stiffness(self) -> Self:
        given = [name for name in ("young", "stiffness") if getattr(self, name) is not None]
        if len(given) > 1:
            raise InputError("young and stiffness say the same thing twice; give one of the two")
        if self.contact == "rigid" and given:
            raise InputError(f'{given[0]} is for contact = "compliant" only; remove it or change the contact')
        return self


class Output(Table):
    every: Positive | None = None  # [s] between recorded frames
    monitor: tuple[str, ...] = ()  # names of blocks


@dataclass(frozen=True)
class Case:
    """A checked case, and the text it was read from, which a run keeps."""

    path: Path
    text: str
    structure: Structure  # the parameters of one generator, a `FileStructure`, or an `Assembly` of such
    joints: Joints
    motions: tuple[Motion, ...]
    analysis: Analysis
    solver: Solver
    output: Output

    @property
    def frame_interval(self) -> float:
        """[s] between recorded frames: as given, else 10 ms, and never below the time step."""
        return self.output.every or max(FRAME_INTERVAL, self.analysis.time_step)

    @property
    def surface(self) -> Surface:
        """How contacts give way. The exact law is compliant unless the case says rigid (docs/decisions/0007)."""
        exact, young, stiffness = self.joints.friction_law == "coulomb", self.solver.young, self.solver.stiffness
        stated = young is not None or stiffness is not None
        if self.solver.contact == "rigid" or (self.solver.contact is None and not exact and not stated):
            return Surface(exact=exact)
        return Surface(young if stated else STONE, stiffness, exact)

    def blocks(self) -> list[Block]:
        """The blocks, generated or read from the files beside the case."""
        if isinstance(self.structure, Assembly):
            blocks = [block for part in self.structure.parts for block in self._part(part)]
        else:
            blocks = self._made(self.structure, Structure)
        return chip(blocks, self.structure.chip) if self.structure.chip > 0 else blocks

    def _part(self, part: Part) -> list[Block]:
        blocks = self._made(part, Part)
        blocks = mirror(blocks, part.mirror) if part.mirror else blocks
        return named(place(blocks, at=part.at, turn=part.turn), part.name)

    def _made(self, table: Table, common: type[Table]) -> list[Block]:
        """What a table's own keys, those that not every structure has, make."""
        own = {name: value for name, value in dict(table).items() if name not in common.model_fields}
        if "file" in own:
            return read_structure(self.path.parent / own.pop("file"), **own)
        return GENERATORS[own.pop("generator")](**own)

    def model(self) -> Model:
        """The checked model; also checks the names of blocks that the case mentions."""
        support = self.joints.support
        pairs = [(*joint.between, joint.friction) for joint in self.joints.groups]
        model = build_model(
            self.blocks(),
            friction=self.joints.friction,
            support_friction=None if support is None else support.friction,
            pairs=pairs,
        )
        names = [block.name for block in model.blocks]
        supports = [block.name for block in model.blocks if block.fixed]
        self._check_names("output.monitor", self.output.monitor, names, "block")
        for motion in self.motions:
            self._check_names("motion.supports", motion.supports, supports, "support")
        return model

    def _check_names(self, key: str, given: tuple[str, ...], known: list[str], kind: str) -> None:
        for name in given:
            if name not in known:
                near = get_close_matches(name, known, 1) or known[:1]
                hint = f"did you mean {near[0]!r}?" if near else f"the structure has no {kind}s"
                raise InputError(f"{self.path}: {key}: no {kind} is named {name!r}; {hint}")


def read_case(path: str | Path) -> Case:
    """The case of a TOML file."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from None
    return parse_case(text, path)


def parse_case(text: str, path: str | Path = "case.toml") -> Case:
    """The case written in `text`; `path` is where its block file is looked for and what errors call it."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {error}") from None
    problems: list[Problem] = []
    _check_tables(content, problems)
    structure = _read_structure(content.get("structure"), problems)
    joints = _read(Joints, content.get("joints"), ("joints",), problems)
    motions = _read_motions(content.get("motion", []), problems)
    analysis = _read(Analysis, content.get("analysis"), ("analysis",), problems)
    solver = _read(Solver, content.get("solver", {}), ("solver",), problems)
    output = _read(Output, content.get("output", {}), ("output",), problems)
    if isinstance(analysis, Analysis) and isinstance(output, Output) and (output.every or 1e300) < analysis.time_step:
        said = f"{output.every:g} s is shorter than analysis.time_step, {analysis.time_step:g} s; give at least that"
        problems.append(Problem(("output", "every"), said))
    if problems:
        raise InputError(_report(problems, text, path))
    return Case(Path(path), text, structure, joints, motions, analysis, solver, output)


TABLES = ("structure", "joints", "motion", "analysis", "solver", "output")


def _check_tables(content: dict[str, Any], problems: list[Problem]) -> None:
    problems += [Problem((name,), "is not a table of a case", given=name, accepted=TABLES) for name in content
                 if name not in TABLES]  # fmt: skip
    for name in ("structure", "joints", "analysis"):
        if name not in content:
            problems.append(Problem((name,), f"is missing; add a table [{name}]"))


def _read(table: type[Table], content: Any, where: Where, problems: list[Problem]) -> Any:
    """The table as `table`; None, and its problems noted, when it is not one. A missing table is noted elsewhere."""
    if content is None:
        return None
    if not isinstance(content, dict):
        problems.append(Problem(where, f"is {content!r}; write it as a table, [{where[0]}]"))
        return None
    try:
        return table.model_validate(content)
    except ValidationError as error:
        problems += [describe(e, table, where) for e in error.errors()]
        return None


def _read_structure(content: Any, problems: list[Problem]) -> Any:
    where = ("structure",)
    if not isinstance(content, dict) or "parts" not in content:
        return _read_made(content, where, problems, FileStructure, Structure)
    tables = content["parts"]
    if not isinstance(tables, list) or not tables:
        problems.append(Problem((*where, "parts"), "is no list of parts; write each as a table, [[structure.parts]]"))
        return None
    parts = [_read_made(table, (*where, "parts", i), problems, FilePart, Part) for i, table in enumerate(tables)]
    names = [part.name for part in parts if part is not None]
    for name in sorted({name for name in names if names.count(name) > 1}):
        problems.append(Problem((*where, "parts"), f"{names.count(name)} parts are named {name!r}; give each its own name"))
    whole = _read(Assembly, {key: value for key, value in content.items() if key != "parts"}, where, problems)
    return whole and whole.model_copy(update={"parts": tuple(parts)})


def _read_made(content: Any, where: Where, problems: list[Problem], from_file: type[Table], common: type[Table]) -> Any:
    """A table that names a generator or a file; `common` has the keys that it may have besides."""
    if not isinstance(content, dict):
        return _read(from_file, content, where, problems)
    if ("generator" in content) == ("file" in content):
        said = 'needs either generator = "..." or file = "....", one of the two'
        problems.append(Problem(where, said))
    elif "file" in content:
        return _read(from_file, content, where, problems)
    elif content["generator"] not in tuple(GENERATORS):  # a tuple: the value may be of any type, hashable or not
        said = "is not a generator"
        problems.append(Problem((*where, "generator"), said, given=content["generator"], accepted=tuple(GENERATORS)))
    else:
        return _read(structure_table(content["generator"], common), content, where, problems)
    return None


@cache
def structure_table(generator: str, common: type[Table] = Structure) -> type[Table]:
    """The table of a generator: a key for each parameter of its signature, with its type, unit and default."""
    signature = inspect.signature(GENERATORS[generator])
    fields: dict[str, Any] = {"generator": (Literal[generator], ...)}
    fields |= {parameter.name: (parameter.annotation, parameter.default) for parameter in signature.parameters.values()}
    return create_model(generator, __base__=common, **fields)


def _read_motions(content: Any, problems: list[Problem]) -> tuple[Motion, ...]:
    listed = isinstance(content, list)
    tables = content if listed else [content]
    motions = []
    for i, table in enumerate(tables):
        where = ("motion", i) if listed else ("motion",)
        pulse = table.get("pulse") if isinstance(table, dict) else None
        if isinstance(table, dict) and pulse not in tuple(PULSES):
            said = "is missing" if pulse is None else "is not a pulse"
            problems.append(Problem((*where, "pulse"), said, given=pulse, accepted=tuple(PULSES)))
            continue
        read = _read(PULSE_TABLES[pulse] if pulse else MotionTable, table, where, problems)
        if read is not None:
            motions.append(read.to_motion())
    return tuple(motions)


def _report(problems: list[Problem], text: str, path: str | Path) -> str:
    found = sorted(((find_line(text, problem.where) or 0, problem) for problem in problems), key=lambda pair: pair[0])
    lines = [f"{path}{f', line {line}' if line else ''}: {problem}" for line, problem in found]
    if len(lines) == 1:
        return lines[0]
    return f"{len(lines)} problems in the case:\n" + "\n".join(f"  {line}" for line in lines)

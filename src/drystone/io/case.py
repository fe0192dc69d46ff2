"""Reads a case from a TOML file: returns a checked `Case`, or raises one `InputError` that lists every problem in the file.

The tables and their keys are in case_tables.py. What depends on the geometry (whether blocks overlap, whether a monitored block
exists) is checked by `Case.model`.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from drystone.base.errors import InputError, truncated_repr
from drystone.base.files.reading import read_utf8
from drystone.build import GENERATORS, chip, with_play
from drystone.build.compose import mirror_blocks, move_blocks, prefix_names
from drystone.ground.accelerogram import Accelerogram
from drystone.ground.motion import Motion, check_in_plane, last_motion_end
from drystone.io.analysis_tables import (
    ANALYSIS_TABLES,
    AnalysisTable,
    ChangeTable,
    DynamicsTable,
    LoadTable,
    SettlementHistoryTable,
    SettlementTable,
    analysis_table,
)
from drystone.io.case_tables import (
    AssemblyTable,
    FilePartTable,
    FileStructureTable,
    JointsTable,
    OutputTable,
    PartTable,
    SolverTable,
    StructureTable,
    structure_table,
)  # fmt: skip
from drystone.io.geometry.drawing import check_extent
from drystone.io.motion_tables import PULSE_TABLES, AccelerogramTable, MotionTable
from drystone.io.table_base import Table
from drystone.io.toml_problems import InputProblem, KeyPath, describe_error, format_problems, read_toml
from drystone.structure.block_changes import BlockChange, Presence, last_change_time
from drystone.structure.joint_laws import DEFAULT_RELAXATION, DEFAULT_YOUNG, ContactSurface, JointLaw
from drystone.structure.loads import AppliedLoad, last_load_change, load_wrench
from drystone.structure.model import Block, Model, build_model

DEFAULT_STONE_YOUNG = DEFAULT_YOUNG  # [Pa] modulus of the stone in compliant contact if the case states none
MAX_STEPS = 10**8  # time steps in a history
DEFAULT_FRAME_INTERVAL = 0.01  # [s] between recorded frames if the case states none
DEFAULT_MAX_TIME_STEP = 5e-3  # [s] longest interval at which small steps return the state if the case states none


if TYPE_CHECKING:
    from drystone.io.doctor.rounding import ClosedGap


@dataclass(frozen=True)
class Case:
    """A checked case, and the text it was read from, which a run keeps."""

    path: Path
    text: str
    structure: StructureTable  # the parameters of one generator, a `FileStructureTable`, or an `AssemblyTable`
    joints: JointsTable
    motions: tuple[Motion, ...]
    loads: tuple[AppliedLoad, ...]
    analysis: AnalysisTable  # the table of its kind
    solver: SolverTable
    output: OutputTable
    changes: tuple[BlockChange, ...] = ()

    @property
    def frame_interval(self) -> float:
        """[s] between recorded frames: as given, or else 10 ms, but not below the time step."""
        return self.output.every or max(DEFAULT_FRAME_INTERVAL, self.history.time_step)

    @property
    def goes_through_time(self) -> bool:
        return isinstance(self.analysis, DynamicsTable)

    @property
    def history(self) -> DynamicsTable:
        """The analysis, if it goes through time."""
        if not isinstance(self.analysis, DynamicsTable):
            raise InputError(f'{self.path}: an analysis of kind "{self.analysis.kind}" has no time steps; use "dynamics"')
        return self.analysis

    @property
    def young(self) -> float:
        """[Pa] modulus of the stone in joints."""
        return DEFAULT_STONE_YOUNG if self.solver.young is None else self.solver.young

    @property
    def by_small_steps(self) -> bool:
        return self.analysis.by_small_steps

    @property
    def friction_law(self) -> str:
        """ "coulomb" for small steps, which have no other law; else "associated" unless the case states Coulomb friction."""
        return "coulomb" if self.by_small_steps else self.joints.friction_law or "associated"

    @property
    def surface(self) -> ContactSurface:
        """The stiffness of contacts. In small steps the stone is elastic. In cone programs and statics, contacts with Coulomb
        friction are compliant unless the case states rigid contact (docs/decisions/0007); joints with mortar are always
        compliant (docs/decisions/0009)."""
        exact, young, stiffness = self.friction_law == "coulomb", self.solver.young, self.solver.stiffness
        if self.by_small_steps:
            return ContactSurface(self.young, coulomb=True)
        stated = young is not None or stiffness is not None
        soft = exact or stated or self.solver.relaxation is not None or not self.joints.are_dry
        if self.solver.contact == "rigid" or (self.solver.contact is None and not soft):
            return ContactSurface(coulomb=exact)
        bounce = max(law.restitution for law in self.joints.laws)
        if bounce > 0:
            raise InputError(f"{self.path}: joints.restitution is {bounce:g}; compliant contact bounces by "
                             'its own stiffness; set contact = "rigid" in [solver], or remove it')  # fmt: skip
        return ContactSurface(young if stated else DEFAULT_STONE_YOUNG, stiffness, exact, self._relaxation)

    @property
    def _relaxation(self) -> float:
        """[s] of compliant contacts; the settlements of the papers have no damping."""
        if self.solver.relaxation is not None:
            return self.solver.relaxation
        return 0.0 if isinstance(self.analysis, SettlementHistoryTable) else DEFAULT_RELAXATION

    def blocks(self) -> list[Block]:
        """The blocks, generated or read from the files beside the case."""
        with self._named():
            if isinstance(self.structure, AssemblyTable):
                blocks = [block for part in self.structure.parts for block in self._part(part)]
            else:
                blocks = self._made(self.structure, StructureTable)
            if self.structure.play > 0:
                blocks = with_play(blocks, self.structure.play, self.structure.play_seed)
        check_extent(blocks, self.path)
        return chip(blocks, self.structure.chip) if self.structure.chip > 0 else blocks

    def _part(self, part: PartTable) -> list[Block]:
        blocks = self._made(part, PartTable)
        blocks = mirror_blocks(blocks, part.mirror) if part.mirror else blocks
        return prefix_names(move_blocks(blocks, at=part.at, turn=part.turn), part.name)

    def _made(self, table: Table, common: type[Table]) -> list[Block]:
        """The blocks that the keys of a table describe, apart from the keys common to all structures."""
        keys = {name: value for name, value in dict(table).items() if name not in common.model_fields}
        return self._drawn(keys)[0] if "file" in keys else GENERATORS[keys.pop("generator")](**keys)

    def _drawn(self, keys: dict[str, Any]) -> "tuple[list[Block], list[ClosedGap]]":
        """The blocks of a file, and the gaps between them that rounding of coordinates had caused."""
        from drystone.io.doctor.rounding import close_rounding_gaps  # with scipy; generated structures do without
        from drystone.io.geometry.structure_file import read_structure

        return close_rounding_gaps(read_structure(self.path.parent / keys.pop("file"), **keys))

    def closed_gaps(self) -> "list[ClosedGap]":
        """The gaps in the files of the structure that rounding had caused and `blocks` has closed (T405)."""
        parts = self.structure.parts if isinstance(self.structure, AssemblyTable) else (self.structure,)
        common = PartTable.model_fields | StructureTable.model_fields
        keys_of_parts = [{name: value for name, value in dict(part).items() if name not in common} for part in parts]
        return [closed for keys in keys_of_parts if "file" in keys for closed in self._drawn(keys)[1]]

    def model(self, pairs: Sequence[tuple[str, str, JointLaw]] = ()) -> Model:
        """The checked model; also checks the names of blocks that the case mentions. pairs: joint laws between groups in
        addition to those of the case, such as laws that are written in Python."""
        with self._named():
            return self._model(pairs)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Put the path of the case before the message of an `InputError` in the block."""
        try:
            yield
        except InputError as error:
            message = str(error)
            raise InputError(message if message.startswith(f"{self.path}: ") else f"{self.path}: {message}") from None

    def _model(self, pairs: Sequence[tuple[str, str, JointLaw]]) -> Model:
        joints = self.joints
        model = build_model(
            self.blocks(),
            friction=joints.law(),
            support_friction=joints.law(joints.support),
            pairs=[*((*rule.between, joints.law(rule)) for rule in joints.rule), *pairs],
            planar=self.analysis.planar,
            deformable=[table.to_stone() for table in self.structure.deformable],
            scatter=None if joints.scatter is None else joints.scatter.to_scatter(),
        )
        if model.planar:
            check_in_plane(self.motions)
        elif self.solver.method == "qp":
            raise InputError(f'{self.path}: solver.method = "qp" is for planar analyses; set planar = true in [analysis]')
        names = [block.name for block in model.blocks]
        supports = [block.name for block in model.blocks if block.fixed]
        self._check_names("output.monitor", self.output.monitor, names, "block")
        for motion in self.motions:
            self._check_names("motion.supports", motion.supports, supports, "support")
        if (
            isinstance(self.analysis, SettlementHistoryTable)
            and self.analysis.scheme == "rigid-modes"
            and model.elastic is None
        ):
            raise InputError(
                'analysis.scheme: "rigid-modes" takes the rigid modes out of deformable blocks, and all blocks '
                'are rigid; give deformable in [structure], or scheme = "velocity-zeroing"'
            )
        if isinstance(self.analysis, SettlementTable):
            named = sorted({block.group for block in model.blocks if block.fixed and block.group}) + supports
            self._check_names("analysis.moves", tuple(move.support for move in self.analysis.moves), named, "support")
            if model.planar and any(move.dy for move in self.analysis.moves):
                raise InputError("analysis.moves: dy is normal to the plane of x and z; remove dy, or planar")
        self.with_contact_search(model)  # refuses blocks that are too thin for the corner radius
        load_wrench(model, self.loads, self.analysis.gravity)  # refuses blocks and faces that do not exist
        Presence(model, self.changes)  # refuses blocks that are not present
        return model

    def with_contact_search(self, model: Model) -> Model:
        """The model with the data that the contact search of the case needs."""
        solver = self.solver
        if solver.contact_search == "separating-axes":
            return model
        from drystone.contact.inset import with_nearest_points  # loaded here as few cases need it

        return with_nearest_points(model, corner_radius=solver.corner_radius, contact_distance=solver.contact_distance)

    def _check_names(self, key: str, names: tuple[str, ...], known: list[str], kind: str) -> None:
        for name in names:
            if name not in known:
                near = get_close_matches(name, known, 1) or known[:1]
                hint = f"did you mean {near[0]!r}?" if near else f"the structure has no {kind}s"
                raise InputError(f"{self.path}: {key}: no {kind} is named {name!r}; {hint}")


def read_case(path: str | Path) -> Case:
    """Read the case from a TOML file."""
    return parse_case(read_utf8(path), path)


def parse_case(
    text: str,
    path: str | Path = "case.toml",
    overrides: Mapping[str, Any] | None = None,
    records: Mapping[int, Accelerogram] | None = None,
) -> Case:
    """Parse a case from `text`. Its files are searched beside `path`, which error messages name. `overrides`: values that
    replace
    those of the text, by dotted key such as "motion.amplitude", or "motion.0.amplitude" in a list. `records`: the stored
    accelerograms of a run, by number of the motion; no accelerogram file is read then."""
    content = case_content(text, path, overrides)
    problems: list[InputProblem] = []
    _check_tables(content, problems)
    structure = _read_structure(content.get("structure"), problems)
    joints = _read_table(JointsTable, content.get("joints"), ("joints",), problems)
    motions = _read_motions(content.get("motion", []), Path(path).parent, records or {}, problems)
    loads = tuple(_read_tables(LoadTable, content.get("load", []), "load", problems, LoadTable.to_applied_load))
    changes = tuple(_read_tables(ChangeTable, content.get("change", []), "change", problems, ChangeTable.to_change))
    end = max(last_motion_end(motions), last_load_change(loads), last_change_time(changes))
    analysis = _read_analysis(content.get("analysis"), end, problems)
    solver = _read_table(SolverTable, content.get("solver", {}), ("solver",), problems)
    output = _read_table(OutputTable, content.get("output", {}), ("output",), problems)
    if isinstance(analysis, DynamicsTable) and analysis.time_step == 0 and isinstance(output, OutputTable):
        analysis = _fill_time_step(analysis, output)
    if isinstance(analysis, DynamicsTable) and isinstance(output, OutputTable) and (output.every or 1e300) < analysis.time_step:
        message = f"{output.every:g} s is shorter than analysis.time_step, {analysis.time_step:g} s; give at least that"
        problems.append(InputProblem(("output", "every"), message))
    if isinstance(analysis, DynamicsTable) and analysis.duration > MAX_STEPS * analysis.time_step:
        message = f"{analysis.time_step:g} s makes more than {MAX_STEPS:,} steps of {analysis.duration:g} s; give a longer one"
        problems.append(InputProblem(("analysis", "time_step"), message))
    if joints is not None and solver is not None and solver.contact == "rigid" and not joints.are_dry:
        message = 'joints with cohesion, adhesion, crushing or a stiffness need contact = "compliant"; remove "rigid"'
        problems.append(InputProblem(("solver", "contact"), message))
    damped = solver is not None and solver.relaxation is not None
    if damped and joints is not None and not joints.are_dry:
        message = "joints with mortar have no relaxation time, their adhesion has a viscosity; remove it"
        problems.append(InputProblem(("solver", "relaxation"), message))
    if damped and analysis is not None and not isinstance(analysis, DynamicsTable):
        message = f'an analysis of kind "{analysis.kind}" has no velocities; remove it, or use "dynamics"'
        problems.append(InputProblem(("solver", "relaxation"), message))
    opens = joints is not None and any(law.dilatancy > 0 for law in joints.laws)
    if opens and analysis is not None and not analysis.by_small_steps:
        message = "joints open as they slide in small steps only; remove it, or integrator and kind in [analysis]"
        problems.append(InputProblem(("joints", "dilatancy"), message))
    if analysis is not None and analysis.by_small_steps:
        problems += _find_cone_program_keys(content)
    by_points = solver is not None and solver.contact_search == "nearest-points"
    if by_points and analysis is not None and not isinstance(analysis, DynamicsTable):
        message = f'an analysis of kind "{analysis.kind}" finds contacts by separating axes; remove it, or use "dynamics"'
        problems.append(InputProblem(("solver", "contact_search"), message))
    if isinstance(analysis, SettlementTable):
        problems += _find_conflicting_moves(motions, analysis)
    if isinstance(analysis, DynamicsTable | SettlementTable):
        message = f'an analysis of kind "{analysis.kind}" has no load multiplier; remove live, or use "limit" or "pushover"'
        problems += [InputProblem(("load", i, "live"), message) for i, load in enumerate(loads) if load.live]
    if analysis is not None and not isinstance(analysis, DynamicsTable):
        message = f'an analysis of kind "{analysis.kind}" has no time; remove history, or use "dynamics"'
        problems += [InputProblem(("load", i, "history"), message) for i, load in enumerate(loads) if load.history]
    if changes and analysis is not None and not (isinstance(analysis, DynamicsTable) and analysis.by_small_steps):
        message = "blocks appear and vanish only in histories by small steps; remove it, or integrator and kind in [analysis]"
        problems.append(InputProblem(("change",), message))
    if isinstance(analysis, DynamicsTable):
        message = f"is not before the end of the history, {analysis.duration:g} s; give an earlier time, or a longer duration"
        late = [i for i, change in enumerate(changes) if change.time >= analysis.duration]
        problems += [InputProblem(("change", i, "time"), message) for i in late]
    if problems:
        raise InputError(format_problems(problems, text, path))
    return Case(Path(path), text, structure, joints, motions, loads, analysis, solver, output, changes)


# Keys that small steps do not have, by table. A value other than None is the one that small steps accept nevertheless.
CONE_PROGRAM_KEYS: dict[str, dict[str, Any]] = {
    "analysis": {"theta": None, "gyroscopic": None},
    "solver": {
        "contact": "compliant", "stiffness": None, "method": None, "tolerance": None, "contact_search": None,
        "contact_distance": None, "corner_radius": None, "relaxation": None,
    },
    "joints": {"friction_law": "coulomb"},
}  # fmt: skip


def _fill_time_step(analysis: DynamicsTable, output: OutputTable) -> DynamicsTable:
    """The analysis with the default time step of small steps: the longest one that divides the frame interval."""
    frame = min(output.every or DEFAULT_FRAME_INTERVAL, analysis.duration)
    filled = analysis.model_copy(update={"time_step": frame / math.ceil(frame / DEFAULT_MAX_TIME_STEP - 1e-9)})
    filled.model_fields_set.discard("time_step")
    return filled


def _find_cone_program_keys(content: Mapping[str, Any]) -> Iterator[InputProblem]:
    """The keys that were given and have no meaning in small steps."""
    hint = 'set integrator = "cone-program" and a time_step in [analysis]'
    for table, keys in CONE_PROGRAM_KEYS.items():
        content_of_table = content.get(table)
        for key, accepted in keys.items():
            if (
                isinstance(content_of_table, dict)
                and key in content_of_table
                and (accepted is None or content_of_table[key] != accepted)
            ):
                message = f"small steps have no {key}{'' if accepted is None else f' but {accepted!r}'}; remove it, or {hint}"
                yield InputProblem((table, key), message)


def _find_conflicting_moves(motions: Sequence[Motion], analysis: SettlementTable) -> Iterator[InputProblem]:
    """The motions that a settlement analysis cannot take."""
    for i, motion in enumerate(motions):
        if motion.pulse != "settlement" or not motion.supports:
            message = 'does not settle a support; give pulse = "settlement" and supports, or kind = "dynamics"'
            yield InputProblem(("motion", i), message)
        elif analysis.moves:
            yield InputProblem(("motion", i), "moves supports, and so does analysis.moves; give one of the two")


def case_content(text: str, path: str | Path, overrides: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The unchecked tables of a case, with the values of `overrides`."""
    content = read_toml(text, path)
    for key, value in (overrides or {}).items():
        _set_value(content, key, value, path)
    return content


def _set_value(content: dict[str, Any], key: str, value: Any, path: str | Path) -> None:
    """Set the value of a dotted key such as "joints.support.friction"."""
    *tables, last = key.split(".")
    node: Any = content
    for name in tables:
        if isinstance(node, list):
            node = node[int(name)] if name.isdecimal() and int(name) < len(node) else None
        elif isinstance(node, dict):
            node = node.setdefault(name, {})
    if not isinstance(node, dict) or not tables:
        raise InputError(f"{path}: {key!r} is not a key of the case; give table and key as in joints.friction, and in a list "
                         "the number from 0 on as in motion.0.amplitude")  # fmt: skip
    node[last] = value


CASE_TABLES = ("structure", "joints", "motion", "load", "change", "analysis", "solver", "output")


def _check_tables(content: dict[str, Any], problems: list[InputProblem]) -> None:
    problems += [InputProblem((name,), "is not a table of a case", value=name, accepted=CASE_TABLES) for name in content
                 if name not in CASE_TABLES]  # fmt: skip
    for name in ("structure", "joints", "analysis"):
        if name not in content:
            problems.append(InputProblem((name,), f"is missing; add a table [{name}]"))


def _read_table(table: type[Table], content: Any, where: KeyPath, problems: list[InputProblem]) -> Any:
    """The validated table; None if it is missing, or if it has problems, which are added to `problems`."""
    if content is None:
        return None
    if not isinstance(content, dict):
        problems.append(InputProblem(where, f"is {truncated_repr(content)}; write it as a table, [{where[0]}]"))
        return None
    try:
        return table.model_validate(content)
    except ValidationError as error:
        problems += [describe_error(e, table, where) for e in error.errors()]
        return None


def _read_structure(content: Any, problems: list[InputProblem]) -> Any:
    where = ("structure",)
    if not isinstance(content, dict) or "parts" not in content:
        return _read_source(content, where, problems, FileStructureTable, StructureTable)
    tables = content["parts"]
    if not isinstance(tables, list) or not tables:
        problems.append(InputProblem((*where, "parts"), "is not a list of parts; write each as a table, [[structure.parts]]"))
        return None
    parts = [_read_source(table, (*where, "parts", i), problems, FilePartTable, PartTable) for i, table in enumerate(tables)]
    names = [part.name for part in parts if part is not None]
    for name in sorted({name for name in names if names.count(name) > 1}):
        problems.append(
            InputProblem((*where, "parts"), f"{names.count(name)} parts are named {name!r}; give each its own name")
        )
    assembly = _read_table(AssemblyTable, {key: value for key, value in content.items() if key != "parts"}, where, problems)
    return assembly and assembly.model_copy(update={"parts": tuple(parts)})


def _read_source(
    content: Any, where: KeyPath, problems: list[InputProblem], from_file: type[Table], common: type[Table]
) -> Any:
    """A table that names a generator or a file; `common` is the table of the keys that it may have in addition."""
    if not isinstance(content, dict):
        return _read_table(from_file, content, where, problems)
    if ("generator" in content) == ("file" in content):
        message = 'needs either generator = "..." or file = "....", one of the two'
        problems.append(InputProblem(where, message))
    elif "file" in content:
        return _read_table(from_file, content, where, problems)
    elif content["generator"] not in tuple(GENERATORS):  # a tuple: the value may be of any type, hashable or not
        message = "is not a generator"
        problems.append(InputProblem((*where, "generator"), message, value=content["generator"], accepted=tuple(GENERATORS)))
    else:
        return _read_table(structure_table(content["generator"], common), content, where, problems)
    return None


def _read_motions(
    content: Any, folder: Path, records: Mapping[int, Accelerogram], problems: list[InputProblem]
) -> tuple[Motion, ...]:
    is_list = isinstance(content, list)
    motions = []
    for i, content_i in enumerate(content if is_list else [content]):
        where = ("motion", i) if is_list else ("motion",)
        table = _motion_table(content_i, where, problems)
        motion_table = _read_table(table, content_i, where, problems) if table else None
        try:
            motions += [motion_table.to_motion(folder, records.get(i))] if motion_table else []
        except InputError as error:  # from the accelerogram file, or from its processing
            problems.append(InputProblem((*where, "record") if table is AccelerogramTable else where, str(error)))
    return tuple(motions)


def _motion_table(content: Any, where: KeyPath, problems: list[InputProblem]) -> type[MotionTable] | None:
    """The table class of a motion: that of its pulse, or that of an accelerogram."""
    if not isinstance(content, dict):
        return MotionTable
    pulse, accepted = content.get("pulse"), tuple(PULSE_TABLES)
    if pulse is None and "record" in content:
        return AccelerogramTable
    if pulse in accepted:
        return PULSE_TABLES[pulse]
    message = 'is missing, and so is record = "file"' if pulse is None else "is not a pulse"
    problems.append(InputProblem((*where, "pulse"), message, value=pulse, accepted=accepted))
    return None


def _read_tables(
    table: type[Table], content: Any, name: str, problems: list[InputProblem], build: Callable[[Any], Any]
) -> list[Any]:
    """The objects made from the tables [[name]], or from the one table [name]."""
    is_list = isinstance(content, list)
    read = [_read_table(table, each, (name, i) if is_list else (name,), problems)
            for i, each in enumerate(content if is_list else [content])]  # fmt: skip
    return [build(each) for each in read if each is not None]


def _read_analysis(content: Any, end: float, problems: list[InputProblem]) -> Any:
    """The table of the analysis; end [s]: when all motions and changes of loads are over."""
    kind = content.get("kind", "dynamics") if isinstance(content, dict) else "dynamics"
    if kind not in tuple(ANALYSIS_TABLES):
        where, accepted = ("analysis", "kind"), tuple(ANALYSIS_TABLES)
        problems.append(InputProblem(where, "is not accepted", value=kind, accepted=accepted))
        return None
    table = analysis_table(kind, content) if isinstance(content, dict) else ANALYSIS_TABLES[kind]
    analysis = _read_table(table, content, ("analysis",), problems)
    if not isinstance(analysis, DynamicsTable) or analysis.after is None:
        return analysis
    if math.isinf(end):
        message = "the sine has no end; give the motion a duration, or the analysis a duration instead of after"
        problems.append(InputProblem(("analysis", "after"), message))
    return analysis.model_copy(update={"duration": end + analysis.after})

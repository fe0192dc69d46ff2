"""Cases: a TOML file comes in, a checked `Case` goes out, or one `InputError` that lists every problem in the file.

The tables and their keys are in case_tables.py. What geometry alone can tell (do the blocks overlap, does a monitored block
exist) is asked by `Case.model`.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from drystone.build import GENERATORS, chip, with_play
from drystone.build.compose import mirror, named, place
from drystone.changes import Change, Presence, last_of
from drystone.errors import InputError, shown
from drystone.ground.accelerogram import Accelerogram
from drystone.io.analysis_tables import (
    ANALYSIS_TABLES,
    Analysis,
    ChangeTable,
    Dynamics,
    LoadTable,
    Settlement,
    SettlementHistory,
    analysis_table,
)
from drystone.io.case_tables import (
    Assembly,
    FilePart,
    FileStructure,
    Joints,
    Output,
    Part,
    Solver,
    Structure,
    structure_table,
)  # fmt: skip
from drystone.io.geometry.drawing import check_reach
from drystone.io.given import read_text
from drystone.io.motion_tables import PULSE_TABLES, MotionTable, RecordTable
from drystone.io.problems import Problem, Where, describe, read_toml, report
from drystone.io.table import Table
from drystone.laws import RELAXATION, YOUNG, JointLaw, Surface
from drystone.loads import Push, last_change, wrench
from drystone.model import Block, Model, build_model
from drystone.motion import Motion, check_in_plane, end_of

STONE = YOUNG  # [Pa] modulus of the stone in compliant contact when the case does not say
MOST_STEPS = 10**8  # of a history
FRAME_INTERVAL = 0.01  # [s] between recorded frames when the case does not say
LONGEST_TIME_STEP = 5e-3  # [s] after which small steps hand out the state when the case does not say


if TYPE_CHECKING:
    from drystone.doctor.rounding import Closed


@dataclass(frozen=True)
class Case:
    """A checked case, and the text it was read from, which a run keeps."""

    path: Path
    text: str
    structure: Structure  # the parameters of one generator, a `FileStructure`, or an `Assembly` of such
    joints: Joints
    motions: tuple[Motion, ...]
    loads: tuple[Push, ...]
    analysis: Analysis  # its table by kind
    solver: Solver
    output: Output
    changes: tuple[Change, ...] = ()

    @property
    def frame_interval(self) -> float:
        """[s] between recorded frames: as given, else 10 ms, and never below the time step."""
        return self.output.every or max(FRAME_INTERVAL, self.history.time_step)

    @property
    def goes_through_time(self) -> bool:
        return isinstance(self.analysis, Dynamics)

    @property
    def history(self) -> Dynamics:
        """The analysis, if it goes through time."""
        if not isinstance(self.analysis, Dynamics):
            raise InputError(f'{self.path}: an analysis of kind "{self.analysis.kind}" has no time steps; use "dynamics"')
        return self.analysis

    @property
    def young(self) -> float:
        """[Pa] modulus of the stone in joints."""
        return STONE if self.solver.young is None else self.solver.young

    @property
    def by_small_steps(self) -> bool:
        return self.analysis.by_small_steps

    @property
    def friction_law(self) -> str:
        """Coulomb's by small steps, which have no other; associated elsewhere unless the case says otherwise."""
        return "coulomb" if self.by_small_steps else self.joints.friction_law or "associated"

    @property
    def surface(self) -> Surface:
        """How contacts give way. By small steps stone is elastic; in cone programs and statics Coulomb's law is compliant
        unless the case says rigid (docs/decisions/0007), mortar always (docs/decisions/0009)."""
        exact, young, stiffness = self.friction_law == "coulomb", self.solver.young, self.solver.stiffness
        if self.by_small_steps:
            return Surface(self.young, exact=True)
        stated = young is not None or stiffness is not None
        soft = exact or stated or self.solver.relaxation is not None or not self.joints.are_dry
        if self.solver.contact == "rigid" or (self.solver.contact is None and not soft):
            return Surface(exact=exact)
        bounce = max(law.restitution for law in self.joints.laws)
        if bounce > 0:
            raise InputError(f"{self.path}: joints.restitution is {bounce:g}; compliant contact bounces by "
                             'its own stiffness; set contact = "rigid" in [solver], or remove it')  # fmt: skip
        return Surface(young if stated else STONE, stiffness, exact, self._relaxation)

    @property
    def _relaxation(self) -> float:
        """[s] of compliant contacts; the papers' settlements have no damping."""
        if self.solver.relaxation is not None:
            return self.solver.relaxation
        return 0.0 if isinstance(self.analysis, SettlementHistory) else RELAXATION

    def blocks(self) -> list[Block]:
        """The blocks, generated or read from the files beside the case."""
        with self._named():
            if isinstance(self.structure, Assembly):
                blocks = [block for part in self.structure.parts for block in self._part(part)]
            else:
                blocks = self._made(self.structure, Structure)
            if self.structure.play > 0:
                blocks = with_play(blocks, self.structure.play, self.structure.play_seed)
        check_reach(blocks, self.path)
        return chip(blocks, self.structure.chip) if self.structure.chip > 0 else blocks

    def _part(self, part: Part) -> list[Block]:
        blocks = self._made(part, Part)
        blocks = mirror(blocks, part.mirror) if part.mirror else blocks
        return named(place(blocks, at=part.at, turn=part.turn), part.name)

    def _made(self, table: Table, common: type[Table]) -> list[Block]:
        """What a table's own keys, those that not every structure has, make."""
        own = {name: value for name, value in dict(table).items() if name not in common.model_fields}
        return self._drawn(own)[0] if "file" in own else GENERATORS[own.pop("generator")](**own)

    def _drawn(self, own: dict[str, Any]) -> "tuple[list[Block], list[Closed]]":
        """The blocks of a file, and the gaps that rounding had made between them."""
        from drystone.doctor.rounding import close_rounding_gaps  # with scipy; generated structures do without
        from drystone.io.geometry.structure import read_structure

        return close_rounding_gaps(read_structure(self.path.parent / own.pop("file"), **own))

    def closed_gaps(self) -> "list[Closed]":
        """The gaps that rounding has made in the files of the structure, which `blocks` has closed (T405)."""
        parts = self.structure.parts if isinstance(self.structure, Assembly) else (self.structure,)
        common = Part.model_fields | Structure.model_fields
        drawn = [{name: value for name, value in dict(part).items() if name not in common} for part in parts]
        return [closed for own in drawn if "file" in own for closed in self._drawn(own)[1]]

    def model(self, pairs: Sequence[tuple[str, str, JointLaw]] = ()) -> Model:
        """The checked model; also checks the names of blocks that the case mentions. pairs: joint laws between groups besides
        those of the case, such as none but Python can give."""
        with self._named():
            return self._model(pairs)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """What is refused here is told with the name of the case."""
        try:
            yield
        except InputError as error:
            said = str(error)
            raise InputError(said if said.startswith(f"{self.path}: ") else f"{self.path}: {said}") from None

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
            raise InputError(f'{self.path}: solver.method = "qp" is for the plane; set planar = true in [analysis]')
        names = [block.name for block in model.blocks]
        supports = [block.name for block in model.blocks if block.fixed]
        self._check_names("output.monitor", self.output.monitor, names, "block")
        for motion in self.motions:
            self._check_names("motion.supports", motion.supports, supports, "support")
        if isinstance(self.analysis, SettlementHistory) and self.analysis.scheme == "rigid-modes" and model.elastic is None:
            raise InputError('analysis.scheme: "rigid-modes" takes the rigid modes out of deformable blocks, and all blocks '
                             'are rigid; give deformable in [structure], or scheme = "velocity-zeroing"')  # fmt: skip
        if isinstance(self.analysis, Settlement):
            named = sorted({block.group for block in model.blocks if block.fixed and block.group}) + supports
            self._check_names("analysis.moves", tuple(move.support for move in self.analysis.moves), named, "support")
            if model.planar and any(move.dy for move in self.analysis.moves):
                raise InputError("analysis.moves: dy is across the plane of x and z; remove it, or planar")
        self.searched(model)  # names blocks that are too thin for the corner radius
        wrench(model, self.loads, self.analysis.gravity)  # names blocks and faces that are not there
        Presence(model, self.changes)  # names blocks that are not there
        return model

    def searched(self, model: Model) -> Model:
        """The model as the case wants it searched for contacts."""
        solver = self.solver
        if solver.contact_search == "separating-axes":
            return model
        from drystone.contact.inset import with_nearest_points  # few cases need it

        return with_nearest_points(model, corner_radius=solver.corner_radius, contact_distance=solver.contact_distance)

    def _check_names(self, key: str, given: tuple[str, ...], known: list[str], kind: str) -> None:
        for name in given:
            if name not in known:
                near = get_close_matches(name, known, 1) or known[:1]
                hint = f"did you mean {near[0]!r}?" if near else f"the structure has no {kind}s"
                raise InputError(f"{self.path}: {key}: no {kind} is named {name!r}; {hint}")


def read_case(path: str | Path) -> Case:
    """The case of a TOML file."""
    return parse_case(read_text(path), path)


def parse_case(
    text: str,
    path: str | Path = "case.toml",
    instead: Mapping[str, Any] | None = None,
    records: Mapping[int, Accelerogram] | None = None,
) -> Case:
    """The case written in `text`; `path` is where its files are looked for and what errors call it. `instead`: values that
    take the place of the text's, by their place in it, as "motion.amplitude"; in a list by number, "motion.0.amplitude".
    `records`: the samples of motions by number, as a run has kept them; then no file of records is read."""
    content = case_content(text, path, instead)
    problems: list[Problem] = []
    _check_tables(content, problems)
    structure = _read_structure(content.get("structure"), problems)
    joints = _read(Joints, content.get("joints"), ("joints",), problems)
    motions = _read_motions(content.get("motion", []), Path(path).parent, records or {}, problems)
    loads = tuple(_read_list(LoadTable, content.get("load", []), "load", problems, LoadTable.to_push))
    changes = tuple(_read_list(ChangeTable, content.get("change", []), "change", problems, ChangeTable.to_change))
    end = max(end_of(motions), last_change(loads), last_of(changes))
    analysis = _read_analysis(content.get("analysis"), end, problems)
    solver = _read(Solver, content.get("solver", {}), ("solver",), problems)
    output = _read(Output, content.get("output", {}), ("output",), problems)
    if isinstance(analysis, Dynamics) and analysis.time_step == 0 and isinstance(output, Output):
        analysis = _with_time_step(analysis, output)
    if isinstance(analysis, Dynamics) and isinstance(output, Output) and (output.every or 1e300) < analysis.time_step:
        said = f"{output.every:g} s is shorter than analysis.time_step, {analysis.time_step:g} s; give at least that"
        problems.append(Problem(("output", "every"), said))
    if isinstance(analysis, Dynamics) and analysis.duration > MOST_STEPS * analysis.time_step:
        said = f"{analysis.time_step:g} s makes more than {MOST_STEPS:,} steps of {analysis.duration:g} s; give a longer one"
        problems.append(Problem(("analysis", "time_step"), said))
    if joints is not None and solver is not None and solver.contact == "rigid" and not joints.are_dry:
        said = 'joints with cohesion, adhesion, crushing or a stiffness need contact = "compliant"; remove "rigid"'
        problems.append(Problem(("solver", "contact"), said))
    damped = solver is not None and solver.relaxation is not None
    if damped and joints is not None and not joints.are_dry:
        said = "joints with mortar have no relaxation, adhesion has a viscosity; remove it"
        problems.append(Problem(("solver", "relaxation"), said))
    if damped and analysis is not None and not isinstance(analysis, Dynamics):
        said = f'an analysis of kind "{analysis.kind}" knows no velocities; remove it, or use "dynamics"'
        problems.append(Problem(("solver", "relaxation"), said))
    opens = joints is not None and any(law.dilatancy > 0 for law in joints.laws)
    if opens and analysis is not None and not analysis.by_small_steps:
        said = "joints open as they slide by small steps only; remove it, or integrator and kind in [analysis]"
        problems.append(Problem(("joints", "dilatancy"), said))
    if analysis is not None and analysis.by_small_steps:
        problems += _only_of_cone_programs(content)
    by_points = solver is not None and solver.contact_search == "nearest-points"
    if by_points and analysis is not None and not isinstance(analysis, Dynamics):
        said = f'an analysis of kind "{analysis.kind}" finds contacts by separating axes; remove it, or use "dynamics"'
        problems.append(Problem(("solver", "contact_search"), said))
    if isinstance(analysis, Settlement):
        problems += _moves_told_otherwise(motions, analysis)
    if isinstance(analysis, Dynamics | Settlement):
        said = f'an analysis of kind "{analysis.kind}" has no multiplier; remove live, or use "limit" or "pushover"'
        problems += [Problem(("load", i, "live"), said) for i, load in enumerate(loads) if load.live]
    if analysis is not None and not isinstance(analysis, Dynamics):
        said = f'an analysis of kind "{analysis.kind}" knows no time; remove history, or use "dynamics"'
        problems += [Problem(("load", i, "history"), said) for i, load in enumerate(loads) if load.history]
    if changes and analysis is not None and not (isinstance(analysis, Dynamics) and analysis.by_small_steps):
        said = "blocks appear and vanish in histories by small steps only; remove it, or integrator and kind in [analysis]"
        problems.append(Problem(("change",), said))
    if isinstance(analysis, Dynamics):
        said = f"is not before the end of the history, {analysis.duration:g} s; give an earlier time, or a longer duration"
        late = [i for i, change in enumerate(changes) if change.time >= analysis.duration]
        problems += [Problem(("change", i, "time"), said) for i in late]
    if problems:
        raise InputError(report(problems, text, path))
    return Case(Path(path), text, structure, joints, motions, loads, analysis, solver, output, changes)


# What small steps do not have: keys of tables, and the values of them that small steps have all the same.
OF_CONE_PROGRAMS: dict[str, dict[str, Any]] = {
    "analysis": {"theta": None, "gyroscopic": None},
    "solver": {
        "contact": "compliant", "stiffness": None, "method": None, "tolerance": None, "contact_search": None,
        "contact_distance": None, "corner_radius": None, "relaxation": None,
    },
    "joints": {"friction_law": "coulomb"},
}  # fmt: skip


def _with_time_step(analysis: Dynamics, output: Output) -> Dynamics:
    """A time step of small steps that was not given: as long as it may be, and frames are a whole number of them apart."""
    frame = min(output.every or FRAME_INTERVAL, analysis.duration)
    told = analysis.model_copy(update={"time_step": frame / math.ceil(frame / LONGEST_TIME_STEP - 1e-9)})
    told.model_fields_set.discard("time_step")
    return told


def _only_of_cone_programs(content: Mapping[str, Any]) -> Iterator[Problem]:
    """What was given and means nothing to small steps."""
    cure = 'set integrator = "cone-program" and a time_step in [analysis]'
    for table, keys in OF_CONE_PROGRAMS.items():
        given = content.get(table)
        for key, fits in keys.items():
            if isinstance(given, dict) and key in given and (fits is None or given[key] != fits):
                said = f"small steps have no {key}{'' if fits is None else f' but {fits!r}'}; remove it, or {cure}"
                yield Problem((table, key), said)


def _moves_told_otherwise(motions: Sequence[Motion], analysis: Settlement) -> Iterator[Problem]:
    """What motions say that a settlement in millimetres does not know."""
    for i, motion in enumerate(motions):
        if motion.pulse != "settlement" or not motion.supports:
            said = 'brings no support to where it stays; give pulse = "settlement" and supports, or kind = "dynamics"'
            yield Problem(("motion", i), said)
        elif analysis.moves:
            yield Problem(("motion", i), "says where supports go, and so does analysis.moves; give one of the two")


def case_content(text: str, path: str | Path, instead: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The tables of a case as TOML has them, unchecked, with `instead` in their places."""
    content = read_toml(text, path)
    for key, value in (instead or {}).items():
        _put(content, key, value, path)
    return content


def _put(content: dict[str, Any], key: str, value: Any, path: str | Path) -> None:
    """Set what is at a place such as "joints.support.friction"."""
    *way, last = key.split(".")
    here: Any = content
    for name in way:
        if isinstance(here, list):
            here = here[int(name)] if name.isdecimal() and int(name) < len(here) else None
        elif isinstance(here, dict):
            here = here.setdefault(name, {})
    if not isinstance(here, dict) or not way:
        raise InputError(f"{path}: {key!r} is no place of the case; give table and key as in joints.friction, in a list with "
                         "the number from 0 on as in motion.0.amplitude")  # fmt: skip
    here[last] = value


TABLES = ("structure", "joints", "motion", "load", "change", "analysis", "solver", "output")


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
        problems.append(Problem(where, f"is {shown(content)}; write it as a table, [{where[0]}]"))
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


def _read_motions(
    content: Any, folder: Path, records: Mapping[int, Accelerogram], problems: list[Problem]
) -> tuple[Motion, ...]:
    listed = isinstance(content, list)
    motions = []
    for i, content_i in enumerate(content if listed else [content]):
        where = ("motion", i) if listed else ("motion",)
        table = _motion_table(content_i, where, problems)
        read = _read(table, content_i, where, problems) if table else None
        try:
            motions += [read.to_motion(folder, records.get(i))] if read else []
        except InputError as error:  # of the file of a record, or of what is to be done to it
            problems.append(Problem((*where, "record") if table is RecordTable else where, str(error)))
    return tuple(motions)


def _motion_table(content: Any, where: Where, problems: list[Problem]) -> type[MotionTable] | None:
    """By the pulse, or that of a record."""
    if not isinstance(content, dict):
        return MotionTable
    pulse, accepted = content.get("pulse"), tuple(PULSE_TABLES)
    if pulse is None and "record" in content:
        return RecordTable
    if pulse in accepted:
        return PULSE_TABLES[pulse]
    said = 'is missing, and so is record = "file"' if pulse is None else "is not a pulse"
    problems.append(Problem((*where, "pulse"), said, given=pulse, accepted=accepted))
    return None


def _read_list(table: type[Table], content: Any, name: str, problems: list[Problem], made: Callable[[Any], Any]) -> list[Any]:
    """What is made of the tables [[name]], or of the one table [name]."""
    listed = isinstance(content, list)
    read = [_read(table, each, (name, i) if listed else (name,), problems)
            for i, each in enumerate(content if listed else [content])]  # fmt: skip
    return [made(each) for each in read if each is not None]


def _read_analysis(content: Any, end: float, problems: list[Problem]) -> Any:
    """end [s]: when the motions and the changes of loads are over."""
    kind = content.get("kind", "dynamics") if isinstance(content, dict) else "dynamics"
    if kind not in tuple(ANALYSIS_TABLES):
        where, accepted = ("analysis", "kind"), tuple(ANALYSIS_TABLES)
        problems.append(Problem(where, "is not accepted", given=kind, accepted=accepted))
        return None
    table = analysis_table(kind, content) if isinstance(content, dict) else ANALYSIS_TABLES[kind]
    analysis = _read(table, content, ("analysis",), problems)
    if not isinstance(analysis, Dynamics) or analysis.after is None:
        return analysis
    if math.isinf(end):
        said = "the sine goes on for ever; give the motion a duration, or the analysis a duration instead of after"
        problems.append(Problem(("analysis", "after"), said))
    return analysis.model_copy(update={"duration": end + analysis.after})

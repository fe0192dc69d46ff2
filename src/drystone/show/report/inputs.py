"""The input of a run: a `Case` comes in; every key with its value goes out, and the assumptions of the analysis in
sentences."""

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, get_type_hints

from pydantic import BaseModel

from drystone.base.units import UNITS
from drystone.engine.small_steps.integrator import STONE
from drystone.io.analysis_tables import ChangeTable, DynamicsTable, LoadTable
from drystone.io.case import CONE_PROGRAM_KEYS, Case, case_content
from drystone.io.motion_tables import PULSE_TABLES, AccelerogramTable
from drystone.show.report.amounts import amount
from drystone.structure.model import Model

KEYS_UNUSED_BY_SMALL_STEPS = {f"{table}.{key}" for table, keys in CONE_PROGRAM_KEYS.items() for key in keys} - {
    "joints.friction_law"
}


class CaseKey(NamedTuple):
    """One key of a case."""

    name_in_case: str  # such as "joints.friction"
    value: str  # with its unit
    given: bool  # given by the user; otherwise it is a default


def list_case_keys(case: Case) -> list[CaseKey]:
    """All keys of a case, table by table."""
    content = case_content(case.text, case.path)
    tables: list[tuple[str, BaseModel]] = [("structure", case.structure), ("joints", case.joints)]
    tables += [(f"motion.{i}", _motion(each)) for i, each in enumerate(_as_list(content.get("motion", [])))]
    tables += [(f"load.{i}", LoadTable.model_validate(each)) for i, each in enumerate(_as_list(content.get("load", [])))]
    tables += [(f"change.{i}", ChangeTable.model_validate(each)) for i, each in enumerate(_as_list(content.get("change", [])))]
    tables += [("analysis", case.analysis), ("solver", case.solver), ("output", case.output)]
    keys = [key for name, table in tables for key in _keys(name, table)]
    return [
        _with_effective_value(key, case)
        for key in keys
        if key.given or not case.by_small_steps or key.name_in_case not in KEYS_UNUSED_BY_SMALL_STEPS
    ]


def _with_effective_value(key: CaseKey, case: Case) -> CaseKey:
    """The key with the value that small steps use if none was given."""
    if not case.by_small_steps or key.name_in_case not in ("solver.young", "joints.friction_law"):
        return key
    return key._replace(value=amount(case.young, "stress") if key.name_in_case == "solver.young" else case.friction_law)


def _as_list(content: Any) -> list[dict[str, Any]]:
    return content if isinstance(content, list) else [content]


def _motion(content: dict[str, Any]) -> BaseModel:
    return PULSE_TABLES.get(content.get("pulse", ""), AccelerogramTable).model_validate(content)


def _keys(name_in_case: str, table: BaseModel) -> Iterator[CaseKey]:
    for name, field in type(table).model_fields.items():
        marks = [*field.metadata, *_annotation_marks(field.annotation)]
        yield from _keys_of_value(
            f"{name_in_case}.{field.alias or name}", getattr(table, name), marks, name in table.model_fields_set
        )


def _keys_of_value(place: str, value: Any, marks: Iterable[Any], given: bool) -> Iterator[CaseKey]:
    """The key of a plain value, or the keys within a table, a named tuple, or a list of these."""
    if isinstance(value, BaseModel):
        yield from _keys(place, value)
    elif hasattr(value, "_fields"):
        for name, kind in get_type_hints(type(value), include_extras=True).items():
            yield from _keys_of_value(f"{place}.{name}", getattr(value, name), _annotation_marks(kind), given)
    elif isinstance(value, (list, tuple)) and any(isinstance(each, BaseModel) or hasattr(each, "_fields") for each in value):
        for i, each in enumerate(value):
            yield from _keys_of_value(f"{place}.{i}", each, marks, given)
    else:
        yield CaseKey(place, amount(value, _dimension(marks)), given)


def _dimension(marks: Iterable[Any]) -> str:
    """The dimension that is noted beside the type of a key, or within the type if the key may have several values or none."""
    return next((mark for mark in marks if isinstance(mark, str) and mark in UNITS), "dimensionless")


def _annotation_marks(annotation: Any) -> Iterator[str]:
    yield from (mark for mark in getattr(annotation, "__metadata__", ()) if isinstance(mark, str))
    for part in getattr(annotation, "__args__", ()):
        yield from _annotation_marks(part)


def assumptions(case: Case, model: Model) -> list[str]:
    """The assumptions of the analysis, in sentences."""
    sentences = [_blocks(model, case), _joints(case), _contact(case)]
    if case.analysis.planar:
        sentences.append("Blocks move in the plane of x and z only; motion out of this plane is not considered.")
    if model.scatter is not None:
        sentences.append(
            f"Friction varies at random from joint to joint (coefficient of variation {amount(model.scatter.cov)}); "
            "this is one sample of it."
        )
    sentences.append(f"Gravity is {amount(case.analysis.gravity, 'acceleration')} along -z.")
    sentences += (
        _history_assumptions(case) if isinstance(case.analysis, DynamicsTable) else STATICS_ASSUMPTIONS[case.analysis.kind]
    )
    return [*sentences, "The geometry is taken as given: there are no imperfections, no wear and no cracks within blocks."]


def _blocks(model: Model, case: Case) -> str:
    free = int((~model.bodies.fixed).sum())
    supports = "supports move as the case says" if case.analysis.kind == "settlement" else "supports do not yield"
    if model.elastic is None:
        return f"All {amount(free)} free blocks are rigid and of unlimited strength; {supports}."
    soft = len(model.elastic.block)
    rest = f"; the other {amount(free - soft)} free blocks are rigid" if free > soft else ""
    return f"{amount(soft)} blocks are linearly elastic and of unlimited strength{rest}; {supports}."


def _joints(case: Case) -> str:
    if case.joints.are_dry:
        return "Joints are dry: they bear compression and friction, no tension and no cohesion; there is no mortar."
    return "Joints named by the keys under joints have tension, cohesion or crushing as these keys say; all others are dry."


def _contact(case: Case) -> str:
    if case.analysis.kind in ("limit", "tilt", "capacity", "pushover"):
        law = "associated: a joint that slides also opens, by the coefficient of friction"
        return f"Friction is {law}. With large friction this is harmless, with small friction it overestimates the capacity."
    opening = max(law.dilatancy for law in case.joints.laws)
    exact = "without dilatancy" if opening == 0 else f"with a dilatancy of up to {amount(math.degrees(opening))} degrees"
    law = (f"Coulomb's, {exact}" if case.surface.coulomb else
           "associated: a joint that slides also opens, by the coefficient of friction, and closes again")  # fmt: skip
    return f"Contact is unilateral and {case.surface.words}; friction is {law}."


def _history_assumptions(case: Case) -> list[str]:
    settings = case.history
    bounce = max(law.restitution for law in case.joints.laws)
    impact = "do not bounce" if bounce == 0 else f"bounce with a restitution of up to {amount(bounce)}"
    sentences = [
        *(_small_step_assumptions(impact) if settings.by_small_steps else _cone_program_assumptions(case, impact)),
        f"Collapse means that {amount(100 * settings.collapse)} % of the first potential energy is lost; "
        "the time after the end is not known.",
        "The ground moves as a whole, as given; the soil does not yield." if case.motions else "The ground does not move.",
    ]
    if case.analysis.kind == "settlement":
        sentences.append("Inertia is damped out: velocities during the settlement have no physical meaning.")
    return sentences


def _small_step_assumptions(impact: str) -> list[str]:
    return [
        "Joints are areas: pressure and friction are integrated over the part of each joint that is closed.",
        "Time advances in small explicit steps, short enough for the fastest vibration of a joint; the number of steps in this "
        "report is the number of times that the state was recorded.",
        f"Impacts {impact}; vibration in the joints is damped by {100 * STONE.damping:g} % of critical, rocking within a "
        f"closed joint by {100 * STONE.rocking:g} %.",
        "The history starts in equilibrium under its own weight, unless the structure moves away from what is drawn.",
    ]


def _cone_program_assumptions(case: Case, impact: str) -> list[str]:
    settings = case.history
    return [
        f"Time advances in steps of {amount(settings.time_step, 'time')} by the theta method, "
        f"theta = {amount(settings.theta)}; "
        + ("theta above 1/2 damps fast vibrations." if settings.theta > 0.5 else "it has no numerical damping."),
        f"Impacts {impact}." if not case.surface.compliant else "Impacts are those of compliant contacts.",
    ]


NOT_UNIQUE = "The forces of rigid contact are one of many states of equilibrium, not necessarily that of the real structure."
FIRST_ORDER = "The multiplier is that of the structure as built; displacements before collapse are neglected."
STATICS_ASSUMPTIONS = {
    "equilibrium": [NOT_UNIQUE, "A structure stands if, released as drawn with no force in any joint, it comes to rest nearby "
                    "with Coulomb friction and stays there for a second; whether it resists a push is not examined.",
                    "Self-stress means that forces in equilibrium exist within the friction limits, but that the structure "
                    "does not reach them by itself."],
    "limit": [FIRST_ORDER],
    "tilt": [FIRST_ORDER, "Tilting the ground is represented by a horizontal body force."],
    "capacity": [FIRST_ORDER, "Directions between those computed are not known."],
    "pushover": ["The load moves so slowly that there is no inertia; between its points the curve is not known."],
    "settlement": ["Joints are areas: pressure and friction are integrated over the part of each joint that is closed.",
                   "Supports move without inertia, along straight paths and in proportion to each other. The structure was "
                   "loaded by its weight at once and then followed in equilibrium; through friction its forces depend on "
                   "this path."],
    "construction": ["Each stage stands before the next is laid; hardening of mortar and creep are neglected."],
}  # fmt: skip

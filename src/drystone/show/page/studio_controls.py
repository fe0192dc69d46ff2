"""The controls of the studio: a sheet comes in, the completed sheet and its controls go out; also a sheet as a case (TOML).

A sheet has the tables of a case on which the studio works: `structure`, `joints` and `load` as in a case; `push`, one point
load; `statics`, the load that grows until the structure collapses; and `motion` with `dynamics`, the history to run. Numbers
with a unit are strings, as in a case. A control says where in the sheet a value is, of which kind it is, and the range of its
slider.
"""

import inspect
import math
import re
import tomllib
from typing import Any, Literal, NamedTuple, get_args, get_origin

import tomli_w

from drystone.base.errors import InputError, did_you_mean, truncated_repr
from drystone.base.units import UNITS, split_number_and_unit
from drystone.build import GENERATORS
from drystone.io.case_tables import PartTable, StructureTable
from drystone.io.motion_tables import PULSE_TABLES
from drystone.io.starter import DEFAULT_UNITS, dimension_of, format_generator_keys

Sheet = dict[str, Any]

HORIZONTAL_FORCE, TILT_OF_GROUND, POINT_LOAD = "horizontal force", "tilt", "point load"  # the load that grows until collapse
STUDIO_PULSES = ("one-sine", "half-sine", "biphasic", "rectangular", "ricker")
DEFAULT_SHEET: Sheet = {
    "joints": {"friction": 0.6},
    "push": {"on": "", "share": 0.0},
    "statics": {"grows": HORIZONTAL_FORCE, "direction": [1.0, 0.0, 0.0]},
    "motion": {"pulse": "one-sine", "amplitude": "0.3 g", "half_period": "0.2 s", "direction": [1.0, 0.0, 0.0]},
    "dynamics": {"duration": "2 s"},
}
COMMON_KEYS = ("gravity", "planar")  # keys that every analysis has
SLIDER_RANGES = {
    "density": (500.0, 4000.0),
    "angle": (0.0, math.pi),
    "acceleration": (0.0, 19.62),
    "dimensionless": (0.0, 1.5),
}  # SI
LOW_FACTOR, HIGH_FACTOR = 0.2, 3.0  # the range of a slider, in units of the default value
SMALL_COUNT = 10  # a count whose default is at most this has a slider up to SMALL_COUNT_RANGE
SMALL_COUNT_RANGE = 40
MIN_SLIDER_STEPS = 200


class Control(NamedTuple):
    """One value of a sheet that the user can change."""

    place: str  # such as "structure.radius"; elements of a list by number
    kind: str  # "number", "count", "choice", "flag", "text", "names" (of a block), "azimuth" or "value" (as JSON)
    unit: str = ""
    low: float = 0.0  # the range of the slider, in the unit, and its step
    high: float = 0.0  # equal to `low`: there is no slider
    step: float = 0.0
    choices: tuple[str, ...] = ()
    optional: bool = False  # may be left empty
    reshapes: bool = False  # other controls depend on it: the sheet must be arranged again after a change


def arrange_sheet(sheet: Sheet) -> tuple[Sheet, list[Control]]:
    """The sheet, completed by default values, and its controls."""
    sheet = DEFAULT_SHEET | sheet
    controls: list[Control] = []
    structure = sheet["structure"]
    if "parts" in structure:
        parts = [_arrange_structure(part, f"structure.parts.{i}", controls) for i, part in enumerate(structure["parts"])]
        structure = structure | {"parts": parts}
    else:
        structure = _arrange_structure(structure, "structure", controls)
    controls.append(_number_control("joints.friction", "dimensionless", sheet["joints"].get("friction"), 0.6))
    if isinstance(sheet["joints"].get("support"), dict) and "friction" in sheet["joints"]["support"]:
        controls.append(
            _number_control("joints.support.friction", "dimensionless", sheet["joints"]["support"]["friction"], 0.6)
        )
    controls += [Control("statics.grows", "choice", choices=(HORIZONTAL_FORCE, TILT_OF_GROUND, POINT_LOAD), reshapes=True)]
    if sheet["statics"]["grows"] != POINT_LOAD:
        controls.append(Control("statics.direction", "azimuth"))
    if sheet["statics"]["grows"] == HORIZONTAL_FORCE or (sheet["statics"]["grows"] == POINT_LOAD and not _has_live_load(sheet)):
        controls.append(Control("push.on", "names"))
    if sheet["statics"]["grows"] == HORIZONTAL_FORCE:
        controls.append(Control("push.share", "number", "", 0.0, 1.0, 0.01))
    motion = _arrange_motion(sheet["motion"], controls)
    for key, low, high in (("duration", 0.5, 10.0), ("time_step", 0.0005, 0.01)):
        if key in sheet["dynamics"]:
            controls.append(_slider_control(f"dynamics.{key}", "time", sheet["dynamics"][key], low, high))
    return sheet | {"structure": structure, "motion": motion}, controls


def _arrange_structure(table: dict[str, Any], place: str, controls: list[Control]) -> dict[str, Any]:
    """A table that names a generator or a file, completed by all its keys; its controls are added to `controls`."""
    if "generator" not in table:
        controls.append(
            _slider_control(f"{place}.density", "density", table.get("density", "2000 kg/m3"), *SLIDER_RANGES["density"])
        )
        controls.append(Control(f"{place}.supports", "value", optional=True))
        return {"density": "2000 kg/m3"} | table
    name = table["generator"]
    if not isinstance(name, str) or name not in GENERATORS:
        raise InputError(f"{place}.generator: {truncated_repr(name)} is not a generator{did_you_mean(str(name), GENERATORS)}")
    controls.append(Control(f"{place}.generator", "choice", choices=tuple(GENERATORS), reshapes=True))
    defaults = tomllib.loads(format_generator_keys(name))
    parameters = inspect.signature(GENERATORS[name]).parameters
    shared = {*PartTable.model_fields, *StructureTable.model_fields}  # keys of every table, whatever it builds
    table = defaults | {key: value for key, value in table.items() if key in parameters or key in shared}
    for key, parameter in parameters.items():
        controls.append(_parameter_control(f"{place}.{key}", parameter.annotation, table.get(key), parameter.default))
    return {"generator": name} | table


def _parameter_control(place: str, annotation: Any, value: Any, default: Any) -> Control:
    """The control of a parameter of a generator, by its type."""
    dimension = dimension_of(annotation)
    if dimension and default is None:
        return Control(place, "number", _unit_of(value, dimension), optional=True)
    if dimension and isinstance(default, float):
        return _number_control(place, dimension, value, default)
    if get_origin(annotation) is Literal:
        return Control(place, "choice", choices=get_args(annotation))
    if isinstance(default, int):
        return Control(
            place, "count", "", min(1.0, default), SMALL_COUNT_RANGE if default <= SMALL_COUNT else HIGH_FACTOR * default, 1.0
        )
    return Control(place, "value", optional=True)


def _number_control(place: str, dimension: str, value: Any, default: float) -> Control:
    """The control of a number, with a slider around its default value [SI]."""
    if dimension in SLIDER_RANGES:
        return _slider_control(place, dimension, value, *SLIDER_RANGES[dimension])
    low, high = (LOW_FACTOR * default, HIGH_FACTOR * default) if default else (0.0, 2.0)
    return _slider_control(place, dimension, value, low, high)


def _slider_control(place: str, dimension: str, value: Any, low: float, high: float) -> Control:
    """The control of a number with a slider between two values [SI], in the unit of its present value."""
    unit = _unit_of(value, dimension)
    factor = UNITS[dimension].get(unit, 1.0)
    step = _round_step((high - low) / factor / MIN_SLIDER_STEPS)
    first, last = math.floor(low / factor / step + 1e-9), math.ceil(high / factor / step - 1e-9)  # in steps
    first = max(first, 1 if low > 0.0 else 0)
    return Control(place, "number", unit, float(f"{first * step:.12g}"), float(f"{last * step:.12g}"), step)


def _unit_of(value: Any, dimension: str) -> str:
    """The unit of a value of the sheet: the SI unit for a plain number, the customary unit if there is no value."""
    if isinstance(value, str):
        try:
            return split_number_and_unit(value)[1]
        except InputError:
            return ""
    if dimension == "dimensionless":
        return ""
    return next(iter(UNITS[dimension])) if value is not None else DEFAULT_UNITS.get(dimension, next(iter(UNITS[dimension])))


def _round_step(step: float) -> float:
    """The largest number not above `step` that is 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step))
    return float(f"{next(m for m in (5, 2, 1) if m * power <= step * (1 + 1e-9)) * power:.3g}")


def _arrange_motion(table: Any, controls: list[Control]) -> Any:
    """One pulse with the keys of its kind and its controls; other motions are kept as they are."""
    if not isinstance(table, dict) or table.get("pulse") not in STUDIO_PULSES:
        return table
    fields = PULSE_TABLES[table["pulse"]].model_fields
    motion = DEFAULT_SHEET["motion"] | {"duration": "0.4 s"} | table
    motion = {key: value for key, value in motion.items() if key in fields}
    controls.append(Control("motion.pulse", "choice", choices=STUDIO_PULSES, reshapes=True))
    controls.append(_slider_control("motion.amplitude", "acceleration", motion["amplitude"], *SLIDER_RANGES["acceleration"]))
    duration_key = "half_period" if "half_period" in fields else "duration"
    controls.append(_slider_control(f"motion.{duration_key}", "time", motion[duration_key], 0.02, 2.0))
    controls.append(Control("motion.direction", "azimuth"))
    return motion


def sheet_from_case(content: dict[str, Any]) -> Sheet:
    """The sheet from the tables of a case. Its analysis is kept if the studio has it: a limit or tilt analysis or a history."""
    analysis = dict(content["analysis"])
    kind = analysis.pop("kind", "dynamics")
    loads = content.get("load", [])
    kept = ("structure", "joints", "motion", "change", "solver", "output")
    sheet = DEFAULT_SHEET | {key: content[key] for key in kept if key in content}
    sheet["load"] = loads if isinstance(loads, list) else [loads]
    always = {key: analysis[key] for key in COMMON_KEYS if key in analysis}
    sheet["statics"] = DEFAULT_SHEET["statics"] | always
    sheet["dynamics"] = DEFAULT_SHEET["dynamics"] | always
    if kind == "tilt":
        sheet["statics"] = sheet["statics"] | {"grows": TILT_OF_GROUND} | analysis
    elif kind == "limit":
        too_slow = ("starts", "friction_at")
        analysis_keys = {key: value for key, value in analysis.items() if key not in too_slow}
        sheet["statics"] = (
            sheet["statics"] | analysis_keys | {"grows": HORIZONTAL_FORCE if "direction" in analysis_keys else POINT_LOAD}
        )
    elif kind == "dynamics":
        sheet["dynamics"] = analysis
    return sheet


def structure_text(sheet: Sheet) -> str:
    """A case with the structure and its joints only."""
    return _case_text(
        sheet, [], {"kind": "equilibrium"} | {key: sheet["statics"][key] for key in COMMON_KEYS if key in sheet["statics"]}
    )


def statics_text(sheet: Sheet) -> str:
    """The case of the requested analysis of collapse."""
    analysis_keys = dict(sheet["statics"])
    grows = analysis_keys.pop("grows", HORIZONTAL_FORCE)
    if grows == POINT_LOAD:
        analysis_keys.pop("direction", None)
    kind = {"kind": "tilt"} if grows == TILT_OF_GROUND else {"kind": "limit", "starts": 0}
    loads = [{key: value for key, value in load.items() if key != "history"} for load in sheet.get("load", [])]
    if grows == TILT_OF_GROUND and loads:
        text = f"a tilt acts on weights only, but the case has a load on {loads[0].get('on')!r}"
        raise InputError(f"statics.grows: {text}; choose another")
    if grows == POINT_LOAD and not _has_live_load(sheet):
        loads.append({"on": sheet["push"]["on"], "share": 1.0, "live": True})
    elif grows == HORIZONTAL_FORCE and sheet["push"]["share"] != 0:
        loads.append(dict(sheet["push"]))
    return _case_text(sheet, loads, kind | analysis_keys)


def _has_live_load(sheet: Sheet) -> bool:
    """Whether a load of the case itself is live, so that it grows."""
    return any(load.get("live") for load in sheet.get("load", []))


def history_text(sheet: Sheet) -> str:
    """The case of the history."""
    loads = [{key: value for key, value in load.items() if key != "live"} for load in sheet.get("load", [])]
    loads += [dict(sheet["push"])] if sheet["push"]["share"] != 0 else []
    more = {key: sheet[key] for key in ("motion", "change") if key in sheet}
    return _case_text(sheet, loads, {"kind": "dynamics"} | sheet["dynamics"], **more)


def _case_text(sheet: Sheet, loads: list[dict[str, Any]], analysis: dict[str, Any], **more: Any) -> str:
    tables: dict[str, Any] = {"structure": sheet["structure"], "joints": sheet["joints"]}
    tables |= more | ({"load": loads} if loads else {}) | {"analysis": analysis}
    tables |= {key: sheet[key] for key in ("solver", "output") if key in sheet}
    try:
        return tomli_w.dumps(tables)
    except TypeError as error:
        raise InputError(f"this sheet has a value that is not possible in a case ({error}); reload the page") from None


def find_control(message: str, controls: list[Control]) -> str:
    """The place of the control that a message is about: the first one that it names, by its place or as a parameter of the
    structure; empty if it names no control."""
    text = re.sub(r"\bload(\[\d+\])?\.", "push.", message).replace("analysis.", "statics.")
    offsets = {control.place: text.find(re.sub(r"\.(\d+)", r"[\1]", control.place)) for control in controls}
    positions = {place: at for place, at in offsets.items() if at >= 0}
    for control in controls if not positions else ():
        found_word = re.search(rf"\b{control.place.rsplit('.', 1)[-1]}\b", text)
        if found_word and control.place.startswith("structure"):
            positions[control.place] = found_word.start()
    return min(positions, key=lambda place: (positions[place], -len(place)), default="")

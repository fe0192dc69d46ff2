"""The JSON schema of the case file, as a dictionary, for use in editors. It is made from the tables that read a case, so that
the two always agree. A quantity is a number in SI or a string with a unit."""

import copy
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from drystone.base.units import UNITS, describe_accepted
from drystone.build import GENERATORS
from drystone.io.analysis_tables import ANALYSIS_TABLES, ChangeTable, LoadTable, SettlementHistoryTable
from drystone.io.case_tables import (
    AssemblyTable,
    FilePartTable,
    FileStructureTable,
    JointsTable,
    OutputTable,
    PartTable,
    SolverTable,
    structure_table,
)  # fmt: skip
from drystone.io.motion_tables import PULSE_TABLES, AccelerogramTable
from drystone.io.starter import summarise_generator

SCHEMA_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}


class _WithUnits(GenerateJsonSchema):
    """Numbers that are read by base/units.py may be strings."""

    def function_before_schema(self, schema: Any) -> dict[str, Any]:
        plain = super().function_before_schema(schema)
        dimension = getattr(schema["function"]["function"], "keywords", {}).get("dimension")
        if dimension not in UNITS:
            return plain
        return {"type": ["number", "string"], "description": describe_accepted(dimension)}

    def named_tuple_schema(self, schema: Any) -> dict[str, Any]:
        """A named tuple, such as an opening, may be given as a table or as an array."""
        table = {field["name"]: self.generate_inner(field["schema"]) for field in schema["fields"]}
        needed = [field["name"] for field in schema["fields"] if field["schema"]["type"] != "default"]
        table_schema = {"type": "object", "properties": table, "required": needed, "additionalProperties": False}
        return {"anyOf": [table_schema, super().named_tuple_schema(schema)]}


def case_schema() -> dict[str, Any]:
    """The schema, in draft 2020-12, without references."""
    structures = [_table(structure_table(name)) | {"description": summarise_generator(name)} for name in GENERATORS]
    assembly = _table(AssemblyTable)
    parts = [*(_table(structure_table(name, PartTable)) for name in GENERATORS), _table(FilePartTable)]
    assembly["properties"]["parts"] = {"type": "array", "minItems": 1, "items": {"oneOf": parts}}
    assembly["required"] = ["parts"]
    motions = [_table(table) for table in dict.fromkeys([*PULSE_TABLES.values(), AccelerogramTable])]
    motion, load, change = {"oneOf": motions}, _table(LoadTable), _table(ChangeTable)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "drystone case",
        "type": "object",
        "additionalProperties": False,
        "required": ["structure", "joints", "analysis"],
        "properties": {
            "structure": {"oneOf": [*structures, _table(FileStructureTable), assembly]},
            "joints": _table(JointsTable),
            "motion": {"oneOf": [*motions, {"type": "array", "items": motion}]},
            "load": {"oneOf": [load, {"type": "array", "items": load}]},
            "change": {"oneOf": [change, {"type": "array", "items": change}]},
            "analysis": {"oneOf": [_table(table) for table in (*ANALYSIS_TABLES.values(), SettlementHistoryTable)]},
            "solver": _table(SolverTable),
            "output": _table(OutputTable),
        },
    }


def _table(table: Any) -> dict[str, Any]:
    """The schema of a table, with all references replaced by their definitions."""
    schema = TypeAdapter(table).json_schema(schema_generator=_WithUnits)
    return _inlined(schema, schema.pop("$defs", {}))


def _inlined(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_inlined(each, definitions) for each in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _inlined(copy.deepcopy(definitions[node["$ref"].rsplit("/", 1)[-1]]), definitions)
    return {SCHEMA_BOUNDS.get(key, key): _inlined(value, definitions) for key, value in node.items()}

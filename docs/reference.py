"""The references of the case file and of the commands: nothing comes in, pages in Markdown by name go out. They are generated
from the schema that reads a case, from the comments beside its keys in the code, and from the commands themselves, so that they
are always up to date; docs/conf.py writes them.
"""

import inspect
import json
import re
from functools import cache
from typing import Any

import typer

from drystone.base.units import UNITS
from drystone.build import GENERATORS
from drystone.cli.commands import GROUPS
from drystone.cli.options import app
from drystone.ground.motion import Motion
from drystone.io import analysis_tables, case_tables, motion_tables
from drystone.io.analysis_tables import HistoryRow
from drystone.io.geometry.structure_file import read_structure
from drystone.io.schema import case_schema
from drystone.io.table_base import Table
from drystone.structure.block_changes import BlockChange
from drystone.structure.deformable_blocks import Stone
from drystone.structure.joint_laws import JointLaw, Scatter
from drystone.structure.loads import AppliedLoad

TABLES = {
    "structure": "The structure: one of the [generators](../gallery.md), [a file](../exchange.md), or an assembly of parts.",
    "joints": "The properties of the joints, with [mortar](../modelling.md#mortar) and its laws. `support` is for joints with "
              "supports, a `rule` for joints between two blocks or groups.",
    "motion": "The ground motion: a pulse by name, or [an accelerogram](../ground-motions.md). `[[motion]]` with double "
              "brackets may occur several times; the motions are added.",
    "load": "Forces besides weight ([loads](../statics.md)). `[[load]]` with double brackets may occur several times.",
    "change": "Blocks that [appear and vanish](../modelling.md#blocks-that-appear-and-vanish) in a history. `[[change]]` with "
              "double brackets may occur several times.",
    "analysis": "The analysis: a history (`dynamics`), or one of the analyses of [statics](../statics.md).",
    "solver": "Optional: settings of the contact solver.",
    "output": "Optional: the recorded output.",
}  # fmt: skip
# The record that a table becomes; comments beside its fields explain the keys.
RECORDS = {"JointKeys": JointLaw, "DeformableTable": Stone, "ScatterTable": Scatter, "MotionTable": Motion,
           "LoadTable": AppliedLoad, "ChangeTable": BlockChange}  # fmt: skip
# A field and the comment beside it, without the unit, which is in the schema.
COMMENT = re.compile(r"^    (\w+): .*?(?:  # type: \S+)?  # (?!type:|noqa)(?:\[[^]]*\][ ;]*)?([^\[\s].*)$", re.MULTILINE)
NAMES = {"FileStructureTable": "file", "AssemblyTable": "parts", "AccelerogramTable": "record"}
BOUNDS = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}


def pages() -> dict[str, str]:
    return {"case-file": case_file(), "commands": commands()}


def case_file() -> str:
    schema = case_schema()
    parts = [
        "# The case file",
        "A case is a TOML file with the tables below; " + ", ".join(f"`[{name}]`" for name in schema["required"])
        + " are needed. A quantity is a number in SI or a string with a unit, as `\"0.8 g\"`. `drystone check case.toml` "
        "lists the errors of a case; `drystone schema` prints the JSON schema from which this page is made, for editors.",
        "## Units", _units(),
    ]  # fmt: skip
    for name, node in schema["properties"].items():
        parts += [f"## `[{name}]`", TABLES[name], *_table(node)]
    return "\n\n".join(parts) + "\n"


def _units() -> str:
    rows = [(name, ", ".join(f"`{unit}`" for unit in units)) for name, units in UNITS.items()]
    return _grid(("quantity", "units"), rows)


def _table(node: dict[str, Any]) -> list[str]:
    """List the keys of a table; for a table of several kinds, first the keys that all kinds have."""
    kinds = [kind for kind in node.get("oneOf", [node]) if "properties" in kind]
    if len(kinds) == 1:
        return [_keys(kinds[0], kinds[0]["properties"])]
    shared = [key for key in kinds[0]["properties"] if all(_same(kinds, key, kind) for kind in kinds)]
    parts = ["Keys of all kinds:", _keys(kinds[0], shared)] if shared else []
    for kind in kinds:
        about = _about(kind)
        own = [key for key in kind["properties"] if key not in shared]
        parts += [f"### {_kind_name(kind)}", *([_prose(about)] if about else []), _keys(kind, own)]
    return parts


def _about(kind: dict[str, Any]) -> str | None:
    if kind["title"] in GENERATORS:
        return inspect.getdoc(GENERATORS[kind["title"]])
    if kind["title"] == "FileStructureTable":  # what follows the first paragraph stands beside the keys
        return str(inspect.getdoc(read_structure)).split("\n\n")[0]
    return kind.get("description")


def _meanings(shown: dict[str, Any]) -> dict[str, str]:
    """Return the meanings of the keys of a table: the comments beside them, or beside the fields of its record."""
    table = _class_of(shown)
    found: dict[str, str] = {}
    for each in reversed(table.__mro__):
        sources = [RECORDS[each.__name__]] if each.__name__ in RECORDS else []
        for source in [*sources, *([each] if each.__module__.startswith("drystone") else [])]:
            found |= dict(_comments(source))
    names = {name: field.alias or name for name, field in getattr(table, "model_fields", {}).items()}
    return {names.get(key, key): text.replace("None: ", "by default: ").replace("|", "\\|") for key, text in found.items()}


@cache
def _comments(source: type) -> list[tuple[str, str]]:
    """Return the fields of a class with the comments beside them."""
    return COMMENT.findall(inspect.getsource(source))


def _class_of(shown: dict[str, Any]) -> Any:
    """The class of a table, by its title and keys: Generators have no class of their own, and the
    rows of a list no title."""
    if tuple(shown["properties"]) == HistoryRow._fields:
        return HistoryRow
    title = "StructureTable" if shown.get("title") in GENERATORS else shown.get("title", "")
    classes = [getattr(room, title) for room in (case_tables, analysis_tables, motion_tables) if hasattr(room, title)]
    own = [each for each in classes if shown["properties"].keys() <= {f.alias or n for n, f in each.model_fields.items()}]
    return [*own, *classes, Table][0]


def _same(kinds: list[dict[str, Any]], key: str, kind: dict[str, Any]) -> bool:
    return kind["properties"].get(key) == kinds[0]["properties"][key] and (key in kind.get("required", ())) == (
        key in kinds[0].get("required", ()))  # fmt: skip


def _kind_name(kind: dict[str, Any]) -> str:
    """Return what a case writes to select this kind: its generator, pulse or analysis."""
    for key in ("generator", "kind", "pulse"):
        node = kind["properties"].get(key, {})
        chosen = [node["const"]] if "const" in node else node.get("enum", [])
        if chosen:
            return f"{key} = {', '.join(json.dumps(each) for each in chosen)}"
    return NAMES[kind["title"]]


def _prose(text: str) -> str:
    """A docstring as Markdown: angle brackets are text, not tags; a line that begins with a parameter is one of a list."""
    return re.sub(r"(^|\n)(\w+): ", r"\n\n- `\2`: ", text.replace("<", "\\<")).replace("\n\n\n", "\n\n")


def _keys(table: dict[str, Any], keys: Any) -> str:
    rows = [row for key in keys for row in _rows(table, key)]
    shown = 4 if any(row[3] for row in rows) else 3  # generators tell of their parameters in words above
    return _grid(("key", "allowed values", "default", "meaning")[:shown], [row[:shown] for row in rows])


def _rows(table: dict[str, Any], key: str, before: str = "") -> list[tuple[str, ...]]:
    """Return a row for the key of a table, and one for each key of a table in it."""
    node = table["properties"][key]
    default = "**needed**" if key in table.get("required", ()) else _default(node)
    rows = [(f"`{before}{key}`", _words(node), default, _meanings(table).get(key, ""))]
    inner = {name: child for child in reversed(_tables_in(node)) for name in child["properties"]}
    return rows + [row for name, child in inner.items() for row in _rows(child, name, f"{before}{key}.")]


def _tables_in(node: dict[str, Any]) -> list[dict[str, Any]]:
    """The tables that a key may hold, alone or in a list. Parts of a structure are described under their generators."""
    if "properties" in node:
        return [node]
    if "oneOf" in node:
        return [_shared_part(node["oneOf"])]
    found = [table for each in node.get("anyOf", []) for table in _tables_in(each)]
    return found + (_tables_in(node["items"]) if isinstance(node.get("items"), dict) else [])


def _shared_part(kinds: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the keys that all parts of a structure have, for every generator."""
    properties = {key: node for key, node in kinds[0]["properties"].items() if all(_same(kinds, key, kind) for kind in kinds)}
    return {"title": "PartTable", "properties": properties, "required": kinds[0].get("required", ())}


def _default(node: dict[str, Any]) -> str:
    value = node.get("default")
    return "" if value in (None, "", [], ()) else f"`{json.dumps(value)}`"


def _words(node: dict[str, Any]) -> str:
    """Describe the allowed values of a key in words."""
    if "anyOf" in node:
        return " or ".join(dict.fromkeys(_words(each) for each in node["anyOf"] if each.get("type") != "null"))
    if "oneOf" in node:
        return "table"
    if "const" in node or "enum" in node:
        return ", ".join(f"`{json.dumps(each)}`" for each in node.get("enum", [node.get("const")]))
    return ", ".join([_type(node), *(f"{word} {node[bound]:g}" for bound, word in BOUNDS.items() if bound in node)])


def _type(node: dict[str, Any]) -> str:
    unit = re.search(r"SI \((.+?)\)", node.get("description", ""))
    if node.get("type") == ["number", "string"]:
        return f"quantity [{unit[1]}]" if unit else "number"
    if "prefixItems" in node:
        return f"[{', '.join(_words(each) for each in node['prefixItems'])}]"
    if node.get("type") == "array":
        return f"list of: {_words(node['items'])}" if node.get("items") else "list"
    return {"object": "table", "boolean": "true or false", "string": "text", "integer": "whole number"}.get(
        node.get("type", ""), str(node.get("type", "anything")))  # fmt: skip


def commands() -> str:
    """Return the page of all commands in the order of `drystone --help`."""
    group = typer.main.get_command(app)
    parts = [
        "# The commands",
        "Exit codes: 0 done, 1 `check` found errors, 2 bad input, 3 not converged, not certified or not "
        "verified, 130 interrupted by Ctrl-C, 143 by SIGTERM. With `--json` a command prints one JSON object on "
        "standard output, errors too; progress goes to standard error. "
        "`drystone COMMAND --help` prints the same as this page.",
    ]
    for title, names in GROUPS.items():
        parts += [f"## {title}", *(part for name in names for part in _command(name, group.commands[name]))]
    return "\n\n".join(parts) + "\n"


def _command(name: str, command: Any) -> list[str]:
    parts = [f"### drystone {name}", command.help, f"```text\ndrystone {name}{''.join(map(_usage, command.params))}\n```"]
    rows = [_parameter(each) for each in command.params]
    return [*parts, _grid(("", "meaning", "default"), rows)] if rows else parts


def _usage(parameter: Any) -> str:
    """Return an argument or a required option as it appears in the usage of a command."""
    if parameter.param_type_name == "argument":
        name = parameter.name.upper() + ("..." if parameter.nargs == -1 else "")
        return f" {name}" if parameter.required else f" [{name}]"
    return f" {parameter.opts[0]} ..." if parameter.required else ""


def _parameter(parameter: Any) -> tuple[str, str, str]:
    is_argument = parameter.param_type_name == "argument"
    name = parameter.name.upper() if is_argument else ", ".join([*parameter.opts, *parameter.secondary_opts])
    unsaid = parameter.default is None or parameter.default is False or str(parameter.default) == ""
    default = "**needed**" if parameter.required else "" if unsaid else f"`{parameter.default}`"
    return f"`{name}`", (parameter.help or "").replace("|", "\\|"), default


def _grid(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)

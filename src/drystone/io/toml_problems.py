"""Describes the problems of a TOML file: turns pydantic's errors into sentences that name the key and the line of the file."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from drystone.base.errors import InputError, did_you_mean, truncated_repr
from drystone.base.units import describe_accepted

MAX_KEY_PARTS = 50  # parts of a dotted key
MAX_PROBLEMS_SHOWN = 20  # problems of a file that the message lists

KeyPath = tuple[str | int, ...]  # the path of a key, as ("motion", 0, "amplitude")


def read_toml(text: str, path: str | Path) -> dict[str, Any]:
    """The tables of a TOML file, unchecked."""
    heads = (line.partition("=")[0] for line in text.splitlines())
    try:
        # tomllib takes hours for long enough keys
        if any(head.count(".") > MAX_KEY_PARTS and "," not in head for head in heads):
            raise RecursionError
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {str(error)[:200]}") from None
    except (RecursionError, ValueError):
        raise InputError(f"{path}: is nested too deeply, or has a number with too many digits; check it") from None


@dataclass(frozen=True)
class InputProblem:
    """One problem in a case or a study, shown as "key: what is wrong; what is accepted"."""

    where: KeyPath
    message: str
    value: Any = None  # the wrong name, from which the intended one is guessed
    accepted: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{format_key(self.where)}: {self._sentence()}"

    def _sentence(self) -> str:
        value = f"{truncated_repr(self.value)} " if self.value is not None else ""
        hint = did_you_mean(str(self.value), self.accepted) if self.value is not None else ""
        accepted = f"; accepted: {', '.join(self.accepted)}" if self.accepted else ""
        return f"{value}{self.message}{hint}{accepted}"


def format_key(where: KeyPath) -> str:
    """("motion", 0, "amplitude") as motion[0].amplitude."""
    text = ""
    for part in where:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def describe_error(error: Any, table: type[BaseModel], within: KeyPath) -> InputProblem:
    """The problem for a pydantic error in the table at `within`."""
    where = within + tuple(error["loc"])
    kind, value = error["type"], error["input"]
    if kind == "extra_forbidden":
        keys = _table_keys(table, error["loc"][:-1])
        return InputProblem(where, "is not a key of this table", value=str(error["loc"][-1]), accepted=keys)
    if kind == "missing":
        return InputProblem(where, f"is missing; give {_describe_expected(table, error['loc'])}")
    if kind == "literal_error":
        accepted = tuple(re.findall(r"'([^']*)'", error["ctx"]["expected"]))
        return InputProblem(where, "is not accepted", value=value, accepted=accepted)
    if kind == "value_error":  # raised by units and by the validators of drystone, which name the value and the remedy
        return InputProblem(where, str(error["ctx"]["error"]))
    if kind in ("too_short", "string_too_short"):
        return InputProblem(where, f"is {truncated_repr(value)}, give at least {error['ctx']['min_length']}")
    message = error["msg"][0].lower() + error["msg"][1:]
    return InputProblem(where, f"is {truncated_repr(value)}, {message.replace('input should', 'it should')}")


def _describe_expected(table: type[BaseModel], loc: tuple[str | int, ...]) -> str:
    """What a missing key accepts: its dimension is stated beside its type in `units`."""
    for part in loc[:-1]:
        table = _inner_table(table, part)
    field = table.model_fields.get(str(loc[-1]))  # None: an element of a list
    return next((describe_accepted(mark) for mark in (field.metadata if field else ()) if isinstance(mark, str)), "it")


def _table_keys(table: type[BaseModel], inner: tuple[str | int, ...]) -> tuple[str, ...]:
    """The keys of a table, or of a table inside it."""
    for part in inner:
        table = _inner_table(table, part)
    return tuple(field.alias or name for name, field in table.model_fields.items())


def _inner_table(table: type[BaseModel], part: str | int) -> type[BaseModel]:
    """The table under a key; for an index into a list of tables, the table itself."""
    if isinstance(part, int):
        return table
    field = table.model_fields.get(part)
    return next(iter(_nested_tables(field.annotation if field else None)), BaseModel)  # a value that is not a table has no keys


def _nested_tables(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [table for part in getattr(annotation, "__args__", ()) for table in _nested_tables(part)]


def find_line(text: str, where: KeyPath) -> int | None:
    """The line of the file that contains a key, or else the heading of its table; None if the file has neither."""
    wanted_key, fallback = format_key(where), None
    table: KeyPath = ()
    repeated: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        heading = re.match(r"\s*(\[\[?)\s*([\w.\- \"']+?)\s*\]", line)
        key = re.match(r"\s*([\w.\-\"']+)\s*=", line)
        if heading:
            table = tuple(part.strip(" \"'") for part in heading[2].split("."))
            if heading[1] == "[[":
                repeated[heading[2]] = repeated.get(heading[2], -1) + 1
                table += (repeated[heading[2]],)
            key_here = format_key(table)
        elif key:
            key_here = format_key(table + tuple(part.strip("\"'") for part in key[1].split(".")))
        else:
            continue
        if key_here == wanted_key:
            return number
        if wanted_key.startswith((key_here + ".", key_here + "[")):
            fallback = number
    return fallback


def format_problems(problems: list[InputProblem], text: str, path: str | Path, what: str = "case") -> str:
    """The problems of a file, ordered by line, up to `MAX_PROBLEMS_SHOWN`."""
    shown = problems[:MAX_PROBLEMS_SHOWN]
    located = sorted(((find_line(text, problem.where) or 0, problem) for problem in shown), key=lambda pair: pair[0])
    lines = [f"{path}{f', line {line}' if line else ''}: {problem}" for line, problem in located]
    lines += [f"{path}: and {len(problems) - MAX_PROBLEMS_SHOWN} more"] if len(problems) > MAX_PROBLEMS_SHOWN else []
    if len(lines) == 1:
        return lines[0]
    return f"{len(lines)} problems in the {what}:\n" + "\n".join(f"  {line}" for line in lines)

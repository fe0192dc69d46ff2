"""A commented case to start from: the name of a generator comes in, TOML goes out.

The keys of [structure] are the parameters of the generator with their defaults and its own description, so that a generator
is told in one place only; the other tables are the same for all and lie in starter.toml.
"""

import inspect
from importlib import resources
from typing import Any, get_args

import numpy as np

from drystone.build import GENERATORS
from drystone.errors import InputError
from drystone.io.problems import Problem

SHOWN = {"length": ("m", 1.0), "angle": ("deg", np.pi / 180), "density": ("kg/m3", 1.0), "time": ("s", 1.0),
         "acceleration": ("g", 9.81)}  # fmt: skip


def starter(generator: str) -> str:
    """A commented case for a generator, ready to run."""
    if generator not in GENERATORS:
        raise InputError(str(Problem(("generator",), "is not a generator", given=generator, accepted=tuple(GENERATORS))))
    function = GENERATORS[generator]
    about = [f"# {line}".rstrip() for line in inspect.getdoc(function).splitlines()]  # type: ignore[union-attr]
    keys = [_key(parameter) for parameter in inspect.signature(function).parameters.values()]
    rest = (resources.files("drystone.io") / "starter.toml").read_text(encoding="utf-8")
    return "\n".join([*about, "", "[structure]", f'generator = "{generator}"', *keys, "", rest])


def summary(generator: str) -> str:
    """What a generator makes, in a line."""
    return (inspect.getdoc(GENERATORS[generator]) or "").splitlines()[0]


def _key(parameter: inspect.Parameter) -> str:
    """A line of [structure]; what has no default value is commented out."""
    if parameter.default is None:
        return f"# {parameter.name} = ..."
    return f"{parameter.name} = {_value(parameter.default, _dimension(parameter.annotation))}"


def _dimension(annotation: Any) -> str:
    """The dimension that a unit type of units.py names, of the type itself or of one in a union."""
    for part in (annotation, *get_args(annotation)):
        names = [each for each in getattr(part, "__metadata__", ()) if isinstance(each, str)]
        if names:
            return names[0]
    return ""


def _value(value: Any, dimension: str) -> str:
    """A default in TOML, with a unit if it has one."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_value(each, dimension) for each in value)}]"
    if dimension in SHOWN:
        unit, size = SHOWN[dimension]
        return f'"{value / size:.12g} {unit}"'
    return f"{value:.12g}"

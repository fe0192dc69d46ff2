"""Writes a commented starter case in TOML for a generator.

The keys of [structure] are the parameters of the generator with their defaults and its own description, so that a generator
is described in one place only. The other tables are the same for all generators and are stored in starter.toml.
"""

import inspect
from importlib import resources
from typing import Any, get_args, get_type_hints

from drystone.base.errors import InputError
from drystone.base.units import UNITS
from drystone.build import GENERATORS
from drystone.io.toml_problems import InputProblem

# the unit in which a default is written, by dimension
DEFAULT_UNITS = {"length": "m", "angle": "deg", "density": "kg/m3", "time": "s", "acceleration": "g"}


def write_starter(generator: str) -> str:
    """A commented case for the generator, ready to run."""
    if generator not in GENERATORS:
        raise InputError(str(InputProblem(("generator",), "is not a generator", value=generator, accepted=tuple(GENERATORS))))
    about = [f"# {line}".rstrip() for line in (inspect.getdoc(GENERATORS[generator]) or "").splitlines()]
    rest = (resources.files("drystone.io") / "starter.toml").read_text(encoding="utf-8")
    return "\n".join([*about, "", "[structure]", f'generator = "{generator}"', format_generator_keys(generator), "", rest])


def format_generator_keys(generator: str) -> str:
    """The parameters of a generator with their defaults, as lines of [structure]."""
    return "\n".join(_key(parameter) for parameter in inspect.signature(GENERATORS[generator]).parameters.values())


def summarise_generator(generator: str) -> str:
    """What the generator makes, in one line."""
    return (inspect.getdoc(GENERATORS[generator]) or "").splitlines()[0]


def _key(parameter: inspect.Parameter) -> str:
    """One line of [structure]; a parameter without a default value is commented out."""
    if parameter.default is None:
        return f"# {parameter.name} = ..."
    return f"{parameter.name} = {_value(parameter.default, dimension_of(parameter.annotation))}"


def dimension_of(annotation: Any) -> str:
    """The dimension of a unit type of base/units.py, or of one in a union; an empty string if there is none."""
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
    if hasattr(value, "_asdict"):
        kinds = get_type_hints(type(value), include_extras=True)
        values = {name: each for name, each in value._asdict().items() if each is not None}
        return f"{{ {', '.join(f'{name} = {_value(each, dimension_of(kinds[name]))}' for name, each in values.items())} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_value(each, dimension) for each in value)}]"
    if dimension in DEFAULT_UNITS:
        unit = DEFAULT_UNITS[dimension]
        return f'"{value / UNITS[dimension][unit]:.12g} {unit}"'
    return f"{value:.12g}"

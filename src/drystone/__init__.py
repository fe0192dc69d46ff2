"""drystone: how a historical masonry structure stands, moves and falls.

>>> import drystone as ds
>>> len(ds.build.arch(blocks=7))  # seven voussoirs and two abutments
9
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from drystone import build
    from drystone.errors import InputError
    from drystone.io.case import read_case
    from drystone.measure import summarise
    from drystone.model import Block, Model, build_model
    from drystone.motion import Motion
    from drystone.record import Run, read_run
    from drystone.session import run
    from drystone.view.picture import picture, strip

# Loaded when first asked for: Numba alone takes half a second, and `drystone --help` needs none of it.
# `simulate` is not here: the module of that name would hide the function once anything imports it.
_ROOMS = {
    "Block": "model",
    "InputError": "errors",
    "Model": "model",
    "Motion": "motion",
    "Run": "record",
    "build_model": "model",
    "picture": "view.picture",
    "read_case": "io.case",
    "read_run": "record",
    "run": "session",
    "strip": "view.picture",
    "summarise": "measure",
}

__all__ = [
    "Block",
    "InputError",
    "Model",
    "Motion",
    "Run",
    "build",
    "build_model",
    "picture",
    "read_case",
    "read_run",
    "run",
    "strip",
    "summarise",
]


def __getattr__(name: str) -> Any:
    if name == "build":
        return import_module("drystone.build")
    if name not in _ROOMS:
        raise AttributeError(f"module 'drystone' has no attribute {name!r}")
    return getattr(import_module(f"drystone.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return __all__

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
    from drystone.analysis.dynamics import run
    from drystone.base.errors import InputError
    from drystone.ground.motion import Motion
    from drystone.io.case import read_case
    from drystone.results.measures import summarise
    from drystone.results.store.run_reader import Run, read_run
    from drystone.show.pictures.picture import picture, strip
    from drystone.structure.model import Block, Model, build_model

# Loaded when first asked for: Numba alone takes half a second, and `drystone --help` needs none of it.
_ROOMS = {
    "Block": "structure.model",
    "InputError": "base.errors",
    "Model": "structure.model",
    "Motion": "ground.motion",
    "Run": "results.store.run_reader",
    "build_model": "structure.model",
    "picture": "show.pictures.picture",
    "read_case": "io.case",
    "read_run": "results.store.run_reader",
    "run": "analysis.dynamics",
    "strip": "show.pictures.picture",
    "summarise": "results.measures",
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

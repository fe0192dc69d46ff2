# mypy: disable-error-code="attr-defined"
"""The digest of everything that the machine code of a kernel depends on: its own code and all that it refers to.

Numba's cache looks only at the file of the function it caches: editing a function that is called from there leaves a cached
caller that silently returns old results. The digest of a kernel covers its byte code and constants, the kernels it calls
(by their names and digests), the constants and records it refers to, and the whole source of any file whose code generates code
(`intrinsic`). Comments, docstrings and line numbers are not in it: editing them compiles nothing.
"""

import hashlib
import inspect
import sys
import types
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numba.core import types as numba_types

PLAIN_TYPES = (int, float, complex, bool, str, bytes, type(None), np.generic)
VERSIONED_LIBRARIES = ("numpy", "numba", "llvmlite", "math", "builtins")  # their versions are in the key of the cache


def digest_texts(parts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode())
        digest.update(b"\0")
    return digest.hexdigest()


@cache
def code_digest(function: types.FunctionType) -> str:
    """The digest of a function and of all that it refers to."""
    parts = [*_describe_code(function.__code__), repr(function.__defaults__)]
    cells = function.__closure__ or ()
    parts += [_describe_value(cell.cell_contents) for cell in cells]
    for name in _referred_names(function.__code__):
        if name in function.__globals__:
            parts += [name, _describe_value(function.__globals__[name], function)]
    return digest_texts(parts)


def _referred_names(code: types.CodeType) -> list[str]:
    """The names of globals and attributes in a code object, including those in nested functions."""
    inside = [name for each in code.co_consts if isinstance(each, types.CodeType) for name in _referred_names(each)]
    return sorted({*code.co_names, *inside})


def _describe_code(code: types.CodeType) -> list[str]:
    constants = code.co_consts
    if constants and isinstance(constants[0], str):  # the docstring
        constants = constants[1:]
    parts = [code.co_code.hex(), repr(code.co_varnames), repr(code.co_names)]
    for each in constants:
        parts += _describe_code(each) if isinstance(each, types.CodeType) else [repr(each)]
    return parts


def _describe_value(value: Any, function: Any = None) -> str:
    """A text that identifies a value to which a function refers."""
    if isinstance(value, PLAIN_TYPES):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        return digest_texts(map(_describe_value, value))
    if isinstance(value, np.ndarray):
        return digest_texts([str(value.dtype), str(value.shape), value.tobytes().hex()])
    if hasattr(value, "py_func"):
        return "itself" if value.py_func is function else _called(value.py_func)
    if isinstance(value, type) and hasattr(value, "_fields"):
        return describe_record(value)
    if isinstance(value, types.ModuleType):
        return value.__name__ if _is_of_library(value.__name__) else _digest_source(value.__name__)
    if isinstance(value, numba_types.Type):
        return repr(value)
    origin = getattr(getattr(value, "_defn", value), "__module__", None) or type(value).__module__
    if _is_of_library(origin):
        return f"{origin} {getattr(value, '__qualname__', repr(value))}"
    return _digest_source(origin)


def _called(function: types.FunctionType) -> str:
    """Of a kernel that another one calls: its code, and its module and name, by which the stored caller finds it again."""
    return f"{function.__module__}.{function.__qualname__} {code_digest(function)}"


def _is_of_library(module: str) -> bool:
    return module.partition(".")[0] in VERSIONED_LIBRARIES


@cache
def _digest_source(module: str) -> str:
    """The digest of the source file of a module."""
    return digest_texts([Path(inspect.getfile(sys.modules[module])).read_text()])


def describe_record(kind: Any) -> str:
    return f"{kind.__module__}.{kind.__qualname__}{kind._fields}"


def describe_type(kind: Any) -> str:
    """A text that identifies a Numba type; records with the names of their fields, as another order is another type."""
    if isinstance(kind, numba_types.BaseTuple):
        head = describe_record(kind.instance_class) if hasattr(kind, "instance_class") else ""
        return f"{head}({','.join(map(describe_type, kind.types))})"
    return str(kind)

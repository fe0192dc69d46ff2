"""Stores user-defined joint laws in an HDF5 group: their numbers, and the name and the digest of their code. The code itself is
never stored: to resume a run, the caller must give the same function again (`restore_own_laws`)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from drystone.base.errors import InputError
from drystone.structure.joint_laws import CodeIdentity, OwnLaw, OwnLaws
from drystone.structure.model import Model

NO_LAW = -1  # in the table of groups: no user-defined law


def write_own_laws(group: Any, own: OwnLaws) -> None:
    """Write the table of the laws between groups, by number, and each law once."""
    laws = list(dict.fromkeys(law for row in own for law in row if law is not None))
    group["between"] = np.array([[NO_LAW if law is None else laws.index(law) for law in row] for row in own], np.int64)
    for k, law in enumerate(laws):
        code, law_group = identify_code(law), group.create_group(str(k))
        law_group.attrs.update(name=code.name, digest=code.digest, memory=law.memory, reach=law.reach)
        law_group["numbers"], law_group["strengths"] = np.array(law.numbers, float), np.array(law.strengths, np.int64)


def read_own_laws(group: Any, groups: int) -> OwnLaws:
    """The laws between the groups of blocks, `groups` in number, without their code; a `ValueError` if they do not match."""
    between = group["between"][:]
    laws: list[OwnLaw | None] = [_read(group[str(k)]) for k in range(len(group) - 1)]
    if between.shape != (groups, groups) or not np.all((between >= NO_LAW) & (between < len(laws))):
        raise ValueError("the user-defined laws do not match the rest of the model")
    laws.append(None)  # the entry that NO_LAW, -1, selects
    return tuple(tuple(laws[k] for k in row) for row in between)


def _read(law_group: Any) -> OwnLaw:
    attributes = law_group.attrs
    law = OwnLaw(
        CodeIdentity(str(attributes["name"]), str(attributes["digest"])),
        tuple(law_group["numbers"][:].tolist()),
        int(attributes["memory"]),
        tuple(law_group["strengths"][:].tolist()),
        float(attributes["reach"]),
    )
    law.check(" of the model")
    return law


def identify_code(law: OwnLaw) -> CodeIdentity:
    """The name and the digest of the code of a law."""
    return law.stress if isinstance(law.stress, CodeIdentity) else _digest_function(law.stress)


def _digest_function(function: Callable[..., None]) -> CodeIdentity:
    from drystone.base.kernel.digest import code_digest  # loads Numba, which is not needed to read a run

    plain = getattr(function, "py_func", function)
    return CodeIdentity(plain.__name__, code_digest(plain))


def restore_own_laws(model: Model, functions: Sequence[Callable[..., None]]) -> Model:
    """A model that was read from a run, with the code of its laws from outside: `functions` must do what they did then."""
    if model.own is None:
        return model
    function_of = {_digest_function(function): function for function in functions}
    for law in {law for row in model.own for law in row if law is not None}:
        _check_code(identify_code(law), function_of)
    own = tuple(tuple(law and replace(law, stress=function_of[identify_code(law)]) for law in row) for row in model.own)
    return replace(model, own=own)


def _check_code(code: CodeIdentity, function_of: dict[CodeIdentity, Callable[..., None]]) -> None:
    if code in function_of:
        return
    if any(other.name == code.name for other in function_of):
        raise InputError(f"the joint law {code.name!r} is not the one that the run began with: its code has changed (digest "
                         f"{code.digest[:12]} then); give the function as it was, or begin the run anew")  # fmt: skip
    raise InputError(f"the run has the user-defined joint law {code.name!r}, whose code is not stored; give the function "
                     f"in Python: resume(folder, laws=[{code.name}])")  # fmt: skip

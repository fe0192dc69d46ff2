"""Joint laws from outside in an HDF5 group: their numbers, and the name and the digest of their code. The code itself is never
in a file: whoever goes on with a run gives it again, and it must be the same (`given_again`)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from drystone.errors import InputError
from drystone.laws import KnownCode, OwnLaw, OwnLaws
from drystone.model import Model

NONE = -1  # in the table of groups: no law from outside


def write_own_laws(group: Any, own: OwnLaws) -> None:
    """A table of numbers of laws between groups, and each law once."""
    laws = list(dict.fromkeys(law for row in own for law in row if law is not None))
    group["between"] = np.array([[NONE if law is None else laws.index(law) for law in row] for row in own], np.int64)
    for k, law in enumerate(laws):
        code, place = known_code(law), group.create_group(str(k))
        place.attrs.update(name=code.name, digest=code.digest, memory=law.memory, reach=law.reach)
        place["numbers"], place["strengths"] = np.array(law.numbers, float), np.array(law.strengths, np.int64)


def read_own_laws(group: Any, groups: int) -> OwnLaws:
    """The laws between so many groups of blocks, without their code; a `ValueError` if they do not fit."""
    between = group["between"][:]
    laws: list[OwnLaw | None] = [_read(group[str(k)]) for k in range(len(group) - 1)]
    if between.shape != (groups, groups) or not np.all((between >= NONE) & (between < len(laws))):
        raise ValueError("own laws of the model do not fit the rest")
    laws.append(None)  # which NONE names
    return tuple(tuple(laws[k] for k in row) for row in between)


def _read(place: Any) -> OwnLaw:
    told = place.attrs
    law = OwnLaw(KnownCode(str(told["name"]), str(told["digest"])), tuple(place["numbers"][:].tolist()), int(told["memory"]),
                 tuple(place["strengths"][:].tolist()), float(told["reach"]))  # fmt: skip
    law.check(" of the model")
    return law


def known_code(law: OwnLaw) -> KnownCode:
    """The name and the digest of the code of a law."""
    return law.stress if isinstance(law.stress, KnownCode) else _code_of(law.stress)


def _code_of(function: Callable[..., None]) -> KnownCode:
    from drystone.kernel.digest import code_digest  # loads Numba, which whoever reads a run does without

    plain = getattr(function, "py_func", function)
    return KnownCode(plain.__name__, code_digest(plain))


def given_again(model: Model, functions: Sequence[Callable[..., None]]) -> Model:
    """A model that was read from a run, with the code of its laws from outside: `functions` must do what they did then."""
    if model.own is None:
        return model
    found = {_code_of(function): function for function in functions}
    for law in {law for row in model.own for law in row if law is not None}:
        _check_given(known_code(law), found)
    own = tuple(tuple(law and replace(law, stress=found[known_code(law)]) for law in row) for row in model.own)
    return replace(model, own=own)


def _check_given(code: KnownCode, found: dict[KnownCode, Callable[..., None]]) -> None:
    if code in found:
        return
    if any(other.name == code.name for other in found):
        raise InputError(f"the joint law {code.name!r} is not the one that the run began with: its code has changed (digest "
                         f"{code.digest[:12]} then); give the function as it was, or begin the run anew")  # fmt: skip
    raise InputError(f"the run has the joint law {code.name!r} from outside, whose code is not in its file; give the function "
                     f"in Python: resume(folder, laws=[{code.name}])")  # fmt: skip

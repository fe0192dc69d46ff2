"""The laws of joints that remember: a `Model` comes in, tables between groups of blocks go out, and from them the law of each
patch. Laws of `JointLaw` and laws of their own stand side by side; a law is an address, numbers and memory."""

from typing import NamedTuple

import numpy as np
from numba.core.errors import NumbaError

from drystone.engine.joint_law import FRICTION, MEMORY, NORMAL, NUMBERS, SHEAR, STRENGTHS, stress
from drystone.errors import InputError
from drystone.kernel import inner
from drystone.kernel.address import law_address
from drystone.laws import OwnLaw
from drystone.model import Model

Array = np.ndarray

TOLD = 3  # numbers that every law is told: friction, stiffness across, stiffness along
EVERY = 4  # numbers that every cell remembers, as engine/joint_law.py names them


class CellLaws(NamedTuple):
    """Between G groups; N numbers of the law that has most."""

    has_cells: Array  # (G, G) bool
    has_bond: Array  # (G, G) bool: what touches when a history begins is bonded
    stress: Array  # (G, G) int64 address
    numbers: Array  # (G, G, N) friction and stiffnesses are those of each patch
    strength: Array  # (G, G, N) bool: infinite while a structure is let down
    pull: Array  # (G, G) [N/m3] of the stiffness of a patch what is adhesion's, across
    drag: Array  # (G, G) [N/m3] and along
    memory: int  # numbers that a cell remembers


def cell_laws(model: Model) -> CellLaws | None:
    """None where no joint remembers anything."""
    laws = model.laws
    if laws is None:
        return None
    groups = len(laws.cohesion)
    own = {(i, k): law for i, row in enumerate(model.own or ()) for k, law in enumerate(row) if law is not None}
    bond = (laws.cohesion > 0.0) | (laws.energy > 0.0)
    bond[tuple(np.array(list(own), int).reshape(-1, 2).T)] = True
    has_cells = bond | np.isfinite(laws.crushing)
    if not has_cells.any():
        return None
    width = max(NUMBERS, *(TOLD + len(law.numbers) for law in own.values()), 0)
    numbers, strength = np.zeros((groups, groups, width)), np.zeros((groups, groups, width), bool)
    zero = np.zeros_like(laws.cohesion)
    numbers[:, :, :NUMBERS] = np.stack([zero, zero, zero, laws.cohesion, laws.tension, laws.brittle, laws.crushing, laws.energy,
                                        laws.viscosity, laws.pull, laws.drag], axis=2)  # fmt: skip
    strength[:, :, STRENGTHS] = numbers[:, :, STRENGTHS] > 0.0
    where = np.full((groups, groups), law_address(stress))
    for (i, k), law in own.items():
        where[i, k] = _address(law)
        numbers[i, k] = 0.0
        numbers[i, k, TOLD : TOLD + len(law.numbers)] = law.numbers
        strength[i, k] = False
        strength[i, k, [TOLD + row for row in law.strengths]] = True
    memory = max([MEMORY, *(EVERY + law.memory for law in own.values())])
    return CellLaws(has_cells, bond, where, numbers, strength, laws.pull, laws.drag, memory)


def _address(law: OwnLaw) -> int:
    name = getattr(law.stress, "__name__", repr(law.stress))
    try:
        return law_address(law.stress)
    except (NumbaError, TypeError) as fault:
        why = str(fault).strip().splitlines()[0]
        raise InputError(f"own.stress {name!r} is no law: {why}; it takes the arguments of drystone.engine.joint_law.stress, "
                         "returns nothing and is written in what Numba can compile")  from fault  # fmt: skip


@inner
def laws_of_patches(laws, group, a, b, friction, stiffness, shear, holds, stress, law):
    """Writes address (P,) and numbers (P, N) of the law of each patch that has cells. a, b (P,) its blocks, stiffness (P,)
    [N/m3] across the joint with what adhesion adds, shear (P,) that along it over it. holds: nothing breaks."""
    for p in range(a.shape[0]):
        i, k = group[a[p]], group[b[p]]
        stress[p] = laws.stress[i, k]
        if not laws.has_cells[i, k]:
            continue
        for c in range(law.shape[1]):
            law[p, c] = np.inf if holds and laws.strength[i, k, c] else laws.numbers[i, k, c]
        law[p, FRICTION] = friction[p]
        law[p, NORMAL] = stiffness[p] - laws.pull[i, k]
        law[p, SHEAR] = shear[p] * stiffness[p] - laws.drag[i, k]

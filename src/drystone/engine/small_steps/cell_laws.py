"""The laws of joints that remember: a `Model` comes in, tables between groups of blocks go out (`CellLaws`). The law of
`JointLaw` and laws from outside (`OwnLaw`) stand side by side: each is the address of a function, its numbers and how many
numbers a cell remembers for it."""

from typing import NamedTuple

import numpy as np
from numba.core.errors import NumbaError

from drystone.base.errors import InputError
from drystone.base.kernel.law_address import law_address
from drystone.contact.patch_memory import cell_numbers
from drystone.engine.small_steps.cell_stress import COHESION, FRICTION, NORMAL, NUMBERS, SHEAR, STRENGTHS, stress
from drystone.structure.joint_laws import CodeIdentity, Laws, OwnLaw
from drystone.structure.model import Model

Array = np.ndarray

GIVEN = COHESION  # numbers that every law is given first: friction, stiffness across and along the joint


class CellLaws(NamedTuple):
    """Between G groups; N numbers of the law that has most."""

    has_cells: Array  # (G, G) bool
    has_bond: Array  # (G, G) bool: what touches when a history begins is bonded
    dry_when_broken: Array  # (G, G) bool: without a bond there is nothing to remember, and the joint is as one that is dry
    stress: Array  # (G, G) int64 address of the function
    numbers: Array  # (G, G, N); the first three, which differ from patch to patch, are 0
    strength: Array  # (G, G, N) bool: infinite while a structure is let down
    normal_stiffness: Array  # (G, G) [N/m3] 0: of the stone
    shear_stiffness: Array  # (G, G) [N/m3] 0: in proportion to the normal one
    pull: Array  # (G, G) [N/m3] what adhesion adds to the stiffness of a patch across the joint
    memory: int  # numbers that a cell remembers


def cell_laws(model: Model) -> CellLaws | None:
    """None where no joint remembers anything."""
    laws = model.laws
    if laws is None:
        return None
    own = {(i, k): law for i, row in enumerate(model.own or ()) for k, law in enumerate(row) if law is not None}
    bond = (laws.cohesion > 0.0) | (laws.energy > 0.0)
    for place in own:
        bond[place] = True
    has_cells = bond | np.isfinite(laws.crushing)
    if not has_cells.any():
        return None
    numbers, strength = _numbers(laws, own)
    address = np.full(bond.shape, law_address(stress))
    for place, law in own.items():
        address[place] = _address(law)
    forgets = np.isinf(laws.crushing)
    for place in own:
        forgets[place] = False
    return CellLaws(has_cells, bond, forgets, address, numbers, strength, laws.normal_stiffness, laws.shear_stiffness,
                    laws.pull, cell_numbers(model.own))  # fmt: skip


def _numbers(laws: Laws, own: dict[tuple[int, int], OwnLaw]) -> tuple[Array, Array]:
    """`CellLaws.numbers` and `CellLaws.strength`."""
    width = max([NUMBERS, *(GIVEN + len(law.numbers) for law in own.values())])
    numbers, strength = np.zeros((*laws.cohesion.shape, width)), np.zeros((*laws.cohesion.shape, width), bool)
    ours = (laws.cohesion, laws.tension, laws.brittle, laws.crushing, laws.energy, laws.viscosity, laws.pull, laws.drag)
    numbers[:, :, GIVEN:NUMBERS] = np.stack(ours, axis=2)
    strength[:, :, STRENGTHS] = numbers[:, :, STRENGTHS] > 0.0
    for place, law in own.items():
        numbers[place], strength[place] = 0.0, False
        numbers[place][GIVEN : GIVEN + len(law.numbers)] = law.numbers
        strength[place][[GIVEN + k for k in law.strengths]] = True
    return numbers, strength


def _address(law: OwnLaw) -> int:
    """Of the function of a law from outside, which is compiled if it is not yet."""
    if isinstance(law.stress, CodeIdentity):
        raise InputError(f"joints have the law {law.name!r} from outside, whose code is not in the file of the run; give the "
                         f"function, as in resume(folder, laws=[{law.name}])")  # fmt: skip
    try:
        return law_address(law.stress)
    except (NumbaError, TypeError) as fault:
        why = str(fault).strip().splitlines()[0]
        raise InputError(f"own.stress {law.name!r} is no joint law: {why}; write it with the arguments of "
                         "drystone.engine.small_steps.cell_stress.stress, "
                         "without a result, as Numba can compile it") from fault  # fmt: skip


def numbers_of_patches(laws: CellLaws, one: Array, other: Array, friction: Array, stiffness: Array, shear: float,
                       holds: bool) -> Array:  # fmt: skip
    """(P, N) the numbers of the law of each patch, between blocks of the groups `one` and `other` (P,). stiffness (P,) [N/m3]
    of the patch across, with what adhesion adds; shear: stiffness along over that across where no law gives one. holds: nothing
    breaks."""
    here = one, other
    numbers = laws.numbers[here]
    if holds:
        numbers = np.where(laws.strength[here], np.inf, numbers)
    normal = np.where(laws.normal_stiffness[here] > 0.0, laws.normal_stiffness[here], stiffness - laws.pull[here])
    along = np.where(laws.shear_stiffness[here] > 0.0, laws.shear_stiffness[here], shear * normal)
    numbers[:, FRICTION], numbers[:, NORMAL], numbers[:, SHEAR] = friction, normal, along
    return numbers

"""A law is numbers: what the joints of a model mean for the contacts of one step."""

from typing import NamedTuple

import numpy as np

from drystone.base.errors import InputError
from drystone.base.kernel import kernel
from drystone.contact.contacts import Contacts
from drystone.structure.joint_laws import RIGID_SURFACE as RIGID_SURFACE
from drystone.structure.joint_laws import ContactSurface as ContactSurface
from drystone.structure.model import Model

Array = np.ndarray


class Law(NamedTuple):
    """The numbers a contact brings into the `Problem`."""

    friction: Array  # (C,)
    dilatancy: Array  # (C,)
    stiffness: Array  # (C,) [N/m] zero if rigid
    compliance: Array  # (C,) [1/kg]


def refuse_own_laws(model: Model) -> None:
    """Laws from outside are functions of cells in histories by small steps; cone programs and statics know `JointLaw` alone."""
    if model.own is not None:
        raise InputError("joints have a law from outside (JointLaw.own), which only histories by small steps know; use "
                         "simulate_small_steps, or give cohesion, adhesion or crushing in its place")  # fmt: skip


def apply_laws(model: Model, surface: ContactSurface, contacts: Contacts, position: Array, h: float) -> Law:
    """Friction by pair of blocks; K = young area / length or as given, compliance 1 / (h (h + tau) K) with the relaxation time
    tau (T8), zero if rigid."""
    refuse_own_laws(model)
    if model.laws is not None and not surface.compliant:
        raise InputError("joints with cohesion, adhesion, crushing or a stiffness need compliant contact; give the stone a "
                         "modulus: ContactSurface(young=30e9)")  # fmt: skip
    friction = model.friction_between(contacts.a, contacts.b)
    dilatancy = np.zeros_like(friction) if surface.coulomb else friction
    stiffness = _stiffness(model, surface, contacts, position)
    soft = stiffness * h * (h + surface.relaxation)
    return Law(friction, dilatancy, stiffness, 1 / soft if surface.compliant else soft)


def _stiffness(model: Model, surface: ContactSurface, contacts: Contacts, position: Array) -> Array:
    """(C,) [N/m], zero if rigid."""
    if surface.stiffness is not None:
        return np.full(len(contacts.gap), surface.stiffness)
    if surface.young is None:
        return np.zeros(len(contacts.gap))
    meshed = np.zeros(len(model.blocks), bool) if model.elastic is None else model.elastic.row >= 0
    length = joint_length(model.bodies.fixed, meshed, model.bodies.radius, contacts, position)
    return surface.young * contacts.area / length


@kernel
def joint_length(fixed, meshed, radius, contacts, position):
    """Depth of stone (C,) [m] that a joint stands for: from centroid to centroid along the normal; supports are rigid, and
    blocks with a mesh give way by it. At least a tenth of the smaller radius, a hundredth where there is a mesh."""
    out = np.empty(contacts.a.shape[0])
    for c in range(out.shape[0]):
        length, least, floor = 0.0, np.inf, 0.1
        for body in (contacts.a[c], contacts.b[c]):
            if fixed[body]:
                continue
            least = min(least, radius[body])
            if meshed[body]:
                floor = 0.01
                continue
            depth = 0.0
            for k in range(3):
                depth += (contacts.point[c, k] - position[body, k]) * contacts.normal[c, k]
            length += abs(depth)
        out[c] = max(length, floor * least)
    return out

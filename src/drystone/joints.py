"""A law is numbers: what the joints of a model mean for the contacts of one step."""

from typing import NamedTuple

import numpy as np

from drystone.contact.contacts import Contacts
from drystone.kernel import kernel
from drystone.model import Model

Array = np.ndarray


class Law(NamedTuple):
    """The numbers a contact brings into the `Problem`."""

    friction: Array  # (C,)
    compliance: Array  # (C,) [1/kg]


def apply_laws(model: Model, contacts: Contacts, position: Array, h: float, young: float | None) -> Law:
    """Friction by pair of groups; compliance 1 / (h^2 K) with K = young area / length (T8), zero when young is None."""
    group = model.bodies.group
    friction = model.friction[group[contacts.a], group[contacts.b]]
    if young is None:
        return Law(friction, np.zeros(len(friction)))
    length = joint_length(model.bodies.fixed, model.bodies.radius, contacts, position)
    return Law(friction, length / (young * contacts.area * h * h))


@kernel
def joint_length(fixed, radius, contacts, position):
    """Depth of stone (C,) [m] that a joint stands for: from centroid to centroid along the normal; supports are rigid."""
    out = np.empty(contacts.a.shape[0])
    for c in range(out.shape[0]):
        length, least = 0.0, np.inf
        for body in (contacts.a[c], contacts.b[c]):
            if fixed[body]:
                continue
            depth = 0.0
            for k in range(3):
                depth += (contacts.point[c, k] - position[body, k]) * contacts.normal[c, k]
            length += abs(depth)
            least = min(least, radius[body])
        out[c] = max(length, 0.1 * least)
    return out

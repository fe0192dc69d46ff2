"""Joints that have opened between two states, with the width and position of each crack (T359)."""

from typing import NamedTuple

import numpy as np

from drystone.base import quaternion
from drystone.contact.contacts import Contacts, no_contacts
from drystone.contact.detection import detect
from drystone.contact.pairs import touching_pairs
from drystone.engine.state import State
from drystone.structure.model import Model

Array = np.ndarray

MIN_CRACK_WIDTH = 1e-5  # [m] the smallest opening that counts as a crack; the elastic opening of unloaded joints is less


class Crack(NamedTuple):
    """A joint that has opened."""

    a: int  # block
    b: int
    width: float  # [m] at the corner of the joint where it has opened most
    slip: float  # [m] how far b has moved along the joint there
    place: Array  # (3,) [m] of this corner, in the structure as drawn


def joints_as_drawn(model: Model, start: State) -> Contacts:
    """The contacts of the structure as drawn, at the corners of joints."""
    at_rest = np.zeros_like(start.velocity)
    return detect(model.bodies, start.position, start.rotation, at_rest, 1.0, no_contacts(), 0, model.planar)[0]


def find_cracks(model: Model, drawn: Contacts, start: State, now: State) -> list[Crack]:
    """The joints that have opened since the start by MIN_CRACK_WIDTH or more, the widest first."""
    opening, slip = joint_openings(drawn, start, now)
    _, row = touching_pairs(drawn)
    cracks = []
    for k in np.unique(row[opening >= MIN_CRACK_WIDTH]).tolist():
        corners = np.flatnonzero(row == k)
        c = int(corners[opening[corners].argmax()])
        cracks.append(Crack(int(drawn.a[c]), int(drawn.b[c]), float(opening[c]), float(slip[c]), drawn.point[c]))
    return sorted(cracks, key=lambda crack: -crack.width)


def joint_openings(drawn: Contacts, start: State, now: State) -> tuple[Array, Array]:
    """(C,) [m] The opening of the corners of joints since the start, relative to block a, and (C,) [m] the slip of b along the
    joint there. Blocks are taken as rigid."""
    rotation = quaternion.product(now.rotation, quaternion.conjugate(start.rotation))
    on_a, on_b = (now.position[i] + quaternion.rotate(rotation[i], drawn.point - start.position[i]) for i in (drawn.a, drawn.b))
    apart = on_b - on_a
    normal = quaternion.rotate(rotation[drawn.a], drawn.normal)
    opening = np.einsum("ij,ij->i", apart, normal)
    return opening, np.linalg.norm(apart - opening[:, None] * normal, axis=1)

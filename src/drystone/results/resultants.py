"""The resultant force and moment at each joint, and the thrust lines and force segments to draw of them.

The forces of the contact points of two blocks are one force through the centre of pressure and one moment about it (T64). In
an arch or a column the centres of pressure in their order are the effective thrust line; elsewhere a short segment along
each force shows how it flows.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from drystone.base.errors import InputError, did_you_mean
from drystone.contact.contacts import Contacts
from drystone.contact.pairs import chains, touching_pairs
from drystone.structure.model import Model

Array = np.ndarray

UNLOADED_SHARE = 1e-9  # of the largest thrust: a joint with less is unloaded
RIM_TOLERANCE = 1e-9  # of the distance to the rim of a joint: a force beyond the rim by less is at the rim


class Resultants(NamedTuple):
    """J joints, each between two blocks, in the order of their pairs."""

    a: Array  # (J,) int64 block, a < b
    b: Array  # (J,) int64
    force: Array  # (J, 3) [N] world, on b
    centre: Array  # (J, 3) [m] centre of pressure, where the force crosses the joint; moved to the rim if tension puts it
    # outside; the middle of a joint without pressure
    moment: Array  # (J, 3) [N m] on b about the centre; along the normal in a plane joint, except for a part due to tension
    normal: Array  # (J, 3) unit, from a into b
    middle: Array  # (J, 3) [m] centroid of the joint
    area: Array  # (J,) [m2] of the joint
    thrust: Array  # (J,) [N] normal part of the force, compression positive
    torsion: Array  # (J,) [N m] moment on b about the normal
    friction_used: Array  # (J,) shear over friction times thrust; 0 without compression
    eccentricity: Array  # (J,) of the force: from 0 in the middle to 1 at the rim of the joint; more only with tension


def joint_resultants(model: Model, contacts: Contacts) -> Resultants:
    """The resultants of contacts whose `impulse` holds forces [N]."""
    pair, row = touching_pairs(contacts)
    normal = _sum_by(row, contacts.normal)
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    middle, area = _centroids(contacts.point, normal, row)
    pressure = np.einsum("ij,ij->i", contacts.impulse, contacts.normal)[:, None]
    pressed = _sum_by(row, pressure)
    pressed[pressed <= UNLOADED_SHARE * pressed.max(initial=0.0)] = np.inf
    offset = _sum_by(row, pressure * (contacts.point - middle[row])) / pressed
    eccentricity = _eccentricity(offset, contacts.point - middle[row], row)
    centre = middle + offset / np.where(eccentricity > 1.0 + RIM_TOLERANCE, eccentricity, 1.0)[:, None]
    force = _sum_by(row, contacts.impulse)
    moment = _sum_by(row, np.cross(contacts.point - centre[row], contacts.impulse))
    thrust = np.einsum("ij,ij->i", force, normal)
    shear = np.linalg.norm(force - thrust[:, None] * normal, axis=1)
    strength = model.friction_between(pair[:, 0], pair[:, 1]) * thrust
    return Resultants(
        a=pair[:, 0],
        b=pair[:, 1],
        force=force,
        centre=centre,
        moment=moment,
        normal=normal,
        middle=middle,
        area=area,
        thrust=thrust,
        torsion=np.einsum("ij,ij->i", moment, normal),
        friction_used=shear / np.where(strength > 0.0, strength, np.inf),
        eccentricity=eccentricity,
    )


def blocks_called(model: Model, name: str) -> Array:
    """(B,) bool: the blocks of the group with this name, and the blocks whose names begin with it."""
    return np.array([block.group == name or block.name.startswith(name) for block in model.blocks])


def thrust_lines(model: Model, resultants: Resultants, *, only: str = "") -> list[Array]:
    """(n, 3) [m] The centres of pressure of each arch or column, from support to support or to the free end.

    only: use the blocks of this group, or whose names begin with it, for example the ring of an arch in a wall."""
    members = blocks_called(model, only)
    if not members.any():
        groups = sorted({block.group for block in model.blocks})
        message = f"only = {only!r}: no block has such a group or name{did_you_mean(only, groups)}"
        raise InputError(f"{message}; the groups are {groups}")
    pair = np.stack([resultants.a, resultants.b], axis=1)
    row = {(a, b): k for k, (a, b) in enumerate(pair.tolist())}
    chain_list = chains(pair, model.bodies.fixed, members)
    return [
        np.array([resultants.centre[row[min(a, b), max(a, b)]] for a, b in pairwise(chain)])
        for chain in chain_list
        if len(chain) > 1
    ]


def force_flow(resultants: Resultants, *, length: float) -> Array:
    """(J, 2, 3) [m] A segment along the force of each joint, with its middle at the centre of pressure. The segment of the
    largest force has this length [m], and the others are in proportion."""
    largest = float(np.linalg.norm(resultants.force, axis=1).max(initial=0.0))
    half = resultants.force * (length / (2 * largest) if largest > 0.0 else 0.0)
    return np.stack([resultants.centre - half, resultants.centre + half], axis=1)


def _sum_by(row: Array, values: Array) -> Array:
    """(J, k) The sums of the values (C, k) over the contact points of each joint."""
    # bincount of no values would be integer
    return np.stack([np.bincount(row, column).astype(float) for column in values.T], axis=1)


def _centroids(point: Array, normal: Array, row: Array) -> tuple[Array, Array]:
    """(J, 3) [m] The centroids and (J,) [m2] the areas of the joints, whose corners are the contact points. They are summed
    over triangles between the mean of the corners and each side, with the corners sorted by angle. For a joint that is a line
    or a point the mean is returned."""
    mean = _sum_by(row, point) / np.bincount(row)[:, None]
    if not len(row):
        return mean, np.empty(0)
    first = np.cross(normal, np.eye(3)[np.abs(normal).argmin(axis=1)])
    second = np.cross(normal, first)
    arm = point - mean[row]
    angle = np.arctan2(np.einsum("ij,ij->i", arm, second[row]), np.einsum("ij,ij->i", arm, first[row]))
    order = np.lexsort((angle, row))
    joint = row[order]
    start = np.searchsorted(joint, np.arange(len(mean)))
    following = np.roll(order, -1)
    following[np.append(start[1:], len(row)) - 1] = order[start]
    corner, next_corner = arm[order], arm[following]
    triangle = np.einsum("ij,ij->i", np.cross(corner, next_corner), normal[joint])[:, None] / 2
    area = _sum_by(joint, triangle)
    lever = _sum_by(joint, triangle * (corner + next_corner) / 3)
    return mean + lever / np.where(area > 0.0, area, np.inf), area[:, 0]


def _eccentricity(offset: Array, arm: Array, row: Array) -> Array:
    """(J,) The distance of the centre of pressure from the middle, over the distance of the farthest corner in its
    direction."""
    rim_distance = np.zeros(len(offset))
    np.maximum.at(rim_distance, row, np.einsum("ij,ij->i", arm, offset[row]))
    return np.einsum("ij,ij->i", offset, offset) / np.where(rim_distance > 0.0, rim_distance, np.inf)

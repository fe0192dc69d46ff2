"""The record of who touches whom: antagonist points of pairs of blocks, with their memory from step to step."""

from typing import NamedTuple

import numpy as np

Array = np.ndarray


class Contacts(NamedTuple):
    """C potential contacts, sorted by pair. The normal points from a into b; impulse and velocity act on / are of b."""

    a: Array  # (C,) int64 block, a < b
    b: Array  # (C,) int64 block
    point: Array  # (C, 3) [m] world, mid-point of the antagonist points
    normal: Array  # (C, 3) unit, one direction a pair
    gap: Array  # (C,) [m] along the normal, > 0 apart
    area: Array  # (C,) [m2] share of the joint's area
    id: Array  # (C,) int64, kept while the contact lives
    impulse: Array  # (C, 3) [N s] world, of the last step; zero for a new contact
    velocity: Array  # (C, 3) [m/s] world, relative velocity plus gap / h of the last step; zero for a new contact
    bond: Array  # (C,) 1 sound .. 0 broken, or never there: only what touches when a run starts is bonded
    rest: Array  # (C,) [m] gap at which the bond was made, or the later block laid, and nothing is carried
    stretch: Array  # (C, 3) [m] world, how far b was moved along the joint against an adhesive bond
    crushed: Array  # (C,) [m] closing that stays
    strain: Array  # (C, 3) [m] world, how far b is moved against a elastically, of compliant contacts of dry joints
    steady: Array  # (C, 3) [N s] world, impulse of the last step without a blow on one of its blocks
    stiffness: Array  # (C,) [N/m] with which that was borne; zero if rigid or new


UPRIGHT = 0.5  # of a unit normal: joints whose normals rise less are head joints


def in_head_joints(contacts: Contacts) -> Array:
    """(C,) bool the contacts of joints that stand upright."""
    return np.abs(contacts.normal[:, 2]) < UPRIGHT


def head_joint_opening(contacts: Contacts) -> float:
    """[m] the widest gap of head joints, of those that detection still takes for joints; 0 if all are closed."""
    return float(contacts.gap[in_head_joints(contacts)].max(initial=0.0))


def no_contacts() -> Contacts:
    """The empty record, from which every run starts."""
    i, s, v = np.empty(0, np.int64), np.empty(0), np.empty((0, 3))
    return Contacts(i, i, v, v, s, s, i, v, v, s, s, v, s, v, v, s)

"""What compliant contacts remember: their elastic strain. Contacts and the stiffness they have now come in, the gaps and the
impulses from which they start a step go out; after the step, their new strain and energy.

A contact is a spring of stiffness K beside a damper of K times the relaxation time tau, in series with the friction of the
joint (T8, T461). What is remembered is how far the spring is moved, not its force: where a joint has lost area, the same
force would be more energy. No contact is found with more energy than the last step stored in it (T462): where the stiffness
has grown, the strain is the less, and points that are new start without any.
"""

from typing import NamedTuple

import numpy as np

from drystone.contact.contacts import Contacts

Array = np.ndarray

CREEP = 0.1  # of g times the step: rigid contacts that overlap part no faster, so that gravity takes the speed back at once


class Found(NamedTuple):
    """With what the contacts start a step."""

    gap: Array  # (C,) [m] that acts: an overlap counts as far as it is elastic
    memory: Array  # (C, 3) [N s] contact frame, impulse of the springs along the joint


def found_rigid(contacts: Contacts, speed: float, h: float) -> Found:
    """Rigid contacts: an overlap is led apart with no more speed than that, in [m/s] g times the step; `push_apart` does the
    rest."""
    return Found(np.maximum(contacts.gap, -CREEP * speed * h), np.zeros((len(contacts.gap), 3)))


def found_elastic(contacts: Contacts, stiffness: Array, frame: Array, h: float) -> Found:
    """Compliant contacts of dry joints; stiffness (C,) [N/m] is that of this step, frame (C, 3, 3) its axes."""
    share = np.sqrt(np.minimum(contacts.stiffness / stiffness, 1.0))
    strain = share[:, None] * np.einsum("cij,cj->ci", frame, contacts.strain)
    memory = -h * stiffness[:, None] * strain * (0.0, 1.0, 1.0)
    return Found(np.maximum(contacts.gap, np.minimum(strain[:, 0], 0.0)), memory)


def found_bonded(contacts: Contacts, stiffness: Array, frame: Array) -> Found:
    """Contacts of joints with mortar, which may pull: the gap as it is, and the force along the joint, less where it lost
    area."""
    force = np.einsum("cij,cj->ci", frame, contacts.impulse)
    return Found(contacts.gap, kept_force(contacts, stiffness)[:, None] * force * (0.0, 1.0, 1.0))


def kept_force(contacts: Contacts, stiffness: Array) -> Array:
    """(C,) share of the force of the last step that the same strain is worth now, at most all of it; all of rigid contacts."""
    old = contacts.stiffness
    return np.where(old > 0.0, np.minimum(stiffness / np.where(old > 0.0, old, 1.0), 1.0), 1.0)


def approach_of(gap: Array, relaxation: float, h: float) -> Array:
    """(C,) [m/s] at which contacts may close in the step: open ones until they touch; in closed ones the damper counts
    (T461)."""
    return gap / np.where(gap < 0.0, h + relaxation, h)


class Strained(NamedTuple):
    """The springs after a step."""

    strain: Array  # (C, 3) [m] contact frame, of b against a: a pressed contact is moved against its normal
    energy: float  # [J]


def strained(found: Found, impulse: Array, stiffness: Array, relaxation: float, h: float) -> Strained:
    """After a step under these impulses (C, 3): what the dampers did not bear moved the springs."""
    springs = found.memory.copy()
    springs[:, 0] = h * stiffness * np.maximum(-found.gap, 0.0)
    springs = (h * impulse + relaxation * springs) / (h + relaxation)
    strain = np.where(springs[:, :1] > 0.0, -springs / (h * stiffness[:, None]), 0.0)
    return Strained(strain, 0.5 * float(stiffness @ (strain * strain).sum(axis=1)))

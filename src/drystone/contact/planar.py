"""Contacts of a prismatic structure in its plane: points of the space come in, half as many in the mid plane go out.

A joint of two prisms along y is a rectangle; its corners lie two by two behind each other. Points of a pair with one normal
that coincide in x and z become one in the mid plane of the blocks (T51): areas and impulses added, the smaller gap, the id
of the first. The order of the points stays, so that what is found does not depend on the past.
"""

import numpy as np

from drystone.base.kernel import inner
from drystone.contact.contacts import Contacts
from drystone.structure.model import Bodies

Array = np.ndarray

_SAME_PLACE = 1e-5  # of the smaller radius: points nearer than this in x and z are one
_SAME_NORMAL = 1e-6  # pieces of a block may meet another with a normal each


def in_plane(contacts: Contacts, bodies: Bodies, position: Array) -> Contacts:
    """The contacts in the plane of x and z; the blocks are prisms along y, `position` (B, 3) [m] their centroids."""
    flat = Contacts(*(np.empty_like(field) for field in contacts))
    middle = position[np.argmin(bodies.fixed), 1]  # of the first free block, as of all
    count = _merge(contacts, bodies.radius, middle, flat)
    return Contacts(*(field[:count] for field in flat))


@inner
def _merge(contacts, radius, middle, out):
    """Number of points written to `out`."""
    count, first = 0, 0
    for c in range(contacts.a.shape[0]):
        a, b = contacts.a[c], contacts.b[c]
        if c == 0 or a != contacts.a[c - 1] or b != contacts.b[c - 1]:
            first = count
        row = _row_at(contacts, c, out, first, count, _SAME_PLACE * min(radius[a], radius[b]))
        if row < 0:
            _start(contacts, c, middle, out, count)
            count += 1
        else:
            _add(contacts, c, out, row)
    return count


@inner
def _row_at(contacts, c, out, first, stop, nearest):
    """Row of the pair that contact c belongs to, or -1."""
    for row in range(first, stop):
        x, z = out.point[row, 0] - contacts.point[c, 0], out.point[row, 2] - contacts.point[c, 2]
        u, w = out.normal[row, 0] - contacts.normal[c, 0], out.normal[row, 2] - contacts.normal[c, 2]
        if x * x + z * z < nearest * nearest and u * u + w * w < _SAME_NORMAL * _SAME_NORMAL:
            return row
    return -1


@inner
def _start(contacts, c, middle, out, row):
    """Contact c as the first of its kind, its normal and impulse without what rounding left of y."""
    length = np.sqrt(contacts.normal[c, 0] ** 2 + contacts.normal[c, 2] ** 2)
    out.a[row], out.b[row], out.id[row] = contacts.a[c], contacts.b[c], contacts.id[c]
    out.gap[row], out.area[row] = contacts.gap[c], contacts.area[c]
    out.stiffness[row] = contacts.stiffness[c]
    out.bond[row], out.rest[row], out.crushed[row] = contacts.bond[c], contacts.rest[c], contacts.crushed[c]
    for axis in range(3):
        out.stretch[row, axis], out.strain[row, axis] = contacts.stretch[c, axis], contacts.strain[c, axis]
        out.steady[row, axis] = contacts.steady[c, axis]
    for axis in range(0, 3, 2):
        out.point[row, axis] = contacts.point[c, axis]
        out.normal[row, axis] = contacts.normal[c, axis] / length
        out.impulse[row, axis], out.velocity[row, axis] = contacts.impulse[c, axis], contacts.velocity[c, axis]
    out.point[row, 1], out.normal[row, 1], out.impulse[row, 1], out.velocity[row, 1] = middle, 0.0, 0.0, 0.0


@inner
def _add(contacts, c, out, row):
    out.gap[row] = min(out.gap[row], contacts.gap[c])
    out.area[row] += contacts.area[c]
    out.impulse[row, 0] += contacts.impulse[c, 0]
    out.impulse[row, 2] += contacts.impulse[c, 2]

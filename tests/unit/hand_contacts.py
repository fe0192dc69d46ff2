"""Contacts written down by hand, without contact detection: the corners of the joints of a structure that is known."""

from itertools import pairwise

import numpy as np

from drystone.build.arch import circular_joints
from drystone.contact.contacts import Contacts, no_contacts


def contacts_of(joints) -> Contacts:
    """Of (a, b, points, normal from a into b) a joint; as detection has it, a < b and sorted by pair."""
    rows = []
    for a, b, points, normal in joints:
        ahead = np.array(normal, float) / np.linalg.norm(normal)
        rows += [(a, b, point, ahead) if a < b else (b, a, point, -ahead) for point in points]
    rows.sort(key=lambda row: row[:2])
    a, b, point, normal = (np.array(column) for column in zip(*rows, strict=True))
    count, empty = len(a), no_contacts()
    blank = {n: np.zeros((count, *f.shape[1:]), f.dtype) for n, f in zip(Contacts._fields, empty, strict=True)}
    return Contacts(**blank | {"a": a, "b": b, "point": point.astype(float), "normal": normal, "id": np.arange(count)})


def rectangle(x, y, z):
    """The four corners of a horizontal rectangle."""
    return [[x[0], y[0], z], [x[1], y[0], z], [x[1], y[1], z], [x[0], y[1], z]]


def arch_contacts(radius, thickness, embrace, blocks, depth) -> Contacts:
    """Of `build.arch`: abutments 0 (right) and 1 (left), voussoirs 2, 3, ... from right to left."""
    inner, outer = circular_joints("arch", radius, thickness, embrace, blocks)
    chain = [0, *range(2, blocks + 2), 1]
    joints = []
    front, back = -depth / 2, depth / 2
    for k, (a, b) in enumerate(pairwise(chain)):
        corners = [[p[0], y, p[1]] for p, y in ((inner[k], front), (outer[k], front), (outer[k], back), (inner[k], back))]
        along = outer[k] - inner[k]
        joints.append((a, b, corners, [-along[1], 0.0, along[0]]))  # the arch turns to the left from right to left
    return contacts_of(joints)

"""Joints of deformable blocks: the corners of a joint come in, points all over it go out, as many as its bricks need.

With r bricks a side, rings of the joint's shape are drawn about its centre at j / r of its size, j = r, r - 2, ..., with j
points a side, the centre if j = 0: on a rectangle the (r + 1)^2 nodes of a grid. Gaps are as linear as the faces are plane;
the joint's area is shared evenly.

>>> rings(2, 3).tolist()[0], len(rings(4, 2)), len(rings(4, 3))
([1.0, 0.0], 9, 16)
"""

from functools import cache

import numpy as np

from drystone.contact.contacts import Contacts

Array = np.ndarray


def all_over(contacts: Contacts, bricks: Array) -> Contacts:
    """The contacts, fresh from detection, with more points where one of the blocks has more than one brick (B,) a side."""
    start = np.flatnonzero(np.diff(contacts.a, prepend=-1) | np.diff(contacts.b, prepend=-1))
    parts = [Contacts(*(field[:0] for field in contacts))]
    for rows in np.split(np.arange(len(contacts.a)), start)[1:]:
        joint = Contacts(*(field[rows] for field in contacts))
        count = int(max(bricks[joint.a[0]], bricks[joint.b[0]]))
        parts.append(joint if count == 1 else _filled(joint, count))
    return Contacts(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))


def _filled(joint: Contacts, count: int) -> Contacts:
    """A joint with so many bricks a side."""
    share = rings(len(joint.gap), count)[:, np.argsort(_angles(joint.point, joint.normal[0]), kind="stable").argsort()]
    first = Contacts(*(np.repeat(field[:1], len(share), axis=0) for field in joint))
    even = np.full(len(share), joint.area.sum() / len(share))
    return first._replace(point=share @ joint.point, gap=share @ joint.gap, area=even)


def _angles(point: Array, normal: Array) -> Array:
    """[rad] (K,) at which points are seen round their centre, against the normal."""
    arm = point - point.mean(axis=0)
    across = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    return np.arctan2(arm @ np.cross(normal, across), arm @ across)


@cache
def rings(corners: int, count: int) -> Array:
    """(P, corners) shares of the corners, given in turn, in the points of the joint."""
    corner, centre = np.eye(corners), np.full(corners, 1.0 / corners)
    if corners < 3:
        along = np.linspace(0.0, 1.0, count + 1)[:, None]
        return np.ones((1, 1)) if corners == 1 else (1.0 - along) * corner[0] + along * corner[1]
    points = [centre] if count % 2 == 0 else []
    for j in range(count, 0, -2):
        for k in range(corners):
            side = [(1.0 - i / j) * corner[k] + i / j * corner[(k + 1) % corners] for i in range(j)]
            points += [centre + j / count * (place - centre) for place in side]
    return np.array(points)

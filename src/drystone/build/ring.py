"""The stones of a round arch in a coursed wall, as outlines in elevation, from the radius, the ring and the beds.

The beds begin at the springing and go up; if they go down, the arch is the lower half of a round window.

Radial joints begin on the intrados and end where the extrados, the circle of radius + ring, meets the bed of a course:
there a stone ends in a step, upright beside the course and level under the next one. So every stone is a convex polygon
(radial, upright, level, radial, intrados), each course butts against one upright face and lies on one level face, and
no stone is L-shaped. Towards the crown there are fewer beds: there several joints go up to the same bed, about as far apart on
the intrados as courses are high, with a keystone in the middle.
"""

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from drystone.base.errors import InputError

Array = np.ndarray


class RadialJoint(NamedTuple):
    """A radial joint right of the crown, seen from the centre of the arch."""

    inner: tuple[float, float]  # [m] on the intrados
    outer: float  # [m] x where it ends
    bed: int  # the course's bed where it ends


def ring_width(radius: float, ring: float, levels: Array, course: int) -> float | None:
    """[m] half the width of the arch in a course, numbered from the springing at levels[0]; None beyond the arch."""
    rise = np.abs(levels - levels[0])
    return _extrados(radius, ring, rise[course]) if course < _beds(radius, ring, rise) else None


def _extrados(radius: float, ring: float, rise: float) -> float:
    """[m] the distance from the middle to the extrados at a bed."""
    return math.sqrt((radius + ring) ** 2 - rise**2)


def _beds(radius: float, ring: float, rise: Array) -> int:
    """The number of beds that the extrados rises through; the next one is the top of the arch, also if just below the crown."""
    if len(rise) == 1:  # no course beyond the springing
        return 1
    return int(np.count_nonzero(rise < radius + ring - 0.1 * (rise[1] - rise[0])))


def ring_stones(radius: float, ring: float, centre: float, levels: Array, label: str) -> list[Array]:
    """Outlines (n, 2) [m] of the arch's stones from right to left, counter-clockwise; the springing is at levels[0]."""
    rise = np.abs(levels - levels[0])
    if _beds(radius, ring, rise) >= len(levels):
        raise InputError(f"{label} needs {radius + ring:g} m beyond its springing at {levels[0]:g} m, the courses end at "
                         f"{levels[-1]:g} m; give more courses or a smaller arch")  # fmt: skip
    joints = _joints(radius, ring, rise)
    right = [_between(one, other, rise) for one, other in pairwise(joints)]
    half = _half_keystone(joints[-1], rise, _beds(radius, ring, rise))
    keystone = half + [(-x, z) for x, z in half[::-1]]
    left = [[(-x, z) for x, z in outline[::-1]] for outline in right[::-1]]
    # Points on a bed take the level itself: the course above has the same number.
    level, sense = dict(zip(rise.tolist(), levels.tolist(), strict=True)), int(np.sign(levels[1] - levels[0]))
    outlines = [[(centre + x, level.get(z, levels[0] + sense * z)) for x, z in each] for each in right + [keystone] + left]
    return [np.array(outline[::sense]) for outline in outlines]


def _joints(radius: float, ring: float, rise: Array) -> list[RadialJoint]:
    """The joints of the right half from the springing to the keystone."""
    beds, wide = _beds(radius, ring, rise), (rise[1] - rise[0]) / radius  # [rad] a stone of the usual width
    angles = [math.asin(rise[bed] / (radius + ring)) for bed in range(beds)]
    joints = []
    for bed, angle in enumerate(angles):
        outer = _extrados(radius, ring, rise[bed])
        joints.append(_joint(radius, angle, outer, bed))
        crown = bed == beds - 1
        gap = math.pi - 2 * angle if crown else angles[bed + 1] - angle
        for turn in _between_beds(angle, gap, wide, crown, outer, float(rise[bed + 1]), ring):
            joints.append(_joint(radius, turn, float(rise[bed + 1]) / math.tan(turn), bed + 1))
    return joints


def _joint(radius: float, angle: float, outer: float, bed: int) -> RadialJoint:
    return RadialJoint((radius * math.cos(angle), radius * math.sin(angle)), outer, bed)


def _between_beds(angle: float, gap: float, wide: float, crown: bool, outer: float, bed: float, ring: float) -> list[float]:
    """[rad] the angles of the joints between one bed and the next, all of which end on the next; at the crown, of the right
    half.

    The first joint must leave a step of at least a quarter of the ring; otherwise there are fewer joints.
    """
    count = max(1, round(gap / wide))
    if crown:
        count += 1 - count % 2  # a keystone in the middle
    while count > 1 and bed / math.tan(angle + gap / count) > outer - ring / 4:
        count -= 2 if crown else 1
    return [angle + gap * i / count for i in range(1, (count + 1) // 2 if crown else count)]


def _between(one: RadialJoint, other: RadialJoint, rise: Array) -> list[tuple[float, float]]:
    """The outline of the stone between two joints, with a step if the second joint ends on a higher bed."""
    low, high = float(rise[one.bed]), float(rise[other.bed])
    step = [(one.outer, high)] if other.bed > one.bed else []
    return [one.inner, (one.outer, low), *step, (other.outer, high), other.inner]


def _half_keystone(joint: RadialJoint, rise: Array, top: int) -> list[tuple[float, float]]:
    step = [(joint.outer, float(rise[top]))] if joint.bed < top else []
    return [joint.inner, (joint.outer, float(rise[joint.bed])), *step]

"""Patches told as points: each patch becomes the corners of its polygon, with the gap there and a force, so that pictures,
resultants and mechanisms treat all contact alike. The forces of a patch's corners add up to its force and to its moment about
any axis; of dry patches without what the damping of rocking adds. All of them press where the centre of pressure lies within
the patch. A joint that bends so far that it bears tension has corners that pull, with a pressure that is linear over them.
"""

import numpy as np

from drystone.base.kernel import inner
from drystone.base.kernel.reference import Reference
from drystone.contact.contact_memory import match_contacts
from drystone.contact.contacts import Contacts
from drystone.engine.small_steps.patch_rows import (
    ARM_A,
    CENTRE_S,
    CENTRE_T,
    DILATION,
    EXTRA_S,
    EXTRA_T,
    FORCE_1,
    FORCE_2,
    GAP,
    LANES,
    NORMAL_FORCE,
    TWIST,
    row_of,
)
from drystone.engine.small_steps.records import HAS_CELLS

Array = np.ndarray


def corner_contacts(reference: Reference, which: int, span: float, previous: Contacts, next_id: int) -> tuple[Contacts, int]:
    """The contacts of the patches in data.joints[which], after their last small step; impulses are forces times span [s]. They
    keep the ids of the `previous` contacts that they continue; then the next free id."""
    joints = reference.record.joints[which]
    count = int(joints.corner_start[joints.number[0]])
    ints, vectors, numbers = np.empty((5, count), np.int64), np.zeros((7, count, 3)), np.zeros((6, count))
    known, taken = (previous.a, previous.b, previous.point, previous.id), np.zeros(len(previous.a), np.bool_)
    next_id = int(tell_corners(reference, which, span, ints, vectors, numbers, *known, taken, next_id))
    a, b, ids, _, _ = ints
    point, normal, impulse, velocity, stretch, strain, steady = vectors
    gap, area, bond, rest, crushed, stiffness = numbers
    memory = impulse, velocity, bond, rest, stretch, crushed, strain, steady, stiffness
    return Contacts(a, b, point, normal, gap, area, ids, *memory), next_id


@inner
def tell_corners(data, which, span, ints, vectors, numbers, old_a, old_b, old_point, old_id, taken, next_id):
    """All of it in one call: from Python every array of a call costs a fraction of a microsecond. Returns the next free id."""
    a, b, ids, match, nearest, point = ints[0], ints[1], ints[2], ints[3], ints[4], vectors[0]
    _corners(data, which, span, a, b, point, vectors[1], numbers[0], numbers[1], vectors[2])
    match_contacts(a, b, point, old_a, old_b, old_point, data.structure.bodies.radius, match, nearest, taken)
    return _keep_ids(match, old_id, ids, next_id)


@inner
def _keep_ids(match, known, ids, next_id):
    """Ids of the contacts that are continued, fresh ones for the others; returns the next free one."""
    for n in range(match.shape[0]):
        ids[n] = known[match[n]] if match[n] >= 0 else next_id
        if match[n] < 0:
            next_id += 1
    return next_id


@inner
def _corners(data, which, span, a, b, point, normals, gap, area, impulse):
    joints, owner, work, law = data.joints[which], data.structure.bodies.owner, data.work, data.pairs.law
    rows = joints.rows
    for p in range(joints.number[0]):
        first, stop, r = joints.corner_start[p], joints.corner_start[p + 1], row_of(joints.at[p])
        i = owner[joints.piece[p, 0]]
        cs, ct, normal = rows[r + LANES * CENTRE_S], rows[r + LANES * CENTRE_T], rows[r + LANES * NORMAL_FORCE]
        force1, force2 = rows[r + LANES * FORCE_1], rows[r + LANES * FORCE_2]
        whole, slope_s, slope_t = _area(joints.corner, first, stop), 0.0, 0.0
        bends = False
        if law[joints.pair[p], HAS_CELLS] > 0.0:
            moment_s, moment_t = rows[r + LANES * EXTRA_S], rows[r + LANES * EXTRA_T]
            cs, ct, bends = _centre(joints.corner, first, stop, normal, moment_s, moment_t)
            if bends:
                cs, ct, slope_s, slope_t = _linear(joints.corner, first, stop, normal, moment_s, moment_t, impulse)
        if not bends:
            _weights(joints.corner, first, stop, cs, ct, whole, impulse)
        spread = 0.0
        for c in range(first, stop):
            s, t = joints.corner[c, 0], joints.corner[c, 1]
            spread += impulse[c, 0] * ((s - cs) ** 2 + (t - ct) ** 2)
        couple = (rows[r + LANES * TWIST] - cs * force2 + ct * force1) / spread if spread > 0.0 else 0.0
        x, y, z = _moved_by(work, i, rows[r + LANES * ARM_A], rows[r + LANES * (ARM_A + 1)], rows[r + LANES * (ARM_A + 2)])
        for c in range(first, stop):
            s, t, share = joints.corner[c, 0], joints.corner[c, 1], impulse[c, 0]
            slope = rows[r + LANES * (GAP + 1)] * s + rows[r + LANES * (GAP + 2)] * t
            a[c], b[c] = i, owner[joints.piece[p, 1]]
            gap[c] = rows[r + LANES * GAP] + slope - joints.offset[p] + rows[r + LANES * DILATION]
            area[c] = whole / (stop - first)
            pressed = share * (normal + slope_s * (s - cs) + slope_t * (t - ct))
            f1, f2 = share * (force1 - couple * (t - ct)), share * (force2 + couple * (s - cs))
            for axis in range(3):
                n, u, w = rows[r + LANES * axis], rows[r + LANES * (3 + axis)], rows[r + LANES * (6 + axis)]
                normals[c, axis] = n
                point[c, axis] = (x if axis == 0 else y if axis == 1 else z) + s * u + t * w
                impulse[c, axis] = span * (pressed * n + f1 * u + f2 * w)


@inner
def _moved_by(work, i, x, y, z):
    """Where the end of an arm of block i is now."""
    return work.position[i, 0] + x, work.position[i, 1] + y, work.position[i, 2] + z


@inner
def _area(corner, first, stop):
    area = 0.0
    for c in range(first + 1, stop - 1):
        area += _triangle(corner, first, c, c + 1)
    return area


@inner
def _centre(corner, first, stop, normal, moment_s, moment_t):
    """The centre of pressure, and whether the joint bends in tension: it does not press, or has its centre outside."""
    if not normal > 0.0:
        return 0.0, 0.0, normal != 0.0 or moment_s != 0.0 or moment_t != 0.0
    cs, ct = moment_s / normal, moment_t / normal
    for c in range(first, stop):
        if not _triangle_at(corner, c, c + 1 if c + 1 < stop else first, cs, ct) >= 0.0:
            return cs, ct, True
    return cs, ct, False


@inner
def _linear(corner, first, stop, normal, moment_s, moment_t, out):
    """Equal shares of the corners, in out[:, 0]; their mean (s, t), and the slopes (s, t) with which their forces, normal +
    slope . (corner - mean) times a share, have these moments about the origin."""
    ms = mt = ss = st = tt = 0.0
    share = 1.0 / (stop - first)
    for c in range(first, stop):
        ms, mt, out[c, 0] = ms + share * corner[c, 0], mt + share * corner[c, 1], share
    for c in range(first, stop):
        s, t = corner[c, 0] - ms, corner[c, 1] - mt
        ss, st, tt = ss + share * s * s, st + share * s * t, tt + share * t * t
    left_s, left_t, spread = moment_s - normal * ms, moment_t - normal * mt, ss * tt - st * st
    if not spread > 0.0:
        return ms, mt, 0.0, 0.0
    return ms, mt, (tt * left_s - st * left_t) / spread, (ss * left_t - st * left_s) / spread


@inner
def _weights(corner, first, stop, cs, ct, area, out):
    """Shares of the corners, in out[:, 0], that add up to 1 and have their mean at (cs, ct). Wachspress coordinates: positive
    inside, and at a side of the polygon shared by its two corners alone."""
    total, least = 0.0, 1e-9 * area
    for c in range(first, stop):
        before, after = c - 1 if c > first else stop - 1, c + 1 if c + 1 < stop else first
        left, right = _triangle_at(corner, before, c, cs, ct), _triangle_at(corner, c, after, cs, ct)
        out[c, 0] = max(_triangle(corner, before, c, after), 0.0) / (max(left, least) * max(right, least))
        total += out[c, 0]
    for c in range(first, stop):
        out[c, 0] = out[c, 0] / total if total > 0.0 else 1.0 / (stop - first)


@inner
def _triangle(corner, i, j, k):
    return _triangle_at(corner, i, j, corner[k, 0], corner[k, 1])


@inner
def _triangle_at(corner, i, j, s, t):
    """Area of the triangle of two corners and a point."""
    x0, y0 = corner[i, 0] - s, corner[i, 1] - t
    x1, y1 = corner[j, 0] - s, corner[j, 1] - t
    return 0.5 * (x0 * y1 - x1 * y0)

"""Patches told as points: each patch becomes the corners of its polygon, with the gap there and a force, so that pictures,
resultants and mechanisms treat all contact alike. The forces of a patch's corners add up to its force and to its moment about
all axes, without what the damping of rocking adds. They press where the centre of pressure lies within the patch; a joint that
bears tension has corners that pull."""

import numpy as np

from drystone.contact.contacts import Contacts
from drystone.contact.patches import Patches
from drystone.engine.patch_rows import (
    CENTRE_S,
    CENTRE_T,
    DILATION,
    EXTRA_S,
    EXTRA_T,
    FORCE_1,
    FORCE_2,
    GAP,
    NORMAL_FORCE,
    TWIST,
)
from drystone.kernel import inner

Array = np.ndarray


def corner_contacts(
    patches: Patches, a: Array, b: Array, rows: Array, has_cells: Array, offset: Array, arm_a: Array, turned: Array,
    position: Array, span: float,
) -> Contacts:  # fmt: skip
    """The contacts of patches whose rows (P, COLUMNS) are those of the last small step; impulses are forces times span [s].
    has_cells (P,): the patch may bear tension, and its moments are in its rows. position (B, 3) [m] of the blocks, turned (B, 3) [rad] by how much since the arms (P, 3) were measured."""
    count = len(patches.corner)
    owner = np.repeat(np.arange(len(patches.whole)), np.diff(patches.corner_start))
    point, gap, area, impulse = np.empty((count, 3)), np.empty(count), np.empty(count), np.empty((count, 3))
    _corners(patches, rows, has_cells, offset, arm_a, position[a], turned[a], span, point, gap, area, impulse)
    zero, vector = np.zeros(count), np.zeros((count, 3))
    return Contacts(
        a[owner],
        b[owner],
        point,
        np.ascontiguousarray(patches.frame[owner, :3]),
        gap,
        area,
        np.zeros(count, np.int64),
        impulse,
        vector,
        zero,
        zero.copy(),
        vector.copy(),
        zero.copy(),
    )


@inner
def _corners(patches, rows, has_cells, offset, arm_a, centre, turned, span, point, gap, area, impulse):
    for p in range(patches.whole.shape[0]):
        first, stop = patches.corner_start[p], patches.corner_start[p + 1]
        r, f = rows[p], patches.frame[p]
        normal, whole = r[NORMAL_FORCE], _area(patches.corner, first, stop)
        cs, ct, pull_s, pull_t = r[CENTRE_S], r[CENTRE_T], 0.0, 0.0
        presses = True
        if has_cells[p]:
            cs, ct, presses = _centre(patches.corner, first, stop, normal, r[EXTRA_S], r[EXTRA_T])
        if presses:
            _weights(patches.corner, first, stop, cs, ct, whole, impulse)
        else:
            cs, ct, pull_s, pull_t = _linear(patches.corner, first, stop, normal, r[EXTRA_S], r[EXTRA_T])
            for c in range(first, stop):
                impulse[c, 0] = 1.0 / (stop - first)
        spread = 0.0
        for c in range(first, stop):
            s, t = patches.corner[c, 0], patches.corner[c, 1]
            spread += impulse[c, 0] * ((s - cs) ** 2 + (t - ct) ** 2)
        couple = (r[TWIST] - cs * r[FORCE_2] + ct * r[FORCE_1]) / spread if spread > 0.0 else 0.0
        for c in range(first, stop):
            s, t, share = patches.corner[c, 0], patches.corner[c, 1], impulse[c, 0]
            gap[c] = r[GAP] + r[GAP + 1] * s + r[GAP + 2] * t - offset[p] + r[DILATION]
            area[c] = whole / (stop - first)
            f1, f2 = share * (r[FORCE_1] - couple * (t - ct)), share * (r[FORCE_2] + couple * (s - cs))
            pressed = normal + pull_s * (s - cs) + pull_t * (t - ct)
            x = arm_a[p, 0] + s * f[3] + t * f[6]
            y = arm_a[p, 1] + s * f[4] + t * f[7]
            z = arm_a[p, 2] + s * f[5] + t * f[8]
            w = turned[p]
            point[c, 0] = centre[p, 0] + x + w[1] * z - w[2] * y
            point[c, 1] = centre[p, 1] + y + w[2] * x - w[0] * z
            point[c, 2] = centre[p, 2] + z + w[0] * y - w[1] * x
            for axis in range(3):
                impulse[c, axis] = span * (share * pressed * f[axis] + f1 * f[3 + axis] + f2 * f[6 + axis])


@inner
def _centre(corner, first, stop, normal, moment_s, moment_t):
    """The centre of pressure, and whether the joint presses and it lies within the polygon."""
    if not normal > 0.0:
        return 0.0, 0.0, False
    cs, ct = moment_s / normal, moment_t / normal
    for c in range(first, stop):
        if not _triangle_at(corner, c, c + 1 if c + 1 < stop else first, cs, ct) >= 0.0:
            return cs, ct, False
    return cs, ct, True


@inner
def _linear(corner, first, stop, normal, moment_s, moment_t):
    """The mean (s, t) of the corners, and two slopes: with an equal share of the force normal + slope . (corner - mean) at each
    of them, force and moments are these."""
    ms = mt = ss = st = tt = 0.0
    share = 1.0 / (stop - first)
    for c in range(first, stop):
        ms, mt = ms + share * corner[c, 0], mt + share * corner[c, 1]
    for c in range(first, stop):
        s, t = corner[c, 0] - ms, corner[c, 1] - mt
        ss, st, tt = ss + share * s * s, st + share * s * t, tt + share * t * t
    left_s, left_t, over = moment_s - normal * ms, moment_t - normal * mt, 1.0 / (ss * tt - st * st)
    return ms, mt, over * (tt * left_s - st * left_t), over * (ss * left_t - st * left_s)


@inner
def _area(corner, first, stop):
    area = 0.0
    for c in range(first + 1, stop - 1):
        area += _triangle(corner, first, c, c + 1)
    return area


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

"""Patches told as points: each patch becomes the corners of its polygon, with the gap there and a force, so that pictures,
resultants and mechanisms treat all contact alike. The forces of a patch's corners add up to its force, at its centre of
pressure and with its couple."""

import numpy as np

from drystone.contact.contacts import Contacts
from drystone.contact.patches import Patches
from drystone.engine.patch_rows import CENTRE_S, CENTRE_T, DILATION, FORCE_1, FORCE_2, GAP, NORMAL_FORCE, TWIST
from drystone.kernel import inner

Array = np.ndarray


def corner_contacts(
    patches: Patches, a: Array, b: Array, rows: Array, offset: Array, arm_a: Array, turned: Array, position: Array, span: float
) -> Contacts:
    """The contacts of patches whose rows (P, COLUMNS) are those of the last small step; impulses are forces times span [s].
    position (B, 3) [m] of the blocks, turned (B, 3) [rad] by how much since the arms (P, 3) were measured."""
    count = len(patches.corner)
    owner = np.repeat(np.arange(len(patches.whole)), np.diff(patches.corner_start))
    point, gap, area, impulse = np.empty((count, 3)), np.empty(count), np.empty(count), np.empty((count, 3))
    _corners(patches, rows, offset, arm_a, position[a], turned[a], span, point, gap, area, impulse)
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
def _corners(patches, rows, offset, arm_a, centre, turned, span, point, gap, area, impulse):
    for p in range(patches.whole.shape[0]):
        first, stop = patches.corner_start[p], patches.corner_start[p + 1]
        r, f = rows[p], patches.frame[p]
        cs, ct, normal = r[CENTRE_S], r[CENTRE_T], r[NORMAL_FORCE]
        whole = _weights(patches.corner, first, stop, cs, ct, impulse)
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
            x = arm_a[p, 0] + s * f[3] + t * f[6]
            y = arm_a[p, 1] + s * f[4] + t * f[7]
            z = arm_a[p, 2] + s * f[5] + t * f[8]
            w = turned[p]
            point[c, 0] = centre[p, 0] + x + w[1] * z - w[2] * y
            point[c, 1] = centre[p, 1] + y + w[2] * x - w[0] * z
            point[c, 2] = centre[p, 2] + z + w[0] * y - w[1] * x
            for axis in range(3):
                impulse[c, axis] = span * (share * normal * f[axis] + f1 * f[3 + axis] + f2 * f[6 + axis])


@inner
def _weights(corner, first, stop, cs, ct, out):
    """Shares of the corners, in out[:, 0], that add up to 1 and have their mean at (cs, ct); returns the area of the
    polygon. Wachspress coordinates: positive inside, and at a side of the polygon shared by its two corners alone."""
    area, total = 0.0, 0.0
    for c in range(first + 1, stop - 1):
        area += _triangle(corner, first, c, c + 1)
    least = 1e-9 * area
    for c in range(first, stop):
        before, after = c - 1 if c > first else stop - 1, c + 1 if c + 1 < stop else first
        left, right = _triangle_at(corner, before, c, cs, ct), _triangle_at(corner, c, after, cs, ct)
        out[c, 0] = max(_triangle(corner, before, c, after), 0.0) / (max(left, least) * max(right, least))
        total += out[c, 0]
    for c in range(first, stop):
        out[c, 0] = out[c, 0] / total if total > 0.0 else 1.0 / (stop - first)
    return area


@inner
def _triangle(corner, i, j, k):
    return _triangle_at(corner, i, j, corner[k, 0], corner[k, 1])


@inner
def _triangle_at(corner, i, j, s, t):
    """Area of the triangle of two corners and a point."""
    x0, y0 = corner[i, 0] - s, corner[i, 1] - t
    x1, y1 = corner[j, 0] - s, corner[j, 1] - t
    return 0.5 * (x0 * y1 - x1 * y0)

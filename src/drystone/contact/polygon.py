"""Convex polygons of the plane as rows (u, w) of a scratch array, counter-clockwise: clip, measure, simplify."""

import numpy as np

from drystone.contact.inner import inner


@inner
def clip(polygon, count, clipper, sides, spare):
    """Intersection by Sutherland and Hodgman, in place; needs count + sides rows in `polygon` and `spare`."""
    pu, pw = clipper[sides - 1, 0], clipper[sides - 1, 1]
    for side in range(sides):
        qu, qw = clipper[side, 0], clipper[side, 1]
        count = _clip_side(polygon, count, pu, pw, qu - pu, qw - pw, spare)
        if count < 3:
            return 0
        pu, pw = qu, qw
    return count


@inner
def _clip_side(polygon, count, pu, pw, eu, ew, spare):
    """Keeps what lies left of the line through p along e."""
    kept = 0
    u0, w0 = polygon[count - 1, 0], polygon[count - 1, 1]
    left0 = eu * (w0 - pw) - ew * (u0 - pu)
    for k in range(count):
        u1, w1 = polygon[k, 0], polygon[k, 1]
        left1 = eu * (w1 - pw) - ew * (u1 - pu)
        if (left0 < 0 and left1 > 0) or (left0 > 0 and left1 < 0):
            t = left0 / (left0 - left1)
            spare[kept, 0], spare[kept, 1] = u0 + t * (u1 - u0), w0 + t * (w1 - w0)
            kept += 1
        if left1 >= 0:
            spare[kept, 0], spare[kept, 1] = u1, w1
            kept += 1
        u0, w0, left0 = u1, w1, left1
    for k in range(kept):
        polygon[k, 0], polygon[k, 1] = spare[k, 0], spare[k, 1]
    return kept


@inner
def area_and_perimeter(polygon, count):
    """Area [m2] and perimeter [m]; 2 area / perimeter is the width of a slender polygon."""
    area, perimeter = 0.0, 0.0
    u, w = polygon[0, 0], polygon[0, 1]
    for k in range(count):
        nxt = k + 1 if k + 1 < count else 0
        u0, w0 = polygon[k, 0] - u, polygon[k, 1] - w
        u1, w1 = polygon[nxt, 0] - u, polygon[nxt, 1] - w
        area += 0.5 * (u0 * w1 - u1 * w0)
        perimeter += np.sqrt((u1 - u0) ** 2 + (w1 - w0) ** 2)
    return area, perimeter


@inner
def simplify(polygon, count, tolerance):
    """Drops vertices closer than the tolerance to the segment between their neighbours, in order, down to three.

    A sweep in order, and not the nearest first: which vertex goes then depends on no comparison of nearly equal
    numbers, and the same points stay from step to step.
    """
    k = 0
    while k < count and count > 3:
        before = k - 1 if k > 0 else count - 1
        after = k + 1 if k + 1 < count else 0
        if _distance2_to_segment(polygon, k, before, after) >= tolerance * tolerance:
            k += 1
            continue
        for m in range(k, count - 1):
            polygon[m, 0], polygon[m, 1] = polygon[m + 1, 0], polygon[m + 1, 1]
        count -= 1
        k = max(k - 1, 0)
    return count


@inner
def _distance2_to_segment(polygon, k, p, q):
    eu, ew = polygon[q, 0] - polygon[p, 0], polygon[q, 1] - polygon[p, 1]
    u, w = polygon[k, 0] - polygon[p, 0], polygon[k, 1] - polygon[p, 1]
    length2 = eu * eu + ew * ew
    t = min(max((u * eu + w * ew) / length2, 0.0), 1.0) if length2 > 0 else 0.0
    return (u - t * eu) ** 2 + (w - t * ew) ** 2

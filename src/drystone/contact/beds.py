"""Which blocks nothing bears from below: who touches whom comes in, rows of blocks go out."""

import numpy as np

Array = np.ndarray

LEVEL = 0.05  # least vertical part of the normal of a joint that bears a block, about 3 degrees from upright
FLUSH = 1e-5  # of the radius of a block: a narrower gap counts as none
OPPOSITE = -0.5  # cosine: two joints that push a block against each other can hold it by friction


def hung_by_friction(a: Array, b: Array, normal: Array, gap: Array, radius: Array, fixed: Array) -> list[int]:
    """Free blocks that no joint bears from below and that flush joints face from two opposite sides: whether friction holds
    them depends on the play of these joints, which no drawing shows. a, b (J,) with the normal (J, 3) from a into b."""
    borne = fixed.copy()
    borne[b[normal[:, 2] > LEVEL]] = True
    borne[a[normal[:, 2] < -LEVEL]] = True
    flush = gap < FLUSH * np.minimum(radius[a], radius[b])
    return [int(i) for i in np.flatnonzero(~borne) if _is_between(normal[flush & (a == i)], normal[flush & (b == i)])]


def _is_between(away: Array, into: Array) -> bool:
    """Whether two pushes on a block are opposite; its joints have normals that go away from it or into it."""
    push = np.concatenate([-away, into])
    return bool(len(push)) and bool((push @ push.T).min() < OPPOSITE)

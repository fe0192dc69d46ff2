"""Who stands next to whom: `Contacts` come in, the pairs of blocks that touch and the chains they form go out.

Also which blocks nothing bears from below, from the joints of a structure.
"""

import numpy as np

from drystone.contact.contacts import Contacts

Array = np.ndarray

LEVEL = 0.05  # least vertical part of the normal of a joint that bears a block, about 3 degrees from upright
FLUSH = 1e-5  # of the radius of a block: a narrower gap counts as none
OPPOSITE = -0.5  # cosine: two joints that push a block against each other can hold it by friction


def touching_pairs(contacts: Contacts) -> tuple[Array, Array]:
    """(J, 2) the pairs of blocks that touch, ascending, and (C,) the row of each contact's pair."""
    count = 1 + int(contacts.b.max(initial=0))
    code, row = np.unique(contacts.a * count + contacts.b, return_inverse=True)  # of one number: ten times as fast as of two
    return np.stack(np.divmod(code, count), axis=1), row


def chains(pairs: Array, fixed: Array, members: Array | None = None) -> list[list[int]]:
    """Blocks in a row, as the voussoirs of an arch or the drums of a column: each touches two others at most.

    A chain begins, and an arch also ends, with the support it rests on. `members` (B,) bool are the free blocks to look at, all
    if not given.
    """
    within = fixed | (np.ones_like(fixed) if members is None else members)
    neighbours: dict[int, list[int]] = {}
    for a, b in pairs.tolist():
        if within[a] and within[b] and not (fixed[a] and fixed[b]):
            neighbours.setdefault(a, []).append(b)
            neighbours.setdefault(b, []).append(a)
    found: list[list[int]] = []
    seen: set[int] = set()
    for end in sorted(neighbours):
        if fixed[end] or end in seen or sum(not fixed[n] for n in neighbours[end]) > 1:
            continue
        path = _path_from(end, neighbours, fixed)
        seen.update(path)
        if all(len(neighbours[block]) <= 2 for block in path):
            found.append(_with_supports(path, neighbours, fixed))
    return found


def _path_from(end: int, neighbours: dict[int, list[int]], fixed: Array) -> list[int]:
    """The free blocks met on the way from one end to the other, or to where the way forks."""
    path, before = [end], -1
    while True:
        onward = [n for n in neighbours[path[-1]] if n != before and not fixed[n]]
        if len(onward) != 1 or onward[0] in path[:1]:
            return path
        before = path[-1]
        path.append(onward[0])


def _with_supports(path: list[int], neighbours: dict[int, list[int]], fixed: Array) -> list[int]:
    """The path with the supports at its ends, the first of them in front."""
    first, last = ([n for n in neighbours[block] if fixed[n]] for block in (path[0], path[-1]))
    if len(path) == 1:
        first, last = first[:1], first[1:]
    if last and not first:
        return last + path[::-1]
    return first + path + last


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

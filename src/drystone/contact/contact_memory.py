"""Identity of contacts: new points and the old contacts come in, ids, impulses, velocities, strains and the
state of the bonds go over.

Step 5 of detection. Within a pair, new points and old contacts are matched one to one, nearest first, up to
0.1 min(r_a, r_b) apart; ties go to the lower rows. A matched point takes all these from its old
contact, the others get fresh ids and zeros. Distances are in the world: in a step blocks move far less than that.
"""

import numpy as np

from drystone.base.kernel import inner
from drystone.contact.contacts import Contacts
from drystone.contact.placed_blocks import Placed, pair_margin
from drystone.structure.model import Bodies

Array = np.ndarray


def touched_before(bodies: Bodies, placed: Placed, pairs: Array, previous: Contacts) -> Array:
    """(Q,) bool the pairs of pieces that touched in the last step: a contact of their blocks lies within the boxes of both."""
    touched = np.zeros(len(pairs), np.bool_)
    if len(previous.a):
        _mark_touched(bodies.owner, placed, pairs, previous.a, previous.b, previous.point, bodies.radius, touched)
    return touched


@inner
def _mark_touched(owner, placed, pairs, old_a, old_b, old_point, radius, touched):
    first = 0
    for q in range(pairs.shape[0]):
        i, j = owner[pairs[q, 0]], owner[pairs[q, 1]]
        while first < old_a.shape[0] and (old_a[first] < i or (old_a[first] == i and old_b[first] < j)):
            first += 1
        margin = pair_margin(i, j, radius, placed.sweep)
        for o in range(first, _end_of_pair(old_a, old_b, first, i, j)):
            inside = True
            for axis in range(3):
                for p in pairs[q]:
                    if not placed.low[p, axis] - margin <= old_point[o, axis] <= placed.high[p, axis] + margin:
                        inside = False
            touched[q] = touched[q] or inside


def remember(contacts: Contacts, previous: Contacts, radius: Array, next_id: int) -> int:
    """Fills id, impulse, velocity and bond of `contacts`; returns the next free id. Both records sorted by pair."""
    match, nearest = np.empty((2, len(contacts.a)), np.int64)
    taken = np.zeros(len(previous.a), np.bool_)
    match_contacts(
        contacts.a, contacts.b, contacts.point, previous.a, previous.b, previous.point, radius, match, nearest, taken
    )  # fmt: skip
    return int(carry_over(contacts, previous, match, next_id))


@inner
def match_contacts(a, b, point, old_a, old_b, old_point, radius, match, nearest, taken):
    """match (C,) out: row of the old contact that each new one continues, or -1. nearest (C,) and taken: scratch."""
    n0, o0 = 0, 0
    for n in range(a.shape[0]):
        match[n] = -1
    while n0 < a.shape[0]:
        i, j = a[n0], b[n0]
        n1 = _end_of_pair(a, b, n0, i, j)
        while o0 < old_a.shape[0] and (old_a[o0] < i or (old_a[o0] == i and old_b[o0] < j)):
            o0 += 1
        o1 = _end_of_pair(old_a, old_b, o0, i, j)
        _match_pair(point, n0, n1, old_point, o0, o1, 0.1 * min(radius[i], radius[j]), match, nearest, taken)
        n0, o0 = n1, o1


@inner
def _end_of_pair(first, second, start, a, b):
    stop = start
    while stop < first.shape[0] and first[stop] == a and second[stop] == b:
        stop += 1
    return stop


@inner
def _match_pair(new, n0, n1, old, o0, o1, reach, match, nearest, taken):
    """Rounds of mutually nearest points: the same matching as nearest first, without sorting all distances."""
    found = True
    while found:
        found = False
        for n in range(n0, n1):
            if match[n] < 0:
                nearest[n] = _nearest_free(new, n, old, o0, o1, taken, reach)
        for n in range(n0, n1):
            o = nearest[n]
            if match[n] < 0 and o >= 0 and not taken[o] and _is_mutual(new, n, n0, n1, old, o, match):
                match[n] = o
                taken[o] = True
                found = True


@inner
def _nearest_free(new, n, old, o0, o1, taken, reach):
    best, row = reach * reach, -1
    for o in range(o0, o1):
        if not taken[o]:
            distance2 = _distance2(new, n, old, o)
            if distance2 < best:
                best, row = distance2, o
    return row


@inner
def _is_mutual(new, n, n0, n1, old, o, match):
    """Whether no other free new point is nearer to the old contact o (ties: lower row)."""
    own = _distance2(new, n, old, o)
    for m in range(n0, n1):
        if m != n and match[m] < 0:
            distance2 = _distance2(new, m, old, o)
            if distance2 < own or (distance2 == own and m < n):
                return False
    return True


@inner
def _distance2(new, n, old, o):
    return (new[n, 0] - old[o, 0]) ** 2 + (new[n, 1] - old[o, 1]) ** 2 + (new[n, 2] - old[o, 2]) ** 2


@inner
def carry_over(new, old, match, next_id):
    for n in range(match.shape[0]):
        o = match[n]
        known = o >= 0
        new.id[n] = old.id[o] if known else next_id
        new.bond[n] = old.bond[o] if known else 0.0
        new.rest[n] = old.rest[o] if known else 0.0
        new.crushed[n] = old.crushed[o] if known else 0.0
        new.stiffness[n] = old.stiffness[o] if known else 0.0
        for axis in range(3):
            new.impulse[n, axis] = old.impulse[o, axis] if known else 0.0
            new.velocity[n, axis] = old.velocity[o, axis] if known else 0.0
            new.stretch[n, axis] = old.stretch[o, axis] if known else 0.0
            new.strain[n, axis] = old.strain[o, axis] if known else 0.0
            new.steady[n, axis] = old.steady[o, axis] if known else 0.0
        if not known:
            next_id += 1
    return next_id

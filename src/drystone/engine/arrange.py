"""From the patches that were found, and those that are kept, to the groups of four that small steps work on."""

from drystone.engine.patch_rows import (
    AREA,
    COLUMNS,
    GAP,
    LANDING_SPEED,
    LANES,
    REACH,
    WHOLE,
    row_of,
)
from drystone.engine.records import HAS_CELLS, RESTITUTION
from drystone.kernel import inner

MOST_SIDES = 64  # patches with more corners than this are arranged among those with as many
OPEN, WITH_CELLS = MOST_SIDES + 1, 2 * (MOST_SIDES + 1)  # from here on the numbers of corners of such patches are counted


@inner
def list_patches(structure, pairs, work, joints, before):
    """The patches of all pairs in their order, fresh ones and kept ones; False if there is too little room."""
    fresh, bodies = work.fresh, structure.bodies
    count = corners = 0
    for q in range(pairs.piece.shape[0]):
        is_fresh = pairs.due[q]
        number = pairs.patches[q] if is_fresh else before.patches[q]
        first = pairs.first[q] if is_fresh else before.first[q]
        joints.first[q], joints.patches[q] = count, number
        if count + number > joints.pair.shape[0]:
            return False
        for k in range(first, first + number):
            start = fresh.patches.corner_start if is_fresh else before.corner_start
            corner = fresh.patches.corner if is_fresh else before.corner
            piece = fresh.patches.piece if is_fresh else before.piece
            face = fresh.patches.face if is_fresh else before.face
            if corners + start[k + 1] - start[k] > joints.corner.shape[0]:
                return False
            joints.corner_start[count] = corners
            for c in range(start[k], start[k + 1]):
                joints.corner[corners, 0], joints.corner[corners, 1] = corner[c, 0], corner[c, 1]
                corners += 1
            for side in range(2):
                joints.piece[count, side], joints.face[count, side] = piece[k, side], face[k, side]
            joints.pair[count] = q
            joints.offset[count] = fresh.offset[k] if is_fresh else before.offset[k]
            work.source[count] = k if is_fresh else -1 - k
            count += 1
    joints.corner_start[count] = corners
    joints.number[0] = count
    return _arrange(structure.has_cells, bodies.owner, pairs, work, joints, before)


@inner
def _arrange(has_cells, owner, pairs, work, joints, before):
    """Patches in lanes: those that touch before those that are open, each by their number of corners, as they are else; those
    with cells in groups of their own at the end. A group that is open in all lanes takes a fifth of the time of another. False
    if there is too little room."""
    count, at = joints.number[0], 0
    room = joints.patch.shape[0]
    for p in range(count):
        joints.at[p] = _place_of(p, pairs, work, joints, before)
    for kind in range(2 if has_cells else 1):
        at = -(-at // LANES) * LANES
        first, stop, start = kind * WITH_CELLS, (kind + 1) * WITH_CELLS, work.order
        for n in range(first, stop + 1):
            start[n] = 0
        for p in range(count):
            if first <= joints.at[p] < stop:
                start[joints.at[p] + 1] += 1
        for n in range(first, stop):
            start[n + 1] += start[n]
        last = at + start[stop]
        if -(-last // LANES) * LANES > room:
            return False
        for k in range(at, -(-last // LANES) * LANES):
            joints.patch[k] = -1
        for p in range(count):
            n = joints.at[p]
            if first <= n < stop:
                joints.patch[at + start[n]] = p
                start[n] += 1
        at = last
    for k in range(at):
        if joints.patch[k] >= 0:
            joints.at[joints.patch[k]] = k
    groups = -(-at // LANES)
    joints.number[1] = groups
    return _place_corners(groups, joints) and _place_wrenches(owner, work.asked.shape[0], work.order, joints)


@inner
def _place_of(p, pairs, work, joints, before):
    """The place of a patch among the kinds of patches: with cells or not, open or not, and its number of corners."""
    sides = min(max(joints.corner_start[p + 1] - joints.corner_start[p], 4), MOST_SIDES)
    if pairs.law[joints.pair[p], HAS_CELLS] > 0.0:
        return WITH_CELLS + sides
    source = work.source[p]
    if source >= 0:
        row = work.fresh.row[source]
        is_open = _is_open(row[GAP], row[GAP + 1], row[GAP + 2], row[REACH])
    else:
        r, rows = row_of(before.at[-1 - source]), before.rows
        gap = r + LANES * GAP
        is_open = _is_open(rows[gap], rows[gap + LANES], rows[gap + 2 * LANES], rows[r + LANES * REACH])
    return sides + (OPEN if is_open else 0)


@inner
def _is_open(gap, along_s, along_t, reach):
    """Whether no point of a patch is closed."""
    return gap >= 0.0 and reach * reach * (along_s * along_s + along_t * along_t) <= gap * gap


@inner
def _place_corners(groups, joints):
    """Where the corners of each group begin."""
    first = 0
    for g in range(groups):
        most = 0
        for lane in range(LANES):
            p = joints.patch[LANES * g + lane]
            if p >= 0:
                most = max(most, joints.corner_start[p + 1] - joints.corner_start[p])
        joints.group_corner[g] = first
        first += most
    joints.group_corner[groups] = first
    return first * 2 * LANES <= joints.corners.shape[0]


@inner
def _place_wrenches(owner, bodies, fill, joints):
    """Where the wrenches of each patch go, so that those of a body stand one behind the other."""
    start = joints.wrench_start
    for i in range(bodies + 2):
        start[i] = 0
    for p in range(joints.number[0]):
        for side in range(2):
            start[owner[joints.piece[p, side]] + 1] += 1
    for i in range(bodies):
        start[i + 1] += start[i]
    start[bodies + 1] = start[bodies] + 1  # one for the dummy
    if bodies > fill.shape[0]:
        return False
    for i in range(bodies):
        fill[i] = start[i]
    for k in range(LANES * joints.number[1]):
        p = joints.patch[k]
        for side in range(2):
            i = owner[joints.piece[p, side]] if p >= 0 else bodies
            joints.body[side, k // LANES, k % LANES] = 8 * i
            joints.slot[side, k // LANES, k % LANES] = 8 * (fill[i] if p >= 0 else start[bodies])
            if p >= 0:
                fill[i] += 1
    return True


@inner
def fill_groups(first, stop, pairs, work, joints, before):
    """Writes the rows and corners of these groups."""
    for g in range(first, stop):
        corner, most = joints.group_corner[g], joints.group_corner[g + 1] - joints.group_corner[g]
        for lane in range(LANES):
            p = joints.patch[LANES * g + lane]
            _fill_lane(LANES * g + lane, p, pairs, work, joints, before)
            number = joints.corner_count[g, lane]
            for k in range(most):
                to = (corner + k) * 2 * LANES + lane
                if p < 0:
                    joints.corners[to] = joints.corners[to + LANES] = 0.0
                else:
                    c = joints.corner_start[p] + min(k, number - 1)
                    joints.corners[to], joints.corners[to + LANES] = joints.corner[c, 0], joints.corner[c, 1]


@inner
def _fill_lane(at, p, pairs, work, joints, before):
    g, lane, r, rows = at // LANES, at % LANES, row_of(at), joints.rows
    if p < 0:
        joints.corner_count[g, lane], joints.restitution[g, lane] = 0, 0.0
        for c in range(COLUMNS):
            rows[r + LANES * c] = 0.0
        rows[r + LANES * GAP] = rows[r + LANES * AREA] = rows[r + LANES * WHOLE] = rows[r + LANES * LANDING_SPEED] = 1.0
        return
    joints.corner_count[g, lane] = joints.corner_start[p + 1] - joints.corner_start[p]
    joints.restitution[g, lane] = pairs.law[joints.pair[p], RESTITUTION]
    source = work.source[p]
    if source >= 0:
        row = work.fresh.row[source]
        for c in range(COLUMNS):
            rows[r + LANES * c] = row[c]
    else:
        old = row_of(before.at[-1 - source])
        for c in range(COLUMNS):
            rows[r + LANES * c] = before.rows[old + LANES * c]

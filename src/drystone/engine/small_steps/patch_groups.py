"""From the patches that were found, and those that are kept, to the groups of four that small steps work on."""

from drystone.base.kernel import inner
from drystone.engine.small_steps.patch_rows import AREA, COLUMNS, GAP, LANDING_SPEED, LANES, REACH, WHOLE, row_of
from drystone.engine.small_steps.records import GROUPS_IN_TILE, HAS_CELLS, RESTITUTION

MOST_SIDES = 64  # patches with more corners than this are arranged among those with as many
OPEN, WITH_CELLS = MOST_SIDES + 1, 2 * (MOST_SIDES + 1)  # from here on the numbers of corners of such patches are counted
NEIGHBOURHOOD = 16 * LANES * GROUPS_IN_TILE  # patches of pairs that follow each other are sorted by their kind in portions of
# this size, so that what follows in memory touches the same blocks; smaller ones have more groups of patches of several kinds


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
    """Patches in lanes: those without cells in the order of their pairs, a neighbourhood at a time; then those with cells, in
    groups of their own. False if there is too little room."""
    count, at = joints.number[0], 0
    for p in range(count):
        joints.at[p] = _place_of(p, pairs, work, joints, before)
    for first in range(0, count, NEIGHBOURHOOD):
        at = _sort_by_kind(first, min(first + NEIGHBOURHOOD, count), 0, at, work.order, joints)
    at = _fill_up(at, joints)
    if has_cells:
        at = _fill_up(_sort_by_kind(0, count, WITH_CELLS, at, work.order, joints), joints)
    if at > joints.patch.shape[0]:
        return False
    for k in range(at):
        if joints.patch[k] >= 0:
            joints.at[joints.patch[k]] = k
    groups = at // LANES
    joints.number[1] = groups
    return _place_corners(groups, joints) and _place_wrenches(owner, work.asked.shape[0], work.order, joints)


@inner
def _sort_by_kind(first, stop, kind, at, start, joints):
    """Of the patches from first to stop those of `kind` and the WITH_CELLS - 1 kinds behind it, into lanes from `at` on: those
    that touch before those that are open, each by their number of corners, as they are else. A group that is open in all
    lanes takes a fifth of the time of another. Returns where they end, beyond the lanes if there is too little room."""
    for n in range(WITH_CELLS + 1):
        start[n] = 0
    for p in range(first, stop):
        n = joints.at[p] - kind
        if 0 <= n < WITH_CELLS:
            start[n + 1] += 1
    for n in range(WITH_CELLS):
        start[n + 1] += start[n]
    end = at + start[WITH_CELLS]
    for p in range(first, stop if end <= joints.patch.shape[0] else first):
        n = joints.at[p] - kind
        if 0 <= n < WITH_CELLS:
            joints.patch[at + start[n]] = p
            start[n] += 1
    return end


@inner
def _fill_up(at, joints):
    """Empty lanes up to the next whole group."""
    whole = -(-at // LANES) * LANES
    for k in range(at, min(whole, joints.patch.shape[0])):
        joints.patch[k] = -1
    return whole


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
        for side in range(2):
            joints.body[side, k // LANES, k % LANES] = 8 * bodies
            joints.slot[side, k // LANES, k % LANES] = 8 * start[bodies]
    for p in range(joints.number[0]):  # in this order wrenches are summed, whatever lanes they come from
        k = joints.at[p]
        for side in range(2):
            i = owner[joints.piece[p, side]]
            joints.body[side, k // LANES, k % LANES] = 8 * i
            joints.slot[side, k // LANES, k % LANES] = 8 * fill[i]
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

"""Who touches whom, found anew where blocks have moved: the beginning of a tick (T301, T302, T325, T326).

A pair of pieces keeps its patches for as long as neither block turns and both do not move against each other by more than a
little; a life of 1, 1/2, 1/4 ... of the interval, found for the middle of that life. The interval is cut into ticks: at each
of them the pairs whose life is over, or whose blocks have become too fast for it, are looked at again, and the others go on
as they are.
"""

import numpy as np

from drystone.base.kernel import inner, kernel
from drystone.contact.broad_phase import sorted_pairs
from drystone.contact.patches import FULL, PatchScratch, direction, patches_of_pair
from drystone.contact.placed_blocks import NEAR, place_piece, sweeps
from drystone.contact.polygon import polygon_moments
from drystone.engine.rotation import turn_quaternion
from drystone.engine.small_steps.patch_rows import (
    AREA,
    AREA_SS,
    ARM_A,
    ARM_B,
    COLUMNS,
    DAMPING_TIME,
    DILATION,
    EDGE,
    EXTRA,
    GAP,
    LANDING_SPEED,
    LANES,
    POINTS,
    REACH,
    ROCKING_TIME,
    SHEAR_RATIO,
    SHEAR_STIFFNESS,
    STIFFNESS,
    STRETCH,
    TWICE_FREQUENCY,
    WHOLE,
    row_of,
)
from drystone.engine.small_steps.patch_rows import DILATANCY as OPENS
from drystone.engine.small_steps.patch_rows import FRICTION as RUBS
from drystone.engine.small_steps.pressure_energy import pressure_energy
from drystone.engine.small_steps.records import (
    DILATANCY,
    DRAG,
    FRICTION,
    HAS_CELLS,
    LANDING,
    NORMAL_STIFFNESS,
    PAIRS_IN_TILE,
    PULL,
    SPAN,
    TILES,
)
from drystone.engine.small_steps.records import SHEAR_STIFFNESS as JOINT_SHEAR

LARGEST_TURN = 2e-3  # [rad] of a block in a life
LARGEST_TRAVEL = 0.01  # of the smaller radius: of a block against the other in a life
NEARBY = 0.02  # of the radius of a block: it may go so far beyond what its speed lets expect before pairs are looked for again
LEAST_LENGTH = 0.02  # of the smaller block: stone behind a joint that gives way, at least
FARTHEST_LEVEL = 1 << 40  # of a pair that is apart: it is looked at again when its time has come, however fast it is


@kernel
def look_for_pairs(data, h, out):
    """Who may touch whom within h [s] of where the blocks are now: writes the pairs of pieces to out (Q, 2) and how far each
    block may go before others must be looked for. Returns how many pairs there are; -1 if they are those at hand."""
    bodies, work, known = data.structure.bodies, data.work, data.pairs.piece
    for i in range(bodies.radius.shape[0]):
        work.wide_grip[i] = work.grip[i] + NEARBY * bodies.radius[i]
        for p in range(data.structure.piece_start[i], data.structure.piece_start[i + 1]):
            place_piece(bodies, p, work.position[i], work.rotation[i], work.placed)
    placed = work.placed
    sweeps(bodies.radius, bodies.fixed, work.wide_grip, work.speed, h, placed.sweep, work.reach)
    count = sorted_pairs(
        placed.low, placed.high, placed.sweep, work.reach, bodies.owner, bodies.radius, bodies.fixed, out
    )  # fmt: skip
    if count > out.shape[0]:
        return count
    count = _present_pairs(bodies.owner, data.structure.present, count, out)
    if count != known.shape[0]:
        return count
    for q in range(count):
        if out[q, 0] != known[q, 0] or out[q, 1] != known[q, 1]:
            return count
    return -1


@inner
def _present_pairs(owner, present, count, pairs):
    """Leaves the pairs whose blocks are both there, in their order; returns how many."""
    kept = 0
    for q in range(count):
        if present[owner[pairs[q, 0]]] and present[owner[pairs[q, 1]]]:
            pairs[kept, 0], pairs[kept, 1] = pairs[q, 0], pairs[q, 1]
            kept += 1
    return kept


@inner
def choose_pairs(tick, ticks, levels, structure, pairs, work):
    """Marks the pairs that are due at this tick and gives them their lives. Returns the deepest level of those due, -1 if
    none is."""
    bodies, speed, span = structure.bodies, work.speed, work.number[SPAN]
    for i in range(speed.shape[0]):
        work.spin[i] = np.sqrt(speed[i, 3] ** 2 + speed[i, 4] ** 2 + speed[i, 5] ** 2)
    deepest = -1
    for q in range(pairs.piece.shape[0]):
        i, j = bodies.owner[pairs.piece[q, 0]], bodies.owner[pairs.piece[q, 1]]
        needed = _level(i, j, span, levels, bodies.radius, work)
        pairs.due[q] = pairs.ends[q] <= tick or needed > pairs.level[q]
        if pairs.due[q]:
            while tick % (ticks >> needed) != 0:
                needed += 1
            pairs.level[q] = needed
            pairs.ends[q] = tick + (ticks >> needed)
            deepest = max(deepest, needed)
    return deepest


@inner
def _level(i, j, span, levels, radius, work):
    """How often the interval must be halved for this pair of blocks."""
    speed = work.speed
    x, y, z = speed[j, 0] - speed[i, 0], speed[j, 1] - speed[i, 1], speed[j, 2] - speed[i, 2]
    slides = np.sqrt(x * x + y * y + z * z) / (LARGEST_TRAVEL * min(radius[i], radius[j]))
    need = span * max(slides, max(work.spin[i], work.spin[j]) / LARGEST_TURN)
    level = 0
    while level < levels and need > 1.0:
        need *= 0.5
        level += 1
    return level


@inner
def place_blocks(level, structure, pairs, work, round_):
    """Places the blocks of the pairs of a level that are due in the middle of their life."""
    bodies, half = structure.bodies, 0.5 * work.number[SPAN] / (1 << level)
    for q in range(pairs.piece.shape[0]):
        if not pairs.due[q] or pairs.level[q] != level:
            continue
        for side in range(2):
            i = bodies.owner[pairs.piece[q, side]]
            if work.asked[i] == round_:
                continue
            work.asked[i] = round_
            for c in range(3):
                work.middle[i, c] = work.position[i, c] + half * work.speed[i, c]
            turned = turn_quaternion(work.rotation[i], work.speed[i, 3:], half)
            for c in range(4):
                work.turned[i, c] = turned[c]
            for p in range(structure.piece_start[i], structure.piece_start[i + 1]):
                place_piece(bodies, p, work.middle[i], work.turned[i], work.placed)


@inner
def find_tile(tile, tick, ticks, level, structure, pairs, work):
    """Finds the patches of every TILES-th part of the due pairs of a level. False if there is too little room."""
    fresh, scratch = work.fresh, work.scratch
    room, room_corner = fresh.offset.shape[0] // TILES, fresh.patches.corner.shape[0] // TILES
    part = tile % TILES
    mine = PatchScratch(
        scratch.separation_a[part], scratch.separation_b[part], scratch.edges_a[part], scratch.edges_b[part],
        scratch.face[part], scratch.polygon[part], scratch.spare[part], scratch.solid[part], scratch.solid_spare[part],
    )  # fmt: skip
    count = work.tile_end[part]
    total = pairs.piece.shape[0]
    for block in range(part, -(-total // PAIRS_IN_TILE), TILES):
        for q in range(block * PAIRS_IN_TILE, min((block + 1) * PAIRS_IN_TILE, total)):
            if pairs.due[q] and pairs.level[q] == level:
                count = _find_pair(q, tick, ticks, structure, pairs, work, mine, count, (part + 1) * room,
                                   (part + 1) * room_corner)  # fmt: skip
                if count == FULL:
                    return False
    work.tile_end[part] = count
    return True


@inner
def _find_pair(q, tick, ticks, structure, pairs, work, scratch, count, last, last_corner):
    """Finds the patches of one pair, writes their rows from `count` on, with all that they remember."""
    bodies, placed, fresh = structure.bodies, work.placed, work.fresh
    a, b = pairs.piece[q, 0], pairs.piece[q, 1]
    i, j = bodies.owner[a], bodies.owner[b]
    span, level = work.number[SPAN], pairs.level[q]
    pairs.first[q], pairs.patches[q], pairs.energy[q] = count, 0, 0.0
    is_near, d = direction(bodies, placed, a, b, _margin(i, j, span, structure, work), scratch)
    if not is_near:  # nor will it be, before the end of the longest life that can begin now
        longest = ticks
        while tick % longest != 0:
            longest //= 2
        pairs.ends[q], pairs.level[q] = tick + longest, FARTHEST_LEVEL
        return count
    life = span / (1 << level)
    stop = patches_of_pair(
        bodies, placed, a, b, d, _margin(i, j, life, structure, work), scratch, fresh.patches, count, last, last_corner
    )  # fmt: skip
    if stop == FULL:
        return FULL
    pairs.patches[q] = stop - count
    for p in range(count, stop):
        _fill_row(p, q, i, j, 0.5 * life, structure, pairs, work)
    _recall(q, count, stop, pairs, fresh, work.memory)
    return stop


@inner
def _margin(i, j, life, structure, work):
    """[m] gap beyond which two blocks do not touch within a life, even if they become twice as fast."""
    speed, radius, grip = work.speed, structure.bodies.radius, work.grip
    x, y, z = speed[j, 0] - speed[i, 0], speed[j, 1] - speed[i, 1], speed[j, 2] - speed[i, 2]
    way = np.sqrt(x * x + y * y + z * z) + work.spin[i] * radius[i] + work.spin[j] * radius[j]
    return NEAR * min(radius[i], radius[j]) + 2.0 * life * way + grip[i] + grip[j]


@inner
def _fill_row(p, q, i, j, half, structure, pairs, work):
    """The row of a patch between blocks i and j at the start of its life, `half` of it before the pose in which it was found.
    What it remembers comes later."""
    patches, row, law = work.fresh.patches, work.fresh.row[p], pairs.law[q]
    f, speed = patches.frame[p], work.speed
    for c in range(COLUMNS):
        row[c] = 0.0
    for c in range(9):
        row[c] = f[c]
    for c in range(3):
        row[ARM_A + c] = patches.origin[p, c] - work.middle[i, c]
        row[ARM_B + c] = patches.origin[p, c] - work.middle[j, c]
    va, vb, ra, rb = speed[i], speed[j], row[ARM_A : ARM_A + 3], row[ARM_B : ARM_B + 3]
    vx = vb[0] - va[0] + vb[4] * rb[2] - vb[5] * rb[1] - va[4] * ra[2] + va[5] * ra[1]
    vy = vb[1] - va[1] + vb[5] * rb[0] - vb[3] * rb[2] - va[5] * ra[0] + va[3] * ra[2]
    vz = vb[2] - va[2] + vb[3] * rb[1] - vb[4] * rb[0] - va[3] * ra[1] + va[4] * ra[0]
    ox, oy, oz = vb[3] - va[3], vb[4] - va[4], vb[5] - va[5]
    row[GAP] = patches.gap[p, 0] - half * (f[0] * vx + f[1] * vy + f[2] * vz)
    row[GAP + 1] = patches.gap[p, 1] + half * (f[6] * ox + f[7] * oy + f[8] * oz)
    row[GAP + 2] = patches.gap[p, 2] - half * (f[3] * ox + f[4] * oy + f[5] * oz)
    row[WHOLE], row[EDGE] = patches.whole[p], patches.edge[p]
    row[RUBS], row[OPENS] = law[FRICTION], law[DILATANCY]
    _stiffness(p, structure, patches, law, row)
    moments = row[STRETCH : STRETCH + 5]  # overwritten by what it remembers
    polygon_moments(patches.corner, patches.corner_start[p], patches.corner_start[p + 1], moments)
    row[AREA], row[REACH] = moments[0], moments[4]
    for c in range(3):
        row[AREA_SS + c] = moments[1 + c]
    _damping(i, j, structure, work.number[LANDING], row)


@inner
def _stiffness(p, structure, patches, law, row):
    """Stiffness in compression: modulus over the stone behind both faces (T311), or that of the joint; that in shear over it;
    how much of it an edge has (T313): a joint with a stiffness of its own is springs side by side."""
    a, b, f, g = patches.piece[p, 0], patches.piece[p, 1], patches.face[p, 0], patches.face[p, 1]
    depth = structure.face_depth[f] + structure.face_depth[g]
    normal = structure.young / max(depth, LEAST_LENGTH * min(structure.size[a], structure.size[b]))
    if law[NORMAL_STIFFNESS] > 0.0:
        normal = law[NORMAL_STIFFNESS]
        row[EDGE] = 0.0
    along = (law[JOINT_SHEAR] if law[JOINT_SHEAR] > 0.0 else structure.shear * normal) + law[DRAG]
    row[STIFFNESS] = normal + law[PULL]
    row[SHEAR_RATIO] = along / row[STIFFNESS]


@inner
def _damping(i, j, structure, landing, row):
    """Damping times and landing speeds; landing [m/s2] times the period of the patch is its landing speed."""
    stiff = row[STIFFNESS] * row[WHOLE]  # what is cut off may close again
    ease, turns = structure.inverse_mass[i] + structure.inverse_mass[j], 0.0
    for side in range(2):
        k = i if side == 0 else j
        if structure.inverse_mass[k] > 0.0:
            arm = row[ARM_A : ARM_A + 3] if side == 0 else row[ARM_B : ARM_B + 3]
            height = arm[0] * row[0] + arm[1] * row[1] + arm[2] * row[2]
            turns += 1.0 / (structure.mean_inertia[k] + structure.mass[k] * height * height)
    own = np.sqrt(stiff * ease)
    rocks = np.sqrt(0.5 * stiff * (row[AREA_SS] + row[AREA_SS + 2]) / row[AREA] * turns)
    row[DAMPING_TIME] = 2.0 * structure.damping / own
    row[ROCKING_TIME] = 2.0 * structure.rocking / rocks
    row[LANDING_SPEED] = landing / own
    row[TWICE_FREQUENCY] = 2.0 * own


@inner
def _recall(q, start, stop, pairs, fresh, memory):
    """What the patches of a pair remember. Gaps are counted from where sliding has opened them."""
    patches = fresh.patches
    first, end = pairs.memory_first[q], pairs.memory_first[q] + pairs.memory_count[q]
    for p in range(start, stop):
        row, same = fresh.row[p], -1
        for k in range(first, end):
            if memory.face[k, 0] == patches.face[p, 0] and memory.face[k, 1] == patches.face[p, 1]:
                same = k
        for c in range(2 * POINTS):
            row[STRETCH + c] = memory.stretch[same, c] if same >= 0 else 0.0
        if same >= 0:
            row[SHEAR_STIFFNESS] = memory.shear_stiffness[same]
            row[DILATION], row[DILATION + 1] = memory.dilation[same, 0], memory.dilation[same, 1]
        row[GAP] -= row[DILATION]
    limit_energy(q, start, stop, pairs, fresh, memory)


@inner
def limit_energy(q, start, stop, pairs, fresh, memory):
    """The pair is found with no more elastic energy than it had: what its faces overlap beyond that stays as an offset without
    force, for as long as it must (T325)."""
    had, lift = 0.0, 0.0
    for k in range(pairs.memory_first[q], pairs.memory_first[q] + pairs.memory_count[q]):
        had += memory.energy[k]
    has_cells = pairs.law[q, HAS_CELLS] > 0.0
    if not has_cells:
        found = _pair_energy(fresh, start, stop, 0.0)
        if found > had:
            lift = _offset(fresh, start, stop, found, had)
            found = _pair_energy(fresh, start, stop, lift)
        pairs.energy[q] = found
    for p in range(start, stop):
        row = fresh.row[p]
        fresh.offset[p] = lift
        row[GAP] += lift
        if not has_cells:
            pairs.energy[q] += _stretch_energy(row)


@inner
def _stretch_energy(row):
    total = 0.0
    for c in range(2 * POINTS):
        total += row[STRETCH + c] ** 2
    return 0.5 * row[SHEAR_STIFFNESS] * total


@inner
def _row_energy(fresh, p, lift):
    """[J] of the pressure in a patch whose gap is raised by lift [m]."""
    patches, row = fresh.patches, fresh.row[p]
    return pressure_energy(
        patches.corner, patches.corner_start[p], patches.corner_start[p + 1], row[WHOLE], row[EDGE], row[GAP] + lift,
        row[GAP + 1], row[GAP + 2], row[STIFFNESS],
    )  # fmt: skip


@inner
def _pair_energy(fresh, start, stop, lift):
    total = 0.0
    for p in range(start, stop):
        total += _row_energy(fresh, p, lift)
    return total


@inner
def _offset(fresh, start, stop, found, energy):
    """[m] by which the gaps of a pair, which was `found` with more, are raised so that it has no more than this energy. The
    root of the energy falls nearly along a line: false position with the Illinois rule, the last answer from above."""
    patches, high = fresh.patches, 0.0
    for p in range(start, stop):
        row = fresh.row[p]
        for c in range(patches.corner_start[p], patches.corner_start[p + 1]):
            high = max(high, -(row[GAP] + row[GAP + 1] * patches.corner[c, 0] + row[GAP + 2] * patches.corner[c, 1]))
    if energy <= 0.0:
        return high
    wanted = np.sqrt(energy)
    low, above, below, side = 0.0, np.sqrt(found) - wanted, -wanted, 0
    for _ in range(60):
        lift = (low * below - high * above) / (below - above)
        lift = min(max(lift, low + 1e-7 * (high - low)), high - 1e-7 * (high - low))
        left = np.sqrt(_pair_energy(fresh, start, stop, lift)) - wanted
        if left > 0.0:
            low, above = lift, left
            below = 0.5 * below if side == 1 else below
            side = 1
        else:
            high, below = lift, left
            above = 0.5 * above if side == -1 else above
            side = -1
        if high - low <= 1e-6 * high or -1e-6 * wanted <= left <= 0.0:
            break
    return high


@inner
def find_in_memory(owner, pairs, memory, known):
    """Where the rows of each pair are in a memory of `known` rows, sorted as the pairs are."""
    k = 0
    for q in range(pairs.piece.shape[0]):
        while k < known and _comes_before(owner, memory.piece[k], pairs.piece[q]):
            k += 1
        pairs.memory_first[q] = k
        while k < known and memory.piece[k, 0] == pairs.piece[q, 0] and memory.piece[k, 1] == pairs.piece[q, 1]:
            k += 1
        pairs.memory_count[q] = k - pairs.memory_first[q]


@inner
def _comes_before(owner, pair, other):
    for side in range(2):
        one, two = owner[pair[side]], owner[other[side]]
        if one != two:
            return one < two
    for side in range(2):
        if pair[side] != other[side]:
            return pair[side] < other[side]
    return False


@inner
def memorise(joints, pairs, only_due, memory):
    """What the patches remember, in the rows of their own numbers; returns their elastic energy [J]."""
    total = 0.0
    for p in range(joints.number[0]):
        q = joints.pair[p]
        if only_due and not pairs.due[q]:
            continue
        r, rows = row_of(joints.at[p]), joints.rows
        stretched = 0.0
        for c in range(2 * POINTS):
            memory.stretch[p, c] = rows[r + LANES * (STRETCH + c)]
            stretched += memory.stretch[p, c] ** 2
        if pairs.law[q, HAS_CELLS] > 0.0:
            memory.shear_stiffness[p], memory.energy[p] = 0.0, rows[r + LANES * EXTRA]
        else:
            memory.shear_stiffness[p] = rows[r + LANES * SHEAR_STIFFNESS]
            memory.energy[p] = pressure_energy(
                joints.corner, joints.corner_start[p], joints.corner_start[p + 1], rows[r + LANES * WHOLE],
                rows[r + LANES * EDGE], rows[r + LANES * GAP], rows[r + LANES * (GAP + 1)], rows[r + LANES * (GAP + 2)],
                rows[r + LANES * STIFFNESS],
            )  # fmt: skip
        memory.offset[p] = joints.offset[p]
        for c in range(2):
            memory.dilation[p, c] = rows[r + LANES * (DILATION + c)]
            memory.piece[p, c], memory.face[p, c] = joints.piece[p, c], joints.face[p, c]
        total += memory.energy[p] + 0.5 * memory.shear_stiffness[p] * stretched
    return total

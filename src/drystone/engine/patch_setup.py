"""From the patches that were found to the rows that small steps work on, and what patches remember from one detection to
the next."""

import numpy as np

from drystone.contact.polygon import polygon_moments
from drystone.engine.patch_forces import FLAT
from drystone.engine.patch_rows import (
    AREA,
    AREA_SS,
    ARM_A,
    ARM_B,
    COLUMNS,
    DAMPING_TIME,
    DILATANCY,
    DILATION,
    EDGE,
    FRICTION,
    GAP,
    LANDING_SPEED,
    LANES,
    POINTS,
    REACH,
    ROCKING_TIME,
    SHEAR_RATIO,
    SHEAR_STIFFNESS,
    SPREAD_SS,
    STIFFNESS,
    STRETCH,
    TWICE_FREQUENCY,
    WHOLE,
)
from drystone.kernel import inner, kernel

Array = np.ndarray


@inner
def pressure_energy(corner, first, stop, whole, edge, g0, gs, gt, stiffness):
    """[J] U = k f / 2 times the integral of the squared depth over the closed part (T312)."""
    slope2 = gs * gs + gt * gt
    total = closed = 0.0
    rs = rt = rd = ps = pt = pd = 0.0
    s, t = corner[stop - 1, 0], corner[stop - 1, 1]
    y = -(g0 + gs * s + gt * t)
    count = 0
    for c in range(first, stop):
        s1, t1 = corner[c, 0], corner[c, 1]
        y1 = -(g0 + gs * s1 + gt * t1)
        for part in range(2):
            if part == 0:
                if (y > 0.0) == (y1 > 0.0):
                    continue
                x = y / (y - y1)
                cs, ct, cd = s + x * (s1 - s), t + x * (t1 - t), 0.0
            else:
                if y1 <= 0.0:
                    continue
                cs, ct, cd = s1, t1, y1
            if count == 0:
                rs, rt, rd = cs, ct, cd
            elif count > 1:
                area = 0.5 * ((ps - rs) * (ct - rt) - (cs - rs) * (pt - rt))
                closed += area
                total += area * ((rd + pd + cd) ** 2 + rd * rd + pd * pd + cd * cd) / 12.0
            ps, pt, pd = cs, ct, cd
            count += 1
        s, t, y = s1, t1, y1
    if not closed > 0.0:
        return 0.0
    closed = min(closed / whole, 1.0)
    y = min(closed / FLAT, 1.0)
    more = FLAT * (0.75 + y * (0.25 * y * y * y - 1.0)) / closed
    return 0.5 * stiffness / (1.0 + slope2) * (1.0 + edge * more) * total


@inner
def energy_of(patches, p, gap, lift, stiffness):
    """[J] of patch p with gaps (P, 3), raised by lift [m]."""
    first, stop = patches.corner_start[p], patches.corner_start[p + 1]
    g0, gs, gt = gap[p, 0] + lift, gap[p, 1], gap[p, 2]
    return pressure_energy(patches.corner, first, stop, patches.whole[p], patches.edge[p], g0, gs, gt, stiffness[p])


@inner
def pressure_energies(patches, gap, stiffness, out):
    """[J] of all patches with these gaps (P, 3)."""
    for p in range(out.shape[0]):
        out[p] = energy_of(patches, p, gap, 0.0, stiffness)


@inner
def _same_pair(piece, p, other, q):
    return piece[p, 0] == other[q, 0] and piece[p, 1] == other[q, 1]


@inner
def recall(owner, patches, has_cells, memory, stiffness, stretch, shear_stiffness, energy, offset, dilation):
    """What the patches remember; gaps are those of the start of the interval. A pair of pieces is found with no more
    elastic energy than it had: what its faces overlap beyond that stays as an offset without force, for as long as it must
    (T325). Gaps are counted from where sliding has opened them. energy (P,) [J], offset (P,) [m] and dilation (P, 2) out."""
    count, known = patches.whole.shape[0], memory.energy.shape[0]
    p, q = 0, 0
    while p < count:
        end = p + 1
        while end < count and _same_pair(patches.piece, p, patches.piece, end):
            end += 1
        while q < known and _pair_before(owner, memory.piece, q, patches.piece, p):
            q += 1
        end_q, had = q, 0.0
        while end_q < known and _same_pair(memory.piece, end_q, patches.piece, p):
            had += memory.energy[end_q]
            end_q += 1
        for r in range(p, end):
            found = -1
            for k in range(q, end_q):
                if memory.face[k, 0] == patches.face[r, 0] and memory.face[k, 1] == patches.face[r, 1]:
                    found = k
            shear_stiffness[r] = memory.shear_stiffness[found] if found >= 0 else 0.0
            for c in range(2):
                dilation[r, c] = memory.dilation[found, c] if found >= 0 else 0.0
            patches.gap[r, 0] -= dilation[r, 0]
            for c in range(2 * POINTS):
                stretch[r, c] = memory.stretch[found, c] if found >= 0 else 0.0
        lift = 0.0
        if not has_cells[p] and _pair_energy(patches, p, end, 0.0, stiffness) > had:
            lift = _offset(patches, p, end, had, stiffness)
        for r in range(p, end):
            offset[r] = lift
            patches.gap[r, 0] += lift
            energy[r] = 0.0 if has_cells[r] else energy_of(patches, r, patches.gap, 0.0, stiffness)
        p, q = end, end_q


@inner
def _pair_before(owner, piece, p, other, q):
    """Whether the pair of row p comes before that of row q of another list."""
    for side in range(2):
        one, two = owner[piece[p, side]], owner[other[q, side]]
        if one != two:
            return one < two
    for side in range(2):
        if piece[p, side] != other[q, side]:
            return piece[p, side] < other[q, side]
    return False


@inner
def _pair_energy(patches, p, end, lift, stiffness):
    total = 0.0
    for r in range(p, end):
        total += energy_of(patches, r, patches.gap, lift, stiffness)
    return total


@inner
def _offset(patches, p, end, energy, stiffness):
    """[m] by which the gaps of a pair are raised so that it has no more than this energy, by bisection from above."""
    high = 0.0
    for r in range(p, end):
        for c in range(patches.corner_start[r], patches.corner_start[r + 1]):
            gap = patches.gap[r, 0] + patches.gap[r, 1] * patches.corner[c, 0] + patches.gap[r, 2] * patches.corner[c, 1]
            high = max(high, -gap)
    low = 0.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if _pair_energy(patches, p, end, middle, stiffness) > energy:
            low = middle
        else:
            high = middle
        if high - low <= 1e-6 * high:
            break
    return high


@kernel
def arrange(corner_start):
    """Order (P,) of the patches in groups: those with up to four corners first, then by their number of corners; as they
    are else."""
    count = corner_start.shape[0] - 1
    most = 4
    for p in range(count):
        most = max(most, corner_start[p + 1] - corner_start[p])
    start = np.zeros(most + 2, np.int64)
    for p in range(count):
        start[max(corner_start[p + 1] - corner_start[p], 4) + 1] += 1
    for n in range(most + 1):
        start[n + 1] += start[n]
    order = np.empty(count, np.int64)
    for p in range(count):
        n = max(corner_start[p + 1] - corner_start[p], 4)
        order[start[n]] = p
        start[n] += 1
    return order


@inner
def fill_rows(
    order,
    patches,
    a,
    b,
    arm_a,
    arm_b,
    spring,
    moments,
    friction,
    dilatancy,
    dilation,
    shear,
    fast,
    twice,
    stiffness,
    stretch,
    shear_stiffness,
    rows,
    body,
    slot,
    wrench_start,
    dummy,
    corner_start,
    corner_count,
    corners,
):
    """Writes the rows of all groups; wrench_start (B+1,) is where the wrenches of each body begin. Returns nothing."""
    groups = body.shape[1]
    first = 0
    for g in range(groups):
        corner_start[g] = first
        most = 0
        for lane in range(LANES):
            at = LANES * g + lane
            if at < order.shape[0] and order[at] >= 0:
                p = order[at]
                most = max(most, patches.corner_start[p + 1] - patches.corner_start[p])
        for lane in range(LANES):
            at = LANES * g + lane
            r = g * COLUMNS * LANES + lane
            if at >= order.shape[0] or order[at] < 0:
                for c in range(COLUMNS):
                    rows[r + LANES * c] = 0.0
                rows[r + LANES * GAP] = 1.0
                rows[r + LANES * AREA] = rows[r + LANES * WHOLE] = 1.0
                rows[r + LANES * LANDING_SPEED] = 1.0
                body[0, g, lane] = body[1, g, lane] = 8 * dummy
                slot[0, g, lane] = slot[1, g, lane] = 8 * wrench_start[dummy]
                corner_count[g, lane] = 0
                for k in range(most):
                    corners[(first + k) * 2 * LANES + lane] = corners[(first + k) * 2 * LANES + LANES + lane] = 0.0
                continue
            p = order[at]
            for c in range(9):
                rows[r + LANES * c] = patches.frame[p, c]
            for c in range(3):
                rows[r + LANES * (ARM_A + c)] = arm_a[p, c]
                rows[r + LANES * (ARM_B + c)] = arm_b[p, c]
                rows[r + LANES * (GAP + c)] = patches.gap[p, c]
                rows[r + LANES * (AREA_SS + c)] = moments[p, 1 + c]
                rows[r + LANES * (SPREAD_SS + c)] = 0.0
            rows[r + LANES * STIFFNESS] = stiffness[p]
            rows[r + LANES * AREA] = moments[p, 0]
            rows[r + LANES * REACH] = moments[p, 4]
            rows[r + LANES * FRICTION] = friction[p]
            rows[r + LANES * DILATANCY] = dilatancy[p]
            rows[r + LANES * SHEAR_RATIO] = shear[p]
            rows[r + LANES * DAMPING_TIME] = spring[p, 4]
            rows[r + LANES * ROCKING_TIME] = spring[p, 5]
            rows[r + LANES * LANDING_SPEED] = fast[p]
            rows[r + LANES * TWICE_FREQUENCY] = twice[p]
            for c in range(2 * POINTS):
                rows[r + LANES * (STRETCH + c)] = stretch[p, c]
            for c in range(SHEAR_STIFFNESS + 1, STRETCH):
                rows[r + LANES * c] = 0.0
            rows[r + LANES * SHEAR_STIFFNESS] = shear_stiffness[p]
            for c in range(2):
                rows[r + LANES * (DILATION + c)] = dilation[p, c]
            rows[r + LANES * WHOLE] = patches.whole[p]
            rows[r + LANES * EDGE] = patches.edge[p]
            body[0, g, lane], body[1, g, lane] = 8 * a[p], 8 * b[p]
            begin, count = patches.corner_start[p], patches.corner_start[p + 1] - patches.corner_start[p]
            corner_count[g, lane] = count
            for k in range(most):
                from_ = begin + min(k, count - 1)
                corners[(first + k) * 2 * LANES + lane] = patches.corner[from_, 0]
                corners[(first + k) * 2 * LANES + LANES + lane] = patches.corner[from_, 1]
        first += most
    corner_start[groups] = first


@kernel
def place_wrenches(order, a, b, bodies, slot):
    """Where the wrenches of each patch go, so that those of a body stand one behind the other: wrench_start (bodies + 2,)."""
    start = np.zeros(bodies + 2, np.int64)
    for p in range(a.shape[0]):
        start[a[p] + 1] += 1
        start[b[p] + 1] += 1
    for i in range(bodies):
        start[i + 1] += start[i]
    start[bodies + 1] = start[bodies] + 1  # one for the dummy
    fill = start[:bodies].copy()
    for at in range(order.shape[0]):
        p, g, lane = order[at], at // LANES, at % LANES
        if p < 0:
            continue
        slot[0, g, lane] = 8 * fill[a[p]]
        fill[a[p]] += 1
        slot[1, g, lane] = 8 * fill[b[p]]
        fill[b[p]] += 1
    return start


@inner
def springs(
    patches, a, b, arm_a, arm_b, stiffness, moments, mass, inverse_mass, inertia, damping, rocking, landing, spring, fast, twice
):
    """Stiffness, damping times and landing speeds of the patches. spring (P, 6) as in stable_step; inertia (B,) [kg m2]
    mean moment of inertia of a body; landing [m/s2] times the period of the patch is its landing speed."""
    for p in range(patches.whole.shape[0]):
        first, stop = patches.corner_start[p], patches.corner_start[p + 1]
        polygon_moments(patches.corner, first, stop, moments[p])
        area = moments[p, 0]
        stiff = stiffness[p] * patches.whole[p]  # what is cut off may close again
        spring[p, 0] = stiff
        for c in range(3):
            spring[p, 1 + c] = stiff * moments[p, 1 + c] / area
        ease, turns = inverse_mass[a[p]] + inverse_mass[b[p]], 0.0
        for side in range(2):
            i = a[p] if side == 0 else b[p]
            if inverse_mass[i] == 0.0:
                continue
            arm = arm_a[p] if side == 0 else arm_b[p]
            n = patches.frame[p]
            height = arm[0] * n[0] + arm[1] * n[1] + arm[2] * n[2]
            turns += 1.0 / (inertia[i] + mass[i] * height * height)
        own = np.sqrt(stiff * ease)
        rocks = np.sqrt(0.5 * (spring[p, 1] + spring[p, 3]) * turns)
        spring[p, 4] = 2.0 * damping / own
        spring[p, 5] = 2.0 * rocking / rocks
        fast[p] = landing / own
        twice[p] = 2.0 * own


@inner
def carry_back(patches, velocity, a, b, arm_a, arm_b, span):
    """Gaps become what they were a time `span` before, with the velocities (B, 6) that led here (T302)."""
    for p in range(patches.whole.shape[0]):
        va, vb, ra, rb, f = velocity[a[p]], velocity[b[p]], arm_a[p], arm_b[p], patches.frame[p]
        vx = vb[0] - va[0] + vb[4] * rb[2] - vb[5] * rb[1] - va[4] * ra[2] + va[5] * ra[1]
        vy = vb[1] - va[1] + vb[5] * rb[0] - vb[3] * rb[2] - va[5] * ra[0] + va[3] * ra[2]
        vz = vb[2] - va[2] + vb[3] * rb[1] - vb[4] * rb[0] - va[3] * ra[1] + va[4] * ra[0]
        ox, oy, oz = vb[3] - va[3], vb[4] - va[4], vb[5] - va[5]
        patches.gap[p, 0] -= span * (f[0] * vx + f[1] * vy + f[2] * vz)
        patches.gap[p, 1] += span * (f[6] * ox + f[7] * oy + f[8] * oz)
        patches.gap[p, 2] -= span * (f[3] * ox + f[4] * oy + f[5] * oz)

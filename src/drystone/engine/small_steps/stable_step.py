"""The longest stable step of a structure whose joints are all closed and stick (T330, T331).

With M the mass, K the stiffness and C the damping of all patches, velocity Verlet with damping taken from the velocities at
hand is stable if dt^2 K + 2 dt C <= 4 M. The largest eigenvalue of M^-1 (dt^2 K + 2 dt C) is bounded from above body by
body, which is cheap and too careful by a factor of 1.3 to 3, and found by power iteration, which is exact and dear: the
bound follows every change of geometry, the factor between both is found again when the number of patches has changed by a
tenth.
"""

import numpy as np

from drystone.base.kernel import inner
from drystone.engine.small_steps.patch_rows import (
    AREA,
    AREA_SS,
    ARM_A,
    ARM_B,
    DAMPING_TIME,
    LANES,
    ROCKING_TIME,
    SHEAR_RATIO,
    STIFFNESS,
    WHOLE,
    row_of,
)
from drystone.engine.small_steps.records import LONGEST_STEP, RATIO, RATIO_PATCHES

SAFETY = 0.9  # step over the longest stable one
ROUNDS, ITERATIONS = 3, 25  # of the power iteration: step, eigenvector for that step


@inner
def stable_step(structure, work, joints):
    """[s] the longest stable step; the ratio to its bound is found again if it must be."""
    count, longest = joints.number[0], work.number[LONGEST_STEP]
    if count == 0:
        return longest
    bound = _bound(structure, joints, work.stiffness)
    if abs(count - work.counts[RATIO_PATCHES]) > 0.1 * work.counts[RATIO_PATCHES]:
        exact = _exact(bound, structure, joints, work.inverse_inertia, work.shape[0], work.shape[1])
        work.number[RATIO], work.counts[RATIO_PATCHES] = exact / bound, count
    return min(SAFETY * work.number[RATIO] * bound / structure.shorter, longest)


@inner
def springs_of(rows, r):
    """k A [N/m] of the whole patch, and its second moments ss, st, tt about the origin [N m]."""
    stiff = rows[r + LANES * STIFFNESS] * rows[r + LANES * WHOLE]  # what is cut off may close again
    over = stiff / rows[r + LANES * AREA]
    ss, st, tt = rows[r + LANES * AREA_SS], rows[r + LANES * (AREA_SS + 1)], rows[r + LANES * (AREA_SS + 2)]
    return stiff, over * ss, over * st, over * tt


@inner
def _vector(rows, r, column):
    return rows[r + LANES * column], rows[r + LANES * (column + 1)], rows[r + LANES * (column + 2)]


@inner
def _bound(structure, joints, total):
    """[s] a stable step, from the stiffness and the damping of its patches seen by each body alone. total (B, 2): scratch."""
    rows, owner, inverse_mass = joints.rows, structure.bodies.owner, structure.inverse_mass
    for i in range(total.shape[0]):
        total[i, 0] = total[i, 1] = 0.0
    for p in range(joints.number[0]):
        r = row_of(joints.at[p])
        k, ss, _, tt = springs_of(rows, r)
        stiffest = max(1.0, rows[r + LANES * SHEAR_RATIO])
        k, rocks = stiffest * k, stiffest * (ss + tt)
        straight, rocking = rows[r + LANES * DAMPING_TIME], rows[r + LANES * ROCKING_TIME]
        for side in range(2):
            i = owner[joints.piece[p, side]]
            if inverse_mass[i] == 0.0:
                continue
            x, y, z = _vector(rows, r, ARM_A if side == 0 else ARM_B)
            turns = 1.0 / structure.least_inertia[i]
            own = k * inverse_mass[i] + (k * (x * x + y * y + z * z) + rocks) * turns
            total[i, 0] += own
            total[i, 1] += straight * own + max(rocking - straight, 0.0) * rocks * turns
    stiff, damped = 0.0, 0.0
    for p in range(joints.number[0]):
        i, j = owner[joints.piece[p, 0]], owner[joints.piece[p, 1]]
        stiff, damped = max(stiff, total[i, 0] + total[j, 0]), max(damped, total[i, 1] + total[j, 1])
    return longest_step(stiff, damped)


@inner
def longest_step(stiff, damped):
    """dt with dt^2 stiff + 2 dt damped = 4."""
    return 4.0 / (damped + np.sqrt(damped * damped + 4.0 * stiff)) if stiff > 0.0 else np.inf


@inner
def _exact(dt, structure, joints, inverse_inertia, x, y):
    """[s] the longest stable step, by power iteration from the step dt on. x, y (B, 6) are scratch."""
    for i in range(x.shape[0]):
        for c in range(6):
            x[i, c] = 0.0 if structure.inverse_mass[i] == 0.0 else np.sin(12.9898 * (6 * i + c) + 1.0)
    for _ in range(ROUNDS):
        top = 0.0
        for _ in range(ITERATIONS):
            _apply(dt, structure, joints, inverse_inertia, x, y)
            top = _norm(y)
            if top == 0.0:
                return np.inf
            scale = 1.0 / top
            for i in range(x.shape[0]):
                for c in range(6):
                    x[i, c] = scale * y[i, c]
        # the eigenvalue is top = dt^2 k + 2 dt c; k and c separately from the eigenvector
        _apply(1.0, structure, joints, inverse_inertia, x, y)
        one = _norm(y)
        _apply(-1.0, structure, joints, inverse_inertia, x, y)
        other = _norm(y)
        stiff, damped = 0.5 * (one + other), 0.25 * (one - other)
        seen = dt * dt * stiff + 2.0 * dt * damped
        dt = longest_step(stiff * top / seen, damped * top / seen)
    return dt


@inner
def _norm(y):
    total = 0.0
    for i in range(y.shape[0]):
        for c in range(6):
            total += y[i, c] * y[i, c]
    return np.sqrt(total)


@inner
def _apply(dt, structure, joints, inverse_inertia, x, y):
    """y = M^-1 (dt^2 K + 2 dt C) x, all patches closed and sticking."""
    owner, inverse_mass, rows = structure.bodies.owner, structure.inverse_mass, joints.rows
    for i in range(y.shape[0]):
        for c in range(6):
            y[i, c] = 0.0
    for p in range(joints.number[0]):
        r, i, j = row_of(joints.at[p]), owner[joints.piece[p, 0]], owner[joints.piece[p, 1]]
        va, vb, ra, rb = x[i], x[j], _vector(rows, r, ARM_A), _vector(rows, r, ARM_B)
        n, s, t = _vector(rows, r, 0), _vector(rows, r, 3), _vector(rows, r, 6)
        vx = vb[0] - va[0] + vb[4] * rb[2] - vb[5] * rb[1] - va[4] * ra[2] + va[5] * ra[1]
        vy = vb[1] - va[1] + vb[5] * rb[0] - vb[3] * rb[2] - va[5] * ra[0] + va[3] * ra[2]
        vz = vb[2] - va[2] + vb[3] * rb[1] - vb[4] * rb[0] - va[3] * ra[1] + va[4] * ra[0]
        ox, oy, oz = vb[3] - va[3], vb[4] - va[4], vb[5] - va[5]
        rate, w1, w2 = n[0] * vx + n[1] * vy + n[2] * vz, s[0] * vx + s[1] * vy + s[2] * vz, t[0] * vx + t[1] * vy + t[2] * vz
        on, o1, o2 = n[0] * ox + n[1] * oy + n[2] * oz, s[0] * ox + s[1] * oy + s[2] * oz, t[0] * ox + t[1] * oy + t[2] * oz
        k, kss, kst, ktt = springs_of(rows, r)
        shear = rows[r + LANES * SHEAR_RATIO]
        straight = dt * dt + 2.0 * dt * rows[r + LANES * DAMPING_TIME]
        rocks = dt * dt + 2.0 * dt * rows[r + LANES * ROCKING_TIME]
        normal, f1, f2 = straight * k * rate, straight * shear * k * w1, straight * shear * k * w2
        twist = straight * shear * (kss + ktt) * on
        ms, mt = rocks * (-kss * o2 + kst * o1), rocks * (-kst * o2 + ktt * o1)
        fx, fy, fz = (normal * n[0] + f1 * s[0] + f2 * t[0], normal * n[1] + f1 * s[1] + f2 * t[1],
                      normal * n[2] + f1 * s[2] + f2 * t[2])  # fmt: skip
        mx, my, mz = (twist * n[0] + mt * s[0] - ms * t[0], twist * n[1] + mt * s[1] - ms * t[1],
                      twist * n[2] + mt * s[2] - ms * t[2])  # fmt: skip
        for side in range(2):
            k_, arm, sign = (i, ra, -1.0) if side == 0 else (j, rb, 1.0)
            if inverse_mass[k_] == 0.0:
                continue
            scale = sign * inverse_mass[k_]
            y[k_, 0] += scale * fx
            y[k_, 1] += scale * fy
            y[k_, 2] += scale * fz
            p0, p1, p2 = (
                sign * (mx + arm[1] * fz - arm[2] * fy),
                sign * (my + arm[2] * fx - arm[0] * fz),
                sign * (mz + arm[0] * fy - arm[1] * fx),
            )
            inverse = inverse_inertia[12 * k_ : 12 * k_ + 12]
            for c in range(3):
                y[k_, 3 + c] += inverse[c] * p0 + inverse[4 + c] * p1 + inverse[8 + c] * p2

"""The longest stable step where blocks are deformable: as stable_step.py, by power iteration on the motion of blocks and modes
together (T356).

Viscosity of the modes is not in it: it acts with the mean of the rates before and after a kick, which is stable at any step.
"""

import numpy as np

from drystone.base.kernel import inner
from drystone.engine.small_steps.landing import relative_motion
from drystone.engine.small_steps.modes import move_all_sides, take_wrenches
from drystone.engine.small_steps.patch_rows import (
    AREA,
    ARM_A,
    ARM_B,
    DAMPING_TIME,
    EDGE,
    LANES,
    NORMAL,
    ROCKING_TIME,
    SHEAR_RATIO,
    TANGENT_1,
    TANGENT_2,
    WHOLE,
    row_of,
)
from drystone.engine.small_steps.records import LONGEST_STEP
from drystone.engine.small_steps.stable_step import SAFETY, longest_step, springs_of

AT_A_CORNER = 1.5  # times the stiffness of a joint that is closed all over: 3/8 of it, all at a corner, which counts four times
ROUNDS, ITERATIONS = 2, 30  # of the power iteration: step, eigenvector for that step


@inner
def stable_step_with_modes(structure, work, joints, modes):
    """[s] the longest stable step."""
    longest = work.number[LONGEST_STEP]
    if joints.number[0] == 0:
        return longest
    return min(SAFETY * _exact(longest, structure, joints, work, modes) / structure.shorter, longest)


@inner
def _springs(rows, r):
    """k A [N/m] of a patch, and its second moments ss, st, tt about the origin [N m]: as `springs_of`, but of the part that was
    not cut off, with the factor of an edge (T313), and as stiff as where it bears on a corner."""
    share = rows[r + LANES * AREA] / rows[r + LANES * WHOLE]
    y = min(2.0 * share, 1.0)
    closed = AT_A_CORNER * min(share + 0.5 * rows[r + LANES * EDGE] * (0.75 - y + 0.25 * y**4), 1.0)
    k, kss, kst, ktt = springs_of(rows, r)
    return closed * k, closed * kss, closed * kst, closed * ktt


@inner
def _exact(dt, structure, joints, work, modes):
    """[s] the longest stable step, by power iteration from the step dt on."""
    x, y, rate, change = modes.trial, work.shape[0], modes.direction[0], modes.direction[1]
    x[:] = 0.0
    for i in range(y.shape[0]):
        for c in range(6):
            x[8 * i + c + c // 3] = 0.0 if structure.inverse_mass[i] == 0.0 else np.sin(12.9898 * (6 * i + c) + 1.0)
    for k in range(rate.shape[0]):
        rate[k] = np.sin(78.233 * k + 1.0)
    for _ in range(ROUNDS):
        top = 0.0
        for _ in range(ITERATIONS):
            top = _apply(dt, structure, joints, work, modes)
            if top == 0.0:
                return np.inf
            for i in range(y.shape[0]):
                for c in range(6):
                    x[8 * i + c + c // 3] = y[i, c] / top
            for k in range(rate.shape[0]):
                rate[k] = change[k] / top
        # the eigenvalue is top = dt^2 k + 2 dt c; k and c separately from the eigenvector
        one, other = _apply(1.0, structure, joints, work, modes), _apply(-1.0, structure, joints, work, modes)
        stiff, damped = 0.5 * (one + other), 0.25 * (one - other)
        seen = dt * dt * stiff + 2.0 * dt * damped
        dt = longest_step(stiff * top / seen, damped * top / seen)
    return dt


@inner
def _apply(dt, structure, joints, work, modes):
    """M^-1 (dt^2 K + 2 dt C) of the velocities in modes.trial and the rates in modes.direction[0]: its norm. It is written to
    work.shape[0] for blocks and to modes.direction[1] for modes."""
    y, rate, change = work.shape[0], modes.direction[0], modes.direction[1]
    move_all_sides(structure.mass.shape[0], modes, rate, joints.wrench_start, modes.trial)
    for p in range(joints.number[0]):
        _press(p, dt, joints, modes.trial)
    total = 0.0
    for i in range(y.shape[0]):
        _push(i, structure.inverse_mass[i], work.inverse_inertia[12 * i : 12 * i + 12], joints, y[i])
        for c in range(6):
            total += y[i, c] ** 2
    width = modes.force.shape[0]
    for s in range(modes.block.shape[0]):
        take_wrenches(s, modes, joints.wrench_start, joints.wrench)
        for m in range(width):
            k, a = width * modes.kind[s] + m, width * s + m
            change[a] = modes.inverse_mass[k] * (modes.force[m] + dt * dt * modes.stiffness[k] * rate[a])
            total += change[a] ** 2
    return np.sqrt(total)


@inner
def _press(p, dt, joints, velocity):
    """The wrenches of a patch that is closed all over and sticks, with the sign of the velocities."""
    rows, r, g, lane = joints.rows, row_of(joints.at[p]), joints.at[p] // LANES, joints.at[p] % LANES
    a, b = joints.body[0, g, lane] // 8, joints.body[1, g, lane] // 8
    rate, rate_s, rate_t, v1, v2, on = relative_motion(rows, r, a, b, velocity)
    k, kss, kst, ktt = _springs(rows, r)
    straight = dt * dt + 2.0 * dt * rows[r + LANES * DAMPING_TIME]
    rocks = dt * dt + 2.0 * dt * rows[r + LANES * ROCKING_TIME]
    along = straight * rows[r + LANES * SHEAR_RATIO]
    normal, f1, f2, twist = straight * k * rate, along * k * v1, along * k * v2, along * (kss + ktt) * on
    ms, mt = rocks * (kss * rate_s + kst * rate_t), rocks * (kst * rate_s + ktt * rate_t)
    for side in range(2):
        sign, arm = (-1.0, r + LANES * ARM_A) if side == 0 else (1.0, r + LANES * ARM_B)
        slot = joints.slot[side, g, lane]
        force, moment = joints.wrench[slot : slot + 3], joints.wrench[slot + 4 : slot + 7]
        for c in range(3):
            n, s, t = rows[r + LANES * (NORMAL + c)], rows[r + LANES * (TANGENT_1 + c)], rows[r + LANES * (TANGENT_2 + c)]
            force[c] = sign * (normal * n + f1 * s + f2 * t)
            moment[c] = sign * (twist * n + mt * s - ms * t)
        x, y, z = rows[arm], rows[arm + LANES], rows[arm + 2 * LANES]
        moment[0] += y * force[2] - z * force[1]
        moment[1] += z * force[0] - x * force[2]
        moment[2] += x * force[1] - y * force[0]


@inner
def _push(i, inverse_mass, inverse_inertia, joints, out):
    """out (6,): accelerations of block i by its wrenches."""
    out[:] = 0.0
    for w in range(joints.wrench_start[i], joints.wrench_start[i + 1]):
        wrench = joints.wrench[8 * w : 8 * w + 8]
        for c in range(3):
            out[c] += inverse_mass * wrench[c]
            for d in range(3):
                out[3 + c] += inverse_inertia[4 * d + c] * wrench[4 + d]

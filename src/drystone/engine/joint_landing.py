"""Landings of joints that have plates: as engine/landing.py, but all patches of a joint at once, and with the velocities of the
plates (T355).

The blow is taken by the blocks as wholes, as if they were rigid: their modes keep the rates they have, which count in how fast
a corner closes. One plate after the other would tilt a block towards the plate that is asked first. And only the corners of the
whole joint land: a block that rocks over would else land on the lines between its plates one after the other, roll instead of
land, and lose less the finer its mesh. Corners that would close while the blow goes through the blocks take part in it: small
steps are shorter than that, and a block that falls on an edge would fall on one corner of it first.
"""

from typing import NamedTuple

import numpy as np

from drystone.engine.landing import ARMS_A, ARMS_B, EASE, LEAST, PUSHED, SETTLED, SWEEPS, S, T, kinetic, prepare
from drystone.engine.landing import relative_motion, strike
from drystone.engine.modes import place_plates
from drystone.engine.patch_rows import (
    COLUMNS,
    FRICTION,
    GAP,
    GAP_S,
    GAP_T,
    LANDING_SPEED,
    LANES,
    NORMAL,
    REACH,
    TANGENT_1,
    TANGENT_2,
    TWICE_FREQUENCY,
)
from drystone.kernel import inner

Array = np.ndarray

SWING = 15  # three numbers of a corner: velocity of the plates against their blocks along the axes of the patch
ROW = 18  # first number of its patch in `rows`
WIDTH = 19  # numbers of a corner in the working memory


class Joints(NamedTuple):
    """J pairs of faces, of blocks of which at least one is deformable, with N outer corners."""

    joint: Array  # (G, 4) int64 of the patch in each lane, -1 of others
    block: Array  # (2, J) int64
    start: Array  # (J+1,) int64
    lane: Array  # (N,) int64 of each corner: LANES times the group of its patch plus its lane
    place: Array  # (N,) int64 row in `corners`
    blow: Array  # (J,) [s] how long a blow takes to go through both blocks
    soft: Array  # (B+1,) int64 rows of blocks among the deformable ones, -1 of others
    seen: Array  # (J,) int64 the step in which a joint was asked last; -1 at the start
    landed: Array  # (J,) int64 joints that landed in the last step
    landings: Array  # (1,) int64 how many
    corner: Array  # (C, WIDTH) scratch
    before: Array  # (16,) scratch


@inner
def land_joints(
    step, dt, flags, flagged, push, rows, body, restitution, corners, joints, modes, wrench_start, wrench,
    external, velocity, momentum, mass, inverse_mass, inverse_inertia, ledger,
):  # fmt: skip
    """The joints with plates of the flagged groups land, if they do; before them those that landed in the last step are asked
    again. What is lost goes to the ledger, as in `interval`."""
    again = joints.landings[0]
    for k in range(again):
        _land_joint(joints.landed[k], dt, True, push, rows, body, restitution, corners, joints, modes,
                    wrench_start, wrench, external, velocity, momentum, mass, inverse_mass, inverse_inertia, ledger)  # fmt: skip
    count = 0
    for k in range(flags):
        for lane in range(LANES):
            j = joints.joint[flagged[k], lane]
            if j < 0 or joints.seen[j] == step:
                continue
            joints.seen[j] = step
            if _land_joint(j, dt, False, push, rows, body, restitution, corners, joints, modes,
                           wrench_start, wrench, external, velocity, momentum, mass, inverse_mass, inverse_inertia, ledger):  # fmt: skip
                ledger[1] += 1.0
                joints.landed[count] = j
                count += 1
    joints.landings[0] = count


@inner
def _land_joint(
    j, dt, again, push, rows, body, restitution, corners, joints, modes, wrench_start, wrench, external,
    velocity, momentum, mass, inverse_mass, inverse_inertia, ledger,
):  # fmt: skip
    a, b = joints.block[0, j], joints.block[1, j]
    n = _near_corners(j, dt, again, rows, body, restitution, corners, joints, velocity)
    if n == 0:
        return False
    before, slow = joints.before, np.inf
    for c in range(8):
        before[c], before[8 + c] = velocity[8 * a + c], velocity[8 * b + c]
    lost = kinetic(a, velocity, momentum, inverse_mass) + kinetic(b, velocity, momentum, inverse_mass)
    for c in range(n):
        r = int(joints.corner[c, ROW])
        slow = min(slow, SETTLED * rows[r + LANES * LANDING_SPEED])
        prepare(rows, r, joints.corner[c], a, b, inverse_mass, inverse_inertia)
    for _ in range(SWEEPS):
        change = 0.0
        for c in range(n):
            change = max(change, _push(rows, joints.corner[c], a, b, velocity, momentum, inverse_mass, inverse_inertia))
        if change < slow:
            break
    lost -= kinetic(a, velocity, momentum, inverse_mass) + kinetic(b, velocity, momentum, inverse_mass)
    held, pushed = 0.0, 0.0  # as in `interval`: work of the second half of the kick, and of a support that moves
    for side in range(2):
        i, other = (a, b) if side == 0 else (b, a)
        for c in range(8):
            before[8 * side + c] = velocity[8 * i + c] - before[8 * side + c]
        if mass[i] == 0.0:
            continue
        for c in range(3):
            held += mass[i] * (push[c] + push[4 + c]) * before[8 * side + c]
            if mass[other] == 0.0:
                pushed += mass[i] * before[8 * side + c] * velocity[8 * other + c]
        for c in range(8):
            force = external[8 * i + c]
            for row in range(wrench_start[i], wrench_start[i + 1]):
                force += wrench[8 * row + c]
            held += force * before[8 * side + c]
        if joints.soft[i] >= 0:
            place_plates(joints.soft[i], modes, velocity)
    ledger[0] += lost + 0.5 * dt * held + pushed
    ledger[2] += pushed
    return True


@inner
def _near_corners(j, dt, again, rows, body, restitution, corners, joints, velocity):
    """How many corners take part in the landing of joint j; 0 if none closes fast within the step."""
    n, lands = 0, False
    a, b = joints.block[0, j], joints.block[1, j]
    for k in range(joints.start[j], joints.start[j + 1]):
        corner, g, lane = joints.place[k], joints.lane[k] // LANES, joints.lane[k] % LANES
        r = g * COLUMNS * LANES + lane
        rate, rate_s, rate_t, v1, v2, on = relative_motion(rows, r, body[0, g, lane] // 8, body[1, g, lane] // 8, velocity)
        own, own_s, own_t, own1, own2, own_on = relative_motion(rows, r, a, b, velocity)
        g0, gs, gt = rows[r + LANES * GAP], rows[r + LANES * GAP_S], rows[r + LANES * GAP_T]
        fast, vibrates = rows[r + LANES * LANDING_SPEED], rows[r + LANES * TWICE_FREQUENCY]
        closing = rate - rows[r + LANES * REACH] * (abs(rate_s) + abs(rate_t))
        if again:
            fast = vibrates = 0.0
        s, t = corners[2 * LANES * corner + lane], corners[2 * LANES * corner + LANES + lane]
        gap, speed = g0 + gs * s + gt * t, rate + rate_s * s + rate_t * t
        is_fast = speed < -fast + vibrates * min(gap, 0.0) and gap + dt * speed < 0.0
        lands = lands or is_fast
        span = max(2.0 * dt, joints.blow[j])
        if gap + span * closing > 0.0:
            continue  # too far away
        bounce = restitution[g, lane]
        one = joints.corner[n]
        one[S], one[T], one[ROW] = s, t, r
        one[LEAST] = -bounce * speed if is_fast and bounce > 0.0 else -max(gap, 0.0) / (0.5 * span)
        one[SWING] = (rate - own) + (rate_s - own_s) * s + (rate_t - own_t) * t
        one[SWING + 1], one[SWING + 2] = (v1 - own1) - (on - own_on) * t, (v2 - own2) + (on - own_on) * s
        n += 1
    return n if lands else 0


@inner
def _push(rows, corner, a, b, velocity, momentum, inverse_mass, inverse_inertia):
    """One corner of a sweep; returns the change of velocity along the normal [m/s]."""
    r = int(corner[ROW])
    va, vb = velocity[8 * a : 8 * a + 8], velocity[8 * b : 8 * b + 8]
    ax, ay, az = corner[ARMS_A], corner[ARMS_A + 1], corner[ARMS_A + 2]
    bx, by, bz = corner[ARMS_B], corner[ARMS_B + 1], corner[ARMS_B + 2]
    vx = vb[0] - va[0] + vb[5] * bz - vb[6] * by - va[5] * az + va[6] * ay
    vy = vb[1] - va[1] + vb[6] * bx - vb[4] * bz - va[6] * ax + va[4] * az
    vz = vb[2] - va[2] + vb[4] * by - vb[5] * bx - va[4] * ay + va[5] * ax
    n, s, t = r + LANES * NORMAL, r + LANES * TANGENT_1, r + LANES * TANGENT_2
    rate = corner[SWING] + rows[n] * vx + rows[n + LANES] * vy + rows[n + 2 * LANES] * vz
    new = max(0.0, corner[PUSHED] + (corner[LEAST] - rate) / corner[EASE])
    d0 = new - corner[PUSHED]
    if new == 0.0 and d0 == 0.0:
        return 0.0
    along1 = corner[SWING + 1] + rows[s] * vx + rows[s + LANES] * vy + rows[s + 2 * LANES] * vz
    along2 = corner[SWING + 2] + rows[t] * vx + rows[t + LANES] * vy + rows[t + 2 * LANES] * vz
    q1, q2 = corner[PUSHED + 1] - along1 / corner[EASE + 1], corner[PUSHED + 2] - along2 / corner[EASE + 2]
    size, most = np.sqrt(q1 * q1 + q2 * q2), rows[r + LANES * FRICTION] * new
    if size > most:
        q1, q2 = q1 * most / size, q2 * most / size
    d1, d2 = q1 - corner[PUSHED + 1], q2 - corner[PUSHED + 2]
    corner[PUSHED], corner[PUSHED + 1], corner[PUSHED + 2] = new, q1, q2
    x = d0 * rows[n] + d1 * rows[s] + d2 * rows[t]
    y = d0 * rows[n + LANES] + d1 * rows[s + LANES] + d2 * rows[t + LANES]
    z = d0 * rows[n + 2 * LANES] + d1 * rows[s + 2 * LANES] + d2 * rows[t + 2 * LANES]
    strike(b, x, y, z, bx, by, bz, velocity, momentum, inverse_mass, inverse_inertia)
    strike(a, -x, -y, -z, ax, ay, az, velocity, momentum, inverse_mass, inverse_inertia)
    return abs(d0) * corner[EASE]

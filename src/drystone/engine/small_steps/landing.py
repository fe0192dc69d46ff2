"""Landings: a corner of a patch that closes its gap fast stops there by an impulse, with the restitution of the joint
(T320, T321).

A spring that is hit stores the blow and throws it back; how much of it is lost would depend on damping and step. Here the blow
never reaches the spring: impulses at the corners, normal and frictional, leave no corner that goes deeper than closed within
the step, or send it back with `restitution` times the speed it came with. One patch at a time; a blow that runs through a
structure does so patch by patch.
"""

import numpy as np

from drystone.base.kernel import inner
from drystone.engine.small_steps.patch_rows import (
    ARM_A,
    ARM_B,
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

MOST_CORNERS = 48  # of a patch that take part in a landing
SWEEPS = 200
SETTLED = 1e-3  # of the landing speed: velocities change less than this in the last sweep
CORNER_WIDTH = 16  # numbers of a corner in the working memory
S, T, LEAST, PUSHED, ARMS_A, ARMS_B, EASE = 0, 1, 2, 3, 6, 9, 12


@inner
def land(
    g,
    lane,
    dt,
    again,
    rows,
    body,
    restitution,
    corner_start,
    corner_count,
    corners,
    velocity,
    momentum,
    inverse_mass,
    inverse_inertia,
    scratch,
):
    """The patch in a lane of group g lands, if a corner of it closes fast within the step. Returns whether it does, and the
    kinetic energy lost [J]. The corner is left with the speed that closes its gap within the step; in the next step the
    patch is asked `again`, and whatever still closes stops."""
    r = g * COLUMNS * LANES + lane
    a, b = body[0, g, lane] // 8, body[1, g, lane] // 8
    rate, rate_s, rate_t, _, _, _ = relative_motion(rows, r, a, b, velocity)
    g0, gs, gt = rows[r + LANES * GAP], rows[r + LANES * GAP_S], rows[r + LANES * GAP_T]
    fast, vibrates = rows[r + LANES * LANDING_SPEED], rows[r + LANES * TWICE_FREQUENCY]
    closing = rate - rows[r + LANES * REACH] * (abs(rate_s) + abs(rate_t))
    if again:
        fast = vibrates = 0.0
    n, lands = 0, False
    for corner in range(corner_start[g], corner_start[g] + corner_count[g, lane]):
        s, t = corners[2 * LANES * corner + lane], corners[2 * LANES * corner + LANES + lane]
        gap, speed = g0 + gs * s + gt * t, rate + rate_s * s + rate_t * t
        is_fast = speed < -fast + vibrates * min(gap, 0.0) and gap + dt * speed < 0.0
        lands = lands or is_fast
        if gap + 2.0 * dt * closing > 0.0 or n == MOST_CORNERS:
            continue  # too far away
        scratch[n, S], scratch[n, T] = s, t
        scratch[n, LEAST] = -restitution * speed if is_fast and restitution > 0.0 else -max(gap, 0.0) / dt
        n += 1
    if not lands:
        return False, 0.0
    before = _kinetic(a, velocity, momentum, inverse_mass) + _kinetic(b, velocity, momentum, inverse_mass)
    for c in range(n):
        _prepare(rows, r, scratch[c], a, b, inverse_mass, inverse_inertia)
    friction, slow = rows[r + LANES * FRICTION], SETTLED * rows[r + LANES * LANDING_SPEED]
    for _ in range(SWEEPS):
        change = 0.0
        for c in range(n):
            change = max(change, _push(rows, r, scratch[c], a, b, friction, velocity, momentum, inverse_mass, inverse_inertia))
        if change < slow:
            break
    return True, before - _kinetic(a, velocity, momentum, inverse_mass) - _kinetic(b, velocity, momentum, inverse_mass)


@inner
def relative_motion(rows, r, a, b, velocity):
    """[m/s], [rad/s] how the gap of the patch changes: at its origin, along s, along t; then how b moves against a along both
    axes of the patch at its origin, and turns about its normal."""
    va, vb = velocity[8 * a : 8 * a + 8], velocity[8 * b : 8 * b + 8]
    ax, ay, az = rows[r + LANES * ARM_A], rows[r + LANES * (ARM_A + 1)], rows[r + LANES * (ARM_A + 2)]
    bx, by, bz = rows[r + LANES * ARM_B], rows[r + LANES * (ARM_B + 1)], rows[r + LANES * (ARM_B + 2)]
    vx = vb[0] - va[0] + vb[5] * bz - vb[6] * by - va[5] * az + va[6] * ay
    vy = vb[1] - va[1] + vb[6] * bx - vb[4] * bz - va[6] * ax + va[4] * az
    vz = vb[2] - va[2] + vb[4] * by - vb[5] * bx - va[4] * ay + va[5] * ax
    ox, oy, oz = vb[4] - va[4], vb[5] - va[5], vb[6] - va[6]
    n, s, t = r + LANES * NORMAL, r + LANES * TANGENT_1, r + LANES * TANGENT_2
    return (
        rows[n] * vx + rows[n + LANES] * vy + rows[n + 2 * LANES] * vz,
        -(rows[t] * ox + rows[t + LANES] * oy + rows[t + 2 * LANES] * oz),
        rows[s] * ox + rows[s + LANES] * oy + rows[s + 2 * LANES] * oz,
        rows[s] * vx + rows[s + LANES] * vy + rows[s + 2 * LANES] * vz,
        rows[t] * vx + rows[t + LANES] * vy + rows[t + 2 * LANES] * vz,
        rows[n] * ox + rows[n + LANES] * oy + rows[n + 2 * LANES] * oz,
    )


@inner
def _kinetic(i, velocity, momentum, inverse_mass):
    """[J] of a body; nothing for a support."""
    if inverse_mass[i] == 0.0:
        return 0.0
    v, m = velocity[8 * i : 8 * i + 8], momentum[4 * i : 4 * i + 4]
    return 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / inverse_mass[i] + 0.5 * (v[4] * m[0] + v[5] * m[1] + v[6] * m[2])


@inner
def _prepare(rows, r, corner, a, b, inverse_mass, inverse_inertia):
    """Arms of a corner, and how easily it is moved along the three axes of the patch [1/kg]."""
    for axis in range(3):
        along = corner[S] * rows[r + LANES * (TANGENT_1 + axis)] + corner[T] * rows[r + LANES * (TANGENT_2 + axis)]
        corner[ARMS_A + axis] = rows[r + LANES * (ARM_A + axis)] + along
        corner[ARMS_B + axis] = rows[r + LANES * (ARM_B + axis)] + along
    for k in range(3):
        corner[PUSHED + k] = 0.0
        x, y, z = rows[r + LANES * (3 * k)], rows[r + LANES * (3 * k + 1)], rows[r + LANES * (3 * k + 2)]
        corner[EASE + k] = _ease(corner, ARMS_A, x, y, z, a, inverse_mass, inverse_inertia) + _ease(
            corner, ARMS_B, x, y, z, b, inverse_mass, inverse_inertia
        )


@inner
def _ease(corner, arm, x, y, z, i, inverse_mass, inverse_inertia):
    if inverse_mass[i] == 0.0:
        return 0.0
    p = corner[arm + 1] * z - corner[arm + 2] * y
    q = corner[arm + 2] * x - corner[arm] * z
    w = corner[arm] * y - corner[arm + 1] * x
    j = inverse_inertia[12 * i : 12 * i + 12]
    return (
        inverse_mass[i]
        + p * (j[0] * p + j[4] * q + j[8] * w)
        + q * (j[1] * p + j[5] * q + j[9] * w)
        + w * (j[2] * p + j[6] * q + j[10] * w)
    )


@inner
def _push(rows, r, corner, a, b, friction, velocity, momentum, inverse_mass, inverse_inertia):
    """One corner of a sweep; returns the change of velocity along the normal [m/s]."""
    va, vb = velocity[8 * a : 8 * a + 8], velocity[8 * b : 8 * b + 8]
    ax, ay, az, bx, by, bz = corner[6], corner[7], corner[8], corner[9], corner[10], corner[11]
    vx = vb[0] - va[0] + vb[5] * bz - vb[6] * by - va[5] * az + va[6] * ay
    vy = vb[1] - va[1] + vb[6] * bx - vb[4] * bz - va[6] * ax + va[4] * az
    vz = vb[2] - va[2] + vb[4] * by - vb[5] * bx - va[4] * ay + va[5] * ax
    n, s, t = r + LANES * NORMAL, r + LANES * TANGENT_1, r + LANES * TANGENT_2
    rate = rows[n] * vx + rows[n + LANES] * vy + rows[n + 2 * LANES] * vz
    new = max(0.0, corner[PUSHED] + (corner[LEAST] - rate) / corner[EASE])
    d0 = new - corner[PUSHED]
    if new == 0.0 and d0 == 0.0:
        return 0.0
    q1 = corner[PUSHED + 1] - (rows[s] * vx + rows[s + LANES] * vy + rows[s + 2 * LANES] * vz) / corner[EASE + 1]
    q2 = corner[PUSHED + 2] - (rows[t] * vx + rows[t + LANES] * vy + rows[t + 2 * LANES] * vz) / corner[EASE + 2]
    size = np.sqrt(q1 * q1 + q2 * q2)
    if size > friction * new:
        q1, q2 = q1 * friction * new / size, q2 * friction * new / size
    d1, d2 = q1 - corner[PUSHED + 1], q2 - corner[PUSHED + 2]
    corner[PUSHED], corner[PUSHED + 1], corner[PUSHED + 2] = new, q1, q2
    x = d0 * rows[n] + d1 * rows[s] + d2 * rows[t]
    y = d0 * rows[n + LANES] + d1 * rows[s + LANES] + d2 * rows[t + LANES]
    z = d0 * rows[n + 2 * LANES] + d1 * rows[s + 2 * LANES] + d2 * rows[t + 2 * LANES]
    _kick(b, x, y, z, bx, by, bz, velocity, momentum, inverse_mass, inverse_inertia)
    _kick(a, -x, -y, -z, ax, ay, az, velocity, momentum, inverse_mass, inverse_inertia)
    return abs(d0) * corner[EASE]


@inner
def _kick(i, x, y, z, rx, ry, rz, velocity, momentum, inverse_mass, inverse_inertia):
    """An impulse (x, y, z) at the end of the arm r of body i."""
    if inverse_mass[i] == 0.0:
        return
    v, m, j = velocity[8 * i : 8 * i + 8], momentum[4 * i : 4 * i + 4], inverse_inertia[12 * i : 12 * i + 12]
    v[0] += inverse_mass[i] * x
    v[1] += inverse_mass[i] * y
    v[2] += inverse_mass[i] * z
    p, q, w = ry * z - rz * y, rz * x - rx * z, rx * y - ry * x
    m[0] += p
    m[1] += q
    m[2] += w
    v[4] += j[0] * p + j[4] * q + j[8] * w
    v[5] += j[1] * p + j[5] * q + j[9] * w
    v[6] += j[2] * p + j[6] * q + j[10] * w

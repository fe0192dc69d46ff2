"""The longest stable step of a structure whose joints are all closed and stick (T330, T331).

With M the mass, K the stiffness and C the damping of all patches, velocity Verlet with damping taken from the velocities at
hand is stable if dt^2 K + 2 dt C <= 4 M. The largest eigenvalue of M^-1 (dt^2 K + 2 dt C) is bounded from above body by
body, which is cheap and too careful by a factor of 1.3 to 3, and found by power iteration, which is exact and dear: the
bound follows every change of geometry, the factor between both is found again when the number of patches has changed by a
tenth.
"""

import numpy as np

from drystone.kernel import inner

SAFETY = 0.9  # step over the longest stable one
ROUNDS, ITERATIONS = 3, 25  # of the power iteration: step, eigenvector for that step


@inner
def bound_of_step(a, b, arm_a, arm_b, spring, shear, inverse_mass, least_inertia, total):
    """[s] a stable step, from the stiffness and the damping of its patches seen by each body alone. shear (P,) stiffness in
    shear over that in compression; total (B, 2) is scratch."""
    for i in range(total.shape[0]):
        total[i, 0] = total[i, 1] = 0.0
    for p in range(a.shape[0]):
        for side in range(2):
            i = a[p] if side == 0 else b[p]
            if inverse_mass[i] == 0.0:
                continue
            arm = arm_a[p] if side == 0 else arm_b[p]
            far = arm[0] * arm[0] + arm[1] * arm[1] + arm[2] * arm[2]
            stiffest = max(1.0, shear[p])
            k, rocks = stiffest * spring[p, 0], stiffest * (spring[p, 1] + spring[p, 3])
            total[i, 0] += k * inverse_mass[i] + (k * far + rocks) / least_inertia[i]
            total[i, 1] += (
                spring[p, 4] * (k * inverse_mass[i] + (k * far + rocks) / least_inertia[i])
                + max(spring[p, 5] - spring[p, 4], 0.0) * rocks / least_inertia[i]
            )
    stiff, damped = 0.0, 0.0
    for p in range(a.shape[0]):
        stiff = max(stiff, total[a[p], 0] + total[b[p], 0])
        damped = max(damped, total[a[p], 1] + total[b[p], 1])
    return longest_step(stiff, damped)


@inner
def longest_step(stiff, damped):
    """dt with dt^2 stiff + 2 dt damped = 4."""
    return 4.0 / (damped + np.sqrt(damped * damped + 4.0 * stiff)) if stiff > 0.0 else np.inf


@inner
def exact_step(dt, a, b, frame, arm_a, arm_b, spring, shear, inverse_mass, inverse_inertia, x, y):
    """[s] the longest stable step, by power iteration from the step dt on. x, y (B, 6) are scratch."""
    for i in range(x.shape[0]):
        for c in range(6):
            x[i, c] = 0.0 if inverse_mass[i] == 0.0 else np.sin(12.9898 * (6 * i + c) + 1.0)
    for _ in range(ROUNDS):
        top = 0.0
        for _ in range(ITERATIONS):
            apply_patches(dt, a, b, frame, arm_a, arm_b, spring, shear, inverse_mass, inverse_inertia, x, y)
            top = _norm(y)
            if top == 0.0:
                return np.inf
            scale = 1.0 / top
            for i in range(x.shape[0]):
                for c in range(6):
                    x[i, c] = scale * y[i, c]
        # the eigenvalue is top = dt^2 k + 2 dt c; k and c separately from the eigenvector
        apply_patches(1.0, a, b, frame, arm_a, arm_b, spring, shear, inverse_mass, inverse_inertia, x, y)
        one = _norm(y)
        apply_patches(-1.0, a, b, frame, arm_a, arm_b, spring, shear, inverse_mass, inverse_inertia, x, y)
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
def apply_patches(dt, a, b, frame, arm_a, arm_b, spring, shear, inverse_mass, inverse_inertia, x, y):
    """y = M^-1 (dt^2 K + 2 dt C) x, all patches closed and sticking. spring (P, 6): k A [N/m], second moments of k ss, st,
    tt [N m] about the origin, damping times of approach and shear and of rocking [s]."""
    for i in range(y.shape[0]):
        for c in range(6):
            y[i, c] = 0.0
    for p in range(a.shape[0]):
        va, vb, ra, rb, f = x[a[p]], x[b[p]], arm_a[p], arm_b[p], frame[p]
        vx = vb[0] - va[0] + vb[4] * rb[2] - vb[5] * rb[1] - va[4] * ra[2] + va[5] * ra[1]
        vy = vb[1] - va[1] + vb[5] * rb[0] - vb[3] * rb[2] - va[5] * ra[0] + va[3] * ra[2]
        vz = vb[2] - va[2] + vb[3] * rb[1] - vb[4] * rb[0] - va[3] * ra[1] + va[4] * ra[0]
        ox, oy, oz = vb[3] - va[3], vb[4] - va[4], vb[5] - va[5]
        rate, w1, w2 = f[0] * vx + f[1] * vy + f[2] * vz, f[3] * vx + f[4] * vy + f[5] * vz, f[6] * vx + f[7] * vy + f[8] * vz
        on, o1, o2 = f[0] * ox + f[1] * oy + f[2] * oz, f[3] * ox + f[4] * oy + f[5] * oz, f[6] * ox + f[7] * oy + f[8] * oz
        k = spring[p]
        straight, rocks = dt * dt + 2.0 * dt * k[4], dt * dt + 2.0 * dt * k[5]
        normal, f1, f2 = straight * k[0] * rate, straight * shear[p] * k[0] * w1, straight * shear[p] * k[0] * w2
        twist = straight * shear[p] * (k[1] + k[3]) * on
        ms, mt = rocks * (-k[1] * o2 + k[2] * o1), rocks * (-k[2] * o2 + k[3] * o1)
        fx = normal * f[0] + f1 * f[3] + f2 * f[6]
        fy = normal * f[1] + f1 * f[4] + f2 * f[7]
        fz = normal * f[2] + f1 * f[5] + f2 * f[8]
        mx = twist * f[0] + mt * f[3] - ms * f[6]
        my = twist * f[1] + mt * f[4] - ms * f[7]
        mz = twist * f[2] + mt * f[5] - ms * f[8]
        for side in range(2):
            i, r, sign = (a[p], ra, -1.0) if side == 0 else (b[p], rb, 1.0)
            if inverse_mass[i] == 0.0:
                continue
            scale = sign * inverse_mass[i]
            y[i, 0] += scale * fx
            y[i, 1] += scale * fy
            y[i, 2] += scale * fz
            p0, p1, p2 = (
                sign * (mx + r[1] * fz - r[2] * fy),
                sign * (my + r[2] * fx - r[0] * fz),
                sign * (mz + r[0] * fy - r[1] * fx),
            )
            j = inverse_inertia[12 * i : 12 * i + 12]
            for c in range(3):
                y[i, 3 + c] += j[c] * p0 + j[4 + c] * p1 + j[8 + c] * p2

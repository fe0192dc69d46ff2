"""Primal-dual interior point for the rigid step: the robust path through limit states, where Newton stalls.

Nesterov-Todd scaling, Mehrotra's predictor and corrector, warm start by a shift into the cones (T16). In the scaled
variables l = (n, t / mu), s = (w_n, mu w_t) both cones are the standard one. A small proximal compliance `soft` bounds
the weights by 1 / soft, so that the normal matrix I + rows^T (W^2 + soft)^-1 rows stays well enough conditioned; it
changes the steps, not their fixed point.
"""

import numpy as np

from drystone.kernel import kernel
from drystone.problem import momentum_into, relative_velocity_into
from drystone.solvers.factor import assemble, factorise, solve


@kernel
def _to_boundary(v, dv):
    """Largest step a with v + a dv in the standard cones, for all rows; at most 1e3."""
    best = 1e3
    for c in range(v.shape[0]):
        aa = dv[c, 0] * dv[c, 0] - dv[c, 1] * dv[c, 1] - dv[c, 2] * dv[c, 2]
        bb = v[c, 0] * dv[c, 0] - v[c, 1] * dv[c, 1] - v[c, 2] * dv[c, 2]
        r = np.sqrt(v[c, 1] * v[c, 1] + v[c, 2] * v[c, 2])
        cc = (v[c, 0] - r) * (v[c, 0] + r)
        root = bb * bb - aa * cc
        if aa < 0.0:
            step = cc / (-bb + np.sqrt(max(root, 0.0))) if bb < 0.0 else (bb + np.sqrt(max(root, 0.0))) / -aa
        elif bb < 0.0 and root >= 0.0:
            step = cc / (-bb + np.sqrt(root))
        else:
            continue
        if step >= 0.0:
            best = min(best, step)
    return best


@kernel
def _scaling(s, l, soft, mu, eta, point, lam, weight):
    """Nesterov-Todd point and eta of each contact, the scaled variable lam = W l, and weight = D (W^2 + soft)^-1 D."""
    for c in range(s.shape[0]):
        rs, rl = np.hypot(s[c, 1], s[c, 2]), np.hypot(l[c, 1], l[c, 2])
        ds, dl = np.sqrt((s[c, 0] - rs) * (s[c, 0] + rs)), np.sqrt((l[c, 0] - rl) * (l[c, 0] + rl))
        dot = (s[c, 0] * l[c, 0] + s[c, 1] * l[c, 1] + s[c, 2] * l[c, 2]) / (ds * dl)
        half = 1.0 / np.sqrt(2.0 * (1.0 + dot))
        p1, p2 = (s[c, 1] / ds - l[c, 1] / dl) * half, (s[c, 2] / ds - l[c, 2] / dl) * half
        r = np.hypot(p1, p2)
        p0 = np.sqrt(1.0 + r * r)
        eta[c] = np.sqrt(ds / dl)
        point[c, 0], point[c, 1], point[c, 2] = p0, p1, p2
        lam[c, 0], lam[c, 1], lam[c, 2] = _scale(eta[c], p0, p1, p2, l[c, 0], l[c, 1], l[c, 2])
        square = eta[c] * eta[c]
        far = 1.0 / (square * (p0 + r) ** 2 + soft[c])  # along (1, u) / sqrt 2
        near = 1.0 / (square / (p0 + r) ** 2 + soft[c])  # along (1, -u) / sqrt 2
        side = 1.0 / (square + soft[c])
        u, v = (p1 / r, p2 / r) if r > 1e-300 else (1.0, 0.0)
        even, odd, m = 0.5 * (far + near), 0.5 * (far - near), mu[c]
        weight[c, 0] = even
        weight[c, 1], weight[c, 2] = m * odd * u, m * odd * v
        weight[c, 3] = m * m * (even * u * u + side * v * v)
        weight[c, 4] = m * m * (even - side) * u * v
        weight[c, 5] = m * m * (even * v * v + side * u * u)


@kernel
def _scale(eta, p0, p1, p2, v0, v1, v2):
    """W v."""
    dot = p1 * v1 + p2 * v2
    k = v0 + dot / (1.0 + p0)
    return eta * (p0 * v0 + dot), eta * (v1 + k * p1), eta * (v2 + k * p2)


@kernel
def _unscale(eta, p0, p1, p2, v0, v1, v2):
    """W^-1 v."""
    dot = p1 * v1 + p2 * v2
    k = -v0 + dot / (1.0 + p0)
    return (p0 * v0 - dot) / eta, (v1 + k * p1) / eta, (v2 + k * p2) / eta


@kernel
def _corrector(eta, point, lam, ds, dl, centre, out):
    """out = W (lam \\ (centre e - lam o lam - (W^-1 ds) o (W dl))): right-hand side of ds + W^2 dl."""
    for c in range(lam.shape[0]):
        p0, p1, p2 = point[c, 0], point[c, 1], point[c, 2]
        a0, a1, a2 = _unscale(eta[c], p0, p1, p2, ds[c, 0], ds[c, 1], ds[c, 2])
        b0, b1, b2 = _scale(eta[c], p0, p1, p2, dl[c, 0], dl[c, 1], dl[c, 2])
        l0, l1, l2 = lam[c, 0], lam[c, 1], lam[c, 2]
        r0 = centre - (a0 * b0 + a1 * b1 + a2 * b2)
        r1, r2 = -(a0 * b1 + b0 * a1), -(a0 * b2 + b0 * a2)
        r = np.hypot(l1, l2)
        y0 = (l0 * r0 - l1 * r1 - l2 * r2) / ((l0 - r) * (l0 + r))
        y1, y2 = (r1 - y0 * l1) / l0, (r2 - y0 * l2) / l0
        out[c, 0], out[c, 1], out[c, 2] = _scale(eta[c], p0, p1, p2, y0 - l0, y1 - l1, y2 - l2)


@kernel
def _apply_weight(weight, mu, v, out):
    """out = (W^2 + soft)^-1 v from the weight D (W^2 + soft)^-1 D; where mu = 0 the tangent parts are zero."""
    for c in range(v.shape[0]):
        m = mu[c] if mu[c] > 0.0 else np.inf
        v1, v2 = v[c, 1] / m, v[c, 2] / m
        k = weight[c]
        out[c, 0] = k[0] * v[c, 0] + k[1] * v1 + k[2] * v2
        out[c, 1] = (k[1] * v[c, 0] + k[3] * v1 + k[4] * v2) / m
        out[c, 2] = (k[2] * v[c, 0] + k[4] * v1 + k[5] * v2) / m


@kernel
def _direction(problem, system, weight, eta, point, right, primal, dual, dx, ds, dl, room, change):
    """Newton direction for ds + W^2 dl = right with the residuals `primal` (C, 3) and `dual` (N, 6)."""
    mu = problem.friction
    for c in range(right.shape[0]):
        for k in range(3):
            room[c, k] = right[c, k] - primal[c, k]
    _apply_weight(weight, mu, room, dl)
    for c in range(right.shape[0]):
        dl[c, 1] *= mu[c]
        dl[c, 2] *= mu[c]
    momentum_into(problem, dl, change)
    change -= dual
    solve(system, change, dx)
    relative_velocity_into(problem, dx, 0.0, ds)
    for c in range(right.shape[0]):
        room[c, 0] -= ds[c, 0]
        room[c, 1] -= mu[c] * ds[c, 1]
        room[c, 2] -= mu[c] * ds[c, 2]
    _apply_weight(weight, mu, room, dl)
    for c in range(right.shape[0]):  # ds = right - W^2 dl, W^2 = eta^2 (2 p p^T - J)
        p0, p1, p2 = point[c, 0], point[c, 1], point[c, 2]
        square = eta[c] * eta[c]
        dot = 2.0 * (p0 * dl[c, 0] + p1 * dl[c, 1] + p2 * dl[c, 2])
        ds[c, 0] = right[c, 0] - square * (dot * p0 - dl[c, 0])
        ds[c, 1] = right[c, 1] - square * (dot * p1 + dl[c, 1])
        ds[c, 2] = right[c, 2] - square * (dot * p2 + dl[c, 2])


@kernel
def _residuals(problem, x, s, l, room, primal, dual):
    """Primal and dual residuals; their largest in units of speed, and the mean gap s . l, go back."""
    mu = problem.friction
    for c in range(s.shape[0]):
        room[c, 0], room[c, 1], room[c, 2] = l[c, 0], mu[c] * l[c, 1], mu[c] * l[c, 2]
    momentum_into(problem, room, dual)
    worst = 0.0
    for i in range(x.shape[0]):
        size = 0.0
        for k in range(6):
            dual[i, k] = x[i, k] - problem.free[i, k] - dual[i, k]
            size += dual[i, k] * dual[i, k]
        worst = max(worst, np.sqrt(size / problem.mass[i]))
    relative_velocity_into(problem, x, 1.0, primal)
    closing = 0.0
    gap = 0.0
    for c in range(s.shape[0]):
        primal[c, 0] -= s[c, 0]
        primal[c, 1] = mu[c] * primal[c, 1] - s[c, 1]
        primal[c, 2] = mu[c] * primal[c, 2] - s[c, 2]
        closing = max(closing, abs(primal[c, 0]), abs(primal[c, 1]), abs(primal[c, 2]))
        gap += s[c, 0] * l[c, 0] + s[c, 1] * l[c, 1] + s[c, 2] * l[c, 2]
    return worst / problem.speed, closing / problem.speed, gap / max(s.shape[0], 1)


@kernel
def _enter(v, shift):
    """Move each row into the standard cone, at least `shift` from its boundary."""
    for c in range(v.shape[0]):
        r = np.hypot(v[c, 1], v[c, 2])
        v[c, 0] = max(v[c, 0], r) + shift


@kernel
def interior_point(problem, system, soft, x, impulse, shift, gap_target, residual_target, limit):
    """From (x, impulse), both overwritten by the best iterate, until mean gap and residuals reach their targets.
    Returns the relative gap, the worse residual and the factorisations done."""
    count, mu = soft.shape[0], problem.friction
    force = problem.total_mass / x.shape[0] * problem.speed
    s, l = np.empty((count, 3)), np.empty((count, 3))
    ds, dl, right, room = np.empty((count, 3)), np.empty((count, 3)), np.empty((count, 3)), np.empty((count, 3))
    lam, point, eta, weight = np.empty((count, 3)), np.empty((count, 3)), np.empty(count), np.empty((count, 6))
    primal, dual, dx, change = np.empty((count, 3)), np.empty_like(x), np.empty_like(x), np.empty_like(x)
    relative_velocity_into(problem, x, 1.0, s)
    for c in range(count):
        m = mu[c] if mu[c] > 0.0 else np.inf
        l[c, 0], l[c, 1], l[c, 2] = impulse[c, 0], impulse[c, 1] / m, impulse[c, 2] / m
        s[c, 1] *= mu[c]
        s[c, 2] *= mu[c]
    _enter(s, shift * problem.speed)
    _enter(l, shift * force)
    best, best_gap, best_residual, since, done = np.inf, np.inf, np.inf, 0, 0
    x_best = x.copy()
    while True:
        momentum, closing, gap = _residuals(problem, x, s, l, room, primal, dual)
        relative_gap = gap / (force * problem.speed)
        residual = max(momentum, closing)
        score = max(relative_gap / gap_target, residual / residual_target)
        since += 1
        if score < best:
            best, best_gap, best_residual, since = score, relative_gap, residual, 0
            x_best[:] = x
            for c in range(count):
                impulse[c, 0], impulse[c, 1], impulse[c, 2] = l[c, 0], mu[c] * l[c, 1], mu[c] * l[c, 2]
        if best <= 1.0 or since > 5 or done >= limit or not np.isfinite(score):
            break
        _scaling(s, l, soft, mu, eta, point, lam, weight)
        assemble(problem, system, weight)
        done += 1
        if not factorise(system):
            break
        for c in range(count):
            for k in range(3):
                right[c, k] = -s[c, k]
        _direction(problem, system, weight, eta, point, right, primal, dual, dx, ds, dl, room, change)
        reach = min(1.0, _to_boundary(s, ds), _to_boundary(l, dl))
        _corrector(eta, point, lam, ds, dl, (1.0 - reach) ** 3 * gap, right)
        _direction(problem, system, weight, eta, point, right, primal, dual, dx, ds, dl, room, change)
        reach = min(1.0, 0.995 * min(_to_boundary(s, ds), _to_boundary(l, dl)))
        x += reach * dx
        s += reach * ds
        l += reach * dl
    x[:] = x_best
    return best_gap, best_residual, done

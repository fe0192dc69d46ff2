"""Primal-dual interior point for the step with associated friction: the robust path through limit states, where Newton stalls.

Nesterov-Todd scaling, Mehrotra's predictor and corrector, Gondzio's centrality correctors (T18). In the scaled variables
l = (n, t / mu), s = (s_n, mu s_t) both cones are the standard one. What a contact gives way (its compliance, mu^2 times that
along the tangents) stands in the normal matrix I + rows^T D (W^2 + give)^-1 D rows. A rigid contact gets a small proximal
compliance `soft` in its place, so that the matrix stays well enough conditioned: that changes the steps, not their fixed point.
"""

import numpy as np

from drystone.base.kernel import inlined, inner, kernel
from drystone.engine.solvers.first_order.impulse_problem import duality_gap
from drystone.engine.solvers.linear.factorisation import assemble_matrix, factorise, solve_factorised
from drystone.engine.solvers.problem import copy_into, momentum_into, relative_velocity_into

NEAR = 3.0  # estimate of the error, in units of the tolerance, from which the bound is looked at


@inlined
def _length(a, b):
    return np.sqrt(a * a + b * b)  # a fifth of the time of hypot, whose care for overflow nothing here needs


@inner
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


@inner
def _give_into(problem, soft, give):
    """What each contact gives way along the normal and the tangents, in scaled variables."""
    for c in range(soft.shape[0]):
        mu = problem.friction[c]
        give[c, 0] = problem.compliance[c] + soft[c]
        give[c, 1] = mu * mu * problem.compliance[c] + soft[c]


@inner
def _scaling(s, l, eta, point, lam):
    """Nesterov-Todd point and eta of each contact, and the scaled variable lam = W l."""
    for c in range(s.shape[0]):
        rs, rl = _length(s[c, 1], s[c, 2]), _length(l[c, 1], l[c, 2])
        ds, dl = np.sqrt((s[c, 0] - rs) * (s[c, 0] + rs)), np.sqrt((l[c, 0] - rl) * (l[c, 0] + rl))
        dot = (s[c, 0] * l[c, 0] + s[c, 1] * l[c, 1] + s[c, 2] * l[c, 2]) / (ds * dl)
        half = 1.0 / np.sqrt(2.0 * (1.0 + dot))
        p1, p2 = (s[c, 1] / ds - l[c, 1] / dl) * half, (s[c, 2] / ds - l[c, 2] / dl) * half
        eta[c] = np.sqrt(ds / dl)
        point[c, 0], point[c, 1], point[c, 2] = np.sqrt(1.0 + p1 * p1 + p2 * p2), p1, p2
        # lam without the cancellation of W l: with sb = s / ds, lb = l / dl and gamma = sqrt((1 + sb . lb) / 2)
        gamma, root = 0.5 / half, np.sqrt(ds * dl)
        fs, fl = gamma + l[c, 0] / dl, gamma + s[c, 0] / ds
        fs, fl = root * fs / (ds * (fs + fl)), root * fl / (dl * (fs + fl))
        lam[c, 0], lam[c, 1], lam[c, 2] = root * gamma, fs * s[c, 1] + fl * l[c, 1], fs * s[c, 2] + fl * l[c, 2]


@inner
def _weigh(eta, point, give, mu, weight, mode):
    """weight = D (W^2 + give)^-1 D, and what `_soften` needs of it: the eigenvalues (far, near) of W^2 along (1, u) and
    (1, -u), the determinant of W^2 + give in their plane, its inverse across, u. No term of the determinant is negative."""
    for c in range(eta.shape[0]):
        p0, p1, p2, square = point[c, 0], point[c, 1], point[c, 2], eta[c] * eta[c]
        r = _length(p1, p2)
        far, near = square * (p0 + r) ** 2, square / (p0 + r) ** 2
        half, odd, m, cn, ct = 0.5 * (far + near), 0.5 * (far - near), mu[c], give[c, 0], give[c, 1]
        whole = square * square + half * (cn + ct) + cn * ct
        side = 1.0 / (square + ct)
        u, v = (p1 / r, p2 / r) if r > 1e-300 else (1.0, 0.0)
        mode[c, 0], mode[c, 1], mode[c, 2], mode[c, 3], mode[c, 4], mode[c, 5] = far, near, whole, side, u, v
        along, turn = (half + cn) / whole, -m * odd / whole
        weight[c, 0, 0] = (half + ct) / whole
        weight[c, 0, 1] = weight[c, 1, 0] = turn * u
        weight[c, 0, 2] = weight[c, 2, 0] = turn * v
        weight[c, 1, 1] = m * m * (along * u * u + side * v * v)
        weight[c, 1, 2] = weight[c, 2, 1] = m * m * (along - side) * u * v
        weight[c, 2, 2] = m * m * (along * v * v + side * u * u)


@inner
def _scale(eta, p0, p1, p2, v0, v1, v2):
    """W v."""
    dot = p1 * v1 + p2 * v2
    k = v0 + dot / (1.0 + p0)
    return eta * (p0 * v0 + dot), eta * (v1 + k * p1), eta * (v2 + k * p2)


@inner
def _unscale(eta, p0, p1, p2, v0, v1, v2):
    """W^-1 v."""
    dot = p1 * v1 + p2 * v2
    k = -v0 + dot / (1.0 + p0)
    return (p0 * v0 - dot) / eta, (v1 + k * p1) / eta, (v2 + k * p2) / eta


@inner
def _divide(l0, l1, l2, r0, r1, r2):
    """y with l o y = r, the Jordan product of the cone."""
    r = _length(l1, l2)
    y0 = (l0 * r0 - l1 * r1 - l2 * r2) / ((l0 - r) * (l0 + r))
    return y0, (r1 - y0 * l1) / l0, (r2 - y0 * l2) / l0


@inner
def _corrector(eta, point, lam, s, l, ds, dl, centre, out):
    """Right-hand side of ds + W^2 dl: -s + centre l^-1 - W (lam \\ ((W^-1 ds) o (W dl)))."""
    for c in range(lam.shape[0]):
        p0, p1, p2 = point[c, 0], point[c, 1], point[c, 2]
        a0, a1, a2 = _unscale(eta[c], p0, p1, p2, ds[c, 0], ds[c, 1], ds[c, 2])
        b0, b1, b2 = _scale(eta[c], p0, p1, p2, dl[c, 0], dl[c, 1], dl[c, 2])
        v0, v1, v2 = a0 * b0 + a1 * b1 + a2 * b2, a0 * b1 + b0 * a1, a0 * b2 + b0 * a2
        y0, y1, y2 = _divide(lam[c, 0], lam[c, 1], lam[c, 2], v0, v1, v2)
        q0, q1, q2 = _scale(eta[c], p0, p1, p2, y0, y1, y2)
        r = _length(l[c, 1], l[c, 2])
        k = centre / ((l[c, 0] - r) * (l[c, 0] + r))
        out[c, 0], out[c, 1], out[c, 2] = k * l[c, 0] - s[c, 0] - q0, -k * l[c, 1] - s[c, 1] - q1, -k * l[c, 2] - s[c, 2] - q2


@inner
def _recentre(eta, point, lam, ds, dl, reach, low, high, out):
    """Gondzio's corrector: add to `out` what brings the products of a step by `reach` back into [low, high]."""
    for c in range(lam.shape[0]):
        p0, p1, p2 = point[c, 0], point[c, 1], point[c, 2]
        a0, a1, a2 = _unscale(eta[c], p0, p1, p2, ds[c, 0], ds[c, 1], ds[c, 2])
        b0, b1, b2 = _scale(eta[c], p0, p1, p2, dl[c, 0], dl[c, 1], dl[c, 2])
        l0, l1, l2 = lam[c, 0], lam[c, 1], lam[c, 2]
        a0, a1, a2 = l0 + reach * a0, l1 + reach * a1, l2 + reach * a2
        b0, b1, b2 = l0 + reach * b0, l1 + reach * b1, l2 + reach * b2
        v0, v1, v2 = a0 * b0 + a1 * b1 + a2 * b2, a0 * b1 + b0 * a1, a0 * b2 + b0 * a2
        r = _length(v1, v2)
        upper = max(min(max(v0 + r, low), high) - v0 - r, -high)
        lower = max(min(max(v0 - r, low), high) - v0 + r, -high)
        k = 0.5 * (upper - lower) / r if r > 1e-300 else 0.0
        y0, y1, y2 = _divide(l0, l1, l2, 0.5 * (upper + lower), k * v1, k * v2)
        q0, q1, q2 = _scale(eta[c], p0, p1, p2, y0, y1, y2)
        out[c, 0] += q0
        out[c, 1] += q1
        out[c, 2] += q2


@inner
def _soften(mode, give, right, ds, dl):
    """dl = (W^2 + give)^-1 (right - ds), by the modes of W^2: those of a sliding contact are twenty decades apart, and summed
    into a 3x3 matrix the stiff one would drown the soft one that keeps the impulse on its cone."""
    for c in range(right.shape[0]):
        far, near, whole, side, u, v = mode[c, 0], mode[c, 1], mode[c, 2], mode[c, 3], mode[c, 4], mode[c, 5]
        r0, r1, r2 = right[c, 0] - ds[c, 0], right[c, 1] - ds[c, 1], right[c, 2] - ds[c, 2]
        along, across = u * r1 + v * r2, side * (u * r2 - v * r1)
        plus, minus = 0.5 * near * (r0 + along), 0.5 * far * (r0 - along)
        dl[c, 0] = (plus + minus + give[c, 1] * r0) / whole
        forward = (plus - minus + give[c, 0] * along) / whole
        dl[c, 1] = forward * u - across * v
        dl[c, 2] = forward * v + across * u


@inner
def _direction(problem, system, mode, give, right, primal, dual, dx, ds, dl, room, change):
    """Newton direction for ds + W^2 dl = right with the residuals `primal` (C, 3) and `dual` (N, 6)."""
    _soften(mode, give, right, primal, dl)
    _balance(problem, dual, dl, room, change)
    solve_factorised(system, change, dx)
    _follow(problem, primal, dx, ds)
    _soften(mode, give, right, ds, dl)
    for c in range(right.shape[0]):
        ds[c, 0] += give[c, 0] * dl[c, 0]
        ds[c, 1] += give[c, 1] * dl[c, 1]
        ds[c, 2] += give[c, 1] * dl[c, 2]


@inner
def _balance(problem, dual, dl, room, out):
    """out = rows^T D dl - dual."""
    mu = problem.friction
    for c in range(dl.shape[0]):
        room[c, 0], room[c, 1], room[c, 2] = dl[c, 0], mu[c] * dl[c, 1], mu[c] * dl[c, 2]
    momentum_into(problem, room, out)
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[i, k] -= dual[i, k]


@inner
def _follow(problem, primal, dx, ds):
    """ds = D rows dx + primal: where s must go to follow x and close the primal residual."""
    mu = problem.friction
    relative_velocity_into(problem, dx, 0.0, ds)
    for c in range(ds.shape[0]):
        ds[c, 0] += primal[c, 0]
        ds[c, 1] = mu[c] * ds[c, 1] + primal[c, 1]
        ds[c, 2] = mu[c] * ds[c, 2] + primal[c, 2]


@inner
def _residuals(problem, x, s, l, room, primal, dual):
    """Primal and dual residuals; their largest in units of speed, and the mean gap s . l, go back."""
    mu = problem.friction
    for c in range(s.shape[0]):
        room[c, 0], room[c, 1], room[c, 2] = l[c, 0], mu[c] * l[c, 1], mu[c] * l[c, 2]
    momentum_into(problem, room, dual)
    worst = 0.0
    for i in range(x.shape[0]):
        size = 0.0
        for k in range(x.shape[1]):
            dual[i, k] = x[i, k] - problem.free[i, k] - dual[i, k]
            size += dual[i, k] * dual[i, k]
        worst = max(worst, np.sqrt(size / problem.mass[i]))
    _slip_into(problem, x, room, primal)
    closing = 0.0
    gap = 0.0
    for c in range(s.shape[0]):
        primal[c, 0] -= s[c, 0]
        primal[c, 1] = mu[c] * primal[c, 1] - s[c, 1]
        primal[c, 2] = mu[c] * primal[c, 2] - s[c, 2]
        closing = max(closing, abs(primal[c, 0]), abs(primal[c, 1]), abs(primal[c, 2]))
        gap += s[c, 0] * l[c, 0] + s[c, 1] * l[c, 1] + s[c, 2] * l[c, 2]
    return worst / problem.speed, closing / problem.speed, gap / max(s.shape[0], 1)


@inner
def _slip_into(problem, x, impulse, out):
    """out = w(x) + compliance (impulse - memory)."""
    relative_velocity_into(problem, x, 1.0, out)
    for c in range(out.shape[0]):
        for k in range(3):
            out[c, k] += problem.compliance[c] * (impulse[c, k] - problem.memory[c, k])


@inner
def _start(problem, x, impulse, force, s, l):
    """Scaled s and l of a first guess, moved into the interior by one unit of speed and force: from nearer to the boundary
    the path is entered more slowly than a cold start (measured)."""
    mu = problem.friction
    _slip_into(problem, x, impulse, s)
    for c in range(s.shape[0]):
        m = mu[c] if mu[c] > 0.0 else np.inf
        l[c, 1], l[c, 2] = impulse[c, 1] / m, impulse[c, 2] / m
        s[c, 1] *= mu[c]
        s[c, 2] *= mu[c]
        s[c, 0] = max(s[c, 0], _length(s[c, 1], s[c, 2])) + problem.speed
        l[c, 0] = max(impulse[c, 0], _length(l[c, 1], l[c, 2])) + force


@inner
def _since_decade(trail, gaps, count, x):
    """|x - x_j| for the last iterate j whose gap was ten times larger or more; inf if there is none."""
    for j in range(count - 1, -1, -1):
        if gaps[j] >= 10.0 * gaps[count]:
            total = 0.0
            for i in range(x.shape[0]):
                for k in range(x.shape[1]):
                    total += (x[i, k] - trail[j, i, k]) ** 2
            return np.sqrt(total)
    return np.inf


@inner
def _bound(problem, l, room, x):
    """Bound (T21) of the velocity error of a compliant contact problem, for the x (overwritten) that the impulses give."""
    for c in range(l.shape[0]):
        mu = problem.friction[c]
        room[c, 0], room[c, 1], room[c, 2] = l[c, 0], mu * l[c, 1], mu * l[c, 2]
    momentum_into(problem, room, x)
    x += problem.free
    return np.sqrt(duality_gap(problem, x, room))


@inner
def _reach(s, ds, l, dl):
    return min(1.0, 0.995 * min(_to_boundary(s, ds), _to_boundary(l, dl)))


@kernel
def interior_point(problem, system, soft, x, impulse, tolerance, limit):
    """From (x, impulse), both overwritten by the best iterate. The central path nears the solution at least as fast as the
    square root of the gap, so the velocity change over the last decade of the gap estimates the error left (T18):
    stop when that and the residuals are within `tolerance`; of compliant contact, when the bound is. Returns the error,
    relative, and the factorisations done."""
    count, mu = soft.shape[0], problem.friction
    force = problem.total_mass / x.shape[0] * problem.speed
    scale = np.sqrt(problem.total_mass) * problem.speed
    s, l = np.empty((count, 3)), np.empty((count, 3))
    ds, dl, right, room = np.empty((count, 3)), np.empty((count, 3)), np.empty((count, 3)), np.empty((count, 3))
    ds2, dl2, right2 = np.empty((count, 3)), np.empty((count, 3)), np.empty((count, 3))
    lam, point, eta = np.empty((count, 3)), np.empty((count, 3)), np.empty(count)
    weight, mode, give = np.empty((count, 3, 3)), np.empty((count, 6)), np.empty((count, 2))
    primal, dual, dx, change = np.empty((count, 3)), np.empty_like(x), np.empty_like(x), np.empty_like(x)
    dx2, trail, gaps = np.empty_like(x), np.empty((limit + 1, x.shape[0], x.shape[1])), np.empty(limit + 1)
    _give_into(problem, soft, give)
    _start(problem, x, impulse, force, s, l)
    best, best_at, done, reach, compliant = np.inf, 0, 0, 1.0, problem.compliance[0] > 0.0
    while True:
        momentum, closing, gap = _residuals(problem, x, s, l, room, primal, dual)
        copy_into(x, trail[done])
        gaps[done] = gap
        error = max(_since_decade(trail, gaps, done, x) / scale, momentum, closing)
        if compliant and error <= NEAR * tolerance:
            error = _bound(problem, l, room, change) / scale
            if error <= tolerance:
                copy_into(change, trail[done])
        if not np.isfinite(gap):
            break
        if error < best:
            best, best_at = error, done
            for c in range(count):
                impulse[c, 0], impulse[c, 1], impulse[c, 2] = l[c, 0], mu[c] * l[c, 1], mu[c] * l[c, 2]
        if best <= tolerance or done >= limit or (done > best_at + 12 and best < np.inf):
            break
        _scaling(s, l, eta, point, lam)
        _weigh(eta, point, give, mu, weight, mode)
        assemble_matrix(problem, system, weight)
        done += 1
        if not factorise(system):
            break
        for c in range(count):
            right[c, 0], right[c, 1], right[c, 2] = -s[c, 0], -s[c, 1], -s[c, 2]
        _direction(problem, system, mode, give, right, primal, dual, dx, ds, dl, room, change)
        affine = min(1.0, _to_boundary(s, ds), _to_boundary(l, dl))
        centre = (1.0 - affine) ** 3 * gap
        if reach < 0.05:  # lost at the boundary: aim at the centre, without second-order terms
            ds[:] = 0.0
            dl[:] = 0.0
            centre = gap
        _corrector(eta, point, lam, s, l, ds, dl, centre, right)
        _direction(problem, system, mode, give, right, primal, dual, dx, ds, dl, room, change)
        reach = _reach(s, ds, l, dl)
        for _ in range(2):
            if reach > 0.9:
                break
            aim, low = min(1.0, 1.3 * reach + 0.1), 0.1 * max(centre, 0.01 * gap)
            copy_into(right, right2)
            _recentre(eta, point, lam, ds, dl, aim, low, 100.0 * low, right2)
            _direction(problem, system, mode, give, right2, primal, dual, dx2, ds2, dl2, room, change)
            reach2 = _reach(s, ds2, l, dl2)
            if reach2 < reach + 0.03 * (aim - reach):
                break
            reach = reach2
            copy_into(dx2, dx)
            copy_into(ds2, ds)
            copy_into(dl2, dl)
            copy_into(right2, right)
        x += reach * dx
        s += reach * ds
        l += reach * dl
    copy_into(trail[best_at], x)
    return best, done

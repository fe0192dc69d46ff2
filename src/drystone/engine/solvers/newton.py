"""Newton on velocities and impulses together: the fast path of every law and both contact forms (T25).

    balance:  x - free - rows^T tau = 0
    law:      tau - respond(zeta) = 0,   zeta = tau - rho s,   s = w(x) + (tau - base) / sigma

Impulses are unknowns of their own, so a contact changes its state when the linearised impulse and velocity say so, and full
steps may be taken; a contact that presses is not judged by the stiff force of its overlap. rho > 0 weighs velocities against
impulses and changes the path, not the solution. Convergence is quadratic near a solution and not assured far from it: who
calls keeps slower ways (cascade.py).
"""

import numpy as np

from drystone.base.kernel import inner, kernel
from drystone.engine.solvers.cone import respond
from drystone.engine.solvers.linear.factorisation import assemble_matrix, factorise, solve_factorised
from drystone.engine.solvers.problem import copy_into, inner_product, momentum_into, relative_velocity_into
from drystone.engine.solvers.residual import AMPLIFIED

WANE = 0.95  # a round that brings the law's defect below this share of the best so far is progress
NEAR = 0.3  # after such a fall of the defect the last factor is thought to be near enough to use again
ROUNDS = 8  # of that at most: together they cost about a factorisation
ENOUGH = 0.003  # share of the imbalance that they may leave


@inner
def linearise(problem, base, sigma, rho, w, tau, weight, defect):
    """The law at (w, tau), made linear: d tau = -defect - weight dw. |tau - respond(zeta)|, weighted to a whitened velocity,
    goes back."""
    total = 0.0
    for c in range(tau.shape[0]):
        mu, psi, stiff, scale = problem.friction[c], problem.dilatancy[c], sigma[c], rho[c]
        t0, t1, t2 = tau[c, 0], tau[c, 1], tau[c, 2]
        s0 = w[c, 0] + (t0 - base[c, 0]) / stiff
        s1 = w[c, 1] + (t1 - base[c, 1]) / stiff
        s2 = w[c, 2] + (t2 - base[c, 2]) / stiff
        n, a, b = t0 - scale * s0, t1 - scale * s1, t2 - scale * s2
        r = np.sqrt(a * a + b * b)
        weight[c] = 0.0
        if psi * r <= -n:  # open
            defect[c, 0], defect[c, 1], defect[c, 2] = t0, t1, t2
            total += (t0 * t0 + t1 * t1 + t2 * t2) / scale
        elif r <= mu * n:  # stick
            weight[c, 0, 0] = weight[c, 1, 1] = weight[c, 2, 2] = stiff
            defect[c, 0], defect[c, 1], defect[c, 2] = stiff * s0, stiff * s1, stiff * s2
            total += scale * (s0 * s0 + s1 * s1 + s2 * s2)
        else:  # slide: respond' is the projector [1; mu u] [1; psi u]^T / (1 + mu psi), and `turn` across
            u, v, share = a / r, b / r, 1 / (1 + mu * psi)
            height = share * (n + psi * r)
            turn = mu * height / r
            side = 1 - turn + turn * scale / stiff
            d0, d1, d2 = t0 - height, t1 - mu * height * u, t2 - mu * height * v
            total += (d0 * d0 + d1 * d1 + d2 * d2) / scale
            along = share * (d0 + psi * (u * d1 + v * d2)) * (stiff / scale - 1)
            across = (u * d2 - v * d1) * (1 / side - 1)
            defect[c, 0] = d0 + along
            defect[c, 1] = d1 + along * mu * u - across * v
            defect[c, 2] = d2 + along * mu * v + across * u
            k, q = share * stiff, scale * turn / side
            weight[c, 0, 0] = k
            weight[c, 0, 1], weight[c, 0, 2] = k * psi * u, k * psi * v
            weight[c, 1, 0], weight[c, 2, 0] = k * mu * u, k * mu * v
            weight[c, 1, 1] = k * mu * psi * u * u + q * v * v
            weight[c, 1, 2] = weight[c, 2, 1] = (k * mu * psi - q) * u * v
            weight[c, 2, 2] = k * mu * psi * v * v + q * u * u
    return np.sqrt(total)


@inner
def gradient_into(problem, base, sigma, x, w, impulse, gradient):
    """The impulses that the law gives at x (w is given there), and what they leave unbalanced: in the associated law the
    gradient of theta (T14), whose value goes back."""
    value = 0.0
    for c in range(w.shape[0]):
        s = sigma[c]
        n, a, b = respond(base[c, 0] - s * w[c, 0], base[c, 1] - s * w[c, 1], base[c, 2] - s * w[c, 2],
                          problem.friction[c], problem.dilatancy[c])  # fmt: skip
        impulse[c, 0], impulse[c, 1], impulse[c, 2] = n, a, b
        value += (n * n + a * a + b * b) / s
    momentum_into(problem, impulse, gradient)
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            lag = x[i, k] - problem.free[i, k]
            gradient[i, k] = lag - gradient[i, k]
            value += lag * lag
    return 0.5 * value


@inner
def weigh(weight, v, out):
    """out = weight v for each contact."""
    for c in range(v.shape[0]):
        for k in range(3):
            out[c, k] = weight[c, k, 0] * v[c, 0] + weight[c, k, 1] * v[c, 1] + weight[c, k, 2] * v[c, 2]


@inner
def curvature_into(problem, weight, p, out):
    """out = p + rows^T weight rows p."""
    copy_into(p, out)
    for c in range(weight.shape[0]):
        k = weight[c]
        if k[0, 0] == 0.0 and k[1, 1] == 0.0 and k[2, 2] == 0.0:
            continue
        i, j = problem.a[c], problem.b[c]
        w0 = w1 = w2 = 0.0
        if i >= 0:
            for q in range(p.shape[1]):
                w0 += problem.row_a[c, 0, q] * p[i, q]
                w1 += problem.row_a[c, 1, q] * p[i, q]
                w2 += problem.row_a[c, 2, q] * p[i, q]
        if j >= 0:
            for q in range(p.shape[1]):
                w0 += problem.row_b[c, 0, q] * p[j, q]
                w1 += problem.row_b[c, 1, q] * p[j, q]
                w2 += problem.row_b[c, 2, q] * p[j, q]
        u0 = k[0, 0] * w0 + k[0, 1] * w1 + k[0, 2] * w2
        u1 = k[1, 0] * w0 + k[1, 1] * w1 + k[1, 2] * w2
        u2 = k[2, 0] * w0 + k[2, 1] * w1 + k[2, 2] * w2
        if i >= 0:
            for q in range(p.shape[1]):
                out[i, q] += problem.row_a[c, 0, q] * u0 + problem.row_a[c, 1, q] * u1 + problem.row_a[c, 2, q] * u2
        if j >= 0:
            for q in range(p.shape[1]):
                out[j, q] += problem.row_b[c, 0, q] * u0 + problem.row_b[c, 1, q] * u1 + problem.row_b[c, 2, q] * u2


@kernel
def refine(problem, system, weight, right, x):
    """x = (I + rows^T weight rows)^-1 right with the factor that the system holds, of earlier weights: by conjugate gradients
    if symmetric, else by repeated correction. False if ROUNDS are not enough."""
    symmetric = system.upper.shape[0] == 0
    r, y, h, p = right.copy(), np.empty_like(x), np.empty_like(x), np.zeros_like(x)
    x[:] = 0.0
    target, product, keep, length = ENOUGH * np.sqrt(inner_product(right, right)), 1.0, 0.0, 1.0
    for _ in range(ROUNDS):
        solve_factorised(system, r, y)
        if symmetric:
            last, product = product, inner_product(r, y)
            keep = product / last
        for i in range(x.shape[0]):
            for k in range(x.shape[1]):
                p[i, k] = y[i, k] + keep * p[i, k]
        curvature_into(problem, weight, p, h)
        if symmetric:
            length = product / inner_product(p, h)
        for i in range(x.shape[0]):
            for k in range(x.shape[1]):
                x[i, k] += length * p[i, k]
                r[i, k] -= length * h[i, k]
        if np.sqrt(inner_product(r, r)) <= target:
            return True
    return False


@kernel
def follow(problem, system, base, sigma, rho, x, tau, target, limit, patience, hard, factored):
    """Newton from (x, tau), both overwritten, until the error is at most `target`; at most `limit` factorisations. Gives up,
    with the x of least theta, after more than `patience` rounds without progress. The error is |gradient| at x, a bound in
    the associated law, with tau then the impulses of the law; if `hard`, where its stiffness would drown it in rounding, the
    defect of balance and, amplified, that of the law, after one step at least. `factored`: the system holds a factor worth
    trying first. Returns the error and the factorisations done."""
    count = tau.shape[0]
    w, defect, change = np.empty((count, 3)), np.empty((count, 3)), np.empty((count, 3))
    weight, impulse = np.empty((count, 3, 3)), np.empty((count, 3))
    gradient, step, right, lowest = np.empty_like(x), np.empty_like(x), np.empty_like(x), x.copy()
    done, idle, stepped = 0, 0, False
    least, best, before = np.inf, np.inf, np.inf
    while True:
        relative_velocity_into(problem, x, 1.0, w)
        fault = linearise(problem, base, sigma, rho, w, tau, weight, defect)
        momentum_into(problem, tau, right)
        for i in range(x.shape[0]):
            for k in range(x.shape[1]):
                right[i, k] += problem.free[i, k] - x[i, k]
        if hard:
            error = np.sqrt(inner_product(right, right)) + AMPLIFIED * fault
        else:
            theta = gradient_into(problem, base, sigma, x, w, impulse, gradient)
            error = np.sqrt(inner_product(gradient, gradient))
            if theta < least:
                least = theta
                copy_into(x, lowest)
        if error <= target and (stepped or not hard):
            if not hard:
                copy_into(impulse, tau)
            return error, done
        idle = 0 if fault <= WANE * best else idle + 1
        best = min(best, fault)
        if idle > patience or not np.isfinite(error):
            break
        momentum_into(problem, defect, gradient)
        right -= gradient
        if not (factored and fault <= NEAR * before and refine(problem, system, weight, right, step)):
            if done >= limit:
                break
            assemble_matrix(problem, system, weight)
            done += 1
            if not factorise(system):
                break
            factored = True
            solve_factorised(system, right, step)
        relative_velocity_into(problem, step, 0.0, w)
        weigh(weight, w, change)
        for c in range(count):
            for k in range(3):
                tau[c, k] -= defect[c, k] + change[c, k]
        x += step
        before, stepped = fault, True
    if not hard:
        copy_into(lowest, x)
    return error, done

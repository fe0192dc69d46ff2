"""Newton with line search on velocities alone: the sure path of the compliant associated law (T14).

    theta(x) = 1/2 |x - free|^2 + sum 1/(2 sigma) |P_K(z)|^2,   z = base - sigma w(x)
    impulse  = P_K(z),   gradient = x - free - rows^T impulse,   Hessian = I + rows^T sigma P_K'(z) rows

theta is 1-strongly convex: |x - x*| <= |gradient(x)|, a rigorous bound that costs nothing.
"""

import numpy as np

from drystone.base.kernel import inner, kernel
from drystone.engine.solvers.cone import derivative_into
from drystone.engine.solvers.linear.factorisation import assemble_matrix, factorise, solve_factorised
from drystone.engine.solvers.newton import NEAR, gradient_into, refine
from drystone.engine.solvers.problem import relative_velocity_into


@inner
def _slope(w, dw, t, base, sigma, friction):
    """First and second derivative along t of the contact part of theta at w + t dw."""
    first = 0.0
    second = 0.0
    for c in range(w.shape[0]):
        s, m = sigma[c], friction[c]
        d0, d1, d2 = dw[c, 0], dw[c, 1], dw[c, 2]
        n = base[c, 0] - s * (w[c, 0] + t * d0)
        a = base[c, 1] - s * (w[c, 1] + t * d1)
        b = base[c, 2] - s * (w[c, 2] + t * d2)
        r = np.sqrt(a * a + b * b)
        if m * r <= -n:
            continue
        if r <= m * n:
            first -= n * d0 + a * d1 + b * d2
            second += s * (d0 * d0 + d1 * d1 + d2 * d2)
        else:
            height = (n + m * r) / (1 + m * m)
            u = (a * d1 + b * d2) / r
            first -= height * (d0 + m * u)
            second += s * ((d0 + m * u) ** 2 / (1 + m * m) + m * height / r * (d1 * d1 + d2 * d2 - u * u))
    return first, second


@inner
def line_search(w, dw, base, sigma, friction, lag_slope, lag_curve):
    """Step t with |slope(t)| <= 0.1 |slope(0)|: t = 1 first, then Newton kept inside the bracket of the monotone slope."""
    start = lag_slope + _slope(w, dw, 0.0, base, sigma, friction)[0]
    if start >= 0.0:
        return 0.0
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(60):
        first, second = _slope(w, dw, t, base, sigma, friction)
        slope = lag_slope + t * lag_curve + first
        if abs(slope) <= 0.1 * abs(start):
            break
        if slope > 0.0:
            high = t
        else:
            low = t
        guess = t - slope / (lag_curve + second)
        if high == np.inf:
            t = min(max(guess, 1.2 * t), 4.0 * t)
            if t > 64.0:
                break
        else:
            inner = 0.02 * (high - low)
            t = guess if low + inner < guess < high - inner else 0.5 * (low + high)
            if high - low < 1e-13:
                break
    return t


@inner
def _stretch(base, sigma, w, z):
    """z = base - sigma w."""
    for c in range(w.shape[0]):
        for k in range(3):
            z[c, k] = base[c, k] - sigma[c] * w[c, k]


@kernel
def minimise(problem, system, base, sigma, x, impulse, target, limit):
    """Newton from x (overwritten, impulse too) until |gradient| <= target, with at most `limit` factorisations; one is used
    again while the gradient falls fast. Returns |gradient| and the factorisations done."""
    count = base.shape[0]
    z, w, dw, weight = np.empty((count, 3)), np.empty((count, 3)), np.empty((count, 3)), np.empty((count, 3, 3))
    gradient, step = np.empty_like(x), np.empty_like(x)
    done, before = 0, np.inf
    while True:
        relative_velocity_into(problem, x, 1.0, w)
        gradient_into(problem, base, sigma, x, w, impulse, gradient)
        norm = np.sqrt(np.sum(gradient * gradient))
        if norm <= target or not np.isfinite(norm):
            return norm, done
        _stretch(base, sigma, w, z)
        derivative_into(z, sigma, problem.friction, problem.dilatancy, weight)
        if not (done > 0 and norm <= NEAR * before and refine(problem, system, weight, gradient, step)):
            if done >= limit:
                return norm, done
            assemble_matrix(problem, system, weight)
            done += 1
            if not factorise(system):
                return norm, done
            solve_factorised(system, gradient, step)
        step *= -1.0
        relative_velocity_into(problem, step, 0.0, dw)
        slope = np.sum(step * (x - problem.free))
        t = line_search(w, dw, base, sigma, problem.friction, slope, np.sum(step * step))
        if t == 0.0:
            return norm, done
        x += t * step
        before = norm

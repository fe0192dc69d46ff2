"""Semismooth Newton on the one function both contact forms share (T14).

    theta(x) = 1/2 |x - free|^2 + sum 1/(2 sigma) |P_K(z)|^2,   z = base - sigma w(x)
    impulse  = P_K(z),   gradient = x - free - rows^T impulse,   Hessian = I + rows^T sigma P_K'(z) rows

theta is 1-strongly convex: |x - x*| <= |gradient(x)|, a rigorous bound that costs nothing.
Compliant form: sigma = 1 / compliance, base = memory, minimised once. Rigid form: sigma large, base = the impulses so
far, minimised in an outer loop (augmented Lagrangian).
"""

import numpy as np

from drystone.kernel import kernel
from drystone.problem import momentum_into, relative_velocity_into
from drystone.solvers.cone import derivative_into, project, project_all
from drystone.solvers.factor import assemble, factorise, solve


@kernel
def gradient_into(problem, base, sigma, x, w, impulse, gradient):
    """Impulse and gradient at x (w is given there); the value of theta goes back."""
    value = 0.0
    for c in range(w.shape[0]):
        s = sigma[c]
        n, a, b = project(base[c, 0] - s * w[c, 0], base[c, 1] - s * w[c, 1], base[c, 2] - s * w[c, 2], problem.friction[c])
        impulse[c, 0], impulse[c, 1], impulse[c, 2] = n, a, b
        value += (n * n + a * a + b * b) / s
    momentum_into(problem, impulse, gradient)
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            lag = x[i, k] - problem.free[i, k]
            gradient[i, k] = lag - gradient[i, k]
            value += lag * lag
    return 0.5 * value


@kernel
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


@kernel
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


@kernel
def _weigh(weight, v, out):
    """out = weight v for each contact."""
    for c in range(v.shape[0]):
        for k in range(3):
            out[c, k] = weight[c, k, 0] * v[c, 0] + weight[c, k, 1] * v[c, 1] + weight[c, k, 2] * v[c, 2]


@kernel
def _stretch(base, sigma, w, z):
    """z = base - sigma w."""
    for c in range(w.shape[0]):
        for k in range(3):
            z[c, k] = base[c, k] - sigma[c] * w[c, k]


@kernel
def _imbalance(problem, x, impulse, out):
    """|out| with out = x - free - rows^T impulse."""
    momentum_into(problem, impulse, out)
    total = 0.0
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            out[i, k] = x[i, k] - problem.free[i, k] - out[i, k]
            total += out[i, k] * out[i, k]
    return np.sqrt(total)


@kernel
def predict(problem, system, weight, base, sigma, drift, x):
    """Where theta would be least if every contact kept the state (stick, slip, open) it had at `drift`; x is moved there
    if theta falls. One factorisation, left in the system, with its `weight`. False if that failed."""
    count = base.shape[0]
    z, u = np.empty((count, 3)), np.empty((count, 3))
    _stretch(base, sigma, drift, z)
    derivative_into(z, sigma, problem.friction, problem.dilatancy, weight)
    assemble(problem, system, weight)
    if not factorise(system):
        return False
    for c in range(count):  # right-hand side free + rows^T weight (base / sigma - bias)
        for k in range(3):
            z[c, k] = base[c, k] / sigma[c] - problem.bias[c, k]
    _weigh(weight, z, u)
    right, trial, w = np.empty_like(x), np.empty_like(x), np.empty((count, 3))
    momentum_into(problem, u, right)
    right += problem.free
    solve(system, right, trial)
    relative_velocity_into(problem, x, 1.0, w)
    before = gradient_into(problem, base, sigma, x, w, z, right)
    relative_velocity_into(problem, trial, 1.0, w)
    if gradient_into(problem, base, sigma, trial, w, z, right) < before:
        x[:] = trial
    return True


@kernel
def minimise(problem, system, weight, base, sigma, x, impulse, target, short, limit, least, factored):
    """Newton from x (overwritten, impulse too) until |gradient| <= target. At most `limit` factorisations; gives up when
    the line search allows less than `least`. `factored`: the system holds a factor (of `weight`) worth trying; a factor is
    used again as long as it cuts the gradient tenfold. Returns |imbalance of momentum| and the factorisations done.

    Also ends with a Newton step no longer than `short` if the linearised impulses, put back on their cones, balance momentum
    to `target`: the gradient multiplies velocities by sigma, and with sigma large its noise hides that they are there."""
    count = base.shape[0]
    z, w, dw, trial = np.empty((count, 3)), np.empty((count, 3)), np.empty((count, 3)), np.empty((count, 3))
    gradient, step, moved = np.empty_like(x), np.empty_like(x), np.empty_like(x)
    done, before = 0, np.inf
    while True:
        relative_velocity_into(problem, x, 1.0, w)
        gradient_into(problem, base, sigma, x, w, impulse, gradient)
        norm = np.sqrt(np.sum(gradient * gradient))
        if norm <= target or not np.isfinite(norm):
            return norm, done
        if not (factored and norm <= 0.1 * before):
            if done >= limit:
                return norm, done
            _stretch(base, sigma, w, z)
            derivative_into(z, sigma, problem.friction, problem.dilatancy, weight)
            assemble(problem, system, weight)
            done += 1
            if not factorise(system):
                return norm, done
            factored = True
        solve(system, gradient, step)
        step *= -1.0
        relative_velocity_into(problem, step, 0.0, dw)
        length = np.sqrt(np.sum(step * step))
        if length <= short:
            _weigh(weight, dw, trial)
            trial[:] = project_all(impulse - trial, problem.friction)
            moved[:] = x + step
            balance = _imbalance(problem, moved, trial, gradient)
            if balance <= target:
                x[:] = moved
                impulse[:] = trial
                return balance, done
        slope = np.sum(step * (x - problem.free))
        t = line_search(w, dw, base, sigma, problem.friction, slope, np.sum(step * step))
        if t <= least:
            return norm, done
        x += t * step
        before = norm

"""One contact by itself with its exact law: the impulse r at which, from the impulse p and slip s it has now (T24),

    v = s + W (r - p),    r = respond(r - scale v)        for any scale > 0, with `cone.respond` of (T20).

For psi = 0 this is the function of Alart and Curnier, for psi = mu the natural map. Generalised Newton finds its zero in two to
four steps as a rule. Where it cycles, the states are tried: stick, and slide as a root of one equation in the direction.
"""

import numpy as np

from drystone.base.kernel import inner
from drystone.engine.solvers.cone import project, respond

STEPS = 12  # of Newton
ANGLES = 32  # directions of sliding looked at before a root is refined
EXACT = 1e-13  # defect of a solved contact, relative to its impulse and slip
FAIR = 1e-9  # the same, from which on Newton's answer is taken although it went no further


@inner
def local_impulse(w, s0, s1, s2, mu, psi, p0, p1, p2):
    """The new impulse of a contact, on its cone. w (3, 3) is positive definite; 0 <= psi <= mu."""
    f0, f1, f2 = _slip(w, s0, s1, s2, -p0, -p1, -p2)  # without impulse
    if f0 >= psi * np.sqrt(f1 * f1 + f2 * f2):
        return 0.0, 0.0, 0.0
    if mu == 0.0:
        return -f0 / w[0, 0], 0.0, 0.0
    scale = 3.0 / (w[0, 0] + w[1, 1] + w[2, 2])
    size = abs(p0) + abs(p1) + abs(p2) + scale * (abs(f0) + abs(f1) + abs(f2))
    defect, r0, r1, r2 = _newton(w, s0, s1, s2, mu, psi, p0, p1, p2, scale, EXACT * size)
    if not defect <= FAIR * size:
        r0, r1, r2 = _by_states(w, f0, f1, f2, mu, psi, scale, size)
    return project(r0, r1, r2, mu)


@inner
def _slip(w, s0, s1, s2, d0, d1, d2):
    """s + w d."""
    return (
        s0 + w[0, 0] * d0 + w[0, 1] * d1 + w[0, 2] * d2,
        s1 + w[1, 0] * d0 + w[1, 1] * d1 + w[1, 2] * d2,
        s2 + w[2, 0] * d0 + w[2, 1] * d1 + w[2, 2] * d2,
    )


@inner
def _newton(w, s0, s1, s2, mu, psi, p0, p1, p2, scale, target):
    """Least defect |F| met and the impulse there, F = r - respond(r - scale v), on the way from p."""
    r0, r1, r2 = p0, p1, p2
    least, b0, b1, b2 = np.inf, p0, p1, p2
    for _ in range(STEPS + 1):
        v0, v1, v2 = _slip(w, s0, s1, s2, r0 - p0, r1 - p1, r2 - p2)
        n, t1, t2 = r0 - scale * v0, r1 - scale * v1, r2 - scale * v2
        q0, q1, q2 = respond(n, t1, t2, mu, psi)
        g0, g1, g2 = r0 - q0, r1 - q1, r2 - q2
        defect = abs(g0) + abs(g1) + abs(g2)
        if defect < least:
            least, b0, b1, b2 = defect, r0, r1, r2
        if not defect > target:
            break
        length = np.sqrt(t1 * t1 + t2 * t2)
        if psi * length <= -n:
            d0, d1, d2 = r0, r1, r2
        elif length <= mu * n:
            d0, d1, d2 = _solve(w[0, 0], w[0, 1], w[0, 2], w[1, 0], w[1, 1], w[1, 2], w[2, 0], w[2, 1], w[2, 2], v0, v1, v2)
        else:
            d0, d1, d2 = _slide_step(w, mu, psi, scale, n, length, t1 / length, t2 / length, g0, g1, g2)
        r0, r1, r2 = r0 - d0, r1 - d1, r2 - d2
    return least, b0, b1, b2


@inner
def _slide_step(w, mu, psi, scale, n, length, u1, u2, g0, g1, g2):
    """Newton step J^-1 g of a sliding contact, J = I - M (I - scale W) with M the derivative of `respond` (T20), which turns a
    change (n, along u, across u) into k (n + psi along) (1, mu u) and `side` times the change across."""
    k = 1 / (1 + mu * psi)
    side = k * mu * (n + psi * length) / length
    a0, a1, a2 = _column(w, 0, 1.0, 0.0, 0.0, mu, psi, scale, k, side, u1, u2)
    b0, b1, b2 = _column(w, 1, 0.0, 1.0, 0.0, mu, psi, scale, k, side, u1, u2)
    c0, c1, c2 = _column(w, 2, 0.0, 0.0, 1.0, mu, psi, scale, k, side, u1, u2)
    return _solve(a0, b0, c0, a1, b1, c1, a2, b2, c2, g0, g1, g2)


@inner
def _column(w, j, e0, e1, e2, mu, psi, scale, k, side, u1, u2):
    """Column j of J; e is the unit vector."""
    z0, z1, z2 = e0 - scale * w[0, j], e1 - scale * w[1, j], e2 - scale * w[2, j]
    height, across = k * (z0 + psi * (u1 * z1 + u2 * z2)), side * (u1 * z2 - u2 * z1)
    return e0 - height, e1 - mu * height * u1 + across * u2, e2 - mu * height * u2 - across * u1


@inner
def _solve(a, b, c, d, e, f, g, h, i, x, y, z):
    """(a b c; d e f; g h i)^-1 (x, y, z) by cofactors."""
    m0, m1, m2 = e * i - f * h, f * g - d * i, d * h - e * g
    k = 1 / (a * m0 + b * m1 + c * m2)
    return (
        k * (x * m0 + y * (c * h - b * i) + z * (b * f - c * e)),
        k * (x * m1 + y * (a * i - c * g) + z * (c * d - a * f)),
        k * (x * m2 + y * (b * g - a * h) + z * (a * e - b * d)),
    )


@inner
def _by_states(w, f0, f1, f2, mu, psi, scale, size):
    """Stick if it can; else Newton once more from the best of all ways to slide. f is the slip without impulse."""
    n, a, b = _solve(w[0, 0], w[0, 1], w[0, 2], w[1, 0], w[1, 1], w[1, 2], w[2, 0], w[2, 1], w[2, 2], -f0, -f1, -f2)
    if np.sqrt(a * a + b * b) <= mu * n:
        return n, a, b
    least, r0, r1, r2 = np.inf, 0.0, 0.0, 0.0
    start, before = 0.0, _turn(w, f0, f1, f2, mu, psi, 0.0)[0]
    for k in range(ANGLES):
        end = 2 * np.pi * (k + 1) / ANGLES
        after = _turn(w, f0, f1, f2, mu, psi, end)[0]
        angle = _root(w, f0, f1, f2, mu, psi, start, end, before) if before * after <= 0.0 else end
        n = _turn(w, f0, f1, f2, mu, psi, angle)[1]
        a, b = mu * n * np.cos(angle), mu * n * np.sin(angle)
        v0, v1, v2 = _slip(w, f0, f1, f2, n, a, b)
        q0, q1, q2 = respond(n - scale * v0, a - scale * v1, b - scale * v2, mu, psi)
        defect = abs(n - q0) + abs(a - q1) + abs(b - q2)
        if n >= 0.0 and defect < least:
            least, r0, r1, r2 = defect, n, a, b
        start, before = end, after
    v0, v1, v2 = _slip(w, f0, f1, f2, r0, r1, r2)
    _, r0, r1, r2 = _newton(w, v0, v1, v2, mu, psi, r0, r1, r2, scale, EXACT * size)
    return r0, r1, r2


@inner
def _turn(w, f0, f1, f2, mu, psi, angle):
    """With the impulse n (1, mu u(angle)), sliding: the slip across u, times a factor that takes away its pole, and n."""
    u1, u2 = np.cos(angle), np.sin(angle)
    y0, y1, y2 = _slip(w, 0.0, 0.0, 0.0, 1.0, mu * u1, mu * u2)  # slip per n
    bottom, top = y0 + psi * (y1 * u1 + y2 * u2), -(f0 + psi * (f1 * u1 + f2 * u2))
    return top * (y2 * u1 - y1 * u2) + bottom * (f2 * u1 - f1 * u2), top / bottom


@inner
def _root(w, f0, f1, f2, mu, psi, low, high, at_low):
    """The zero of `_turn` between two angles, by bisection."""
    for _ in range(50):
        middle = 0.5 * (low + high)
        if _turn(w, f0, f1, f2, mu, psi, middle)[0] * at_low > 0.0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)

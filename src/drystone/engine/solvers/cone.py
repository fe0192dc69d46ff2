"""The friction cone K = {|t| <= mu n}, its projection and the derivative of the projection (T13).

>>> project(1.0, 2.0, 0.0, 1.0)
(1.5, 1.5, 0.0)
>>> project(-1.0, 0.5, 0.0, 1.0)
(0.0, 0.0, 0.0)
"""

import numpy as np

from drystone.base.kernel import inlined, inner, kernel


@inlined
def project(n, a, b, mu):
    """Nearest point of K."""
    r = np.sqrt(a * a + b * b)
    if mu * r <= -n:  # first: without friction a pulling impulse passes the next test too
        return 0.0, 0.0, 0.0
    if r <= mu * n:
        return n, a, b
    height = (n + mu * r) / (1 + mu * mu)
    return height, mu * height * a / r, mu * height * b / r


@inlined
def respond(n, a, b, mu, psi):
    """Impulse of a contact that a trial impulse (n, a, b) would bring out of K: sliding brings it back along the flow
    (dilatancy psi). psi = mu is `project`, psi = 0 Coulomb's law."""
    r = np.sqrt(a * a + b * b)
    if psi * r <= -n:
        return 0.0, 0.0, 0.0
    if r <= mu * n:
        return n, a, b
    height = (n + psi * r) / (1 + mu * psi)
    return height, mu * height * a / r, mu * height * b / r


@kernel
def project_all(z, mu):
    """Projection of each z (C, 3) on its cone."""
    out = np.empty_like(z)
    for c in range(z.shape[0]):
        out[c, 0], out[c, 1], out[c, 2] = project(z[c, 0], z[c, 1], z[c, 2], mu[c])
    return out


@inner
def derivative_into(z, scale, mu, psi, out):
    """scale times the derivative of `respond` at z (T20), (C, 3, 3); zero where the contact is open."""
    for c in range(z.shape[0]):
        n, a, b, m, p, s = z[c, 0], z[c, 1], z[c, 2], mu[c], psi[c], scale[c]
        r = np.sqrt(a * a + b * b)
        if p * r <= -n:
            out[c] = 0.0
        elif r <= m * n:
            out[c] = 0.0
            out[c, 0, 0] = out[c, 1, 1] = out[c, 2, 2] = s
        else:
            u, v = a / r, b / r
            k = s / (1 + m * p)
            q = k * m * (n + p * r) / r
            out[c, 0, 0] = k
            out[c, 0, 1], out[c, 0, 2] = k * p * u, k * p * v
            out[c, 1, 0], out[c, 2, 0] = k * m * u, k * m * v
            out[c, 1, 1] = k * m * p * u * u + q * v * v
            out[c, 1, 2] = out[c, 2, 1] = (k * m * p - q) * u * v
            out[c, 2, 2] = k * m * p * v * v + q * u * u

"""The friction cone K = {|t| <= mu n}, its projection and the derivative of the projection (T13).

>>> project(1.0, 2.0, 0.0, 1.0)
(1.5, 1.5, 0.0)
>>> project(-1.0, 0.5, 0.0, 1.0)
(0.0, 0.0, 0.0)
"""

import numba
import numpy as np

from drystone.kernel import kernel

_inlined = numba.njit(cache=True, error_model="numpy", inline="always")


@_inlined
def project(n, a, b, mu):
    """Nearest point of K."""
    r = np.sqrt(a * a + b * b)
    if mu * r <= -n:  # first: without friction a pulling impulse passes the next test too
        return 0.0, 0.0, 0.0
    if r <= mu * n:
        return n, a, b
    height = (n + mu * r) / (1 + mu * mu)
    return height, mu * height * a / r, mu * height * b / r


@kernel
def dual_distance(w, mu):
    """Distance of each w (C, 3) to K*: how fast a contact closes, friction included. dist(w, K*) = |P_K(-w)|."""
    out = np.empty(w.shape[0])
    for c in range(w.shape[0]):
        n, a, b = project(-w[c, 0], -w[c, 1], -w[c, 2], mu[c])
        out[c] = np.sqrt(n * n + a * a + b * b)
    return out


@kernel
def project_all(z, mu):
    """Projection of each z (C, 3) on its cone."""
    out = np.empty_like(z)
    for c in range(z.shape[0]):
        out[c, 0], out[c, 1], out[c, 2] = project(z[c, 0], z[c, 1], z[c, 2], mu[c])
    return out


@kernel
def derivative_into(z, scale, mu, out):
    """scale * P_K'(z), symmetric, as (nn, n1, n2, 11, 12, 22); zero where the contact is open."""
    for c in range(z.shape[0]):
        n, a, b, m, s = z[c, 0], z[c, 1], z[c, 2], mu[c], scale[c]
        r = np.sqrt(a * a + b * b)
        if m * r <= -n:
            out[c] = 0.0
        elif r <= m * n:
            out[c, 0], out[c, 1], out[c, 2], out[c, 3], out[c, 4], out[c, 5] = s, 0.0, 0.0, s, 0.0, s
        else:
            u, v = a / r, b / r
            k = s / (1 + m * m)
            q = k * m * (n + m * r) / r
            out[c, 0], out[c, 1], out[c, 2] = k, k * m * u, k * m * v
            out[c, 3] = k * m * m * u * u + q * v * v
            out[c, 4] = (k * m * m - q) * u * v
            out[c, 5] = k * m * m * v * v + q * u * u

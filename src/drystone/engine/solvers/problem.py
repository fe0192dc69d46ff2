"""The contact problem of one step, as arrays and one equation.

With the whitened velocity x = root^T v (mass matrix = root root^T) and w = rows x + bias at each contact (T9):

    x = free + rows^T impulse,    impulse in K,    s in K*,    impulse . s = 0
    K = {|t| <= friction n},      K* = {friction |t| <= n}
    s = slip + (friction - dilatancy) |slip_t| normal,    slip = w + compliance (impulse - memory)

compliance = 0 is the rigid form (hard contact), compliance > 0 the compliant one. dilatancy = friction is the associated law,
one convex program; dilatancy = 0 is Coulomb's exact law, by the shift of De Saxce (T19). Solvers see nothing else.
"""

from typing import NamedTuple

import numpy as np

from drystone.base.kernel import inner, kernel

Array = np.ndarray


class Problem(NamedTuple):
    """N bodies with D unknowns each (free blocks: 6, in the plane 3), C contacts sorted by pair. Contact vectors are (normal,
    tangent, tangent)."""

    a: Array  # (C,) int64 free body, or -1 for a support
    b: Array  # (C,) int64
    row_a: Array  # (C, 3, D) [kg^-1/2] relative velocity per whitened velocity of body a
    row_b: Array  # (C, 3, D)
    bias: Array  # (C, 3) [m/s] gap / h and the velocity of supports
    friction: Array  # (C,)
    dilatancy: Array  # (C,) opening per sliding: friction is the associated law, 0 Coulomb's
    compliance: Array  # (C,) [1/kg] 1 / (h^2 stiffness); 0 is rigid
    memory: Array  # (C, 3) [N s] impulse at which a compliant contact is unstrained
    free: Array  # (N, D) [kg^1/2 m/s] whitened velocity without contact
    mass: Array  # (N,) [kg]
    place: Array  # (N, 3) [m] where the bodies stood at the start: solvers may order them by it
    speed: float  # [m/s] g times the time step, the scale of velocities
    total_mass: float  # [kg]


@kernel
def whiten(mass, inverse_root, velocity):
    """Whitened velocity (N, 6) of a velocity (N, 6): x = root^T v. mass (N,), inverse_root (N, 3, 3) of the lower root of the
    rotational inertia."""
    out = np.empty_like(velocity)
    for i in range(velocity.shape[0]):
        scale = np.sqrt(mass[i])
        for k in range(3):
            out[i, k] = scale * velocity[i, k]
        r = inverse_root[i]  # solve r^T y = omega backwards: r is lower triangular
        y2 = velocity[i, 5] / r[2, 2]
        y1 = (velocity[i, 4] - r[2, 1] * y2) / r[1, 1]
        out[i, 3] = (velocity[i, 3] - r[1, 0] * y1 - r[2, 0] * y2) / r[0, 0]
        out[i, 4] = y1
        out[i, 5] = y2
    return out


def unknowns_of(velocity: Array, planar: bool) -> Array:
    """What of velocities or rows (..., 6) is unknown: all, or in the plane x, z and the rotation about y (T50)."""
    return np.ascontiguousarray(velocity[..., :: 2 if planar else 1])


def unwhiten(mass: Array, inverse_root: Array, x: Array) -> Array:
    """Velocity (N, 6) of a whitened velocity (N, D); what is not unknown is zero."""
    full = np.zeros((len(x), 6))
    full[:, :: 6 // x.shape[1]] = x
    return _unwhiten(mass, inverse_root, full)


@kernel
def _unwhiten(mass, inverse_root, x):
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        scale = 1 / np.sqrt(mass[i])
        r = inverse_root[i]
        for k in range(3):
            out[i, k] = scale * x[i, k]
            out[i, 3 + k] = r[0, k] * x[i, 3] + r[1, k] * x[i, 4] + r[2, k] * x[i, 5]
    return out


def velocity_scale(problem: Problem) -> float:
    """[kg^1/2 m/s] The norm by which errors of all whitened velocities are divided: g h at every block."""
    return float(problem.speed * np.sqrt(problem.total_mass))


@kernel
def relative_velocity(problem, x):
    """w = rows x + bias, (C, 3)."""
    out = np.empty_like(problem.bias)
    relative_velocity_into(problem, x, 1.0, out)
    return out


@inner
def relative_velocity_into(problem, x, with_bias, out):
    """out = rows x + with_bias * bias."""
    for c in range(problem.a.shape[0]):
        w0 = with_bias * problem.bias[c, 0]
        w1 = with_bias * problem.bias[c, 1]
        w2 = with_bias * problem.bias[c, 2]
        i = problem.a[c]
        if i >= 0:
            for k in range(x.shape[1]):
                w0 += problem.row_a[c, 0, k] * x[i, k]
                w1 += problem.row_a[c, 1, k] * x[i, k]
                w2 += problem.row_a[c, 2, k] * x[i, k]
        j = problem.b[c]
        if j >= 0:
            for k in range(x.shape[1]):
                w0 += problem.row_b[c, 0, k] * x[j, k]
                w1 += problem.row_b[c, 1, k] * x[j, k]
                w2 += problem.row_b[c, 2, k] * x[j, k]
        out[c, 0] = w0
        out[c, 1] = w1
        out[c, 2] = w2


@inner
def momentum_into(problem, impulse, out):
    """out = rows^T impulse, (N, D): the whitened velocity that impulses give."""
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[i, k] = 0.0
    for c in range(problem.a.shape[0]):
        p0, p1, p2 = impulse[c, 0], impulse[c, 1], impulse[c, 2]
        if p0 == 0.0 and p1 == 0.0 and p2 == 0.0:
            continue
        i = problem.a[c]
        if i >= 0:
            for k in range(out.shape[1]):
                out[i, k] += problem.row_a[c, 0, k] * p0 + problem.row_a[c, 1, k] * p1 + problem.row_a[c, 2, k] * p2
        j = problem.b[c]
        if j >= 0:
            for k in range(out.shape[1]):
                out[j, k] += problem.row_b[c, 0, k] * p0 + problem.row_b[c, 1, k] * p1 + problem.row_b[c, 2, k] * p2


@inner
def copy_into(values, out):
    """out = values, tables of the same shape. Assigning a whole array compiles for seconds, mostly for the text of an error."""
    for i in range(values.shape[0]):
        for k in range(values.shape[1]):
            out[i, k] = values[i, k]


@inner
def inner_product(a, b):
    """Sum of the products of the numbers of two tables."""
    total = 0.0
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            total += a[i, k] * b[i, k]
    return total

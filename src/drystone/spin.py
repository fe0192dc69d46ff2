"""Rotation of one body over a step: the exponential map and the inertia of the step (T3-T6).

Implicit form (NB appendix): J(omega) omega = angular momentum, with J at the end of the step, is solved for the
torque-free spin; the contact impulses act on the positive part H of the Jacobian there, which makes the step convex.
Explicit form: H = J at the start, the gyroscopic couple taken from the start.
"""

import numpy as np

from drystone.kernel import kernel


@kernel
def turn_by(q, vector):
    """Quaternion of `exp(vector) q`: the rotation q followed by a turn of |vector| [rad] about vector."""
    x, y, z = vector[0], vector[1], vector[2]
    angle = np.sqrt(x * x + y * y + z * z)
    half = 0.5 * angle
    k = 0.5 * (1.0 - half * half / 6.0) if angle < 1e-4 else np.sin(half) / angle
    s, x, y, z = np.cos(half), k * x, k * y, k * z
    out = np.array(
        [
            s * q[0] - x * q[1] - y * q[2] - z * q[3],
            s * q[1] + x * q[0] + y * q[3] - z * q[2],
            s * q[2] + y * q[0] + z * q[1] - x * q[3],
            s * q[3] + z * q[0] + x * q[2] - y * q[1],
        ]
    )
    return out / np.sqrt(np.sum(out * out))


@kernel
def matrix_of(q):
    """Rotation matrix, body to world."""
    s, x, y, z = q[0], q[1], q[2], q[3]
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - s * z), 2 * (x * z + s * y)],
            [2 * (x * y + s * z), 1 - 2 * (x * x + z * z), 2 * (y * z - s * x)],
            [2 * (x * z - s * y), 2 * (y * z + s * x), 1 - 2 * (x * x + y * y)],
        ]
    )


@kernel
def _product(a, b):
    """3x3 matrix product (np.dot would go through BLAS)."""
    out = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            for k in range(3):
                out[i, j] += a[i, k] * b[k, j]
    return out


@kernel
def world_inertia(q, inertia):
    """R inertia R^T."""
    r = matrix_of(q)
    return _product(_product(r, inertia), r.T)


@kernel
def times(a, v):
    """Matrix (3, 3) times vector (3,)."""
    out = np.zeros(3)
    for i in range(3):
        out[i] = a[i, 0] * v[0] + a[i, 1] * v[1] + a[i, 2] * v[2]
    return out


@kernel
def _cross_matrix(v):
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


@kernel
def _jacobian(j, spin, h):
    """d(J omega)/d omega at the end of a turn by h omega (T5; NB A.1-A.2 with the increment omega h)."""
    turn = h * spin
    angle = np.sqrt(np.sum(turn * turn))
    if angle < 1e-3:
        first, second = 0.5 - angle**2 / 24, 1.0 / 6 - angle**2 / 120
    else:
        first, second = (1 - np.cos(angle)) / angle**2, (angle - np.sin(angle)) / angle**3
    omega = _cross_matrix(turn)
    b = np.eye(3) + first * omega + second * _product(omega, omega)
    return j + h * _product(_product(j, _cross_matrix(spin)) - _cross_matrix(times(j, spin)), b)


@kernel
def _solve3(a, b):
    """Solution of a 3x3 system by Cramer's rule."""
    c0 = a[1, 1] * a[2, 2] - a[1, 2] * a[2, 1]
    c1 = a[1, 2] * a[2, 0] - a[1, 0] * a[2, 2]
    c2 = a[1, 0] * a[2, 1] - a[1, 1] * a[2, 0]
    det = a[0, 0] * c0 + a[0, 1] * c1 + a[0, 2] * c2
    out = np.empty(3)
    out[0] = b[0] * c0 + b[1] * (a[0, 2] * a[2, 1] - a[0, 1] * a[2, 2]) + b[2] * (a[0, 1] * a[1, 2] - a[0, 2] * a[1, 1])
    out[1] = b[0] * c1 + b[1] * (a[0, 0] * a[2, 2] - a[0, 2] * a[2, 0]) + b[2] * (a[0, 2] * a[1, 0] - a[0, 0] * a[1, 2])
    out[2] = b[0] * c2 + b[1] * (a[0, 1] * a[2, 0] - a[0, 0] * a[2, 1]) + b[2] * (a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0])
    return out / det


@kernel
def torque_free(q, inertia, momentum, spin, h):
    """Spin omega with J(exp(h omega) q) omega = momentum, by Newton from `spin`, and the Jacobian there."""
    scale = np.sqrt(np.sum(momentum * momentum))
    omega = spin.copy()
    for _ in range(20):
        j = world_inertia(turn_by(q, h * omega), inertia)
        defect = times(j, omega) - momentum
        jacobian = _jacobian(j, omega, h)
        if np.sqrt(np.sum(defect * defect)) <= 4e-16 * scale:
            break
        omega = omega - _solve3(jacobian, defect)
    return omega, jacobian


@kernel
def smallest_moment(inertia):
    """A lower bound [kg m2] of the smallest principal moment: det / (trace / 2)^2."""
    a = inertia
    det = (
        a[0, 0] * (a[1, 1] * a[2, 2] - a[1, 2] * a[2, 1])
        + a[0, 1] * (a[1, 2] * a[2, 0] - a[1, 0] * a[2, 2])
        + a[0, 2] * (a[1, 0] * a[2, 1] - a[1, 1] * a[2, 0])
    )
    return 4.0 * det / (a[0, 0] + a[1, 1] + a[2, 2]) ** 2


@kernel
def positive_root(matrix, least):
    """Lower root of the positive part of a 3x3 matrix: symmetric part, its eigenvalues raised to `least` if a pivot of
    its root is below that (NB A.3 has 0, which no mass matrix can be; it takes a turn of about a radian a step)."""
    half = 0.5 * (matrix + matrix.T)
    root = _lower_root(half, least)
    if root[0, 0] > 0.0:
        return root
    value, vector = np.linalg.eigh(half)
    return _lower_root(_product(vector * np.maximum(value, least), vector.T), 0.0)


@kernel
def _lower_root(a, least):
    """Lower Cholesky root of a symmetric 3x3 matrix; zeros if a pivot is below `least`."""
    out = np.zeros((3, 3))
    for j in range(3):
        pivot = a[j, j]
        for k in range(j):
            pivot -= out[j, k] ** 2
        if pivot < least:
            return np.zeros((3, 3))
        out[j, j] = np.sqrt(pivot)
        for i in range(j + 1, 3):
            value = a[i, j]
            for k in range(j):
                value -= out[i, k] * out[j, k]
            out[i, j] = value / out[j, j]
    return out


@kernel
def invert_lower(r):
    """Inverse of a lower triangular 3x3 matrix."""
    out = np.zeros((3, 3))
    for k in range(3):
        out[k, k] = 1.0 / r[k, k]
    out[1, 0] = -r[1, 0] * out[0, 0] * out[1, 1]
    out[2, 1] = -r[2, 1] * out[1, 1] * out[2, 2]
    out[2, 0] = -(r[2, 0] * out[0, 0] + r[2, 1] * out[1, 0]) * out[2, 2]
    return out

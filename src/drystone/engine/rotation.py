"""Rotation of one body over a step: the exponential map and the inertia of the step (T3-T6).

Implicit form (NB appendix): J(omega) omega = angular momentum, with J at the end of the step, is solved for the
torque-free spin; the contact impulses act on the positive part H of the Jacobian there, which makes the step convex.
Explicit form: H = J at the start of the step, as is the gyroscopic couple.

Vectors and matrices (by rows) are tuples: allocating small arrays would take ten times as long as the computation.
"""

import numpy as np

from drystone.base.kernel import inner, kernel


@inner
def turn_quaternion(q, v, h):
    """The quaternion `exp(h v) q`: the rotation q, followed by a rotation by h |v| [rad] about v."""
    x, y, z = h * v[0], h * v[1], h * v[2]
    angle = np.sqrt(x * x + y * y + z * z)
    half = 0.5 * angle
    k = 0.5 * (1.0 - half * half / 6.0) if angle < 1e-4 else np.sin(half) / angle
    s, x, y, z = np.cos(half), k * x, k * y, k * z
    a = s * q[0] - x * q[1] - y * q[2] - z * q[3]
    b = s * q[1] + x * q[0] + y * q[3] - z * q[2]
    c = s * q[2] + y * q[0] + z * q[1] - x * q[3]
    d = s * q[3] + z * q[0] + x * q[2] - y * q[1]
    norm = np.sqrt(a * a + b * b + c * c + d * d)
    return a / norm, b / norm, c / norm, d / norm


@kernel
def move_freely(position, rotation, velocity, h):
    """Positions and rotations after a time h at constant velocity (T2)."""
    new_position, new_rotation = np.empty_like(position), np.empty_like(rotation)
    for i in range(position.shape[0]):
        for k in range(3):
            new_position[i, k] = position[i, k] + h * velocity[i, k]
        turned = turn_quaternion(rotation[i], velocity[i, 3:], h)
        for k in range(4):
            new_rotation[i, k] = turned[k]
    return new_position, new_rotation


@inner
def _rotation(q):
    s, x, y, z = q[0], q[1], q[2], q[3]
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - s * z), 2 * (x * z + s * y)),
        (2 * (x * y + s * z), 1 - 2 * (x * x + z * z), 2 * (y * z - s * x)),
        (2 * (x * z - s * y), 2 * (y * z + s * x), 1 - 2 * (x * x + y * y)),
    )


@kernel
def matrix_of(q):
    """The rotation matrix (3, 3) from body to world axes."""
    return _array(_rotation(q))


@kernel
def _array(a):
    out = np.empty((3, 3))
    for i in range(3):
        for k in range(3):
            out[i, k] = a[i][k]
    return out


@inner
def _rows(a):
    """The rows of a matrix (3, 3)."""
    return (a[0, 0], a[0, 1], a[0, 2]), (a[1, 0], a[1, 1], a[1, 2]), (a[2, 0], a[2, 1], a[2, 2])


@inner
def transposed(a):
    return (a[0][0], a[1][0], a[2][0]), (a[0][1], a[1][1], a[2][1]), (a[0][2], a[1][2], a[2][2])


@inner
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inner
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inner
def multiply_vector(a, v):
    """Matrix times vector."""
    return dot(a[0], v), dot(a[1], v), dot(a[2], v)


@inner
def _product(a, b):
    return transposed((multiply_vector(a, (b[0][0], b[1][0], b[2][0])), multiply_vector(a, (b[0][1], b[1][1], b[2][1])),
                       multiply_vector(a, (b[0][2], b[1][2], b[2][2]))))  # fmt: skip


@inner
def _plus(a, k, b):
    """a + k b."""
    return (
        (a[0][0] + k * b[0][0], a[0][1] + k * b[0][1], a[0][2] + k * b[0][2]),
        (a[1][0] + k * b[1][0], a[1][1] + k * b[1][1], a[1][2] + k * b[1][2]),
        (a[2][0] + k * b[2][0], a[2][1] + k * b[2][1], a[2][2] + k * b[2][2]),
    )


@inner
def world_inertia(q, inertia):
    """R inertia R^T; inertia (3, 3)."""
    r = _rotation(q)
    return _product(_product(r, _rows(inertia)), transposed(r))


@inner
def _cross_matrix(v):
    return (0.0, -v[2], v[1]), (v[2], 0.0, -v[0]), (-v[1], v[0], 0.0)


@inner
def _jacobian(j, spin, h):
    """d(J omega)/d omega at the end of a turn by h omega (T5; NB A.1-A.2 with the increment omega h)."""
    angle = h * np.sqrt(dot(spin, spin))
    if angle < 1e-3:
        first, second = 0.5 - angle**2 / 24, 1.0 / 6 - angle**2 / 120
    else:
        first, second = (1 - np.cos(angle)) / angle**2, (angle - np.sin(angle)) / angle**3
    omega = _cross_matrix((h * spin[0], h * spin[1], h * spin[2]))
    unit = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    b = _plus(_plus(unit, first, omega), second, _product(omega, omega))
    return _plus(j, h, _product(_plus(_product(j, _cross_matrix(spin)), -1.0, _cross_matrix(multiply_vector(j, spin))), b))


@inner
def _solve3(a, b):
    """Solution of a 3x3 system by Cramer's rule."""
    (a00, a01, a02), (a10, a11, a12), (a20, a21, a22) = a
    c0, c1, c2 = a11 * a22 - a12 * a21, a12 * a20 - a10 * a22, a10 * a21 - a11 * a20
    det = a00 * c0 + a01 * c1 + a02 * c2
    return (
        (b[0] * c0 + b[1] * (a02 * a21 - a01 * a22) + b[2] * (a01 * a12 - a02 * a11)) / det,
        (b[0] * c1 + b[1] * (a00 * a22 - a02 * a20) + b[2] * (a02 * a10 - a00 * a12)) / det,
        (b[0] * c2 + b[1] * (a01 * a20 - a00 * a21) + b[2] * (a00 * a11 - a01 * a10)) / det,
    )


@inner
def torque_free(q, inertia, momentum, spin, h):
    """The spin omega with J(exp(h omega) q) omega = momentum, by Newton's method from `spin`, and the Jacobian there."""
    scale = np.sqrt(dot(momentum, momentum))
    omega = spin
    for _ in range(20):
        j = world_inertia(turn_quaternion(q, omega, h), inertia)
        x, y, z = multiply_vector(j, omega)
        defect = x - momentum[0], y - momentum[1], z - momentum[2]
        jacobian = _jacobian(j, omega, h)
        if np.sqrt(dot(defect, defect)) <= 4e-16 * scale:
            break
        x, y, z = _solve3(jacobian, defect)
        omega = omega[0] - x, omega[1] - y, omega[2] - z
    return omega, jacobian


@inner
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
def positive_root(a, least):
    """Lower Cholesky root of the positive part of a matrix, both by rows: of its symmetric part, with eigenvalues raised to
    `least` if a pivot of the root is below it. (NB A.3 has 0 for `least`, which gives no mass matrix; this needs rotations of
    about a radian per step.)"""
    x, y, z = 0.5 * (a[1][0] + a[0][1]), 0.5 * (a[2][0] + a[0][2]), 0.5 * (a[2][1] + a[1][2])
    half = (a[0][0], x, y), (x, a[1][1], z), (y, z, a[2][2])
    root = _lower_root(half, least)
    if root[0][0] > 0.0:
        return root
    value, vector = np.linalg.eigh(_array(half))
    raised = _rows(vector * np.maximum(value, least))
    return _lower_root(_product(raised, transposed(_rows(vector))), 0.0)


@inner
def _lower_root(a, least):
    """Lower Cholesky root of a symmetric matrix; all zeros if a pivot is below `least`."""
    nothing = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if a[0][0] < least:
        return nothing
    r00 = np.sqrt(a[0][0])
    r10, r20 = a[1][0] / r00, a[2][0] / r00
    pivot = a[1][1] - r10**2
    if pivot < least:
        return nothing
    r11 = np.sqrt(pivot)
    r21 = (a[2][1] - r20 * r10) / r11
    pivot = a[2][2] - r20**2 - r21**2
    if pivot < least:
        return nothing
    return (r00, 0.0, 0.0), (r10, r11, 0.0), (r20, r21, np.sqrt(pivot))


@inner
def invert_lower(r):
    """Inverse of a lower triangular matrix."""
    a, b, c = 1.0 / r[0][0], 1.0 / r[1][1], 1.0 / r[2][2]
    d = -r[1][0] * a * b
    return (a, 0.0, 0.0), (d, b, 0.0), (-(r[2][0] * a + r[2][1] * d) * c, -r[2][1] * b * c, c)

"""The contact problem in impulses alone, for methods that visit one contact after another (T21).

    s = W impulse + q,    W = rows rows^T + diag(compliance),    q = rows free + bias - compliance memory

W is never formed: x = free + rows^T impulse is carried along, and a contact reads and moves the two bodies it touches. On a
wall of 1,000 blocks a row of W has 42 blocks of 3 x 3: a product with it took 14 times as long and 11 times the memory, and
forming it as long as a thousand sweeps (measured with scipy). Only the diagonal blocks are kept.
"""

import numpy as np

from drystone.base.kernel import inlined, inner, kernel
from drystone.engine.solvers.cone import project, respond
from drystone.engine.solvers.problem import momentum_into, relative_velocity_into


@kernel
def diagonal_blocks(problem):
    """W of each contact with itself, (C, 3, 3)."""
    out = np.zeros((problem.a.shape[0], 3, 3))
    for c in range(out.shape[0]):
        for i in range(3):
            for j in range(3):
                total = problem.compliance[c] if i == j else 0.0
                for k in range(problem.row_a.shape[2]):
                    total += problem.row_a[c, i, k] * problem.row_a[c, j, k] + problem.row_b[c, i, k] * problem.row_b[c, j, k]
                out[c, i, j] = total
    return out


@inlined
def _seen(rows, c, body, x):
    """rows[c] x[body]; nothing for a support."""
    s0, s1, s2 = 0.0, 0.0, 0.0
    if body >= 0:
        for k in range(x.shape[1]):
            s0 += rows[c, 0, k] * x[body, k]
            s1 += rows[c, 1, k] * x[body, k]
            s2 += rows[c, 2, k] * x[body, k]
    return s0, s1, s2


@inlined
def _given(rows, c, body, d0, d1, d2, x):
    """x[body] += rows[c]^T d."""
    if body >= 0:
        for k in range(x.shape[1]):
            x[body, k] += rows[c, 0, k] * d0 + rows[c, 1, k] * d1 + rows[c, 2, k] * d2


@inlined
def slip_at(problem, c, x, impulse):
    """s of contact c (associated law)."""
    a0, a1, a2 = _seen(problem.row_a, c, problem.a[c], x)
    b0, b1, b2 = _seen(problem.row_b, c, problem.b[c], x)
    soft = problem.compliance[c]
    a0 += problem.bias[c, 0] + soft * (impulse[c, 0] - problem.memory[c, 0])
    a1 += problem.bias[c, 1] + soft * (impulse[c, 1] - problem.memory[c, 1])
    a2 += problem.bias[c, 2] + soft * (impulse[c, 2] - problem.memory[c, 2])
    return a0 + b0, a1 + b1, a2 + b2


@inlined
def push(problem, c, p0, p1, p2, x, impulse):
    """Set the impulse of contact c; x follows."""
    d0, d1, d2 = p0 - impulse[c, 0], p1 - impulse[c, 1], p2 - impulse[c, 2]
    if d0 != 0.0 or d1 != 0.0 or d2 != 0.0:
        impulse[c, 0], impulse[c, 1], impulse[c, 2] = p0, p1, p2
        _given(problem.row_a, c, problem.a[c], d0, d1, d2, x)
        _given(problem.row_b, c, problem.b[c], d0, d1, d2, x)


@inner
def product_into(problem, impulse, x, out):
    """out = W impulse; x is overwritten by rows^T impulse."""
    momentum_into(problem, impulse, x)
    relative_velocity_into(problem, x, 0.0, out)
    for c in range(out.shape[0]):
        for k in range(3):
            out[c, k] += problem.compliance[c] * impulse[c, k]


@inner
def slip_into(problem, impulse, x, out):
    """out = W impulse + q; x is overwritten by free + rows^T impulse."""
    momentum_into(problem, impulse, x)
    x += problem.free
    relative_velocity_into(problem, x, 1.0, out)
    for c in range(out.shape[0]):
        for k in range(3):
            out[c, k] += problem.compliance[c] * (impulse[c, k] - problem.memory[c, k])


@inner
def duality_gap(problem, x, impulse):
    """Theta(x) of (T14) and the static program (T11) at the impulses, added up: at least |x - x*|^2 for impulses on their
    cones, x = free + rows^T impulse and a compliant, associated law (T21)."""
    total = 0.0
    for c in range(impulse.shape[0]):
        soft, mu = problem.compliance[c], problem.friction[c]
        s0, s1, s2 = slip_at(problem, c, x, impulse)
        p0, p1, p2 = impulse[c, 0], impulse[c, 1], impulse[c, 2]
        z0, z1, z2 = p0 - s0 / soft, p1 - s1 / soft, p2 - s2 / soft
        q0, q1, q2 = project(z0, z1, z2, mu)
        total += 0.5 * soft * ((p0 - q0) ** 2 + (p1 - q1) ** 2 + (p2 - q2) ** 2)
        total += soft * max(p0 * (q0 - z0) + p1 * (q1 - z1) + p2 * (q2 - z2), 0.0)
    return total


@kernel
def law_imbalance(problem, x):
    """|x - free - rows^T impulse| with the impulses that the law of compliant contacts gives at x (T20): the gradient of (T14)
    if friction is associated, and then a bound of |x - x*|."""
    impulse, change = np.empty_like(problem.bias), np.empty_like(x)
    relative_velocity_into(problem, x, 1.0, impulse)
    for c in range(impulse.shape[0]):
        k, m = 1 / problem.compliance[c], problem.memory[c]
        z0, z1, z2 = m[0] - k * impulse[c, 0], m[1] - k * impulse[c, 1], m[2] - k * impulse[c, 2]
        impulse[c, 0], impulse[c, 1], impulse[c, 2] = respond(z0, z1, z2, problem.friction[c], problem.dilatancy[c])
    momentum_into(problem, impulse, change)
    total = 0.0
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            total += (x[i, k] - problem.free[i, k] - change[i, k]) ** 2
    return np.sqrt(total)

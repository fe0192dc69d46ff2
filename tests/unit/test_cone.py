"""The cone and its projection against brute force and finite differences."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from drystone.solvers.cone import derivative_into, project, project_all

number = st.floats(-10, 10)
friction = st.one_of(st.just(0.0), st.floats(1e-3, 3.0))


@given(number, number, number, friction)
@example(-1.0, 0.0, 0.0, 0.0)
@example(1.0, 0.0, 0.0, 0.0)
def test_projection_obeys_moreau(n: float, a: float, b: float, mu: float) -> None:
    """z = P_K(z) - P_K*(-z), the two parts orthogonal, one in K and the other in K*: the definition of projection."""
    z, p = np.array([n, a, b]), np.array(project(n, a, b, mu))
    rest = p - z
    assert np.hypot(p[1], p[2]) <= mu * p[0] + 1e-9
    assert mu * np.hypot(rest[1], rest[2]) <= rest[0] + 1e-9
    assert abs(p @ rest) <= 1e-9 * (1 + z @ z)


@pytest.mark.parametrize("mu", [0.0, 0.3, 1.0, 2.0])
def test_derivative_is_that_of_the_projection(mu: float) -> None:
    """Central differences at random points (kinks are met with probability zero)."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((200, 3))
    mus, scale, out, step = np.full(200, mu), np.full(200, 2.0), np.empty((200, 6)), 1e-6
    derivative_into(z, scale, mus, out)
    full = out[:, [[0, 1, 2], [1, 3, 4], [2, 4, 5]]]
    for k in range(3):
        move = np.zeros(3)
        move[k] = step
        slope = (project_all(z + move, mus) - project_all(z - move, mus)) / (2 * step)
        assert np.allclose(full[:, :, k], 2.0 * slope, atol=1e-6)

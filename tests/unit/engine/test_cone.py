"""The cone and its projection against brute force and finite differences."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drystone.engine.solvers.cone import derivative_into, project, respond

number = st.floats(-10, 10)
friction = st.one_of(st.just(0.0), st.floats(1e-3, 3.0))


@settings(deadline=None)  # the first call may compile
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


@settings(deadline=None)
@given(number, number, number, friction)
def test_the_associated_response_is_the_projection(n: float, a: float, b: float, mu: float) -> None:
    assert np.allclose(respond(n, a, b, mu, mu), project(n, a, b, mu), rtol=0, atol=1e-12)


@settings(deadline=None)
@given(number, number, number, friction)
def test_coulombs_response_keeps_the_normal_impulse(n: float, a: float, b: float, mu: float) -> None:
    """Without dilatancy the normal impulse knows nothing of sliding, and the tangential one is the nearest of the disk."""
    found, radius = respond(n, a, b, mu, 0.0), mu * max(n, 0.0)
    shorten = min(1.0, radius / np.hypot(a, b)) if np.hypot(a, b) > 0 else 1.0
    assert np.allclose(found, (max(n, 0.0), shorten * a, shorten * b), rtol=0, atol=1e-9)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("mu", [0.0, 0.3, 1.0, 2.0])
def test_derivative_is_that_of_the_response(mu: float, share: float) -> None:
    """Central differences at random points (kinks are met with probability zero)."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((200, 3))
    mus, psi, scale, out, step = np.full(200, mu), np.full(200, share * mu), np.full(200, 2.0), np.empty((200, 3, 3)), 1e-6
    derivative_into(z, scale, mus, psi, out)
    for k in range(3):
        move = np.zeros(3)
        move[k] = step
        up, down = (np.array([respond(*row, mu, share * mu) for row in z + sign * move]) for sign in (1, -1))
        slope = (up - down) / (2 * step)
        assert np.allclose(out[:, :, k], 2.0 * slope, atol=1e-6)

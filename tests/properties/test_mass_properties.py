"""Mass properties of random convex hulls: against tetrahedra integrated one by one, and under rigid motions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from drystone.structure.polyhedra import check_surfaces, make_surfaces, mass_properties

seeds = st.integers(0, 2**32 - 1)


def hull(seed):
    """Vertices on an ellipsoid of random axes, so that all are on the hull, and outward triangles."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(rng.integers(4, 30), 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    points = points * rng.uniform(0.2, 3.0, 3) + rng.uniform(-5, 5, 3)
    surface = ConvexHull(points)
    triangles = []
    for triangle, outward in zip(surface.simplices, surface.equations[:, :3], strict=True):
        a, b, c = points[triangle]
        triangles.append(tuple(map(int, triangle if np.cross(b - a, c - a) @ outward > 0 else triangle[::-1])))
    return points, tuple(triangles)


def reference(points, triangles):
    """Volume, centroid and inertia by the parallel axes of tetrahedra from the mean vertex. For each tetrahedron the
    integral of a quadratic function is exact with the 4-point rule of degree 2 (Keast), not the formula of the code."""
    inner = points.mean(axis=0)
    a = (5 - np.sqrt(5)) / 20
    barycentric = np.full((4, 4), a) + np.eye(4) * (1 - 4 * a)
    samples, weights = [], []
    for triangle in triangles:
        corners = np.vstack([inner, points[list(triangle)]])
        volume = abs(np.linalg.det(corners[1:] - inner)) / 6
        samples.append(barycentric @ corners)
        weights.append(np.full(4, volume / 4))
    x, w = np.concatenate(samples), np.concatenate(weights)
    volume, centroid = w.sum(), w @ x / w.sum()
    r = x - centroid
    inertia = np.einsum("i,ij,ij->", w, r, r) * np.eye(3) - np.einsum("i,ij,ik->jk", w, r, r)
    return volume, centroid, inertia


def solid(points, triangles):
    solids = mass_properties(make_surfaces([points], [triangles], ["hull"]))
    return solids.volume[0], solids.centroid[0], solids.inertia[0]


@given(seeds)
@settings(max_examples=200, deadline=None)
def test_against_tetrahedra(seed):
    points, triangles = hull(seed)
    volume, centroid, inertia = solid(points, triangles)
    volume_ref, centroid_ref, inertia_ref = reference(points, triangles)
    assert volume == pytest.approx(volume_ref, rel=1e-11)
    np.testing.assert_allclose(centroid, centroid_ref, atol=1e-10)
    np.testing.assert_allclose(inertia, inertia_ref, atol=1e-11 * max(1.0, np.abs(inertia_ref).max()))


@given(seeds)
@settings(max_examples=200, deadline=None)
def test_rigid_motion(seed):
    """Moved by x -> R x + d: the volume stays, the centroid moves along, the inertia becomes R I R^T."""
    points, triangles = hull(seed)
    rng = np.random.default_rng(seed + 1)
    rotation, shift = Rotation.random(random_state=seed).as_matrix(), rng.uniform(-10, 10, 3)
    volume, centroid, inertia = solid(points, triangles)
    volume_moved, centroid_moved, inertia_moved = solid(points @ rotation.T + shift, triangles)
    assert volume_moved == pytest.approx(volume, rel=1e-11)
    np.testing.assert_allclose(centroid_moved, rotation @ centroid + shift, atol=1e-10)
    scale = max(1.0, np.abs(inertia).max())
    np.testing.assert_allclose(inertia_moved, rotation @ inertia @ rotation.T, atol=1e-11 * scale)


@given(seeds)
@settings(max_examples=100, deadline=None)
def test_hulls_pass_the_door(seed):
    """A convex hull is closed, outward and convex; its principal moments obey the triangle inequality."""
    points, triangles = hull(seed)
    solids = check_surfaces(make_surfaces([points], [triangles], ["hull"]), ["hull"])
    moments = np.linalg.eigvalsh(solids.inertia[0])
    assert moments[0] > 0
    assert moments[0] + moments[1] >= moments[2] * (1 - 1e-12)

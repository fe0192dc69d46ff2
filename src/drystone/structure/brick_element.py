"""The 8-node brick element: stiffness, mass and stresses from its corners (8, 3) [m].

Corners are numbered in binary: bit 0 is the first natural direction, bit 1 the second, bit 2 the third, each -1 or 1. Besides
the trilinear displacements the element has Wilson's nine bubbles with Taylor's correction (T81), condensed. Without the bubbles
a brick as thin as a stone bends far too stiffly; with the correction, constant stress is exact on any mesh.

>>> cube = np.array([[c & 1, c >> 1 & 1, c >> 2] for c in range(8)], float)
>>> round(float(mass_matrix(cube, 2000.0)[::3, ::3].sum()), 9)
2000.0
"""

from functools import cache

import numpy as np

Array = np.ndarray

# (8, 3) natural coordinates of the corners
CORNER_SIGNS = np.array([[2.0 * (c >> k & 1) - 1.0 for k in range(3)] for c in range(8)])
_STRAIN_COMPONENTS = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))  # the six strains: xx, yy, zz, xy, yz, zx (shear doubled)


def shape_functions(natural: Array) -> Array:
    """(8,) the shape functions of the corners at a natural point (3,)."""
    return np.prod(1.0 + CORNER_SIGNS * natural, axis=1) / 8.0


def shape_gradients(natural: Array) -> Array:
    """(8, 3) derivatives of the shape functions with respect to the natural coordinates."""
    one = 1.0 + CORNER_SIGNS * natural
    return CORNER_SIGNS * np.stack([one[:, 1] * one[:, 2], one[:, 0] * one[:, 2], one[:, 0] * one[:, 1]], axis=1) / 8.0


def elasticity_matrix(young: float, poisson: float) -> Array:
    """(6, 6) [Pa] the isotropic elasticity matrix: stress per strain."""
    shear = young / (2.0 * (1.0 + poisson))
    lame = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))
    matrix = np.diag([2.0 * shear] * 3 + [shear] * 3)
    matrix[:3, :3] += lame
    return matrix


def mass_matrix(corners: Array, density: float) -> Array:
    """(24, 24) [kg] consistent mass; three points per direction are exact for every trilinear brick."""
    (_, shares), (values, slopes) = _gauss_points(3), _gauss_values(3)
    volumes = shares * density * np.linalg.det(corners.T @ slopes)
    total = (values.T * volumes) @ values
    return np.kron(total, np.eye(3))


def stiffness_matrix(corners: Array, stress_per_strain: Array) -> Array:
    """(24, 24) [N/m] with the bubbles condensed."""
    corners_only, mixed, bubble = _stiffness_parts(corners, stress_per_strain)
    return corners_only - mixed @ np.linalg.solve(bubble, mixed.T)


def stress_matrix(corners: Array, stress_per_strain: Array) -> Array:
    """(8, 6, 24) [Pa/m] stress xx, yy, zz, xy, yz, zx at the Gauss points per displacement of the corners."""
    _, mixed, bubble = _stiffness_parts(corners, stress_per_strain)
    of_corners, of_bubbles, _ = _strains(corners)
    return stress_per_strain @ (of_corners - of_bubbles @ np.linalg.solve(bubble, mixed.T))


def _stiffness_parts(corners: Array, stress_per_strain: Array) -> tuple[Array, Array, Array]:
    """Stiffness of the corners (24, 24), between corners and bubbles (24, 9), and of the bubbles (9, 9)."""
    of_corners, of_bubbles, volume = _strains(corners)
    strain = np.concatenate([of_corners, of_bubbles], axis=2)  # (8, 6, 33)
    stress = volume[:, None, None] * (stress_per_strain @ strain)
    total = np.tensordot(strain, stress, axes=((0, 1), (0, 1)))
    return total[:24, :24], total[:24, 24:], total[24:, 24:]


def _strains(corners: Array) -> tuple[Array, Array, Array]:
    """At the 8 Gauss points: strain per displacement of the corners (8, 6, 24), per bubble (8, 6, 9), and volume (8,) [m3].
    The bubbles 1 - natural^2 are differentiated with the Jacobian of the centre, scaled by the volume (T81)."""
    (natural, share), (_, slope) = _gauss_points(2), _gauss_values(2)
    centre, jacobian = corners.T @ shape_gradients(np.zeros(3)), corners.T @ slope
    size = np.linalg.det(jacobian)
    bubble = -2.0 * natural[:, :, None] * np.linalg.inv(centre) * (np.linalg.det(centre) / size)[:, None, None]
    return _symmetric(slope @ np.linalg.inv(jacobian)), _symmetric(bubble), share * size


def _symmetric(slope: Array) -> Array:
    """(P, 6, 3 K) strain of displacements (K, 3) whose K functions have gradients (P, K, 3) at P points."""
    strain = np.zeros((len(slope), 6, slope.shape[1], 3))
    for row, (i, j) in enumerate(_STRAIN_COMPONENTS):
        strain[:, row, :, i] = slope[:, :, j]
        strain[:, row, :, j] = slope[:, :, i]
    return strain.reshape(len(slope), 6, -1)


@cache
def _gauss_points(count: int) -> tuple[Array, Array]:
    """Gauss points (P, 3) and their weights (P,), with `count` points per direction."""
    coordinates, share = np.polynomial.legendre.leggauss(count)
    order = [(i, j, k) for k in range(count) for j in range(count) for i in range(count)]
    return coordinates[order], share[order].prod(axis=1)


@cache
def _gauss_values(count: int) -> tuple[Array, Array]:
    """Shape functions (P, 8) of the corners and their derivatives (P, 8, 3) at the Gauss points."""
    points, _ = _gauss_points(count)
    return np.array([shape_functions(natural) for natural in points]), np.array(
        [shape_gradients(natural) for natural in points]
    )

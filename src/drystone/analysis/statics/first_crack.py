"""The load multiplier at which the first crack opens in sound, elastic joints (T415).

Blocks are rigid, and joints are beds of springs over their areas, so that the stress is linear over a joint. A single joint
cracks at the moment (tension + s0) Z. This is a check and not a bound: it does not describe what follows the first crack."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from drystone.analysis.statics.balance import Balance
from drystone.analysis.statics.fibres import integration_points
from drystone.structure.joint_laws import DEFAULT_YOUNG

Array = np.ndarray

SHEAR_STIFFNESS_RATIO = 0.4  # shear over normal stiffness of a joint whose law gives none, as for the stone


def first_crack_multiplier(balance: Balance, dead: Array, live: Array) -> float | None:
    """The multiplier of the live load; None if joints without tensile strength open earlier, or if no joint is in tension."""
    laws, group = balance.model.laws, balance.model.bodies.group
    assert laws is not None
    contacts = balance.contacts
    points = integration_points(balance)
    pair = group[points.contacts.a], group[points.contacts.b]
    length = _lengths(balance, points)
    across = np.where(laws.normal_stiffness[pair] > 0, laws.normal_stiffness[pair], DEFAULT_YOUNG / length)
    along = np.where(laws.shear_stiffness[pair] > 0, laws.shear_stiffness[pair], SHEAR_STIFFNESS_RATIO * across)
    stiffness = np.repeat(along[:, None], balance.frame.shape[1], axis=1)
    stiffness[:, 0] = across
    area = np.repeat(points.contacts.area[:, None], balance.frame.shape[1], axis=1)
    stiffness_matrix = points.matrix @ sp.diags_array((stiffness * area).ravel()) @ points.matrix.T
    solve = splu(sp.csc_matrix(stiffness_matrix + 1e-12 * sp.diags_array(stiffness_matrix.diagonal())))
    at_corner = group[contacts.a], group[contacts.b]
    strength = (laws.tension + np.sqrt(laws.energy * laws.pull))[at_corner]
    stiff_corner = np.where(laws.normal_stiffness[at_corner] > 0, laws.normal_stiffness[at_corner],
                            DEFAULT_YOUNG / _lengths(balance, balance))  # fmt: skip
    pulled = []
    for load in (dead, live):
        moved = solve.solve(balance.free_rows(load))
        pulled.append(stiff_corner * (balance.matrix.T @ moved).reshape(len(stiff_corner), -1)[:, 0])
    reserve, growth = strength - pulled[0], pulled[1]
    if (reserve < 0.0).any() or not (growth > 0.0).any():
        return None
    return float((reserve[growth > 0.0] / growth[growth > 0.0]).min())


def _lengths(balance: Balance, of: Balance) -> Array:
    """(F,) [m] The depth of stone behind each contact of a balance, on both sides together; supports are rigid."""
    contacts, fixed, total = of.contacts, balance.model.bodies.fixed, np.zeros(len(of.contacts.gap))
    for body in (contacts.a, contacts.b):
        depth = np.abs(np.einsum("ck,ck->c", contacts.point - balance.centroid[body], contacts.normal))
        total += np.where(fixed[body], 0.0, depth)
    return np.where(total > 0.0, total, 1.0)

"""Deformable blocks in a step: they add modal unknowns to its `Problem`, and their displacement changes the gaps (T84).

Contact is detected on the rigid shapes. The displacement and the velocity of a contact point are interpolated from the corners
of the brick that it lies in. Displacements are small, in the frame that moves with the block.
"""

from typing import NamedTuple

import numpy as np

from drystone.base.kernel import inner, kernel
from drystone.contact.contacts import Contacts
from drystone.engine.rotation import matrix_of
from drystone.engine.solvers.problem import Problem
from drystone.engine.solvers.solution import Guess
from drystone.structure.deformable_blocks import Elastic, nodal

Array = np.ndarray


class ContactInterpolation(NamedTuple):
    """The nodes that move the contact points on blocks a (0) and b (1), and their weights, which are zero for rigid blocks."""

    node: Array  # (C, 2, 8) int64
    weight: Array  # (C, 2, 8)
    turn: Array  # (S, 3, 3) rotation of the deformable blocks


def interpolate_contacts(
    elastic: Elastic, contacts: Contacts, position: Array, rotation: Array, amplitude: Array
) -> tuple[Contacts, ContactInterpolation]:
    """The contacts with the gaps of the deformed blocks, and the interpolation of their points."""
    count, gap = len(contacts.gap), contacts.gap.copy()
    grip = ContactInterpolation(
        np.zeros((count, 2, 8), np.int64), np.zeros((count, 2, 8)), np.empty((len(elastic.block), 3, 3))
    )
    _find_nodes(elastic, contacts, position, rotation, grip)
    _add_displacement_gaps(elastic, contacts, grip, nodal(elastic, amplitude), gap)
    return contacts._replace(gap=gap), grip


@kernel
def _find_nodes(elastic, contacts, position, rotation, grip):
    for s in range(elastic.block.shape[0]):
        grip.turn[s] = matrix_of(rotation[elastic.block[s]])
    natural, local = np.empty(3), np.empty(3)
    for c in range(contacts.a.shape[0]):
        for side in range(2):
            body = contacts.a[c] if side == 0 else contacts.b[c]
            s = elastic.row[body]
            if s < 0:
                continue
            for i in range(3):
                local[i] = 0.0
                for j in range(3):
                    local[i] += grip.turn[s, j, i] * (contacts.point[c, j] - position[body, j])
            k = elastic.kind[s]
            natural_point(elastic.corner[k], local, natural)
            find_node_weights(elastic.mesh[k], natural, grip.node[c, side], grip.weight[c, side])


@inner
def natural_point(corner, local, natural):
    """The natural coordinates of a point [m] of the body frame, by Newton's method, clipped to the block."""
    for i in range(3):
        natural[i] = 0.0
    for _ in range(8):
        r0, r1, r2 = local[0], local[1], local[2]
        j00, j01, j02, j10, j11, j12, j20, j21, j22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for c in range(8):
            sx, sy, sz = 2.0 * (c & 1) - 1.0, 2.0 * (c >> 1 & 1) - 1.0, 2.0 * (c >> 2) - 1.0
            x, y, z = 1.0 + sx * natural[0], 1.0 + sy * natural[1], 1.0 + sz * natural[2]
            w, gx, gy, gz = 0.125 * x * y * z, 0.125 * sx * y * z, 0.125 * sy * x * z, 0.125 * sz * x * y
            p0, p1, p2 = corner[c, 0], corner[c, 1], corner[c, 2]
            r0, r1, r2 = r0 - w * p0, r1 - w * p1, r2 - w * p2
            j00, j01, j02 = j00 + gx * p0, j01 + gy * p0, j02 + gz * p0
            j10, j11, j12 = j10 + gx * p1, j11 + gy * p1, j12 + gz * p1
            j20, j21, j22 = j20 + gx * p2, j21 + gy * p2, j22 + gz * p2
        c0, c1, c2 = j11 * j22 - j12 * j21, j12 * j20 - j10 * j22, j10 * j21 - j11 * j20
        det = j00 * c0 + j01 * c1 + j02 * c2
        d0 = (r0 * c0 + r1 * (j02 * j21 - j01 * j22) + r2 * (j01 * j12 - j02 * j11)) / det
        d1 = (r0 * c1 + r1 * (j00 * j22 - j02 * j20) + r2 * (j02 * j10 - j00 * j12)) / det
        d2 = (r0 * c2 + r1 * (j01 * j20 - j00 * j21) + r2 * (j00 * j11 - j01 * j10)) / det
        natural[0], natural[1], natural[2] = natural[0] + d0, natural[1] + d1, natural[2] + d2
        if abs(d0) + abs(d1) + abs(d2) < 1e-13:
            break
    for i in range(3):
        natural[i] = min(max(natural[i], -1.0), 1.0)


@inner
def find_node_weights(mesh, natural, node, weight):
    """The nodes of the brick that a natural point of the block lies in, and their weights."""
    first, stride = 0, 1
    for c in range(8):
        node[c], weight[c] = 0, 1.0
    for i in range(3):
        along = 0.5 * (natural[i] + 1.0) * mesh[i]
        cell = min(int(along), mesh[i] - 1)
        first += stride * cell
        for c in range(8):
            far = c >> i & 1
            node[c] += far * stride
            weight[c] *= along - cell if far == 1 else 1.0 - along + cell
        stride *= mesh[i] + 1
    for c in range(8):
        node[c] += first


@inner
def _add_displacement_gaps(elastic, contacts, grip, moved, gap):
    """Add to the gaps the opening by the displacements (S, n, 3) [m] of the nodes."""
    for c in range(gap.shape[0]):
        for side in range(2):
            s = elastic.row[contacts.a[c] if side == 0 else contacts.b[c]]
            if s < 0:
                continue
            for i in range(3):
                along = 0.0
                for j in range(3):
                    along += contacts.normal[c, j] * grip.turn[s, j, i]
                for q in range(8):
                    step = along * grip.weight[c, side, q] * moved[s, grip.node[c, side, q], i]
                    gap[c] += step if side == 1 else -step


class FreeModes(NamedTuple):
    """The elastic modes in a step."""

    scale: Array  # (S, m) rate per whitened unknown (T83)
    before: Array  # (S, m) [kg^1/2 m/s] whitened rates at the start
    free: Array  # (S, m) [kg^1/2 m/s] whitened rates at the end without contact


def predict_free_modes(
    elastic: Elastic, rotation: Array, spin: Array, amplitude: Array, rate: Array, h: float, theta: float, mass: float
) -> FreeModes:
    """The rates of the modes at the end of the step without contact (T83); all arguments are those at its start; spin (B, 3)
    [rad/s]. mass: of the modes; 0: they are static (T358)."""
    square = elastic.stiffness[elastic.kind]
    inertia = mass + (theta * h) ** 2 * square
    # modes that blocks with a coarser mesh do not have are of zero stiffness
    scale = 1.0 / np.sqrt(np.where(inertia > 0.0, inertia, 1.0))
    strained = square * (amplitude + theta * (1.0 - theta) * h * rate)
    pull = _inertial_rates(elastic, rotation, spin, amplitude, rate, h)
    return FreeModes(scale, rate / scale, scale * (mass * rate + pull - h * strained))


def _inertial_rates(elastic: Elastic, rotation: Array, spin: Array, amplitude: Array, rate: Array, h: float) -> Array:
    """(S, m) [kg^1/2 m/s] the change of the rates by centrifugal and Coriolis forces in a step (T85); the latter rotate the
    velocities, which conserves their energy."""
    out = np.zeros_like(rate)
    for s, block in enumerate(elastic.block):
        if not spin[block].any():
            continue
        k = elastic.kind[s]
        omega = matrix_of(rotation[block]).T @ spin[block]
        position = elastic.node[k] + elastic.mode[k] @ amplitude[s]
        moving = elastic.mode[k] @ rate[s]
        outward = -np.cross(omega, np.cross(omega, position))
        out[s] = np.einsum(
            "nim,ni->m", elastic.momentum[k], h * outward + moving @ _rotation_matrix(-2.0 * h * omega).T - moving
        )
    return out


def _rotation_matrix(vector: Array) -> Array:
    """(3, 3) rotation by |vector| [rad] about vector."""
    angle = float(np.linalg.norm(vector))
    x, y, z = np.sin(angle / 2) * vector / angle
    return matrix_of(np.array([np.cos(angle / 2), x, y, z]))


def add_modal_unknowns(
    elastic: Elastic,
    problem: Problem,
    guess: Guess,
    contacts: Contacts,
    frame: Array,
    grip: ContactInterpolation,
    modes: FreeModes,
) -> tuple[Problem, Guess]:
    """Append the modes of the deformable blocks to the six unknowns of every block, zeros for rigid ones (T84).
    frame (C, 3, 3): contact axes."""
    more = elastic.mode.shape[3]
    row_a, row_b = _append_zeros(problem.row_a, more), _append_zeros(problem.row_b, more)
    _elastic_rows(elastic, contacts, frame, grip, modes.scale, row_a, row_b)
    free, velocity = _append_zeros(problem.free, more), _append_zeros(guess.velocity, more)
    free[elastic.slot, 6:], velocity[elastic.slot, 6:] = modes.free, modes.before
    return problem._replace(row_a=row_a, row_b=row_b, free=free), guess._replace(velocity=velocity)


def _append_zeros(values: Array, more: int) -> Array:
    wide = np.zeros((*values.shape[:-1], values.shape[-1] + more))
    wide[..., : values.shape[-1]] = values
    return wide


@inner
def _elastic_rows(elastic, contacts, frame, grip, scale, row_a, row_b):
    """The rows after the first six: velocity of the contact point along the contact axes per whitened amplitude."""
    for c in range(contacts.a.shape[0]):
        for side in range(2):
            s = elastic.row[contacts.a[c] if side == 0 else contacts.b[c]]
            if s < 0:
                continue
            row, sign = (row_a[c], -1.0) if side == 0 else (row_b[c], 1.0)
            mode = elastic.mode[elastic.kind[s]]
            for d in range(3):
                for i in range(3):
                    along = 0.0
                    for j in range(3):
                        along += frame[c, d, j] * grip.turn[s, j, i]
                    for q in range(8):
                        share = sign * along * grip.weight[c, side, q]
                        if share != 0.0:
                            for m in range(scale.shape[1]):
                                row[d, 6 + m] += share * mode[grip.node[c, side, q], i, m]
                for m in range(scale.shape[1]):
                    row[d, 6 + m] *= scale[s, m]


def strain_energy(elastic: Elastic, amplitude: Array) -> float:
    """[J] the strain energy of the deformable blocks (T86)."""
    return 0.5 * float(np.vdot(elastic.stiffness[elastic.kind], amplitude**2))

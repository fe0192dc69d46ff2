"""Deformable blocks in histories by small steps: a model, the modulus of stone in joints and its damping come in, `Modes` for
the kernels of an interval go out, and their energies (T350 to T352)."""

import numpy as np

from drystone.engine.small_steps.modes import WIDTH, Modes
from drystone.engine.small_steps.patch_rows import BODY_ROW, LANES
from drystone.engine.small_steps.records import Structure
from drystone.structure.deformable_blocks import nodal
from drystone.structure.model import Bodies, Model

Array = np.ndarray

LAYER = 0.05  # of the stone between a face and the centroid: it gives way in joints although the block has a mesh (T352)
STIFFEST = 4.0  # times the modulus of stone in joints: that layer is not stiffer, however stiff the block
CAP = 2.5  # modes that vibrate faster than this times the frequency of the rigid block on a joint are slowed down to it (T351)


def stone_in_joints(model: Model, young: float) -> Array:
    """(B,) share of the stone between faces and centroid, of modulus `young` [Pa], that gives way in joints: all of it of rigid
    blocks, a thin layer of deformable ones, since the rest of them is in the mesh (T352)."""
    share = np.ones(len(model.bodies.mass))
    if model.elastic is not None:
        own = model.elastic.young[model.elastic.kind]
        share[model.elastic.block] = LAYER * young / np.minimum(own, STIFFEST * young)
    return share


class Deformable:
    """The deformable blocks of a model."""

    def __init__(self, model: Model, structure: Structure, damping: float):
        assert model.elastic is not None
        self.elastic, self.blocks = model.elastic, len(model.bodies.mass)
        square = self.elastic.stiffness
        first = [int(self.elastic.block[np.argmax(self.elastic.kind == k)]) for k in range(len(square))]
        rigid = np.array([_on_a_joint(structure, model.bodies, i) for i in first])[:, None]
        mass = np.maximum(1.0, square / (CAP * rigid) ** 2)
        self.fastest = float(np.sqrt((square / mass).max()))  # [1/s] of all modes
        self.width = -(-square.shape[1] // WIDTH) * WIDTH
        self.mass = self._wide(mass)
        self.stiffness = self._wide(square)
        self.inverse_mass = self._wide(1.0 / mass)
        self.viscosity = self._wide(2.0 * damping / rigid * square)
        self.shape = np.zeros((*self.elastic.mode.shape[:3], self.width))
        self.shape[..., : square.shape[1]] = self.elastic.mode

    def _wide(self, values: Array) -> Array:
        """Values (N, m) filled up with zeros to (N, M)."""
        out = np.zeros((len(values), self.width))
        out[:, : values.shape[1]] = values
        return out

    def make_modes(self, patches: int, groups: int) -> Modes:
        """Room for the modes of an interval with so many patches and groups of them."""
        elastic, sides, nodes, index = self.elastic, 2 * patches + 1, self.shape.shape[1], np.int64
        size = len(elastic.block) * self.width
        pair = np.zeros((2, groups, LANES), index)
        pair[1] = BODY_ROW
        return Modes(
            elastic.row, elastic.block, elastic.kind, elastic.mesh, elastic.corner, self.shape, self.stiffness.ravel(),
            self.inverse_mass.ravel(), self.viscosity.ravel(), np.zeros(size), np.zeros(size),
            np.empty(sides * 6 * self.width), np.zeros(self.width), np.zeros(1), np.zeros(4), np.zeros(8, index), np.zeros(8),
            np.zeros((2, 3)), np.zeros((nodes, 3)), np.zeros((9, self.width)), np.zeros(8 * (self.blocks + 1 + sides)),
            np.zeros((2, size)), pair, np.zeros(16), np.zeros(8), np.zeros(2), np.zeros(24),
        )  # fmt: skip

    def begin(self, modes: Modes, amplitude: Array, rate: Array) -> None:
        """Modes as of a state, amplitudes and rates (S, m)."""
        modes.amplitude[:], modes.rate[:] = self._wide(amplitude).ravel(), self._wide(rate).ravel()
        modes.lost[0] = 0.0

    def end(self, modes: Modes) -> tuple[Array, Array]:
        """Amplitudes and rates (S, m) for a state."""
        count = self.elastic.stiffness.shape[1]
        amplitude, rate = (each.reshape(-1, self.width)[:, :count].copy() for each in (modes.amplitude, modes.rate))
        return amplitude, rate

    def energies(self, modes: Modes) -> tuple[float, float, float]:
        """[J] kinetic, of strain, and lost by viscosity."""
        kind, shape = self.elastic.kind, (-1, self.width)
        kinetic = 0.5 * float(np.vdot(self.mass[kind], modes.rate.reshape(shape) ** 2))
        strain = 0.5 * float(np.vdot(self.stiffness[kind], modes.amplitude.reshape(shape) ** 2))
        return kinetic, strain, float(modes.lost[0])

    def bulge(self, amplitude: Array) -> Array:
        """(B,) [m] how far the surface of each block may be from where it is undeformed."""
        out = np.zeros(self.blocks)
        out[self.elastic.block] = np.sqrt((nodal(self.elastic, amplitude) ** 2).sum(axis=2)).max(axis=1)
        return out


def _on_a_joint(structure: Structure, bodies: Bodies, block: int) -> float:
    """[1/s] circular frequency with which a rigid block would vibrate on a joint under the stiffest of its faces (T351)."""
    most = 0.0
    for piece in np.flatnonzero(bodies.owner == block):
        for f in range(bodies.piece_face[piece], bodies.piece_face[piece + 1]):
            corner = bodies.vertex[bodies.face_vertex[bodies.face_start[f] : bodies.face_start[f + 1]]]
            fan = np.cross(corner[1:-1] - corner[0], corner[2:] - corner[0]).sum(axis=0)
            most = max(most, structure.young / structure.face_depth[f] * 0.5 * float(np.linalg.norm(fan)))
    return float(np.sqrt(LAYER * most / bodies.mass[block]))

"""Deformable blocks in histories by small steps: what does not change in a run, and what is set up for an interval (T350 to T356).

A model, the modulus of stone in joints and its damping come in. For each interval the patches that were found come in; out go
their gaps with the displacement of the plates, what they stand on (rows of plates instead of blocks), `Modes` and `Joints` for
the small steps, and at the end amplitudes, rates and energies.
"""

from typing import NamedTuple

import numpy as np

from drystone.contact.divided import Plates, divide
from drystone.contact.patches import Patches
from drystone.elastic import Elastic, nodal
from drystone.engine.joint_landing import WIDTH as CORNER_WIDTH
from drystone.engine.joint_landing import Joints
from drystone.engine.modal_step import exact_step_with_modes
from drystone.engine.modes import PANEL, Modes
from drystone.engine.patch_rows import LANES
from drystone.engine.patch_setup import carry_back
from drystone.kernel import inner
from drystone.model import Bodies, Model
from drystone.spin import matrix_of

Array = np.ndarray

LAYER = 0.05  # of the brick behind a plate: stone that the mesh does not resolve, between its nodes and the joint (T352)
STIFFEST = 4.0  # times the modulus of stone in joints: that layer is not stiffer, however stiff the block
SAME = 1e-5  # of the size of a joint: corners nearer to each other are one, and nearer to a line lie on it
CAP = 0.2  # of the frequency of a block between two stiff supports: modes above it are slowed down to it (T351)


class Swing(NamedTuple):
    """Where the modes of the S deformable blocks are."""

    amplitude: Array  # (S, m) [kg^1/2 m]
    rate: Array  # (S, m) [kg^1/2 m/s]


class Stand(NamedTuple):
    """What P patches stand on."""

    plate: Array  # (2, P) int64 plate of its block, -1 of a rigid block
    row: Array  # (2, P) int64 row in `velocity`: of the plate, or of the block
    soft: Array  # (P,) bool at least one side is a plate


class Deformable:
    """The deformable blocks of a model."""

    def __init__(self, model: Model, young: float, damping: float):
        assert model.elastic is not None
        elastic: Elastic = model.elastic
        divided = divide(model.bodies, elastic)
        self.elastic, self.plates, self.plate, self.whole = elastic, divided.plates, divided.plate, divided.whole
        self.bodies: Bodies = divided.bodies
        self.blocks = len(model.bodies.mass)
        plates = divided.plates.count[elastic.kind]
        self.plate_row = self.blocks + 1 + np.cumsum(plates) - plates
        self.rows = self.blocks + 1 + int(plates.sum())
        modulus = np.minimum(elastic.young, STIFFEST * young)
        self.compliance = LAYER * divided.plates.depth / modulus[:, None]  # (T, p) [m3/N]
        count = elastic.stiffness.shape[1]
        self.width = -(-count // PANEL) * PANEL
        mass = np.array([model.bodies.mass[elastic.block[np.argmax(elastic.kind == k)]] for k in range(len(elastic.mesh))])
        cap = CAP * np.sqrt(self._stiffest(mass))
        square = elastic.stiffness
        self.added = np.maximum(1.0, square / cap[:, None] ** 2)  # (T, m) masses of the modes
        self.top = float(np.sqrt((square / self.added).max()))  # [1/s] of the fastest mode
        self.stiffness = self._wide(square)
        self.inverse_mass = self._wide(1.0 / self.added)
        self.viscosity = self._wide(2.0 * damping / cap[:, None] * square)
        kinds, nodes = elastic.mode.shape[:2]
        self.components = -(-3 * nodes // PANEL) * PANEL
        shape = np.zeros((kinds, self.components, self.width))
        shape[:, : 3 * nodes, :count] = elastic.mode.reshape(kinds, 3 * nodes, count)
        self.shape = shape.reshape(kinds, self.components, -1, PANEL).swapaxes(1, 2).ravel()
        self.to_nodes = shape.reshape(kinds, -1, PANEL, self.width).swapaxes(2, 3).ravel()
        across = np.zeros((*divided.plates.motion.shape[:2], 12, 8))
        across[..., :3] = divided.plates.motion[:, :, :3].swapaxes(2, 3)
        across[..., 4:7] = divided.plates.motion[:, :, 3:].swapaxes(2, 3)
        self.motion, self.across = divided.plates.motion.ravel(), across.ravel()
        self.spread = _of_spin(elastic)

    def _stiffest(self, mass: Array) -> Array:
        """(T,) [1/s2] squared frequency with which a block of each kind moves to and fro between two stiff supports, along
        that of its directions in which it is largest (T351)."""
        out = np.zeros(len(mass))
        for k, mesh in enumerate(self.elastic.mesh):
            corner = self.elastic.node[k][self.plates.node[k]]
            area = 0.5 * np.linalg.norm(np.cross(corner[:, 2] - corner[:, 0], corner[:, 3] - corner[:, 1]), axis=1)
            share, first = area / self.compliance[k], 0
            for axis in range(3):
                stop = first + 2 * int(np.prod(mesh) // mesh[axis])
                out[k] = max(out[k], share[first:stop].sum() / mass[k])
                first = stop
        return out

    def _wide(self, values: Array) -> Array:
        """(T M,) of values (T, m), or (S M,) of (S, m)."""
        out = np.zeros((len(values), self.width))
        out[:, : values.shape[1]] = values
        return out.ravel()

    def stand(self, patches: Patches, a: Array, b: Array) -> Stand:
        """On which plates patches between blocks a and b (P,) stand."""
        plate = self.plate[patches.face].T.copy()
        block = np.array([a, b])
        first = self.plate_row[self.elastic.row[block]]
        return Stand(plate, np.where(plate >= 0, first + plate, block), (plate >= 0).any(axis=0))

    def stiffness_of(
        self, patches: Patches, a: Array, b: Array, depth: Array, young: float, shear: float, rigid: Array
    ) -> tuple[Array, Array]:
        """(P,) [N/m3] stiffness of patches with a plate: that of the layer on each plate and of the stone behind a rigid
        face, one after the other (T352); depth (F,) [m] of that stone; `rigid` of others. (P,) that in shear over it, `shear`
        for stone that has no mesh."""
        total, along = np.zeros(len(a)), np.zeros(len(a))
        for side, block in enumerate((a, b)):
            face = patches.face[:, side]
            plate, row = self.plate[face], self.elastic.row[block]
            kind = self.elastic.kind[row]
            layer, stone = self.compliance[kind, plate], depth[face] / young
            total += np.where(plate >= 0, layer, stone)
            along += np.where(plate >= 0, 2.0 * (1.0 + self.elastic.poisson[kind]) * layer, stone / shear)
        soft = (self.plate[patches.face] >= 0).any(axis=1)
        return np.where(soft, 1.0 / np.where(soft, total, 1.0), rigid), np.where(soft, total / np.where(soft, along, 1.0), shear)

    def bulge(self, amplitude: Array) -> Array:
        """(B,) [m] how far the surface of each block may be from where it is undeformed."""
        out = np.zeros(self.blocks)
        out[self.elastic.block] = np.sqrt((nodal(self.elastic, amplitude) ** 2).sum(axis=2)).max(axis=1)
        return out

    def open_gaps(self, patches: Patches, stand: Stand, arm_a: Array, arm_b: Array, turn: Array, amplitude: Array) -> None:
        """Add to gaps what displacements of the plates open of them; turn (B, 4) rotations of the blocks (T353)."""
        moved = np.zeros((self.rows, 6))
        u, kind = nodal(self.elastic, amplitude), self.elastic.kind
        for s, (block, k) in enumerate(zip(self.elastic.block, kind, strict=True)):
            count = self.plates.count[k]
            nodes = u[s][self.plates.node[k, :count]].reshape(count, 12)
            motion = np.einsum("pan,pn->pa", self.plates.motion[k, :count], nodes).reshape(count, 2, 3)
            first = self.plate_row[s]
            moved[first : first + count] = (motion @ matrix_of(turn[block]).T).reshape(count, 6)
        carry_back(patches, moved, stand.row[0], stand.row[1], arm_a, arm_b, -1.0)

    def modes(self, stand: Stand, turn: Array, spin: Array, swing: Swing) -> Modes:
        """For an interval in whose middle the blocks are turned (B, 4), with spins (B, 3); without `plate_of`."""
        elastic, plates = self.elastic, self.plates
        touched = np.zeros((len(elastic.block), plates.node.shape[1]), bool)
        held = np.zeros((len(elastic.block), elastic.node.shape[1]), bool)
        all_rows = stand.row[stand.plate >= 0]
        s = np.searchsorted(self.plate_row, all_rows, "right") - 1
        p = all_rows - self.plate_row[s]
        touched[s, p] = True
        held[s[:, None], plates.node[elastic.kind[s], p]] = True
        turns = np.array([matrix_of(q) for q in turn[elastic.block]])
        most = plates.node.shape[1]
        return Modes(
            elastic.block, elastic.kind, turns.reshape(-1, 9), self.shape, self.to_nodes, self.stiffness, self.inverse_mass, self.viscosity,
            plates.node, self.motion, self.across, self.plate_row, np.zeros(0, np.int64),
            np.concatenate([[0], np.cumsum(touched.sum(axis=1))]), np.nonzero(touched)[1],
            np.concatenate([[0], np.cumsum(held.sum(axis=1))]), np.nonzero(held)[1],
            self._wide(self._steady(turns, spin[elastic.block])), self._wide(swing.amplitude), self._wide(swing.rate),
            np.zeros(8 * (self.rows - self.blocks - 1)), np.zeros(1), np.zeros(8 * most), np.zeros(self.components), np.zeros(16),
        )  # fmt: skip

    def _steady(self, turns: Array, spin: Array) -> Array:
        """(S, m) [kg^1/2 m/s2] centrifugal forces (T85)."""
        omega = np.einsum("sji,sj->si", turns, spin)
        return np.einsum("si,sj,sijm->sm", omega, omega, self.spread[self.elastic.kind])

    def plates_of_wrenches(self, stand: Stand, order: Array, slot: Array, count: int) -> Array:
        """(count,) int64 plate, of its block, that each wrench acts on; 0 on rigid blocks."""
        out = np.zeros(count, np.int64)
        filled = np.flatnonzero(order >= 0)
        for side in range(2):
            out[slot[side].ravel()[filled] // 8] = np.maximum(stand.plate[side, order[filled]], 0)
        return out

    def joints(
        self, patches: Patches, stand: Stand, order: Array, a: Array, b: Array, body: Array, corner_start: Array,
        corner_count: Array, mass: Array, depth: Array, young: float,
    ) -> Joints:  # fmt: skip
        """The joints with plates. body (2, G, 4): their patches get the rows of plates instead of those of blocks;
        corner_count (G, 4): they get no corners, so that they do not land patch by patch."""
        filled = np.flatnonzero(order >= 0)
        lanes = filled[stand.soft[order[filled]]]
        p = order[lanes]
        whole = self.whole[patches.face[p]]
        _, first, which = np.unique(whole[:, 0] * len(self.whole) + whole[:, 1], return_index=True, return_inverse=True)
        joint = np.full(corner_count.shape, -1)
        joint.reshape(-1)[lanes] = which
        for side in range(2):
            body[side].reshape(-1)[lanes] = 8 * stand.row[side, p]
        corner_count.reshape(-1)[lanes] = 0
        # corners: the patch of each, its number among those of the patch, its joint
        count = np.diff(patches.corner_start)[p]
        of = np.repeat(np.arange(len(p)), count)
        number = np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)
        by_joint = np.argsort(which[of], kind="stable")
        of, number = of[by_joint], number[by_joint]
        start = np.concatenate([[0], np.cumsum(np.bincount(which[of], minlength=len(first)))])
        place = patches.corner[patches.corner_start[p[of]] + number]
        point = patches.origin[p[of]] + place[:, :1] * patches.frame[p[of], 3:6] + place[:, 1:] * patches.frame[p[of], 6:9]
        axes = patches.frame[p[first]][which[of]]
        flat = np.stack([(point * axes[:, 3:6]).sum(axis=1), (point * axes[:, 6:9]).sum(axis=1)], axis=1)
        outer = np.zeros(len(of), bool)
        outer_corners(start, flat, outer)
        lane = lanes[of[outer]]
        blow = self._blows(patches, p, which, a, b, mass, depth, young)
        size = np.bincount(which[of[outer]], minlength=len(first))
        return Joints(
            joint, np.array([a[p[first]], b[p[first]]]), np.concatenate([[0], np.cumsum(size)]), lane,
            corner_start[lane // LANES] + number[outer], blow, np.append(self.elastic.row, -1), np.full(len(first), -1),
            np.zeros(len(first), np.int64), np.zeros(1, np.int64), np.zeros((int(size.max(initial=0)), CORNER_WIDTH)),
            np.zeros(16),
        )  # fmt: skip

    def _blows(self, patches, p, which, a, b, mass, depth, young):
        """(J,) [s] how long a blow goes through the blocks of each joint, patches p of which make joint `which`: twice the time
        in which two masses move on all the stone between their centroids, 1 / omega."""
        compliance = np.zeros(len(p))
        for side, block in enumerate((a[p], b[p])):
            row = self.elastic.row[block]
            modulus = np.where(row >= 0, np.minimum(self.elastic.young[self.elastic.kind[row]], STIFFEST * young), young)
            compliance += depth[patches.face[p, side]] / modulus
        stiff = np.bincount(which, patches.whole[p] / compliance)
        one, two = (np.bincount(which, each) / np.bincount(which) for each in (mass[a[p]], mass[b[p]]))
        ease = np.where(one > 0, 1 / np.where(one > 0, one, 1.0), 0.0) + np.where(two > 0, 1 / np.where(two > 0, two, 1.0), 0.0)
        return 2.0 / np.sqrt(stiff * ease)

    def exact_step(self, bound, patches, stand, arm_a, arm_b, spring, shear, inverse_mass, inverse_inertia, modes) -> float:
        """[s] the longest stable step, of blocks and modes."""
        more = self.rows - len(inverse_mass)
        unit = np.tile([1.0, 0, 0, 0, 0, 1.0, 0, 0, 0, 0, 1.0, 0], more)
        scratch = modes._replace(rate=np.empty_like(modes.rate), lag=np.zeros_like(modes.lag))
        return exact_step_with_modes(
            bound, stand.row[0].copy(), stand.row[1].copy(), patches.frame, arm_a, arm_b, spring, shear,
            np.append(inverse_mass, np.ones(more)), np.append(inverse_inertia, unit), scratch,
            np.zeros((self.rows, 6)), np.zeros((self.rows, 6)), np.empty_like(modes.rate),
        )  # fmt: skip

    def swing(self, modes: Modes) -> Swing:
        """Amplitudes and rates as states keep them."""
        count = self.elastic.stiffness.shape[1]
        return Swing(*(each.reshape(-1, self.width)[:, :count].copy() for each in (modes.amplitude, modes.rate)))

    def energies(self, swing: Swing) -> tuple[float, float]:
        """[J] kinetic, and of strain (T356)."""
        kind = self.elastic.kind
        return (
            0.5 * float(np.vdot(self.added[kind], swing.rate**2)),
            0.5 * float(np.vdot(self.elastic.stiffness[kind], swing.amplitude**2)),
        )


def _of_spin(elastic: Elastic) -> Array:
    """(T, 3, 3, m): times spin times spin, in the body frame, the forces on the modes -omega x (omega x X)."""
    out = -np.einsum("knim,knj->kijm", elastic.momentum, elastic.node)
    out += np.eye(3)[None, :, :, None] * np.einsum("knim,kni->km", elastic.momentum, elastic.node)[:, None, None, :]
    return out


@inner
def outer_corners(start, point, outer):
    """Which points (N, 2) stand out from all others of their set, those from start[j] to start[j + 1]: seen from such a point
    the others are within less than half a turn. Points at one place count as one, and stand out together."""
    for j in range(start.shape[0] - 1):
        size = 0.0
        for k in range(start[j], start[j + 1]):
            size = max(size, abs(point[k, 0] - point[start[j], 0]), abs(point[k, 1] - point[start[j], 1]))
        for k in range(start[j], start[j + 1]):
            # the others are seen from the direction r to the direction l, counter-clockwise
            rx = ry = lx = ly = 0.0
            outer[k] = True
            for q in range(start[j], start[j + 1]):
                x, y = point[q, 0] - point[k, 0], point[q, 1] - point[k, 1]
                if abs(x) + abs(y) <= SAME * size:
                    continue
                if rx == 0.0 and ry == 0.0:
                    rx, ry, lx, ly = x, y, x, y
                before, after = rx * y - ry * x < 0.0, lx * y - ly * x > 0.0
                if before:
                    rx, ry = x, y
                if after:
                    lx, ly = x, y
                between = rx * lx + ry * ly < 0.0 or x * rx + y * ry < 0.0 or x * lx + y * ly < 0.0
                flat = min(abs(rx * ly - ry * lx), abs(rx * y - ry * x) if x * rx + y * ry < 0.0 else np.inf,
                           abs(lx * y - ly * x) if x * lx + y * ly < 0.0 else np.inf)  # fmt: skip
                if (before and after) or rx * ly - ry * lx < 0.0 or (between and flat <= SAME * size * size):
                    outer[k] = False
                    break


@inner
def joint_springs(
    patches, a, b, arm_a, arm_b, soft, stiffness, mass, inverse_mass, inertia, damping, rocking, landing, spring, fast, twice
):
    """Damping times and landing speeds of patches that are parts of a joint with plates: those of the whole joint, for which
    `springs` has taken each part alone."""
    p, count = 0, patches.whole.shape[0]
    while p < count:
        end, stiff, rocks = p + 1, 0.0, 0.0
        while end < count and a[end] == a[p] and b[end] == b[p]:
            end += 1
        if soft[p]:
            middle_x, middle_y, middle_z = 0.0, 0.0, 0.0
            for q in range(p, end):
                k = stiffness[q] * patches.whole[q]
                stiff += k
                middle_x += k * patches.origin[q, 0]
                middle_y += k * patches.origin[q, 1]
                middle_z += k * patches.origin[q, 2]
            middle_x, middle_y, middle_z = middle_x / stiff, middle_y / stiff, middle_z / stiff
            n, turns = patches.frame[p], 0.0
            for q in range(p, end):
                x, y, z = patches.origin[q, 0] - middle_x, patches.origin[q, 1] - middle_y, patches.origin[q, 2] - middle_z
                up = x * n[0] + y * n[1] + z * n[2]
                k = stiffness[q] * patches.whole[q]
                rocks += 0.5 * (spring[q, 1] + spring[q, 3] + k * (x * x + y * y + z * z - up * up))
            for side in range(2):
                i = a[p] if side == 0 else b[p]
                if inverse_mass[i] > 0.0:
                    arm = arm_a[p] if side == 0 else arm_b[p]
                    height = arm[0] * n[0] + arm[1] * n[1] + arm[2] * n[2]
                    turns += 1.0 / (inertia[i] + mass[i] * height * height)
            own = np.sqrt(stiff * (inverse_mass[a[p]] + inverse_mass[b[p]]))
            for q in range(p, end):
                spring[q, 4] = 2.0 * damping / own
                spring[q, 5] = 2.0 * rocking / np.sqrt(rocks * turns) if end == p + 1 else spring[q, 4]
                fast[q], twice[q] = landing / own, 2.0 * own
        p = end

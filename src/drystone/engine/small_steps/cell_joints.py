"""The joints that are followed cell by cell, until they are broken all over: which they are, their cells at the start of an
interval, and what these remember at its end. Memory and working memory of an interval come in, `CellRows` and `CellMemory` go
out (T343 to T346)."""

import numpy as np

from drystone.base.kernel import inner
from drystone.contact.joint_cells import CELLS, Cells, cut_cells, room_for_cells, scratch_for_cells
from drystone.contact.patch_memory import CellMemory
from drystone.contact.patches import Patches
from drystone.contact.placed_blocks import Placed
from drystone.engine.small_steps.cell_forces import NO_CELL_ROWS, CellRows, bind_cells, recall_cells
from drystone.engine.small_steps.cell_laws import CellLaws, numbers_of_patches
from drystone.engine.small_steps.cell_stress import BOND, OPENING, SHEAR, STRETCH
from drystone.engine.small_steps.patch_rows import ARM_A, COLUMNS, EDGE, GAP, LANES, POINTS, STIFFNESS, WHOLE
from drystone.engine.small_steps.records import DRAG, FRICTION, HAS_CELLS, PULL, Data, Pairs
from drystone.structure.model import Model

Array = np.ndarray


class CellJoints:
    """The joints of a model that remember."""

    def __init__(self, model: Model, laws: CellLaws, shear: float):
        """shear: stiffness of a joint in shear over that in compression, where no law gives one."""
        self.model, self.laws, self.shear = model, laws, shear
        self._cut = NO_CELL_ROWS.cells, 0  # of the interval before, and of how many patches: with it the same bits come faster

    def any_left(self, cells: CellMemory, binds: bool) -> bool:
        """Whether any joint has to be followed cell by cell."""
        always = self.laws.has_cells & ~self.laws.dry_when_broken
        return binds or bool(always.any() or (cells.state[:, BOND] > 0.0).any())

    def choose(self, pairs: Pairs, cells: CellMemory, binds: bool) -> None:
        """Mark the pairs that are followed cell by cell: a joint of which no bond is left, and that has nothing else to
        remember, is dry for good. It then has the edge of a dry joint too (T313), and rocks as such."""
        owner, here, stiff = self.model.bodies.owner, self._groups(pairs.piece), self.model.laws
        assert stiff is not None
        has_cells = self.laws.has_cells[here]
        if not binds:
            bonded = cells.piece[cells.state[:, BOND] > 0.0] @ (len(owner), 1)
            has_cells &= ~self.laws.dry_when_broken[here] | np.isin(pairs.piece @ (len(owner), 1), bonded)
        pairs.law[:, HAS_CELLS] = has_cells
        pairs.law[:, PULL], pairs.law[:, DRAG] = has_cells * stiff.pull[here], has_cells * stiff.drag[here]

    def rows(self, data: Data, memory: CellMemory, binds: bool, relaxing: bool) -> CellRows:
        """The cells of an interval, after all pairs were found. binds: bonds are made now."""
        joints, work, laws, bodies = data.joints[0], data.work, self.laws, self.model.bodies
        count = int(joints.number[0])
        at, law_of, here = joints.at[:count], data.pairs.law[joints.pair[:count]], self._groups(joints.piece[:count])
        row = joints.rows.reshape(-1, COLUMNS, LANES)[at // LANES, :, at % LANES]
        origin = work.middle[bodies.owner[joints.piece[:count, 0]]] + row[:, ARM_A : ARM_A + 3]
        patches = Patches(
            joints.piece[:count], joints.face[:count], row[:, :9].copy(), origin, row[:, GAP : GAP + 3].copy(),
            row[:, WHOLE].copy(), row[:, EDGE].copy(), joints.corner_start[: count + 1], joints.corner,
        )  # fmt: skip
        has_cells = law_of[:, HAS_CELLS] > 0.0
        found, cells = self._cut_cells(work.placed, patches, has_cells)
        rest, state = np.empty(cells), np.empty((cells, laws.memory))
        if binds:
            bind_cells(bodies, patches, laws.has_bond[here], found, rest, state)
        else:
            recall_cells(bodies.owner, patches, found, memory, len(memory.state), rest, state)
        # letting down swings, and nothing breaks; what must break does so in the first step of the history
        law = numbers_of_patches(laws, *here, law_of[:, FRICTION], row[:, STIFFNESS], self.shear, relaxing)
        dry = -(-int((~has_cells).sum()) // LANES)
        lanes = joints.patch[dry * LANES : int(joints.number[1]) * LANES].reshape(-1, LANES).copy()
        return CellRows(lanes, found, laws.stress[here], law, rest, state)

    def keep(self, data: Data) -> CellMemory:
        """What the cells remember at the end of an interval. Joints that have broken all over hand their friction over."""
        joints, rows = data.joints[0], data.cells
        count = int(joints.number[0])
        hand_over_friction(self.laws.dry_when_broken[self._groups(joints.piece[:count])], rows, data.work.memory)
        patch = np.repeat(np.arange(count), np.diff(rows.cells.start[: count + 1]))
        return CellMemory(joints.piece[patch], joints.face[patch], rows.cells.number[: len(patch)], rows.state)

    def _groups(self, piece: Array) -> tuple[Array, Array]:
        """The groups of the blocks of pairs of pieces (P, 2)."""
        bodies = self.model.bodies
        return bodies.group[bodies.owner[piece[:, 0]]], bodies.group[bodies.owner[piece[:, 1]]]

    def _cut_cells(self, placed: Placed, patches: Patches, has_cells: Array) -> tuple[Cells, int]:
        """The cells of the patches, and how many they are."""
        old, known = self._cut
        new = room_for_cells(len(has_cells), int(patches.corner_start[-1]), CELLS * CELLS * int(has_cells.sum()))
        scratch = scratch_for_cells(int(np.diff(patches.corner_start).max(initial=0)))
        count = cut_cells(self.model.bodies, placed, patches, has_cells, old, known, new, scratch)
        self._cut = new, len(has_cells)
        return new, count


@inner
def hand_over_friction(forgets, rows, memory):
    """Patches (P,) that forget what they were when no bond is left: their friction points, in the first rows of `memory`, begin
    with the mean stretch of the cells that press, so that friction goes on with the force it has. What the differences of the
    cells held is lost at the next detection."""
    cells, state = rows.cells, rows.state
    for p in range(forgets.shape[0]):
        area, along1, along2, bond = 0.0, 0.0, 0.0, 0.0
        for c in range(cells.start[p], cells.start[p + 1]):
            bond = max(bond, state[c, BOND])
            if state[c, OPENING] < 0.0:
                area += cells.area[c]
                along1 += cells.area[c] * state[c, STRETCH]
                along2 += cells.area[c] * state[c, STRETCH + 1]
        if not forgets[p] or bond > 0.0 or area == 0.0:
            continue
        along1, along2 = along1 / area, along2 / area
        stiffness = rows.law[p, SHEAR] * cells.grid[p, 2] * cells.grid[p, 3] * area
        for point in range(POINTS):
            memory.stretch[p, 2 * point], memory.stretch[p, 2 * point + 1] = along1, along2
        memory.shear_stiffness[p] = stiffness / POINTS
        memory.energy[p] -= 0.5 * stiffness * (along1 * along1 + along2 * along2)

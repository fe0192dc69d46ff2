"""Joints that were bonded and are broken all over: from the next interval on they are dry, patches without cells."""

from drystone.engine.joint_law import BOND, OPENING, SHEAR, STRETCH
from drystone.engine.patch_rows import POINTS
from drystone.kernel import inner


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

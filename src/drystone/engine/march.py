"""All small steps of a tick, in one call: velocity Verlet, half a kick, then drift and kick in turn, the last kick again a
half. With helper threads, forces and kicks are dealt out in tiles that write to places of their own and do not depend on the
number of threads, so that the bits do not either."""

import numpy as np

from drystone.engine.bodies import kick
from drystone.engine.cell_forces import cell_forces
from drystone.engine.dilatancy import open_by_sliding
from drystone.engine.landing import MOST_CORNERS, land
from drystone.engine.patch_forces import patch_forces
from drystone.engine.patch_rows import LANES
from drystone.engine.records import (
    BODIES_IN_TILE,
    FLAGS,
    GROUPS_IN_TILE,
    IMPACT_LOSS,
    KEPT,
    LANDINGS,
    SPAN,
    TICK_START,
    WORK_OF_GROUND,
)
from drystone.kernel import inner
from drystone.kernel.crew import begin, proceed

SPREAD_EVERY = 8  # steps after which friction points are placed anew about the centre of pressure
FORCES, KICKS = 0, 1  # jobs for helpers
TIME, AHEAD, DRIFT = 0, 1, 2  # numbers of a job


@inner
def march(n, dt, control, structure, joints, which, cells, work, helpers):
    """n steps of dt. which: 0 or 1, the place of `joints` in the data that helpers see."""
    landed = 0
    _forces(0.0, dt, True, control, joints, which, cells, work, helpers)
    for step in range(n + 1):
        _set_push(step, n, dt, work)
        span = 0.5 * dt if step == 0 or step == n else dt
        _kicks(span, 0.0 if step == 0 else dt, control, structure, joints, which, work, helpers)
        for k in range(structure.supports.shape[0]):
            _move_support(structure.supports[k], span, work.support_velocity[k], step == 0, joints, work)
        if step == n:
            break
        landed = _landings(dt, landed, structure, joints, work)
        _forces(dt, dt, (step + 1) % SPREAD_EVERY == 0, control, joints, which, cells, work, helpers)
        if structure.opens:
            open_by_sliding(joints.number[1], dt, joints.rows)


@inner
def _set_push(step, n, dt, work):
    """Gravity less the acceleration of the ground, and that alone, over the time for which a kick stands: from the middle of
    the step before to the middle of the one after. Velocities of moved supports in the step that follows."""
    start = work.number[TICK_START]
    first = start + (0.0 if step == 0 else (step - 0.5) * dt)
    last = start + (n * dt if step == n else (step + 0.5) * dt)
    push = work.push
    for c in range(3):
        push[4 + c] = (_between(work.ground, last, work, c) - _between(work.ground, first, work, c)) / (last - first)
        push[c] = work.gravity[c] - push[4 + c]
    at = start + min(step, n - 1) * dt
    for k in range(work.support_velocity.shape[0]):
        for c in range(3):
            moves = work.moves[:, k]
            work.support_velocity[k, c] = (_between(moves, at + dt, work, c) - _between(moves, at, work, c)) / dt


@inner
def move_supports(start, span, structure, work):
    """Supports that are moved have their mean velocity over `span` from `start` on, the others none."""
    for i in range(work.speed.shape[0]):
        if structure.bodies.fixed[i]:
            for c in range(6):
                work.speed[i, c] = 0.0
    for k in range(structure.supports.shape[0]):
        for c in range(3):
            moves = work.moves[:, k]
            moved = _between(moves, start + span, work, c) - _between(moves, start, work, c)
            work.speed[structure.supports[k], c] = moved / span


@inner
def _between(table, time, work, c):
    """A number of a table at equal times of the interval, joined by straight lines."""
    nodes = table.shape[0] - 1
    x = time / work.number[SPAN] * nodes
    k = min(max(int(x), 0), nodes - 1)
    return table[k, c] + (x - k) * (table[k + 1, c] - table[k, c])


@inner
def _forces(dt, ahead, fresh, control, joints, which, cells, work, helpers):
    groups = joints.number[1]
    dry = groups - cells.patch.shape[0]
    work.job[TIME], work.job[AHEAD] = dt, ahead
    tiles = -(-dry // GROUPS_IN_TILE)
    tile = begin(control, FORCES, which, 1 if fresh else 0, tiles, helpers)
    while tile >= 0:
        force_tile(tile, fresh, joints, cells, work)
        tile = proceed(control, tile, tiles, helpers)
    flags = 0
    for tile in range(tiles):
        for k in range(tile * GROUPS_IN_TILE, work.flags[tile]):
            work.flagged[flags] = work.flagged[k]
            flags += 1
    work.count[FLAGS] = cell_forces(
        dry, groups, dt, ahead, joints.rows, joints.body, joints.slot, joints.group_corner, joints.corners, cells,
        work.velocity, joints.wrench, work.flagged, flags, work.stress, work.ledger,
    )  # fmt: skip


@inner
def force_tile(tile, fresh, joints, cells, work):
    first = tile * GROUPS_IN_TILE
    stop = min(first + GROUPS_IN_TILE, joints.number[1] - cells.patch.shape[0])
    work.flags[tile] = patch_forces(
        first, stop, work.job[TIME], work.job[AHEAD], fresh, joints.rows, joints.body, joints.slot, joints.group_corner,
        joints.corners, work.velocity, joints.wrench, work.flagged, first,
    )  # fmt: skip


@inner
def _kicks(span, drift, control, structure, joints, which, work, helpers):
    work.job[TIME], work.job[DRIFT] = span, drift
    tiles = -(-structure.mass.shape[0] // BODIES_IN_TILE)
    tile = begin(control, KICKS, which, 0, tiles, helpers)
    while tile >= 0:
        kick_tile(tile, structure, joints, work)
        tile = proceed(control, tile, tiles, helpers)
    if work.number[KEPT] > 0.0:
        kept = np.exp(-work.number[KEPT] * max(drift, span))
        for k in range(work.velocity.shape[0]):
            work.velocity[k] *= kept
        for k in range(work.momentum.shape[0]):
            work.momentum[k] *= kept
    for tile in range(tiles):
        for c in range(3):
            work.ledger[WORK_OF_GROUND] -= work.push[4 + c] * work.impulse[tile, c]


@inner
def kick_tile(tile, structure, joints, work):
    first = tile * BODIES_IN_TILE
    stop = min(first + BODIES_IN_TILE, structure.mass.shape[0])
    for c in range(4):
        work.impulse[tile, c] = 0.0
    kick(
        first, stop, work.job[TIME], work.job[DRIFT], work.push, structure.free, joints.wrench_start, joints.wrench,
        work.external, work.velocity, work.momentum, structure.mass, structure.inverse_mass, work.inverse_inertia, work.moved,
        work.impulse[tile],
    )  # fmt: skip


@inner
def _landings(dt, again, structure, joints, work):
    """What landed in the last step is asked again, then all that may land now; returns how many did."""
    landed = 0
    for k in range(again):
        _land(work.landing[k] // LANES, work.landing[k] % LANES, dt, True, structure, joints, work)
    for k in range(work.count[FLAGS]):
        g = work.flagged[k]
        for lane in range(LANES):
            if joints.corner_count[g, lane] > 0 and _land(g, lane, dt, False, structure, joints, work):
                work.ledger[LANDINGS] += 1.0
                work.landing[landed] = LANES * g + lane
                landed += 1
    return landed


@inner
def _land(g, lane, dt, again, structure, joints, work):
    """A patch lands, if it does, and what it loses goes to the ledger. The kick before the landing was a whole one, and its
    second half belongs behind it: what the forces at hand do in it is counted with the velocities after the landing (T341)."""
    a, b = joints.body[0, g, lane] // 8, joints.body[1, g, lane] // 8
    before, velocity, mass, push = work.corner[MOST_CORNERS], work.velocity, structure.mass, work.push
    for c in range(8):
        before[c], before[8 + c] = velocity[8 * a + c], velocity[8 * b + c]
    lands, lost = land(
        g, lane, dt, again, joints.rows, joints.body, joints.restitution[g, lane], joints.group_corner, joints.corner_count,
        joints.corners, velocity, work.momentum, structure.inverse_mass, work.inverse_inertia, work.corner,
    )  # fmt: skip
    if not lands:
        return False
    held = 0.0
    for side in range(2):
        i = a if side == 0 else b
        for c in range(8):
            before[8 * side + c] = velocity[8 * i + c] - before[8 * side + c]
        if mass[i] == 0.0:
            continue
        for c in range(3):
            held += mass[i] * (push[c] + push[4 + c]) * before[8 * side + c]
        for c in range(8):
            force = work.external[8 * i + c]
            for row in range(joints.wrench_start[i], joints.wrench_start[i + 1]):
                force += joints.wrench[8 * row + c]
            held += force * before[8 * side + c]
    pushed = 0.0  # by a support that moves
    for c in range(3):
        if mass[a] == 0.0:
            pushed += mass[b] * before[8 + c] * velocity[8 * a + c]
        elif mass[b] == 0.0:
            pushed += mass[a] * before[c] * velocity[8 * b + c]
    work.ledger[IMPACT_LOSS] += lost + 0.5 * dt * held + pushed
    work.ledger[WORK_OF_GROUND] += pushed
    return True


@inner
def _move_support(i, span, speed, first, joints, work):
    """A support takes on its speed of the next step; what it has done against the forces on it counts as work of the ground."""
    for c in range(3):
        force = 0.0
        for row in range(joints.wrench_start[i], joints.wrench_start[i + 1]):
            force += joints.wrench[8 * row + c]
        mean = speed[c] if first else 0.5 * (work.velocity[8 * i + c] + speed[c])
        work.ledger[WORK_OF_GROUND] -= span * force * mean
        work.velocity[8 * i + c] = speed[c]

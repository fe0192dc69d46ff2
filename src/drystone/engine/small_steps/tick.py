"""All small steps of a tick, in one call: velocity Verlet, half a kick, then drift and kick in turn, the last kick again a
half. With helper threads, forces and kicks are dealt out in tiles that write to places of their own and do not depend on the
number of threads, so that the bits do not either."""

import numpy as np

from drystone.base.kernel import inner
from drystone.base.kernel.helper_threads import KERNEL_SHARE, begin_repeated_job, next_tile, take_sum
from drystone.engine.small_steps.bodies import kick
from drystone.engine.small_steps.cell_forces import cell_forces
from drystone.engine.small_steps.dilatancy import open_by_sliding
from drystone.engine.small_steps.landing import MOST_CORNERS, land
from drystone.engine.small_steps.patch_forces import patch_forces
from drystone.engine.small_steps.patch_rows import BODY_ROW, LANES
from drystone.engine.small_steps.records import (
    BODIES_IN_TILE,
    FLAGS,
    GROUPS_IN_TILE,
    IMPACT_LOSS,
    KEPT,
    LANDINGS,
    SPAN,
    TICK_START,
    WORK_OF_GROUND,
    WORK_OF_LOADS,
)

SPREAD_EVERY = 8  # steps after which friction points are placed anew about the centre of pressure
FORCES, KICKS = 0, 1  # jobs for helpers
TIME, AHEAD, DRIFT = 0, 1, 2  # numbers of a job


@inner
def march(n, dt, control, structure, joints, which, cells, work, helpers):
    """n steps of dt. which: 0 or 1, the place of `joints` in the data that helpers see."""
    number, counts, job, push = work.number, work.counts, work.job, work.push
    rows, body, slot, group_corner, corners = joints.rows, joints.body, joints.slot, joints.group_corner, joints.corners
    velocity, wrench, flagged = work.velocity, joints.wrench, work.flagged
    groups, bodies = joints.number[1], structure.mass.shape[0]
    dry = groups - cells.patch.shape[0]
    force_tiles, kick_tiles = -(-dry // GROUPS_IN_TILE), -(-bodies // BODIES_IN_TILE)
    landed = 0
    for step in range(n + 1):
        # forces
        passed, fresh = 0.0 if step == 0 else dt, step % SPREAD_EVERY == 0
        flags = 0
        if helpers == 0:
            flags = patch_forces(
                0, dry, passed, dt, fresh, rows, body, slot, group_corner, corners, velocity, wrench, flagged, 0
            )  # fmt: skip
        else:
            job[TIME], job[AHEAD], told = passed, dt, 0
            tile = begin_repeated_job(control, FORCES, which, 1 if fresh else 0, force_tiles, helpers)
            while tile >= 0:
                told += force_tile(tile, fresh, joints, cells, work)
                tile = next_tile(control, tile, force_tiles, helpers)
            if told + take_sum(control) > 0:
                flags = gather_flags(force_tiles, flagged, work.flags)
        if dry < groups:
            flags = cell_forces(dry, groups, passed, dt, rows, body, slot, group_corner, corners, cells, velocity, wrench,
                                flagged, flags, work.stress, work.ledger)  # fmt: skip
        if step > 0 and structure.opens:
            open_by_sliding(dry, dt, rows)
        # kicks, after the drift with the velocities so far
        ground_push(step, n, dt, number, work.ground, work.gravity, push)
        if work.pushes.shape[0] > 0:
            vary_loads(step, n, dt, passed, work)
        span = 0.5 * dt if step == 0 or step == n else dt
        job[TIME], job[DRIFT] = span, passed
        if helpers > 0:
            _share_kicks(control, groups, joints)
        tile = begin_repeated_job(control, KICKS, which, 0, kick_tiles, helpers)
        while tile >= 0:
            kick_tile(tile, structure, joints, work)
            tile = next_tile(control, tile, kick_tiles, helpers)
        if number[KEPT] > 0.0:
            slow_down(np.exp(-number[KEPT] * max(passed, span)), velocity, work.momentum)
        if structure.supports.shape[0] > 0:
            speed_up_supports(step, n, dt, span, structure, joints, work)
        if step < n and (landed > 0 or flags > 0):
            counts[FLAGS] = flags
            landed = _landings(dt, landed, structure, joints, work)


@inner
def _share_kicks(control, groups, joints):
    """Bodies are kicked by the thread that has written their wrenches."""
    first = joints.body[0, min(control[KERNEL_SHARE + FORCES] * GROUPS_IN_TILE, groups - 1), 0] // BODY_ROW  # of the helpers
    control[KERNEL_SHARE + KICKS] = first // BODIES_IN_TILE


@inner
def force_tile(tile, fresh, joints, cells, work):
    """A tile of the forces, as the job says. Returns 1 if something in it may land in the next step, else 0, and then writes
    nothing that another thread reads at once."""
    first = tile * GROUPS_IN_TILE
    stop = min(first + GROUPS_IN_TILE, joints.number[1] - cells.patch.shape[0])
    end = patch_forces(
        first, stop, work.job[TIME], work.job[AHEAD], fresh, joints.rows, joints.body, joints.slot, joints.group_corner,
        joints.corners, work.velocity, joints.wrench, work.flagged, first,
    )  # fmt: skip
    if end == first:
        return 0
    work.flags[tile] = end - first
    return 1


@inner
def gather_flags(tiles, flagged, flags):
    """The groups that tiles have flagged, one behind the other at the beginning of `flagged`; returns how many."""
    count = 0
    for tile in range(tiles):
        first = tile * GROUPS_IN_TILE
        for k in range(first, first + flags[tile]):
            flagged[count] = flagged[k]
            count += 1
        flags[tile] = 0
    return count


@inner
def kick_tile(tile, structure, joints, work):
    """A tile of the kicks, as the job says."""
    first = tile * BODIES_IN_TILE
    kick(
        first, min(first + BODIES_IN_TILE, structure.mass.shape[0]), work.job[TIME], work.job[DRIFT], work.push,
        structure.free, joints.wrench_start, joints.wrench, work.external, work.velocity, work.momentum, structure.mass,
        structure.inverse_mass, work.inverse_inertia, work.moved, work.ground_work[tile],
    )  # fmt: skip


@inner
def slow_down(kept, velocity, momentum):
    """Leaves this share of all velocities."""
    for k in range(velocity.shape[0]):
        velocity[k] *= kept
    for k in range(momentum.shape[0]):
        momentum[k] *= kept


@inner
def ground_push(step, n, dt, number, ground, gravity, push):
    """Gravity less the acceleration of the ground, and that alone, over the time for which a kick stands: from the middle of
    the step before to the middle of the one after."""
    whole = number[SPAN]
    first, last = _kick_time(step, n, dt, number[TICK_START])
    for c in range(3):
        push[4 + c] = (_between(ground, last, whole, c) - _between(ground, first, whole, c)) / (last - first)
        push[c] = gravity[c] - push[4 + c]


@inner
def _kick_time(step, n, dt, start):
    """From when to when a kick stands for the forces."""
    first = start + (0.0 if step == 0 else (step - 0.5) * dt)
    last = start + (n * dt if step == n else (step + 0.5) * dt)
    return first, last


@inner
def vary_loads(step, n, dt, drift, work):
    """Loads take on their mean over the time for which a kick stands, so that no impulse is lost. Their work, half those before
    and half those now on the way of the drift [s] that ends here, goes to the numbers of the interval."""
    summed, factor, external, number = work.factor_summed, work.factor, work.external, work.number
    first, last = _kick_time(step, n, dt, number[TICK_START])
    for k in range(factor.shape[0]):
        factor[k] = (_between(summed, last, number[SPAN], k) - _between(summed, first, number[SPAN], k)) / (last - first)
    total = 0.0
    for i in range(external.shape[0]):
        now = 0.0
        for k in range(factor.shape[0]):
            now += factor[k] * work.pushes[k, i]
        total += 0.5 * drift * (external[i] + now) * work.velocity[i]
        external[i] = now
    number[WORK_OF_LOADS] += total


@inner
def _between(table, time, span, c):
    """A number of a table at equal times of an interval of `span`, joined by straight lines."""
    nodes = table.shape[0] - 1
    x = time / span * nodes
    k = min(max(int(x), 0), nodes - 1)
    return table[k, c] + (x - k) * (table[k + 1, c] - table[k, c])


@inner
def move_supports(start, span, structure, work):
    """Supports that are moved have their mean velocity over `span` from `start` on, the others none."""
    for i in range(work.speed.shape[0]):
        if structure.bodies.fixed[i]:
            for c in range(6):
                work.speed[i, c] = 0.0
    for k in range(structure.supports.shape[0]):
        for c in range(3):
            moves, whole = work.moves[:, k], work.number[SPAN]
            moved = _between(moves, start + span, whole, c) - _between(moves, start, whole, c)
            work.speed[structure.supports[k], c] = moved / span


@inner
def speed_up_supports(step, n, dt, span, structure, joints, work):
    """Supports take on their speed of the next step; what they have done against the forces on them counts as work of the
    ground."""
    at = work.number[TICK_START] + min(step, n - 1) * dt
    for k in range(structure.supports.shape[0]):
        i = structure.supports[k]
        for c in range(3):
            moves, whole = work.moves[:, k], work.number[SPAN]
            speed = (_between(moves, at + dt, whole, c) - _between(moves, at, whole, c)) / dt
            force = 0.0
            for row in range(joints.wrench_start[i], joints.wrench_start[i + 1]):
                force += joints.wrench[8 * row + c]
            mean = speed if step == 0 else 0.5 * (work.velocity[8 * i + c] + speed)
            work.ledger[WORK_OF_GROUND] -= span * force * mean
            work.velocity[8 * i + c] = speed


@inner
def _landings(dt, again, structure, joints, work):
    """What landed in the last step is asked again, then all that may land now; returns how many did."""
    landed = 0
    for k in range(again):
        _land(work.landing[k] // LANES, work.landing[k] % LANES, dt, True, structure, joints, work)
    for k in range(work.counts[FLAGS]):
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

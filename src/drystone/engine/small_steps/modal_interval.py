"""All small steps of an interval of a structure with deformable blocks: as interval.py and tick.py, with modes beside the
motion of the blocks (T350 to T355). All pairs are found at the start of the interval, and one thread does it."""

import numpy as np

from drystone.base.kernel import inner, kernel
from drystone.engine.small_steps.bodies import kick
from drystone.engine.small_steps.cell_forces import cell_forces
from drystone.engine.small_steps.dilatancy import open_by_sliding
from drystone.engine.small_steps.interval import DONE_ALL, FASTEST, RAN_AWAY, end_interval, end_tick, reach_of, start_tick
from drystone.engine.small_steps.landing import land
from drystone.engine.small_steps.modal_stable_step import stable_step_with_modes
from drystone.engine.small_steps.modes import drift_modes, kick_modes, move_all_sides
from drystone.engine.small_steps.patch_forces import patch_forces
from drystone.engine.small_steps.patch_rows import LANES
from drystone.engine.small_steps.records import DONE, FLAGS, IMPACT_LOSS, KEPT, LANDINGS, SHARE_OF_STEP, SPAN, WORK_OF_GROUND
from drystone.engine.small_steps.tick import SPREAD_EVERY, ground_push, slow_down, speed_up_supports, vary_loads


@kernel
def follow_with_modes(data, modes):
    """All small steps of the interval, after find_all and hold_sides; how it ended."""
    structure, work, joints = data.structure, data.work, data.joints[0]
    length = work.number[SPAN]
    start_tick(length, structure, work)
    dt = stable_step_with_modes(structure, work, joints, modes)
    n = max(int(np.ceil(length / dt * work.number[SHARE_OF_STEP])), 1)
    move_all_sides(structure.mass.shape[0], modes, modes.rate, joints.wrench_start, work.velocity)
    march_with_modes(n, length / n, structure, joints, data.cells, work, modes)
    end_tick(n, structure, joints, work)
    work.number[DONE] = length
    fastest, _ = reach_of(data)
    end_interval(data, 1)
    return DONE_ALL if fastest < FASTEST else RAN_AWAY


@inner
def march_with_modes(n, dt, structure, joints, cells, work, modes):
    """n steps of dt."""
    number, push, velocity, bodies = work.number, work.push, work.velocity, structure.mass.shape[0]
    groups, landed = joints.number[1], 0
    dry = groups - cells.patch.shape[0]
    for step in range(n + 1):
        passed = 0.0 if step == 0 else dt
        flags = patch_forces(
            0, dry, passed, dt, step % SPREAD_EVERY == 0, joints.rows, joints.body, joints.slot, joints.group_corner,
            joints.corners, velocity, joints.wrench, work.flagged, 0,
        )  # fmt: skip
        if dry < groups:
            flags = cell_forces(dry, groups, passed, dt, joints.rows, joints.body, joints.slot, joints.group_corner,
                                joints.corners, cells, velocity, joints.wrench, work.flagged, flags, work.stress,
                                work.ledger)  # fmt: skip
        if step > 0 and structure.opens:
            open_by_sliding(dry, dt, joints.rows)
        drift_modes(passed, modes)
        ground_push(step, n, dt, number, work.ground, work.gravity, push)
        if work.pushes.shape[0] > 0:
            vary_loads(step, n, dt, passed, work)
        span = 0.5 * dt if step == 0 or step == n else dt
        kick(
            0, bodies, span, passed, push, structure.free, joints.wrench_start, joints.wrench, work.external, velocity,
            work.momentum, structure.mass, structure.inverse_mass, work.inverse_inertia, work.moved, work.ground_work[0],
        )  # fmt: skip
        kick_modes(span, bodies, modes, joints.wrench_start, joints.wrench, velocity)
        if number[KEPT] > 0.0:
            kept = np.exp(-number[KEPT] * max(passed, span))
            slow_down(kept, velocity, work.momentum)
            for k in range(modes.rate.shape[0]):
                modes.rate[k] *= kept
        if structure.supports.shape[0] > 0:
            speed_up_supports(step, n, dt, span, structure, joints, work)
        if step < n and (landed > 0 or flags > 0):
            work.counts[FLAGS] = flags
            landed = _landings(dt, landed, structure, joints, work, modes)


@inner
def _landings(dt, again, structure, joints, work, modes):
    """What landed in the last step is asked again, then all that may land now; returns how many did."""
    landed = 0
    for k in range(again):
        _land(work.landing[k] // LANES, work.landing[k] % LANES, dt, True, structure, joints, work, modes)
    for k in range(work.counts[FLAGS]):
        g = work.flagged[k]
        for lane in range(LANES):
            if joints.corner_count[g, lane] > 0 and _land(g, lane, dt, False, structure, joints, work, modes):
                work.ledger[LANDINGS] += 1.0
                work.landing[landed] = LANES * g + lane
                landed += 1
    return landed


@inner
def _land(g, lane, dt, again, structure, joints, work, modes):
    """A patch lands, if it does. Its sides have the velocities of the mesh and the inertia of their blocks as wholes: the blow
    acts on the rigid motion, and the modes keep their rates (T355). What is lost goes to the ledger as in tick.py."""
    p = joints.patch[LANES * g + lane]
    owner = structure.bodies.owner
    a, b = owner[joints.piece[p, 0]], owner[joints.piece[p, 1]]
    for side in range(2):
        _take_side(side, a if side == 0 else b, joints.body[side, g, lane], structure, work, modes)
    lands, _ = land(
        g, lane, dt, again, joints.rows, modes.pair, joints.restitution[g, lane], joints.group_corner, joints.corner_count,
        joints.corners, modes.pair_velocity, modes.pair_momentum, modes.pair_inverse_mass, modes.pair_inverse_inertia,
        work.corner,
    )  # fmt: skip
    if not lands:
        return False
    lost = held = pushed = 0.0
    for side in range(2):
        i, other = (a, b) if side == 0 else (b, a)
        if structure.mass[i] == 0.0:
            continue
        change = modes.pair_velocity[8 * side : 8 * side + 8]
        for c in range(8):
            change[c] -= work.velocity[joints.body[side, g, lane] + c]
        lost += _kinetic(i, structure, work)
        _give_side(side, i, change, structure, joints, work, modes)
        lost -= _kinetic(i, structure, work)
        held += _work_in(change, i, structure, joints, work)
        for c in range(3):
            if structure.mass[other] == 0.0:
                pushed += structure.mass[i] * change[c] * work.velocity[8 * other + c]
    work.ledger[IMPACT_LOSS] += lost + 0.5 * dt * held + pushed
    work.ledger[WORK_OF_GROUND] += pushed
    return True


@inner
def _take_side(side, i, row, structure, work, modes):
    """One of the two bodies of a landing: the side of block i with these numbers in `velocity`."""
    for c in range(8):
        modes.pair_velocity[8 * side + c] = work.velocity[row + c]
    for c in range(4):
        modes.pair_momentum[4 * side + c] = work.momentum[4 * i + c]
    for c in range(12):
        modes.pair_inverse_inertia[12 * side + c] = work.inverse_inertia[12 * i + c]
    modes.pair_inverse_mass[side] = structure.inverse_mass[i]


@inner
def _give_side(side, i, change, structure, joints, work, modes):
    """Block i takes on the change of velocity of one of its sides and its momentum, and its other sides with it."""
    for c in range(4):
        work.momentum[4 * i + c] = modes.pair_momentum[4 * side + c]
    for c in range(8):
        work.velocity[8 * i + c] += change[c]
    if modes.row[i] >= 0:
        for w in range(joints.wrench_start[i], joints.wrench_start[i + 1]):
            for c in range(8):
                work.velocity[8 * (structure.mass.shape[0] + w) + c] += change[c]


@inner
def _kinetic(i, structure, work):
    """[J] of the rigid motion of block i."""
    v, m = work.velocity[8 * i : 8 * i + 8], work.momentum[4 * i : 4 * i + 4]
    straight = structure.mass[i] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    return 0.5 * (straight + v[4] * m[0] + v[5] * m[1] + v[6] * m[2])


@inner
def _work_in(change, i, structure, joints, work):
    """[W] of all forces at hand on block i, in a change of its velocity (T341)."""
    total = 0.0
    for c in range(3):
        total += structure.mass[i] * (work.push[c] + work.push[4 + c]) * change[c]
    for c in range(8):
        force = work.external[8 * i + c]
        for w in range(joints.wrench_start[i], joints.wrench_start[i + 1]):
            force += joints.wrench[8 * w + c]
        total += force * change[c]
    return total

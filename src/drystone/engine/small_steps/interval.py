"""An interval of a history: ticks, at each of which some pairs are found anew, and the small steps between them."""

import numpy as np

from drystone.base.kernel import inner, unlocked
from drystone.base.kernel.helper_threads import JOB, add_to_sum, begin_job, finish_tile, next_tile, wait_for_tile
from drystone.engine.rotation import turn_quaternion
from drystone.engine.small_steps.bodies import inverse_inertias
from drystone.engine.small_steps.patch_groups import fill_groups, list_patches
from drystone.engine.small_steps.patch_rows import DAMPING_WORK, FRICTION_WORK, LANES, WORK_BEFORE, row_of
from drystone.engine.small_steps.patch_search import choose_pairs, find_in_memory, find_tile, memorise, place_blocks
from drystone.engine.small_steps.records import (
    CELLS_STORED,
    DAMPING_LOSS,
    DONE,
    ELASTIC,
    FINDS,
    FRICTION_LOSS,
    GEOMETRY,
    GROUPS_IN_TILE,
    KINETIC,
    LEVELS,
    LIFT,
    SHARE_OF_STEP,
    SMALL_STEPS,
    SPAN,
    STEP,
    TICK_START,
    TICKS,
    TILES,
    WORK_OF_GROUND,
    WORK_OF_LOADS,
)
from drystone.engine.small_steps.stable_step import stable_step
from drystone.engine.small_steps.tick import FORCES, KICKS, force_tile, kick_tile, march, move_supports

FIND, FILL = 2, 3  # jobs for helpers, besides those of engine/small_steps/tick.py
FASTEST = 1e4  # [m/s] no stone is so fast: what is has come from numbers that have run away
DONE_ALL, TOO_SMALL, RAN_AWAY = 0, 1, 2  # how an interval ends


@unlocked
def follow_interval(control, data, helpers, known):
    """The whole interval, or as much of it as the pairs at hand allow (number DONE, in seconds). known: rows of the memory."""
    work = data.work
    ticks, tick, which = 1 << work.counts[LEVELS], 0, 0
    _begin_interval(data, known)
    while tick < ticks:
        number = work.number
        if not begin_tick(control, data, which, tick, ticks, helpers):
            return TOO_SMALL
        stop = _next_tick(data.pairs, tick, ticks)
        length = number[SPAN] * (stop - tick) / ticks
        follow_tick(control, data, which, length, helpers)
        tick, which = stop, 1 - which
        number[DONE] = number[SPAN] * tick / ticks
        fastest, is_within = reach_of(data)
        if not fastest < FASTEST:
            return RAN_AWAY
        if not is_within:
            break
    end_interval(data, which)
    return DONE_ALL


@unlocked
def find_all(control, data, helpers, known):
    """The beginning of an interval without ticks: all pairs are found. Whether there is room enough."""
    _begin_interval(data, known)
    return begin_tick(control, data, 0, 0, 1, helpers)


@unlocked
def follow_all(control, data, helpers):
    """The rest of it: all its small steps."""
    work = data.work
    follow_tick(control, data, 0, work.number[SPAN], helpers)
    work.number[DONE] = work.number[SPAN]
    fastest, _ = reach_of(data)
    end_interval(data, 1)
    return DONE_ALL if fastest < FASTEST else RAN_AWAY


@unlocked
def assist(control, data, helper):
    """What a helper thread does: tiles of the jobs on offer, until there are no more."""
    tile = wait_for_tile(control, helper)
    while tile >= 0:
        kind, which, detail = control[JOB], control[JOB + 1], control[JOB + 2]
        if kind == FORCES:
            add_to_sum(control, force_tile(tile, detail == 1, data.joints[which], data.cells, data.work))
        elif kind == KICKS:
            kick_tile(tile, data.structure, data.joints[which], data.work)
        elif kind == FIND:
            _find_some(tile, which, data)
        else:
            _fill_some(tile, which, data)
        finish_tile(control, helper)
        tile = wait_for_tile(control, helper)


@inner
def _begin_interval(data, known):
    pairs, work, structure = data.pairs, data.work, data.structure
    for q in range(pairs.piece.shape[0]):
        pairs.ends[q] = pairs.level[q] = 0
    for i in range(work.travel.shape[0]):
        work.travel[i], work.asked[i] = 0.0, -1
    for k in range(8, 18):
        work.number[k] = 0.0
    for k in range(work.ledger.shape[0]):
        work.ledger[k] = 0.0
    work.counts[SMALL_STEPS] = work.counts[TICKS] = work.counts[FINDS] = 0
    find_in_memory(structure.bodies.owner, pairs, work.memory, known)


@inner
def begin_tick(control, data, which, tick, ticks, helpers):
    """Pairs that are due are found anew; the patches at work are arranged in data.joints[which]. False if there is too little
    room."""
    structure, pairs, work = data.structure, data.pairs, data.work
    joints, before = data.joints[which], data.joints[1 - which]
    number = work.number
    number[TICK_START] = number[SPAN] * tick / ticks
    move_supports(number[TICK_START], number[SPAN] / ticks, structure, work)
    deepest = choose_pairs(tick, ticks, work.counts[LEVELS], structure, pairs, work)
    if tick > 0:
        number[GEOMETRY] += memorise(before, pairs, True, work.memory)
        for q in range(pairs.piece.shape[0]):
            pairs.memory_first[q], pairs.memory_count[q] = before.first[q], before.patches[q]
    fresh = work.fresh
    for part in range(TILES):
        start = part * (fresh.offset.shape[0] // TILES)
        work.tile_end[part] = start
        fresh.patches.corner_start[start] = part * (fresh.patches.corner.shape[0] // TILES)
    for level in range(deepest + 1):
        move_supports(number[TICK_START], number[SPAN] / (1 << level), structure, work)
        place_blocks(level, structure, pairs, work, (tick << 8) + level)
        number[STEP] = tick
        work.job[3] = ticks
        tile = begin_job(control, FIND, level, 0, TILES, helpers)
        while tile >= 0:
            _find_some(tile, level, data)
            tile = next_tile(control, tile, TILES, helpers)
        for part in range(TILES):
            if work.tile_end[part] < 0:
                return False
    if not list_patches(structure, pairs, work, joints, before):
        return False
    tiles = -(-joints.number[1] // GROUPS_IN_TILE)
    tile = begin_job(control, FILL, which, 0, tiles, helpers)
    while tile >= 0:
        _fill_some(tile, which, data)
        tile = next_tile(control, tile, tiles, helpers)
    for q in range(pairs.piece.shape[0]):
        if pairs.due[q]:
            number[GEOMETRY] -= pairs.energy[q]
            work.counts[FINDS] += 1
    return True


@inner
def _find_some(tile, level, data):
    if not find_tile(tile, int(data.work.number[STEP]), int(data.work.job[3]), level, data.structure, data.pairs, data.work):
        data.work.tile_end[tile] = -1


@inner
def _fill_some(tile, which, data):
    joints = data.joints[which]
    first = tile * GROUPS_IN_TILE
    stop = min(first + GROUPS_IN_TILE, joints.number[1])
    fill_groups(first, stop, data.pairs, data.work, joints, data.joints[1 - which])


@inner
def _next_tick(pairs, tick, ticks):
    """When the next pair is due."""
    first = ticks
    for q in range(pairs.piece.shape[0]):
        first = min(first, pairs.ends[q])
    return max(first, tick + 1)


@inner
def follow_tick(control, data, which, length, helpers):
    """The small steps of a tick of so many seconds, and where everything is then."""
    structure, work, joints = data.structure, data.work, data.joints[which]
    start_tick(length, structure, work)
    dt = stable_step(structure, work, joints)
    n = max(int(np.ceil(length / dt * work.number[SHARE_OF_STEP])), 1)
    march(n, length / n, control, structure, joints, which, data.cells, work, helpers)
    end_tick(n, structure, joints, work)


@inner
def start_tick(length, structure, work):
    """Velocities at the start of a tick of so many seconds, inertia in its middle."""
    move_supports(work.number[TICK_START], length, structure, work)
    for i in range(work.position.shape[0]):
        turned = turn_quaternion(work.rotation[i], work.speed[i, 3:], 0.5 * length)
        for c in range(4):
            work.turned[i, c] = turned[c]
        for c in range(3):
            work.velocity[8 * i + c] = work.speed[i, c]
    inverse_inertias(work.turned, structure.inverse_inertia, structure.planar, work.inverse_inertia)
    _spins(work)
    for k in range(work.moved.shape[0]):
        work.moved[k] = 0.0


@inner
def _spins(work):
    """The spins in `velocity`, from the angular momenta."""
    inverse, momentum = work.inverse_inertia, work.momentum
    for i in range(work.position.shape[0]):
        for row in range(3):
            k = 12 * i + row
            work.velocity[8 * i + 4 + row] = (
                inverse[k] * momentum[4 * i] + inverse[k + 4] * momentum[4 * i + 1] + inverse[k + 8] * momentum[4 * i + 2]
            )


@inner
def end_tick(n, structure, joints, work):
    """Poses and velocities after n small steps, and what the patches have lost."""
    work.counts[SMALL_STEPS] += n
    work.counts[TICKS] += 1
    fixed, moved, number = structure.bodies.fixed, work.moved, work.number
    for i in range(work.position.shape[0]):
        if structure.planar:
            moved[8 * i + 1] = work.velocity[8 * i + 1] = 0.0  # rounding in landings
        far = 0.0
        for c in range(3):
            work.position[i, c] += moved[8 * i + c]
            far += moved[8 * i + c] ** 2
        turned = turn_quaternion(work.rotation[i], moved[8 * i + 4 : 8 * i + 7], 1.0)
        for c in range(4):
            work.rotation[i, c] = turned[c]
        work.travel[i] += np.sqrt(far)
        if structure.mass[i] > 0.0:
            number[LIFT] += structure.mass[i] * moved[8 * i + 2]
        if work.pushes.shape[0] == 0:  # else tick.py has summed it
            for c in range(8):
                number[WORK_OF_LOADS] += work.external[8 * i + c] * moved[8 * i + c]
    inverse_inertias(work.rotation, structure.inverse_inertia, structure.planar, work.inverse_inertia)
    _spins(work)
    for i in range(work.position.shape[0]):
        for c in range(3):
            work.speed[i, c] = work.velocity[8 * i + c]
            work.speed[i, 3 + c] = 0.0 if fixed[i] else work.velocity[8 * i + 4 + c]
    for p in range(joints.number[0]):
        r, rows = row_of(joints.at[p]), joints.rows
        number[FRICTION_LOSS] += rows[r + LANES * FRICTION_WORK]
        number[DAMPING_LOSS] += rows[r + LANES * DAMPING_WORK]
        rows[r + LANES * FRICTION_WORK] = rows[r + LANES * DAMPING_WORK] = rows[r + LANES * WORK_BEFORE] = 0.0
    for tile in range(work.ground_work.shape[0]):
        for c in range(3):
            work.ledger[WORK_OF_GROUND] += work.ground_work[tile, c]
            work.ground_work[tile, c] = 0.0
    number[GEOMETRY] -= work.ledger[CELLS_STORED]
    work.ledger[CELLS_STORED] = 0.0


@inner
def reach_of(data):
    """The fastest velocity, and whether no block has gone farther than the pairs at hand allow."""
    work, fixed = data.work, data.structure.bodies.fixed
    fastest, is_within = 0.0, True
    for i in range(work.speed.shape[0]):
        for c in range(6):
            if not abs(work.speed[i, c]) <= fastest:
                fastest = abs(work.speed[i, c])
        is_within = is_within and (fixed[i] or work.travel[i] <= work.reach[i])
    return fastest, is_within


@inner
def end_interval(data, which):
    """Memory of all patches, and the energies at the end; `which` is where the next joints would go."""
    structure, work = data.structure, data.work
    work.number[ELASTIC] = memorise(data.joints[1 - which], data.pairs, False, work.memory)
    kinetic = 0.0
    for i in range(work.position.shape[0]):
        if structure.mass[i] > 0.0:
            v, m = work.velocity[8 * i : 8 * i + 8], work.momentum[4 * i : 4 * i + 4]
            kinetic += structure.mass[i] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + v[4] * m[0] + v[5] * m[1] + v[6] * m[2]
    work.number[KINETIC] = 0.5 * kinetic

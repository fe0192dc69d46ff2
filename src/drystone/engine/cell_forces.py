"""The forces in joints that remember, cell by cell, and what their cells carry from one detection to the next."""

from typing import NamedTuple

import numpy as np

from drystone.contact.cells import CELLS, Cells
from drystone.contact.patch_memory import CELL_NUMBERS, CellMemory
from drystone.contact.patches import Patches
from drystone.engine.joint_law import BOND, COHESION, CRUSHED, NORMAL, NUMBERS, OPENING, REST_S, REST_T, stress
from drystone.engine.landing import relative_motion
from drystone.engine.patch_rows import (
    ARM_A,
    ARM_B,
    BODY_ROW,
    CENTRE_S,
    CENTRE_T,
    COLUMNS,
    DAMPING_TIME,
    DAMPING_WORK,
    EXTRA,
    EXTRA_S,
    EXTRA_T,
    FORCE_1,
    FORCE_2,
    FRICTION_WORK,
    GAP,
    GAP_S,
    GAP_T,
    LANDING_SPEED,
    LANES,
    NORMAL_FORCE,
    REACH,
    TANGENT_1,
    TANGENT_2,
    TWICE_FREQUENCY,
    TWIST,
)
from drystone.engine.patch_rows import NORMAL as AXIS
from drystone.kernel import inner

Array = np.ndarray
FRACTURE_ENTRY, STORED_ENTRY = 3, 4  # of the ledger: lost in fracture, stored at the start


class CellRows(NamedTuple):
    """The cells of an interval, as small steps work on them."""

    patch: Array  # (G, 4) int64 patch in each lane of the groups that have cells, -1: none
    start: Array  # (P+1,) int64
    number: Array  # (C, 2) int64 in the grid of the face
    place: Array  # (C, 2)
    area: Array  # (C,)
    own: Array  # (C, 3)
    half: Array  # (C, 2)
    law: Array  # (P, NUMBERS)
    rest: Array  # (C,) [m] gap at which a cell is neither opened nor closed
    state: Array  # (C, CELL_NUMBERS)


NO_CELL_ROWS = CellRows(
    np.empty((0, LANES), np.int64), np.zeros(1, np.int64), np.empty((0, 2), np.int64), np.empty((0, 2)), np.empty(0),
    np.empty((0, 3)), np.empty((0, 2)), np.empty((0, NUMBERS)), np.empty(0), np.empty((0, CELL_NUMBERS)),
)  # fmt: skip


def recall_cells(
    patches: Patches, has_cells: Array, cells: Cells, memory: CellMemory, binds: bool, has_bond: Array
) -> tuple[Array, Array]:
    """rest (C,) and state (C, CELL_NUMBERS) of the cells at the start of an interval. binds: the history begins, and joints
    that have a bond (P,) are bonded as they are. A bond is held where it was, whatever rounding says; a cell without one is
    found no deeper than it was."""
    patch = np.repeat(np.arange(len(has_cells)), np.diff(cells.start))
    gap = (patches.gap[patch] * np.column_stack([np.ones(len(patch)), cells.place])).sum(axis=1)
    state = np.zeros((len(patch), CELL_NUMBERS))
    rest = np.minimum(gap, 0.0)
    if binds:
        sound = has_bond[patch]
        state[:, BOND] = sound
        state[:, REST_S : REST_T + 1] = np.where(sound[:, None], patches.gap[patch, 1:], 0.0)
        return np.where(sound, gap, rest), state
    new, old = _keys(patches.face[patch], cells.number), _keys(memory.face, memory.cell)
    order = np.argsort(old)
    at = np.minimum(np.searchsorted(old[order], new), max(len(old) - 1, 0))
    known = old[order][at] == new if len(old) else np.zeros(len(new), bool)
    rows = order[at[known]]
    state[known] = memory.state[rows]
    opening = state[:, OPENING]
    deeper = -gap > np.maximum(-opening, 0.0)
    free = np.where(deeper, gap - np.minimum(opening, 0.0), 0.0)
    rest[known] = np.where(state[known, BOND] > 0.0, (gap - opening)[known], free[known])
    return rest, state


def _keys(face: Array, cell: Array) -> Array:
    """(C,) a number for each cell."""
    return ((face[:, 0] << 32) + face[:, 1]) * CELLS * CELLS + CELLS * cell[:, 0] + cell[:, 1]


@inner
def cell_forces(group0, group1, dt, ahead, rows, body, slot, corner_start, corners, cells, velocity, wrench, flagged, flags,
                out, ledger):  # fmt: skip
    """One small step of the patches of groups group0 to group1, which have cells; as `patch_forces` otherwise. out:
    scratch."""
    for g in range(group0, group1):
        lands = False
        for lane in range(LANES):
            p = cells.patch[g - group0, lane]
            if p >= 0:
                r = g * COLUMNS * LANES + lane
                lands = _one_patch(
                    g, lane, r, p, dt, ahead, rows, body, slot, corner_start, corners, cells, velocity, wrench, out, ledger
                ) or lands  # fmt: skip
        if lands:
            flagged[flags] = g
            flags += 1
    return flags


@inner
def _one_patch(g, lane, r, p, dt, ahead, rows, body, slot, corner_start, corners, cells, velocity, wrench, out, ledger):
    """Whether it may land in the next step."""
    ax, ay, az = rows[r + LANES * ARM_A], rows[r + LANES * (ARM_A + 1)], rows[r + LANES * (ARM_A + 2)]
    bx, by, bz = rows[r + LANES * ARM_B], rows[r + LANES * (ARM_B + 1)], rows[r + LANES * (ARM_B + 2)]
    n, s, t = r + LANES * AXIS, r + LANES * TANGENT_1, r + LANES * TANGENT_2
    nx, ny, nz = rows[n], rows[n + LANES], rows[n + 2 * LANES]
    sx, sy, sz = rows[s], rows[s + LANES], rows[s + 2 * LANES]
    tx, ty, tz = rows[t], rows[t + LANES], rows[t + 2 * LANES]
    a, b = body[0, g, lane] // BODY_ROW, body[1, g, lane] // BODY_ROW
    rate, rate_s, rate_t, v1, v2, on = relative_motion(rows, r, a, b, velocity)
    g0 = rows[r + LANES * GAP] + dt * rate
    gs = rows[r + LANES * GAP_S] + dt * rate_s
    gt = rows[r + LANES * GAP_T] + dt * rate_t
    rows[r + LANES * GAP], rows[r + LANES * GAP_S], rows[r + LANES * GAP_T] = g0, gs, gt
    lands = _may_land(g, lane, r, ahead, g0, gs, gt, rate, rate_s, rate_t, rows, corner_start, corners)
    law, beta = cells.law[p], rows[r + LANES * DAMPING_TIME]
    normal = moment_s = moment_t = force1 = force2 = twist = stored = sliding = fracture = 0.0
    for c in range(cells.start[p], cells.start[p + 1]):
        cs, ct, area, state = cells.place[c, 0], cells.place[c, 1], cells.area[c], cells.state[c]
        opening = g0 + gs * cs + gt * ct - cells.rest[c]
        ls, lt = gs - state[REST_S], gt - state[REST_T]
        farthest = opening + abs(ls) * cells.half[c, 0] + abs(lt) * cells.half[c, 1]
        was_whole = law[COHESION] > 0.0 and state[BOND] > 0.0 and state[CRUSHED] == 0.0
        stress(law, opening, farthest, rate + rate_s * cs + rate_t * ct, v1 - on * ct, v2 + on * cs, dt, beta, state, out)
        pressed, f1, f2 = area * out[0], area * out[1], area * out[2]
        normal += pressed
        moment_s += pressed * cs
        moment_t += pressed * ct
        force1 += f1
        force2 += f2
        twist += cs * f2 - ct * f1
        stored += area * out[3]
        sliding += area * out[4]
        fracture += area * out[5]
        if was_whole:  # stress is linear over a whole cell: its moments about the middle of the cell
            os = cells.own[c, 0] * ls + cells.own[c, 1] * lt
            ot = cells.own[c, 1] * ls + cells.own[c, 2] * lt
            held = 0.5 * law[NORMAL] * (os * ls + ot * lt)
            if state[BOND] > 0.0 and state[CRUSHED] == 0.0:
                moment_s -= law[NORMAL] * os
                moment_t -= law[NORMAL] * ot
                stored += held
            else:
                fracture += held
    if dt > 0.0:
        work = 0.5 * dt * (
            (rows[r + LANES * NORMAL_FORCE] + normal) * rate
            + (rows[r + LANES * EXTRA_S] + moment_s) * rate_s
            + (rows[r + LANES * EXTRA_T] + moment_t) * rate_t
            + (rows[r + LANES * FORCE_1] + force1) * v1
            + (rows[r + LANES * FORCE_2] + force2) * v2
            + (rows[r + LANES * TWIST] + twist) * on
        )
        rows[r + LANES * FRICTION_WORK] += sliding
        rows[r + LANES * DAMPING_WORK] += rows[r + LANES * EXTRA] - stored - sliding - fracture - work
        ledger[FRACTURE_ENTRY] += fracture
    else:
        ledger[STORED_ENTRY] += stored
    reach, over = rows[r + LANES * REACH], 1.0 / normal if normal != 0.0 else 0.0
    rows[r + LANES * CENTRE_S] = min(max(moment_s * over, -reach), reach)
    rows[r + LANES * CENTRE_T] = min(max(moment_t * over, -reach), reach)
    rows[r + LANES * EXTRA], rows[r + LANES * EXTRA_S], rows[r + LANES * EXTRA_T] = stored, moment_s, moment_t
    rows[r + LANES * NORMAL_FORCE], rows[r + LANES * TWIST] = normal, twist
    rows[r + LANES * FORCE_1], rows[r + LANES * FORCE_2] = force1, force2
    fx, fy, fz = (
        normal * nx + force1 * sx + force2 * tx,
        normal * ny + force1 * sy + force2 * ty,
        normal * nz + force1 * sz + force2 * tz,
    )
    mx, my, mz = (
        twist * nx + moment_t * sx - moment_s * tx,
        twist * ny + moment_t * sy - moment_s * ty,
        twist * nz + moment_t * sz - moment_s * tz,
    )
    wa, wb = wrench[slot[0, g, lane] : slot[0, g, lane] + 8], wrench[slot[1, g, lane] : slot[1, g, lane] + 8]
    wb[0], wb[1], wb[2] = fx, fy, fz
    wb[4], wb[5], wb[6] = mx + by * fz - bz * fy, my + bz * fx - bx * fz, mz + bx * fy - by * fx
    wa[0], wa[1], wa[2] = -fx, -fy, -fz
    wa[4], wa[5], wa[6] = az * fy - ay * fz - mx, ax * fz - az * fx - my, ay * fx - ax * fy - mz
    return lands


@inner
def _may_land(g, lane, r, ahead, g0, gs, gt, rate, rate_s, rate_t, rows, corner_start, corners):
    reach, fast = rows[r + LANES * REACH], rows[r + LANES * LANDING_SPEED]
    closing = rate - reach * (abs(rate_s) + abs(rate_t))
    if not (closing < -fast and g0 - reach * (abs(gs) + abs(gt)) + 2.0 * ahead * closing < 0.0):
        return False
    vibrates = rows[r + LANES * TWICE_FREQUENCY]
    for corner in range(corner_start[g], corner_start[g + 1]):
        s, t = corners[2 * LANES * corner + lane], corners[2 * LANES * corner + LANES + lane]
        gap, speed = g0 + gs * s + gt * t, rate + rate_s * s + rate_t * t
        if speed < -fast + vibrates * min(gap, 0.0) and gap + 2.0 * ahead * speed < 0.0:
            return True
    return False

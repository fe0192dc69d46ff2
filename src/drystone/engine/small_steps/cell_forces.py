"""The forces in joints that remember, cell by cell, and what their cells carry from one detection to the next."""

from typing import NamedTuple

import numpy as np

from drystone.base.kernel import inner
from drystone.base.kernel.law_address import call_law
from drystone.contact.joint_cells import Cells, comes_before, room_for_cells
from drystone.contact.patch_memory import CELL_NUMBERS
from drystone.contact.placed_blocks import NEAR
from drystone.engine.small_steps.cell_stress import (
    ALONG_1,
    ALONG_2,
    BOND,
    FRACTURE,
    NORMAL,
    NUMBERS,
    OPENING,
    PRESSURE,
    REST_S,
    REST_T,
    SLIDING,
    SLIP,
    SLOPE,
    SLOPE_LOST,
    STORED,
)
from drystone.engine.small_steps.dilatancy import SMOOTHING
from drystone.engine.small_steps.landing import relative_motion
from drystone.engine.small_steps.patch_rows import (
    ARM_A,
    ARM_B,
    BODY_ROW,
    COLUMNS,
    DAMPING_TIME,
    DAMPING_WORK,
    DILATANCY,
    DILATING,
    DILATION,
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
    ROCKING_TIME,
    TANGENT_1,
    TANGENT_2,
    TWICE_FREQUENCY,
    TWIST,
)
from drystone.engine.small_steps.patch_rows import NORMAL as AXIS

Array = np.ndarray
FRACTURE_ENTRY, STORED_ENTRY = 3, 4  # of the ledger: lost in fracture, stored at the start


class CellRows(NamedTuple):
    """The cells of an interval, as small steps work on them."""

    patch: Array  # (G, 4) int64 patch in each lane of the groups that have cells, -1: none
    cells: Cells
    stress: Array  # (P,) int64 address of the law of each patch
    law: Array  # (P, N) its numbers
    rest: Array  # (C,) [m] gap at which a cell is neither opened nor closed
    state: Array  # (C, M) what cells remember


NO_CELL_ROWS = CellRows(
    np.empty((0, LANES), np.int64), room_for_cells(0, 0, 0), np.empty(0, np.int64), np.empty((0, NUMBERS)), np.empty(0),
    np.empty((0, CELL_NUMBERS)),
)  # fmt: skip


@inner
def bind_cells(bodies, patches, has_bond, cells, rest, state):
    """rest (C,) and state (C, M) of the cells as a history begins: joints that have a bond (P,) are bonded as they are, where
    blocks touch in a face, not along a line; what gap there is, is filled with mortar."""
    for p in range(has_bond.shape[0]):
        a, b = bodies.owner[patches.piece[p, 0]], bodies.owner[patches.piece[p, 1]]
        near, corners = NEAR * (1.0 - 1e-6) * min(bodies.radius[a], bodies.radius[b]), 0
        for k in range(patches.corner_start[p], patches.corner_start[p + 1]):
            if _gap(patches.gap, p, patches.corner[k, 0], patches.corner[k, 1]) < near:
                corners += 1
        for c in range(cells.start[p], cells.start[p + 1]):
            gap = _gap_at_cell(patches.gap, p, cells, c)
            for k in range(state.shape[1]):
                state[c, k] = 0.0
            rest[c] = min(gap, 0.0)
            if has_bond[p] and corners > 2 and gap < near:
                rest[c], state[c, BOND] = gap, 1.0
                state[c, REST_S], state[c, REST_T] = patches.gap[p, 1], patches.gap[p, 2]


@inner
def recall_cells(owner, patches, cells, memory, known, rest, state):
    """rest (C,) and state (C, M) of the cells at the start of an interval, from the first `known` cells of `memory`. A bond is
    held where it was, whatever rounding says; a cell without one is found no deeper than it was (T346). Both lists are in the
    order of blocks, pieces, faces and numbers, and are walked together."""
    q = 0
    for p in range(patches.whole.shape[0]):
        first, stop = cells.start[p], cells.start[p + 1]
        if first == stop:
            continue
        while q < known and comes_before(owner, memory.piece, memory.face, q, patches.piece, patches.face, p):
            q += 1
        end = q
        while end < known and not comes_before(owner, patches.piece, patches.face, p, memory.piece, memory.face, end):
            end += 1
        for c in range(first, stop):
            i, j = cells.number[c, 0], cells.number[c, 1]
            while q < end and (memory.cell[q, 0] < i or (memory.cell[q, 0] == i and memory.cell[q, 1] < j)):
                q += 1
            gap = _gap_at_cell(patches.gap, p, cells, c)
            if q < end and memory.cell[q, 0] == i and memory.cell[q, 1] == j:
                for k in range(state.shape[1]):
                    state[c, k] = memory.state[q, k]
                rest[c] = _rest(gap, state[c, OPENING], state[c, BOND] > 0.0)
            else:
                for k in range(state.shape[1]):
                    state[c, k] = 0.0
                rest[c] = min(gap, 0.0)
        q = end


@inner
def _gap(gap, p, s, t):
    return gap[p, 0] + gap[p, 1] * s + gap[p, 2] * t


@inner
def _gap_at_cell(gap, p, cells, c):
    """[m] at the middle of the cell."""
    low_s, low_t, size_s, size_t = cells.grid[p]
    return _gap(gap, p, low_s + size_s * cells.place[c, 0], low_t + size_t * cells.place[c, 1])


@inner
def _rest(gap, opening, held):
    if held:
        return gap - opening
    deeper = -gap > max(-opening, 0.0)
    return gap - min(opening, 0.0) if deeper else 0.0


@inner
def keep_cells(patches, cells, state, memory):
    """Writes what the cells carry over to the first rows of `memory`; returns how many, -1 if there is no room."""
    count = cells.start[patches.whole.shape[0]]
    if count > memory.state.shape[0]:
        return -1
    for p in range(patches.whole.shape[0]):
        for c in range(cells.start[p], cells.start[p + 1]):
            for k in range(2):
                memory.piece[c, k], memory.face[c, k] = patches.piece[p, k], patches.face[p, k]
                memory.cell[c, k] = cells.number[c, k]
            for k in range(state.shape[1]):
                memory.state[c, k] = state[c, k]
    return count


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
def _one_patch(g, lane, r, p, dt, ahead, rows, body, slot, corner_start, corners, all_cells, velocity, wrench, out, ledger):
    """Whether it may land in the next step."""
    ax, ay, az = rows[r + LANES * ARM_A], rows[r + LANES * (ARM_A + 1)], rows[r + LANES * (ARM_A + 2)]
    bx, by, bz = rows[r + LANES * ARM_B], rows[r + LANES * (ARM_B + 1)], rows[r + LANES * (ARM_B + 2)]
    n, s, t = r + LANES * AXIS, r + LANES * TANGENT_1, r + LANES * TANGENT_2
    nx, ny, nz = rows[n], rows[n + LANES], rows[n + 2 * LANES]
    sx, sy, sz = rows[s], rows[s + LANES], rows[s + 2 * LANES]
    tx, ty, tz = rows[t], rows[t + LANES], rows[t + 2 * LANES]
    a, b = body[0, g, lane] // BODY_ROW, body[1, g, lane] // BODY_ROW
    rate, rate_s, rate_t, v1, v2, on = relative_motion(rows, r, a, b, velocity)
    rate -= rows[r + LANES * DILATING]
    g0 = rows[r + LANES * GAP] + dt * rate
    gs = rows[r + LANES * GAP_S] + dt * rate_s
    gt = rows[r + LANES * GAP_T] + dt * rate_t
    rows[r + LANES * GAP], rows[r + LANES * GAP_S], rows[r + LANES * GAP_T] = g0, gs, gt
    lands = _may_land(g, lane, r, ahead, g0, gs, gt, rate, rate_s, rate_t, rows, corner_start, corners)
    cells, law, where, beta = all_cells.cells, all_cells.law[p], all_cells.stress[p], rows[r + LANES * DAMPING_TIME]
    # seen from the corner of the grid, in cells
    low_s, low_t, size_s, size_t = cells.grid[p, 0], cells.grid[p, 1], cells.grid[p, 2], cells.grid[p, 3]
    corner_gap, across_s, across_t = g0 + gs * low_s + gt * low_t, gs * size_s, gt * size_t
    corner_rate, rates_s, rates_t = rate + rate_s * low_s + rate_t * low_t, rate_s * size_s, rate_t * size_t
    corner_v1, corner_v2, turn_s, turn_t = v1 - on * low_t, v2 + on * low_s, on * size_s, on * size_t
    pressed = pressed_s = pressed_t = along1 = along2 = twisted = stored = sliding = fracture = slid = loaded = 0.0
    bears = bears_s = bears_t = bears_ss = bears_st = bears_tt = borne = 0.0  # the area that bears, its moments, what it bears
    for c in range(cells.start[p], cells.start[p + 1]):
        cs, ct, area, state = cells.place[c, 0], cells.place[c, 1], cells.area[c], all_cells.state[c]
        opening = corner_gap + across_s * cs + across_t * ct - all_cells.rest[c]
        ls, lt = across_s - size_s * state[REST_S], across_t - size_t * state[REST_T]
        farthest = opening + abs(ls) * cells.half[c, 0] + abs(lt) * cells.half[c, 1]
        call_law(
            where, law, opening, farthest, corner_rate + rates_s * cs + rates_t * ct, corner_v1 - turn_t * ct,
            corner_v2 + turn_s * cs, dt, beta, state, out,
        )  # fmt: skip
        state[OPENING] = opening
        pressure, f1, f2 = area * out[PRESSURE], area * out[ALONG_1], area * out[ALONG_2]
        pressed += pressure
        pressed_s += pressure * cs
        pressed_t += pressure * ct
        along1 += f1
        along2 += f2
        twisted += size_s * cs * f2 - size_t * ct * f1
        stored += area * out[STORED]
        sliding += area * out[SLIDING]
        fracture += area * out[FRACTURE]
        slid += max(pressure, 0.0) * out[SLIP]
        loaded += max(pressure, 0.0)
        if pressure != 0.0:
            bears, bears_s, bears_t = bears + area, bears_s + area * cs, bears_t + area * ct
            bears_ss, bears_st, bears_tt = bears_ss + area * cs * cs, bears_st + area * cs * ct, bears_tt + area * ct * ct
            borne += abs(pressure)
        if out[SLOPE] + out[SLOPE_LOST] > 0.0:  # pressure is linear over the cell: its moments about the middle of the cell
            os = cells.own[c, 0] * ls + cells.own[c, 1] * lt
            ot = cells.own[c, 1] * ls + cells.own[c, 2] * lt
            pressed_s -= out[SLOPE] * os
            pressed_t -= out[SLOPE] * ot
            stored += 0.5 * out[SLOPE] * (os * ls + ot * lt)
            fracture += 0.5 * out[SLOPE_LOST] * (os * ls + ot * lt)
    whole = size_s * size_t
    normal, force1, force2 = whole * pressed, whole * along1, whole * along2
    moment_s = low_s * normal + whole * size_s * pressed_s
    moment_t = low_t * normal + whole * size_t * pressed_t
    if bears > 0.0:
        over, more = 1.0 / bears, max(rows[r + LANES * ROCKING_TIME] - beta, 0.0) * law[NORMAL] * whole * bears
        ss = size_s * size_s * over * (bears_ss - over * bears_s * bears_s)
        st = size_s * size_t * over * (bears_st - over * bears_s * bears_t)
        tt = size_t * size_t * over * (bears_tt - over * bears_t * bears_t)
        damped_s, damped_t = _rocking_damping(more, ss, st, tt, rate_s, rate_t, whole * borne)
        moment_s, moment_t = moment_s + damped_s, moment_t + damped_t
    twist = low_s * force2 - low_t * force1 + whole * twisted
    stored, sliding, fracture = whole * stored, whole * sliding, whole * fracture
    if dt > 0.0:
        work = (
            0.5
            * dt
            * (
                (rows[r + LANES * NORMAL_FORCE] + normal) * rate
                + (rows[r + LANES * EXTRA_S] + moment_s) * rate_s
                + (rows[r + LANES * EXTRA_T] + moment_t) * rate_t
                + (rows[r + LANES * FORCE_1] + force1) * v1
                + (rows[r + LANES * FORCE_2] + force2) * v2
                + (rows[r + LANES * TWIST] + twist) * on
            )
        )
        rows[r + LANES * FRICTION_WORK] += sliding
        rows[r + LANES * DAMPING_WORK] += rows[r + LANES * EXTRA] - stored - sliding - fracture - work
        ledger[FRACTURE_ENTRY] += fracture
        if rows[r + LANES * DILATANCY] > 0.0:
            _open_by_sliding(r, dt, normal, slid / loaded if loaded > 0.0 else 0.0, rows)
    else:
        ledger[STORED_ENTRY] += stored
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
def _rocking_damping(more, ss, st, tt, rate_s, rate_t, borne):
    """Moments by which rocking is damped as much as in dry joints (T315), where the damping of cells, that of approach, is not
    enough (T319): `more` [N s/m] times the spread [m2] of the cells that bear. They move what these bear by a quarter of its
    spread at most."""
    moment_s, moment_t = -more * (ss * rate_s + st * rate_t), -more * (st * rate_s + tt * rate_t)
    share, most_s, most_t = 1.0, 0.25 * borne * np.sqrt(max(ss, 0.0)), 0.25 * borne * np.sqrt(max(tt, 0.0))
    if abs(moment_s) > most_s:
        share = most_s / abs(moment_s)
    if abs(moment_t) * share > most_t:
        share = most_t / abs(moment_t)
    return share * moment_s, share * moment_t


@inner
def _open_by_sliding(r, dt, normal, slid, rows):
    """As engine/small_steps/dilatancy.py: how far the patch has opened, how fast it does in the next step after it has slid [m]
    in the mean, and what of the work of friction has gone into lifting (T342)."""
    speed = rows[r + LANES * DILATING]
    rows[r + LANES * DILATION] += dt * speed
    rows[r + LANES * FRICTION_WORK] -= dt * speed * normal
    opening = rows[r + LANES * DILATANCY] * slid / dt
    rows[r + LANES * DILATING] = speed + SMOOTHING * (opening - speed) if normal > 0.0 else 0.0


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

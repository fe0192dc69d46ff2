"""The sides of patches on deformable blocks, for an interval: how they move with the modes, and how far displacements have
opened the gaps of their patches (T353, T354).

A joint stays plane: the side of a patch moves as the rigid motion that is nearest, over the area of the patch, to that of the
mesh. Transposed, the wrench of a patch acts on the mesh as tractions that vary linearly over it, which for a joint that is
closed all over is the pressure itself.
"""

import numpy as np

from drystone.base.kernel import inner, kernel
from drystone.engine.cone_step.modal_unknowns import find_node_weights, natural_point
from drystone.engine.rotation import matrix_of
from drystone.engine.small_steps.landing import relative_motion
from drystone.engine.small_steps.modes import ease_of_side, move_all_sides
from drystone.engine.small_steps.patch_rows import (
    ARM_A,
    ARM_B,
    DAMPING_TIME,
    GAP,
    LANDING_SPEED,
    LANES,
    NORMAL,
    ROCKING_TIME,
    TANGENT_1,
    TANGENT_2,
    TWICE_FREQUENCY,
    row_of,
)
from drystone.engine.small_steps.patch_search import limit_energy
from drystone.engine.small_steps.records import GEOMETRY

GAUSS = (0.5 - 0.75**0.5 / 3.0, 0.5 + 0.75**0.5 / 3.0)  # two points of an interval of 1: exact for cubic functions
SLIVER = 1e-6  # of the spread of a patch along its length: narrower ones do not turn about it with the mesh


@kernel
def hold_sides(data, modes):
    """After all pairs were found: the motion of all sides per rate, their rows in `velocity`, and gaps as the blocks are
    displaced."""
    joints, work, owner = data.joints[0], data.work, data.structure.bodies.owner
    first = data.structure.mass.shape[0]
    for p in range(joints.number[0]):
        g, lane = joints.at[p] // LANES, joints.at[p] % LANES
        for side in range(2):
            i = owner[joints.piece[p, side]]
            if modes.row[i] >= 0:
                w = joints.slot[side, g, lane] // 8
                _carry(p, side, w, modes.row[i], matrix_of(work.turned[i]), joints, modes)
                joints.body[side, g, lane] = 8 * (first + w)
        _quicken(p, data.structure, joints, modes)
    work.velocity[:] = 0.0
    move_all_sides(first, modes, modes.amplitude, joints.wrench_start, work.velocity)  # here: displacements [m]
    pairs = data.pairs
    for q in range(pairs.piece.shape[0]):
        is_soft = modes.row[owner[pairs.piece[q, 0]]] >= 0 or modes.row[owner[pairs.piece[q, 1]]] >= 0
        if is_soft and joints.patches[q] > 0:
            _open(q, pairs, joints, work)


@inner
def _open(q, pairs, joints, work):
    """The gaps of a pair change by what both sides are displaced; its energy is limited anew (T325)."""
    fresh, rows, first, stop = work.fresh, joints.rows, pairs.first[q], pairs.first[q] + pairs.patches[q]
    for p in range(joints.first[q], joints.first[q] + joints.patches[q]):
        row, at = fresh.row[work.source[p]], joints.at[p]
        a, b = joints.body[0, at // LANES, at % LANES] // 8, joints.body[1, at // LANES, at % LANES] // 8
        opened, opened_s, opened_t, _, _, _ = relative_motion(rows, row_of(at), a, b, work.velocity)
        row[GAP] += opened - fresh.offset[work.source[p]]
        row[GAP + 1] += opened_s
        row[GAP + 2] += opened_t
    before = pairs.energy[q]
    pairs.energy[q] = 0.0
    limit_energy(q, first, stop, pairs, fresh, work.memory)
    work.number[GEOMETRY] += before - pairs.energy[q]
    for p in range(joints.first[q], joints.first[q] + joints.patches[q]):
        joints.offset[p] = fresh.offset[work.source[p]]
        for c in range(3):
            rows[row_of(joints.at[p]) + LANES * (GAP + c)] = fresh.row[work.source[p], GAP + c]


@inner
def _carry(p, side, w, s, turn, joints, modes):
    """modes.carried of side w: the motion, told at the centroid of deformable block s, that is nearest to each mode over the
    area of patch p (T353). turn: body to world."""
    k, r, width = modes.kind[s], row_of(joints.at[p]), modes.force.shape[0]
    n, t1, t2 = _axis(joints.rows, r, NORMAL), _axis(joints.rows, r, TANGENT_1), _axis(joints.rows, r, TANGENT_2)
    arm = _axis(joints.rows, r, ARM_A if side == 0 else ARM_B)
    area, ss, st, tt = _share_out(p, k, turn, arm, t1, t2, joints, modes)
    _sum_over_nodes(k, modes)
    nb, sb, tb = _seen(turn, n), _seen(turn, t1), _seen(turn, t2)
    least = SLIVER * (ss + tt)
    over = 1.0 / ((ss + least) * (tt + least) - st * st)
    mean, by_s, by_t = modes.moments[0:3], modes.moments[3:6], modes.moments[6:9]
    for m in range(width):
        spin = (_along(tb, by_s, m) - _along(sb, by_t, m)) / (ss + tt)
        about_s, about_t = _along(nb, by_t, m), -_along(nb, by_s, m)
        turn_s, turn_t = over * ((ss + least) * about_s + st * about_t), over * (st * about_s + (tt + least) * about_t)
        x = spin * n[0] + turn_s * t1[0] + turn_t * t2[0]
        y = spin * n[1] + turn_s * t1[1] + turn_t * t2[1]
        z = spin * n[2] + turn_s * t1[2] + turn_t * t2[2]
        at = 6 * w * width + m
        shift = (y * arm[2] - z * arm[1], z * arm[0] - x * arm[2], x * arm[1] - y * arm[0])
        for c in range(3):
            moved = (turn[c, 0] * mean[0, m] + turn[c, 1] * mean[1, m] + turn[c, 2] * mean[2, m]) / area
            modes.carried[at + c * width] = moved - shift[c]
        modes.carried[at + 3 * width], modes.carried[at + 4 * width], modes.carried[at + 5 * width] = x, y, z


@inner
def _share_out(p, k, turn, arm, t1, t2, joints, modes):
    """modes.share: integrals over patch p of the weight of each node, and of it times s and t. Returns the area of the patch
    and its second moments. It is a fan of triangles about its centroid, each cut into panels with two points a direction."""
    share, local, natural = modes.share, modes.place[0], modes.place[1]
    mesh, first, stop = modes.mesh[k], joints.corner_start[p], joints.corner_start[p + 1]
    panels = (max(mesh[0], mesh[1], mesh[2]) + 1) // 2
    area = ss = st = tt = 0.0
    share[:] = 0.0
    for c in range(first, stop):
        other = c + 1 if c + 1 < stop else first
        s0, t0, s1, t1_ = joints.corner[c, 0], joints.corner[c, 1], joints.corner[other, 0], joints.corner[other, 1]
        whole = abs(s0 * t1_ - s1 * t0) / (8.0 * panels * panels)
        for around in range(4 * panels):
            e = (around // 2 + GAUSS[around % 2]) / (2.0 * panels)
            for outward in range(2 * panels):
                f = (outward // 2 + GAUSS[outward % 2]) / panels
                s, t, piece = f * (s0 + e * (s1 - s0)), f * (t0 + e * (t1_ - t0)), f * whole
                x, y, z = arm[0] + s * t1[0] + t * t2[0], arm[1] + s * t1[1] + t * t2[1], arm[2] + s * t1[2] + t * t2[2]
                local[0], local[1], local[2] = _seen(turn, (x, y, z))
                natural_point(modes.corner[k], local, natural)
                find_node_weights(mesh, natural, modes.node, modes.weight)
                for q in range(8):
                    part = piece * modes.weight[q]
                    share[modes.node[q], 0] += part
                    share[modes.node[q], 1] += part * s
                    share[modes.node[q], 2] += part * t
                area, ss, st, tt = area + piece, ss + piece * s * s, st + piece * s * t, tt + piece * t * t
    return area, ss, st, tt


@inner
def _sum_over_nodes(k, modes):
    """modes.moments: displacements of the modes of kind k, body frame, times each of the three shares of the nodes."""
    moments, share, shape = modes.moments, modes.share, modes.shape[k]
    moments[:] = 0.0
    for node in range(shape.shape[0]):
        if share[node, 0] == 0.0:
            continue
        for which in range(3):
            for c in range(3):
                for m in range(shape.shape[2]):
                    moments[3 * which + c, m] += share[node, which] * shape[node, c, m]


@inner
def _quicken(p, structure, joints, modes):
    """The sides of a patch vibrate faster than their blocks as wholes would, by the root of how much more easily they are
    moved: so much shorter are its times of damping, and so much faster does it close in a landing (T355)."""
    rows, r, at = joints.rows, row_of(joints.at[p]), joints.at[p]
    moves = turns = rigid_moves = rigid_turns = 0.0
    for side in range(2):
        i = structure.bodies.owner[joints.piece[p, side]]
        if structure.mass[i] > 0.0:
            rigid_moves += 3.0 / structure.mass[i]
            rigid_turns += 3.0 / structure.mean_inertia[i]
        if modes.row[i] >= 0:
            arm = _axis(rows, r, ARM_A if side == 0 else ARM_B)
            w = joints.slot[side, at // LANES, at % LANES] // 8
            moved, turned = ease_of_side(modes.kind[modes.row[i]], w, arm[0], arm[1], arm[2], modes)
            moves, turns = moves + moved, turns + turned
    faster, rocks = np.sqrt(1.0 + moves / rigid_moves), np.sqrt(1.0 + turns / rigid_turns)
    rows[r + LANES * DAMPING_TIME] /= faster
    rows[r + LANES * ROCKING_TIME] /= rocks
    rows[r + LANES * LANDING_SPEED] *= faster
    rows[r + LANES * TWICE_FREQUENCY] *= faster


@inner
def _axis(rows, r, column):
    return rows[r + LANES * column], rows[r + LANES * (column + 1)], rows[r + LANES * (column + 2)]


@inner
def _seen(turn, v):
    """A vector in the axes of the block."""
    return (
        turn[0, 0] * v[0] + turn[1, 0] * v[1] + turn[2, 0] * v[2],
        turn[0, 1] * v[0] + turn[1, 1] * v[1] + turn[2, 1] * v[2],
        turn[0, 2] * v[0] + turn[1, 2] * v[1] + turn[2, 2] * v[2],
    )


@inner
def _along(axis, moments, m):
    return axis[0] * moments[0, m] + axis[1] * moments[1, m] + axis[2] * moments[2, m]

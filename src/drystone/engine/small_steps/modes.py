"""How deformable blocks vibrate in a small step: the wrenches on the sides of their patches come in, the velocities of those
sides go out (T350, T351, T353).

A deformable block moves as a rigid one under all its wrenches, and besides in the elastic modes of its mesh
(structure/deformable_blocks.py). Each side of a patch that belongs to such a block has a row of its own in `velocity`, behind
those of the blocks: the velocity that the centroid of the block would have if the block moved with that side, and the side's
spin. So the kernels of patches treat a side as they treat a block, and the wrench that they write, about the centroid, is at
once that on the block. Every side has one wrench, and is known by the row w of it in `joints.wrench`.

    amplitudes  move on with their rates
    rates       change by the wrenches on all sides, by stiffness and by viscosity
    sides       take on the velocity of their block and that of the modes

The map from rates to sides and that from wrenches to modes are transposed to each other: no work is lost between them.
"""

from typing import NamedTuple

import numpy as np

from drystone.base.kernel import inner
from drystone.base.kernel.lanes import load, same, store
from drystone.engine.small_steps.patch_rows import BODY_ROW

Array = np.ndarray

WIDTH = 4  # modes that are treated at once: their number is filled up to a multiple of it


class Modes(NamedTuple):
    """S deformable blocks of T kinds with up to n nodes and M modes. What a kind does not have is zero."""

    row: Array  # (B,) int64 row of each block in the arrays of deformable ones, -1 if it is rigid
    block: Array  # (S,) int64
    kind: Array  # (S,) int64
    mesh: Array  # (T, 3) int64 bricks a direction
    corner: Array  # (T, 8, 3) [m] body frame
    shape: Array  # (T, n, 3, M) [kg^-1/2] displacement of the nodes per amplitude, body frame
    stiffness: Array  # (T M,) [1/s2]
    inverse_mass: Array  # (T M,) 1, less for modes that are slowed down
    viscosity: Array  # (T M,) [1/s] force per rate
    amplitude: Array  # (S M,) [kg^1/2 m]
    rate: Array  # (S M,) [kg^1/2 m/s]
    carried: Array  # (W 6 M,) [kg^-1/2] velocity of each side, told at the centroid of its block, and its spin per rate
    force: Array  # (M,) scratch
    lost: Array  # (1,) [J] takes in what viscosity takes
    four: Array  # (4,) scratch
    node: Array  # (8,) int64 scratch: nodes of a brick,
    weight: Array  # (8,) their weights,
    place: Array  # (2, 3) a point in the axes of the block, and in natural coordinates,
    share: Array  # (n, 3) how nodes count in the motion of a side,
    moments: Array  # (9, M) and the modes
    trial: Array  # (8 (B+1+W),) scratch of the stable step: velocities,
    direction: Array  # (2, S M) and rates
    pair: Array  # (2, G, 4) int64 0 and 8: in a landing both sides are bodies of their own,
    pair_velocity: Array  # (16,) with these numbers
    pair_momentum: Array  # (8,)
    pair_inverse_mass: Array  # (2,)
    pair_inverse_inertia: Array  # (24,)


@inner
def drift_modes(dt, modes):
    """Amplitudes move on with the rates for dt [s]."""
    for k in range(0, modes.rate.shape[0], WIDTH):
        store(modes.amplitude, k, load(modes.amplitude, k) + dt * load(modes.rate, k))


@inner
def kick_modes(span, first, modes, wrench_start, wrench, velocity):
    """Rates change by the forces at hand over span [s] (T351), and the sides take on their velocities; first: row of `velocity`
    that belongs to the first wrench. Block by block, so that what is known of its sides is read from memory once."""
    for s in range(modes.block.shape[0]):
        take_wrenches(s, modes, wrench_start, wrench)
        _kick(s, span, modes)
        move_sides(s, first, modes, modes.rate, wrench_start, velocity)


@inner
def take_wrenches(s, modes, wrench_start, wrench):
    """The forces of all wrenches on the sides of deformable block s on its modes, in modes.force."""
    width, carried, force, i = modes.force.shape[0], modes.carried, modes.force, modes.block[s]
    for m in range(width):
        force[m] = 0.0
    for w in range(wrench_start[i], wrench_start[i + 1]):
        r, k = BODY_ROW * w, 6 * width * w
        f0, f1, f2 = same(wrench[r]), same(wrench[r + 1]), same(wrench[r + 2])
        m0, m1, m2 = same(wrench[r + 4]), same(wrench[r + 5]), same(wrench[r + 6])
        for m in range(0, width, WIDTH):
            straight = f0 * load(carried, k + m) + f1 * load(carried, k + width + m) + f2 * load(carried, k + 2 * width + m)
            turning = (
                m0 * load(carried, k + 3 * width + m)
                + m1 * load(carried, k + 4 * width + m)
                + m2 * load(carried, k + 5 * width + m)
            )
            store(force, m, load(force, m) + (straight + turning))


@inner
def _kick(s, span, modes):
    """Viscosity acts with the mean of the rates before and after, which is stable at every step and told exactly."""
    width, four, lost = modes.force.shape[0], modes.four, same(0.0)
    for m in range(0, width, WIDTH):
        k, a = width * modes.kind[s] + m, width * s + m
        ease, viscous, before = load(modes.inverse_mass, k), load(modes.viscosity, k), load(modes.rate, a)
        force = load(modes.force, m) - load(modes.stiffness, k) * load(modes.amplitude, a)
        drag = (0.5 * span) * ease * viscous
        after = (before * (1.0 - drag) + span * ease * force) / (1.0 + drag)
        mean = 0.5 * (before + after)
        lost += span * viscous * mean * mean
        store(modes.rate, a, after)
    store(four, 0, lost)
    modes.lost[0] += (four[0] + four[1]) + (four[2] + four[3])


@inner
def move_all_sides(first, modes, rate, wrench_start, velocity):
    """The sides of all deformable blocks, as move_sides does it."""
    for s in range(modes.block.shape[0]):
        move_sides(s, first, modes, rate, wrench_start, velocity)


@inner
def move_sides(s, first, modes, rate, wrench_start, velocity):
    """The sides of deformable block s take on its velocity and that of the modes with these rates (S M,); first: row of
    `velocity` that belongs to the first wrench."""
    i = modes.block[s]
    for w in range(wrench_start[i], wrench_start[i + 1]):
        _move_side(s, w, BODY_ROW * i, BODY_ROW * (first + w), modes, rate, velocity)


@inner
def _move_side(s, w, block, side, modes, rate, velocity):
    width, carried, four = modes.force.shape[0], modes.carried, modes.four
    for half in range(2):
        k = (6 * w + 3 * half) * width
        x, y, z = same(0.0), same(0.0), same(0.0)
        for m in range(0, width, WIDTH):
            speed = load(rate, width * s + m)
            x += speed * load(carried, k + m)
            y += speed * load(carried, k + width + m)
            z += speed * load(carried, k + 2 * width + m)
        for c in range(3):
            store(four, 0, x if c == 0 else y if c == 1 else z)
            own = (four[0] + four[1]) + (four[2] + four[3])
            velocity[side + 4 * half + c] = velocity[block + 4 * half + c] + own


@inner
def ease_of_side(kind, w, x, y, z, modes):
    """How easily all modes together move the origin of the patch at side w [1/kg], at the end of the arm (x, y, z), and turn
    the side [1/(kg m2)] (T355)."""
    width, moves, turns = modes.force.shape[0], 0.0, 0.0
    for m in range(width):
        k = 6 * width * w + m
        vx, vy, vz = modes.carried[k], modes.carried[k + width], modes.carried[k + 2 * width]
        sx, sy, sz = modes.carried[k + 3 * width], modes.carried[k + 4 * width], modes.carried[k + 5 * width]
        vx, vy, vz = vx + sy * z - sz * y, vy + sz * x - sx * z, vz + sx * y - sy * x
        ease = modes.inverse_mass[width * kind + m]
        moves += ease * (vx * vx + vy * vy + vz * vz)
        turns += ease * (sx * sx + sy * sy + sz * sz)
    return moves, turns

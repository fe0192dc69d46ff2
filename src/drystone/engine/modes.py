"""How deformable blocks swing in a small step: the wrenches of their patches come in, the velocities of their plates go out
(T350 to T354).

A block moves as a rigid one under all its wrenches, and besides in the modes of its mesh. The faces of a mesh are plates
(contact/divided.py), each with a row of its own in `velocity`, behind those of the blocks and of the dummy: the velocity that
the block's centroid would have if it moved with the plate, and the plate's spin. So patches see plates as they see blocks, the
wrenches that they write, about the centroid, are those of the block as well, and what follows here is done beside:

    kick_modes    wrenches of the plates -> forces on the nodes -> forces on the modes -> rates -> velocities of the plates
    drift_modes   amplitudes move on with the rates

Maps from modes to plates and back are transposed to each other: what patches do on plates is, to the last bit but rounding,
what blocks and modes receive.
"""

from typing import NamedTuple

import numpy as np

from drystone.engine.patch_rows import BODY_ROW
from drystone.kernel import inner
from drystone.kernel.lanes import load, same, store

Array = np.ndarray

PANEL = 16  # modes, or components of nodes, that are treated at once: their number is filled up to a multiple of it


class Modes(NamedTuple):
    """S deformable blocks of T kinds with n nodes and m modes at most (filled up to M), in an interval."""

    block: Array  # (S,) int64
    kind: Array  # (S,) int64
    turn: Array  # (S, 9) rotation, body to world, in the middle of the interval
    shape: Array  # (T M/16 N 16,) [kg^-1/2] N = 3 n components of the nodes per amplitude: panels of 16 modes, in each a row a
    # component, as forces on nodes are given to modes
    swing: Array  # (T N/16 M 16,) the same: panels of 16 components, in each a row a mode, as rates are given to nodes
    stiffness: Array  # (T M,) [1/s2]
    inverse_mass: Array  # (T M,) 1, less for modes that are slowed
    viscosity: Array  # (T M,) [1/s] force per rate
    node: Array  # (T, p, 4) int64 of the plates
    motion: Array  # (T p 72,) of a plate per displacement of its nodes: 6 rows of 12
    across: Array  # (T p 96,) the same transposed: 12 rows of 6, each with two zeros
    plate_row: Array  # (S,) int64 row in `velocity` of the first plate of each block
    plate_of: Array  # (W,) int64 plate, of its block, that each wrench acts on
    touched_start: Array  # (S+1,) int64
    touched: Array  # (U,) int64 plates that have patches in this interval
    held_start: Array  # (S+1,) int64
    held: Array  # (H,) int64 their nodes
    steady: Array  # (S M,) [kg^1/2 m/s2] forces that stay in the interval: those of spin
    amplitude: Array  # (S M,) [kg^1/2 m]
    rate: Array  # (S M,) [kg^1/2 m/s]
    lag: Array  # (R 8,) [m/s, rad/s] velocity of each plate against its block
    lost: Array  # (1,) [J] takes in what viscosity of the modes takes
    plate_wrench: Array  # (8 p,) scratch
    at_node: Array  # (N,) scratch: forces or velocities of the nodes, body frame
    twelve: Array  # (16,) scratch


@inner
def kick_modes(span, kept, modes, wrench_start, wrench, velocity):
    """Rates change by forces over `span` [s], a share `kept` of them is left, plates take on their velocities. Those of the
    blocks have been changed before."""
    width = modes.rate.shape[0] // modes.block.shape[0]
    for s in range(modes.block.shape[0]):
        _gather(s, modes, wrench_start, wrench)
        press_nodes(s, modes)
        _kick(s, width, span, kept, modes)
        swing_plates(s, width, modes)
        place_plates(s, modes, velocity)


@inner
def place_all_plates(modes, velocity):
    """At the start of an interval: plates take on the velocities of their blocks and of the modes."""
    width = modes.rate.shape[0] // modes.block.shape[0]
    for s in range(modes.block.shape[0]):
        swing_plates(s, width, modes)
        place_plates(s, modes, velocity)


@inner
def drift_modes(dt, modes):
    """Amplitudes take in the rates times dt."""
    for k in range(0, modes.rate.shape[0], 4):
        store(modes.amplitude, k, load(modes.amplitude, k) + dt * load(modes.rate, k))


@inner
def _gather(s, modes, wrench_start, wrench):
    """Wrenches on the plates of block s, from those of its patches."""
    i, nothing = modes.block[s], same(0.0)
    for u in range(modes.touched_start[s], modes.touched_start[s + 1]):
        store(modes.plate_wrench, 8 * modes.touched[u], nothing)
        store(modes.plate_wrench, 8 * modes.touched[u] + 4, nothing)
    for row in range(wrench_start[i], wrench_start[i + 1]):
        p = 8 * modes.plate_of[row]
        store(modes.plate_wrench, p, load(modes.plate_wrench, p) + load(wrench, BODY_ROW * row))
        store(modes.plate_wrench, p + 4, load(modes.plate_wrench, p + 4) + load(wrench, BODY_ROW * row + 4))


@inner
def press_nodes(s, modes):
    """Forces on the nodes of block s, in its frame, from the wrenches on its plates."""
    k, turn, at, plates, nothing = modes.kind[s], modes.turn[s], modes.at_node, modes.node.shape[1], same(0.0)
    for u in range(modes.held_start[s], modes.held_start[s + 1]):
        h = 3 * modes.held[u]
        at[h] = at[h + 1] = at[h + 2] = 0.0
    for u in range(modes.touched_start[s], modes.touched_start[s + 1]):
        p = modes.touched[u]
        one, two, three = nothing, nothing, nothing
        for half in range(2):
            w = 8 * p + 4 * half
            x, y, z = modes.plate_wrench[w], modes.plate_wrench[w + 1], modes.plate_wrench[w + 2]
            for c in range(3):
                seen = same(turn[c] * x + turn[3 + c] * y + turn[6 + c] * z)
                m = 72 * (k * plates + p) + 12 * (3 * half + c)
                one += seen * load(modes.motion, m)
                two += seen * load(modes.motion, m + 4)
                three += seen * load(modes.motion, m + 8)
        store(modes.twelve, 0, one)
        store(modes.twelve, 4, two)
        store(modes.twelve, 8, three)
        for corner in range(4):
            h = 3 * modes.node[k, p, corner]
            for c in range(3):
                at[h + c] += modes.twelve[3 * corner + c]


@inner
def _kick(s, width, span, kept, modes):
    """The rates of block s (T351): viscosity with the mean of the rates before and after, which is stable and told exactly."""
    kind, rows = modes.kind[s], modes.at_node.shape[0]
    lost = same(0.0)
    for m in range(0, width, PANEL):
        a = width * s + m
        f0, f1 = load(modes.steady, a), load(modes.steady, a + 4)
        f2, f3 = load(modes.steady, a + 8), load(modes.steady, a + 12)
        for u in range(modes.held_start[s], modes.held_start[s + 1]):
            h = 3 * modes.held[u]
            panel = (width * kind + m) * rows + h * PANEL
            for c in range(3):
                pushed, r = same(modes.at_node[h + c]), panel + c * PANEL
                f0 += pushed * load(modes.shape, r)
                f1 += pushed * load(modes.shape, r + 4)
                f2 += pushed * load(modes.shape, r + 8)
                f3 += pushed * load(modes.shape, r + 12)
        store(modes.twelve, 0, f0)
        store(modes.twelve, 4, f1)
        store(modes.twelve, 8, f2)
        store(modes.twelve, 12, f3)
        for c in range(0, PANEL, 4):
            k = width * kind + m + c
            force = load(modes.twelve, c) - load(modes.stiffness, k) * load(modes.amplitude, a + c)
            ease, viscous = load(modes.inverse_mass, k), load(modes.viscosity, k)
            before = load(modes.rate, a + c)
            drag = 0.5 * span * ease * viscous
            after = (before * (1.0 - drag) + span * ease * force) / (1.0 + drag)
            mean = 0.5 * (before + after)
            lost += span * viscous * mean * mean
            store(modes.rate, a + c, kept * after)
    store(modes.twelve, 0, lost)
    modes.lost[0] += (modes.twelve[0] + modes.twelve[1]) + (modes.twelve[2] + modes.twelve[3])


@inner
def swing_plates(s, width, modes):
    """Velocities of the nodes of block s, in its frame, from the rates of its modes; then `lag` of its plates."""
    k, rows, plates, turn, at = modes.kind[s], modes.at_node.shape[0], modes.node.shape[1], modes.turn[s], modes.at_node
    scratch = modes.twelve
    for h in range(0, rows, PANEL):
        v0, v1, v2, v3 = same(0.0), same(0.0), same(0.0), same(0.0)
        panel = (rows * k + h) * width
        for m in range(width):
            rate, r = same(modes.rate[width * s + m]), panel + m * PANEL
            v0 += rate * load(modes.swing, r)
            v1 += rate * load(modes.swing, r + 4)
            v2 += rate * load(modes.swing, r + 8)
            v3 += rate * load(modes.swing, r + 12)
        store(at, h, v0)
        store(at, h + 4, v1)
        store(at, h + 8, v2)
        store(at, h + 12, v3)
    for u in range(modes.touched_start[s], modes.touched_start[s + 1]):
        p = modes.touched[u]
        moved, turned = same(0.0), same(0.0)
        for corner in range(4):
            h = 3 * modes.node[k, p, corner]
            for c in range(3):
                m, speed = 96 * (k * plates + p) + 8 * (3 * corner + c), same(at[h + c])
                moved += speed * load(modes.across, m)
                turned += speed * load(modes.across, m + 4)
        store(scratch, 0, moved)
        store(scratch, 4, turned)
        row = 8 * (modes.plate_row[s] - modes.plate_row[0] + p)
        for half in range(2):
            x, y, z = scratch[4 * half], scratch[4 * half + 1], scratch[4 * half + 2]
            for c in range(3):
                modes.lag[row + 4 * half + c] = turn[3 * c] * x + turn[3 * c + 1] * y + turn[3 * c + 2] * z


@inner
def place_plates(s, modes, velocity):
    """The plates of block s move with it and as they lag behind it."""
    block = 8 * modes.block[s]
    moves, turns = load(velocity, block), load(velocity, block + 4)
    for u in range(modes.touched_start[s], modes.touched_start[s + 1]):
        row = modes.plate_row[s] + modes.touched[u]
        lag = 8 * (row - modes.plate_row[0])
        store(velocity, 8 * row, moves + load(modes.lag, lag))
        store(velocity, 8 * row + 4, turns + load(modes.lag, lag + 4))

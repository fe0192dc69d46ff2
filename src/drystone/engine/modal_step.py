"""The longest stable step where blocks are deformable: as stable_step.py, with the modes of their meshes (T354).

Viscosity of the modes is not in it: it is taken with the mean of the rates before and after a kick, which is stable at any step.
"""

import numpy as np

from drystone.engine.modes import PANEL, press_nodes, swing_plates
from drystone.engine.stable_step import apply_patches, longest_step
from drystone.kernel import inner

ROUNDS, ITERATIONS = 3, 40  # of the power iteration: step, eigenvector for that step


@inner
def exact_step_with_modes(dt, a, b, frame, arm_a, arm_b, spring, shear, inverse_mass, inverse_inertia, modes, x, y, force):
    """[s] the longest stable step, by power iteration from the step dt on. a, b (P,) rows of blocks or of plates; `modes` has
    scratch for rates, which here are the modes' part of the eigenvector; x, y (R, 6) and force (S M,) are scratch. Plates have
    an inverse mass of 1 and that inverse inertia: what is found for them are wrenches."""
    first = modes.plate_row[0]
    for i in range(first):
        for c in range(6):
            x[i, c] = 0.0 if inverse_mass[i] == 0.0 else np.sin(12.9898 * (6 * i + c) + 1.0)
    for k in range(modes.rate.shape[0]):
        modes.rate[k] = np.sin(78.233 * k + 1.0)
    for _ in range(ROUNDS):
        top = 0.0
        for _ in range(ITERATIONS):
            _apply(dt, a, b, frame, arm_a, arm_b, spring, shear, inverse_mass, inverse_inertia, modes, x, y, force)
            top = _norm(first, y, force)
            if top == 0.0:
                return np.inf
            for i in range(first):
                for c in range(6):
                    x[i, c] = y[i, c] / top
            for k in range(force.shape[0]):
                modes.rate[k] = force[k] / top
        _apply(1.0, a, b, frame, arm_a, arm_b, spring, shear, inverse_mass, inverse_inertia, modes, x, y, force)
        one = _norm(first, y, force)
        _apply(-1.0, a, b, frame, arm_a, arm_b, spring, shear, inverse_mass, inverse_inertia, modes, x, y, force)
        other = _norm(first, y, force)
        stiff, damped = 0.5 * (one + other), 0.25 * (one - other)
        seen = dt * dt * stiff + 2.0 * dt * damped
        dt = longest_step(stiff * top / seen, damped * top / seen)
    return dt


@inner
def _norm(first, y, force):
    total = 0.0
    for i in range(first):
        for c in range(6):
            total += y[i, c] * y[i, c]
    for k in range(force.shape[0]):
        total += force[k] * force[k]
    return np.sqrt(total)


@inner
def _apply(dt, a, b, frame, arm_a, arm_b, spring, shear, inverse_mass, inverse_inertia, modes, x, y, force):
    """y and force = M^-1 (dt^2 K + 2 dt C) of x and of the rates of the modes."""
    width, first = modes.rate.shape[0] // modes.block.shape[0], modes.plate_row[0]
    for s in range(modes.block.shape[0]):
        swing_plates(s, width, modes)
        for u in range(modes.touched_start[s], modes.touched_start[s + 1]):
            row = modes.plate_row[s] + modes.touched[u]
            for c in range(6):
                x[row, c] = x[modes.block[s], c] + modes.lag[8 * (row - first) + c + c // 3]
    apply_patches(dt, a, b, frame, arm_a, arm_b, spring, shear, inverse_mass, inverse_inertia, x, y)
    for s in range(modes.block.shape[0]):
        _take(s, width, dt, inverse_mass, inverse_inertia, modes, y, force)


@inner
def _take(s, width, dt, inverse_mass, inverse_inertia, modes, y, force):
    """What the wrenches on the plates of block s do to it and to its modes."""
    i, kind, rows = modes.block[s], modes.kind[s], modes.at_node.shape[0]
    for u in range(modes.touched_start[s], modes.touched_start[s + 1]):
        row, p = modes.plate_row[s] + modes.touched[u], 8 * modes.touched[u]
        for c in range(6):
            modes.plate_wrench[p + c + c // 3] = y[row, c]
        for c in range(3):
            y[i, c] += inverse_mass[i] * y[row, c]
            for d in range(3):
                y[i, 3 + c] += inverse_inertia[12 * i + 4 * d + c] * y[row, 3 + d]
    press_nodes(s, modes)
    for m in range(width):
        total = dt * dt * modes.stiffness[width * kind + m] * modes.rate[width * s + m]
        for u in range(modes.held_start[s], modes.held_start[s + 1]):
            h = 3 * modes.held[u]
            for c in range(3):
                total += modes.at_node[h + c] * modes.swing[(rows * kind + (h + c) // PANEL * PANEL) * width + m * PANEL + (h + c) % PANEL]
        force[width * s + m] = modes.inverse_mass[width * kind + m] * total

"""All small steps between two detections, in one call."""

from drystone.engine.bodies import drift, kick
from drystone.engine.cell_forces import cell_forces
from drystone.engine.dilatancy import open_by_sliding
from drystone.engine.joint_landing import land_joints
from drystone.engine.landing import MOST_CORNERS, land
from drystone.engine.modes import drift_modes, kick_modes, place_all_plates
from drystone.engine.patch_forces import patch_forces
from drystone.engine.patch_rows import LANES
from drystone.kernel import inner

SPREAD_EVERY = 8  # steps after which friction points are placed anew about the centre of pressure


@inner
def take_steps(
    n,
    dt,
    opens,
    kept,
    push,
    free,
    supports,
    support_velocity,
    rows,
    body,
    slot,
    restitution,
    corner_start,
    corner_count,
    corners,
    cells,
    wrench_start,
    wrench,
    external,
    velocity,
    momentum,
    mass,
    inverse_mass,
    inverse_inertia,
    moved,
    flagged,
    landing,
    scratch,
    impulse,
    out,
    ledger,
    modes,
    joints,
):
    """n steps of dt by velocity Verlet: half a kick, then drift and kick in turn, the last kick again a half.

    opens: whether any joint has dilatancy.
    kept: share of the velocities that a step leaves, 1 but while a structure is let down. push (n + 1, 8) [m/s2] gravity less
    the acceleration of the ground at the kicks, then the acceleration of the ground alone; free (4,) as for `kick`; supports
    (S,) rows of moved supports, support_velocity (n, S, 3) [m/s]. ledger (5,): takes in the energy lost in landings [J], their
    number, the work of the ground [J], what was lost in fracture and what cells stored at the start [J]. out: scratch.
    modes, joints: those of deformable blocks, None if there are none; then nothing of them is compiled.
    """
    groups, bodies = body.shape[1], mass.shape[0]
    landed = 0
    dry = groups - cells.patch.shape[0]
    if modes is not None:  # hook of deformable blocks, 4 of 4
        place_all_plates(modes, velocity)
    flags = patch_forces(0, dry, 0.0, dt, True, rows, body, slot, corner_start, corners, velocity, wrench, flagged, 0)
    flags = cell_forces(dry, groups, 0.0, dt, rows, body, slot, corner_start, corners, cells, velocity, wrench, flagged, flags,
                        out, ledger)  # fmt: skip
    for step in range(n + 1):
        span = 0.5 * dt if step == 0 or step == n else dt
        for c in range(4):
            impulse[c] = 0.0
        kick(
            0,
            bodies,
            span,
            push[step],
            free,
            wrench_start,
            wrench,
            external,
            velocity,
            momentum,
            mass,
            inverse_mass,
            inverse_inertia,
            impulse,
        )
        if kept < 1.0:
            for k in range(8 * bodies):
                velocity[k] *= kept
            for k in range(4 * bodies):
                momentum[k] *= kept
        if modes is not None:  # hook of deformable blocks, 1 of 4
            kick_modes(span, kept, modes, wrench_start, wrench, velocity)
        for c in range(3):
            ledger[2] -= push[step, 4 + c] * impulse[c]
        for k in range(supports.shape[0]):
            _move_support(
                supports[k], span, support_velocity[min(step, n - 1), k], step == 0, wrench_start, wrench, velocity, ledger
            )
        if step == n:
            break
        again = landed
        landed = 0
        for k in range(again):
            g, lane = landing[k] // LANES, landing[k] % LANES
            _land(
                g, lane, dt, True, push[step], rows, body, restitution, corner_start, corner_count, corners, wrench_start,
                wrench, external, velocity, momentum, mass, inverse_mass, inverse_inertia, scratch, ledger,
            )  # fmt: skip
        for k in range(flags):
            g = flagged[k]
            for lane in range(LANES):
                if corner_count[g, lane] > 0 and _land(
                    g, lane, dt, False, push[step], rows, body, restitution, corner_start, corner_count, corners, wrench_start,
                    wrench, external, velocity, momentum, mass, inverse_mass, inverse_inertia, scratch, ledger,
                ):  # fmt: skip
                    ledger[1] += 1.0
                    landing[landed] = LANES * g + lane
                    landed += 1
        if joints is not None:  # hook of deformable blocks, 2 of 4
            land_joints(
                step, dt, flags, flagged, push[step], rows, body, restitution, corners, joints, modes,
                wrench_start, wrench, external, velocity, momentum, mass, inverse_mass, inverse_inertia, ledger,
            )  # fmt: skip
        drift(0, bodies, dt, velocity, moved)
        if modes is not None:  # hook of deformable blocks, 3 of 4
            drift_modes(dt, modes)
        fresh = (step + 1) % SPREAD_EVERY == 0
        flags = patch_forces(0, dry, dt, dt, fresh, rows, body, slot, corner_start, corners, velocity, wrench, flagged, 0)
        flags = cell_forces(dry, groups, dt, dt, rows, body, slot, corner_start, corners, cells, velocity, wrench, flagged,
                            flags, out, ledger)  # fmt: skip
        if opens:
            open_by_sliding(groups, dt, rows)


@inner
def _land(
    g, lane, dt, again, push, rows, body, restitution, corner_start, corner_count, corners, wrench_start, wrench, external,
    velocity, momentum, mass, inverse_mass, inverse_inertia, scratch, ledger,
):  # fmt: skip
    """A patch lands, if it does, and what it loses goes to the ledger. The kick before the landing was a whole one, and its
    second half belongs behind it: what the forces at hand do in it is counted with the velocities after the landing (T341)."""
    a, b = body[0, g, lane] // 8, body[1, g, lane] // 8
    before = scratch[MOST_CORNERS]
    for c in range(8):
        before[c], before[8 + c] = velocity[8 * a + c], velocity[8 * b + c]
    lands, lost = land(
        g, lane, dt, again, rows, body, restitution[g, lane], corner_start, corner_count, corners, velocity, momentum,
        inverse_mass, inverse_inertia, scratch,
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
            force = external[8 * i + c]
            for row in range(wrench_start[i], wrench_start[i + 1]):
                force += wrench[8 * row + c]
            held += force * before[8 * side + c]
    pushed = 0.0  # by a support that moves
    for c in range(3):
        if mass[a] == 0.0:
            pushed += mass[b] * before[8 + c] * velocity[8 * a + c]
        elif mass[b] == 0.0:
            pushed += mass[a] * before[c] * velocity[8 * b + c]
    ledger[0] += lost + 0.5 * dt * held + pushed
    ledger[2] += pushed
    return True


@inner
def _move_support(i, span, speed, first, wrench_start, wrench, velocity, ledger):
    """A support takes on its speed of the next step; what it has done against the forces on it counts as work of the ground."""
    for c in range(3):
        force = 0.0
        for row in range(wrench_start[i], wrench_start[i + 1]):
            force += wrench[8 * row + c]
        mean = speed[c] if first else 0.5 * (velocity[8 * i + c] + speed[c])
        ledger[2] -= span * force * mean
        velocity[8 * i + c] = speed[c]

"""How bodies move under the wrenches of their patches.

Numbers of a body: `velocity` 8 (velocity, 0, spin, 0), `momentum` 4 (angular momentum, 0), `inverse_inertia` 12 (the three
columns of its inverse in world axes, each with a 0); the row after the last body is the dummy of empty lanes. The angular
momentum is the state and the spin follows from it, which is all there is to the gyroscopic term.
"""

from drystone.base.kernel import inner
from drystone.base.kernel.lanes import load, same, store
from drystone.engine.rotation import multiply_vector, world_inertia
from drystone.engine.small_steps.patch_rows import BODY_ROW


@inner
def kick(
    first, stop, dt, drift, push, free, wrench_start, wrench, external, velocity, momentum, mass, inverse_mass,
    inverse_inertia, moved, ground_work,
):  # fmt: skip
    """Bodies move on for `drift` [s] with the velocities they have, which `moved` (8 B,) takes in; then velocities change by
    the wrenches over dt. push[:4] [m/s2] acts on every body by its mass, external (8 B,) [N, N m] on each; free (4,) is 1 for
    the directions in which bodies can move and 0 for the others. push[4:8] [m/s2] is what of the push comes from the ground,
    whose work is added to ground_work (4,) [J], by directions. Supports keep their velocity."""
    pushed, carried, ways = load(push, 0), same(0.0), load(free, 0)
    for i in range(first, stop):
        before = load(velocity, BODY_ROW * i)
        store(moved, BODY_ROW * i, load(moved, BODY_ROW * i) + drift * before)
        store(moved, BODY_ROW * i + 4, load(moved, BODY_ROW * i + 4) + drift * load(velocity, BODY_ROW * i + 4))
        if inverse_mass[i] == 0.0:
            continue
        force, moment = load(external, BODY_ROW * i), load(external, BODY_ROW * i + 4)
        for row in range(wrench_start[i], wrench_start[i + 1]):
            force += load(wrench, BODY_ROW * row)
            moment += load(wrench, BODY_ROW * row + 4)
        after = before + dt * ways * (inverse_mass[i] * force + pushed)
        carried += (0.5 * dt * mass[i]) * (before + after)
        store(velocity, BODY_ROW * i, after)
        store(momentum, 4 * i, load(momentum, 4 * i) + dt * moment)
        j = 12 * i
        spin = (
            same(momentum[4 * i]) * load(inverse_inertia, j)
            + same(momentum[4 * i + 1]) * load(inverse_inertia, j + 4)
            + same(momentum[4 * i + 2]) * load(inverse_inertia, j + 8)
        )
        store(velocity, BODY_ROW * i + 4, spin)
    store(ground_work, 0, load(ground_work, 0) - load(push, 4) * carried)


@inner
def momenta(rotation, velocity, inertia, out):
    """Angular momenta out (B, 3) of bodies with velocities (B, 6); inertia (B, 3, 3) in the body frame."""
    for i in range(out.shape[0]):
        spin = (velocity[i, 3], velocity[i, 4], velocity[i, 5])
        out[i, 0], out[i, 1], out[i, 2] = multiply_vector(world_inertia(rotation[i], inertia[i]), spin)


@inner
def inverse_inertias(rotation, inverse, planar, out):
    """Inverse inertia in world axes, out (12 B,), three columns of four numbers. In the plane only the turn about y is left."""
    for i in range(inverse.shape[0]):
        world = world_inertia(rotation[i], inverse[i])
        for row in range(3):
            for column in range(3):
                out[12 * i + 4 * column + row] = 0.0 if planar and (row != 1 or column != 1) else world[row][column]
            out[12 * i + 4 * row + 3] = 0.0


@inner
def spins(inverse, momentum, out):
    """Spins out (B, 3) of angular momenta (B, 3); inverse (12 B,) as of `inverse_inertias`."""
    for i in range(out.shape[0]):
        for row in range(3):
            k = 12 * i + row
            out[i, row] = inverse[k] * momentum[i, 0] + inverse[k + 4] * momentum[i, 1] + inverse[k + 8] * momentum[i, 2]

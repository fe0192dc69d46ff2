"""What must hold of every step: an assembly comes in, the steps with all that was solved in them, and what they break, go out.

Energies and momenta are taken from poses and velocities, overlaps from separating axes (`drystone.structure.overlap`): not from
the ledger nor from contact detection, which they judge. The bounds are (T200) to (T204).
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from drystone.base import quaternion
from drystone.base.units import GRAVITY
from drystone.contact.placed_blocks import place
from drystone.engine.cone_step.integrator import State
from drystone.engine.simulation import load_between, simulate
from drystone.engine.solvers.native import native
from drystone.engine.solvers.problem import Problem, relative_velocity
from drystone.engine.solvers.residual import MARGIN
from drystone.engine.solvers.solution import ContactSolver, Guess, Solution
from drystone.structure.model import Bodies, Model
from drystone.structure.overlap import TOUCH_TOLERANCE, overlap_findings
from drystone.structure.polyhedra import Surfaces
from tests.stress.assemblies import Assembly

Array = np.ndarray

TOLERANCE = 1e-6  # of the solver: rms velocity error over g h, a tenth of what a converged rigid step may have


class Solve(NamedTuple):
    """One contact problem and its answer."""

    problem: Problem
    guess: Guess
    solution: Solution


class Watched(NamedTuple):
    """A step, and the solve that led through it."""

    before: State
    after: State
    solve: Solve
    push: Array  # (3,) [m/s] what gravity and the ground give every free block in the step
    converged: bool


def watch(assembly: Assembly, model: Model, solver: ContactSolver | None = None) -> Iterator[Watched]:
    """The steps of an assembly, by the native solver unless another is given."""
    solver, solves, before = solver or native(TOLERANCE, threads=1), list[Solve](), assembly.start(model)
    h = assembly.scheme["time_step"]

    def noted(problem: Problem, guess: Guess) -> Solution:
        solves.append(Solve(problem, guess, solver(problem, guess)))
        return solves[-1].solution

    for step in simulate(model, assembly.motions, duration=assembly.steps * h, solver=noted, state=before, **assembly.scheme):
        ground = load_between(model, assembly.motions, GRAVITY, before.step, h).ground
        push = np.array([0.0, 0.0, -GRAVITY * h]) - ground
        yield Watched(before, step.state, solves[-1], push, step.solution.converged)
        solves.clear()
        before = step.state


def kinetic(model: Model, state: State) -> float:
    """[J] of the free blocks."""
    free = ~model.bodies.fixed
    linear = 0.5 * model.bodies.mass[free] @ (state.velocity[free, :3] ** 2).sum(axis=1)
    return float(linear + 0.5 * np.vdot(spin_momentum(model.bodies, state)[free], state.velocity[free, 3:]))


def spin_momentum(bodies: Bodies, state: State) -> Array:
    """(B, 3) [kg m2/s] about the centroids."""
    in_body = quaternion.rotate(quaternion.conjugate(state.rotation), state.velocity[:, 3:])
    return quaternion.rotate(state.rotation, np.einsum("bij,bj->bi", bodies.inertia, in_body))


def elastic(state: State) -> float:
    """[J] in the contacts at the end of a step."""
    return float(0.5 * state.contacts.stiffness @ (state.contacts.strain**2).sum(axis=1))


def energy_gain(model: Model, step: Watched, theta: float) -> float:
    """[J] kinetic and elastic energy after a step less those before, and less the work of gravity and the ground."""
    gained = kinetic(model, step.after) - kinetic(model, step.before) + elastic(step.after) - elastic(step.before)
    return gained - work_of_push(step, theta)


def work_of_push(step: Watched, theta: float) -> float:
    """[J] of gravity and the ground, which are constant in a step: impulse times the way over the time."""
    old, new = step.solve.guess.velocity[:, :3], step.solve.solution.velocity[:, :3]
    return float(np.vdot(np.sqrt(step.solve.problem.mass)[:, None] * step.push, (1 - theta) * old + theta * new))


def energy_bound(model: Model, step: Watched, theta: float) -> float:
    """[J] what a step may gain (T202): by overlaps that are pushed apart, by theta below 1, by spin, by the solver."""
    h, least = step.after.time - step.before.time, np.linalg.eigvalsh(model.bodies.inertia[~model.bodies.fixed])[:, 0]
    pushed = 0.5 * (1 - theta) ** 2 * float(step.solve.problem.mass.sum() * step.push @ step.push)
    return created_by_contact(step.solve) + pushed + spun(step.solve, least, h) + lost_by_solver(step.solve)


def created_by_contact(solve: Solve) -> float:
    """[J] (T201): of a rigid solve impulses times the speed at which overlaps are undone or bounces asked for, of a
    compliant one nothing; and of both what is borne before landings, which the memory of the problem holds, times what it
    moves."""
    problem, after = solve.problem, solve.solution.velocity
    moves = relative_velocity(problem, after) - problem.bias
    borne = np.maximum(-problem.memory[:, 0], 0.0)
    early = borne @ (np.maximum(moves[:, 0], 0.0) + problem.friction * np.hypot(moves[:, 1], moves[:, 2]))
    if problem.compliance.any():
        return float(early)
    return float(early + solve.solution.impulse[:, 0] @ np.maximum(-problem.bias[:, 0], 0.0))


def spun(solve: Solve, least: Array, h: float) -> float:
    """[J] h |omega| |x| |change of x| of the whitened spins, |omega| at most |x| over the root of the least moment (T6)."""
    old, new = solve.guess.velocity[:, 3:], solve.solution.velocity[:, 3:]
    size = np.maximum(np.linalg.norm(old, axis=1), np.linalg.norm(new, axis=1))
    return float(np.sum(h * size**2 / np.sqrt(least) * np.linalg.norm(new - old, axis=1)))


def lost_by_solver(solve: Solve) -> float:
    """[J] that an error of the velocities, as large as a converged step may have it, is worth."""
    error = MARGIN * TOLERANCE * solve.problem.speed * np.sqrt(solve.problem.total_mass)
    return float(error * (np.linalg.norm(solve.solution.velocity) + np.linalg.norm(solve.problem.free) + error))


def momentum_defect(model: Model, step: Watched, theta: float, centre: Array) -> tuple[float, float]:
    """[N s, N m s] by how much the changes of linear momentum, and of angular momentum about a point, are not what supports,
    gravity and the ground gave: free blocks must give one another nothing in sum."""
    bodies, contacts, free = model.bodies, step.after.contacts, ~model.bodies.fixed
    middle = step.before.position + (1 - theta) * (step.after.time - step.before.time) * step.before.velocity[:, :3]
    gained = bodies.mass[free, None] * ((step.after.velocity - step.before.velocity)[free, :3] - step.push)
    turned = (spin_momentum(bodies, step.after) - spin_momentum(bodies, step.before))[free]
    from_support = bodies.fixed[contacts.a] | bodies.fixed[contacts.b]
    on_free = np.where(bodies.fixed[contacts.a], 1.0, -1.0)[:, None] * contacts.impulse
    given, arm = on_free[from_support], (contacts.point - centre)[from_support]
    linear = gained.sum(axis=0) - given.sum(axis=0)
    angular = (np.cross(middle[free] - centre, gained) + turned).sum(axis=0) - np.cross(arm, given).sum(axis=0)
    return float(np.linalg.norm(linear)), float(np.linalg.norm(angular))


def momentum_bound(model: Model, step: Watched, centre: Array) -> tuple[float, float]:
    """[N s, N m s] of the same (T204): by the solver, and of the angular one by spin (T6)."""
    bodies, free = model.bodies, ~model.bodies.fixed
    problem, h = step.solve.problem, step.after.time - step.before.time
    old, new = step.before.velocity[free, 3:], step.after.velocity[free, 3:]
    spin = np.maximum(np.linalg.norm(old, axis=1), np.linalg.norm(new, axis=1))
    largest = np.linalg.eigvalsh(bodies.inertia[free])[:, 2]
    reach = float((np.linalg.norm(step.after.position - centre, axis=1) + bodies.radius)[free].max())
    error = MARGIN * TOLERANCE * problem.speed * problem.total_mass
    return error, error * reach + float(np.sum(h * largest * spin * (np.linalg.norm(new - old, axis=1) + h * spin**2)))


def outside_cone(model: Model, state: State) -> float:
    """[N s] the farthest that the impulse of a contact lies outside |t| <= friction n."""
    contacts = state.contacts
    normal = (contacts.impulse * contacts.normal).sum(axis=1)
    tangent = np.linalg.norm(contacts.impulse - normal[:, None] * contacts.normal, axis=1)
    return float(np.max(tangent - model.friction_between(contacts.a, contacts.b) * normal, initial=0.0))


def overlaps(model: Model, state: State) -> list[tuple[int, int, float]]:
    """Pairs of blocks and their depth [m], where it is more than the model's own tolerance."""
    bodies = model.bodies
    vertex = place(bodies, state.position, state.rotation, state.velocity, 0.0).vertex
    surfaces = Surfaces(vertex, bodies.vertex_start, bodies.face_vertex, bodies.face_start, bodies.piece_face)
    found = [(*bodies.owner[list(each.blocks)], each.value) for each in overlap_findings(surfaces, bodies.fixed[bodies.owner])]
    return [(a, b, depth) for a, b, depth in found if a != b]


def overlap_bound(model: Model, step: Watched, a: int, b: int) -> float:
    """[m] (T203) what points of two blocks travel against each other in a step, and what their contact gives way."""
    h = step.after.time - step.before.time
    speed = 0.0
    for state in (step.before, step.after):
        v, radius = state.velocity, model.bodies.radius
        turning = np.linalg.norm(v[a, 3:]) * radius[a] + np.linalg.norm(v[b, 3:]) * radius[b]
        speed = max(speed, float(np.linalg.norm(v[a, :3] - v[b, :3]) + turning))
    slack = TOUCH_TOLERANCE * float(min(model.bodies.radius[a], model.bodies.radius[b]))
    return h * speed + max(given_way(step.before, a, b), given_way(step.after, a, b)) + slack


def given_way(state: State, a: int, b: int) -> float:
    """[m] the most that compliant contacts of two blocks gave way in the last step, or were found in each other."""
    contacts = state.contacts
    here = (np.minimum(contacts.a, contacts.b) == min(a, b)) & (np.maximum(contacts.a, contacts.b) == max(a, b))
    deep = np.maximum(np.linalg.norm(contacts.strain, axis=1), -contacts.gap)
    return float(np.max(deep, where=here & (contacts.stiffness > 0.0), initial=0.0))


class Check(NamedTuple):
    """One thing measured in a step, and the most it may be."""

    what: str
    value: float
    bound: float


def checks(model: Model, step: Watched, theta: float) -> list[Check]:
    """All that a converged step promises."""
    problem = step.solve.problem
    found = [
        Check("energy [J]", energy_gain(model, step, theta), energy_bound(model, step, theta)),
        Check("cone [N s]", outside_cone(model, step.after), TOLERANCE * problem.total_mass * problem.speed),
    ]
    centre = model.position[~model.bodies.fixed].mean(axis=0)
    defects, bounds = momentum_defect(model, step, theta, centre), momentum_bound(model, step, centre)
    found += [Check("momentum [N s]", defects[0], bounds[0]), Check("spin [N m s]", defects[1], bounds[1])]
    for a, b, depth in overlaps(model, step.after):
        found.append(Check(f"overlap of {a} and {b} [m]", depth, overlap_bound(model, step, a, b)))
    return found


class Judged(NamedTuple):
    """A step that was looked at."""

    step: Watched
    finite: bool
    checks: list[Check]  # none of a step that says that it did not converge

    @property
    def faults(self) -> list[str]:
        found = [f"{what}: {value:.3g}, at most {bound:.3g}" for what, value, bound in self.checks if not value <= bound]
        return [f"step {self.step.after.step}: {fault}" for fault in found + ([] if self.finite else ["not finite"])]


def judge(assembly: Assembly, steps: Iterable[Watched] | None = None) -> Iterator[Judged]:
    """The steps of an assembly, judged."""
    model = assembly.model()
    for step in watch(assembly, model) if steps is None else steps:
        finite = all(np.isfinite(field).all() for field in (step.after.position, step.after.rotation, step.after.velocity))
        judged = finite and step.converged
        yield Judged(step, finite, checks(model, step, assembly.scheme["theta"]) if judged else [])

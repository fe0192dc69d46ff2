"""Histories by small steps: a `State` comes in, the `State` a time step later goes out (T301 to T340).

    interval  = as long as no block turns or travels far                geometry of contact is kept that long
    patches   = find_patches(middle of the interval)                     who touches whom, and where
    rows      = what patches remember, their stiffness, damping, friction
    dt        = the longest stable step
    take_steps(n, dt)                                                     forces, kicks, landings, drifts: velocity Verlet
    state     = poses moved by the mean velocity, memory of the patches, ledger

Friction is Coulomb's, without dilatancy unless a joint has some; joints are areas; stone is elastic where it touches, with the
modulus `young`.
A time step is only how often the state is handed out; the small steps follow from stiffness and mass.
"""

from collections.abc import Sequence
from time import perf_counter
from typing import NamedTuple

import numpy as np

from drystone.contact.broad import candidate_pairs
from drystone.contact.cells import make_cells
from drystone.contact.contacts import Contacts
from drystone.contact.memory import remember
from drystone.contact.patch_memory import CellMemory, PatchMemory
from drystone.contact.patches import Patches, find_patches
from drystone.contact.placed import place
from drystone.engine.bodies import inverse_inertias, momenta, spins
from drystone.engine.cell_forces import NO_CELL_ROWS, CellRows, recall_cells
from drystone.engine.corner_contacts import corner_contacts
from drystone.engine.deformable import Deformable, Swing, joint_springs
from drystone.engine.interval import take_steps
from drystone.engine.joint_law import COHESION, CRUSHING, ENERGY, NUMBERS, OUT, TENSION
from drystone.engine.landing import CORNER_WIDTH, MOST_CORNERS
from drystone.engine.patch_rows import (
    COLUMNS,
    DAMPING_WORK,
    DILATION,
    EXTRA,
    FRICTION_WORK,
    GAP,
    LANES,
    POINTS,
    SHEAR_STIFFNESS,
    STRETCH,
)
from drystone.engine.patch_setup import arrange, carry_back, fill_rows, place_wrenches, pressure_energies, recall, springs
from drystone.engine.stable_step import SAFETY, bound_of_step, exact_step
from drystone.laws import YOUNG, Laws
from drystone.loads import Push, wrench
from drystone.model import Bodies as ModelBodies
from drystone.model import Model
from drystone.motion import Motion, displacement, of_ground, velocity
from drystone.spin import drift
from drystone.state import NO_MODES, Energy, State

Array = np.ndarray

LONGEST_INTERVAL = 5e-3  # [s] between two detections
LARGEST_TURN = 2e-3  # [rad] of a block between two detections
LARGEST_TRAVEL = 0.01  # of its radius: of a block between two detections
LONGEST_STEP = 1e-4  # [s] where little touches
LEAST_LENGTH = 0.02  # of the smaller block: stone behind a joint that gives way, at least
LETTING_DOWN = 200.0  # [1/s] rate at which velocities are taken back while a structure is let down
SHORTER_BY_DILATANCY = 10.0  # times friction times the tangent of dilatancy: by so much more than 1 the step is shorter (T342)
UNBREAKABLE = [COHESION, TENSION, CRUSHING, ENERGY]  # infinite while a structure is let down
FASTEST = 1e4  # [m/s] no stone is so fast: what is has come from numbers that have run away
ENERGY_MADE = 1e-3  # of the largest energy at hand: an interval that makes more is repeated with half the step
REPEATS = 3  # of an interval at most


class Material(NamedTuple):
    """How stones give way where they touch."""

    young: float = YOUNG  # [Pa]
    shear: float = 1.0  # stiffness of a joint in shear over that in compression
    damping: float = 0.1  # of approach and shear, over critical, of a patch alone between its two blocks
    rocking: float = 0.25  # of rocking, likewise; less lets a block that spins on a rough bed begin to chatter (T319)
    landing: float = 10.0  # corners that close faster than this times gravity over the patch's frequency land; 0: none does


STONE = Material()


class Report(NamedTuple):
    """What a time step took."""

    small_steps: int
    detections: int
    landings: int
    repeated: int  # intervals that were taken again with a smaller step
    sound: bool  # no interval made more energy than is allowed
    seconds: tuple[float, float, float]  # detection, small steps, rest


class Bodies(NamedTuple):
    """Numbers of the blocks that do not change, with a dummy behind the last block."""

    mass: Array  # (B+1,) [kg] 0 for supports
    inverse_mass: Array  # (B+1,)
    mean_inertia: Array  # (B+1,) [kg m2]
    least_inertia: Array  # (B+1,)
    inverse_inertia: Array  # (B, 3, 3) body frame, zero for supports
    free: Array  # (4,) 1 for the directions in which blocks can move
    face_depth: Array  # (F,) [m] stone between each face and the centroid, 0 for supports


NO_SWING = Swing(NO_MODES, NO_MODES)


class Course(NamedTuple):
    """Where the blocks are in the middle of a time step."""

    position: Array  # (B, 3)
    rotation: Array  # (B, 4)
    velocity: Array  # (B, 6)
    momentum: Array  # (B, 3) angular
    swing: Swing = NO_SWING  # of deformable blocks


class Passed(NamedTuple):
    """What happened in one interval."""

    course: Course
    memory: PatchMemory
    cells: CellMemory
    energy: Energy  # at its end
    patches: Patches
    a: Array  # (P,) blocks of the patches
    b: Array
    rows: Array  # (P, COLUMNS)
    arm_a: Array  # (P, 3)
    steps: int
    landings: int
    made: float  # [J] energy made, negative if lost
    allowed: float  # [J]


class SmallSteps:
    """Takes a model through time. What it keeps from one time step to the next is in the `State` alone."""

    def __init__(
        self,
        model: Model,
        motions: Sequence[Motion] = (),
        *,
        gravity: float,
        loads: Sequence[Push] = (),
        material: Material = STONE,
        longest_step: float | None = None,
    ):
        self.model, self.motions, self.gravity, self.loads = model, tuple(motions), gravity, tuple(loads)
        self.material = material
        self.longest_step = min(LONGEST_STEP, longest_step or LONGEST_STEP)
        self.deformable = None if model.elastic is None else Deformable(model, material.young, material.damping)
        self.geometry = model.bodies if self.deformable is None else self.deformable.bodies
        if self.deformable is not None:
            self.longest_step = min(self.longest_step, SAFETY * 2.0 / self.deformable.top)
        self.bodies = _bodies(model, self.geometry)
        laws = model.laws
        self.remembers = laws is not None and bool((laws.cohesion + laws.energy).any() or np.isfinite(laws.crushing).any())
        opens = 0.0 if model.dilatancy is None else float((model.friction * model.dilatancy).max())
        self.dilatancy_factor = 1.0 + SHORTER_BY_DILATANCY * opens
        self.ground = of_ground(motions)
        named = {block.name: i for i, block in enumerate(model.blocks)}
        moved = [motion for motion in motions if motion.supports]
        self.supports = np.array(sorted({named[name] for motion in moved for name in motion.supports}), np.int64)
        self.support_motions = [
            tuple(motion for motion in moved if model.blocks[i].name in motion.supports) for i in self.supports
        ]

    def advance(self, state: State, time_step: float, relaxing: bool = False) -> tuple[State, Report]:
        """The state one time step later, and what it took; its velocities are not numbers if they have run away. relaxing: the
        ground is still, velocities are taken back all the time, and nothing lands by impulses."""
        begin = perf_counter()
        self._seconds = [0.0, 0.0]
        course = Course(
            state.position,
            state.rotation,
            state.velocity.copy(),
            self._momentum(state.rotation, state.velocity),
            Swing(state.amplitude, state.rate),
        )
        memory, cells, energy, ratio = state.patches, state.cells, state.energy, (state.step_ratio, state.ratio_patches)
        binds = state.step == 0 and len(cells.state) == 0
        start, done, steps, detections, landed, repeated, sound = state.step * time_step, 0.0, 0, 0, 0, 0, True
        while done < time_step * (1 - 1e-9):
            left = time_step - done
            h = left / np.ceil(left / self._interval(course.velocity) - 1e-9)
            finer = 1
            while True:
                passed, ratio = self._pass(course, memory, cells, binds, energy, ratio, start + done, h, finer, relaxing)
                detections += 1
                if passed.made <= passed.allowed or finer == 2**REPEATS:
                    break
                finer *= 2
                repeated += 1
            sound = sound and passed.made <= passed.allowed
            course, memory, cells, energy = passed.course, passed.memory, passed.cells, passed.energy
            last, last_h, binds = passed, h, False
            steps, landed, done = steps + passed.steps, landed + passed.landings, done + h
            if not np.abs(course.velocity).max() < FASTEST:
                course, sound = course._replace(velocity=np.full_like(course.velocity, np.nan)), False
                break
        contacts, next_id = self._contacts(last, last_h, time_step, state)
        after = State(
            state.step + 1,
            (state.step + 1) * time_step,
            course.position,
            course.rotation,
            course.velocity,
            contacts,
            next_id,
            0,
            energy,
            *course.swing,
            patches=memory,
            cells=cells,
            step_ratio=ratio[0],
            ratio_patches=ratio[1],
        )
        detection, stepping = self._seconds
        seconds = (detection, stepping, perf_counter() - begin - detection - stepping)
        return after, Report(steps, detections, landed, repeated, sound, seconds)

    def _interval(self, speed: Array) -> float:
        """[s] how long geometry may be kept."""
        free = ~self.model.bodies.fixed
        spin = np.sqrt((speed[free, 3:] ** 2).sum(axis=1)).max(initial=1e-300)
        travel = (np.sqrt((speed[free, :3] ** 2).sum(axis=1)) / self.model.bodies.radius[free]).max(initial=1e-300)
        return float(min(LONGEST_INTERVAL, LARGEST_TURN / max(spin, 1e-300), LARGEST_TRAVEL / max(travel, 1e-300)))

    def _momentum(self, rotation: Array, speed: Array) -> Array:
        """(B, 3) angular."""
        out = np.empty((len(rotation), 3))
        momenta(rotation, speed, self.model.bodies.inertia, out)
        return out

    def _inverse_inertia(self, rotation: Array) -> Array:
        """(12 (B + 1),) in world axes, with a dummy behind the last block."""
        out = np.zeros(12 * (len(rotation) + 1))
        inverse_inertias(rotation, self.bodies.inverse_inertia, self.model.planar, out)
        return out

    def _pass(self, course, memory, cell_memory, binds, energy, ratio, time, h, finer, relaxing):
        """One interval of length h from `time` on, with steps that are `finer` times smaller than the longest stable one."""
        begin = perf_counter()
        model, fixed = self.model, self.model.bodies.fixed
        speed = course.velocity
        speed[fixed] = 0.0
        for row, motions in zip(self.supports, self.support_motions, strict=True):
            speed[row, :3] = 0.0 if relaxing else (displacement(motions, time + h) - displacement(motions, time)) / h
        middle, turned = drift(course.position, course.rotation, speed, 0.5 * h)
        placed = place(self._bodies_with_grip(memory, course.swing), middle, turned, speed, h)
        patches = find_patches(self.geometry, placed, candidate_pairs(self.geometry, placed), len(memory.energy))
        count = len(patches.whole)
        a, b = model.bodies.owner[patches.piece[:, 0]], model.bodies.owner[patches.piece[:, 1]]
        arm_a, arm_b = patches.origin - middle[a], patches.origin - middle[b]
        self._seconds[0] += perf_counter() - begin
        carry_back(patches, speed, a, b, arm_a, arm_b, 0.5 * h)
        soft, stand, modes, joints = self.deformable, None, None, None
        if soft is not None:
            stand = soft.stand(patches, a, b)
            soft.open_gaps(patches, stand, arm_a, arm_b, turned, course.swing.amplitude)
        stiffness, shear, edge = self._stiffness(patches, placed.size, a, b)
        patches = patches._replace(edge=edge)
        stretch, shear_stiffness = np.empty((count, 2 * POINTS)), np.empty(count)
        start_energy, offset, dilation = np.empty(count), np.empty(count), np.empty((count, 2))
        has_cells, has_bond = self._remembering(a, b)
        recall(
            model.bodies.owner, patches, has_cells, memory, stiffness, stretch, shear_stiffness, start_energy, offset, dilation
        )
        elastic = float(start_energy.sum() + 0.5 * (shear_stiffness[:, None] * stretch**2).sum())
        spring, moments, fast, twice = np.empty((count, 6)), np.empty((count, 5)), np.empty(count), np.empty(count)
        material = self.material
        landing = material.landing * max(self.gravity, 1e-3) if material.landing > 0 and not relaxing else 1e9
        springs(
            patches,
            a,
            b,
            arm_a,
            arm_b,
            stiffness,
            moments,
            self.bodies.mass,
            self.bodies.inverse_mass,
            self.bodies.mean_inertia,
            material.damping,
            material.rocking,
            landing,
            spring,
            fast,
            twice,
        )
        if soft is not None:
            joint_springs(
                patches, a, b, arm_a, arm_b, stand.soft, stiffness, self.bodies.mass, self.bodies.inverse_mass,
                self.bodies.mean_inertia, material.damping, material.rocking, landing, spring, fast, twice,
            )  # fmt: skip
            modes = soft.modes(stand, turned, speed[:, 3:], course.swing)
        inverse_inertia = self._inverse_inertia(turned)
        dt, ratio = self._longest_step(patches, a, b, arm_a, arm_b, spring, shear, inverse_inertia, ratio, stand, modes)
        n = max(int(np.ceil(h / dt * finer)), 1)
        dt = h / n
        # rows of the patches
        order, groups, cells = self._ordered(patches, has_cells, has_bond, placed, cell_memory, binds, stiffness, shear, a, b)
        if relaxing:  # letting down swings; what breaks then does so in the first step of the history
            cells.law[:, UNBREAKABLE] = np.where(cells.law[:, UNBREAKABLE] > 0.0, np.inf, 0.0)
        rows = np.empty(groups * COLUMNS * LANES)
        body, slot = np.empty((2, groups, LANES), np.int64), np.empty((2, groups, LANES), np.int64)
        corner_start, corner_count = np.empty(groups + 1, np.int64), np.empty((groups, LANES), np.int64)
        corners = np.empty((len(patches.corner) + 4 * count + 4 * LANES) * 2 * LANES)
        wrench_start = place_wrenches(order, a, b, len(fixed), slot)
        fill_rows(
            order,
            patches,
            a,
            b,
            arm_a,
            arm_b,
            spring,
            moments,
            model.friction_between(a, b),
            model.dilatancy_between(a, b),
            dilation,
            shear,
            fast,
            twice,
            stiffness,
            stretch,
            shear_stiffness,
            rows,
            body,
            slot,
            wrench_start,
            len(fixed),
            corner_start,
            corner_count,
            corners,
        )
        restitution = self._restitution(a, b, order, groups)
        if soft is not None:
            modes = modes._replace(plate_of=soft.plates_of_wrenches(stand, order, slot, wrench_start[-1]))
            joints = soft.joints(
                patches, stand, order, a, b, body, corner_start, corner_count, self.bodies.mass, self.bodies.face_depth,
                material.young,
            )  # fmt: skip
        # bodies
        numbers = np.zeros((len(fixed) + 1 if soft is None else soft.rows, 8))
        numbers[: len(fixed), :3] = speed[:, :3]
        spins(inverse_inertia, course.momentum, numbers[: len(fixed), 4:7])
        momentum = np.zeros((len(fixed) + 1, 4))
        momentum[:-1, :3] = course.momentum
        external = np.zeros((len(fixed) + 1, 8))
        if self.loads:
            pushed = wrench(model, self.loads, self.gravity, course.rotation)
            external[:-1, :3], external[:-1, 4:7] = pushed[:, :3], pushed[:, 3:]
        push, support_velocity = self._push(time, h, n, relaxing)
        moved, ledger = np.zeros((len(fixed) + 1, 8)), np.zeros(5)
        middle_time = perf_counter()
        take_steps(
            n,
            dt,
            model.dilatancy is not None,
            np.exp(-LETTING_DOWN * dt) if relaxing else 1.0,
            push,
            self.bodies.free,
            self.supports,
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
            np.zeros(8 * wrench_start[-1]),
            external.ravel(),
            numbers.ravel(),
            momentum.ravel(),
            self.bodies.mass,
            self.bodies.inverse_mass,
            inverse_inertia,
            moved.ravel(),
            np.empty(groups + 1, np.int64),
            np.empty(groups * LANES, np.int64),
            np.empty((MOST_CORNERS + 1, CORNER_WIDTH)),
            np.empty(4),
            np.empty(OUT),
            ledger,
            modes,
            joints,
        )
        self._seconds[1] += perf_counter() - middle_time
        # where everything is now
        way = np.column_stack([moved[:-1, :3], moved[:-1, 4:7]])
        if model.planar:
            way[:, 1] = numbers[:, 1] = 0.0  # rounding in landings
        swing = NO_SWING if soft is None else soft.swing(modes)
        position, rotation = drift(course.position, course.rotation, way / h, h)
        after = np.empty_like(speed)
        after[:, :3] = numbers[: len(fixed), :3]
        spins(self._inverse_inertia(rotation), momentum[:-1, :3], after[:, 3:])
        after[fixed, 3:] = 0.0
        by_patch = np.empty((count, COLUMNS))
        filled = np.flatnonzero(order >= 0)
        by_patch[order[filled]] = rows.reshape(groups, COLUMNS, LANES).transpose(0, 2, 1).reshape(-1, COLUMNS)[filled]
        end_energy = np.empty(count)
        pressure_energies(patches, by_patch[:, GAP : GAP + 3].copy(), stiffness, end_energy)
        if self.remembers:
            end_energy[has_cells] = by_patch[has_cells, EXTRA]
            by_patch[has_cells, SHEAR_STIFFNESS] = 0.0
            elastic += float(ledger[4])
            patch = np.repeat(np.arange(count), np.diff(cells.start))
            cell_memory = CellMemory(patches.piece[patch], patches.face[patch], cells.number, cells.state)
        kept = PatchMemory(
            patches.piece, patches.face, by_patch[:, STRETCH:].copy(), by_patch[:, SHEAR_STIFFNESS].copy(), end_energy, offset,
            by_patch[:, DILATION : DILATION + 2].copy(),
        )  # fmt: skip
        loads = float(np.vdot(external[:-1], moved[:-1]))
        swung = 0.0 if modes is None else float(modes.lost[0])
        told = self._ledger(energy, course, elastic, position, rotation, after, kept, by_patch, ledger, loads, swing, swung)
        made = energy.numerical - told.numerical
        allowed = ENERGY_MADE * max(energy.kinetic, told.kinetic, self.gravity * 1e-3 * float(self.bodies.mass.sum()))
        new = Course(position, rotation, after, momentum[:-1, :3].copy(), swing)
        return Passed(new, kept, cell_memory, told, patches, a, b, by_patch, arm_a, n, int(ledger[1]), made, allowed), ratio

    def _bodies_with_grip(self, memory: PatchMemory, swing: Swing) -> ModelBodies:
        """The blocks, looked for as far apart as sliding has opened their joints, and as they are deformed."""
        bodies = self.geometry
        if self.model.dilatancy is None and self.deformable is None:
            return bodies
        grip = bodies.grip.copy()
        if self.model.dilatancy is not None:
            for side in range(2):
                np.maximum.at(grip, bodies.owner[memory.piece[:, side]], 0.5 * memory.dilation[:, 0])
        if self.deformable is not None:
            grip += 2.0 * self.deformable.bulge(swing.amplitude)
        return bodies._replace(grip=grip)

    def _remembering(self, a: Array, b: Array) -> tuple[Array, Array]:
        """(P,) which patches have cells, and which a bond."""
        laws = self.model.laws
        if laws is None or not self.remembers:
            return np.zeros(len(a), bool), np.zeros(len(a), bool)
        here = self.model.bodies.group[a], self.model.bodies.group[b]
        bond = (laws.cohesion[here] > 0.0) | (laws.energy[here] > 0.0)
        return bond | np.isfinite(laws.crushing[here]), bond

    def _ordered(self, patches, has_cells, has_bond, placed, memory, binds, stiffness, shear, a, b):
        """The patches in groups, those with cells in groups of their own at the end; how many groups; the cells."""
        order = arrange(patches.corner_start)
        if not self.remembers:
            return order, -(-len(order) // LANES), NO_CELL_ROWS
        dry, other = order[~has_cells[order]], order[has_cells[order]]
        order = np.concatenate([dry, np.full(-len(dry) % LANES, -1), other])
        groups = -(-len(order) // LANES)
        lanes = np.full((-(-len(other) // LANES)) * LANES, -1)
        lanes[: len(other)] = other
        found = make_cells(self.geometry, placed, patches, has_cells)
        rest, state = recall_cells(patches, has_cells, found, memory, binds, has_bond)
        law = np.zeros((len(has_cells), NUMBERS))
        if has_cells.any():
            here = self.model.bodies.group[a], self.model.bodies.group[b]
            laws = Laws(*(each[here] for each in self.model.laws or ()))
            normal = np.where(laws.normal_stiffness > 0.0, laws.normal_stiffness, stiffness - laws.pull)
            ratio = self.material.shear if self.deformable is None else (shear * stiffness - laws.drag) / normal
            law[:] = np.column_stack([
                self.model.friction_between(a, b), laws.cohesion, laws.tension, laws.brittle, normal,
                np.where(laws.shear_stiffness > 0.0, laws.shear_stiffness, ratio * normal),
                laws.crushing, laws.energy, laws.viscosity, laws.pull, laws.drag,
            ])  # fmt: skip
        return order, groups, CellRows(lanes.reshape(-1, LANES), *found, law, rest, state)

    def _stiffness(self, patches: Patches, size: Array, a: Array, b: Array) -> tuple[Array, Array, Array]:
        """(P,) [N/m3] in compression: modulus over the stone behind both faces (T311), or that of the joint; (P,) that in shear
        over it; (P,) how much of it an edge has (T313): a joint with a stiffness of its own is springs side by side."""
        depth = self.bodies.face_depth[patches.face].sum(axis=1)
        stone = self.material.young / np.maximum(depth, LEAST_LENGTH * size[patches.piece].min(axis=1, initial=np.inf))
        ratio = np.full(len(stone), self.material.shear)
        if self.deformable is not None:
            material = self.material
            stone, ratio = self.deformable.stiffness_of(
                patches, a, b, self.bodies.face_depth, material.young, material.shear, stone
            )
        if self.model.laws is None:
            return stone, ratio, patches.edge
        here = self.model.bodies.group[a], self.model.bodies.group[b]
        of_joint, in_shear = self.model.laws.normal_stiffness[here], self.model.laws.shear_stiffness[here]
        normal = np.where(of_joint > 0.0, of_joint, stone)
        ratio = np.where(of_joint > 0.0, self.material.shear, ratio)
        along = np.where(in_shear > 0.0, in_shear, ratio * normal) + self.model.laws.drag[here]
        normal = normal + self.model.laws.pull[here]
        shear = along / normal
        return normal, shear, np.where(of_joint > 0.0, 0.0, patches.edge)

    def _restitution(self, a: Array, b: Array, order: Array, groups: int) -> Array:
        out = np.zeros(groups * LANES)
        if self.model.restitution is not None:
            group = self.model.bodies.group
            out[: len(order)] = self.model.restitution[group[a], group[b]][order]
        return out.reshape(groups, LANES)

    def _longest_step(self, patches, a, b, arm_a, arm_b, spring, shear, inverse_inertia, ratio, stand, modes):
        """[s] the longest stable step, and the ratio to its bound, with the number of patches for which it was found."""
        count, bodies = len(a), self.bodies
        if count == 0:
            return self.longest_step, ratio
        bound = bound_of_step(
            a, b, arm_a, arm_b, spring, shear, bodies.inverse_mass, bodies.least_inertia, np.empty((len(bodies.mass), 2))
        )
        if abs(count - ratio[1]) > 0.1 * ratio[1]:
            blocks = len(bodies.mass) - 1
            if self.deformable is not None:
                exact = self.deformable.exact_step(
                    bound, patches, stand, arm_a, arm_b, spring, shear, bodies.inverse_mass, inverse_inertia, modes
                )
            else:
                exact = exact_step(
                    bound,
                    a,
                    b,
                    patches.frame,
                    arm_a,
                    arm_b,
                    spring,
                    shear,
                    bodies.inverse_mass,
                    inverse_inertia,
                    np.empty((blocks, 6)),
                    np.empty((blocks, 6)),
                )
            ratio = (float(exact / bound), count)
        return min(SAFETY * ratio[0] * bound / self.dilatancy_factor, self.longest_step), ratio

    def _push(self, time: float, h: float, n: int, still: bool) -> tuple[Array, Array]:
        """Gravity less the acceleration of the ground, and that alone, at the kicks; velocity of the moved supports in each
        step. Both are exact differences of the motions over the time for which they stand."""
        at = time + h * np.arange(n + 1) / n
        edges = np.concatenate([at[:1], 0.5 * (at[:-1] + at[1:]), at[-1:]])
        push = np.zeros((n + 1, 8))
        if self.ground and not still:
            push[:, 4:7] = np.diff(velocity(self.ground, edges), axis=0) / np.diff(edges)[:, None]
        push[:, :3] = -push[:, 4:7]
        push[:, 2] -= self.gravity
        supports = np.empty((n, len(self.supports), 3))
        for k, motions in enumerate(self.support_motions):
            supports[:, k] = 0.0 if still else np.diff(displacement(motions, at), axis=0) * (n / h)
        return push, supports

    def _ledger(self, old, course, elastic, position, rotation, after, kept, rows, ledger, loads, swing, swung) -> Energy:
        """The balance at the end of the interval; what its entries leave over is numerical."""
        bodies = self.model.bodies
        free = ~bodies.fixed
        momentum = self._momentum(rotation, after)
        kinetic = 0.5 * float((bodies.mass[free, None] * after[free, :3] ** 2).sum() + (momentum[free] * after[free, 3:]).sum())
        strain = 0.0
        if self.deformable is not None:
            swinging, strain = self.deformable.energies(swing)
            kinetic += swinging
        lift = float(bodies.mass[free] @ (position[free, 2] - course.position[free, 2]))
        end = float(kept.energy.sum() + 0.5 * (kept.shear_stiffness[:, None] * kept.stretch**2).sum())
        friction, damping, impact = float(rows[:, FRICTION_WORK].sum()), float(rows[:, DAMPING_WORK].sum()) + swung, float(ledger[0])
        geometry = old.elastic - elastic
        came = float(ledger[2]) + loads
        fracture = float(ledger[3])
        lost = friction + damping + impact + fracture
        numerical = came - (kinetic - old.kinetic) - self.gravity * lift - (end - elastic) - (strain - old.strain) - lost
        return Energy(
            kinetic,
            old.potential + self.gravity * lift,
            end,
            old.ground + came,
            old.friction + friction,
            old.impact + impact,
            old.numerical + numerical,
            fracture=old.fracture + fracture,
            strain=strain,
            damping=old.damping + damping,
            geometry=old.geometry + geometry,
        )

    def _contacts(self, last: Passed, h: float, time_step: float, state: State) -> tuple[Contacts, int]:
        turned = 0.5 * h * last.course.velocity[:, 3:]
        contacts = corner_contacts(
            last.patches, last.a, last.b, last.rows, last.memory.offset, last.arm_a, turned, last.course.position, time_step
        )
        impulse = contacts.impulse.copy()
        next_id = remember(contacts, state.contacts, self.model.bodies.radius, state.next_id)  # it also takes over impulses
        return contacts._replace(impulse=impulse), next_id


def _bodies(model: Model, geometry: ModelBodies) -> Bodies:
    b = geometry
    moments = np.linalg.eigvalsh(b.inertia)
    inverse = np.linalg.inv(b.inertia)
    inverse[b.fixed] = 0.0
    mass = np.where(b.fixed, 0.0, b.mass)
    corner = b.face_vertex[b.face_start[:-1]]
    owner = np.repeat(b.owner, np.diff(b.piece_face))
    depth = np.abs(np.einsum("ij,ij->i", b.vertex[corner], b.face_normal))
    return Bodies(
        np.append(mass, 0.0),
        np.append(np.where(b.fixed, 0.0, 1 / b.mass), 0.0),
        np.append(moments.mean(axis=1), 1.0),
        np.append(moments[:, 0], 1.0),
        inverse,
        np.array([1.0, 0.0, 1.0, 0.0]) if model.planar else np.array([1.0, 1.0, 1.0, 0.0]),
        np.where(b.fixed[owner], 0.0, depth),
    )

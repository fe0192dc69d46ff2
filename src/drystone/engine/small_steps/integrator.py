"""Histories by small steps: a `State` comes in, the `State` a time step later goes out (T301 to T346).

    interval  = 5 ms, or less                                          loads and the ground's motion are tabled for it
    pairs     = look_for_pairs(...)                                    who may touch whom in it
    ticks     = as often as blocks that turn or slide need it           engine/small_steps/interval.py, compiled
        patches   = find_patches(middle of their life)                  of the pairs that have moved; the others go on
        rows      = what patches remember, their stiffness, damping, friction
        dt        = the longest stable step
        march(n, dt)                                                    forces, kicks, landings, drifts: velocity Verlet
    state     = poses, memory of the patches, ledger

Friction is Coulomb's, without dilatancy unless a joint has some; joints are areas; stone is elastic where it touches, with the
modulus `young`.
A time step is only how often the state is handed out; the small steps follow from stiffness and mass.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, isfinite
from time import perf_counter
from typing import NamedTuple

import numpy as np

from drystone.base.errors import InputError
from drystone.base.kernel.helper_threads import default_threads, make_control, run_with_helpers
from drystone.base.kernel.reference import Reference
from drystone.contact.contacts import Contacts, no_contacts
from drystone.contact.patch_memory import CellMemory, PatchMemory
from drystone.engine.small_steps.bodies import momenta
from drystone.engine.small_steps.cell_forces import NO_CELL_ROWS
from drystone.engine.small_steps.cell_joints import CellJoints
from drystone.engine.small_steps.cell_laws import cell_laws
from drystone.engine.small_steps.corner_contacts import corner_contacts
from drystone.engine.small_steps.interval import RAN_AWAY, TOO_SMALL, assist, find_all, follow_all, follow_interval
from drystone.engine.small_steps.interval_state import Course
from drystone.engine.small_steps.modal_interval import follow_with_modes
from drystone.engine.small_steps.mode_setup import Deformable, stone_in_joints
from drystone.engine.small_steps.patch_search import LARGEST_TRAVEL, LARGEST_TURN, look_for_pairs
from drystone.engine.small_steps.patch_sides import hold_sides
from drystone.engine.small_steps.records import (
    DAMPING_LOSS,
    DONE,
    ELASTIC,
    FINDS,
    FRACTURE_LOSS,
    FRICTION_LOSS,
    GEOMETRY,
    IMPACT_LOSS,
    KEPT,
    KINETIC,
    LANDING,
    LANDINGS,
    LEVELS,
    LIFT,
    LONGEST_STEP,
    PAIR_NUMBERS,
    RATIO,
    RATIO_PATCHES,
    SHARE_OF_STEP,
    SMALL_STEPS,
    SPAN,
    TICKS,
    WORK_OF_GROUND,
    WORK_OF_LOADS,
    Data,
    make_joints,
    make_pairs,
    make_structure,
    make_work,
)
from drystone.engine.small_steps.removed_blocks import without
from drystone.engine.small_steps.sleeping_islands import Disturbances, Sleepers
from drystone.engine.small_steps.stable_step import SAFETY
from drystone.engine.state import NO_CELLS, NO_MODES, NO_REST, Energy, State
from drystone.ground.motion import Motion, last_motion_end, select_ground_motions, total_displacement, total_velocity
from drystone.structure.block_changes import BlockChange, Presence
from drystone.structure.joint_laws import DEFAULT_YOUNG
from drystone.structure.loads import AppliedLoad, load_wrench
from drystone.structure.model import Model

Array = np.ndarray

LONGEST_INTERVAL = 5e-3  # [s] for which pairs are looked for
SHORTEST_TICK = 7e-5  # [s] between two detections, about
NODE = 1e-4  # [s] at most: between two instants at which the motion of the ground is tabled
LONGEST_SMALL_STEP = 1e-4  # [s] where little touches
SHORTER_BY_DILATANCY = 10.0  # times friction times the tangent of dilatancy: by so much more than 1 the step is shorter (T342)
LEAST_LIFT = 1e-3  # [m] energies are small if they are less than that of the structure lifted by this
ENERGY_MADE = 1e-3  # of the largest energy at hand: an interval that makes more is repeated with half the step
REPEATS = 3  # of an interval at most
THREADS_FROM = 4000  # patches: fewer gain little from a second thread and lose much by it where the cores are busy,
ASKED_THREADS_FROM = 100  # and these few gain nothing even on a quiet machine


class Material(NamedTuple):
    """How stones give way where they touch."""

    young: float = DEFAULT_YOUNG  # [Pa]
    shear: float = 1.0  # stiffness of a joint in shear over that in compression
    damping: float = 0.1  # of approach and shear, over critical, of a patch alone between its two blocks
    rocking: float = 0.25  # of rocking, likewise; less lets a block that spins on a rough bed begin to chatter (T319)
    landing: float = 10.0  # corners that close faster than this times gravity over the patch's frequency land; 0: none does


STONE = Material()


class Relaxing(NamedTuple):
    """A structure is brought to rest: the ground is still, velocities are taken back all the time, no landing by impulses."""

    rate: float = 200.0  # [1/s] at which velocities are taken back
    breaks: bool = False  # whether bonds break and stone is crushed meanwhile
    carried: Array | None = None  # (2, B, 3) [m/s], [m/s2] velocity at step 0, and acceleration, of supports that have motions;
    # None: they stand still
    pushed: Array | None = None  # (B, 6) [N, N m] besides loads, none of which has a history


LETTING_DOWN = Relaxing()


class Report(NamedTuple):
    """What a time step took."""

    small_steps: int
    detections: int  # ticks at which pairs were found anew
    landings: int
    repeated: int  # intervals that were taken again with a smaller step
    sound: bool  # no interval made more energy than is allowed
    seconds: tuple[float, float, float]  # detection, small steps, rest
    found: int = 0  # pairs that were looked at
    asleep: int = 0  # blocks, at the end


def _by_history(loads: Sequence[AppliedLoad]) -> list[list[AppliedLoad]]:
    """The loads, those with the same history together; nothing if none has one."""
    if not any(load.history for load in loads):
        return []
    return [[load for load in loads if load.history == each] for each in dict.fromkeys(load.history for load in loads)]


class SmallSteps:
    """Takes a model through time. What it keeps from one time step to the next is in the `State` alone."""

    def __init__(
        self,
        model: Model,
        motions: Sequence[Motion] = (),
        *,
        gravity: float,
        loads: Sequence[AppliedLoad] = (),
        material: Material = STONE,
        longest_step: float | None = None,
        threads: int | None = 1,
        tells_contacts: bool = True,
        changes: Sequence[BlockChange] = (),
        sleeps: bool = True,
    ):
        """threads: how many follow it, where there are patches enough; None: two if the machine has them and it pays.
        tells_contacts: whether states come with the corners of joints as contacts. Nothing is computed from them; who
        looks at displacements alone saves a twentieth of the time. sleeps: whether islands at rest are put to sleep
        (engine/small_steps/sleeping_islands.py); where joints have mortar or blocks are deformable none is."""
        self.model, self.motions, self.gravity, self.loads = model, tuple(motions), gravity, tuple(loads)
        self.material, self.helpers = material, (default_threads() if threads is None else threads) - 1
        self.threads_from = THREADS_FROM if threads is None else ASKED_THREADS_FROM
        self.tells_contacts = tells_contacts
        self.longest_step = min(LONGEST_SMALL_STEP, longest_step or LONGEST_SMALL_STEP)
        laws = cell_laws(model)
        self.cells = None if laws is None else CellJoints(model, laws, material.shear)
        self.remembers = False  # whether any joint is followed cell by cell in the interval at hand
        self.ground = select_ground_motions(motions)
        self._pushes = _by_history(self.loads)
        moved = [motion for motion in motions if motion.supports]
        self._supports = np.array(sorted({model.block_numbers[name] for motion in moved for name in motion.supports}), np.int64)
        self.support_motions = [tuple(each for each in moved if model.blocks[i].name in each.supports) for i in self._supports]
        self._control = make_control()
        self._end_of_ground = last_motion_end(self.ground)  # [s]
        self._nodes = np.linspace(0.0, 1.0, ceil(LONGEST_INTERVAL / min(NODE, self.longest_step)) + 1)  # of an interval
        self._found = np.empty((16 * len(model.bodies.owner), 2), np.int64)  # room for pairs
        self._room = 0  # patches
        if changes and (self.cells is not None or model.elastic is not None):
            raise InputError("change: blocks that appear or vanish need dry joints of rigid blocks; remove the mortar and "
                             "`deformable`, or the change")  # fmt: skip
        self.sleeps = sleeps and self.cells is None and model.elastic is None
        self._disturbances = Disturbances(model, self.ground, self._supports, self.support_motions, self.loads)
        self._presence = Presence(model, changes) if changes else None
        self._take_in(np.ones(len(model.blocks), bool) if self._presence is None else self._presence.at(0.0))

    def _take_in(self, present: Array) -> None:
        """From now on these blocks (B,) are there; the others are held where they are, and touch nobody."""
        model, material = self.model, self.material
        self._present, bodies = present, model.bodies
        held = bodies._replace(fixed=bodies.fixed | ~present)
        opens = 0.0 if model.dilatancy is None else float((model.friction * model.dilatancy).max())
        self.structure = make_structure(
            replace(model, bodies=held), self._supports, present, young=material.young, shear=material.shear,
            damping=material.damping, rocking=material.rocking, shorter=1.0 + SHORTER_BY_DILATANCY * opens,
            has_cells=self.cells is not None, stone=stone_in_joints(model, material.young),
        )  # fmt: skip
        self._sleepers = Sleepers(model, self.structure, self._disturbances)
        self.deformable = None if model.elastic is None else Deformable(model, self.structure, material.damping)
        if self.deformable is not None:
            self.longest_step = min(self.longest_step, SAFETY * 2.0 / self.deformable.fastest)
        self._modes: Reference  # of deformable blocks, if there are any
        self._least_energy = self.gravity * LEAST_LIFT * float(self.structure.mass.sum())  # [J] that counts
        self._pairs = make_pairs(np.empty((0, 2), np.int64), np.empty((0, PAIR_NUMBERS)))
        self._seen = Reference(self._make_data(0))

    def _changed(self, state: State, time_step: float) -> State:
        """The state with the changes that take effect in the time step that it begins."""
        if self._presence is None:
            return state
        now, before = (self._presence.at(step * time_step) for step in (state.step, max(state.step - 1, 0)))
        if not np.array_equal(now, self._present):
            self._take_in(now)
        if np.array_equal(now, before):
            return state
        return without(self.model.bodies, state._replace(rest=NO_REST), before & ~now)  # all wake

    def advance(self, state: State, time_step: float, relaxing: Relaxing | None = None) -> tuple[State, Report]:
        """The state one time step later, and what it took; its velocities are not numbers if they have run away. relaxing: in
        the place of the motions."""
        begin = perf_counter()
        self._seconds = [0.0, 0.0]
        state = self._changed(state, time_step)
        momentum, sleeps = self._momentum(state.rotation, state.velocity), self.sleeps and relaxing is None
        rest = state.rest if sleeps and len(state.rest) else np.zeros(len(state.position))
        course = Course(
            state.position, state.rotation, state.velocity, momentum, state.patches, state.cells, state.energy,
            (state.step_ratio, state.ratio_patches), rest, True, state.amplitude, state.rate,
        )  # fmt: skip
        start, done = state.step * time_step, 0.0
        steps = detections = landed = repeated = found = 0
        contacts, next_id = state.contacts if self.tells_contacts else no_contacts(), state.next_id
        sound = is_told = True
        while done < time_step * (1 - 1e-9):
            left = time_step - done
            is_known = len(course.cells.state) > 0 or len(course.memory.energy) > 0
            binds = state.step == 0 and course.is_start and not is_known  # a history begins: bonds are made
            self.remembers = self.cells is not None and self.cells.any_left(course.cells, binds)
            h = left / ceil(left / self._interval(course.velocity) - 1e-9)
            course, calm = self._sleepers.wake(course, start + done + h * self._nodes) if sleeps else (course, None)
            if calm is not None and self._sleepers.are_all_asleep(course):
                done += h
                continue
            finer = 1
            while True:
                after, passed, made, allowed = self._follow(course, binds, start + done, h, finer, relaxing)
                if made <= allowed or finer == 2**REPEATS:
                    break
                finer, repeated = 2 * finer, repeated + 1
            counts, ledger = self._data.work.counts, self._data.work.ledger
            steps, detections = steps + int(counts[SMALL_STEPS]), detections + int(counts[TICKS])
            landed, found = landed + int(ledger[LANDINGS]), found + int(counts[FINDS])
            sound = sound and bool(made <= allowed)
            is_told = False
            if calm is not None:
                after = self._sleepers.let_sleep(course, after, calm, passed, self._pairs.piece)
                if self._sleepers.count(after) > self._sleepers.asleep.sum():  # their joints are told for the last time
                    is_told, contacts, next_id = True, *self._tell(time_step, contacts, next_id)
            course, done = after, done + passed
            if not isfinite(course.velocity[0, 0]):
                sound = False
                break
        if not is_told:
            contacts, next_id = self._tell(time_step, contacts, next_id)
        later = State(
            state.step + 1,
            (state.step + 1) * time_step,
            course.position,
            course.rotation,
            course.velocity,
            contacts,
            next_id,
            0,
            course.energy,
            course.amplitude,
            course.rate,
            patches=course.memory,
            cells=course.cells,
            step_ratio=course.ratio[0],
            ratio_patches=course.ratio[1],
            rest=course.rest if self.sleeps else NO_REST,
        )
        detection, stepping = self._seconds
        seconds = (detection, stepping, perf_counter() - begin - detection - stepping)
        return later, Report(steps, detections, landed, repeated, sound, seconds, found, self._sleepers.count(course))

    def _tell(self, time_step: float, before: Contacts, next_id: int) -> tuple[Contacts, int]:
        """The contacts as they are now, which keep the ids of those `before`; then the next free id."""
        if not self.tells_contacts:
            return no_contacts(), next_id
        told, next_id = corner_contacts(self._seen, self._which(), time_step, before, next_id)
        return self._sleepers.contacts(before, told), next_id

    def _momentum(self, rotation: Array, speed: Array) -> Array:
        """(B, 3) angular."""
        out = np.empty((len(rotation), 3))
        momenta(rotation, speed, self.model.bodies.inertia, out)
        return out

    def _interval(self, speed: Array) -> float:
        """[s] for which pairs are looked for; where joints have cells or blocks are deformable, geometry is kept as long."""
        if not self.remembers and self.deformable is None:
            return LONGEST_INTERVAL
        free = ~self.model.bodies.fixed
        spin = np.sqrt((speed[free, 3:] ** 2).sum(axis=1)).max(initial=1e-300)
        travel = (np.sqrt((speed[free, :3] ** 2).sum(axis=1)) / self.model.bodies.radius[free]).max(initial=1e-300)
        return float(min(LONGEST_INTERVAL, LARGEST_TURN / max(spin, 1e-300), LARGEST_TRAVEL / max(travel, 1e-300)))

    def _follow(self, course: Course, binds: bool, time: float, h: float, finer: int, relaxing: Relaxing | None):
        """Up to h from `time` on, with steps that are `finer` times smaller than the longest stable one: the course then, the
        time that passed, the energy made and that allowed."""
        begin = perf_counter()
        while True:
            self._take_over(course)
            self._look_for_pairs(course, h)
            if (woken := self._sleepers.wake_near(course, self._pairs.piece)) is not None:
                course = woken
                continue
            if self.cells is not None:
                self.cells.choose(self._pairs, course.cells, binds)
            self._prepare(course, time, h, finer, relaxing)
            self._seconds[0] += perf_counter() - begin
            begin = perf_counter()
            ended, cells = self._run(course, binds, relaxing)
            self._seconds[1] += perf_counter() - begin
            begin = perf_counter()
            if ended != TOO_SMALL:
                break
            self._room *= 2
            self._make_room(len(course.memory.energy))
        work = self._data.work
        passed = float(work.number[DONE])
        speed = np.full_like(work.speed, np.nan) if ended == RAN_AWAY else work.speed.copy()
        count = int(self._data.joints[self._which()].number[0])
        memory = PatchMemory(*(each[:count].copy() for each in work.memory))
        energy, made, allowed = self._ledger(course.energy, work, self._sleepers.stored(course.memory))
        amplitude, rate = (NO_MODES, NO_MODES) if self.deformable is None else self.deformable.end(self._modes.record)
        after = Course(
            work.position.copy(), work.rotation.copy(), speed, work.momentum.reshape(-1, 4)[:-1, :3].copy(), memory,
            cells, energy, (float(work.number[RATIO]), int(work.counts[RATIO_PATCHES])), course.rest, False,
            amplitude, rate,
        )  # fmt: skip
        return self._sleepers.keep(course, after), passed, made, allowed

    def _run(self, course: Course, binds: bool, relaxing: Relaxing | None) -> tuple[int, CellMemory]:
        """The kernels of an interval: how it ended, and what cells remember."""
        known = len(course.memory.energy)
        helpers = self.helpers if known >= self.threads_from else 0
        control = self._control
        if not self.remembers and self._data.cells is not NO_CELL_ROWS:
            self._seen.replace("cells", NO_CELL_ROWS)
        if not self.remembers and self.deformable is None:
            return run_with_helpers(follow_interval, assist, helpers, control, control, self._seen, helpers, known), NO_CELLS
        if not run_with_helpers(find_all, assist, helpers, control, control, self._seen, helpers, known):
            return TOO_SMALL, course.cells
        if self.deformable is not None:
            self.deformable.begin(self._modes.record, course.amplitude, course.rate)
            hold_sides(self._seen, self._modes)
            if not self.remembers:
                return follow_with_modes(self._seen, self._modes), NO_CELLS
        assert self.cells is not None
        is_whole = relaxing is not None and not relaxing.breaks  # nothing breaks
        self._seen.replace("cells", self.cells.rows(self._data, course.cells, binds, is_whole))
        if self.deformable is None:
            ended = run_with_helpers(follow_all, assist, helpers, control, control, self._seen, helpers)
        else:
            ended = follow_with_modes(self._seen, self._modes)
        return ended, self.cells.keep(self._data)

    def _which(self) -> int:
        """Where the joints of the last tick are."""
        return (int(self._data.work.counts[TICKS]) - 1) % 2

    @property
    def _data(self) -> Data:
        """Working memory, as Python sees it."""
        return self._seen.record

    def _take_over(self, course: Course) -> None:
        """Working memory begins where the course is."""
        if len(course.memory.energy) > self._room:
            self._make_room(len(course.memory.energy))
        self._sleepers.hold(course)
        work = self._data.work
        work.position[:], work.rotation[:], work.speed[:] = course.position, course.rotation, course.velocity
        work.momentum.reshape(-1, 4)[:-1, :3] = course.momentum
        for into, known in zip(work.memory, course.memory, strict=True):
            into[: len(known)] = known

    def _look_for_pairs(self, course: Course, h: float) -> None:
        bodies, work = self.model.bodies, self._data.work
        work.grip[:] = bodies.grip
        if self.model.dilatancy is not None:  # looked for as far apart as sliding has opened their joints
            for side in range(2):
                np.maximum.at(work.grip, bodies.owner[course.memory.piece[:, side]], 0.5 * course.memory.dilation[:, 0])
        if self.deformable is not None:  # and as far as they are deformed, with as much again for the interval
            work.grip[:] += 2.0 * self.deformable.bulge(course.amplitude)
        count = look_for_pairs(self._seen, h, self._found)
        if count > len(self._found):
            self._found = np.empty((count * 5 // 4, 2), np.int64)
            count = look_for_pairs(self._seen, h, self._found)
        if count >= 0:
            self._pairs = make_pairs(self._found[:count].copy(), self._laws_of(self._found[:count]))
            if count > len(self._data.joints[0].first):
                del work
                self._make_room(len(course.memory.energy))
                self._take_over(course)
                self._look_for_pairs(course, h)
            else:
                self._seen.replace("pairs", self._pairs)

    def _laws_of(self, piece: Array) -> Array:
        """(Q, PAIR_NUMBERS) what the joints of these pairs have."""
        model, group = self.model, self.model.bodies.group
        a, b = model.bodies.owner[piece[:, 0]], model.bodies.owner[piece[:, 1]]
        here, none, laws = (group[a], group[b]), np.zeros(len(piece)), model.laws
        columns = [model.friction_between(a, b), model.dilatancy_between(a, b)]
        columns += [none if model.restitution is None else model.restitution[here]]
        if laws is None:
            columns += [none] * 5
        else:
            columns += [laws.normal_stiffness[here], laws.shear_stiffness[here], laws.pull[here], laws.drag[here], none]
        return np.column_stack(columns).astype(float)

    def _prepare(self, course: Course, time: float, h: float, finer: int, relaxing: Relaxing | None) -> None:
        """Puts all that an interval begins with into the working memory."""
        data = self._data
        work, number = data.work, data.work.number
        number[SPAN], number[SHARE_OF_STEP] = h, finer
        lands = self.material.landing > 0 and relaxing is None
        number[LANDING] = self.material.landing * max(self.gravity, 1e-3) if lands else 1e9
        number[KEPT] = 0.0 if relaxing is None else relaxing.rate
        number[LONGEST_STEP] = self.longest_step
        number[RATIO], work.counts[RATIO_PATCHES] = course.ratio
        has_lives = not self.remembers and self.deformable is None
        work.counts[LEVELS] = max(int(np.floor(np.log2(h / SHORTEST_TICK))), 0) if has_lives else 0
        at = time + h * self._nodes
        if self._pushes:
            for k, loads in enumerate(self._pushes):
                self._put_loads(loads, course.rotation, work.pushes[k])
                first = loads[0]
                work.factor_summed[:, k] = first.factor_summed(at) if relaxing is None else first.factor(0.0) * at
        else:
            work.external[:] = 0.0
            if self.loads:
                self._put_loads(self.loads, course.rotation, work.external)
            if relaxing is not None and relaxing.pushed is not None:
                self._add(relaxing.pushed, work.external)
        work.gravity[2] = -self.gravity
        moves = time < self._end_of_ground and relaxing is None  # only changes of its velocity count
        work.ground[:] = total_velocity(self.ground, at) if moves else 0.0
        for k, (support, motions) in enumerate(zip(self._supports, self.support_motions, strict=True)):
            if relaxing is None:
                work.moves[:, k] = total_displacement(motions, at)
            elif relaxing.carried is None:
                work.moves[:, k] = 0.0
            else:
                speed, acceleration = relaxing.carried[:, support]
                work.moves[:, k] = np.outer(at, speed) + np.outer(0.5 * at**2, acceleration)

    def _put_loads(self, loads: Sequence[AppliedLoad], rotation: Array, into: Array) -> None:
        """The wrenches of loads at their full size, into (8 (B+1),)."""
        into[:] = 0.0
        self._add(load_wrench(self.model, loads, self.gravity, rotation), into)

    def _add(self, pushed: Array, into: Array) -> None:
        """A wrench (B, 6) to those in (8 (B+1),)."""
        out = into.reshape(-1, 8)
        out[:-1, :3] += pushed[:, :3]
        out[:-1, 4:7] += pushed[:, 3:]

    def _make_room(self, patches: int) -> None:
        """Working memory anew, the old one given back before."""
        del self._seen
        self._seen = Reference(self._make_data(patches))

    def _make_data(self, patches: int) -> Data:
        blocks, pairs = len(self.model.bodies.mass), len(self._pairs.piece) * 5 // 4 + 16
        self._room = max(self._room, patches * 3 // 2 + 64, pairs + 64)
        corners = 12 * self._room + 256
        joints = make_joints(pairs, self._room, corners, blocks), make_joints(pairs, self._room, corners, blocks)
        sides = 0
        if self.deformable is not None:
            sides = 2 * self._room + 1
            self._modes = Reference(self.deformable.make_modes(self._room, len(joints[0].restitution)))
        work = make_work(self.structure, self._room, corners, len(self._nodes), len(self._pushes), sides)
        return Data(self.structure, self._pairs, joints, work, NO_CELL_ROWS)

    def _ledger(self, old: Energy, work, asleep: float) -> tuple[Energy, float, float]:
        """The balance at the end of the interval, the energy made in it and that allowed; what its entries leave over is
        numerical. asleep [J]: elastic, in joints that sleep."""
        told, ledger = work.number.tolist(), work.ledger.tolist()
        kinetic, elastic, lift = told[KINETIC], told[ELASTIC] + asleep, self.gravity * told[LIFT]
        friction, damping, strain = told[FRICTION_LOSS], told[DAMPING_LOSS], 0.0
        if self.deformable is not None:
            vibrating, strain, viscous = self.deformable.energies(self._modes.record)
            kinetic, damping = kinetic + vibrating, damping + viscous
        impact, fracture = ledger[IMPACT_LOSS], ledger[FRACTURE_LOSS]
        geometry = old.elastic - asleep + told[GEOMETRY]
        came = ledger[WORK_OF_GROUND] + told[WORK_OF_LOADS]
        lost = friction + damping + impact + fracture + geometry
        numerical = came - (kinetic - old.kinetic) - lift - (elastic - old.elastic) - (strain - old.strain) - lost
        energy = Energy(
            kinetic,
            old.potential + lift,
            elastic,
            old.ground + came,
            old.friction + friction,
            old.impact + impact,
            old.numerical + numerical,
            fracture=old.fracture + fracture,
            strain=strain,
            damping=old.damping + damping,
            geometry=old.geometry + geometry,
        )
        return energy, -numerical, ENERGY_MADE * max(old.kinetic, kinetic, self._least_energy)

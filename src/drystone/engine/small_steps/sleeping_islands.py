"""Islands at rest are put to sleep, and wake as they fell asleep (T360, T361).

An island is the free blocks that hang together by the pairs of an interval; supports do not join islands. It falls asleep at
the end of an interval if for CALM seconds all its blocks were slower than STILL at the ends of all intervals, nothing disturbed
it, it does not become faster, and a joint joins it to a support. Its velocities become zero. While it sleeps it is held as it
is, with the memory of its joints, and its pairs are not among those of the intervals. It wakes at the beginning of an interval
in which the ground moves, a load on it changes, a support near it moves, or an awake block may come near one of its own.
"""

from collections.abc import Sequence

import numpy as np

from drystone.contact.contacts import Contacts
from drystone.contact.patch_memory import PatchMemory
from drystone.engine.small_steps.interval_state import Course
from drystone.engine.small_steps.patch_search import NEARBY
from drystone.engine.small_steps.records import Structure
from drystone.engine.small_steps.removed_blocks import kinetic, stored
from drystone.ground.motion import Motion, last_motion_end, total_displacement, total_velocity
from drystone.structure.loads import AppliedLoad, find_blocks
from drystone.structure.model import Model
from drystone.structure.neighbours import label_connected

Array = np.ndarray

STILL = 1e-6  # [m/s] of all points of a block: a slower one is still
CALM = 0.05  # [s] for which all blocks of an island must be still
ROUNDING = 1e-9  # [s] of sums of intervals


class Sleepers:
    """Who of the blocks of a structure sleeps. What it must know of the past is in `Course.rest` alone."""

    def __init__(self, model: Model, structure: Structure, disturbances: "Disturbances"):
        self._bodies, self._structure, self._disturbances = model.bodies, structure, disturbances
        self._own = [(array, array.copy(), value) for array, value in _held(structure)]  # what sleeping blocks have instead
        self._free = ~structure.bodies.fixed
        self._rows = np.flatnonzero(self._free)
        self._nobody = self._rest = np.zeros(len(self._free))  # `Course.rest` of nobody, and of the interval at hand
        self._nobody.flags.writeable = False
        self.asleep, self._are_some = self._nobody > 0.0, False  # (B,) bool in the interval at hand, and whether any is

    def wake(self, course: Course, at: Array) -> tuple[Course, Array | None]:
        """The course after those have woken who are disturbed from at[0] to at[-1] [s], instants at which motions are tabled;
        and the blocks (B,) bool that are not disturbed, None if no centroid is still."""
        straight = course.velocity[self._rows, :3]
        if np.einsum("ij,ij->i", straight, straight).min(initial=STILL**2) >= STILL**2:  # the cheapest way to see it
            return course if course.rest is self._nobody else course._replace(rest=self._nobody), None
        disturbed = self._disturbances.within(at, course.position)
        return self._woken(course, disturbed), ~disturbed

    def wake_near(self, course: Course, piece: Array) -> Course | None:
        """The course after those have woken whom the pairs (Q, 2) join to awake blocks; None if there are none."""
        if not self._are_some:
            return None
        pair = self._bodies.owner[piece]
        near = np.zeros(len(self._free), bool)
        near[pair[self.asleep[pair].any(axis=1)].ravel()] = True
        return self._woken(course, near) if near.any() else None

    def _woken(self, course: Course, disturbed: Array) -> Course:
        """With those islands awake of which a block is disturbed (B,) bool."""
        if not (are_asleep(course.rest) & disturbed).any():
            return course
        island = self._islands(course.memory.piece)
        return course._replace(rest=np.where(np.isin(island, island[disturbed & self._free]), 0.0, course.rest))

    def hold(self, course: Course) -> None:
        """From now on those who sleep are held like supports, and the others are as they are."""
        if course.rest is self._rest:
            return
        self._rest, asleep = course.rest, are_asleep(course.rest)
        if np.array_equal(asleep, self.asleep):
            return
        self.asleep, self._are_some = asleep, bool(asleep.any())
        for array, own, value in self._own:
            array[:] = own
            array[: len(asleep)][asleep] = value

    def keep(self, before: Course, after: Course) -> Course:
        """The course after an interval, in which those who sleep are as before it."""
        asleep = self.asleep
        if not self._are_some:
            return after
        moved = {name: getattr(after, name).copy() for name in ("position", "rotation", "velocity", "momentum")}
        for name, values in moved.items():
            values[asleep] = getattr(before, name)[asleep]
        kept = PatchMemory(*(each[self.rows(before.memory)] for each in before.memory))
        memory = _joined(kept, after.memory)
        pair = self._bodies.owner[memory.piece]
        return after._replace(memory=_sorted(memory, pair[:, 0], pair[:, 1]), **moved)

    def rows(self, memory: PatchMemory) -> Array:
        """(P,) bool those of blocks that sleep."""
        return self.asleep[self._bodies.owner[memory.piece]].any(axis=1)

    def stored(self, memory: PatchMemory) -> float:
        """[J] elastic, in the joints of those who sleep."""
        return stored(memory, self.rows(memory)) if self._are_some else 0.0

    def contacts(self, before: Contacts, told: Contacts) -> Contacts:
        """Those that were told, with those of joints that sleep as they were, impulses of time steps of one length included."""
        if not self._are_some:
            return told
        kept = self.asleep[before.a] | self.asleep[before.b]
        contacts = _joined(Contacts(*(each[kept] for each in before)), told)
        return _sorted(contacts, contacts.a, contacts.b)

    def count(self, course: Course) -> int:
        """How many blocks sleep."""
        return 0 if course.rest is self._nobody else int(are_asleep(course.rest).sum())

    def are_all_asleep(self, course: Course) -> bool:
        """Whether nothing is left to follow: no free block is awake, and no support has a velocity."""
        return bool(are_asleep(course.rest)[self._free].all()) and not course.velocity.any()

    def let_sleep(self, before: Course, after: Course, calm: Array, passed: float, piece: Array) -> Course:
        """The course at the end of an interval of `passed` [s] with the pairs `piece` (Q, 2), and with those asleep who may.
        calm (B,) bool: who was not disturbed in it."""
        rest = self._rested(before, after, calm, passed, piece)
        falls = are_asleep(rest) & ~are_asleep(after.rest)
        after = after._replace(rest=rest)
        if not falls.any():
            return after
        velocity, momentum = (np.where(falls[:, None], 0.0, each) for each in (after.velocity, after.momentum))
        left = kinetic(self._bodies, after.rotation, velocity, self._free)
        taken = after.energy.kinetic - left
        energy = after.energy._replace(kinetic=left, damping=after.energy.damping + taken)
        return after._replace(velocity=velocity, momentum=momentum, energy=energy)

    def _rested(self, before: Course, after: Course, calm: Array, passed: float, piece: Array) -> Array:
        """(B,) [s] how long the island of each block has rested (T360)."""
        asleep, slow, fast = are_asleep(after.rest), self._speeds(before), self._speeds(after)
        still = calm & (slow < STILL) & (fast < STILL)
        if not (still & self._free & ~asleep).any():
            return np.where(asleep, after.rest, 0.0)
        island = self._islands(piece)
        least, earlier, later = np.full(len(asleep), np.inf), np.zeros(len(asleep)), np.zeros(len(asleep))
        np.minimum.at(least, island, np.where(still, after.rest + passed, 0.0))
        np.maximum.at(earlier, island, slow)
        np.maximum.at(later, island, fast)
        falls = (least > CALM - ROUNDING) & (later <= earlier) & self._stand(island, after.memory)
        least = np.where(falls, CALM, np.minimum(least, CALM - passed))
        return np.where(asleep, after.rest, np.where(self._free, least[island], 0.0))

    def _stand(self, island: Array, memory: PatchMemory) -> Array:
        """(B,) bool the numbers of the islands that a joint joins to a support."""
        pair = self._bodies.owner[memory.piece]
        standing = np.zeros(len(island), bool)
        standing[island[pair[~self._free[pair].all(axis=1)]].ravel()] = True
        return standing

    def _islands(self, piece: Array) -> Array:
        """(B,) the number of the island of each block, free blocks that these pairs of pieces (Q, 2) join."""
        pair = self._bodies.owner[piece]
        return label_connected(len(self._free), pair[self._free[pair].all(axis=1)])

    def _speeds(self, course: Course) -> Array:
        """(B,) [m/s] that no point of a block is faster than."""
        straight, spin = (np.sqrt((each**2).sum(axis=1)) for each in (course.velocity[:, :3], course.velocity[:, 3:]))
        return straight + spin * self._bodies.radius


class Disturbances:
    """What disturbs blocks from outside: the ground, supports, loads."""

    def __init__(self, model: Model, ground: Sequence[Motion], moved: Array, motions: Sequence[tuple[Motion, ...]],
                 loads: Sequence[AppliedLoad]):  # fmt: skip
        """moved (S,): the supports that the motions move."""
        self._bodies, self._ground, self._moved, self._motions = model.bodies, ground, moved, motions
        self._end_of_ground = last_motion_end(ground)  # [s]
        self._loads = [(load, find_blocks(model, load.on, "load.on")) for load in loads if load.history]

    def within(self, at: Array, position: Array) -> Array:
        """(B,) bool the blocks that are disturbed from at[0] to at[-1] [s], instants at which motions are tabled."""
        if at[0] < self._end_of_ground and _varies(total_velocity(self._ground, at)):
            return np.ones(len(position), bool)
        disturbed = np.zeros(len(position), bool)
        for support, motions in zip(self._moved, self._motions, strict=True):
            moved = total_displacement(motions, at)
            if _varies(moved):
                disturbed |= self._near(support, float(np.abs(moved - moved[0]).sum(axis=1).max()), position)
        for load, on in self._loads:
            if load.varies_between(float(at[0]), float(at[-1])):
                disturbed[on] = True
        return disturbed

    def _near(self, support: int, way: float, position: Array) -> Array:
        """(B,) bool the blocks whose spheres that of a support may reach, which goes so far [m] (T361)."""
        reach = (1.0 + NEARBY) * self._bodies.radius + self._bodies.grip
        apart = np.sqrt(((position - position[support]) ** 2).sum(axis=1))
        return apart <= reach + reach[support] + way


def are_asleep(rest: Array) -> Array:
    """(B,) bool"""
    return rest >= CALM


def _held(structure: Structure) -> list[tuple[Array, float]]:
    """The arrays of a structure, by block, that make a block a support, and what a support has in them."""
    return [(structure.bodies.fixed, True), (structure.mass, 0.0), (structure.inverse_mass, 0.0),
            (structure.inverse_inertia, 0.0)]  # fmt: skip


def _varies(values: Array) -> bool:
    return bool((values != values[0]).any())


def _joined(one, other):
    """Two records of a kind, one behind the other."""
    return type(one)(*(np.concatenate(both) for both in zip(one, other, strict=True)))


def _sorted(record, a: Array, b: Array):
    """A record in the order of its pairs of blocks; rows with the same blocks stay in theirs."""
    order = np.argsort(a * (int(b.max(initial=0)) + 1) + b, kind="stable")
    return type(record)(*(each[order] for each in record))

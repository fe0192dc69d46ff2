"""The records that the kernels of small steps work on: what a structure is, who may touch whom, the patches as they lie in
memory, and working memory. All are made once and used again; what is too small is doubled."""

from typing import NamedTuple

import numpy as np

from drystone.base.kernel.aligned import CACHE_LINE, aligned
from drystone.contact.patch_memory import FRICTION_POINTS, PatchMemory
from drystone.contact.patches import Patches, PatchScratch, make_scratch
from drystone.contact.placed_blocks import Placed, widths
from drystone.engine.small_steps.cell_forces import CellRows
from drystone.engine.small_steps.cell_stress import OUT
from drystone.engine.small_steps.landing import CORNER_WIDTH, MOST_CORNERS
from drystone.engine.small_steps.patch_rows import COLUMNS, LANES
from drystone.structure.model import Bodies, Model

Array = np.ndarray

# columns of `Pairs.law`: what the joint between two blocks has
FRICTION, DILATANCY, RESTITUTION, NORMAL_STIFFNESS, SHEAR_STIFFNESS, PULL, DRAG, HAS_CELLS, PAIR_NUMBERS = range(9)

# numbers of an interval, in `Work.number`: given
SPAN, SHARE_OF_STEP, LANDING, KEPT, LONGEST_STEP, RATIO = range(6)
# and told; energies [J]
DONE, GEOMETRY, FRICTION_LOSS, DAMPING_LOSS, KINETIC, LIFT, ELASTIC, WORK_OF_LOADS, STEP, TICK_START = range(8, 18)
NUMBERS = 24
# entries of `Work.ledger`
IMPACT_LOSS, LANDINGS, WORK_OF_GROUND, FRACTURE_LOSS, CELLS_STORED, LEDGER = range(6)
# counts in `Work.counts`: given and told
RATIO_PATCHES, SMALL_STEPS, TICKS, FINDS, FLAGS, LEVELS, COUNTS = range(7)

GROUPS_IN_TILE = 12  # what one thread takes at a time: groups of four patches,
BODIES_IN_TILE = 16  # bodies,
PAIRS_IN_TILE = 64  # and pairs
TILES = 8  # working memories for pairs: the tiles of a job are dealt out to so many


class Structure(NamedTuple):
    """What does not change in a history. Bodies have a dummy behind the last block, for empty lanes."""

    bodies: Bodies
    piece_start: Array  # (B+1,) int64 first piece of each block
    size: Array  # (pieces,) [m] smallest width
    face_depth: Array  # (F,) [m] stone behind each face that gives way in its joints (T311, T352), 0 for supports
    mass: Array  # (B+1,) [kg] 0 for supports
    inverse_mass: Array  # (B+1,)
    mean_inertia: Array  # (B+1,) [kg m2]
    least_inertia: Array  # (B+1,)
    inverse_inertia: Array  # (B, 3, 3) body frame, zero for supports
    free: Array  # (4,) 1 for the directions in which blocks can move
    supports: Array  # (S,) int64 those that are moved
    present: Array  # (B,) bool the blocks that are there
    planar: bool
    has_cells: bool  # whether any joint remembers by cells
    opens: bool  # whether any joint opens as it slides
    young: float  # [Pa]
    shear: float  # stiffness of a joint in shear over that in compression
    damping: float
    rocking: float
    shorter: float  # by what steps are shorter than the longest stable one, for dilatancy


class Pairs(NamedTuple):
    """Q pairs of pieces that may touch, sorted by their blocks and pieces, and what is known of them in an interval."""

    piece: Array  # (Q, 2) int64
    law: Array  # (Q, PAIR_NUMBERS)
    level: Array  # (Q,) int64 how often the interval is halved until geometry may be kept for the rest
    ends: Array  # (Q,) int64 tick at which the pair is looked at again
    due: Array  # (Q,) bool looked at in this tick
    first: Array  # (Q,) int64 first of its patches found in this tick
    patches: Array  # (Q,) int64 how many
    memory_first: Array  # (Q,) int64 first of its rows in the memory
    memory_count: Array  # (Q,) int64
    energy: Array  # (Q,) [J] elastic, after it was found


class Joints(NamedTuple):
    """The patches at work: in the order of their pairs, and in groups of four as engine/small_steps/patch_rows.py tells."""

    number: Array  # (2,) int64 patches, groups
    first: Array  # (Q,) int64 first patch of each pair
    patches: Array  # (Q,) int64 how many
    pair: Array  # (P,) int64
    piece: Array  # (P, 2) int64
    face: Array  # (P, 2) int64
    offset: Array  # (P,) [m] overlap that stays without force
    at: Array  # (P,) int64 lane: four times its group, plus its place there
    corner_start: Array  # (P+1,) int64
    corner: Array  # (C, 2) [m]
    rows: Array  # (G COLUMNS 4,)
    patch: Array  # (G 4,) int64 the patch in each lane, -1: none
    body: Array  # (2, G, 4) int64 first number of both blocks in `velocity`
    slot: Array  # (2, G, 4) int64 first number of both wrenches in `wrench`
    restitution: Array  # (G, 4)
    group_corner: Array  # (G+1,) int64 rows of `corners`
    corner_count: Array  # (G, 4) int64
    corners: Array  # (rows 8,)
    wrench_start: Array  # (B+2,) int64
    wrench: Array  # (8 (2 P + 1),)


class Fresh(NamedTuple):
    """Patches found in this tick."""

    patches: Patches
    row: Array  # (P, COLUMNS)
    offset: Array  # (P,) [m]


class Work(NamedTuple):
    """What an interval changes, and scratch."""

    number: Array  # (NUMBERS,)
    counts: Array  # (COUNTS,) int64
    ledger: Array  # (LEDGER,)
    position: Array  # (B, 3) [m]
    rotation: Array  # (B, 4)
    speed: Array  # (B, 6) [m/s, rad/s] at the start of a tick and at its end
    velocity: Array  # (8 (B+1),) as bodies.py has it; behind it 8 numbers for each side of engine/small_steps/modes.py
    momentum: Array  # (4 (B+1),)
    inverse_inertia: Array  # (12 (B+1),)
    external: Array  # (8 (B+1),) [N, N m] of all loads; of those that change with time the mean over a small step
    pushes: Array  # (L, 8 (B+1)) [N, N m] of loads that share a history, at their full size; none if no load has one
    factor_summed: Array  # (M+1, L) [s] integral of their factors over time, at equal times of the interval
    factor: Array  # (L,) its mean over a small step
    moved: Array  # (8 (B+1),) [m, rad]
    middle: Array  # (B, 3) [m] position in the middle of a life
    turned: Array  # (B, 4)
    spin: Array  # (B,) [rad/s]
    grip: Array  # (B,) [m] half of how far its joints may be open and still touch or pull
    wide_grip: Array  # (B,) [m] likewise, to look for pairs
    travel: Array  # (B,) [m] since the pairs were looked for
    reach: Array  # (B,) [m] for which they were
    asked: Array  # (B,) int64 last round in which the block was placed
    stiffness: Array  # (B+1, 2) of the bound of the step
    shape: Array  # (2, B, 6) of the power iteration
    placed: Placed
    scratch: PatchScratch  # TILES working memories
    fresh: Fresh
    memory: PatchMemory
    tile_end: Array  # (TILES,) int64 where the patches of each end
    source: Array  # (P,) int64 row of the patch: among the fresh ones, or, from -1 downwards, among those before
    order: Array  # (P + corners + B,) int64 scratch of the arranging
    ground: Array  # (M+1, 3) [m/s] velocity of the ground at equal times of the interval
    moves: Array  # (M+1, S, 3) [m] of the supports
    gravity: Array  # (3,) [m/s2] downwards
    push: Array  # (8,) [m/s2]
    flagged: Array  # (G+1,) int64
    flags: Array  # (tiles,) int64 how many groups of each are flagged
    landing: Array  # (4 G,) int64
    corner: Array  # (MOST_CORNERS + 1, CORNER_WIDTH)
    ground_work: Array  # (tiles, 8) [J] of the ground in a tick by directions, the first four; a cache line each
    stress: Array  # (OUT,)
    job: Array  # (4,) numbers of the job on offer


class Data(NamedTuple):
    """All of it, as the threads share it."""

    structure: Structure
    pairs: Pairs
    joints: tuple[Joints, Joints]
    work: Work
    cells: CellRows


def make_joints(pairs: int, patches: int, corners: int, bodies: int) -> Joints:
    """Room for so many; `corners` are those of groups, in which the corners of four patches stand side by side."""
    groups = patches // LANES + 64
    index = np.int64
    return Joints(
        np.zeros(2, index), np.zeros(pairs, index), np.zeros(pairs, index), np.empty(patches, index),
        np.empty((patches, 2), index), np.empty((patches, 2), index), np.empty(patches), np.empty(patches, index),
        np.zeros(patches + 1, index), np.empty((corners, 2)), aligned(groups * COLUMNS * LANES),
        np.empty(groups * LANES, index), np.empty((2, groups, LANES), index), np.empty((2, groups, LANES), index),
        np.empty((groups, LANES)), np.empty(groups + 1, index), np.empty((groups, LANES), index),
        aligned(corners * 2 * LANES), np.zeros(bodies + 2, index), aligned(8 * (2 * patches + 1)),
    )  # fmt: skip


def make_pairs(piece: Array, law: Array) -> Pairs:
    """These pairs, none of them looked at yet."""
    count = len(piece)
    return Pairs(piece, law, *(np.zeros(count, kind) for kind in (np.int64, np.int64, np.bool_, *[np.int64] * 4, float)))


def make_fresh(patches: int, corners: int) -> Fresh:
    index = np.int64
    found = Patches(
        np.empty((patches, 2), index), np.empty((patches, 2), index), np.empty((patches, 9)), np.empty((patches, 3)),
        np.empty((patches, 3)), np.empty(patches), np.empty(patches), np.zeros(patches + 1, index), np.empty((corners, 2)),
    )  # fmt: skip
    return Fresh(found, np.empty((patches, COLUMNS)), np.empty(patches))


def make_memory(patches: int) -> PatchMemory:
    """Room for so many patches."""
    index = np.int64
    return PatchMemory(
        np.empty((patches, 2), index), np.empty((patches, 2), index), np.empty((patches, 2 * FRICTION_POINTS)),
        np.empty(patches), np.empty(patches), np.empty(patches), np.empty((patches, 2)),
    )  # fmt: skip


def make_work(structure: Structure, patches: int, corners: int, instants: int, histories: int, sides: int = 0) -> Work:
    """Working memory for a structure, for so many patches, their corners, instants of motions, histories of loads, and sides of
    patches with velocities of their own (engine/small_steps/modes.py)."""
    bodies, index = structure.bodies, np.int64
    blocks, supports = len(bodies.mass), len(structure.supports)
    groups = patches // LANES + 64
    placed = Placed(
        np.empty_like(bodies.vertex), np.empty_like(bodies.face_normal), np.empty(len(bodies.face_normal)),
        np.empty((len(bodies.owner), 3)), np.empty((len(bodies.owner), 3)), structure.size, np.empty((blocks, 4)),
        np.empty(blocks),
    )  # fmt: skip
    scratch = make_scratch(bodies)
    return Work(
        np.zeros(NUMBERS), np.zeros(COUNTS, index), np.zeros(LEDGER), np.empty((blocks, 3)), np.empty((blocks, 4)),
        np.empty((blocks, 6)), aligned(8 * (blocks + 1 + sides)), aligned(4 * (blocks + 1)), aligned(12 * (blocks + 1)),
        aligned(8 * (blocks + 1)), np.zeros((histories, 8 * (blocks + 1))), np.zeros((instants, histories)),
        np.zeros(histories), aligned(8 * (blocks + 1)), np.empty((blocks, 3)), np.empty((blocks, 4)),
        np.empty(blocks), np.empty(blocks), np.empty(blocks), np.empty(blocks), np.empty(blocks), np.zeros(blocks, index),
        np.empty((blocks + 1, 2)),
        np.empty((2, blocks, 6)), placed, PatchScratch(*(np.empty((TILES, *each.shape)) for each in scratch)),
        make_fresh(patches, corners), make_memory(patches), np.zeros(TILES, index), np.empty(patches, index),
        np.empty(patches + corners + blocks, index),
        np.zeros((instants, 3)), np.zeros((instants, supports, 3)), np.zeros(3), np.zeros(8),
        np.empty(groups + 1, index), np.zeros(groups // GROUPS_IN_TILE + 2, index), np.empty(groups * LANES, index),
        np.empty((MOST_CORNERS + 1, CORNER_WIDTH)),
        aligned(CACHE_LINE * (blocks // BODIES_IN_TILE + 2)).reshape(-1, CACHE_LINE), np.empty(OUT), np.zeros(4),
    )  # fmt: skip


def make_structure(model: Model, supports: Array, present: Array, *, young: float, shear: float, damping: float, rocking: float,
                   shorter: float, has_cells: bool, stone: Array) -> Structure:  # fmt: skip
    """The structure of a model, whose `supports` (S,) are moved, and of which the blocks `present` (B,) are there. stone (B,):
    share of the stone between a face and the centroid that gives way in joints, 1 for rigid blocks."""
    b = model.bodies
    moments = np.linalg.eigvalsh(b.inertia)
    inverse = np.linalg.inv(b.inertia)
    inverse[b.fixed] = 0.0
    corner = b.face_vertex[b.face_start[:-1]]
    owner = np.repeat(b.owner, np.diff(b.piece_face))
    depth = np.abs(np.einsum("ij,ij->i", b.vertex[corner], b.face_normal))
    size = np.empty(len(b.owner))
    widths(b, size)
    return Structure(
        b,
        np.searchsorted(b.owner, np.arange(len(b.mass) + 1)),
        size,
        np.where(b.fixed[owner], 0.0, stone[owner] * depth),
        np.append(np.where(b.fixed, 0.0, b.mass), 0.0),
        np.append(np.where(b.fixed, 0.0, 1 / b.mass), 0.0),
        np.append(moments.mean(axis=1), 1.0),
        np.append(moments[:, 0], 1.0),
        inverse,
        np.array([1.0, 0.0, 1.0, 0.0]) if model.planar else np.array([1.0, 1.0, 1.0, 0.0]),
        supports,
        present,
        model.planar,
        has_cells,
        model.dilatancy is not None,
        young,
        shear,
        damping,
        rocking,
        shorter,
    )

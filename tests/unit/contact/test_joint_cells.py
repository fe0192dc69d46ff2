"""Joints cut into cells, and what cells remember. Truth: areas and moments of the polygons themselves, dictionaries in place of
sorted lists, and the bits of cutting anew."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from drystone import build
from drystone.build.shapes import HEXAHEDRON, box
from drystone.contact.broad_phase import candidate_pairs
from drystone.contact.joint_cells import CELLS, FULL, STEPS, cut_cells, room_for_cells, scratch_for_cells
from drystone.contact.patch_memory import CELL_NUMBERS, CellMemory
from drystone.contact.patches import find_patches
from drystone.contact.placed_blocks import place
from drystone.contact.polygon import polygon_moments
from drystone.engine.simulation import simulate_small_steps
from drystone.engine.small_steps.cell_forces import keep_cells, recall_cells
from drystone.engine.small_steps.cell_stress import BOND, OPENING
from drystone.ground.motion import Motion
from drystone.structure.joint_laws import JointLaw
from drystone.structure.model import Block, build_model

NOTHING = room_for_cells(0, 0, 0)


def found_patches(blocks, moved=0.0):
    """A model, where it is and its patches, after each block was moved by a hair, each its own way."""
    model = build_model(blocks, friction=0.5)
    count = len(model.position)
    shift = moved * np.random.default_rng(1).normal(size=(count, 3))
    rotation = np.tile([1.0, 0, 0, 0], (count, 1))
    placed = place(model.bodies, model.position + shift, rotation, np.zeros((count, 6)), 1e-3)
    return model, placed, find_patches(model.bodies, placed, candidate_pairs(model.bodies, placed), 0)


def cut(model, placed, patches, has_cells, old=NOTHING, known=0, spare=0):
    count = len(has_cells)
    new = room_for_cells(count + spare, len(patches.corner) + spare, CELLS * CELLS * int(has_cells.sum()) + spare)
    cells = cut_cells(model.bodies, placed, patches, has_cells, old, known, new, scratch_for_cells(len(patches.corner)))
    return new, cells


def turned_on_the_ground(seed):
    """A six-sided prism on a support, turned and shifted at random."""
    random = np.random.default_rng(seed)
    angle = np.sort(random.uniform(0, 2 * np.pi, 6))
    ring = np.column_stack([np.cos(angle), np.sin(angle)]) * random.uniform(0.2, 0.5, 2)
    upper = Block(
        np.array([(x, y, z) for z in (0.0, 0.3) for x, y in ring]),
        (tuple(range(6))[::-1], tuple(range(6, 12)), *((k, (k + 1) % 6, 6 + (k + 1) % 6, 6 + k) for k in range(6))),
    )
    return [box((-0.3, -0.2, -1), (1, 1, 0), fixed=True), upper]


@pytest.mark.parametrize("seed", range(12))
def test_cells_make_up_their_patch(seed):
    """Area and moments of the cells add up to those of the polygon. A corner is rounded by half a step at most, a side moves by
    no more, and so the area changes by no more than that times the perimeter; likewise the moments."""
    model, placed, patches = found_patches(turned_on_the_ground(seed))
    cells, count = cut(model, placed, patches, np.ones(len(patches.whole), bool))
    for p in range(len(patches.whole)):
        polygon = patches.corner[patches.corner_start[p] : patches.corner_start[p + 1]]
        moments = np.empty(5)
        polygon_moments(polygon, 0, len(polygon), moments)
        rows = slice(cells.start[p], cells.start[p + 1])
        size = cells.grid[p, 2:]
        place, area, whole = cells.grid[p, :2] + size * cells.place[rows], cells.area[rows], size.prod()
        rounding = 0.5 * np.linalg.norm(size) / STEPS
        perimeter = np.linalg.norm(np.roll(polygon, -1, axis=0) - polygon, axis=1).sum()
        left_out = 1e-6 * CELLS * CELLS * whole
        within = rounding * perimeter + left_out
        assert whole * area.sum() == pytest.approx(moments[0], abs=within)
        assert whole * (area @ place) == pytest.approx([0, 0], abs=within * moments[4])
        second = whole * ((area * (place**2).T) + cells.own[rows, ::2].T * size[:, None] ** 2).sum(axis=1)
        assert second == pytest.approx(moments[[1, 3]], abs=within * moments[4] ** 2)
        assert np.abs(cells.place[rows] - cells.number[rows] - 0.5).max() <= 0.5
        assert np.all(np.diff(CELLS * cells.number[rows, 0] + cells.number[rows, 1]) > 0)
    assert count == cells.start[len(patches.whole)]


def test_a_whole_face_is_whole_cells_to_the_last_bit():
    model, placed, patches = found_patches([box((0, 0, 0), (0.7, 0.3, 1), fixed=True), box((0, 0, 1), (0.7, 0.3, 2))])
    cells, count = cut(model, placed, patches, np.ones(1, bool))
    assert count == CELLS * CELLS
    assert np.all(cells.area == 1.0)
    assert np.all(cells.half == 0.5)
    assert np.all(cells.place == cells.number + 0.5)


def test_cells_that_are_kept_have_the_bits_of_cells_cut_anew():
    """Stones moved by a hair: corners that are within the same step keep their cells; the others are cut."""
    blocks = build.wall(length=2.0, height=1.0)
    model, placed, before = found_patches(blocks, 1e-9)
    has_cells = np.arange(len(before.whole)) % 5 > 0
    old, _ = cut(model, placed, before, has_cells, spare=7)
    for moved in (1e-7, 1e-5):
        _, placed, patches = found_patches(blocks, moved)
        known = np.random.default_rng(0).permutation(len(patches.whole)) > 3
        kept, count = cut(model, placed, patches, has_cells & known, old, len(before.whole))
        anew, wanted = cut(model, placed, patches, has_cells & known)
        assert count == wanted
        for name in ("start", "corner_start"):
            assert np.array_equal(getattr(kept, name), getattr(anew, name))
        corners = anew.corner_start[-1]
        assert np.array_equal(kept.corner[:corners], anew.corner[:corners])
        for name in ("number", "place", "area", "own", "half"):
            assert np.array_equal(getattr(kept, name)[:count], getattr(anew, name)[:count])


def test_too_little_room_is_said():
    model, placed, patches = found_patches(build.wall(length=2.0, height=1.0))
    has_cells, scratch = np.ones(len(patches.whole), bool), scratch_for_cells(16)
    count, corners = len(patches.whole), len(patches.corner)
    _, cells = cut(model, placed, patches, has_cells)
    for room in ((count - 1, corners, 64 * count), (count, corners - 1, 64 * count), (count, corners, cells - 1)):
        assert cut_cells(model.bodies, placed, patches, has_cells, NOTHING, 0, room_for_cells(*room), scratch) == FULL


@pytest.mark.parametrize("seed", range(5))
def test_cells_recall_what_they_were(seed):
    """Two lists of which each lacks some patches and cells of the other, walked together, against a dictionary; bonded cells
    are as open as they were, broken ones no deeper (T346)."""
    random = np.random.default_rng(seed)
    model, placed, patches = found_patches(build.wall(length=2.0, height=1.0), 1e-5)
    cells, count = cut(model, placed, patches, random.uniform(size=len(patches.whole)) > 0.2)
    state = random.normal(size=(count, CELL_NUMBERS))
    state[:, BOND] = random.integers(0, 2, count)
    state[:, OPENING] *= 1e-5
    all_kept = CellMemory(*(np.empty((count, 2), np.int64) for _ in range(3)), np.empty_like(state))
    assert keep_cells(patches, cells, state, all_kept) == count
    left = random.uniform(size=count) > 0.3
    memory = CellMemory(*(each[left] for each in all_kept))
    other = random.uniform(size=len(patches.whole)) > 0.2
    cells, count = cut(model, placed, patches, other)
    rest, found = np.empty(count), np.empty((count, CELL_NUMBERS))
    recall_cells(model.bodies.owner, patches, cells, memory, len(memory.state), rest, found)
    told = {(*face, *cell): row for face, cell, row in zip(memory.face, memory.cell, memory.state, strict=True)}
    hits = 0
    for p in range(len(patches.whole)):
        for c in range(cells.start[p], cells.start[p + 1]):
            row = told.get((*patches.face[p], *cells.number[c]))
            gap = patches.gap[p] @ [1, *(cells.grid[p, :2] + cells.grid[p, 2:] * cells.place[c])]
            hits += row is not None
            assert np.array_equal(found[c], np.zeros(CELL_NUMBERS) if row is None else row)
            if row is not None and row[BOND] > 0:
                assert gap - rest[c] == pytest.approx(row[OPENING], abs=1e-18)
            else:
                depth = 0.0 if row is None else max(-row[OPENING], 0.0)
                assert max(rest[c] - gap, 0.0) == pytest.approx(min(max(-gap, 0.0), depth), abs=1e-18)
                assert rest[c] <= 0.0
    assert 0 < hits < count


def test_too_little_room_for_what_is_kept_is_said():
    model, placed, patches = found_patches(build.wall(length=1.0, height=0.5))
    cells, count = cut(model, placed, patches, np.ones(len(patches.whole), bool))
    short = CellMemory(*(np.empty((count - 1, 2), np.int64) for _ in range(3)), np.empty((count - 1, CELL_NUMBERS)))
    assert keep_cells(patches, cells, np.zeros((count, CELL_NUMBERS)), short) == -1


MORTAR = JointLaw(0.5, cohesion=12e3, tension=12e3, normal_stiffness=5e9)


def test_a_history_does_not_depend_on_what_its_engine_has_kept():
    """A new engine for every step, which has nothing to keep cells from, gives the same bits."""
    model = build_model(build.wall(length=1.5, height=0.75, courses=3), friction=MORTAR)
    shake = Motion("one-sine", amplitude=20.0, half_period=0.1, direction=(0.2, 1, 0))
    *_, whole = simulate_small_steps(model, [shake], duration=0.06, time_step=5e-3)
    state = None
    for k in range(12):
        *_, last = simulate_small_steps(model, [shake], duration=(k + 1) * 5e-3, time_step=5e-3, state=state)
        state = last.state
    assert np.array_equal(whole.state.position, state.position)
    assert np.array_equal(whole.state.cells.state, state.cells.state)


@pytest.mark.parametrize("turn", [(0, 0, 0), (0.3, 0.2, 0.9)])
def test_only_faces_that_touch_are_bonded(turn):
    """A stone that lies on another, one that stands on its edge, one a hair and one 3 mm above it, however they are turned."""
    size, radius = 0.4, 0.2 * np.sqrt(3)
    square = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    corners = np.array([(x, y, -1) for x, y in square] + [(x, y, 1) for x, y in square], float) * size / 2
    whole = Rotation.from_rotvec(turn)
    ground = box((-1, -1, -1), (1, 1, 0), fixed=True)
    ground = Block(whole.apply(np.asarray(ground.vertices)), ground.faces, fixed=True)
    edge = Rotation.from_rotvec([0, np.pi / 4, 0]).apply(corners) + [0, 0, size / np.sqrt(2)]
    glue = JointLaw(0.5, cohesion=1e5, tension=1e5, normal_stiffness=2e7)  # stretches by 5 mm: detection sees 3 mm
    for stands, bonded in ((corners + [0, 0, 0.2], True), (edge, False), (corners + [0, 0, 0.2 + 0.9e-3], True),
                           (corners + [0, 0, 0.203], False)):  # fmt: skip
        model = build_model([ground, Block(whole.apply(stands), HEXAHEDRON)], friction=glue)
        first = next(iter(simulate_small_steps(model, duration=1e-4, time_step=1e-4, gravity=0.0)))
        bond = first.state.cells.state[:, BOND]
        assert (len(bond) > 0) == bonded, (bonded, 0.005 * radius)  # without a bond it is a dry joint
        assert np.all(bond == 1.0)

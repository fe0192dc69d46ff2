"""The doctor over random damage: what is done to a sound wall or arch is found, and what can be undone is undone."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.build import arch, wall
from drystone.io.doctor.examination import examine
from drystone.io.doctor.structure_repair import repair
from drystone.structure.model import build_model

STRUCTURES = {"wall": wall(courses=3, blocks=3, length=1.5, height=0.75), "arch": arch()}
structures = st.sampled_from(sorted(STRUCTURES)).map(STRUCTURES.__getitem__)


def size(block):
    return float(np.linalg.norm(np.ptp(block.vertices, axis=0)))


def assert_repairs(blocks, tolerance):
    """The door accepts the repaired blocks, they are near the original, and a second repair changes nothing."""
    damaged, original = blocks
    after, _ = repair(damaged)
    build_model(after, friction=0.5)
    assert examine(after).errors == 0
    for one, other in zip(after, original, strict=True):
        apart = np.linalg.norm(one.vertices[:, None] - other.vertices[None], axis=2)
        assert max(apart.min(axis=0).max(), apart.min(axis=1).max()) <= tolerance * size(other)
    again, done = repair(after)
    assert done == []
    assert all(np.array_equal(a.vertices, b.vertices) and a.faces == b.faces for a, b in zip(again, after, strict=True))


@settings(max_examples=30, deadline=None)
@given(structures, st.data())
def test_turned_faces(blocks, data):
    """Any faces of any blocks turned: exactly one finding a turned face where fewer than half are turned."""
    turned = [data.draw(st.sets(st.integers(0, len(b.faces) - 1), max_size=(len(b.faces) - 1) // 2)) for b in blocks]
    damaged = [
        replace(b, faces=tuple(f[::-1] if i in which else f for i, f in enumerate(b.faces)))
        for b, which in zip(blocks, turned, strict=True)
    ]
    found = {(f.blocks[0], f.face) for f in examine(damaged).findings if f.kind == "inward face"}
    assert found == {(row, face) for row, which in enumerate(turned) for face in which}
    assert_repairs((damaged, blocks), 0.0)


@settings(max_examples=30, deadline=None)
@given(structures, st.integers(0, 2**32 - 1))
def test_vertices_and_faces_in_any_order(blocks, seed):
    """Vertices renumbered, some given twice, faces shuffled and begun anywhere: the stones are what they were."""
    chance = np.random.default_rng(seed)
    assert_repairs(([_shuffled(block, chance) for block in blocks], blocks), 0.0)


def _shuffled(block, chance):
    count = len(block.vertices)
    order = np.concatenate([chance.permutation(count), chance.integers(0, count, 3)])
    rows = {v: np.flatnonzero(order == v) for v in range(count)}
    faces = [tuple(int(chance.choice(rows[v])) for v in np.roll(face, chance.integers(len(face)))) for face in block.faces]
    chance.shuffle(faces)
    return replace(block, vertices=block.vertices[order], faces=tuple(faces))


@settings(max_examples=30, deadline=None)
@given(structures, st.floats(1e-4, 2e-3), st.integers(0, 2**32 - 1))
def test_shaken_vertices(blocks, share, seed):
    """Every vertex moved by up to 0.2 % of its block's size: faces warp and joints gape or overlap; all of it is mended
    within 1 % and the structure still stands on its supports."""
    chance = np.random.default_rng(seed)
    shaken = [replace(b, vertices=b.vertices + share * size(b) * chance.uniform(-0.5, 0.5, b.vertices.shape)) for b in blocks]
    assert_repairs((shaken, blocks), 0.01)

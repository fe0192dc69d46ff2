"""10^5 random pairs of blocks, in families, against the slow reference; and what must hold whatever the reference says.

Pairs of one batch stand on a lattice, far apart, and go through `detect` together. Where the reference dropped no
polygon vertex the points must be the same to 1e-8 m; where it did, the order of the vertices decides which of two
neighbours stays, and the points must lie within the tolerance of that step. Ties are skipped and must be few.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial.transform import Rotation

from drystone.contact.contacts import Contacts, no_contacts
from drystone.contact.detection import detect

sys.path.insert(0, str(Path(__file__).parents[1] / "reference"))
from contact_reference import Joint, Shape, Solid, bodies_of, box, detect_slowly, hull, margin_of, solid, touch

Array = np.ndarray
SPACING = 30.0  # [m] between pairs of a batch
EXACT = 1e-8  # [m] blocks measure 0.05 to 3 m and stand up to 500 m from the origin


class Pair(NamedTuple):
    a: Shape
    b: Shape
    position: Array  # (2, 3)
    matrix: Array  # (2, 3, 3)
    velocity: Array  # (2, 6)


# ---------------------------------------------------------------- shapes


def _pool() -> dict[str, list[Shape]]:
    rng = np.random.default_rng(1)
    sides = rng.uniform(0.2, 1.0, (40, 3))
    sphere = rng.normal(size=(40, 12, 3))
    sphere /= np.linalg.norm(sphere, axis=2)[:, :, None]
    return {
        "box": [box(*s) for s in sides],
        "flat": [box(*s) for s in sides * [1, 1, 0.02]],
        "slender": [box(*s) for s in sides * [0.1, 0.1, 3]],
        "hull": [hull(points * rng.uniform(0.2, 0.6, 3)) for points in sphere],
        "voussoir": [_voussoir(*p) for p in rng.uniform([0.1, 0.2, 0.1], [0.5, 0.6, 0.5], (40, 3))],
    }


def _voussoir(angle: float, thickness: float, depth: float) -> Shape:
    points = [
        [r * np.sin(s * angle / 2), y, r * np.cos(angle / 2)]
        for r in (1.0, 1.0 + thickness)
        for s in (-1, 1)
        for y in (0, depth)
    ]
    return hull(np.array(points))


POOL = _pool()
ALL = [shape for shapes in POOL.values() for shape in shapes]


def _choice(rng, *kinds: str) -> Shape:
    shapes = POOL[kinds[rng.integers(len(kinds))]]
    return shapes[rng.integers(len(shapes))]


# ---------------------------------------------------------------- families: how b stands on a


def _turn(axis: Array, angle: float) -> Array:
    return Rotation.from_rotvec(np.asarray(axis) * angle).as_matrix()


def _any_turn(rng) -> Array:
    return Rotation.from_quat(rng.normal(size=4)).as_matrix()


def _small_gap(rng, a: Shape, b: Shape) -> float:
    """Zero, or anything from four tolerances inside to a little beyond the margin."""
    size = min(a.size, b.size)
    return 0.0 if rng.random() < 0.3 else rng.uniform(-8e-3 * size, 6e-3 * min(a.radius, b.radius))


def _on_top(rng, a: Shape, b: Shape, turn_a: Array, turn_b: Array, gap: float, spread: float = 0.4) -> Pair:
    """b above a, lowest vertex at `gap` over the highest of a, aside by up to `spread` of the sum of their widths."""
    high, low = a.vertices @ turn_a.T, b.vertices @ turn_b.T
    top, bottom = high[:, 2].max(), low[:, 2].min()
    aside = rng.uniform(-spread, spread, 2) * (np.ptp(high, axis=0) + np.ptp(low, axis=0))[:2]
    return _pair(a, b, [*aside, top - bottom + gap], turn_a, turn_b)


def _tip_on_tip(rng, a: Shape, b: Shape, turn_a: Array, turn_b: Array, gap: float) -> Pair:
    """b above a, lowest vertex over the highest of a and a little aside."""
    high, low = a.vertices @ turn_a.T, b.vertices @ turn_b.T
    place = high[high[:, 2].argmax()] - low[low[:, 2].argmin()]
    place[:2] += rng.uniform(-0.08, 0.08, 2) * min(a.radius, b.radius)
    return _pair(a, b, place + [0, 0, gap], turn_a, turn_b)


def _pair(a: Shape, b: Shape, place, turn_a: Array, turn_b: Array) -> Pair:
    return Pair(a, b, np.array([np.zeros(3), place]), np.array([turn_a, turn_b]), np.zeros((2, 6)))


def face_face(rng, kinds=("box",)):
    a, b = _choice(rng, *kinds), _choice(rng, *kinds)
    return _on_top(rng, a, b, np.eye(3), _turn([0, 0, 1], rng.uniform(-np.pi, np.pi)), _small_gap(rng, a, b))


def edge_face(rng, kinds=("box",)):
    a, b = _choice(rng, *kinds), _choice(rng, *kinds)
    turn = _turn([0, 0, 1], rng.uniform(-np.pi, np.pi)) @ _turn([1, 0, 0], rng.uniform(0.001, 1.5))
    return _on_top(rng, a, b, np.eye(3), turn, _small_gap(rng, a, b))


def edge_edge(rng, kinds=("box",)):
    a, b = _choice(rng, *kinds), _choice(rng, *kinds)
    turn_a = _turn([1, 0, 0], rng.uniform(0.3, 1.2))
    turn_b = _turn([0, 0, 1], rng.uniform(0.05, 3.0)) @ _turn([1, 0, 0], rng.uniform(0.3, 1.2))
    return _on_top(rng, a, b, turn_a, turn_b, _small_gap(rng, a, b), spread=0.2)


def vertex_face(rng, kinds=("box",)):
    a, b = _choice(rng, *kinds), _choice(rng, "box", "hull")
    return _on_top(rng, a, b, np.eye(3), _any_turn(rng), _small_gap(rng, a, b))


def rotated(rng):
    a, b = _choice(rng, "box", "voussoir"), _choice(rng, "box", "voussoir")
    return _tip_on_tip(rng, a, b, _any_turn(rng), _any_turn(rng), -rng.uniform(0, 0.1) * min(a.size, b.size))


def corner_only(rng):
    a, b = _choice(rng, "box"), _choice(rng, "box")
    return _pair(a, b, (a.vertices[7] - b.vertices[0]) * rng.choice([-1, 1], 3), np.eye(3), np.eye(3))


def edge_only(rng):
    a, b = _choice(rng, "box"), _choice(rng, "box")
    place = (a.vertices[7] - b.vertices[0]) * rng.choice([-1, 1], 3)
    place[rng.integers(3)] *= rng.uniform(-0.9, 0.9)
    return _pair(a, b, place, np.eye(3), np.eye(3))


def flat(rng):
    return (face_face, edge_face, vertex_face)[rng.integers(3)](rng, ("flat", "box"))


def slender(rng):
    return (face_face, edge_face, edge_edge, vertex_face)[rng.integers(4)](rng, ("slender", "box"))


def hulls(rng):
    a, b = _choice(rng, "hull"), _choice(rng, "hull")
    return _tip_on_tip(rng, a, b, _any_turn(rng), _any_turn(rng), -rng.uniform(0, 0.1) * min(a.size, b.size))


def hull_faces(rng):
    """A face of one hull flush on a face of another."""
    a, b = _choice(rng, "hull", "voussoir"), _choice(rng, "hull", "voussoir")
    turn_a, turn_b = _face_up(rng, a), _turn([1, 0, 0], np.pi) @ _face_up(rng, b)
    return _on_top(rng, a, b, turn_a, turn_b, _small_gap(rng, a, b), spread=0.2)


def _face_up(rng, shape: Shape) -> Array:
    normal = shape.normals[rng.integers(len(shape.faces))]
    return _turn([0, 0, 1], rng.uniform(-3, 3)) @ Rotation.align_vectors([[0, 0, 1]], [normal])[0].as_matrix()


def interpenetrating(rng):
    a, b = _choice(rng, "box", "voussoir"), _choice(rng, "box", "voussoir")
    tilt = _turn(_unit(rng), rng.uniform(0, 0.05))
    return _on_top(rng, a, b, np.eye(3), tilt, -rng.uniform(0, 0.05) * min(a.size, b.size))


def coincident(rng):
    """Equal blocks face on face, corner on corner."""
    a = _choice(rng, "box", "flat", "slender")
    step = np.zeros(3)
    axis = rng.integers(3)
    step[axis] = np.ptp(a.vertices[:, axis])
    return _pair(a, a, step, np.eye(3), np.eye(3))


def hinge(rng):
    """b turned about the upper edge of a that it shares."""
    a = _choice(rng, "box")
    b = box(*np.array([1, 1, rng.uniform(0.3, 1)]) * np.ptp(a.vertices, axis=0))
    edge = np.array([a.vertices[7, 0], 0, a.vertices[7, 2]])
    turn = _turn([0, 1, 0], rng.uniform(0, 1.0))
    return _pair(a, b, edge + turn @ (np.array([0, 0, a.vertices[7, 2] + b.vertices[7, 2]]) - edge), np.eye(3), turn)


def moving(rng):
    pair = (face_face, vertex_face)[rng.integers(2)](rng)
    return pair._replace(velocity=rng.normal(size=(2, 6)))


def _unit(rng) -> Array:
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


# pairs of each family; 10^5 in all in `make soak`, a sixtieth of them in `make test`
FAMILIES = {
    face_face: 12_000, edge_face: 10_000, edge_edge: 10_000, vertex_face: 10_000, rotated: 8_000, corner_only: 3_000,
    edge_only: 3_000, flat: 8_000, slender: 8_000, hulls: 4_000, hull_faces: 6_000, interpenetrating: 6_000,
    coincident: 4_000, hinge: 4_000, moving: 4_000,
}  # fmt: skip


def _moved(rng, pair: Pair) -> Pair:
    """The pair turned as a whole, so that nothing is aligned with the axes."""
    turn = _any_turn(rng)
    velocity = np.concatenate([pair.velocity[:, :3] @ turn.T, pair.velocity[:, 3:] @ turn.T], axis=1)
    return pair._replace(position=pair.position @ turn.T, matrix=turn @ pair.matrix, velocity=velocity)


# ---------------------------------------------------------------- running them

H = 1e-3  # [s]


class Batch(NamedTuple):
    """Pairs on a lattice: pair k has blocks 2 k and 2 k + 1."""

    pairs: list[Pair]
    position: Array
    matrix: Array
    contacts: Contacts
    start: Array  # (P+1,) first contact of each pair


def _run(pairs: list[Pair]) -> Batch:
    side = int(np.ceil(len(pairs) ** (1 / 3)))
    origin = SPACING * np.stack(np.unravel_index(np.arange(len(pairs)), (side,) * 3), axis=1)
    position = (np.array([p.position for p in pairs]) + origin[:, None]).reshape(-1, 3)
    matrix = np.array([p.matrix for p in pairs]).reshape(-1, 3, 3)
    rotation = Rotation.from_matrix(matrix).as_quat(scalar_first=True)
    velocity = np.array([p.velocity for p in pairs]).reshape(-1, 6)
    bodies = bodies_of([shape for p in pairs for shape in (p.a, p.b)])
    contacts, _ = detect(bodies, position, rotation, velocity, H, no_contacts(), 0)
    assert np.all(contacts.b == contacts.a + 1)
    assert np.all(contacts.a % 2 == 0)
    start = np.searchsorted(contacts.a, 2 * np.arange(len(pairs) + 1))
    return Batch(pairs, position, matrix, contacts, start)


def _solids(batch: Batch, k: int) -> tuple[Solid, Solid, float]:
    pair = batch.pairs[k]
    a = solid(pair.a, batch.position[2 * k], batch.matrix[2 * k])
    b = solid(pair.b, batch.position[2 * k + 1], batch.matrix[2 * k + 1])
    return a, b, margin_of(pair.a, pair.b, *pair.velocity, H)


def _pairs_of(family, count: int, seed: int) -> list[Pair]:
    rng = np.random.default_rng(seed)
    pairs = [family(rng) for _ in range(count)]
    return [_moved(rng, p) if k % 2 else p for k, p in enumerate(pairs)]


def _unmatched(p: Array, q: Array, reach: float) -> int:
    """Points of p with no point of q within reach."""
    if len(p) == 0:
        return 0
    if len(q) == 0:
        return len(p)
    return int(np.sum(np.linalg.norm(p[:, None] - q[None], axis=2).min(1) > reach))


def _same(batch: Batch, k: int, joint) -> bool:
    """Whether pair k has the reference's points, gaps, areas and normal, in any order."""
    c = slice(batch.start[k], batch.start[k + 1])
    point, gap, area, normal = (getattr(batch.contacts, name)[c] for name in ("point", "gap", "area", "normal"))
    if len(gap) != len(joint.gap):
        return False
    if len(gap) == 0:
        return True
    distance = np.linalg.norm(point[:, None] - joint.point[None], axis=2)
    match = distance.argmin(1)
    return (
        len(set(match)) == len(match)
        and distance.min(1).max() < EXACT
        and np.abs(gap - joint.gap[match]).max() < EXACT
        and np.abs(area - joint.area[match]).max() < EXACT
        and np.abs(normal - joint.normal).max() < EXACT
    )


def _alike(batch: Batch, k: int, joint) -> bool:
    """Whether the points agree up to dropped vertices, leaving out those whose neighbour may be past the margin."""
    c = slice(batch.start[k], batch.start[k + 1])
    margin = _solids(batch, k)[2]
    if len(joint.gap) and c.stop > c.start and np.abs(batch.contacts.normal[c] - joint.normal).max() > EXACT:
        return False
    reach = 3 * joint.tolerance  # two in the plane, and more along the direction where faces slope
    deep, deep_reference = batch.contacts.gap[c] < margin - reach, joint.gap < margin - reach
    point = batch.contacts.point[c]
    return _unmatched(point[deep], joint.point, reach) + _unmatched(joint.point[deep_reference], point, reach) == 0


SHARES = [pytest.param(60, id="few"), pytest.param(1, id="all", marks=pytest.mark.soak)]


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.__name__)
def test_agrees_with_the_reference(family, share):
    count = FAMILIES[family] // share
    batch = _run(_pairs_of(family, count, seed=len(family.__name__)))
    doubts, simplified, touching, wrong = 0, 0, 0, []
    for k in range(count):
        joint = touch(*_solids(batch, k))
        touching += len(joint.gap) > 0
        if joint.doubt:
            doubts += 1
        elif joint.simplified < 1e-10:
            if not _same(batch, k, joint):
                wrong.append(k)
        else:
            simplified += 1
            if not _alike(batch, k, joint):
                wrong.append(k)
    print(f"{family.__name__}: {count} pairs, {touching} touch, {simplified} with dropped vertices, {doubts} ties")
    assert wrong == []
    assert doubts < 0.01 * count + 3
    if family in (corner_only, edge_only):
        assert touching == 0
    else:
        assert touching > 0.25 * count


# ---------------------------------------------------------------- what must hold without any reference


def _swapped(pair: Pair) -> Pair:
    return Pair(pair.b, pair.a, pair.position[::-1], pair.matrix[::-1], pair.velocity[::-1])


def _clear(batch: Batch) -> list[tuple[int, object]]:
    """Pairs with no tie, and the reference's word on what it dropped."""
    joints = ((k, touch(*_solids(batch, k))) for k in range(len(batch.pairs)))
    return [(k, joint) for k, joint in joints if not joint.doubt]


@pytest.mark.parametrize("count", [30, pytest.param(250, marks=pytest.mark.soak)])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.__name__)
def test_swapping_the_blocks_flips_the_normal_and_a_motion_moves_all_along(family, count):
    pairs = _pairs_of(family, count, seed=7)
    rng = np.random.default_rng(8)
    turn, shift = _any_turn(rng), rng.normal(size=3)
    moved = [p._replace(position=p.position @ turn.T + shift, matrix=turn @ p.matrix) for p in pairs]
    moved = [p._replace(velocity=(p.velocity.reshape(2, 2, 3) @ turn.T).reshape(2, 6)) for p in moved]
    here, swapped, there = _run(pairs), _run([_swapped(p) for p in pairs]), _run(moved)
    for k, joint in _clear(here):
        origin = here.position[2 * k] - pairs[k].position[0]
        joint, other = _as_joint(here, k, joint), _as_joint(here, k, joint)
        other.normal = -joint.normal
        assert (_same if joint.simplified < 1e-10 else _alike)(swapped, k, other), (k, "swapped")
        joint.normal = turn @ joint.normal
        joint.point = (joint.point - origin) @ turn.T + shift + origin
        assert (_same if joint.simplified < 1e-10 else _alike)(there, k, joint), (k, "moved")


def _as_joint(batch: Batch, k: int, reference: Joint) -> Joint:
    """What `detect` found for pair k, with the reference's word on what was dropped."""
    c = slice(batch.start[k], batch.start[k + 1])
    normal = batch.contacts.normal[c][0] if c.stop > c.start else np.zeros(3)
    found = batch.contacts.point[c], batch.contacts.gap[c], batch.contacts.area[c]
    return Joint(normal, *found, simplified=reference.simplified, tolerance=reference.tolerance)


@pytest.mark.parametrize("count", [20, pytest.param(100, marks=pytest.mark.soak)])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.__name__)
def test_direction_separates_what_a_linear_program_can_separate(family, count):
    """The distance of two blocks from a quadratic-free truth: they are disjoint if and only if the LP
    max t, n.x_a + t <= c <= n.x_b - t, |n|_inf <= 1 has t > 0. Then d must separate them up to the tolerance."""
    batch = _run(_pairs_of(family, count, seed=9))
    for k, pair in enumerate(batch.pairs):
        if batch.start[k] == batch.start[k + 1]:
            continue
        a, b, margin = _solids(batch, k)
        d = batch.contacts.normal[batch.start[k]]
        gap = batch.contacts.gap[batch.start[k] : batch.start[k + 1]]
        apart = (b.vertices @ d).min() - (a.vertices @ d).max()
        assert gap.max() <= margin
        assert gap.min() >= apart - EXACT
        if _separable(a.vertices, b.vertices):
            # the bisector of two faces that separate within tol may cut into the blocks by their slope times tol
            assert apart >= -2 * 2e-3 * min(pair.a.size, pair.b.size)


def _separable(p: Array, q: Array) -> bool:
    middle = (p.mean(0) + q.mean(0)) / 2
    rows = np.concatenate(
        [
            np.column_stack([p - middle, -np.ones(len(p)), np.ones(len(p))]),
            np.column_stack([middle - q, np.ones(len(q)), np.ones(len(q))]),
        ]
    )
    bounds = [(-1, 1)] * 3 + [(None, None)] * 2
    result = linprog([0, 0, 0, 0, -1], A_ub=rows, b_ub=np.zeros(len(rows)), bounds=bounds, method="highs")
    return -result.fun > 1e-7


def test_the_set_of_contacts_does_not_depend_on_the_order_of_blocks():
    """A heap of 60 blocks, numbered in two ways; also against the reference over all pairs."""
    rng = np.random.default_rng(3)
    shapes = [ALL[i] for i in rng.integers(len(ALL), size=60)]
    position, velocity = rng.uniform(-1, 1, (60, 3)), 0.1 * rng.normal(size=(60, 6))
    rotation = Rotation.random(60, rng=rng).as_quat(scalar_first=True)
    fixed = rng.random(60) < 0.2
    expected = detect_slowly(shapes, fixed, position, rotation, velocity, H)
    order = rng.permutation(60)
    one, _ = detect(bodies_of(shapes, fixed), position, rotation, velocity, H, no_contacts(), 0)
    reordered = bodies_of([shapes[i] for i in order], fixed[order])
    two, _ = detect(reordered, position[order], rotation[order], velocity[order], H, no_contacts(), 0)
    pairs_one = set(zip(one.a.tolist(), one.b.tolist(), strict=True))
    pairs_two = {(min(i, j), max(i, j)) for i, j in zip(order[two.a].tolist(), order[two.b].tolist(), strict=True)}
    clear = {pair for pair, joint in expected.items() if not joint.doubt}
    assert len(clear) > 100
    assert clear <= pairs_one <= set(expected)
    assert pairs_one == pairs_two

"""Contact detection once more, slow and obvious: all pairs, one at a time, NumPy and plain Python loops.

It follows the numbered steps of `drystone.contact` and shares no code with it: every pair is tried, face planes come
from the vertices, edges from faces that share two vertices, polygons are intersected by collecting corners and
crossings and taking their hull, instead of Sutherland and Hodgman. It also says when a result hangs on a tie (`doubt`)
or when polygon vertices were dropped (`simplified`): there another order of the same steps may keep the neighbour.

Shapes for tests are here too: boxes and convex hulls with their coplanar facets merged, and their `Bodies`.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from drystone.structure.model import Bodies

Array = np.ndarray
EPS = 1e-9  # of the size of the pair: decisions closer than this are ties


@dataclass(frozen=True)
class Shape:
    """A convex polyhedron in its body frame, origin at the centroid."""

    vertices: Array  # (V, 3) [m]
    faces: tuple[tuple[int, ...], ...]  # counter-clockwise seen from outside

    @cached_property
    def normals(self) -> Array:
        """Outward unit normals, from the first three corners' plane by Newell's sum."""
        sums = []
        for face in self.faces:
            p = self.vertices[list(face)]
            sums.append(np.cross(p, np.roll(p, -1, axis=0)).sum(0))
        return np.array(sums) / np.linalg.norm(sums, axis=1)[:, None]

    @cached_property
    def edges(self) -> Array:
        """(E, 2) vertices that two faces have in common."""
        pairs = {tuple(sorted((f[k - 1], f[k]))) for f in self.faces for k in range(len(f))}
        return np.array(sorted(pairs))

    @cached_property
    def radius(self) -> float:
        return float(np.linalg.norm(self.vertices, axis=1).max())

    @cached_property
    def size(self) -> float:
        """Smallest width across its own faces [m]."""
        return float(np.ptp(self.vertices @ self.normals.T, axis=0).min())

    @cached_property
    def diameters(self) -> list[float]:
        """Longest distance between corners, by face [m]."""
        return [max(math.dist(self.vertices[i], self.vertices[j]) for i in face for j in face) for face in self.faces]


def box(x: float, y: float, z: float) -> Shape:
    """Box of these sides [m]."""
    corners = np.array([[i, j, k] for k in (-1, 1) for j in (-1, 1) for i in (-1, 1)]) * np.array([x, y, z]) / 2
    faces = ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5))
    return Shape(corners, faces)


def hull(points: Array) -> Shape:
    """Convex hull with coplanar facets merged."""
    convex = ConvexHull(points)
    middle = points[convex.vertices].mean(0)
    tetrahedra = points[convex.simplices] - middle
    volume = np.abs(np.linalg.det(tetrahedra))
    centroid = middle + (volume[:, None] * tetrahedra.sum(1) / 4).sum(0) / volume.sum()
    number = {int(v): k for k, v in enumerate(convex.vertices)}
    planes: list[tuple[Array, set[int]]] = []
    for facet, equation in zip(convex.simplices, convex.equations, strict=True):
        for plane, members in planes:
            if np.abs(plane - equation).max() < 1e-8:
                members.update(map(int, facet))
                break
        else:
            planes.append((equation, set(map(int, facet))))
    faces = tuple(tuple(number[v] for v in _around(points, plane[:3], members)) for plane, members in planes)
    return Shape(points[convex.vertices] - centroid, faces)


def _around(points: Array, normal: Array, members: set[int]) -> list[int]:
    rows = sorted(members)
    first = points[rows].mean(0)
    u = points[rows[0]] - first
    w = np.cross(normal, u)
    return sorted(rows, key=lambda v: math.atan2((points[v] - first) @ w, (points[v] - first) @ u))


def bodies_of(shapes: list[Shape], fixed: Array | None = None) -> Bodies:
    """The shapes as the flat arrays that `detect` reads; mass and inertia are of no matter here."""
    count = len(shapes)
    vertex_start = np.cumsum([0] + [len(s.vertices) for s in shapes])
    corners = [len(face) for s in shapes for face in s.faces]
    return Bodies(
        vertex=np.concatenate([s.vertices for s in shapes]),
        vertex_start=vertex_start,
        face_vertex=np.array([v + first for s, first in zip(shapes, vertex_start, strict=False) for f in s.faces for v in f]),
        face_start=np.cumsum([0, *corners]),
        piece_face=np.cumsum([0] + [len(s.faces) for s in shapes]),
        owner=np.arange(len(shapes)),
        face_normal=np.concatenate([s.normals for s in shapes]),
        mass=np.ones(count),
        inertia=np.tile(np.eye(3), (count, 1, 1)),
        radius=np.array([s.radius for s in shapes]),
        fixed=np.zeros(count, bool) if fixed is None else np.asarray(fixed, bool),
        group=np.zeros(count, np.int64),
        grip=np.zeros(count),
    )


@dataclass
class Solid:
    """A shape in the world."""

    shape: Shape
    vertices: Array
    normals: Array
    offsets: Array = field(init=False)

    def __post_init__(self) -> None:
        self.offsets = (self.normals @ self.vertices.T).max(1)


def solid(shape: Shape, position: Array, matrix: Array) -> Solid:
    return Solid(shape, shape.vertices @ matrix.T + position, shape.normals @ matrix.T)


@dataclass
class Joint:
    """Contacts of one pair."""

    normal: Array  # (3,)
    point: Array  # (n, 3)
    gap: Array  # (n,)
    area: Array  # (n,)
    doubt: bool = False  # some decision was a tie
    simplified: float = 0.0  # largest distance at which a vertex or a duplicate was dropped [m]
    tolerance: float = 0.0  # largest distance at which they might be [m]


def margin_of(a: Shape, b: Shape, velocity_a: Array, velocity_b: Array, h: float) -> float:
    """Step 1."""
    closing = np.linalg.norm(velocity_b[:3] - velocity_a[:3])
    closing += np.linalg.norm(velocity_a[3:]) * a.radius + np.linalg.norm(velocity_b[3:]) * b.radius
    return 0.005 * min(a.radius, b.radius) + 2 * h * closing


def detect_slowly(shapes, fixed, position, rotation, velocity, h) -> dict[tuple[int, int], Joint]:
    """Every pair that touches, by its two rows."""
    matrices = Rotation.from_quat(rotation, scalar_first=True).as_matrix()
    solids = [solid(s, x, r) for s, x, r in zip(shapes, position, matrices, strict=True)]
    found = {}
    for a in range(len(shapes)):
        for b in range(a + 1, len(shapes)):
            if not (fixed[a] and fixed[b]):
                joint = touch(solids[a], solids[b], margin_of(shapes[a], shapes[b], velocity[a], velocity[b], h))
                if len(joint.gap):
                    found[a, b] = joint
    return found


def touch(a: Solid, b: Solid, margin: float) -> Joint:
    """Steps 2 to 4 for one pair."""
    doubts: list[bool] = []
    d = direction(a, b, margin, doubts)
    if d is None:
        joint = Joint(np.zeros(3), np.empty((0, 3)), np.empty(0), np.empty(0))
    else:
        joint = points_along(a, b, d, margin, doubts)
    joint.doubt = any(doubts)
    return joint


def direction(a: Solid, b: Solid, margin: float, doubts: list[bool]) -> Array | None:
    """Step 2."""
    size = min(a.shape.size, b.shape.size)
    tol, eps = 2e-3 * size, EPS * size
    separation_a = (b.vertices @ a.normals.T).min(0) - a.offsets
    separation_b = (a.vertices @ b.normals.T).min(0) - b.offsets
    best_a, best_b = separation_a.max(), separation_b.max()
    best = max(best_a, best_b)
    doubts.append(abs(best - margin) < eps)
    if best > margin:
        return None
    doubts.append(abs(best + tol) < eps)
    if best < -tol:
        gap, axis = best_edge_axis(a, b, eps, doubts)
        doubts.append(abs(gap - best - tol) < eps)
        if gap > best + tol:
            doubts.append(abs(gap - margin) < eps)
            return axis if gap <= margin else None
    normal_a = a.normals[np.flatnonzero(separation_a >= best_a - 1e-6 * tol)[0]]
    normal_b = -b.normals[np.flatnonzero(separation_b >= best_b - 1e-6 * tol)[0]]
    doubts.append(bool(np.any(np.abs(separation_a - best_a + 1e-6 * tol) < 1e-3 * eps)))
    doubts.append(bool(np.any(np.abs(separation_b - best_b + 1e-6 * tol) < 1e-3 * eps)))
    sine = np.linalg.norm(np.cross(normal_a, normal_b))
    near = 1e-4 * size * sine
    doubts.append(abs(normal_a @ normal_b - 0.5) < EPS)
    if abs(best_a - best_b) < near and normal_a @ normal_b >= 0.5:
        share = 0.5 + 0.5 * (best_a - best_b) / near
        d = share * normal_a + (1 - share) * normal_b
        d /= np.linalg.norm(d)
    else:
        d = normal_a if best_a >= best_b else normal_b
    separations = np.concatenate([separation_a, separation_b])
    cosines = np.concatenate([a.normals, -b.normals]) @ d
    doubts.append(bool(np.any((np.abs(separations - best + tol) < eps) & (cosines < 0.5 + EPS))))
    doubts.append(bool(np.any((separations >= best - tol) & (np.abs(cosines - 0.5) < EPS))))
    return None if np.any((separations >= best - tol) & (cosines < 0.5)) else d


def best_edge_axis(a: Solid, b: Solid, eps: float, doubts: list[bool]) -> tuple[float, Array]:
    """Step 2.2, every edge with every edge."""
    along_a = np.diff(a.vertices[a.shape.edges], axis=1)[:, 0]
    along_b = np.diff(b.vertices[b.shape.edges], axis=1)[:, 0]
    along_a = along_a / np.linalg.norm(along_a, axis=1)[:, None]
    along_b = along_b / np.linalg.norm(along_b, axis=1)[:, None]
    axes = np.cross(along_a[:, None], along_b[None]).reshape(-1, 3)
    sines = np.linalg.norm(axes, axis=1)
    doubts.append(bool(np.any(np.abs(sines - 1e-5) < 1e-7)))
    axes = axes[sines >= 1e-5] / sines[sines >= 1e-5][:, None]
    axes = np.concatenate([axes, -axes])
    gaps = (axes @ b.vertices.T).min(1) - (axes @ a.vertices.T).max(1)
    k = int(np.argmax(gaps))
    rivals = axes[gaps > gaps[k] - eps]
    doubts.append(bool(np.any(rivals @ axes[k] < 1 - 1e-9)))
    return float(gaps[k]), axes[k]


def points_along(a: Solid, b: Solid, d: Array, margin: float, doubts: list[bool]) -> Joint:
    """Steps 3 and 4."""
    size = min(a.shape.size, b.shape.size)
    frame = np.linalg.svd(d[None])[2]  # rows 1 and 2 span the plane orthogonal to d
    facing_a, facing_b = a.normals @ d, -b.normals @ d
    doubts.append(bool(np.any(np.abs(np.concatenate([facing_a, facing_b]) - 0.05) < EPS)))
    plane_a, plane_b = (a.vertices @ frame[1:].T).tolist(), (b.vertices @ frame[1:].T).tolist()
    kept: list[list] = []  # [plane position, gap, height, area, of opposite faces]
    nearest, farthest, simplified = math.inf, 0.0, 0.0
    looks = np.outer(facing_a, facing_b)
    seen = np.argwhere((facing_a > 0.05)[:, None] & (facing_b > 0.05))
    doubts.append(any(abs(looks[f, g] - 0.6) < EPS for f, g in seen))
    for f, g in sorted(seen.tolist(), key=lambda pair: looks[*pair] <= 0.6):  # opposite faces, then oblique ones
        opposite = looks[f, g] > 0.6
        face_a, face_b = [plane_a[v] for v in a.shape.faces[f]], [plane_b[v] for v in b.shape.faces[g]]
        polygon = intersect(counter_clockwise(face_a), counter_clockwise(face_b), 1e-13 * (1 + size))
        if len(polygon) < 3:
            continue
        area = shoelace(polygon)
        width = 2 * area / sum(math.dist(polygon[k - 1], polygon[k]) for k in range(len(polygon)))
        doubts.append(abs(width - 2e-3 * size) < EPS * size)
        if width < 2e-3 * size:
            continue
        tolerance = min(3e-3 * a.shape.diameters[f], 3e-3 * b.shape.diameters[g], 0.1 * width)
        nearest, farthest = min(nearest, tolerance), max(farthest, tolerance)
        polygon, dropped = thin_out(polygon, tolerance, doubts)
        simplified = max(simplified, dropped)
        shares = shares_of(polygon) * (area if opposite else 0.0)
        earlier = list(kept)
        for (s, t), share in zip(polygon, shares, strict=True):
            flat = s * frame[1] + t * frame[2]
            height_a = (a.offsets[f] - a.normals[f] @ flat) / (a.normals[f] @ d)
            height_b = (b.offsets[g] - b.normals[g] @ flat) / (b.normals[g] @ d)
            gap = float(height_b - height_a)
            doubts.append(abs(gap - margin) < EPS * size)
            if gap > margin:
                continue
            same = [k for k in earlier if math.dist(k[0], (s, t)) < nearest]
            if not same:
                kept.append([(s, t), gap, (height_a + height_b) / 2, share, opposite])
                continue
            simplified = max(simplified, math.dist(same[0][0], (s, t)))
            same[0][3] += share
            if gap < same[0][1] and (opposite or not same[0][4]):
                same[0][:3] = [(s, t), gap, (height_a + height_b) / 2]
    point = np.array([s * frame[1] + t * frame[2] + middle * d for (s, t), _, middle, _, _ in kept]).reshape(-1, 3)
    gaps, areas = np.array([k[1] for k in kept]), np.array([max(k[3], (0.02 * size) ** 2) for k in kept])
    return Joint(d, point, gaps, areas, simplified=simplified, tolerance=farthest)


def shares_of(polygon: list) -> Array:
    """Part of the area that each corner stands for: the hat functions of the triangles on the mean of the corners, integrated,
    the hat on the mean given to all corners alike."""
    corners = np.array(polygon)
    middle = corners.mean(axis=0)
    triangle = np.abs([np.linalg.det([corners[k - 1] - middle, corners[k] - middle]) for k in range(len(corners))])
    hats = (triangle + np.roll(triangle, -1)) / 3
    return (hats + triangle.sum() / 3 / len(corners)) / triangle.sum()


def shoelace(polygon: list) -> float:
    s0, t0 = polygon[0]
    return 0.5 * sum(
        (polygon[k - 1][0] - s0) * (polygon[k][1] - t0) - (polygon[k][0] - s0) * (polygon[k - 1][1] - t0)
        for k in range(len(polygon))
    )


def counter_clockwise(polygon: list) -> list:
    return polygon if shoelace(polygon) > 0 else polygon[::-1]


def intersect(p: list, q: list, eps: float) -> list:
    """Hull of the corners of each convex polygon inside the other and of the crossings of their sides."""
    if min(x[0] for x in p) > max(x[0] for x in q) or min(x[0] for x in q) > max(x[0] for x in p):
        return []
    if min(x[1] for x in p) > max(x[1] for x in q) or min(x[1] for x in q) > max(x[1] for x in p):
        return []
    left_p = [[_left(q[k - 1], q[k], x) for k in range(len(q))] for x in p]  # corners of p against sides of q
    left_q = [[_left(p[k - 1], p[k], x) for k in range(len(p))] for x in q]
    found = [tuple(x) for x, left in zip(p, left_p, strict=True) if min(left) >= -eps]
    found += [tuple(x) for x, left in zip(q, left_q, strict=True) if min(left) >= -eps]
    for i in range(len(p)):
        for j in range(len(q)):
            l0, l1 = left_p[i - 1][j], left_p[i][j]
            m0, m1 = left_q[j - 1][i], left_q[j][i]
            if l0 * l1 < 0 and m0 * m1 < 0:
                t = l0 / (l0 - l1)
                found.append((p[i - 1][0] + t * (p[i][0] - p[i - 1][0]), p[i - 1][1] + t * (p[i][1] - p[i - 1][1])))
    return monotone_chain(found)


def _left(p, q, x) -> float:
    """Distance of x to the left of the line from p to q."""
    e0, e1 = q[0] - p[0], q[1] - p[1]
    return (e0 * (x[1] - p[1]) - e1 * (x[0] - p[0])) / math.hypot(e0, e1)


def monotone_chain(points: list) -> list:
    """Convex hull of points of the plane, counter-clockwise."""
    points = sorted(set(points))
    if len(points) < 3:
        return []
    chains = []
    for ordered in (points, points[::-1]):
        chain: list = []
        for x in ordered:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], x) <= 0:
                chain.pop()
            chain.append(x)
        chains.append(chain[:-1])
    return chains[0] + chains[1]


def _turn(p, q, x) -> float:
    return (q[0] - p[0]) * (x[1] - p[1]) - (q[1] - p[1]) * (x[0] - p[0])


def thin_out(polygon: list, tolerance: float, doubts: list[bool]) -> tuple[list, float]:
    """Step 3.3, and the largest distance at which a vertex was dropped."""

    def strays(start: int, stop: int) -> list[float]:
        found = [_to_segment(ring[k], ring[start], ring[stop]) for k in range(start + 1, stop)]
        doubts.append(any(abs(x - tolerance) < 1e-9 * tolerance for x in found))
        return found

    ring = polygon * 3
    count = len(polygon)
    corners = [k for k in range(count, 2 * count) if max(strays(k - 1, k + 1)) >= tolerance]
    here = corners[0] if corners else count
    end, kept, dropped = here + count, [ring[here]], 0.0
    while here < end:
        there = here + 1
        while there < end and max(strays(here, there + 1)) < tolerance:
            there += 1
        dropped = max([dropped, *strays(here, there)])
        if there < end:
            kept.append(ring[there])
        here = there
    return kept, dropped


def _to_segment(x, p, q) -> float:
    e0, e1 = q[0] - p[0], q[1] - p[1]
    length2 = e0 * e0 + e1 * e1
    t = ((x[0] - p[0]) * e0 + (x[1] - p[1]) * e1) / length2 if length2 > 0 else 0.0
    t = min(max(t, 0.0), 1.0)
    return math.hypot(x[0] - p[0] - t * e0, x[1] - p[1] - t * e1)

"""Builds the checked `Model` from blocks, joints and supports; later code relies on its arrays without checking them again.

All lengths are in m and masses in kg; the world axes have z up. The body frame of a block has its origin at the centroid and,
at the start, the axes of the world. All checks of geometry, density and friction are made here, once: `solid` checks that
each block is a closed convex polyhedron, `overlap` that no two blocks overlap.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from drystone.base.errors import Finding, InputError, did_you_mean
from drystone.structure.deformable_blocks import Brick, Elastic, Stone, hexahedron, make_elastic
from drystone.structure.joint_laws import JointLaw, Laws, LawTables, OwnLaws, Scatter, is_number, tabulate_laws
from drystone.structure.polyhedra import Solids, Surfaces, check_surfaces, face_normals, make_surfaces

Array = np.ndarray

SUPPORT_GROUP = "support"  # in a pair of groups, stands for all supports


@dataclass(frozen=True)
class Block:
    """One block: a convex polyhedron, or several that move as one."""

    vertices: Array  # (V, 3) [m] world coordinates
    faces: tuple[tuple[int, ...], ...]  # vertex indices, counter-clockwise seen from outside
    density: float = 2000.0  # [kg/m3]
    fixed: bool = False  # a support: it does not move, or moves as prescribed
    name: str = ""
    group: str = ""  # joints between two groups may have their own friction
    pieces: tuple[int, ...] = ()  # for a block that is not convex: the number of faces, in order, of each convex piece


class Bodies(NamedTuple):
    """The blocks as flat arrays for kernels. A block has one convex piece or more; piece p owns vertices
    vertex_start[p]:vertex_start[p+1] and faces piece_face[p]:piece_face[p+1]; face f owns corners
    face_vertex[face_start[f]:face_start[f+1]]."""

    vertex: Array  # (NV, 3) [m] body frame
    vertex_start: Array  # (P+1,) int64
    face_vertex: Array  # (NFV,) int64 rows of `vertex`, counter-clockwise seen from outside
    face_start: Array  # (NF+1,) int64
    piece_face: Array  # (P+1,) int64
    owner: Array  # (P,) int64 block of each piece, ascending
    face_normal: Array  # (NF, 3) body frame, outward, unit
    mass: Array  # (B,) [kg]
    inertia: Array  # (B, 3, 3) [kg m2] about the centroid, body frame
    radius: Array  # (B,) [m] of the sphere about the centroid that contains the block
    fixed: Array  # (B,) bool
    group: Array  # (B,) int64 row of `Model.friction`
    grip: Array  # (B,) [m] half of the largest opening at which its joints still transmit tension; 0 if they are dry


class NearestPoints(NamedTuple):
    """The data of contact search by nearest points: copies of the blocks, shrunk by the radius of their corners
    (contact/inset.py)."""

    copies: Bodies  # the pieces, with faces moved inwards by the radius
    radius: Array  # (P,) [m] of the rounded corners of each piece; eps_m of BRT
    distance: float  # [m] blocks at rest that are nearer than this may touch, eps_e of BRT; -1: as by separating axes


@dataclass(frozen=True)
class Model:
    """The immutable description of a structure, which has passed the checks of `build_model`."""

    blocks: tuple[Block, ...]
    bodies: Bodies
    position: Array  # (B, 3) [m] centroids at the start
    friction: Array  # (G, G) coefficient between groups of blocks, symmetric
    planar: bool = False  # the blocks are prisms along y that move in the plane of x and z only
    laws: Laws | None = None  # the laws of joints apart from friction; None: all joints are dry
    elastic: Elastic | None = None  # the deformable blocks, if there are any
    restitution: Array | None = None  # (G, G) coefficient of impacts between groups; None: zero everywhere
    scatter: Scatter | None = None  # of the friction about that of the groups; None: there is none
    dilatancy: Array | None = None  # (G, G) opening per sliding between groups; None: zero everywhere
    own: OwnLaws | None = None  # user-defined laws between groups; None: there are none
    nearest: NearestPoints | None = None  # contact by nearest points, in cone programs; None: by separating axes

    def friction_between(self, a: Array, b: Array) -> Array:
        """(C,) friction coefficient of the joints between pairs of blocks."""
        group = self.bodies.group
        friction = self.friction[group[a], group[b]]
        return friction if self.scatter is None else friction * self.scatter.factors(self._codes[a], self._codes[b])

    def dilatancy_between(self, a: Array, b: Array) -> Array:
        """(C,) opening per sliding of the joints between pairs of blocks."""
        group = self.bodies.group
        return np.zeros(len(a)) if self.dilatancy is None else self.dilatancy[group[a], group[b]]

    @cached_property
    def block_numbers(self) -> dict[str, int]:
        """The number of each block by its name; names are unique."""
        return {block.name: i for i, block in enumerate(self.blocks)}

    @cached_property
    def _codes(self) -> Array:
        """(B,) codes by which joints are distinguished, whatever the order of the blocks."""
        assert self.scatter is not None
        return self.scatter.codes([block.name for block in self.blocks])


def build_model(
    blocks: Iterable[Block],
    *,
    friction: float | JointLaw,
    support_friction: float | JointLaw | None = None,
    pairs: Sequence[tuple[str, str, float | JointLaw]] = (),
    planar: bool = False,
    deformable: Sequence[Stone] = (),
    scatter: Scatter | None = None,
) -> Model:
    """Build the model of `blocks`; an `InputError` names the block, the face, the value and the remedy.

    friction: the coefficient between free blocks, or their whole joint law; support_friction: the same for joints of which at
    least one block is a support (by default equal to friction); pairs: (group, group, coefficient or law), which take
    precedence; "support" stands for all supports. planar: the blocks move in the plane of x and z only; all must be prisms
    along y with the same front and back, beyond which supports may extend. deformable: the elastic blocks and their properties;
    if two entries name a block, the last one counts. scatter: friction is the mean, and every pair of blocks has its own value,
    by their names.
    """
    blocks = name_blocks(blocks)
    labels = block_labels(blocks)
    for finding in block_findings(blocks):
        raise finding.to_error(labels)
    group, law_of = _law_table(blocks, friction, friction if support_friction is None else support_friction, pairs)
    tables = tabulate_laws(law_of)
    if scatter is not None:
        scatter.check()
        if tables.laws is not None:
            raise InputError("scatter is for dry joints: the cone of mortar has its apex by friction; remove one of the two")
    pieces = [piece for i, block in enumerate(blocks) for piece in convex_pieces(i, block, labels[i])]
    owner, vertices, faces, names = (list(column) for column in zip(*pieces, strict=True))
    surfaces = make_surfaces(vertices, faces, names)
    solids = check_surfaces(surfaces, names)
    fixed = np.array([block.fixed for block in blocks])
    from drystone.structure.overlap import (
        check_overlaps,  # loads Numba, which is not needed to generate blocks or to read a model
    )

    check_overlaps(surfaces, fixed[owner], names)
    solids_of_blocks = combine_pieces(solids, np.array(owner))
    bodies = make_bodies(
        surfaces, solids_of_blocks, np.array(owner), np.array([block.density for block in blocks], float), fixed, group
    )
    bodies = _as_prisms(bodies, solids_of_blocks.centroid, labels) if planar else bodies
    if tables.laws is not None:
        bodies = bodies._replace(grip=0.5 * _reach(tables).max(axis=1)[group])
    elastic = _deformable(blocks, solids_of_blocks.centroid, deformable, planar, labels) if deformable else None
    scatter = scatter if scatter is not None and scatter.cov > 0 else None
    return Model(
        blocks,
        bodies,
        solids_of_blocks.centroid,
        tables.friction,
        planar,
        tables.laws,
        elastic,
        tables.restitution,
        scatter,
        tables.dilatancy,
        tables.own,
    )


def _reach(tables: LawTables) -> Array:
    """(G, G) [m] the largest opening at which joints with a bond still transmit tension."""
    assert tables.laws is not None
    own = [[0.0 if law is None else law.reach for law in row] for row in tables.own or ()]
    return np.maximum(tables.laws.reach, own) if own else tables.laws.reach


def block_labels(blocks: tuple[Block, ...]) -> list[str]:
    """The names of the blocks in messages."""
    return [f"block {i} {block.name!r}" for i, block in enumerate(blocks)]


def name_blocks(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """The blocks, of which those without a name are named by their number."""
    return tuple(block if block.name else replace(block, name=f"block-{i}") for i, block in enumerate(blocks))


def block_findings(blocks: tuple[Block, ...]) -> Iterator[Finding]:
    """The findings on the number of blocks, their names and densities."""
    if not blocks:
        yield Finding("no blocks", (), "the structure has 0 blocks", "give at least one")
    elif all(block.fixed for block in blocks):
        message = f"all {len(blocks)} blocks are fixed, nothing can move"
        yield Finding("all fixed", (), message, "leave at least one block free")
    first: dict[str, int] = {}
    for i, block in enumerate(blocks):
        if first.setdefault(block.name, i) != i:
            message = f"block {first[block.name]} has the same name"
            yield Finding("same name", (i,), message, "give every block a name of its own")
        if not is_number(block.density) or not 0 < block.density < math.inf:
            message = f"its density is {block.density!r}"
            yield Finding("density", (i,), message, "give a number above 0 in kg/m3")


Piece = tuple[int, Array, Sequence[Sequence[int]], str]  # block, vertices, faces, label


def convex_pieces(i: int, block: Block, label: str) -> list[Piece]:
    """The convex pieces of block i."""
    if not block.pieces:
        return [(i, block.vertices, block.faces, label)]
    if min(block.pieces) < 4 or sum(block.pieces) != len(block.faces):
        raise InputError(f"{label}: pieces are {list(block.pieces)} and it has {len(block.faces)} faces; give the number of "
                         "faces of each convex piece, 4 or more, whose sum is the number of faces")  # fmt: skip
    vertices, begin = np.asarray(block.vertices), 0
    pieces: list[Piece] = []
    for k, count in enumerate(block.pieces):
        faces = block.faces[begin : begin + count]
        used = sorted({v for face in faces for v in face})
        if used[0] < 0 or used[-1] >= len(vertices):
            raise InputError(f"{label}, piece {k}: a vertex index is out of range; use 0 to {len(vertices) - 1}")
        row = {v: new for new, v in enumerate(used)}
        pieces.append((i, vertices[used], tuple(tuple(row[v] for v in face) for face in faces), f"{label}, piece {k}"))
        begin += count
    return pieces


def combine_pieces(pieces: Solids, owner: Array) -> Solids:
    """The mass properties of blocks from those of their pieces, at density 1."""
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    volume = np.add.reduceat(pieces.volume, first)
    centroid = np.add.reduceat(pieces.volume[:, None] * pieces.centroid, first) / volume[:, None]
    is_single = np.diff(np.append(first, len(owner))) == 1
    centroid[is_single] = pieces.centroid[first[is_single]]  # to the last bit
    arm = pieces.centroid - centroid[owner]
    spread = np.einsum("ij,ij->i", arm, arm)[:, None, None] * np.eye(3) - np.einsum("ij,ik->ijk", arm, arm)
    return Solids(volume, centroid, np.add.reduceat(pieces.inertia + pieces.volume[:, None, None] * spread, first))


FrictionOrLaw = float | JointLaw  # a number is the friction of a dry joint


def _law_table(
    blocks: tuple[Block, ...], joint: FrictionOrLaw, support: FrictionOrLaw, pairs: Sequence[tuple[str, str, FrictionOrLaw]]
) -> tuple[Array, list[list[JointLaw]]]:
    """The row of the table for each block, and the table of laws. Supports have rows of their own."""
    rows: dict[tuple[str, bool], int] = {}
    group = np.array([rows.setdefault((b.group, bool(b.fixed)), len(rows)) for b in blocks], np.int64)
    general, at_supports = _law(joint, ""), _law(support, " at supports")
    table = [[at_supports if one or other else general for _, other in rows] for _, one in rows]
    groups = {name for name, _ in rows}
    seen: set[frozenset[str]] = set()
    for one, other, friction_or_law in pairs:
        _check_pair(one, other, groups, seen)
        law = _law(friction_or_law, f" between groups {one!r} and {other!r}")
        for i, first in enumerate(rows):
            for k, second in enumerate(rows):
                if (_is_meant(first, one) and _is_meant(second, other)) or (_is_meant(first, other) and _is_meant(second, one)):
                    table[i][k] = law
    return group, table


def _law(friction_or_law: FrictionOrLaw, where: str) -> JointLaw:
    law = friction_or_law if isinstance(friction_or_law, JointLaw) else JointLaw(friction_or_law)
    law.check(where)
    return law


def _is_meant(row: tuple[str, bool], name: str) -> bool:
    """Whether a name in a pair means the group of this row, or means supports and this row is one of supports."""
    group, fixed = row
    return group == name or (fixed and name == SUPPORT_GROUP)


def _check_pair(one: str, other: str, groups: set[str], seen: set[frozenset[str]]) -> None:
    for name in (one, other):
        if name not in groups | {SUPPORT_GROUP}:
            raise InputError(f"no block is in group {name!r}{did_you_mean(name, groups)}; the groups are {sorted(groups)}")
    if frozenset((one, other)) in seen:
        raise InputError(f"the joint between groups {one!r} and {other!r} is given twice; keep one")
    seen.add(frozenset((one, other)))


def _deformable(
    blocks: tuple[Block, ...], centroid: Array, deformable: Sequence[Stone], planar: bool, labels: list[str]
) -> Elastic:
    """The elastic data of the deformable blocks; supports are rigid."""
    if planar:
        raise InputError("deformable blocks move in space; set planar = false, or leave the blocks rigid")
    stones: dict[int, Stone] = {}
    for stone in deformable:
        chosen = [i for i, block in enumerate(blocks) if not block.fixed and stone.on in ("", block.name, block.group)]
        if not chosen:
            known = {name for block in blocks if not block.fixed for name in (block.name, block.group) if name}
            raise InputError(f"deformable: no free block and no group is named {stone.on!r}{did_you_mean(stone.on, known)}")
        stones |= dict.fromkeys(chosen, stone)
    return make_elastic(np.array([block.fixed for block in blocks]), [
        Brick(i, hexahedron(np.asarray(blocks[i].vertices), blocks[i].faces, labels[i]) - centroid[i], blocks[i].density, stone)
        for i, stone in sorted(stones.items())
    ])  # fmt: skip


PRISM_TOLERANCE = 1e-6  # relative to the depth, and to a unit normal: allowed deviation from a prism along y


def _as_prisms(bodies: Bodies, position: Array, labels: list[str]) -> Bodies:
    """The bodies, after checking that every piece is a prism along y, that all free blocks have the same front and back, and
    that
    supports are at least as deep. Products of inertia with y, which are rounding errors, are set to zero."""
    hint = "a planar analysis takes prisms along y, all equally deep; set planar = false"
    for f in np.flatnonzero(np.abs(bodies.face_normal[:, 1] * (1 - np.abs(bodies.face_normal[:, 1]))) > PRISM_TOLERANCE):
        label = labels[bodies.owner[np.searchsorted(bodies.piece_face, f, "right") - 1]]
        normal = ", ".join(f"{x:.4g}" for x in bodies.face_normal[f])
        raise InputError(f"{label}: the normal of a face is ({normal}), neither along y nor across; {hint}")
    first = bodies.vertex_start[:-1]
    low = np.minimum.reduceat(bodies.vertex[:, 1], first) + position[bodies.owner, 1]
    high = np.maximum.reduceat(bodies.vertex[:, 1], first) + position[bodies.owner, 1]
    free = ~bodies.fixed[bodies.owner]
    front, back = low[free].min(), high[free].max()
    for piece in np.flatnonzero(np.maximum(low - front, back - high) > PRISM_TOLERANCE * (back - front)):
        raise InputError(f"{labels[bodies.owner[piece]]}: it goes from y = {low[piece]:g} to {high[piece]:g} m and the "
                         f"structure from {front:g} to {back:g} m; {hint}")  # fmt: skip
    inertia = bodies.inertia.copy()
    inertia[:, 1, ::2] = inertia[:, ::2, 1] = 0.0
    return bodies._replace(inertia=inertia)


def make_bodies(surfaces: Surfaces, solids: Solids, owner: Array, density: Array, fixed: Array, group: Array) -> Bodies:
    """The arrays that kernels read, for blocks whose pieces are stored one after the other in `surfaces`."""
    holder = np.repeat(owner, np.diff(surfaces.vertex_start))  # block of each vertex
    vertex = surfaces.vertex - solids.centroid[holder]
    first = np.flatnonzero(np.diff(holder, prepend=-1))
    return Bodies(
        *surfaces._replace(vertex=vertex),
        owner=owner,
        face_normal=face_normals(surfaces),
        mass=density * solids.volume,
        inertia=density[:, None, None] * solids.inertia,
        radius=np.maximum.reduceat(np.linalg.norm(vertex, axis=1), first),
        fixed=fixed,
        group=group,
        grip=np.zeros(len(fixed)),
    )

"""Deformable blocks: hexahedra and their stone come in, `Elastic` goes out, their meshes of bricks and elastic modes (T80-T83).

A block's mesh is cut evenly in the natural coordinates of the whole block, one trilinear brick itself. Its free vibrations,
without the six rigid ones, are the unknowns it has besides those of a rigid block: as many as nodes times 3, less 6, so
nothing is left out; they only make mass and stiffness diagonal. Blocks of one shape and stone share a kind.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import NamedTuple

import numpy as np

from drystone.base.errors import InputError
from drystone.structure import brick_element

Array = np.ndarray

ALIKE = 1e-9  # of the size: corners of blocks of one kind differ by less
STIFFLESS = 1e-10  # of the largest singular value of a stiffness matrix: less is rounding
LIMIT = 125  # nodes a block may have: each brings three unknowns into a dense matrix


@dataclass(frozen=True)
class Stone:
    """The elastic material and mesh of some blocks."""

    young: float  # [Pa] modulus of the stone
    poisson: float  # Poisson's ratio
    mesh: tuple[int, int, int]  # bricks along the edges of a block nearest to x, y and z
    on: str = ""  # a block, or a group of blocks; all free blocks if not given

    def __post_init__(self) -> None:
        whose = f"deformable {self.on or 'blocks'!r}"
        if not 0.0 < self.young < np.inf:
            raise InputError(f"{whose}: young is {self.young!r}; give a modulus above 0")
        if not 0.0 <= self.poisson < 0.5:
            raise InputError(f"{whose}: poisson is {self.poisson!r}; give a ratio from 0 to below 0.5")
        if min(self.mesh) < 1 or np.prod(np.add(self.mesh, 1)) > LIMIT:
            raise InputError(f"{whose}: mesh is {list(self.mesh)}; give three numbers, 1 or more, of {LIMIT} nodes at most")


class Elastic(NamedTuple):
    """S deformable blocks of T kinds with up to n nodes and m modes, as kernels read them. What a smaller mesh does not have
    is zero."""

    row: Array  # (B,) int64 row of each block in the arrays of deformable ones, -1 if it is rigid
    block: Array  # (S,) int64
    slot: Array  # (S,) int64 the same, counted among free blocks
    kind: Array  # (S,) int64
    mesh: Array  # (T, 3) int64 bricks a direction
    corner: Array  # (T, 8, 3) [m] body frame
    node: Array  # (T, n, 3) [m] body frame, the first direction fastest
    mode: Array  # (T, n, 3, m) [kg^-1/2] displacement of the nodes per amplitude [kg^1/2 m]
    momentum: Array  # (T, n, 3, m) [kg^1/2] mass matrix times mode: takes displacements back to amplitudes
    stiffness: Array  # (T, m) [1/s2] squares of the circular frequencies
    young: Array  # (T,) [Pa]
    poisson: Array  # (T,)

    @property
    def bricks(self) -> Array:
        """(B,) the most bricks along an edge of each block, 1 of rigid ones."""
        most = np.ones(len(self.row), np.int64)
        most[self.block] = self.mesh[self.kind].max(axis=1)
        return most


class Brick(NamedTuple):
    """One deformable block as it is given."""

    block: int
    corner: Array  # (8, 3) [m] body frame
    density: float  # [kg/m3]
    stone: Stone


def make_elastic(fixed: Array, bricks: Sequence[Brick]) -> Elastic:
    """Meshes and modes of the deformable ones among the blocks, of which some are fixed (B,)."""
    kinds: dict[tuple, int] = {}
    kind = np.array([kinds.setdefault(_key(each), len(kinds)) for each in bricks])
    block = np.array([each.block for each in bricks])
    row = np.full(len(fixed), -1)
    row[block] = np.arange(len(block))
    first = [bricks[int(np.argmax(kind == k))] for k in range(len(kinds))]
    n = max(len(lattice(each.stone.mesh)) for each in first)
    node, mode = np.zeros((len(first), n, 3)), np.zeros((len(first), n, 3, 3 * n - 6))
    momentum, square = np.zeros_like(mode), np.zeros((len(first), 3 * n - 6))
    for k, each in enumerate(first):
        place = mesh_nodes(each.corner, each.stone.mesh)
        shape, carried, squares = elastic_modes(place, elements(each.stone.mesh), each.density, each.stone)
        node[k, : len(place)] = place
        mode[k, : len(place), :, : len(squares)] = shape.reshape(-1, 3, len(squares))
        momentum[k, : len(place), :, : len(squares)] = carried.reshape(-1, 3, len(squares))
        square[k, : len(squares)] = squares
    mesh, corner = np.array([each.stone.mesh for each in first]), np.array([each.corner for each in first])
    young, poisson = np.array([[each.stone.young, each.stone.poisson] for each in first]).T.copy()
    slot = (np.cumsum(~fixed) - 1)[block]
    return Elastic(row, block, slot, kind, mesh, corner, node, mode, momentum, square, young, poisson)


def _key(one: Brick) -> tuple:
    size = float(np.abs(one.corner).max())
    return (tuple(np.round(one.corner.ravel() / (ALIKE * size)).astype(np.int64).tolist()), round(size / ALIKE), one.density,
            one.stone.young, one.stone.poisson, one.stone.mesh)  # fmt: skip


def elastic_modes(place: Array, element: Array, density: float, stone: Stone) -> tuple[Array, Array, Array]:
    """Modes (3 n, m) of unit mass without the six rigid ones, mass times mode, and the squares (m,) [1/s2] of the circular
    frequencies (T82)."""
    from scipy.linalg import eigh  # needed only for deformable blocks

    stiffness, mass = matrices(place, element, density, stone)
    square, mode = eigh(stiffness, mass)
    return mode[:, 6:], mass @ mode[:, 6:], square[6:]


def rigid_modes(stiffness: Array) -> Array:
    """(3 n, 6) orthonormal displacements of the nodes that stretch nothing: the directions in which a singular value
    decomposition finds no stiffness (AJ's third scheme, T358)."""
    _, value, direction = np.linalg.svd(stiffness)
    return direction[value <= STIFFLESS * value[0]].T


def matrices(place: Array, element: Array, density: float, stone: Stone) -> tuple[Array, Array]:
    """Stiffness [N/m] and mass [kg] (3 n, 3 n) of bricks (E, 8) on nodes (n, 3)."""
    stiffness, mass = np.zeros((3 * len(place),) * 2), np.zeros((3 * len(place),) * 2)
    matrix = brick_element.elasticity_matrix(stone.young, stone.poisson)
    for corners in element:
        at = (3 * corners[:, None] + np.arange(3)).ravel()
        stiffness[np.ix_(at, at)] += brick_element.stiffness_matrix(place[corners], matrix)
        mass[np.ix_(at, at)] += brick_element.mass_matrix(place[corners], density)
    return stiffness, mass


def lattice(mesh: Iterable[int]) -> Array:
    """(n, 3) natural coordinates of the nodes, the first direction fastest."""
    x, y, z = (np.linspace(-1.0, 1.0, count + 1) for count in mesh)
    grid = np.meshgrid(z, y, x, indexing="ij")
    return np.stack([grid[2].ravel(), grid[1].ravel(), grid[0].ravel()], axis=1)


def mesh_nodes(corner: Array, mesh: Iterable[int]) -> Array:
    """(n, 3) [m] nodes of a block with these corners (8, 3)."""
    return np.array([brick_element.shape_functions(natural) for natural in lattice(mesh)]) @ corner


def elements(mesh: Sequence[int]) -> Array:
    """(E, 8) int64 nodes of the bricks, the first direction fastest."""
    across, plane = mesh[0] + 1, (mesh[0] + 1) * (mesh[1] + 1)
    start = [i + across * j + plane * k for k in range(mesh[2]) for j in range(mesh[1]) for i in range(mesh[0])]
    step = [(c & 1) + across * (c >> 1 & 1) + plane * (c >> 2) for c in range(8)]
    return np.array(start)[:, None] + np.array(step)


def hexahedron(vertices: Array, faces: Sequence[Sequence[int]], label: str) -> Array:
    """(8, 3) the corners of a block in the order of `brick`, its directions those nearest to x, y and z."""
    sides = [frozenset(face) for face in faces]
    opposite = [(i, j) for i in range(len(sides)) for j in range(i + 1, len(sides)) if not sides[i] & sides[j]]
    if len(vertices) != 8 or len(sides) != 6 or len(opposite) != 3 or any(len(side) != 4 for side in sides):
        raise InputError(f"{label}: it has {len(vertices)} corners and {len(faces)} faces and is no hexahedron; deformable "
                         "blocks need 8 corners and 6 faces of 4; leave this one rigid")  # fmt: skip
    centre = np.array([vertices[list(side)].mean(axis=0) for side in sides])
    way = np.array([centre[j] - centre[i] for i, j in opposite])
    axis = max(permutations(range(3)), key=lambda order: float(np.prod([abs(way[order[k], k]) for k in range(3)])))
    pairs = [opposite[p] if way[p, k] > 0 else opposite[p][::-1] for k, p in enumerate(axis)]
    chosen = [[sides[pairs[k][c >> k & 1]] for k in range(3)] for c in range(8)]
    corners = np.array([vertices[next(iter(x & y & z))] for x, y, z in chosen], float)
    if np.linalg.det(corners.T @ brick_element.shape_gradients(np.zeros(3))) < 0:
        corners = corners[[4, 5, 6, 7, 0, 1, 2, 3]]
    return corners


def nodal(elastic: Elastic, amplitude: Array) -> Array:
    """(S, n, 3) [m] or [m/s] in body frames: displacements of amplitudes (S, m), or velocities of their rates."""
    return np.einsum("snim,sm->sni", elastic.mode[elastic.kind], amplitude)


def gauss_stresses(elastic: Elastic, amplitude: Array) -> list[Array]:
    """Of each deformable block, (E, 8, 6) [Pa] xx, yy, zz, xy, yz, zx in the body frame at the Gauss points of its bricks,
    tension positive."""
    moved = nodal(elastic, amplitude)
    found: dict[int, tuple[Array, Array]] = {}
    result = []
    for k, u in zip(elastic.kind.tolist(), moved, strict=True):
        if k not in found:
            element = elements(elastic.mesh[k].tolist())
            matrix = brick_element.elasticity_matrix(float(elastic.young[k]), float(elastic.poisson[k]))
            found[k] = element, np.array([brick_element.stress_matrix(elastic.node[k, corners], matrix) for corners in element])
        element, per_displacement = found[k]
        result.append(np.einsum("egsd,ed->egs", per_displacement, u[element].reshape(len(element), 24)))
    return result


def von_mises(stress: Array) -> Array:
    """(...,) [Pa] of stresses (..., 6)."""
    x, y, z, xy, yz, zx = np.moveaxis(stress, -1, 0)
    return np.sqrt(0.5 * ((x - y) ** 2 + (y - z) ** 2 + (z - x) ** 2) + 3.0 * (xy**2 + yz**2 + zx**2))


def principal(stress: Array) -> Array:
    """(..., 3) [Pa] of stresses (..., 6), ascending: the largest compression first."""
    rows = [[0, 3, 5], [3, 1, 4], [5, 4, 2]]
    return np.linalg.eigvalsh(stress[..., rows])

"""Contact problems of other programs, as their files state them and as our `Problem`.

With r in K the reaction and u the relative velocity of each contact (normal, tangent; a second tangent in 3D):

    local form    u = W r + q
    global form   M v = H r + f,    u = H^T v + w        (so W = H^T M^-1 H)
    law           u + friction |u_t| normal in K*,  normal to r      (Coulomb's; without the shift, the associated one)

`residual` is computed from these matrices alone. `problem` is one body with as many unknowns as it takes: W = A A^T from its
eigenvectors, or M = L L^T, A = H^T L^-T. W and M are symmetric by definition, those in files not always: `problem` has their
symmetric part (without what rounding made negative) and `remainder` the velocity that is then missing.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular
from scipy.sparse.linalg import splu

from drystone.base.errors import InputError
from drystone.engine.solvers.problem import Problem

Array = np.ndarray

NEGLIGIBLE = 1e-14  # of the largest eigenvalue of W: what is below belongs to its null space
NEGATIVE = 1e-6  # of the largest eigenvalue of W: what is further below zero is not from printing six digits
LARGEST = 2**27  # numbers stored in a file's matrix, and numbers in a dense one that solving needs (1 GiB)
AT_ONCE = 512  # columns of H that the mass matrix is divided into at a time


@dataclass(frozen=True)
class LocalProblem:
    """u = W r + q for C contacts in d = 2 or 3 dimensions."""

    form: ClassVar[str] = "local"
    name: str  # of the file
    dimension: int
    W: sp.csc_matrix  # (dC, dC) [1/kg]
    q: Array  # (dC,) [m/s]
    friction: Array  # (C,)
    notes: tuple[str, ...] = ()

    def velocity(self, reaction: Array) -> Array:
        """u (C, 3) of a reaction (C, 3)."""
        return _padded(self.W @ reaction[:, : self.dimension].ravel() + self.q, self.dimension)

    @cached_property
    def response(self) -> Array:
        """(C,) [1/kg] trace of the block of W that belongs to a contact."""
        return self.W.diagonal().reshape(-1, self.dimension).sum(axis=1)

    def problem(self) -> Problem:
        """The problem with Coulomb's law and the symmetric part of W."""
        _check_dense(self.name, "W", self.W.shape)
        W = self.W.toarray()
        values, vectors = np.linalg.eigh((W + W.T) / 2)
        if values[0] < -NEGATIVE * values[-1]:
            raise InputError(f"{self.name}: W has the eigenvalue {values[0]:.3g}; give a positive semidefinite matrix")
        kept = values > NEGLIGIBLE * values[-1]
        rows = vectors[:, kept] * np.sqrt(values[kept])
        return _problem(self, rows, np.zeros(rows.shape[1]), self.q)

    def residual(self, reaction: Array, law: str = "coulomb") -> float:
        """How far a reaction (C, 3) is from a solution; see `residual_of`."""
        return residual_of(self, reaction, law)


@dataclass(frozen=True)
class GlobalProblem:
    """M v = H r + f, u = H^T v + w for n unknowns and C contacts in d = 2 or 3 dimensions."""

    form: ClassVar[str] = "global"
    name: str  # of the file
    dimension: int
    M: sp.csc_matrix  # (n, n) [kg]
    H: sp.csc_matrix  # (n, dC)
    f: Array  # (n,) [N s]
    w: Array  # (dC,) [m/s]
    friction: Array  # (C,)
    notes: tuple[str, ...] = ()

    def velocity(self, reaction: Array) -> Array:
        """u (C, 3) of a reaction (C, 3)."""
        v = self._factors.solve(self.H @ reaction[:, : self.dimension].ravel() + self.f)
        return _padded(self.H.T @ v + self.w, self.dimension)

    @cached_property
    def _factors(self) -> Any:
        try:
            return splu(self.M)
        except RuntimeError:
            raise InputError(f"{self.name}: M is singular; give a mass matrix that is positive definite") from None

    @cached_property
    def response(self) -> Array:
        """(C,) [1/kg] trace of the block of W that belongs to a contact."""
        starts = range(0, self.H.shape[1], AT_ONCE)
        parts = (self.H[:, start : start + AT_ONCE].toarray() for start in starts)
        diagonal = np.concatenate([np.sum(part * self._factors.solve(part), axis=0) for part in parts])
        return diagonal.reshape(-1, self.dimension).sum(axis=1)

    def problem(self) -> Problem:
        """The problem with Coulomb's law and the symmetric part of M."""
        for key, matrix in (("M", self.M), ("H", self.H)):
            _check_dense(self.name, key, matrix.shape)
        M = self.M.toarray()
        try:
            root = np.linalg.cholesky((M + M.T) / 2)
        except np.linalg.LinAlgError:
            raise InputError(f"{self.name}: M is not positive definite; give a mass matrix that is") from None
        rows, free = (solve_triangular(root, right, lower=True).T for right in (self.H.toarray(), self.f))
        return _problem(self, rows, free, self.w)

    def residual(self, reaction: Array, law: str = "coulomb") -> float:
        """How far a reaction (C, 3) is from a solution; see `residual_of`."""
        return residual_of(self, reaction, law)


ForeignProblem = LocalProblem | GlobalProblem


def residual_of(given: ForeignProblem, reaction: Array, law: str) -> float:
    """The larger of two norms of the natural map r - P_K(r - rho s), s the shifted velocity: that of siconos, rho = 1 and the
    root of the sum of squares over |q|; and the largest in velocities, rho = 3 / tr W_cc, over the largest |q_c|. q is the
    velocity without reaction. What has q = 0 is not divided."""
    s, start = given.velocity(reaction), given.velocity(np.zeros_like(reaction))
    if law == "coulomb":
        s[:, 0] += given.friction * np.hypot(s[:, 1], s[:, 2])
    total, most = np.linalg.norm(start), np.linalg.norm(start, axis=1).max()
    plain = np.linalg.norm(reaction - _nearest(reaction - s, given.friction))
    rho = 3 / given.response[:, None]
    scaled = np.linalg.norm((reaction - _nearest(reaction - rho * s, given.friction)) / rho, axis=1).max()
    return float(max(plain / (total if total > np.finfo(float).eps else 1.0), scaled / (most or 1.0)))


def remainder(given: ForeignProblem, problem: Problem, reaction: Array) -> Array:
    """(C, 3) [m/s] what the file's velocity has more than that of its `problem`: zero but for rounding if the file's matrix is
    symmetric."""
    x = problem.free[0] + np.einsum("cik,ci->k", problem.row_b, reaction)
    return given.velocity(reaction) - (problem.row_b @ x + problem.bias)


def local_problem(name: str, dimension: int, W: sp.csc_matrix, q: Array, friction: Array) -> LocalProblem:
    """The problem if its sizes and values make sense."""
    size = _size(name, dimension, friction)
    _check(name, {"W": (W, (size, size)), "q": (q, (size,))})
    W, notes = _completed(W, "W")
    return _answering(LocalProblem(name, dimension, W, q, friction, notes))


def global_problem(
    name: str, dimension: int, M: sp.csc_matrix, H: sp.csc_matrix, f: Array, w: Array, friction: Array
) -> GlobalProblem:
    """The problem if its sizes and values make sense."""
    size, n = _size(name, dimension, friction), M.shape[0]
    _check(name, {"M": (M, (n, n)), "H": (H, (n, size)), "f": (f, (n,)), "w": (w, (size,))})
    M, notes = _completed(M, "M")
    return _answering(GlobalProblem(name, dimension, M, H, f, w, friction, notes))


def _size(name: str, dimension: int, friction: Array) -> int:
    if dimension not in (2, 3):
        raise InputError(f"{name}: dimension is {dimension}; contacts in 2 or 3 dimensions are read")
    if len(friction) == 0:
        raise InputError(f"{name}: there are no contacts; give a problem that has some")
    wrong = np.flatnonzero(~(np.isfinite(friction) & (friction >= 0)))
    if len(wrong):
        raise InputError(f"{name}: friction of contact {wrong[0]} is {friction[wrong[0]]}; give a number from 0 up")
    return dimension * len(friction)


def _check(name: str, parts: dict[str, tuple[Array | sp.csc_matrix, tuple[int, ...]]]) -> None:
    for key, (values, shape) in parts.items():
        if values.shape != shape:
            given, wanted = (" x ".join(map(str, sizes)) for sizes in (values.shape, shape))
            raise InputError(f"{name}: {key} is {given}, the contacts and the other sizes need {wanted}; correct one of them")
        stored = values.nnz if isinstance(values, sp.csc_matrix) else values.size
        if stored > LARGEST:
            raise InputError(f"{name}: {key} has {stored:,} entries; at most {LARGEST:,} are taken on")
        if not np.isfinite(values.data if sp.issparse(values) else values).all():
            raise InputError(f"{name}: {key} has a value that is not finite; give numbers")


def _check_dense(name: str, key: str, shape: tuple[int, int]) -> None:
    """Refuse what solving could not hold in memory: there the matrix is dense, whatever the file stores."""
    if shape[0] * shape[1] > LARGEST:
        said = f"{key} is {shape[0]} x {shape[1]}, and solving needs it dense, with {LARGEST:,} numbers at most"
        raise InputError(f"{name}: {said}; give the islands of bodies that contacts join as problems of their own")


def _completed(matrix: sp.csc_matrix, key: str) -> tuple[sp.csc_matrix, tuple[str, ...]]:
    """A matrix that has entries on one side of its diagonal only is the half of a symmetric one."""
    sides = sp.tril(matrix, -1).count_nonzero(), sp.triu(matrix, 1).count_nonzero()
    if (sides[0] == 0) == (sides[1] == 0):
        return matrix, ()
    side = "upper" if sides[1] else "lower"
    return (matrix + matrix.T - sp.diags(matrix.diagonal())).tocsc(), (f"{key} is stored by its {side} triangle: completed",)


def _answering(given: Any) -> Any:
    """The same; a contact that no reaction of its own can move has no scale and no solution of its own."""
    dead = np.flatnonzero(~(given.response > 0))
    if len(dead):
        said = f"contact {dead[0]} does not answer to its own reaction (trace {given.response[dead[0]]:g} of its part of W)"
        raise InputError(f"{given.name}: {said}; leave it out")
    return given


def _problem(given: ForeignProblem, rows: Array, free: Array, bias: Array) -> Problem:
    """One body with the whitened velocity x, u = rows x + bias; speed and mass are scales that the file does not have."""
    contacts, unknowns = len(given.friction), len(free)
    row_b = _padded(rows, given.dimension)
    start = np.linalg.norm(given.velocity(np.zeros((contacts, 3))), axis=1).max()
    mass = float(np.median(3 / given.response))
    return Problem(
        a=np.full(contacts, -1),
        b=np.zeros(contacts, np.int64),
        row_a=np.zeros((contacts, 3, unknowns)),
        row_b=row_b,
        bias=_padded(bias, given.dimension),
        friction=given.friction,
        dilatancy=np.zeros(contacts),
        compliance=np.zeros(contacts),
        memory=np.zeros((contacts, 3)),
        free=free[None].copy(),
        mass=np.array([mass]),
        place=np.zeros((1, 3)),
        speed=float(start) or 1.0,
        total_mass=mass,
    )


def _padded(values: Array, dimension: int) -> Array:
    """(dC, ...) as (C, 3, ...): in 2D the second tangent is zero."""
    out = np.zeros((len(values) // dimension, 3, *values.shape[1:]))
    out[:, :dimension] = values.reshape(-1, dimension, *values.shape[1:])
    return out


def _nearest(z: Array, friction: Array) -> Array:
    """The nearest points (C, 3) of the friction cones."""
    n, t = z[:, 0], np.hypot(z[:, 1], z[:, 2])
    height = np.maximum(n + friction * t, 0.0) / (1 + friction**2)
    edge = np.column_stack([height, z[:, 1:] * (friction * height / np.where(t > 0, t, 1.0))[:, None]])
    inside = (t <= friction * n) & (n >= 0)
    return np.where(inside[:, None], z, edge)

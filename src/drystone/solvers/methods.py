"""The contact solvers by the names a case knows them by."""

import os

from drystone.solvers import clarabel
from drystone.solvers.gauss_seidel import gauss_seidel
from drystone.solvers.native import native
from drystone.solvers.nlgs import nlgs
from drystone.solvers.shift import by_shift
from drystone.solvers.solution import ContactSolver
from drystone.solvers.spectral import spectral

METHODS = ("native", "clarabel-kinematic", "clarabel-static", "gauss-seidel", "p-spg-fb", "nlgs")


def make_solver(method: str, tolerance: float = 1e-6, threads: int | None = None) -> ContactSolver:
    """The solver named `method`; `threads` None is as many as the machine has."""
    if method in ("native", "nlgs"):  # these know the exact law themselves
        return native(tolerance) if method == "native" else nlgs(tolerance)
    if method in ("gauss-seidel", "p-spg-fb"):
        return by_shift(gauss_seidel(tolerance) if method == "gauss-seidel" else spectral(tolerance), tolerance)
    make = clarabel.kinematic if method == "clarabel-kinematic" else clarabel.static
    return by_shift(make(accept=tolerance, threads=threads or os.cpu_count() or 1), tolerance)

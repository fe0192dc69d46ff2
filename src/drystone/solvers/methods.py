"""The contact solvers by the names a case knows them by."""

import os

from drystone.solvers import clarabel
from drystone.solvers.gauss_seidel import gauss_seidel
from drystone.solvers.native import native
from drystone.solvers.nlgs import nlgs
from drystone.solvers.solution import ContactSolver
from drystone.solvers.spectral import spectral

METHODS = ("native", "clarabel-kinematic", "clarabel-static", "gauss-seidel", "p-spg-fb", "nlgs")


def make_solver(method: str, tolerance: float = 1e-6, threads: int | None = None) -> ContactSolver:
    """The solver named `method`; `threads` None is as many as the machine has."""
    ours = {"native": native, "gauss-seidel": gauss_seidel, "p-spg-fb": spectral, "nlgs": nlgs}
    if method in ours:
        return ours[method](tolerance)
    make = clarabel.kinematic if method == "clarabel-kinematic" else clarabel.static
    return make(accept=tolerance, threads=threads or os.cpu_count() or 1)

"""The contact solvers by the names a case knows them by."""

import os

from drystone.solvers import clarabel
from drystone.solvers.native import native
from drystone.solvers.solution import ContactSolver

METHODS = ("native", "clarabel-kinematic", "clarabel-static")


def make_solver(method: str, tolerance: float = 1e-6, threads: int | None = None) -> ContactSolver:
    """The solver named `method`; `threads` None is as many as the machine has, two for the native one."""
    if method == "native":
        return native(tolerance, threads)
    make = clarabel.kinematic if method == "clarabel-kinematic" else clarabel.static
    return make(accept=tolerance, threads=threads or os.cpu_count() or 1)

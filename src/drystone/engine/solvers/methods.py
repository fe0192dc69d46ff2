"""The contact solvers by the names a case knows them by."""

import os

import numpy as np

from drystone.engine.solvers import clarabel
from drystone.engine.solvers.de_saxce import by_shift
from drystone.engine.solvers.first_order.gauss_seidel import gauss_seidel
from drystone.engine.solvers.first_order.nlgs import nlgs
from drystone.engine.solvers.first_order.spectral_gradient import spectral
from drystone.engine.solvers.native import native
from drystone.engine.solvers.solution import ContactSolver

SPATIAL = ("native", "clarabel-kinematic", "clarabel-static", "gauss-seidel", "p-spg-fb", "nlgs")
ROUND = 0.1  # tolerance of a convex program on the way to Coulomb friction, in units of that asked for
METHODS = (*SPATIAL, "qp")  # qp solves problems of the plane only


def make_solver(
    method: str, tolerance: float = 1e-6, threads: int | None = None, time_limit: float | None = None
) -> ContactSolver:
    """The solver named `method`; `threads` None is as many as the machine has, two for native. `time_limit` [s] is for a
    convex solve of the other methods; native has none."""
    if method == "native":
        return native(tolerance, threads)
    if method == "nlgs":
        return nlgs(tolerance, time_limit=time_limit)
    if method == "gauss-seidel":
        return gauss_seidel(tolerance, time_limit=time_limit)
    if method == "p-spg-fb":
        closer = spectral(ROUND * tolerance, time_limit=time_limit)
        return by_shift(spectral(tolerance, time_limit=time_limit), tolerance, closer)
    make = {"clarabel-kinematic": clarabel.kinematic, "clarabel-static": clarabel.static, "qp": clarabel.planar}[method]
    limit = np.inf if time_limit is None else time_limit
    return by_shift(make(accept=tolerance, threads=threads or os.cpu_count() or 1, time_limit=limit), tolerance)

"""Compile all kernels into the cache by a few steps in each contact form and law, so that the tests do not look hung."""

import time

from drystone import build
from drystone.joints import Surface
from drystone.model import build_model
from drystone.motion import Motion
from drystone.simulate import simulate
from drystone.solvers.methods import SPATIAL, make_solver


def main() -> None:
    """Run a small arch through a pulse strong enough to reach every path of the native solver, then each other method."""
    print("compiling kernels (a minute or two on a new machine) ...", flush=True)
    start = time.perf_counter()
    model = build_model(build.arch(blocks=7), friction=0.6)
    motion = Motion("one-sine", amplitude=8.0, half_period=0.1)
    paths = set()
    for surface in (Surface(), Surface(30e9), Surface(exact=True), Surface(30e9, exact=True)):
        for theta, spin in ((1.0, "implicit"), (0.7, "explicit")):
            steps = simulate(model, [motion], duration=0.1, time_step=1e-3, solver=make_solver("native"), surface=surface,
                             theta=theta, gyroscopic=spin)  # fmt: skip
            paths |= {step.solution.path for step in steps}
    for method in SPATIAL:
        paths |= {step.solution.path for step in simulate(model, duration=1e-3, time_step=1e-3, solver=make_solver(method))}
    model = build_model(build.dome(), friction=0.6)  # large enough for helper threads
    for step in simulate(model, [motion], duration=0.02, time_step=0.01, solver=make_solver("native", threads=2)):
        paths.add(step.solution.path)
    print(f"done in {time.perf_counter() - start:.0f} s; solver paths: {', '.join(sorted(paths))}", flush=True)


if __name__ == "__main__":
    main()

"""Table 2 of Nodargi & Bisegna (2024), line by line: processor time of one time step, theirs and ours.

Ours are means over the first steps of the same ground motions, theirs over whole histories; rigid, with their scheme
(theta = 1, whole steps), on one thread. Where their drawing is not at hand, `ours` is our reading of it.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from bench.clock import detection, timed
from bench.measure import Row
from drystone import build
from drystone.engine.simulation import simulate
from drystone.engine.solvers.native import native
from drystone.engine.solvers.problem import Problem
from drystone.engine.solvers.solution import Guess, Solution
from drystone.ground.motion import Motion
from drystone.structure.model import Model, build_model

DOWN_Y = (0.0, -1.0, 0.0)


class Line(NamedTuple):
    """One line of the table: the published figures and what we run in its place."""

    name: str
    blocks: int
    time_step: float  # [s]
    seconds: tuple[float, float, float]  # published: broad phase, narrow phase, optimisation
    ours: str  # what our structure is
    make: Callable[[], Model]
    motions: tuple[Motion, ...]
    steps: int


def housner() -> Model:
    return build_model(build.block(tilt=np.deg2rad(15)), friction=2.0)


def one_block() -> Model:
    return build_model(build.block(), friction=2.0)


def oppenheim() -> Model:
    return build_model(build.arch(), friction=2.0)


def spandrel() -> Model:
    return build_model(build.spandrel_arch(), friction=0.4)


def house() -> Model:
    return build_model(build.house(), friction=0.7, support_friction=0.9)


def church() -> Model:
    return build_model(build.church(), friction=0.6)


DIAGONAL = (float(np.cos(np.deg2rad(44))), float(np.sin(np.deg2rad(44))), 0.0)
LINES = (
    Line("Housner block", 1, 1e-3, (2e-5, 2e-4, 4e-3), "same", housner, (), 1000),
    Line("Single 3D rigid block", 1, 1e-3, (2e-5, 2e-4, 8e-3), "same", one_block,
         (Motion("one-sine", amplitude=8.0, half_period=0.25, direction=DIAGONAL),), 1000),
    Line("Multi-block arch", 7, 1e-3, (7e-5, 2e-3, 1e-2), "same", oppenheim,
         (Motion("biphasic", amplitude=1.11 * 9.81, duration=0.3, direction=(-1, 0, 0)),), 1000),
    Line("Spandrel arch", 201, 1e-3, (2e-3, 7e-2, 0.1), "spandrel-arch", spandrel,
         (Motion("sine", amplitude=0.36 * 9.81, half_period=1.0),), 600),
    Line("Stone house", 191, 1e-3, (2e-3, 6e-2, 0.4), "house", house,
         (Motion("one-sine", amplitude=0.8 * 9.81, half_period=0.2, direction=DOWN_Y),), 400),
    Line("Historical church", 5161, 2e-3, (0.3, 2.2, 9.5), "church", church,
         (Motion("one-sine", amplitude=9.81, half_period=0.4, direction=DOWN_Y),), 100),
)  # fmt: skip


def rows_of(names: list[str], steps: int | None = None) -> Iterator[Row]:
    """One row a line; `steps` instead of the line's own."""
    with threadpool_limits(1):
        for line in LINES:
            if line.name in names:
                yield row_of(line, steps or line.steps)


def row_of(line: Line, steps: int) -> Row:
    """Means over the steps; the first is not counted: kernels are loaded in it."""
    model, solver, spent, rows, good = line.make(), native(1e-6), [], [], []

    def watched(problem: Problem, guess: Guess) -> Solution:
        seconds, _, answer = timed(lambda: solver(problem, guess))
        spent.append(seconds)
        return answer

    for step in simulate(model, line.motions, duration=steps * line.time_step, time_step=line.time_step, solver=watched,
                         theta=1.0):  # fmt: skip
        rows.append((*detection(model, step.state, line.time_step), spent[-1]))
        good.append(step.solution.converged)
    counted = rows[1:] or rows
    return {
        "kind": "published", "line": line.name, "published_blocks": line.blocks, "time_step": line.time_step,
        "published": line.seconds, "ours": line.ours, "blocks": int((~model.bodies.fixed).sum()), "steps": len(counted),
        "seconds": np.mean(counted, axis=0).tolist(), "converged": float(np.mean(good)),
    }  # fmt: skip

"""One engine on one place, in a process of its own: it is asked for turns, line by line, and answers with their figures.

    python -m bench.engine '{"place": ["wall", 1000, "standing", 1.1, []], "method": "Rapier, best", "seconds": 600}'

The first answer tells how it started, the others a turn each: at least TURN of motion, or one step of the engine if that is
longer. The engine has STARTING seconds of processor time to start and `seconds` for its turns: it ends after the step that uses
them up, and is killed within one that takes longer. A process of its own keeps its memory apart, its threads to the number it
is given, and a crash from the others.
"""

import json
import os
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from bench.clock import forget_peak, peak, timed
from bench.measure import Row
from bench.peers import PEERS
from bench.places import REST, Place, scene_of, sine
from drystone import build
from drystone.base.units import GRAVITY
from drystone.engine.simulation import Step, follow_small_steps, initial_state, simulate
from drystone.engine.small_steps.initial_equilibrium import settled
from drystone.engine.small_steps.integrator import SmallSteps
from drystone.engine.solvers.native import native
from drystone.engine.state import State
from drystone.ground.motion import Motion
from drystone.structure.model import Model, build_model

Array = np.ndarray

TURN = 5e-3  # [s] of motion
FOREVER = 1e3  # [s]
STARTING = 600.0  # [s] of processor time, to build a world or let the structure down
SMALL = {"small steps, 5 ms": 5e-3, "small steps, 1 ms": 1e-3}  # how often the state is handed out [s]
OURS, FINER = SMALL
TWO_THREADS = "small steps, 5 ms, two threads"
CONE = "cone program"
BESIDE = {f"{peer.name}, {setting}": (peer, setting) for peer in PEERS for setting in peer.settings}
METHODS = (OURS, TWO_THREADS, FINER, *BESIDE, CONE)


class Moment(NamedTuple):
    """After a step of an engine."""

    where: Callable[[], Array]  # asks for the centroids (B, 3) [m], seen from the ground
    seconds: tuple[float, float, float] = (0.0, 0.0, 0.0)  # detection, small steps, rest
    joints: int = 0  # patches of contact


class Engine(NamedTuple):
    """How it goes on, and from where."""

    steps: Iterator[Moment]
    time_step: float  # [s]
    start: Array  # (B, 3) [m] centroids from which displacements are told


def available(method: str) -> bool:
    """Whether it can run here: peers must be installed."""
    return method not in BESIDE or bool(BESIDE[method][0].installed())


def threads_of(method: str) -> int:
    return 2 if method == TWO_THREADS else 1


def engine_of(method: str, model: Model, motions: Sequence[Motion]) -> Engine:
    """Small steps start in equilibrium; the others, whose stones are rigid or know no forces yet, as drawn."""
    if method in BESIDE:
        peer, name = BESIDE[method]
        setting = peer.settings[name]
        return Engine(map(Moment, peer.steps(model, motions, setting)), setting.time_step, model.position)
    if method == CONE:
        steps = simulate(model, motions, duration=FOREVER, time_step=1e-3, solver=native(1e-6, 1))
        return Engine(map(moment, steps), 1e-3, model.position)
    threads, h = threads_of(method), SMALL.get(method, SMALL[OURS])
    awake = SmallSteps(model, motions, gravity=GRAVITY, threads=threads, sleeps=False)  # as its peers: what sleeps is free
    state = settled(awake, initial_state(model))
    return Engine(map(moment, follow_small_steps(awake, state, FOREVER, h)), h, state.position)


def moment(step: Step) -> Moment:
    state: State = step.state
    return Moment(lambda: state.position, step.seconds, len(state.patches.face))


def turns(engine: Engine, budget: float) -> Iterator[Row]:
    """The figures of every turn: the motion it reached [s], processor and wall time, displacements. It ends with the engine, or
    when all turns together have used up the budget."""
    rest, each, spent, index = engine.start, max(1, round(TURN / engine.time_step)), 0.0, 0
    while spent < budget:
        cpu, wall, phases, last = 0.0, 0.0, np.zeros(3), None
        for _ in range(each):
            more_cpu, more_wall, found = timed(lambda: next(engine.steps, None))
            if found is None:
                break
            last, index = found, index + 1
            cpu, wall, phases = cpu + more_cpu, wall + more_wall, phases + found.seconds
            if spent + cpu >= budget:
                break
        if last is None:
            yield {"ended": "its numbers ran away"}
            return
        spent, position, until = spent + cpu, last.where(), index * engine.time_step
        resting = until <= REST * (1 + 1e-9)
        rest = position if resting else rest
        yield {"until": until, "cpu": cpu, "wall": wall, "phases": phases.tolist(), "joints": last.joints,
               "moved": farthest(position - engine.start), "drift": None if resting else farthest(position - rest)}  # fmt: skip


def farthest(way: Array) -> float:
    """[m] of the block that moved farthest; infinite if one is lost."""
    far = float(np.linalg.norm(way, axis=1).max())
    return far if np.isfinite(far) else np.inf


def answers(place: Place, method: str, seconds: float, model: Model | None = None) -> Iterator[Row]:
    """How it started, then turn after turn. `model` instead of the scene's own is for tests."""
    warm_up(method)
    found, shaking = scene_of(place) if model is None else (model, sine((0, 1, 0)))
    motions = shaking if place.phase == "shaken" else ()
    before = forget_peak()
    start, _, engine = timed(lambda: engine_of(method, found, motions))
    yield {"blocks": int((~found.bodies.fixed).sum()), "start": start, "memory_MiB": peak() - before}
    for row in turns(engine, seconds):
        yield row if "ended" in row else {**row, "memory_MiB": peak() - before, "peak_MiB": peak()}


def warm_up(method: str) -> None:
    """Two steps of a small shaken wall, so that no compilation is timed; LMGC90 keeps one simulation a process and has none."""
    if method in BESIDE:
        return
    engine = engine_of(method, build_model(build.wall(courses=2, blocks=2), friction=0.6), sine((0, 1, 0)))
    for _ in range(2):
        next(engine.steps)


def allow(seconds: float) -> None:
    """Let this process be killed once it has used so much more processor time [s]; without a core file."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime + seconds) + 2, resource.RLIM_INFINITY))


def main() -> None:
    """Answer every line that comes in; what engines print themselves goes to the errors."""
    job: dict[str, Any] = json.loads(sys.argv[1])
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    place = Place(*job["place"])
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(threads_of(job["method"])):
        os.chdir(folder)  # some engines write files where they are
        allow(STARTING)
        for index, row in enumerate(answers(place, job["method"], job["seconds"])):
            if index == 0:
                allow(job["seconds"])
            print(json.dumps(row), file=out, flush=True)
            if not sys.stdin.readline():
                break


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)

"""Whole histories, engine against engine: places come in, one row of figures an engine goes out.

`ms` is processor time of one thread in ms a ms of motion, which is also seconds a second: its mean in every turn of 5 ms. The
engines of a place take turns in one process, so that whatever else the machine does slows them alike. `moved` is the largest
displacement of a centroid since the start, after every turn; `drift` that since 0.1 s, until when an engine may find its rest.
`start` is what drystone takes to let the structure down before the first step, in seconds; it is not part of `ms`. An engine
that throws a block farther than FAR has `lost` the structure: its figures say nothing, and it is followed no further.

Engines: drystone by small steps, whose state is handed out every 5 ms or 1 ms; Rapier at its best setting (bench/rapier.py);
the cone program a step, rigid, 1 ms, at its defaults, as far as it comes in BUDGET seconds.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from bench import rapier
from bench.clock import timed
from bench.measure import Row
from bench.scenes import SCENES, Direction, make_model
from drystone import build
from drystone.engine.rest import settled
from drystone.engine.small_steps import SmallSteps
from drystone.io.case import read_case
from drystone.model import Model, build_model
from drystone.motion import Motion
from drystone.simulate import initial_state, simulate, simulate_small_steps
from drystone.solvers.native import native
from drystone.state import State
from drystone.units import GRAVITY

Array = np.ndarray
Engine = Iterator[Callable[[], Array]]  # after every turn, how to ask where the centroids are

TURN = 5e-3  # [s] of motion
REST = 0.1  # [s] after which what still moves drifts
BUDGET = 30.0  # [s] of the cone program on a place
FAR = 100.0  # [m]
FOREVER = 1e3  # [s]
SMALL = {"small steps, 5 ms": 5e-3, "small steps, 1 ms": 1e-3}
OURS, RAPIER, CONE = next(iter(SMALL)), "Rapier", "cone program"
METHODS = (*SMALL, RAPIER, CONE)
EXAMPLES = Path(__file__).parents[1] / "examples"
CASES = {"house": EXAMPLES / "pulsed-house.toml", "church": EXAMPLES / "church.toml"}


class Place(NamedTuple):
    """What is followed, for how long, by whom."""

    scene: str
    size: int
    phase: str  # standing or shaken
    span: float  # [s]
    methods: tuple[str, ...]


PLACES = (
    Place("wall", 1000, "standing", REST + 1.0, (*SMALL, RAPIER)),
    Place("wall", 1000, "shaken", 0.15, METHODS),
    Place("tower", 1000, "standing", REST + 1.0, (*SMALL, RAPIER)),
    Place("tower", 1000, "shaken", 0.15, METHODS),
    Place("house", 191, "shaken", 2.4, tuple(SMALL)),
    Place("church", 5182, "shaken", 0.4, (OURS,)),
    Place("wall", 5000, "shaken", 0.06, (OURS, RAPIER)),
    Place("wall", 20000, "shaken", 0.06, (OURS, RAPIER)),
)


def rows_of(place: Place, model: Model | None = None) -> Iterator[Row]:
    """A row an engine. `model` instead of the scene's own is for tests."""
    with threadpool_limits(1):
        warm_up()
        model, shaking = scene_of(place) if model is None else (model, sine(SCENES[place.scene].direction))
        motions = shaking if place.phase == "shaken" else ()
        start, _, state = timed(lambda: settled(SmallSteps(model, gravity=GRAVITY), initial_state(model)))
        known = {"kind": "history", "scene": place.scene, "size": place.size, "phase": place.phase,
                 "blocks": int((~model.bodies.fixed).sum()), "start": start}  # fmt: skip
        engines = {method: engine_of(method, model, motions, state) for method in methods_of(place)}
        starts = {method: state.position if method in SMALL else model.position for method in engines}
        for method, found in in_turns(engines, starts, round(place.span / TURN)).items():
            yield {**known, "method": method, **found, **({"version": rapier.installed()} if method == RAPIER else {})}


def methods_of(place: Place) -> list[str]:
    """Without Rapier where it is not installed."""
    return [method for method in place.methods if method != RAPIER or rapier.installed()]


def in_turns(engines: dict[str, Engine], starts: dict[str, Array], turns: int) -> dict[str, Row]:
    """The figures of all engines, by name; each takes a turn after the other."""
    rows: dict[str, Row] = {name: {"ms": [], "moved": [], "drift": 0.0, "lost": False} for name in engines}
    rest = dict(starts)
    for turn in range(turns):
        for name, row in rows.items():
            if row["lost"] or (name == CONE and TURN * sum(row["ms"]) > BUDGET):
                continue
            seconds, _, where = timed(lambda name=name: next(engines[name]))
            position = where()
            rest[name] = position if turn < round(REST / TURN) else rest[name]
            row["ms"].append(seconds / TURN)
            row["moved"].append(farthest(position - starts[name]))
            row["drift"] = farthest(position - rest[name])
            row["lost"] = row["moved"][-1] > FAR
    return rows


def farthest(way: Array) -> float:
    """[m] of the block that moved farthest; infinite if one is lost."""
    far = float(np.linalg.norm(way, axis=1).max())
    return far if np.isfinite(far) else np.inf


def engine_of(method: str, model: Model, motions: Sequence[Motion], state: State) -> Engine:
    """Small steps start at rest, which `state` is; the others, whose stones are rigid, as drawn."""
    if method == RAPIER:
        return in_parts(rapier.steps(model, motions), rapier.TIME_STEP)
    if method == CONE:
        steps, h = simulate(model, motions, duration=FOREVER, time_step=1e-3, solver=native(1e-6, 1)), 1e-3
    else:
        h = SMALL[method]
        steps = simulate_small_steps(model, motions, duration=FOREVER, time_step=h, state=state)
    return in_parts((lambda position=step.state.position: position for step in steps), h)


def in_parts(steps: Engine, time_step: float) -> Engine:
    """A turn is as many steps as make up its time."""
    each = round(TURN / time_step)
    return islice(steps, each - 1, None, each)


def scene_of(place: Place) -> tuple[Model, Sequence[Motion]]:
    """The structure and its shaking: of bench/scenes.py, or of an example."""
    if place.scene in SCENES:
        return make_model(place.scene, place.size), sine(SCENES[place.scene].direction)
    case = read_case(CASES[place.scene])
    return case.model(), case.motions


def sine(direction: Direction) -> tuple[Motion, ...]:
    """1 g with a half-period of 30 ms."""
    return (Motion("sine", amplitude=9.81, half_period=0.03, direction=direction),)


def warm_up() -> None:
    """Two turns of a small shaken wall, so that no compilation is timed."""
    model = build_model(build.wall(courses=2, blocks=2), friction=0.6)
    for method in (OURS, CONE):
        engine = engine_of(method, model, sine((0, 1, 0)), initial_state(model))
        for _ in range(2):
            next(engine)

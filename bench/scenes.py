"""Scenes of the benchmark: a name, a size and a contact form come in, the contact problems of a few steps of each phase go out.

Structures grow by more blocks of the same size at the same proportions of the whole. They stand for SETTLE steps and are then
shaken by a sine of 1 g and a half-period of 30 ms, so that every phase is met within some hundred steps:

    standing   the last steps before the shaking
    starting   from the first step in which a joint opens by more than 10 micrometres
    impacting  from the first step, 20 or more after that, in which impacts take more than 1 % of the kinetic energy

The native solver steps in time. A phase is consecutive steps with their warm
starts, led by the one before, which is not timed: solvers may keep the plan of its contact graph.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bench.clock import detection
from drystone import build
from drystone.engine.cone_step.integrator import Energy
from drystone.engine.contact_laws import ContactSurface
from drystone.engine.simulation import Step, simulate
from drystone.engine.solvers.native import native
from drystone.engine.solvers.problem import Problem
from drystone.engine.solvers.solution import Guess, Solution
from drystone.ground.motion import Motion
from drystone.structure.model import Block, Model, build_model

Direction = tuple[float, float, float]
PHASES = ("standing", "starting", "impacting")
FORMS = {"rigid": None, "compliant": 30e9}  # modulus of the stone [Pa]
LAWS = ("associated", "coulomb")
TOLERANCE = 1e-6
TIME_STEP = 1e-3  # [s]
SETTLE, LAST = 60, 300  # steps before the shaking; steps at most
OPENED = 1e-5  # [m]
NOTABLE, LATER = 1e-2, 20


class Case(NamedTuple):
    """The contact problem of one step and what it met."""

    problem: Problem
    guess: Guess
    contact_ms: float  # of contact detection where the step ends
    speed: float  # rms velocity of the blocks after the step, in units of g h


class Scene(NamedTuple):
    """A structure by its size, and the direction in which it is shaken."""

    make: Callable[[int, int], list[Block]]
    counts: dict[int, tuple[int, int]]
    direction: Direction


def wall(courses: int, blocks: int) -> list[Block]:
    """Running bond of stones of 0.5 x 0.25 m through the thickness, a tenth of the height."""
    return build.wall(courses=courses, blocks=blocks, length=0.5 * blocks, height=0.25 * courses, thickness=0.025 * courses)


def tower(blocks_per_side: int, courses: int) -> list[Block]:
    """Hollow tower of stones of 0.5 x 0.25 x 0.25 m."""
    return build.tower(blocks_per_side=blocks_per_side, courses=courses)


def dome(rings: int, blocks: int) -> list[Block]:
    """Hemisphere as thick as a tenth of its radius."""
    return build.dome(rings=rings, blocks=blocks, radius=5 / 12 * rings, thickness=0.5 / 12 * rings)


def arch(voussoirs: int, across: int) -> list[Block]:
    """Barrel: the Oppenheim arch with its voussoirs cut into stones of 1 m along y, in running bond."""
    scale = voussoirs / 45
    whole = build.arch(blocks=voussoirs, radius=10 * scale, thickness=1.5 * scale, depth=float(across))
    aligned = np.arange(across + 1) - across / 2
    shifted = np.concatenate([aligned[:1], aligned[:-1] + 0.5, aligned[-1:]])
    blocks = [block for block in whole if block.fixed]
    for i, voussoir in enumerate(block for block in whole if not block.fixed):
        for k, (front, back) in enumerate(pairwise(shifted if i % 2 else aligned)):
            vertices = voussoir.vertices.copy()
            vertices[:, 1] = np.where(vertices[:, 1] < 0, front, back)
            blocks.append(replace(voussoir, vertices=vertices, name=f"{voussoir.name}-{k + 1}"))
    return blocks


SIZES = (200, 1000, 5000, 20000)  # of the contact solves; histories also have a wall of 50,000
SCENES = {
    "wall": Scene(wall, {200: (14, 14), 1000: (32, 31), 5000: (70, 71), 20000: (141, 141), 50000: (224, 223)}, (0, 1, 0)),
    "tower": Scene(tower, {200: (5, 10), 1000: (10, 25), 5000: (22, 57), 20000: (45, 111)}, (1, 0, 0)),
    "dome": Scene(dome, {200: (10, 20), 1000: (22, 45), 5000: (50, 100), 20000: (100, 200)}, (1, 0, 0)),
    "arch": Scene(arch, {200: (20, 10), 1000: (45, 22), 5000: (100, 50), 20000: (200, 100)}, (1, 0, 0)),
}


def make_model(scene: str, size: int) -> Model:
    """The structure with friction 0.6."""
    make, counts, _ = SCENES[scene]
    return build_model(make(*counts[size]), friction=0.6)


def surface_of(form: str, law: str) -> ContactSurface:
    return ContactSurface(FORMS[form], coulomb=law == "coulomb")


def phases(model: Model, direction: Direction, surface: ContactSurface, count: int) -> Iterator[tuple[str, list[Case]]]:
    """Each phase with 1 + `count` consecutive cases, as soon as they are there; one that is not met by LAST is left out."""
    before: list[tuple[Problem, Guess]] = []  # the last two steps
    solver = native(TOLERANCE)

    def keep(problem: Problem, guess: Guess) -> Solution:
        before[:] = [*before[-1:], (problem, guess)]
        return solver(problem, guess)

    shaking = Motion("sine", amplitude=9.81, half_period=0.03, direction=direction, start=SETTLE * TIME_STEP)
    left, kept, begun, energy = list(PHASES), [], LAST, Energy(*7 * [0.0])
    for step in simulate(model, [shaking], duration=LAST * TIME_STEP, time_step=TIME_STEP, solver=keep, surface=surface):
        if not kept and begins(left[0], step, energy, count, begun):
            kept, begun = [Case(*before[0], 0.0, 0.0)], step.state.step
        if kept:
            contact = sum(detection(model, step.state, TIME_STEP))
            kept.append(Case(*before[-1], 1e3 * contact, speed_of(model, step)))
        if len(kept) > count:
            yield left.pop(0), kept
            kept = []
            if not left:
                return
        energy = step.state.energy


def begins(phase: str, step: Step, before: Energy, count: int, begun: int) -> bool:
    """Whether `phase` begins with this step; `begun` is where the phase before did."""
    index, energy = step.state.step, step.state.energy
    if phase == "standing":
        return index == SETTLE - count + 1
    if phase == "starting":
        return index > SETTLE and opening(step) > OPENED
    return index >= begun + LATER and energy.impact - before.impact > NOTABLE * before.kinetic


def opening(step: Step) -> float:
    """[m] of the widest joint at the end of the step."""
    contacts = step.state.contacts
    return float(np.max(np.einsum("ci,ci->c", contacts.velocity, contacts.normal), initial=0.0)) * TIME_STEP


def speed_of(model: Model, step: Step) -> float:
    """Rms velocity of the free blocks in units of g h."""
    velocity = step.state.velocity[~model.bodies.fixed, :3]
    return float(np.sqrt(np.mean(np.sum(velocity**2, axis=1))) / (9.81 * TIME_STEP))

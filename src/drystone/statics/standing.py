"""Whether a structure stands, by Coulomb friction: a model and its loads come in, a `Standing` goes out (T401 to T404).

Three answers. "stands": let down from where it is drawn, with no force in any joint, it comes to rest nearby and stays there.
"self-stress": it does not, yet there are forces that would hold it: its joints would have to be pressed together, by wedges or
prestress, before it was left alone. "falls": no forces that friction allows hold it. The trial is a history by the small steps,
from the same start as any other (engine/rest.py), so that a history can say nothing else.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from drystone.blas import one_blas_thread
from drystone.contact.contacts import Contacts
from drystone.contact.pairs import touching_pairs
from drystone.engine.rest import LetDown, farthest, let_down
from drystone.engine.small_steps import Material, SmallSteps
from drystone.laws import DEFAULT_YOUNG
from drystone.loads import AppliedLoad, load_wrench, weight_wrench
from drystone.model import Model
from drystone.quaternion import conjugate, rotate, rotation_vector
from drystone.simulate import initial_state
from drystone.state import State
from drystone.statics.balance import Balance, assemble_balance
from drystone.statics.program import SOLVED, optimise_forces
from drystone.units import GRAVITY

Array = np.ndarray

STANDS, SELF_STRESS, FALLS = "stands", "self-stress", "falls"

TRIAL_DURATION, LONG_TRIAL_DURATION = (
    1.0,
    3.0,
)  # [s] of the history that follows the letting down; the long one if it is restless in the end
RESTLESS_SPEED = 1e-3  # [m/s] faster than this
CHECK_INTERVAL = 0.02  # [s] after which it is looked at
MIN_TRIAL_DURATION = 0.1  # [s] of the history of a structure that is at rest already
REST_SPEED = 1e-6  # [m/s] slower than this is at rest
VISIBLE_FACTOR = 4.0  # times farther than where motion begins (T401): the motion is told when a block has gone so far
MOVING_SHARE = 0.25  # of the largest displacement: the blocks that are said to move
SAME_BODY_SHARE = 0.1  # of the largest displacement: blocks that part by less move as one
CLOSED_GAP_SHARE = 1e-6  # of the radius of the smallest block, or
SINGLE_PRECISION = 2.0**-22  # of the largest coordinate, four roundings of a file in single precision: a wider gap is open
NEEDED_SHARE = 0.05  # of the largest difference: joints that need more pressure than they have


class StandingTrial(NamedTuple):
    """How a structure fared when it was let go."""

    stands: bool
    finite: bool  # the history could be followed
    is_let_down: bool  # it came to rest near where it is drawn
    displacement: Array  # (B, 3) [m] since it was drawn
    velocity: Array  # (B, 6) [m/s, rad/s] the mean since it was drawn: the motion that starts
    contacts: Contacts  # at the end, with forces [N] in the place of impulses
    time: float  # [s] of the history that follows the letting down

    @property
    def moved(self) -> Array:
        """(B,) [m]"""
        return np.linalg.norm(self.displacement, axis=1)

    @property
    def mechanism(self) -> Array:
        """(B, 6) [m/s, rad/s] the motion that starts; what moves little only gives way."""
        return np.where((self.moved >= SAME_BODY_SHARE * self.moved.max())[:, None], self.velocity, 0.0)

    @property
    def moving(self) -> Array:
        """Rows of the blocks that move away, the farthest first; none of a structure that stands."""
        if self.stands:
            return np.empty(0, np.int64)
        return np.array([i for i in np.argsort(-self.moved) if self.moved[i] >= MOVING_SHARE * self.moved.max()], np.int64)


class Standing(NamedTuple):
    """Whether a structure stands."""

    verdict: str  # "stands", "self-stress" or "falls"
    trial: StandingTrial
    joints: tuple[tuple[int, int], ...]  # (a, b) that self-stress would have to press together, the most needed first
    contacts: Contacts | None  # with the forces [N] of the least self-stress


def try_standing(
    model: Model,
    *,
    gravity: float = GRAVITY,
    loads: Sequence[AppliedLoad] = (),
    young: float = DEFAULT_YOUNG,
    threads: int | None = 1,
) -> StandingTrial:
    """The structure let down, then left alone for a second (T401)."""
    material = Material(young=young)
    engine = SmallSteps(model, gravity=gravity, loads=loads, material=material, threads=threads)
    drawn = initial_state(model, gravity)
    with one_blas_thread():
        settled = let_down(engine, drawn)
        return _observe(engine, drawn, settled)


def _observe(engine: SmallSteps, drawn: State, settled: LetDown) -> StandingTrial:
    model, state = engine.model, settled.state
    free, begin = ~model.bodies.fixed, farthest(model, engine.material.young)
    is_quiet, stands = settled.found and settled.speed < REST_SPEED, True
    for check in range(1, round(LONG_TRIAL_DURATION / CHECK_INTERVAL) + 1):
        state, _ = engine.advance(state, CHECK_INTERVAL)
        speed = float(np.abs(state.velocity[free]).max())
        if not np.isfinite(state.velocity).all():
            break
        moved = np.linalg.norm(state.position - drawn.position, axis=1)
        stands = bool((moved <= begin)[free].all())
        is_quiet = is_quiet and speed < REST_SPEED
        is_enough = check * CHECK_INTERVAL >= (
            MIN_TRIAL_DURATION if is_quiet else TRIAL_DURATION if speed < RESTLESS_SPEED else LONG_TRIAL_DURATION
        )
        if is_enough or (moved > VISIBLE_FACTOR * begin)[free].any():
            break
    contacts = state.contacts._replace(impulse=state.contacts.impulse / CHECK_INTERVAL)
    finite, displacement = bool(np.isfinite(state.velocity).all()), state.position - drawn.position
    velocity = _starting_motion(displacement, state.rotation) / state.time
    return StandingTrial(stands and finite, finite, settled.found, displacement, velocity, contacts, state.time)


def _starting_motion(displacement: Array, rotation: Array) -> Array:
    """(B, 6) [m, rad] the motion that starts, of displacements (B, 3) and turns (B, 4): a block that turns about an axis has
    gone along a chord, half a turn off the way on which it started."""
    half = rotation * np.where(rotation[:, :1] < 0.0, -1.0, 1.0) + [1.0, 0.0, 0.0, 0.0]
    half /= np.linalg.norm(half, axis=1, keepdims=True)
    return np.concatenate([rotate(conjugate(half), displacement), rotation_vector(rotation)], axis=1)


def judge_standing(
    model: Model,
    *,
    gravity: float = GRAVITY,
    loads: Sequence[AppliedLoad] = (),
    young: float = DEFAULT_YOUNG,
    threads: int | None = 1,
) -> Standing:
    """Whether the structure, as built, bears its weight and loads by Coulomb's friction."""
    trial = try_standing(model, gravity=gravity, loads=loads, young=young, threads=threads)
    if trial.stands:
        return Standing(STANDS, trial, (), None)
    system = balance_of_closed_joints(model)
    forces = least_self_stress(system, weight_wrench(model, gravity) + load_wrench(model, loads, gravity))
    if forces is None:
        return Standing(FALLS, trial, (), None)
    return Standing(SELF_STRESS, trial, _joints_in_need(forces, trial.contacts), forces)


def balance_of_closed_joints(model: Model) -> Balance:
    """The balance of the joints that are closed as drawn; open ones carry nothing (T403)."""
    return assemble_balance(model, widest=widest_closed(model))


def widest_closed(model: Model) -> float:
    """[m] a joint with a wider gap is open; narrower ones are rounding."""
    largest = max(float(np.abs(block.vertices).max()) for block in model.blocks)
    return max(CLOSED_GAP_SHARE * float(model.bodies.radius[~model.bodies.fixed].min()), SINGLE_PRECISION * largest)


def least_self_stress(system: Balance, dead: Array) -> Contacts | None:
    """The contacts with forces that hold the structure, those with the least sum of thrusts: the level parts of normal forces;
    None if there are none. The cone of Coulomb's friction is that of the associated law: what differs is the motion (T403)."""
    if not len(system.friction):
        return None
    cost = np.zeros(system.frame.shape[:2])
    cost[:, 0] = _horizontal_part(system.contacts.normal)
    optimum = optimise_forces(system, dead, cost=cost)
    return system.with_forces(optimum.force) if optimum.status == SOLVED else None


def _joints_in_need(needed_forces: Contacts, trial_forces: Contacts) -> tuple[tuple[int, int], ...]:
    """Pairs of blocks that thrust against each other more in the one state of forces than in the other (T404)."""
    more = _thrusts(needed_forces)
    for pair, thrust in _thrusts(trial_forces).items():
        more[pair] = more.get(pair, 0.0) - thrust
    largest = max(more.values(), default=0.0)
    needed = [pair for pair, thrust in more.items() if thrust > NEEDED_SHARE * largest > 0.0]
    return tuple(sorted(needed, key=lambda pair: -more[pair]))


def _thrusts(contacts: Contacts) -> dict[tuple[int, int], float]:
    """[N] thrust of each pair of blocks."""
    if not len(contacts.gap):
        return {}
    pair, row = touching_pairs(contacts)
    thrust = np.bincount(
        row, _horizontal_part(contacts.normal) * np.einsum("ij,ij->i", contacts.impulse, contacts.normal), len(pair)
    )
    return {(int(a), int(b)): float(n) for (a, b), n in zip(pair, thrust, strict=True)}


def _horizontal_part(normal: Array) -> Array:
    """(C,) the level part of normals: 0 of a bed, 1 of an upright joint."""
    return np.hypot(normal[:, 0], normal[:, 1])

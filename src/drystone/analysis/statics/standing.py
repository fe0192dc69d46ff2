"""Whether a structure stands by Coulomb friction (T401 to T404).

There are three verdicts. "stands": released as drawn, without force in any joint, it comes to rest nearby and stays there.
"self-stress": it does not, but there are forces that would hold it if wedges or prestress pressed its joints together before it
is released. "falls": no forces within Coulomb's cone hold it. The trial is a history by small steps from the same initial state
as any other (engine/small_steps/initial_equilibrium.py), so that it agrees with histories."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from drystone.analysis.statics.balance import Balance, assemble_balance
from drystone.analysis.statics.cone_program import SOLVED, optimise_forces
from drystone.base.blas import one_blas_thread
from drystone.base.quaternion import conjugate, rotate, rotation_vector
from drystone.base.units import GRAVITY
from drystone.contact.contacts import Contacts
from drystone.contact.pairs import touching_pairs
from drystone.engine.simulation import initial_state
from drystone.engine.small_steps.initial_equilibrium import LetDown, farthest, let_down
from drystone.engine.small_steps.integrator import Material, SmallSteps
from drystone.engine.state import State
from drystone.structure.joint_laws import DEFAULT_YOUNG
from drystone.structure.loads import AppliedLoad, load_wrench, weight_wrench
from drystone.structure.model import Model

Array = np.ndarray

STANDS, SELF_STRESS, FALLS = "stands", "self-stress", "falls"

TRIAL_DURATION, LONG_TRIAL_DURATION = 1.0, 3.0  # [s] of the history after settling; the long one if it still moves at the end
RESTLESS_SPEED = 1e-3  # [m/s] a structure that is faster still moves
CHECK_INTERVAL = 0.02  # [s] between two checks of the motion
MIN_TRIAL_DURATION = 0.1  # [s] of the history of a structure that is already at rest
REST_SPEED = 1e-6  # [m/s] a structure that is slower is at rest
VISIBLE_FACTOR = 4.0  # times the limit at which motion begins (T401): the trial ends when a block has moved so far
MOVING_SHARE = 0.25  # of the largest displacement: blocks that move farther are reported as moving
SAME_BODY_SHARE = 0.1  # of the largest displacement: blocks whose displacements differ by less move as one
CLOSED_GAP_SHARE = 1e-6  # of the radius of the smallest block: a wider gap is open, unless it is less than
SINGLE_PRECISION = 2.0**-22  # of the largest coordinate: four roundings of a file in single precision
NEEDED_SHARE = 0.05  # of the largest difference of thrusts: joints with a larger one need more pressure than they have


class StandingTrial(NamedTuple):
    """The outcome of releasing a structure."""

    stands: bool
    finite: bool  # whether the history could be computed to its end
    is_let_down: bool  # whether the structure came to rest close to where it is drawn
    displacement: Array  # (B, 3) [m] from where it is drawn
    velocity: Array  # (B, 6) [m/s, rad/s] the mean velocity from where it is drawn: the motion that starts
    contacts: Contacts  # at the end, with forces [N] instead of impulses
    time: float  # [s] duration of the history after settling

    @property
    def moved(self) -> Array:
        """(B,) [m] The distance that each block has moved."""
        return np.linalg.norm(self.displacement, axis=1)

    @property
    def mechanism(self) -> Array:
        """(B, 6) [m/s, rad/s] The motion that starts; blocks that move little only deform."""
        return np.where((self.moved >= SAME_BODY_SHARE * self.moved.max())[:, None], self.velocity, 0.0)

    @property
    def moving(self) -> Array:
        """The rows of the blocks that move away, the farthest first; none if the structure stands."""
        if self.stands:
            return np.empty(0, np.int64)
        return np.array([i for i in np.argsort(-self.moved) if self.moved[i] >= MOVING_SHARE * self.moved.max()], np.int64)


class Standing(NamedTuple):
    """Whether a structure stands."""

    verdict: str  # "stands", "self-stress" or "falls"
    trial: StandingTrial
    joints: tuple[tuple[int, int], ...]  # (a, b) that self-stress would have to press together, in the order of need
    contacts: Contacts | None  # with the forces [N] of the least self-stress


def try_standing(
    model: Model,
    *,
    gravity: float = GRAVITY,
    loads: Sequence[AppliedLoad] = (),
    young: float = DEFAULT_YOUNG,
    threads: int | None = 1,
) -> StandingTrial:
    """Let the structure settle and then follow it for about a second (T401)."""
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
    """(B, 6) [m, rad] The motion that starts, from displacements (B, 3) and rotations (B, 4). The displacement of a block that
    rotates about an axis is a chord, and its direction differs from the initial one by half the angle of rotation."""
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
    """Whether the structure as drawn bears its weight and loads by Coulomb friction."""
    trial = try_standing(model, gravity=gravity, loads=loads, young=young, threads=threads)
    if trial.stands:
        return Standing(STANDS, trial, (), None)
    system = balance_of_closed_joints(model)
    forces = least_self_stress(system, weight_wrench(model, gravity) + load_wrench(model, loads, gravity))
    if forces is None:
        return Standing(FALLS, trial, (), None)
    return Standing(SELF_STRESS, trial, _joints_in_need(forces, trial.contacts), forces)


def balance_of_closed_joints(model: Model) -> Balance:
    """The balance of the joints that are closed as drawn; open ones carry no force (T403)."""
    return assemble_balance(model, widest=widest_closed(model))


def widest_closed(model: Model) -> float:
    """[m] The widest gap of a closed joint; narrower gaps are due to rounding."""
    largest = max(float(np.abs(block.vertices).max()) for block in model.blocks)
    return max(CLOSED_GAP_SHARE * float(model.bodies.radius[~model.bodies.fixed].min()), SINGLE_PRECISION * largest)


def least_self_stress(system: Balance, dead: Array) -> Contacts | None:
    """The contacts with the forces that hold the structure with the smallest sum of thrusts, which are the horizontal parts of
    normal forces; None if there are none. The admissible forces are the same by Coulomb and by associated friction (T403)."""
    if not len(system.friction):
        return None
    cost = np.zeros(system.frame.shape[:2])
    cost[:, 0] = _horizontal_part(system.contacts.normal)
    optimum = optimise_forces(system, dead, cost=cost)
    return system.with_forces(optimum.force) if optimum.status == SOLVED else None


def _joints_in_need(needed_forces: Contacts, trial_forces: Contacts) -> tuple[tuple[int, int], ...]:
    """The pairs of blocks that need a larger thrust between them than they have in the trial (T404)."""
    more = _thrusts(needed_forces)
    for pair, thrust in _thrusts(trial_forces).items():
        more[pair] = more.get(pair, 0.0) - thrust
    largest = max(more.values(), default=0.0)
    needed = [pair for pair, thrust in more.items() if thrust > NEEDED_SHARE * largest > 0.0]
    return tuple(sorted(needed, key=lambda pair: -more[pair]))


def _thrusts(contacts: Contacts) -> dict[tuple[int, int], float]:
    """[N] The thrust between each pair of blocks."""
    if not len(contacts.gap):
        return {}
    pair, row = touching_pairs(contacts)
    thrust = np.bincount(
        row, _horizontal_part(contacts.normal) * np.einsum("ij,ij->i", contacts.impulse, contacts.normal), len(pair)
    )
    return {(int(a), int(b)): float(n) for (a, b), n in zip(pair, thrust, strict=True)}


def _horizontal_part(normal: Array) -> Array:
    """(C,) The horizontal part of normals: 0 for a bed joint, 1 for an upright joint."""
    return np.hypot(normal[:, 0], normal[:, 1])

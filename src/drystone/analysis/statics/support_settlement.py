"""Settlement of supports: the states of equilibrium of a structure while its supports move, one per increment (T357).

Friction is Coulomb's, joints are areas, and mortar and deformable blocks are as in histories: this is the engine of small steps
with continuously damped velocities, so that nothing oscillates. Time has no meaning in it. Supports move so slowly that the
damping forces are one or two thousandths of the weight, however large the increments are. They wait while a block is out of
balance, for example after a crack has opened suddenly, and at the end of each increment they stop until every block is in
balance."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from drystone.base import quaternion
from drystone.base.blas import one_blas_thread
from drystone.base.errors import InputError
from drystone.base.signals import defer_signals
from drystone.base.units import GRAVITY
from drystone.engine.simulation import initial_state
from drystone.engine.small_steps.integrator import LETTING_DOWN, Material, Relaxing, SmallSteps
from drystone.engine.state import State
from drystone.ground.motion import Motion
from drystone.structure.joint_laws import DEFAULT_YOUNG
from drystone.structure.loads import AppliedLoad, find_blocks, load_wrench, weight_wrench
from drystone.structure.model import Model

Array = np.ndarray

SPAN_DURATION = 5e-3  # [s] between two checks of the imbalance of the structure
DRAG_SHARE = 2e-3  # of gravity: the damping that resists the motion of supports, and the acceleration of this motion
MOVING_DAMPING_RATE = 20.0  # [1/s] rate of damping while supports move
# [1/s], [s] rates of damping and their durations while supports stand still, one after the other: high rates end vibrations,
# the highest also those caused by sliding; low rates let blocks tilt to where they rest, or fall
REST_DAMPING_STAGES = ((200.0, 0.1), (5000.0, 0.03), (20.0, 1.0), (5000.0, 0.03), (2.0, 10.0), (5000.0, 0.1))
BALANCED_ACCELERATION = 5e-5  # of gravity: in a structure in balance no block is accelerated by more
WAITING_ACCELERATION = 0.05  # of gravity: supports wait while a block is accelerated by more
SPANS_PER_KEPT_STATE = 100  # between two states that are kept during an increment: half a millimetre,
MAX_KEPT_STATES = 64  # or more in a long increment
FALLEN_SHARE = 0.1  # of its radius: a block that moves farther while the supports stand still falls

IN_BALANCE, FALLS, RESTLESS = "in balance", "falls", "does not come to rest"


class RestState(NamedTuple):
    """A structure after its supports have stopped."""

    state: State
    off_balance: float  # of gravity, or of the weight: see `imbalance`
    verdict: str  # IN_BALANCE, FALLS or RESTLESS
    falls: Array  # (B,) bool the blocks that fall


class SettlementState(NamedTuple):
    """The structure at the end of an increment, or where it lost its balance."""

    moved: Array  # (B, 3) [m] displacement of each support
    rest: RestState  # the contacts of its state with forces [N]


def settle_supports(
    model: Model,
    path: Array,
    *,
    gravity: float = GRAVITY,
    young: float = DEFAULT_YOUNG,
    loads: Sequence[AppliedLoad] = (),
    threads: int | None = 1,
) -> Iterator[SettlementState]:
    """The structure under its weight, and then after its supports have moved to path[1], path[2] ... (n + 1, B, 3) [m] along
    straight lines; path[0] is zero. The first state that is not in balance is the last."""
    if not gravity > 0.0:
        raise InputError(
            f"settlement: gravity is {gravity:g} m/s2; without weight no block follows a support; give more than 0"
        )
    engine = _engine(model, path, gravity=gravity, loads=loads, material=Material(young=young), threads=threads)
    rest_state = settle_under_weight(engine)
    yield SettlementState(path[0], _as_forces(rest_state))
    for start, end in pairwise(path):
        if rest_state.verdict != IN_BALANCE:
            return
        share, rest_state = _move_supports(engine, rest_state.state, end - start)
        yield SettlementState(start + share * (end - start), _as_forces(rest_state))


def straight_path(model: Model, moves: Mapping[str, Sequence[float]], increments: int = 1) -> Array:
    """(n + 1, B, 3) [m] The path of supports, or groups of supports, that move by (3,) [m] in a straight line, all at the same
    time and in equal increments."""
    target = np.zeros((len(model.blocks), 3))
    for name, move in moves.items():
        chosen = [i for i in find_blocks(model, name, "settlement") if model.blocks[i].fixed]
        if not chosen:
            raise InputError(f"settlement: block {name!r} is not fixed; only supports can be moved: set fixed = true")
        target[chosen] += np.asarray(move, float)
    return np.multiply.outer(np.linspace(0.0, 1.0, increments + 1), target)


def _engine(model: Model, path: Array, **options) -> SmallSteps:
    """An engine with a motion for the supports that move."""
    moving = tuple(model.blocks[i].name for i in np.flatnonzero(np.any(path != 0.0, axis=(0, 2))))
    motion = Motion("settlement", displacement_amplitude=1.0, duration=1.0, direction=(0, 0, -1), supports=moving)
    return SmallSteps(model, [motion] if moving else [], **options)


def settle_under_weight(engine: SmallSteps) -> RestState:
    """Bring the structure as drawn to rest. Bonds do not break until the weight acts on them, and only then if they must."""
    state = initial_state(engine.model, engine.gravity)
    for _ in range(round(REST_DAMPING_STAGES[0][1] / SPAN_DURATION)):
        state = _advance(engine, state, LETTING_DOWN)
    return come_to_rest(engine, state)


def come_to_rest(engine: SmallSteps, start: State) -> RestState:
    """Follow the structure with its supports at rest until it is in balance or a block has fallen."""
    radius, free = engine.model.bodies.radius, ~engine.model.bodies.fixed
    state, accelerating, falls = start, np.inf, np.zeros(len(free), bool)
    for rate, lasts in REST_DAMPING_STAGES:
        for _ in range(round(lasts / SPAN_DURATION)):
            last, off_before, state = state, accelerating, _advance(engine, state, Relaxing(rate, breaks=True))
            accelerating = imbalance(engine, last, state, rate)
            if max(off_before, accelerating) <= BALANCED_ACCELERATION:
                return RestState(state, accelerating, IN_BALANCE, falls)
            falls = free & ~(np.linalg.norm(state.position - start.position, axis=1) <= FALLEN_SHARE * radius)
            if falls.any():
                return RestState(state, accelerating, FALLS, falls)
    return RestState(state, accelerating, RESTLESS, falls)


def _move_supports(engine: SmallSteps, start: State, displacement: Array) -> tuple[float, RestState]:
    """The structure after its supports have gone by `way` (B, 3) [m], or as far as it stays in balance: the share of it."""
    length = float(np.linalg.norm(displacement, axis=1).max())
    if length == 0.0:
        return 1.0, come_to_rest(engine, start)
    target_speed = DRAG_SHARE * engine.gravity / MOVING_DAMPING_RATE  # [m/s]
    state, travelled, speed, accelerating = start, 0.0, 0.0, 0.0
    trail = KeptStates([(0.0, start)])
    while travelled < length:
        faster = _next_speed(
            speed,
            target_speed if accelerating <= WAITING_ACCELERATION else 0.0,
            length - travelled,
            DRAG_SHARE * engine.gravity,
        )
        if faster == speed == 0.0:
            rest_state = come_to_rest(engine, state)
            if rest_state.verdict != IN_BALANCE:
                travelled, rest_state = _find_first_lost(engine, trail, travelled, rest_state)
                return travelled / length, rest_state
            state, accelerating = rest_state.state, rest_state.off_balance
            continue
        further = min(0.5 * (speed + faster) * SPAN_DURATION, length - travelled)
        mean = further / SPAN_DURATION
        change = 2.0 * (mean - speed) / SPAN_DURATION if faster > 0.0 else 0.0
        carried = np.multiply.outer((mean - 0.5 * change * SPAN_DURATION, change), displacement / length)
        last, state = state, _advance(engine, state, Relaxing(MOVING_DAMPING_RATE, breaks=True, carried=carried))
        travelled, speed, accelerating = travelled + further, faster, imbalance(engine, last, state, MOVING_DAMPING_RATE)
        trail.add(travelled, state)
    travelled, rest_state = _find_first_lost(engine, trail, travelled, come_to_rest(engine, state))
    return travelled / length, rest_state


class KeptStates:
    """States during an increment: one in every so many spans, and fewer if there are many."""

    def __init__(self, states: list[tuple[float, State]]):
        self.states, self._apart, self._passed = states, SPANS_PER_KEPT_STATE, 0

    def add(self, travelled: float, state: State) -> None:
        self._passed += 1
        if self._passed % self._apart == 0:
            self.states.append((travelled, state))
        if len(self.states) > MAX_KEPT_STATES:
            self.states, self._apart = self.states[::2], 2 * self._apart


def _find_first_lost(engine: SmallSteps, trail: KeptStates, travelled: float, rest_state: RestState) -> tuple[float, RestState]:
    """Where the structure first lost its balance, if it is not in balance at the end. A structure that loses its balance slowly
    follows its supports for a while before this shows, so the kept states are brought to rest, by bisection between one that
    rests and one that does not."""
    if rest_state.verdict == IN_BALANCE:
        return travelled, rest_state
    low, high = 0, len(trail.states)
    while high - low > 1:
        middle = (low + high) // 2
        middle_state = come_to_rest(engine, trail.states[middle][1])
        if middle_state.verdict == IN_BALANCE:
            low = middle
        else:
            high, travelled, rest_state = middle, trail.states[middle][0], middle_state
    return travelled, rest_state


def _next_speed(speed: float, target_speed: float, remaining: float, acceleration: float) -> float:
    """[m/s] The speed after a span: it approaches the target speed but stays low enough to stop within the remaining distance
    [m]."""
    change = acceleration * SPAN_DURATION
    return float(np.clip(min(target_speed, np.sqrt(2.0 * acceleration * remaining)), max(speed - change, 0.0), speed + change))


def _advance(engine: SmallSteps, state: State, relaxing: Relaxing) -> State:
    with defer_signals(max_deferred=1), one_blas_thread():  # a span is completed unless Ctrl-C is pressed a second time
        return engine.advance(state._replace(step=0), SPAN_DURATION, relaxing)[0]


def imbalance(engine: SmallSteps, before: State, state: State, rate: float) -> float:
    """[g] The acceleration of the centre plus rim of the worst block by the forces on it, without damping and averaged over the
    span before `state`; or the share of the weight that the supports do not bear, if that is larger."""
    model, free = engine.model, ~engine.model.bodies.fixed
    rotation = quaternion.rotation_vector(quaternion.product(state.rotation, quaternion.conjugate(before.rotation)))
    moved = np.concatenate([state.position - before.position, rotation], axis=1)
    pushed = (state.velocity - before.velocity + rate * moved)[free] / (SPAN_DURATION * engine.gravity)
    rim = np.linalg.norm(pushed[:, 3:], axis=1) * model.bodies.radius[free]
    worst = float((np.linalg.norm(pushed[:, :3], axis=1) + rim).max(initial=0.0))
    return max(worst, _unsupported_share(engine, state)) if np.isfinite(state.velocity).all() else np.inf


def _unsupported_share(engine: SmallSteps, state: State) -> float:
    """The part of weight and loads that the supports do not bear, as a share of the weight."""
    model, contacts = engine.model, state.contacts
    heavy = weight_wrench(model, engine.gravity)[:, :3].sum(axis=0)
    loads = load_wrench(model, engine.loads, engine.gravity, state.rotation)[~model.bodies.fixed, :3].sum(axis=0)
    side = model.bodies.fixed[contacts.a].astype(float) - model.bodies.fixed[contacts.b]
    return float(np.linalg.norm(side @ contacts.impulse / SPAN_DURATION + heavy + loads) / np.linalg.norm(heavy))


def _as_forces(rest_state: RestState) -> RestState:
    """The state with forces [N] instead of impulses, and without the small velocities that are left in balance."""
    state = rest_state.state
    forces = state.contacts._replace(impulse=state.contacts.impulse / SPAN_DURATION)
    velocity_factor = 0.0 if rest_state.verdict == IN_BALANCE else 1.0
    return rest_state._replace(
        state=state._replace(contacts=forces, velocity=velocity_factor * state.velocity, rate=velocity_factor * state.rate)
    )

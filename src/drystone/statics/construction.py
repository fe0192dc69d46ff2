"""A structure built in stages: a model and who is there when come in, the balance at the end of every stage goes out.

A block not yet laid does not exist: no contact, no weight. One that is laid finds its neighbours where the stages before have
left them and fits there: its joints carry nothing until weight comes upon them (T90). Contacts are compliant, which makes
the forces unique; those of a structure laid at once are other ones, unless it is statically determinate.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from drystone.contact.detect import detect
from drystone.errors import InputError
from drystone.joints import ContactSurface
from drystone.loads import AppliedLoad, find_blocks, load_wrench
from drystone.model import Model
from drystone.simulate import initial_state
from drystone.solvers.solution import ContactSolver
from drystone.spin import move_freely
from drystone.statics.equilibrium import STEP_DURATION, ContactEquilibrium, step_from_rest
from drystone.statics.remaining import remove_blocks
from drystone.stepping import State
from drystone.units import GRAVITY

Array = np.ndarray

BALANCED_SHARE = (
    1e-3  # of the first step's acceleration: what moves less has come to rest, and what sliding had lifted is down again
)
DECAY_FACTOR = 0.5  # from step to step, of the acceleration of what comes to rest; what moves on moves as fast as before
SAME_BED_SHARE = 1e-3  # of the height of a structure: beds closer than that are one


class BuiltStage(NamedTuple):
    """The structure at the end of a stage."""

    present: Array  # (B,) bool who is there
    state: State  # its contacts with forces [N], and gaps from where they were laid; who is not there is where it will be laid
    balance: ContactEquilibrium  # of the last step


def build_in_stages(
    model: Model,
    stages: Sequence[Array],
    *,
    solver: ContactSolver,
    surface: ContactSurface,
    gravity: float = GRAVITY,
    loads: Iterable[AppliedLoad] = (),
) -> Iterator[BuiltStage]:
    """The stages (B,) bool of who is there, each brought to balance. The first that does not stand is the last, with
    places and forces of before it moved."""
    if not surface.compliant:
        raise InputError("construction: rigid contact leaves the forces undetermined, in stages as at once; "
                         'set contact = "compliant" in [solver], or young')  # fmt: skip
    if model.laws is not None:
        raise InputError("construction: joints with mortar cannot be built in stages; keep nothing but friction in [joints]")
    state = initial_state(model, gravity)
    push, before = load_wrench(model, loads, gravity), np.zeros(len(model.blocks), bool)
    for present in stages:
        built = remove_blocks(model, ~present)
        start = _find_contacts(built, state, present & ~before)
        compute_step = partial(step_from_rest, built, push=push, solver=solver, gravity=gravity, surface=surface)
        state, pressed = _bring_to_rest(built, start, compute_step)
        if not pressed.stands:
            yield BuiltStage(present, start._replace(contacts=compute_step(start).contacts), pressed)
            return
        yield BuiltStage(present, state, pressed)
        before = present


def _bring_to_rest(
    built: Model, state: State, compute_step: Callable[[State], ContactEquilibrium]
) -> tuple[State, ContactEquilibrium]:
    """The state after steps from rest until nothing moves any more, or until it goes on moving."""
    first, motion, nobody = -1.0, np.inf, np.zeros(len(built.blocks), bool)
    while True:
        pressed = compute_step(state)
        position, rotation = move_freely(state.position, state.rotation, pressed.acceleration, STEP_DURATION)
        state = state._replace(position=position, rotation=rotation, contacts=pressed.contacts)
        state = _find_contacts(built, state, nobody)
        if pressed.motion <= BALANCED_SHARE * first or not pressed.motion < DECAY_FACTOR * motion:
            return state, pressed
        motion, first = pressed.motion, max(first, pressed.motion)


def _find_contacts(built: Model, state: State, is_new: Array) -> State:
    """The state with who touches whom, gaps counted from those with which blocks were laid, some of them (B,) bool just now."""
    position = np.where(built.bodies.fixed[:, None], built.position, state.position)  # what is not there lies aside
    contacts, next_id = detect(
        built.bodies, position, state.rotation, state.velocity, STEP_DURATION, state.contacts, state.next_id, built.planar
    )
    rest = np.where(is_new[contacts.a] | is_new[contacts.b], contacts.gap, contacts.rest)
    return state._replace(contacts=contacts._replace(gap=contacts.gap - rest, rest=rest), next_id=next_id)


def presence_by_stage(model: Model, order: Sequence[str | Sequence[str]], strike: Sequence[str] = ()) -> list[Array]:
    """(B,) bool who is there in each stage: blocks or groups in the order given, or by the height of their beds; supports from
    the start unless they are named; in the end without those to strike."""
    parts = [_named(model, [part] if isinstance(part, str) else part) for part in order] or _courses(model)
    named = np.any(parts, axis=0)
    for i in np.flatnonzero(~named & ~model.bodies.fixed):
        raise InputError(f"analysis.order: block {model.blocks[i].name!r} is in no stage; name it or its group")
    present, stages = ~named, list[Array]()
    for part in parts:
        present = present | part
        stages.append(present)
    return [*stages, present & ~_named(model, strike)] if strike else stages


def _named(model: Model, names: Sequence[str]) -> Array:
    """(B,) bool the blocks, and those of the groups, of these names."""
    chosen = np.zeros(len(model.blocks), bool)
    for name in names:
        chosen[find_blocks(model, name, "analysis.order, strike")] = True
    return chosen


def _courses(model: Model) -> list[Array]:
    """(B,) bool the free blocks by the height of the lowest point, from below."""
    bed = np.array([block.vertices[:, 2].min() for block in model.blocks])
    free = np.flatnonzero(~model.bodies.fixed)
    order = free[np.argsort(bed[free], kind="stable")]
    step = np.diff(bed[order], prepend=bed[order[0]]) > SAME_BED_SHARE * np.ptp(bed[order]) + 1e-9
    course = np.full(len(bed), -1)
    course[order] = np.cumsum(step)
    return [course == k for k in range(course.max() + 1)]

"""A structure built in stages: its equilibrium at the end of every stage.

A block that is not yet built has no contacts and no weight. A new block fits between its neighbours where the previous stages
have left them, and its joints carry no force until weight acts on them (T90). Contacts are compliant, which makes the forces
unique. They differ from those of a structure that is built all at once, unless it is statically determinate.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from drystone.analysis.statics.remaining_blocks import remove_blocks
from drystone.analysis.statics.rigid_equilibrium import STEP_DURATION, ContactEquilibrium, step_from_rest
from drystone.base.errors import InputError
from drystone.base.units import GRAVITY
from drystone.contact.detection import detect
from drystone.engine.cone_step.integrator import State
from drystone.engine.contact_laws import ContactSurface
from drystone.engine.rotation import move_freely
from drystone.engine.simulation import initial_state
from drystone.engine.solvers.solution import ContactSolver
from drystone.structure.loads import AppliedLoad, find_blocks, load_wrench
from drystone.structure.model import Model

Array = np.ndarray

# of the acceleration in the first step: with less the structure is at rest, and blocks lifted by sliding are down again
BALANCED_SHARE = 1e-3
DECAY_FACTOR = 0.5  # per step: the acceleration of a structure that comes to rest decreases at least by this factor
SAME_BED_SHARE = 1e-3  # of the height of a structure: bed joints closer together belong to the same course


class BuiltStage(NamedTuple):
    """The structure at the end of a stage."""

    present: Array  # (B,) bool the blocks that are present
    state: State  # with forces [N] and gaps since the blocks were built; blocks not yet present are where they will be built
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
    """Bring each stage, given by its present blocks (B,) bool, to equilibrium. The first stage that does not stand is the last
    one; its positions and forces are those before it moves."""
    if not surface.compliant:
        raise InputError("construction: with rigid contact the forces are not unique, in stages or all at once; "
                         'set contact = "compliant" in [solver], or young')  # fmt: skip
    if model.laws is not None:
        raise InputError("construction: joints with mortar cannot be built in stages; leave only friction in [joints]")
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
    """Take steps from rest until nothing moves any more, or until the motion no longer decreases."""
    first, motion, none_new = -1.0, np.inf, np.zeros(len(built.blocks), bool)
    while True:
        pressed = compute_step(state)
        position, rotation = move_freely(state.position, state.rotation, pressed.acceleration, STEP_DURATION)
        state = state._replace(position=position, rotation=rotation, contacts=pressed.contacts)
        state = _find_contacts(built, state, none_new)
        if pressed.motion <= BALANCED_SHARE * first or not pressed.motion < DECAY_FACTOR * motion:
            return state, pressed
        motion, first = pressed.motion, max(first, pressed.motion)


def _find_contacts(built: Model, state: State, is_new: Array) -> State:
    """The state with its contacts found again. Gaps count from those at which the blocks were built; `is_new` (B,) bool are the
    blocks of this stage."""
    position = np.where(built.bodies.fixed[:, None], built.position, state.position)  # absent blocks lie aside as supports
    contacts, next_id = detect(
        built.bodies, position, state.rotation, state.velocity, STEP_DURATION, state.contacts, state.next_id, built.planar
    )
    rest = np.where(is_new[contacts.a] | is_new[contacts.b], contacts.gap, contacts.rest)
    return state._replace(contacts=contacts._replace(gap=contacts.gap - rest, rest=rest), next_id=next_id)


def presence_by_stage(model: Model, order: Sequence[str | Sequence[str]], strike: Sequence[str] = ()) -> list[Array]:
    """(B,) bool The blocks present in each stage: blocks or groups in the given order, or by the height of their bed joints.
    Supports are present from the start unless they are named. A last stage is without the blocks to strike."""
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
    """(B,) bool The blocks with these names or in groups with these names."""
    chosen = np.zeros(len(model.blocks), bool)
    for name in names:
        chosen[find_blocks(model, name, "analysis.order, strike")] = True
    return chosen


def _courses(model: Model) -> list[Array]:
    """(B,) bool The free blocks of each course, by the height of their lowest point, from below."""
    bed = np.array([block.vertices[:, 2].min() for block in model.blocks])
    free = np.flatnonzero(~model.bodies.fixed)
    order = free[np.argsort(bed[free], kind="stable")]
    step = np.diff(bed[order], prepend=bed[order[0]]) > SAME_BED_SHARE * np.ptp(bed[order]) + 1e-9
    course = np.full(len(bed), -1)
    course[order] = np.cumsum(step)
    return [course == k for k in range(course.max() + 1)]

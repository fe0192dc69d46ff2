"""Summarises a case before it is computed, as plain numbers in SI. Only contact detection is run; no solver is loaded."""

import math
from typing import Any

import numpy as np

from drystone.contact.contacts import Contacts, no_contacts
from drystone.contact.detection import detect
from drystone.io.case import Case
from drystone.structure.model import Model

LOOK_AHEAD_TIME = 1e-3  # [s] the step that contact detection looks ahead in an analysis without time steps


def summarise_case(case: Case) -> dict[str, Any]:
    """The summary of a case that `drystone check --json` prints."""
    model = case.model()
    contacts = first_contacts(model, case)
    bodies = model.bodies
    free = ~bodies.fixed
    levels = np.concatenate([block.vertices[:, 2] for block in model.blocks if not block.fixed])
    frictions = model.friction_between(contacts.a, contacts.b)
    frictions = frictions if len(frictions) else model.friction
    return {
        "blocks": len(model.blocks),
        "fixed_blocks": int(bodies.fixed.sum()),
        "mass": float(bodies.mass[free].sum()),
        "weight": float(bodies.mass[free].sum() * case.analysis.gravity),
        "height": float(np.ptp(levels)),
        "contacts": len(contacts.gap),
        "smallest_friction": float(frictions.min()),
        "largest_friction": float(frictions.max()),
        "analysis": case.analysis.kind,
        "motions": [motion.label for motion in case.motions],
        "contact": case.surface.words,
        "method": "small steps" if case.by_small_steps else case.solver.method,
        **(_summarise_time_steps(case) if case.goes_through_time else {}),
    }


def _summarise_time_steps(case: Case) -> dict[str, Any]:
    """The duration, the time step, and the numbers of steps and frames of a history."""
    return {
        "duration": case.history.duration,
        "time_step": case.history.time_step,
        "steps": planned_steps(case),
        "frames": 1 + math.ceil(planned_steps(case) / steps_per_frame(case)),
    }


def planned_steps(case: Case) -> int:
    """The number of steps that reach the duration, as `simulate` counts them."""
    return round(case.history.duration / case.history.time_step)


def steps_per_frame(case: Case) -> int:
    """The number of steps from one recorded frame to the next."""
    return max(1, round(min(case.frame_interval, case.history.duration) / case.history.time_step))


def first_contacts(model: Model, case: Case) -> Contacts:
    """The contacts of the structure at rest, as built."""
    count = len(model.position)
    upright = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
    h = case.history.time_step if case.goes_through_time else LOOK_AHEAD_TIME
    bricks, still = model.elastic.bricks if model.elastic else None, np.zeros((count, 6))
    nearest = case.with_contact_search(model).nearest
    return detect(model.bodies, model.position, upright, still, h, no_contacts(), 0, model.planar, bricks, nearest)[0]

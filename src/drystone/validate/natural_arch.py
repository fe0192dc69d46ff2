"""H10: a wall over a gap loses a triangle of stones, and a natural arch stays."""

from itertools import pairwise
from pathlib import Path

import numpy as np

from drystone import build
from drystone.model import Model, build_model
from drystone.statics.remaining import RemainingStructure, find_remaining
from drystone.validate.claims import Claim, Figure, Subject, Value, Workspace
from drystone.view.forces import force_picture


def wall_over_gap() -> tuple[Model, RemainingStructure]:
    """The wall, and what is left of it when the stones that fall are gone."""
    model = build_model(build.wall_over_gap(), friction=0.4)
    return model, find_remaining(model)


def count_fallen_by_course(model: Model, found: RemainingStructure) -> list[int]:
    """How many stones of each course fall, from below."""
    course = np.array([0 if block.fixed else int(block.name.split("-")[1]) for block in model.blocks])
    return [int((~found.stays & (course == k)).sum()) for k in range(1, course.max() + 1)]


def _compute(workspace: Workspace) -> dict[str, Value]:
    model, found = wall_over_gap()
    counts = count_fallen_by_course(model, found)
    narrows = counts[0] > 0 and all(one > other or one == other == 0 for one, other in pairwise(counts))
    return {
        "falls": "a triangle" if narrows else f"{counts} stones by course",
        "rest": "stands" if found.rest.stands else "moves",
    }


def _draw(workspace: Workspace, out: Path) -> list[Figure]:
    model, found = wall_over_gap()
    force_picture(model, found.rest.contacts, out / "H10-forces.png", shown=found.stays, azimuth=0.0, elevation=0.0)
    return [Figure("H10-forces.png", "As BRT figure 9: forces in the wall that stays")]


NATURAL_ARCH = Subject(
    "H10", "A natural arch in a wall over a gap", "BRT section 3.2, figure 9",
    "16.2 m by 5 m, 13 courses, gap of 7.6 m, friction 0.4; let go by Coulomb's friction in stages: the stones that fall "
    "fastest are taken away, until the rest stands. A triangle is ever fewer stones from course to course. How much "
    "falls depends on the play of the joints: 26 stones drawn flush, 30 with 0.1 mm of play, 35 in time.",
    (Claim("falls", "what falls", "", "a triangle"), Claim("rest", "what stays", "", "stands")),
    _compute, _draw,
)  # fmt: skip

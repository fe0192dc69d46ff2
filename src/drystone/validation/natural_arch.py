"""H10: a wall over a gap loses a triangle of stones, and a natural arch remains."""

from itertools import pairwise
from pathlib import Path

import numpy as np

from drystone import build
from drystone.analysis.statics.remaining_blocks import RemainingStructure, find_remaining
from drystone.show.pictures.force_pictures import force_picture
from drystone.structure.model import Model, build_model
from drystone.validation.claims import Claim, Figure, Subject, Value, Workspace


def analyse_wall_over_gap() -> tuple[Model, RemainingStructure]:
    """Build the wall; return it with the blocks that remain when the falling stones are removed."""
    model = build_model(build.wall_over_gap(), friction=0.4)
    return model, find_remaining(model)


def count_fallen_by_course(model: Model, remains: RemainingStructure) -> list[int]:
    """Count the falling stones of each course, from below."""
    course = np.array([0 if block.fixed else int(block.name.split("-")[1]) for block in model.blocks])
    return [int((~remains.stays & (course == k)).sum()) for k in range(1, course.max() + 1)]


def _compute(workspace: Workspace) -> dict[str, Value]:
    model, remains = analyse_wall_over_gap()
    counts = count_fallen_by_course(model, remains)
    narrows = counts[0] > 0 and all(one > other or one == other == 0 for one, other in pairwise(counts))
    return {
        "falls": "a triangle" if narrows else f"{counts} stones by course",
        "rest": "stands" if remains.rest.stands else "moves",
    }


def _draw(workspace: Workspace, out: Path) -> list[Figure]:
    model, remains = analyse_wall_over_gap()
    force_picture(model, remains.rest.contacts, out / "H10-forces.png", shown=remains.stays, azimuth=0.0, elevation=0.0)
    return [Figure("H10-forces.png", "As BRT figure 9: forces in the wall that remains")]


NATURAL_ARCH = Subject(
    "H10", "A natural arch in a wall over a gap", "BRT section 3.2, figure 9",
    "The wall is 16.2 m by 5 m with 13 courses over a gap of 7.6 m, with Coulomb friction of 0.4. In stages, the stones that "
    "fall fastest are removed until the rest stands. What falls is a triangle if each course loses fewer stones than the one "
    "below. The number depends on the play of the joints: 26 stones in a flush drawing, 30 with 0.1 mm of play, 35 in a "
    "history.",
    (Claim("falls", "what falls", "", "a triangle"), Claim("rest", "what stays", "", "stands")),
    _compute, _draw,
)  # fmt: skip

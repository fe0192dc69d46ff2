"""H10: a cylinder over an octagonal hole loses the stones above the hole, and a corbelled dome stays."""

from itertools import pairwise
from pathlib import Path

import numpy as np

from drystone.analysis.statics.remaining_blocks import RemainingStructure, find_remaining, remove_blocks
from drystone.results.store.run_reader import Run, read_run
from drystone.show.pictures.picture import picture
from drystone.validation.claims import Claim, Figure, Subject, Value, Workspace
from drystone.validation.computation import compute_history

Array = np.ndarray

CASE = """
[structure]
generator = "corbelled-cylinder"
[joints]
friction = 0.4
friction_law = "coulomb"
[analysis]
integrator = "cone-program"
duration = "0.15 s"
time_step = "5 ms"
theta = 1.0
[output]
every = "5 ms"
"""
MIN_FALL, MAX_SETTLEMENT = 1e-2, 1e-3  # [m] settlement of a stone that falls, and of one that stays
FALLING_COLOUR, STANDING_COLOUR = (0.56, 0.74, 0.86), (0.85, 0.78, 0.66)


def _settlements(run: Run) -> Array:
    """Return the final settlement [m] of each stone, (B,)."""
    return run.position[0, :, 2] - run.position[-1, :, 2]


def reach_by_course(run: Run, gone: Array) -> list[float]:
    """Return per course, from below, how far [m] from the axis the centroid of a falling stone is at most; 0 if none falls."""
    position, free = run.model.position, ~run.model.bodies.fixed
    level, radius = np.round(position[:, 2], 6), np.hypot(position[:, 0], position[:, 1])
    return [float(radius[gone & (level == z)].max(initial=0.0)) for z in np.unique(level[free])]


def _remaining_blocks(run: Run) -> RemainingStructure:
    """Find the stones that stay when the falling ones are removed, by statics in stages with Coulomb friction."""
    model = remove_blocks(run.model, _settlements(run) > MIN_FALL)
    return find_remaining(model)


def _compute(workspace: Workspace) -> dict[str, Value]:
    run = compute_history(CASE, workspace.folder / "cylinder")
    settlement = _settlements(run)
    falls = settlement > MIN_FALL
    remains = _remaining_blocks(run)
    radii = reach_by_course(run, falls | ~remains.stays)
    narrows = radii[0] > 0.0 == radii[-1] and all(below >= above for below, above in pairwise(radii))
    return {
        "others": "stay" if settlement[~falls].max() < MAX_SETTLEMENT else "sink",
        "shape": "a dome" if narrows else ", ".join(f"{each:.1f} m" for each in radii),
        "rest": "stands" if remains.rest.stands else "moves",
    }


def _draw(workspace: Workspace, out: Path) -> list[Figure]:
    run = read_run(workspace.folder / "cylinder")
    moved = run.position[-1] - run.position[0]
    falls = _settlements(run) > MIN_FALL
    colour = np.where(falls[:, None], FALLING_COLOUR, STANDING_COLOUR)
    half = run.model.position[:, 1] > -0.2  # [m]
    picture(run.model, out / "H10-cylinder.png", shown=half, color=colour, motion=np.hstack([moved, 0 * moved]), azimuth=0.0,
            elevation=4.0)  # fmt: skip
    return [
        Figure(
            "H10-cylinder.png", "For comparison with BRT figure 10: half of the cylinder after 0.15 s, falling stones in blue"
        )
    ]


CORBELLED_CYLINDER = Subject(
    "H10-cylinder", "A corbelled dome in a cylinder over a hole", "BRT section 3.2, figure 10",
    "The cylinder is 16.2 m wide and 5 m high, over an octagonal hole of 7.6 m, with Coulomb friction of 0.4 and 1,210 stones "
    "in our bond. A history of 0.15 s comes first. Then the stones that have started to fall are removed, and from the rest "
    "those that start to fall fastest, until it stands, by statics with Coulomb friction. The history alone gets hardly "
    "further: at 0.18 s the falling stones jam between each other and the ring that stays, because they have no play.",
    (
        Claim("others", "stones that do not fall, after 0.15 s", "", "stay"),
        Claim("shape", "the removed stones narrow from course to course up to a closed top: what stays is", "", "a dome"),
        Claim("rest", "the stones that stay", "", "stands"),
    ),
    _compute, _draw, quick=False,
)  # fmt: skip

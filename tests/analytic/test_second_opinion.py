"""The two integrators, which share little but shapes and the ground's motion, tend to one motion as the stone stiffens."""

import numpy as np
import pytest

from drystone.analysis.dynamics import run as compute
from drystone.analysis.second_opinion.of_history import compare_frames, other_case
from drystone.io.case import parse_case

COLUMN = """
structure = { generator = "drum-column" }
joints = { friction = 0.7 }
motion = { pulse = "one-sine", amplitude = "0.3 g", half_period = "0.4 s", direction = [1, 0, 0] }
analysis = { duration = "0.6 s" }
output = { every = "10 ms" }
"""


def apart(folder, young, law):
    """(F,) [m] largest distance of any block in each frame, and how far blocks have moved at most."""
    run = compute(parse_case(COLUMN, overrides={"solver.young": young}), folder / f"{young}-{law}")
    other = other_case(parse_case(COLUMN, overrides={"solver.young": young} if law == "coulomb" else {}), friction_law=law)
    moved = np.linalg.norm(run.position - run.position[0], axis=2).max()
    return np.array([beside.distance.max() for beside in compare_frames(run, other)]), moved


@pytest.mark.parametrize("law", ["coulomb", "associated"])
def test_a_column_of_drums_rocks_as_one_until_it_lands(tmp_path, law):
    """Seven stones, and 80 mm of motion. Rigid by the associated law, or by Coulomb's of the same stone: the distance
    falls with the stiffness of the stone, and is below 1 % of the motion with a hundred times that of real stone."""
    soft, _ = apart(tmp_path, "30 GPa", law)
    stiff, moved = apart(tmp_path, "3000 GPa", law)
    assert moved > 0.07
    assert stiff.max() < 0.01 * moved
    assert stiff.max() < soft.max() / 4

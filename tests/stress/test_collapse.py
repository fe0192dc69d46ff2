"""A long collapse: a hollow tower of 1,000 stones is shaken down and followed for 20 s, until the rubble lies still.

Truth: rubble lies on the ground and at rest; without motion of the ground energy falls; a stone is no faster than its fall and
the ground have made it; the file is read again.
"""

import numpy as np
import pytest

from drystone.analysis.dynamics import run
from drystone.base.units import GRAVITY
from drystone.io.case import parse_case
from drystone.results.store.run_reader import Run, read_run

PULSE, HALF_PERIOD = 1.5 * GRAVITY, 0.4  # [m/s2], [s]
CASE = f"""
[structure]
generator = "tower"
blocks_per_side = 10
courses = 25
margin = 30.0
[joints]
friction = 0.6
[motion]
pulse = "one-sine"
amplitude = {PULSE}
half_period = {HALF_PERIOD}
direction = [1, 0.3, 0]
[analysis]
kind = "dynamics"
duration = 20.0
time_step = 5e-3
[solver]
contact = "compliant"
young = 1e9
[output]
every = 0.1
"""


@pytest.mark.soak
def test_a_tower_falls_and_lies_still(tmp_path):
    run(parse_case(CASE, tmp_path / "case.toml"), tmp_path / "run")
    assert_fallen(read_run(tmp_path / "run"))


def assert_fallen(found: Run) -> None:
    """What must be true of the whole."""
    steps, free = found.steps, ~found.model.bodies.fixed
    assert len(steps["step"]) == 4000
    assert steps["converged"].all()
    assert all(np.isfinite(field).all() for field in (found.position, found.rotation, found.velocity))
    released = steps["potential"][0] - steps["potential"][-1]
    assert released > 0.5 * steps["potential"][0]
    assert (found.position[-1, free, 2] > 0).all(), "a stone is below the ground"
    assert (np.abs(found.position[-1, free, :2]) < 30.0).all(), "a stone is beyond the ground"
    height, ground = np.ptp(found.position[0, free, 2]), 2 * PULSE * HALF_PERIOD / np.pi
    assert np.linalg.norm(found.velocity[:, free, :3], axis=2).max() < 2 * (np.sqrt(2 * GRAVITY * height) + ground)
    assert steps["kinetic"][-200:].max() < 1e-6 * released
    assert energy_rise(found) < 1e-4 * released


def energy_rise(found: Run) -> float:
    """[J] the farthest that the energy rises above an earlier value once the ground is still."""
    steps = found.steps
    still = steps["time"] > 2 * HALF_PERIOD
    energy = (steps["kinetic"] + steps["potential"] + steps["elastic"])[still]
    return float(np.max(energy - np.minimum.accumulate(energy)))

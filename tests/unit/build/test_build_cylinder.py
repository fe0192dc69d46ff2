"""The cylinder over a hole: counts by hand, volume in closed form, joints by brute force, and what falls out of it."""

import numpy as np
import pytest

from drystone.analysis import dynamics
from drystone.base.errors import InputError
from drystone.build import corbelled_cylinder
from drystone.io.case import parse_case
from tests.unit.flush_joints import check_joints, rest, volume

FRICTION = 0.4  # Beatini, Royer-Carfagni and Tasora


def test_sizes():
    """Courses 1, 3, ... have a core and rings - 1 rings, courses 2, 4, ... a ring more; all have the outline of a regular
    polygon of 32 sides in the circle of 16.2 m."""
    stones = corbelled_cylinder()
    assert len(stones) == 8 + 5 * (1 + 7 * 16) + 5 * (1 + 8 * 16)
    assert volume(stones) == pytest.approx(5.0 * 32 / 2 * np.sin(2 * np.pi / 32) * 8.1**2)
    supports = np.concatenate([b.vertices for b in stones if b.fixed])
    assert np.hypot(supports[:, 0], supports[:, 1]).min() == pytest.approx(3.8)


def test_joints():
    check_joints(corbelled_cylinder(courses=3, rings=3, sectors=8))


def test_it_may_stand_by_friction_alone():
    """Rigid blocks and friction that may be called upon at once: forces that hold all stones, those over the hole too,
    exist at the friction of the paper. That these are reached is another matter: they need thrust from the start."""
    assert rest(corbelled_cylinder(), FRICTION).stands


CASE = """
[structure]
generator = "corbelled-cylinder"
courses = 8
rings = 6
sectors = 8
[joints]
friction = 0.4
friction_law = "coulomb"
[analysis]
integrator = "cone-program"
duration = "0.15 s"
time_step = "5 ms"
theta = 1.0
"""


def test_what_falls_leaves_a_corbelled_dome(tmp_path):
    """As published: stones over the hole fall, from a region that narrows upwards and ends within; all others stay. In free
    fall a stone would drop by 0.11 m; Coulomb friction and stone that gives way a little start without thrust."""
    run = dynamics.run(parse_case(CASE), tmp_path / "run")
    model = run.model
    drop = model.position[:, 2] - run.position[-1, :, 2]
    falls, free = drop > 0.01, ~model.bodies.fixed
    reach = np.hypot(model.position[:, 0], model.position[:, 1])
    level = np.round(model.position[:, 2], 6)
    widest = [reach[falls & (level == z)].max(initial=-1.0) for z in np.unique(level[free])]
    assert 1.0 < widest[0] < 3.8
    assert np.all(np.diff(widest) <= 1e-9)
    assert widest[-1] == -1.0
    assert drop[~falls].max() < 1e-3


def test_bad_sizes_are_refused():
    with pytest.raises(InputError, match="corbelled-cylinder: a hole of 17 m leaves no support"):
        corbelled_cylinder(hole=17.0)
    with pytest.raises(InputError, match="corbelled-cylinder: rings is 1; give a whole number, 2 or more"):
        corbelled_cylinder(rings=1)

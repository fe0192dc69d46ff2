"""The dome of AJ (section 5.2): it falls without its cohesion only if statics says so, which knows nothing of time."""

import pytest

from drystone import build
from drystone.analysis.statics.rigid_equilibrium import solve_equilibrium
from drystone.engine.contact_laws import ContactSurface
from drystone.engine.simulation import simulate
from drystone.engine.solvers.methods import make_solver
from drystone.structure.joint_laws import JointLaw
from drystone.structure.model import build_model

STONE = ContactSurface(30e9)


@pytest.mark.parametrize(
    ("thickness", "law", "stands"),
    [
        pytest.param(0.5, JointLaw(0.5, tension=14e3), True, marks=pytest.mark.soak),
        (0.5, JointLaw(0.5), True),
        (0.15, JointLaw(0.5, tension=1e6), True),
        (0.15, JointLaw(0.5), False),
    ],
)
def test_without_cohesion_a_dome_falls_only_if_statics_says_so(thickness, law, stands):
    """In 0.2 s of free fall a stone goes 0.2 m down; what stands moves by its elastic shortening, some 0.1 mm."""
    model = build_model(build.dome(thickness=thickness), friction=law)
    assert solve_equilibrium(model, solver=make_solver("native"), surface=STONE).stands == stands
    *_, last = simulate(model, duration=0.2, time_step=4e-3, theta=1.0, solver=make_solver("native"), surface=STONE)
    sunk = float((model.position[:, 2] - last.state.position[:, 2]).max())
    assert (sunk < 5e-4) if stands else (sunk > 5e-3)

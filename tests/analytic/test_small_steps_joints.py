"""Joints that remember, by small steps. Truth: closed forms of strength of materials and of the laws themselves."""

import numpy as np
import pytest
from test_small_steps import GROUND, G, turned_box

from drystone.analysis.dynamics import record_history, resume_history, run
from drystone.engine.simulation import initial_state
from drystone.engine.small_steps.cell_stress import BOND
from drystone.engine.small_steps.initial_equilibrium import settled
from drystone.engine.small_steps.integrator import SmallSteps
from drystone.io.case import parse_case
from drystone.results.store.run_reader import read_run
from drystone.structure.joint_laws import Adhesion, JointLaw
from drystone.structure.loads import AppliedLoad
from drystone.structure.model import build_model

STEP = 5e-3
STIFF = 2e9  # [N/m3]
SLOWLY = np.arange(0.02, 0.961, 0.02)  # of a force that is not enough


class Loaded:
    """A stone on the ground, pushed harder and harder."""

    def __init__(self, law, size, direction, height):
        self.model = build_model([GROUND, turned_box((0, 0, size[2] / 2), size, name="stone")], friction=law)
        self.direction, self.height = direction, height
        self.weight, self.area = 2000 * size[0] * size[1] * size[2] * G, size[0] * size[1]
        self.state = settled(SmallSteps(self.model, gravity=G), initial_state(self.model, G))

    def push(self, force, steps=1):
        engine = self.engine = SmallSteps(
            self.model, gravity=G, loads=[AppliedLoad("stone", force=force, direction=self.direction, at=(0, 0, self.height))]
        )
        for _ in range(steps):
            self.state, _ = engine.advance(self.state._replace(step=0), STEP)
        return self.state

    def whole(self):
        """Share of the cells that are bonded."""
        bond = self.state.cells.state[:, BOND]
        return float((bond > 0).mean()) if len(bond) else 0.0


@pytest.mark.parametrize("size", [(0.5, 0.5, 0.5), (0.3, 0.6, 0.9), (1.0, 0.4, 0.5)], ids=str)
@pytest.mark.parametrize("brittle", [True, False])
def test_a_bond_cracks_from_one_side_and_opens_whole(size, brittle):
    """At (f_t + sigma_0) Z, not before 0.96 of it (the load comes in steps, which swing), and under 1.1 times that moment
    nothing of it is left: a crack line goes through."""
    law = JointLaw(0.6, cohesion=3e5, tension=2e5, brittle=brittle, normal_stiffness=STIFF, shear_stiffness=STIFF)
    stone = Loaded(law, size, (1, 0, 0), size[2])
    force = (2e5 + stone.weight / stone.area) * size[1] * size[0] ** 2 / 6 / size[2]
    for share in SLOWLY:
        stone.push(share * force, 3)
    assert stone.whole() == 1.0
    for share in np.arange(0.97, 1.101, 0.01):
        stone.push(share * force)
        if stone.whole() == 0.0:
            break
    assert stone.whole() == 0.0
    energy = stone.state.energy
    assert abs(energy.numerical) < 1e-3 * max(energy.kinetic, energy.fracture)


def test_a_bond_is_torn_off():
    """Straight up, at the weight and tension times area."""
    stone = Loaded(JointLaw(0.6, cohesion=3e5, tension=1e5, normal_stiffness=STIFF), (0.4, 0.5, 0.3), (0, 0, 1), 0.15)
    force = stone.weight + 1e5 * stone.area
    for share in SLOWLY:
        stone.push(share * force)
    assert stone.whole() == 1.0
    stone.push(1.02 * force)
    assert stone.whole() == 0.0


@pytest.mark.parametrize("brittle", [True, False])
def test_a_bond_is_sheared_off(brittle):
    """Pushed at its foot, at cohesion times area and friction times weight. Brittle mortar then has friction alone; mortar that
    yields slides on at its strength."""
    law = JointLaw(0.6, cohesion=5e4, tension=5e4, brittle=brittle, normal_stiffness=STIFF, shear_stiffness=STIFF)
    stone = Loaded(law, (0.8, 0.8, 0.1), (1, 0, 0), 0.0)
    force = 5e4 * stone.area + 0.6 * stone.weight
    for share in SLOWLY:
        stone.push(share * force)
    assert abs(stone.state.velocity[1, 0]) < 1e-3
    before = stone.push(1.1 * force).velocity[1, 0]
    after = stone.push(1.1 * force, 2).velocity[1, 0]
    left = 0.6 * stone.weight if brittle else force
    mass = stone.weight / G
    assert after - before == pytest.approx((1.1 * force - left) / mass * 2 * STEP, rel=0.05)
    assert stone.whole() == (0.0 if brittle else 1.0)


def test_adhesion_takes_its_energy():
    """It bears sqrt(w k) times area, where it is stretched to sqrt(w / k) and its damage begins; torn off, it has taken w times
    area."""
    glue = Adhesion(energy=2.0, normal_stiffness=1e8)
    stone = Loaded(JointLaw(0.6, adhesion=glue), (0.4, 0.5, 0.3), (0, 0, 1), 0.15)
    force = stone.weight + np.sqrt(2.0 * 1e8) * stone.area
    for share in SLOWLY:
        stone.push(share * force)
    assert stone.whole() == 1.0
    stone.push(1.3 * force, 6)
    assert stone.whole() == 0.0
    assert stone.state.energy.fracture == pytest.approx(2.0 * stone.area, rel=0.05)


def test_crushing_bears_no_more_than_its_strength():
    """Pressed by less it bears it and loses nothing; pressed by 1.2 times as much it gives way, and the stone gathers speed by
    what is too much."""
    law = JointLaw(0.6, crushing=1e6, normal_stiffness=STIFF)
    stone = Loaded(law, (0.4, 0.5, 0.3), (0, 0, -1), 0.15)
    force = 1e6 * stone.area - stone.weight
    for share in SLOWLY:
        stone.push(0.95 * share * force)
    assert stone.state.energy.fracture == 0.0
    before = stone.push(1.2 * force).velocity[1, 2]
    after = stone.push(1.2 * force, 2).velocity[1, 2]
    assert after - before == pytest.approx(-0.2 * force / (stone.weight / G) * 2 * STEP, rel=0.1)


CASE = """
structure = { generator = "wall", length = 1.5, height = 0.75, courses = 3 }
joints = { friction = 0.5, cohesion = "12 kPa", tension = "12 kPa", normal_stiffness = "5 GPa/m" }
motion = { pulse = "one-sine", amplitude = "2 g", half_period = "0.1 s", direction = [0.2, 1, 0] }
analysis = { duration = "0.2 s", time_step = "4 ms" }
output = { every = "20 ms" }
"""


def test_a_wall_of_mortar_in_a_case(tmp_path):
    """At the defaults; some of its bonds break, energy is accounted for, and a run that is cut goes on with the same bits."""
    whole = run(parse_case(CASE), tmp_path / "whole")
    bond = whole.state(-1).cells.state[:, BOND]
    assert 0.0 < (bond > 0).mean() < 1.0
    assert whole.energy["fracture"][-1] > 0
    assert np.abs(whole.energy["numerical"]).max() < 0.01 * whole.energy["ground"].max()
    steps = record_history(parse_case(CASE), tmp_path / "cut")
    for _ in range(13):
        next(steps)
    steps.close()
    for _ in resume_history(tmp_path / "cut"):
        pass
    cut = read_run(tmp_path / "cut")
    assert np.array_equal(whole.position, cut.position)
    for one, other in zip(whole.state(-1).cells, cut.state(-1).cells, strict=True):
        assert np.array_equal(one, other)


def test_mortar_that_holds_makes_one_block(tmp_path):
    """A wall whose mortar holds moves as one stone does: hardly."""
    firm = CASE.replace("12 kPa", "4 MPa")
    case = parse_case(firm)
    found = run(case, tmp_path / "firm")
    assert (found.state(-1).cells.state[:, BOND] > 0).sum() == (found.state(0).cells.state[:, BOND] > 0).sum()
    assert np.abs(found.position[-1] - found.position[0]).max() < 1e-4

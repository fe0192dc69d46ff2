"""Where balance ends, by small steps at their defaults: structures just inside the limit of statics stand, just outside they
move. Truths: resultants at the edges of joints, Coulomb's law, Milankovitch's least thickness of an arch."""

import numpy as np
import pytest

from drystone.build import arch
from drystone.build.shapes import box
from drystone.engine.simulation import simulate_small_steps
from drystone.ground.motion import Motion
from drystone.structure.model import build_model

G = 9.81
GROUND = box((-5, -5, -1), (5, 5, 0), fixed=True, name="ground")


def moved(blocks, friction, duration, motions=()):
    """(B, 3) [m] how far blocks have moved from where they were drawn, after a time under their weight."""
    model = build_model(blocks, friction=friction)
    *_, last = simulate_small_steps(model, motions, duration=duration, time_step=5e-3, gravity=G)
    return last.state.position - model.position


@pytest.mark.parametrize(("share", "stands"), [(0.99, True), (1.01, False)])
@pytest.mark.parametrize("count", [2, 4])
def test_overhanging_stones(count, share, stands):
    """A stack in which each stone overhangs the one below by 1/2, 1/4, 1/6 ... of its length, from the top, is in balance."""
    offsets = share * np.concatenate([[0.0], np.cumsum([1 / (2 * k) for k in range(count - 1, 0, -1)])])
    stack = [box((x, 0, 0.2 * k), (x + 1, 0.5, 0.2 * k + 0.2), name=f"stone-{k}") for k, x in enumerate(offsets)]
    down = -moved([GROUND, *stack], 0.6, 0.6)[:, 2].min()
    assert down < 1e-5 if stands else down > 5e-4


@pytest.mark.parametrize(("share", "stands"), [(0.98, True), (1.02, False)])
def test_sliding_begins_at_the_coefficient_of_friction(share, stands):
    push = Motion("rectangular", amplitude=share * 0.5 * G, duration=1.0)
    slid = float(np.abs(moved([GROUND, box((0, 0, 0), (1, 1, 0.2), name="slab")], 0.5, 0.4, [push])[1, 0]))
    assert slid == pytest.approx(0.0 if stands else 0.5 * (share - 1) * 0.5 * G * 0.4**2, rel=0.02, abs=1e-6)


@pytest.mark.parametrize(("thickness", "stands"), [(0.104, False), (0.1095, True)])
def test_least_thickness_of_a_semicircular_arch(thickness, stands):
    """0.1075 of the radius of its mid-curve (Milankovitch 1907), a little less for voussoirs of straight sides."""
    ring = arch(radius=2.0, thickness=2.0 * thickness, embrace=np.pi, blocks=27, depth=0.5)
    far = np.abs(moved(ring, 2.0, 0.8)).max()
    assert far < 5e-4 if stands else far > 0.05

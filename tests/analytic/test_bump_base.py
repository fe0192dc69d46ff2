"""A rocking block with small ridges under its base (NB remark 7). Truth: the moment of momentum about the next pivot, kept at
every small impact (T89), with the energy kept in between."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from drystone import build, build_model
from drystone.base.errors import InputError
from drystone.base.units import GRAVITY
from drystone.engine.simulation import simulate, simulate_small_steps
from drystone.engine.solvers.native import native

HALF_WIDTH, HALF_HEIGHT, TILT = 0.3, 1.0, np.deg2rad(8)
HOUSNER = 1 - 1.5 * HALF_WIDTH**2 / (HALF_WIDTH**2 + HALF_HEIGHT**2)
OTHERS = [(), (0.0,), (-0.2, 0.2), (-0.1, 0.1)]
BASES = [(-0.18, -0.06, 0.06, 0.18), *(pytest.param(bumps, marks=pytest.mark.soak) for bumps in OTHERS)]


def bumped_block(bumps, tilt=0.0, bump_height=0.002):
    size = {"width": 2 * HALF_WIDTH, "depth": 2 * HALF_WIDTH, "height": 2 * HALF_HEIGHT}
    return build_model(build.block(**size, tilt=tilt, bumps=bumps, bump_height=bump_height), friction=2.0)


def arms(bumps):
    """(n, 2) [m] from each pivot, edge to edge, to the centroid, and the inertia about the centroid over the mass."""
    model = bumped_block(bumps)
    corners = np.unique(model.blocks[1].vertices[:, ::2], axis=0)
    pivots = corners[corners[:, 1] < HALF_HEIGHT]
    return model.position[1, ::2] - pivots, model.bodies.inertia[1, 1, 1] / model.bodies.mass[1]


def ratio_of_small_bumps(bumps):
    """T89 for bumps of no height: of a slender block and the small angle between impacts gravity does nothing."""
    x = np.array([-HALF_WIDTH, *sorted(bumps), HALF_WIDTH])
    level = (HALF_WIDTH**2 + HALF_HEIGHT**2) / 3 + HALF_HEIGHT**2
    return np.prod((level + x[:-1] * x[1:]) / (level + x[1:] ** 2))


def energy_after(energy, bumps):
    """[J/kg] after the impacts of a rocking from edge to edge, impact by impact."""
    arm, inertia = arms(bumps)
    for old, new in pairwise(arm):
        facet = (old - new) / np.linalg.norm(old - new)
        level = facet[0] * old[1] - facet[1] * old[0]  # of the centroid when the facet between the pivots lies on the ground
        spin = np.sqrt(2 * (energy - GRAVITY * level) / (inertia + old @ old))
        spin *= (inertia + old @ new) / (inertia + new @ new)
        energy = 0.5 * (inertia + new @ new) * spin**2 + GRAVITY * level
    return energy


def rocked(bumps, history):
    """(n,) [J/kg] energies of the arcs of a block let go, each read in the middle of its arc."""
    model = bumped_block(bumps, TILT)
    states = [s.state for s in history(model, duration=2.4, time_step=1e-3)]
    angle = np.array([TILT + 2 * np.arctan2(s.rotation[1, 2], s.rotation[1, 0]) for s in states])
    level = np.array([s.position[1, 2] for s in states])
    energy = np.array([s.energy.kinetic for s in states]) / model.bodies.mass[1] + GRAVITY * level
    upright = np.flatnonzero(angle[1:] * angle[:-1] < 0)
    return energy[[0, *((upright[1:] + upright[:-1]) // 2)]]


def ratio(before, after, bumps):
    """Of the angular velocities that an edge would have when the block is upright on it."""
    level = GRAVITY * arms(bumps)[0][0, 1]
    return np.sqrt((after - level) / (before - level))


@pytest.mark.parametrize("bumps", BASES, ids=str)
def test_ratio_of_angular_velocities(bumps):
    """0.006 at a step of 1 ms, of both truths: impact by impact, and the formula of bumps without height."""
    energy = rocked(bumps, partial(simulate, solver=native()))
    assert len(energy) >= 3
    measured = ratio(energy[:-1], energy[1:], bumps)
    exact = ratio(energy[:-1], np.array([energy_after(each, bumps) for each in energy[:-1]]), bumps)
    np.testing.assert_allclose(measured, exact, atol=0.006)
    np.testing.assert_allclose(measured, ratio_of_small_bumps(bumps), atol=0.008)


@pytest.mark.parametrize("bumps", [(-0.18, -0.06, 0.06, 0.18), (-0.2, 0.2), (0.0,)], ids=str)
def test_ratio_by_small_steps(bumps):
    """0.002 impact by impact, of a stone ten times as stiff as is usual: of one with 30 GPa, which ridges of 2 mm are pressed
    into, four of them leave 0.006 more."""
    energy = rocked(bumps, partial(simulate_small_steps, young=300e9))
    assert len(energy) >= 3
    exact = ratio(energy[:-1], np.array([energy_after(each, bumps) for each in energy[:-1]]), bumps)
    np.testing.assert_allclose(ratio(energy[:-1], energy[1:], bumps), exact, atol=0.002)


def test_bumps_steer_upwards_from_housner():
    """Without bumps the formula is Housner's; a pair that wanders inwards from the edges raises it, most at a third of the
    width; more bumps, equally spaced, go on towards 1, a block that rolls."""
    assert ratio_of_small_bumps(()) == pytest.approx(HOUSNER, rel=1e-12)
    pairs = [ratio_of_small_bumps((-at, at)) for at in (0.2999, 0.25, 0.2, 0.15, 0.1)]
    assert pairs[0] == pytest.approx(HOUSNER, abs=1e-3)
    assert np.diff(pairs).min() > 0.005
    assert max(ratio_of_small_bumps((-at, at)) for at in (0.08, 0.12)) < pairs[-1]
    even = [ratio_of_small_bumps(tuple(np.linspace(-0.3, 0.3, n + 2)[1:-1])) for n in (0, 1, 2, 4, 8, 100)]
    assert np.diff(even).min() > 0
    assert even[-1] > 0.998


def test_the_base():
    """By hand: the lowest ridges on the ground, the edges 2 mm above, the next ridge on the parabola between."""
    block = bumped_block((-0.1, 0.1, 0.2), bump_height=0.002).blocks[1]
    corners = np.unique(np.round(block.vertices[:, ::2], 12), axis=0)
    low = corners[corners[:, 1] < 1.0]
    np.testing.assert_allclose(low, [(-0.3, 0.002), (-0.1, 0.0), (0.1, 0.0), (0.2, 0.00075), (0.3, 0.002)], atol=1e-15)
    assert block.vertices[:, 2].max() == 2 * HALF_HEIGHT


@pytest.mark.parametrize("wrong", [{"bumps": (0.3,)}, {"bumps": (0.1, 0.1)}, {"bumps": (0.0,), "bump_height": 0.0},
                                   {"bumps": (0.0,), "bump_height": 3.0}])  # fmt: skip
def test_bumps_that_are_none(wrong):
    with pytest.raises(InputError, match="bump"):
        bumped_block(**wrong)

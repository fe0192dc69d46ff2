"""The cone program of statics. Truths: hand calculations on one block, duality, balance."""

import numpy as np
import pytest

from drystone import build
from drystone.analysis.statics.balance import assemble_balance
from drystone.analysis.statics.cone_program import Envelope, optimise_forces
from drystone.analysis.statics.rigid_equilibrium import force_bounds
from drystone.build.shapes import box
from drystone.structure.joint_laws import JointLaw
from drystone.structure.loads import AppliedLoad, body_force, load_wrench, weight_wrench
from drystone.structure.model import build_model

G = 9.81


def block_on_floor(friction, width=0.6, height=1.0, depth=0.5):
    floor = box((-2, -2, -1), (3, 3, 0), fixed=True, name="floor")
    return build_model([floor, box((0, 0, 0), (width, depth, height), name="block")], friction=friction)


@pytest.mark.parametrize(("friction", "truth"), [(0.3, 0.3), (0.55, 0.55), (0.7, 0.6), (2.0, 0.6)])
def test_a_block_slides_or_overturns(friction, truth):
    """By hand: it slides at mu and turns about its edge at width / height, whichever comes first."""
    model = block_on_floor(friction)
    found = optimise_forces(assemble_balance(model), weight_wrench(model, G), body_force(model, (1, 0, 0), G))
    assert found.status == "solved"
    assert found.multiplier == pytest.approx(truth, abs=1e-7)


def test_the_multipliers_are_the_mechanism():
    """Virtual power: the live load does the power 1 on it and the dead load minus the multiplier, friction included; a
    block that overturns goes about its edge."""
    model = block_on_floor(2.0)
    dead, live = weight_wrench(model, G), body_force(model, (1, 0, 0), G)
    system = assemble_balance(model)
    found = optimise_forces(system, dead, live)
    assert np.vdot(live, found.velocity) == pytest.approx(1.0)
    assert np.vdot(dead, found.velocity) == pytest.approx(-found.multiplier)
    v, omega = found.velocity[1, :3], found.velocity[1, 3:]
    edge = np.array([0.6, 0.25, 0.0]) - model.position[1]
    np.testing.assert_allclose((v + np.cross(omega, edge)) / np.linalg.norm(v), 0, atol=1e-6)
    opening = system.relative_velocity(found.velocity)[:, 0]
    assert opening.min() > -1e-7 * opening.max()


def test_sliding_dilates_and_the_strength_has_a_rate():
    """Associated: the block rises by mu for each unit it slides. d multiplier / d friction = sum of rate times normal
    force = 1 by hand."""
    model = block_on_floor(0.3)
    system = assemble_balance(model)
    found = optimise_forces(system, weight_wrench(model, G), body_force(model, (1, 0, 0), G))
    v = found.velocity[1]
    assert v[2] / v[0] == pytest.approx(0.3, abs=1e-6)
    assert found.rate @ found.force[:, 0] == pytest.approx(1.0, abs=1e-6)


def test_a_smooth_floor_bears_no_shear():
    model = block_on_floor(0.0)
    system = assemble_balance(model)
    still = optimise_forces(system, weight_wrench(model, G))
    assert still.status == "solved"
    np.testing.assert_allclose(still.force[:, 1:], 0.0, atol=1e-6)
    assert optimise_forces(system, weight_wrench(model, G), body_force(model, (1, 0, 0), G)).multiplier == pytest.approx(
        0.0, abs=1e-6
    )


def test_cohesion_holds_a_block_that_friction_does_not():
    """By hand: sliding at (mu N + c) / W; cohesion on shear only, so the joint bears no pull."""
    model = block_on_floor(0.1, width=3.0)
    system = assemble_balance(model)
    load = weight_wrench(model, G)
    share = 0.2 * -load[1, 2] / len(system.friction)
    none = np.zeros(len(system.friction))
    strong = Envelope(system.friction, none + share, none, none + np.inf)
    found = optimise_forces(system, load, body_force(model, (0, 1, 0), G), envelope=strong)
    assert found.multiplier == pytest.approx(0.3, abs=1e-6)
    assert found.force[:, 0].min() > -1e-6


@pytest.mark.parametrize("planar", [False, True])
def test_mortar_in_limit_analysis(planar):
    """By hand, on a joint of 0.6 x 0.5 m: it slides at mu + c A / W; it turns about its edge while half of the area pulls
    with the tension at the other one, (W + T A) width / (W height). At the cap of one edge the other bears the rest."""
    heavy, area = 0.6 * 0.5 * 1.0 * 2000 * G, 0.6 * 0.5

    def multiplier(**strength):
        low, high = (0, 0.5) if planar else (-2, 3)
        floor = box((-2, low, -1), (3, high, 0), fixed=True, name="floor")
        law = JointLaw(**strength)
        model = build_model([floor, box((0, 0, 0), (0.6, 0.5, 1.0), name="block")], friction=law, planar=planar)
        return optimise_forces(assemble_balance(model), weight_wrench(model, G), body_force(model, (1, 0, 0), G)).multiplier

    assert multiplier(friction=0.1, cohesion=5e3, tension=5e4) == pytest.approx(0.1 + 5e3 * area / heavy, abs=1e-6)
    assert multiplier(friction=2.0, cohesion=1e5, tension=1e4) == pytest.approx((1 + 1e4 * area / heavy) * 0.6, abs=1e-6)
    cap = 0.8 * heavy / (area / 2)  # of the weight, on one edge
    assert multiplier(friction=2.0, crushing=cap) == pytest.approx((0.8 - 0.2) * 0.6, abs=1e-6)


def test_what_cannot_stand_shows_its_mechanism():
    """A block hanging out over the edge by more than half: Farkas' certificate is its turning."""
    support = box((0, 0, -1), (1, 1, 0), fixed=True, name="floor")
    model = build_model([support, box((0.6, 0, 0), (1.6, 1, 0.2), name="plank")], friction=0.7)
    dead = weight_wrench(model, G)
    found = optimise_forces(assemble_balance(model), dead)
    assert found.status == "impossible"
    assert np.isnan(found.multiplier)
    assert np.vdot(dead, found.velocity) > 0
    assert found.velocity[1, 4] > 0  # turns down over the edge, about +y


def test_a_wedged_block_has_no_limit():
    """Between two walls without play: pushed along x it cannot move, whatever the force."""
    walls = [box((-1, 0, 0), (0, 1, 1), fixed=True, name="left"), box((1, 0, 0), (2, 1, 1), fixed=True, name="right"),
             box((-1, 0, -1), (2, 1, 0), fixed=True, name="floor")]  # fmt: skip
    model = build_model([*walls, box((0, 0, 0), (1, 1, 1), name="block")], friction=0.5)
    assert (
        optimise_forces(assemble_balance(model), weight_wrench(model, G), body_force(model, (1, 0, 0), G)).status == "endless"
    )


def test_bounds_of_a_plank_on_two_props_are_its_statics():
    """By hand: the resultants of the props lie at x = a in 0 .. 0.2 and b in 1.8 .. 2; the left one is (b P - M) / (b - a)."""
    props = [box((x, 0, -1), (x + 0.2, 1, 0), fixed=True, name=name) for x, name in ((0.0, "left"), (1.8, "right"))]
    model = build_model([*props, box((0, 0, 0), (2, 1, 0.1), name="plank")], friction=0.0)
    system = assemble_balance(model)
    load = AppliedLoad("plank", force=1e3, at=(0.55, 0.5, 0.1))
    dead = weight_wrench(model, G) + load_wrench(model, [load], G)
    least, largest = force_bounds(system, dead, ("left", "plank"), (0, 0, 1))
    plank = G * 2000.0 * 0.2
    total, moment = plank + 1e3, 1.0 * plank + 0.55 * 1e3
    ends = [(b * total - moment) / (b - a) for a in (0.0, 0.2) for b in (1.8, 2.0)]
    assert least == pytest.approx(min(ends), rel=1e-5)
    assert largest == pytest.approx(max(ends), rel=1e-5)


def test_block_order_changes_nothing():
    blocks = build.arch(blocks=9)
    models = [build_model(order, friction=0.6) for order in (blocks, blocks[::-1])]
    one, other = (
        optimise_forces(assemble_balance(model), weight_wrench(model, G), body_force(model, (1, 0, 0), G)) for model in models
    )
    assert one.multiplier == pytest.approx(other.multiplier, abs=1e-8)

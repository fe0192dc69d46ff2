"""Joints with areas in limit analysis: truths are closed forms, integrals by brute force, and invariants."""

import numpy as np
import pytest
from scipy.optimize import minimize

from drystone.analysis.statics.balance import assemble_balance
from drystone.analysis.statics.collapse_multiplier import solve_limit
from drystone.analysis.statics.collapse_states import area_state_error, search_states
from drystone.analysis.statics.first_crack import first_crack_multiplier
from drystone.analysis.statics.joint_pressure import order_hulls, spread_pressure
from drystone.base.units import GRAVITY
from drystone.build.shapes import box, prism
from drystone.structure import loads
from drystone.structure.joint_laws import Adhesion, JointLaw
from drystone.structure.loads import AppliedLoad
from drystone.structure.model import build_model

FLOOR = box((-5, -5, -1), (5, 5, 0), fixed=True, name="floor")
SQUARE = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
TRIANGLE = np.array([[0.0, 0.0], [1.2, 0.1], [0.3, 0.9]])


def points_of(polygon, centre):
    """The points that bear a normal force of 1 at this centre, and their shares."""
    corner, start = np.array(polygon, float), np.array([0, len(polygon)])
    count = order_hulls(start, corner)
    _, point, share = spread_pressure(start, count, corner, np.array([np.abs(corner).max()]), np.array([centre], float))
    return point, share


def scattered(polygon, count=400_000):
    """Points all over a convex polygon, by a fan of triangles: the brute force."""
    chance, polygon = np.random.default_rng(0), np.asarray(polygon, float)
    a, b, c = polygon[0], polygon[1:-1], polygon[2:]
    area = np.abs((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])
    which = chance.choice(len(area), count, p=area / area.sum())
    u, v = chance.uniform(size=(2, count))
    u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
    return a + u[:, None] * (b - a)[which] + v[:, None] * (c - a)[which]


@pytest.mark.parametrize("centre", [(0.0, 0.0), (0.1, 0.05), (0.3, -0.2), (0.45, 0.45), (0.4999, 0.2)])
def test_a_pressure_has_its_centre_where_the_force_acts(centre):
    point, share = points_of(SQUARE, centre)
    assert share.sum() == pytest.approx(1.0)
    assert share @ point == pytest.approx(np.array(centre), abs=1e-7)
    assert share.min() >= 0.0
    assert np.abs(point).max() <= 0.5 + 1e-9


@pytest.mark.parametrize(
    ("centre", "truth"),
    # spread along x and y: uniform 1/12; triangular over the width, 1/18; a strip of three times the distance d to the edge,
    # d^2 / 2; a line along an edge has none across it
    [
        ((0.0, 0.0), (1 / 12, 1 / 12)),
        ((1 / 6, 0.0), (1 / 18, 1 / 12)),
        ((0.4, 0.0), (0.005, 1 / 12)),
        ((0.5, 0.0), (0.0, 1 / 12)),
    ],
)
def test_the_pressure_is_linear_without_tension(centre, truth):
    point, share = points_of(SQUARE, centre)
    assert share @ (point - centre) ** 2 == pytest.approx(np.array(truth), abs=2e-6)


@pytest.mark.parametrize("polygon", [SQUARE, SQUARE * [3.0, 1.0], TRIANGLE])
def test_torsion_of_uniform_pressure(polygon):
    """The mean distance from the centroid: of the square 0.3826 of its side, of others by brute force."""
    everywhere = scattered(polygon)
    centre = everywhere.mean(axis=0)
    point, share = points_of(polygon, centre)
    assert share @ np.hypot(*(point - centre).T) == pytest.approx(np.hypot(*(everywhere - centre).T).mean(), rel=5e-3)


def lowest_of(model, live, starts=2, hops=4):
    system, dead = assemble_balance(model), loads.weight_wrench(model, GRAVITY)
    found = solve_limit(system, dead, live)
    rounds = search_states(system, dead, live, found.optimum, starts=starts, hops=hops, stands=True)
    states = [each.collapse for each in rounds if each.collapse is not None]
    assert all(area_state_error(system, dead, live, state) <= 1e-4 for state in states)
    assert all(state.multiplier <= found.multiplier * (1 + 1e-5) for state in states)
    return found.multiplier, min(states, key=lambda state: state.multiplier)


@pytest.mark.parametrize(("sides", "offset"), [((2.0, 2.0), 0.3), ((2.0, 2.0), 1.0), ((3.0, 1.0), 1.5), ((2.0, 2.0), 20.0)])
def test_shear_and_torsion_of_a_slab(sides, offset):
    """A slab pushed off its centre by its own weight slides about a point: friction times the mean distance from it over the
    arm of the push, least over all points, integrated by brute force. Far off the centre this is pure torsion, 0.3826 of the
    side."""
    friction, (x, y) = 0.5, (each / 2 for each in sides)
    model = build_model([FLOOR, box((-x, -y, 0), (x, y, 0.1), name="slab")], friction=friction)
    push = AppliedLoad("slab", share=1.0, direction=(1, 0, 0), at=(0.0, offset, 0.0), live=True)
    everywhere = scattered([(-x, -y), (x, -y), (x, y), (-x, y)], 40_000)

    def resistance(c):
        return friction * np.hypot(*(everywhere - [0.0, c]).T).mean() / max(abs(offset - c), 1e-9)

    truth = min(friction, *(minimize(lambda c: resistance(c[0]), [c], method="Nelder-Mead").fun for c in (-5, -1, -0.1)))
    associated, lowest = lowest_of(model, loads.load_wrench(model, [push], GRAVITY))
    assert lowest.multiplier == pytest.approx(truth, rel=0.02)
    assert lowest.multiplier < associated * (1 - 1e-3)


@pytest.mark.parametrize("planar", [False, True])
@pytest.mark.parametrize("crushing", [1e5, 3e5, 5e6])
def test_a_block_that_crushes_its_toe(crushing, planar):
    """Rectangular stress block: the weight W stands on a strip of W / (crushing depth); moments about its middle."""
    law, stone = JointLaw(0.9, crushing=crushing), box((0, 0, 0), (0.5, 0.5, 2), name="stone")
    model = build_model([FLOOR, stone], friction=law, planar=planar)
    down = GRAVITY * model.bodies.mass[1]
    truth = (0.5 - down / (crushing * 0.5)) / 2
    found = solve_limit(
        assemble_balance(model), loads.weight_wrench(model, GRAVITY), loads.body_force(model, (1, 0, 0), GRAVITY)
    )
    assert found.multiplier == pytest.approx(truth, rel=1e-3)


def test_a_hexagon_that_crushes_its_toe():
    """The part of the hexagon beyond a line whose area is weight over crushing strength, by brute force; its centroid is the
    pivot."""
    angle = np.radians(60 * np.arange(6) + 10)
    outline = 0.4 * np.column_stack([np.cos(angle), np.sin(angle)])
    pillar = prism(outline, (0.0, 2.0), name="pillar")  # along y: laid down, then stood up
    stood = pillar.vertices @ np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    stood = stood - [0.0, 0.0, stood[:, 2].min()]
    stone = type(pillar)(stood, pillar.faces, name="pillar")
    model = build_model([FLOOR, stone], friction=JointLaw(0.9, crushing=1e5))
    down = GRAVITY * model.bodies.mass[1]
    flat = stood[stood[:, 2] < 1e-9][:, :2]
    order = np.argsort(np.arctan2(*(flat - flat.mean(axis=0)).T[::-1]))
    everywhere = scattered(flat[order])
    area = model.bodies.mass[1] / stone.density / 2.0
    along = np.sort(everywhere[:, 0])[::-1]
    pivot = along[: round(down / 1e5 / area * len(along))].mean() - everywhere[:, 0].mean()
    found = solve_limit(
        assemble_balance(model), loads.weight_wrench(model, GRAVITY), loads.body_force(model, (1, 0, 0), GRAVITY)
    )
    assert found.multiplier == pytest.approx(pivot / 1.0, rel=0.01)


def test_bending_with_tension_plastic_and_at_the_first_crack():
    """A glued block: plastic, all of the joint pulls about its edge, (W + f A) L / 2; elastic, (f + W / A) Z."""
    law, side = JointLaw(0.9, cohesion=1e5, tension=5e4), 0.5
    model = build_model([FLOOR, box((0, 0, 0), (side, side, 2), name="stone")], friction=law)
    system, dead, live = (
        assemble_balance(model),
        loads.weight_wrench(model, GRAVITY),
        loads.body_force(model, (1, 0, 0), GRAVITY),
    )
    down = GRAVITY * model.bodies.mass[1]
    assert solve_limit(system, dead, live).multiplier == pytest.approx((down + 5e4 * side**2) * side / 2 / down, rel=1e-5)
    assert first_crack_multiplier(system, dead, live) == pytest.approx((5e4 + down / side**2) * side**3 / 6 / down, rel=1e-4)


def test_adhesion_counts_until_damage_begins():
    """Lifted straight: weight and sqrt(stiffness energy) times the area."""
    law = JointLaw(0.9, adhesion=Adhesion(energy=2.0, normal_stiffness=1e9))
    model = build_model([FLOOR, box((0, 0, 0), (1, 1, 1), name="stone")], friction=law)
    lift = AppliedLoad("stone", share=1.0, direction=(0, 0, 1), live=True)
    down = GRAVITY * model.bodies.mass[1]
    found = solve_limit(assemble_balance(model), loads.weight_wrench(model, GRAVITY), loads.load_wrench(model, [lift], GRAVITY))
    assert found.multiplier == pytest.approx(1 + np.sqrt(2e9) / down, rel=1e-5)

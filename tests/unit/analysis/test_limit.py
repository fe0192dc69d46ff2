"""Collapse multipliers of the associated and of Coulomb's law: truths are closed forms and finite differences."""

import numpy as np
import pytest
from scipy.optimize import minimize

from drystone.analysis.statics.balance import assemble_balance
from drystone.analysis.statics.collapse_multiplier import gain_by_friction, gain_by_load, multiplier_shortfall, solve_limit
from drystone.analysis.statics.cone_program import optimise_forces
from drystone.analysis.statics.coulomb_collapse import (
    Collapse,
    corner_state_error,
    distinct_multipliers,
    search_corner_states,
    starts_by_size,
)
from drystone.base.units import GRAVITY
from drystone.build.shapes import box, prism
from drystone.structure import loads
from drystone.structure.loads import AppliedLoad
from drystone.structure.model import build_model

FLOOR = box((-5, -5, -1), (5, 5, 0), fixed=True, name="floor")


def multipliers(model, live, starts=3):
    """The associated multiplier and those found of Coulomb's law."""
    system, dead = assemble_balance(model), loads.weight_wrench(model, GRAVITY)
    found = solve_limit(system, dead, live)
    rounds = search_corner_states(system, dead, live, found.optimum, starts=starts, stands=True)
    return found.multiplier, distinct_multipliers([each.collapse.multiplier for each in rounds if each.collapse is not None])


def sideways(model, direction=(1, 0, 0)):
    return loads.body_force(model, direction, GRAVITY)


@pytest.mark.parametrize(("friction", "width", "height"), [(0.3, 1.0, 1.0), (0.8, 1.0, 2.0), (0.5, 0.4, 1.0)])
def test_a_block_slides_or_tips(friction, width, height):
    """min(friction, width / height), by either law: the normal forces are those of balance."""
    model = build_model([FLOOR, box((0, 0, 0), (width, 1, height), name="stone")], friction=friction)
    associated, exact = multipliers(model, sideways(model))
    truth = min(friction, width / height)
    assert associated == pytest.approx(truth, rel=1e-6)
    assert exact == [pytest.approx(truth, rel=1e-5)]


@pytest.mark.parametrize(("push_height", "truth"), [(0.25, 0.6), (1.5, 0.5 / 1.5)])
def test_a_block_pushed_at_a_height(push_height, truth):
    """A force H at the height h on a cube of weight W: slides at H = friction W, tips at H = W b / (2 h)."""
    model = build_model([FLOOR, box((0, 0, 0), (1, 1, 2), name="stone")], friction=0.6)
    push = AppliedLoad("stone", share=1.0, direction=(1, 0, 0), at=(0.0, 0.5, push_height), live=True)
    associated, exact = multipliers(model, loads.load_wrench(model, [push], GRAVITY))
    assert associated == pytest.approx(truth, rel=1e-6)
    assert exact == [pytest.approx(truth, rel=1e-5)]


def test_a_stack_tips_as_one():
    """Five cubes, friction enough: b / (5 b); the mechanism turns all about the toe, the live load doing the power 1."""
    model = build_model([FLOOR, *(box((0, 0, k), (1, 1, k + 1), name=f"cube-{k}") for k in range(5))], friction=0.7)
    found = solve_limit(assemble_balance(model), loads.weight_wrench(model, GRAVITY), sideways(model))
    assert found.multiplier == pytest.approx(0.2, rel=1e-6)
    spin = found.velocity[1:, 4]
    np.testing.assert_allclose(spin, spin[0], rtol=1e-4)
    assert np.vdot(sideways(model), found.optimum.velocity) == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("friction", [0.0, 0.2])
def test_a_wedge_is_driven_between_a_block_and_a_wall(friction):
    """A wedge with a slope of 45 degrees, its upright face on a smooth wall, is pressed down and pushes a block aside that
    resists by friction on the floor. Balance of the block sideways and upwards, and of the wedge downwards."""
    wedge = prism(np.array([[0.0, 1.0], [1.0, 2.0], [0.0, 2.0]]), (0, 1), name="wedge", group="wedge")
    block = prism(np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 3.0], [2.0, 3.0], [0.0, 1.0]]), (0, 1), name="block", group="block")
    wall = box((-1, -5, 0.5), (0, 5, 5), fixed=True, name="wall", group="wall")
    floor = box((-5, -5, -1), (5, 5, 0), fixed=True, name="floor", group="floor")
    pairs = [("wedge", "wall", 0.0), ("block", "wall", 0.0), ("block", "floor", 0.3), ("wedge", "block", friction)]
    model = build_model([floor, wall, wedge, block], friction=0.5, pairs=pairs)
    small, large = (GRAVITY * model.bodies.mass[i] for i in (2, 3))
    # On the block: normal (N, -N) / sqrt(2), friction along the slope (down the slope, the wedge goes down) of friction N.
    across, down = (1 - friction) / np.sqrt(2), (1 + friction) / np.sqrt(2)
    normal = 0.3 * large / (across - 0.3 * down)  # across N = 0.3 (W + down N)
    truth = (down * normal - small) / small  # the live load is the wedge's weight once more
    push = AppliedLoad("wedge", share=1.0, of="wedge", live=True)
    associated, exact = multipliers(model, loads.load_wrench(model, [push], GRAVITY))
    assert associated == pytest.approx(truth, rel=1e-5)
    assert exact == [pytest.approx(truth, rel=1e-4)]


def test_a_stone_drawn_from_between_two_others():
    """Where dilatancy matters. A cube of weight W is lifted from between two that stand on the floor. Any thrust H between
    them is admissible as long as the outer ones do not slide: t = f H, H = f (W - t), so at most W + 2 f^2 W / (1 + f^2),
    the associated value. By Coulomb's law the cube may also rise under no thrust at all: W."""
    friction = 0.5
    stones = [box((x, 0, 0), (x + 1, 1, 1), name=name) for x, name in ((0, "left"), (1, "middle"), (2, "right"))]
    model = build_model([FLOOR, *stones], friction=friction)
    lift = AppliedLoad("middle", share=1.0, of="middle", direction=(0, 0, 1), live=True)
    associated, exact = multipliers(model, loads.load_wrench(model, [lift], GRAVITY))
    assert associated == pytest.approx(1 + 2 * friction**2 / (1 + friction**2), rel=1e-6)
    assert exact[0] == pytest.approx(1.0, rel=1e-5)


def test_dilatancy_locks_what_slides_between_walls():
    """A cube between two fixed walls, pushed along them: to slide it would have to open both joints, so nothing bounds the
    associated multiplier. By Coulomb's law it slides with no force from the walls: friction."""
    walls = [box((-3, y, 0), (3, y + 1, 1), fixed=True, name=name) for y, name in ((-1.0, "south"), (1.0, "north"))]
    model = build_model([FLOOR, *walls, box((0, 0, 0), (1, 1, 1), name="cube")], friction=0.4)
    associated, exact = multipliers(model, sideways(model))
    assert associated == np.inf
    assert exact[0] == pytest.approx(0.4, rel=1e-5)


@pytest.mark.parametrize("offset", [0.0, 0.3, 1.0])
def test_torsion_of_a_block_pushed_off_its_centre(offset):
    """Four corners bear the weight, each diagonal half of it if the law is associated. Pushed along x at the offset e from the
    centre the slab turns about a point c: friction times the sum of normal forces times distances from c, over |e - c_y|,
    least over c; c infinitely far is sliding. By Coulomb's law forces may also leave one diagonal altogether: this sum is
    linear in the share of a diagonal, its least value concave, so that the lowest multiplier has one diagonal bear all."""
    friction, corners = 0.5, np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    model = build_model([FLOOR, box((-1, -1, 0), (1, 1, 0.5), name="slab")], friction=friction)
    push = AppliedLoad("slab", share=1.0, direction=(1, 0, 0), at=(0.0, offset, 0.0), live=True)
    associated, exact = multipliers(model, loads.load_wrench(model, [push], GRAVITY), starts=6)

    def least(share):
        def resistance(c):
            return friction * share @ np.hypot(*(corners - c).T) / max(abs(offset - c[1]), 1e-9)

        tries = [minimize(resistance, (x, y), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}).fun
                 for x in (-1, 0, 1) for y in (-5, -1, 0, 1, 5)]  # fmt: skip
        return min(friction, *tries)

    assert associated == pytest.approx(least(np.full(4, 0.25)), rel=1e-5)
    assert exact[0] == pytest.approx(least(np.array([0.5, 0, 0.5, 0])), rel=1e-4)


def test_a_search_is_the_same_at_every_call():
    """To the last bit, random starts included."""
    stones = [box((x, 0, 0), (x + 1, 1, 1), name=name) for x, name in ((0, "left"), (1, "middle"), (2, "right"))]
    model = build_model([FLOOR, *stones], friction=0.5)
    live = loads.load_wrench(model, [AppliedLoad("middle", share=1.0, of="middle", direction=(0, 0, 1), live=True)], GRAVITY)
    assert multipliers(model, live) == multipliers(model, live)


@pytest.mark.parametrize(("points", "starts"), [(8, 6), (1000, 6), (2000, 3), (9000, 1), (10_001, 0)])
def test_large_structures_have_fewer_starts(points, starts):
    """As the theory says: 6 up to 1,000 contact points, fewer from there on, none beyond 10,000."""
    model = build_model([FLOOR, box((0, 0, 0), (1, 1, 1), name="stone")], friction=0.5)
    assert starts_by_size(assemble_balance(model)._replace(friction=np.zeros(points))) == starts


def test_an_error_is_seen():
    """A true state passes; each way of breaking Coulomb's law shows as its own size."""
    model = build_model([FLOOR, box((0, 0, 0), (1, 1, 0.5), name="stone")], friction=0.4)
    system, dead, live = assemble_balance(model), loads.weight_wrench(model, GRAVITY), sideways(model)
    found = solve_limit(system, dead, live)
    slide = np.zeros((2, 6))
    slide[1, 0] = 1 / live[1, 0]  # the live load does the power 1
    state = Collapse(found.multiplier, slide, found.optimum.force, 0.0)
    assert corner_state_error(system, dead, live, state) < 1e-7
    rising = slide + [[0] * 6, [0, 0, 0.4 / live[1, 0], 0, 0, 0]]  # the associated mechanism: it opens under pressure
    assert corner_state_error(system, dead, live, state._replace(velocity=rising)) > 0.1
    assert corner_state_error(system, dead, live, state._replace(velocity=-rising)) > 0.1  # into the floor
    assert corner_state_error(system, dead, live, state._replace(multiplier=0.3)) > 0.01  # no balance
    strong = assemble_balance(build_model(model.blocks, friction=0.3))
    assert corner_state_error(strong, dead, live, state) > 0.01  # outside the cone


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6])
def test_a_loose_answer_says_by_how_much_it_is_too_low(tolerance):
    """Against the tight answer, the truth here: a wall of five courses pushed out of its plane."""
    places = [(k + 0.5 * (course % 2), course) for course in range(5) for k in range(3)]
    stones = [box((x, 0, z), (x + 1, 1, z + 1), name=f"{z}-{x}") for x, z in places]
    model = build_model([FLOOR, *stones], friction=0.5)
    system, dead, live = assemble_balance(model), loads.weight_wrench(model, GRAVITY), sideways(model, (0.3, 1, 0))
    truth, loose = (optimise_forces(system, dead, live, tolerance=each) for each in (1e-10, tolerance))
    missing = truth.multiplier - loose.multiplier
    assert missing > 1e-9
    assert missing <= 1.1 * multiplier_shortfall(system, loose) <= 100 * missing


def test_gains_are_those_of_finite_differences():
    """A wall with two kinds of stone, a dead load and a live one: central differences of the multiplier."""
    step = 1e-4
    on_top, aside = AppliedLoad("3-0", force=2e4), AppliedLoad("3-2", force=1e4, direction=(1, 0, 0))

    def structure(light=2000.0, friction=0.4, foot=0.5):
        stones = [FLOOR]
        for course in range(4):
            shift = 0.5 * (course % 2)
            kind = {"group": "light", "density": light} if course > 1 else {"group": "heavy", "density": 2600.0}
            for k in range(3):
                stones.append(box((k + shift, 0, course), (k + 1 + shift, 1, course + 1), name=f"{course}-{k}", **kind))
        return build_model(stones, friction=friction, support_friction=foot)

    def solve(extra_dead=1.0, extra_live=1.0, **changed):
        model = structure(**changed)
        dead = loads.weight_wrench(model, GRAVITY) + extra_dead * loads.load_wrench(model, [on_top], GRAVITY)
        live = sideways(model) + extra_live * loads.load_wrench(model, [aside], GRAVITY)
        return solve_limit(assemble_balance(model), dead, live)

    def slope(name, value):
        ends = [solve(**{name: value * (1 + sign * step)}).multiplier for sign in (-1, 1)]
        return (ends[1] - ends[0]) / (2 * step)

    found, model = solve().optimum, structure()
    nothing = np.zeros((len(model.blocks), 6))
    light = np.array([block.group == "light" for block in model.blocks])[:, None]
    of_light = light * loads.weight_wrench(model, GRAVITY), light * sideways(model)
    dead, live = (loads.load_wrench(model, [push], GRAVITY) for push in (on_top, aside))
    system = assemble_balance(model)
    foot = (system.contacts.a == 0) | (system.contacts.b == 0)
    by_contact = gain_by_friction(found) * system.friction
    gains = {
        ("light", 2000.0): gain_by_load(found, *of_light),
        ("extra_dead", 1.0): gain_by_load(found, dead, nothing),
        ("extra_live", 1.0): gain_by_load(found, nothing, live),
        ("friction", 0.4): by_contact[~foot].sum(),
        ("foot", 0.5): by_contact[foot].sum(),
    }
    for (name, value), gain in gains.items():
        assert gain == pytest.approx(slope(name, value), rel=2e-3, abs=2e-6), name
    assert max(abs(gain) for gain in gains.values()) > 0.01

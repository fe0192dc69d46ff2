"""Conventional thrust lines: truths are balances written by hand, the parabola, invariants, and the cone program of statics."""

import numpy as np
import pytest

from drystone import build
from drystone.analysis.statics.balance import assemble_balance
from drystone.analysis.statics.collapse_multiplier import solve_limit
from drystone.analysis.statics.cone_program import optimise_forces
from drystone.analysis.statics.rigid_equilibrium import force_bounds
from drystone.analysis.statics.surcharge import load_from_above
from drystone.analysis.statics.thrust_lines import conventional_thrust, find_arch, minimum_thickness, thrust_line_multiplier
from drystone.analysis.statics_run import analyse_case
from drystone.base.errors import InputError
from drystone.base.units import GRAVITY
from drystone.build.shapes import box, prism
from drystone.io.case import parse_case
from drystone.structure.loads import AppliedLoad, body_force, load_wrench, weight_wrench
from drystone.structure.model import Block, build_model

STICKY = 50.0  # friction of joints that do not slide
ARCHES = {
    "oppenheim": {},
    "semicircular": {"radius": 1.0, "thickness": 0.2, "embrace": np.pi, "blocks": 26},
    "segmental": {"shape": "segmental", "span": 4.0, "rise": 1.0, "thickness": 0.4, "blocks": 15},
    "pointed": {"shape": "pointed", "span": 4.0, "rise": 3.0, "thickness": 0.5, "blocks": 16},
}


def lines_of(model, loads=()):
    load = weight_wrench(model, GRAVITY) + load_wrench(model, loads, GRAVITY)
    return conventional_thrust(find_arch(assemble_balance(model), load))


def test_three_voussoirs_by_hand():
    """A semicircle of three. The key, pushed by P = (H, W/2) at a point p of each of its joints, hangs between the others; a
    side voussoir turns about a point a of its springing: H (z_p - z_a) = W/2 (x_a - x_p) + W (x_a - x_c). H is least with p
    on the extrados and a on the intrados, and largest the other way; the springings bear 3/2 W each."""
    inner, outer, density = 4.0, 6.0, 1000.0
    model = build_model(build.arch(radius=5.0, thickness=2.0, embrace=np.pi, blocks=3, density=density), friction=0.3)
    w = density * GRAVITY * np.sqrt(3) / 4 * (outer**2 - inner**2)
    centroid = np.cos(np.pi / 6) * 2 / 3 * np.cos(np.pi / 6) * (outer**3 - inner**3) / (outer**2 - inner**2)

    def by_hand(p, a):  # radii of p, at 60 degrees, and of a, on the ground
        return (w / 2 * (a - p / 2) + w * (a - centroid)) / (p * np.sqrt(3) / 2)

    found = lines_of(model)
    assert found.minimum.thrust == pytest.approx(by_hand(outer, inner), rel=1e-9)
    assert found.maximum.thrust == pytest.approx(by_hand(inner, outer), rel=1e-9)
    np.testing.assert_allclose(found.minimum.point[0], [inner, 0, 0], atol=1e-9)
    np.testing.assert_allclose(found.minimum.point[1], [outer / 2, 0, outer * np.sqrt(3) / 2], atol=1e-9)
    np.testing.assert_allclose(found.minimum.offset, [1, -1, -1, 1], atol=1e-9)
    np.testing.assert_allclose(found.minimum.force[0], [-by_hand(outer, inner), 0, 1.5 * w], rtol=1e-9, atol=1e-9 * w)
    assert found.minimum.slope[0] == pytest.approx(by_hand(outer, inner) / (1.5 * w), rel=1e-9)


def test_the_line_of_a_uniform_load_is_a_parabola():
    """Upright joints on z = 4 f x (L - x) / L2, equally spaced: the funicular passes all their middles, thrust w L2 / (8 f)."""
    span, rise, thick, count = 8.0, 2.0, 0.3, 9
    x = np.linspace(0, span, count + 1)
    low, high = (4 * rise * x * (span - x) / span**2 + side * thick / 2 for side in (-1, 1))
    stones = [prism(np.array([(x[i], low[i]), (x[i + 1], low[i + 1]), (x[i + 1], high[i + 1]), (x[i], high[i])]), (0, 1))
              for i in range(count)]  # fmt: skip
    ends = [box((-1, 0, -1), (0, 1, 1), fixed=True), box((span, 0, -1), (span + 1, 1, 1), fixed=True)]
    model = build_model(ends + stones, friction=STICKY)
    found = lines_of(model)
    per_length = 2000.0 * GRAVITY * thick
    assert found.safety_factor > 900  # without bound but for the solver
    assert found.safest.thrust == pytest.approx(per_length * span**2 / (8 * rise), rel=1e-3)
    np.testing.assert_allclose(found.safest.point[:, 2], (low + high) / 2, atol=1e-3)


@pytest.mark.parametrize("shape", ARCHES)
def test_without_sliding_the_cone_program_gives_the_same_thrusts(shape):
    """Forces at the corners of joints that never slide are a thrust inside the joint: `bounds` knows no lines."""
    model = build_model(build.arch(**ARCHES[shape]), friction=STICKY)
    loads = [AppliedLoad("voussoir-2", share=0.05), AppliedLoad("voussoir-5", share=0.01, direction=(1, 0, 0))]
    dead = weight_wrench(model, GRAVITY) + load_wrench(model, loads, GRAVITY)
    found = lines_of(model, loads)
    least, largest = force_bounds(assemble_balance(model), dead, ("abutment-right", "voussoir-1"), (-1, 0, 0))
    assert (found.minimum.thrust, found.maximum.thrust) == pytest.approx((least, largest), rel=1e-6)


def test_with_sliding_it_does_not():
    """Oppenheim's joints at friction 0.2: the line of least thrust slips where it is too steep, so `bounds` asks for more."""
    model = build_model(build.arch(), friction=0.2)
    found = lines_of(model)
    arch = find_arch(assemble_balance(model), weight_wrench(model, GRAVITY))
    assert (found.minimum.slope > arch.friction).any()
    least, _ = force_bounds(
        assemble_balance(model), weight_wrench(model, GRAVITY), ("abutment-right", "voussoir-1"), (-1, 0, 0)
    )
    assert least > 1.001 * found.minimum.thrust


@pytest.mark.parametrize("shape", ARCHES)
def test_without_sliding_the_cone_program_bears_the_same_live_load(shape):
    model = build_model(build.arch(**ARCHES[shape]), friction=STICKY)
    system, dead = assemble_balance(model), weight_wrench(model, GRAVITY)
    live = load_wrench(model, [AppliedLoad("voussoir-2", share=1.0)], GRAVITY)
    truth = solve_limit(system, dead, live).multiplier
    assert thrust_line_multiplier(find_arch(system, dead), find_arch(system, live).load) == pytest.approx(truth, rel=1e-6)


@pytest.mark.parametrize("shape", ARCHES)
def test_in_an_arch_as_thin_as_the_safety_factor_allows_one_line_is_left(shape):
    """Invariant: with the joints divided by the factor least and largest thrust meet; a bit thinner there is none."""
    model = build_model(build.arch(**ARCHES[shape]), friction=STICKY)
    arch = find_arch(assemble_balance(model), weight_wrench(model, GRAVITY))
    factor = conventional_thrust(arch).safety_factor
    thin = conventional_thrust(arch._replace(half=arch.half / (factor * (1 - 1e-6))))
    assert thin.minimum.thrust == pytest.approx(thin.maximum.thrust, rel=1e-3)
    assert thin.safety_factor == pytest.approx(1.0, abs=1e-5)
    assert conventional_thrust(arch._replace(half=arch.half / (factor * (1 + 1e-6)))).minimum is None


def test_a_line_passes_the_balance_of_every_voussoir():
    """Newton: what a block gets from the one before and from its load it gives to the next, at the points of the line."""
    model = build_model(build.arch(**ARCHES["pointed"]), friction=STICKY)
    load = weight_wrench(model, GRAVITY) + load_wrench(
        model, [AppliedLoad("voussoir-3", force=2e3, direction=(1, 0, -1), at=(1, 0, 1))], GRAVITY
    )
    arch = find_arch(assemble_balance(model), load)
    line = conventional_thrust(arch).maximum
    for k, i in enumerate(arch.blocks[1:-1]):
        np.testing.assert_allclose(line.force[k] + load[i, :3], line.force[k + 1], atol=1e-3)
        before, after = (np.cross(line.point[j] - model.position[i], line.force[j]) for j in (k, k + 1))
        np.testing.assert_allclose(before + load[i, 3:], after, atol=1e-2)


def test_a_lintel_bears_any_thrust_and_none():
    """A block between upright joints: friction alone may hold it, and nothing bounds the thrust through it."""
    stones = [box((0, 0, 0), (1, 1, 1), fixed=True), box((1, 0, 0), (3, 1, 1)), box((3, 0, 0), (4, 1, 1), fixed=True)]
    found = lines_of(build_model(stones, friction=STICKY))
    assert found.minimum.thrust == pytest.approx(0.0, abs=1e-3)
    assert found.minimum.slope.min() > STICKY
    assert found.maximum is None


@pytest.mark.parametrize(
    "blocks", [build.tower(), build.wall(), build.column(), build.dome(), build.spandrel_arch()], ids=lambda b: b[-1].group
)
def test_other_structures_are_no_arch(blocks):
    model = build_model(blocks, friction=0.6)
    assert find_arch(assemble_balance(model), weight_wrench(model, GRAVITY)) is None


def test_an_arch_pushed_out_of_its_plane_has_no_line():
    model = build_model(build.arch(), friction=0.6)
    load = weight_wrench(model, GRAVITY) + load_wrench(
        model, [AppliedLoad("voussoir-3", share=0.1, direction=(0, 1, 0))], GRAVITY
    )
    assert find_arch(assemble_balance(model), load) is None


def test_an_arch_at_any_azimuth_is_the_same_arch():
    """Invariance: turned about the vertical by 40 degrees."""
    turn = np.deg2rad(40)
    matrix = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
    stones = build.arch()
    turned = [type(s)(s.vertices @ matrix.T, s.faces, fixed=s.fixed, name=s.name) for s in stones]
    here, there = (lines_of(build_model(each, friction=1.0)) for each in (stones, turned))
    assert there.safety_factor == pytest.approx(here.safety_factor, rel=1e-6)
    np.testing.assert_allclose(there.minimum.point, here.minimum.point @ matrix.T, atol=1e-6)


def test_what_is_above_an_arch_loads_it():
    """Counted by hand: a box over the crown and one haunch, which goes on beyond the arch; that part does not load it, nor
    does a box under the arch or one behind it."""
    beam, barrel = box((-1.0, -0.5, 1.5), (5.0, 0.5, 2.0), name="beam"), box((-0.5, -0.5, 0.0), (0.5, 0.5, 0.3), name="barrel")
    behind = box((-1.0, 1.0, 1.5), (1.0, 2.0, 2.0), name="behind")
    model = build_model([*build.arch(**ARCHES["segmental"]), beam, barrel, behind], friction=0.6)
    system = assemble_balance(model)
    voussoirs = np.array([block.group == "arch" for block in model.blocks])
    load = weight_wrench(model, GRAVITY)
    bare = find_arch(system, load, voussoirs)
    loaded = load_from_above(bare, model, load)
    added = loaded.load - bare.load
    right = max(model.blocks[2].vertices[:, 0])  # the outer end of the first joint
    line = 0.5 * 2000.0 * GRAVITY  # [N/m]
    assert -added[:, 1].sum() == pytest.approx((right + 1.0) * line, rel=1e-9)
    place = bare.middle[0, 0] - (right - 1.0) / 2  # [m] from the first joint, leftwards, to the middle of the part above
    assert -added[:, 2].sum() == pytest.approx((right + 1.0) * line * place, rel=1e-9)
    assert conventional_thrust(loaded).minimum.thrust > conventional_thrust(bare).minimum.thrust


def test_slices_of_a_pyramid_are_the_pyramid():
    """Invariant: its weight and a pull sideways, at its centroid, however the uprights cut it."""
    corners = np.array([(-1.1, -0.3, 1.5), (0.9, -0.3, 1.5), (0.9, 0.3, 1.5), (-1.1, 0.3, 1.5), (0.4, 0.0, 3.0)])
    pyramid = Block(corners, ((3, 2, 1, 0), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)), name="pyramid")
    model = build_model([*build.arch(**ARCHES["segmental"]), pyramid], friction=0.6)
    load = weight_wrench(model, GRAVITY) + body_force(model, (1, 0, 0), 2.0)
    bare = find_arch(assemble_balance(model), load, np.array([block.group == "arch" for block in model.blocks]))
    added = load_from_above(bare, model, load).load - bare.load
    turn = np.cross(model.position[-1] - bare.middle[0], load[-1, :3]) @ [0, 1, 0]  # the arch goes to the left
    np.testing.assert_allclose(added.sum(axis=0), [-load[-1, 0], load[-1, 2], turn], rtol=1e-12)
    assert (added[:, 1] < 0).sum() > 3


def test_an_arch_on_piers_stands_on_the_stones_below_it():
    """The voussoirs of the buttressed arch: their ends are the springers, which are free."""
    model = build_model(build.buttressed_arch(), friction=0.6)
    voussoirs = np.array([block.name.startswith("voussoir") for block in model.blocks])
    arch = find_arch(assemble_balance(model), weight_wrench(model, GRAVITY), voussoirs)
    assert [model.blocks[i].name for i in arch.blocks[[0, -1]]] == ["springer-right", "springer-left"]
    assert len(arch.half) == voussoirs.sum() + 1


def test_minimum_thickness_is_where_the_cone_program_finds_no_forces_any_more():
    def family(thickness):
        arch = build.arch(radius=1.0, thickness=thickness, embrace=np.deg2rad(160), blocks=12)
        return build_model(arch, friction=STICKY)

    found = minimum_thickness(family, 0.02, 0.3)
    for factor, status in ((1.001, "solved"), (0.999, "impossible")):
        model = family(factor * found)
        assert optimise_forces(assemble_balance(model), weight_wrench(model, GRAVITY)).status == status


def test_minimum_thickness_needs_a_range_with_an_answer():
    def family(thickness):
        return build_model(build.arch(thickness=thickness), friction=1.0)

    with pytest.raises(InputError, match="give a wider range"):
        minimum_thickness(family, 1.5, 2.0)
    with pytest.raises(InputError, match="give a family of arches"):
        minimum_thickness(lambda t: build_model(build.tower(), friction=1.0), 1.5, 2.0)


# In a case


def facts_of(text):
    case = parse_case(text)
    stages = analyse_case(case, case.model())
    while True:
        try:
            next(stages)
        except StopIteration as end:
            return end.value


CASE = """
[structure]
generator = "{generator}"
[joints]
friction = {friction}
[analysis]
kind = "equilibrium"
{more}
"""


def test_equilibrium_of_an_arch_tells_its_thrust():
    """Oppenheim's arch at friction 0.2 is symmetric, and so are its lines: they touch and slide in pairs of joints."""
    facts = facts_of(CASE.format(generator="arch", friction=0.2, more=""))
    thrust, reaction = facts["thrust"], -facts["reactions"]["abutment-right"][0]
    assert thrust["minimum"] < reaction < thrust["maximum"]
    assert thrust["geometric_safety_factor"] == pytest.approx(3.046, abs=1e-3)
    assert {"joint": ["voussoir-1", "voussoir-2"], "side": "inside"} in thrust["touches"]["minimum"]
    assert {"joint": ["voussoir-6", "voussoir-7"], "side": "inside"} in thrust["touches"]["minimum"]
    assert [each["joint"] for each in thrust["friction_check"]["maximum"]] == [
        ["abutment-right", "voussoir-1"], ["voussoir-7", "abutment-left"]]  # fmt: skip
    assert np.array(thrust["lines"]["safest"]).shape == (8, 3)


def test_other_structures_tell_none():
    assert "thrust" not in facts_of(CASE.format(generator="tower", friction=0.6, more=""))


def test_an_arch_in_a_wall_is_named():
    facts = facts_of(CASE.format(generator="spandrel-arch", friction=0.6, more='arch = "block-voussoir"'))
    assert facts["thrust"]["geometric_safety_factor"] > 1
    with pytest.raises(InputError, match=r"analysis.arch: the 0 blocks .* 'voussoir', .*; name the voussoirs of one arch"):
        facts_of(CASE.format(generator="spandrel-arch", friction=0.6, more='arch = "voussoir"'))


def test_what_falls_is_named():
    facts = facts_of(CASE.format(generator="wall-over-gap", friction=0.4, more="remaining = true"))
    assert facts["rest_stands"]
    assert not facts["stable"]
    assert {f"block-1-{k}" for k in range(7, 15)} <= set(facts["falls"])  # the first course between the supports

"""Gaps of rounding: truths are the unrounded drawing and drawings with real play, of which nothing may be closed."""

from dataclasses import replace

import numpy as np
import pytest

from drystone import build
from drystone.analysis.statics.balance import assemble_balance
from drystone.analysis.statics.collapse_multiplier import solve_limit
from drystone.analysis.statics.standing import STANDS, judge_standing
from drystone.base.units import GRAVITY
from drystone.build.shapes import box
from drystone.io.case import parse_case
from drystone.io.doctor.rounding import close_rounding_gaps, rounding_unit
from drystone.io.geometry.structure_file import write_structure
from drystone.structure.loads import AppliedLoad, load_wrench, weight_wrench
from drystone.structure.model import build_model


def rounded(blocks, decimals):
    return [replace(block, vertices=np.round(np.asarray(block.vertices), decimals)) for block in blocks]


def turned(blocks, angle):
    """About the vertical: joints are askew to all axes."""
    cos, sin = np.cos(angle), np.sin(angle)
    turn = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
    return [replace(block, vertices=np.asarray(block.vertices) @ turn.T) for block in blocks]


def bridge():
    return build.arch(shape="segmental", span=10.0, rise=2.5, thickness=0.5, depth=4.0, blocks=25)


def multiplier(model, name="voussoir-8"):
    """Of a load on a voussoir near the quarter."""
    live = load_wrench(model, [AppliedLoad(name, force=25e3)], GRAVITY)
    return solve_limit(assemble_balance(model), weight_wrench(model, GRAVITY), live).multiplier


@pytest.mark.parametrize(("blocks", "unit"), [(bridge(), 0.0), (rounded(bridge(), 3), 1e-3), (rounded(bridge(), 5), 1e-5)])
def test_the_unit_is_that_of_which_all_coordinates_are_multiples(blocks, unit):
    assert rounding_unit(blocks) == unit


def test_a_drawing_with_all_its_digits_is_left_alone():
    blocks = bridge()
    after, closed = close_rounding_gaps(blocks)
    assert closed == []
    assert all(one is other for one, other in zip(after, blocks, strict=True))


@pytest.mark.parametrize("play", [0.0015, 0.001, 0.01])
def test_play_between_faces_along_an_axis_was_drawn(play):
    """Both faces would have been rounded alike, so that what is between them is real, even if it is one unit wide."""
    stones = [box((0, 0, 0), (1, 1, 1), fixed=True, name="left"), box((1 + play, 0, 0), (2, 1, 1), name="right")]
    after, closed = close_rounding_gaps(stones)
    assert closed == []
    assert all(one is other for one, other in zip(after, stones, strict=True))


@pytest.mark.parametrize("decimals", [3, 2])
def test_the_springings_of_an_arch_are_closed(decimals):
    """Its abutments are larger than its joints: their corners are other points of the same plane, and are rounded elsewhere."""
    exact, unit = build.arch(), 10.0**-decimals
    after, closed = close_rounding_gaps(rounded(exact, decimals))
    joints = {tuple(sorted((gap.a, gap.b))) for gap in closed}
    assert joints == {("abutment-right", "voussoir-1"), ("abutment-left", "voussoir-7")}
    assert all(0.0 < abs(gap.gap) <= np.sqrt(3.0) * unit for gap in closed)
    model = build_model(after, friction=0.6)
    assert np.abs(assemble_balance(model).contacts.gap).max() < 1e-6 * unit
    truth = multiplier(build_model(exact, friction=0.6), "voussoir-3")
    assert multiplier(model, "voussoir-3") == pytest.approx(truth, rel=0.01)
    assert judge_standing(model).verdict == STANDS


def test_a_bridge_askew_is_closed_joint_by_joint():
    """Rounded to millimetres its faces are no planes any more, and the door would refuse it."""
    exact = turned(bridge(), 0.5)
    after, closed = close_rounding_gaps(rounded(exact, 3))
    joints = {tuple(sorted((gap.a, gap.b))) for gap in closed if gap.b}
    assert len(joints) >= 20
    model = build_model(after, friction=0.6)
    assert multiplier(model) == pytest.approx(multiplier(build_model(exact, friction=0.6)), rel=0.01)
    assert judge_standing(model).verdict == STANDS


def test_supports_keep_their_planes():
    after, _ = close_rounding_gaps(rounded(build.arch(), 3))
    before = rounded(build.arch(), 3)
    for one, other in zip(before, after, strict=True):
        if one.fixed:
            np.testing.assert_allclose(one.vertices, other.vertices, atol=1e-12)


def test_closing_twice_changes_nothing():
    once, _ = close_rounding_gaps(rounded(build.arch(), 3))
    twice, closed = close_rounding_gaps(once)
    assert closed == []
    assert all(one is other for one, other in zip(once, twice, strict=True))


def test_a_case_closes_the_gaps_of_its_file_and_lists_them(tmp_path):
    write_structure(tmp_path / "arch.json", rounded(build.arch(), 3))
    case = parse_case('[structure]\nfile = "arch.json"\n[joints]\nfriction = 0.6\n[analysis]\nkind = "equilibrium"\n',
                      tmp_path / "case.toml")  # fmt: skip
    assert len(case.closed_gaps()) == 2
    assert judge_standing(case.model()).verdict == STANDS


def test_blocks_of_several_pieces_alone_are_left_as_they_are():
    """None of their faces is looked at: an L and a mirrored one, of two boxes each."""
    low, high = box((0, 0, 0), (2, 1, 1)), box((0, 0, 1), (1, 1, 2))
    faces = tuple(low.faces) + tuple(tuple(8 + k for k in face) for face in high.faces)
    both = replace(low, vertices=np.concatenate([low.vertices, high.vertices]), faces=faces, pieces=(6, 6))
    after, closed = close_rounding_gaps([both, replace(both, fixed=True)])
    assert closed == []
    assert after[0] is both

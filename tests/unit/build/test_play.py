"""Play in upright joints, and stones that nothing but friction in them holds."""

import numpy as np
import pytest

from drystone import build
from drystone.analysis.dynamics import case_solver, run, simulate_case, start_state
from drystone.base.errors import InputError
from drystone.build.shapes import box
from drystone.io.case import parse_case
from drystone.io.doctor.examination import examine

OVER_A_GAP = """
    [structure]
    generator = "wall-over-gap"
    length = 4.5
    height = 0.75
    thickness = 0.25
    span = 1.5
    courses = 3
    blocks = 9
    [joints]
    friction = 0.6
    [analysis]
    duration = "0.2 s"
"""


def test_free_blocks_become_narrower_and_stay_as_high():
    stone, ground = box((1, 2, 0), (1.5, 2.25, 0.3)), box((0, 0, -1), (3, 3, 0), fixed=True)
    narrow, left = build.with_play([stone, ground], 1e-3)
    assert np.ptp(narrow.vertices, axis=0) == pytest.approx([0.499, 0.249, 0.3], rel=1e-12)
    assert narrow.vertices.mean(axis=0) == pytest.approx(stone.vertices.mean(axis=0))
    assert np.array_equal(left.vertices, ground.vertices)


def test_each_block_has_its_own_play_by_the_seed():
    bricks = build.wall(length=2.0, height=1.0)
    width = [[np.ptp(b.vertices[:, 0]) for b in build.with_play(bricks, 1e-4, seed) if not b.fixed] for seed in (1, 1, 2)]
    drawn = np.array([np.ptp(b.vertices[:, 0]) for b in bricks if not b.fixed])
    assert width[0] == width[1] != width[2]
    play = drawn - np.array(width[0])
    assert play.min() > -1e-12
    assert play.max() < 2e-4 + 1e-12
    assert np.ptp(play) > 1e-4


def test_more_play_than_stone_is_refused():
    with pytest.raises(InputError, match=r"structure\.play: 100 mm is more than 5% of block .*; give less"):
        build.with_play([box((0, 0, 0), (0.5, 0.5, 0.5), name="brick")], 0.1)


def hung(blocks):
    return [finding for finding in examine(blocks).findings if finding.kind == "hung by friction"]


def test_blocks_that_rest_on_nothing_are_named():
    """The bricks of the lowest course that lie over the gap with no part of theirs on a support."""
    blocks = parse_case(OVER_A_GAP).blocks()
    (found,) = hung(blocks)
    names = {blocks[row].name for row in found.blocks}
    lowest = [b for b in blocks if not b.fixed and b.vertices[:, 2].min() < 1e-9]
    over = {b.name for b in lowest if np.abs(b.vertices[:, 0]).max() <= 0.75 + 1e-9}
    assert names == over != set()


@pytest.mark.parametrize("made", [build.arch(), build.dome(), build.house(), build.wall(), build.tower()])
def test_what_stands_on_its_beds_is_not_named(made):
    assert hung(made) == []


def test_with_play_they_fall_and_nothing_is_open():
    case = parse_case(OVER_A_GAP, overrides={"structure.play": "0.1 mm"})
    model = case.model()
    assert hung(case.blocks()) == []
    start = start_state(case, model)
    *_, last = simulate_case(case, model, start, case_solver(case))
    down = start.position[:, 2] - last.state.position[:, 2]
    assert down.max() == pytest.approx(0.5 * 9.81 * 0.2**2, rel=0.01)


def test_a_run_tells_what_is_open(tmp_path):
    case = parse_case(OVER_A_GAP, overrides={"analysis.duration": "0.01 s"})
    names = run(case, tmp_path / "out").hung
    assert names == [case.blocks()[row].name for row in hung(case.blocks())[0].blocks]

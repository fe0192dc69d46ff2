"""Capacity curves: truths are closed forms of rigid blocks in large rotation, and a linkage with the hinges of an arch."""

import numpy as np
import pytest

from drystone import build
from drystone.analysis.statics.balance import assemble_balance
from drystone.analysis.statics.capacity_curve import summarise_curve, trace_capacity_curve
from drystone.analysis.statics.collapse_multiplier import solve_limit
from drystone.analysis.statics_run import analyse_case
from drystone.base import quaternion
from drystone.base.errors import InputError
from drystone.base.units import GRAVITY
from drystone.build.shapes import box
from drystone.io.case import parse_case
from drystone.structure.joint_laws import JointLaw
from drystone.structure.loads import AppliedLoad, body_force, load_wrench, weight_wrench
from drystone.structure.model import build_model


def pushed(model, direction=(1.0, 0.0, 0.0), **options):
    """The curve under a horizontal body force of 1 g times the multiplier."""
    loads = weight_wrench(model, GRAVITY), body_force(model, direction, GRAVITY)
    return list(trace_capacity_curve(model, lambda rotation: loads, **options))


def lean(point, block):
    return float(np.linalg.norm(quaternion.rotation_vector(point.rotation[block])))


@pytest.mark.parametrize("planar", [False, True])
def test_a_rocking_block_loses_its_capacity_as_it_leans(planar):
    """Moments about the edge: multiplier = tan(alpha - theta), zero at theta = alpha, where the centroid is above the edge and
    has moved by half the width; the area is the rise of the centroid, R - height / 2."""
    width, height = 0.6, 2.0
    model = build_model(build.block(width=width, height=height), friction=5.0, planar=planar)
    curve = pushed(model)
    slender = np.arctan(width / height)
    assert 50 <= len(curve) <= 100
    for point in curve:
        assert point.multiplier == pytest.approx(np.tan(slender - lean(point, 1)), abs=2e-6)
    found = summarise_curve(curve)
    assert found.peak == pytest.approx(width / height, abs=1e-8)
    assert found.ultimate_displacement == pytest.approx(width / 2, rel=1e-3)
    assert found.work == pytest.approx(np.hypot(width, height) / 2 - height / 2, rel=1e-3)


def test_a_force_goes_along_with_the_point_of_its_block():
    """Moments about the edge, with the point of the load and the centroid turned by the lean."""
    model = build_model(build.block(width=0.6, height=2.0), friction=5.0)
    load = AppliedLoad("block", force=1e3, direction=(1, 0, 0), at=(0.0, 0.0, 1.8), live=True)
    dead = weight_wrench(model, GRAVITY)
    curve = list(trace_capacity_curve(model, lambda rotation: (dead, load_wrench(model, [load], GRAVITY, rotation))))
    for point in curve:
        angle = lean(point, 1)
        lever, height = 0.3 * np.cos(angle) - np.sin(angle), 1.8 * np.cos(angle) + 0.3 * np.sin(angle)
        truth = -dead[1, 2] * lever / (1e3 * height)
        assert point.multiplier == pytest.approx(truth, rel=1e-5, abs=1e-5)


def test_the_upper_of_two_blocks_rocks_alone():
    """0.4 x 1.2 m on 1.0 x 1.0 m: the upper one yields first, at 1/3; the lower one stays."""
    foundation = box((-2, -1, -0.5), (2, 1, 0), fixed=True, name="foundation")
    lower, upper = box((-0.5, -0.3, 0), (0.5, 0.3, 1), name="lower"), box((-0.2, -0.3, 1), (0.2, 0.3, 2.2), name="upper")
    curve = pushed(build_model([foundation, lower, upper], friction=3.0))
    for point in curve:
        assert point.multiplier == pytest.approx(np.tan(np.arctan(1 / 3) - lean(point, 2)), abs=1e-5)
        np.testing.assert_allclose(point.position[1], curve[0].position[1], atol=1e-7)
    assert curve[-1].multiplier <= 0.0


def test_a_sliding_block_keeps_its_capacity_and_is_hardly_lifted():
    """Coulomb: multiplier = friction for as long as it slides; T41: not lifted by more than friction times an increment."""
    friction, step = 0.2, 0.02
    curve = []
    model = build_model(build.block(width=0.6, height=1.0), friction=friction)
    dead, live = weight_wrench(model, GRAVITY), body_force(model, (1.0, 0.0, 0.0), GRAVITY)
    for point in trace_capacity_curve(model, lambda rotation: (dead, live), step=step):
        curve.append(point)
        if point.displacement > 0.5:
            break
    assert [point.multiplier for point in curve] == pytest.approx([friction] * len(curve), abs=1e-7)
    assert max(point.position[1, 2] - 0.5 for point in curve) <= friction * step * (1 + 1e-6)


@pytest.mark.parametrize(("blocks", "friction", "direction"), [
    (build.arch(radius=10.0, thickness=1.5, embrace=np.deg2rad(150), blocks=7), 2.0, (-1.0, 0.0, 0.0)),
    (build.wall(length=2.0, height=1.2, thickness=0.3, courses=6, blocks=4), 0.6, (1.0, 0.0, 0.0)),
])  # fmt: skip
def test_a_curve_starts_at_the_collapse_multiplier(blocks, friction, direction):
    """Two programs: with gaps and a small work, and without."""
    model = build_model(blocks, friction=friction)
    dead, live = weight_wrench(model, GRAVITY), body_force(model, direction, GRAVITY)
    first = next(trace_capacity_curve(model, lambda rotation: (dead, live)))
    assert first.multiplier == pytest.approx(solve_limit(assemble_balance(model), dead, live).multiplier, abs=1e-6)


class Linkage:
    """Oppenheim's arch as three bars: hinges at joints 0 (in), 2 (out), 5 (in), 7 (out) from the right, where it was found to
    fold by Oppenheim (1992); masses at the centroids of the voussoirs."""

    def __init__(self, model):
        place, mass = model.position[2:, [0, 2]], model.bodies.mass[2:]
        corners = [np.unique(block.vertices[:, [0, 2]].round(9), axis=0) for block in model.blocks]
        centre = np.array([0.0, -10.0 * np.cos(np.deg2rad(75))])
        self.hinges = [_corner(corners, centre, k, out) for k, out in ((0, False), (2, True), (5, False), (7, True))]
        self.bars = [(place[a:b], mass[a:b]) for a, b in ((0, 2), (2, 5), (5, 7))]

    def moved(self, turn):
        """Mean way to the left and mean rise [m] of the masses when the first bar has turned by `turn` [rad]."""
        a, b, c, d = self.hinges
        first = _turn(turn)
        b_now = a + first @ (b - a)
        reach, long, short = d - b_now, np.linalg.norm(c - b), np.linalg.norm(d - c)
        along = (long**2 - short**2 + reach @ reach) / (2 * np.linalg.norm(reach))
        unit = reach / np.linalg.norm(reach)
        aside = np.sqrt(long**2 - along**2) * np.array([-unit[1], unit[0]])
        c_now = min((b_now + along * unit + s * aside for s in (1, -1)), key=lambda at: np.linalg.norm(at - c))
        shift = np.zeros(2)
        for (place, mass), old, new, turned in zip(
            self.bars, (a, b, c), (a, b_now, c_now), (first, _between(c - b, c_now - b_now), _between(d - c, d - c_now)),
            strict=True,
        ):  # fmt: skip
            shift += mass @ ((place - old) @ turned.T + new - place)
        return np.array([-shift[0], shift[1]]) / sum(mass.sum() for _, mass in self.bars)

    def at(self, way):
        """The multiplier where the masses have gone so far to the left [m]: rise per way."""
        from scipy.optimize import brentq

        sign = np.sign(self.moved(1e-3)[0])
        turn = brentq(lambda turn: self.moved(sign * turn)[0] - way, -0.01, 0.06)
        left, rise = self.moved(sign * (turn + 1e-5)) - self.moved(sign * (turn - 1e-5))
        return rise / left


def _corner(corners, centre, joint, out):
    """The corner of a joint: shared by the blocks on both sides (blocks 0 and 1 are the abutments), near or far."""
    chain = [corners[0], *corners[2:], corners[1]]
    one, other = chain[joint], chain[joint + 1]
    shared = [point for point in other if np.abs(one - point).max(axis=1).min() < 1e-6] if 0 < joint < 7 else None
    if shared is None:  # the end face of the springer: the two corners nearest to the level of the springing
        springer = corners[2] if joint == 0 else corners[8]
        shared = sorted(springer, key=lambda point: point[1])[:2]
    return (max if out else min)(shared, key=lambda point: np.linalg.norm(point - centre))


def _turn(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def _between(old, new):
    return _turn(np.arctan2(new[1], new[0]) - np.arctan2(old[1], old[0]))


def test_an_arch_folds_like_a_linkage():
    """Virtual work on three rigid bars in large rotation, until the thrust reaches the edge of another joint at 0.11 m."""
    model = build_model(build.arch(radius=10.0, thickness=1.5, embrace=np.deg2rad(150), blocks=7, depth=1.0), friction=2.0)
    linkage = Linkage(model)
    curve = pushed(model, (-1.0, 0.0, 0.0))
    early = [point for point in curve if point.displacement < 0.11]
    assert len(early) > 10
    for point in early:
        assert point.multiplier == pytest.approx(linkage.at(point.displacement), abs=1e-4)
    assert curve[-1].multiplier <= 0.0


CASE = """
[structure]
generator = "block"
[joints]
friction = {friction}
[analysis]
kind = "pushover"
direction = [1, 0, 0]
until = "20 mm"
[output]
monitor = ["block"]
"""


def test_a_case_gives_curve_and_frames():
    """The facts say the same as the points; the monitored block is the only one that moves."""
    case = parse_case(CASE.format(friction=2.0), "case.toml")
    stages = analyse_case(case, case.model())
    frames = []
    while True:
        try:
            stage = next(stages)
        except StopIteration as end:
            facts = end.value
            break
        frames += [stage.step.state] if stage.step else []
    curve = facts["curve"]
    assert facts["end"] == "until"
    assert facts["multiplier"] == pytest.approx(facts["limit"], abs=1e-6)
    assert facts["ultimate_displacement"] is None
    assert len(frames) == len(curve["displacement"]) == len(curve["multiplier"])
    assert curve["displacement"][-2] < 0.02 <= curve["displacement"][-1]
    moved = np.array(facts["monitored"]["block"])
    np.testing.assert_allclose(np.linalg.norm(moved, axis=1), curve["most_moved"])
    np.testing.assert_allclose(moved[-1], frames[-1].position[1] - frames[0].position[1])
    np.testing.assert_allclose(moved[:, 0], curve["displacement"], atol=1e-4)  # the live load acts along x on all its mass


def test_what_cannot_be_pushed_over_is_said():
    """Pressed down on a rigid ground by ever more of its weight."""
    case = parse_case(CASE.format(friction=0.5).replace("[1, 0, 0]", "[0, 0, -1]"), "case.toml")
    with pytest.raises(InputError, match="no live load makes the structure yield"):
        list(analyse_case(case, case.model()))


def test_mortar_breaks_as_a_block_is_pushed_over():
    """The curve begins at the plastic limit of the sound bond, (W + f A) L / 2 over W h / 2; once the joint has opened it is
    that of the dry block turned by theta, tan(alpha - theta), to the square of an increment, and ends where that does."""
    side, height, tension = 0.5, 2.0, 2e4
    law = JointLaw(0.9, cohesion=1e5, tension=tension)
    model = build_model(build.block(width=side, depth=side, height=height), friction=law)
    curve = pushed(model)
    down, slender = GRAVITY * model.bodies.mass[1], np.arctan(side / height)
    assert curve[0].multiplier == pytest.approx((down + tension * side**2) * side / (down * height), rel=1e-5)
    for point in curve[1:]:
        assert point.multiplier == pytest.approx(np.tan(slender - lean(point, 1)), abs=1e-5)
    assert lean(curve[-1], 1) == pytest.approx(slender, rel=0.1)

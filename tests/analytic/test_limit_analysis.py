"""Limit analysis against published multipliers and closed forms, from case files where a user would start.

The walls of Ferris & Tin-Loi (2001) and the drawings of Milani's LACT3 are in ../shared/data, not in the package; the tests
that need them are skipped where they are not."""

import json
from pathlib import Path

import numpy as np
import pytest

from drystone.analysis.statics.balance import assemble_balance
from drystone.analysis.statics.collapse_multiplier import solve_limit
from drystone.analysis.statics.collapse_states import search_states
from drystone.analysis.statics.coulomb_collapse import distinct_multipliers, search_corner_states
from drystone.analysis.statics_run import analyse_case
from drystone.base.errors import InputError
from drystone.base.units import GRAVITY
from drystone.build.shapes import box
from drystone.io.case import read_case
from drystone.io.geometry.block_file import write_blocks
from drystone.structure import loads
from drystone.structure.model import build_model

DATA = Path("/work/shared/data")
FLOOR = box((-5, -5, -1), (5, 5, 0), fixed=True, name="floor")


def facts_of(folder, blocks, analysis, joints="friction = 0.6"):
    """The facts and the kept states of a case with these blocks."""
    write_blocks(folder / "blocks.json", blocks)
    return run(folder, f'[structure]\nfile = "blocks.json"\n[joints]\n{joints}\n[analysis]\n{analysis}\n')


def run(folder, text):
    """The facts and the kept states of a case."""
    (folder / "case.toml").write_text(text)
    case = read_case(folder / "case.toml")
    stages, kept = analyse_case(case, case.model()), []
    while True:
        try:
            stage = next(stages)
        except StopIteration as end:
            json.dumps(end.value, allow_nan=False)  # what run --json prints
            return end.value, kept
        kept += [stage.step] if stage.step is not None else []


def ferris_wall(number):
    path = DATA / f"limit_analysis/ferris_tinloi_wall{number}.json"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    given = json.loads(path.read_text())
    stones = [box((s["x0"], 0, s["z0"]), (s["x1"], 1, s["z1"]), name=f"stone-{s['id']}") for s in given["blocks"]]
    return build_model([FLOOR, *stones], friction=given["friction_coefficient"])


@pytest.mark.parametrize(
    ("number", "associated", "lowest"),
    # associated: an independent linear program (README of the data), 3 and 1 as printed; lowest: wall 3, published as the
    # minimum by MPEC 0.356 (Ferris & Tin-Loi); of 1 and 4 it is the value found here, which must not be lost.
    [pytest.param(1, 0.64286, 0.63898, marks=pytest.mark.soak), (3, 0.40369, 0.356), (4, 0.33195, 0.26374)],
)
def test_walls_of_ferris_and_tin_loi(number, associated, lowest):
    model = ferris_wall(number)
    system, dead, live = (
        assemble_balance(model),
        loads.weight_wrench(model, GRAVITY),
        loads.body_force(model, (1, 0, 0), GRAVITY),
    )
    found = solve_limit(system, dead, live)
    assert found.multiplier == pytest.approx(associated, abs=1e-5)
    states = [
        each.collapse
        for each in search_corner_states(system, dead, live, found.optimum, starts=6, stands=True)
        if each.collapse
    ]
    values = distinct_multipliers([state.multiplier for state in states])
    assert values[0] == pytest.approx(lowest, abs=3e-4)
    assert values[-1] <= found.multiplier + 1e-6  # the static theorem: forces of Coulomb's law are admissible
    assert max(state.error for state in states) < 1e-6


@pytest.mark.parametrize(
    ("number", "associated", "lowest"),
    # as above; in the plane, friction over areas and at corners are the same law, so that the values are, too
    [(1, 0.64286, 0.63898), (3, 0.40369, 0.356), (4, 0.33195, 0.26374)],
)
def test_the_search_of_joints_with_areas_finds_the_published_walls(number, associated, lowest):
    model = ferris_wall(number)
    system, dead, live = (
        assemble_balance(model),
        loads.weight_wrench(model, GRAVITY),
        loads.body_force(model, (1, 0, 0), GRAVITY),
    )
    found = solve_limit(system, dead, live)
    assert found.multiplier == pytest.approx(associated, rel=1e-4)
    rounds = search_states(system, dead, live, found.optimum, starts=3, hops=12, stands=True)
    values = [each.collapse.multiplier for each in rounds if each.collapse is not None]
    assert min(values) == pytest.approx(lowest, abs=3e-4)
    assert max(values) <= found.multiplier + 1e-6


@pytest.mark.parametrize(("drawing", "friction_angle", "angle"), [("Portal", 30.0, 27.30), ("wall", 26.0, 16.73)])
def test_tilt_of_milanis_drawings(tmp_path, drawing, friction_angle, angle):
    """Associated, towards +x, the lowest polyline being the table: the test suite of LACT3 (README of the data)."""
    path = DATA / f"block_geometry/tilt_dxf/{drawing}.dxf"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    pytest.importorskip("ezdxf")
    text = f"""
[structure]
file = "{path}"
unit = "mm"
up = "y"
depth = "0.1 m"
supports = "lowest"
[joints]
friction = {np.tan(np.radians(friction_angle))}
[analysis]
kind = "tilt"
"""
    facts, _ = run(tmp_path, text)
    assert facts["angle"] == pytest.approx(angle, abs=0.05)
    assert facts["angle_safe"] <= facts["angle"]
    assert facts["confirmed"]


def test_facts_of_a_limit_analysis(tmp_path):
    """A stone lifted from between two others, [1, 1.4] by closed form (test_limit.py says why): what a case tells of it."""
    stones = [box((x, 0, 0), (x + 1, 1, 1), name=name) for x, name in ((0, "left"), (1, "middle"), (2, "right"))]
    lift = 'kind = "limit"\n[[load]]\non = "middle"\nshare = 1.0\nof = "middle"\ndirection = [0, 0, 1]\nlive = true'
    facts, kept = facts_of(tmp_path, [FLOOR, *stones], lift, "friction = 0.5")
    assert facts["multiplier"] == pytest.approx(1.4, rel=1e-6)
    assert facts["multiplier_safe"] == pytest.approx(1.0, rel=1e-5)
    assert facts["multiplier_upper"] == pytest.approx(1.4, rel=1e-6)
    assert list(facts).index("multiplier_safe") < list(facts).index("multiplier_upper") < list(facts).index("multiplier")
    assert facts["confirmed"]
    assert facts["multiplier_from_rest"] == pytest.approx(1.0, rel=5e-3)
    assert facts["stable"]
    assert facts["status"] == "solved"
    assert len(kept) == 2  # the associated state and the lowest of Coulomb's law
    assert ["left", "middle"] in [joint["blocks"] for joint in facts["mechanism"]["joints"] if joint["kind"] == "sliding"]
    told = facts["sensitivities"]
    # closed form 1 + 2 f^2 / (1 + f^2): friction 4 f^2 / (1 + f^2)^2 / 1.4; it grows as the weights and falls as the load
    assert told["friction"] == pytest.approx(4 * 0.25 / 1.25**2 / 1.4, rel=1e-4)
    assert told["density"]["blocks"] == pytest.approx(1.0, rel=1e-5)  # the load is held as it is
    assert told["loads"][0]["gain"] == pytest.approx(-1.0, rel=1e-5)


def test_what_cannot_collapse_is_endless(tmp_path):
    """Pushed against a fixed wall as high as itself, by either law."""
    wall = box((1, -1, 0), (2, 2, 3), fixed=True, name="wall")
    stone = box((0, 0, 0), (1, 1, 1), name="stone")
    facts, _ = facts_of(tmp_path, [FLOOR, wall, stone], 'kind = "limit"\ndirection = [1, 0, 0]')
    assert facts["multiplier"] is None
    assert facts["status"] == "endless"
    assert "nothing bounds" in facts["note"]


def test_what_does_not_stand_says_so(tmp_path):
    """A stone whose centre is beyond the edge it lies on by 0.1 m, pulled back at its centre 0.5 m up by at least its share
    0.2 of the weight; it would slide at 0.6: not stable, multiplier 0.6."""
    edge = box((-2, 0, -1), (0.9, 1, 0), fixed=True, name="ledge")
    facts, _ = facts_of(tmp_path, [edge, box((0, 0, 0), (2, 1, 1), name="stone")], 'kind = "limit"\ndirection = [-1, 0, 0]')
    assert facts["stable"] is False
    assert facts["multiplier"] == pytest.approx(0.6, rel=1e-6)
    assert "does not stand under the dead load alone" in facts["words"]
    assert "no multiplier of the live load is safe" in facts["words"]


def test_capacity_in_all_directions(tmp_path):
    """A prism of square base b and height h tips about an edge: b / h over the larger of |cos| and |sin|."""
    facts, kept = facts_of(tmp_path, [FLOOR, box((0, 0, 0), (1, 1, 4), name="pillar")], 'kind = "capacity"\ndirections = 16')
    for row in facts["directions"]:
        angle = np.radians(row["direction_deg"])
        truth = 0.25 / max(abs(np.cos(angle)), abs(np.sin(angle)))
        assert row["multiplier_upper"] == pytest.approx(truth, rel=1e-5)
        assert row["multiplier_safe"] == pytest.approx(truth, rel=5e-3)
        assert row["confirmed"]
    assert facts["weakest"]["direction_deg"] % 90 == 0
    assert len(kept) == 1


def test_a_tilt_turns_weights_alone(tmp_path):
    with pytest.raises(InputError, match="acts on weights only"):
        facts_of(tmp_path, [FLOOR, box((0, 0, 0), (1, 1, 1), name="cube")], 'kind = "tilt"\n[[load]]\non = "cube"\nforce = 1.0')
    with pytest.raises(InputError, match="not horizontal"):
        facts_of(tmp_path, [FLOOR, box((0, 0, 0), (1, 1, 1), name="cube")], 'kind = "tilt"\ndirection = [1, 0, 1]')

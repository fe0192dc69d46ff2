"""Three ways to a collapse multiplier: closed forms of a block that topples or slides, and a result changed by hand."""

import json

import pytest

from drystone.analysis.second_opinion.of_collapse import MULTIPLIER_TOLERANCE, stands_slowly
from drystone.build.shapes import box
from drystone.io.case import parse_case
from drystone.structure.model import build_model

CASE = """
structure = {{ generator = "block", width = 0.5, depth = 0.5, height = 2.0 }}
joints = {{ friction = {friction} }}
analysis = {{ kind = "{kind}", direction = [1, 0, 0] }}
"""


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")

    def compute(name, text):
        from drystone.analysis.statics_run import record_statics

        for _ in record_statics(parse_case(text), folder / name):
            pass
        return folder / name

    return compute


def opinion(command, folder, *arguments):
    code, out, error = command("verify", "--cross", folder, *arguments, "--json")
    return code, json.loads(out), error


@pytest.mark.parametrize(
    ("kind", "friction", "multiplier"), [("limit", 0.6, 0.25), ("tilt", 0.2, 0.2)], ids=["topples", "slides"]
)
def test_the_ways_agree_on_what_has_a_closed_form(command, computed, kind, friction, multiplier):
    """Width over height, or the coefficient of friction, whichever is less."""
    code, found, _ = opinion(command, computed(kind, CASE.format(kind=kind, friction=friction)))
    assert (code, found["parted"], found["disagree"]) == (0, False, [])
    for kind in ("limit", "tilt"):
        assert found["ways"][kind]["safe"] == pytest.approx(multiplier, rel=1e-4)
        assert found["ways"][kind]["upper"] == pytest.approx(multiplier, rel=1e-4)
    slow = found["ways"]["slow history"]
    assert (1 - MULTIPLIER_TOLERANCE) * multiplier < slow["safe"] < (1 + 1e-3) * multiplier
    assert (1 - MULTIPLIER_TOLERANCE / 4) * multiplier < slow["upper"] < (1 + MULTIPLIER_TOLERANCE) * multiplier
    assert slow["upper"] - slow["safe"] <= MULTIPLIER_TOLERANCE * slow["upper"]


def test_a_live_load_is_followed_as_well(command, computed):
    """A push on the head of the block: its weight times half its width over its height, 0.125 of it. No table tilts it."""
    text = CASE.format(kind="limit", friction=0.6).replace(", direction = [1, 0, 0]", "")
    text += '[[load]]\non = "block"\nshare = 1.0\ndirection = [1, 0, 0]\nat = [0, 0, 2]\nlive = true\n'
    code, found, _ = opinion(command, computed("pushed", text))
    assert (code, list(found["ways"])) == (0, ["limit", "slow history"])
    assert found["ways"]["limit"]["upper"] == pytest.approx(0.125, rel=1e-4)
    assert 0.12 < found["ways"]["slow history"]["safe"] < 0.1251


@pytest.mark.parametrize(("stop", "stands"), [(0.42, True), (0.6, False)], ids=["finds a hold", "slides away"])
def test_what_slips_and_finds_a_hold_stands(stop, stands):
    """A cube of 0.4 m pushed by 0.3 of its weight, friction 0.2, and a wall 20 or 200 mm ahead: it slips, and stays there."""
    case = parse_case(CASE.format(kind="limit", friction=0.2))
    floor, wall = box((-1, -1, -0.5), (3, 1, 0), fixed=True), box((stop, -1, 0), (stop + 0.5, 1, 0.4), fixed=True)
    model = build_model([box((0, -0.2, 0), (0.4, 0.2, 0.4), name="cube"), floor, wall], friction=0.2)
    assert stands_slowly(case, model, 0.15)
    assert stands_slowly(case, model, 0.3) == stands


@pytest.mark.parametrize(
    ("factor", "said"),
    [(1.2, "a slow history falls at 0.25"), (0.7, "a slow history stands at 0.2")],
    ids=["told too high", "told too low"],
)
def test_a_result_that_is_wrong_is_contradicted(command, computed, factor, said):
    folder = computed(f"wrong-{factor}", CASE.format(kind="limit", friction=0.6))
    result = json.loads((folder / "result.json").read_text())
    for name in ("multiplier_safe", "multiplier_upper"):
        result[name] *= factor
    (folder / "result.json").write_text(json.dumps(result))
    code, found, _ = opinion(command, folder)
    assert (code, found["parted"]) == (3, True)
    assert "tilt has the upper multiplier 0.25, limit" in found["disagree"][0]
    assert found["disagree"][1].startswith(said)


def test_what_a_person_reads(command, computed):
    code, out, _ = command("verify", "--cross", computed("read", CASE.format(kind="limit", friction=0.6)))
    said = " ".join(out.replace("│", " ").split())
    assert code == 0
    assert "they agree within 2 %" in said
    assert "multiplier: safe 0.25, upper 0.25" in said


def test_what_belongs_to_histories_is_refused(command, computed):
    folder = computed("refused", CASE.format(kind="limit", friction=0.6))
    code, _, error = opinion(command, folder, "--apart", 0.1)
    assert code == 2
    assert "amounts, laws and time steps apply to histories only" in error
    (folder / "result.json").unlink()
    code, _, error = opinion(command, folder)
    assert code == 2
    assert "was cut and has no result.json" in error


def test_other_analyses_have_no_second_opinion(command, computed):
    text = CASE.format(kind="capacity", friction=0.6).replace("direction = [1, 0, 0]", "directions = 4")
    code, _, error = opinion(command, computed("capacity", text))
    assert code == 2
    assert 'there is no second opinion on an analysis of kind "capacity"' in error

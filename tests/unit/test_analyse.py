"""Statics from the command line: what is printed, kept and drawn. Truths: one block by hand; the parts have their own tests."""

import json

import pytest

from drystone.cli import main
from drystone.record import read_run

BLOCK = """
[structure]
generator = "block"
width = 0.5
height = 1.0
depth = 0.5
[joints]
friction = 0.8
[analysis]
"""
ARCH = '[structure]\ngenerator = "arch"\n[joints]\nfriction = 2.0\n[analysis]\n'


def command(tmp_path, capsys, text, *options):
    """The exit code and the one JSON object of `drystone run`."""
    case = tmp_path / "case.toml"
    case.write_text(text)
    with pytest.raises(SystemExit) as end:
        main(["run", str(case), "-o", str(tmp_path / "out"), "--json", *options])
    return end.value.code, json.loads(capsys.readouterr().out)


def test_limit_of_a_block(tmp_path, capsys):
    """By hand: it overturns at width / height; nothing slides, so both laws agree; one block turns about an edge."""
    code, facts = command(tmp_path, capsys, BLOCK + 'kind = "limit"\ndirection = [1, 0, 0]\n', "--picture")
    assert code == 0
    assert facts["stable"]
    assert facts["multiplier"] == pytest.approx(0.5, abs=1e-6)
    assert facts["multiplier_nonassociated"] == pytest.approx([0.5, 0.5], abs=1e-5)
    assert facts["mechanism"]["hinge_joints"] == 1
    assert facts["mechanism"]["macro_blocks"][0]["axis"][0] == pytest.approx(0.25, abs=1e-6)
    assert {path.name for path in (tmp_path / "out").glob("*.png")} == {"forces.png", "mechanism.png"}
    assert read_run(tmp_path / "out").frames == 3  # as built, associated, exact


def test_tilt_of_a_block(tmp_path, capsys):
    code, facts = command(tmp_path, capsys, BLOCK + 'kind = "tilt"\n')
    assert code == 0
    assert facts["angle"] == pytest.approx(26.565051, abs=1e-4)  # atan(1/2)
    assert facts["checked"] == {"stands_below": True, "moves_above": True}


def test_capacity_of_a_square_block(tmp_path, capsys):
    """By hand: about an edge along the sides 1/2, over the corner sqrt(2)/2; friction 0.8 is more than both."""
    code, facts = command(tmp_path, capsys, BLOCK + 'kind = "capacity"\ndirections = 8\n', "--picture")
    assert code == 0
    found = [row["multiplier"] for row in facts["directions"]]
    assert found == pytest.approx([0.5, 0.5**0.5] * 4, abs=1e-6)
    assert (tmp_path / "out" / "capacity.png").exists()


def test_equilibrium_of_an_arch_has_bounds_and_thrust_lines(tmp_path, capsys):
    """The two ways to the least and largest thrust are independent (T32, T38)."""
    bound = '[[analysis.bounds]]\nbetween = ["abutment-left", "voussoir-7"]\ndirection = [1, 0, 0]\n'
    code, facts = command(tmp_path, capsys, ARCH + 'kind = "equilibrium"\n' + bound, "--picture")
    assert code == 0
    assert facts["stable"]
    assert sum(push[2] for push in facts["reactions"].values()) == pytest.approx(facts["weight"], rel=1e-5)
    (found,) = facts["bounds"]
    assert found["least"] == pytest.approx(facts["thrust"]["minimum"], rel=1e-5)
    assert found["largest"] == pytest.approx(facts["thrust"]["maximum"], rel=1e-5)
    assert (tmp_path / "out" / "thrust.png").exists()


def test_what_cannot_stand_says_how_it_goes(tmp_path, capsys):
    """A block that leans beyond its edge."""
    code, facts = command(tmp_path, capsys, BLOCK.replace("depth = 0.5", 'tilt = "30 deg"') + 'kind = "equilibrium"\n')
    assert code == 0
    assert not facts["stable"]
    assert facts["mechanism"]["hinge_joints"] == 1


def test_pushover_of_a_block_ends_where_its_centroid_is_above_the_edge(tmp_path, capsys):
    code, facts = command(tmp_path, capsys, BLOCK + 'kind = "pushover"\ndirection = [1, 0, 0]\n', "--picture")
    assert code == 0
    assert facts["multiplier"] == pytest.approx(0.5, abs=1e-6)
    assert facts["ultimate_displacement"] == pytest.approx(0.25, rel=1e-3)
    assert (tmp_path / "out" / "curve.png").exists()


def test_a_table_is_printed_and_printed_again(tmp_path, capsys):
    case = tmp_path / "case.toml"
    case.write_text(BLOCK + 'kind = "limit"\ndirection = [1, 0, 0]\n')
    out = str(tmp_path / "out")
    for arguments in (["run", str(case), "-o", out], ["info", out]):
        with pytest.raises(SystemExit) as end:
            main(arguments)
        assert end.value.code == 0
        assert "0.50000 (associated friction)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BLOCK + 'kind = "limit"\n', "nothing is live; give analysis.direction"),
        (BLOCK + 'kind = "limt"\n', "analysis.kind: 'limt' is not accepted, did you mean 'limit'"),
        (BLOCK + 'kind = "tilt"\nduration = 1\n', "analysis.duration: 'duration' is not a key of this table"),
        (BLOCK + 'kind = "limit"\n[[load]]\non = "blok"\nforce = "1 kN"\n', "no block and no group is named 'blok'"),
        (BLOCK + 'kind = "limit"\n[[load]]\non = "block"\nforce = 1.0\nshare = 0.1\n', "exactly one of force, share"),
    ],
)  # fmt: skip
def test_mistakes(tmp_path, capsys, text, message):
    code, facts = command(tmp_path, capsys, text)
    assert code == 2
    assert message in facts["error"]


def test_a_run_that_replaces_an_analysis_takes_its_result_away(tmp_path, capsys):
    """Else `drystone info` would tell of the analysis that is gone."""
    command(tmp_path, capsys, BLOCK + 'kind = "limit"\ndirection = [1, 0, 0]\n')
    assert (tmp_path / "out" / "result.json").exists()
    code, facts = command(tmp_path, capsys, BLOCK + "duration = 0.01\ntime_step = 0.005\n", "--force")
    assert code == 0
    assert facts["steps"] == 2
    assert not (tmp_path / "out" / "result.json").exists()

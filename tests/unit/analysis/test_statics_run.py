"""Statics from the command line: what is printed, kept and drawn. Truths: one block by hand; the parts have their own tests."""

import json

import pytest

from drystone.cli import main
from drystone.results.store.run_reader import read_run
from drystone.show.pictures.analysis_pictures import mechanism_of

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
    assert facts["multiplier_safe"] == pytest.approx(0.5, abs=1e-5)
    assert facts["multiplier_upper"] == pytest.approx(0.5, abs=1e-5)
    assert facts["mechanism"]["hinge_joints"] == 1
    assert facts["mechanism"]["macro_blocks"][0]["axis"][0] == pytest.approx(0.25, abs=1e-6)
    assert {path.name for path in (tmp_path / "out").glob("*.png")} == {"forces.png", "mechanism.png"}
    drawn = mechanism_of(read_run(tmp_path / "out"), facts)
    assert (drawn.words, drawn.tolerance) == (facts["mechanism"]["words"], facts["mechanism"]["tolerance"])
    coarse = mechanism_of(read_run(tmp_path / "out"), {"mechanism": {"tolerance": 0.25}})
    assert coarse.tolerance == 0.25  # the picture is read as the words are
    assert read_run(tmp_path / "out").frames == 3  # as built, associated, exact


def test_tilt_of_a_block(tmp_path, capsys):
    code, facts = command(tmp_path, capsys, BLOCK + 'kind = "tilt"\n')
    assert code == 0
    assert facts["angle"] == pytest.approx(26.565051, abs=1e-4)  # atan(1/2)
    assert facts["confirmed"]
    assert facts["angle_safe"] <= facts["angle"]


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
        (BLOCK + 'kind = "limit"\n', "no live load is defined; give analysis.direction"),
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


def solid(name, low, high, fixed=False):
    corners = [[x, y, z] for z in (low[2], high[2]) for y in (low[1], high[1]) for x in (low[0], high[0])]
    faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
    return {"name": name, "vertices": corners, "faces": faces, "fixed": fixed}


def ridge(name, x):
    """A support whose upper edge is at height 0."""
    corners = [[x - 0.2, 0, -0.3], [x + 0.2, 0, -0.3], [x, 0, 0], [x - 0.2, 1, -0.3], [x + 0.2, 1, -0.3], [x, 1, 0]]
    faces = [[0, 1, 2], [3, 5, 4], [0, 3, 4, 1], [1, 4, 5, 2], [2, 5, 3, 0]]
    return {"name": name, "vertices": corners, "faces": faces, "fixed": True}


def walls_and_stone(play):
    return [solid("left", (-1, 0, 0), (0, 1, 1), True), solid("stone", (play, 0.3, 0.3), (play + 0.4, 0.7, 0.7)),
            solid("right", (2 * play + 0.4, 0, 0), (2 * play + 1.4, 1, 1), True)]  # fmt: skip


ODD = {
    "beam on two knife edges": ([ridge("one", 0), ridge("two", 2), solid("beam", (-0.3, 0.1, 0), (2.3, 0.9, 0.3))], "stands"),
    "slab on three points": (
        [*(solid(f"post-{k}", (x - 0.05, y - 0.05, -0.5), (x + 0.05, y + 0.05, 0), True)
           for k, (x, y) in enumerate(((0, 0), (2, 0), (1, 1.5)))), solid("slab", (-0.3, -0.3, 0), (2.3, 1.8, 0.2))], "stands"),
    "stone between two walls": (walls_and_stone(0.0), "self-stress"),
    "stone with play": (walls_and_stone(0.0015), "falls"),
    "stone in the air": ([solid("floor", (0, 0, -1), (1, 1, 0), True), solid("air", (0, 0, 0.5), (0.5, 0.5, 1))], "falls"),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_odd_structures_have_a_verdict_a_table_pictures_and_a_report(name, tmp_path, capsys):
    """Their verdicts are those of statics by hand: two or three supports about the centroid bear it; a stone that nothing bears
    from below falls, or has to be wedged in."""
    blocks, verdict = ODD[name]
    (tmp_path / "odd.json").write_text(json.dumps({"blocks": blocks}))
    case = '[structure]\nfile = "odd.json"\n[joints]\nfriction = 0.6\n[analysis]\nkind = "equilibrium"\n'
    code, facts = command(tmp_path, capsys, case, "--picture")
    assert code == 0
    assert (facts["verdict"], facts["stable"]) == (verdict, verdict == "stands")
    for words in (["info", str(tmp_path / "out")], ["report", str(tmp_path / "out"), "-o", str(tmp_path / "report.html")]):
        with pytest.raises(SystemExit) as end:
            main(words)
        assert end.value.code == 0
    weight = facts["weight"]
    if verdict == "stands":
        assert sum(push[2] for push in facts["reactions"].values()) == pytest.approx(weight, rel=1e-4)
    assert facts["words"][:8] in (tmp_path / "report.html").read_text()


def test_a_shallow_arch_has_no_largest_thrust(tmp_path, capsys):
    """A straight line fits in an arch of 30 degrees, 1 m thick: nothing bounds its thrust."""
    arch = '[structure]\ngenerator = "arch"\nradius = "10 m"\nthickness = "1 m"\nembrace = "30 deg"\nblocks = 7\n'
    code, facts = command(tmp_path, capsys, arch + '[joints]\nfriction = 0.7\n[analysis]\nkind = "equilibrium"\n', "--picture")
    assert code == 0
    assert facts["verdict"] == "stands"
    assert facts["thrust"]["maximum"] is None
    assert facts["thrust"]["minimum"] > 0


@pytest.mark.parametrize("kind", ["limit", "tilt"])
def test_what_only_self_stress_holds_has_no_safe_multiplier_and_no_mechanism_of_a_load(kind, tmp_path, capsys):
    """A stone between two walls: by associated friction nothing bounds the multiplier; let down without force it falls."""
    (tmp_path / "odd.json").write_text(json.dumps({"blocks": walls_and_stone(0.0)}))
    case = '[structure]\nfile = "odd.json"\n[joints]\nfriction = 0.6\n[analysis]\ndirection = [1, 0, 0]\nkind = '
    code, facts = command(tmp_path, capsys, f'{case}"{kind}"\n')
    assert code == 0
    assert not facts["stable"]
    assert facts["multiplier_safe"] is None
    assert facts["multiplier_upper"] is None
    assert "mechanism" not in facts
    assert facts["words"].startswith("does not stand")


def test_a_wall_that_jams_over_a_gap_says_that_stones_hang(tmp_path, capsys):
    """Drawn flush, at friction 0.6, it stands; with a tenth of a millimetre of play stones fall. The verdict names them."""
    gap = '[structure]\ngenerator = "wall-over-gap"\n{}[joints]\nfriction = 0.6\n[analysis]\nkind = "equilibrium"\n'
    _, flush = command(tmp_path, capsys, gap.format(""))
    _, loose = command(tmp_path, capsys, gap.format('play = "0.1 mm"\n'), "--force")
    assert (flush["verdict"], loose["verdict"]) == ("stands", "falls")
    assert "rest on nothing" in flush["words"]
    assert set(flush["hung_by_friction"]) & set(loose["moving"])
    assert loose["hung_by_friction"] == []


def test_a_wall_of_deformable_blocks_has_a_verdict(tmp_path, capsys):
    """Its frames have elastic modes, which statics leaves as they are."""
    wall = '[structure]\ngenerator = "wall"\nlength = "1 m"\nheight = "1 m"\nthickness = "0.3 m"\ncourses = 3\nblocks = 2\n'
    stone = 'deformable = { young = "60 GPa", poisson = 0.27, mesh = [2, 2, 2] }\n[joints]\nfriction = 0.6\n'
    code, facts = command(tmp_path, capsys, wall + stone + '[analysis]\nkind = "equilibrium"\n')
    assert code == 0
    assert facts["verdict"] == "stands"
    assert sum(push[2] for push in facts["reactions"].values()) == pytest.approx(facts["weight"], rel=1e-4)

"""Case and block files: what the issue's example says is read so, and every mistake is told with key, line and cure."""

import inspect
import json
import tomllib

import jsonschema
import numpy as np
import pytest

from drystone.base.errors import InputError
from drystone.build import GENERATORS, arch, dome
from drystone.io.case import parse_case, read_case
from drystone.io.geometry.block_file import read_blocks, write_blocks
from drystone.io.schema import case_schema
from drystone.io.starter import write_starter
from drystone.structure.model import build_model

# The example of issue 2, point 7.
EXAMPLE = """\
[structure]
generator = "arch"
radius = 10.0
thickness = 1.5
embrace = "150 deg"
blocks = 7
depth = 1.0
density = 2000.0
[joints]
friction = 2.0
support = { friction = 2.0 }
[motion]
pulse = "biphasic"
amplitude = "1.11 g"
duration = "0.30 s"
direction = [-1, 0, 0]
[analysis]
kind = "dynamics"
integrator = "cone-program"
duration = "2.6 s"
time_step = "1 ms"
[solver]
contact = "rigid"
tolerance = 1e-6
"""


def test_example_of_the_issue():
    case = parse_case(EXAMPLE)
    assert case.motions[0].amplitude == pytest.approx(1.11 * 9.81)
    assert case.motions[0].direction == (-1.0, 0.0, 0.0)
    assert (case.analysis.duration, case.analysis.time_step, case.analysis.theta) == (2.6, 0.001, 0.53)
    assert (case.solver.method, case.solver.tolerance) == ("native", 1e-6)
    assert case.text == EXAMPLE
    for mine, generators in zip(case.blocks(), arch(), strict=True):  # the arch's defaults are those of the example
        np.testing.assert_array_equal(mine.vertices, generators.vertices)
    assert case.model().friction.tolist() == [[2.0, 2.0], [2.0, 2.0]]


@pytest.mark.parametrize("generator", GENERATORS)
def test_starters_are_complete_and_sound(generator):
    """Every parameter of the generator is shown (one may be commented out), and with its default value."""
    text = write_starter(generator)
    case = parse_case(text)
    parameters = inspect.signature(GENERATORS[generator]).parameters
    shown = set(tomllib.loads(text)["structure"])
    assert all(name in shown or f"\n# {name} = " in text for name in parameters)
    for name in shown - {"generator", "density"}:
        assert getattr(case.structure, name) == pytest.approx(parameters[name].default), name
    model = case.model()
    assert set(case.output.monitor) <= {b.name for b in model.blocks}
    assert case.motions


def test_unknown_starter():
    with pytest.raises(InputError, match=r"'towr' is not a generator, did you mean 'tower'\?"):
        write_starter("towr")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("radius = 10.0", 'radius = "10 s"', r"line 3: structure.radius: '10 s': 's' is not a unit of length; .* m,"),
        ("radius = 10.0", "radius = true", "line 3: structure.radius: True is not a length"),
        ("radius = 10.0", "raduis = 10.0", "line 3: structure.raduis: .* did you mean 'radius'"),
        ("blocks = 7", "blocks = 7.5", "line 6: structure.blocks: is 7.5, it should be a valid integer"),
        ("blocks = 7", 'blocks = "7"', "line 6: structure.blocks: is '7', it should be a valid integer"),
        ('"arch"', '"arhc"', "line 2: structure.generator: 'arhc' is not a generator, did you mean 'arch'"),
        ('"arch"', "[1]", "line 2: structure.generator: .* is not a generator"),
        ('generator = "arch"', "", "line 1: structure: needs either generator"),
        ("friction = 2.0\n", "", "line 9: joints.friction: is missing; give a number"),
        ("friction = 2.0\n", "friction = []\n", r"line 10: joints.friction: \[\] is not a number; give a number"),
        ("friction = 2.0\n", "friction = -1\n", "line 10: joints.friction: is -1, it should be greater than or equal"),
        ("{ friction = 2.0 }", "{ fricton = 2.0 }", "line 11: joints.support.fricton: .* did you mean 'friction'"),
        ("[joints]", "[joint]", "line 9: joint: 'joint' is not a table of a case, did you mean 'joints'"),
        ("[joints]", "[joint]", "joints: is missing; add a table"),
        ('"biphasic"', '"bifasic"', "line 13: motion.pulse: 'bifasic' is not a pulse, did you mean 'biphasic'"),
        ('duration = "0.30 s"', 'half_period = "0.3 s"', "line 15: motion.half_period: .* accepted: .* duration"),
        ('duration = "0.30 s"', "", r"line 12: motion.duration: is missing; give a number in SI \(s\)"),
        ("[-1, 0, 0]", "[0, 0, 0]", "line 16: motion.direction: .* not all zero"),
        ("[-1, 0, 0]", '"x"', r"line 16: motion.direction: .* give three numbers"),
        ('"dynamics"', '"statics"', "line 18: analysis.kind: 'statics' is not accepted.*; accepted: dynamics"),
        ('"2.6 s"', '"0 s"', "line 20: analysis.duration: is '0 s', it should be greater than 0"),
        ('"1 ms"', '"1e-9 s"', "analysis.time_step: 1e-09 s makes more than 100,000,000 steps of 2.6 s; give a longer one"),
        ('"1 ms"', '"10 s"', "analysis: time_step .* is longer than duration"),
        ('"1 ms"', '"1 ms"\ntheta = 0.4', "analysis.theta: is 0.4, it should be greater than or equal to 0.5"),
        ('"rigid"', '"compliant"\nyoung = "30 GPa"\nstiffness = "1 GN/m"', "line 22: solver: .* one of the two"),
        ('"rigid"', '"rigid"\nyoung = "30 GPa"', "young is for contact = \"compliant\" only"),
        ("1e-6", "1e-6\n[output]\nevery = 1e-4", "output.every: 0.0001 s is shorter than analysis.time_step"),
        ("1e-6", '1e-6\n[output]\nmonitor = "block"', "output.monitor: is 'block', it should be a valid tuple"),
        ("[solver]", "[solver", r"not TOML: .*line 22, column"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_key_line_and_cure(old, new, message):
    assert old in EXAMPLE
    with pytest.raises(InputError, match=message):
        parse_case(EXAMPLE.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("blocks = 7", "blocks = 0", "^a/case.toml: arch: blocks is 0; give a whole number"),
        ("blocks = 7", f"blocks = {10**9}", "^a/case.toml: arch: blocks is 1e[+]09, more than the limit of 200,000"),
        ("radius = 10.0", "radius = 1e12", "^a/case.toml: block .* reaches .* m away; is its unit right"),
        ("[solver]", '[[load]]\non = "x"\nforce = 1\n[solver]', "^a/case.toml: load.on: no block .* named 'x'; give the name"),
    ],
)
def test_what_only_geometry_tells_names_the_case_once(old, new, message):
    with pytest.raises(InputError, match=message) as caught:
        parse_case(EXAMPLE.replace(old, new, 1), "a/case.toml").model()
    assert str(caught.value).count("case.toml") == 1


def test_all_problems_are_listed_at_once():
    text = EXAMPLE.replace("10.0", '"ten"').replace("1e-6", "2").replace("[-1, 0, 0]", "[-1, 0]")
    with pytest.raises(InputError, match="3 problems in the case") as caught:
        parse_case(text)
    lines = str(caught.value).splitlines()[1:]
    assert [line.split(":")[1].strip() for line in lines] == [
        "structure.radius",
        "motion.direction",
        "solver.tolerance",
    ]


def test_several_motions_and_groups():
    """An array of tables; a sine may be given by its displacement; the line of the second table is found."""
    motions = """
[[motion]]
pulse = "sine"
displacement = "20 mm"
half_period = "0.2 s"
[[motion]]
pulse = "one-sine"
amplitude = "0.2 g"
half_period = "0.25 s"
supports = ["abutment-left"]
"""
    head, _, tail = EXAMPLE.partition("[motion]")
    text = head + 'rule = [{ between = ["arch", "foundation"], friction = 0.3 }]\n' + motions + tail[tail.index("[analysis]") :]
    case = parse_case(text)
    assert case.motions[0].displacement_amplitude == pytest.approx(0.02)
    assert case.motions[1].supports == ("abutment-left",)
    assert case.model().friction.tolist() == [[2.0, 0.3], [0.3, 2.0]]
    with pytest.raises(InputError, match=r"line 20: motion\[1\].amplitude: '0.2 m': 'm' is not a unit of acceleration"):
        parse_case(text.replace('"0.2 g"', '"0.2 m"'))
    with pytest.raises(InputError, match=r"motion.supports: no support is named 'abutment-lft'; did you mean 'abutment-left'"):
        parse_case(text.replace("abutment-left", "abutment-lft")).model()


def test_a_case_without_motion_and_an_unknown_monitor():
    text = EXAMPLE[: EXAMPLE.index("[motion]")] + EXAMPLE[EXAMPLE.index("[analysis]") :]
    assert parse_case(text).motions == ()
    with pytest.raises(InputError, match=r"output.monitor: no block is named 'voussoir4'; did you mean 'voussoir-4'"):
        parse_case(text + '[output]\nmonitor = ["voussoir4"]\n').model()


def test_block_file_beside_the_case(tmp_path):
    """Blocks written and read back are the same to the last bit, and a case finds them relative to itself."""
    blocks = dome(rings=2, blocks=6)
    write_blocks(tmp_path / "dome.json", blocks)
    text = '[structure]\nfile = "dome.json"\n' + EXAMPLE[EXAMPLE.index("[joints]") :]
    (tmp_path / "case.toml").write_text(text)
    again = read_case(tmp_path / "case.toml").blocks()
    for one, other in zip(blocks, again, strict=True):
        np.testing.assert_array_equal(one.vertices, other.vertices)
        assert (one.faces, one.fixed, one.name, one.group, one.density) == (
            other.faces, other.fixed, other.name, other.group, other.density)  # fmt: skip
    with pytest.raises(InputError, match=r"nowhere\.toml: cannot be read"):
        read_case(tmp_path / "nowhere.toml")


def test_minimal_block_file(tmp_path):
    """Only vertices and faces are required; the density is that of `Block`, 2000 kg/m3; units are accepted."""
    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]
    path = tmp_path / "blocks.json"
    path.write_text(json.dumps({"blocks": [{"vertices": corners, "faces": faces}]}))
    assert build_model(read_blocks(path), friction=0.5).bodies.mass[0] == pytest.approx(2000 / 6)
    path.write_text(json.dumps({"blocks": [{"vertices": corners, "faces": faces, "density": "19.62 kN/m3"}]}))
    assert read_blocks(path)[0].density == pytest.approx(2000.0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "line 1, column 2: not JSON"),
        ("[]", "has no list of blocks"),
        ('{"blocks": [1]}', "block 0 is 1; give an object"),
        ('{"blocks": [{"vertices": [], "name": "a"}]}', "block 0 'a': 'faces' is missing"),
        ('{"blocks": [{"vertices": [], "faces": [], "fixd": true}]}', "block 0: key 'fixd' .* did you mean 'fixed'"),
        ('{"blocks": [{"vertices": [[0, 0]], "faces": []}]}', "block 0: vertices must be a list of"),
        (
            '{"blocks": [{"vertices": [], "faces": [[0, 1.5, 2]]}]}',
            "block 0: faces must be a list of lists of vertex numbers",
        ),
        ('{"blocks": [{"vertices": [], "faces": [], "density": "2 m"}]}', "block 0: density '2 m': 'm' is not a unit"),
        ('{"blocks": [{"vertices": [], "faces": [], "fixed": 1}]}', "block 0: fixed is 1; give true or false"),
    ],
)
def test_bad_block_files_are_refused(tmp_path, content, message):
    path = tmp_path / "blocks.json"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        read_blocks(path)


@pytest.mark.parametrize(
    ("joints", "solver", "words"),
    [
        ("", "", "rigid"),
        ("", 'young = "5 GPa"', "compliant, 5 GPa"),
        ("", 'stiffness = "2 GN/m"', "compliant, 2000 MN/m a contact point"),
        ("", 'contact = "compliant"', "compliant, 30 GPa"),
        ('friction_law = "coulomb"', "", "compliant, 30 GPa"),
        ('friction_law = "coulomb"', 'contact = "rigid"', "rigid"),
    ],
)
def test_contact_is_rigid_unless_the_law_or_a_stiffness_asks_for_more(joints, solver, words):
    """Coulomb's law is compliant by default: rigid, its steps may have no solution that Newton finds (decision 0007)."""
    text = EXAMPLE.replace("friction = 2.0\n", f"friction = 2.0\n{joints}\n", 1).replace('contact = "rigid"', solver)
    surface = parse_case(text).surface
    assert (surface.words, surface.coulomb) == (words, joints != "")


def test_a_settlement_goes_down_unless_told_otherwise():
    head, tail = EXAMPLE.split("[motion]")
    motion = '[motion]\npulse = "settlement"\ndisplacement = "50 mm"\nduration = "1 s"\nsupports = ["abutment-left"]\n'
    case = parse_case(head + motion + tail[tail.index("[analysis]") :])
    assert case.motions[0].direction == (0.0, 0.0, -1.0)
    assert case.motions[0].displacement_amplitude == 0.05
    case.model()


GATE = """\
[structure]
chip = 0.002
[[structure.parts]]
name = "west"
generator = "column"
height = "2 m"
courses = 4
[[structure.parts]]
name = "east"
generator = "column"
height = "2 m"
courses = 4
mirror = "x"
turn = "90 deg"
at = ["2 m", 0, 0]
[joints]
friction = 0.6
[analysis]
integrator = "cone-program"
duration = 1
time_step = 1e-3
"""


def test_parts_are_mirrored_turned_moved_and_named():
    case = parse_case(GATE)
    blocks = case.blocks()
    names = ["east-foundation", *(f"east-drum-{i}" for i in range(1, 5))]
    assert [b.name for b in blocks if b.name.startswith("east")] == names
    east, west = (np.mean([b.vertices.mean(axis=0) for b in blocks if b.name.startswith(f"{side}-drum")], axis=0)
                  for side in ("east", "west"))  # fmt: skip
    np.testing.assert_allclose(east - west, [2, 0, 0], atol=1e-12)
    assert len(case.model().blocks) == 10
    whole = parse_case(GATE.replace("chip = 0.002", "")).model()
    lost = 1 - case.model().bodies.mass[1] / whole.bodies.mass[1]
    d = 0.002 * 2.0  # trimmed off a cube of 0.5 m with 12 right edges: each loses a prism d^2 wide, but for corners
    assert lost == pytest.approx(12 * 0.5 * d**2 / 0.5**3, rel=0.05)
    jsonschema.validate(tomllib.loads(GATE), case_schema())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "east"', 'name = "west"', "structure.parts: 2 parts are named 'west'"),
        ('name = "east"\n', "", r"structure.parts\[1\].name: is missing"),
        ('mirror = "x"', 'mirror = "w"', r"structure.parts\[1\].mirror: 'w' is not accepted"),
        ('mirror = "x"', 'mirrored = "x"', r"structure.parts\[1\].mirrored: .* did you mean 'mirror'"),
        ('generator = "column"', 'generator = "colum"', r"structure.parts\[0\].generator: .* did you mean 'column'"),
    ],
)
def test_mistakes_in_parts(old, new, message):
    with pytest.raises(InputError, match=message):
        parse_case(GATE.replace(old, new, 1))

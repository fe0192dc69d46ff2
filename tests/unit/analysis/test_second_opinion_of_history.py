"""A second opinion on a history: against closed forms of sliding and falling, and a recording that was changed by hand."""

import json
import math
import shutil

import h5py
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from drystone.analysis.dynamics import run as compute
from drystone.analysis.second_opinion import second_opinion
from drystone.analysis.second_opinion.of_history import APART_SHARE, block_distances
from drystone.analysis.stages import Stage
from drystone.build.shapes import box
from drystone.io.case import parse_case
from drystone.results.store.run_reader import read_run
from drystone.structure.model import build_model

G = 9.81
BLOCKS = """
structure = {{ generator = "block", width = 1.0, depth = 1.0, height = 0.5 }}
joints = {{ friction = 0.3 }}
motion = {{ pulse = "one-sine", amplitude = "0.5 g", half_period = "0.2 s", direction = [1, 0, 0] }}
analysis = {{ duration = "0.5 s", {method} }}
output = {{ every = "10 ms" }}
"""
SMALL, CONE = "time_step = 0.005", 'integrator = "cone-program", time_step = 0.002'


def plug_case(folder, play):
    """A stone of 0.4 m between two fixed walls with play on either side, by the papers' step, whose law holds it up."""
    far = 0.4 + 2 * play
    blocks = [
        box((-1, 0, 0), (0, 1, 1), fixed=True, name="left"),
        box((far, 0, 0), (far + 1, 1, 1), fixed=True, name="right"),
        box((play, 0.3, 0.3), (play + 0.4, 0.7, 0.7), name="stone"),
    ]
    (folder / "plug.json").write_text(json.dumps({"blocks": [
        {"vertices": np.asarray(block.vertices).tolist(), "faces": [list(face) for face in block.faces], "fixed": block.fixed,
         "name": block.name} for block in blocks]}))  # fmt: skip
    (folder / "plug.toml").write_text("""
structure = { file = "plug.json" }
joints = { friction = 0.6 }
analysis = { duration = "0.3 s", integrator = "cone-program", time_step = 0.001 }
output = { every = "5 ms" }
""")
    return folder / "plug.toml"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for name, method in (("small", SMALL), ("cone", CONE)):
        compute(parse_case(BLOCKS.format(method=method)), folder / name)
    compute(plug_case(folder, 1e-6), folder / "plug")
    return folder


def opinion(command, *arguments):
    code, out, _ = command("verify", "--cross", *arguments, "--json")
    return code, json.loads(out)


def test_the_distance_of_two_poses_is_that_of_their_farthest_points():
    """Of the sphere about a block: |shift| + 2 r sin(angle / 2) for any shift and turn; no corner of the block is farther."""
    model = build_model([box((0, 0, 0), (1, 2, 3)), box((0, 0, 3), (1, 1, 4), fixed=True)], friction=0.5)
    corners = model.blocks[0].vertices - model.position[0]
    rng = np.random.default_rng(5)
    for angle in (0.0, 1e-9, 1e-3, 1.0, 3.0):
        axis = rng.normal(size=3)
        one = Rotation.random(random_state=rng)
        other = Rotation.from_rotvec(angle * axis / np.linalg.norm(axis)) * one
        shift = rng.normal(size=3) * angle
        rotation, other_rotation = (np.tile(each.as_quat(scalar_first=True), (2, 1)) for each in (one, other))
        found = block_distances(model, model.position, rotation, model.position + shift, -other_rotation)[0]
        radius = model.bodies.radius[0]
        assert found == pytest.approx(np.linalg.norm(shift) + 2 * radius * math.sin(angle / 2), rel=1e-6, abs=1e-15)
        apart = np.linalg.norm(one.apply(corners) - other.apply(corners) - shift, axis=1)
        assert apart.max() <= found + 1e-12


@pytest.mark.parametrize(("name", "by"), [("small", "cone programs of 1 ms"), ("cone", "small steps")])
def test_a_block_that_slides_is_followed_to_the_end(command, recorded, name, by):
    """It slides 16 mm forth and back and stops: one closed form for both."""
    run = read_run(recorded / name)
    assert np.abs(run.position - run.position[0]).max() > 0.01
    code, found = opinion(command, recorded / name, "--apart", 2e-3)
    assert (code, found["parted"], found["time"], found["unconverged"]) == (0, False, 0.5, 0)
    assert found["followed_by"].startswith(by)
    assert found["verdict"].startswith("together to the end, 0.5 s")
    assert found["before"] == found["distance"] < 2e-3


def test_a_recording_that_was_changed_is_parted_from_where_it_was(command, recorded, tmp_path):
    shutil.copytree(recorded / "small", tmp_path / "changed")
    with h5py.File(tmp_path / "changed" / "run.h5", "r+") as file:
        row = file["frames/position"][30:, 1]
        file["frames/position"][30:, 1] = row + [0, 0.05, 0]
    code, found = opinion(command, tmp_path / "changed", "--apart", 0.04)
    assert (code, found["parted"], found["time"]) == (3, True, pytest.approx(0.3))
    assert found["block"] == read_run(tmp_path / "changed").model.blocks[1].name
    assert found["distance"] == pytest.approx(0.05, abs=2e-3)
    assert found["before"] < 2e-3
    code, found = opinion(command, tmp_path / "changed", "--apart", 0.06)
    assert (code, found["parted"]) == (0, False)


def test_a_stone_that_friction_holds_by_the_associated_law_only_is_found_falling(command, recorded):
    """Between two walls with 0.001 mm of play it hangs by the associated law, sinking by play / (mu h) = 1.7 mm/s; by exact
    friction it falls freely. They are 100 mm apart when g t^2 / 2 - 0.0017 t is, after 0.143 s: in the frame of 0.145 s."""
    code, found = opinion(command, recorded / "plug", "--apart", 0.1)
    assert code == 3
    assert (found["block"], found["time"]) == ("stone", pytest.approx(0.145))
    assert found["recorded_by"] == "cone programs of 1 ms, contact rigid, associated friction"
    assert found["distance"] == pytest.approx(0.5 * G * 0.145**2 - 1e-6 / (0.6 * 1e-3) * 0.145, rel=0.02)


def test_its_own_amount_is_a_share_of_the_radius(command, recorded):
    code, found = opinion(command, recorded / "plug")
    radius = read_run(recorded / "plug").model.bodies.radius[2]
    assert code == 3
    assert found["apart"] is None
    assert found["allowed"] == pytest.approx(APART_SHARE * radius)


def test_what_a_person_reads(command, recorded):
    code, out, _ = command("verify", "--cross", recorded / "plug", "--apart", 0.1)
    said = " ".join(out.replace("│", " ").split())
    assert code == 3
    assert "together until 0.145 s of 0.3 s, then apart by" in said
    assert "at block 'stone', more than 100 mm" in said
    assert "followed by small steps" in said


def test_progress_is_told_and_it_can_be_left(recorded):
    stages = second_opinion(recorded / "small", apart=1.0)
    first = next(stages)
    assert isinstance(first, Stage)
    assert first.words.startswith("0.01 s of 0.5 s, ")
    stages.close()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--cross", "--apart", -1), "apart is -1.0; give a length in m above 0"),
        (("--cross", "--law", "dry"), "the friction law is 'dry'"),
        (("--cross", "--step", 0), "the time step is 0.0; give a time in s above 0"),
        (("--cross", "--steps", 3), "--steps is an option of the comparison bit for bit"),
        (("--apart", 0.1), "--apart is an option of --cross; add --cross"),
    ],
)
def test_what_cannot_be_asked(command, recorded, arguments, said):
    code, _, error = command("verify", recorded / "small", *arguments)
    assert code == 2
    assert said in error


def test_small_steps_that_follow_have_one_law(command, recorded):
    code, _, error = command("verify", "--cross", recorded / "cone", "--law", "associated")
    assert code == 2
    assert "no friction law but Coulomb's" in error


def test_a_history_that_small_steps_alone_can_follow_is_refused(command, tmp_path):
    text = BLOCKS.format(method=SMALL) + '[[change]]\ntime = 0.1\nremove = ["block"]\n'
    names = [block.name for block in parse_case(BLOCKS.format(method=SMALL)).model().blocks]
    compute(parse_case(text.replace('"block"]', f'"{names[1]}"]')), tmp_path / "out")
    code, _, error = command("verify", "--cross", tmp_path / "out")
    assert code == 2
    assert "blocks appear or vanish in this history" in error

"""`drystone verify`: the same program on the same machine gives the same bits; a number changed by hand is found, and so is a
changed case, a torn file, another version."""

import json
import shutil

import h5py
import pytest

from drystone.analysis.dynamics import run as compute
from drystone.io.case import parse_case

HISTORY = """
structure = { generator = "wall", length = 1.0, height = 0.5, courses = 2, blocks = 2 }
joints = { friction = 0.6 }
motion = { pulse = "one-sine", amplitude = "0.9 g", half_period = "0.1 s", direction = [0.3, 1, 0] }
analysis = { kind = "dynamics", duration = 0.05, time_step = 0.001 }
output = { every = 0.007 }
"""
LIMIT = """
structure = { generator = "arch", blocks = 7 }
joints = { friction = 2.0 }
analysis = { kind = "limit", direction = [1, 0, 0] }
"""


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    (folder / "history.toml").write_text(HISTORY)
    compute(folder / "history.toml", folder / "history")
    return folder


@pytest.fixture
def history(computed, tmp_path):
    """A copy that a test may spoil, beside its case."""
    shutil.copytree(computed / "history", tmp_path / "history")
    return tmp_path / "history"


def verified(command, *arguments):
    code, out, _ = command("verify", *arguments, "--json")
    return code, json.loads(out)


def edit(folder, change):
    with h5py.File(folder / "run.h5", "r+") as file:
        change(file)


def test_a_run_verifies(command, history):
    code, found = verified(command, history)
    assert (code, found["same"], found["verdict"]) == (0, True, "the same bits")
    assert (found["steps"], found["of_steps"]) == (50, 50)
    assert not found["other"]
    assert not found["since"]


def test_the_first_steps_alone(command, history):
    code, found = verified(command, history, "--steps", 10)
    assert (code, found["steps"], found["verdict"]) == (0, 10, "the same bits in the first 10 steps")


def test_a_run_that_was_cut_verifies_as_far_as_it_went(command, tmp_path):
    from contextlib import closing

    from drystone.analysis.dynamics import record_history

    with closing(record_history(parse_case(HISTORY), tmp_path)) as steps:
        for step in steps:
            if step.state.step == 17:
                break
    code, found = verified(command, tmp_path)
    assert (code, found["steps"], found["of_steps"]) == (0, 17, 17)


def flip(name, place, field=None):
    """Change the last bit of one number."""

    def change(file):
        row = file[name][place]
        value = row if field is None else row[field]
        flipped = value.copy().view("i8") ^ 1
        if field is None:
            file[name][place] = flipped.view("f8")
        else:
            row[field] = flipped.view("f8")
            file[name][place] = row

    return change


@pytest.mark.parametrize(
    ("name", "place", "field", "what", "step"),
    [
        ("frames/position", (3, 2, 1), None, "position of the frame", 21),
        ("frames/velocity", (1, 4, 5), None, "velocity of the frame", 7),
        ("steps", 29, "kinetic", "kinetic of the step", 30),
        ("contacts", -1, "gap", "contacts' gap of the frame", 50),
    ],
)
def test_one_bit_is_found(command, history, name, place, field, what, step):
    edit(history, flip(name, place, field))
    code, found = verified(command, history)
    assert (code, found["same"]) == (3, False)
    assert [(each["what"], each["step"]) for each in found["differences"]] == [(what, step)]
    assert found["differences"][0]["largest"] < 1e-6
    assert "same program" in found["verdict"]


def test_another_start_is_another_run(command, history):
    """A block that was moved in the first frame: all that follows is other."""

    def move(file):
        file["frames/position"][0, -1, 2] += 1e-3

    edit(history, move)
    code, found = verified(command, history)
    assert code == 3
    assert len(found["differences"]) > 5


def test_an_edited_case_is_noticed(command, history):
    (history / "case.toml").write_text(HISTORY.replace("0.6", "0.7"))
    code, found = verified(command, history)
    assert (code, found["changed"], found["steps"]) == (3, ["the text of case.toml"], 0)


def test_a_block_or_a_case_file_edited_afterwards(command, computed, history):
    original = computed / "history.toml"
    original.write_text(HISTORY + "# edited\n")
    code, found = verified(command, history, "--steps", 1)
    original.write_text(HISTORY)
    assert (code, found["since"]) == (0, [f"{original} has other content"])


def test_a_torn_file(command, history):
    edit(history, lambda file: file["contacts"].resize(10, axis=0))
    code, found = verified(command, history)
    assert code == 2
    assert "contacts has 10 rows of " in found["error"]


def test_a_frame_that_was_taken_out(command, history):
    """Frames are at steps 0, 7, ..., 49 and 50: without the last but one the steps that have frames are others."""

    def take_out(file):
        file["frames/head"][7] = file["frames/head"][8]
        file["committed"][()] = 8

    edit(history, take_out)
    code, found = verified(command, history)
    assert code == 3
    assert "the steps that have frames" in [each["what"] for each in found["differences"]]


def test_another_version_may_be_why(command, history):
    def change(file):
        old = json.loads(file.attrs["stamp"])
        old["libraries"]["numpy"] = "2.0.0"
        file.attrs["stamp"] = json.dumps(old)
        flip("steps", 3, "kinetic")(file)

    edit(history, change)
    code, found = verified(command, history)
    assert (code, list(found["other"])) == (3, ["numpy"])
    assert found["other"]["numpy"][0] == "2.0.0"
    assert "may be why" in found["verdict"]


def test_an_analysis_verifies_and_its_result_cannot_be_changed(command, tmp_path):
    (tmp_path / "limit.toml").write_text(LIMIT)
    out = tmp_path / "out"
    assert command("run", tmp_path / "limit.toml", "-o", out)[0] == 0
    code, found = verified(command, out)
    assert (code, found["verdict"]) == (0, "the same bits")
    result = json.loads((out / "result.json").read_text())
    assert result["stamp"]["case"]
    (out / "result.json").write_text(json.dumps(result | {"multiplier": result["multiplier"] + 1e-3}))
    code, found = verified(command, out)
    assert (code, [each["what"] for each in found["differences"]]) == (3, ["result.json multiplier"])
    assert found["differences"][0]["largest"] == pytest.approx(1e-3)
    assert command("verify", out, "--steps", 3)[0] == 2


def test_what_a_person_reads(command, history):
    edit(history, flip("frames/position", (3, 2, 1)))
    code, out, _ = command("verify", history)
    assert code == 3
    assert "position of the frame from step 21 on" in " ".join(out.replace("│", " ").split())
    code, out, _ = command("info", history)
    assert "computed with" in out

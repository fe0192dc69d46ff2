"""Commands: exit codes, one JSON object on standard output, nothing lost on Ctrl-C. The simulator is replaced."""

import json
import tomllib
from pathlib import Path

import pytest

from drystone.analysis import dynamics
from drystone.build import GENERATORS
from drystone.results.store.run_reader import read_run
from tests.unit import synthetic

ARCH = Path(__file__).parents[3] / "examples" / "oppenheim-arch.toml"


@pytest.fixture
def case(tmp_path):
    path = tmp_path / "case.toml"
    path.write_text(ARCH.read_text())
    return path


@pytest.fixture
def simulator(monkeypatch):
    """A simulator that only makes up numbers: every step converges; it may be interrupted before a step."""
    behaviour = {"interrupt": None, "converged": True}

    def follow(engine, state, duration, time_step):
        for step in synthetic.steps(state, round(duration / time_step), time_step):
            if step.state.step == behaviour["interrupt"]:
                raise KeyboardInterrupt
            step.solution = step.solution._replace(converged=behaviour["converged"])
            yield step

    monkeypatch.setattr(dynamics, "follow_small_steps", follow)
    return behaviour


def test_help_names_the_commands(command):
    code, out, _ = command("--help")
    assert code == 0
    for name in ("new", "schema", "check", "run", "info", "picture", "solve"):
        assert name in out


def test_no_command_is_a_call_for_help(command):
    assert command() == command("--help")


def test_version(command):
    code, out, _ = command("--version", "--json")
    assert (code, list(json.loads(out))) == (0, ["version"])


@pytest.mark.parametrize("generator", list(GENERATORS))
def test_new_prints_a_case(command, generator):
    code, out, _ = command("new", generator)
    assert code == 0
    assert tomllib.loads(out)["structure"]["generator"] == generator
    _, as_json, _ = command("new", generator, "--json")
    assert json.loads(as_json)["case"] == out


@pytest.mark.parametrize(
    "arguments",
    [
        ("new", "castle"),
        ("check", "missing.toml"),
        ("run", "missing.toml", "-o", "out"),
        ("run",),
        ("run", "--resume", "missing"),
        ("info", "missing"),
        ("picture", "missing", "-o", "x.png"),
        ("solve", "missing.dat"),
        ("chek",),
        ("run", "--fast"),
    ],
)
def test_bad_input_is_one_message_and_code_2(command, arguments):
    code, out, err = command(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("drystone: ")
    assert "Traceback" not in err
    code, out, _ = command(*arguments, "--json")
    assert code == 2
    assert json.loads(out)["exit_code"] == 2
    assert json.loads(out)["error"]


def test_bad_value_names_the_key(command, case):
    case.write_text(case.read_text().replace('duration = "2.6 s"', 'duration = "2.6 m"'))
    code, _, err = command("check", case)
    assert code == 2
    assert "analysis.duration" in err


def test_check(command, case):
    code, out, _ = command("check", case, "--json")
    facts = json.loads(out)
    assert code == 0
    assert (facts["blocks"], facts["fixed_blocks"], facts["steps"]) == (9, 2, 520)
    assert facts["weight"] == pytest.approx(9.81 * facts["mass"], rel=1e-3)
    assert command("check", case)[0] == 0


def test_run_and_info_print_the_summary(command, case, simulator, tmp_path):
    code, out, _ = command("run", case, "-o", tmp_path / "out", "--json")
    summary = json.loads(out)
    assert code == 0
    assert (summary["steps"], summary["finished"], summary["unconverged_steps"]) == (520, True, 0)
    code, out, _ = command("info", tmp_path / "out", "--json")
    assert code == 0
    names = "blocks steps time collapsed collapse_time max_displacement max_penetration max_residual unconverged_steps"
    for name in [*names.split(), "energy", "ms_per_step"]:
        assert json.loads(out)[name] == summary[name]
    assert command("info", tmp_path / "out")[0] == 0
    told = json.loads(command("info", tmp_path / "out", "--mechanism", "--json")[1])
    assert told["mechanism"]["words"]
    assert "mechanism" in command("info", tmp_path / "out", "--mechanism")[1]
    assert command("run", case, "-o", tmp_path / "out")[0] == 2, "not overwritten"
    assert command("run", case, "-o", tmp_path / "out", "--force")[0] == 0


def test_unconverged_steps_are_code_3(command, case, simulator, tmp_path):
    simulator["converged"] = False
    code, out, _ = command("run", case, "-o", tmp_path / "out", "--json")
    assert code == 3
    assert json.loads(out)["unconverged_steps"] == 520


def test_ctrl_c_keeps_what_was_computed_and_resumes(command, case, simulator, tmp_path):
    simulator["interrupt"] = 234
    code, out, err = command("run", case, "-o", tmp_path / "out", "--json")
    assert code == 130
    assert json.loads(out)["steps"] == 233
    assert f"--resume {tmp_path / 'out'}" in err
    simulator["interrupt"] = None
    code, out, _ = command("run", "--resume", tmp_path / "out", "--json")
    assert code == 0
    assert json.loads(out)["finished"]
    assert list(read_run(tmp_path / "out").steps["step"]) == list(range(1, 521))


def test_picture_of_a_case_and_of_a_time(command, case, simulator, tmp_path):
    code, out, _ = command("picture", case, "-o", tmp_path / "case.png")
    assert (code, (tmp_path / "case.png").read_bytes()[:4]) == (0, b"\x89PNG")
    command("run", case, "-o", tmp_path / "out")
    code, out, _ = command("picture", tmp_path / "out", "-o", tmp_path / "x.png", "--time", 1.004, "--json")
    assert code == 0
    assert json.loads(out)["times"] == [1.0]
    assert command("picture", tmp_path / "out", "-o", tmp_path / "x.png", "--frame", 999)[0] == 2


def test_new_lists_what_can_be_built(command):
    code, out, _ = command("new", "--list", "--json")
    assert (code, set(json.loads(out))) == (0, set(GENERATORS))
    assert command("new")[0] == 2


def test_schema_is_printed(command):
    code, out, _ = command("schema")
    assert (code, json.loads(out)["title"]) == (0, "drystone case")

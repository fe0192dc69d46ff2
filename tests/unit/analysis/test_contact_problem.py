"""`drystone solve` and the dumps of steps that failed. Truth: closed forms of one contact; the run that wrote the dump."""

import json
import os
import shutil
from contextlib import closing

import numpy as np
import pytest

from drystone.analysis import dynamics
from drystone.analysis.contact_problem import solve_file
from drystone.engine.solvers.methods import make_solver
from drystone.io.case import parse_case
from drystone.io.contact_problems import problem_file
from drystone.io.contact_problems.problem_file import read_problem
from drystone.results.measures import summarise
from drystone.results.store.run_reader import failed_problems, read_run
from tests.unit import foreign_files as foreign

KEYS = {"file", "form", "contacts", "unknowns", "method", "friction_law", "converged", "path", "residual", "iterations",
        "seconds", "error", "momentum", "natural_map", "penetration", "gap"}  # fmt: skip
METHODS = (("native", 1e-19), ("clarabel-static", 1e-6))
CASE = """
    [structure]
    generator = "wall"
    length = "0.6 m"
    height = "0.4 m"
    courses = 2
    blocks = 2
    [joints]
    friction = 0.1
    [motion]
    pulse = "half-sine"
    amplitude = "5 m/s2"
    half_period = "0.1 s"
    [analysis]
    integrator = "cone-program"
    duration = "0.04 s"
    time_step = "1 ms"
    [solver]
    method = "native"
    tolerance = 1e-19
"""


@pytest.fixture
def sliding(tmp_path):
    """One contact, W = 2 I, that slides."""
    return foreign.fclib(tmp_path / "sliding.hdf5", W=2 * np.eye(3), q=np.array([-1.0, 1.0, 3.0]), mu=np.array([0.1]))


def test_associated_contact(command, sliding, tmp_path):
    """The reaction is the nearest point of K to -q / 2."""
    out = tmp_path / "answer"
    arguments = ("solve", sliding, "--method", "clarabel-static", "--law", "associated", "--output", out, "--json")
    code, text, _ = command(*arguments)
    facts = json.loads(text)
    assert code == 0
    assert set(facts) >= KEYS
    assert (facts["form"], facts["contacts"], facts["unknowns"], facts["friction_law"]) == ("local", 1, 3, "associated")
    slip = np.sqrt(10.0)
    height = (1 + 0.1 * slip) / 1.01 / 2
    with np.load(out) as answer:
        reaction, velocity = answer["reaction"][0], answer["velocity"][0]
    np.testing.assert_allclose(reaction, [height, -0.1 * height / slip, -0.3 * height / slip], atol=1e-6)
    np.testing.assert_allclose(velocity, 2 * reaction + [-1, 1, 3], rtol=1e-14)
    code, text, _ = command(*arguments[:-3])
    assert code == 0
    assert "residual" in text


def test_wrong_law_is_not_good(command, sliding):
    """The associated answer is no solution of Coulomb's contact: the file's residual says so, whatever the solver says."""
    answer = solve_file(sliding, method="clarabel-static", law="associated")
    assert answer.good
    assert problem_file.read_contact_problem(sliding).residual(answer.reaction) > 1e-2


def test_unsymmetric_matrix_in_rounds(tmp_path):
    """Truth: the matrix of the file. One solve with the symmetric part leaves a tenth, rounds leave nothing."""
    random = np.random.default_rng(4)
    root, skew = random.normal(size=(9, 9)), random.normal(size=(9, 9))
    W = root @ root.T + np.eye(9) + 0.3 * (skew - skew.T)
    path = foreign.fclib(tmp_path / "x", W=W, q=random.normal(size=9) - [1, 0, 0, 1, 0, 0, 1, 0, 0], mu=np.full(3, 0.5))
    answer = solve_file(path, method="clarabel-static", law="associated")
    assert answer.good
    assert "rounds" in answer.facts["notes"][0]
    assert problem_file.read_contact_problem(path).residual(answer.reaction, "associated") == answer.facts["residual"]
    given = problem_file.read_contact_problem(path)
    problem = given.problem()
    once = make_solver("clarabel-static")(problem._replace(dilatancy=problem.friction), None)
    assert given.residual(once.impulse, "associated") > 1e-2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--method", "magic"), "native, clarabel"),
        (("--law", "newton"), "associated, coulomb"),
        (("--tolerance", "0"), "between 0 and 1"),
        (("--method", "clarabel-static", "--output", "/nowhere/answer.npz"), "cannot be written"),
    ],
)
def test_bad_options(command, sliding, options, said):
    code, out, err = command("solve", sliding, *options)
    assert (code, out) == (2, "")
    assert said in err
    assert command("solve", sliding.parent / "missing.dat")[0] == 2


@pytest.fixture(scope="module")
def failing(tmp_path_factory):
    """A run with a tolerance beyond double precision: no step that moves converges."""
    return dynamics.run(parse_case(CASE, "case.toml"), tmp_path_factory.mktemp("run") / "out")


def test_failed_steps_are_dumped(failing):
    bad = failing.steps["step"][~failing.steps["converged"]]
    assert len(bad) > dynamics.MAX_FAILED_PROBLEMS
    names = [f"step-{step:06d}.npz" for step in bad[: dynamics.MAX_FAILED_PROBLEMS]]
    assert [path.name for path in failing.failed] == names, "the first of them"
    assert sorted(os.listdir(failing.folder / "failed")) == names, "and nothing else"
    assert summarise(failing)["dumps"] == [str(path) for path in failing.failed]


def test_dumps_give_the_bits_of_the_run(failing):
    for path in failing.failed[:5]:
        dump, answer = read_problem(path), solve_file(path)
        row = dump.about["step"] - 1
        assert answer.facts["form"] == "dump"
        assert answer.facts["path"] == failing.steps["path"][row]
        for name in ("error", "momentum", "natural_map", "penetration", "gap"):
            assert answer.facts[name] == failing.steps[f"residual_{name}"][row], name
        assert not answer.good


def test_another_method_solves_them(command, failing):
    """The velocity of a step is unique: within the tolerance both methods have it."""
    path = failing.failed[3]
    code, out, _ = command("solve", path, "--method", "clarabel-static", "--tolerance", "1e-6", "--json")
    facts = json.loads(out)
    assert (code, facts["converged"], facts["friction_law"]) == (0, True, "associated")
    dump = read_problem(path)
    x = [make_solver(method, tolerance)(dump.problem, dump.guess).velocity for method, tolerance in METHODS]
    assert np.linalg.norm(x[0] - x[1]) <= 1e-5 * dump.problem.speed * np.sqrt(dump.problem.total_mass)


def test_summary_says_how_to_reproduce(command, failing):
    code, out, _ = command("info", failing.folder)
    count = int((~failing.steps["converged"]).sum())
    assert code == 0
    assert f"{count} steps did not converge; reproduce one with: drystone solve {failing.failed[0]} --method" in out


def test_overwriting_removes_old_dumps(failing, tmp_path):
    shutil.copytree(failing.folder, tmp_path / "out")
    (tmp_path / "out/failed/mine.txt").write_text("not a dump")
    run = dynamics.run(parse_case(CASE.replace("1e-19", "1e-4"), "case.toml"), tmp_path / "out", overwrite=True)
    assert summarise(run)["unconverged_steps"] == 0
    assert os.listdir(tmp_path / "out/failed") == ["mine.txt"]


def test_resuming_keeps_dumps_and_counts_them(failing, tmp_path):
    out = tmp_path / "out"
    with closing(dynamics.record_history(parse_case(CASE, "case.toml"), out)) as steps:
        for _ in steps:
            if failed_problems(out):
                break
    first = failed_problems(out)[0]
    first.write_bytes(first.read_bytes() + b"kept")
    for _ in dynamics.resume_history(out):
        pass
    assert [path.name for path in read_run(out).failed] == [path.name for path in failing.failed]
    assert first.read_bytes().endswith(b"kept")


def test_parts_of_a_step(failing):
    """A step in parts is told by its worst part: that one is dumped, not the whole step, which was thrown away."""
    first = read_problem(failing.failed[0])
    solve = make_solver("native", 1e-19)
    witness = dynamics._FailureRecorder(lambda: solve)
    shifts = (0.0, 1.0, 3.0, 2.0)
    problems = [first.problem._replace(bias=first.problem.bias + shift * first.problem.speed) for shift in shifts]
    answers = [witness(problem, first.guess) for problem in problems]
    worst = max(range(1, 4), key=lambda i: answers[i].residual.error)
    assert witness.take_failure(answers[worst]).problem is problems[worst]
    assert witness.take_failure(answers[worst]) is None, "forgotten"


def test_a_full_disk_is_said_once_and_survived(monkeypatch, capsys, tmp_path):
    def full(*arguments, **named):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(problem_file.np, "savez", full)
    run = dynamics.run(parse_case(CASE, "case.toml"), tmp_path / "out")
    said = capsys.readouterr().err
    assert said.count("No space left on device") == 1
    assert run.finished
    assert os.listdir(tmp_path / "out/failed") == []

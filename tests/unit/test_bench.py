"""The figures of the benchmark mean what they say: fake solvers with known errors, canned rows with known ratios."""

import gc
import json
import sys
import time
from itertools import product

import numpy as np
import pytest

from bench import histories, history_report, published, report, run
from bench.measure import TOLERANCES, Effort, compete, race, rows_of
from bench.scenes import PHASES, SCENES, SIZES, Case, arch, make_model, phases, surface_of
from drystone import build
from drystone.model import build_model
from drystone.solvers.native import native
from drystone.solvers.solution import Solution

SMALL = Effort(limit=60.0, budget=60.0, steps=2)


@pytest.fixture(autouse=True)
def nothing_old_to_collect():
    """Garbage is collected before every measurement, which takes long in a process that has run many tests."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(scope="module")
def wall():
    return build_model(build.wall(courses=3, blocks=2, length=1.0, height=0.75, thickness=0.1), friction=0.6)


@pytest.fixture(scope="module")
def cases(wall):
    """Of the starting phase of a small wall, led by the step before."""
    return dict(phases(wall, (0, 1, 0), surface_of("compliant", "associated"), 2))["starting"]


def off_by(error: float):
    """A solver whose mass-weighted rms error is known: the exact answer and a uniform velocity of error g h."""

    def solve(problem, guess) -> Solution:
        exact = native(1e-10)(problem, guess)
        wrong = exact.velocity.copy()
        wrong[:, 0] += error * problem.speed * np.sqrt(problem.mass)
        return exact._replace(velocity=wrong, factorisations=7, path="fake")

    return solve


@pytest.mark.parametrize("scene", SCENES)
def test_scenes_have_about_the_size_they_are_named_by(scene):
    assert list(SCENES[scene].counts) == list(SIZES)
    assert 190 <= (~make_model(scene, 200).bodies.fixed).sum() <= 210


def test_barrel_is_the_arch_cut_into_stones():
    whole = build_model(build.arch(blocks=9, radius=2.0, thickness=0.3, depth=4.0), friction=0.6)
    barrel = build_model(arch(9, 4), friction=0.6)
    free, stones = ~whole.bodies.fixed, ~barrel.bodies.fixed
    assert barrel.bodies.mass[stones].sum() == pytest.approx(whole.bodies.mass[free].sum(), rel=1e-12)
    assert stones.sum() == 9 * 4 + 9 // 2


def test_rows_of_a_small_wall(wall):
    """Every phase is met in order; both forms of the same program agree to the error that is asked for."""
    methods = ["native", "clarabel-kinematic", "clarabel-static"]
    rows = list(rows_of("wall", 200, "rigid", "associated", methods, PHASES, SMALL, wall))
    assert [(row["phase"], row["method"]) for row in rows] == list(product(PHASES, methods))
    for row in rows:
        assert row["reached"]
        assert row["error"] <= row["target"]
        assert row["steps"] == 2
        assert row["ms"] > 0
    assert rows[0]["speed"] <= 1e-6 < rows[3]["speed"], "it stands, then it moves"
    json.dumps(rows)


def test_a_wrong_answer_is_reported_with_its_error(cases):
    ours, fake = compete(cases, "compliant", {"fake": lambda tolerance: off_by(3e-3)}, SMALL)
    assert ours["method"] == "native"
    assert ours["error"] < 1e-6 == ours["target"]
    assert fake["error"] == pytest.approx(3e-3, rel=1e-3)
    assert (fake["reached"], fake["stopped"], fake["iterations"], fake["native_ms"]) == (False, False, 7, ours["ms"])
    assert "(reached 3.0e-03)" in report.cell(fake)
    assert report.ratio(fake).startswith("("), "not a comparison of equals"


def test_a_slow_method_is_stopped_and_says_what_it_reached(cases):
    def slow(problem, guess):
        time.sleep(0.06)
        return off_by(2e-2)(problem, guess)

    *_, row = compete(cases, "compliant", {"slow": lambda tolerance: slow}, SMALL._replace(limit=0.05))
    assert (row["stopped"], row["reached"], row["steps"]) == (True, False, 1)
    assert report.cell(row) == ">0.05 s (reached 2.0e-02)"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can start the peak again")
def test_memory_is_what_the_method_takes_itself(cases):
    def greedy(problem, guess):
        np.ones(2**23).sum()  # 64 MiB
        return off_by(0.0)(problem, guess)

    ours, row = compete(cases, "compliant", {"greedy": lambda tolerance: greedy}, SMALL)
    assert row["memory_MiB"] >= 60
    assert ours["memory_MiB"] < 60


def known(cases: list[Case]) -> list[Solution]:
    return [native(1e-10)(case.problem, case.guess) for case in cases]


def test_the_loosest_tolerance_that_is_good_enough_is_taken(cases):
    """A method with ten times the error of its tolerance needs 1e-7 for an error of 1.1e-6."""
    row = race(lambda tolerance: off_by(10 * tolerance), TOLERANCES, cases[1:], known(cases[1:]), 1.1e-6, SMALL)
    assert row["tolerance"] == pytest.approx(1e-7)
    assert row["reached"]


def test_a_method_that_breaks_down_when_tight_is_shown_at_its_best(cases):
    row = race(lambda tolerance: off_by(max(1e-4, 1e-9 / tolerance)), TOLERANCES, cases[1:], known(cases[1:]), 1e-6, SMALL)
    assert row["error"] == pytest.approx(1e-4, rel=1e-3)
    assert not row["reached"]


def test_a_line_of_the_published_table():
    (row,) = published.rows_of(["Housner block"], 3)
    assert (row["blocks"], row["steps"], row["converged"]) == (1, 2, 1.0)
    assert all(seconds >= 0 for seconds in row["seconds"])


def test_histories_of_a_small_wall(wall):
    """Small steps stand still; shaken, both engines that come with drystone move alike."""
    methods = (*histories.SMALL, histories.CONE)
    still = list(histories.rows_of(histories.Place("wall", 1000, "standing", 0.11, methods[:1]), wall))
    assert still[0]["drift"] < 1e-9
    rows = list(histories.rows_of(histories.Place("wall", 1000, "shaken", 0.02, methods), wall))
    assert [row["method"] for row in rows] == list(methods)
    for row in rows:
        assert len(row["ms"]) == len(row["moved"]) == 4
        assert row["moved"][-1] == pytest.approx(rows[0]["moved"][-1], rel=0.1)
        assert row["moved"][-1] > 1e-4
    assert "cone program a step costs" in history_report.sentence(still + rows)


def history(size: int, method: str, ms: list[float], **changes) -> dict:
    return {"kind": "history", "scene": "wall", "size": size, "blocks": size, "phase": "shaken", "method": method, "start": 1.0,
            "ms": ms, "moved": [2e-3 for _ in ms], "drift": 0.0, "lost": False, "version": "9"} | changes  # fmt: skip


def test_histories_are_compared_over_the_time_that_both_were_followed():
    rows = [
        history(20000, histories.OURS, [200.0, 200.0]),
        history(1000, histories.OURS, [10.0, 10.0, 40.0]),
        history(1000, histories.RAPIER, [20.0, 20.0, 20.0]),
        history(1000, histories.CONE, [300.0]),
        history(1000, histories.OURS, [10.0], phase="standing", drift=1e-12),
        history(1000, histories.RAPIER, [20.0], phase="standing", drift=3e-4),
    ]
    said = history_report.sentence(rows)
    for fact in ("tanding, small steps of 30 GPa stone cost 0.5 times", "shaken, small steps of 30 GPa stone cost 1 times",
                 "drifted by <0.001 µm, Rapier's by up to 300 µm", "costs 30 times as much", "power 1.00"):  # fmt: skip
        assert fact in said
    machine = {"processor": "P", "cores": 2, "system": "S", "versions": {"numpy": "2"}}
    session = {"machine": machine, "revision": "abc", "date": "2026-11-20", "load": [1.0, 2.0], "rows": rows}
    assert "| wall | 1,000 | shaken | 0.015 s | **20.0** | 20.0 | **1** | 2.0 mm / 2.0 mm |" in history_report.short(session)
    assert "300, 30 times; 2.0 mm / 2.0 mm after 0.005 s" in history_report.page(session)
    assert "Rapier 9." in history_report.page(session)


def test_a_lost_structure_is_told_and_not_compared():
    thrown = iter([lambda: np.zeros((1, 3)), lambda: np.full((1, 3), np.nan)])
    row = histories.in_turns({"x": thrown}, {"x": np.zeros((1, 3))}, 9)["x"]
    assert (len(row["ms"]), row["lost"]) == (2, True)
    rows = [history(1000, histories.OURS, [9.0], lost=True), history(1000, histories.RAPIER, [20.0])]
    assert history_report.sentence(rows) == "Small steps lost the wall of 1,000 blocks."
    assert history_report.body(history_report.groups_of(rows)[0])[4:7] == ["lost within 0.005 s", "20.0", "–"]


def canned(size: int, method: str, ms: float, **changes) -> dict:
    """A row as `rows_of` makes it."""
    row = {"kind": "solver", "scene": "wall", "size": size, "blocks": size, "form": "rigid", "law": "associated",
           "phase": "impacting", "method": method, "tolerance": 1e-6, "steps": 2, "ms": ms, "longest_ms": ms, "iterations": 3.0,
           "error": 5e-7, "target": 1e-6, "reached": True, "stopped": False, "limit": 60.0, "converged": 1.0, "paths": ["x"],
           "memory_MiB": 8.0, "contacts": 9, "contact_ms": 1.0, "speed": 1.0, "reference": 1e-8}  # fmt: skip
    return row | ({} if method == "native" else {"native_ms": 2.0}) | changes


ROWS = [
    canned(1000, "native", 2.0),
    canned(1000, "clarabel-kinematic", 60.0),
    canned(1000, "clarabel-static", 30.0, error=2e-5, reached=False),
    canned(20000, "native", 2.0 * 20**1.5),
    canned(20000, "clarabel-kinematic", 6e4, native_ms=2.0 * 20**1.5, error=3e-3, reached=False, stopped=True),
    canned(1000, "native", 1.0, form="compliant", converged=0.5),
]


def test_report_compares_with_the_faster_clarabel_that_got_there():
    group, alone, large = report.groups_of(ROWS)
    assert report.faster_clarabel(group)["method"] == "clarabel-kinematic"
    assert report.ratio(group["clarabel-kinematic"]) == "30"
    assert report.ratio(group["clarabel-static"]) == "(15)"
    assert report.cell(large["clarabel-kinematic"]) == ">60 s (reached 3.0e-03)"
    assert report.ratio(large["clarabel-kinematic"]) == "(>335)"  # 60 s / 2 ms / 20^1.5
    assert report.faster_clarabel(alone) is None


def test_report_finds_the_power_of_the_growth():
    (entry,) = report.scaling(ROWS)
    assert entry["fit"] == pytest.approx(1.5)
    assert entry["pair"] == pytest.approx(1.5)


def test_report_concludes_from_the_numbers():
    said = report.conclusion(ROWS)
    moving = "30 times as long in moving steps (geometric mean 30 of 1)"
    for fact in (moving, "never slower", "in 1 of 2 neither", "power 1.50", "5 of 6 native steps"):
        assert fact in said
    slow = [canned(1000, "native", 2.0), canned(1000, "clarabel-static", 1.0)]
    assert "0.5 times as long" in report.conclusion(slow)
    assert "the slower one in 1 of them" in report.conclusion(slow)


def test_report_fills_the_marks_of_a_page(tmp_path):
    line = {"kind": "published", "line": "Stone house", "published_blocks": 191, "time_step": 1e-3, "ours": "hollow tower",
            "published": [2e-3, 6e-2, 0.4], "blocks": 192, "steps": 9, "seconds": [0, 0, 0.02], "converged": 1}  # fmt: skip
    machine = {"processor": "P", "cores": 2, "system": "S", "versions": {"numpy": "2"}}
    session = {"machine": machine, "revision": "abc", "date": "2026-11-20", "load": [1.0, 2.0], "rows": [*ROWS, line]}
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- bench -->\nold\n<!-- /bench -->\nafter\n")
    report.put(page, report.page(session))
    text = page.read_text()
    assert text.startswith("before\n<!-- bench -->\n**")
    assert text.endswith("\n<!-- /bench -->\nafter\n")
    assert "| 0.4 / 0.02 s | 20 | 100% |" in text
    assert "| **2 ms** | 3.0 | 5e-07 | 100% | 1 ms | 60 ms | 30 ms (reached 2.0e-05) | 30 | **30** |" in text
    assert "wall, 1,000 blocks" in report.short(session)
    page.write_text("no marks")
    with pytest.raises(ValueError, match="no <!-- bench -->"):
        report.put(page, "text")


def test_picture_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    from bench.picture import draw

    draw(report.groups_of(ROWS), tmp_path / "p.png")
    assert (tmp_path / "p.png").read_bytes()[:4] == b"\x89PNG"


def test_results_are_merged_by_machine_and_revision(tmp_path):
    out, here = tmp_path / "results.json", {"processor": "P"}
    run.merge(out, ROWS[0], here, "abc")
    run.merge(out, ROWS[1], here, "abc")
    run.merge(out, ROWS[0] | {"ms": 9.0}, {"processor": "Q"}, "abc")
    run.merge(out, ROWS[0] | {"ms": 5.0}, here, "abc")
    other, last = json.loads(out.read_text())
    assert [row["ms"] for row in other["rows"]] == [9.0]
    assert [row["ms"] for row in last["rows"]] == [60.0, 5.0]


def test_command_line_chooses_what_is_run():
    def places(*arguments):
        jobs = run.jobs_of(run.options_of(["--part", "solver", *arguments]))
        return {(job["scene"], job["size"], job["form"], *job["wanted"]) for job in jobs}

    assert places("--scene", "dome", "--size", "5000", "--phase", "standing", "--form", "rigid") == {
        ("dome", 5000, "rigid", "standing")
    }
    assert len(places("--full")) == len(SCENES) * len(SIZES) * 2
    assert ("wall", 1000, "rigid", "impacting") in places()
    (job,) = run.jobs_of(run.options_of(["--scene", "dome", "--size", "200", "--form", "rigid", "--part", "solver",
                                         "--law", "coulomb"]))  # fmt: skip
    assert job["rows"] == 6, "three phases, by the two methods that know the exact law themselves"

"""The figures of the benchmark mean what they say: fake solvers with known errors, canned rows with known ratios."""

import gc
import json
import sys
import time
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError
from itertools import islice, product

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from bench import engine, histories, history_report, peers, published, report, run
from bench.measure import TOLERANCES, Effort, compete, race, rows_of
from bench.peers import PEERS, rapier
from bench.peers.peer import frictions
from bench.places import Place, sine
from bench.scenes import PHASES, SCENES, SIZES, Case, arch, make_model, phases, surface_of
from drystone import build
from drystone.engine.solvers.native import native
from drystone.engine.solvers.solution import Solution
from drystone.structure.model import build_model

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
    assert list(SCENES[scene].counts)[: len(SIZES)] == list(SIZES)
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


@pytest.mark.parametrize("method", [engine.OURS, engine.FINER, engine.CONE])
def test_an_engine_takes_turns(wall, method):
    """Both engines that come with drystone move a shaken wall alike; small steps tell their phases and joints."""
    place = Place("wall", 1000, "shaken", 0.02)
    start, *found = islice(engine.answers(place, method, 60.0, wall), 5)
    assert (start["blocks"], start["start"] > 0) == (7, True)
    assert [turn["until"] for turn in found] == pytest.approx([0.005, 0.01, 0.015, 0.02])
    assert all(turn["cpu"] > 0 and turn["wall"] > 0 and turn["peak_MiB"] >= turn["memory_MiB"] >= 0 for turn in found)
    assert found[-1]["moved"] == pytest.approx(moved_by_ours(wall), rel=0.1)
    assert found[-1]["moved"] > 1e-4
    assert found[-1]["drift"] is None, "it may still find its rest"
    assert (found[-1]["joints"] > 0) == (method != engine.CONE)
    assert sum(found[-1]["phases"]) > 0


def moved_by_ours(wall) -> float:
    *_, last = islice(engine.answers(Place("wall", 1000, "shaken", 0.02), engine.OURS, 60.0, wall), 5)
    return last["moved"]


def test_small_steps_stand_still(wall):
    *_, last = islice(engine.answers(Place("wall", 1000, "standing", 0.12), engine.OURS, 60.0, wall), 25)
    assert last["until"] == pytest.approx(0.12)
    assert last["drift"] < 1e-9


# Others than Rapier bring libraries for matrices of their own into the process, which tests of ours (test_blas.py) would find.
TRIED_PEERS = [pytest.param(peer, id=peer.name, marks=() if peer.name == "Rapier" else pytest.mark.soak) for peer in PEERS]


@pytest.mark.parametrize("peer", TRIED_PEERS)
def test_peers_move_a_shaken_wall_as_small_steps_do(wall, peer):
    """At the best setting, after 20 ms, in which a wall of three courses moves by some 2 mm with the ground."""
    if not peer.installed():
        pytest.skip(f"{peer.package} is not installed")
    setting = peer.settings["best"]
    *_, where = islice(peer.steps(wall, sine((0, 1, 0)), setting), round(0.02 / setting.time_step))
    assert engine.farthest(where() - wall.position) == pytest.approx(moved_by_ours(wall), rel=0.1)
    assert np.abs(where() - wall.position)[wall.bodies.fixed].max() < 1e-12, "positions are told from the ground"


@pytest.mark.parametrize("peer", TRIED_PEERS)
def test_peers_take_stones_that_are_no_boxes(peer):
    """An arch of wedges stands."""
    if not peer.installed():
        pytest.skip(f"{peer.package} is not installed")
    arch = build_model(build.arch(blocks=7, radius=2.0, thickness=0.5, depth=0.5), friction=0.7)
    setting = peer.settings["best"]
    *_, where = islice(peer.steps(arch, (), setting), round(0.05 / setting.time_step))
    assert engine.farthest(where() - arch.position) < 1e-3


def test_hulls_are_smaller_by_what_they_are_rounded_by():
    """A cube of 1 m: every corner goes inwards by 1 mm along each axis."""
    corners = np.array(list(product((-0.5, 0.5), repeat=3)))
    found = rapier.smaller(ConvexHull(corners))
    assert np.abs(found) == pytest.approx(np.full((8, 3), 0.499), abs=1e-12)


def test_peers_know_friction_as_the_larger_of_two_blocks():
    blocks = build.wall(courses=2, blocks=2)
    model = build_model(blocks, friction=0.6, support_friction=0.9)
    assert {(fixed, friction) for fixed, friction in zip(model.bodies.fixed, frictions(model), strict=True)} == {
        (True, 0.9), (False, 0.6)}  # fmt: skip
    with pytest.raises(ValueError, match="not the larger"):
        frictions(build_model(blocks, friction=0.6, support_friction=0.3))


def going(step: float, time_step: float = 1e-3) -> engine.Engine:
    """An engine whose one block moves by `step` [m] in every time step, for 9 of them."""
    places = (np.full((1, 3), [0.0, 0.0, step * k]) for k in range(1, 10))
    return engine.Engine((engine.Moment(lambda at=at: at, (1.0, 2.0, 1.0), 5) for at in places), time_step, np.zeros((1, 3)))


def test_turns_are_of_five_milliseconds_or_one_step():
    first, second = islice(engine.turns(going(0.1), 60.0), 2)
    assert (first["until"], second["until"]) == pytest.approx((0.005, 0.009))
    assert first["phases"] == [5.0, 10.0, 5.0]
    assert (first["moved"], second["moved"]) == pytest.approx((0.5, 0.9))
    assert next(engine.turns(going(0.1, 0.02), 60.0))["until"] == 0.02


def test_drift_counts_from_rest():
    """Six steps of 20 ms: those that end by 0.1 s are rest."""
    found = [turn["drift"] for turn in islice(engine.turns(going(0.1, 0.02), 60.0), 7)]
    assert found == [None] * 5 + [pytest.approx(0.1), pytest.approx(0.2)]


def test_an_engine_ends_after_the_step_that_uses_up_its_budget():
    (only,) = engine.turns(going(0.1), 1e-9)
    assert only["until"] == 1e-3
    assert list(engine.turns(going(0.1), 60.0))[-1] == {"ended": "its numbers ran away"}, "it stopped by itself"


def fake(rows: dict[str, list[dict]]):
    """Engines that answer from lists."""

    @contextmanager
    def start(place, method, seconds):
        answers = iter(rows[method])
        yield lambda: next(answers, {"ended": "budget"})

    return start


def turn(until: float, cpu: float, moved: float = 1e-3, **changes) -> dict:
    return {"until": until, "cpu": cpu, "wall": cpu, "phases": [1.0, 2.0, 1.0], "joints": 10, "moved": moved, "drift": None,
            "memory_MiB": 4.0, "peak_MiB": 90.0} | changes  # fmt: skip


READY = {"blocks": 7, "start": 0.5, "memory_MiB": 1.0}


def test_engines_take_turns_until_the_end_of_the_motion_or_their_own(monkeypatch):
    methods = [engine.OURS, "Rapier, best", "Rapier, defaults", "MuJoCo, best", "LMGC90, best"]
    monkeypatch.setattr(histories, "available", lambda method: True)
    answers = {
        methods[0]: [READY, turn(0.005, 0.1), turn(0.01, 0.1)],
        methods[1]: [READY, turn(0.005, 0.1)],
        methods[2]: [READY, turn(1 / 60, 0.1)],
        methods[3]: [READY, turn(0.005, 0.1), turn(0.01, 0.1, np.inf)],
        methods[4]: [{"ended": "signal 11"}],
    }
    rows = {row["method"]: row for row in histories.rows_of(Place("wall", 1000, "shaken", 0.01), 9.0, methods, fake(answers))}
    assert [rows[method]["ended"] for method in methods] == ["span", "budget", "span", "lost", "signal 11"]
    assert rows[engine.OURS]["cpu"] == [0.1, 0.1]
    assert rows[engine.OURS]["phases"] == [2.0, 4.0, 2.0]
    json.dumps(list(rows.values()))
    assert [history_report.line(rows[method]) for method in methods[3:]] == ["lost within 0.01 s", "signal 11"]


def test_a_process_of_its_own_takes_turns_and_ends_by_its_budget(monkeypatch):
    """The worker itself, on an example; a step is not cut short, so that it comes as far as one turn at least."""
    place = Place("house", 191, "shaken", 0.01)
    (row,) = histories.rows_of(place, 1e-3, [engine.OURS])
    assert (row["blocks"], row["until"], row["ended"]) == (191, [0.005], "budget")
    assert histories.why(-9) == "signal 9"
    assert histories.why(1) == "error 1"


def history(size: int, method: str, ms: list[float], **changes) -> dict:
    """A row of turns of 5 ms, at so many ms a ms."""
    known = histories.new_row(Place("wall", size, "shaken", 1.0), method, 600.0)
    ends = [0.005 * (k + 1) for k in range(len(ms))]
    found = {"until": ends, "cpu": [0.005 * each for each in ms], "wall": [0.01 * each for each in ms], "version": "9",
             "moved": [2e-3 for _ in ms], "start": 1.0, "memory_MiB": 4.0, "peak_MiB": 90.0, "joints": 1000,
             "phases": [1.0, 8.0, 1.0], "ended": "span"}  # fmt: skip
    return known | found | changes


RAPIER, MUJOCO, LMGC90 = (f"{name}, best" for name in ("Rapier", "MuJoCo", "LMGC90"))
HISTORIES = [
    history(20000, engine.OURS, [999.0, 400.0, 400.0]),
    history(5000, engine.OURS, [999.0, 40.0, 40.0]),
    history(1000, engine.OURS, [999.0, 10.0, 10.0, 40.0]),
    history(1000, engine.TWO_THREADS, [999.0, 5.0, 5.0, 20.0]),
    history(1000, RAPIER, [1.0, 20.0, 20.0, 20.0]),
    history(1000, LMGC90, [9000.0, 1000.0], ended="budget"),
    history(1000, MUJOCO, [], ended="budget"),
    history(1000, engine.CONE, [7.0, 300.0]),
    history(1000, engine.OURS, [9.0, 10.0], phase="standing", drift=1e-12),
    history(1000, RAPIER, [9.0, 20.0], phase="standing", drift=3e-4),
]


def test_histories_are_compared_over_the_time_that_both_were_followed_without_the_first_turn():
    said = history_report.sentence(HISTORIES)
    for fact in ("tanding, small steps of 30 GPa stone cost 0.5 times what Rapier does at its best setting",
                 "shaken, small steps of 30 GPa stone cost 1 times what Rapier does and 0.01 times what LMGC90 does",
                 "drifted by <0.001 µm, Rapier's by up to 300 µm", "costs 30 times as much",
                 "two threads take 0.50 times as long on the wall", "a joint took 4.2 kB"):  # fmt: skip
        assert fact in said
    session = {"machine": {"processor": "P", "cores": 2, "system": "S", "versions": {"numpy": "2"}}, "revision": "abc",
               "date": "2026-11-20", "load": [1.0, 2.0], "rows": HISTORIES}  # fmt: skip
    page = history_report.page(session)
    row = "| wall | 1,000 | shaken | **20.0** | 20.0 on the wall (one thread: 40.0) | 20.0 (1×) | no step within 600 s |"
    assert f"{row} 1000.0 (100×), 0.01 s | 300.0 (30×) |" in page
    assert "2.0 mm (ours 2.0 mm) by 0.01 s" in page
    assert "| wall | 1,000 | shaken | 1,000 | 1.0 s | 10% | 80% | 10% | 4 of 90 MiB | 4.2 kB |" in page
    assert "| Rapier | 9 | Apache 2.0 |" in page
    assert "LMGC90, best: cost" in history_report.short(session)


def test_growth_is_the_slope_of_all_walls():
    """10, 40 and 400 ms a ms over 10 ms at 1,000, 5,000 and 20,000 blocks: by the normal equations."""
    x, y = np.log([1000, 5000, 20000]), np.log([10.0, 40.0, 400.0])
    slope = ((x - x.mean()) @ (y - y.mean())) / ((x - x.mean()) @ (x - x.mean()))
    ((blocks, found),) = history_report.growth(history_report.groups_of(HISTORIES), engine.OURS)
    assert (blocks, found) == ([1000, 5000, 20000], pytest.approx(slope))
    assert history_report.growth(history_report.groups_of(HISTORIES), RAPIER) == []


def test_a_lost_structure_is_told_and_not_compared():
    rows = [history(1000, engine.OURS, [9.0], ended="lost"), history(1000, RAPIER, [20.0])]
    assert history_report.sentence(rows) == "Small steps lost the wall of 1,000 blocks."
    group = history_report.groups_of(rows)[0]
    assert [history_report.cost_cell(group, method) for method in (engine.OURS, RAPIER)] == ["lost within 0.005 s", "20.0"]
    assert history_report.moved_cell(group, engine.OURS) == "–"


def test_what_is_not_there_is_said(monkeypatch):
    assert {peer.name for peer in PEERS} == {"Rapier", "MuJoCo", "LMGC90"}
    monkeypatch.setattr(peers.peer, "version", gone)
    assert [words.split(" is ")[0] for words in histories.missing()] == ["Rapier", "MuJoCo", "LMGC90"]
    assert histories.methods_of(histories.PLACES[1]) == [engine.OURS, engine.TWO_THREADS, engine.FINER, engine.CONE]


def gone(package: str) -> str:
    raise PackageNotFoundError(package)


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
    jobs = run.jobs_of(run.options_of(["--part", "histories", "--scene", "house", "wall", "--phase", "shaken",
                                       "--engine", engine.FINER, "--seconds", "7"]))  # fmt: skip
    assert [job["place"][:2] for job in jobs] == [("wall", 1000), ("house", 191), *(("wall", n) for n in (5000, 20000, 50000))]
    assert [job["methods"] for job in jobs] == 2 * [[engine.OURS, engine.FINER]] + 3 * [[engine.OURS]]
    assert {job["seconds"] for job in jobs} == {7.0}
    (job,) = run.jobs_of(run.options_of(["--scene", "dome", "--size", "200", "--form", "rigid", "--part", "solver",
                                         "--law", "coulomb"]))  # fmt: skip
    assert job["rows"] == 6, "three phases, by the two methods that know Coulomb's law themselves"

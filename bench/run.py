"""Benchmark of the contact solvers on the same steps, in the same run: `make bench` writes bench/results.json.

Each scene is brought into its phase by the native solver; the problems of some steps are kept with their warm starts and
solved again by every method. Times are the median over those steps, one thread each. `error` is the mass-weighted rms
difference of velocities, relative to g h, to a reference solved far tighter (rigid: the native interior point at 1e-7
where it gets there; compliant: Newton at 1e-9). Clarabel's tolerance is the loosest of a list whose error is no larger
than the native one's, or the tightest of the list. Ratios are what to read: machines differ.
"""

import argparse
import json
import resource
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from drystone import build
from drystone.joints import Surface
from drystone.model import Model, build_model
from drystone.motion import Motion
from drystone.problem import Problem
from drystone.simulate import simulate
from drystone.solvers import clarabel
from drystone.solvers.native import native
from drystone.solvers.solution import Guess, Solution

Case = tuple[Problem, Guess]
STONE = 30e9  # [Pa]


def one_sine(amplitude: float, direction: tuple[float, float, float]) -> list[Motion]:
    """One-sine of so many g with a half-period of 0.2 s."""
    return [Motion("one-sine", amplitude=amplitude * 9.81, half_period=0.2, direction=direction)]


def wall(courses: int, blocks: int) -> Model:
    """Running-bond wall with friction 0.6."""
    return build_model(build.wall(courses=courses, blocks=blocks), friction=0.6)


def scenes() -> dict[str, tuple[Callable[[], Model], list[Motion], dict[str, range]]]:
    """Name: model, motion, and the steps (of 1 ms) that make a phase."""
    tower = lambda: build_model(build.tower(), friction=0.6)  # noqa: E731
    dome = lambda: build_model(build.dome(), friction=0.6)  # noqa: E731
    out_of_plane, along = one_sine(0.5, (0, 1, 0)), one_sine(0.5, (1, 0, 0))
    moving = {"moving": range(90, 100, 2)}
    return {
        "wall-1000-still": (lambda: wall(20, 50), [], {"standing": range(150, 153)}),
        "wall-200": (lambda: wall(10, 20), out_of_plane, moving),
        "wall-1000": (lambda: wall(20, 50), out_of_plane, moving),
        "dome-288": (dome, along, {"moving": range(100, 110, 2)}),
        "tower-1000": (tower, along, {"rocking": range(100, 110, 2)}),
    }


def collect(model: Model, motions: list[Motion], steps: list[int], young: float | None) -> dict[int, Case]:
    """The problems and guesses of the named steps of a native run."""
    kept: dict[int, Case] = {}
    solver, index = native(1e-6), 0

    def keep(problem: Problem, guess: Guess) -> Solution:
        nonlocal index
        if index in steps:
            kept[index] = (problem, guess)
        index += 1
        return solver(problem, guess)

    for _ in simulate(model, motions, duration=(max(steps) + 1) * 1e-3, time_step=1e-3, solver=keep, surface=Surface(young)):
        pass
    return kept


def error_of(problem: Problem, solution: Solution, reference: Solution) -> float:
    """Mass-weighted rms velocity difference, relative to g h."""
    return float(np.linalg.norm(solution.velocity - reference.velocity) / (problem.speed * np.sqrt(problem.total_mass)))


def run(make: Callable[[], Callable], cases: list[Case], references: list[Solution]) -> dict:
    """Median time and factorisations, and the largest error, of a method over the cases."""
    times, counts, errors = [], [], []
    solver = make()
    solver(*cases[0])  # the plan of the contact graph is kept from step to step
    for (problem, guess), reference in zip(cases, references, strict=True):
        start = time.perf_counter()
        answer = solver(problem, guess)
        times.append(time.perf_counter() - start)
        counts.append(answer.factorisations)
        errors.append(error_of(problem, answer, reference))
    return {"ms_per_step": 1e3 * float(np.median(times)), "factorisations": float(np.mean(counts)), "error": max(errors)}


def compete(cases: list[Case], form: str) -> list[dict]:
    """Native against both forms of Clarabel on the same cases."""
    tight = 1e-8 if form == "rigid" else 1e-9
    references = [native(tight)(problem, guess._replace(hardship=99)) for problem, guess in cases]
    ours = run(lambda: native(1e-6, threads=1), cases, references)
    rows = [{"method": "native", **ours}]
    for name, factory in (("clarabel-kinematic", clarabel.kinematic), ("clarabel-static", clarabel.static)):
        few, known = (cases, references) if name == "clarabel-kinematic" else (cases[:1], references[:1])
        for tolerance in (1e-6, 1e-7, 1e-8, 1e-9):
            theirs = run(lambda tolerance=tolerance, factory=factory: factory(tolerance), few[:1], known[:1])
            if theirs["error"] <= max(ours["error"], 1e-8):
                break
        rows.append({"method": name, **run(lambda tolerance=tolerance, factory=factory: factory(tolerance), few, known),
                     "tolerance": tolerance})  # fmt: skip
    clarabel_time = rows[1]["ms_per_step"]
    return [{**row, "ratio_to_clarabel": clarabel_time / row["ms_per_step"]} for row in rows]


def bench(names: list[str]) -> list[dict]:
    """All rows of the named scenes."""
    rows = []
    for name in names:
        make, motions, phases = scenes()[name]
        model = make()
        for form, young in (("rigid", None), ("compliant", STONE)):
            steps = sorted(step for phase in phases.values() for step in phase)
            kept = collect(model, motions, steps, young)
            for phase, indices in phases.items():
                found = compete([kept[i] for i in indices], form)
                blocks = int((~model.bodies.fixed).sum())
                rows += [{"scene": name, "blocks": blocks, "phase": phase, "form": form, **row} for row in found]
                show(rows[-len(found):])
    return rows


def large(blocks: tuple[int, int] = (100, 200), steps: int = 20) -> list[dict]:
    """The 20,000-block wall under a one-sine of 0.3 g: mean time of a step, and the peak memory of this process."""
    model, rows = wall(*blocks), []
    for form, young in (("rigid", None), ("compliant", STONE)):
        seconds, counts, errors = [], [], []
        for step in simulate(model, one_sine(0.3, (0, 1, 0)), duration=steps * 1e-3, time_step=1e-3,
                             solver=native(1e-6), surface=Surface(young)):  # fmt: skip
            seconds.append(step.seconds)
            counts.append(step.solution.factorisations)
            errors.append(step.solution.residual.error)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        count = int((~model.bodies.fixed).sum())
        mean = 1e3 * np.mean(seconds, axis=0)
        rows.append({"scene": "wall-20000", "blocks": count, "phase": "starting", "form": form, "method": "native",
                     "ms_per_step": float(mean[1]), "factorisations": float(np.mean(counts)), "error": max(errors),
                     "ratio_to_clarabel": None, "contact_ms": float(mean[0]), "peak_memory_GiB": peak})  # fmt: skip
        show(rows[-1:])
    return rows


def show(rows: list[dict]) -> None:
    """The rows as a table."""
    table = Table("scene", "blocks", "phase", "form", "method", "ms a step", "factorisations", "error", "Clarabel / this")
    for row in rows:
        ratio = row["ratio_to_clarabel"]
        table.add_row(
            row["scene"], str(row["blocks"]), row["phase"], row["form"], row["method"], f"{row['ms_per_step']:.1f}",
            f"{row['factorisations']:.1f}", f"{row['error']:.1e}", "-" if ratio is None else f"{ratio:.1f}",
        )  # fmt: skip
    Console(width=140).print(table)


def main() -> None:
    """Command line of the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenes", nargs="*", default=list(scenes()), help="which scenes; all by default")
    parser.add_argument("--large", action="store_true", help="also the 20,000-block wall")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results.json")
    options = parser.parse_args()
    with threadpool_limits(1):
        rows = bench(options.scenes) + (large() if options.large else [])
    options.out.write_text(json.dumps(rows, indent=1) + "\n")
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()

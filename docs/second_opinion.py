"""The tables of docs/second-opinion.md: `python docs/second_opinion.py` prints them; names choose some: of structures, or
`stiffness`, `multipliers`.

A history by small steps is recorded, then followed to its end by cone programs, and it is told when the two are first so far
apart, at which block, and how it ends by both. Multipliers are those of limit analysis and of slow histories.
"""

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from drystone.analysis import dynamics
from drystone.analysis import statics_run as statics
from drystone.analysis.second_opinion import second_opinion
from drystone.analysis.second_opinion.of_history import FrameComparison, compare_frames, other_case
from drystone.analysis.stages import Stages
from drystone.io.case import Case, parse_case
from drystone.results.store.run_reader import Run

AMOUNTS = (1e-3, 1e-2, 1e-1)  # [m]
EXAMPLES = Path(__file__).parents[1] / "examples"
DRUM_COLUMN = """
structure = { generator = "drum-column" }
joints = { friction = 0.7 }
motion = { pulse = "one-sine", amplitude = "0.3 g", half_period = "0.4 s", direction = [1, 0, 0] }
analysis = { duration = "3 s" }
output = { every = "10 ms" }
"""
MULTIPLIERS = [("block", 0.6, [1, 0, 0]), ("arch", 0.6, [1, 0, 0]), ("drum-column", 0.7, [1, 0, 0]), ("portal", 0.6, [1, 0, 0]),
               ("wall-over-gap", 0.6, [1, 0, 0]), ("house", 0.7, [0, -1, 0]), ("wall", 0.6, [0, 1, 0])]  # fmt: skip
FOLLOWERS: dict[str, dict[str, Any]] = {
    "Coulomb friction, 30 GPa": {"friction_law": "coulomb"},
    "associated friction, rigid": {"friction_law": "associated"},
}


def histories() -> Iterator[tuple[str, str, Case]]:
    """Yield the name, the motion and the case."""
    house, arch = ((EXAMPLES / f"{name}.toml").read_text() for name in ("stone-house", "spandrel-arch"))
    structures = [("house", house, "one sine of 0.4 s", ("0.4 g", "0.6 g", "0.8 g")),
                  ("drum-column", DRUM_COLUMN, "one sine of 0.8 s", ("0.15 g", "0.3 g")),
                  ("spandrel-arch", arch, "sine of 2 s", ("0.1 g", "0.36 g"))]  # fmt: skip
    for name, text, shaken, amplitudes in structures:
        for amplitude in amplitudes:
            yield name, f"{amplitude}, {shaken}", parse_case(text, f"{name}.toml", {"motion.amplitude": amplitude})


def follow(run: Run, other: Case, amounts: tuple[float, ...]) -> tuple[list[str], FrameComparison]:
    """Return when and where the two first differ by each amount, and the last comparison."""
    when: dict[float, str] = {}
    for beside in compare_frames(run, other):
        farthest = int(np.argmax(beside.distance))
        for amount in amounts:
            if beside.distance[farthest] > amount:
                when.setdefault(amount, f"{beside.time:.2f} s, {run.model.blocks[farthest].name}")
    return [when.get(amount, "–") for amount in amounts], beside


def histories_table(selected: list[str]) -> None:
    print("| structure | shaken by | followed by cone programs of 1 ms, | 1 mm apart | 10 mm apart | 100 mm apart "
          "| apart in the end [mm] | farthest block has moved in the end [mm]: small steps / cone programs "
          "| steps not converged | CPU [s] |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, shaken, case in histories():
        if selected and name not in selected:
            continue
        with TemporaryDirectory() as folder:
            run = dynamics.run(case, Path(folder) / "run")
            for follower, keys in FOLLOWERS.items():
                begin = time.process_time()
                when, last = follow(run, other_case(case, **keys), AMOUNTS)
                ends = [np.linalg.norm(end - run.position[0], axis=1).max() for end in (run.position[-1], last.position)]
                moved, apart = " / ".join(f"{1e3 * end:.3g}" for end in ends), f"{1e3 * last.distance.max():.3g}"
                took = f"{time.process_time() - begin:.0f}"
                print(f"| {name} | {shaken} | {follower} | {' | '.join([*when, apart, moved, str(last.unconverged), took])} |",
                      flush=True)  # fmt: skip


def stiffness_table() -> None:
    """Print the drum column with several moduli of stone: the stiffer the stone, the closer both are to rigid blocks."""
    print("| stone of small steps | followed by cone programs of | 1 mm apart | 3 mm apart | 10 mm apart |")
    print("|---|---|---|---|---|")
    for young in ("3 GPa", "30 GPa", "300 GPa", "3000 GPa"):
        case = parse_case(DRUM_COLUMN, "drum-column.toml", {"solver.young": young, "analysis.duration": "1 s"})
        with TemporaryDirectory() as folder:
            run = dynamics.run(case, Path(folder) / "run")
            for follower, keys in FOLLOWERS.items():
                for step in (1e-3, 2.5e-4):
                    other = other_case(case, time_step=step, **keys)
                    if keys["friction_law"] == "associated":
                        other = replace(other, solver=other.solver.model_copy(update={"young": None}))
                    when, _ = follow(run, other, (1e-3, 3e-3, 1e-2))
                    label = follower.replace("30 GPa", "the same stone")
                    print(f"| {young} | {1e3 * step:g} ms, {label} | {' | '.join(when)} |", flush=True)


def multipliers_table() -> None:
    """Print the multipliers by limit analysis and by slow histories."""
    print("| structure, friction, direction | limit analysis: safe | upper | slow history stands | falls "
          "| histories | CPU [s] |")  # fmt: skip
    print("|---|---|---|---|---|---|---|")
    for name, friction, direction in MULTIPLIERS:
        text = f"""
            structure = {{ generator = "{name}" }}
            joints = {{ friction = {friction} }}
            analysis = {{ kind = "limit", direction = {direction} }}
            """
        with TemporaryDirectory() as folder:
            begin = time.process_time()
            for _ in statics.record_statics(parse_case(text, f"{name}.toml"), Path(folder) / "run"):
                pass
            stages = second_opinion(Path(folder) / "run")
            found = result_of(stages)
            took = f"{time.process_time() - begin:.0f}"
            limit, slow = (found["ways"][way] for way in ("limit", "slow history"))
            values = [f"{way[which]:.4g}" if way[which] else "–" for way in (limit, slow) for which in ("safe", "upper")]
            cells = [f"{name}, {friction}, {direction}", *values, str(found["histories"]), took]
            print(f"| {' | '.join(cells)} |", flush=True)


def result_of(stages: Stages) -> dict[str, Any]:
    """Return the result of an analysis, without its stages."""
    while True:
        try:
            next(stages)
        except StopIteration as end:
            return dict(end.value)


def main() -> None:
    selected = sys.argv[1:]
    if not selected or not set(selected) <= {"stiffness", "multipliers"}:
        histories_table(selected)
    if not selected or "stiffness" in selected:
        stiffness_table()
    if not selected or "multipliers" in selected:
        multipliers_table()


if __name__ == "__main__":
    main()

"""The table of docs/limits.md about stones that only friction holds: `python docs/play.py` prints it.

A wall of five courses of running bond over a gap three bricks wide, friction 0.6, followed for half a second under its weight
by small steps: how many bricks have fallen by more than 10 mm, drawn flush and with play in the upright joints, the same for
all bricks or each its own (seeds 1 to 6).
"""

import numpy as np

from drystone.analysis.dynamics import case_solver, simulate_case, start_state
from drystone.io.case import parse_case

CASE = """
[structure]
generator = "wall-over-gap"
length = "4.5 m"
height = "1.25 m"
thickness = "0.25 m"
span = "1.5 m"
courses = 5
blocks = 9
[joints]
friction = 0.6
[analysis]
duration = "0.5 s"
"""
FALLEN = 0.01  # [m]


def fallen(**structure) -> tuple[int, float]:
    """Return the number of bricks that fall, and the largest fall [m]."""
    case = parse_case(CASE, overrides={f"structure.{key}": value for key, value in structure.items()})
    model = case.model()
    start = start_state(case, model)
    *_, last = simulate_case(case, model, start, case_solver(case))
    down = start.position[:, 2] - last.state.position[:, 2]
    return int((down > FALLEN).sum()), float(down.max())


def row(words: str, found: list[tuple[int, float]]) -> str:
    counts, far = zip(*found, strict=True)
    return f"| {words} | {', '.join(map(str, counts))} | {', '.join(f'{1e3 * d:.0f}' for d in far)} |"


def main() -> None:
    print("| joints | bricks that fall | farthest [mm] |\n|---|---|---|")
    print(row("flush", [fallen()]))
    for play in ("0.001 mm", "0.01 mm", "0.1 mm", "1 mm"):
        print(row(f"{play} of play", [fallen(play=play)]))
        print(row(f"{play} on average, six seeds", [fallen(play=play, play_seed=seed) for seed in range(1, 7)]))


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    main()

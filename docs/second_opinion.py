"""The table of docs/second-opinion.md: `python docs/second_opinion.py` prints it; names of structures choose some.

A history by small steps is recorded, then followed to its end by cone programs, and it is told when the two are first 1 mm, 10 mm
and 100 mm apart, at which block, and how it ends by both.
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from drystone import session
from drystone.cross.histories import followed, other_case
from drystone.io.case import Case, parse_case
from drystone.record import Run

AMOUNTS = (1e-3, 1e-2, 1e-1)  # [m]
EXAMPLES = Path(__file__).parents[1] / "examples"
DRUM_COLUMN = """
structure = { generator = "drum-column" }
joints = { friction = 0.7 }
motion = { pulse = "one-sine", amplitude = "0.3 g", half_period = "0.4 s", direction = [1, 0, 0] }
analysis = { duration = "3 s" }
output = { every = "10 ms" }
"""
FOLLOWERS: dict[str, dict[str, Any]] = {
    "exact friction, 30 GPa": {"friction_law": "coulomb"},
    "associated friction, rigid": {"friction_law": "associated"},
}


def histories() -> Iterator[tuple[str, str, Case]]:
    """Name, what shakes it, and the case."""
    house, arch = ((EXAMPLES / f"{name}.toml").read_text() for name in ("stone-house", "spandrel-arch"))
    for amplitude, drum_amplitude, arch_amplitude in (("0.4 g", "0.15 g", "0.1 g"), ("0.8 g", "0.3 g", "0.36 g")):
        told = {"motion.amplitude": amplitude}
        yield "house", f"{amplitude}, one sine of 0.4 s", parse_case(house, "house.toml", told)
        told = {"motion.amplitude": drum_amplitude}
        yield "drum-column", f"{drum_amplitude}, one sine of 0.8 s", parse_case(DRUM_COLUMN, "drum-column.toml", told)
        told = {"motion.amplitude": arch_amplitude}
        yield "spandrel-arch", f"{arch_amplitude}, sine of 2 s", parse_case(arch, "spandrel-arch.toml", told)


def follow(run: Run, other: Case) -> str:
    """The cells of one row: when and where they part, how far the farthest block is from its start in the end by both, lost
    steps, and what it took."""
    begin, blocks = time.process_time(), [block.name for block in run.model.blocks]
    when: dict[float, str] = {}
    for beside in followed(run, other):
        farthest = int(np.argmax(beside.distance))
        for amount in AMOUNTS:
            if beside.distance[farthest] > amount:
                when.setdefault(amount, f"{beside.time:.2f} s, {blocks[farthest]}")
    ends = [np.linalg.norm(position - run.position[0], axis=1) for position in (run.position[-1], beside.position)]
    moved = " / ".join(f"{1e3 * end.max():.3g}" for end in ends)
    largest = 1e3 * float(beside.distance.max())
    cells = [*(when.get(amount, "–") for amount in AMOUNTS), f"{largest:.3g}", moved, str(beside.unconverged)]
    return " | ".join([*cells, f"{time.process_time() - begin:.0f}"])


def main() -> None:
    print("| structure | shaken by | followed by cone programs of 1 ms, | 1 mm apart | 10 mm apart | 100 mm apart "
          "| apart in the end [mm] | farthest block has moved in the end [mm]: small steps / cone programs "
          "| steps not converged | CPU [s] |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, shaken, case in histories():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        with TemporaryDirectory() as folder:
            run = session.run(case, Path(folder) / "run")
            for follower, keys in FOLLOWERS.items():
                row = follow(run, other_case(case, **keys))
                print(f"| {name} | {shaken} | {follower} | {row} |", flush=True)


if __name__ == "__main__":
    main()

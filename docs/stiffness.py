"""The table of docs/modelling.md on the modulus of the stone: `python docs/stiffness.py` prints it, in some ten minutes.

A house, a tower and an arch under a pulse, for stone of 3 to 100 GPa: how far a stone moves at
most until an instant, under a pulse that all bear, and the least amplitude of the pulse, found by halving, at which they fall:
some stone is `far` away before the end.
"""

from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from drystone.analysis.dynamics import case_solver, simulate_case, start_state
from drystone.io.case import parse_case


class Shaken(NamedTuple):
    """A structure and its pulse, and what is asked of it."""

    words: str
    case: str
    amplitude: float  # [g] for which the displacement is told
    instant: float  # [s] until when
    far: float  # [m] a stone that has moved so far has fallen
    between: tuple[float, float]  # [g] it stands and falls
    halvings: int


HOUSE = """
structure = { generator = "house" }
joints = { friction = 0.7, support = { friction = 0.9 } }
motion = { pulse = "one-sine", amplitude = "0.8 g", half_period = "0.20 s", direction = [0, -1, 0] }
analysis = { duration = "1.8 s" }
"""
TOWER = """
structure = { generator = "tower", blocks_per_side = 3, courses = 16, length = 0.5, height = 0.25, thickness = 0.25 }
joints = { friction = 0.6 }
motion = { pulse = "one-sine", amplitude = "0.5 g", half_period = "0.2 s" }
analysis = { duration = "2 s" }
"""
ARCH = """
structure = { generator = "arch" }
joints = { friction = 2.0 }
motion = { pulse = "biphasic", amplitude = "0.8 g", duration = "0.30 s", direction = [-1, 0, 0] }
analysis = { duration = "3 s" }
"""
SHAKEN = (
    Shaken("house of 191 stones, one sine of 0.2 s a half", HOUSE, 0.6, 0.8, 0.7, (0.6, 1.0), 5),
    Shaken("tower of 192 stones, one sine of 0.2 s a half", TOWER, 0.3, 0.8, 0.7, (0.2, 1.2), 5),
    Shaken("arch of 7 stones, two rectangles of 0.3 and 0.6 s", ARCH, 0.8, 1.2, 3.0, (0.8, 1.8), 6),
)
MODULI = (3, 10, 30, 100)  # [GPa]


def displacements(shaken: Shaken, young: int, amplitude: float) -> Iterator[tuple[float, float]]:
    """Time [s], and how far the stone is that has moved most [m]."""
    case = parse_case(shaken.case, overrides={"solver.young": f"{young} GPa", "motion.amplitude": f"{amplitude} g"})
    model = case.model()
    start = start_state(case, model)
    for step in simulate_case(case, model, start, case_solver(case)):
        yield step.state.time, float(np.linalg.norm(step.state.position - start.position, axis=1).max())


def moved(shaken: Shaken, young: int) -> float:
    """[m] at most until the instant."""
    course = displacements(shaken, young, shaken.amplitude)
    return max(way for _, way in takewhile(lambda each: each[0] <= shaken.instant * (1 + 1e-9), course))


def falls(shaken: Shaken, young: int, amplitude: float) -> bool:
    return any(way > shaken.far for _, way in displacements(shaken, young, amplitude))


def falls_at(shaken: Shaken, young: int) -> str:
    """The bracket in which it begins to fall."""
    low, high = shaken.between
    if falls(shaken, young, low) or not falls(shaken, young, high):
        return "not between"
    for _ in range(shaken.halvings):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if falls(shaken, young, middle) else (middle, high)
    return f"{low:.4g} to {high:.4g} g"


def main() -> None:
    for shaken in SHAKEN:
        print(f"\n**{shaken.words}**\n", flush=True)
        print(f"| modulus | moves at most until {shaken.instant} s under {shaken.amplitude} g | falls at |", flush=True)
        print("| --- | --- | --- |", flush=True)
        for young in MODULI:
            print(f"| {young} GPa | {1e3 * moved(shaken, young):.1f} mm | {falls_at(shaken, young)} |", flush=True)


if __name__ == "__main__":
    main()

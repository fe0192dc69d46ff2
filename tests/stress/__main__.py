"""`python -m tests.stress 271` judges one assembly step by step; `python -m tests.stress 0 1000` gives the figures of many."""

import sys
import time
from collections import Counter

import numpy as np

from drystone.base.units import GRAVITY
from tests.stress.assemblies import assembly
from tests.stress.balance import Judged, energy_gain, judge, kinetic

MOVES = 3.0  # in units of g h: rms speed of the blocks above which an assembly counts as moving


def one(seed: int) -> None:
    print(assembly(seed))
    for judged in judge(assembly(seed)):
        shares = ", ".join(f"{what.split(' [')[0]} {value / bound:.2g}" for what, value, bound in judged.checks)
        path = judged.step.solve.solution.path
        print(f"step {judged.step.after.step}: {path}; of the bounds: {shares or 'not converged'}")
        print(*judged.faults, sep="\n", end="")


def many(seeds: range) -> None:
    """The largest share of every bound, the largest rise of the energy and overlap, and the steps that did not converge."""
    begin, worst, steps, failed, faults = time.process_time(), dict[str, tuple[float, int]](), Counter(), Counter(), 0
    for seed in seeds:
        made, history = assembly(seed), list(judge(assembly(seed)))
        surface = made.scheme["surface"]
        form = f"{'compliant' if surface.compliant else 'rigid'}, {'coulomb' if surface.coulomb else 'associated'}"
        steps[form] += len(history)
        failed[form] += sum(not judged.step.converged for judged in history)
        faults += sum(len(judged.faults) for judged in history)
        for what, value in figures(made.model(), made.scheme["theta"], history).items():
            worst[what] = max(worst.get(what, (0.0, seed)), (value, seed))
    for what, (value, seed) in worst.items():
        print(f"{what}: {value:.3g} (seed {seed})")
    for form in sorted(steps):
        print(f"{form}: {failed[form]} of {steps[form]} steps not converged")
    print(f"{len(seeds)} assemblies, {faults} faults, {time.process_time() - begin:.0f} s of one core")


def figures(model, theta: float, history: list[Judged]) -> dict[str, float]:
    found = dict[str, float]()
    for judged in history:
        for what, value, bound in judged.checks:
            name = what.split(" of ")[0].split(" [")[0]
            if name != "energy":
                found[f"{name}, of its bound"] = max(found.get(f"{name}, of its bound", 0.0), value / bound)
            if name == "overlap":
                found["overlap [m]"] = max(found.get("overlap [m]", 0.0), value)
    rise, largest = energy_rise(model, theta, history)
    mass, h = model.bodies.mass[~model.bodies.fixed].sum(), history[0].step.after.time
    if largest > 0.5 * mass * (MOVES * GRAVITY * h) ** 2:
        found["rise of the energy, of the largest kinetic energy"] = rise / largest
    return found


def energy_rise(model, theta: float, history: list[Judged]) -> tuple[float, float]:
    """[J] the farthest that the energy rose above an earlier value, and the largest kinetic energy."""
    energy, lowest, rise, largest = 0.0, 0.0, 0.0, 0.0
    for judged in history:
        energy += energy_gain(model, judged.step, theta)
        rise, lowest = max(rise, energy - lowest), min(lowest, energy)
        largest = max(largest, kinetic(model, judged.step.after))
    return rise, largest


if __name__ == "__main__":
    numbers = [int(number) for number in sys.argv[1:]]
    np.seterr(all="raise")
    one(numbers[0]) if len(numbers) == 1 else many(range(*numbers))

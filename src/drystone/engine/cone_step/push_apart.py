"""Overlaps led apart without velocity: what is left of them at the end of a step comes in, displacements of the blocks go
out (T463).

The least displacement, weighted by mass, that parts the contacts again and presses no others into each other:

    min |dx|^2 / 2   with   (row of the normal) dx >= wanted   at every contact

by sweeps over the contacts of blocks that have moved. What a few sweeps leave is led apart in the steps that follow. A velocity
gap / h would do the same in one step and stay as a velocity: the finer the step, the faster blocks were thrown apart.
"""

from typing import NamedTuple

import numpy as np

from drystone.base.kernel import inner
from drystone.engine.solvers.problem import Problem

Array = np.ndarray

SWEEPS = 30
ENOUGH = 0.01  # of the deepest overlap: what is less needs no further sweep


class Apart(NamedTuple):
    """How blocks are moved."""

    displacement: Array  # (N, D) [kg^1/2 m] whitened
    multiplier: Array  # (C,) [kg m] what each contact has to do with it: displacement is the sum of row times multiplier
    landed: Array  # (C,) bool: it has just landed, and parting undoes that it went too far in the drift


def no_parting(problem: Problem) -> Apart:
    count = len(problem.a)
    return Apart(np.zeros((len(problem.free), min(problem.free.shape[1], 6))), np.zeros(count), np.zeros(count, bool))


def push_apart(problem: Problem, wanted: Array, landed: Array) -> Apart:
    """wanted (C,) [m] above 0 where contacts are to part; below 0 how far the others may close."""
    apart = no_parting(problem)._replace(landed=landed)
    _sweep(problem, wanted, np.zeros(len(problem.free), np.bool_), apart)
    return apart


@inner
def _sweep(problem, wanted, moved, apart):
    deepest = 0.0
    for c in range(wanted.shape[0]):
        deepest = max(deepest, wanted[c])
    for _ in range(SWEEPS):
        worst = 0.0
        for c in range(wanted.shape[0]):
            i, j = problem.a[c], problem.b[c]
            if wanted[c] > 0.0 or (i >= 0 and moved[i]) or (j >= 0 and moved[j]):
                worst = max(worst, _part(problem, wanted[c], c, apart.displacement, apart.multiplier))
                if apart.multiplier[c] > 0.0:
                    if i >= 0:
                        moved[i] = True
                    if j >= 0:
                        moved[j] = True
        if worst <= ENOUGH * deepest:
            break


@inner
def _part(problem, wanted, c, displacement, multiplier):
    """Parts contact c as far as is wanted, if it may do so without pulling; how far it went [m]."""
    i, j, reached, square = problem.a[c], problem.b[c], 0.0, 0.0
    for k in range(displacement.shape[1]):
        if i >= 0:
            reached += problem.row_a[c, 0, k] * displacement[i, k]
            square += problem.row_a[c, 0, k] ** 2
        if j >= 0:
            reached += problem.row_b[c, 0, k] * displacement[j, k]
            square += problem.row_b[c, 0, k] ** 2
    if square == 0.0:
        return 0.0
    new = max(0.0, multiplier[c] + (wanted - reached) / square)
    change = new - multiplier[c]
    multiplier[c] = new
    for k in range(displacement.shape[1]):
        if i >= 0:
            displacement[i, k] += change * problem.row_a[c, 0, k]
        if j >= 0:
            displacement[j, k] += change * problem.row_b[c, 0, k]
    return abs(change) * square

"""Contacts that land within a step: a problem comes in, and the same goes out in which the other contacts of the blocks that
land bear what they bore until then (T460).

One impulse stands for all that a contact bears in a step. A block that rocks and lands lets go of its old edge, so that the
edge would bear nothing in that step, though it bore the weight until the landing: an error of the first order in every
impact. So the impulse of each contact of a block that lands is at least that of the last step without a blow, times the
share s of the step that goes by before:

    impulse = s (impulse of the last calm step) + what the step adds,   which is in the cone; the law of the contact as ever
"""

from typing import NamedTuple

import numpy as np

from drystone.engine.solvers.problem import Problem, momentum_into, relative_velocity
from drystone.engine.solvers.solution import Guess, Solution

Array = np.ndarray

FAST = 1.0  # of g times the step: what closes more slowly does not land
HEAVY = 1.5  # weights of a block: so much a contact may bear until the block lands, however soft the blow
NOTHING = 1e-9  # of the weight of all blocks
SURE = 3.0  # of g times the step: what closes faster, and would be stopped by less than one of these, lands in the next step


class Landing(NamedTuple):
    """A problem in which contacts bear what they bore until others land."""

    problem: Problem
    guess: Guess
    approach: Array  # (C,) [m/s] of its bias what is not the velocity of supports
    borne: Array  # (C, 3) [N s] that comes to the impulses of the solution


def unpressed(problem: Problem, impulse: Array) -> Array:
    """(C,) bool contacts that bear nothing, but for what an interior point leaves."""
    return impulse[:, 0] <= NOTHING * problem.total_mass * problem.speed


def whole(problem: Problem, guess: Guess, approach: Array) -> Landing:
    """The problem as it is."""
    return Landing(problem, guess, approach, np.zeros_like(guess.impulse))


def landing(problem: Problem, guess: Guess, steady: Array, approach: Array, gap: Array, h: float, theta: float) -> Landing:
    """steady (C, 3) [N s] as `still_steady` has it, gap (C,) [m] as found in the middle configuration, an overlap in full."""
    closing = approach - relative_velocity(problem, guess.velocity)[:, 0]
    new = unpressed(problem, guess.impulse)
    late = new & (closing > SURE * problem.speed) & (np.abs(gap / h - closing) < problem.speed) & (approach > 0.0)
    lands = new & ~late & (gap < h * closing) & (closing > FAST * problem.speed)
    apart = new & (gap > 0.5 * problem.speed * h) & (approach > 0.0)  # by more than gravity closes in a step, and not to bounce
    hindered = apart & (problem.dilatancy * problem.friction > 0.0)
    if not (late.any() or lands.any() or hindered.any()):
        return whole(problem, guess, approach)
    wider = np.where(late, 2.0 * problem.speed, 0.0) + np.where(hindered, _not_dilated(problem, closing, approach), 0.0)
    shut = np.maximum(gap / h, np.abs(closing)) < SURE * problem.speed  # others have let go already
    steady = np.where(shut[:, None], _in_cone(problem, steady), 0.0)
    share = 1.0 - theta + gap / np.where(lands, h * closing, 1.0)
    borne = _share_before(problem, lands, share, closing - gap / h, steady[:, 0])[:, None] * steady
    free = np.empty_like(problem.free)
    momentum_into(problem, borne, free)
    bias = problem.bias + wider[:, None] * (1.0, 0.0, 0.0)
    changed = problem._replace(bias=bias, free=problem.free + free, memory=problem.memory - borne)
    return Landing(changed, guess._replace(impulse=guess.impulse - borne), approach + wider, borne)


def _not_dilated(problem: Problem, closing: Array, approach: Array) -> Array:
    """(C,) [m/s] by which the associated law would hold open contacts apart that slide, friction times the speed that is
    left to them: what does not touch yet neither opens as it slides nor keeps from sliding (T465)."""
    slip = relative_velocity(problem, problem.free)[:, 1:]
    stopped = np.maximum(closing - approach, 0.0)
    return problem.dilatancy * np.maximum(np.hypot(slip[:, 0], slip[:, 1]) - problem.friction * stopped, 0.0)


def _in_cone(problem: Problem, impulse: Array) -> Array:
    """(C, 3) impulses that may be borne where directions have turned: along the joint no more than friction bears."""
    slides = np.hypot(impulse[:, 1], impulse[:, 2])
    most = problem.friction * np.maximum(impulse[:, 0], 0.0)
    share = np.minimum(most / np.where(slides > 0.0, slides, np.inf), 1.0)
    return np.column_stack([np.maximum(impulse[:, 0], 0.0), np.where(slides > most, share, 1.0)[:, None] * impulse[:, 1:]])


def _share_before(problem: Problem, lands: Array, share: Array, stopped: Array, steady: Array) -> Array:
    """(C,) share of the steady impulse (C,) [N s] that each contact bears before the last landing on one of its two blocks;
    0 where none lands. All of a block's contacts together bear no more than the blow, its mass times the speed that the
    landing stops, or, up to what they bear anyway, a weight or so: what they bear cannot make more energy than the landing
    takes."""
    latest, hardest, load = np.zeros((3, len(problem.free) + 1))  # the last is of supports
    for side in (problem.a, problem.b):
        np.maximum.at(latest, side[lands], np.maximum(share[lands], 0.0))
        np.maximum.at(hardest, side[lands], stopped[lands])
        np.add.at(load, side, steady)
    mass, load = np.append(problem.mass, 0.0), np.where(load > 0.0, load, np.inf)
    anyway = np.minimum(HEAVY * problem.speed * mass / load, 1.0)
    most = np.minimum(latest, np.maximum(mass * hardest / load, anyway))
    most[-1] = 0.0
    return np.maximum(most[problem.a], most[problem.b])


def still_steady(problem: Problem, guess: Guess, solution: Solution, borne: Array, steady: Array) -> Array:
    """(C, 3) [N s] what contacts bear without a blow, after a step: what they bore in it, or before it if the velocity of
    one of their blocks has jumped; nothing where they have let go."""
    now = np.where(unpressed(problem, solution.impulse)[:, None], 0.0, solution.impulse)
    change = solution.velocity - guess.velocity
    calm = np.einsum("ij,ij->i", change, change) <= (SURE * problem.speed) ** 2 * problem.mass
    if calm.all() and not borne.any():
        return now
    calm = np.append(calm, True)  # the last is of supports
    before = np.where(borne[:, :1] > steady[:, :1], 2.0 * steady - borne, steady)  # what was borne ahead is not borne again
    quiet = calm[problem.a] & calm[problem.b] & (borne[:, 0] == 0.0)
    return np.where(quiet[:, None] | (now[:, :1] == 0.0), now, before)

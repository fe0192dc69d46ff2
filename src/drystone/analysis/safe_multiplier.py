"""The safe multiplier of a live load: the lowest state of collapse by Coulomb friction that is found, and how it is checked.

A slow collapse by small steps (analysis/statics/slow_collapse.py) finds one for structures of any size. For small structures a
search by cone programs (analysis/statics/collapse_states.py) looks for lower states, whose forces the structure need not reach
by itself. Where both agree to 0.2 %, the state of the cone program is reported, because its blocks are rigid. Elastic blocks
then have to bear 5 % less in a slow history (analysis/statics/slow_loading.py); if they do not, the multiplier that they bear
is the safe one."""

from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from drystone.analysis.stages import MECHANISM_TOLERANCE, Stage, forces_as_solution
from drystone.analysis.statics.balance import Balance
from drystone.analysis.statics.collapse_multiplier import LimitState, solve_limit
from drystone.analysis.statics.collapse_states import search_states
from drystone.analysis.statics.cone_program import INFEASIBLE
from drystone.analysis.statics.coulomb_collapse import (
    Collapse,
    Round,
    distinct_multipliers,
    search_corner_states,
    starts_by_size,
)
from drystone.analysis.statics.first_crack import first_crack_multiplier
from drystone.analysis.statics.slow_collapse import DOES_NOT_REST, SlowCollapse, collapse_slowly
from drystone.analysis.statics.slow_loading import SlowLoading, find_slow_capacity
from drystone.base.json_numbers import finite_or_none
from drystone.contact.contacts import Contacts
from drystone.engine.solvers.solution import Solution
from drystone.structure.joint_laws import DEFAULT_YOUNG
from drystone.structure.model import Model

Array = np.ndarray

LAW_OVER_AREAS = "Coulomb friction over the areas of the joints"
LAW_AT_CORNERS = "Coulomb friction at the corners of the joints"
LAW_ASSOCIATED = "associated friction at the corners of the joints"
BONDS_BROKEN = ", all bonds broken"
MAX_SEARCHED_POINTS = 1000  # contact points: larger structures are searched by cone programs only if the case gives `starts`
SEARCH_HOPS = 12  # random changes of the forces of the lowest state in such a search
MULTIPLIER_ROUNDING = 1e-6  # relative error of a multiplier by rounding
SAME_MULTIPLIER = 2e-3  # states whose multipliers differ by less are the same
# a state that is lower by less is the one that a slow collapse reaches, apart from the stiffness of its blocks
AGREEMENT_TOLERANCE = 0.02
SLOW_MECHANISM_TOLERANCE = 0.03  # MECHANISM_TOLERANCE of analysis/stages.py for a slow collapse
NOT_A_MINIMUM = "the lowest found, not a proven minimum"
DOES_NOT_STAND = "does not stand under the dead load alone, by Coulomb friction: no multiplier of the live load is safe"

Result = dict[str, Any]


class MultiplierProblem(NamedTuple):
    """The problem: find the safe multiplier of these loads (B, 6) [N, N m]."""

    system: Balance
    dead: Array
    live: Array
    associated: LimitState  # the state of collapse by associated friction
    stands: bool  # whether associated forces balance the dead load alone
    gravity: float  # [m/s2]
    threads: int | None
    starts: int | None = None  # of the search by cone programs; None: according to the size of the structure
    at_corners: bool = False  # friction at the corners of joints, as in the papers
    young: float = DEFAULT_YOUNG  # [Pa] of the blocks, in the history that checks the multiplier of rigid blocks


class SafeState(NamedTuple):
    """A state of collapse."""

    law: str
    multiplier: float
    velocity: Array  # (B, 6)
    contacts: Contacts  # with forces [N] instead of impulses
    error: float
    method: str
    read: float  # tolerance of its mechanism, of the largest displacement; blocks of a slow collapse deform a little

    def as_solution(self) -> Solution:
        """The state in the form of a solution for the run."""
        return forces_as_solution(self.error, True, self.method)


MultiplierSearch = Generator[Stage, None, tuple[SafeState | None, Result]]


def safe_multiplier(problem: MultiplierProblem) -> MultiplierSearch:
    """The lowest state of collapse found, if any, and the result: the safe value first, and whether the structure is `stable`
    under the dead load alone, by Coulomb friction if a history was computed; if it is not, `words` says so."""
    lowest, result = yield from _search(problem)
    return lowest, result if result["stable"] else {"words": DOES_NOT_STAND} | result


def _search(problem: MultiplierProblem) -> MultiplierSearch:
    associated = problem.associated
    upper = finite_or_none(associated.multiplier)
    if associated.optimum.status == INFEASIBLE:
        note = "no multiple of the live load makes the structure stand"
        return None, _search_result(None, None, upper, {"note": note}) | {"stable": False}
    if problem.at_corners:
        return (yield from _search_corners(problem, upper))
    laws = problem.system.model.laws
    has_bonds = laws is not None and bool(laws.cohesion.any() or laws.tension.any() or laws.energy.any())
    if has_bonds:
        problem, crack = yield from _without_bonds(problem)
    slow = yield from _collapse_slowly(problem)
    states, search = yield from _search_areas(problem)
    lowest = min(states, key=lambda state: state.multiplier, default=None)
    if slow == DOES_NOT_REST:  # the structure may fall under any load
        lowest = None
    if isinstance(slow, SlowCollapse) and (lowest is None or slow.multiplier < (1 - SAME_MULTIPLIER) * lowest.multiplier):
        lowest = SafeState(
            LAW_OVER_AREAS, slow.multiplier, slow.velocity, slow.contacts, slow.change, "small-steps", SLOW_MECHANISM_TOLERANCE
        )
    result = _search_result(lowest, slow, upper, search) | {"stable": problem.stands and slow != DOES_NOT_REST}
    if lowest is not None and lowest.multiplier > 0.0:
        lowest, result = yield from _check_elastic_blocks(problem, lowest, result)
    if has_bonds:
        result |= {"multiplier_first_crack": crack} | ({} if lowest is None else {"law_safe": LAW_OVER_AREAS + BONDS_BROKEN})
    return lowest, result


def safe_multiplier_by_programs(problem: MultiplierProblem) -> float | None:
    """The lowest multiplier of a search by cone programs alone, which for a small structure takes no noticeable time."""
    search = _search_areas(problem)
    while True:
        try:
            next(search)
        except StopIteration as ended:
            lowest = min((state.multiplier for state in ended.value[0]), default=None)
            return None if lowest is None else _rounded(lowest, finite_or_none(problem.associated.multiplier))


def scale_stages(search: MultiplierSearch, part: int, parts: int, words: str) -> MultiplierSearch:
    """The stages of one of several searches, as shares of all of them."""
    while True:
        try:
            stage = next(search)
        except StopIteration as ended:
            return ended.value
        yield Stage((part + stage.share) / parts, words)


def _search_result(lowest: SafeState | None, slow: SlowCollapse | str | None, upper: float | None, search: Result) -> Result:
    result: Result = {
        "multiplier_safe": None if lowest is None else max(_rounded(lowest.multiplier, upper), 0.0),
        "law_safe": None if lowest is None else lowest.law,
        "confirmed": False,
        "multiplier_from_rest": None,
        "multiplier_upper": upper,
        "law_upper": LAW_ASSOCIATED,
        "search": {"starts": 0} | search,
    }
    if isinstance(slow, str):
        result["search"] |= {"note": slow}
    elif slow is not None and lowest is not None:
        agrees = max(lowest.multiplier, 0.0) >= (1 - AGREEMENT_TOLERANCE) * slow.multiplier
        result |= {
            "confirmed": slow.is_confirmed and agrees,
            "multiplier_from_rest": max(slow.starts_at, lowest.multiplier),
            "multiplier_vibrating": finite_or_none(slow.vibrating),
            "checked": {"rests_at": finite_or_none(slow.rests_at), "moves_at": finite_or_none(slow.moves_at)},
        }
        result["search"] |= {"slow_collapse": slow.multiplier, "note": _note(lowest, slow, agrees)}
    return result


def _rounded(safe: float, upper: float | None) -> float:
    """The safe multiplier, reduced to the upper one if it is larger only by the rounding of the two programs."""
    return upper if upper is not None and upper < safe <= upper + MULTIPLIER_ROUNDING * abs(upper) else safe


def _note(lowest: SafeState, slow: SlowCollapse, agrees: bool) -> str:
    """A note on how the safe value was found and checked."""
    if slow.multiplier == 0.0:
        moves = "moves" if np.isfinite(slow.moves_at) else "DOES NOT MOVE"
        return (
            "once the structure moves, it goes on moving without the live load; in a history that starts from its forces, "
            f"without the live load, it {moves}"
        )
    if not agrees:
        return (
            f"{NOT_A_MINIMUM}; its forces are in balance and obey the law, but the structure does not reach them by itself: "
            f"it moves at {slow.multiplier:.5f}"
        )
    rests = f"rests under {slow.rests_at:.5f}" if np.isfinite(slow.rests_at) else "RESTS UNDER NO LOAD NEAR IT"
    moves = f"moves under {slow.moves_at:.5f}" if np.isfinite(slow.moves_at) else "DOES NOT MOVE UNDER ONE NEAR IT"
    note = f"{NOT_A_MINIMUM}; in histories from its forces the structure {rests} and {moves}"
    if np.isnan(slow.vibrating):
        return note
    vibrating = f"sliding causes vibrations, and it moved on under {slow.vibrating:.5f} on average"
    return f"{note}; with joints damped as in histories {vibrating}"


def _collapse_slowly(problem: MultiplierProblem) -> Generator[Stage, None, SlowCollapse | str]:
    system, dead, live, associated, *_ = problem
    shares = collapse_slowly(system.model, dead, live, associated.multiplier, gravity=problem.gravity, threads=problem.threads)
    while True:
        try:
            share = next(shares)
        except StopIteration as ended:
            return ended.value
        yield Stage(0.1 + 0.5 * share, "Coulomb friction, slow collapse")


def _check_elastic_blocks(problem: MultiplierProblem, rigid: SafeState, result: Result) -> MultiplierSearch:
    """The state of rigid blocks if elastic blocks, loaded slowly, bear nearly as much, else the state that these bear; and the
    result."""
    system, dead, live, *_ = problem
    model = replace(system.model, elastic=None)
    loading = SlowLoading(model, dead, live, gravity=problem.gravity, young=problem.young, threads=problem.threads)
    shares = find_slow_capacity(loading, rigid.multiplier)
    while True:
        try:
            share = next(shares)
        except StopIteration as ended:
            capacity = ended.value
            break
        yield Stage(0.9 + 0.09 * share, "Coulomb friction, elastic blocks loaded slowly")
    loaded_slowly = {
        "young": problem.young,
        "stands_at": finite_or_none(capacity.stands_at),
        "moves_at": finite_or_none(capacity.moves_at),
    }
    result |= {"loaded_slowly": loaded_slowly}
    if capacity.velocity is None:
        return rigid, result
    elastic = f"elastic blocks of {1e-9 * problem.young:g} GPa that are loaded slowly"
    if np.isnan(capacity.stands_at):
        note = f"{elastic} do not stand under the dead load alone; rigid blocks move under {rigid.multiplier:.5f}"
        no_safe_value = {
            "multiplier_safe": None,
            "law_safe": None,
            "confirmed": False,
            "multiplier_from_rest": None,
            "stable": False,
        }
        return None, result | no_safe_value | {"search": result["search"] | {"note": note}}
    note = (
        f"{elastic} stand under {capacity.stands_at:.5f} and move away under {capacity.moves_at:.5f}; rigid blocks would move "
        f"under {rigid.multiplier:.5f}. The lowest found, not a proven minimum"
    )
    lower = rigid._replace(
        multiplier=capacity.stands_at,
        velocity=capacity.velocity,
        contacts=capacity.contacts,
        method="small-steps",
        error=capacity.moves_at - capacity.stands_at,
        read=SLOW_MECHANISM_TOLERANCE,
    )
    return lower, result | {
        "multiplier_safe": capacity.stands_at,
        "confirmed": True,
        "multiplier_from_rest": capacity.moves_at,
        "multiplier_rigid": rigid.multiplier,
        "checked": {"rests_at": capacity.stands_at, "moves_at": capacity.moves_at},
        "search": result["search"] | {"note": note},
    }


def _search_areas(problem: MultiplierProblem) -> Generator[Stage, None, tuple[list[SafeState], Result]]:
    """The verified states of a search by cone programs, and its counts."""
    system, dead, live, associated, stands, *_ = problem
    starts = problem.starts
    if starts is None:
        starts = max(starts_by_size(system) // 2, 1) if len(system.friction) <= MAX_SEARCHED_POINTS else 0
    if starts == 0 or system.model.laws is not None:
        return [], {}
    hops = SEARCH_HOPS if problem.starts is None or len(system.friction) <= MAX_SEARCHED_POINTS else 0
    rounds = search_states(system, dead, live, associated.optimum, starts=starts, hops=hops, stands=stands)
    states, count = yield from _verified(rounds, starts)
    return [_as_state(LAW_OVER_AREAS, system, each) for each in states], _search_counts(states, starts, count)


def _search_corners(problem: MultiplierProblem, upper: float | None) -> MultiplierSearch:
    """The search with friction at the corners of joints, as in the papers."""
    system, dead, live, associated, stands, *_ = problem
    starts = starts_by_size(system) if problem.starts is None else problem.starts
    rounds = search_corner_states(system, dead, live, associated.optimum, starts=starts, stands=stands)
    states, count = yield from _verified(rounds, starts)
    lowest = min((_as_state(LAW_AT_CORNERS, system, each) for each in states), key=lambda state: state.multiplier, default=None)
    note = (
        NOT_A_MINIMUM + ", not tried by a history" if states else "no state passed the check of Coulomb's law; try more starts"
    )
    return lowest, _search_result(lowest, None, upper, _search_counts(states, starts, count) | {"note": note}) | {
        "stable": stands
    }


def _verified(rounds: Iterator[Round], starts: int) -> Generator[Stage, None, tuple[list[Collapse], int]]:
    states, count = [], 0
    for each in rounds:
        count += 1
        states += [] if each.collapse is None else [each.collapse]
        yield Stage(0.6 + 0.3 * each.start / starts, f"Coulomb friction, cone program {count}")
    return states, count


def _search_counts(states: list[Collapse], starts: int, rounds: int) -> Result:
    different = distinct_multipliers([each.multiplier for each in states])
    return {"starts": starts, "rounds": rounds, "verified": len(states), "found": different}


def _as_state(law: str, system: Balance, collapse: Collapse) -> SafeState:
    return SafeState(
        law,
        collapse.multiplier,
        collapse.velocity,
        system.with_forces(collapse.force),
        collapse.error,
        "clarabel",
        MECHANISM_TOLERANCE,
    )


def _without_bonds(problem: MultiplierProblem) -> Generator[Stage, None, tuple[MultiplierProblem, float | None]]:
    """The problem with all bonds of the joints broken, because brittle bonds may break one after the other; and the multiplier
    at which the first crack opens in sound, elastic joints (T415)."""
    yield Stage(0.1, "all bonds broken")
    laws = problem.system.model.laws
    assert laws is not None
    crack = (
        first_crack_multiplier(problem.system, problem.dead, problem.live)
        if (laws.tension.any() or laws.energy.any())
        else None
    )
    system = problem.system._replace(model=unbonded(problem.system.model))
    return problem._replace(system=system, associated=solve_limit(system, problem.dead, problem.live)), crack


def unbonded(model: Model) -> Model:
    """The model with all bonds of its joints broken."""
    laws = model.laws
    if laws is None or not np.isfinite(laws.crushing).any():
        return replace(model, laws=None)
    gone = np.zeros_like(laws.cohesion)
    return replace(model, laws=laws._replace(cohesion=gone, tension=gone, energy=gone))

"""States of collapse by Coulomb friction, where sliding is without dilatancy, with friction at the corners of joints.

There are many such states with different multipliers. Some are found by the iteration of Gilbert, Casapulla & Ahmed (2006), in
the form for cones of Portioli et al. (2014): friction is a strength that does not grow with the normal force but is that of the
previous round (T35). The resulting mechanisms do not open as they slide. For each of them one more cone program gives the
smallest multiplier whose forces obey Coulomb's law (T36). Only states that pass `corner_state_error` count; the lowest of them
is no proven minimum."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from drystone.analysis.statics.balance import Balance
from drystone.analysis.statics.cone_program import SOLVED, Optimum, joint_strengths, optimise_forces

Array = np.ndarray

MAX_STATE_ERROR = 1e-4  # the largest error of a state that counts as a solution by Coulomb friction
SAME_MULTIPLIER = 1e-5  # multipliers with a smaller relative difference are the same
SETTLED_CHANGE = 1e-3  # a start ends when two rounds have a smaller relative difference
KEPT_SHARE = 0.2  # share of the previous normal forces in the new ones
MAX_ROUNDS = 12  # rounds per start
PENALTY = 300.0  # cost of power that Coulomb's law does not allow, in units of the power of the live load
MAX_STARTS, MAX_POINTS_UNASKED = 6, 10_000  # starts of a small structure; larger structures are searched only on request


class Collapse(NamedTuple):
    """A state of collapse by Coulomb friction."""

    multiplier: float  # of the live load
    velocity: Array  # (B, 6) the mechanism, scaled so that the power of the live load is 1
    force: Array  # (C, d) [N]
    error: float  # see `corner_state_error` and `area_state_error`


class Round(NamedTuple):
    """One round of the iteration."""

    start: int
    collapse: Collapse | None  # None: the forces of its mechanism do not obey Coulomb's law


def starts_by_size(balance: Balance) -> int:
    """The default number of starts: 6, fewer from 1,000 contact points, none beyond 10,000."""
    points = len(balance.friction)
    return 0 if points > MAX_POINTS_UNASKED else max(1, min(MAX_STARTS, 1000 * MAX_STARTS // max(points, 1)))


def search_corner_states(
    balance: Balance, dead: Array, live: Array, associated: Optimum, *, starts: int, stands: bool
) -> Iterator[Round]:
    """Rounds from several starts: the forces of the associated collapse, then random admissible ones, the same at every call.
    `stands`: whether forces balance the dead load alone."""
    for start in range(starts):
        normal, last = _first_forces(balance, dead, live, associated, start, stands), np.nan
        for _ in range(MAX_ROUNDS):
            sliding = _without_dilatancy(balance, dead, live, normal)
            if sliding.status != SOLVED:
                yield Round(start, None)
                break
            state = _least_multiplier(balance, dead, live, sliding.velocity)
            yield Round(start, state)
            if state is not None and abs(state.multiplier - last) <= SETTLED_CHANGE * abs(last):
                break
            last = np.nan if state is None else state.multiplier
            normal = KEPT_SHARE * normal + (1 - KEPT_SHARE) * np.maximum(sliding.force[:, 0], 0.0)


def distinct_multipliers(multipliers: list[float]) -> list[float]:
    """The different multipliers in ascending order."""
    different: list[float] = []
    for value in sorted(multipliers):
        if not different or value - different[-1] > SAME_MULTIPLIER * max(abs(value), abs(different[-1])):
            different.append(value)
    return different


def corner_state_error(balance: Balance, dead: Array, live: Array, state: Collapse) -> float:
    """The relative error of a state by Coulomb friction (T34), the largest of: imbalance; force outside Coulomb's cone;
    interpenetration; power of forces on opening joints and on slip that is not opposed by the full friction."""
    normal, shear = state.force[:, 0], np.linalg.norm(state.force[:, 1:], axis=1)
    drift = balance.relative_velocity(state.velocity)
    slip = np.linalg.norm(drift[:, 1:], axis=1)
    unit = float(np.linalg.norm((np.abs(dead) + np.abs(live))[balance.free, :3], axis=1).mean())
    residual = balance.matrix @ state.force.ravel() + balance.free_rows(dead + state.multiplier * live)
    arm = np.where(balance.unknowns >= 3, balance.model.bodies.radius[balance.free][:, None], 1.0).ravel()
    outside = np.maximum(shear - balance.friction * normal, -normal)
    friction = float(np.abs(balance.friction * normal * slip).sum())
    wasted_power = float(np.abs(normal * drift[:, 0]).sum()) + abs(friction + float(np.vdot(state.force[:, 1:], drift[:, 1:])))
    power = friction + abs(state.multiplier) + abs(float(np.vdot(dead, state.velocity)))
    return max(
        float(np.abs(residual / arm).max(initial=0.0)) / unit,
        float(outside.max(initial=0.0)) / unit,
        float(-drift[:, 0].min(initial=0.0)) / (float(np.abs(drift).max(initial=0.0)) or 1.0),
        wasted_power / (power or 1.0),
    )


def _first_forces(balance: Balance, dead: Array, live: Array, associated: Optimum, start: int, stands: bool) -> Array:
    """(C,) [N] The first normal forces of a start."""
    bounded = associated.status == SOLVED
    if start == 0 and bounded:
        return np.maximum(associated.force[:, 0], 0.0)
    generator = np.random.default_rng(start)
    cost = generator.standard_normal(balance.frame.shape[:2])
    cost[:, 0] = balance.friction * np.linalg.norm(cost[:, 1:], axis=1) + generator.exponential(size=len(cost))  # never below 0
    share = generator.uniform() if stands else 1.0
    reached = share * associated.multiplier if bounded else 0.0
    return np.maximum(optimise_forces(balance, dead + reached * live, cost=cost).force[:, 0], 0.0)


def _without_dilatancy(balance: Balance, dead: Array, live: Array, normal: Array) -> Optimum:
    """The collapse of joints whose shear strength is fixed by these normal forces (T35)."""
    level = joint_strengths(balance)._replace(slope=np.zeros_like(normal), cohesion=balance.friction * normal)
    return optimise_forces(balance, dead, live, envelope=level)


def _least_multiplier(balance: Balance, dead: Array, live: Array, velocity: Array) -> Collapse | None:
    """The state of the smallest multiplier whose forces obey Coulomb's law with this mechanism (T36); None if there is none."""
    drift = balance.relative_velocity(velocity)
    wasted_power = drift.copy()  # power that Coulomb's law does not allow, by force; never negative within Coulomb's cone
    wasted_power[:, 0] = np.maximum(drift[:, 0], 0.0) + balance.friction * np.linalg.norm(drift[:, 1:], axis=1)
    best = optimise_forces(balance, dead, -live, cost=PENALTY * wasted_power)
    if best.status != SOLVED:
        return None
    state = Collapse(-best.multiplier, velocity, best.force, np.nan)
    state = state._replace(error=corner_state_error(balance, dead, live, state))
    return state if state.error <= MAX_STATE_ERROR else None

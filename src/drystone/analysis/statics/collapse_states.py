"""States of collapse by Coulomb friction over the areas of joints (T412).

The iteration is that of coulomb_collapse.py, with one shear force and one couple per joint instead of forces at its corners.
Each round takes the normal force and the centre of pressure of every joint from the previous round. The friction of the linear
pressure there is a fixed strength (T410, T411). For the resulting mechanism, another program finds the smallest multiplier
whose forces obey Coulomb's law. The iteration starts from the forces of the associated collapse and from random admissible
forces. Then small random changes of the forces of the lowest state (hops) find states nearby. Only states that pass
`area_state_error` count; the lowest of them is no proven minimum."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from drystone.analysis.statics.balance import Balance
from drystone.analysis.statics.cone_program import INFEASIBLE, SOLVED, UNBOUNDED, Optimum
from drystone.analysis.statics.coulomb_collapse import (
    KEPT_SHARE,
    MAX_ROUNDS,
    MAX_STATE_ERROR,
    PENALTY,
    SETTLED_CHANGE,
    Collapse,
    Round,
)
from drystone.analysis.statics.joint_areas import (
    JointAreas,
    dissipation,
    find_joint_areas,
    friction_at,
    friction_of_points,
    shift_matrices,
    strength_along,
    tangent_cones,
)
from drystone.analysis.statics.joint_program import Cost, JointForces, optimise_joints

Array = np.ndarray

# of the fastest slip: a slower joint counts as sticking, because the direction of its friction is uncertain
SLIDING_SHARE = 1e-3
SLOW_SHARE = 0.1  # of the fastest slip: the cost of friction in slower joints is that of joints with this slip
PRESSURE_PENALTY = 0.01  # cost of moving the centre of pressure of a sliding joint in the first pass
PENALTY_GROWTH = 3.0  # factor on this cost per pass
MAX_OPENING_POWER = 3e-4  # of the power of the live load, lost on opening joints: with a larger loss another pass does not help
MAX_PASSES = 5  # passes that adapt the centres of pressure to the forces of a mechanism
MANY_POINTS, ROUNDS_OF_MANY_POINTS = 1000, 6  # structures with more contact points have this smaller number of rounds per start
COST_FACTOR, COSTLY_SHARE = 100.0, 0.3  # in a random start, the factor on the cost of normal forces in this share of the joints
HOP_DEVIATION = 0.4  # standard deviation of the logarithm of normal forces that a hop changes


class SearchProblem(NamedTuple):
    """The structure and loads of a search."""

    balance: Balance
    joints: JointAreas
    dead: Array  # (B, 6) [N, N m]
    live: Array


def search_states(
    balance: Balance, dead: Array, live: Array, associated: Optimum, *, starts: int, hops: int, stands: bool
) -> Iterator[Round]:
    """Rounds from several starts, the same at every call, then hops from the lowest state; `stands`: whether forces balance the
    dead load alone."""
    problem = SearchProblem(balance, find_joint_areas(balance), dead, live)
    lowest: Collapse | None = None
    for start in range(starts):
        for collapse in _from_start(problem, _first_forces(problem, associated, start, stands)):
            lowest = _lower_state(lowest, collapse)
            yield Round(start, collapse)
    generator = np.random.default_rng(starts)
    if lowest is None or (associated.status == SOLVED and lowest.multiplier >= (1 - SETTLED_CHANGE) * associated.multiplier):
        return  # if the lowest of several starts is the associated multiplier, the law of friction does not matter
    for _ in range(hops):
        collapse = _hop(problem, lowest, generator)
        lowest = min(lowest, collapse or lowest, key=lambda state: state.multiplier)
        yield Round(starts - 1, collapse)


def _hop(problem: SearchProblem, lowest: Collapse, generator: np.random.Generator) -> Collapse | None:
    changed = np.exp(HOP_DEVIATION * generator.standard_normal(len(problem.joints.first_point)))[problem.joints.joint_of_point]
    sliding = _without_dilatancy(problem, np.maximum(lowest.force[:, 0], 0.0) * changed, _no_slip(problem))
    return _least_multiplier(problem, sliding) if _has_mechanism(sliding) else None


def _from_start(problem: SearchProblem, normal: Array) -> Iterator[Collapse | None]:
    slip, last = _no_slip(problem), np.nan
    for _ in range(MAX_ROUNDS if len(problem.balance.friction) <= MANY_POINTS else ROUNDS_OF_MANY_POINTS):
        sliding = _without_dilatancy(problem, normal, slip)
        if not _has_mechanism(sliding):
            yield None
            return
        collapse = _least_multiplier(problem, sliding)
        yield collapse
        if collapse is not None and abs(collapse.multiplier - last) <= SETTLED_CHANGE * abs(last):
            return
        last = np.nan if collapse is None else collapse.multiplier
        normal = KEPT_SHARE * normal + (1 - KEPT_SHARE) * np.maximum(sliding.normal, 0.0)
        slip = sliding.slip


def _has_mechanism(sliding: JointForces) -> bool:
    """Whether a program has given a mechanism. The mechanism of a program that stopped early is also used, since it is
    checked."""
    return sliding.status not in (INFEASIBLE, UNBOUNDED) and bool(np.isfinite(sliding.velocity).all())


def _no_slip(problem: SearchProblem) -> Array:
    return np.zeros((len(problem.joints.first_point), problem.joints.unknowns))


def _lower_state(first: Collapse | None, second: Collapse | None) -> Collapse | None:
    if first is None or second is None:
        return second if first is None else first
    return min(first, second, key=lambda state: state.multiplier)


def area_state_error(balance: Balance, dead: Array, live: Array, state: Collapse) -> float:
    """The relative error of a state by Coulomb friction over joint areas (T34, T411), the largest of: imbalance; friction
    beyond the strength of the pressure; interpenetration; power of forces on opening joints and on slip that is not opposed by
    the full friction."""
    return _state_error(SearchProblem(balance, find_joint_areas(balance), dead, live), state)


def _state_error(problem: SearchProblem, state: Collapse) -> float:
    balance, joints, dead, live = problem
    normal, shear = state.force[:, 0], state.force[:, 1:]
    drift, mean_load = balance.relative_velocity(state.velocity), _mean_load(problem)
    residual = balance.matrix @ state.force.ravel() + balance.free_rows(dead + state.multiplier * live)
    arm = np.where(balance.unknowns >= 3, balance.model.bodies.radius[balance.free][:, None], 1.0).ravel()
    total_normal, centre = joints.normal_and_centre(np.maximum(normal, 0.0))
    friction, slip = friction_at(joints, centre), joint_slip(problem, state.velocity, centre)
    is_sliding, joint_shear = sliding_joints(slip), shear_resultants(joints, shear, centre)
    by_area = total_normal * dissipation(friction, slip)
    by_point = balance.friction * np.maximum(normal, 0.0) * np.linalg.norm(drift[:, 1:], axis=1)
    wasted_power = float(np.abs(normal * drift[:, 0]).sum())
    wasted_power += float(np.abs(by_area + (joint_shear * slip).sum(axis=1))[is_sliding].sum())
    wasted_power += float(np.abs(by_point + (shear * drift[:, 1:]).sum(axis=1))[~is_sliding[joints.joint_of_point]].sum())
    power = float(by_area.sum()) + abs(state.multiplier) + abs(float(np.vdot(dead, state.velocity)))
    strength = np.maximum(strength_along(friction, joint_shear)[0],
                      strength_along(friction_of_points(joints, np.maximum(normal, 0.0)), joint_shear)[0])  # fmt: skip
    outside = (np.linalg.norm(joint_shear, axis=1) - total_normal * strength) / (total_normal + mean_load)
    return max(
        float(np.abs(residual / arm).max(initial=0.0)) / mean_load,
        float(outside.max(initial=0.0)),
        float(-normal.min(initial=0.0)) / mean_load,
        float(-drift[:, 0].min(initial=0.0)) / (float(np.abs(drift).max(initial=0.0)) or 1.0),
        wasted_power / (power or 1.0),
    )


def sliding_joints(slip: Array) -> Array:
    """(J,) Whether joints with these slips (J, k) slide fast enough for their direction to be known."""
    speed = np.sqrt((slip**2).sum(axis=1))
    return speed > SLIDING_SHARE * speed.max(initial=0.0)


def joint_slip(problem: SearchProblem, velocity: Array, centre: Array) -> Array:
    """(J, k) The slip of the joints at these centres; the spin is multiplied by the size of the joint."""
    balance, joints, _, _ = problem
    at_origin = (joints.matrix.T @ balance.free_rows(velocity)).reshape(-1, joints.unknowns)
    return np.einsum("jik,ji->jk", shift_matrices(centre, joints), at_origin)


def shear_resultants(joints: JointAreas, shear: Array, centre: Array) -> Array:
    """(J, k) The shear forces, and couples divided by the size, of forces (C, d - 1) along the tangents at the contact
    points."""
    count = len(joints.first_point)
    sums = [np.bincount(joints.joint_of_point, part, count) for part in shear.T]
    if joints.unknowns == 3:
        arm = joints.offset - centre[joints.joint_of_point]
        sums.append(np.bincount(joints.joint_of_point, arm[:, 0] * shear[:, 1] - arm[:, 1] * shear[:, 0], count) / joints.size)
    return np.stack(sums, axis=1)


def move_couples(joints: JointAreas, friction: Array, old: Array, new: Array) -> Array:
    """Shear forces and couples (J, k), moved from the old to the new centres."""
    if joints.unknowns == 1:
        return friction
    arm, moved = (old - new) / joints.size[:, None], friction.copy()
    moved[:, 2] += arm[:, 0] * friction[:, 1] - arm[:, 1] * friction[:, 0]
    return moved


def forces_at_contacts(joints: JointAreas, normal: Array, centre: Array, friction: Array) -> Array:
    """(C, d) [N] Forces at the contact points with these shear forces and couples (J, k) at the centres. Shear is distributed
    in proportion to the normal forces, and couples are added perpendicular to the arms from the centre."""
    total_normal = np.bincount(joints.joint_of_point, normal, len(joints.first_point))
    share = normal / np.where(total_normal > 0.0, total_normal, 1.0)[joints.joint_of_point]
    shear = share[:, None] * friction[joints.joint_of_point, : normal.ndim + joints.unknowns // 2]
    if joints.unknowns == 3:
        arm = joints.offset - centre[joints.joint_of_point]
        spread = np.bincount(joints.joint_of_point, share * (arm**2).sum(axis=1), len(joints.first_point))
        turn = friction[:, 2] * joints.size / np.where(spread > 0.0, spread, np.inf)
        shear = shear + (turn[joints.joint_of_point] * share)[:, None] * np.stack([-arm[:, 1], arm[:, 0]], axis=1)
    return np.column_stack([normal, shear])


def _first_forces(problem: SearchProblem, associated: Optimum, start: int, stands: bool) -> Array:
    """(C,) [N] normal forces to begin with: those of the associated collapse, then the least ones by random weights of the
    joints under a random share of its load."""
    balance, joints, dead, live = problem
    bounded = associated.status == SOLVED
    if start == 0 and bounded:
        return np.maximum(associated.force[:, 0], 0.0)
    generator, count = np.random.default_rng(start), len(joints.first_point)
    share = generator.uniform() if stands else 1.0
    reached = share * associated.multiplier if bounded else 0.0
    middle = np.zeros((count, 2))
    plain = tangent_cones(friction_at(joints, middle), np.zeros((count, joints.unknowns)), np.zeros(count, bool))
    dear = np.where(generator.uniform(size=count) < COSTLY_SHARE, COST_FACTOR, 1.0)
    cost = Cost(
        dear[joints.joint_of_point],
        np.zeros((count, joints.unknowns)),
        np.zeros((len(joints.joint_of_point), 0)),
        np.zeros(count),
    )
    collapse = optimise_joints(
        balance, joints, dead + reached * live, None, middle, plain, slope=1.0, level=np.zeros(count), cost=cost
    )
    return np.maximum(collapse.normal, 0.0)


def _without_dilatancy(problem: SearchProblem, normal: Array, slip: Array) -> JointForces:
    """The collapse of joints whose friction is that under these normal forces (C,), whatever theirs (T35); `slip` (J, k) tells
    where the ellipsoids touch."""
    balance, joints, dead, live = problem
    total_normal, centre = joints.normal_and_centre(normal)
    ellipsoid = tangent_cones(friction_at(joints, centre), slip, sliding_joints(slip))
    return optimise_joints(balance, joints, dead, live, centre, ellipsoid, slope=0.0, level=total_normal)


def _least_multiplier(problem: SearchProblem, sliding: JointForces) -> Collapse | None:
    """The state of the smallest multiplier whose forces obey Coulomb's law with this mechanism (T36); None if there is none. If
    the centres of pressure of its forces are not those for which the friction was computed, another pass follows, in which
    moving them costs more."""
    balance, joints, dead, live = problem
    drift, level = balance.relative_velocity(sliding.velocity), np.zeros(len(joints.first_point))
    opening, at_points = np.maximum(drift[:, 0], 0.0), PENALTY * drift[:, 1:]
    total_normal, centre = joints.normal_and_centre(np.maximum(sliding.normal, 0.0))
    pressure_cost = PRESSURE_PENALTY / np.maximum(total_normal, 0.1 * _mean_load(problem))
    for _ in range(MAX_PASSES):
        friction, slip = friction_at(joints, centre), joint_slip(problem, sliding.velocity, centre)
        is_sliding = sliding_joints(slip)
        ellipsoid = tangent_cones(friction, slip, is_sliding)
        resisted = np.where(is_sliding[joints.joint_of_point], dissipation(friction, slip)[joints.joint_of_point],
                            balance.friction * np.linalg.norm(drift[:, 1:], axis=1))  # fmt: skip
        turns = is_sliding & (joints.unknowns == 3)
        urgent = _urgency(slip, is_sliding)
        normally = PENALTY * (opening + urgent[joints.joint_of_point] * resisted)
        cost = Cost(normally, PENALTY * urgent[:, None] * slip, at_points, pressure_cost * turns)
        best = optimise_joints(
            balance, joints, dead, -live, centre, ellipsoid, slope=1.0, level=level, cost=cost, at_points=~is_sliding
        )
        if best.status != SOLVED:
            return None
        normal = np.maximum(best.normal, 0.0)
        _, acts_at = joints.normal_and_centre(normal)
        force = forces_at_contacts(joints, normal, acts_at, move_couples(joints, best.friction, centre, acts_at))
        force[:, 1:] += best.shear
        state = Collapse(-best.multiplier, sliding.velocity, force, np.nan)
        state = state._replace(error=_state_error(problem, state))
        if state.error <= MAX_STATE_ERROR:
            return state
        if float(normal @ opening) > MAX_OPENING_POWER:
            return None
        centre, pressure_cost = acts_at, PENALTY_GROWTH * pressure_cost
    return None


def _urgency(slip: Array, is_sliding: Array) -> Array:
    """(J,) The factor on the cost of friction in slow joints, so that it is found as accurately as that of fast ones."""
    speed = np.sqrt((slip**2).sum(axis=1))
    return np.where(is_sliding, np.maximum(SLOW_SHARE * speed.max(initial=0.0) / np.where(speed > 0.0, speed, 1.0), 1.0), 1.0)


def _mean_load(problem: SearchProblem) -> float:
    """[N] The mean of dead plus live load over the free blocks."""
    balance, _, dead, live = problem
    return float(np.linalg.norm((np.abs(dead) + np.abs(live))[balance.free, :3], axis=1).mean())

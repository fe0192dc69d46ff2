"""The cone program of statics: find the best among the admissible forces that balance the loads (T31).

    minimise  cost . f - multiplier   subject to   matrix f + dead + multiplier live = 0,   |t| <= slope n + cohesion,
                                                                                         -tension <= n <= crushing

Its dual variables are the mechanism: velocities of the blocks whose relative velocities at the contacts lie in the dual cone
(contacts open by `slope` as they slide), scaled so that the power of the live load is 1. Clarabel solves the program; in the
plane it is linear."""

from typing import NamedTuple

import clarabel
import numpy as np
import scipy.sparse as sp

from drystone.analysis.statics.balance import Balance

Array = np.ndarray

SOLVED, INFEASIBLE, UNBOUNDED = "solved", "impossible", "endless"
CLARABEL_STATUS = {"Solved": SOLVED, "PrimalInfeasible": INFEASIBLE, "DualInfeasible": UNBOUNDED}
ACCEPTED_ERROR = 1e-6  # relative imbalance and duality gap that are accepted when Clarabel does not reach its tolerance


class Envelope(NamedTuple):
    """The admissible forces of joints: |t| <= slope n + cohesion, -tension <= n <= crushing."""

    slope: Array  # (C,)
    cohesion: Array  # (C,) [N]
    tension: Array  # (C,) [N]
    crushing: Array  # (C,) [N] infinite where a joint cannot be crushed


class Optimum(NamedTuple):
    """The best state of forces, and the mechanism beyond it."""

    status: str  # "solved"; "impossible": infeasible, no forces balance the loads; "endless": unbounded; else what failed
    multiplier: float  # of the live load; 0 without one, nan if not solved
    value: float  # cost . f; nan if not solved
    force: Array  # (C, d) [N]
    velocity: Array  # (B, 6) the mechanism; of an infeasible program the mechanism that starts
    rate: Array  # (C,) rate of slip that the shear strength of each contact resists
    error: float  # the larger of the relative imbalance and duality gap


def joint_strengths(balance: Balance) -> Envelope:
    """The strengths by the laws of the joints, assuming that sound bonds do not break. Adhesion has the strength at which its
    damage begins (T414)."""
    zero = np.zeros_like(balance.friction)
    laws, contacts, group = balance.model.laws, balance.contacts, balance.model.bodies.group
    if laws is None:
        return Envelope(balance.friction, zero, zero, zero + np.inf)
    pair, area = (group[contacts.a], group[contacts.b]), contacts.area
    pull, drag = np.sqrt(laws.energy * laws.pull)[pair], np.sqrt(laws.energy * laws.drag)[pair]
    cohesion = np.where(balance.broken, 0.0, laws.cohesion[pair] + drag)
    tension = np.where(balance.broken, 0.0, laws.tension[pair] + pull)
    crushing = np.where(np.isfinite(laws.crushing), laws.crushing, 0.0)[pair] * area
    hard = np.isinf(laws.crushing)[pair] & ((area == 0.0) | (not balance.fibres))
    return Envelope(balance.friction, area * cohesion, area * tension, np.where(hard, np.inf, crushing))


def optimise_forces(
    balance: Balance,
    dead: Array,
    live: Array | None = None,
    *,
    cost: Array | None = None,
    envelope: Envelope | None = None,
    tolerance: float = 1e-9,
) -> Optimum:
    """The optimum of the program of dead and live loads (B, 6) [N, N m] and the cost (C, d) of forces."""
    envelope = joint_strengths(balance) if envelope is None else envelope
    count, directions = balance.frame.shape[:2]
    unit = program_units(balance, dead, live, cost)
    columns = (sp.diags_array(1 / unit.row) @ balance.matrix * unit.force).tocsc()
    linear = np.zeros(count * directions) if cost is None else cost.ravel() * unit.force / unit.value
    if live is not None:
        live_column = balance.free_rows(live) / unit.row * unit.multiplier
        columns = sp.hstack([columns, sp.csc_array(live_column[:, None])], format="csc")
        linear = np.append(linear, -unit.multiplier / unit.value)
    load = balance.free_rows(dead) / unit.row
    rows, right_side, cones, strength = _cones(envelope, directions, columns.shape[1])
    matrix = sp.vstack([columns, -rows], format="csc")
    right = np.concatenate([-load, right_side / unit.force])
    zero = sp.csc_array((len(linear), len(linear)))
    cones = [clarabel.ZeroConeT(len(load)), *cones]
    answer = clarabel.DefaultSolver(zero, linear, matrix, right, cones, clarabel_settings(tolerance)).solve()
    return _read_answer(answer, balance, unit, columns, load, strength, cost)


class ProgramUnits(NamedTuple):
    """The units in which the numbers of a program are of order one."""

    force: float  # [N]
    row: Array  # (N D,) [N, N m]
    multiplier: float
    value: float  # of the objective


def program_units(balance: Balance, dead: Array, live: Array | None, cost: Array | None) -> ProgramUnits:
    def mean_push(wrench: Array) -> float:
        return float(np.linalg.norm(wrench[balance.free, :3], axis=1).mean())

    force = mean_push(dead) or (1.0 if live is None else mean_push(live)) or 1.0
    multiplier = 1.0 if live is None else force / (mean_push(live) or force)
    radius = balance.model.bodies.radius[balance.free]
    row = force * np.where(balance.unknowns >= 3, radius[:, None], 1.0)
    costly = 0.0 if cost is None else float(np.abs(cost).max()) * force
    value = max(costly, 0.0 if live is None else multiplier) or 1.0
    return ProgramUnits(force, row.ravel(), multiplier, value)


def _cones(envelope: Envelope, directions: int, columns: int) -> tuple[sp.csc_array, Array, list, Array]:
    """The rows and right side of `rows x + right_side in cones`, the cones, and the position of the dual variable of each
    contact's strength (C, 2), -1 for none. Order: rough contacts, smooth ones (without shear), contacts whose normal force has
    a separate lower bound, contacts that may be crushed."""
    slope, cohesion, tension, crushing = envelope
    count = len(slope)
    rough = np.flatnonzero((slope > 0) | (cohesion > 0))
    smooth = np.flatnonzero((slope == 0) & (cohesion == 0))
    pressed = np.flatnonzero((slope == 0) | (cohesion > 0))
    soft = np.flatnonzero(np.isfinite(crushing))
    normal, tangents = directions * np.arange(count), directions * np.arange(count)[:, None] + np.arange(1, directions)
    strength = np.full((count, 2), -1)
    if directions == 3:
        strength[rough, 0] = 3 * np.arange(len(rough))
        i = np.concatenate([3 * np.arange(len(rough)) + k for k in range(3)])
        j = np.concatenate([normal[rough], tangents[rough, 0], tangents[rough, 1]])
        value = np.concatenate([slope[rough], np.ones(2 * len(rough))])
        right_side = np.column_stack([cohesion[rough], np.zeros((len(rough), 2))]).ravel()
        cones: list = [clarabel.SecondOrderConeT(3)] * len(rough)
    else:
        strength[rough] = 2 * np.arange(len(rough))[:, None] + np.arange(2)
        i = np.concatenate([2 * np.arange(len(rough)) + k for k in (0, 1, 0, 1)])
        j = np.concatenate([normal[rough], normal[rough], tangents[rough, 0], tangents[rough, 0]])
        value = np.concatenate([slope[rough], slope[rough], np.ones(len(rough)), -np.ones(len(rough))])
        right_side = np.repeat(cohesion[rough], 2)
        cones = [clarabel.NonnegativeConeT(2 * len(rough))] if len(rough) else []
    rows = sp.csc_array((value, (i, j)), shape=(directions * len(rough), columns))
    held, squeezed = _selection(tangents[smooth].ravel(), columns), _selection(normal[pressed], columns)
    capped = -_selection(normal[soft], columns)
    cones += [clarabel.ZeroConeT(held.shape[0])] if len(smooth) else []
    cones += [clarabel.NonnegativeConeT(len(pressed) + len(soft))] if len(pressed) + len(soft) else []
    right_side = np.concatenate([right_side, np.zeros(held.shape[0]), tension[pressed], crushing[soft]])
    return sp.vstack([rows, held, squeezed, capped], format="csc"), right_side, cones, strength


def _selection(chosen: Array, columns: int) -> sp.csc_array:
    return sp.csc_array((np.ones(len(chosen)), (np.arange(len(chosen)), chosen)), shape=(len(chosen), columns))


def clarabel_settings(tolerance: float) -> clarabel.DefaultSettings:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    settings.presolve_enable = False
    settings.max_iter = 200
    return settings


def _read_answer(
    answer, balance: Balance, unit: ProgramUnits, columns, load: Array, strength: Array, cost: Array | None
) -> Optimum:
    count, directions = balance.frame.shape[:2]
    x, z = np.array(answer.x), np.array(answer.z)
    velocity = balance.velocity_of_all(unit.value * z[: len(load)] / unit.row)
    shear = np.append(z[len(load) :], 0.0)
    rate = unit.value / unit.force * shear[strength].sum(axis=1)
    force = unit.force * x[: count * directions].reshape(count, directions)
    error = float(max(np.abs(columns @ x + load).max(initial=0.0), abs(answer.obj_val - answer.obj_val_dual)))
    status = CLARABEL_STATUS.get(str(answer.status), str(answer.status))
    if status not in (SOLVED, INFEASIBLE, UNBOUNDED) and error <= ACCEPTED_ERROR:
        status = SOLVED
    solved = status == SOLVED
    multiplier = unit.multiplier * float(x[-1]) if len(x) > count * directions else 0.0
    value = 0.0 if cost is None else float(np.vdot(cost, force))
    return Optimum(status, multiplier if solved else np.nan, value if solved else np.nan, force, velocity, rate, error)

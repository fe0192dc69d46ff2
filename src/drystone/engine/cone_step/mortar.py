"""Joints with mortar in the contact problem of a step: applies the joint laws and returns the forces in the joints
(`JointSolution`).

Solvers take one form of problem (T9). Each law is transformed to it, and the solution is transformed back:

    stiffness along the joint   rows and impulses along it are scaled (T71)
    cohesion                    impulses are counted from the apex of the cone (T72)
    adhesion                    a second row at the point, a spring in a cone so wide that it is never reached (T74)
    crushing                    a soft row that starts at the cap (T76)

Which bonds break, how adhesion is damaged and which points are crushed is found by solving repeatedly until nothing changes
(T73). Bonds only get weaker, so the iteration ends.
"""

from typing import NamedTuple

import numpy as np

from drystone.contact.contacts import Contacts
from drystone.contact.placed_blocks import NEAR
from drystone.engine.solvers.problem import Problem, momentum_into, relative_velocity
from drystone.engine.solvers.solution import ContactSolver, Guess, Solution
from drystone.structure.joint_laws import NEGLIGIBLE_INTENSITY, Laws
from drystone.structure.model import Model

Array = np.ndarray

CRUSHED_STIFFNESS_RATIO = 1e-3  # stiffness of a crushed joint over that of the sound one
ADHESION_CONE_FACTOR = 10.0  # cone of an adhesive spring: its apex over the largest force of the spring, and its friction
APEX_MARGIN = 1e-6  # of the apex: the tension is kept at least this far from 0 and from the apex
MAX_PASSES = 100  # in a step; a step that still changes after them has not converged
INTENSITY_TOLERANCE = 1e-6  # a smaller change of the intensity of adhesion counts as none


class JointSolution(NamedTuple):
    """The forces in the joints in a step, and the energies."""

    solution: Solution  # with the total impulse of each contact
    drift: Array  # (C, 3) [m/s] relative velocity at the end, plus gap / h
    elastic: float  # [J] stored at the end
    friction: float  # [J] dissipated by sliding
    fracture: float  # [J] dissipated by bonds that broke or were damaged, and by crushing
    contacts: Contacts  # with the bonds at the end of the step
    bonded: bool  # by joints with laws of mortar, whose energy is told here


def solve_dry_joints(problem: Problem, guess: Guess, contacts: Contacts, solver: ContactSolver) -> JointSolution:
    """Solve the contact problem of joints with friction alone."""
    solution = solver(problem, guess)
    tau, drift = solution.impulse, relative_velocity(problem, solution.velocity)
    slip = drift + problem.compliance[:, None] * (tau - problem.memory)
    return JointSolution(solution, drift, 0.0, -float(np.vdot(tau[:, 1:], slip[:, 1:])), 0.0, contacts, False)


def create_bonds(contacts: Contacts, model: Model, laws: Laws) -> Contacts:
    """The contacts with new bonds, where the law has a bond and the blocks touch in a face, not along a line. A gap is filled
    with mortar."""
    a, b, group, radius = contacts.a, contacts.b, model.bodies.group, model.bodies.radius
    # contact detection finds larger gaps if joints transmit tension
    near = contacts.gap <= NEAR * np.minimum(radius[a], radius[b])
    _, pair = np.unique(a * len(group) + b, return_inverse=True)
    points = np.bincount(pair, near)[pair]
    has_bond = laws.cohesion[group[a], group[b]] + laws.energy[group[a], group[b]] > 0
    sound = has_bond & near & (points >= (2 if model.planar else 3))
    return contacts._replace(bond=sound.astype(float), rest=np.where(sound, contacts.gap, 0.0))


def solve_bonded_joints(
    problem: Problem, guess: Guess, contacts: Contacts, laws: Laws, group: Array, frame: Array, h: float, solver: ContactSolver
) -> JointSolution:
    """Solve the contact problem of joints with mortar. `problem` is that of dry joints; `frame` (C, 3, 3) has the world vectors
    of its coordinates."""
    strength = _strengths(problem, contacts, laws, group, h)
    slid = np.einsum("cij,cj->ci", frame, contacts.stretch) * (0.0, 1.0, 1.0)
    memory = problem.memory + h * (strength.drag * contacts.bond**2)[:, None] * slid  # of friction, without the adhesion's part
    nothing = np.zeros_like(guess.impulse)
    joint = _JointState(contacts.bond, np.zeros(len(nothing), bool), contacts.crushed, guess.impulse, nothing)
    factorisations, settled = 0, False
    for _ in range(MAX_PASSES):
        view = _make_solver_view(problem, strength, joint, contacts, memory, slid, h)
        solution = solver(view.problem, Guess(guess.velocity, _to_solver(view, joint), guess.hardship))
        factorisations += solution.factorisations
        drift = relative_velocity(problem, solution.velocity)
        opening = h * drift
        opening[:, 0] -= contacts.rest
        after = _update_bonds(_from_solver(view, solution.impulse, joint), strength, contacts, opening + slid, h)
        settled = _is_steady(joint, after)
        joint = after
        if settled:
            break
    slip = drift[:, 1:] + strength.shear[:, None] * (joint.borne - memory)[:, 1:]
    stretch = np.einsum("cij,ci->cj", frame, (opening + slid) * (0.0, 1.0, 1.0))
    held = joint.bond > 0
    return JointSolution(
        solution._replace(
            impulse=joint.borne + joint.pull, converged=solution.converged and settled, factorisations=factorisations
        ),
        drift,
        _elastic_energy(strength, joint.borne) + _adhesion_energy(strength, joint, h),
        -float(np.vdot(joint.borne[:, 1:], slip)),
        _fracture_energy(strength, contacts, joint, guess.impulse, h),
        contacts._replace(bond=joint.bond, crushed=joint.crushed, stretch=np.where(held[:, None], stretch, 0.0)),
        True,
    )


class _Strengths(NamedTuple):
    """The stiffnesses and strengths of the contacts in a step of length h, (C,)."""

    normal: Array  # [1/kg] compliance across the joint
    shear: Array  # [1/kg] compliance along the joint
    friction: Array
    apex: Array  # [N s] cohesion / friction of an undamaged bond
    tension: Array  # [N s] at which it breaks
    brittle: Array  # bool
    cap: Array  # [N s] at which the joint is crushed
    yielding: Array  # [m/(N s)] closing per impulse beyond the cap
    energy: Array  # [J] of adhesion
    viscosity: Array  # [J s]
    pull: Array  # [N/m] stiffness of undamaged adhesion across the joint
    drag: Array  # [N/m] stiffness of undamaged adhesion along the joint


def _strengths(problem: Problem, contacts: Contacts, laws: Laws, group: Array, h: float) -> _Strengths:
    here = group[contacts.a], group[contacts.b]
    law = Laws(*(table[here] for table in laws))
    area = contacts.area
    with np.errstate(divide="ignore", invalid="ignore"):
        normal = np.where(law.normal_stiffness > 0, 1 / (h * h * law.normal_stiffness * area), problem.compliance)
        shear = np.where(law.shear_stiffness > 0, 1 / (h * h * law.shear_stiffness * area), normal)
        apex = np.where(law.cohesion > 0, h * area * law.cohesion / problem.friction, 0.0)
    return _Strengths(
        normal,
        shear,
        problem.friction,
        apex,
        np.clip(h * area * law.tension, APEX_MARGIN * apex, (1 - APEX_MARGIN) * apex),
        law.brittle > 0,
        h * area * law.crushing,
        h * normal * (1 - CRUSHED_STIFFNESS_RATIO) / CRUSHED_STIFFNESS_RATIO,
        area * law.energy,
        area * law.viscosity,
        area * law.pull,
        area * law.drag,
    )


class _JointState(NamedTuple):
    """The contacts in one pass of a step."""

    bond: Array  # (C,) intensity of the bond: 1 undamaged, 0 broken
    yields: Array  # (C,) bool: whether the point is being crushed
    crushed: Array  # (C,) [m] crushed depth
    borne: Array  # (C, 3) [N s] by the joint: pressure, friction and cohesion
    pull: Array  # (C, 3) [N s] of adhesion


class _SolverView(NamedTuple):
    """The problem as the solver takes it, with R rows: the row of each contact, followed by that of its adhesion if it has
    one."""

    problem: Problem
    contact: Array  # (R,) int64 contact of the row
    glue: Array  # (R,) bool: the row is adhesion
    apex: Array  # (R,) [N s] added to the impulse across the joint
    scale: Array  # (R,) by which impulses along it are multiplied


def _make_solver_view(
    problem: Problem, strength: _Strengths, joint: _JointState, contacts: Contacts, memory: Array, slid: Array, h: float
) -> _SolverView:
    count = len(joint.bond)
    glued = np.flatnonzero((strength.energy > 0) & (joint.bond > 0))
    order = np.sort(np.concatenate([2 * np.arange(count), 2 * glued + 1]))
    row, glue = order // 2, order % 2 == 1
    stiff = h * joint.bond[glued] ** 2
    normal = np.where(joint.yields, strength.normal / CRUSHED_STIFFNESS_RATIO, strength.normal)[row]
    normal[glue] = 1 / (h * stiff * strength.pull[glued])
    shear = strength.shear[row]
    shear[glue] = 1 / (h * stiff * strength.drag[glued])
    apex = np.where(joint.bond > 0, strength.apex, 0.0)[row]
    apex[glue] = ADHESION_CONE_FACTOR * h * np.sqrt(strength.energy * np.maximum(strength.pull, strength.drag))[glued]
    friction, dilatancy = problem.friction[row], problem.dilatancy[row]
    friction[glue] = dilatancy[glue] = ADHESION_CONE_FACTOR
    with np.errstate(invalid="ignore"):
        crushing = np.where(joint.yields, -strength.cap * strength.yielding, contacts.crushed)[row]
    crushing[glue] = 0.0
    unstrained = memory[row]
    unstrained[glue] = -(stiff * strength.drag[glued])[:, None] * slid[glued]
    scale = np.sqrt(shear / normal)
    bias = problem.bias[row]
    bias[:, 0] += (crushing - contacts.rest[row]) / h
    bias[:, 1:] /= scale[:, None]
    unstrained = np.column_stack([apex, scale[:, None] * unstrained[:, 1:]])
    row_a, row_b = problem.row_a[row], problem.row_b[row]
    row_a[:, 1:] /= scale[:, None, None]
    row_b[:, 1:] /= scale[:, None, None]
    whitened = problem._replace(
        a=problem.a[row], b=problem.b[row], row_a=row_a, row_b=row_b, bias=bias, friction=friction * scale,
        dilatancy=dilatancy * scale, compliance=normal, memory=unstrained,
    )  # fmt: skip
    lifted = np.empty_like(problem.free)
    momentum_into(whitened, np.column_stack([apex, np.zeros((len(row), 2))]), lifted)
    return _SolverView(whitened._replace(free=problem.free - lifted), row, glue, apex, scale)


def _to_solver(view: _SolverView, joint: _JointState) -> Array:
    """(R, 3) the impulses in the coordinates of the solver."""
    impulse = np.where(view.glue[:, None], joint.pull[view.contact], joint.borne[view.contact])
    return np.column_stack([impulse[:, 0] + view.apex, view.scale[:, None] * impulse[:, 1:]])


def _from_solver(view: _SolverView, impulse: Array, joint: _JointState) -> _JointState:
    """The joint state with the impulses (R, 3) of the solver, transformed back."""
    plain = np.column_stack([impulse[:, 0] - view.apex, impulse[:, 1:] / view.scale[:, None]])
    pull = np.zeros_like(joint.pull)
    pull[view.contact[view.glue]] = plain[view.glue]
    return joint._replace(borne=plain[~view.glue], pull=pull)


def _update_bonds(joint: _JointState, strength: _Strengths, contacts: Contacts, opening: Array, h: float) -> _JointState:
    """The joint state after bonds have broken, adhesion was damaged and points were crushed in a pass; opening (C, 3) [m]."""
    across, along = joint.borne[:, 0], np.hypot(joint.borne[:, 1], joint.borne[:, 2])
    slides = along >= strength.friction * (across + strength.apex) * (1 - 1e-9)
    breaks = (strength.apex > 0) & ((-across > strength.tension) | (strength.brittle & slides))
    bond = np.where(breaks, 0.0, np.minimum(joint.bond, _intensity(strength, contacts.bond, opening, h)))
    with np.errstate(invalid="ignore"):
        closing = (across - strength.cap) * strength.yielding
        yields = closing > contacts.crushed + 1e-9 * strength.cap * strength.yielding
    return joint._replace(bond=bond, yields=yields, crushed=np.where(yields, closing, contacts.crushed))


def _intensity(strength: _Strengths, before: Array, opening: Array, h: float) -> Array:
    """The intensity of adhesion (T75), zero below NEGLIGIBLE_INTENSITY; contacts without adhesion are unchanged."""
    away = np.maximum(opening[:, 0], 0.0)
    release = strength.pull * away**2 + strength.drag * (opening[:, 1:] ** 2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        left = (strength.viscosity * before + h * strength.energy) / (strength.viscosity + h * release)
    left = np.where(left < NEGLIGIBLE_INTENSITY, 0.0, left)
    return np.where((strength.energy > 0) & (release > 0), left, before)


def _is_steady(old: _JointState, new: _JointState) -> bool:
    return bool(np.array_equal(old.yields, new.yields) and np.all(old.bond - new.bond <= INTENSITY_TOLERANCE * (new.bond > 0)))


def _elastic_energy(strength: _Strengths, impulse: Array) -> float:
    """[J] stored in the stone and the mortar."""
    return 0.5 * float(strength.normal @ impulse[:, 0] ** 2 + strength.shear @ (impulse[:, 1:] ** 2).sum(axis=1))


def _adhesion_energy(strength: _Strengths, joint: _JointState, h: float) -> float:
    glued = (strength.energy > 0) & (joint.bond > 0)
    pull, stiff = joint.pull[glued], (h * joint.bond[glued]) ** 2
    across, along = stiff * strength.pull[glued], stiff * strength.drag[glued]
    return 0.5 * float(np.sum(pull[:, 0] ** 2 / across) + np.sum((pull[:, 1:] ** 2).sum(axis=1) / along))


def _fracture_energy(strength: _Strengths, contacts: Contacts, joint: _JointState, before: Array, h: float) -> float:
    """[J] dissipated by fracture in the step (T77); `before` (C, 3) [N s] are the impulses at its start."""
    lost = contacts.bond - joint.bond
    damage = float(np.sum((strength.energy + strength.viscosity * lost / h) * lost))
    broken = (lost > 0) & (strength.apex > 0)
    part = _Strengths(*(each[broken] for each in strength))
    released = max(0.0, _elastic_energy(part, before[broken]) - _elastic_energy(part, joint.borne[broken]))
    soft = np.isfinite(strength.cap) & (joint.crushed > contacts.crushed)
    mean = strength.cap[soft] + 0.5 * (joint.crushed + contacts.crushed)[soft] / strength.yielding[soft]
    return damage + released + float(np.sum(mean * (joint.crushed - contacts.crushed)[soft])) / h

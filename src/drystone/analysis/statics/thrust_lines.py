"""Conventional thrust lines of an arch, with the least and largest thrust and the geometric safety factor.

An arch is a chain of blocks from support to support in a vertical plane. The reaction of the first support (two components and
a moment: three redundants) and the loads determine the thrust in every joint (T38). The line is admissible if it crosses all
joints inside. Sliding is not considered; the slope of the thrust in each joint can be compared with the friction afterwards.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from drystone.analysis.statics.balance import Balance, assemble_balance
from drystone.base.errors import InputError
from drystone.contact.pairs import chains, touching_pairs
from drystone.structure.loads import weight_wrench
from drystone.structure.model import Model

Array = np.ndarray

PLANE_TOLERANCE = 1e-3  # tolerance for an arch in a plane: slope of its joints, share of its span and of its loads
# the largest safety factor that is computed, and the largest factor on the joints of an arch that does not stand
MAX_SAFETY_FACTOR = 1e3
LINPROG_SOLVED, LINPROG_UNBOUNDED = 0, 3  # statuses of scipy.optimize.linprog
KNIFE_EDGE = 1e-9  # of the span: a joint with less height is an edge
UP = np.array([0.0, 0.0, 1.0])


class Arch(NamedTuple):
    """A chain of blocks in the plane (along, up): J joints, and the loads of the J - 1 voussoirs between them."""

    blocks: Array  # (J + 1,) the first support, the voussoirs, the last support
    along: Array  # (3,) horizontal, unit, from the first support to the last
    middle: Array  # (J, 3) [m] of the joints
    normal: Array  # (J, 2) unit, along and up, from each block into the next
    half: Array  # (J,) [m] from the middle of a joint to its edges
    friction: Array  # (J,)
    load: Array  # (J - 1, 3) [N, N, N m] along, up, and moment from along to up about the middle of the first joint


class ThrustLine(NamedTuple):
    """One thrust line."""

    thrust: float  # [N] horizontal reaction of the first support
    force: Array  # (J, 3) [N] of each block on the next
    point: Array  # (J, 3) [m] where the line crosses the joints
    offset: Array  # (J,) of these points from the middles of the joints, 1 or -1 on their edges
    slope: Array  # (J,) tangent of the angle between the thrust and the normal of the joint


class ThrustResult(NamedTuple):
    """The results of the thrust lines of an arch; None for a line that does not exist."""

    minimum: ThrustLine | None  # the line of least thrust
    maximum: ThrustLine | None  # the line of largest thrust; None if it is unbounded
    safest: ThrustLine | None  # the line farthest from the edges or, if the arch does not stand, the one least outside
    # by which all joints may be thinner about their middles, up to MAX_SAFETY_FACTOR; below 1: no line is inside
    safety_factor: float


def find_arch(system: Balance, load: Array, chosen: Array | None = None) -> Arch | None:
    """The arch of all free blocks, or of chosen blocks (B,) bool of a larger structure, under loads (B, 6) [N, N m]. It stands
    on fixed blocks or on blocks with their centroids below it. None if the blocks are no chain, or if loads push them out of
    plane."""
    chain = _chain(system, ~system.model.bodies.fixed if chosen is None else chosen)
    if chain is None:
        return None
    corners, normals, friction = (list(each) for each in zip(*(_joint(system, *pair) for pair in pairwise(chain)), strict=True))
    direction = (corners[-1].mean(axis=0) - corners[0].mean(axis=0)) * [1, 1, 0]
    span = float(np.linalg.norm(direction))
    if span == 0.0:
        return None
    along, aside = direction / span, np.cross(UP, direction / span)
    normal = np.column_stack([np.array(normals) @ along, np.array(normals)[:, 2]])
    middle, half = _middles(corners, _edges(along, normal))
    voussoirs = np.array(chain[1:-1])
    force, arm = load[voussoirs, :3], system.model.position[voussoirs] - middle[0]
    moment = load[voussoirs, 3:] + np.cross(arm, force)
    off_plane = max(np.abs(np.array(normals) @ aside).max(), np.ptp(middle @ aside) / span)
    astray = np.abs(np.column_stack([force @ aside, moment @ along / span, moment[:, 2] / span])).max()
    if off_plane > PLANE_TOLERANCE or astray > PLANE_TOLERANCE * np.abs(force).max():
        return None
    carried = np.column_stack([force @ along, force[:, 2], -moment @ aside])
    return Arch(np.array(chain), along, middle, normal, half, np.array(friction), carried)


def _chain(system: Balance, chosen: Array) -> list[int] | None:
    """The numbers of the blocks from support to support."""
    model = system.model
    foot = min(block.vertices[:, 2].min() for block, inside in zip(model.blocks, chosen, strict=True) if inside)
    supports = model.bodies.fixed | ~chosen & (model.position[:, 2] < foot)
    solution = chains(touching_pairs(system.contacts)[0], supports, chosen)
    return solution[0] if solution and len(solution[0]) == chosen.sum() + 2 else None


def _joint(system: Balance, first: int, second: int) -> tuple[Array, Array, float]:
    """The corners (K, 3) [m], the normal from one block into the other, and the smallest friction of the joint between them."""
    contacts = system.contacts
    in_joint = (contacts.a == min(first, second)) & (contacts.b == max(first, second))
    normal = contacts.normal[in_joint].mean(axis=0)
    return contacts.point[in_joint], normal if first < second else -normal, float(system.friction[in_joint].min())


def _edges(along: Array, normal: Array) -> Array:
    """(J, 3) Unit vectors along the joints; a thrust with an offset in this direction has a moment from along to up."""
    return normal[:, 1:] * along - normal[:, :1] * UP


def outer_ends(arch: Arch) -> Array:
    """(J, 3) [m] The ends of the joints on the outside of the arch, on the left of the direction from support to support."""
    return arch.middle - arch.half[:, None] * _edges(arch.along, arch.normal)


def _middles(corners: list[Array], edge: Array) -> tuple[Array, Array]:
    """(J, 3) and (J,) [m] The middles of the joints, and their half lengths along their edges."""
    along_joint = [joint @ direction for joint, direction in zip(corners, edge, strict=True)]
    low, high = np.array([p.min() for p in along_joint]), np.array([p.max() for p in along_joint])
    centre = np.array([joint.mean(axis=0) for joint in corners])
    shift = (low + high) / 2 - np.einsum("ji,ji->j", centre, edge)
    return centre + shift[:, None] * edge, (high - low) / 2


def conventional_thrust(arch: Arch) -> ThrustResult:
    """The lines of least and largest thrust, and the geometric safety factor."""
    least, largest = _extreme(arch, 1.0, 1), _extreme(arch, 1.0, -1)
    share, safest = _least_room(arch)
    return ThrustResult(_line(arch, least), _line(arch, largest), _line(arch, safest), float(1 / share))


def _resultants(arch: Arch) -> tuple[Array, Array, Array]:
    """The effect of the reaction x (3,) of the first support (along, up, moment) on the joints: the accumulated loads `carried`
    (J, 3), and the rows (J, 3) that give the normal force and the moment about the middle of each joint from x + carried."""
    carried = np.vstack([np.zeros(3), arch.load.cumsum(axis=0)])
    along_joint = arch.middle - arch.middle[0]
    normal = np.column_stack([arch.normal, np.zeros(len(along_joint))])
    return carried, normal, np.column_stack([along_joint[:, 2], -along_joint @ arch.along, np.ones(len(along_joint))])


def thrust_line_multiplier(arch: Arch, live: Array) -> float:
    """The largest multiplier of live loads (J - 1, 3), in the form of Arch.load and added to the loads of the arch, with a line
    inside all joints; infinite if unbounded, nan if there is no line even without live loads."""
    status, solution = _solve_push(arch, 1.0, [0, 0, 0, -1], live)
    return float(solution[3]) if status == LINPROG_SOLVED else np.inf if status == LINPROG_UNBOUNDED else np.nan


def _length(arch: Arch) -> float:
    """[m] The length by which moments about joints are scaled: the longest joint or, if all are knife edges, the span."""
    return float(arch.half.max(where=~_knife_edges(arch), initial=0.0)) or _span(arch)


def _span(arch: Arch) -> float:
    """[m] The distance between the first joint and the last."""
    return float(np.ptp(arch.middle @ arch.along))


def _knife_edges(arch: Arch) -> Array:
    """(J,) Whether joints are without height, so that the line goes through them."""
    return arch.half <= KNIFE_EDGE * _span(arch)


def _extreme(arch: Arch, share: float, sign: int) -> Array | None:
    """(3,) The reaction of the first support with the least (sign 1) or largest (-1) thrust whose line stays within the share
    `room` of every joint; None if there is none or it is unbounded. If joints without height do not bound it, the least is
    0."""
    no_load = np.zeros_like(arch.load)
    status, solution = _solve_push(arch, share, [sign, 0, 0, 0], no_load)
    if status == LINPROG_UNBOUNDED and sign == 1:
        status, solution = _solve_push(arch, share, [sign, 0, 0, 0], no_load, least=0.0)
    return solution[:3] if status == LINPROG_SOLVED else None


def _solve_push(arch: Arch, share: float, cost: list[int], live: Array, least: float | None = None) -> tuple[int, Array]:
    """The status, and (4,) the reaction of the first support and the multiplier of the live loads with the least cost (T38).
    least: lower bound of the thrust."""
    carried, normal, moment = _resultants(arch)
    more = np.vstack([np.zeros(3), live.cumsum(axis=0)])
    force, length = float(np.abs(arch.load[:, :2]).sum()) or 1.0, _length(arch)
    unit = np.array([force, force, force * length, 1.0])
    rows, bounds_right = [], []
    for direction in (1, -1):
        row = (direction * moment - share * arch.half[:, None] * normal) / (force * length)
        rows.append(np.column_stack([row, np.einsum("ji,ji->j", row, more)]) * unit)
        bounds_right.append(-np.einsum("ji,ji->j", row, carried))
    edge = _knife_edges(arch)  # no other constraint prevents tension in them
    rows.append(-np.column_stack([normal, np.einsum("ji,ji->j", normal, more)])[edge] * unit / force)
    bounds_right.append(np.einsum("ji,ji->j", normal, carried)[edge] / force)
    bounds = [(least, None)] + [(None, None)] * 2 + [(0, None if live.any() else 0)]
    from scipy.optimize import linprog  # takes a third of a second to import, and most programs do not need it

    solution = linprog(cost, np.vstack(rows), np.concatenate(bounds_right), bounds=bounds,
                    options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10})  # fmt: skip
    return solution.status, unit * solution.x if solution.status == LINPROG_SOLVED else unit


def _least_room(arch: Arch) -> tuple[float, Array | None]:
    """The smallest share of the joints about their middles that contains a line, and the reaction of that line (T39)."""
    low, high = 1 / MAX_SAFETY_FACTOR, MAX_SAFETY_FACTOR
    best = _extreme(arch, high, 1)
    if best is None:
        return np.inf, None
    while high > (1 + 1e-8) * low:
        share = np.sqrt(low * high)
        solution = _extreme(arch, share, 1)
        low, high, best = (share, high, best) if solution is None else (low, share, solution)
    return high, best


def _line(arch: Arch, push: Array | None) -> ThrustLine | None:
    if push is None:
        return None
    carried, normal, moment = _resultants(arch)
    total = push + carried
    squeeze = np.maximum(
        np.einsum("ji,ji->j", normal, total), 1e-12 * np.abs(total[:, :2]).max()
    )  # a lintel may have shear only
    shear = np.abs(arch.normal[:, 1] * total[:, 0] - arch.normal[:, 0] * total[:, 1])
    offset = np.einsum("ji,ji->j", moment, total) / squeeze
    point = arch.middle + offset[:, None] * _edges(arch.along, arch.normal)
    force = total[:, :1] * arch.along + total[:, 1:2] * UP
    share = np.where(_knife_edges(arch), 0.0, offset / np.where(arch.half > 0.0, arch.half, 1.0))
    return ThrustLine(float(push[0]), force, point, share, shear / squeeze)


def minimum_thickness(family: Callable[[float], Model], thin: float, thick: float) -> float:
    """[m] The smallest thickness, between two given ones, at which an arch of the family contains a thrust line under its own
    weight."""

    def spare(thickness: float) -> float:
        system = assemble_balance(family(thickness))
        arch = find_arch(system, weight_wrench(system.model, 1.0))
        if arch is None:
            raise InputError(
                f"minimum thickness: at {thickness:g} m the blocks do not form a chain from support to support in a "
                "vertical plane; give a family of arches"
            )
        return conventional_thrust(arch).safety_factor - 1.0

    if spare(thin) > 0 or spare(thick) < 0:
        raise InputError(f"minimum thickness: {thin:g} m to {thick:g} m does not range from too thin to thick enough; "
                         "give a wider range")  # fmt: skip
    from scipy.optimize import brentq

    return float(brentq(spare, thin, thick, xtol=1e-7 * thick))

"""Describe the mechanism of a structure from the motion of its blocks: macro-blocks, and the hinges and sliding joints between
them.

Blocks that move as one rigid body form a macro-block (T61). Each joint between two macro-blocks is a hinge, slides, twists or
opens (T62). `read_mechanism` takes velocities or small displacements, `read_displacement` finite ones (T60). All amounts are
scaled so that the largest displacement of any corner is 1 m, because only the shape of a mechanism is known; multiply by
`Mechanism.largest` to obtain the finite displacement.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from drystone.base import quaternion
from drystone.base.errors import InputError
from drystone.contact.contacts import Contacts
from drystone.contact.pairs import chains, touching_pairs
from drystone.structure.body_surfaces import block_of_vertices
from drystone.structure.model import Model
from drystone.structure.neighbours import label_connected

Array = np.ndarray
PointDisplacement = Callable[
    [Array, Array], Array
]  # blocks (n,) and points (n, 3) [m] at the start -> displacement (n, 3) of the points

JOINT_MOTION_KINDS = ("hinge", "sliding", "torsion", "opening")
CLOSED_SHARE = 0.05  # points that open by less than this share of the largest opening of their joint stay closed
# a body whose rotation times its size is less than this share of its displacement moves in a straight line
STRAIGHT_MOTION_SHARE = 0.02
MAX_LISTED = 6  # joints or names listed one by one; more are counted
JOINT_SIDES = (
    ("left", "right"),
    ("front", "back"),
    ("bottom", "top"),
)  # names of the sides of a joint, towards -x, +x, -y, ...


@dataclass(frozen=True)
class MacroBlock:
    """Blocks that move as one rigid body."""

    blocks: Array  # (n,) int64
    mass: float  # [kg] of its free blocks
    centroid: Array  # (3,) [m]
    shift: Array  # (3,) [m] of the centroid
    turn: Array  # (3,) [rad] axis times angle
    axis: Array | None  # (3,) [m] the point of its rotation axis nearest to the centroid; None: it moves in a straight line


@dataclass(frozen=True)
class JointMotion:
    """The relative motion at the joint between two blocks of different macro-blocks."""

    a: int
    b: int
    kind: str  # one of JOINT_MOTION_KINDS
    opening: float  # [m] the largest: the width of the crack
    slip: float  # [m] the largest slip of the points that stay closed, or of all points if none does
    turn: Array  # (3,) [rad] rotation of b relative to a
    place: Array  # (3,) [m] the middle of the points that stay closed for a hinge, else the middle of the joint
    side: str  # the position of a hinge: "extrados", "intrados" or a side of the joint; else ""
    points: Array  # (n, 3) [m] the contact points


@dataclass(frozen=True)
class Mechanism:
    """The motion of a structure as an engineer describes it."""

    names: tuple[str, ...]
    largest: float  # [m, or m/s of velocities] displacement of the corner that moves most
    motion: Array  # (B, 6) [m, rad] of the blocks about their centroids
    macro: Array  # (B,) int64 row of `bodies`
    bodies: tuple[MacroBlock, ...]  # the first has the blocks that do not move, which may be none; then the heaviest first
    joints: tuple[JointMotion, ...]
    tolerance: float  # of the largest displacement: smaller movements against the ground or a neighbour count as none

    @property
    def words(self) -> str:
        """The mechanism in one or a few sentences."""
        moving = self.bodies[1:]
        if not moving:
            return "nothing moves"
        listed = MAX_LISTED if len(moving) <= MAX_LISTED else MAX_LISTED // 2
        descriptions = [_describe_body(body, self.names) for body in moving[:listed]]
        rest = f"; and {len(moving) - listed} more" if len(moving) > listed else ""
        at_rest = len(self.bodies[0].blocks)
        movers = "1 macro-block moves" if len(moving) == 1 else f"{len(moving)} macro-blocks move"
        count = f"{movers}, {at_rest} {'block is' if at_rest == 1 else 'blocks are'} at rest"
        kinds = [_describe_joints(kind, [j for j in self.joints if j.kind == kind], self.names) for kind in JOINT_MOTION_KINDS]
        return "; ".join([f"{count}: " + "; ".join(descriptions) + rest, *(kind for kind in kinds if kind)])

    def as_dict(self) -> dict[str, Any]:
        """The mechanism as plain numbers and names, for JSON."""
        kinds = Counter(joint.kind for joint in self.joints)
        return {
            "words": self.words,
            "largest_displacement": self.largest,
            "tolerance": self.tolerance,
            "still_blocks": len(self.bodies[0].blocks),
            "macro_blocks": [_body_dict(body, self.names) for body in self.bodies[1:]],
            **{f"{kind}_joints": kinds[kind] for kind in JOINT_MOTION_KINDS},
            "joints": [_joint_dict(joint, self.names) for joint in self.joints],
        }


def read_mechanism(model: Model, contacts: Contacts, motion: Array, *, tolerance: float = 1e-3) -> Mechanism:
    """The mechanism of velocities, or of small displacements and rotations, (B, 6) [m, rad] about the centroids.

    tolerance: of the largest displacement; smaller movements against the ground or a neighbour count as none."""
    _check_shape("motion", motion, (len(model.blocks), 6))

    def displace(block: Array, point: Array) -> Array:
        return motion[block, :3] + np.cross(motion[block, 3:], point - model.position[block])

    relative = displace(contacts.b, contacts.point) - displace(contacts.a, contacts.point)
    return _read(model, contacts, motion, displace, (relative, motion[contacts.b, 3:] - motion[contacts.a, 3:]), 0.0, tolerance)


def read_displacement(model: Model, contacts: Contacts, shift: Array, turn: Array, *, tolerance: float = 1e-3) -> Mechanism:
    """The mechanism of finite displacements of the centroids (B, 3) [m] and rotations (B, 4) (quaternions) from the initial
    positions; `contacts` are the initial contacts."""
    _check_shape("shift", shift, (len(model.blocks), 3))
    _check_shape("turn", turn, (len(model.blocks), 4))

    def displace(block: Array, point: Array) -> Array:
        arm = point - model.position[block]
        return shift[block] + quaternion.rotate(turn[block], arm) - arm

    inverse = quaternion.conjugate(turn[contacts.a])  # relative to a, so that a common motion of both does not count
    relative = quaternion.rotate(inverse, displace(contacts.b, contacts.point) - displace(contacts.a, contacts.point))
    turned = quaternion.rotation_vector(quaternion.product(inverse, turn[contacts.b]))
    motion = np.concatenate([shift, quaternion.rotation_vector(turn)], axis=1)
    return _read(model, contacts, motion, displace, (relative, turned), 1.0, tolerance)


def _check_shape(name: str, values: Array, shape: tuple[int, int]) -> None:
    if np.shape(values) != shape:
        raise InputError(f"mechanism: {name} has the shape {np.shape(values)}; give {shape}, one row per block")
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
        raise InputError(f"mechanism: {name} of block {row} is {values[row]}; give finite numbers")


def _read(
    model: Model,
    contacts: Contacts,
    motion: Array,
    displace: PointDisplacement,
    against: tuple[Array, Array],  # (C, 3) [m] and (C, 3) [rad] displacement and rotation of b relative to a, at the contacts
    finite: float,  # 1: finite displacements; 0: their limit
    tolerance: float,
) -> Mechanism:
    names = tuple(block.name for block in model.blocks)
    path = _block_paths(model, displace)
    largest = float(path.max())
    if largest == 0.0:
        rest = _body(model, np.arange(len(names)), motion, displace, finite, 1.0)
        return Mechanism(names, 0.0, np.zeros_like(motion), np.zeros(len(names), np.int64), (rest,), (), tolerance)
    pair, row = touching_pairs(contacts)
    relative, turned = against[0] / largest, against[1] / largest
    is_moving = path > tolerance * largest
    joined = pair[_relative_path(model, pair, row, relative, turned) <= tolerance]
    label = label_connected(len(names), joined)
    is_anchored = np.isin(
        label, label[model.bodies.fixed & ~is_moving]
    )  # a long chain of blocks may move away slowly from its support
    label = label_connected(
        len(names), joined[~is_anchored[joined[:, 0]] | (is_moving[joined[:, 0]] == is_moving[joined[:, 1]])]
    )
    moves = np.unique(label[is_moving])
    still_blocks = np.flatnonzero(~np.isin(label, moves))
    moving = [np.flatnonzero(label == k) for k in moves]
    bodies = [_body(model, blocks, motion, displace, finite, largest) for blocks in [still_blocks, *moving]]
    bodies[1:] = sorted(bodies[1:], key=lambda body: (-float(f"{body.mass:.6e}"), *body.centroid.round(9).tolist()))
    macro = np.zeros(len(names), np.int64)
    for k, body in enumerate(bodies):
        macro[body.blocks] = k
    joints = _joints(model, contacts, pair, row, relative, turned, macro, tolerance)
    return Mechanism(names, largest, motion / largest, macro, tuple(bodies), joints, tolerance)


def _block_paths(model: Model, displace: PointDisplacement) -> Array:
    """(B,) [m] the largest displacement of any corner of a block."""
    bodies = model.bodies
    block = block_of_vertices(bodies)
    path = np.zeros(len(model.blocks))
    np.maximum.at(path, block, np.linalg.norm(displace(block, model.position[block] + bodies.vertex), axis=1))
    return path


def _relative_path(model: Model, pair: Array, row: Array, relative: Array, turned: Array) -> Array:
    """(J,) The largest relative displacement of two neighbours by opening, sliding or rotation (T61)."""
    radius = np.minimum(model.bodies.radius[pair[:, 0]], model.bodies.radius[pair[:, 1]])
    apart = np.zeros(len(pair))
    np.maximum.at(apart, row, np.linalg.norm(relative, axis=1))
    # points on one line do not show a rotation about it
    np.maximum.at(apart, row, np.linalg.norm(turned, axis=1) * radius[row])
    return apart


def _body(model: Model, blocks: Array, motion: Array, displace: PointDisplacement, finite: float, largest: float) -> MacroBlock:
    """The motion of a macro-block is that of its heaviest block."""
    if not len(blocks):
        return MacroBlock(blocks, 0.0, np.zeros(3), np.zeros(3), np.zeros(3), None)
    mass = np.where(model.bodies.fixed[blocks], 0.0, model.bodies.mass[blocks])
    weight = mass if mass.any() else np.ones(len(blocks))
    centroid = np.average(model.position[blocks], axis=0, weights=weight)
    heaviest = blocks[[int(np.argmax(weight))]]
    shift, turn = displace(heaviest, centroid[None])[0], motion[heaviest[0], 3:]
    size = float((np.linalg.norm(model.position[blocks] - centroid, axis=1) + model.bodies.radius[blocks]).max())
    angle = float(np.linalg.norm(turn))
    straight = angle * size <= STRAIGHT_MOTION_SHARE * float(np.linalg.norm(shift))
    axis = None if straight else _axis_point(centroid, shift, turn, finite)
    return MacroBlock(blocks, float(mass.sum()), centroid, shift / largest, turn / largest, axis)


def _axis_point(centroid: Array, shift: Array, turn: Array, finite: float) -> Array:
    """(3,) [m] of the axis of a screw, nearest the centroid (T63)."""
    angle = float(np.linalg.norm(turn))
    direction = turn / angle
    across = shift - (shift @ direction) * direction
    lever = 0.5 / np.tan(angle / 2) if finite else 1.0 / angle
    return centroid + finite * across / 2 + lever * np.cross(direction, across)


def _joints(
    model: Model, contacts: Contacts, pair: Array, row: Array, relative: Array, turned: Array, macro: Array, tolerance: float
) -> tuple[JointMotion, ...]:
    """The joints between different macro-blocks, in the order of their pairs."""
    inward = _arch_insides(model, contacts, pair, row)
    frictions = model.friction_between(pair[:, 0], pair[:, 1])
    order = np.argsort(row, kind="stable")
    start = np.searchsorted(row[order], np.arange(len(pair) + 1))
    joint_motions = []
    for k in np.flatnonzero(macro[pair[:, 0]] != macro[pair[:, 1]]).tolist():
        rows = order[start[k] : start[k + 1]]
        a, b = pair[k].tolist()
        points, turn = contacts.point[rows], turned[rows[0]]
        kind, is_closed, opening, slip = _classify(
            points, contacts.normal[rows], relative[rows], turn, float(frictions[k]), tolerance
        )
        middle = points.mean(axis=0)
        place = points[is_closed].mean(axis=0) if kind == "hinge" else middle
        side = _side(place, points, inward.get((a, b))) if kind == "hinge" else ""
        joint_motions.append(JointMotion(a, b, kind, opening, slip, turn, place, side, points))
    return tuple(joint_motions)


def _classify(
    points: Array, normal: Array, relative: Array, turn: Array, friction: float, tolerance: float
) -> tuple[str, Array, float, float]:
    """The kind of a joint (T62), which of its points stay closed, its opening and its slip [m]."""
    opening = np.einsum("ij,ij->i", relative, normal)
    along = relative - opening[:, None] * normal
    slip = np.linalg.norm(along, axis=1)
    dilation = friction * slip  # by the associated law a sliding joint opens by this much
    widest = max(float(opening.max()), 0.0)
    is_closed = (opening <= max(tolerance, CLOSED_SHARE * widest)) | (
        np.abs(opening - dilation) <= CLOSED_SHARE * dilation + tolerance
    )
    slid = float(slip[is_closed].max()) if is_closed.any() else float(slip.max())
    if not is_closed.any():
        kind = "opening"
    elif slid <= tolerance or float((opening - dilation).max()) > slid:
        kind = "hinge"
    else:
        twist = abs(float(turn @ normal.mean(axis=0))) * float(np.linalg.norm(points - points.mean(axis=0), axis=1).max())
        kind = (
            "torsion" if twist > float(np.linalg.norm(along.mean(axis=0))) else "sliding"
        )  # a rotation about a point of the joint
    return kind, is_closed, widest, slid


def _arch_insides(model: Model, contacts: Contacts, pair: Array, row: Array) -> dict[tuple[int, int], Array]:
    """For the joints of arches, the direction (3,) towards the intrados, which is where the other joints lie."""
    fixed = model.bodies.fixed
    count = np.bincount(row, minlength=len(pair))
    middle = np.stack([np.bincount(row, contacts.point[:, k], len(pair)) for k in range(3)], axis=1) / count[:, None]
    place = {(a, b): middle[k] for k, (a, b) in enumerate(pair.tolist())}
    inward: dict[tuple[int, int], Array] = {}
    for chain in chains(pair, fixed):
        if not (fixed[chain[0]] and fixed[chain[-1]]):
            continue
        joints = [(min(a, b), max(a, b)) for a, b in pairwise(chain)]
        centre = np.mean([place[joint] for joint in joints], axis=0)
        inward |= {joint: centre - place[joint] for joint in joints}
    return inward


def _side(place: Array, points: Array, inward: Array | None) -> str:
    """The position of a hinge in its joint."""
    offset = place - points.mean(axis=0)
    size = float(np.linalg.norm(points - points.mean(axis=0), axis=1).max())
    if float(np.linalg.norm(offset)) <= CLOSED_SHARE * size:
        return "middle"
    if inward is not None and abs(float(offset @ inward)) > CLOSED_SHARE * float(
        np.linalg.norm(offset) * np.linalg.norm(inward)
    ):
        return "intrados" if offset @ inward > 0 else "extrados"
    axis = int(np.abs(offset).argmax())
    return JOINT_SIDES[axis][int(offset[axis] > 0)]


def _describe_body(body: MacroBlock, names: Sequence[str]) -> str:
    subject = f"{_summarise_names([names[b] for b in body.blocks])} ({body.mass / 1e3:.3g} t)"
    moves, turns = ("moves", "turns") if len(body.blocks) == 1 else ("move", "turn")
    if body.axis is None:
        return f"{subject} {moves} {_describe_direction(body.shift)}"
    direction = np.abs(body.turn) / np.linalg.norm(body.turn)
    main = int(direction.argmax())
    parallel = direction[main] > 0.99
    along = f"along {'xyz'[main]}" if parallel else "that is horizontal" if direction[2] < 0.1 else "that is inclined"
    shown_axes = [k for k in range(3) if k != main or not parallel]
    place = ", ".join(f"{'xyz'[k]} = {body.axis[k] + 0.0:.2f} m" for k in shown_axes)
    return f"{subject} {turns} about an axis {along} at {place}"


def _describe_direction(shift: Array) -> str:
    """A direction in words."""
    unit = shift / np.linalg.norm(shift)
    main = int(np.abs(unit).argmax())
    if abs(unit[main]) > 0.99:
        return f"towards {'-+'[int(unit[main] > 0)]}{'xyz'[main]}" if main < 2 else ("down", "up")[int(unit[2] > 0)]
    return f"towards ({', '.join(f'{u + 0.0:.2f}' for u in unit)})"


def _describe_joints(kind: str, joints: list[JointMotion], names: Sequence[str]) -> str:
    if not joints:
        return ""
    verb = {"hinge": "hinges at", "sliding": "sliding along", "torsion": "torsion in", "opening": "opening of"}[kind]
    if len(joints) > MAX_LISTED:
        stems = Counter("|".join(sorted((_stem(names[j.a]), _stem(names[j.b])))) for j in joints)
        return f"{verb} {len(joints)} joints ({', '.join(f'{n} {stem}' for stem, n in stems.most_common(MAX_LISTED))})"
    return f"{verb} " + ", ".join(f"{names[j.a]}|{names[j.b]}" + f" ({j.side})" * bool(j.side) for j in joints)


def _summarise_names(names: list[str]) -> str:
    """Two names as they are, consecutive numbers as a range, others counted by the beginning of their names."""
    numbers = [int(name[len(_stem(name)) :].lstrip("-_ ") or -1) for name in names]
    stems = Counter(_stem(name) for name in names)
    if len(names) <= 2:
        return " and ".join(names)
    if len(stems) == 1 and sorted(numbers) == list(range(min(numbers), max(numbers) + 1)):
        order = np.argsort(numbers)
        return f"{names[order[0]]} to {names[order[-1]]}"
    kinds = Counter(_stem(stem) for stem in stems.elements()).most_common()
    if len(kinds) == 1:
        return f"{len(names)} blocks ({kinds[0][0]}-*)"
    descriptions = [f"{count} {kind}-*" for kind, count in kinds[:3]] + ["..."] * (len(kinds) > 3)
    return f"{len(names)} blocks ({', '.join(descriptions)})"


def _stem(name: str) -> str:
    """A name without the number at its end: "block-3" of "block-3-7", which is block 7 of course 3."""
    return name.rstrip("0123456789").rstrip("-_ ") or name


def _body_dict(body: MacroBlock, names: Sequence[str]) -> dict[str, Any]:
    return {
        "blocks": [names[b] for b in body.blocks],
        "mass": body.mass,
        "centroid": body.centroid.tolist(),
        "displacement": body.shift.tolist(),
        "rotation": body.turn.tolist(),
        "axis": None if body.axis is None else body.axis.tolist(),
    }


def _joint_dict(joint: JointMotion, names: Sequence[str]) -> dict[str, Any]:
    return {
        "blocks": [names[joint.a], names[joint.b]],
        "kind": joint.kind,
        "opening": joint.opening,
        "slip": joint.slip,
        "rotation": float(np.linalg.norm(joint.turn)),
        "place": joint.place.tolist(),
        "side": joint.side,
    }

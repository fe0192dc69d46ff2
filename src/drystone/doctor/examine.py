"""The examination: blocks come in, a `Report` goes out: what the structure is, and all that is wrong or doubtful.

Errors are what the door (`build_model`) refuses, found by the same checks; warnings are what it lets pass but the user
hardly meant. Every tolerance is a share of the block's size, so that a file in mm and the same in m give the same
findings. A block that is no sound solid is left out of the questions about pairs; where it might touch, it is taken to.
"""

import math
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from drystone.contact.beds import hung_by_friction
from drystone.doctor.touch import NO_JOINTS, Joints, find_joints, near_boxes, place_blocks
from drystone.errors import Finding, InputError
from drystone.model import Block, block_findings, convex_pieces, labels_of, named, unite
from drystone.neighbours import connected, near_pairs
from drystone.overlap import least_extents, overlap_findings
from drystone.solid import (
    FLATNESS,
    Surfaces,
    boxes,
    diagonal,
    face_normals,
    face_widths,
    lay_out,
    mass_properties,
    surface_findings,
)
from drystone.units import GRAVITY, quantity

Array = np.ndarray

NEAR = 0.01  # of the smaller block's diagonal: blocks that miss each other by less were meant to touch
FAR = 0.1  # of the same: how far a block that touches nothing looks for its neighbours
THIN_BLOCK = 0.005  # of the block's diagonal: a thinner block is a sliver
THIN_FACE = 0.001  # of the block's diagonal, for twice the face's area over its perimeter
USUAL = 0.5  # [m] diagonal of a usual stone
STONE = (0.01, 25.0)  # [m] diagonals between which the median stone of a structure is believed


class Report(NamedTuple):
    """What was found. Rows of findings are those of `blocks`."""

    blocks: tuple[Block, ...]  # as given, all with a name
    facts: dict[str, Any]  # counts and sizes, SI
    findings: list[Finding]  # errors first

    @property
    def errors(self) -> int:
        """How many findings keep the structure from running."""
        return sum(finding.severity == "error" for finding in self.findings)

    def listed(self) -> list[dict[str, Any]]:
        """The findings as plain dictionaries, with the names of the blocks, for JSON and for tables."""
        names = [block.name for block in self.blocks]
        return [finding._asdict() | {"blocks": [names[row] for row in finding.blocks]} for finding in self.findings]


class Laid(NamedTuple):
    """Blocks that can be laid out, all or the sound ones, as convex pieces end to end."""

    row: Array  # (N,) of the block in the report
    blocks: list[Block]  # (N,)
    owner: Array  # (P,) block of each piece, among the N
    surfaces: Surfaces  # of the P pieces


def examine(blocks: Iterable[Block], *, within: float = NEAR) -> Report:
    """All that can be told of blocks without computing; `within` is how near, in blocks, is meant to touch."""
    blocks = named(blocks)
    findings = list(block_findings(blocks))
    everything, malformed = lay_readable(blocks)
    findings += malformed
    if everything is None:
        return Report(blocks, _facts(blocks, None, None, NO_JOINTS, 0), findings)
    findings += _solid_findings(everything)
    sick = {finding.blocks[0] for finding in findings if finding.blocks and finding.kind != "same name"}
    sound = _without(everything, sick)
    twins = list(duplicates(everything))
    findings += [*twins, *_doubtful_unit(everything)]
    joints, points = NO_JOINTS, 0
    if sound is not None:
        findings += [*_overlaps(sound, {finding.blocks for finding in twins}), *_slivers(sound)]
        joints, points = joints_of(sound, within)
    findings += [*_gaps(joints), *_unconnected(blocks, everything, sound, sorted(sick), joints)]
    if sound is not None and not sick:
        findings += _hung(sound, joints, {row for finding in findings if finding.kind == "floating" for row in finding.blocks})
    findings.sort(key=lambda finding: finding.severity != "error")
    return Report(blocks, _facts(blocks, everything, sound, joints, points), findings)


def lay_readable(blocks: tuple[Block, ...]) -> tuple[Laid | None, list[Finding]]:
    """The blocks that can be laid out at all, and what is wrong with the others."""
    with suppress(InputError):  # all at once if nothing is wrong
        return _lay(list(range(len(blocks))), list(blocks)), []
    rows, findings = [], []
    for i, (block, label) in enumerate(zip(blocks, labels_of(blocks), strict=True)):
        try:
            _lay([i], [block], label)
            rows.append(i)
        except InputError as error:
            said, _, cure = str(error).removeprefix(label).lstrip(":, ").rpartition("; ")
            findings.append(Finding("malformed", (i,), said, cure))
    return _lay(rows, [blocks[i] for i in rows]), findings


def sound_only(laid: Laid) -> Laid | None:
    """The blocks that are sound solids."""
    return _without(laid, {finding.blocks[0] for finding in _solid_findings(laid)})


def _without(laid: Laid, sick: set[int]) -> Laid | None:
    if not sick:
        return laid
    kept = [k for k, row in enumerate(laid.row.tolist()) if row not in sick]
    return _lay(laid.row[kept].tolist(), [laid.blocks[k] for k in kept])


def _lay(rows: list[int], blocks: list[Block], label: str = "") -> Laid | None:
    """The blocks' pieces end to end, None if there are no blocks."""
    if not rows:
        return None
    pieces = [piece for k, block in enumerate(blocks) for piece in convex_pieces(k, block, label)]
    owner, vertices, faces, labels = (list(column) for column in zip(*pieces, strict=True))
    return Laid(np.array(rows), blocks, np.array(owner), lay_out(vertices, faces, labels))


def _solid_findings(laid: Laid) -> Iterator[Finding]:
    """What keeps pieces from being solids, said of the blocks that own them."""
    first = np.searchsorted(laid.owner, np.arange(len(laid.row)))  # piece of each block
    for finding in surface_findings(laid.surfaces):
        piece = finding.blocks[0]
        block = laid.owner[piece]
        before = int(laid.surfaces.block_face[piece] - laid.surfaces.block_face[first[block]])
        face = None if finding.face is None else finding.face + before
        yield finding._replace(blocks=(int(laid.row[block]),), face=face)


def duplicates(laid: Laid) -> Iterator[Finding]:
    """Blocks with the same corners as an earlier one."""
    low, high = _block_boxes(laid)
    size = np.linalg.norm(high - low, axis=1)
    pairs = near_pairs(np.hstack([low, high]), FLATNESS * float(size.max()))
    seen: set[int] = set()
    for a, b in pairs[np.lexsort(pairs.T)].tolist():  # by the later block, then the earlier
        if b not in seen and _same_points(laid.blocks[a], laid.blocks[b], FLATNESS * float(size[a])):
            seen.add(b)
            both = laid.blocks[a].fixed and laid.blocks[b].fixed
            yield Finding("duplicate", (int(laid.row[a]), int(laid.row[b])), "are one stone given twice", "remove one",
                          severity="warning" if both else "error")  # fmt: skip


def _same_points(one: Block, other: Block, tolerance: float) -> bool:
    distance = np.linalg.norm(np.asarray(one.vertices, float)[:, None] - np.asarray(other.vertices, float), axis=2)
    return bool(max(distance.min(axis=0).max(), distance.min(axis=1).max()) <= tolerance)


def _block_boxes(laid: Laid) -> tuple[Array, Array]:
    first = np.searchsorted(laid.owner, np.arange(len(laid.row)))
    low, high = boxes(laid.surfaces)
    return np.minimum.reduceat(low, first), np.maximum.reduceat(high, first)


def block_sizes(laid: Laid) -> Array:
    """(N,) [m] diagonal of each block's box, of which tolerances are a share."""
    low, high = _block_boxes(laid)
    return np.linalg.norm(high - low, axis=1)


def _overlaps(laid: Laid, twins: set[tuple[int, ...]]) -> list[Finding]:
    fixed = np.array([block.fixed for block in laid.blocks], bool)
    found = []
    for finding in overlap_findings(laid.surfaces, fixed[laid.owner]):
        rows = tuple(int(laid.row[laid.owner[piece]]) for piece in finding.blocks)
        if rows[0] == rows[1]:
            finding = finding._replace(said=f"two of its pieces {finding.said}")
        if rows not in twins:
            found.append(finding._replace(blocks=tuple(dict.fromkeys(rows))))
    return found


def _slivers(laid: Laid) -> Iterator[Finding]:
    """Thin blocks and faces; the pieces of a block, and their faces inside it, may be as thin as they are."""
    s = laid.surfaces
    size = diagonal(s)
    width = least_extents(*s, face_normals(s))
    alone = np.bincount(laid.owner)[laid.owner] == 1  # pieces that are a whole block
    for p in np.nonzero(alone & (width < THIN_BLOCK * size))[0].tolist():
        said = f"is {1e3 * width[p]:.3g} mm thin, for a size of {size[p]:.3g} m"
        yield Finding("thin block", (int(laid.row[laid.owner[p]]),), said, "check that it is a stone and no scrap",
                      value=float(width[p]), unit="m", severity="warning")  # fmt: skip
    face_piece = np.repeat(np.arange(len(size)), np.diff(s.block_face))
    across = face_widths(s)
    for f in np.nonzero(alone[face_piece] & (across < THIN_FACE * size[face_piece]))[0].tolist():
        p = face_piece[f]
        said = f"is {1e3 * across[f]:.3g} mm wide, for a block of {size[p]:.3g} m"
        yield Finding("thin face", (int(laid.row[laid.owner[p]]),), said, "merge its long edges",
                      int(f - s.block_face[p]), float(across[f]), "m", "warning")  # fmt: skip


def _doubtful_unit(laid: Laid) -> Iterator[Finding]:
    """Stones of 250 m or of 0.25 mm: a file read in the wrong unit."""
    size = float(np.median(block_sizes(laid)))
    if STONE[0] <= size <= STONE[1]:
        return
    if size > STONE[1]:
        unit = min(("mm", "cm"), key=lambda unit: abs(math.log(quantity(f"{size} {unit}", "length") / USUAL)))
        cure = f'if the file is in {unit}, give unit = "{unit}"'
    else:
        cure = 'if the file is in m, read it with unit = "m", else scale it'
    said = f"half of the stones are {'larger' if size > 1 else 'smaller'} than {size:.3g} m"
    yield Finding("unit", (), said, cure, value=size, unit="m", severity="warning")


def joints_of(laid: Laid, within: float) -> tuple[Joints, int]:
    """Joints between sound blocks, by rows of the report, and the number of contact points."""
    bodies, position = place_blocks(laid.blocks, laid.surfaces, laid.owner)
    joints, points = find_joints(bodies, position, within * block_sizes(laid))
    return joints._replace(a=laid.row[joints.a], b=laid.row[joints.b]), points


def _gaps(joints: Joints) -> Iterator[Finding]:
    for j in np.nonzero(~joints.touching)[0]:
        gap = float(joints.gap[j])
        yield Finding("gap", (int(joints.a[j]), int(joints.b[j])), f"miss each other by {1e3 * gap:.4g} mm",
                      "close the gap, or ignore this if they are meant to be apart",
                      value=gap, unit="m", severity="warning")  # fmt: skip


def _unconnected(
    blocks: tuple[Block, ...], everything: Laid, sound: Laid | None, sick: list[int], joints: Joints
) -> Iterator[Finding]:
    """Blocks that nothing holds. A block that is no solid is taken to touch all blocks whose boxes it touches."""
    fixed = np.array([block.fixed for block in blocks], bool)
    if not fixed.any():
        yield Finding("no support", (), "no block is fixed: the whole structure falls", "fix the blocks that it stands on",
                      severity="warning")  # fmt: skip
    group = _groups(len(blocks), everything, sick, joints)
    size, held = np.bincount(group), np.bincount(group, fixed) > 0
    readable = np.isin(np.arange(len(blocks)), everything.row)
    alone = np.nonzero((size[group] == 1) & ~fixed & readable)[0].tolist()
    floating = np.nonzero((size > 1) & ~held)[0].tolist() if fixed.any() else []
    nearest = _nearest(sound, group) if sound is not None and (alone or floating) else {}
    for i in alone:
        gap, words = _distance(blocks, nearest.get(int(group[i])))
        yield Finding("no contact", (i,), f"touches no other block{words}", "move it to its place or remove it",
                      value=gap, unit="m", severity="warning")  # fmt: skip
    for g in floating:
        rows = tuple(np.nonzero(group == g)[0].tolist())
        gap, words = _distance(blocks, nearest.get(g))
        said = f"hold each other but stand on no support ({len(rows)} blocks{words})"
        yield Finding("floating", rows, said, "close the gap below them or fix what they stand on",
                      value=gap, unit="m", severity="warning")  # fmt: skip


def _hung(sound: Laid, joints: Joints, floating: set[int]) -> Iterator[Finding]:
    """Blocks over nothing that friction in upright joints may hold; those that float with all they touch are told already."""
    fixed, radius = np.array([block.fixed for block in sound.blocks], bool), 0.5 * block_sizes(sound)
    rows = hung_by_friction(joints.a, joints.b, joints.normal, joints.gap, radius, fixed)
    rows = [row for row in rows if row not in floating]
    if rows:
        said = f"{'rests' if len(rows) == 1 else 'rest'} on nothing: friction in flush upright joints may hold them or not"
        cure = 'draw what bears them, or give the joints play (structure.play = "0.1 mm") and try several values of play_seed'
        yield Finding("hung by friction", tuple(rows), said, cure, severity="warning")


def _groups(count: int, everything: Laid, sick: list[int], joints: Joints) -> Array:
    """(B,) number of the group of blocks that touch each other, for each block."""
    a, b = joints.a[joints.touching], joints.b[joints.touching]
    if sick:
        pairs = everything.row[near_boxes(everything.blocks, everything.surfaces, everything.owner)]
        pairs = pairs[np.isin(pairs, sick).any(axis=1)]
        a, b = np.append(a, pairs[:, 0]), np.append(b, pairs[:, 1])
    return connected(count, np.column_stack([a, b]))


def _nearest(sound: Laid, group: Array) -> dict[int, tuple[float, int]]:
    """By group: how far the nearest block of another group is, and which; those beyond `FAR` are not seen."""
    joints, _ = joints_of(sound, FAR)
    found: dict[int, tuple[float, int]] = {}
    for j in np.argsort(joints.gap).tolist():
        a, b = int(joints.a[j]), int(joints.b[j])
        if group[a] != group[b]:
            found.setdefault(int(group[a]), (float(joints.gap[j]), b))
            found.setdefault(int(group[b]), (float(joints.gap[j]), a))
    return found


def _distance(blocks: tuple[Block, ...], nearest: tuple[float, int] | None) -> tuple[float | None, str]:
    if nearest is None:
        return None, ""
    gap, row = nearest
    return gap, f", {1e3 * gap:.4g} mm from {blocks[row].name!r}"


def _facts(
    blocks: tuple[Block, ...], everything: Laid | None, sound: Laid | None, joints: Joints, points: int
) -> dict[str, Any]:
    """Counts and sizes in SI: dimensions of all blocks, volume, mass and weight of those that are sound and free."""
    dimensions, volume, mass = np.zeros(3), 0.0, 0.0
    if everything is not None:
        low, high = _block_boxes(everything)
        dimensions = high.max(axis=0) - low.min(axis=0)
    if sound is not None:
        volumes = unite(mass_properties(sound.surfaces), sound.owner).volume
        free = [(block.density, v) for block, v in zip(sound.blocks, volumes, strict=True) if not block.fixed]
        volume, mass = float(sum(v for _, v in free)), float(sum(density * v for density, v in free))
    return {
        "blocks": len(blocks),
        "fixed_blocks": sum(bool(block.fixed) for block in blocks),
        "sound_blocks": 0 if sound is None else len(sound.row),
        "dimensions": dimensions.tolist(),
        "volume": volume,
        "mass": mass,
        "weight": mass * GRAVITY,
        "joints": int(joints.touching.sum()),
        "contacts": points,
    }

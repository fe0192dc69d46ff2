"""Examines blocks: summarises the structure and lists everything that is wrong or doubtful, in an `Examination`.

Errors are what `build_model` refuses, found by the same checks; warnings are what it accepts although it is probably not
intended. Every tolerance is relative to the size of the block, so that a file in mm and the same one in m give the same
findings. A block that is not a valid solid is left out of the checks of pairs; it is assumed to touch blocks that it may touch.
"""

import math
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from drystone.base.errors import Finding, InputError
from drystone.base.units import GRAVITY, parse_quantity
from drystone.contact.pairs import hung_by_friction
from drystone.io.doctor.touching_blocks import NO_JOINT_GAPS, JointGaps, find_joints, find_touching_boxes, make_sound_bodies
from drystone.structure.model import Block, block_findings, block_labels, combine_pieces, convex_pieces, name_blocks
from drystone.structure.neighbours import find_near_pairs, label_connected
from drystone.structure.overlap import least_extents, overlap_findings
from drystone.structure.polyhedra import (
    FLATNESS_TOLERANCE,
    Surfaces,
    bounding_boxes,
    box_diagonals,
    face_normals,
    face_widths,
    make_surfaces,
    mass_properties,
    surface_findings,
)

Array = np.ndarray

GAP_TOLERANCE = 0.01  # of the smaller block's diagonal: blocks with a smaller gap were probably meant to touch
NEIGHBOUR_DISTANCE = 0.1  # of the smaller block's diagonal: up to where the neighbours of an isolated block are searched
THIN_BLOCK_SHARE = 0.005  # of the block's diagonal: a thinner block is a sliver
THIN_FACE_SHARE = 0.001  # of the block's diagonal, for twice the face's area over its perimeter
USUAL_DIAGONAL = 0.5  # [m] diagonal of a usual stone
PLAUSIBLE_DIAGONALS = (0.01, 25.0)  # [m] range of plausible diagonals for the median stone of a structure


class Examination(NamedTuple):
    """The result of an examination. Row numbers in findings are those of `blocks`."""

    blocks: tuple[Block, ...]  # as given, all with a name
    facts: dict[str, Any]  # counts and sizes in SI
    findings: list[Finding]  # errors first

    @property
    def errors(self) -> int:
        """The number of findings because of which the structure cannot be computed."""
        return sum(finding.severity == "error" for finding in self.findings)

    def listed(self) -> list[dict[str, Any]]:
        """The findings as plain dictionaries, with the names of the blocks, for JSON and for tables."""
        names = [block.name for block in self.blocks]
        return [
            {"kind": each.kind, "blocks": [names[row] for row in each.blocks], "said": each.message, "cure": each.hint,
             "face": each.face, "value": each.value, "unit": each.unit, "severity": each.severity}
            for each in self.findings
        ]  # fmt: skip


class PieceTable(NamedTuple):
    """The readable blocks, or the sound ones among them, as convex pieces stored one after the other."""

    row: Array  # (N,) row of the block in the examination
    blocks: list[Block]  # (N,)
    owner: Array  # (P,) block of each piece, among the N
    surfaces: Surfaces  # of the P pieces


def examine(blocks: Iterable[Block], *, within: float = GAP_TOLERANCE) -> Examination:
    """Examine the blocks; gaps up to `within`, relative to the size of the smaller block, are reported as not intended."""
    blocks = name_blocks(blocks)
    findings = list(block_findings(blocks))
    readable, malformed = tabulate_readable(blocks)
    findings += malformed
    if readable is None:
        return Examination(blocks, _summarise(blocks, None, None, NO_JOINT_GAPS, 0), findings)
    findings += _solid_findings(readable)
    faulty = {finding.blocks[0] for finding in findings if finding.blocks and finding.kind != "same name"}
    sound = _leave_out(readable, faulty)
    repeats = list(find_duplicates(readable))
    findings += [*repeats, *_find_doubtful_unit(readable)]
    joints, points = NO_JOINT_GAPS, 0
    if sound is not None:
        findings += [*_find_overlaps(sound, {finding.blocks for finding in repeats}), *_find_slivers(sound)]
        joints, points = find_sound_joints(sound, within)
    findings += [*_find_gaps(joints), *_find_unconnected(blocks, readable, sound, sorted(faulty), joints)]
    if sound is not None and not faulty:
        findings += _find_hung_blocks(
            sound, joints, {row for finding in findings if finding.kind == "floating" for row in finding.blocks}
        )
    findings.sort(key=lambda finding: finding.severity != "error")
    return Examination(blocks, _summarise(blocks, readable, sound, joints, points), findings)


def tabulate_readable(blocks: tuple[Block, ...]) -> tuple[PieceTable | None, list[Finding]]:
    """The blocks that can be stored in arrays, and the findings on the others."""
    with suppress(InputError):  # all at once if there is no error
        return _tabulate_pieces(list(range(len(blocks))), list(blocks)), []
    rows, findings = [], []
    for i, (block, label) in enumerate(zip(blocks, block_labels(blocks), strict=True)):
        try:
            _tabulate_pieces([i], [block], label)
            rows.append(i)
        except InputError as error:
            message, _, hint = str(error).removeprefix(label).lstrip(":, ").rpartition("; ")
            findings.append(Finding("malformed", (i,), message, hint))
    return _tabulate_pieces(rows, [blocks[i] for i in rows]), findings


def keep_sound(table: PieceTable) -> PieceTable | None:
    """The blocks that are valid solids; None if there are none."""
    return _leave_out(table, {finding.blocks[0] for finding in _solid_findings(table)})


def _leave_out(table: PieceTable, faulty: set[int]) -> PieceTable | None:
    if not faulty:
        return table
    kept = [k for k, row in enumerate(table.row.tolist()) if row not in faulty]
    return _tabulate_pieces(table.row[kept].tolist(), [table.blocks[k] for k in kept])


def _tabulate_pieces(rows: list[int], blocks: list[Block], label: str = "") -> PieceTable | None:
    """The table of the pieces of the blocks; None if there are no blocks."""
    if not rows:
        return None
    pieces = [piece for k, block in enumerate(blocks) for piece in convex_pieces(k, block, label)]
    owner, vertices, faces, labels = (list(column) for column in zip(*pieces, strict=True))
    return PieceTable(np.array(rows), blocks, np.array(owner), make_surfaces(vertices, faces, labels))


def _solid_findings(table: PieceTable) -> Iterator[Finding]:
    """The findings on pieces that are not valid solids, for the blocks that own them."""
    first = np.searchsorted(table.owner, np.arange(len(table.row)))  # piece of each block
    for finding in surface_findings(table.surfaces):
        piece = finding.blocks[0]
        block = table.owner[piece]
        before = int(table.surfaces.block_face[piece] - table.surfaces.block_face[first[block]])
        face = None if finding.face is None else finding.face + before
        yield finding._replace(blocks=(int(table.row[block]),), face=face)


def find_duplicates(table: PieceTable) -> Iterator[Finding]:
    """Blocks with the same corners as an earlier one."""
    low, high = _block_boxes(table)
    size = np.linalg.norm(high - low, axis=1)
    pairs = find_near_pairs(np.hstack([low, high]), FLATNESS_TOLERANCE * float(size.max()))
    seen: set[int] = set()
    for a, b in pairs[np.lexsort(pairs.T)].tolist():  # by the later block, then the earlier
        if b not in seen and _same_points(table.blocks[a], table.blocks[b], FLATNESS_TOLERANCE * float(size[a])):
            seen.add(b)
            both = table.blocks[a].fixed and table.blocks[b].fixed
            yield Finding("duplicate", (int(table.row[a]), int(table.row[b])), "are one stone given twice", "remove one",
                          severity="warning" if both else "error")  # fmt: skip


def _same_points(one: Block, other: Block, tolerance: float) -> bool:
    distance = np.linalg.norm(np.asarray(one.vertices, float)[:, None] - np.asarray(other.vertices, float), axis=2)
    return bool(max(distance.min(axis=0).max(), distance.min(axis=1).max()) <= tolerance)


def _block_boxes(table: PieceTable) -> tuple[Array, Array]:
    first = np.searchsorted(table.owner, np.arange(len(table.row)))
    low, high = bounding_boxes(table.surfaces)
    return np.minimum.reduceat(low, first), np.maximum.reduceat(high, first)


def block_sizes(table: PieceTable) -> Array:
    """(N,) [m] the diagonal of each block's box, to which tolerances are relative."""
    low, high = _block_boxes(table)
    return np.linalg.norm(high - low, axis=1)


def _find_overlaps(table: PieceTable, repeats: set[tuple[int, ...]]) -> list[Finding]:
    fixed = np.array([block.fixed for block in table.blocks], bool)
    findings = []
    for finding in overlap_findings(table.surfaces, fixed[table.owner]):
        rows = tuple(int(table.row[table.owner[piece]]) for piece in finding.blocks)
        if rows[0] == rows[1]:
            finding = finding._replace(message=f"two of its pieces {finding.message}")
        if rows not in repeats:
            findings.append(finding._replace(blocks=tuple(dict.fromkeys(rows))))
    return findings


def _find_slivers(table: PieceTable) -> Iterator[Finding]:
    """Thin blocks and thin faces; the pieces of a block, and the faces between them, may be thin."""
    s = table.surfaces
    size = box_diagonals(s)
    width = least_extents(*s, face_normals(s))
    is_whole_block = np.bincount(table.owner)[table.owner] == 1  # pieces that are a whole block
    for p in np.nonzero(is_whole_block & (width < THIN_BLOCK_SHARE * size))[0].tolist():
        message = f"is {1e3 * width[p]:.3g} mm thin, for a size of {size[p]:.3g} m"
        yield Finding("thin block", (int(table.row[table.owner[p]]),), message, "check that it is a real stone",
                      value=float(width[p]), unit="m", severity="warning")  # fmt: skip
    face_piece = np.repeat(np.arange(len(size)), np.diff(s.block_face))
    across = face_widths(s)
    for f in np.nonzero(is_whole_block[face_piece] & (across < THIN_FACE_SHARE * size[face_piece]))[0].tolist():
        p = face_piece[f]
        message = f"is {1e3 * across[f]:.3g} mm wide, for a block of {size[p]:.3g} m"
        yield Finding("thin face", (int(table.row[table.owner[p]]),), message, "merge its long edges",
                      int(f - s.block_face[p]), float(across[f]), "m", "warning")  # fmt: skip


def _find_doubtful_unit(table: PieceTable) -> Iterator[Finding]:
    """Implausible sizes, such as 250 m or 0.25 mm: the file was probably read in the wrong unit."""
    size = float(np.median(block_sizes(table)))
    if PLAUSIBLE_DIAGONALS[0] <= size <= PLAUSIBLE_DIAGONALS[1]:
        return
    if size > PLAUSIBLE_DIAGONALS[1]:
        unit = min(("mm", "cm"), key=lambda unit: abs(math.log(parse_quantity(f"{size} {unit}", "length") / USUAL_DIAGONAL)))
        hint = f'if the file is in {unit}, give unit = "{unit}"'
    else:
        hint = 'if the file is in m, read it with unit = "m", else scale it'
    message = f"half of the stones are {'larger' if size > 1 else 'smaller'} than {size:.3g} m"
    yield Finding("unit", (), message, hint, value=size, unit="m", severity="warning")


def find_sound_joints(table: PieceTable, within: float) -> tuple[JointGaps, int]:
    """The joints between sound blocks, by rows of the examination, and the number of contact points."""
    bodies, position = make_sound_bodies(table.blocks, table.surfaces, table.owner)
    joints, points = find_joints(bodies, position, within * block_sizes(table))
    return joints._replace(a=table.row[joints.a], b=table.row[joints.b]), points


def _find_gaps(joints: JointGaps) -> Iterator[Finding]:
    for j in np.nonzero(~joints.touching)[0]:
        gap = float(joints.gap[j])
        yield Finding("gap", (int(joints.a[j]), int(joints.b[j])), f"miss each other by {1e3 * gap:.4g} mm",
                      "close the gap, or ignore this if they are meant to be apart",
                      value=gap, unit="m", severity="warning")  # fmt: skip


def _find_unconnected(
    blocks: tuple[Block, ...], readable_blocks: PieceTable, sound: PieceTable | None, faulty: list[int], joints: JointGaps
) -> Iterator[Finding]:
    """Blocks without support. A block that is not a valid solid is assumed to touch all blocks whose boxes its box touches."""
    fixed = np.array([block.fixed for block in blocks], bool)
    if not fixed.any():
        yield Finding("no support", (), "no block is fixed: the whole structure falls", "fix the blocks that it stands on",
                      severity="warning")  # fmt: skip
    group = _label_groups(len(blocks), readable_blocks, faulty, joints)
    size, held = np.bincount(group), np.bincount(group, fixed) > 0
    readable = np.isin(np.arange(len(blocks)), readable_blocks.row)
    isolated = np.nonzero((size[group] == 1) & ~fixed & readable)[0].tolist()
    floating = np.nonzero((size > 1) & ~held)[0].tolist() if fixed.any() else []
    nearest = _find_nearest_groups(sound, group) if sound is not None and (isolated or floating) else {}
    for i in isolated:
        gap, words = _describe_distance(blocks, nearest.get(int(group[i])))
        yield Finding("no contact", (i,), f"touches no other block{words}", "move it to its place or remove it",
                      value=gap, unit="m", severity="warning")  # fmt: skip
    for g in floating:
        rows = tuple(np.nonzero(group == g)[0].tolist())
        gap, words = _describe_distance(blocks, nearest.get(g))
        message = f"touch each other but stand on no support ({len(rows)} blocks{words})"
        yield Finding("floating", rows, message, "close the gap below them or fix what they stand on",
                      value=gap, unit="m", severity="warning")  # fmt: skip


def _find_hung_blocks(sound: PieceTable, joints: JointGaps, floating: set[int]) -> Iterator[Finding]:
    """Blocks with nothing below them that friction in upright joints may hold. Blocks in floating groups were reported
    already."""
    fixed, radius = np.array([block.fixed for block in sound.blocks], bool), 0.5 * block_sizes(sound)
    rows = hung_by_friction(joints.a, joints.b, joints.normal, joints.gap, radius, fixed)
    rows = [row for row in rows if row not in floating]
    if rows:
        message = (
            f"{'rests' if len(rows) == 1 else 'rest'} on nothing: friction in flush upright joints may or may not hold them"
        )
        hint = (
            'draw what supports them, or give the joints play (structure.play = "0.1 mm") and try several values of play_seed'
        )
        yield Finding("hung by friction", tuple(rows), message, hint, severity="warning")


def _label_groups(count: int, readable_blocks: PieceTable, faulty: list[int], joints: JointGaps) -> Array:
    """(B,) for each block the number of its group of blocks that touch each other."""
    a, b = joints.a[joints.touching], joints.b[joints.touching]
    if faulty:
        pairs = readable_blocks.row[
            find_touching_boxes(readable_blocks.blocks, readable_blocks.surfaces, readable_blocks.owner)
        ]
        pairs = pairs[np.isin(pairs, faulty).any(axis=1)]
        a, b = np.append(a, pairs[:, 0]), np.append(b, pairs[:, 1])
    return label_connected(count, np.column_stack([a, b]))


def _find_nearest_groups(sound: PieceTable, group: Array) -> dict[int, tuple[float, int]]:
    """For each group the distance and the row of the nearest block of another group, up to `NEIGHBOUR_DISTANCE`."""
    joints, _ = find_sound_joints(sound, NEIGHBOUR_DISTANCE)
    nearest: dict[int, tuple[float, int]] = {}
    for j in np.argsort(joints.gap).tolist():
        a, b = int(joints.a[j]), int(joints.b[j])
        if group[a] != group[b]:
            nearest.setdefault(int(group[a]), (float(joints.gap[j]), b))
            nearest.setdefault(int(group[b]), (float(joints.gap[j]), a))
    return nearest


def _describe_distance(blocks: tuple[Block, ...], nearest: tuple[float, int] | None) -> tuple[float | None, str]:
    if nearest is None:
        return None, ""
    gap, row = nearest
    return gap, f", {1e3 * gap:.4g} mm from {blocks[row].name!r}"


def _summarise(
    blocks: tuple[Block, ...], readable: PieceTable | None, sound: PieceTable | None, joints: JointGaps, points: int
) -> dict[str, Any]:
    """Counts and sizes in SI: the dimensions of all blocks; the volume, mass and weight of those that are sound and free."""
    dimensions, volume, mass = np.zeros(3), 0.0, 0.0
    if readable is not None:
        low, high = _block_boxes(readable)
        dimensions = high.max(axis=0) - low.min(axis=0)
    if sound is not None:
        volumes = combine_pieces(mass_properties(sound.surfaces), sound.owner).volume
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

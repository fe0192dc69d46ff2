"""Repairs blocks where that is safe, and lists what was done.

Duplicate names are changed, duplicate blocks removed, surfaces repaired block by block (`mend`), and faces moved until they
meet (`fit`). The convex pieces of a block are repaired like blocks and joined again. What cannot be repaired safely is left as
it is and appears in the next examination. Repairing twice changes nothing.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from drystone.base.errors import InputError
from drystone.build.shapes import join_pieces
from drystone.io.doctor.block_repair import mend_block
from drystone.io.doctor.examination import (
    GAP_TOLERANCE,
    PieceTable,
    find_duplicates,
    find_sound_joints,
    keep_sound,
    tabulate_readable,
)
from drystone.io.doctor.joint_fitting import FaceMove, fit_faces
from drystone.io.doctor.touching_blocks import JointGaps, with_overlaps
from drystone.structure.model import Block, convex_pieces, name_blocks
from drystone.structure.overlap import overlap_findings
from drystone.structure.polyhedra import face_normals, surface_findings

MAX_ROUNDS = 5  # of moving faces; each round detects the joints again


class Repair(NamedTuple):
    """One repair that was made."""

    kind: str  # one or two words
    block: str  # name of the block
    message: str  # what was done


def repair(blocks: Iterable[Block], *, within: float = GAP_TOLERANCE) -> tuple[list[Block], list[Repair]]:
    """The repaired blocks, and what was done; nothing moves by more than `within`, relative to the size of the block."""
    originals = list(name_blocks(blocks))
    done = _rename(originals)
    done += _drop_duplicates(originals)
    parts = [_split_pieces(block) for block in originals]
    result = [piece for pieces in parts for piece in pieces]
    done += _mend_all(result, within)
    for _ in range(MAX_ROUNDS):
        moved = _fit(result, within)
        done += moved
        if not moved:
            break
    return _join_again(parts, originals, result), done


def _split_pieces(block: Block) -> list[Block]:
    """The pieces of a block as blocks; the block itself if it has no pieces, or invalid ones."""
    try:
        pieces = convex_pieces(0, block, block.name)
    except InputError:
        return [block]
    return [replace(block, vertices=v, faces=tuple(map(tuple, f)), name=name, pieces=()) for _, v, f, name in pieces]


def _join_again(parts: list[list[Block]], originals: list[Block], pieces: list[Block]) -> list[Block]:
    """The original blocks, joined again from their repaired pieces."""
    queue = iter(pieces)
    pieces_of_blocks = [[next(queue) for _ in block_pieces] for block_pieces in parts]
    return [
        join_pieces(block_pieces, name=block.name) if len(block_pieces) > 1 else block_pieces[0]
        for block, block_pieces in zip(originals, pieces_of_blocks, strict=True)
    ]


def _mend_all(blocks: list[Block], within: float) -> list[Repair]:
    table = tabulate_readable(tuple(blocks))[0]
    if table is None:
        return []
    done = []
    for row in table.row[_find_untidy(table)].tolist():
        if not blocks[row].pieces:  # a block that still has pieces here states wrong counts of faces
            blocks[row], repairs = mend_block(blocks[row], within)
            done += [Repair("surface", blocks[row].name, words) for words in repairs]
    return done


def _find_untidy(table: PieceTable) -> list[int]:
    """Blocks with a finding, or with several faces of the same direction, which may be coplanar."""
    s = table.surfaces
    pieces = {finding.blocks[0] for finding in surface_findings(s)}
    with np.errstate(invalid="ignore"):  # of the blocks found already
        direction = np.round(face_normals(s), 6)
    piece = np.repeat(np.arange(len(table.owner)), np.diff(s.block_face))
    distinct = np.unique(np.column_stack([piece, direction]), axis=0)[:, 0].astype(int)
    fewer = np.bincount(distinct, minlength=len(table.owner)) < np.diff(s.block_face)
    return sorted({int(table.owner[p]) for p in pieces | set(np.nonzero(fewer)[0].tolist())})


def _drop_duplicates(blocks: list[Block]) -> list[Repair]:
    """Remove duplicate blocks; of two, a support is kept, or else the first."""
    table = tabulate_readable(tuple(blocks))[0]
    dropped, done = set(), []
    for finding in find_duplicates(table) if table else ():
        first, second = sorted(finding.blocks, key=lambda row: (not blocks[row].fixed, row))
        dropped.add(second)
        done.append(Repair("duplicate", blocks[second].name, f"removed it: it is the same stone as {blocks[first].name!r}"))
    blocks[:] = [block for row, block in enumerate(blocks) if row not in dropped]
    return done


def _rename(blocks: list[Block]) -> list[Repair]:
    used_names, done = {block.name for block in blocks}, []
    seen: set[str] = set()
    for row, block in enumerate(blocks):
        if block.name in seen:
            name = next(name for k in range(2, len(blocks) + 2) if (name := f"{block.name}-{k}") not in used_names)
            used_names.add(name)
            blocks[row] = replace(block, name=name)
            done.append(Repair("name", block.name, f"renamed it to {name!r}: another block has the same name"))
        seen.add(blocks[row].name)
    return done


def _fit(blocks: list[Block], within: float) -> list[Repair]:
    table = tabulate_readable(tuple(blocks))[0]
    sound = None if table is None else keep_sound(table)
    if sound is None:
        return []
    joints = _add_overlaps(find_sound_joints(sound, within)[0], sound)
    return [
        Repair("joint", blocks[move.row].name, _describe_move(move, blocks))
        for move in fit_faces(blocks, sound, joints, within)
    ]


def _describe_move(move: FaceMove, blocks: list[Block]) -> str:
    size, other = f"{1e3 * abs(move.distance):.4g} mm", repr(blocks[move.other].name)
    if move.face < 0:
        return f"cut off {size} that overlapped {other}"
    return f"moved face {move.face} {'out' if move.distance > 0 else 'in'} by {size} to meet {other}"


def _add_overlaps(joints: JointGaps, sound: PieceTable) -> JointGaps:
    """The joints, with all overlaps that `build_model` finds."""
    fixed = np.array([block.fixed for block in sound.blocks], bool)
    findings = overlap_findings(sound.surfaces, fixed[sound.owner])
    pieces = np.array([finding.blocks for finding in findings], np.int64).reshape(-1, 2)
    return with_overlaps(joints, sound.row[sound.owner[pieces]], pieces, sound.surfaces) if len(pieces) else joints

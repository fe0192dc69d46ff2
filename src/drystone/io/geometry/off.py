"""Reads and writes OFF, exactly to the last bit.

The format has vertices and polygons only. Drystone writes names, groups, densities, supports and the number of faces of each
block into comments; in files of other programs, connected faces form a block.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from drystone.base.errors import InputError
from drystone.io.geometry.drawing import (
    Drawing,
    check_corners,
    format_note,
    parse_integers,
    parse_numbers,
    read_note,
    read_text,
    split_by_notes,
    stack_meshes,
)  # fmt: skip
from drystone.structure.model import Block


def read_off(path: Path, density: float) -> Drawing:
    """The mesh of an OFF file."""
    lines, notes = [], []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        content, _, comment = line.partition("#")
        attributes = read_note(comment.strip())
        notes += [] if attributes is None else [attributes]
        lines += [(number, content.split())] if content.split() else []
    if not lines or not lines[0][1][0].endswith("OFF"):
        raise InputError(f"{path}: does not begin with OFF; is its suffix right?")
    head = lines[0][1][1:]
    rows = lines[1:] if head else lines[2:]
    counts = parse_integers((head or (lines[1][1] if len(lines) > 1 else []))[:2], f"{path}: its counts")
    if len(counts) < 2 or min(counts) < 0 or len(rows) < sum(counts):
        raise InputError(f"{path}: says it has {counts} vertices and faces, {len(rows)} lines follow; is the file cut?")
    points = [parse_numbers(words[:3], f"{path}, line {number}") for number, words in rows[: counts[0]]]
    faces = []
    for number, words in rows[counts[0] : sum(counts)]:
        corners = parse_integers(words[: 1 + int(words[0])] if words[0].isdigit() else words, f"{path}, line {number}")
        if len(corners) != corners[0] + 1:
            raise InputError(f"{path}, line {number}: a face of {corners[0]} vertices lists {len(corners) - 1}; correct it")
        faces.append(tuple(corners[1:]))
    if any(len(point) < 3 for point in points):
        raise InputError(f"{path}: a vertex has fewer than three numbers; give x y z")
    check_corners(faces, len(points), str(path))
    return Drawing(split_by_notes(np.array(points, float).reshape(-1, 3), faces, notes, density))


def write_off(path: Path, blocks: Sequence[Block]) -> None:
    """Write one mesh with all blocks, and a comment for each block."""
    vertices, faces = stack_meshes(blocks)
    lines = ["OFF", "# drystone blocks, lengths in m, z up"]
    lines += [f"# {format_note(block, 'name', 'group', 'density', 'fixed', 'pieces')}" for block in blocks]
    lines.append(f"{len(vertices)} {sum(map(len, faces))} 0")
    lines += [f"{x!r} {y!r} {z!r}" for x, y, z in vertices.tolist()]
    lines += [" ".join(map(str, (len(face), *face))) for own in faces for face in own]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")

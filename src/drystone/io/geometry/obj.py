"""Reads and writes Wavefront OBJ, exactly to the last bit.

`o` begins a block and `g` states its group; in a file without `o` every `g` is a block. Blocks written by drystone have a
comment with the density, whether it is fixed, and the pieces. Materials, normals and textures are not read.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from drystone.base.errors import InputError
from drystone.io.geometry.drawing import (
    Drawing,
    Face,
    format_note,
    keep_used_vertices,
    one_line,
    parse_integers,
    parse_numbers,
    read_note,
    read_text,
    stack_meshes,
)
from drystone.structure.model import Block


def read_obj(path: Path, density: float) -> Drawing:
    """The objects of an OBJ file."""
    points: list[list[float]] = []
    parts: list[dict[str, Any]] = [{"faces": []}]
    for number, line in enumerate(read_text(path).replace("\\\n", " ").splitlines(), 1):
        word, _, rest = line.strip().replace("\t", " ").partition(" ")
        where = f"{path}, line {number}"
        if word == "v":
            points.append(_point(rest.split(), where))
        elif word == "f":
            parts[-1]["faces"].append(_face(rest.split(), len(points), where))
        elif word == "o":
            parts.append({"faces": [], "name": rest.strip()})
        elif word == "g":
            _begin_group(parts, rest.strip())
        elif word == "#":
            attributes = read_note(rest) or {}
            parts[-1] |= {key: attributes[key] for key in ("density", "fixed", "pieces") if key in attributes}
    vertices = np.array(points, float).reshape(-1, 3)
    return Drawing([_block(part, vertices, density) for part in parts if part["faces"]])


def _begin_group(parts: list[dict[str, Any]], name: str) -> None:
    """A group within an object is the group of the object, the first one if there are several. Any other group is a block,
    which
    may be continued later in the file."""
    if "name" in parts[-1] and "grouped" not in parts[-1]:
        parts[-1].setdefault("group", name)
        return
    again = next((part for part in parts if part.get("grouped") == name), None)
    if again is not None:
        parts.remove(again)
    parts.append(again or {"faces": [], "name": name, "grouped": name})


def _block(part: dict[str, Any], vertices: np.ndarray, density: float) -> Block:
    attributes = {key: part[key] for key in ("name", "group", "fixed", "pieces") if key in part}
    return Block(*keep_used_vertices(vertices, part["faces"]), part.get("density", density), **attributes)


def _point(words: list[str], where: str) -> list[float]:
    if len(words) < 3:
        raise InputError(f"{where}: a vertex of {len(words)} numbers; give x y z")
    return parse_numbers(words[:3], where)


def _face(words: list[str], count: int, where: str) -> Face:
    """Corners are numbered from 1, or backwards from the last vertex so far; numbers after a slash are not geometry."""
    corners = parse_integers([word.split("/")[0] for word in words], where)
    rows = tuple(corner - 1 if corner > 0 else count + corner for corner in corners)
    if 0 in corners or not all(0 <= row < count for row in rows):
        raise InputError(f"{where}: the face {' '.join(words)} uses a vertex that is not among the {count} before it")
    return rows


def write_obj(path: Path, blocks: Sequence[Block]) -> None:
    """Write one object per block; faces remain polygons."""
    _, faces = stack_meshes(blocks)
    lines = ["# drystone blocks, lengths in m, z up"]
    for block, own in zip(blocks, faces, strict=True):
        lines += [f"o {one_line(block.name)}", f"g {one_line(block.group)}"]
        lines.append(f"# {format_note(block, 'density', 'fixed', 'pieces')}")
        lines += [f"v {float(x)!r} {float(y)!r} {float(z)!r}" for x, y, z in block.vertices]
        lines += ["f " + " ".join(str(corner + 1) for corner in face) for face in own]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")

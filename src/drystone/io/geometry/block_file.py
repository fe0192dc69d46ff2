"""Reads and writes blocks as plain JSON.

`{"blocks": [{"vertices": [[x, y, z], ...], "faces": [[i, j, k, ...], ...], "fixed": false, "name": "...",
"density": 2000, "group": "...", "pieces": [6, 6]}]}`, lengths in m, faces counter-clockwise seen from outside; only
vertices and faces are required; pieces states how many of the faces make each convex piece of a block that is not convex.
The form of the file is checked here; whether each block is a valid solid is checked by `build_model`.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from drystone.base.errors import InputError, did_you_mean, truncated_repr
from drystone.base.units import parse_quantity
from drystone.io.geometry.drawing import read_json
from drystone.structure.model import Block

BLOCK_KEYS = ("vertices", "faces", "fixed", "name", "density", "group", "pieces")


def read_blocks(path: str | Path) -> list[Block]:
    """The blocks of a JSON file."""
    return parse_blocks(read_json(Path(path)), Path(path))


def parse_blocks(content: Any, path: Path, density: float = Block.density) -> list[Block]:
    """The blocks in the content of a JSON file; density [kg/m3]: of blocks that state none."""
    if not isinstance(content, dict) or not isinstance(content.get("blocks"), list):
        raise InputError(f'{path}: has no list of blocks; write {{"blocks": [...]}}')
    return [_block(i, entry, path, density) for i, entry in enumerate(content["blocks"])]


def write_blocks(path: str | Path, blocks: Iterable[Block]) -> None:
    """Write a file that `read_blocks` reads back to the same bits."""
    lines = ",\n".join(json.dumps(_entry(block)) for block in blocks)
    Path(path).write_text(f'{{"blocks": [\n{lines}\n]}}\n', encoding="utf-8")


def _entry(block: Block) -> dict[str, Any]:
    return {
        "name": block.name,
        "group": block.group,
        "fixed": bool(block.fixed),
        "density": float(block.density),
        "vertices": np.asarray(block.vertices, float).tolist(),
        "faces": [[int(v) for v in face] for face in block.faces],
    } | ({"pieces": [int(count) for count in block.pieces]} if block.pieces else {})


def _block(i: int, entry: Any, path: Path, density: float) -> Block:
    where = f"{path}: block {i}"
    if not isinstance(entry, dict):
        raise InputError(f"{where} is {truncated_repr(entry)}; give an object with vertices and faces")
    if isinstance(entry.get("name"), str):
        where += f" {entry['name']!r}"
    for key in entry:
        if key not in BLOCK_KEYS:
            raise InputError(
                f"{where}: key {key!r} is not known{did_you_mean(key, BLOCK_KEYS)} The keys are {', '.join(BLOCK_KEYS)}"
            )
    for key in ("vertices", "faces"):
        if key not in entry:
            raise InputError(f"{where}: {key!r} is missing; give it")
    block = Block(
        vertices=_vertices(entry["vertices"], where),
        faces=_faces(entry["faces"], where),
        density=_density(entry.get("density", density), where),
        fixed=_typed(entry.get("fixed", False), bool, "true or false", f"{where}: fixed"),
        name=_typed(entry.get("name", ""), str, "a string", f"{where}: name"),
        group=_typed(entry.get("group", ""), str, "a string", f"{where}: group"),
        pieces=_pieces(entry.get("pieces", []), where),
    )
    if not len(block.vertices):
        raise InputError(f"{where}: has no vertices; give some, or leave the block out")
    return block


def _vertices(value: Any, where: str) -> np.ndarray:
    if not _rows(value, (int, float)) or any(len(row) != 3 for row in value):
        raise InputError(f"{where}: vertices must be a list of [x, y, z], three numbers in m each")
    try:
        return np.array(value, float).reshape(-1, 3)
    except OverflowError:
        raise InputError(f"{where}: a coordinate of a vertex is too large; give lengths in m") from None


def _faces(value: Any, where: str) -> tuple[tuple[int, ...], ...]:
    if not _rows(value, (int,)):
        raise InputError(f"{where}: faces must be a list of lists of vertex numbers, counted from 0")
    return tuple(tuple(face) for face in value)


def _pieces(value: Any, where: str) -> tuple[int, ...]:
    if not _rows([value], (int,)):
        raise InputError(f"{where}: pieces is {truncated_repr(value)}; give a list of how many faces make each convex piece")
    return tuple(value)


def _rows(value: Any, numbers: tuple[type, ...]) -> bool:
    """Whether the value is a list of lists of numbers; true and false do not count as numbers."""
    return isinstance(value, list) and all(
        isinstance(row, list) and all(isinstance(x, numbers) and not isinstance(x, bool) for x in row) for row in value
    )


def _density(value: Any, where: str) -> float:
    try:
        return parse_quantity(value, "density")
    except InputError as error:
        raise InputError(f"{where}: density {error}") from None


def _typed(value: Any, wanted: type, expected: str, where: str) -> Any:
    if not isinstance(value, wanted):
        raise InputError(f"{where} is {truncated_repr(value)}; give {expected}")
    return value

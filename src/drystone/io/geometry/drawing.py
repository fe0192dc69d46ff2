"""What the readers of geometry share: the `Drawing` that they return, and functions to open files and parse numbers.

No reader opens a file because another file names it.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from drystone.base.errors import InputError, truncated_repr
from drystone.base.files.reading import read_bytes
from drystone.structure.model import Block

Array = np.ndarray
Face = tuple[int, ...]

MAX_FACES = 500_000  # in a file
MAX_COORDINATE = 1e9  # [m] of a vertex


class Drawing(NamedTuple):
    """Blocks as in the file: in its unit, with its axes, with faces of any orientation, perhaps triangulated or flat."""

    blocks: list[Block]
    metres: float | None = None  # the file's unit of length; None if it states none
    up: str | None = None  # the axis that points up, if the format defines it
    plain: bool = False  # blocks written by drystone, which are used without changes


def read_text(path: Path) -> str:
    """The whole file as text. Names in old files are not always UTF-8: invalid bytes are shown by hexadecimal codes."""
    data = read_bytes(path)
    if b"\0" in data[:4096]:
        raise InputError(f"{path}: is binary, text was expected; is its suffix right?")
    return data.decode("utf-8", errors="backslashreplace")


def read_json(path: Path) -> Any:
    """The content of a JSON file."""
    text = read_text(path)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}, column {error.colno}: not JSON, {error.msg}") from None
    except (RecursionError, ValueError):
        raise InputError(f"{path}: is nested too deeply, or has a number with too many digits; check it") from None


def parse_numbers(words: Sequence[str], where: str) -> list[float]:
    """Parse words as floats."""
    try:
        return [float(word) for word in words]
    except ValueError:
        raise InputError(f"{where}: {' '.join(words)[:60]!r} are not numbers; correct them") from None


def parse_integers(words: Sequence[str], where: str) -> list[int]:
    """Parse words as integers."""
    try:
        return [int(word) for word in words]
    except ValueError:
        raise InputError(f"{where}: {' '.join(words)[:60]!r} are not whole numbers; correct them") from None


def describe_block(block: Block) -> str:
    """The name of a block in messages."""
    return f"block {truncated_repr(block.name)}" if block.name else "a block"


def one_line(name: str) -> str:
    """The name without line breaks."""
    return " ".join(name.split())


# Attributes that a format does not support are written into a comment: "drystone " and a JSON object.
NOTE_PREFIX = "drystone "


def format_note(block: Block, *keys: str) -> str:
    """A comment with these attributes of the block, and the number of its faces."""
    attributes = {key: getattr(block, key) for key in keys} | {"faces": len(block.faces)}
    return NOTE_PREFIX + json.dumps(attributes)


def read_note(comment: str) -> dict[str, Any] | None:
    """The attributes in a comment written by drystone; None for any other comment."""
    if not comment.startswith(NOTE_PREFIX):
        return None
    try:
        attributes = json.loads(comment.removeprefix(NOTE_PREFIX))
    except (ValueError, RecursionError):
        return None
    kinds = {"name": str, "group": str, "fixed": bool, "density": float, "pieces": list, "faces": int}
    if not isinstance(attributes, dict) or not all(key in kinds and type(attributes[key]) is kinds[key] for key in attributes):
        return None
    if "pieces" in attributes:
        attributes["pieces"] = tuple(attributes["pieces"])
    return attributes


def split_by_notes(vertices: Array, faces: list[Face], notes: list[dict[str, Any]], density: float) -> list[Block]:
    """Split a list of faces into blocks by the notes, which count them; one block if the counts do not add up."""
    if sum(note.get("faces", 0) for note in notes) != len(faces):
        return [Block(vertices, tuple(faces), density)]
    blocks, start = [], 0
    for note in notes:
        block_faces = faces[start : start + note["faces"]]
        start += note["faces"]
        attributes = {"density": density} | {key: value for key, value in note.items() if key != "faces"}
        blocks.append(Block(*keep_used_vertices(vertices, block_faces), **attributes))
    return blocks


def keep_used_vertices(vertices: Array, faces: Sequence[Face]) -> tuple[Array, tuple[Face, ...]]:
    """The vertices that the faces use, in their order, and the renumbered faces."""
    kept = sorted({corner for face in faces for corner in face})
    row = {old: new for new, old in enumerate(kept)}
    return vertices[kept], tuple(tuple(row[corner] for corner in face) for face in faces)


def check_corners(faces: Sequence[Face], count: int, where: str) -> None:
    """Refuse a face that uses a vertex which does not exist."""
    for f, face in enumerate(faces):
        wrong = [corner for corner in face if not 0 <= corner < count]
        if wrong:
            raise InputError(f"{where}, face {f}: vertex {wrong[0]} is not among the {count} vertices; correct it")


def stack_meshes(blocks: Sequence[Block]) -> tuple[Array, list[list[Face]]]:
    """All vertices in one array, and the faces of each block with rows of it, for formats with one mesh per file."""
    start = np.cumsum([0] + [len(block.vertices) for block in blocks])
    faces = [[tuple(int(c) + int(s) for c in face) for face in b.faces] for b, s in zip(blocks, start, strict=False)]
    return np.concatenate([np.asarray(block.vertices, float) for block in blocks]), faces


def check_extent(blocks: Sequence[Block], path: Path) -> None:
    """Refuse blocks that are so far away or so large that lengths lose their precision."""
    for block in blocks:
        extent = float(np.abs(block.vertices).max(initial=0.0))
        if extent > MAX_COORDINATE:
            raise InputError(
                f"{path}: {describe_block(block)} reaches {extent:.3g} m away; is its unit right, or where it is put?"
            )

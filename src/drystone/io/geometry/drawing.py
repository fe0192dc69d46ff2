"""What every reader of geometry returns, and how files are opened: bytes come in, a `Drawing` goes out.

No reader opens a file because another file names it.
"""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from drystone.errors import InputError, truncated_repr
from drystone.io.given import read_bytes
from drystone.model import Block

Array = np.ndarray
Face = tuple[int, ...]

MAX_FACES = 500_000  # of a file
MAX_COORDINATE = 1e9  # [m] of a vertex from the origin


class Drawing(NamedTuple):
    """Blocks as a file has them: in its unit, with its axes, faces of any sense, perhaps triangulated or flat."""

    blocks: list[Block]
    metres: float | None = None  # the file's unit of length; None if it does not say
    up: str | None = None  # the axis that points up, where the format fixes it
    plain: bool = False  # blocks as we write them ourselves: taken as they are


def read_text(path: Path) -> str:
    """The whole file as text. Names in old files are not always UTF-8: a byte that is not is shown as such."""
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
        raise InputError(f"{path}: nested too deeply, or a number too long, for a file of blocks; check it") from None


def parse_numbers(words: Sequence[str], where: str) -> list[float]:
    """Words as floats."""
    try:
        return [float(word) for word in words]
    except ValueError:
        raise InputError(f"{where}: {' '.join(words)[:60]!r} are not numbers; correct them") from None


def parse_integers(words: Sequence[str], where: str) -> list[int]:
    """Words as integers."""
    try:
        return [int(word) for word in words]
    except ValueError:
        raise InputError(f"{where}: {' '.join(words)[:60]!r} are not whole numbers; correct them") from None


def missing_library(library: str, extra: str, path: Path) -> InputError:
    """What to say when a library is not installed."""
    return InputError(f"{path}: {library} is needed for this; install it with: pip install 'drystone[{extra}]'")


def describe_block(block: Block) -> str:
    """What a message calls a block."""
    return f"block {truncated_repr(block.name)}" if block.name else "a block"


def one_line(name: str) -> str:
    """A name as it can stand in a line of text."""
    return " ".join(name.split())


# What a format has no word for, drystone writes into a comment: "drystone " and a JSON object.
NOTE_PREFIX = "drystone "


def format_note(block: Block, *keys: str) -> str:
    """A comment with these attributes of the block, and the number of its faces."""
    attributes = {key: getattr(block, key) for key in keys} | {"faces": len(block.faces)}
    return NOTE_PREFIX + json.dumps(attributes)


def read_note(comment: str) -> dict[str, Any] | None:
    """The attributes in a comment of ours; None if it is another's."""
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
    """The blocks of one list of faces, by the notes that count them; one block of all faces if they do not add up."""
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
    """Only the vertices that the faces use, in their order, and the faces renumbered."""
    kept = sorted({corner for face in faces for corner in face})
    row = {old: new for new, old in enumerate(kept)}
    return vertices[kept], tuple(tuple(row[corner] for corner in face) for face in faces)


def triangulate_fan(face: Sequence[int]) -> list[tuple[int, int, int]]:
    """A face as triangles from its first corner."""
    return [(face[0], b, c) for b, c in pairwise(face[1:])]


def check_corners(faces: Sequence[Face], count: int, where: str) -> None:
    """Refuse a face that uses a vertex which is not there."""
    for f, face in enumerate(faces):
        wrong = [corner for corner in face if not 0 <= corner < count]
        if wrong:
            raise InputError(f"{where}, face {f}: vertex {wrong[0]} is not among the {count} vertices; correct it")


def stack_meshes(blocks: Sequence[Block]) -> tuple[Array, list[list[Face]]]:
    """All vertices in one array, and the faces of each block as rows of it: what formats with one mesh a file write."""
    start = np.cumsum([0] + [len(block.vertices) for block in blocks])
    faces = [[tuple(int(c) + int(s) for c in face) for face in b.faces] for b, s in zip(blocks, start, strict=False)]
    return np.concatenate([np.asarray(block.vertices, float) for block in blocks]), faces


def check_extent(blocks: Sequence[Block], path: Path) -> None:
    """Refuse blocks so far away or so large that nothing can be computed with their lengths."""
    for block in blocks:
        extent = float(np.abs(block.vertices).max(initial=0.0))
        if extent > MAX_COORDINATE:
            raise InputError(
                f"{path}: {describe_block(block)} reaches {extent:.3g} m away; is its unit right, or where it is put?"
            )

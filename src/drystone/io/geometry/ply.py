"""Reads PLY, text or binary, and writes it as text, exactly to the last bit.

The header lists the elements and the numbers of each. Files written by drystone have a comment for each block, with its name
and the number of its faces; in files of other programs, connected faces form a block.
"""

import re
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from drystone.base.errors import InputError
from drystone.base.files.reading import read_bytes
from drystone.io.geometry.drawing import (
    Drawing,
    check_corners,
    format_note,
    parse_numbers,
    read_note,
    split_by_notes,
    stack_meshes,
)
from drystone.structure.model import Block

NUMBER_CODES = {
    "char": "b", "int8": "b", "uchar": "B", "uint8": "B", "short": "h", "int16": "h", "ushort": "H", "uint16": "H",
    "int": "i", "int32": "i", "uint": "I", "uint32": "I", "float": "f", "float32": "f", "double": "d", "float64": "d",
}  # fmt: skip
BYTE_ORDERS = {"binary_little_endian": "<", "binary_big_endian": ">", "ascii": ""}


class _Property(NamedTuple):
    name: str
    kind: str  # as `struct` writes it
    count_kind: str  # of a list, that of its length; empty otherwise


class _Element(NamedTuple):
    name: str
    number: int
    properties: list[_Property]


def read_ply(path: Path, density: float) -> Drawing:
    """The mesh of a PLY file."""
    data = read_bytes(path)
    end = re.search(rb"end_header[ \t]*\r?\n", data[: 2**20])
    if not data.startswith(b"ply") or end is None:
        raise InputError(f"{path}: has no PLY header; is its suffix right?")
    header = data[: end.start()].decode("ascii", errors="backslashreplace").splitlines()
    order, elements, notes = _header(header, path)
    body = data[end.end() :]
    if sum(element.number for element in elements) > len(body):
        raise InputError(f"{path}: its header counts more elements than there are bytes; is the file cut?")
    values = _Values(body, order, path)
    points, faces = [], []
    try:
        for element in elements:
            for _ in range(element.number):
                row = _row(element, values)
                if element.name == "vertex":
                    points.append([float(row[axis]) for axis in "xyz"])
                elif element.name == "face":
                    faces.append(_corners(row))
    except InputError:
        raise
    except (ValueError, OverflowError):
        raise InputError(f"{path}: counts or corners that are not whole numbers; export it again") from None
    except KeyError as error:
        raise InputError(f"{path}: property {error} is missing in its header; export it again") from None
    check_corners(faces, len(points), str(path))
    return Drawing(split_by_notes(np.array(points, float).reshape(-1, 3), faces, notes, density))


def _header(lines: list[str], path: Path) -> tuple[str, list[_Element], list[dict[str, Any]]]:
    order, elements, notes = None, [], []
    for line in lines[1:]:
        words = line.split()
        if words[:1] == ["comment"]:
            attributes = read_note(line.partition(" ")[2])
            notes += [] if attributes is None else [attributes]
        elif words[:1] == ["format"] and len(words) > 1:
            order = BYTE_ORDERS.get(words[1])
        elif words[:1] == ["element"] and len(words) == 3 and words[2].isdigit() and len(words[2]) < 19:
            elements.append(_Element(words[1], int(words[2]), []))
        elif (
            words[:1] == ["property"]
            and elements
            and len(words) > 2
            and all(kind in NUMBER_CODES for kind in words[1:-1] if kind != "list")
        ):
            kinds = [NUMBER_CODES[kind] for kind in words[1:-1] if kind != "list"]
            elements[-1].properties.append(_Property(words[-1], kinds[-1], kinds[0] if words[1] == "list" else ""))
        elif words and words[0] not in ("comment", "obj_info"):
            raise InputError(f"{path}: its header has the line {line[:60]!r}, which is not PLY; export it again")
    if order is None:
        raise InputError(f"{path}: its format is not one of {', '.join(BYTE_ORDERS)}; export it again")
    return order, elements, notes


class _Values:
    """The numbers of the body, read from the first to the last. Before numbers are read, it is checked that they exist."""

    def __init__(self, body: bytes, order: str, path: Path):
        self._order, self._at, self._path = order, 0, path
        self._source = body if order else body.decode("ascii", errors="backslashreplace").split()

    def take(self, count: int, kind: str) -> Sequence[float]:
        length = count * (struct.calcsize(kind) if self._order else 1)
        begin, self._at = self._at, self._at + length
        if length < 0 or self._at > len(self._source):
            raise InputError(f"{self._path}: ends before what its header counts; is the file cut?")
        if isinstance(self._source, bytes):
            return struct.unpack_from(f"{self._order}{count}{kind}", self._source, begin)
        return parse_numbers(self._source[begin : self._at], str(self._path))


def _row(element: _Element, values: _Values) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, kind, count_kind in element.properties:
        if count_kind:
            row[name] = values.take(int(values.take(1, count_kind)[0]), kind)
        else:
            row[name] = values.take(1, kind)[0]
    return row


def _corners(row: dict[str, Any]) -> tuple[int, ...]:
    corners = row["vertex_indices"] if "vertex_indices" in row else row["vertex_index"]
    return tuple(int(corner) for corner in corners)


def write_ply(path: Path, blocks: Sequence[Block]) -> None:
    """Write one mesh with all blocks as text, with coordinates in double precision, and a comment for each block."""
    vertices, faces = stack_meshes(blocks)
    lines = ["ply", "format ascii 1.0", "comment lengths in m, z up"]
    lines += [f"comment {format_note(block, 'name', 'group', 'density', 'fixed', 'pieces')}" for block in blocks]
    lines += [f"element vertex {len(vertices)}", *(f"property double {axis}" for axis in "xyz")]
    lines += [f"element face {sum(map(len, faces))}", "property list uint int vertex_indices", "end_header"]
    lines += [f"{x!r} {y!r} {z!r}" for x, y, z in vertices.tolist()]
    lines += [" ".join(map(str, (len(face), *face))) for own in faces for face in own]
    path.write_text("\n".join(lines) + "\n", encoding="ascii")

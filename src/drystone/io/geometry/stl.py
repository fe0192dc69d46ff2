"""Reads STL, text or binary, and writes it as text, triangulated and exact to the last bit.

The format has triangles only. A block is the connected triangles within a `solid` of a text file, or of a binary file; it is
named after the solid. Groups, densities and supports cannot be written. Binary files have single precision, 7 digits, so that
flat faces remain flat to about 1e-7 of their distance from the origin.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from drystone.base.errors import InputError
from drystone.base.files.reading import read_bytes
from drystone.io.geometry.drawing import Drawing, one_line, parse_numbers
from drystone.structure.face_triangles import triangulate_fan
from drystone.structure.model import Block

TRIANGLE_RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])  # 50 bytes


def read_stl(path: Path, density: float) -> Drawing:
    """The solids of an STL file."""
    data = read_bytes(path)
    count = int.from_bytes(data[80:84], "little")
    if len(data) == 84 + count * TRIANGLE_RECORD.itemsize:
        triangles = np.frombuffer(data, TRIANGLE_RECORD, count, 84)["corners"].astype(float)
        return Drawing([_block(triangles, "", density)] if count else [])
    if not data.lstrip().startswith(b"solid"):
        raise InputError(f"{path}: neither text nor {count} triangles in binary, as its header says; is the file cut?")
    text = data.decode("utf-8", errors="backslashreplace")
    solids = re.findall(r"^[ \t]*solid\b[ \t]*([^\n]*)\n(.*?)^[ \t]*endsolid", text, re.DOTALL | re.MULTILINE)
    blocks = []
    for name, body in solids:
        words = re.findall(r"\bvertex\s+(\S+)\s+(\S+)\s+(\S+)", body)
        corners = parse_numbers([word for point in words for word in point], f"{path}: solid {name.strip()!r}")
        if len(corners) % 9:
            raise InputError(f"{path}: solid {name.strip()!r} has {len(words)} vertices, not three a facet; is it cut?")
        blocks += [_block(np.reshape(corners, (-1, 3, 3)), name.strip(), density)] if corners else []
    return Drawing(blocks)


def _block(triangles: np.ndarray, name: str, density: float) -> Block:
    """A block in which every triangle has corners of its own; coincident vertices are merged later."""
    faces = tuple((3 * i, 3 * i + 1, 3 * i + 2) for i in range(len(triangles)))
    return Block(triangles.reshape(-1, 3), faces, density, name=name)


def write_stl(path: Path, blocks: Sequence[Block]) -> None:
    """Write text with one solid per block; faces become fans of triangles."""
    lines = []
    for block in blocks:
        lines.append(f"solid {one_line(block.name)}")
        vertices = np.asarray(block.vertices, float)
        for face in block.faces:
            for triangle in triangulate_fan(face):
                corners = vertices[list(triangle)]
                normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
                normal /= np.linalg.norm(normal) or 1.0
                lines.append("facet normal {!r} {!r} {!r}".format(*normal.tolist()))
                lines += ["outer loop", *("vertex {!r} {!r} {!r}".format(*p) for p in corners.tolist()), "endloop", "endfacet"]
        lines.append(f"endsolid {one_line(block.name)}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")

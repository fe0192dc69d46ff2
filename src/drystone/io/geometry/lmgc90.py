"""Reads a DATBOX of LMGC90: BODIES.DAT, and BULK_BEHAV.DAT and DRV_DOF.DAT if they are in the same folder.

Polyhedra (POLYR), polygons (POLYG), walls (JONCx, a rectangle) and planes (PLANx, a box). The colour of a body is its group,
its bulk behaviour its density; bodies whose velocities are all prescribed are supports. Bodies of 2D are flat, with y up:
`depth` makes them prisms. Lengths in m.
"""

import re
from pathlib import Path

import numpy as np

from drystone.base.errors import InputError
from drystone.build.shapes import join_pieces
from drystone.io.geometry.convex_pieces import make_hull
from drystone.io.geometry.drawing import Drawing, Face, check_corners, read_text
from drystone.structure.model import Block

NUMBER_PATTERN = r"\s*([-+]?\d*\.?\d+(?:[DdEe][-+]?\d+)?)"
MAX_HALF_SIZE = 1e9  # [m] half the size of a plane
UNIT_CUBE_CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)


def read_lmgc90(path: Path, density: float) -> Drawing:
    """The bodies of a BODIES.DAT."""
    text = "\n".join(line for line in read_text(path).splitlines() if not line.lstrip().startswith(("!", "#")))
    records = text.split("$bdyty")[1:]
    densities, supports = _densities(path.parent / "BULK_BEHAV.DAT"), _supports(path.parent / "DRV_DOF.DAT")
    blocks = []
    for number, record in enumerate(records, 1):  # DRV_DOF counts bodies in order, whatever number stands in BODIES
        try:
            body = _body(record, f"{path}: body {number}")
        except InputError:
            raise
        except (ValueError, ArithmeticError, IndexError):
            raise InputError(f"{path}: body {number} is not complete; its corners or faces do not add up, correct it") from None
        bulk = re.search(r"behav\s+(\S+)", record)
        own = densities.get(bulk[1], density) if bulk else density
        blocks.append(Block(body.vertices, body.faces, own, number in supports, f"body-{number}", body.group, body.pieces))
    if not blocks:
        raise InputError(f"{path}: has no bodies; give the BODIES.DAT of a DATBOX")
    planar = all("RBDY2" in record for record in records)
    return Drawing(blocks, 1.0, "y" if planar else "z")


def _densities(path: Path) -> dict[str, float]:
    """[kg/m3] of each bulk behaviour."""
    if not path.exists():
        return {}
    matches = re.findall(rf"^\s*(\S+)\s+RIGID\s+Umas={NUMBER_PATTERN}", read_text(path), re.MULTILINE)
    return {name: _float(value) for name, value in matches}


def _supports(path: Path) -> set[int]:
    """Numbers of the bodies all of whose velocities are prescribed."""
    if not path.exists():
        return set()
    held = set()
    for record in read_text(path).split("$bdyty")[1:]:
        body = re.search(r"RBDY([23])\s+(\d+)", record)
        driven = set(re.findall(r"^\s*vlocy\s+(\d)", record, re.MULTILINE))
        if body and len(driven) == (3 if body[1] == "2" else 6):
            held.add(int(body[2]))
    return held


def _float(text: str) -> float:
    return float(text.replace("D", "e").replace("d", "e"))


def _values(key: str, text: str) -> list[float]:
    return [_float(value) for value in re.findall(rf"\b{key}\s*={NUMBER_PATTERN}", text)]


def _body(record: str, where: str) -> Block:
    """The block of a body: its contactors, each of which is a piece, at the position of its node."""
    node, _, contactors = record.partition("$tacty")
    position = [*_values("coo1", node), *_values("coo2", node), *(_values("coo3", node) if "RBDY3" in record else ())]
    rotations = [_values(key, node) for key in (("coo4", "coo5", "coo6") if "RBDY3" in record else ("coo3",))]
    if any(any(turn) for turn in rotations):
        raise InputError(f"{where}: is rotated at the start; give its corners in the global axes and no rotation")
    shift = np.zeros(3)
    shift[: len(position)] = position[:3]
    parts = re.split(r"(?m)^\s*(?=[A-Z][A-Za-z]{4}\s+\d+\s+color)", contactors)
    contactor_blocks = [_contactor(part, where) for part in parts if "color" in part]
    if not contactor_blocks:
        raise InputError(f"{where}: has no contactor; give it a shape")
    moved = [Block(part.vertices + shift, part.faces, group=part.group) for part in contactor_blocks]
    return moved[0] if len(moved) == 1 else join_pieces(moved)


def _contactor(text: str, where: str) -> Block:
    kind, colour = text.split()[0], re.search(r"color\s+(\S+)", text)
    group = colour[1] if colour else ""
    if kind == "POLYR":
        corners = [[int(float(v)) - 1 for v in _values(key, text)] for key in ("ver1", "ver2", "ver3")]
        faces: tuple[Face, ...] = tuple(zip(*corners, strict=True))
        vertices = _points(text, 3)
        check_corners(faces, len(vertices), where)
        return Block(vertices, faces, group=group)
    if kind == "POLYG":
        vertices = _points(text, 2)
        return Block(vertices, (tuple(range(len(vertices))),), group=group)
    if kind == "JONCx":
        x, y = _values("ax1", text)[0], _values("ax2", text)[0]
        return Block(np.array([(-x, -y, 0), (x, -y, 0), (x, y, 0), (-x, y, 0)], float), ((0, 1, 2, 3),), group=group)
    if kind == "PLANx":
        half = [_values(f"axe{i}", text)[0] for i in (1, 2, 3)]
        if not all(0 < size < MAX_HALF_SIZE for size in half):
            raise InputError(f"{where}: axe1 to axe3 are {half}; give half its sizes in m, above 0")
        return make_hull(UNIT_CUBE_CORNERS * half, Block(UNIT_CUBE_CORNERS, (), group=group))
    raise InputError(f"{where}: its contactor is {kind}; POLYR, POLYG, JONCx and PLANx are read, make it one of them")


def _points(text: str, dimension: int) -> np.ndarray:
    columns = [_values(f"coo{i}", text) for i in range(1, dimension + 1)]
    points = np.zeros((len(columns[0]), 3))
    points[:, :dimension] = np.column_stack(columns)
    return points

"""Reads and writes geometry files of all formats: blocks in m with z up.

The format is determined by the suffix, and for `.json`, `.dat` and `.txt` by the content; a folder has one file per block, or
is a DATBOX. The readers only read. Here follow, in order, the unit, the upward axis, flat blocks, the solids in a mesh,
convexity, names and supports. Blocks in files written by drystone are only moved and scaled.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

import numpy as np
from scipy.spatial import QhullError

from drystone.base.errors import InputError
from drystone.base.files.atomic_write import replace_atomically
from drystone.base.units import UNITS
from drystone.io.geometry.block_file import parse_blocks, write_blocks
from drystone.io.geometry.chrono import read_chrono
from drystone.io.geometry.compas import is_compas, read_compas, write_compas
from drystone.io.geometry.convex_pieces import make_convex
from drystone.io.geometry.drawing import MAX_FACES, Drawing, check_corners, check_extent, describe_block, read_json, read_text
from drystone.io.geometry.dxf import read_dxf, write_dxf
from drystone.io.geometry.lmgc90 import read_lmgc90
from drystone.io.geometry.mesh_repair import is_flat, split_into_solids, thicken
from drystone.io.geometry.obj import read_obj, write_obj
from drystone.io.geometry.off import read_off, write_off
from drystone.io.geometry.ply import read_ply, write_ply
from drystone.io.geometry.rhino import read_rhino, write_rhino
from drystone.io.geometry.stl import read_stl, write_stl
from drystone.structure.model import Block

Reader = Callable[[Path, float], Drawing]

MESH_READERS: dict[str, Reader] = {".obj": read_obj, ".stl": read_stl, ".ply": read_ply, ".off": read_off}
WRITERS: dict[str, Callable[[Path, Sequence[Block]], None]] = {
    ".json": write_blocks, ".obj": write_obj, ".stl": write_stl, ".ply": write_ply, ".off": write_off, ".3dm": write_rhino,
    ".dxf": write_dxf, ".compas.json": write_compas,
}  # fmt: skip
MIN_BLOCK_SIZE = 1e-9  # [m] size of a block
MAX_FACE_CORNERS = 1000  # corners of a face
LOWEST_SHARE = 1e-3  # of the structure's height: blocks whose lowest point is within this of the ground are the lowest


def read_structure(
    path: str | Path,
    *,
    unit: str | None = None,
    up: str | None = None,
    density: float = Block.density,
    supports: str | Sequence[str] = (),
    only: Sequence[str] = (),
    depth: float | None = None,
    decompose: bool = False,
    refuse: bool = True,
) -> list[Block]:
    """Read the blocks of a geometry file.

    unit: of lengths in the file, in place of the one that it states (m if it states none); up: the axis of the file that points
    up; density [kg/m3]: if the file states none; supports: "lowest", or names of blocks or groups, in addition to those that
    the file marks; only: the groups (layers) or blocks to read; depth [m]: of flat blocks, such as outlines of a 2D drawing or
    supports that are planes; decompose: whether shapes without a simple exact convex decomposition may be approximated; refuse:
    whether flat blocks and blocks that are not convex are an error, or are left unchanged for the doctor.
    """
    path = Path(path)
    drawing = _read(path, density)
    blocks = [_convert_units(block, _metres_per_unit(unit, drawing), up or drawing.up or "z", path) for block in drawing.blocks]
    if not blocks:
        raise InputError(f"{path}: has no blocks; give a file with blocks")
    check_extent(blocks, path)
    if only:
        blocks = _choose_blocks(blocks, only, "only", path)
    if drawing.plain:
        return _fix_supports(blocks, supports, path)
    _check_faces(blocks, path)
    blocks = _make_names_unique(blocks)
    blocks = _thicken_flat(blocks, depth, path) if refuse or depth is not None else blocks
    blocks = [solid for block in blocks for solid in (_split_solids(block, path) if refuse or not is_flat(block) else [block])]
    return _fix_supports([_make_convex(block, decompose, refuse, path) for block in _make_names_unique(blocks)], supports, path)


def _check_faces(blocks: Sequence[Block], path: Path) -> None:
    """Refuse meshes so large that making solids of them would take minutes, and sizes that vanish when squared."""
    faces, corners = sum(len(block.faces) for block in blocks), max((len(f) for b in blocks for f in b.faces), default=0)
    if faces > MAX_FACES or corners > MAX_FACE_CORNERS:
        message = f"has {faces:,} faces, of up to {corners:,} corners"
        raise InputError(f"{path}: {message}; {MAX_FACES:,} of {MAX_FACE_CORNERS:,} are read, simplify or split it")
    for block in blocks:
        size = float(np.ptp(block.vertices, axis=0).max()) if len(block.vertices) else 0.0
        if 0 < size < MIN_BLOCK_SIZE:
            raise InputError(f"{path}: {describe_block(block)} is {size:.3g} m across; is its unit right?")


def _split_solids(block: Block, path: Path) -> list[Block]:
    try:
        return split_into_solids(block)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _make_convex(block: Block, decompose: bool, refuse: bool, path: Path) -> Block:
    try:
        return make_convex(block, decompose=decompose, path=path)
    except (InputError, QhullError) as error:
        if not refuse:
            return block
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: {describe_block(block)} has no volume; give at least 4 corners not in a plane") from None


def write_structure(path: str | Path, blocks: Iterable[Block]) -> None:
    """Write blocks, in m with z up, in the format of the suffix: `.compas.json` for COMPAS, `.json` for plain blocks."""
    path = Path(path)
    suffix = next((suffix for suffix in sorted(WRITERS, key=len, reverse=True) if path.name.lower().endswith(suffix)), None)
    if suffix is None:
        raise InputError(f"{path}: {path.suffix!r} is not a format that is written; give one of {', '.join(WRITERS)}")
    blocks = _make_names_unique(list(blocks))
    with replace_atomically(path) as part:
        WRITERS[suffix](part, blocks)


def _read(path: Path, density: float) -> Drawing:
    suffix = path.suffix.lower()
    if path.is_dir():
        return read_lmgc90(path / "BODIES.DAT", density) if (path / "BODIES.DAT").exists() else _read_folder(path, density)
    if suffix in MESH_READERS:
        return MESH_READERS[suffix](path, density)
    if suffix == ".json":
        content = read_json(path)
        if is_compas(content):
            return read_compas(content, path, density)
        return Drawing(parse_blocks(content, path, density), plain=True)
    if suffix == ".3dm":
        return read_rhino(path, density)
    if suffix == ".dxf":
        return read_dxf(path, density)
    if suffix in (".dat", ".txt", ".csv"):
        return read_lmgc90(path, density) if "$bdyty" in read_text(path) else read_chrono(path, density)
    known = [*MESH_READERS, ".json", ".3dm", ".dxf", "Chrono bricks (.txt, .dat)", "LMGC90 (BODIES.DAT)", "a folder of meshes"]
    raise InputError(f"{path}: {suffix or 'a name without suffix'} is not a format that is read; give {', '.join(known)}")


def _read_folder(folder: Path, density: float) -> Drawing:
    """Read a folder of meshes, one file per block, in natural order of the file names, after which the blocks are named."""
    files = [file for file in folder.iterdir() if file.suffix.lower() in MESH_READERS and file.is_file()]
    if not files:
        raise InputError(f"{folder}: a folder without meshes; give one with {', '.join(MESH_READERS)} files, one per block")
    blocks = []
    for file in sorted(
        files, key=lambda file: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", file.name)]
    ):
        own = MESH_READERS[file.suffix.lower()](file, density).blocks
        blocks += [replace(b, name=file.stem if len(own) == 1 else f"{file.stem}-{b.name or i}") for i, b in enumerate(own)]
    return Drawing(blocks)


def _metres_per_unit(unit: str | None, drawing: Drawing) -> float:
    if unit is None:
        return drawing.metres or 1.0
    if unit not in UNITS["length"]:
        raise InputError(f"unit is {unit!r}; give one of {', '.join(UNITS['length'])}")
    return UNITS["length"][unit]


def _convert_units(block: Block, metres: float, up: str, path: Path) -> Block:
    """The block in m with z up; division by the inverse keeps decimal units exact."""
    vertices = np.asarray(block.vertices, float)
    try:
        f"{block.name}{block.group}".encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{path}: {describe_block(block)}: its name or group is no text (half a character); correct it"
        ) from None
    check_corners(block.faces, len(vertices), f"{path}: {describe_block(block)}")
    if vertices.shape != (len(vertices), 3) or not np.isfinite(vertices).all():
        raise InputError(f"{path}: {describe_block(block)} has a vertex that is not three finite numbers; correct it")
    x, y, z = vertices.T
    axes = {"z": (x, y, z), "y": (x, -z, y), "x": (y, z, x)}
    if up not in axes:
        raise InputError(f"up is {up!r}; give x, y or z, the axis of the file that points up")
    inverse = round(1 / metres)
    turned = np.column_stack(axes[up]) if up != "z" else vertices
    scaled = turned / inverse if metres < 1 and abs(metres * inverse - 1) < 1e-12 else turned * metres
    return replace(block, vertices=scaled if metres != 1 else turned)


def _thicken_flat(blocks: list[Block], depth: float | None, path: Path) -> list[Block]:
    """Flat blocks as prisms of this depth, the others as they are."""
    flat = [is_flat(block) for block in blocks]
    if not any(flat):
        return blocks
    if depth is None or not 0 < depth < np.inf:
        names = [block.name for block, is_one in zip(blocks, flat, strict=True) if is_one]
        groups = sorted({block.group for block in blocks})
        raise InputError(
            f"{path}: {len(names)} of {len(blocks)} blocks are flat ({', '.join(names[:3])} ...), depth is {depth}; give "
            f"the depth they get in m, or take only the groups with solids of {groups[:8]}"
        )
    centres = [block.vertices.mean(axis=0) for block, is_one in zip(blocks, flat, strict=True) if not is_one]
    return [thicken(block, depth, np.array(centres)) if is_one else block for block, is_one in zip(blocks, flat, strict=True)]


def _make_names_unique(blocks: list[Block]) -> list[Block]:
    """Every block with a name, and no two with the same."""
    counts = Counter(block.name for block in blocks)
    taken, named = {name for name in counts if counts[name] == 1}, []
    for i, block in enumerate(blocks):
        name = block.name
        if not name or counts[name] > 1:
            name = next(n for k in range(i, 2 * len(blocks) + i + 1) if (n := f"{name or 'block'}-{k}") not in taken)
            taken.add(name)
        named.append(replace(block, name=name))
    return named


def _choose_blocks(blocks: list[Block], wanted: Sequence[str], key: str, path: Path) -> list[Block]:
    """The blocks of these names or groups, each of which must exist."""
    known = {block.name for block in blocks} | {block.group for block in blocks}
    for name in wanted:
        if name not in known:
            near = get_close_matches(name, known, 1) or sorted(known)[:1]
            raise InputError(f"{path}: {key}: no block or group is named {name!r}; did you mean {near[0]!r}?")
    return [block for block in blocks if block.name in wanted or block.group in wanted]


def _fix_supports(blocks: list[Block], supports: str | Sequence[str], path: Path) -> list[Block]:
    if supports == "lowest":
        bottom = np.array([block.vertices[:, 2].min() for block in blocks])
        height = max(block.vertices[:, 2].max() for block in blocks) - bottom.min()
        fixed = set(np.flatnonzero(bottom <= bottom.min() + LOWEST_SHARE * height).tolist())
    else:
        named = {
            b.name for b in _choose_blocks(blocks, [supports] if isinstance(supports, str) else supports, "supports", path)
        }
        fixed = {i for i, block in enumerate(blocks) if block.name in named}
    return [replace(block, fixed=True) if i in fixed else block for i, block in enumerate(blocks)]

"""Export for Blender and web pages: a `Run` comes in, a binary glTF 2.0 file (.glb) with one animation goes out.

Every block is a node with a mesh, under a node for its group; blocks of the same shape and tone share a mesh. A node has its
position and rotation in the first frame, and keys at recorded times if it moves. A key is left out if, without it, no corner of
the block is farther than `tolerance` [m] from its recorded position. Lengths are in m; the root turns z up into glTF's y up.
Stages of statics are one second apart. Deformable blocks are drawn rigid.
"""

import json
import struct
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from drystone import __version__
from drystone.analysis.construction import present_blocks
from drystone.base.files.atomic_write import replace_atomically
from drystone.base.kernel import inner, kernel
from drystone.results.store.run_reader import Run
from drystone.show.export.frames import SINGLE_PRECISION_LIMIT
from drystone.show.pictures.colours import LIMESTONE_COLOURS, SUPPORT_COLOUR, stone_colours
from drystone.structure.face_triangles import triangulate_fan
from drystone.structure.model import Model

Array = np.ndarray

DEFAULT_TOLERANCE_SHARE = 1e-3  # of the median radius of blocks: the tolerance if none is given
SHAPE_DIGITS = 6  # decimal digits [m] to which equal shapes agree
Z_TO_Y = (-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))  # glTF has the scalar last
FLOAT_TYPE, INDEX_TYPE = 5126, 5125  # glTF's numbers for 32-bit floats and unsigned integers
ACCESSOR_TYPES = {(): "SCALAR", (3,): "VEC3", (4,): "VEC4"}
BUFFER_PARTS = {  # the three parts of the file, by their content; the targets are glTF's numbers
    "corners": {"target": 34962, "byteStride": 12},
    "triangles": {"target": 34963},
    "keys": {},
}


class KeyCounts(NamedTuple):
    """The number of keys in a file."""

    kept: int  # keys of positions and rotations in the file
    recorded: int  # positions and rotations of the requested blocks and frames


def write_glb(run: Run, path: Path, frames: Sequence[int], *, tolerance: float | None = None) -> KeyCounts:
    """Write the frames to `path`; `tolerance` [m] is a thousandth of a block if not given."""
    tolerance = default_tolerance(run) if tolerance is None else tolerance
    store = _BufferStore()
    meshes, mesh_of = _meshes(run.model, store)
    nodes = _nodes(run, frames[0], mesh_of)
    animation, kept = _animation(run, frames, tolerance, store)
    document = {
        "asset": {"version": "2.0", "generator": f"drystone {__version__}", "extras": {"case": run.case}},
        "scene": 0,
        "scenes": [{"nodes": [len(run.model.blocks)]}],
        "nodes": nodes,
        "meshes": meshes,
        "materials": [_material(tone) for tone in (*LIMESTONE_COLOURS, SUPPORT_COLOUR)],
        "accessors": store.accessors,
        "bufferViews": store.views(),
        "buffers": [{"byteLength": store.size}],
    }
    document |= {"animations": [animation]} if animation["channels"] else {}
    with replace_atomically(path) as part, part.open("wb") as file:
        content = json.dumps(document, separators=(",", ":")).encode()
        content += b" " * (-len(content) % 4)
        file.write(struct.pack("<4sII", b"glTF", 2, 12 + 8 + len(content) + 8 + store.size))
        file.write(struct.pack("<I4s", len(content), b"JSON") + content)
        file.write(struct.pack("<I4s", store.size, b"BIN\0"))
        for view in store.parts.values():
            file.write(view)
    return KeyCounts(kept, 2 * len(frames) * len(run.model.blocks))


def default_tolerance(run: Run) -> float:
    """[m]"""
    return DEFAULT_TOLERANCE_SHARE * float(np.median(run.model.bodies.radius))


class _BufferStore:
    """The bytes of the file in three parts, and the accessors that describe them. Equal arrays are stored once."""

    def __init__(self) -> None:
        self.parts = {name: bytearray() for name in BUFFER_PARTS}
        self.accessors: list[dict[str, Any]] = []
        self._known: dict[tuple, int] = {}

    def add(self, part: str, values: Array, *, bounds: bool = False) -> int:
        """The number of the accessor of an array of floats or of whole numbers; with its bounds where glTF wants them."""
        values = np.ascontiguousarray(values, np.uint32 if values.dtype.kind in "iu" else np.float32)
        content = values.tobytes()
        key = (part, values.shape[1:], content)
        if key not in self._known:
            self._known[key] = len(self.accessors)
            accessor: dict[str, Any] = {"bufferView": list(BUFFER_PARTS).index(part), "byteOffset": len(self.parts[part])}
            accessor |= {
                "componentType": INDEX_TYPE if values.dtype.kind == "u" else FLOAT_TYPE,
                "type": ACCESSOR_TYPES[values.shape[1:]],
            }
            accessor["count"] = len(values)
            if bounds:
                accessor |= {
                    "min": np.atleast_1d(values.min(axis=0)).tolist(),
                    "max": np.atleast_1d(values.max(axis=0)).tolist(),
                }
            self.accessors.append(accessor)
            self.parts[part] += content
        return self._known[key]

    @property
    def size(self) -> int:
        return sum(map(len, self.parts.values()))

    def views(self) -> list[dict[str, Any]]:
        """The buffer views of the parts; the last part, the keys, may be empty and is then left out."""
        start = np.cumsum([0] + [len(part) for part in self.parts.values()]).tolist()
        views = zip(BUFFER_PARTS.values(), start, self.parts.values(), strict=False)
        return [{"buffer": 0, "byteOffset": at, "byteLength": len(part)} | more for more, at, part in views if part]


def _meshes(model: Model, store: _BufferStore) -> tuple[list[dict[str, Any]], list[int]]:
    """A mesh for each shape and tone, and the mesh of each block."""
    tones = np.linalg.norm(stone_colours(len(model.blocks))[:, None] - LIMESTONE_COLOURS, axis=2).argmin(axis=1)
    tones = np.where(model.bodies.fixed, len(LIMESTONE_COLOURS), tones).tolist()
    shapes: dict[bytes, dict[str, Any]] = {}
    meshes: dict[tuple[bytes, int], int] = {}
    made_meshes: list[dict[str, Any]] = []
    mesh_of = []
    for block, tone in enumerate(tones):
        corner, normal, triangle = _surface(model, block)
        shape = (np.round(corner, SHAPE_DIGITS) + 0.0).tobytes() + triangle.tobytes()
        if shape not in shapes:
            attributes = {"POSITION": store.add("corners", corner, bounds=True), "NORMAL": store.add("corners", normal)}
            shapes[shape] = {"attributes": attributes, "indices": store.add("triangles", triangle.ravel())}
        if (shape, tone) not in meshes:
            meshes[shape, tone] = len(made_meshes)
            made_meshes.append({"primitives": [shapes[shape] | {"material": tone}]})
        mesh_of.append(meshes[shape, tone])
    return made_meshes, mesh_of


def _material(tone: Array) -> dict[str, Any]:
    """A matt material of a colour (3,) in sRGB, which glTF stores as a linear colour."""
    linear = np.where(tone > 0.04045, ((tone + 0.055) / 1.055) ** 2.4, tone / 12.92)
    return {"pbrMetallicRoughness": {"baseColorFactor": [*linear.tolist(), 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.9}}


def _surface(model: Model, block: int) -> tuple[Array, Array, Array]:
    """(n, 3) [m] the corners of the faces of a block, relative to its centroid, (n, 3) their normals and (t, 3) triangles."""
    bodies = model.bodies
    first, last = bodies.piece_face[np.searchsorted(bodies.owner, [block, block + 1])]
    start = bodies.face_start[first : last + 1]
    corner = bodies.vertex[bodies.face_vertex[start[0] : start[-1]]]
    normal = np.repeat(bodies.face_normal[first:last], np.diff(start), axis=0)
    start = (start - start[0]).tolist()
    triangle = [three for a, b in pairwise(start) for three in triangulate_fan(range(a, b))]
    return corner, normal, np.array(triangle)


def _nodes(run: Run, frame: int, mesh_of: list[int]) -> list[dict[str, Any]]:
    """The nodes of the blocks by their numbers, then the root, then the groups."""
    blocks, origin = run.model.blocks, _origin(run)
    place, turn = (run.position[frame] - origin).tolist(), _last_scalar(run.rotation[frame]).tolist()
    nodes: list[dict[str, Any]] = [
        {"name": block.name, "mesh": mesh_of[i], "translation": place[i], "rotation": turn[i],
         "extras": {"block": i, "group": block.group, "fixed": block.fixed, "mass": float(run.model.bodies.mass[i])}}
        for i, block in enumerate(blocks)
    ]  # fmt: skip
    groups = sorted({block.group for block in blocks})
    root = len(nodes)
    x, y, z = origin.tolist()
    below = [root + 1 + k for k in range(len(groups))]
    nodes.append({"name": run.folder.resolve().name, "translation": [x, z, -y], "rotation": list(Z_TO_Y), "children": below})
    for group in groups:
        nodes.append({"name": group or "blocks", "children": [i for i, block in enumerate(blocks) if block.group == group]})
    return nodes


def _origin(run: Run) -> Array:
    """(3,) [m] the origin of positions, because single precision is coarse far from zero, where CAD models may lie."""
    middle = run.model.position.mean(axis=0)
    return np.round(middle) if np.abs(middle).max() > SINGLE_PRECISION_LIMIT else np.zeros(3)


def _last_scalar(rotation: Array) -> Array:
    """Unit quaternions in the order of glTF."""
    return np.roll(rotation / np.linalg.norm(rotation, axis=-1, keepdims=True), -1, axis=-1)


def _animation(run: Run, frames: Sequence[int], tolerance: float, store: _BufferStore) -> tuple[dict[str, Any], int]:
    """The animation and the number of its keys."""
    time, half = np.asarray(run.time[frames]), 0.5 * tolerance
    radius = run.model.bodies.radius
    paths = {
        "translation": (run.position[frames] - _origin(run), np.full(len(radius), half)),
        # a rotation by an angle moves corners by at most radius times angle, and its quaternion by 2 sin(angle / 4)
        "rotation": (run.rotation[frames], 2.0 * np.sin(np.minimum(half / radius, np.pi) / 4)),
    }
    samplers: list[dict[str, Any]] = []
    channels, count = [], 0

    def add(block: int, path: str, times: Array, values: Array, interpolation: str) -> None:
        channels.append({"sampler": len(samplers), "target": {"node": block, "path": path}})
        keys = {
            "input": store.add("keys", times, bounds=True),
            "output": store.add("keys", values),
            "interpolation": interpolation,
        }
        samplers.append(keys)

    for path, (values, allowed) in paths.items():
        kept = np.zeros(values.shape[:2], bool)
        _select_keys(time, values, allowed, kept)
        count += int(kept.sum())
        for block in np.flatnonzero(kept.any(axis=0)).tolist():
            keys = values[kept[:, block], block]
            add(block, path, time[kept[:, block]], _continuous(keys) if path == "rotation" else keys, "LINEAR")
    step_times = np.append(time, time[-1] + 1.0)  # [s] the last stage is shown as long as the others
    for block, shown in _appearing(run, frames):
        add(block, "scale", step_times, np.repeat(np.append(shown, shown[-1])[:, None].astype(float), 3, axis=1), "STEP")
    return {"name": "run", "samplers": samplers, "channels": channels}, count


def _appearing(run: Run, frames: Sequence[int]) -> list[tuple[int, Array]]:
    """The blocks that are not present in all frames of a structure built in stages, and (F,) whether they are present."""
    every = np.ones(len(run.model.blocks), bool)
    seen = [present_blocks(run, frame) for frame in frames]
    shown = np.array([every if one is None else one for one in seen])
    return [(int(block), shown[:, block]) for block in np.flatnonzero(~shown.all(axis=0))]


def _continuous(rotation: Array) -> Array:
    """(n, 4) in the order of glTF; of the two quaternions of each rotation, the one that is nearer to the quaternion before."""
    behind = np.einsum("ik,ik->i", rotation[1:], rotation[:-1]) < 0.0
    sign = np.where(np.cumsum(behind) % 2, -1.0, 1.0)
    return _last_scalar(rotation * np.append(1.0, sign)[:, None])


@kernel
def _select_keys(time, values, allowed, out_kept):
    """Select the keys (F, B) of values (F, B, k) from which all others can be interpolated to within `allowed` (B,), by the
    algorithm of Douglas and Peucker: the key with the largest deviation is kept, then the same on both sides of it. No key is
    kept if all values equal the first. Values of 4 numbers are unit quaternions."""
    frames, blocks, _ = values.shape
    intervals = np.empty((frames + 1, 2), np.int64)
    for b in range(blocks):
        moves = False
        for f in range(1, frames):
            moves |= _deviation(values[0, b], values[0, b], 0.0, values[f, b]) > allowed[b]
        if not moves:
            continue
        out_kept[0, b] = out_kept[frames - 1, b] = True
        intervals[0, 0], intervals[0, 1] = 0, frames - 1
        pending = 1
        while pending > 0:
            pending -= 1
            first, last = intervals[pending, 0], intervals[pending, 1]
            worst, at = allowed[b], -1
            for f in range(first + 1, last):
                share = (time[f] - time[first]) / (time[last] - time[first])
                off = _deviation(values[first, b], values[last, b], share, values[f, b])
                if off > worst:
                    worst, at = off, f
            if at >= 0:
                out_kept[at, b] = True
                intervals[pending, 0], intervals[pending, 1] = first, at
                intervals[pending + 1, 0], intervals[pending + 1, 1] = at, last
                pending += 2


@inner
def _deviation(first, last, share, value):
    """The distance of a value from its interpolation, along a line or along the shorter arc between two rotations."""
    before, after = 1.0 - share, share
    turns = len(value) == 4
    if turns:
        cosine = 0.0
        for k in range(4):
            cosine += first[k] * last[k]
        angle = np.arccos(min(1.0, abs(cosine)))
        if angle > 1e-6:
            before, after = np.sin(before * angle) / np.sin(angle), np.sin(after * angle) / np.sin(angle)
        after = after if cosine >= 0.0 else -after
    off = opposite = 0.0  # squares: a quaternion and its opposite are one rotation
    for k in range(len(value)):
        between = before * first[k] + after * last[k]
        off += (between - value[k]) ** 2
        opposite += (between + value[k]) ** 2
    return np.sqrt(min(off, opposite) if turns else off)

"""Reads and writes Rhino 3dm, with rhino3dm (extra `rhino`): meshes, extrusions and breps with flat faces.

Layers are groups, the unit of the file is used, and density, fixed and pieces are user text of the objects. Blocks are written
as meshes in double precision, in m; faces of more than four corners become fans of triangles. Curves, points and text are
ignored.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from drystone.base.errors import InputError, missing_library, truncated_repr
from drystone.base.files.reading import read_bytes
from drystone.io.geometry.drawing import MAX_FACES, Drawing, Face, one_line
from drystone.structure.face_triangles import triangulate_fan
from drystone.structure.model import Block

METRES_PER_UNIT = {
    "Millimeters": 1e-3,
    "Centimeters": 0.01,
    "Decimeters": 0.1,
    "Meters": 1.0,
    "Kilometers": 1e3,
    "Inches": 0.0254,
    "Feet": 0.3048,
    "Yards": 0.9144,
}
STRAIGHT_TOLERANCE = 1e-6  # [file units] an edge or a face that deviates more from a line or a plane is curved


def read_rhino(path: Path, density: float) -> Drawing:
    """The solids of a 3dm file."""
    try:
        import rhino3dm
    except ImportError:
        raise missing_library("rhino3dm", "rhino", path) from None
    read_bytes(path)  # refuses a missing or too large file
    file: Any = rhino3dm.File3dm.Read(str(path))
    if file is None:
        raise InputError(f"{path}: not a Rhino file, or cut; save it again as 3dm")
    blocks, ignored = [], set()
    for file_object in file.Objects:
        surface = _surface(rhino3dm, file_object, path)
        if surface is None:
            ignored.add(type(file_object.Geometry).__name__)
            continue
        attributes = file_object.Attributes
        layer = file.Layers[attributes.LayerIndex].FullPath if 0 <= attributes.LayerIndex < len(file.Layers) else ""
        user_text = {key: attributes.GetUserString(key) for key in ("density", "fixed", "group", "pieces")}
        blocks.append(
            Block(
                *surface,
                _parse_user_text(user_text["density"], density, path),
                _parse_user_text(user_text["fixed"], False, path),
                attributes.Name or "",
                user_text["group"] or layer,
                tuple(_parse_user_text(user_text["pieces"], (), path)),
            )
        )
    if not blocks:
        message = f"only {', '.join(sorted(ignored))}" if ignored else "no objects"
        raise InputError(f"{path}: {message}; draw blocks as meshes, extrusions or closed polysurfaces with flat faces")
    return Drawing(blocks, METRES_PER_UNIT.get(file.Settings.ModelUnitSystem.name))


def _parse_user_text(text: str, default: Any, path: Path) -> Any:
    """Parse user text, which drystone writes as JSON; text of other programs under the same key must have the same type."""
    if not text:
        return default
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    counts = isinstance(value, list) and all(type(count) is int for count in value)
    if not (counts if default == () else type(value) is bool if default is False else type(value) in (int, float)):
        raise InputError(
            f"{path}: user text {truncated_repr(text)} is not understood; give density a number, fixed true or false"
        )
    return value


def _surface(rhino3dm: Any, file_object: Any, path: Path) -> tuple[np.ndarray, tuple[Face, ...]] | None:
    """The vertices and faces of an object; None if it is not a surface."""
    geometry = file_object.Geometry
    if isinstance(geometry, rhino3dm.Extrusion):
        geometry = geometry.ToBrep(True)
    if isinstance(geometry, rhino3dm.Brep):
        return _brep(geometry, f"{path}: object {file_object.Attributes.Name or file_object.Attributes.Id}")
    if not isinstance(geometry, rhino3dm.Mesh):
        return None
    if len(geometry.Vertices) > 4 * MAX_FACES or len(geometry.Faces) > MAX_FACES:
        message = f"a mesh of {len(geometry.Vertices):,} vertices and {len(geometry.Faces):,} faces"
        raise InputError(f"{path}: has {message}; {MAX_FACES:,} faces are read, simplify or split it")
    points = [geometry.Vertices.Point3dAt(i) for i in range(len(geometry.Vertices))]
    faces = [geometry.Faces[i] for i in range(len(geometry.Faces))]
    vertices = np.array([(point.X, point.Y, point.Z) for point in points]).reshape(-1, 3)
    return vertices, tuple(face[:3] if face[2] == face[3] else face for face in faces)


def _brep(brep: Any, where: str) -> tuple[np.ndarray, tuple[Face, ...]]:
    """The vertices and faces of a brep; faces are the outer loops."""
    faces = []
    for i in range(len(brep.Faces)):
        face = brep.Faces[i]
        if len(face.Loops) > 1:
            raise InputError(f"{where}: face {i} has a hole; split it")
        trims = [face.OuterLoop.Trims[j] for j in range(face.OuterLoop.TrimCount)]
        straight = all(brep.Edges[trim.EdgeIndex].IsLinear(STRAIGHT_TOLERANCE) for trim in trims if trim.EdgeIndex >= 0)
        if not straight or not face.UnderlyingSurface().IsPlanar(STRAIGHT_TOLERANCE):
            raise InputError(f"{where}: face {i} is curved; mesh the object in Rhino, with flat facets, or delete it")
        faces.append(tuple(trim.StartVertexIndex for trim in trims))
    points = [brep.Vertices[i].Location for i in range(len(brep.Vertices))]
    return np.array([(point.X, point.Y, point.Z) for point in points]).reshape(-1, 3), tuple(faces)


def write_rhino(path: Path, blocks: Sequence[Block]) -> None:
    """Write one mesh per block, on the layer of its group."""
    try:
        import rhino3dm
    except ImportError:
        raise missing_library("rhino3dm", "rhino", path) from None
    file: Any = rhino3dm.File3dm()
    file.Settings.ModelUnitSystem = rhino3dm.UnitSystem.Meters
    layers: dict[str, int] = {}
    for block in blocks:
        layer = one_line(block.group) or "blocks"
        if layer not in layers:
            layers[layer] = file.Layers.AddLayer(layer, (120, 110, 100, 255))
        attributes: Any = rhino3dm.ObjectAttributes()
        attributes.Name, attributes.LayerIndex = one_line(block.name), layers[layer]
        mesh, pieces = _mesh(rhino3dm, block)
        user_text = {"density": float(block.density), "fixed": bool(block.fixed)} | ({"pieces": pieces} if pieces else {})
        for key, value in user_text.items():
            attributes.SetUserString(key, json.dumps(value))
        file.Objects.AddMesh(mesh, attributes)
    if not file.Write(str(path), 7):
        raise OSError("rhino3dm does not say why")


def _mesh(rhino3dm: Any, block: Block) -> tuple[Any, list[int]]:
    """The mesh of a block, and how many of its triangles and quadrangles make each piece."""
    mesh = rhino3dm.Mesh()
    mesh.Vertices.UseDoublePrecisionVertices = True
    for point in np.asarray(block.vertices, float).tolist():
        mesh.Vertices.AddPoint3d(*point)
    count = []
    for face in block.faces:
        corners = [int(corner) for corner in face]
        parts: Sequence[Sequence[int]] = [corners] if len(corners) <= 4 else triangulate_fan(corners)
        for part in parts:
            mesh.Faces.AddFace(*part)
        count.append(len(parts))
    ends = np.cumsum(block.pieces).tolist()
    return mesh, [sum(count[end - size : end]) for end, size in zip(ends, block.pieces, strict=True)]

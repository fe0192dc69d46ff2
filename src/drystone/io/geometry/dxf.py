"""Reads and writes DXF, with ezdxf (extra `dxf`): closed polylines, 3DFACEs, MESHes and polyface meshes.

A closed polyline is a flat block, which `depth` makes a prism. Layers are groups, and the unit of the file is used. Blocks are
written as one MESH each, in m, with name, group, density, fixed and pieces in extended data. Lines, text and references are
ignored.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from drystone.base.errors import InputError, missing_library
from drystone.base.files.reading import read_bytes
from drystone.io.geometry.drawing import Drawing, Face, one_line
from drystone.structure.model import Block

# by $INSUNITS; others are not said
METRES_PER_UNIT = {1: 0.0254, 2: 0.3048, 4: 1e-3, 5: 0.01, 6: 1.0, 7: 1e3, 10: 0.9144, 14: 0.1}
XDATA_OWNER = "DRYSTONE"  # of the extended data
FORBIDDEN_CHARACTERS = str.maketrans(dict.fromkeys('<>/\\":;?*|=`', "_"))  # in the name of a layer
CLOSED_TOLERANCE = 1e-6  # of an outline's size: largest distance of its last point from its first


def read_dxf(path: Path, density: float) -> Drawing:
    """The outlines and meshes in the model space of a DXF file."""
    try:
        import ezdxf
    except ImportError:
        raise missing_library("ezdxf", "dxf", path) from None
    read_bytes(path)  # refuses a missing or too large file
    try:
        return _drawing(ezdxf.readfile(path), path, density)
    except InputError:
        raise
    except Exception as error:  # damaged files can raise any kind of error in the library
        raise InputError(f"{path}: not a DXF file that can be read ({str(error)[:80]}); save it again as DXF") from None


def _drawing(file: Any, path: Path, density: float) -> Drawing:
    blocks: list[Block] = []
    loose_faces: dict[str, list[np.ndarray]] = defaultdict(list)  # 3DFACEs of each layer
    ignored: Counter[str] = Counter()
    for entity in file.modelspace():
        kind, layer = entity.dxftype(), entity.dxf.layer
        if kind == "3DFACE":
            loose_faces[layer].append(np.array([tuple(p) for p in entity.wcs_vertices()]))
        elif kind == "MESH":
            faces = tuple(tuple(int(c) for c in face) for face in entity.faces)
            blocks.append(
                _with_stored_attributes(
                    entity, Block(np.array([tuple(v) for v in entity.vertices]), faces, density, group=layer)
                )
            )
        elif kind == "POLYLINE" and entity.is_poly_face_mesh:
            blocks.append(_polyface(entity, density))
        elif kind in ("LWPOLYLINE", "POLYLINE"):
            blocks.append(_outline(entity, density, f"{path}: {kind} {entity.dxf.handle} on layer {layer!r}"))
        else:
            ignored[kind] += 1
    blocks += [_join_faces(faces, layer, density) for layer, faces in loose_faces.items()]
    if not blocks:
        message = f"only {', '.join(ignored)}" if ignored else "nothing in its model space"
        raise InputError(f"{path}: {message}; draw blocks as closed polylines, MESHes or 3DFACEs")
    return Drawing(blocks, METRES_PER_UNIT.get(file.units))


def _outline(entity: Any, density: float, where: str) -> Block:
    lightweight = entity.dxftype() == "LWPOLYLINE"
    if any(point[4] for point in entity.get_points()) if lightweight else entity.has_arc:
        raise InputError(f"{where}: has an arc; draw it with straight segments")
    points = np.array([tuple(p) for p in (entity.vertices_in_wcs() if lightweight else entity.points_in_wcs())], float)
    gap = np.linalg.norm(points[-1] - points[0]) <= CLOSED_TOLERANCE * np.ptp(points, axis=0).max()
    if not entity.is_closed and not gap:
        raise InputError(f"{where}: is not closed; close it, or delete it if it is no block")
    points = points[:-1] if gap else points
    return Block(points, (tuple(range(len(points))),), density, name=entity.dxf.handle, group=entity.dxf.layer)


def _polyface(entity: Any, density: float) -> Block:
    from ezdxf.render import MeshBuilder

    mesh = MeshBuilder.from_polyface(entity)
    faces = tuple(tuple(int(corner) for corner in face) for face in mesh.faces)
    vertices = np.array([tuple(vertex) for vertex in mesh.vertices], float)
    return Block(vertices, faces, density, name=entity.dxf.handle, group=entity.dxf.layer)


def _join_faces(faces: list[np.ndarray], layer: str, density: float) -> Block:
    """The 3DFACEs of a layer as one surface, which is later split into its connected blocks."""
    start = np.cumsum([0] + [len(face) for face in faces]).tolist()
    corners: list[Face] = [tuple(range(a, b)) for a, b in pairwise(start)]
    return Block(np.concatenate(faces), tuple(corners), density, name=layer, group=layer)


def _with_stored_attributes(entity: Any, block: Block) -> Block:
    """The block with the attributes that drystone stored in the extended data of its mesh."""
    values = [tag.value for tag in entity.get_xdata(XDATA_OWNER)] if entity.has_xdata(XDATA_OWNER) else []
    if len(values) < 4:
        return block
    name, group, density, fixed, *pieces = values
    if not all(isinstance(value, (int, float)) for value in (density, fixed, *pieces)):
        return block  # data of another program
    return Block(block.vertices, block.faces, float(density), bool(fixed), str(name), str(group), tuple(map(int, pieces)))


def write_dxf(path: Path, blocks: Sequence[Block]) -> None:
    """Write one MESH per block, on the layer of its group; faces remain polygons."""
    try:
        import ezdxf
    except ImportError:
        raise missing_library("ezdxf", "dxf", path) from None
    file: Any = ezdxf.new("R2010", units=6)  # m
    file.appids.add(XDATA_OWNER)
    for block in blocks:
        mesh = file.modelspace().add_mesh(dxfattribs={"layer": one_line(block.group).translate(FORBIDDEN_CHARACTERS) or "0"})
        with mesh.edit_data() as data:
            data.vertices = [tuple(point) for point in np.asarray(block.vertices, float).tolist()]
            data.faces = [tuple(int(corner) for corner in face) for face in block.faces]
        attributes: list[tuple[int, Any]] = [(1000, one_line(block.name)), (1000, one_line(block.group))]
        attributes += [(1040, float(block.density)), (1070, int(block.fixed))]
        mesh.set_xdata(XDATA_OWNER, [*attributes, *((1071, int(count)) for count in block.pieces)])
    file.saveas(path)

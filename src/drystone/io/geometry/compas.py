"""Reads COMPAS JSON, assemblies and models of all versions, and writes models of the current version.

    {"dtype": ".../Assembly", "data": {"graph": {"data": {"node": {key: {"block": mesh, "is_support": ...}}}}}} compas_assembly
    {"node": {key: {"block": {"value": mesh}, "is_support": ...}}}                                              before 1.0
    {"blocks": {key: mesh}, "assembly": {"node" or "vertex": {key: {"is_support": ...}}}}                       compas_rbe
    {"dtype": ".../BlockModel", "data": {"elements": {guid: {"data": {"geometry": mesh, "is_support": ...}}}}}  compas_dem

A mesh alone, or a list of meshes, is read too. A block is named after its key: most files call all blocks "Block".
"""

import json
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from drystone.base.errors import InputError
from drystone.io.geometry.drawing import Drawing, Face
from drystone.structure.model import Block

Entry = tuple[str, Any, bool]  # name, mesh, whether it is a support


def is_compas(content: Any) -> bool:
    """Whether JSON content is of COMPAS, and not plain blocks."""
    if isinstance(content, list):
        return all(isinstance(entry, dict) and "dtype" in entry for entry in content)
    if not isinstance(content, dict):
        return False
    return "dtype" in content or "node" in content or "assembly" in content or {"vertex", "face"} <= content.keys()


def read_compas(content: Any, path: Path, density: float) -> Drawing:
    """The blocks in the content of a COMPAS file."""
    try:
        entries = list(_entries(content))
        blocks = [_block(name, mesh, support, density) for name, mesh, support in entries]
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        message = f"{type(error).__name__} {error}"[:80]
        raise InputError(f"{path}: not a known COMPAS assembly, model or mesh ({message}); export it again") from None
    if not blocks:
        raise InputError(f"{path}: COMPAS data without blocks; export the assembly, not its analysis alone")
    return Drawing(blocks)


def _entries(content: Any) -> Iterator[Entry]:
    if isinstance(content, list):
        for i, mesh in enumerate(content):
            yield str(i), mesh, False
    elif "blocks" in content:
        nodes = content["assembly"]["node" if "node" in content["assembly"] else "vertex"]
        for key, mesh in content["blocks"].items():
            yield key, mesh, nodes.get(key, {}).get("is_support") is True
    elif isinstance(content.get("node"), dict):
        for key, node in content["node"].items():
            yield key, node["block"], node.get("is_support") is True
    elif "graph" in content.get("data", {}) and "elements" not in content["data"]:
        yield from _entries(content["data"]["graph"]["data"])
    elif "elements" in content.get("data", {}):
        for i, element in enumerate(content["data"]["elements"].values()):
            data = element["data"]
            name = data.get("name") if data.get("name") not in (None, "", "Block") else str(i)
            yield str(name), _moved(data["geometry"], data.get("transformation")), data.get("is_support") is True
    else:
        yield "", content, False


def _moved(mesh: Any, transformation: Any) -> Any:
    """The mesh of an element, moved to the position of the element."""
    if transformation is None:
        return mesh
    matrix = np.array(transformation["data"]["matrix"], float)
    data = _data(mesh)
    keys = list(data["vertex"])
    points = _points(data, keys) @ matrix[:3, :3].T + matrix[:3, 3]
    return data | {"vertex": {key: dict(zip("xyz", point, strict=True)) for key, point in zip(keys, points, strict=True)}}


def _data(mesh: Any) -> dict[str, Any]:
    """The innermost data of a mesh, which versions of COMPAS wrap in "data", "value" or both."""
    while "vertex" not in mesh:
        if not {"data", "value"} & mesh.keys():
            raise ValueError(f"{mesh.get('dtype', 'this')} is not a mesh")
        mesh = mesh["value"] if "value" in mesh else mesh["data"]
    return mesh


def _points(data: dict[str, Any], keys: Sequence[str]) -> np.ndarray:
    default = {"x": 0.0, "y": 0.0, "z": 0.0} | (data.get("default_vertex_attributes") or data.get("dva") or {})
    return np.array([[float(data["vertex"][key].get(axis, default[axis])) for axis in "xyz"] for key in keys]).reshape(-1, 3)


def _block(name: str, mesh: Any, support: bool, density: float) -> Block:
    data = _data(mesh)
    keys = list(data["vertex"])
    row = {str(key): i for i, key in enumerate(keys)}
    faces: list[Face] = [tuple(row[str(corner)] for corner in face) for face in data["face"].values()]
    own = data.get("attributes") or {}
    return Block(
        _points(data, keys),
        tuple(faces),
        float(own.get("density", density)),
        support,
        name,
        str(own.get("group", "")),
        tuple(int(count) for count in own.get("pieces", ())),
    )


def write_compas(path: Path, blocks: Sequence[Block]) -> None:
    """A `BlockModel` of compas_dem; density, group and pieces are attributes of the meshes."""
    elements = dict(_element(i, block) for i, block in enumerate(blocks))
    guids = list(elements)
    tree = {"name": "root", "children": [{"name": guid, "children": []} for guid in guids]}
    graph = {
        "attributes": {}, "default_node_attributes": {"x": 0.0, "y": 0.0, "z": 0.0, "element": None},
        "default_edge_attributes": {"modifiers": None, "contacts": None},
        "node": {str(i): {"element": guid} for i, guid in enumerate(guids)},
        "edge": {str(i): {} for i in range(len(guids))}, "max_node": len(guids) - 1,
    }  # fmt: skip
    data = {
        "transformation": None,
        "elements": elements,
        "materials": {},
        "tree": {"attributes": {}, "root": tree},
        "graph": graph,
    }
    model = {"dtype": "compas_dem.models/BlockModel", "data": data, "inheritance": ["compas_model.models/Model"]}
    path.write_text(json.dumps(model), encoding="utf-8")


def _element(i: int, block: Block) -> tuple[str, dict[str, Any]]:
    guid = str(uuid.uuid5(uuid.NAMESPACE_OID, f"drystone {i} {block.name}"))
    attributes = {"density": float(block.density), "group": block.group, "pieces": list(block.pieces)}
    mesh = {
        "attributes": attributes, "default_vertex_attributes": {"x": 0.0, "y": 0.0, "z": 0.0}, "default_edge_attributes": {},
        "default_face_attributes": {},
        "vertex": {str(v): dict(zip("xyz", map(float, point), strict=True)) for v, point in enumerate(block.vertices)},
        "face": {str(f): [int(corner) for corner in face] for f, face in enumerate(block.faces)},
        "facedata": {}, "edgedata": {}, "max_vertex": len(block.vertices) - 1, "max_face": len(block.faces) - 1,
    }  # fmt: skip
    geometry = {"dtype": "compas.datastructures/Mesh", "data": mesh, "name": block.name}
    data: dict[str, Any] = {"transformation": None, "features": [], "name": block.name, "material": None, "geometry": geometry,
            "is_support": bool(block.fixed)}  # fmt: skip
    return guid, {"dtype": "compas_dem.elements/Block", "data": data, "guid": guid}

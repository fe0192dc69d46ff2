"""Stores a model in an HDF5 group; it is read back without the case or its files."""

from dataclasses import asdict
from typing import Any

import numpy as np

from drystone.results.store.stored_laws import read_own_laws, write_own_laws
from drystone.structure.boxes import all_vertices
from drystone.structure.deformable_blocks import Elastic
from drystone.structure.joint_laws import Laws, Scatter
from drystone.structure.model import Block, Bodies, Model


def write_model(group: Any, model: Model) -> None:
    """Write the blocks as they were given and the arrays made from them, so that the model read back is identical."""
    blocks = model.blocks
    faces = [face for block in blocks for face in block.faces]
    group["vertices"] = all_vertices(blocks).astype(float)
    group["vertex_count"] = np.array([len(block.vertices) for block in blocks])
    group["face_vertex"] = np.array([corner for face in faces for corner in face])
    group["face_size"] = np.array([len(face) for face in faces])
    group["face_count"] = np.array([len(block.faces) for block in blocks])
    group["pieces"] = np.array([count for block in blocks for count in block.pieces], np.int64)
    group["piece_count"] = np.array([len(block.pieces) for block in blocks])
    group["density"] = np.array([block.density for block in blocks], float)
    group["fixed"] = np.array([block.fixed for block in blocks], bool)
    group["name"] = [block.name for block in blocks]
    group["group"] = [block.group for block in blocks]
    group["position"] = model.position
    group["friction"] = model.friction
    group.attrs["planar"] = model.planar
    for name in ("restitution", "dilatancy"):
        if getattr(model, name) is not None:
            group[name] = getattr(model, name)
    if model.scatter is not None:
        group.create_group("scatter").attrs.update(asdict(model.scatter))
    for name, values in zip(Bodies._fields, model.bodies, strict=True):
        group[f"bodies/{name}"] = values
    for name, table in zip(Laws._fields, model.laws or (), strict=model.laws is not None):
        group[f"laws/{name}"] = table
    for name, values in zip(Elastic._fields, model.elastic or (), strict=False):
        group[f"elastic/{name}"] = values
    if model.own is not None:
        write_own_laws(group.create_group("own"), model.own)


def read_model(group: Any) -> Model:
    """The model that `write_model` wrote; a `ValueError` if its parts do not match each other."""
    _check(group)
    vertices = np.split(group["vertices"][:], np.cumsum(group["vertex_count"][:])[:-1])
    corners = np.split(group["face_vertex"][:], np.cumsum(group["face_size"][:])[:-1])
    face_start = np.concatenate([[0], np.cumsum(group["face_count"][:])])
    pieces = np.split(group["pieces"][:], np.cumsum(group["piece_count"][:])[:-1])
    names, groups = (group[key].asstr()[:] for key in ("name", "group"))
    density, fixed = group["density"][:], group["fixed"][:]
    blocks = tuple(
        Block(
            vertices=vertices[i].copy(),
            faces=tuple(tuple(int(c) for c in face) for face in corners[face_start[i] : face_start[i + 1]]),
            density=float(density[i]),
            fixed=bool(fixed[i]),
            name=str(names[i]),
            group=str(groups[i]),
            pieces=tuple(int(count) for count in pieces[i]),
        )
        for i in range(len(vertices))
    )
    bodies = Bodies(*(group[f"bodies/{name}"][:] for name in Bodies._fields))
    laws = Laws(*(group[f"laws/{name}"][:] for name in Laws._fields)) if "laws" in group else None
    elastic = Elastic(*(group[f"elastic/{name}"][:] for name in Elastic._fields)) if "elastic" in group else None
    planar = bool(group.attrs.get("planar", False))
    restitution, dilatancy = (group[name][:] if name in group else None for name in ("restitution", "dilatancy"))
    scatter = None
    if "scatter" in group:
        kept = group["scatter"].attrs
        scatter = Scatter(float(kept["cov"]), int(kept["seed"]), str(kept["distribution"]))
    return Model(blocks, bodies, group["position"][:], group["friction"][:], planar, laws, elastic, restitution, scatter,
                 dilatancy, read_own_laws(group["own"], len(group["friction"])) if "own" in group else None)  # fmt: skip


def _check(group: Any) -> None:
    """Check that counts add up and that all row numbers are within range, as kernels do not check them."""
    blocks = len(group["vertex_count"])
    for name in ("face_count", "piece_count", "density", "fixed", "name", "group", "position"):
        _require(len(group[name]) == blocks, name)
    for count, counted in (("vertex_count", "vertices"), ("face_size", "face_vertex"), ("face_count", "face_size"),
                           ("piece_count", "pieces")):  # fmt: skip
        _require(group[count][:].min(initial=0) >= 0 and group[count][:].sum() == len(group[counted]), count)
    bodies = {name: group[f"bodies/{name}"][:] for name in Bodies._fields}
    pieces = len(bodies["owner"])
    starts = (("vertex_start", "vertex", pieces), ("piece_face", "face_normal", pieces),
              ("face_start", "face_vertex", len(bodies["face_normal"])))  # fmt: skip
    for start, counted, length in starts:
        rows = bodies[start]
        _require(len(rows) == length + 1 and rows[0] == 0 and rows[-1] == len(bodies[counted]), start)
        _require(np.all(np.diff(rows) >= 0), start)
    for row, of in (("face_vertex", len(bodies["vertex"])), ("owner", blocks), ("group", len(group["friction"]))):
        _require(np.all((bodies[row] >= 0) & (bodies[row] < of)), row)
    for name in ("mass", "inertia", "radius", "fixed", "group"):
        _require(len(bodies[name]) == blocks and np.isfinite(bodies[name]).all(), name)
    corner, block = group["face_vertex"][:], np.repeat(np.arange(blocks), group["face_count"][:])
    most = np.repeat(group["vertex_count"][:][block], group["face_size"][:])
    _require(np.all((corner >= 0) & (corner < most)), "face_vertex")


def _require(holds: Any, name: str) -> None:
    if not holds:
        raise ValueError(f"{name} of the model does not fit the rest")

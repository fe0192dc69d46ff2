"""The blocks as arrays for the page (docs/decisions/0012): a model comes in, arrays go out."""

import numpy as np

from drystone.structure.boxes import all_vertices
from drystone.structure.face_triangles import triangulate_fan
from drystone.structure.model import Model

Array = np.ndarray


def coordinate_origin(model: Model) -> Array:
    """(3,) [m] the origin of the coordinates, so that single precision suffices for structures far from zero."""
    corners = all_vertices(model.blocks)
    return np.round((corners.min(axis=0) + corners.max(axis=0)) / 2)


def block_arrays(model: Model, origin: Array) -> dict[str, Array]:
    """`centre` (B, 3), `vertex` (V, 3) relative to the centre of its block, `owner` (V,), `triangle` (T, 3), `edge` (E, 2)."""
    vertices, owners, triangles, edges = [], [], [], []
    begin = 0
    for i, block in enumerate(model.blocks):
        corners = np.asarray(block.vertices, float) - model.position[i]
        vertices.append(corners)
        owners.append(np.full(len(corners), i))
        triangles += [(begin + a, begin + b, begin + c) for face in block.faces for a, b, c in triangulate_fan(face)]
        sides = {(min(a, b), max(a, b)) for face in block.faces for a, b in zip(face, (*face[1:], face[0]), strict=True)}
        edges += [(begin + a, begin + b) for a, b in sorted(sides)]
        begin += len(corners)
    return {
        "centre": (model.position - origin).astype(np.float32),
        "vertex": np.concatenate(vertices).astype(np.float32),
        "owner": np.concatenate(owners).astype(np.uint32),
        "triangle": np.array(triangles, np.uint32),
        "edge": np.array(edges, np.uint32),
    }

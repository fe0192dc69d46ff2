"""Finds pairs of convex blocks that overlap.

Pairs whose boxes overlap are found by sort and sweep along the axis in which the blocks are most spread out. Their
penetration depth is the least overlap over the separating axes (face normals of both, edge x edge). Touching is allowed: a
depth up to 1e-4 of the least extent of the smaller block counts as contact, and the search stops at the first such axis.
"""

from collections.abc import Sequence

import numpy as np

from drystone.base.errors import Finding
from drystone.base.kernel import inner, kernel
from drystone.structure.polyhedra import Surfaces, bounding_boxes, face_normals

Array = np.ndarray

TOUCH_TOLERANCE = 1e-4  # of the smaller block's least extent [-]


def check_overlaps(surfaces: Surfaces, fixed: Array, labels: Sequence[str]) -> None:
    """Refuse blocks that overlap by more than the tolerance of touching; two supports may overlap."""
    findings = overlap_findings(surfaces, fixed)
    if findings:
        others = f" ({len(findings) - 1} more pairs overlap)" if len(findings) > 1 else ""
        raise findings[0]._replace(message=findings[0].message + others).to_error(labels)


def overlap_findings(surfaces: Surfaces, fixed: Array) -> list[Finding]:
    """All pairs that overlap by more than the tolerance of touching, the deepest first."""
    normal = face_normals(surfaces)
    allowed = TOUCH_TOLERANCE * least_extents(*surfaces, normal)
    pair, depth = _overlapping_pairs(surfaces, fixed, normal, allowed)
    return [
        Finding(
            "overlap",
            (int(a), int(b)),
            f"overlap by {1e3 * depth[p]:.4g} mm, {1e3 * min(allowed[a], allowed[b]):.2g} mm counts as touching",
            "move them apart or trim one",
            value=float(depth[p]),
            unit="m",
        )
        for p in np.argsort(-depth, kind="stable")
        for a, b in [np.sort(pair[p])]
    ]


def _overlapping_pairs(s: Surfaces, fixed: Array, normal: Array, allowed: Array) -> tuple[Array, Array]:
    """The pairs (P, 2) that overlap and their depths (P,) [m]."""
    low, high = bounding_boxes(s)
    edge, edge_start = _edges(s)
    spread = np.ptp(low, axis=0) / np.maximum((high - low).mean(axis=0), 1e-300)
    axis = int(np.argmax(spread))
    order = np.argsort(low[:, axis], kind="stable")
    capacity = 64
    while True:
        pair, depth = np.zeros((capacity, 2), np.int64), np.zeros(capacity)
        count = _list_pairs(low, high, axis, order, fixed, allowed, s.vertex, s.vertex_start,
                            normal, s.block_face, edge, edge_start, pair, depth)  # fmt: skip
        if count <= capacity:
            return pair[:count], depth[:count]
        capacity = count


def _edges(s: Surfaces) -> tuple[Array, Array]:
    """Unit edge directions (NE, 3) of all blocks, and the first (B+1,) of each block; parallel edges of a block count once."""
    after = np.arange(len(s.face_vertex)) + 1
    after[s.face_start[1:] - 1] = s.face_start[:-1]
    tail, head = s.face_vertex, s.face_vertex[after]
    once = tail < head  # each edge occurs twice, in opposite senses
    edge = s.vertex[head[once]] - s.vertex[tail[once]]
    edge /= np.linalg.norm(edge, axis=1, keepdims=True)
    # Opposite directions are one axis: turn each so that its first component that is not small is positive.
    lead = np.argmax(np.abs(edge) > 1e-6, axis=1)
    edge *= np.sign(edge[np.arange(len(edge)), lead])[:, None]
    block = np.searchsorted(s.vertex_start, tail[once], "right") - 1
    key = np.column_stack([block, np.round(edge, 9)])
    _, kept = np.unique(key, axis=0, return_index=True)
    count = np.bincount(block[kept], minlength=len(s.vertex_start) - 1)
    return np.ascontiguousarray(edge[kept]), np.concatenate([[0], np.cumsum(count)]).astype(np.int64)


@kernel
def least_extents(vertex, vertex_start, face_vertex, face_start, block_face, normal):
    """(B,) [m] least width of each block over its face normals."""
    extent = np.empty(len(vertex_start) - 1)
    for i in range(len(extent)):
        extent[i] = np.inf
        for f in range(block_face[i], block_face[i + 1]):
            low, high = _project(vertex, vertex_start[i], vertex_start[i + 1], normal[f, 0], normal[f, 1], normal[f, 2])
            extent[i] = min(extent[i], high - low)
    return extent


@inner
def _project(vertex, first, last, x, y, z):
    low, high = np.inf, -np.inf
    for v in range(first, last):
        s = vertex[v, 0] * x + vertex[v, 1] * y + vertex[v, 2] * z
        low, high = min(low, s), max(high, s)
    return low, high


@inner
def _overlap_along(vertex, vertex_start, i, j, x, y, z):
    """The shorter distance by which j must move along the unit axis (x, y, z) to leave i; negative if they are apart."""
    low_i, high_i = _project(vertex, vertex_start[i], vertex_start[i + 1], x, y, z)
    low_j, high_j = _project(vertex, vertex_start[j], vertex_start[j + 1], x, y, z)
    return min(high_i - low_j, high_j - low_i)


@inner
def _depth(vertex, vertex_start, normal, block_face, edge, edge_start, i, j, allowed):
    """Penetration of i and j, or the first overlap found that is within `allowed`."""
    depth = np.inf
    for k in (i, j):
        for f in range(block_face[k], block_face[k + 1]):
            overlap = _overlap_along(vertex, vertex_start, i, j, normal[f, 0], normal[f, 1], normal[f, 2])
            depth = min(depth, overlap)
            if depth <= allowed:
                return depth
    for p in range(edge_start[i], edge_start[i + 1]):
        for q in range(edge_start[j], edge_start[j + 1]):
            x = edge[p, 1] * edge[q, 2] - edge[p, 2] * edge[q, 1]
            y = edge[p, 2] * edge[q, 0] - edge[p, 0] * edge[q, 2]
            z = edge[p, 0] * edge[q, 1] - edge[p, 1] * edge[q, 0]
            length = np.sqrt(x * x + y * y + z * z)
            if length < 1e-6:  # parallel edges: their axis is undefined, and a face normal takes its place
                continue
            depth = min(depth, _overlap_along(vertex, vertex_start, i, j, x / length, y / length, z / length))
            if depth <= allowed:
                return depth
    return depth


@inner
def _list_pairs(low, high, axis, order, fixed, allowed, vertex, vertex_start, normal, block_face, edge, edge_start,
                out_pair, out_depth):  # fmt: skip
    """The number of overlapping pairs; as many as there is room for are written to out_pair and out_depth."""
    count = 0
    for p in range(len(order)):
        i = order[p]
        for q in range(p + 1, len(order)):
            j = order[q]
            touch = min(allowed[i], allowed[j])
            if low[j, axis] >= high[i, axis]:
                break
            if fixed[i] and fixed[j]:
                continue
            apart = False
            for k in range(3):
                if min(high[i, k] - low[j, k], high[j, k] - low[i, k]) <= touch:
                    apart = True
            if apart:
                continue
            depth = _depth(vertex, vertex_start, normal, block_face, edge, edge_start, i, j, touch)
            if depth > touch:
                if count < len(out_depth):
                    out_depth[count] = depth
                    out_pair[count, 0], out_pair[count, 1] = i, j
                count += 1
    return count

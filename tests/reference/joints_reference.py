"""The joints of a structure by brute force, to judge generators and contact detection: every face against every face
in its plane.

Two blocks share a joint where a face of one lies in the plane of a face of the other, looks the other way and covers
some of it. Shares no code with `drystone.contact`: planes come from the vertices, polygons are cut edge by edge.
"""

import numpy as np

PLANE = 1e-9  # [m] two faces nearer than this are in one plane
NOTHING = 1e-7  # [m2] less is no joint


def joints(blocks):
    """{(i, j): area [m2]} of the blocks i < j that share a joint."""
    face, owner = [], []
    for i, block in enumerate(blocks):
        face += [block.vertices[list(corners)] for corners in block.faces]
        owner += [i] * len(block.faces)
    normal = np.array([np.cross(p[1] - p[0], p[2] - p[1]) for p in face])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    offset = np.array([n @ p[0] for n, p in zip(normal, face, strict=True)])
    low, high = np.array([p.min(axis=0) for p in face]), np.array([p.max(axis=0) for p in face])
    owner, found, order = np.array(owner), {}, np.argsort(offset)
    ascending = offset[order]
    for f in range(len(face)):
        first, last = np.searchsorted(ascending, [-offset[f] - PLANE, -offset[f] + PLANE])
        near = order[first:last]
        near = near[(near > f) & (normal[near] @ normal[f] < -1 + 1e-12) & (owner[near] != owner[f])]
        width = np.minimum(high[near], high[f]) - np.maximum(low[near], low[f])
        near = near[np.all(width > -PLANE, axis=1) & (np.sum(width > PLANE, axis=1) >= 2)]
        for g in near:
            area = common_area(face[f], face[g][::-1], normal[f])
            if area > NOTHING:
                pair = min(owner[f], owner[g]), max(owner[f], owner[g])
                found[pair] = found.get(pair, 0.0) + area
    return found


def common_area(one, other, normal):
    """[m2] of two convex polygons (n, 3) in one plane, both counter-clockwise about the normal.

    Seen along the axis nearest to the normal, where areas are smaller by the normal's part in it.
    """
    axis = int(np.argmax(np.abs(normal)))
    seen = [(axis + 1) % 3, (axis + 2) % 3][:: 1 if normal[axis] > 0 else -1]
    polygon, edges = one[:, seen].tolist(), other[:, seen].tolist()
    for (x0, y0), (x1, y1) in zip(edges, edges[1:] + edges[:1], strict=True):
        side = [(x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) for x, y in polygon]  # above 0: inside
        kept = []
        for i, (x, y) in enumerate(polygon):
            (u, v), s, t = polygon[i - 1], side[i], side[i - 1]
            if (s < 0) != (t < 0):
                kept.append((u + (x - u) * t / (t - s), v + (y - v) * t / (t - s)))
            if s >= 0:
                kept.append((x, y))
        polygon = kept
    twice = sum(polygon[i - 1][0] * y - polygon[i - 1][1] * x for i, (x, y) in enumerate(polygon))
    return twice / 2 / abs(normal[axis])

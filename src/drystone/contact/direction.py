"""One contact direction a pair, by separating axes: two placed blocks come in, a unit vector from a into b goes out.

Step 2 of detection; departs from NB section 3 (GJK on shrunken copies), see docs/decisions/0002-contact-direction.md.
    size = smallest width of the two blocks, tol = 2e-3 size
    separation(f) = least distance of the other block's vertices above face f; best_a, best_b the largest of a and of b
2.1 best = max(best_a, best_b) > margin: too far, no contact.
2.2 best < -tol, no face separates: try the cross products of edges; one better by more than tol is the direction.
2.3 The normal of the face that separates best: the other block's edge or corner lies over it. Where two edges are within
    1e-4 size of each other, and the faces within 60 degrees of opposite (120 of a pair that touched in the last step), it
    turns from the one normal to the other as the edges pass each other, as if they were round: a bisector where they coincide.
2.4 A pair that did not touch in the last step: another face separates as well (within tol), more than 60 degrees away from
    the direction. The pair shares an edge or a corner only and may pass either way, no contact. A pair that touched goes on,
    at any angle about its shared edge.
"""

import numpy as np

from drystone.base.kernel import inner

TOLERANCE = 2e-3  # of the smallest width of the two blocks
COS_60, COS_120 = 0.5, -0.5
ROUND = 1e-4  # of the size: edges nearer to each other than this are taken for round


@inner
def contact_direction(bodies, placed, a, b, margin, touched, separation_a, separation_b, edges_a, edges_b):
    """(True, d) or (False, 0); touched: whether the pair did so in the last step; the last four are scratch for the largest
    block."""
    none = (0.0, 0.0, 0.0)
    vertex, normal, offset = placed.vertex, placed.normal, placed.offset
    va, va1 = bodies.vertex_start[a], bodies.vertex_start[a + 1]
    vb, vb1 = bodies.vertex_start[b], bodies.vertex_start[b + 1]
    fa, fa1, fb, fb1 = bodies.piece_face[a], bodies.piece_face[a + 1], bodies.piece_face[b], bodies.piece_face[b + 1]
    best_a = face_separations(normal, offset, fa, fa1, vertex, vb, vb1, margin, separation_a)
    if best_a > margin:
        return False, none
    best_b = face_separations(normal, offset, fb, fb1, vertex, va, va1, margin, separation_b)
    if best_b > margin:
        return False, none
    best = max(best_a, best_b)
    size = min(placed.size[a], placed.size[b])
    tol = TOLERANCE * size
    if best < -tol:
        edge_count_a = edge_directions(bodies.face_start, bodies.face_vertex, fa, fa1, vertex, edges_a)
        edge_count_b = edge_directions(bodies.face_start, bodies.face_vertex, fb, fb1, vertex, edges_b)
        gap, d = edge_axis(edges_a, edge_count_a, edges_b, edge_count_b, vertex, va, va1, vb, vb1)
        if gap > best + tol:
            return gap <= margin, d
    na = _normal(normal, _first_face(separation_a, fa, best_a - 1e-6 * tol), 1.0)
    nb = _normal(normal, _first_face(separation_b, fb, best_b - 1e-6 * tol), -1.0)
    d = _face_axis(na, nb, best_a, best_b, ROUND * size, COS_120 if touched else COS_60)
    if touched:
        return True, d
    if _other_way(normal, fa, fa1, separation_a, best - tol, d, 1.0):
        return False, none
    return not _other_way(normal, fb, fb1, separation_b, best - tol, d, -1.0), d


@inner
def face_separations(normal, offset, face0, face1, vertex, vertex0, vertex1, margin, out):
    """Largest separation of a block's vertices from another's faces, each of them in `out`; the first one beyond
    the margin ends the search."""
    best = -np.inf
    for f in range(face0, face1):
        x, y, z = normal[f, 0], normal[f, 1], normal[f, 2]
        lowest = np.inf
        for v in range(vertex0, vertex1):
            lowest = min(lowest, x * vertex[v, 0] + y * vertex[v, 1] + z * vertex[v, 2])
        out[f - face0] = lowest - offset[f]
        best = max(best, out[f - face0])
        if best > margin:
            break
    return best


@inner
def _first_face(separation, face0, least):
    """First face that reaches `least`: equal faces must not change place by rounding from step to step."""
    k = 0
    while separation[k] < least:
        k += 1
    return face0 + k


@inner
def _normal(normal, f, sign):
    return sign * normal[f, 0], sign * normal[f, 1], sign * normal[f, 2]


@inner
def _face_axis(na, nb, best_a, best_b, round_, least):
    """2.3, both normals from a into b. Where the two faces meet at an angle, an edge that lies `offset` inside the other's face
    makes their separations differ by offset times the sine. least: cosine between faces that both count."""
    cosine = na[0] * nb[0] + na[1] * nb[1] + na[2] * nb[2]
    near = round_ * np.sqrt(max(0.0, 1.0 - cosine * cosine))
    if abs(best_a - best_b) >= near or cosine < least:
        return na if best_a >= best_b else nb
    share = 0.5 + 0.5 * (best_a - best_b) / near
    x, y, z = nb[0] + share * (na[0] - nb[0]), nb[1] + share * (na[1] - nb[1]), nb[2] + share * (na[2] - nb[2])
    scale = 1 / np.sqrt(x * x + y * y + z * z)
    return x * scale, y * scale, z * scale


@inner
def _other_way(normal, face0, face1, separation, least, d, sign):
    """2.4: whether a face of the block separates too, far away from the direction."""
    for f in range(face0, face1):
        cosine = sign * (normal[f, 0] * d[0] + normal[f, 1] * d[1] + normal[f, 2] * d[2])
        if separation[f - face0] >= least and cosine < COS_60:
            return True
    return False


@inner
def edge_axis(edges_a, count_a, edges_b, count_b, vertex, va, va1, vb, vb1):
    """2.2: largest separation along a cross product of an edge of a and one of b, and that axis from a into b."""
    best, axis = -np.inf, (0.0, 0.0, 0.0)
    for i in range(count_a):
        ex, ey, ez = edges_a[i, 0], edges_a[i, 1], edges_a[i, 2]
        for j in range(count_b):
            fx, fy, fz = edges_b[j, 0], edges_b[j, 1], edges_b[j, 2]
            x, y, z = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
            sine2 = x * x + y * y + z * z
            if sine2 < 1e-10:  # parallel edges: their faces say it better
                continue
            scale = 1 / np.sqrt(sine2)
            x, y, z = x * scale, y * scale, z * scale
            low_a, high_a = _span(vertex, va, va1, x, y, z)
            low_b, high_b = _span(vertex, vb, vb1, x, y, z)
            if low_b - high_a > best:
                best, axis = low_b - high_a, (x, y, z)
            if low_a - high_b > best:
                best, axis = low_a - high_b, (-x, -y, -z)
    return best, axis


@inner
def edge_directions(face_start, face_vertex, face0, face1, vertex, out):
    """Unit directions of the block's edges, parallel ones once; returns how many."""
    count = 0
    for f in range(face0, face1):
        i = face_vertex[face_start[f + 1] - 1]
        for k in range(face_start[f], face_start[f + 1]):
            j = face_vertex[k]
            if i < j:  # each edge belongs to two faces, once in each sense
                count = _add_direction(vertex, i, j, out, count)
            i = j
    return count


@inner
def _add_direction(vertex, i, j, out, count):
    x, y, z = vertex[j, 0] - vertex[i, 0], vertex[j, 1] - vertex[i, 1], vertex[j, 2] - vertex[i, 2]
    scale = 1 / np.sqrt(x * x + y * y + z * z)
    x, y, z = x * scale, y * scale, z * scale
    for k in range(count):
        u, v, w = out[k, 0], out[k, 1], out[k, 2]
        if (y * w - z * v) ** 2 + (z * u - x * w) ** 2 + (x * v - y * u) ** 2 < 1e-14:
            return count
    out[count, 0], out[count, 1], out[count, 2] = x, y, z
    return count + 1


@inner
def _span(vertex, vertex0, vertex1, x, y, z):
    low, high = np.inf, -np.inf
    for v in range(vertex0, vertex1):
        s = x * vertex[v, 0] + y * vertex[v, 1] + z * vertex[v, 2]
        low = min(low, s)
        high = max(high, s)
    return low, high

"""The faces of deformable blocks, cut along their meshes: the blocks of a model come in, blocks of the same shape with more
faces go out.

A face of r by s bricks becomes r times s faces in one plane, its *plates*. Detection of contact then finds a patch for every
two plates that lie over each other, with the numbers of the plates, and needs to know nothing of meshes. The corners of the
plates are the nodes of the mesh.

A plate moves with its four nodes, as the rigid motion nearest to theirs (least squares): what nodes do beyond it, stretching
and warping of the plate, contact does not see. A rigid motion of the nodes is that of the plate, so that forces on plates that
are given back to nodes by the transposed map keep their resultant and their moment.
"""

from typing import NamedTuple

import numpy as np

from drystone.elastic import Elastic
from drystone.model import Bodies

Array = np.ndarray


class Plates(NamedTuple):
    """The plates of T kinds of deformable blocks, up to p of each."""

    count: Array  # (T,) int64
    node: Array  # (T, p, 4) int64 counter-clockwise seen from outside
    motion: Array  # (T, p, 6, 12) per displacement [m] of the nodes: displacement of the plate, carried on to the centroid of the
    # block as if it were rigid, and its rotation; body frame
    depth: Array  # (T, p) [m] of the brick behind the plate


class Divided(NamedTuple):
    """Blocks whose deformable ones have plates for faces."""

    bodies: Bodies
    plate: Array  # (F,) int64 number of each face among the plates of its block, -1 of a rigid block
    whole: Array  # (F,) int64 face of the undivided block that each face is a part of
    plates: Plates


def divide(bodies: Bodies, elastic: Elastic) -> Divided:
    """The blocks, with plates."""
    kinds = [_plates(elastic, k) for k in range(len(elastic.mesh))]
    vertex, face, plate, whole, vertex_count, face_count, normal = [], [], [], [], [], [], []
    for p, block in enumerate(bodies.owner):
        first, stop = bodies.vertex_start[p], bodies.vertex_start[p + 1]
        faces = range(bodies.piece_face[p], bodies.piece_face[p + 1])
        begin, s = sum(vertex_count), elastic.row[block]
        if s < 0:
            vertex.append(bodies.vertex[first:stop])
            face += [bodies.face_vertex[bodies.face_start[f] : bodies.face_start[f + 1]] - first + begin for f in faces]
            plate += [-1] * len(faces)
            whole += faces
            normal.append(bodies.face_normal[faces.start : faces.stop])
            face_count.append(len(faces))
        else:
            k = elastic.kind[s]
            place, (node, _) = elastic.node[k], kinds[k]
            used, corner = np.unique(node, return_inverse=True)
            vertex.append(place[used])
            face += list(corner.reshape(-1, 4) + begin)
            plate += range(len(node))
            centre = place[node].mean(axis=1)
            own = bodies.face_normal[faces.start : faces.stop]
            at = bodies.vertex[bodies.face_vertex[bodies.face_start[faces.start : faces.stop]]]
            height = np.einsum("fi,pfi->pf", own, centre[:, None] - at)
            lies_in = np.abs(height).argmin(axis=1)
            normal.append(own[lies_in])
            whole += (faces.start + lies_in).tolist()
            face_count.append(len(node))
        vertex_count.append(len(vertex[-1]))
    start = np.cumsum([0] + [len(each) for each in face])
    more = bodies._replace(
        vertex=np.concatenate(vertex), vertex_start=np.cumsum([0, *vertex_count]), face_vertex=np.concatenate(face),
        face_start=start, piece_face=np.cumsum([0, *face_count]), face_normal=np.concatenate(normal),
    )  # fmt: skip
    return Divided(more, np.array(plate, np.int64), np.array(whole, np.int64), _together(elastic, kinds))


def _plates(elastic: Elastic, k: int) -> tuple[Array, Array]:
    """(p, 4) nodes of the plates of a kind, counter-clockwise seen from outside, and (p, 4) those behind them."""
    mesh = elastic.mesh[k].tolist()
    stride = (1, mesh[0] + 1, (mesh[0] + 1) * (mesh[1] + 1))
    front, behind = [], []
    for axis in range(3):
        u, w = (axis + 1) % 3, (axis + 2) % 3
        for side in range(2):
            level, inward = (mesh[axis], -stride[axis]) if side else (0, stride[axis])
            for j in range(mesh[w]):
                for i in range(mesh[u]):
                    first = level * stride[axis] + i * stride[u] + j * stride[w]
                    round_ = [first, first + stride[u], first + stride[u] + stride[w], first + stride[w]]
                    round_ = round_ if side else round_[::-1]
                    front.append(round_)
                    behind.append([node + inward for node in round_])
    return np.array(front), np.array(behind)


def _together(elastic: Elastic, kinds: list[tuple[Array, Array]]) -> Plates:
    most = max(len(node) for node, _ in kinds)
    count = np.array([len(node) for node, _ in kinds])
    node, motion = np.zeros((len(kinds), most, 4), np.int64), np.zeros((len(kinds), most, 6, 12))
    depth = np.ones((len(kinds), most))
    for k, (front, behind) in enumerate(kinds):
        place = elastic.node[k]
        for p in range(len(front)):
            node[k, p], corner = front[p], place[front[p]]
            motion[k, p] = nearest_motion(corner)
            normal = np.cross(corner[2] - corner[0], corner[3] - corner[1])
            depth[k, p] = (corner - place[behind[p]]).mean(axis=0) @ normal / np.linalg.norm(normal)
    return Plates(count, node, motion, depth)


def nearest_motion(corner: Array) -> Array:
    """(6, 3 n) the rigid motion, told at the origin and as a rotation, that is nearest to displacements of points (n, 3)."""
    count, centre = len(corner), corner.mean(axis=0)
    cross = np.array([_cross(arm) for arm in corner - centre])  # cross[i] @ u = arm x u
    inertia = np.einsum("nji,njk->ik", cross, cross)
    turn = np.linalg.solve(inertia, cross.transpose(1, 0, 2).reshape(3, 3 * count))
    move = np.tile(np.eye(3) / count, count) + _cross(centre) @ turn  # T - turn x centre
    return np.concatenate([move, turn])


def _cross(v: Array) -> Array:
    """(3, 3) v x"""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])

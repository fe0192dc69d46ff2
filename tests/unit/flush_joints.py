"""The joints of a structure by brute force: pairs of faces that are coplanar, look at each other and share an area."""

import numpy as np

from drystone.analysis.statics.rigid_equilibrium import solve_equilibrium
from drystone.contact.contacts import no_contacts
from drystone.contact.detection import detect
from drystone.engine.simulation import initial_state
from drystone.engine.solvers.methods import make_solver
from drystone.structure.model import build_model

FLUSH = 1e-9  # [m]


def flush_joints(blocks, least_area=1e-6):
    """{(i, j): area [m2]} over pairs of blocks, one of them free, of all faces that touch flush."""
    faces = [_faces(block) for block in blocks]
    low, high = (np.array([f(b.vertices, axis=0) for b in blocks]) for f in (np.min, np.max))
    found = {}
    for i in range(len(blocks)):
        near = np.nonzero(((low[i] <= high[i + 1 :] + FLUSH) & (low[i + 1 :] <= high[i] + FLUSH)).all(axis=1))[0] + i + 1
        for j in near:
            if blocks[i].fixed and blocks[j].fixed:
                continue
            area = sum(_common_area(p, n, q, m) for p, n in faces[i] for q, m in faces[j])
            if area > least_area:
                found[i, int(j)] = area
    return found


def _faces(block):
    """Corners and outward unit normal of each face."""
    listed = []
    for face in block.faces:
        p = np.asarray(block.vertices, float)[list(face)]
        normal = sum(np.cross(p[k] - p[0], p[k + 1] - p[0]) for k in range(1, len(p) - 1))
        listed.append((p, normal / np.linalg.norm(normal)))
    return listed


def _common_area(p, normal, q, against):
    if normal @ against > -1 + 1e-12 or np.abs((q - p[0]) @ normal).max() > FLUSH:
        return 0.0
    for here, there in zip(p, np.roll(p, -1, axis=0), strict=True):  # q clipped by each side of p
        inward = np.cross(normal, there - here)
        height = (q - here) @ inward / np.linalg.norm(inward)
        kept = []
        for k in range(len(q)):
            a, b = height[k], height[(k + 1) % len(q)]
            if a >= 0:
                kept.append(q[k])
            if a * b < 0:
                kept.append(q[k] + a / (a - b) * (q[(k + 1) % len(q)] - q[k]))
        if len(kept) < 3:
            return 0.0
        q = np.array(kept)
    return abs(sum(np.cross(q[k] - q[0], q[k + 1] - q[0]) @ normal for k in range(1, len(q) - 1))) / 2


def detected_joints(model):
    """{(i, j): points (n, 3) [m]} as contact detection sees it at the start, and the gaps [m] of all contacts."""
    state = initial_state(model, 9.81)
    contacts, _ = detect(model.bodies, state.position, state.rotation, state.velocity, 1e-3, no_contacts(), 0)
    points = {}
    for a, b, point in zip(contacts.a, contacts.b, contacts.point, strict=True):
        points.setdefault((min(int(a), int(b)), max(int(a), int(b))), []).append(point)
    return {pair: np.array(listed) for pair, listed in points.items()}, contacts.gap


def check_joints(blocks):
    """No overlap above 1e-9 m, no joint missing and none invented: detection against brute force. Where four stones meet
    at an edge, those across touch along a line and have no joint; detection may see that line."""
    model = build_model(blocks, friction=0.6)
    found, gap = detected_joints(model)
    truth = flush_joints(model.blocks)
    names = [block.name for block in model.blocks]
    assert np.abs(gap).max() < FLUSH
    missing = set(truth) - set(found)
    assert not missing, [(names[i], names[j], truth[i, j]) for i, j in missing][:5]
    wide = [pair for pair in set(found) - set(truth) if _width(found[pair]) > FLUSH]
    assert not wide, [(names[i], names[j]) for i, j in wide][:5]
    return len(truth)


def _width(points):
    """[m] of a set of points across the line that fits them best."""
    return np.linalg.svd(points - points.mean(axis=0))[1][1] if len(points) > 2 else 0.0


def rest(blocks, friction=0.6):
    """What the weight does: `Equilibrium`."""
    return solve_equilibrium(build_model(blocks, friction=friction), solver=make_solver("native"))


def volume(blocks):
    """[m3] of the free blocks."""
    bodies = build_model(blocks, friction=0.6).bodies
    return sum(bodies.mass[i] / block.density for i, block in enumerate(blocks) if not block.fixed)

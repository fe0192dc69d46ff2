"""Contact by nearest points on random pairs of blocks of several families, near each other or into each other.

The truth is the hull of all differences of corners of the two shrunken copies: the origin is as far from it as the copies are
apart (by least squares), or as deep inside it, below its nearest facet, as they overlap.
"""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from drystone.contact.contacts import no_contacts
from drystone.contact.detection import detect
from drystone.contact.inset import inset
from drystone.structure.model import NearestPoints

sys.path.insert(0, str(Path(__file__).parents[1] / "reference"))
from contact_reference import bodies_of, box, hull

PAIRS = 300  # of each family
MARGIN = 0.01  # [m] contact distance


def voussoir(rng):
    angle, thickness, depth = rng.uniform([0.1, 0.2, 0.1], [0.5, 0.6, 0.5])
    return hull(np.array([[r * np.sin(s * angle / 2), y, r * np.cos(angle / 2)]
                          for r in (1.0, 1.0 + thickness) for s in (-1, 1) for y in (0, depth)]))  # fmt: skip


FAMILIES = {
    "box": lambda rng: box(*rng.uniform(0.2, 1.0, 3)),
    "plate": lambda rng: box(*rng.uniform(0.2, 1.0, 3) * [1, 1, 0.05]),
    "stick": lambda rng: box(*rng.uniform(0.2, 1.0, 3) * [0.1, 0.1, 3]),
    "hull": lambda rng: hull(rng.normal(size=(12, 3)) * rng.uniform(0.2, 0.4, 3)),
    "voussoir": voussoir,
}


def apart(a, b):
    """The shortest vector from the hull of one set of points to that of another, if they are apart."""
    differences = (b[None, :, :] - a[:, None, :]).reshape(-1, 3)
    heavy = 1e3
    rows = np.vstack([differences.T, heavy * np.ones(len(differences))])
    share, _ = nnls(rows, np.array([0, 0, 0, heavy]), maxiter=10_000)
    return differences.T @ (share / share.sum())


def separation(a, b):
    """Signed distance [m] of two hulls: below 0 if they overlap."""
    depth = -ConvexHull((b[None, :, :] - a[:, None, :]).reshape(-1, 3)).equations[:, 3]
    return -depth.min() if depth.min() > 0 else float(np.linalg.norm(apart(a, b)))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_least_gap_is_how_far_two_blocks_are_apart(family):
    rng = np.random.default_rng(sorted(FAMILIES).index(family))
    counts = {"apart": 0, "skins": 0, "copies": 0, "far": 0}
    for _ in range(PAIRS):
        shapes = [FAMILIES[family](rng), FAMILIES[family](rng)]
        turns = Rotation.random(2, random_state=rng)
        if rng.random() < 0.3:  # faces flush
            turns = Rotation.concatenate([turns[0], turns[0]])
        bodies = bodies_of(shapes)
        radius = np.array([2e-3, 1e-3])
        nearest = NearestPoints(inset(bodies, radius), radius, MARGIN)
        corners = [turn.apply(nearest.copies.vertex[nearest.copies.vertex_start[p] : nearest.copies.vertex_start[p + 1]])
                   for p, turn in enumerate(turns)]  # fmt: skip
        far = 10.0 * rng.normal(size=3)  # from there along the shortest way until it is so near, or so deep
        shortest = apart(corners[0], corners[1] + far)
        length = np.linalg.norm(shortest)
        place = np.array([[0, 0, 0], far - shortest * (1 - (radius.sum() + rng.uniform(-0.02, 0.012)) / length)])
        truth = separation(corners[0], corners[1] + place[1]) - radius.sum()
        still, rotation = np.zeros((2, 6)), turns.as_quat(scalar_first=True)
        c, _ = detect(bodies, place, rotation, still, 1e-3, no_contacts(), 0, nearest=nearest)
        if abs(truth - MARGIN) < 1e-6:
            continue
        if truth > MARGIN:
            counts["far"] += 1
            assert len(c.gap) == 0
            continue
        counts["apart" if truth > 0 else "skins" if truth > -radius.sum() else "copies"] += 1
        assert c.gap.min() == pytest.approx(truth, abs=1e-7)
        np.testing.assert_allclose(np.linalg.norm(c.normal, axis=1), 1.0, atol=1e-12)
        along = corners[1] @ c.normal[0] + place[1] @ c.normal[0], corners[0] @ c.normal[0]
        assert along[0].min() - along[1].max() == pytest.approx(truth + radius.sum(), abs=1e-7)
        assert (c.gap <= MARGIN + 1e-12).all()
        lowest = c.point[np.argmin(c.gap)]  # lies between the two, within what their skins and the gap leave
        depth = abs(truth) + radius.sum()
        for p, turn in enumerate(turns):
            faces = slice(*bodies.piece_face[p : p + 2])
            normal = turn.apply(bodies.face_normal[faces])
            offset = np.einsum("fj,fj->f", bodies.face_normal[faces],
                               bodies.vertex[bodies.face_vertex[bodies.face_start[:-1][faces]]])  # fmt: skip
            assert (normal @ (lowest - place[p]) - offset).max() < depth + 1e-6
    assert min(counts["apart"], counts["copies"]) > 20, counts

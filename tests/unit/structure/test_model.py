"""The door: every defect of the issue's list is refused with the block, the value and a cure; sound input passes."""

from dataclasses import replace

import numpy as np
import pytest

from drystone.base.errors import InputError
from drystone.build import wall
from drystone.build.shapes import HEXAHEDRON, box, prism
from drystone.structure.model import Block, build_model

CUBE = box((0, 0, 0), (1, 1, 1))
FAR_CUBE = box((5, 0, 0), (6, 1, 1))


def reshaped(vertex=None, at=None, **changes):
    vertices = CUBE.vertices.copy()
    if vertex is not None:
        vertices[vertex] = at
    return replace(CUBE, **{"vertices": vertices, **changes})


def two_cubes_in_one():
    other = tuple(tuple(v + 8 for v in face) for face in CUBE.faces)
    return Block(np.concatenate([CUBE.vertices, CUBE.vertices + 3.0]), CUBE.faces + other)


L_SHAPE = np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]], float)
DEFECTS = {
    "NaN": (reshaped(3, [0, np.nan, 0]), "vertex 3 is .*nan.* must be finite"),
    "infinite": (reshaped(3, [0, np.inf, 0]), "vertex 3 is .*inf.* must be finite"),
    "shape": (reshaped(vertices=np.zeros((8, 2))), r"shape \(8, 2\); give \(V, 3\)"),
    "not numbers": (reshaped(vertices=[["a", 0, 0]] * 8), "vertices are not numbers"),
    "few vertices": (reshaped(vertices=np.zeros((3, 3))), "3 vertices; a solid needs at least 4"),
    "few faces": (reshaped(faces=HEXAHEDRON[:3]), "3 faces; a closed solid needs at least 4"),
    "two-cornered face": (reshaped(faces=HEXAHEDRON[:5] + ((3, 0),)), "face 5: 2 vertices; a face needs at least 3"),
    "fractional index": (reshaped(faces=HEXAHEDRON[:5] + ((3, 0, 4, 7.5),)), r"face 5: \[3, 0, 4, 7.5\] are not"),
    "index too large": (reshaped(faces=HEXAHEDRON[:5] + ((3, 0, 4, 8),)), "face 5: vertex index 8 .* use 0 to 7"),
    "negative index": (reshaped(faces=HEXAHEDRON[:5] + ((3, 0, 4, -1),)), "face 5: vertex index -1 .* use 0 to 7"),
    "repeated vertex": (reshaped(faces=HEXAHEDRON[:5] + ((3, 0, 4, 7, 7),)), "face 5: vertex 7 is repeated"),
    "unused vertex": (reshaped(vertices=np.vstack([CUBE.vertices, [9, 9, 9]])), "vertex 8 is in no face; remove it"),
    "coincident": (reshaped(1, [0, 0, 0]), "vertices 1 and 0 are the same point .* merge"),
    "open": (reshaped(faces=HEXAHEDRON[:5]), r"face \d: edge .* the block is open; add the missing face"),
    "surplus face": (reshaped(faces=(*HEXAHEDRON, HEXAHEDRON[0])), "shared by more than two faces; remove"),
    "one face inward": (reshaped(faces=HEXAHEDRON[:5] + (HEXAHEDRON[5][::-1],)), "face 5: points inward, .* reverse"),
    "all inward": (reshaped(faces=tuple(f[::-1] for f in HEXAHEDRON)), "volume is -1 m3: all faces point inward"),
    "flat": (reshaped(vertices=CUBE.vertices * [1, 1, 1e-13]), "that is zero; give"),
    "no height": (reshaped(vertices=CUBE.vertices * [1, 1, 0]), "volume is 0 m3 .* that is zero; give"),
    "two pieces": (two_cubes_in_one(), r"V - E \+ F is 4, .* separate pieces"),
    "warped": (reshaped(6, [1, 1, 1.1]), r"face \d: is not planar: vertex \d stands .* mm off .* split the face"),
    "not convex": (prism(L_SHAPE, (0, 1)), r"face \d: the block is not convex: vertex \d+ stands 1000 mm in front"),
}  # fmt: skip


@pytest.mark.parametrize("defect", DEFECTS)
def test_bad_geometry_is_refused(defect):
    """Each defect is made on purpose in the second of two blocks, so the message must name block 1."""
    block, message = DEFECTS[defect]
    with pytest.raises(InputError, match=message) as caught:
        build_model([FAR_CUBE, replace(block, name="keystone")], friction=0.5)
    assert str(caught.value).startswith("block 1 'keystone'")


def test_face_that_turns_inward_is_refused():
    """A cube whose top is cut into a triangle and a dart in the same plane: every vertex is behind every face."""
    vertices = np.vstack([CUBE.vertices, [0.75, 0.5, 1.0]])
    faces = HEXAHEDRON[:1] + ((4, 5, 8, 6, 7), (5, 6, 8)) + HEXAHEDRON[2:]
    with pytest.raises(InputError, match="face 1: is not convex: it turns inward at vertex 8"):
        build_model([Block(vertices, faces)], friction=0.5)


def test_triangulated_faces_are_sound():
    """CAD exports triangles: coplanar faces of a convex block are allowed and leave its mass as it is."""
    faces = tuple(t for a, b, c, d in HEXAHEDRON for t in ((a, b, c), (a, c, d)))
    model = build_model([replace(CUBE, faces=faces, density=1000.0)], friction=0.5)
    assert model.bodies.mass[0] == pytest.approx(1000.0)


def turned(block, axis, angle, move):
    axis = np.array(axis, float) / np.linalg.norm(axis)
    cross = np.cross(np.eye(3), axis)
    rotation = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    return replace(block, vertices=(block.vertices - 0.5) @ rotation.T + 0.5 + move)


@pytest.mark.parametrize("gap", [0.0, 1e-12, -1e-12, 0.99e-4])
def test_touching_blocks_pass(gap):
    """Flush blocks, with gaps up to the stated tolerance of 1e-4 of the size (1 m) on the wrong side."""
    model = build_model([CUBE, replace(CUBE, vertices=CUBE.vertices + [0.3, 0.2, 1.0 - gap])], friction=0.5)
    assert len(model.blocks) == 2


def test_overlapping_blocks_are_refused():
    """The depth is the height that was taken away: 3 mm."""
    upper = replace(CUBE, vertices=CUBE.vertices + [0.3, 0.2, 0.997], name="upper")
    with pytest.raises(InputError, match=r"block 0 'lower' and block 1 'upper' overlap by 3 mm, 0.1 mm .* move them apart"):
        build_model([replace(CUBE, name="lower"), upper], friction=0.5)


def test_one_block_inside_another_and_the_same_twice_are_refused():
    for inner in (box((0.4, 0.4, 0.4), (0.6, 0.6, 0.6)), CUBE):
        with pytest.raises(InputError, match="overlap by"):
            build_model([CUBE, inner], friction=0.5)


@pytest.mark.parametrize(("distance", "touches"), [(np.sqrt(2), True), (np.sqrt(2) - 0.01, False)])
def test_crossed_edges_need_the_edge_axes(distance, touches):
    """Two cubes, one turned 45 degrees about x, the other about y, edge over edge: the centres' distance when they
    touch is twice the half diagonal, sqrt(2); only the cross product of the edges separates them."""
    lower = turned(CUBE, [1, 0, 0], np.pi / 4, [0, 0, 0])
    upper = turned(CUBE, [0, 1, 0], np.pi / 4, [0, 0, distance])
    if touches:
        build_model([lower, upper], friction=0.5)
    else:
        with pytest.raises(InputError, match="overlap by 10 mm"):
            build_model([lower, upper], friction=0.5)


def test_supports_may_overlap_each_other():
    support = replace(CUBE, fixed=True)
    assert build_model([support, support, FAR_CUBE], friction=0.5).bodies.fixed.sum() == 2


@pytest.mark.parametrize(
    ("blocks", "options", "message"),
    [
        ([], {}, "has 0 blocks; give at least one"),
        ([replace(CUBE, fixed=True)], {}, "all 1 blocks are fixed"),
        ([CUBE], {"friction": -0.1}, "friction is -0.1; give a number, 0 or more"),
        ([CUBE], {"friction": np.nan}, "friction is nan"),
        ([CUBE], {"friction": "0.5"}, "friction is '0.5'"),
        ([CUBE], {"support_friction": -1}, "friction at supports is -1"),
        ([CUBE], {"pairs": [("arch", "", 0.5)]}, r"no block is in group 'arch'; the groups are \[''\]"),
        ([CUBE], {"pairs": [("", "", 0.5), ("", "", 0.6)]}, "given twice"),
        ([CUBE], {"pairs": [("", "", -0.5)]}, "between groups '' and '' is -0.5"),
        ([replace(CUBE, density=0.0)], {}, r"block 0 'block-0': its density is 0.0; give a number above 0 in kg/m3"),
        ([replace(CUBE, density=None)], {}, "its density is None"),
        ([replace(CUBE, density=np.nan)], {}, "its density is nan"),
        ([replace(CUBE, name="a"), replace(FAR_CUBE, name="a")], {}, "block 1 'a': block 0 has the same name"),
    ],
)
def test_bad_numbers_are_refused(blocks, options, message):
    with pytest.raises(InputError, match=message):
        build_model(blocks, **{"friction": 0.5, **options})


def test_friction_by_pair():
    """The three rules of C7: block-block, block-foundation, and named groups before both."""
    blocks = [replace(CUBE, vertices=CUBE.vertices + [2.0 * i, 0, 0]) for i in range(4)]
    blocks = [replace(b, group=g, fixed=f) for b, g, f in zip(blocks, ["", "", "lead", "lead"], [0, 1, 0, 1], strict=True)]
    model = build_model(blocks, friction=0.6, support_friction=0.7, pairs=[("lead", "", 0.2)])
    mu = model.friction[np.ix_(model.bodies.group, model.bodies.group)]
    expected = [[0.6, 0.7, 0.2, 0.2], [0.7, 0.7, 0.2, 0.2], [0.2, 0.2, 0.6, 0.7], [0.2, 0.2, 0.7, 0.7]]
    np.testing.assert_array_equal(mu, expected)


def test_bodies_of_a_box():
    """The arrays as declared in `Bodies`, for a block of 2 x 1 x 1 m of 2500 kg/m3 whose centroid is known."""
    model = build_model([CUBE, box((5, 0, 0), (7, 1, 1), density=2500.0)], friction=0.5)
    bodies = model.bodies
    assert [b.name for b in model.blocks] == ["block-0", "block-1"]
    np.testing.assert_allclose(model.position[1], [6.0, 0.5, 0.5])
    assert bodies.mass[1] == pytest.approx(5000.0)
    assert bodies.radius[1] == pytest.approx(np.sqrt(1.5))  # half of the diagonal sqrt(4 + 1 + 1)
    own = slice(bodies.vertex_start[1], bodies.vertex_start[2])
    np.testing.assert_allclose(bodies.vertex[own].mean(axis=0), 0.0, atol=1e-15)
    for f in range(bodies.piece_face[1], bodies.piece_face[2]):
        corners = bodies.vertex[bodies.face_vertex[bodies.face_start[f] : bodies.face_start[f + 1]]]
        distance = corners @ bodies.face_normal[f]
        assert np.ptp(distance) < 1e-15
        assert distance[0] > 0  # outward, seen from the centroid


@pytest.mark.soak
def test_twenty_thousand_blocks_pass_the_door():
    """The issue runs 20,000 blocks; measured: 1.5 s."""
    model = build_model(wall(courses=100, blocks=200, length=100.0, height=25.0), friction=0.5)
    assert len(model.blocks) == 100 * 200 + 50 + 1

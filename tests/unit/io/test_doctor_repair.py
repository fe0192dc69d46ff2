"""The repair: what was damaged on purpose is what it was before, within the stated tolerance; what is unsafe is left."""

from dataclasses import replace

import numpy as np
import pytest

from drystone.base.errors import InputError
from drystone.build import arch, column, dome, wall
from drystone.build.shapes import box, prism
from drystone.io.doctor.examination import examine
from drystone.io.doctor.structure_repair import repair
from drystone.structure.model import build_model
from tests.unit.io.test_doctor_examine import BRICK, WALL, damaged, kinds, moved, raised, shortened


def mended(blocks, **options):
    """The repaired blocks, which the door accepts and a second repair leaves alone, and what was done."""
    after, done = repair(blocks, **options)
    build_model(after, friction=0.5)
    again, nothing = repair(after, **options)
    assert nothing == []
    assert_same(again, after, 0.0)
    return after, done


def assert_same(blocks, others, tolerance):
    """The same stones: equal names, and every corner of one within the tolerance of a corner of the other."""
    assert [block.name for block in blocks] == [block.name for block in others]
    for one, other in zip(blocks, others, strict=True):
        apart = np.linalg.norm(one.vertices[:, None] - other.vertices[None], axis=2)
        assert max(apart.min(axis=0).max(), apart.min(axis=1).max()) <= tolerance


def as_triangles(block):
    """As an STL file gives it: triangles that share no vertices."""
    triangles = [(face[0], face[k], face[k + 1]) for face in block.faces for k in range(1, len(face) - 1)]
    vertices = np.concatenate([block.vertices[list(triangle)] for triangle in triangles])
    return replace(block, vertices=vertices, faces=tuple((3 * i, 3 * i + 1, 3 * i + 2) for i in range(len(triangles))))


@pytest.mark.parametrize("build", [wall, arch, dome])
def test_sound_structures_are_left_alone(build):
    after, done = repair(build())
    assert done == []
    assert_same(after, build(), 0.0)


@pytest.mark.parametrize("build", [wall, arch, dome])
def test_triangle_soup_becomes_the_blocks_again(build):
    """The same corners and as many faces as the generator gave."""
    blocks = build()
    after, _ = mended([as_triangles(block) for block in blocks])
    assert_same(after, blocks, 0.0)
    assert [len(block.faces) for block in after] == [len(block.faces) for block in blocks]


FACES = WALL[BRICK].faces
SAFE = {  # damage and the words of its repair
    "face deleted": ({"faces": FACES[:3] + FACES[4:]}, "closed it with face 5"),
    "face twice": ({"faces": (*FACES, FACES[2])}, "removed 1 face given twice"),
    "face turned": ({"faces": (*FACES[:2], FACES[2][::-1], *FACES[3:])}, "reversed face 2"),
    "all turned": ({"faces": tuple(face[::-1] for face in FACES)}, "turned it right side out"),
    "unused vertex": ({"vertices": np.vstack([WALL[BRICK].vertices, [0, 0, 0]])}, "removed 1 vertex in no face"),
    "repeated vertex": ({"faces": (*FACES[:5], (*FACES[5], FACES[5][-1]))}, "removed 1 vertex repeated"),
    "vertex split": (
        {"vertices": np.vstack([WALL[BRICK].vertices, WALL[BRICK].vertices[7] + 1e-7]),
         "faces": (*FACES[:5], (3, 0, 4, 8))},
        "merged 1 vertex that coincide",
    ),
    "same name": ({"name": WALL[3].name}, "renamed it to"),
}  # fmt: skip


@pytest.mark.parametrize("damage", SAFE)
def test_safe_repairs_restore_the_wall(damage):
    changes, words = SAFE[damage]
    after, done = mended(damaged(BRICK, **changes))
    assert len(done) == 1
    assert words in done[0].message
    restored = [replace(block, name=original.name) for block, original in zip(after, WALL, strict=True)]
    assert_same(restored, WALL, 0.0)
    assert build_model(after, friction=0.5).bodies.mass == pytest.approx(build_model(WALL, friction=0.5).bodies.mass)


def test_duplicates_are_dropped_and_the_support_is_kept():
    after, done = mended([*WALL, replace(WALL[BRICK], name="again")])
    assert_same(after, WALL, 0.0)
    assert (done[0].block, done[0].kind) == ("again", "duplicate")
    after, _ = mended([*WALL, replace(WALL[BRICK], name="again", fixed=True)])
    assert [block.name for block in after if block.fixed] == ["foundation", "again"]
    assert WALL[BRICK].name not in [block.name for block in after]


def test_warped_faces_are_flattened_within_the_damage():
    """A corner is pulled by 2 mm (the size is 612 mm, so 6 mm may move): no vertex ends further than that from where it was."""
    vertices = WALL[BRICK].vertices.copy()
    vertices[6] += [0, 0.002, 0]
    after, done = mended(damaged(BRICK, vertices=vertices))
    assert_same(after, WALL, 0.002)
    assert "into the planes" in done[0].message


def test_faces_that_are_warped_too_much_are_split():
    """A free stone with a corner 30 mm out, more than 1 % of 612 mm: the face becomes two triangles, no vertex moves."""
    stone = box((0, 0, 0), (0.5, 0.25, 0.25), name="stone")
    vertices = stone.vertices.copy()
    vertices[6] += [0, 0, 0.2]
    ground = box((-1, -1, -1), (1, 1, 0), fixed=True, name="ground")
    after, done = mended([ground, replace(stone, vertices=vertices)])
    np.testing.assert_array_equal(after[1].vertices, vertices)
    assert sorted(map(len, after[1].faces)) == [3, 3, 4, 4, 4, 4, 4]
    assert "split faces" in done[0].message


def test_a_box_that_is_a_wedge():
    """A box with two corners pulled onto two others: edges without length and a face without area; it is a wedge of 6
    vertices and 5 faces, half as large."""
    stone = box((0, 0, 0), (1, 1, 1), name="stone")
    vertices = stone.vertices.copy()
    vertices[[5, 6]] = vertices[[1, 2]]
    blocks = [box((0, 0, -1), (1, 1, 0), fixed=True, name="ground"), replace(stone, vertices=vertices)]
    assert kinds(examine(blocks)) == {"same point": 2}
    after, _ = mended(blocks)
    assert (len(after[1].vertices), sorted(map(len, after[1].faces))) == (6, [3, 3, 4, 4, 4])
    assert build_model(after, friction=0.5).bodies.mass[1] == pytest.approx(2000.0 / 2)


def test_a_triangle_without_area_joins_its_neighbour():
    """The top of a box whose front edge has a vertex in its middle, and between the two a triangle flat as a line."""
    stone = box((0, 0, 0), (1, 1, 1), name="stone")
    vertices = np.vstack([stone.vertices, [0.5, 0, 1]])
    faces = (stone.faces[0], (4, 5, 6, 7), (0, 1, 5, 8, 4), *stone.faces[3:], (4, 8, 5))
    blocks = [box((0, 0, -1), (1, 1, 0), fixed=True, name="ground"), replace(stone, vertices=vertices, faces=faces)]
    assert kinds(examine(blocks)) == {"no area": 1}
    after, _ = mended(blocks)
    assert_same([after[1]], [stone], 0.0)
    assert sorted(map(len, after[1].faces)) == [4] * 6


def test_gaps_are_closed():
    """Two millimetres under the third course: 9 bricks floated, now 8 bed joints touch and nothing moved by more than 2 mm."""
    after, done = mended(raised(0.002, 0.4))
    assert_same(after, WALL, 0.002 + 1e-12)
    assert examine(after).findings == []
    assert examine(after).facts["joints"] == examine(WALL).facts["joints"]
    assert {repair.kind for repair in done} == {"joint"}


def test_small_overlaps_are_trimmed():
    """The upper half sunk by 2 mm into the lower: as many joints as before and no overlap."""
    after, _ = mended(raised(-0.002, 0.4))
    assert_same(after, WALL, 0.004)
    assert examine(after).findings == []
    assert examine(after).facts["joints"] == examine(WALL).facts["joints"]


def test_corners_that_overlap_are_trimmed():
    """Two stones that meet along an upright edge only, one 0.5 mm and 0.8 mm into the other: no joint, but the door refuses
    it; the smaller of the two is cut away."""
    ground = box((-1, -1, -1), (3, 3, 0), fixed=True, name="ground")
    blocks = [ground, box((0, 0, 0), (1, 1, 1), name="a"), box((0.9995, 0.9992, 0), (2, 2, 1), name="b")]
    after, done = mended(blocks)
    assert len(done) == 1
    assert "in by 0.5 mm" in done[0].message
    assert_same(after, blocks, 0.0005 + 1e-12)


def test_stones_drawn_without_their_mortar():
    """Every brick 3 mm short in each direction: 38 joints are open, and close; the 4 on the foundation miss by 1.5 mm only,
    which contact takes for touching (0.5 % of a brick's radius is 1.53 mm)."""
    blocks = [block if block.fixed else replace(block, vertices=shortened(block, 0.003)) for block in WALL]
    assert examine(blocks).facts["joints"] == 4
    assert kinds(examine(blocks))["gap"] == 38
    after, _ = mended(blocks)
    assert examine(after).findings == []
    assert examine(after).facts["joints"] == 42


def test_inclined_faces_keep_their_planes():
    """Voussoirs cut thinner by 1 %: the radial joints close and the intrados stays the polygon it was."""
    blocks = arch()
    thin = [block if block.fixed else _thinner(block) for block in blocks]
    assert "gap" in kinds(examine(thin))
    after, _ = mended(thin)
    assert examine(after).findings == []
    assert_same(after, blocks, 0.02)


def _thinner(block):
    middle = block.vertices.mean(axis=0)
    return replace(block, vertices=middle + 0.997 * (block.vertices - middle))


def test_within_is_a_limit():
    """A gap of 5 mm is 0.8 % of the size: closed within 1 %, neither found nor closed within 0.5 %."""
    blocks = raised(0.005, 0.4)
    assert kinds(examine(blocks, within=0.005)) == {"floating": 1}
    assert repair(blocks, within=0.005)[1] == []
    assert len(mended(blocks, within=0.01)[1]) > 0


def test_what_is_not_safe_is_left_and_said():
    """A deep overlap, a dented stone, two shells in one block: repaired blocks are the same and the findings remain."""
    dented = replace(prism(np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]], float), (3, 4)), name="angle")
    twice = tuple(FACES) + tuple(tuple(v + 8 for v in face) for face in FACES)
    shells = {"vertices": np.concatenate([WALL[1].vertices, WALL[1].vertices + [0, 2, 0]]), "faces": twice}
    blocks = [*damaged(1, **shells, blocks=moved(BRICK, [0.05, 0, 0])), dented]
    after, done = repair(blocks)
    assert done == []
    assert_same(after, blocks, 0.0)
    assert {"overlap", "not convex", "several shells"} <= set(kinds(examine(after)))
    with pytest.raises(InputError):
        build_model(after, friction=0.5)


def test_the_same_repairs_in_millimetres():
    """Tolerances are shares of a block's size: scaled by 1000, the same faces move, 1000 times as far."""
    blocks = damaged(3, faces=WALL[3].faces[:5], blocks=raised(0.002, 0.4))
    here, _ = repair(blocks)
    there, _ = repair([replace(block, vertices=1000 * block.vertices) for block in blocks])
    assert_same([replace(block, vertices=block.vertices / 1000) for block in there], here, 1e-12)


def test_pieces_that_are_counted_wrongly_are_left_alone():
    """Seven faces for a piece of six: not safe to mend, and the blocks beside it keep their places."""
    blocks = [replace(block, pieces=(7, 6)) if block.name == "drum-2" else block for block in column(courses=3)]
    after, done = repair(blocks)
    assert [block.name for block in after] == [block.name for block in blocks]
    assert after[2].pieces == (7, 6)
    assert done == []

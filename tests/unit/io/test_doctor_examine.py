"""The examination: a sound structure is damaged in a known way and exactly that is found, with the number put in."""

import time
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from drystone.base.errors import InputError
from drystone.build import GENERATORS, wall
from drystone.build.shapes import box, prism
from drystone.io.doctor.examination import examine
from drystone.structure.model import Block, build_model

WALL = wall(courses=4, blocks=4, length=2.0, height=1.0)  # bricks 0.5 x 0.25 x 0.25 m, 18 of them, and a foundation
BRICK = 6  # the second brick of the second course: a whole one


def damaged(row, blocks=WALL, **changes):
    return [replace(block, **changes) if i == row else block for i, block in enumerate(blocks)]


def moved(row, by, blocks=WALL):
    return damaged(row, blocks, vertices=blocks[row].vertices + np.array(by))


def raised(height, above, blocks=WALL):
    """All blocks that start above a level, lifted."""
    lift = [height if block.vertices[:, 2].min() > above else 0.0 for block in blocks]
    return [replace(block, vertices=block.vertices + [0, 0, dz]) for block, dz in zip(blocks, lift, strict=True)]


def kinds(report):
    return Counter(finding.kind for finding in report.findings)


def only(report, kind):
    """The single finding, which must be of this kind."""
    assert kinds(report) == {kind: 1}
    return report.findings[0]


@pytest.mark.parametrize("generator", sorted(GENERATORS))
def test_generated_structures_are_sound(generator):
    """What the door accepts and stands on its supports has no findings."""
    blocks = GENERATORS[generator]()
    report = examine(blocks)
    hang = ["hung by friction"] if generator in ("corbelled-cylinder", "wall-over-gap") else []  # over a hole, over a gap
    assert [finding.kind for finding in report.findings] == hang
    assert report.facts["sound_blocks"] == len(blocks)


def test_facts_of_a_wall():
    """Counted by hand: courses of 4, 5, 4 and 5 bricks, 2 x 1 x 0.25 m of stone, density 2000 kg/m3. Between courses
    8 bed joints each (9 joints' edges on 2 m), 4 on the foundation; head joints 3 + 4 + 3 + 4; four points a joint."""
    facts = examine(WALL).facts
    assert (facts["blocks"], facts["fixed_blocks"], facts["sound_blocks"]) == (19, 1, 19)
    assert facts["volume"] == pytest.approx(0.5)
    assert facts["mass"] == pytest.approx(1000.0)
    assert facts["weight"] == pytest.approx(9810.0)
    np.testing.assert_allclose(facts["dimensions"], [3.0, 1.25, 1.5])
    assert facts["joints"] == 4 + 3 * 8 + 14
    assert facts["contacts"] == 4 * facts["joints"]


FACES = WALL[BRICK].faces
INVERTED = tuple(face[::-1] for face in FACES)
TWO_SHELLS = tuple(FACES) + tuple(tuple(v + 8 for v in face) for face in FACES)
DAMAGE = {  # how to damage a brick, the finding, its face and its value
    "face deleted": ({"faces": FACES[:5]}, "open", 0, 4.0),
    "face twice": ({"faces": (*FACES, FACES[2])}, "surplus face", 0, 4.0),
    "face turned": ({"faces": (*FACES[:2], FACES[2][::-1], *FACES[3:])}, "inward face", 2, None),
    "all turned": ({"faces": INVERTED}, "inside out", None, -0.5 * 0.25 * 0.25),
    "unused vertex": ({"vertices": np.vstack([WALL[BRICK].vertices, [0, 0, 0]])}, "unused vertex", None, None),
    "repeated vertex": ({"faces": (*FACES[:5], (*FACES[5], FACES[5][-1]))}, "repeated vertex", 5, None),
    "no thickness": ({"vertices": WALL[BRICK].vertices * [1, 0, 1]}, "no volume", None, 0.0),
    "index": ({"faces": (*FACES[:5], (3, 0, 4, 8))}, "malformed", None, None),
    "not a number": ({"vertices": WALL[BRICK].vertices * [1, np.nan, 1]}, "malformed", None, None),
    "no density": ({"density": 0.0}, "density", None, None),
    "same name": ({"name": WALL[3].name}, "same name", None, None),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_to_one_brick_is_the_only_finding(damage):
    """The neighbours of a brick that is no solid are not said to float: it may hold them."""
    changes, kind, face, value = DAMAGE[damage]
    finding = only(examine(damaged(BRICK, **changes)), kind)
    assert (finding.blocks, finding.face, finding.severity) == ((BRICK,), face, "error")
    assert finding.value == (value if value is None else pytest.approx(value))
    assert finding.hint


@pytest.mark.parametrize("damage", DAMAGE)
def test_the_door_refuses_what_the_doctor_calls_an_error(damage):
    with pytest.raises(InputError):
        build_model(damaged(BRICK, **DAMAGE[damage][0]), friction=0.5)


def test_warped_faces():
    """A corner of a box pulled out of one face's plane by d stands d/4 off its mean plane; the other two faces that
    meet there keep it in their planes."""
    vertices = WALL[BRICK].vertices.copy()
    vertices[6] += [0, 0.002, 0]
    finding = only(examine(damaged(BRICK, vertices=vertices)), "not planar")
    assert finding.value == pytest.approx(0.002 / 4, rel=1e-4)
    assert WALL[BRICK].faces[finding.face] == (2, 3, 7, 6)


def test_dent():
    """An L-shaped stone, 2 x 2 with a notch of 1 m: the far corner stands 1 m before the notch's face."""
    outline = np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]], float)
    stone = replace(prism(outline, (0, 1)), name="angle")
    report = examine([box((0, 0, -1), (2, 2, 0), fixed=True, name="ground"), stone])
    assert only(report, "not convex").value == pytest.approx(1.0)


def test_two_shells_in_one_block():
    vertices = np.concatenate([WALL[BRICK].vertices, WALL[BRICK].vertices + [0, 5, 0]])
    finding = only(examine(damaged(BRICK, vertices=vertices, faces=TWO_SHELLS)), "several shells")
    assert (finding.blocks, finding.value) == ((BRICK,), 2.0)


def test_overlaps_are_listed_with_their_depths():
    """Two bricks pushed by 3 and 20 mm into their right neighbours; the other side opens by as much: 3 mm is near."""
    report = examine(moved(16, [0.02, 0, 0], moved(BRICK, [0.003, 0, 0])))
    found = {finding.blocks: finding.value for finding in report.findings if finding.kind == "overlap"}
    assert found == {(16, 17): pytest.approx(0.02), (BRICK, BRICK + 1): pytest.approx(0.003)}
    assert {f.blocks: f.value for f in report.findings if f.kind == "gap"} == {(5, BRICK): pytest.approx(0.003)}
    assert report.errors == 2


def test_a_duplicate_is_not_called_an_overlap():
    finding = only(examine([*WALL, replace(WALL[BRICK], name="again")]), "duplicate")
    assert finding.blocks == (BRICK, 19)
    assert finding.severity == "error"


def test_a_course_that_misses():
    """The third course and what is above lifted by 2 mm: its 8 bed joints miss by 2 mm, and 9 bricks float."""
    report = examine(raised(0.002, 0.4))
    assert kinds(report) == {"gap": 8, "floating": 1}
    gaps = [finding.value for finding in report.findings if finding.kind == "gap"]
    np.testing.assert_allclose(gaps, 0.002, rtol=1e-9)
    assert report.findings[-1].blocks == tuple(range(10, 19))
    assert report.errors == 0


@pytest.mark.parametrize(("gap", "found"), [(0.0005, {}), (0.02, {"floating": 1})])
def test_gaps_below_the_margin_touch_and_wide_ones_are_openings(gap, found):
    """Contact sees 0.5 % of a brick's radius, 0.306 m: 1.5 mm; gaps are near up to 1 % of its diagonal, 6.1 mm."""
    assert kinds(examine(raised(gap, 0.4))) == found


def test_mortar_left_out():
    """Bricks 10 mm apart, 1.6 % of their size, and 5 mm above the foundation, which is near: none touches another, and
    each is told how far its nearest neighbour is."""
    report = examine([block if block.fixed else replace(block, vertices=shortened(block, 0.01)) for block in WALL])
    assert kinds(report) == {"no contact": 18, "gap": 4}
    np.testing.assert_allclose(
        [f.value for f in report.findings if f.kind == "no contact"], [0.005] * 4 + [0.01] * 14, rtol=1e-6
    )


def shortened(block, by):
    """The vertices of a brick that is cut by as much in every direction."""
    middle = block.vertices.mean(axis=0)
    return middle + (block.vertices - middle) * (1 - by / np.ptp(block.vertices, axis=0))


def test_stray_block_and_missing_support():
    far = moved(18, [0, 0, 5.0])
    assert only(examine(far), "no contact").blocks == (18,)
    assert only(examine(damaged(0, fixed=False)), "no support").blocks == ()


@pytest.mark.parametrize(("scale", "unit"), [(1000.0, "mm"), (100.0, "cm")])
def test_doubtful_unit(scale, unit):
    """A wall drawn in mm or cm and read in m: the median brick is hundreds or tens of metres long."""
    finding = only(examine([replace(block, vertices=scale * block.vertices) for block in WALL]), "unit")
    assert finding.value == pytest.approx(scale * np.linalg.norm([0.5, 0.25, 0.25]))
    assert f'unit = "{unit}"' in finding.hint
    assert finding.severity == "warning"


def test_slivers():
    """A slab of 1 x 1 m that is 2 mm thick; and a stone whose edge is cut off by 0.2 mm: a face 0.14 mm wide."""
    ground = box((-1, -1, -1), (2, 2, 0), fixed=True, name="ground")
    slab = box((0, 0, 0), (1, 1, 0.002), name="slab")
    report = examine([ground, slab])
    assert kinds(report) == {"thin block": 1}
    assert report.findings[0].value == pytest.approx(0.002)
    outline = np.array([[0, 0], [1, 0], [1, 0.9998], [0.9998, 1], [0, 1]])
    finding = only(examine([ground, replace(prism(outline, (0, 1)), name="stone")]), "thin face")
    long, short = 1.0, 0.0002 * np.sqrt(2)
    assert finding.value == pytest.approx(long * short / (long + short))


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_findings_do_not_depend_on_the_unit(scale):
    """The same damage in mm, m and km: the same kinds, blocks and faces, and values in proportion."""
    blocks = moved(BRICK, [0.003, 0, 0], damaged(3, faces=WALL[3].faces[:5], blocks=raised(0.002, 0.6)))
    here, there = (
        [finding for finding in examine(scaled).findings if finding.kind != "unit"]
        for scaled in (blocks, [replace(block, vertices=scale * block.vertices) for block in blocks])
    )
    assert [(f.kind, f.blocks, f.face) for f in here] == [(f.kind, f.blocks, f.face) for f in there]
    for one, other in zip(here, there, strict=True):
        assert other.value == pytest.approx(one.value * (scale if one.unit == "m" else 1.0))


def test_blocks_of_several_pieces():
    """An angle of two boxes is sound; a face of its second piece turned is found by its number in the block."""
    upright, foot = box((0, 0, 0), (1, 1, 3)), box((1, 0, 0), (3, 1, 1))
    faces = tuple(upright.faces) + tuple(tuple(v + 8 for v in face) for face in foot.faces)
    angle = Block(np.concatenate([upright.vertices, foot.vertices]), faces, name="angle", pieces=(6, 6))
    ground = box((-1, -1, -1), (4, 2, 0), fixed=True, name="ground")
    report = examine([ground, angle])
    assert report.findings == []
    assert (report.facts["joints"], report.facts["volume"]) == (1, pytest.approx(5.0))
    wide = replace(angle, vertices=angle.vertices - np.repeat([[0, 0, 0], [0.01, 0, 0]], 8, axis=0))
    overlap = only(examine([ground, wide]), "overlap")
    assert (overlap.blocks, overlap.value) == ((1,), pytest.approx(0.01))
    turned = replace(angle, faces=(*faces[:8], faces[8][::-1], *faces[9:]))
    finding = only(examine([ground, turned]), "inward face")
    assert (finding.blocks, finding.face) == ((1,), 8)


def test_nothing_and_nonsense():
    assert [f.kind for f in examine([]).findings] == ["no blocks"]
    report = examine([replace(WALL[1], vertices=np.zeros((8, 2)))])
    assert kinds(report) == {"malformed": 1}


def seconds_to_examine(courses):
    """Of the processor, for 25 blocks a course; a face is turned in every twentieth."""
    blocks = wall(length=12.5, height=0.2 * courses, courses=courses, blocks=25)
    blocks = [replace(b, faces=(b.faces[0][::-1], *b.faces[1:])) if i % 20 == 1 else b for i, b in enumerate(blocks)]
    start = time.process_time()
    report = examine(blocks)
    taken = time.process_time() - start
    assert kinds(report) == {"inward face": (len(blocks) + 18) // 20}
    return taken


def test_a_large_wall_is_examined_in_seconds():
    """The brief asks for 20,000 blocks in well under 30 s of one core. What does not depend on the core: the time grows with
    the number of blocks, not with its square, so four times the blocks (5,101) take 4 times as long and not 16 times."""
    examine(WALL)
    few, many = seconds_to_examine(50), seconds_to_examine(200)
    assert many < 8 * few

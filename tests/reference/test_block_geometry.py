"""The geometry files of other programs in ../shared: every one is read, or refused with a reason a user can act on.

Truth: blocks as the README beside the files counts them (or the file itself: objects, rows, bodies); volumes by the files' own
numbers, in another way than ours: sizes of boxes, areas of outlines by the shoelace formula times the depth, hulls of Qhull."""

import json
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from drystone.analysis.statics.rigid_equilibrium import solve_equilibrium
from drystone.base.errors import InputError
from drystone.engine.solvers.methods import make_solver
from drystone.io.doctor.structure_repair import repair
from drystone.io.geometry.mesh_repair import volume
from drystone.io.geometry.structure_file import read_structure
from drystone.structure.model import build_model

FOLDERS = [folder / "shared/data/block_geometry" for folder in Path(__file__).parents]
DATA = next((folder for folder in FOLDERS if folder.exists()), FOLDERS[-1])
pytestmark = pytest.mark.skipif(not DATA.exists(), reason="needs shared/data/block_geometry beside the repository")

LOW, SLAB = {"supports": "lowest"}, {"depth": 0.2}
PORTAL, TILTED = {"depth": 0.5, "up": "y"} | LOW, {"depth": 0.5, "up": "y", "unit": "mm"} | LOW  # wall.dxf says inches
GENEVA = {"depth": 0.2, "only": ["Default", "Supports"], "supports": "Supports"}

# file or folder: options, blocks, supports, blocks of several pieces
SOUND = {
    "chrono_masonry/bricks.dat": ({}, 2, 1, 0),
    "chrono_masonry/colonnade_brickfile.txt": ({}, 31, 1, 2),
    "chrono_masonry/wall_brickfile.txt": ({}, 321, 3, 2),
    "compas/assembly/arch_assembly.json": ({}, 30, 2, 0),
    "compas/assembly/stack_assembly.json": ({}, 10, 1, 0),
    "compas/assembly/two-blocks_assembly.json": ({}, 2, 1, 0),
    "compas/assembly/wall_assembly.json": ({}, 52, 10, 0),
    "compas/assembly_old/arch.json": ({}, 40, 2, 0),
    "compas/assembly_old/stack.json": ({}, 10, 1, 0),
    "compas/assembly_old/wall_equilibrium.json": ({}, 38, 5, 0),
    "compas/cra/A.json": ({}, 3, 0, 0),
    "compas/cra/H.json": ({}, 3, 0, 0),
    "compas/cra/bridge.json": ({}, 16, 0, 9),
    "compas/cra/concave-long.json": ({}, 2, 0, 2),
    "compas/cra/concave-short.json": ({}, 2, 0, 2),
    "compas/cra/cubes.json": ({}, 3, 0, 0),
    "compas/cra/shelf-s1.json": ({}, 13, 0, 1),
    "compas/cra/shelf-s2.json": ({}, 12, 0, 2),
    "compas/cra/shelf-stable.json": ({}, 9, 0, 1),
    "compas/cra/shelf.json": ({}, 11, 0, 1),
    "compas/cra/type-a.json": ({}, 3, 0, 0),
    "compas/cra/type-b.json": ({}, 3, 0, 0),
    "compas/cra/type-c.json": ({}, 3, 0, 0),
    "compas/dem/dem_crossvault.json": ({}, 38, 5, 0),
    "compas/dem/wall.obj": (LOW, 38, 5, 0),
    "compas/model_obj/arch_pi.obj": (LOW, 39, 1, 0),
    "compas/model_obj/wall_pyramid.obj": (LOW, 14, 4, 0),
    "compas/model_obj/wall_simple_supported.obj": (SLAB | LOW, 39, 1, 0),
    "compas/model_obj/wall_stack.obj": (LOW, 6, 1, 0),
    "compas/rbe/simple_arch.json": (SLAB, 11, 1, 0),
    "compas/rbe/simple_pile.json": (SLAB, 7, 1, 0),
    "compas/rbe/simple_slide.json": (SLAB, 3, 1, 0),
    "compas/rbe/simple_stack_3.json": (SLAB, 4, 1, 0),
    "compas/rbe/simple_stack_3_result.json": (SLAB, 4, 1, 0),
    "compas/rbe/simple_stack_4.json": (SLAB, 5, 1, 0),
    "compas/rbe/simple_stack_4_result.json": (SLAB, 5, 1, 0),
    "compas/rhino/simple_stack.3dm": (SLAB | LOW | {"unit": "m"}, 5, 1, 0),
    "lmgc90/BridgePL_2D": ({"depth": 4.8}, 23, 1, 0),
    "lmgc90/Bridge_PR": ({}, 23, 1, 0),
    "lmgc90/WallPL_2D": ({"depth": 0.1}, 106, 5, 0),
    "lmgc90/Wall_PR": ({}, 106, 5, 0),
    "tilt_dxf/Portal.dxf": (PORTAL, 41, 1, 0),
    "tilt_dxf/wall.dxf": (TILTED, 183, 1, 0),
}

# Read, and refused by the door: these need mending (`drystone check --fix`). What is said, and the count of blocks.
TO_MEND = {
    "compas/assembly/crossvault_assembly.json": ({}, 184, "'11' and block 12 '12' overlap by 0.67"),
    "compas/dem/crossvault.obj": (LOW, 184, "'Mesh 11' and block 12 'Mesh 12' overlap"),  # three decimals
    "compas/assembly_old/dome.json": ({}, 90, "overlap by 6.8"),  # hexagons bent in the middle, their sides warped
    "compas/dem/dome.obj": (LOW, 90, "overlap by 7.1"),
    "compas/rbe/genevault.json": (SLAB, 110, "overlap by"),  # faces warped by 3.5 % of the size, supports through the blocks
    "compas/rhino/genevault.3dm": (GENEVA, 110, "overlap by"),
    "stones/oneleaf_wall": ({"up": "x"}, 39, "'stone_0', face .* the block is open"),  # and stone_27
}

REFUSED = {
    "chrono_masonry/wall_motionfile.txt": "2 values are not a brick",
    "chrono_masonry/wall_rigidrodfile.txt": "9 values are not a brick",
    "chrono_masonry/wall_springfile.txt": "11 values are not a brick",
    "compas/cra/cube-curve-short.json": "face is warped by 0.04.* decompose = true",
    "lmgc90/Arche_JP.msh": r"\.msh is not a format that is read",
    "stones/oneleaf_wall/load_config.json": "has no list of blocks",
    "stones/oneleaf_wall/material.json": "has no list of blocks",
    "stones/scans/stone_150.obj": "more than 48 convex pieces.* decompose = true",
    "stones/scans/stone_153.obj": "more than 48 convex pieces.* decompose = true",
    "stones/scans/stone_174.obj": "more than 48 convex pieces.* decompose = true",
}


@cache
def read(name):
    """Once for all tests, with the options of its table."""
    pytest.importorskip({".3dm": "rhino3dm", ".dxf": "ezdxf"}.get(Path(name).suffix, "json"))
    return read_structure(DATA / name, **(SOUND | TO_MEND)[name][0])


def test_every_file_is_in_a_table():
    tables = {*SOUND, *TO_MEND, *REFUSED}
    files = {str(path.relative_to(DATA)) for path in DATA.rglob("*") if path.is_file() and path.name != "README.md"}
    folders = [name for name in tables if (DATA / name).is_dir()]
    assert {file for file in files - tables if not any(file.startswith(folder + "/") for folder in folders)} == set()


# The same structure as another file of the table, a larger one in the same format, and a wall of which three stones are read
# below.
LONG = ("compas/dem/crossvault.obj", "compas/dem/dome.obj", "compas/rbe/genevault.json", "compas/rhino/genevault.3dm",
        "stones/oneleaf_wall", "chrono_masonry/wall_brickfile.txt", "tilt_dxf/wall.dxf", "lmgc90/Wall_PR")  # fmt: skip


def soaked(names):
    """Those of LONG are left to `make soak`."""
    return [pytest.param(name, marks=pytest.mark.soak) if name in LONG else name for name in names]


@pytest.mark.parametrize("name", soaked(SOUND))
def test_is_sound(name):
    _, count, supports, several = SOUND[name]
    blocks = read(name)
    assert (len(blocks), sum(b.fixed for b in blocks), sum(bool(b.pieces) for b in blocks)) == (count, supports, several)
    model = build_model(blocks, friction=0.7)
    for block, mass in zip(blocks, model.bodies.mass, strict=True):
        if not block.pieces:
            assert mass / block.density == pytest.approx(ConvexHull(block.vertices).volume, rel=1e-4)


@pytest.mark.parametrize("name", soaked(TO_MEND))
def test_needs_mending(name):
    _, count, said = TO_MEND[name]
    blocks = read(name)
    assert len(blocks) == count
    with pytest.raises(InputError, match=said):
        build_model(blocks, friction=0.7)


def test_three_stones_of_a_wall_need_mending(tmp_path):
    """Two of the three are open; all 39 take ten times as long."""
    options, _, said = TO_MEND["stones/oneleaf_wall"]
    for stone in ("stone_0.ply", "stone_1.ply", "stone_27.ply"):
        shutil.copy(DATA / "stones/oneleaf_wall" / stone, tmp_path)
    blocks = read_structure(tmp_path, **options)
    assert [block.name for block in blocks] == ["stone_0", "stone_1", "stone_27"]
    with pytest.raises(InputError, match=said):
        build_model(blocks, friction=0.7)


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused(name):
    with pytest.raises(InputError, match=REFUSED[name]):
        read_structure(DATA / name)


def test_bricks_have_the_volume_of_their_corners():
    """Every hull of a row by Qhull, straight from the text."""
    rows = (DATA / "chrono_masonry/colonnade_brickfile.txt").read_text().splitlines()
    total = 0.0
    for row in rows:
        words = [word.strip() for word in row.split(",") if word.strip()][11:]
        for part in " ".join("*" if word == "9999" else word for word in words).split("*"):
            total += ConvexHull(np.array(part.split(), float).reshape(-1, 3)).volume
    blocks = read_structure(DATA / "chrono_masonry/colonnade_brickfile.txt")
    mass = build_model(blocks, friction=0.5).bodies.mass
    assert sum(mass / [block.density for block in blocks]) == pytest.approx(total, rel=1e-6)


def test_outlines_have_their_area():
    """Shoelace formula on the points of the DXF, in m2, times the depth."""
    ezdxf = pytest.importorskip("ezdxf")
    area = 0.0
    for line in ezdxf.readfile(DATA / "tilt_dxf/Portal.dxf").modelspace():
        x, y = np.array(line.get_points("xy")).T / 1000
        area += abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2
    blocks = read_structure(DATA / "tilt_dxf/Portal.dxf", **PORTAL)
    assert build_model(blocks, friction=0.5).bodies.mass.sum() / 2000 == pytest.approx(0.5 * area, rel=1e-9)


def test_flags_of_compas_are_kept():
    """Names of the supports, straight from the JSON."""
    nodes = json.loads((DATA / "compas/assembly/wall_assembly.json").read_text())["data"]["graph"]["data"]["node"]
    blocks = read_structure(DATA / "compas/assembly/wall_assembly.json")
    assert {b.name for b in blocks if b.fixed} == {key for key, node in nodes.items() if node.get("is_support")}


# Which of them stand, with this friction, and why not where they do not.
STANDS = {
    "compas/assembly/arch_assembly.json": (0.7, True),
    "compas/assembly_old/arch.json": (0.7, True),
    "compas/model_obj/arch_pi.obj": (0.7, False),  # 39 of 40 voussoirs: one springer is not in the file
    "compas/rbe/simple_arch.json": (0.7, True),
    "compas/assembly/wall_assembly.json": (0.7, True),
    "compas/assembly_old/wall_equilibrium.json": (0.7, True),
    "compas/dem/dem_crossvault.json": (0.7, True),  # a wall, whatever its name
    "compas/model_obj/wall_simple_supported.obj": (0.7, True),
    "compas/assembly_old/stack.json": (0.7, True),
    "compas/assembly/stack_assembly.json": (0.7, False),  # what lies on the first cube is centred 0.65 beside it, its edge 0.5
    "compas/rbe/simple_stack_3.json": (0.7, True),
    "compas/rbe/simple_stack_4.json": (0.7, False),  # the top stone, y from -1.5 to 0.5, lies on y from 0 to 2
    "compas/rhino/simple_stack.3dm": (0.7, False),  # the same
    "chrono_masonry/bricks.dat": (0.6, False),  # half a metre of air between the two
    "chrono_masonry/colonnade_brickfile.txt": (0.6, True),
    "chrono_masonry/wall_brickfile.txt": (0.6, True),
    "lmgc90/Bridge_PR": (1.15, True),
    "lmgc90/BridgePL_2D": (1.15, True),
    "lmgc90/Wall_PR": (0.95, True),
    "lmgc90/WallPL_2D": (0.95, True),
    "tilt_dxf/Portal.dxf": (np.tan(np.radians(30)), True),
    "tilt_dxf/wall.dxf": (np.tan(np.radians(26)), True),
}


@pytest.mark.parametrize("name", soaked(STANDS))
def test_stands(name):
    friction, stands = STANDS[name]
    result = solve_equilibrium(build_model(read(name), friction=friction), solver=make_solver("native"))
    assert result.solution.converged
    assert result.stands is stands


# Mended by the doctor with this tolerance they stand, friction 0.7.
MENDED = {
    "compas/assembly/crossvault_assembly.json": 0.01,
    "compas/dem/crossvault.obj": 0.01,
    "compas/assembly_old/dome.json": 0.02,
    "compas/dem/dome.obj": 0.02,
}


@pytest.mark.parametrize("name", soaked(MENDED))
def test_mended_they_stand(name):
    """A repair keeps the stones: the weight stays but for what overlapped, and a second one has nothing to do."""
    before = read(name)
    after, done = repair(before, within=MENDED[name])
    assert done
    model = build_model(after, friction=0.7)
    weight = sum(volume(b.vertices, b.faces) for b in before)
    assert sum(volume(b.vertices, b.faces) for b in after) == pytest.approx(weight, rel=0.02)
    result = solve_equilibrium(model, solver=make_solver("native"))
    assert result.stands
    assert repair(after, within=MENDED[name])[1] == []

"""Geometry files: what is written comes back, what others write becomes the blocks a person counts, mistakes have one message.

Truth: the blocks that were written; solids whose volume and faces are counted by hand; files typed in here."""

import json
import os
import struct
from dataclasses import replace

import numpy as np
import pytest

from drystone.base.errors import InputError
from drystone.build import arch, dome, wall
from drystone.build.shapes import box, prism
from drystone.cli import main
from drystone.io.case import parse_case
from drystone.io.geometry import convex_pieces
from drystone.io.geometry.structure_file import read_structure, write_structure
from drystone.structure.model import Block, build_model

KEEPS_ALL = ["json", "compas.json", "obj", "ply", "off", "3dm", "dxf"]
TRIANGLES = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]
L_SHAPE = np.array([(0, 0), (2, 0), (2, 1), (1, 1), (1, 3), (0, 3)], float)  # area 2 * 1 + 1 * 2 = 4
ELL = prism(L_SHAPE, (0.0, 0.5), name="ell")  # volume 2


def needs(suffix: str) -> None:
    if suffix in ("3dm", "dxf"):
        pytest.importorskip({"3dm": "rhino3dm", "dxf": "ezdxf"}[suffix])


def faces_of(block: Block) -> set[tuple[tuple[float, ...], ...]]:
    """Faces as sets of points, whatever the order of vertices and where a face begins."""
    return {tuple(sorted(tuple(block.vertices[corner]) for corner in face)) for face in block.faces}


def small_dome() -> list[Block]:
    return dome(rings=4, blocks=8)


@pytest.mark.parametrize("suffix", KEEPS_ALL)
@pytest.mark.parametrize("generator", [arch, wall, small_dome])
def test_what_is_written_comes_back(tmp_path, suffix, generator):
    needs(suffix)
    blocks = [replace(b, density=1900.1 + i, group=b.group or "ring 1") for i, b in enumerate(generator())]
    write_structure(tmp_path / f"a.{suffix}", blocks)
    for mine, read in zip(blocks, read_structure(tmp_path / f"a.{suffix}"), strict=True):
        told = (mine.name, mine.group, mine.fixed, mine.density)
        assert (read.name, read.group, read.fixed, read.density) == told
        np.testing.assert_array_equal(read.vertices, mine.vertices)
        assert faces_of(read) == faces_of(mine)


@pytest.mark.parametrize("suffix", KEEPS_ALL)
def test_pieces_come_back(tmp_path, suffix):
    needs(suffix)
    low, high = box((0, 0, 0), (2, 1, 1)), box((0, 0, 1), (1, 1, 2))
    faces = low.faces + tuple(tuple(c + 8 for c in face) for face in high.faces)
    block = Block(np.concatenate([low.vertices, high.vertices]), faces, name="ell", pieces=(6, 6))
    write_structure(tmp_path / f"a.{suffix}", [block])
    (read,) = read_structure(tmp_path / f"a.{suffix}")
    assert (read.name, read.pieces) == ("ell", (6, 6))
    np.testing.assert_array_equal(read.vertices, block.vertices)


def test_stl_keeps_names_and_merges_triangles(tmp_path):
    """A stack of equal boxes shares whole faces: twelve triangles each are counted in the file, six faces come back."""
    blocks = [box((0, 0, i), (1, 1, i + 1), name=f"stone {i}") for i in range(3)]
    write_structure(tmp_path / "a.stl", blocks)
    text = (tmp_path / "a.stl").read_text()
    assert text.count("endfacet") == 36
    for mine, read in zip(blocks, read_structure(tmp_path / "a.stl"), strict=True):
        assert (read.name, faces_of(read)) == (mine.name, faces_of(mine))


def test_binary_stl_is_cut_where_surfaces_close(tmp_path):
    """No names, no solids: three boxes that share faces, in single precision."""
    write_structure(tmp_path / "a.stl", [box((0, 0, i), (1, 1, i + 1)) for i in range(3)])
    words = [line.split()[1:] for line in (tmp_path / "a.stl").read_text().splitlines() if line.startswith("vertex")]
    corners = np.array(words, np.float32).reshape(-1, 9)
    rows = b"".join(struct.pack("<12fH", 0, 0, 0, *row, 0) for row in corners)
    (tmp_path / "b.stl").write_bytes(b"solid misleading".ljust(80) + struct.pack("<I", len(corners)) + rows)
    blocks = read_structure(tmp_path / "b.stl")
    assert [len(block.faces) for block in blocks] == [6, 6, 6]
    assert build_model(blocks, friction=0.5).bodies.mass == pytest.approx([2000.0] * 3)


def test_obj_of_others(tmp_path):
    """Groups without objects, slashes, backward counting, faces turned inward and triangulated: a unit cube is six faces."""
    cube = box((0, 0, 0), (1, 1, 1))
    lines = ["mtllib ../../etc/passwd", "g stone"] + [f"v {x} {y} {z} 0.1 0.2 0.3" for x, y, z in cube.vertices.tolist()]
    for face in cube.faces:
        a, b, c, d = (f"{corner - 8}/1/1" for corner in reversed(face))
        lines += [f"f {a} {b} {c}", f"f {a} {c} {d}"]
    (tmp_path / "a.obj").write_text("\n".join(lines))
    (read,) = read_structure(tmp_path / "a.obj", density=1800)
    assert (read.name, faces_of(read)) == ("stone", faces_of(cube))
    assert build_model([read], friction=0.5).bodies.mass == pytest.approx([1800.0])


def test_obj_groups_within_objects(tmp_path):
    """An object whose faces are in two groups, as by material, is one block; its group is the first."""
    write_structure(tmp_path / "a.obj", [box((0, 0, 0), (1, 1, 1), name="stone", group="side")])
    lines = (tmp_path / "a.obj").read_text().splitlines()
    (tmp_path / "a.obj").write_text("\n".join([*lines[:-1], "g top", lines[-1].replace(" ", "\t")]))
    (read,) = read_structure(tmp_path / "a.obj")
    assert (read.name, read.group, len(read.faces)) == ("stone", "side", 6)


def test_doubled_faces_go(tmp_path):
    """As in a COMPAS dome, every face is told twice; and a square beside its two triangles."""
    cube = box((0, 0, 0), (1, 1, 1))
    write_structure(tmp_path / "a.json", [cube])
    mesh = {"vertex": {str(i): dict(zip("xyz", v, strict=True)) for i, v in enumerate(cube.vertices.tolist())}}
    twice = cube.faces + cube.faces
    beside = cube.faces + ((3, 2, 1), (3, 1, 0))
    for faces in (twice, beside):
        entry = mesh | {"face": {str(i): face for i, face in enumerate(faces)}}
        (tmp_path / "b.json").write_text(json.dumps({"dtype": "compas.datastructures/Mesh", "data": entry}))
        (read,) = read_structure(tmp_path / "b.json")
        assert faces_of(read) == faces_of(cube)


@pytest.mark.parametrize("order", "<>")
def test_binary_ply(tmp_path, order):
    """A tetrahedron typed in, with properties that are not geometry; volume 1 / 6."""
    form = {"<": "little", ">": "big"}[order]
    header = f"""ply
format binary_{form}_endian 1.0
comment by hand
element vertex 4
property uchar red
property double x
property double y
property double z
element face 4
property list uchar int vertex_index
end_header
"""
    points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    body = b"".join(struct.pack(order + "B3d", 7, *point) for point in points)
    body += b"".join(struct.pack(order + "B3i", 3, *face) for face in TRIANGLES)
    (tmp_path / "a.ply").write_bytes(header.encode() + body)
    (read,) = read_structure(tmp_path / "a.ply")
    assert build_model([read], friction=0.5).bodies.mass == pytest.approx([2000 / 6])


def test_units_and_axes(tmp_path):
    """One vertex of a box of 1 x 2 x 3 mm is followed: y up puts (x, y, z) at (x, -z, y), x up at (y, z, x)."""
    write_structure(tmp_path / "a.obj", [box((0, 0, 0), (1, 2, 3), name="a")])
    for up, size in (("z", (1, 2, 3)), ("y", (1, 3, 2)), ("x", (2, 3, 1))):
        (read,) = read_structure(tmp_path / "a.obj", unit="mm", up=up)
        np.testing.assert_array_equal(np.ptp(read.vertices, axis=0), np.array(size) / 1000)
        assert build_model([read], friction=0.5).bodies.mass == pytest.approx([2000 * 6e-9])
    (read,) = read_structure(tmp_path / "a.obj", up="y")
    assert read.vertices[6].tolist() == [1.0, -3.0, 2.0]


def test_supports_and_choice(tmp_path):
    blocks = [box((0, 0, i), (1, 1, i + 1), name=f"stone-{i}", group="upper" if i else "") for i in range(4)]
    write_structure(tmp_path / "a.json", blocks)

    def fixed(**options):
        return [block.name for block in read_structure(tmp_path / "a.json", **options) if block.fixed]

    assert fixed() == []
    assert fixed(supports="lowest") == ["stone-0"]
    assert fixed(supports=["stone-1", "stone-3"]) == ["stone-1", "stone-3"]
    assert fixed(supports="upper") == ["stone-1", "stone-2", "stone-3"]
    assert len(read_structure(tmp_path / "a.json", only=["upper"])) == 3
    with pytest.raises(InputError, match=r"supports: no block or group is named 'stone'; did you mean 'stone-"):
        fixed(supports="stone")


def test_solid_that_is_not_convex_has_exact_pieces(tmp_path):
    """An L of area 4 and depth 0.5 in two pieces; their volumes and their centre of mass are those of the L."""
    write_structure(tmp_path / "a.obj", [ELL])
    (read,) = read_structure(tmp_path / "a.obj")
    assert len(read.pieces) == 2
    model = build_model([read], friction=0.5)
    assert model.bodies.mass == pytest.approx([2000 * 2.0], rel=1e-12)
    by_hand = (2 * np.array([1, 0.5]) + 2 * np.array([0.5, 2])) / 4  # two rectangles of area 2
    np.testing.assert_allclose(model.position[0], [by_hand[0], 0.25, by_hand[1]], rtol=1e-12)


def test_solid_without_simple_pieces_is_refused_or_approximated(tmp_path, monkeypatch):
    """The L again, were one piece the most: refused with the cure; approximated when asked, and the volume error said."""
    monkeypatch.setattr(convex_pieces, "MAX_PIECES", 1)
    write_structure(tmp_path / "a.obj", [ELL])
    with pytest.raises(InputError, match=r"block 'ell' is not convex.*more than 1 convex pieces.*decompose = true"):
        read_structure(tmp_path / "a.obj")
    pytest.importorskip("coacd")
    with pytest.warns(UserWarning, match=r"'ell' approximated by \d+ convex pieces, volume [+-]\d"):
        (read,) = read_structure(tmp_path / "a.obj", decompose=True)
    assert build_model([read], friction=0.5).bodies.mass[0] / 2000 == pytest.approx(2.0, rel=0.05)


def test_drawing_in_the_plane(tmp_path):
    """Outlines in mm with y up, one of them an L: their areas times the depth; the file says mm itself."""
    ezdxf = pytest.importorskip("ezdxf")
    drawing = ezdxf.new(units=4)
    drawing.modelspace().add_lwpolyline([(0, -500), (2000, -500), (2000, 0), (1000, 0), (0, 0)], close=True)
    drawing.modelspace().add_lwpolyline([*(1000 * L_SHAPE).tolist(), (0, 0)], dxfattribs={"layer": "upper"})
    drawing.saveas(tmp_path / "a.dxf")
    with pytest.raises(InputError, match=r"2 of 2 blocks are flat.*give the depth"):
        read_structure(tmp_path / "a.dxf")
    base, ell = read_structure(tmp_path / "a.dxf", up="y", depth=0.3, supports="lowest")
    assert (base.fixed, len(base.faces), ell.fixed, ell.group, len(ell.pieces)) == (True, 6, False, "upper", 2)
    mass = build_model([base, ell], friction=0.5).bodies.mass
    assert mass == pytest.approx([2000 * 2 * 0.5 * 0.3, 2000 * 4 * 0.3], rel=1e-12)
    assert np.ptp(ell.vertices, axis=0) == pytest.approx([2, 0.3, 3])


def test_three_d_faces(tmp_path):
    ezdxf = pytest.importorskip("ezdxf")
    drawing, cubes = ezdxf.new(units=6), [box((i, 0, 0), (i + 1, 1, 1)) for i in range(2)]
    for cube in cubes:
        for face in cube.faces:
            drawing.modelspace().add_3dface(cube.vertices[list(face)].tolist())
    drawing.saveas(tmp_path / "a.dxf")
    for mine, read in zip(cubes, read_structure(tmp_path / "a.dxf"), strict=True):
        assert faces_of(read) == faces_of(mine)


def test_rhino_solids_and_units(tmp_path):
    """A box as a brep and as an extrusion, in cm."""
    rhino3dm = pytest.importorskip("rhino3dm")
    file, size = rhino3dm.File3dm(), rhino3dm.BoundingBox(rhino3dm.Point3d(0, 0, 0), rhino3dm.Point3d(100, 200, 300))
    file.Settings.ModelUnitSystem = rhino3dm.UnitSystem.Centimeters
    file.Objects.AddBrep(rhino3dm.Brep.CreateFromBox(rhino3dm.Box(size)))
    file.Objects.AddExtrusion(rhino3dm.Extrusion.CreateBoxExtrusion(rhino3dm.Box(size), True))
    file.Write(str(tmp_path / "a.3dm"), 7)
    for read in read_structure(tmp_path / "a.3dm"):
        assert faces_of(read) == faces_of(box((0, 0, 0), (1, 2, 3)))


def test_bricks(tmp_path):
    """A brick of the present layout with two hulls, one of the old: volumes by hand; y is up."""
    corners = [f"{x},{y},{z}" for x in (0, 1) for y in (0, 2) for z in (0, 3)]
    second = [f"{x},{y},{z}" for x in (1, 2) for y in (0, 1) for z in (0, 3)]
    rows = [",".join(["7,0,1,1,1500,0,0,0,0,0,0", *corners, "*", *second]), ",".join(["8,1,1,0,0,0,0,0,0", *corners])]
    (tmp_path / "bricks.txt").write_text("# a comment\n" + "\n".join(rows) + "\n")
    new, old = read_structure(tmp_path / "bricks.txt")
    assert (new.name, new.fixed, new.density, new.pieces) == ("7", False, 1500.0, (6, 6))
    assert (old.name, old.fixed, old.density, old.pieces) == ("8", True, 2000.0, ())
    assert np.ptp(old.vertices, axis=0).tolist() == [1, 3, 2]
    assert build_model([new], friction=0.5).bodies.mass == pytest.approx([1500 * (6 + 3)])


def test_folder_is_one_block_a_file(tmp_path):
    for i in (10, 9):
        write_structure(tmp_path / f"stone_{i}.off", [box((0, 0, i), (1, 1, i + 1))])
    (tmp_path / "notes.json").write_text("{}")
    assert [block.name for block in read_structure(tmp_path)] == ["stone_9", "stone_10"]


def test_case_reads_geometry(tmp_path):
    write_structure(tmp_path / "tower.obj", [box((0, 0, 1000 * i), (500, 500, 1000 * i + 1000)) for i in range(3)])
    rest = '[joints]\nfriction = 0.5\n[analysis]\nduration = "1 s"\ntime_step = "1 ms"\n'
    structure = '[structure]\nfile = "tower.obj"\nunit = "mm"\nsupports = "lowest"\ndensity = "22 kN/m3"\n'
    model = parse_case(structure + rest, tmp_path / "case.toml").model()
    assert model.bodies.fixed.tolist() == [True, False, False]
    assert model.bodies.radius == pytest.approx([0.5 * np.sqrt(1.5)] * 3)
    with pytest.raises(InputError, match=r"line 3: structure.unit: 'inch' is not accepted.*mm"):
        parse_case(structure.replace('"mm"', '"inch"') + rest, tmp_path / "case.toml")


BAD = {
    "a.obj": [("v 0 0 0\nf 1 2 3", "line 2: the face 1 2 3 uses a vertex"), ("v 0 0", "line 1: a vertex of 2 numbers"),
              ("v 0 zero 0", "line 1: '0 zero 0' are not numbers"), ("", "has no blocks"),
              ("v 1e99 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3", r"a\.obj: a block reaches 1e\+99 m away; is its unit"),
              ("v 1e-99 0 0\nv 0 1e-99 0\nv 0 0 1e-99\nf 1 2 3", "is 1e-99 m across; is its unit"),
              ("v 0 0 0\nf" + 1001 * " 1", "1 faces, of up to 1,001 corners; .* simplify")],
    "a.off": [("OFF\n4 4000000000 0\n0 0 0", "says it has .* is the file cut"), ("solid", "does not begin with OFF"),
              ("OFF\n1 1 0\n0 0 0\n3 0 0 7", "vertex 7 is not among the 1 vertices"), ("OFF\n1 1 0\n0 0 0\n3 0 0", "lists 2")],
    "a.ply": [("ply\nformat ascii 1.0\nelement vertex 999999999999\nproperty float x\nend_header\n0", "more elements than"),
              ("ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nend_header\n0 ", "is missing|ends before"),
              ("ply\nformat morse 1.0\nend_header\n", "its format is not"), ("plx", "no PLY header"),
              ("ply\nformat ascii 1.0\nelement vertex " + "9" * 5000 + "\nend_header\n", "which is not PLY")],
    "a.stl": [("solid a\nfacet\nvertex 0 0 0\nendsolid\n", "not three a facet"), ("plx", "neither text nor")],
    "a.json": [("{", "line 1, column 2: not JSON"), ("[" * 100000, "nested too deeply"), ('{"dtype": "x"}', "a known COMPAS"),
               ('{"blocks": [{"vertices": [], "faces": [], "pieces": 3}]}', "pieces is 3; give a list"),
               ('{"blocks": [{"vertices": [[0, 0, 0]], "faces": [[0, 1, 2]]}]}', "vertex 1 is not among the 1 vertices")],
    "a.txt": [("1,2,3", "line 1: 3 values are not a brick"), ("", "has no bricks")],
    "a.dat": [("$bdyty\n RBDY3 1\n$tacty\n DISKx 1 color BLEUx byrd= 1.0\n", "body 1: its contactor is DISKx"),
              ("$bdyty\n RBDY3 1\n$tacty\n POLYR 1 color BLEUx\n coo1= 1.0 coo2= 2.0\n ver1= 1", "body 1 is not complete")],
    "a.step": [("ISO", "is not a format that is read; give .obj")],
}  # fmt: skip


@pytest.mark.parametrize(("name", "content", "said"), [(name, *case) for name, cases in BAD.items() for case in cases])
def test_bad_files_have_one_message(tmp_path, name, content, said):
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=said):
        read_structure(tmp_path / name)


def test_faces_that_have_nothing_to_do_with_each_other(tmp_path):
    """1,001 triangles without a common vertex make no solid, and are not tried one by one."""
    corners = "".join(f"v {i} 0 0\nv {i} 1 0\nv {i} 0 1\n" for i in range(1001))
    (tmp_path / "a.obj").write_text(corners + "".join(f"f {i} {i + 1} {i + 2}\n" for i in range(1, 3003, 3)))
    for refuse in (True, False):
        with pytest.raises(InputError, match=r"a\.obj: .*1,001 parts have fewer than 4 connected faces; merge its vertices"):
            read_structure(tmp_path / "a.obj", refuse=refuse)


@pytest.mark.parametrize(("key", "text"), [("pieces", "3"), ("pieces", '["a"]'), ("fixed", "1"), ("density", "[" * 100_000)])
def test_user_text_of_another_program(tmp_path, key, text):
    rhino3dm = pytest.importorskip("rhino3dm")
    write_structure(tmp_path / "a.3dm", [box((0, 0, 0), (1, 1, 1))])
    file = rhino3dm.File3dm.Read(str(tmp_path / "a.3dm"))
    file.Objects[0].Attributes.SetUserString(key, text)
    file.Write(str(tmp_path / "a.3dm"), 7)
    with pytest.raises(InputError, match=r"a\.3dm: user text .* is not understood"):
        read_structure(tmp_path / "a.3dm")


def test_a_pipe_is_told_as_such(tmp_path):
    os.mkfifo(tmp_path / "a.json")
    with pytest.raises(InputError, match="a pipe or a device"):
        read_structure(tmp_path / "a.json")


def test_a_file_without_blocks_is_no_structure_to_check(tmp_path, capsys):
    (tmp_path / "a.json").write_text('{"blocks": []}')
    with pytest.raises(SystemExit) as ended:
        main(["check", str(tmp_path / "a.json")])
    assert ended.value.code == 2
    assert "has no blocks; give a file with blocks" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "content"), [("a.3dm", b"junk" * 99), ("a.dxf", b"junk" * 99), ("a.dxf", b"  0\nSECTION\n")])
def test_bad_files_of_libraries(tmp_path, name, content):
    needs(name[2:])
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=r"a\.(3dm|dxf): not a "):
        read_structure(tmp_path / name)


def test_a_block_that_is_one_point(tmp_path):
    """Refused as flat; left as it is for the doctor, who tells what ails it."""
    (tmp_path / "a.obj").write_text("v 1 1 1\n" * 4 + "f 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n")
    with pytest.raises(InputError, match="1 of 1 blocks are flat"):
        read_structure(tmp_path / "a.obj")
    (block,) = read_structure(tmp_path / "a.obj", refuse=False)
    assert np.ptp(block.vertices, axis=0).max() == 0.0


def test_missing_file_and_wrong_words(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_structure(tmp_path / "nothing.obj")
    write_structure(tmp_path / "a.json", [ELL])
    with pytest.raises(InputError, match="unit is 'inch'; give one of m, dm"):
        read_structure(tmp_path / "a.json", unit="inch")
    with pytest.raises(InputError, match="up is 'w'; give x, y or z"):
        read_structure(tmp_path / "a.json", up="w")
    with pytest.raises(InputError, match=r"'.ifc' is not a format that is written"):
        write_structure(tmp_path / "a.ifc", [ELL])


def test_missing_library_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "rhino3dm", None)
    with pytest.raises(InputError, match=r"rhino3dm is needed.*pip install 'drystone\[rhino\]'"):
        write_structure(tmp_path / "a.3dm", [ELL])


def test_convert_on_the_command_line(tmp_path, capsys):
    write_structure(tmp_path / "a.obj", [box((0, 1000 * i, 0), (500, 1000 * i + 1000, 500)) for i in range(3)])
    options = ["--unit", "mm", "--up", "y", "--supports", "lowest", "--density", "2200 kg/m3", "--json"]
    with pytest.raises(SystemExit) as end:
        main(["convert", str(tmp_path / "a.obj"), str(tmp_path / "b.ply"), *options])
    assert end.value.code == 0
    facts = {"written": str(tmp_path / "b.ply"), "blocks": 3, "supports": 1}
    assert json.loads(capsys.readouterr().out) == facts
    assert build_model(read_structure(tmp_path / "b.ply"), friction=0.5).position[:, 2] == pytest.approx([0.5, 1.5, 2.5])

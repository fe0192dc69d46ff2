"""Runs for other programs, read back by these programs' own readers. The run is made by hand: a cube that rests on the ground,
one that falls from 5 m, and one that turns about the upright by 0.1 rad a frame, three times round; so where every corner is at
any time is known in closed form. A joint of 1 m2 carries 400 N."""

import csv
import json
import resource
import shutil
import struct
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from drystone.analysis.statics_run import record_statics
from drystone.base.errors import InputError
from drystone.contact.contacts import no_contacts
from drystone.engine.cone_step.integrator import Energy, State
from drystone.engine.solvers.solution import Residual, Solution
from drystone.io.case import parse_case
from drystone.io.geometry.structure_file import read_structure
from drystone.results.store.run_reader import read_run
from drystone.results.store.run_writer import RunWriter
from drystone.show.export import csv_tables
from drystone.show.export.frames import frame_at, frames_every, shape
from drystone.show.export.glb import write_glb
from drystone.show.export.vtkhdf import write_vtkhdf
from tests.unit.synthetic import CORNERS, boxes, start

STEP = 0.01  # [s]
FRAMES = 200
CASE = '[structure]\ngenerator = "column"\n[joints]\nfriction = 0.6\n[analysis]\nduration = "2 s"\ntime_step = "10 ms"  # é\n'
HEIGHT = 5.0  # [m] the fall
TURN = 0.1  # [rad] a frame
FORCE = 400.0  # [N] in the joint between the ground and the cube on it
SQUARE = np.array([[-0.5, -0.5, 1], [0.5, -0.5, 1], [0.5, 0.5, 1], [-0.5, 0.5, 1]])


def corner_places(frame):
    """(32, 3) [m] in closed form."""
    time, angle = STEP * frame, TURN * frame
    fallen = np.array([3.0, 0.0, HEIGHT - 9.81 / 2 * time**2])
    turned = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    return np.concatenate([CORNERS + [0, 0, 0.5], CORNERS + [0, 0, 1.5], CORNERS + fallen, CORNERS @ turned.T + [6, 0, 0.5]])


def joint(step):
    """The four points of the joint between cubes 0 and 1; none in the first frame, one more pair from frame 100 on."""
    point = np.concatenate([SQUARE, SQUARE + [3, 0, 0]]) if step >= 100 else SQUARE
    count = len(point)
    pair = [{"a": 0, "b": 1}, {"a": 0, "b": 2}]
    columns = {
        "a": np.repeat([each["a"] for each in pair], 4)[:count],
        "b": np.repeat([each["b"] for each in pair], 4)[:count],
        "point": point,
        "normal": np.tile([0.0, 0.0, 1.0], (count, 1)),
        "impulse": np.tile([0.0, 0.0, FORCE / 4 * STEP], (count, 1)),
    }
    empty = no_contacts()
    zeros = {name: np.zeros((count, *a.shape[1:]), a.dtype) for name, a in zip(empty._fields, empty, strict=True)}
    return empty._replace(**(zeros | {name: np.asarray(v, zeros[name].dtype) for name, v in columns.items()}))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export") / "out"
    model = boxes([[0, 0, 0.5], [0, 0, 1.5], [3, 0, HEIGHT], [6, 0, 0.5]], fixed=[0])
    with RunWriter.create(folder, CASE, model, start(model), every_steps=1, planned_steps=FRAMES - 1) as writer:
        for step in range(1, FRAMES):
            time, half = STEP * step, TURN * step / 2
            position = model.position.copy()
            position[2, 2] -= 9.81 / 2 * time**2
            rotation = np.tile([1.0, 0.0, 0.0, 0.0], (4, 1))
            # the same rotation by the other quaternion, now and then
            rotation[3] = np.array([np.cos(half), 0.0, 0.0, np.sin(half)]) * (-1) ** (step // 7)
            velocity = np.zeros((4, 6))
            velocity[2, 2] = -9.81 * time
            energy = Energy(float(step), 100.0 - step, 0.0, 0.0, 0.0, 0.0, 0.0)
            state = State(step, time, position, rotation, velocity, joint(step), 8, 0, energy)
            solution = Solution(np.zeros((4, 6)), np.zeros((0, 3)), True, "newton", 1, Residual(*np.zeros(5)), 1)
            writer.add(SimpleNamespace(state=state, solution=solution, seconds=(0.0, 0.0, 0.0)))
    return read_run(folder)


# ---- which frames


def test_frames_by_time(run):
    assert frames_every(run, None) == list(range(FRAMES))
    assert frames_every(run, 0.5) == [0, 50, 100, 150, 199]
    assert frames_every(run, 0.024) == [*(round(2.4 * k) for k in range(83)), 199]  # 0, 2.4, 4.8, 7.2 ... no ties
    assert frames_every(run, 1e-6) == list(range(FRAMES))
    assert frames_every(run, 100.0) == [0, 199]
    with pytest.raises(InputError, match="above zero"):
        frames_every(run, 0.0)


def test_a_frame_by_its_time(run):
    assert (frame_at(run, None), frame_at(run, 0.504), frame_at(run, 0.0)) == (199, 50, 0)
    with pytest.raises(InputError, match=r"2\.5.*from 0 to 1\.99"):
        frame_at(run, 2.5)


# ---- VTKHDF


@pytest.fixture(scope="module")
def paraview(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("vtk") / "fall.vtkhdf"
    frames = frames_every(run, 0.07)
    return frames, write_vtkhdf(run, path, frames)


def vtk_steps(path, wanted):
    """What ParaView's own reader finds at some steps."""
    hdf = pytest.importorskip("vtkmodules.vtkIOHDF")
    from vtkmodules.util.numpy_support import vtk_to_numpy

    reader = hdf.vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    for step in wanted:
        reader.SetStep(step)
        reader.Update()
        found = reader.GetOutput()
        sides = {"cell": found.GetCellData(), "point": found.GetPointData()}
        arrays = {
            (side, data.GetArrayName(i)): vtk_to_numpy(data.GetArray(i))
            for side, data in sides.items()
            for i in range(data.GetNumberOfArrays())
        }
        points = vtk_to_numpy(found.GetPoints().GetData()) if found.GetNumberOfPoints() else np.zeros((0, 3))
        yield reader, found, points, arrays


def test_paraview_reads_where_the_blocks_are(paraview):
    frames, (path, _) = paraview
    steps = [0, 7, len(frames) - 1]
    for step, (reader, found, points, arrays) in zip(steps, vtk_steps(path, steps), strict=True):
        assert reader.GetNumberOfSteps() == len(frames) == 30
        assert reader.GetTimeValue() == pytest.approx(STEP * frames[step])
        np.testing.assert_allclose(points, corner_places(frames[step]), atol=2e-6)
        assert found.GetNumberOfPolys() == 24
        own = [{found.GetCell(i).GetPointId(k) // 8 for k in range(4)} for i in range(24)]
        assert own == [{i // 6} for i in range(24)]  # six faces a block, of its own corners
        assert arrays["cell", "block"].tolist() == [i // 6 for i in range(24)]
        assert arrays["cell", "fixed"].tolist() == [1] * 6 + [0] * 18
        np.testing.assert_allclose(arrays["point", "motion"], corner_places(frames[step]) - corner_places(0), atol=1e-6)


def test_paraview_reads_what_the_blocks_have(paraview):
    frames, (path, _) = paraview
    (_, found, _, arrays), (*_, last) = vtk_steps(path, [10, len(frames) - 1])
    time = STEP * frames[10]
    each = {name: values[::6] for (side, name), values in arrays.items() if side == "cell"}
    np.testing.assert_allclose(each["displacement"], [0, 0, 9.81 / 2 * time**2, 0], rtol=1e-6)
    np.testing.assert_allclose(each["velocity"], [0, 0, 9.81 * time, 0], rtol=1e-6)
    np.testing.assert_allclose(each["joint_pressure"], [FORCE, FORCE, np.nan, np.nan], rtol=1e-6)
    turn = TURN * frames[10] % (2 * np.pi)
    np.testing.assert_allclose(each["rotation"], [0, 0, 0, min(turn, 2 * np.pi - turn)], rtol=1e-5)
    assert last["cell", "joint_pressure"][::6] == pytest.approx([FORCE, FORCE, FORCE, np.nan], nan_ok=True)
    about = found.GetFieldData()
    words = {about.GetArrayName(i): about.GetAbstractArray(i) for i in range(about.GetNumberOfArrays())}
    assert words["case"].GetValue(0) == CASE
    assert [words["names"].GetValue(i) for i in range(4)] == [f"stone {i}" for i in range(4)]
    assert words["groups"].GetValue(0) == "pier"


def test_paraview_reads_joints_that_come_and_go(paraview):
    frames, (_, path) = paraview
    steps = [0, 3, len(frames) - 1, 3]
    for step, count, (_, found, points, arrays) in zip(steps, [0, 1, 2, 1], vtk_steps(path, steps), strict=True):
        assert (found.GetNumberOfPoints(), found.GetNumberOfVerts()) == (count, count), step
        np.testing.assert_allclose(points, np.array([[0, 0, 1], [3, 0, 1]])[:count], atol=1e-6)
        if count:
            np.testing.assert_allclose(arrays["point", "force"], [[0, 0, FORCE]] * count, rtol=1e-6)
            np.testing.assert_allclose(arrays["point", "pressure"], [FORCE] * count, rtol=1e-6)
            assert arrays["point", "b"].tolist() == [1, 2][:count]


def test_statics_are_stages(tmp_path):
    case = parse_case('[structure]\ngenerator = "column"\n[joints]\nfriction = 0.6\n[analysis]\nkind = "equilibrium"\n')
    for _ in record_statics(case, tmp_path / "out"):
        pass
    run = read_run(tmp_path / "out")
    path, _ = write_vtkhdf(run, tmp_path / "still.vtkhdf", range(run.frames))
    ((reader, *_),) = vtk_steps(path, [1])
    assert (reader.GetNumberOfSteps(), reader.GetTimeValue()) == (2, 1.0)
    assert next(iter(csv_tables.joint_rows(run, 1)))[:2] == ["a", "b"]
    assert next(iter(csv_tables.history_rows(run, [0], [0])))[1] == "stage"


# ---- GLB


def read_glb(path):
    """The obvious reader of a binary glTF file: its document, and a function from an accessor to an array."""
    data = path.read_bytes()
    magic, version, length, size, kind = struct.unpack_from("<4sIII4s", data)
    assert (magic, version, length, kind) == (b"glTF", 2, len(data), b"JSON")
    document = json.loads(data[20 : 20 + size])
    binary = data[20 + size + 8 :]

    def array(number):
        told = document["accessors"][number]
        at = document["bufferViews"][told["bufferView"]]["byteOffset"] + told["byteOffset"]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[told["type"]]
        kind = {5126: "<f4", 5125: "<u4"}[told["componentType"]]
        values = np.frombuffer(binary, kind, told["count"] * width, at)
        return values.reshape(-1, width) if width > 1 else values

    return document, array


def sampled(when, values, time):
    """A channel at a time: along a line, or along the shorter arc between two rotations."""
    i = int(np.clip(np.searchsorted(when, time, "right") - 1, 0, len(when) - 2))
    share = np.clip((time - when[i]) / (when[i + 1] - when[i]), 0, 1)
    one, other = values[i].astype(float), values[i + 1].astype(float)
    if len(one) == 4:
        assert one @ other >= 0, "neighbouring keys are on one side"
        angle = np.arccos(min(1.0, one @ other))
        if angle > 1e-9:
            return (np.sin((1 - share) * angle) * one + np.sin(share * angle) * other) / np.sin(angle)
    return (1 - share) * one + share * other


def places(document, array, time):
    """(n, 3) [m] the corners of all blocks, as a viewer has them at a time: y up."""
    moving = {}
    for channel in document.get("animations", [{"channels": []}])[0]["channels"]:
        sampler = document["animations"][0]["samplers"][channel["sampler"]]
        value = sampled(array(sampler["input"]), array(sampler["output"]), time)
        moving[channel["target"]["node"], channel["target"]["path"]] = value
    found = []

    def visit(number, matrix):
        node = document["nodes"][number]
        x, y, z, w = moving.get((number, "rotation"), node.get("rotation", [0, 0, 0, 1]))
        turn = [[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]  # fmt: skip
        here = np.eye(4)
        here[:3, :3], here[:3, 3] = turn, moving.get((number, "translation"), node.get("translation", [0, 0, 0]))
        matrix = matrix @ here
        if "mesh" in node:
            primitive = document["meshes"][node["mesh"]]["primitives"][0]
            corners = array(primitive["attributes"]["POSITION"])
            found.append((node["extras"]["block"], corners @ matrix[:3, :3].T + matrix[:3, 3]))
        for child in node.get("children", []):
            visit(child, matrix)

    visit(document["scenes"][0]["nodes"][0], np.eye(4))
    return [corners for _, corners in sorted(found, key=lambda pair: pair[0])]


def farthest(one, other):
    """[m] from a point of one set to the nearest of the other."""
    return np.linalg.norm(one[:, None] - other[None], axis=2).min(axis=1).max()


@pytest.mark.parametrize("tolerance", [0.0, 1e-3, 0.05])
def test_a_viewer_has_every_corner_within_the_tolerance(run, tmp_path, tolerance):
    keys = write_glb(run, tmp_path / "fall.glb", range(FRAMES), tolerance=tolerance)
    document, array = read_glb(tmp_path / "fall.glb")
    off = 0.0
    for frame in range(FRAMES):
        exact = corner_places(frame)[:, [0, 2, 1]] * [1, 1, -1]  # z up becomes y up
        for block, corners in enumerate(places(document, array, STEP * frame)):
            off = max(off, farthest(corners, exact[8 * block : 8 * block + 8]))
    assert off <= tolerance + 5e-6  # single precision
    assert off >= 0.1 * tolerance, "keys were left out as far as allowed"
    # two blocks move: a fall in one channel of places, a turn in one of rotations
    assert keys.recorded == 2 * 4 * FRAMES
    assert len(document["animations"][0]["channels"]) == 2
    # a parabola of 1.99 s is within e of a line over 2 sqrt(2 e / g), e being half of the tolerance
    spans = 2 * FRAMES if tolerance == 0 else 1.99 / (2 * np.sqrt(tolerance / 9.81)) + FRAMES * TURN / np.pi
    assert keys.kept <= 2 * spans + 4


def test_one_mesh_a_shape_and_tone(run, tmp_path):
    write_glb(run, tmp_path / "fall.glb", range(FRAMES))
    document, _ = read_glb(tmp_path / "fall.glb")
    shapes = {mesh["primitives"][0]["attributes"]["POSITION"] for mesh in document["meshes"]}
    assert len(shapes) == 1
    nodes = document["nodes"]
    assert [node["name"] for node in nodes] == [*(f"stone {i}" for i in range(4)), "out", "pier"]
    assert [node["extras"]["fixed"] for node in nodes[:4]] == [True, False, False, False]
    assert nodes[5]["children"] == [0, 1, 2, 3]
    grey = document["materials"][document["meshes"][nodes[0]["mesh"]]["primitives"][0]["material"]]
    red, _, blue, _ = grey["pbrMetallicRoughness"]["baseColorFactor"]
    assert abs(red - blue) < 0.05, "supports are grey"


def test_another_loader_finds_the_solids(run, tmp_path):
    """trimesh reads the scene as it is at the start: four closed cubes of 1 m3, y up."""
    trimesh = pytest.importorskip("trimesh")
    write_glb(run, tmp_path / "fall.glb", range(FRAMES))
    scene = trimesh.load(tmp_path / "fall.glb")
    solids = scene.dump()
    assert len(solids) == 4
    for solid in solids:
        solid.merge_vertices(merge_norm=True)
        assert solid.is_watertight
        assert solid.volume == pytest.approx(1.0, rel=1e-6)
    np.testing.assert_allclose(scene.bounds, [[-0.5, 0, -0.5], [6.5, 5.5, 0.5]], atol=1e-6)


def test_the_validator_of_khronos_has_nothing_to_say(run, tmp_path):
    """Needs Node and its package gltf-validator, in a folder where node looks (NODE_PATH)."""
    script = "require('gltf-validator').validateBytes(new Uint8Array(require('fs').readFileSync(process.argv[1])))"
    node = shutil.which("node")
    if node is None or subprocess.run([node, "-e", "require('gltf-validator')"], capture_output=True).returncode:
        pytest.skip("no gltf-validator")
    write_glb(run, tmp_path / "fall.glb", range(FRAMES))
    script += ".then(report => console.log(JSON.stringify(report.issues)))"
    answer = subprocess.run([node, "-e", script, str(tmp_path / "fall.glb")], capture_output=True, text=True, check=True)
    issues = json.loads(answer.stdout)
    assert (issues["numErrors"], issues["numWarnings"]) == (0, 0), issues


def test_blocks_that_are_not_there_yet(tmp_path):
    """A column built block by block: at stage k the viewer shows k blocks and the foundation."""
    text = '[structure]\ngenerator = "column"\ncourses = 3\n[joints]\nfriction = 0.6\n[analysis]\nkind = "construction"\n'
    text += '[solver]\nyoung = "60 GPa"\n'
    for _ in record_statics(parse_case(text), tmp_path / "out"):
        pass
    run = read_run(tmp_path / "out")
    write_glb(run, tmp_path / "built.glb", range(run.frames))
    document, array = read_glb(tmp_path / "built.glb")
    animation = document["animations"][0]
    shown = np.ones((run.frames, len(run.model.blocks)))
    for channel in animation["channels"]:
        sampler = animation["samplers"][channel["sampler"]]
        assert (channel["target"]["path"], sampler["interpolation"]) == ("scale", "STEP")
        shown[:, channel["target"]["node"]] = array(sampler["output"])[:-1, 0]
        assert array(sampler["input"]).tolist() == [0, 1, 2, 3, 4], "the last stage is seen for a second too"
    assert shown.sum(axis=1).tolist() == [4, 2, 3, 4]
    assert [len(shape(run, frame)) for frame in range(4)] == [4, 2, 3, 4]


# ---- tables


def columns(path):
    """As a spreadsheet has them."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_histories(run, tmp_path):
    blocks = [0, 2, 3]
    csv_tables.write_table(tmp_path / "h.csv", csv_tables.history_rows(run, blocks, frames_every(run, 0.5)))
    rows = columns(tmp_path / "h.csv")
    assert len(rows) == 5 * 3
    fall = [(float(row["time [s]"]), float(row["displacement z [m]"])) for row in rows if row["name"] == "stone 2"]
    np.testing.assert_allclose([z for _, z in fall], [-9.81 / 2 * time**2 for time, _ in fall], rtol=1e-12, atol=1e-12)
    turn = [float(row["rotation z [rad]"]) for row in rows if row["block"] == "3"]
    np.testing.assert_allclose(turn, [TURN * frame for frame in (0, 50, 100, 150, 199)], atol=1e-9)


def test_numpy_reads_the_energies(run, tmp_path):
    csv_tables.write_table(tmp_path / "e.csv", csv_tables.energy_rows(run))
    read = np.genfromtxt(tmp_path / "e.csv", delimiter=",", names=True)
    assert len(read) == FRAMES
    assert read["kinetic_J"].tolist() == list(range(FRAMES))
    np.testing.assert_allclose(read["total_J"], 100.0)
    np.testing.assert_allclose(read["time_s"], STEP * np.arange(FRAMES), atol=1e-12)


def test_joints(run, tmp_path):
    csv_tables.write_table(tmp_path / "j.csv", csv_tables.joint_rows(run, 150))
    rows = columns(tmp_path / "j.csv")
    assert [(row["name a"], row["b"]) for row in rows] == [("stone 0", "1"), ("stone 0", "2")]
    assert [float(row["force z [N]"]) for row in rows] == pytest.approx([FORCE, FORCE])
    assert [float(row["pressure [Pa]"]) for row in rows] == pytest.approx([FORCE, FORCE])


# ---- the command


def test_a_shape_goes_back_to_cad(run, tmp_path, command):
    code, out, _ = command("export", run.folder, "-o", tmp_path / "fallen.obj", "--time", 0.5, "--json")
    assert code == 0
    assert json.loads(out)["frame"] == 50
    blocks = read_structure(tmp_path / "fallen.obj")
    assert [block.name for block in blocks] == [f"stone {i}" for i in range(4)]
    exact = corner_places(50)
    for i, block in enumerate(blocks):
        assert farthest(block.vertices, exact[8 * i : 8 * i + 8]) < 1e-12


def test_all_tables_in_a_folder(run, tmp_path, command):
    code, out, _ = command("export", run.folder, "-o", tmp_path / "new" / "tables", "--every", 1, "--blocks", "pier", "--json")
    assert code == 0
    assert len(json.loads(out)["written"]) == 3
    assert len(columns(tmp_path / "new" / "tables" / "histories.csv")) == 3 * 4
    assert len(columns(tmp_path / "new" / "tables" / "joints.csv")) == 2


def test_the_command_says_what_it_writes(run, tmp_path, command):
    code, out, err = command("export", run.folder, "-o", tmp_path / "x.vtkhdf", "--every", 1)
    assert (code, out.split()) == (0, [str(tmp_path / "x.vtkhdf"), str(tmp_path / "x.joints.vtkhdf")])
    assert "3 of 200 frames" in err
    code, out, err = command("export", run.folder, "-o", tmp_path / "x.glb", "--tolerance", 0.01)
    assert code == 0
    assert "within 0.01 m" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["x.mp4"], ".vtkhdf, .glb, .csv"),
        (["x.glb", "--blocks", "1"], "--blocks does not apply to .glb"),
        (["x.csv", "--table", "forces"], "histories, energies, joints"),
        (["x.glb", "--tolerance", "-1"], "not negative"),
        (["x.stl", "--time", "9"], "from 0 to 1.99"),
        (["x.vtkhdf", "--every", "-1"], "above zero"),
        (["missing/x.glb"], "cannot be written"),
        (["missing/x.vtkhdf"], "cannot be written"),
    ],
)
def test_mistakes(run, tmp_path, command, arguments, words):
    code, _, err = command("export", run.folder, "-o", tmp_path / arguments[0], *arguments[1:])
    assert code == 2
    assert words in err
    assert list(tmp_path.iterdir()) == []


EXPORT_TWICE = """
import sys
from drystone.cli import main
for name in ("x.glb", "x.csv"):
    try:
        main(["export", sys.argv[1], "-o", name])
    except SystemExit as end:
        print(end.code)
"""


def test_a_full_disk_leaves_nothing(run, tmp_path):
    """The system refuses files above 2 kB, as it does when a disk is full."""
    full = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))  # noqa: E731
    command = [sys.executable, "-c", EXPORT_TWICE, str(run.folder)]
    answer = subprocess.run(command, cwd=tmp_path, preexec_fn=full, capture_output=True, text=True)
    assert answer.stdout.split() == ["2", "2"], answer.stderr
    assert answer.stderr.count("cannot be written") == 2
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_leaves_nothing(run, tmp_path, command, monkeypatch):
    """HDF5 crashes where a write fails, so room is asked for before each frame: here there is enough for three."""
    left = iter([10**9] * 3 + [10**6])
    monkeypatch.setattr("drystone.show.export.vtkhdf.disk_usage", lambda folder: SimpleNamespace(free=next(left)))
    code, _, err = command("export", run.folder, "-o", tmp_path / "x.vtkhdf")
    assert code == 2
    assert "1 MB are left" in err
    assert list(tmp_path.iterdir()) == []

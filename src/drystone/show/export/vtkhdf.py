"""Export for ParaView: a `Run` comes in, two files of the format VTKHDF go out, written with h5py only.

`run.vtkhdf` has the blocks: polygons once, their points at every time, and for each face the number and the quantities of its
block. `run.joints.vtkhdf` has a point with its force for each joint, for the filter Glyph; the number of joints changes with
time. The files are written frame by frame, so that only the poses of a long run are in memory. Lengths are in m, z is up, and
positions are relative to the ground.
"""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from errno import ENOSPC
from pathlib import Path
from shutil import disk_usage
from typing import Any

import h5py
import numpy as np

from drystone import __version__
from drystone.analysis.construction import present_blocks
from drystone.base.files.atomic_write import replace_atomically
from drystone.results import quantities
from drystone.results.store.run_reader import Run
from drystone.show.export.frames import SINGLE_PRECISION_LIMIT, vertices_at
from drystone.structure.body_surfaces import block_of_faces

Array = np.ndarray

FORMAT_VERSION = (2, 2)  # of the format; readers check the first number
CELL_KINDS = ("Vertices", "Lines", "Polygons", "Strips")  # the kinds of cells, in the order of columns of offsets
CHUNK_ROWS = 2**14  # rows that are compressed together
MIN_FREE_BYTES = (
    2**26
)  # [bytes] free on the disk besides the size of a frame: for joints, and for what HDF5 has not written yet


def write_vtkhdf(run: Run, path: Path, frames: Iterable[int]) -> list[Path]:
    """Write the blocks to `path` and the joints beside it, and return both paths; `frames` ascend."""
    paths = [path, path.with_suffix(".joints.vtkhdf")]
    with ExitStack() as stack:
        files = [stack.enter_context(h5py.File(stack.enter_context(replace_atomically(one)), "w")) for one in paths]
        blocks, joints = (_create_group(file, run) for file in files)
        _lay_out_blocks(blocks, run)
        for frame in frames:
            _check_free_space(path, uncompressed_size(run, [frame]))
            _add_blocks(blocks, run, frame)
            _add_joints(joints, run, frame)
        for file in files:
            file.flush()  # a full disk is noticed before either file gets its name
    return paths


def uncompressed_size(run: Run, frames: Sequence[int]) -> int:
    """[byte] of the file of the blocks, before it is compressed."""
    bodies = run.model.bodies
    points = len(bodies.vertex) * (_precision(run).itemsize + 4) * 3
    return len(frames) * (points + 4 * (len(bodies.face_start) - 1) * (1 + len(quantities.list_quantities(run))))


def _check_free_space(path: Path, size: int) -> None:
    """Check the free space before a write, because a write that fails crashes inside HDF5."""
    free = disk_usage(path.parent).free
    if free < size + MIN_FREE_BYTES:
        raise OSError(ENOSPC, f"{free / 1e6:.0f} MB are left on the disk")


def _create_group(file: Any, run: Run) -> Any:
    """The group of a data set without points and steps, but with the data of the whole run."""
    group = file.create_group("VTKHDF")
    group.attrs["Version"] = FORMAT_VERSION
    group.attrs.create("Type", b"PolyData", dtype="S8")
    about = {"drystone": [__version__], "case": [run.case], "names": [block.name for block in run.model.blocks]}
    about["groups"] = _groups(run)
    for name, words in about.items():  # readers expect ASCII and show the text as UTF-8
        group.create_dataset(f"FieldData/{name}", data=[word.encode() for word in words], dtype=h5py.string_dtype("ascii"))
    group.create_group("Steps").attrs["NSteps"] = 0
    return group


def _groups(run: Run) -> list[str]:
    return sorted({block.group for block in run.model.blocks})


def _lay_out_blocks(group: Any, run: Run) -> None:
    """Write what does not change with time: the polygons and their blocks."""
    bodies, groups = run.model.bodies, _groups(run)
    _append(group, "NumberOfPoints", [len(bodies.vertex)])
    _append_cells(group, {"Polygons": (bodies.face_start, bodies.face_vertex)})
    face_block = block_of_faces(run.model.bodies)
    kind = np.array([groups.index(block.group) for block in run.model.blocks])
    data = group.create_group("CellData")
    for name, values in (("block", np.arange(len(kind))), ("group", kind), ("fixed", bodies.fixed)):
        _append(data, name, values[face_block].astype(np.uint8 if name == "fixed" else np.int32))


def _add_blocks(group: Any, run: Run, frame: int) -> None:
    """Add a step: the positions of the points, their displacements and the quantities."""
    first, now = vertices_at(run, 0), vertices_at(run, frame)
    face_block = block_of_faces(run.model.bodies)
    cell = {array_name(name): quantities.find_quantity(name).of(run, frame) for name in quantities.list_quantities(run)}
    shown = present_blocks(run, frame)
    cell["there"] = np.ones(len(run.model.blocks)) if shown is None else shown
    starts = {"PointOffsets": _append(group, "Points", now.astype(_precision(run)))}
    starts["PointDataOffsets/motion"] = _append(group, "PointData/motion", (now - first).astype(np.float32))
    for name, values in cell.items():
        starts[f"CellDataOffsets/{name}"] = _append(group, f"CellData/{name}", values[face_block].astype(np.float32))
    unchanged = {f"CellDataOffsets/{name}": 0 for name in ("block", "group", "fixed")}
    _step(
        group,
        run.time[frame],
        starts | unchanged | {"PartOffsets": 0, "CellOffsets": [0] * 4, "ConnectivityIdOffsets": [0] * 4},
    )


def _add_joints(group: Any, run: Run, frame: int) -> None:
    """Add a step: for each joint a point, which is also a cell, and its force."""
    resultants = quantities.frame_resultants(run, frame)
    count = len(resultants.a)
    data = {
        "force": resultants.force,
        "thrust": resultants.thrust,
        "pressure": quantities.joint_pressures(resultants),
        "friction_used": resultants.friction_used,
        "area": resultants.area,
        "normal": resultants.normal,
    }
    part = int(group["Steps"].attrs["NSteps"])
    start = _append(group, "Points", resultants.centre.astype(_precision(run)))
    _append(group, "NumberOfPoints", [count])
    _append_cells(group, {"Vertices": (np.arange(count + 1), np.arange(count))})
    starts: dict[str, Any] = {"PointOffsets": start, "PartOffsets": part}
    starts |= {name: [start, 0, 0, 0] for name in ("CellOffsets", "ConnectivityIdOffsets")}
    for name, values in (data | {"a": resultants.a, "b": resultants.b}).items():
        kind = np.int32 if values.dtype.kind == "i" else np.float32
        starts[f"PointDataOffsets/{name}"] = _append(group, f"PointData/{name}", values.astype(kind))
    _step(group, run.time[frame], starts)


def array_name(name: str) -> str:
    """The name of a quantity in a form that ParaView's calculator accepts."""
    return name.replace(" ", "_").replace("-", "_")


def _step(group: Any, time: float, starts: dict[str, Any]) -> None:
    """Add the entries of one step, at a time [s] or a stage, which reads each array from its row in `starts`."""
    steps = group["Steps"]
    starts |= {"NumberOfParts": 1}
    for name, words in group["FieldData"].items():
        starts |= {f"FieldDataOffsets/{name}": 0, f"FieldDataSizes/{name}": [1, len(words)]}
    _append(steps, "Values", np.array([time], float))
    for name, start in starts.items():
        _append(steps, name, np.array([start], np.int64))
    steps.attrs["NSteps"] = len(steps["Values"])


def _append_cells(group: Any, cells: dict[str, tuple[Array, Array]]) -> None:
    """Append the offsets and the point numbers of cells of one kind, and empty lists of the other kinds."""
    none = np.zeros(1, int), np.zeros(0, int)
    for kind in CELL_KINDS:
        offsets, points = cells.get(kind, none)
        _append(group, f"{kind}/NumberOfCells", [len(offsets) - 1])
        _append(group, f"{kind}/NumberOfConnectivityIds", [len(points)])
        _append(group, f"{kind}/Offsets", offsets)
        _append(group, f"{kind}/Connectivity", points)


def _append(group: Any, name: str, rows: Any) -> int:
    """Add rows to a dataset, which is created when it is first used; return the number of the first new row."""
    rows = np.asarray(rows)
    if name not in group:
        group.create_dataset(
            name,
            (0, *rows.shape[1:]),
            rows.dtype,
            maxshape=(None, *rows.shape[1:]),
            chunks=(min(max(len(rows), 64), CHUNK_ROWS), *rows.shape[1:]),
            compression=1,
            shuffle=True,
        )
    dataset = group[name]
    start = len(dataset)
    dataset.resize(start + len(rows), axis=0)
    dataset[start:] = rows
    return start


def _precision(run: Run) -> np.dtype:
    """The precision of points: double where single precision would be visible."""
    return np.dtype(np.float32 if np.abs(run.model.position).max() < SINGLE_PRECISION_LIMIT else np.float64)

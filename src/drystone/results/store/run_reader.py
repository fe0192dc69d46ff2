"""A run on disk: its folder comes in, a `Run` goes out. run_writer.py writes it.

A run is a folder with `case.toml`, the case as its user wrote it, `failed/` with contact problems that were not solved, and
`run.h5`:

    model/*             blocks and flat arrays, so that reading needs no other file
    hung                rows of the blocks that rest on nothing and that friction may hold or not (contact/pairs.py)
    motions/*           samples of the motions that have such, by the number of the motion
    steps               a row of small numbers a step: row i is step i + 1
    frames/*            head, position, rotation, velocity every so many steps, and of the first and the last step; of
                        deformable blocks the amplitudes of their modes and the rates of these; of runs by small steps
                        how long blocks have rested
    contacts            the contacts of all frames, one frame after the other; head["contacts"] is where a frame ends
    patches             what patches of contact remember, of runs by small steps; head["patches"] is where a frame ends
    cells               what the cells of joints remember, likewise
    paths               names of the solver paths that steps["path"] counts in
    committed           how many frames can be trusted
    attribute stamp     where it comes from (stamp.py), as JSON

Every frame is a checkpoint. Frames and `committed` reach the disk together (results/store/journal.py), so a run cut anywhere,
by kill -9 or a full disk too, holds `committed` whole frames. A `run.h5.journal` beside it belongs to it until the run is gone
on with.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import h5py
import numpy as np

from drystone.base.errors import InputError, truncated_repr
from drystone.base.files.hdf5_check import reject_external_links
from drystone.base.files.reading import read_own_json, read_utf8
from drystone.contact.contacts import Contacts, no_contacts
from drystone.contact.patch_memory import CellMemory, PatchMemory, cell_numbers, no_cells, no_memory
from drystone.engine.solvers.solution import Residual
from drystone.engine.state import Energy, State
from drystone.ground.accelerogram import Accelerogram
from drystone.io.analysis_tables import ANALYSIS_TABLES, DynamicsTable
from drystone.io.case import Case, parse_case
from drystone.results.store.journal import JournaledFile, journal_path
from drystone.results.store.stored_model import read_model
from drystone.results.store.stored_motions import read_stored_accelerograms
from drystone.structure.model import Model

Array = np.ndarray
LOSSES = ("friction", "fracture", "impact", "damping", "geometry", "numerical")  # of `Energy`
Result = TypeVar("Result")

FILE = "run.h5"
RESULT = "result.json"  # of an analysis of statics, written when it is done: what it found
FORMAT = 6  # of run.h5; raised when an older reader would misunderstand

FIELDS = ("position", "rotation", "velocity", "amplitude", "rate", "rest")  # of a state
_ENERGIES = [(name, "f8") for name in Energy._fields]
STEP = np.dtype(
    [
        ("step", "i8"),
        ("time", "f8"),  # [s]
        *_ENERGIES,  # [J]
        ("contacts", "i8"),
        *(("residual_" + name, "f8") for name in Residual._fields),
        ("overlap", "f8"),  # [m] deepest penetration of two blocks
        ("converged", "?"),
        ("factorisations", "i8"),
        ("path", "i8"),
        ("seconds", "f8", 3),  # [s] contact detection, solver, rest
        ("ground_displacement", "f8", 3),  # [m]
    ]
)
FRAME = np.dtype(
    [
        ("step", "i8"),
        ("time", "f8"),
        ("next_id", "i8"),
        ("hardship", "i8"),
        *_ENERGIES,
        ("ground_displacement", "f8", 3),  # [m]
        ("contacts", "i8"),
        ("patches", "i8"),
        ("cells", "i8"),
        ("step_ratio", "f8"),
        ("ratio_patches", "i8"),
    ]
)
PATCH = np.dtype([(n, a.dtype, a.shape[1:]) for n, a in zip(PatchMemory._fields, no_memory(), strict=True)])
CONTACT = np.dtype([(n, a.dtype, a.shape[1:]) for n, a in zip(Contacts._fields, no_contacts(), strict=True)])
LISTS = ("contacts", "patches", "cells")  # of which a frame has as many as it has


def rows_of_lists(numbers: int) -> dict[str, np.dtype]:
    """What a row of each list holds in a run whose cells remember so many numbers."""
    record = no_cells(numbers)
    cell = np.dtype([(n, a.dtype, a.shape[1:]) for n, a in zip(CellMemory._fields, record, strict=True)])
    return dict(zip(LISTS, (CONTACT, PATCH, cell), strict=True))


def read_run(folder: str | Path) -> "Run":
    """Open a run for reading, finished or still being written; only whole frames are seen."""
    folder = Path(folder)
    return _settled(folder, lambda: _read_run(folder))


def _settled(folder: Path, read: Callable[[], Result]) -> Result:
    """What `read` finds in a run that somebody may just be writing: it reads again if the file has changed meanwhile."""
    path = folder / FILE
    while True:
        before = path.stat().st_mtime_ns if path.is_file() else 0
        try:
            return read()
        except InputError:
            if before == (path.stat().st_mtime_ns if path.is_file() else 0):
                raise


def _read_run(folder: Path) -> "Run":
    with _reading(folder) as file:
        reject_external_links(file, folder / FILE)
        if (found := file.attrs.get("format")) != FORMAT:
            raise InputError(f"{folder}: run format {str(found)[:40]}, this drystone reads {FORMAT}; run the case again")
        return Run(folder, _whole_frames(file, folder), int(file.attrs["planned_steps"]))


def _whole_frames(file: Any, folder: Path) -> int:
    """How many frames are whole: all that belongs to them must be there."""
    frames, head = int(file["committed"][()]), file["frames/head"]
    if not 1 <= frames <= len(head) or head.dtype != FRAME:
        raise _damaged(folder, f"it lacks heads of its {frames} frames")
    heads = head[:frames]
    backwards = any(np.any(np.diff(heads[name], prepend=0) < 0) for name in LISTS)
    if backwards or np.any(np.diff(heads["step"]) <= 0):
        raise _damaged(folder, "its frames are not one after the other")
    rows = dict.fromkeys((f"frames/{name}" for name in file["frames"]), frames)
    rows |= {"steps": int(heads["step"][-1] - heads["step"][0])}
    rows |= {name: int(heads[name][-1]) for name in LISTS}
    for name, expected in rows.items():
        if len(file[name]) < expected:
            raise _damaged(folder, f"{name} has {len(file[name])} rows of {expected}")
    for name, width in (("position", 3), ("rotation", 4), ("velocity", 6)):
        if file["frames"][name].shape[2:] != (width,):
            raise _damaged(folder, f"frames/{name} has not {width} numbers a block")
    if "rest" in file["frames"] and file["frames/rest"].shape[1:] != file["frames/position"].shape[1:2]:
        raise _damaged(folder, "frames/rest has not one number a block")
    return frames


@dataclass(frozen=True, eq=False)  # what is kept of a run is of this one: another may be written over it in its folder
class Run:
    """A recorded run: F frames of B blocks, read from disk when first asked for. Negative frames count from the end."""

    folder: Path
    frames: int
    planned_steps: int  # 0 if the run has no planned end

    @property
    def case(self) -> str:
        """The text of the case file."""
        return read_utf8(self.folder / "case.toml")

    @property
    def version(self) -> str:
        """Of the drystone that began it; empty if it does not tell."""
        with _reading(self.folder) as file:
            return str(file.attrs.get("drystone", ""))

    @property
    def stamp(self) -> dict[str, Any]:
        """Where it comes from, as stamp.py has it; empty if an older drystone began it."""
        with _reading(self.folder) as file:
            return json.loads(file.attrs.get("stamp", "{}"))

    @property
    def finished(self) -> bool:
        """It reached its planned end; otherwise it was cut, or is still being computed."""
        return bool(0 < self.planned_steps <= self._head["step"][-1] - self._head["step"][0])

    @property
    def failed(self) -> list[Path]:
        """The first contact problems that were not solved, one file a step."""
        return failed_problems(self.folder)

    @cached_property
    def model(self) -> Model:
        with _reading(self.folder) as file:
            return read_model(file["model"])

    @property
    def hung(self) -> list[str]:
        """Names of the blocks that rest on nothing: whether friction holds them depends on play that no drawing shows."""
        with _reading(self.folder) as file:
            rows = file["hung"][:].tolist() if "hung" in file else []
        return [self.model.blocks[row].name for row in rows]

    @property
    def records(self) -> dict[int, Accelerogram]:
        """The samples of the motions that have such, by the number of the motion."""
        with _reading(self.folder) as file:
            return read_stored_accelerograms(file.get("motions", {}))

    @property
    def time(self) -> Array:
        """(F,) [s]"""
        return self._head["time"]

    @property
    def frame_steps(self) -> Array:
        """(F,) the step that ended in each frame."""
        return self._head["step"]

    @cached_property
    def position(self) -> Array:
        """(F, B, 3) [m] centroids, seen from the moving ground."""
        return self._read("frames/position", 0, self.frames)

    @cached_property
    def rotation(self) -> Array:
        """(F, B, 4) unit quaternions, scalar first, body to world."""
        return self._read("frames/rotation", 0, self.frames)

    @cached_property
    def velocity(self) -> Array:
        """(F, B, 6) [m/s, rad/s] world axes, seen from the moving ground."""
        return self._read("frames/velocity", 0, self.frames)

    def pose(self, frame: int) -> tuple[Array, Array]:
        """(B, 3) positions and (B, 4) rotations of one frame."""
        start = self._index(frame)
        position, rotation = self.poses(start, start + 1)
        return position[0], rotation[0]

    def poses(self, start: int, end: int) -> tuple[Array, Array]:
        """Positions and rotations of these frames only: of a long run, or one that grows, all would be too much."""
        return self._read("frames/position", start, end), self._read("frames/rotation", start, end)

    @property
    def ground(self) -> Array:
        """(F, 3) [m] displacement of the ground."""
        return self._head["ground_displacement"]

    @property
    def absolute_position(self) -> Array:
        """(F, B, 3) [m] centroids, seen from where the ground was at the start."""
        return self.position + self.ground[:, None, :]

    @cached_property
    def energy(self) -> dict[str, Array]:
        """(F,) [J] by name: the parts of `Energy`, "total" (mechanical) and "dissipated"."""
        return with_totals({name: np.ascontiguousarray(self._head[name]) for name in Energy._fields})

    @cached_property
    def steps(self) -> dict[str, Array]:
        """The rows of all committed steps, by the names of `STEP`; `path` in words."""
        rows = self._read("steps", 0, int(self._head["step"][-1] - self._head["step"][0]))
        paths = np.array([name.decode() for name in self._read("paths", 0, None)], dtype=str)
        columns = {name: np.ascontiguousarray(rows[name]) for name in STEP.names or ()}
        columns["path"] = paths[columns["path"]] if len(paths) else np.empty(0, str)
        return columns

    def contacts(self, frame: int) -> Contacts:
        """The contacts of the step that ended in this frame, with points, normals, gaps and impulses."""
        frame = self._index(frame)
        start = int(self._head["contacts"][frame - 1]) if frame else 0
        rows = self._read("contacts", start, int(self._head["contacts"][frame]))
        if not all(np.all((rows[side] >= 0) & (rows[side] < len(self.model.blocks))) for side in "ab"):
            raise _damaged(self.folder, "it has contacts of blocks that are not there")
        # contiguous copies: a strided view is another type to Numba and would compile every kernel twice
        return Contacts(*(np.ascontiguousarray(rows[name]) for name in Contacts._fields))

    def patches(self, frame: int) -> PatchMemory:
        """What patches of contact remember at this frame; none but of runs by small steps."""
        frame = self._index(frame)
        start = int(self._head["patches"][frame - 1]) if frame else 0
        rows = self._read("patches", start, int(self._head["patches"][frame]))
        bodies = self.model.bodies
        if not (_within(rows["piece"], len(bodies.owner)) and _within(rows["face"], len(bodies.face_normal))):
            raise _damaged(self.folder, "it has patches of blocks that are not there")
        return PatchMemory(*(np.ascontiguousarray(rows[name]) for name in PatchMemory._fields))

    def cells(self, frame: int) -> CellMemory:
        """What the cells of joints remember at this frame; none but of runs by small steps with mortar."""
        frame = self._index(frame)
        start = int(self._head["cells"][frame - 1]) if frame else 0
        rows = self._read("cells", start, int(self._head["cells"][frame]))
        bodies, numbers = self.model.bodies, cell_numbers(self.model.own)
        if rows.dtype != rows_of_lists(numbers)["cells"]:
            raise _damaged(self.folder, f"cells have not {numbers} numbers each")
        if not (_within(rows["piece"], len(bodies.owner)) and _within(rows["face"], len(bodies.face_normal))):
            raise _damaged(self.folder, "it has cells of blocks that are not there")
        return CellMemory(*(np.ascontiguousarray(rows[name]) for name in CellMemory._fields))

    def state(self, frame: int) -> State:
        """The state from which the run goes on as if it had never stopped."""
        frame = self._index(frame)
        head = self._head[frame]
        fields = [*(FIELDS[:5] if self.model.elastic else FIELDS[:3]), *(["rest"] if self._tells_rest else [])]
        energy = Energy(*(float(head[name]) for name in Energy._fields))
        return State(
            step=int(head["step"]),
            time=float(head["time"]),
            contacts=self.contacts(frame),
            next_id=int(head["next_id"]),
            hardship=int(head["hardship"]),
            energy=energy,
            patches=self.patches(frame),
            cells=self.cells(frame),
            step_ratio=float(head["step_ratio"]),
            ratio_patches=int(head["ratio_patches"]),
            **{name: self._read(f"frames/{name}", frame, frame + 1)[0] for name in fields},
        )

    @cached_property
    def _tells_rest(self) -> bool:
        """Runs by cone programs, and those of earlier versions, do not tell how long blocks have rested."""
        with _reading(self.folder) as file:
            return "rest" in file["frames"]

    @cached_property
    def _head(self) -> Array:
        return self._read("frames/head", 0, self.frames)

    def _index(self, frame: int) -> int:
        if not -self.frames <= frame < self.frames:
            raise InputError(f"frame {frame}: {self.folder} has frames 0 to {self.frames - 1}")
        return frame % self.frames

    def _read(self, name: str, start: int, end: int | None) -> Array:
        found = _settled(self.folder, lambda: self._rows(name, start, end))
        if found.dtype.kind == "f" and not np.isfinite(found).all():
            raise _damaged(self.folder, f"{name} has values that are not finite")
        return found

    def _rows(self, name: str, start: int, end: int | None) -> Array:
        # opened anew each time: no handle to close, and a run still growing shows its newest metadata
        with _reading(self.folder) as file:
            return file[name][start:end]


def _within(rows: Array, count: int) -> bool:
    return bool(np.all((rows >= 0) & (rows < count)))


def recorded_case(run: Run) -> Case:
    """The case a run was computed from, with the records it was computed with: their files may have moved or changed since."""
    return parse_case(run.case, run.folder / "case.toml", records=run.records)


def read_result(folder: str | Path) -> dict[str, Any] | None:
    """The facts of an analysis of statics; None if the run is no such or was cut."""
    path = Path(folder) / RESULT
    if not path.exists():
        return None
    facts = read_own_json(path)
    kinds = [kind for kind, table in ANALYSIS_TABLES.items() if not issubclass(table, DynamicsTable)]
    if not isinstance(facts, dict) or facts.get("analysis") not in kinds:
        raise InputError(f"{path}: is no result of an analysis; run the case again")
    return facts


def failed_problems(folder: Path) -> list[Path]:
    """The dumps of a run, by step."""
    return sorted((folder / "failed").glob("step-*.npz"))


def with_totals(parts: dict[str, Array]) -> dict[str, Array]:
    """The parts of the ledger [J], with the mechanical energy as "total" and all losses, less what contact made, as
    "dissipated"."""
    return {
        **parts,
        "total": parts["kinetic"] + parts["potential"] + parts["elastic"] + parts["strain"],
        "dissipated": sum(parts[name] for name in LOSSES) - parts["made"],
    }


@contextmanager
def _reading(folder: Path) -> Iterator[Any]:
    """run.h5, opened; what is missing or damaged in it is told as such."""
    with _open(folder) as file:
        try:
            yield file
        except InputError:
            raise
        except (OSError, LookupError, ValueError, TypeError, RuntimeError, AttributeError, OverflowError) as error:
            raise _damaged(folder, " ".join(map(str, error.args))[:200]) from None


def _damaged(folder: Path, said: str) -> InputError:
    return InputError(f"{folder / FILE} is damaged ({said}); run the case again")


def _open(folder: Path) -> Any:
    """run.h5 for reading. No lock is asked for: somebody may be writing it."""
    path = folder / FILE
    if not os.path.isfile(path):
        raise InputError(
            f"{truncated_repr(str(folder))} holds no run (no {FILE} in it); give the folder that `drystone run -o` wrote"
        )
    try:
        if journal_path(path).exists():
            return h5py.File(JournaledFile(path, "r"), "r")
        return h5py.File(path, "r", locking=False)
    except OSError as error:
        raise InputError(f"{path} cannot be opened ({error}); it was damaged or is no run, run the case again") from error

"""A run on disk: `RunWriter` writes it as it goes, `read_run` reads it, `RunWriter.resume` goes on bit for bit.

A run is a folder with `case.toml`, the case as its user wrote it, `failed/` with contact problems that were not solved, and
`run.h5`:

    model/*             blocks and flat arrays, so that reading needs no other file
    motions/*           samples of the motions that have such, by the number of the motion
    steps               a row of small numbers a step: row i is step i + 1
    frames/*            head, position, rotation, velocity every so many steps, and of the first and the last step; of
                        deformable blocks the amplitudes of their modes and the rates of these
    contacts            the contacts of all frames, one frame after the other; head["contacts"] is where a frame ends
    paths               names of the solver paths that steps["path"] counts in
    committed           how many frames can be trusted
    attribute stamp     where it comes from (stamp.py), as JSON

Every frame is a checkpoint. Frames and `committed` reach the disk together (io/journal.py), so a run cut anywhere, by kill -9
or a full disk too, holds `committed` whole frames. A `run.h5.journal` beside it belongs to it until the run is gone on with.
"""

import json
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from drystone import __version__
from drystone.contact.contacts import Contacts, no_contacts
from drystone.errors import InputError, shown
from drystone.ground.accelerogram import Accelerogram
from drystone.io.alone import alone_in
from drystone.io.closed import check_closed
from drystone.io.given import read_text
from drystone.io.journal import JournaledFile, journal_of
from drystone.io.stored_model import read_model, write_model
from drystone.io.stored_motions import read_records, write_records
from drystone.io.whole import write_whole, writing
from drystone.model import Model
from drystone.motion import Motion
from drystone.solvers.solution import Residual
from drystone.stamp import stamp
from drystone.stepping import Energy, State
from drystone.undisturbed import undisturbed

if TYPE_CHECKING:  # reading a run must not load the simulator
    from drystone.simulate import Step

Array = np.ndarray

FILE = "run.h5"
RESULT = "result.json"  # of an analysis of statics, written when it is done: what it found
FORMAT = 3  # of run.h5; raised when an older reader would misunderstand
PATIENCE = 1.0  # [s] a frame may wait in memory: a commit a frame would cost small models more than their step
AT_REST = (0.0, 0.0, 0.0)
CHUNK_CACHE = 32 * 2**20  # [bytes] a dataset; holds the open chunks of 20,000 blocks, which would else be read back

FIELDS = ("position", "rotation", "velocity", "amplitude", "rate")  # of a state; the last two of deformable blocks only
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
    ]
)
CONTACT = np.dtype([(n, a.dtype, a.shape[1:]) for n, a in zip(Contacts._fields, no_contacts(), strict=True)])


def read_run(folder: str | Path) -> "Run":
    """Open a run for reading, finished or still being written; only whole frames are seen."""
    folder = Path(folder)
    while True:
        before = _changed(folder / FILE)
        try:
            return _read_run(folder)
        except InputError:
            if _changed(folder / FILE) == before:
                raise  # nobody is just writing it


def _changed(path: Path) -> int:
    """[ns] when a file was last written; 0 if it is not there."""
    return path.stat().st_mtime_ns if os.path.isfile(path) else 0


def _read_run(folder: Path) -> "Run":
    with _reading(folder) as file:
        check_closed(file, folder / FILE)
        if (found := file.attrs.get("format")) != FORMAT:
            raise InputError(f"{folder}: run format {str(found)[:40]}, this drystone reads {FORMAT}; run the case again")
        return Run(folder, _whole_frames(file, folder), int(file.attrs["planned_steps"]))


def _whole_frames(file: Any, folder: Path) -> int:
    """How many frames are whole: all that belongs to them must be there."""
    frames, head = int(file["committed"][()]), file["frames/head"]
    if not 1 <= frames <= len(head) or head.dtype != FRAME:
        raise _damaged(folder, f"it lacks heads of its {frames} frames")
    heads = head[:frames]
    if np.any(np.diff(heads["contacts"], prepend=0) < 0) or np.any(np.diff(heads["step"]) <= 0):
        raise _damaged(folder, "its frames are not one after the other")
    rows = dict.fromkeys((f"frames/{name}" for name in file["frames"]), frames)
    rows |= {"steps": int(heads["step"][-1] - heads["step"][0]), "contacts": int(heads["contacts"][-1])}
    for name, expected in rows.items():
        if len(file[name]) < expected:
            raise _damaged(folder, f"{name} has {len(file[name])} rows of {expected}")
    for name, width in (("position", 3), ("rotation", 4), ("velocity", 6)):
        if file["frames"][name].shape[2:] != (width,):
            raise _damaged(folder, f"frames/{name} has not {width} numbers a block")
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
        return read_text(self.folder / "case.toml")

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
    def records(self) -> dict[int, Accelerogram]:
        """The samples of the motions that have such, by the number of the motion."""
        with _reading(self.folder) as file:
            return read_records(file.get("motions", {}))

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

    def state(self, frame: int) -> State:
        """The state from which the run goes on as if it had never stopped."""
        frame = self._index(frame)
        head = self._head[frame]
        fields = FIELDS if self.model.elastic else FIELDS[:3]
        energy = Energy(*(float(head[name]) for name in Energy._fields))
        return State(
            step=int(head["step"]),
            time=float(head["time"]),
            contacts=self.contacts(frame),
            next_id=int(head["next_id"]),
            hardship=int(head["hardship"]),
            energy=energy,
            **{name: self._read(f"frames/{name}", frame, frame + 1)[0] for name in fields},
        )

    @cached_property
    def _head(self) -> Array:
        return self._read("frames/head", 0, self.frames)

    def _index(self, frame: int) -> int:
        if not -self.frames <= frame < self.frames:
            raise InputError(f"frame {frame}: {self.folder} has frames 0 to {self.frames - 1}")
        return frame % self.frames

    def _read(self, name: str, start: int, end: int | None) -> Array:
        # opened anew each time: no handle to close, and a run still growing shows its newest metadata
        with _reading(self.folder) as file:
            found = file[name][start:end]
        if found.dtype.kind == "f" and not np.isfinite(found).all():
            raise _damaged(self.folder, f"{name} has values that are not finite")
        return found


def failed_problems(folder: Path) -> list[Path]:
    """The dumps of a run, by step."""
    return sorted((folder / "failed").glob("step-*.npz"))


def with_totals(parts: dict[str, Array]) -> dict[str, Array]:
    """The parts of the ledger [J], with the mechanical energy as "total" and all losses as "dissipated"."""
    return {
        **parts,
        "total": parts["kinetic"] + parts["potential"] + parts["elastic"] + parts["strain"],
        "dissipated": parts["friction"] + parts["fracture"] + parts["impact"] + parts["numerical"],
    }


class RunWriter:
    """Writes a run step by step. Use it in a `with`: leaving it, by error or Ctrl-C too, writes the last step."""

    def __init__(
        self, folder: Path, disk: JournaledFile, file: Any, last: State, ground: Sequence[float], tail: tuple[int, int, int]
    ):
        self.folder = folder
        self._disk, self._file = disk, file
        self._every = int(file.attrs["every_steps"])
        self._first = int(file.attrs["first_step"])
        self._paths = [name.decode() for name in file["paths"][:]]
        self._rows: list[tuple] = []  # of steps not on disk yet, as STEP
        self._frames: list[tuple[State, Sequence[float]]] = []  # not on disk yet
        self._last = (last, ground)
        self._tail = tail  # frames, contacts and last step on disk
        self._written = time.monotonic()
        self._alone = ExitStack()  # the lock of the folder

    @classmethod
    def create(
        cls,
        folder: str | Path,
        case: str,
        model: Model,
        state: State,
        *,
        every_steps: int,
        planned_steps: int = 0,
        ground: Sequence[float] = AT_REST,
        motions: Sequence[Motion] = (),
        path: Path | None = None,
        overwrite: bool = False,
    ) -> "RunWriter":
        """Start a run with its first frame, `state`. A frame is written every `every_steps` steps. `path`: of the case file."""
        folder = Path(folder)
        file_path = folder / FILE
        origin = stamp(case, path, model.blocks, motions)
        with ExitStack() as stack, undisturbed():
            stack.enter_context(alone_in(folder))
            if file_path.exists() and not overwrite:
                raise InputError(f"{folder} holds a run already: choose another folder, or overwrite it (--force)")
            with writing(folder):
                for old in [file_path, journal_of(file_path), *failed_problems(folder), folder / RESULT]:
                    old.unlink(missing_ok=True)
            write_whole(folder / "case.toml", case)
            disk = JournaledFile(file_path, "w")
            file = h5py.File(disk, "w", rdcc_nbytes=CHUNK_CACHE)
            file.attrs.update(format=FORMAT, drystone=__version__, stamp=json.dumps(origin))
            file.attrs.update(every_steps=every_steps, planned_steps=planned_steps, first_step=int(state.step))
            _lay_out(file, state)
            write_model(file.create_group("model"), model)
            write_records(file.create_group("motions"), motions)
            writer = cls(folder, disk, file, state, ground, (0, 0, int(state.step)))
            writer._frames.append((state, ground))
            writer._commit()
            writer._alone = stack.pop_all()
        return writer

    @classmethod
    def resume(cls, folder: str | Path) -> tuple["RunWriter", State]:
        """Go on with a run from its last whole frame, whose state is returned."""
        folder = Path(folder)
        read_run(folder)  # is it one?
        with ExitStack() as stack, undisturbed():
            stack.enter_context(alone_in(folder))
            with writing(folder / FILE):
                disk = JournaledFile(folder / FILE, "r+")
            run = read_run(folder)
            state, ground = run.state(-1), run.ground[-1].copy()
            file = h5py.File(disk, "r+", rdcc_nbytes=CHUNK_CACHE)
            kept = run.frames
            every = int(file.attrs["every_steps"])
            if kept > 1 and state.step % every:
                kept -= 1  # written only because the run was cut here; an uncut run has no such frame
            head = file["frames/head"][kept - 1]
            tail = (kept, int(head["contacts"]), int(head["step"]))
            writer = cls(folder, disk, file, state, ground, tail)
            rows = file["steps"][: state.step - writer._first]
            writer._rows = [tuple(row) for row in rows[tail[2] - writer._first :]]
            writer._paths = writer._paths[: rows["path"].max(initial=-1) + 1]
            writer._truncate()
            writer._alone = stack.pop_all()
        return writer, state

    def __enter__(self) -> "RunWriter":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def add(self, step: "Step", ground: Sequence[float] = AT_REST) -> None:
        """Take one step in; `ground` [m] is the ground's displacement at its end."""
        self._rows.append(self._row(step, ground))
        self._last = (step.state, ground)
        if step.state.step % self._every == 0:
            self._frames.append(self._last)
            if time.monotonic() - self._written > PATIENCE:
                self._commit()

    def close(self) -> None:
        """Write what is still in memory, with the last state as a frame, and close the file."""
        if not self._file:
            return
        with self._alone, undisturbed():
            try:
                last = self._frames[-1][0].step if self._frames else self._tail[2]
                if self._last[0].step > last:
                    self._frames.append(self._last)
                self._commit()
            finally:
                self._file.close()
                self._disk.close()

    def _row(self, step: "Step", ground: Sequence[float]) -> tuple:
        state, solution = step.state, step.solution
        if solution.path not in self._paths:
            self._paths.append(solution.path)
        gap = state.contacts.gap
        return (
            state.step,
            state.time,
            *state.energy,
            len(gap),
            *solution.residual,
            max(0.0, -float(gap.min())) if len(gap) else 0.0,
            solution.converged,
            solution.factorisations,
            self._paths.index(solution.path),
            tuple(step.seconds),
            tuple(ground),
        )

    def _commit(self) -> None:
        """Frames and their rows go to fixed places in the file: doing it twice, after a disk was full, is harmless."""
        count, contacts, done = self._tail
        frames = [(state, ground) for state, ground in self._frames if state.step > done or count == 0]
        if not frames:
            return
        end = frames[-1][0].step
        rows = [row for row in self._rows if done < row[0] <= end]
        heads, contact_rows = _frame_rows(frames, contacts)
        file = self._file
        with undisturbed():
            _put(file["steps"], done - self._first, np.array(rows, STEP))
            _put(file["paths"], 0, np.array(self._paths, file["paths"].dtype))
            _put(file["contacts"], contacts, contact_rows)
            _put(file["frames/head"], count, heads)
            for name in (name for name in FIELDS if name in file["frames"]):
                _put(file[f"frames/{name}"], count, np.stack([getattr(state, name) for state, _ in frames]))
            self._trust(count + len(frames))
            self._tail = (count + len(frames), contacts + len(contact_rows), end)
            self._rows = [row for row in self._rows if row[0] > end]
            self._frames = []
            self._written = time.monotonic()

    def _truncate(self) -> None:
        """Forget what lies beyond the tail."""
        count, contacts, done = self._tail
        ends = {"steps": done - self._first, "contacts": contacts, "paths": len(self._paths)}
        for name in (*ends, *(f"frames/{name}" for name in self._file["frames"])):
            self._file[name].resize(ends.get(name, count), axis=0)
        self._trust(count)

    def _trust(self, frames: int) -> None:
        self._file["committed"][()] = frames
        self._file.flush()
        self._disk.commit()


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
        raise InputError(f"{shown(str(folder))} holds no run (no {FILE} in it); give the folder that `drystone run -o` wrote")
    try:
        if journal_of(path).exists():
            return h5py.File(JournaledFile(path, "r"), "r")
        return h5py.File(path, "r", locking=False)
    except OSError as error:
        raise InputError(f"{path} cannot be opened ({error}); it was damaged or is no run, run the case again") from error


def _lay_out(file: Any, state: State) -> None:
    """Empty datasets. Chunks of 16 frames by 512 blocks: one frame and one block's history both read fast."""
    frames = file.create_group("frames")
    frames.create_dataset("head", (0,), FRAME, maxshape=(None,), chunks=(64,))
    for name in FIELDS:
        blocks, width = getattr(state, name).shape
        if blocks:
            chunk = (16, min(blocks, 512), width)
            frames.create_dataset(name, (0, blocks, width), "f8", maxshape=(None, blocks, width), chunks=chunk)
    file.create_dataset("contacts", (0,), CONTACT, maxshape=(None,), chunks=(1024,))
    file.create_dataset("steps", (0,), STEP, maxshape=(None,), chunks=(256,))
    file.create_dataset("paths", (0,), "S64", maxshape=(None,), chunks=(16,))
    file.create_dataset("committed", data=0)


def _put(dataset: Any, start: int, values: Array) -> None:
    dataset.resize(start + len(values), axis=0)
    dataset[start:] = values


def _frame_rows(frames: Iterable[tuple[State, Sequence[float]]], contacts: int) -> tuple[Array, Array]:
    """Heads and contacts of frames as they lie in the file, where `contacts` contacts lie already."""
    heads, parts = [], [np.empty(0, CONTACT)]
    for state, ground in frames:
        rows = np.empty(len(state.contacts.gap), CONTACT)
        for name, values in zip(Contacts._fields, state.contacts, strict=True):
            rows[name] = values
        parts.append(rows)
        contacts += len(rows)
        heads.append((state.step, state.time, state.next_id, state.hardship, *state.energy, tuple(ground), contacts))
    return np.array(heads, FRAME), np.concatenate(parts)

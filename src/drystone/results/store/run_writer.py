"""Write a run step by step into the folder that run_reader.py reads. `RunWriter.resume` continues a run bit for bit."""

import json
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import h5py
import numpy as np

from drystone import __version__
from drystone.base.errors import InputError
from drystone.base.files.atomic_write import report_write_errors, write_atomic
from drystone.base.files.folder_lock import lock_folder
from drystone.base.signals import defer_signals
from drystone.contact.contacts import Contacts
from drystone.contact.patch_memory import CellMemory, PatchMemory, cell_numbers
from drystone.engine.simulation import Step
from drystone.engine.state import State
from drystone.ground.motion import Motion
from drystone.results.store.journal import JournaledFile, journal_path
from drystone.results.store.run_reader import (
    FIELDS,
    FILE,
    FORMAT,
    FRAME,
    LISTS,
    RESULT,
    STEP,
    failed_problems,
    read_run,
    rows_of_lists,
)
from drystone.results.store.stamp import make_stamp
from drystone.results.store.stored_model import write_model
from drystone.results.store.stored_motions import write_accelerograms
from drystone.structure.model import Model

Array = np.ndarray

# [s] that a frame may wait in memory: a commit per frame would take longer than a step of a small model
MAX_SECONDS_IN_MEMORY = 1.0
NO_DISPLACEMENT = (0.0, 0.0, 0.0)
CHUNK_CACHE_BYTES = 32 * 2**20  # per dataset; it holds the open chunks of 20,000 blocks, which would otherwise be read back


class RunWriter:
    """Writes a run step by step. Use it in a `with` statement: leaving it, also by an error or Ctrl-C, writes the last step."""

    def __init__(
        self,
        folder: Path,
        disk: JournaledFile,
        file: Any,
        last: State,
        ground: Sequence[float],
        tail: tuple[int, dict[str, int], int],
    ):
        self.folder = folder
        self._disk, self._file = disk, file
        self._every = int(file.attrs["every_steps"])
        self._first = int(file.attrs["first_step"])
        self._paths = [name.decode() for name in file["paths"][:]]
        self._rows: list[tuple] = []  # rows of STEP for the steps that are not on disk yet
        self._frames: list[tuple[State, Sequence[float]]] = []  # not on disk yet
        self._last = (last, ground)
        self._tail = tail  # frames, rows of the lists and last step on disk
        self._written = time.monotonic()
        self._thread = ThreadPoolExecutor(1)  # frames are written while the computation continues
        self._under_way: Future[None] | None = None
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
        ground: Sequence[float] = NO_DISPLACEMENT,
        motions: Sequence[Motion] = (),
        path: Path | None = None,
        hung: Sequence[int] = (),
        overwrite: bool = False,
    ) -> "RunWriter":
        """Start a run with its first frame, `state`. A frame is written every `every_steps` steps. `path`: of the case file;
        `hung`: rows of the blocks that friction alone may hold."""
        folder = Path(folder)
        file_path = folder / FILE
        origin = make_stamp(case, path, model.blocks, motions)
        with ExitStack() as stack, defer_signals():
            stack.enter_context(lock_folder(folder))
            if file_path.exists() and not overwrite:
                raise InputError(f"{folder} holds a run already: choose another folder, or overwrite it (--force)")
            with report_write_errors(folder):
                for old in [file_path, journal_path(file_path), *failed_problems(folder), folder / RESULT]:
                    old.unlink(missing_ok=True)
            write_atomic(folder / "case.toml", case)
            disk = JournaledFile(file_path, "w")
            file = h5py.File(disk, "w", rdcc_nbytes=CHUNK_CACHE_BYTES)
            file.attrs.update(format=FORMAT, drystone=__version__, stamp=json.dumps(origin))
            file.attrs.update(every_steps=every_steps, planned_steps=planned_steps, first_step=int(state.step))
            _create_datasets(file, state, rows_of_lists(cell_numbers(model.own)))
            write_model(file.create_group("model"), model)
            file.create_dataset("hung", data=np.array(hung, np.int64))
            write_accelerograms(file.create_group("motions"), motions)
            writer = cls(folder, disk, file, state, ground, (0, dict.fromkeys(LISTS, 0), int(state.step)))
            writer._frames.append((state, ground))
            writer._commit(writer._frames, [])
            writer._alone = stack.pop_all()
        return writer

    @classmethod
    def resume(cls, folder: str | Path) -> tuple["RunWriter", State]:
        """Continue a run from its last complete frame, whose state is returned."""
        folder = Path(folder)
        read_run(folder)  # raises InputError if it is no run
        with ExitStack() as stack, defer_signals():
            stack.enter_context(lock_folder(folder))
            with report_write_errors(folder / FILE):
                disk = JournaledFile(folder / FILE, "r+")
            run = read_run(folder)
            state, ground = run.state(-1), run.ground[-1].copy()
            file = h5py.File(disk, "r+", rdcc_nbytes=CHUNK_CACHE_BYTES)
            frame_count = run.frames
            every = int(file.attrs["every_steps"])
            if frame_count > 1 and state.step % every:
                frame_count -= 1  # written only because the run was interrupted here; an uninterrupted run has no such frame
            head = file["frames/head"][frame_count - 1]
            tail = (frame_count, {name: int(head[name]) for name in LISTS}, int(head["step"]))
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

    def add(self, step: Step, ground: Sequence[float] = NO_DISPLACEMENT) -> None:
        """Add a step; `ground` [m] is the displacement of the ground at its end."""
        self._rows.append(self._row(step, ground))
        self._last = (step.state, ground)
        if step.state.step % self._every == 0:
            self._frames.append(self._last)
            if time.monotonic() - self._written > MAX_SECONDS_IN_MEMORY:
                with defer_signals():
                    self._await()
                    self._written = time.monotonic()
                    self._under_way = self._thread.submit(self._commit, list(self._frames), list(self._rows))

    def flush(self) -> None:
        """Write all frames so far to disk."""
        self._await()
        self._commit(self._frames, self._rows)

    def _await(self) -> None:
        """Wait until the frames that are being written are on disk; if that fails, the error is raised and they stay in
        memory."""
        under_way, self._under_way = self._under_way, None
        if under_way is not None:
            under_way.result()
        done = self._tail[2]
        self._frames = [frame for frame in self._frames if frame[0].step > done]
        self._rows = [row for row in self._rows if row[0] > done]

    def close(self) -> None:
        """Write what is still in memory, with the last state as a frame, and close the file."""
        if not self._file:
            return
        with self._alone, defer_signals(), self._thread:
            try:
                last = self._frames[-1][0].step if self._frames else self._tail[2]
                if self._last[0].step > last:
                    self._frames.append(self._last)
                self.flush()
            finally:
                self._file.close()
                self._disk.close()

    def _row(self, step: Step, ground: Sequence[float]) -> tuple:
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

    def _commit(self, taken: Sequence[tuple[State, Sequence[float]]], known: Sequence[tuple]) -> None:
        """Write frames and their rows at fixed positions in the file, so that repeating it after a full disk is harmless."""
        count, listed, done = self._tail
        frames = [(state, ground) for state, ground in taken if state.step > done or count == 0]
        if not frames:
            return
        end = frames[-1][0].step
        rows = [row for row in known if done < row[0] <= end]
        file = self._file
        heads, lists = _frame_rows(frames, listed, {name: file[name].dtype for name in LISTS})
        with defer_signals():
            _write_rows(file["steps"], done - self._first, np.array(rows, STEP))
            _write_rows(file["paths"], 0, np.array(self._paths, file["paths"].dtype))
            for name, rows_of_list in lists.items():
                _write_rows(file[name], listed[name], rows_of_list)
            _write_rows(file["frames/head"], count, heads)
            for name in (name for name in FIELDS if name in file["frames"]):
                _write_rows(file[f"frames/{name}"], count, np.stack([getattr(state, name) for state, _ in frames]))
            self._trust(count + len(frames))
            self._tail = (count + len(frames), {name: listed[name] + len(lists[name]) for name in LISTS}, end)

    def _truncate(self) -> None:
        """Remove everything beyond the last complete frame."""
        count, listed, done = self._tail
        ends = {"steps": done - self._first, **listed, "paths": len(self._paths)}
        for name in (*ends, *(f"frames/{name}" for name in self._file["frames"])):
            self._file[name].resize(ends.get(name, count), axis=0)
        self._trust(count)

    def _trust(self, frames: int) -> None:
        self._file["committed"][()] = frames
        self._file.flush()
        self._disk.commit()


def _create_datasets(file: Any, state: State, lists: dict[str, np.dtype]) -> None:
    """Create empty datasets in chunks of 16 frames by 512 blocks, so that a frame and the history of a block both read fast."""
    frames = file.create_group("frames")
    frames.create_dataset("head", (0,), FRAME, maxshape=(None,), chunks=(64,))
    for name in FIELDS:
        blocks, *width = getattr(state, name).shape
        if blocks:
            chunk = (16, min(blocks, 512), *width)
            frames.create_dataset(name, (0, blocks, *width), "f8", maxshape=(None, blocks, *width), chunks=chunk)
    for name, kind in lists.items():
        file.create_dataset(name, (0,), kind, maxshape=(None,), chunks=(1024 if name == "contacts" else 512,))
    file.create_dataset("steps", (0,), STEP, maxshape=(None,), chunks=(256,))
    file.create_dataset("paths", (0,), "S64", maxshape=(None,), chunks=(16,))
    file.create_dataset("committed", data=0)


def _write_rows(dataset: Any, start: int, values: Array) -> None:
    dataset.resize(start + len(values), axis=0)
    dataset[start:] = values


def _frame_rows(
    frames: Iterable[tuple[State, Sequence[float]]], listed: dict[str, int], kinds: dict[str, np.dtype]
) -> tuple[Array, dict[str, Array]]:
    """The heads and lists of frames as the file has them; `listed` is the number of rows that each list has already."""
    heads, ends = [], dict(listed)
    lists: dict[str, list[Array]] = {name: [np.empty(0, kind)] for name, kind in kinds.items()}
    for state, ground in frames:
        for name, kind in kinds.items():
            lists[name].append(_rows(getattr(state, name), kind))
            ends[name] += len(lists[name][-1])
        heads.append((state.step, state.time, state.next_id, state.hardship, *state.energy, tuple(ground), *ends.values(),
                      state.step_ratio, state.ratio_patches))  # fmt: skip
    return np.array(heads, FRAME), {name: np.concatenate(rows) for name, rows in lists.items()}


def _rows(record: Contacts | PatchMemory | CellMemory, kind: np.dtype) -> Array:
    rows = np.empty(len(record[0]), kind)
    if not len(rows):
        return rows  # an empty memory has no number of columns
    for name, values in zip(record._fields, record, strict=True):
        rows[name] = values
    return rows

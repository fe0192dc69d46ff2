"""What was written is read back to the last bit, also after the writer was cut, killed or resumed."""

import os
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest

from drystone.base.errors import InputError
from drystone.results.store import run_reader
from drystone.results.store import run_writer as writing
from drystone.results.store.run_reader import read_run
from drystone.results.store.run_writer import RunWriter
from tests.unit.synthetic import boxes, ground, start, steps

MODEL = boxes([[0, 0, 0.5], [0, 0, 1.5], [0.25, 0, 2.5]], fixed=[0])


def write(folder, until=23, every=5, stop=None):
    """A run of `until` steps, interrupted after step `stop`."""
    options = {"every_steps": every, "planned_steps": until, "ground": ground(0)}
    with RunWriter.create(folder, "# a case\n", MODEL, start(MODEL), **options) as writer:
        go_on(writer, start(MODEL), until, stop)


def go_on(writer, state, until, stop=None):
    for step in steps(state, until):
        writer.add(step, ground(step.state.step))
        if step.state.step == stop:
            raise KeyboardInterrupt


def content(folder):
    """Everything in the file, as bytes by name."""
    found = {}
    with h5py.File(folder / "run.h5", "r") as file:
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return {name: value.tobytes() if value.dtype != object else list(value) for name, value in found.items()}


def assert_same(left, right):
    assert type(left) is type(right)
    if isinstance(left, tuple):
        for a, b in zip(left, right, strict=True):
            assert_same(a, b)
    elif isinstance(left, np.ndarray):
        assert left.dtype == right.dtype
        assert left.shape == right.shape
        assert left.tobytes() == right.tobytes()
        assert right.flags.c_contiguous
        assert right.flags.writeable
    else:
        assert left == right


def test_states_return_bit_for_bit(tmp_path):
    write(tmp_path)
    run = read_run(tmp_path)
    expected = [start(MODEL), *(step.state for step in steps(start(MODEL), 23))]
    assert_same([int(s) for s in np.round(run.time * 1000)], [0, 5, 10, 15, 20, 23])
    for frame, step in enumerate([0, 5, 10, 15, 20, 23]):
        assert_same(expected[step], run.state(frame))
    assert_same(expected[20].contacts, run.contacts(-2))
    assert run.position[1].tobytes() == expected[5].position.tobytes()
    np.testing.assert_array_equal(run.ground, [ground(s) for s in (0, 5, 10, 15, 20, 23)])
    np.testing.assert_array_equal(run.absolute_position[-1], expected[23].position + ground(23))
    assert run.case == "# a case\n"
    assert run.finished


def test_model_returns_bit_for_bit(tmp_path):
    write(tmp_path)
    model = read_run(tmp_path).model
    assert_same(MODEL.bodies, model.bodies)
    assert_same(MODEL.position, model.position)
    assert_same(MODEL.friction, model.friction)
    for written, read in zip(MODEL.blocks, model.blocks, strict=True):
        assert_same(tuple(vars(written).values()), tuple(vars(read).values()))


def test_every_step_has_a_row(tmp_path):
    write(tmp_path)
    rows = read_run(tmp_path).steps
    expected = list(steps(start(MODEL), 23))
    np.testing.assert_array_equal(rows["step"], np.arange(1, 24))
    assert list(rows["path"]) == [step.solution.path for step in expected]
    assert list(rows["converged"]) == [step.solution.converged for step in expected]
    assert list(rows["potential"]) == [step.state.energy.potential for step in expected]
    assert list(rows["residual_natural_map"]) == [step.solution.residual.natural_map for step in expected]
    assert list(rows["contacts"]) == [len(step.state.contacts.gap) for step in expected]
    overlap = [max(0.0, -min(step.state.contacts.gap, default=0.0)) for step in expected]
    assert list(rows["overlap"]) == overlap


def test_energy_totals(tmp_path):
    write(tmp_path)
    energy = read_run(tmp_path).energy
    np.testing.assert_array_equal(energy["total"], energy["kinetic"] + energy["potential"] + energy["elastic"])
    np.testing.assert_array_equal(energy["dissipated"], energy["friction"] + energy["impact"] + energy["numerical"])


@pytest.mark.parametrize("stop", [1, 4, 5, 13, 20, 22])
def test_cut_and_resumed_is_the_same_file(tmp_path, stop):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    write(whole)
    with pytest.raises(KeyboardInterrupt):
        write(cut, stop=stop)
    assert read_run(cut).time[-1] == stop * 1e-3, "the interrupted run keeps its last step"
    assert not read_run(cut).finished
    writer, state = RunWriter.resume(cut)
    with writer:
        assert state.step == stop
        go_on(writer, state, 23)
    assert content(whole) == content(cut)


def test_resuming_without_going_on_changes_nothing(tmp_path):
    write(tmp_path)
    before = content(tmp_path)
    writer, _ = RunWriter.resume(tmp_path)
    writer.close()
    assert content(tmp_path) == before


def test_interrupt_inside_the_commit_is_harmless(tmp_path, monkeypatch):
    write(tmp_path / "whole")
    writer = RunWriter.create(
        tmp_path / "cut", "# a case\n", MODEL, start(MODEL), every_steps=5, planned_steps=23, ground=ground(0)
    )
    put, calls = writing._write_rows, iter(range(1000))

    def interrupted(*arguments):
        put(*arguments)
        if next(calls) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(writing, "_write_rows", interrupted)
    go_on(writer, start(MODEL), 23)
    with pytest.raises(KeyboardInterrupt):
        writer.flush()
    writer.close()
    assert content(tmp_path / "whole") == content(tmp_path / "cut")


def test_frames_beyond_the_counter_are_not_seen(tmp_path):
    write(tmp_path)
    with h5py.File(tmp_path / "run.h5", "r+") as file:
        file["committed"][()] = 3
    run = read_run(tmp_path)
    assert len(run.time) == len(run.position) == 3
    assert len(run.steps["time"]) == 10
    writer, state = RunWriter.resume(tmp_path)
    assert state.step == 10
    writer.close()
    with h5py.File(tmp_path / "run.h5") as file:
        assert len(file["frames/position"]) == 3
        assert len(file["steps"]) == 10


def test_reading_while_writing(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "MAX_SECONDS_IN_MEMORY", 0.0)
    with RunWriter.create(tmp_path, "", MODEL, start(MODEL), every_steps=5) as writer:
        go_on(writer, start(MODEL), 12)
        reader = "from drystone.results.store.run_reader import read_run; import sys; print(read_run(sys.argv[1]).frames)"
        seen = subprocess.run([sys.executable, "-c", reader, str(tmp_path)], capture_output=True, text=True, check=True)
        assert seen.stdout.strip() == "3"
        assert read_run(tmp_path).frames == 3


def test_what_was_read_while_it_was_written_is_read_again(tmp_path, monkeypatch):
    """A reader that opened the file just before a commit sees some of its pages as they were."""
    write(tmp_path)
    whole, seen = run_reader._whole_frames, []

    def torn(file, folder):
        if not seen:
            seen.append(os.utime(folder / "run.h5", ns=(1, 1)))
            raise InputError("torn")
        return whole(file, folder)

    monkeypatch.setattr(run_reader, "_whole_frames", torn)
    assert read_run(tmp_path).frames == 6
    assert len(seen) == 1


def test_a_run_is_not_overwritten_unless_told(tmp_path):
    write(tmp_path)
    with pytest.raises(InputError, match="holds a run already"):
        write(tmp_path)
    RunWriter.create(tmp_path, "", MODEL, start(MODEL), every_steps=1, overwrite=True).close()
    assert read_run(tmp_path).frames == 1


def test_not_a_run(tmp_path):
    with pytest.raises(InputError, match="holds no run"):
        read_run(tmp_path)
    (tmp_path / "run.h5").write_text("something else")
    with pytest.raises(InputError, match="cannot be opened"):
        read_run(tmp_path)


@pytest.mark.parametrize("journal", [b"", b"hello", b"\xff" * 64, bytes(8) + b"\1" + bytes(7) + b"x" * 100])
def test_a_journal_that_is_none(tmp_path, journal):
    """Neither read nor put in place: the file stays what it was."""
    write(tmp_path)
    before = (tmp_path / "run.h5").read_bytes()
    (tmp_path / "run.h5.journal").write_bytes(journal)
    for read in (read_run, RunWriter.resume):
        with pytest.raises(InputError, match=r"run\.h5\.journal is not the journal of a run; remove it"):
            read(tmp_path)
    assert (tmp_path / "run.h5").read_bytes() == before


SPOILT = {
    "no steps": (lambda f: f.__delitem__("steps"), "is damaged .*'steps'"),
    "no model": (lambda f: f.__delitem__("model"), "is damaged .*'model'"),
    "not a number": (lambda f: f["frames/position"].__setitem__((2, 1), np.nan), "position has values that are not finite"),
    "a block that is not there": (lambda f: of_block_99(f["contacts"]), "contacts of blocks that are not there"),
    "a corner that is not there": (lambda f: f["model/face_vertex"].__setitem__(0, 99), "face_vertex of the model"),
    "frames that are not there": (lambda f: f["committed"].__setitem__((), 99), "it lacks heads of its 99 frames"),
    "another format": (lambda f: f.attrs.__setitem__("format", 9), "run format 9, this drystone reads 6"),
}  # fmt: skip


def everything(folder):
    run = read_run(folder)
    return run.model, run.position, [run.contacts(i) for i in range(run.frames)], RunWriter.resume(folder)[0].close()


def of_block_99(contacts):
    rows = contacts[:]
    rows["a"] = 99
    contacts[:] = rows


@pytest.mark.parametrize("kind", SPOILT)
def test_a_run_that_was_spoilt(tmp_path, kind):
    """Kernels take what a run holds as it is: it is looked at before."""
    write(tmp_path)
    spoil, said = SPOILT[kind]
    with h5py.File(tmp_path / "run.h5", "r+") as file:
        spoil(file)
    with pytest.raises(InputError, match=said):
        everything(tmp_path)


ENDLESS = """
import sys
from tests.unit.synthetic import boxes, ground, start, steps
from drystone.results.store import run_writer as writer
writer.MAX_SECONDS_IN_MEMORY = 0.0
model = boxes([[0, 0, 0.5], [0, 0, 1.5], [0.25, 0, 2.5]], fixed=[0])
with writer.RunWriter.create(sys.argv[1], "", model, start(model), every_steps=2, ground=ground(0)) as run:
    print("writing", flush=True)
    for step in steps(start(model), 1_000_000):
        run.add(step, ground(step.state.step))
"""


@pytest.mark.parametrize("delay", [0.011, 0.123, *(pytest.param(each, marks=pytest.mark.soak) for each in (0.0, 0.05, 0.3))])
def test_killed_while_writing(tmp_path, delay):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    child = subprocess.Popen([sys.executable, "-c", ENDLESS, str(tmp_path)], stdout=subprocess.PIPE, env=environment)
    assert child.stdout is not None
    assert child.stdout.readline() == b"writing\n"
    time.sleep(delay)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    run = read_run(tmp_path)
    last = run.state(-1)
    expected = [start(MODEL), *(step.state for step in steps(start(MODEL), last.step))]
    for frame in range(run.frames):
        assert_same(expected[2 * frame], run.state(frame))
    assert len(run.steps["time"]) == last.step
    until = last.step + 7
    writer, state = RunWriter.resume(tmp_path)
    with writer:
        go_on(writer, state, until)
    assert_same([s.state for s in steps(start(MODEL), until)][-1], read_run(tmp_path).state(-1))
    assert len(read_run(tmp_path).steps["time"]) == until

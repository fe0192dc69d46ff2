"""A run killed before any system call of its writer. Truth: the states that it was given, and a run that nothing happens to.

The child is forked and ends itself, without a word to anybody, before its n-th call that changes the disk: every kill between
two calls, for each n, and no chance involved. The chunks hold one frame, so that HDF5 has much to change in its indices.
"""

import os
import random
import sys

import h5py
import pytest

from drystone.results.store import run_writer as writing
from drystone.results.store.run_reader import read_run
from drystone.results.store.run_writer import RunWriter
from tests.unit.results.test_run_store import assert_same, content
from tests.unit.synthetic import boxes, ground, start, steps

MODEL = boxes([[0, 0, 0.5], [0, 0, 1.5], [0.25, 0, 2.5]], fixed=[0])
FEW, MANY = 3, 70  # frames of a run; HDF5 splits its index of chunks at 65
CHANGING = {"write", "writelines", "truncate", "rename", "replace", "unlink", "open"}  # the system calls, by name in Python

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    create = h5py.Group.create_dataset

    def of_one_row(group, name, *given, **options):
        if "chunks" in options:
            options["chunks"] = (1, *options["chunks"][1:])
        return create(group, name, *given, **options)

    monkeypatch.setattr(h5py.Group, "create_dataset", of_one_row)
    monkeypatch.setattr(writing, "MAX_SECONDS_IN_MEMORY", 0.0)


def write(folder, frames):
    with RunWriter.create(folder, "# a case\n", MODEL, start(MODEL), every_steps=1, ground=ground(0)) as writer:
        go_on(writer, start(MODEL), frames)


def go_on(writer, state, frames):
    for step in steps(state, frames):
        writer.add(step, ground(step.state.step))


def calls_until_the_end(folder, frames, kill_before=None):
    """Write in a process of its own, which kills itself before so many calls; the calls there were if it did not."""
    ear, mouth = os.pipe()
    child = os.fork()
    if child == 0:
        count = 0

        def look(frame, event, function):
            nonlocal count
            if event == "c_call" and function.__name__ in CHANGING:
                if count == kill_before:
                    os._exit(9)
                count += 1

        sys.setprofile(look)
        write(folder, frames)
        sys.setprofile(None)
        os.write(mouth, str(count).encode())
        os._exit(0)
    os.close(mouth)
    told = os.read(ear, 100)
    os.close(ear)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == (9 if kill_before is not None else 0)
    return int(told) if told else None


def look_and_go_on(folder, frames, truth):
    """What is there can be read and is right, and gone on with it ends like the run that nothing happened to."""
    if not (folder / "run.h5").exists():
        write(folder, frames)
    else:
        run = read_run(folder)
        for frame, state in enumerate([start(MODEL), *(step.state for step in steps(start(MODEL), run.frames - 1))]):
            assert_same(state, run.state(frame))
        writer, state = RunWriter.resume(folder)
        with writer:
            assert state.step == run.frames - 1
            go_on(writer, state, frames)
    assert content(folder) == truth
    assert {path.name for path in folder.iterdir()} == {"run.h5", "case.toml"}, "no part of a file is left"


def cut_before(instants, frames, tmp_path):
    write(tmp_path / "truth", frames)
    for instant in instants(calls_until_the_end(tmp_path / "uncut", frames)):
        calls_until_the_end(tmp_path / str(instant), frames, kill_before=instant)
        look_and_go_on(tmp_path / str(instant), frames, content(tmp_path / "truth"))


def test_cut_at_some_instants(tmp_path):
    """The first 10, in which the run is created, of a short run, and others of a long one by seeded chance."""
    cut_before(lambda calls: range(10), FEW, tmp_path / "few")
    cut_before(lambda calls: random.Random(1).sample(range(10, calls), 2), MANY, tmp_path / "many")


@pytest.mark.soak
def test_cut_at_every_third_instant(tmp_path):
    cut_before(lambda calls: range(0, calls, 3), MANY, tmp_path)

"""A disk that is full, and one that is read-only: small file systems in memory, which only root may make.

Truth: the states a run was given before; nothing but whole files; one message and exit code 2.
"""

import os
import shutil
import subprocess

import pytest

from drystone.base.errors import InputError
from drystone.results.store import run_writer as writing
from drystone.results.store.run_reader import read_run
from drystone.results.store.run_writer import RunWriter
from tests.faults.programs import assert_same_run, sweep, told, told_here, wall
from tests.unit.results.test_run_store import assert_same
from tests.unit.synthetic import boxes, ground, start, steps

MODEL = boxes([[2 * k, 0, 0.5] for k in range(40)], fixed=[0])


def mounted(folder, options):
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root makes a disk")
    folder.mkdir(exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True).returncode:
        pytest.skip("no disk can be made here")


@pytest.fixture
def disk(tmp_path):
    """1 MB."""
    folder = tmp_path / "disk"
    mounted(folder, "size=1m")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(disk, leave):
    """A file that leaves so many bytes."""
    free = shutil.disk_usage(disk).free
    (disk / "filler").write_bytes(bytes(max(0, free - leave)))


def refused(*arguments, by=told):
    """The program says no in one line and with code 2."""
    code, _, said = by(*arguments)
    assert code == 2, said
    assert "Traceback" not in said
    assert said.count("drystone: ") == 1
    return said


def add_until(writer, state, until):
    with writer:
        for step in steps(state, until):
            writer.add(step, ground(step.state.step))


def test_a_run_that_fills_the_disk(disk, monkeypatch):
    """Every frame that was committed is there; with room made it goes on."""
    monkeypatch.setattr(writing, "MAX_SECONDS_IN_MEMORY", 0.0)
    expected = [start(MODEL), *(step.state for step in steps(start(MODEL), 300))]
    writer = RunWriter.create(disk / "run", "# a case\n", MODEL, expected[0], every_steps=1, ground=ground(0))
    fill(disk, 600_000)
    with pytest.raises(InputError, match="No space left"):
        add_until(writer, expected[0], 300)
    run = read_run(disk / "run")
    assert 1 < run.frames < 300
    for frame in range(run.frames):
        assert_same(expected[frame], run.state(frame))
    (disk / "filler").unlink()
    writer, state = RunWriter.resume(disk / "run")
    add_until(writer, state, run.frames + 5)
    again = read_run(disk / "run")
    assert again.frames == run.frames + 6
    for frame in range(again.frames):
        assert_same(expected[frame], again.state(frame))


def test_the_command_run(disk, tmp_path, truth):
    """The message names the file; after room was made the run ends with the bits of one that had room."""
    case = wall(tmp_path)
    assert "No space left" in refused("run", case, "-o", disk / "out", "--json"), "1 MB is not enough for it"
    assert read_run(disk / "out").frames > 1
    assert not read_run(disk / "out").finished
    shutil.copytree(disk / "out", tmp_path / "elsewhere")
    assert told_here("run", "--resume", tmp_path / "elsewhere", "--json")[0] == 0
    assert_same_run(truth[0], tmp_path / "elsewhere")


def test_no_room_to_begin(disk, tmp_path):
    fill(disk, 8192)
    assert "No space left" in refused("run", wall(tmp_path), "-o", disk / "out", "--json", by=told_here)
    assert not (disk / "out" / "run.h5").exists()
    assert not list(disk.rglob("*.part"))


def test_a_study_that_fills_the_disk(disk, tmp_path):
    """The rows that are whole count, and it goes on."""
    file, out = sweep(tmp_path), disk / "out"
    out.mkdir()
    fill(disk, 5 * 4096)  # the texts of the study and a page of rows
    assert "No space left" in refused("study", file, "-o", out, "--jobs", 1, "--json")
    (disk / "filler").unlink()
    assert told_here("study", file, "-o", out, "--jobs", 1, "--json")[0] == 3, "some trials fail, as they should"
    assert len((out / "trials.jsonl").read_bytes().splitlines()) == 18


@pytest.fixture(scope="module")
def a_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    assert told("run", wall(folder), "-o", folder / "out", "--json")[0] == 0
    return folder / "out"


OUTPUTS = [
    ("picture", "RUN", "-o", "DISK/a.png"),
    ("plot", "RUN", "energies", "-o", "DISK/a.pdf"),
    ("report", "RUN", "-o", "DISK/a.html"),
    ("view", "RUN", "--html", "DISK/a.html"),
    ("movie", "RUN", "-o", "DISK/a.gif", "--fps", "2"),
    ("movie", "RUN", "-o", "DISK/a.mp4", "--fps", "2"),
    *(("export", "RUN", "-o", f"DISK/a.{suffix}") for suffix in ("vtkhdf", "glb", "csv", "stl", "obj", "3dm", "dxf", "json")),
    ("export", "RUN", "-o", "DISK/tables"),
    ("new", "wall", "-o", "DISK/a.json"),
]


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["size=1m", "ro"], ids=["full", "read-only"])
@pytest.mark.parametrize("command", OUTPUTS, ids=lambda command: f"{command[0]} {command[-1].rpartition('/')[2]}")
def test_no_half_file(a_run, tmp_path, command, kind):
    """On a disk that has no room, and on one that is read-only: one message, and nothing is left."""
    disk = tmp_path / "disk"
    mounted(disk, kind)
    try:
        if kind != "ro":
            fill(disk, 0)
        refused(*(word.replace("RUN", str(a_run)).replace("DISK", str(disk)) for word in command))
        left = [path for path in disk.rglob("*") if path.is_file() and path.name != "filler"]
        assert not left
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_read_only(tmp_path):
    """At the door, before anything is computed."""
    disk = tmp_path / "disk"
    mounted(disk, "ro")
    try:
        assert "Read-only" in refused("run", wall(tmp_path), "-o", disk / "out", "--json", by=told_here)
        assert "Read-only" in refused("study", sweep(tmp_path), "-o", disk / "out", "--jobs", 1, "--json", by=told_here)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)

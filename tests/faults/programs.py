"""Runs and studies as programs of their own that something happens to, and what is asked of all that is left of them."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from drystone.cli import main
from drystone.results.store import run_writer
from drystone.results.store.run_reader import read_run
from tests.examples.test_determinism import CASE as SHAKEN_WALL
from tests.examples.test_determinism import assert_same, content
from tests.examples.test_study_kill import CASE as BLOCK
from tests.examples.test_study_kill import STUDY

# Four tenths of a second of a wall of four courses; many frames, and most of the time is spent writing them.
WALL = SHAKEN_WALL.format(integrator="small-steps", solver="", threads=1).replace("7 ms", "2 ms")
WALL = WALL.replace('duration = "0.1 s"', 'duration = "0.4 s"')  # long enough to be cut
# As `drystone`, but every frame is written at once: there is more to be hit.
PROGRAM = (
    "import drystone.results.store.run_writer as writer; writer.MAX_SECONDS_IN_MEMORY = 0.0; "
    "from drystone.cli import main; main()"
)


def drystone(*arguments: object) -> subprocess.Popen:
    """The program, started; its output is text."""
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def told(*arguments: object) -> tuple[int, str, str]:
    """The program until it ends: exit code, standard output, standard error."""
    process = drystone(*arguments)
    out, err = process.communicate(timeout=600)
    return process.returncode, out, err


def told_here(*arguments: object) -> tuple[int, str, str]:
    """As `told`, but within this process: to start the program takes longer than most of what it does. For commands that
    nothing happens to."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setattr(run_writer, "MAX_SECONDS_IN_MEMORY", 0.0)
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in arguments])
    return ended.value.code or 0, out.getvalue(), err.getvalue()


def wall(folder: Path) -> Path:
    (folder / "wall.toml").write_text(WALL)
    return folder / "wall.toml"


def sweep(folder: Path) -> Path:
    (folder / "case.toml").write_text(BLOCK)
    (folder / "study.toml").write_text(STUDY)
    return folder / "study.toml"


def begun(process: subprocess.Popen, file: Path) -> bool:
    """Wait until the file is there; False if the program ended before."""
    while process.poll() is None and not file.exists():
        time.sleep(0.002)
    return process.poll() is None


def seconds_after(process: subprocess.Popen, file: Path) -> float:
    """How long a program goes on once the file is there."""
    assert begun(process, file)
    since = time.monotonic()
    process.communicate(timeout=600)
    return time.monotonic() - since


def end(process: subprocess.Popen, after: float, *signals: signal.Signals) -> tuple[int, str]:
    """Send the signals after so many seconds; exit code and standard error."""
    time.sleep(after)
    for each in signals:
        if process.poll() is None:
            os.kill(process.pid, each)
    return process.wait(600), process.communicate()[1]


def steps_of(folder: Path) -> int:
    """How far the run in a folder is, by all that read it: Python and `drystone info`."""
    run = read_run(folder)
    assert run.frames == len(run.time) >= 1
    code, out, err = told_here("info", folder, "--json")
    assert code == 0, err
    assert json.loads(out)["frames"] == run.frames
    return len(run.steps["step"])


def assert_same_run(one: Path, other: Path) -> None:
    """To the last bit, but for the timings."""
    assert_same(content(one), content(other))

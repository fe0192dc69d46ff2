"""Same bits for one and two threads, and for a run cut in two: compared array by array, without tolerance."""

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from drystone.analysis.dynamics import record_history, resume_history, run
from drystone.io.case import parse_case
from drystone.results.store.run_reader import read_run

CASE = """
[structure]
generator = "wall"
length = 1.5
height = 1.0
courses = 4
blocks = 3
[joints]
friction = 0.6
[motion]
pulse = "one-sine"
amplitude = "0.9 g"
half_period = "0.1 s"
direction = [0.3, 1, 0]
[analysis]
integrator = "{integrator}"
duration = "0.1 s"
time_step = "1 ms"
[solver]
threads = {threads}
{solver}
[output]
every = "7 ms"
"""
FORMS = {
    "small steps": {"integrator": "small-steps", "solver": ""},
    "rigid": {"integrator": "cone-program", "solver": 'contact = "rigid"'},
    "compliant": {"integrator": "cone-program", "solver": 'contact = "compliant"\nyoung = "30 GPa"'},
}


def content(folder: Path) -> dict[str, np.ndarray]:
    """Everything a run holds but the timings."""
    found = read_run(folder)
    arrays = {"position": found.position, "rotation": found.rotation, "velocity": found.velocity, "time": found.time}
    arrays |= {f"energy {name}": value for name, value in found.energy.items()}
    arrays |= {f"step {name}": value for name, value in found.steps.items() if name != "seconds"}
    for frame in range(found.frames):
        arrays |= {f"contacts {frame} {name}": value for name, value in found.contacts(frame)._asdict().items()}
    return arrays


def assert_same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    assert one.keys() == other.keys()
    different = [name for name in one if not np.array_equal(one[name], other[name])]
    assert not different


@pytest.mark.parametrize("form", FORMS)
def test_a_run_cut_in_two_is_the_same_run(tmp_path: Path, form: str) -> None:
    case = parse_case(CASE.format(**FORMS[form], threads=1), tmp_path / "case.toml")
    run(case, tmp_path / "whole")
    with closing(record_history(case, tmp_path / "cut")) as steps:
        for step in steps:
            if step.state.step == 71:  # in the middle of the motion, off the schedule of frames
                break
    for _ in resume_history(tmp_path / "cut"):
        pass
    assert_same(content(tmp_path / "whole"), content(tmp_path / "cut"))


@pytest.fixture(scope="module")
def by_threads(tmp_path_factory) -> Path:
    """Runs of every form by two processes that differ in every thread setting there is."""
    folder = tmp_path_factory.mktemp("threads")
    for threads in ("1", "2"):
        for form in FORMS:
            (folder / f"{form} {threads}.toml").write_text(CASE.format(**FORMS[form], threads=threads))
        setting = {"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads, "NUMBA_NUM_THREADS": threads}
        command = [sys.executable, "-c", RUN_ALL, *(str(folder / f"{form} {threads}") for form in FORMS)]
        subprocess.run(command, check=True, capture_output=True, env=os.environ | setting, timeout=600)
    return folder


RUN_ALL = """
import sys
from drystone.io.case import read_case
from drystone.analysis.dynamics import run
for place in sys.argv[1:]:
    run(read_case(place + ".toml"), place)
"""


@pytest.mark.parametrize("form", FORMS)
def test_one_and_two_threads_give_the_same_bits(by_threads: Path, form: str) -> None:
    assert_same(content(by_threads / f"{form} 1"), content(by_threads / f"{form} 2"))

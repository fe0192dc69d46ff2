"""Small valid files of every kind that drystone reads, to be spoilt, each with the commands that read it."""

import functools
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from drystone.analysis.dynamics import run
from drystone.build import arch
from drystone.engine.solvers.solution import Guess
from drystone.io.case import parse_case
from drystone.io.contact_problems.foreign_problem import local_problem
from drystone.io.contact_problems.problem_file import write_problem
from drystone.io.geometry.structure_file import WRITERS, write_structure
from tests.unit import foreign_files
from tests.unit.ground import test_accelerograms as grounds

EXAMPLES = Path(__file__).parents[2] / "examples"
HISTORY = """[structure]
generator = "block"
width = "0.2 m"
[joints]
friction = 0.7
support = { friction = 0.5 }
scatter = { cov = 0.1, seed = 3 }
[[motion]]
pulse = "one-sine"
amplitude = "0.25 g"
half_period = "0.5 s"
[[motion]]
record = "ground.AT2"
from = "0.1 s"
to = "4 s"
pga = "0.2 g"
[analysis]
duration = "2 s"
time_step = "4 ms"
[output]
every = "20 ms"
monitor = ["block"]
"""
STATICS = """[structure]
chip = 0.001
[[structure.parts]]
name = "left"
generator = "arch"
blocks = 5
turn = "90 deg"
[[structure.parts]]
name = "right"
file = "arch.json"
at = ["50 m", 0, 0]
[joints]
friction = 0.6
[[joints.rule]]
between = ["arch", "support"]
friction = 0.8
cohesion = "0.1 MPa"
tension = "0.1 MPa"
[[load]]
on = "left-voussoir-3"
force = "1 kN"
live = true
[analysis]
kind = "limit"
direction = [1, 0, 0]
[solver]
tolerance = 1e-6
"""
SWEEP = """[study]
kind = "sweep"
case = "case.toml"
time_limit = "2 min"
keep = "none"
[study.vary]
"joints.friction" = [0.4, 0.7]
"motion.0.amplitude" = ["0.15 g", "0.2 g"]
"""
FRAGILITY = """[study]
kind = "fragility"
case = "shaken.toml"
seeds = 3
measure = "PGA"
levels = ["0.3 g", "0.4 g"]
random = { "joints.friction" = { mean = 0.6, cov = 0.15 } }
draws = 2
"""
DOMAIN = """[study]
kind = "failure-domain"
case = "pulsed.toml"
half_periods = { from = "0.15 s", to = "0.6 s", count = 5 }
amplitudes = { from = "0.3 g", to = "2 g", resolution = "5 %" }
[study.full]
scan = 6
"""
BODIES = """$bdyty
 RBDY3      1
$blmty
 PLAIN      1  behav  PDURx
$nodty
 NO6xx      1                coo1= 0.0D+00  coo2= 0.0D+00  coo3= 0.5D+00
$tacty
 PLANx      1  color  BLEUx  axe1= 1.0D+00  axe2= 1.0D+00  axe3= 0.5D+00
$$$$$$
"""
BRICKS = """# number, fixed, visible, yielding, density, force, reference, corners
0, 1, 1, 0, 2000, 0,0,0, 0,0,0, 0,0,0, 1,0,0, 0,1,0, 1,1,0, 0,0,1, 1,0,1, 0,1,1, 1,1,1
"""


Change = bytes | Callable[[Path], object]  # what a file is instead, or what is done to it


class Valid(NamedTuple):
    """A file in a folder of its own, with what it needs beside it."""

    name: str
    path: Path
    commands: list[list[str]]  # {file}: the file, {folder}: its folder, {out}: where to write


def valid_files(folder: Path) -> list[Valid]:
    """Written into folders under `folder`."""
    return [*_cases(folder), *_geometry(folder), *_grounds(folder), *_problems(folder), *_runs(folder), *_studies(folder)]


def filled(command: list[str], path: Path, out: Path) -> list[str]:
    """The words of a command on a file."""
    words = {"{file}": str(path), "{folder}": str(path.parent), "{out}": str(out)}
    return [functools.reduce(lambda word, key: word.replace(key, words[key]), words, word) for word in command]


def copy_of(valid: Valid, place: Path, change: Change) -> Callable[[], object]:
    """What makes `place` a copy of the file's folder, with the file changed, unless it is there."""

    def make() -> None:
        if not place.exists():
            shutil.copytree(valid.path.parent, place)
            path = place / valid.path.name
            change(path) if callable(change) else path.write_bytes(change)

    return make


def put(folder: Path, name: str, content: str | bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder / name


def beside(folder: Path) -> None:
    """What the cases name."""
    put(folder, "ground.AT2", (EXAMPLES / "records" / "made-up-1.AT2").read_bytes())
    write_structure(folder / "arch.json", arch(blocks=5))


def _cases(folder: Path) -> list[Valid]:
    found = []
    for name, text in (("history", HISTORY), ("statics", STATICS)):
        found.append(Valid(name, put(folder / name, "case.toml", text), [["check", "{file}", "--json"]]))
        beside(folder / name)
    return found


def _geometry(folder: Path) -> list[Valid]:
    commands = [["check", "{file}", "--json"], ["convert", "{file}", "{out}.json", "--json"]]
    found = []
    for suffix in WRITERS:
        place = folder / f"geometry{suffix}"
        place.mkdir(parents=True)
        write_structure(place / f"blocks{suffix}", arch(blocks=5))
        found.append(Valid(f"geometry{suffix}", place / f"blocks{suffix}", commands))
    found.append(Valid("bodies", put(folder / "bodies", "BODIES.DAT", BODIES), commands))
    found.append(Valid("bricks", put(folder / "bricks", "bricks.txt", BRICKS), commands))
    return found


def _grounds(folder: Path) -> list[Valid]:
    found = []
    for name, kind in (("peer", "AT2"), ("esm", "ASC"), ("knet", "EW"), ("smc", "smc"), ("cosmos", "v2c"), ("geonet", "v2a")):
        text = getattr(grounds, name.upper())
        path = put(folder / name, f"ground.{kind}", text.encode("latin-1"))
        found.append(Valid(name, path, [["record", "{file}", "--json"]]))
    columns = put(folder / "columns", "ground.csv", "time [s],acceleration [m/s2]\n" + grounds.TWO.replace(" ", ","))
    sac = put(folder / "sac", "ground.sac", grounds.sac([1.0, -2.0, 3.0, 4.0]))
    found.append(Valid("columns", columns, [["record", "{file}", "--json"]]))
    return [*found, Valid("sac", sac, [["record", "{file}", "--unit", "g", "--json"]])]


def _problems(folder: Path) -> list[Valid]:
    W, q, friction = np.eye(6) + 0.1, np.array([-1.0, 0.2, 0, -1, 0, 0.1]), np.array([0.5, 0.7])
    text = "3\n2\n" + foreign_files.sparse(W, "columns") + foreign_files.vector(q) + foreign_files.vector(friction)
    commands = [["solve", "{file}", "--json"]]
    siconos = put(folder / "siconos", "problem.dat", text)
    (folder / "fclib").mkdir()
    fclib = foreign_files.fclib(folder / "fclib" / "problem.hdf5", W=W, q=q, mu=friction)
    files = {"siconos": siconos, "fclib": fclib, "dump": _dump(folder / "dump")}
    return [Valid(name, path, commands) for name, path in files.items()]


def _dump(folder: Path) -> Path:
    folder.mkdir()
    given = local_problem("made", 3, sp.csc_matrix(np.eye(3)), np.array([-1.0, 0.2, 0.1]), np.array([0.5])).problem()
    guess = Guess(np.zeros_like(given.free), np.zeros((1, 3)), 0)
    write_problem(folder / "step-1.npz", given, guess, {"step": 1, "method": "native", "tolerance": 1e-6})
    return folder / "step-1.npz"


def _runs(folder: Path) -> list[Valid]:
    """A block through a few steps, and what an analysis of statics leaves."""
    text = HISTORY.partition("[[motion]]\nrecord")[0] + "[analysis]\nduration = 0.04\ntime_step = 1e-3\n"
    recorded = run(parse_case(text), folder / "recorded").folder
    found = []
    for name, spoilt in (("run", "run.h5"), ("run-case", "case.toml"), ("run-result", "result.json")):
        place = folder / name
        shutil.copytree(recorded, place)
        commands = [["info", "{folder}", "--json"], ["view", "{folder}", "--html", "{out}.html", "--json"],
                    ["picture", "{folder}", "-o", "{out}.png", "--json"], ["export", "{folder}", "-o", "{out}.csv", "--json"],
                    ["verify", "{folder}", "--json"], ["run", "--resume", "{folder}", "--json"],
                    ["plot", "{folder}", "-o", "{out}.svg", "--json"],
                    ["report", "{folder}", "-o", "{out}.html", "--json"]]  # fmt: skip
        if spoilt == "result.json":
            put(place, "result.json", json.dumps({"analysis": "limit", "blocks": 2, "multiplier": 0.3, "converged": True}))
            commands = commands[:1] + commands[-1:]
        found.append(Valid(name, place / spoilt, commands))
    return found


def beside_a_study(folder: Path) -> None:
    """The cases that studies name, and what these name."""
    shaken = HISTORY.partition("[[motion]]")[0] + HISTORY[HISTORY.index("[analysis]") :]
    put(folder, "case.toml", HISTORY)
    put(folder, "shaken.toml", f'{shaken}[motion]\npulse = "kanai-tajimi"\nseed = 1\namplitude = "0.3 g"\nduration = "3 s"\n')
    put(folder, "pulsed.toml", f'{shaken}[motion]\npulse = "one-sine"\namplitude = "0.3 g"\nhalf_period = "0.3 s"\n')
    beside(folder)


def _studies(folder: Path) -> list[Valid]:
    found = []
    for name, text in (("sweep", SWEEP), ("fragility", FRAGILITY), ("domain", DOMAIN)):
        found.append(Valid(name, put(folder / name, "study.toml", text), [["study", "{file}", "-o", "{out}", "--json"]]))
        beside_a_study(folder / name)
    row = {"key": "abc", "sample": {"joints.friction": 0.4}, "status": "standing", "reason": "", "numbers": {}, "seconds": 1.0}
    for spoilt in ("study.json", "study.toml", "case.toml", "trials.jsonl"):
        place = folder / f"begun-{spoilt}"
        about = {"study": str(place / "study.toml"), "case": str(place / "case.toml"), "full": False}
        for name, text in (("study.json", json.dumps(about)), ("study.toml", SWEEP), ("case.toml", HISTORY),
                           ("trials.jsonl", 3 * (json.dumps(row) + "\n"))):  # fmt: skip
            put(place, name, text)
        beside(place)
        commands = [["study", "--resume", "{folder}", "--json"],
                    ["study", "{folder}", "--trial", "abc", "-o", "{out}", "--json"]]  # fmt: skip
        found.append(Valid(place.name, place / spoilt, commands))
    return found

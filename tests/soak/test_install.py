"""A wheel in an empty environment: each Python that is here, the newest of what is needed and the oldest that is allowed; and
the wheel of `make wheel`, which brings its kernels.

Truth: `pip check`; the bar of 1 s for a first word, of 15 s of processor time for a first picture; a run verifies where it was
computed; kernels that were compiled would lie in the cache.
"""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from time import perf_counter

import pytest

pytestmark = pytest.mark.soak

ROOT = Path(__file__).parents[2]
CORE = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
OLDEST = [re.sub(r">=([\d.]+),.*", r"==\1", bounds) for bounds in CORE]
CASE = """
structure = { generator = "arch", blocks = 7 }
joints = { friction = 2.0 }
motion = { pulse = "biphasic", amplitude = "1.11 g", duration = "0.30 s", direction = [-1, 0, 0] }
analysis = { kind = "dynamics", duration = 0.2, time_step = 0.001 }
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, env=os.environ | {"PYTHONPATH": ""})
    (made,) = folder.iterdir()
    return made


def python(version: str) -> str:
    found = next(iter(Path.home().glob(f".pyenv/versions/{version}.*/bin/python")), None) or shutil.which(f"python{version}")
    if found is None:
        pytest.skip(f"no Python {version} here")
    return str(found)


@pytest.mark.parametrize(("version", "pins"), [("3.11", []), ("3.12", []), ("3.13", []), ("3.11", OLDEST), ("3.12", OLDEST)])
def test_the_core_alone_runs(wheel, tmp_path, version, pins):
    env = os.environ | {"PYTHONPATH": "", "XDG_CACHE_HOME": str(tmp_path / "cache")}

    def said(*command, code=0):
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    def seconds(*command):
        begin = perf_counter()
        said(*command)
        return perf_counter() - begin

    here, bin = tmp_path / "venv", tmp_path / "venv" / "bin"
    said(python(version), "-m", "venv", here)
    said(bin / "python", "-m", "pip", "install", "--quiet", wheel, *pins)
    said(bin / "python", "-m", "pip", "check")
    for first_word in ((bin / "python", "-c", "import drystone"), (bin / "drystone", "--help")):
        assert min(seconds(*first_word) for _ in range(4)) < 1.0  # warm, and the best of some: other programs run too
    (tmp_path / "case.toml").write_text(CASE)
    said(bin / "drystone", "run", "case.toml", "-o", "out", "--picture")
    assert (tmp_path / "out" / "last.png").exists()
    assert "the same bits" in said(bin / "drystone", "verify", "out")
    stamp = json.loads(said(bin / "drystone", "info", "out", "--json"))["stamp"]
    assert stamp["python"].startswith(version)
    for pin in pins:
        name, number = pin.split("==")
        assert stamp["libraries"].get(name, number).startswith(number)
    assert "drystone[plot]" in said(bin / "drystone", "plot", "out", "-o", "x.png", code=2)


def test_the_wheel_with_kernels_compiles_nothing(tmp_path):
    subprocess.run(["make", "wheel"], cwd=ROOT, check=True)
    (wheel,) = (ROOT / "dist").glob("*.whl")
    bin, home = tmp_path / "venv" / "bin", tmp_path / "home"
    home.mkdir()
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "XDG_CACHE_HOME")}
    env |= {"HOME": str(home)}

    def said(*command):
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    said(sys.executable, "-m", "venv", tmp_path / "venv")
    said(bin / "python", "-m", "pip", "install", "--quiet", f"{wheel}[plot]")
    said(bin / "python", "-m", "pip", "check")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = said(bin / "drystone", "run", ROOT / "examples" / "demo.toml", "-o", "out", "--picture")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "compiling" not in output
    assert not list(home.rglob("*.kernel"))
    assert (tmp_path / "out" / "last.png").exists()
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 15
    said(bin / "python", "-m", "drystone", "view", "out", "--html", "out.html")
    said(bin / "drystone", "report", "out", "-o", "report.html")
    assert not list(home.rglob("*.kernel"))

"""What is shipped: wheel and sdist have the built page inside although git ignores it, so that installing needs no npm."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMES = ["index.html", "page.css", "page.js"]


@pytest.fixture
def clone(tmp_path):
    """What a build reads, with a page of three words."""
    pytest.importorskip("hatchling", reason="hatchling, of the dev group, builds wheels")
    for name in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, tmp_path)
    ignored = shutil.ignore_patterns("__pycache__", "bundle")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=ignored)
    shutil.copytree(ROOT / "page", tmp_path / "page", ignore=shutil.ignore_patterns("node_modules"))
    (tmp_path / "page" / "node_modules" / "three").mkdir(parents=True)
    (tmp_path / "page" / "node_modules" / "three" / "three.js").write_text("not ours")
    bundle = tmp_path / "src" / "drystone" / "page" / "bundle"
    bundle.mkdir()
    for name in NAMES:
        (bundle / name).write_text("page")
    return tmp_path


def built(clone, kind):
    """The one file that hatchling makes of the clone."""
    said = subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", "dist"], cwd=clone,
                          capture_output=True, text=True, env=os.environ | {"PYTHONPATH": ""})  # fmt: skip
    assert said.returncode == 0, said.stderr
    (made,) = (clone / "dist").iterdir()
    return made


def test_the_wheel_has_the_page(clone):
    with zipfile.ZipFile(built(clone, "wheel")) as wheel:
        names = wheel.namelist()
    assert [name for name in names if "/bundle/" in name] == [f"drystone/page/bundle/{name}" for name in NAMES]
    assert "drystone/page/server.py" in names
    assert not [name for name in names if "node_modules" in name]


def test_the_sdist_has_the_page_and_its_sources(clone):
    with tarfile.open(built(clone, "sdist")) as sdist:
        names = [name.split("/", 1)[1] for name in sdist.getnames()]
    assert {f"src/drystone/page/bundle/{name}" for name in NAMES} <= set(names)
    assert {"page/package.json", "page/build.mjs"} <= set(names)
    assert not [name for name in names if "node_modules" in name]

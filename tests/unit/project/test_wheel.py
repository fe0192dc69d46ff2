"""What is shipped: wheel and sdist have the built page inside although git ignores it, so that installing needs no npm; and
nothing else than the program. Truth: the lists here, and the files of src."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
NAMES = ["index.html", "page.css", "page.js"]


@pytest.fixture
def clone(tmp_path):
    """What a build reads, with a page of three words."""
    pytest.importorskip("hatchling", reason="hatchling, of the dev group, builds wheels")
    for name in ("pyproject.toml", "build_hook.py", "README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md", ".gitignore"):
        shutil.copy(ROOT / name, tmp_path)
    ignored = shutil.ignore_patterns("__pycache__", "bundle", "compiled")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=ignored)
    for folder in ("tests", "examples", "docs", "bench"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "not-shipped.py").write_text("")
    shutil.copytree(ROOT / "page", tmp_path / "page", ignore=shutil.ignore_patterns("node_modules"))
    (tmp_path / "page" / "node_modules" / "three").mkdir(parents=True)
    (tmp_path / "page" / "node_modules" / "three" / "three.js").write_text("not ours")
    bundle = tmp_path / "src" / "drystone" / "show" / "page" / "bundle"
    bundle.mkdir()
    for name in NAMES:
        (bundle / name).write_text("page")
    return tmp_path


def build(clone, kind):
    return subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", "dist"], cwd=clone,
                          capture_output=True, text=True, env=os.environ | {"PYTHONPATH": ""})  # fmt: skip


def built(clone, kind):
    """The one file that hatchling makes of the clone."""
    said = build(clone, kind)
    assert said.returncode == 0, said.stderr
    (made,) = (clone / "dist").iterdir()
    return made


def test_the_wheel_has_the_page(clone):
    with zipfile.ZipFile(built(clone, "wheel")) as wheel:
        names = wheel.namelist()
    assert [name for name in names if "/bundle/" in name] == [f"drystone/show/page/bundle/{name}" for name in NAMES]
    modules = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.py")}
    assert {name for name in names if name.endswith(".py")} == modules
    others = {name.split("/")[-1] for name in names if not name.endswith(".py")} - set(NAMES)
    assert "drystone/py.typed" in names, "type checkers read the annotations of installed packages that have it"
    assert others == {"starter.toml", "py.typed", "METADATA", "WHEEL", "RECORD", "entry_points.txt", "LICENSE"}


def test_a_wheel_without_the_page_is_not_built(clone):
    (clone / "src" / "drystone" / "show" / "page" / "bundle" / "index.html").unlink()
    said = build(clone, "wheel")
    assert said.returncode != 0
    assert "run `make page` first" in said.stderr
    assert not (clone / "dist").exists() or not list((clone / "dist").iterdir())


def test_a_wheel_with_kernels_is_for_one_python_and_one_kind_of_machine(clone):
    assert built(clone, "wheel").name.endswith("-py3-none-any.whl")
    shutil.rmtree(clone / "dist")
    (clone / "src" / "drystone" / "base" / "kernel" / "compiled").mkdir()
    (clone / "src" / "drystone" / "base" / "kernel" / "compiled" / "one.kernel").write_bytes(b"")
    made = built(clone, "wheel")
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    assert f"-{python}-{python}-" in made.name
    with zipfile.ZipFile(made) as wheel:
        assert "drystone/base/kernel/compiled/one.kernel" in wheel.namelist()


def test_the_wheel_bounds_what_it_needs(clone):
    """Every dependency of the core has a lower bound, and an upper one: the next major release may break it."""
    with zipfile.ZipFile(built(clone, "wheel")) as wheel:
        (place,) = [name for name in wheel.namelist() if name.endswith("METADATA")]
        lines = wheel.read(place).decode().splitlines()
    needed = [line for line in lines if line.startswith("Requires-Dist") and "extra ==" not in line]
    assert len(needed) == 10
    assert all(">=" in line and "<" in line for line in needed)


def test_the_sdist_has_the_page_and_its_sources(clone):
    with tarfile.open(built(clone, "sdist")) as sdist:
        names = [name.split("/", 1)[1] for name in sdist.getnames()]
    assert {f"src/drystone/show/page/bundle/{name}" for name in NAMES} <= set(names)
    assert {"page/package.json", "page/build.mjs"} <= set(names)
    assert not [name for name in names if "node_modules" in name]
    tops = {name.split("/")[0] for name in names}
    texts = {"README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md"}
    assert tops == {"src", "page", "pyproject.toml", "build_hook.py", ".gitignore", "PKG-INFO"} | texts

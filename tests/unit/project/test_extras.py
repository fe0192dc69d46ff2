"""Without an extra, what needs it ends in one message that names the extra. Truth: the list of extras in pyproject.toml."""

import sys
import tomllib
from pathlib import Path

import pytest

from drystone.base.errors import InputError
from drystone.ground.formats.accelerogram_files import read_accelerograms
from drystone.io.geometry.convex_pieces import _approximate
from drystone.io.geometry.structure_file import read_structure
from drystone.show.pictures.movie import _write_gif, _write_mp4
from drystone.show.plots.style import drawing
from drystone.study.dask_workers import DaskWorkers

ROOT = Path(__file__).parents[3]
NOWHERE = Path("nowhere")
NEEDS = [  # extra, module, what needs it; the file is there
    ("plot", "matplotlib", lambda file: drawing("x.png").__enter__()),
    ("rhino", "rhino3dm", lambda file: read_structure(file("wall.3dm", b"3D Geometry File Format "))),
    ("dxf", "ezdxf", lambda file: read_structure(file("wall.dxf", b"0\nSECTION\n"))),
    ("decompose", "coacd", lambda file: _approximate(None, NOWHERE)),
    ("study", "distributed", lambda file: DaskWorkers(None, "tcp://127.0.0.1:1").__enter__()),
    ("seismology", "obspy", lambda file: read_accelerograms(file("shake.mseed", b"000001D " + bytes(504)))),
    ("movie", "imageio_ffmpeg", lambda file: _write_mp4(NOWHERE, iter([]), (2, 2), 25.0)),
    ("movie", "PIL", lambda file: _write_gif(NOWHERE, iter([]), 25.0)),
]


def test_every_extra_is_asked_for_here():
    """But parquet, without which a study writes the same table as CSV only."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {extra for extra, _, _ in NEEDS} == set(extras) - {"all", "parquet"}


@pytest.mark.parametrize(("extra", "module", "need"), NEEDS, ids=[module for _, module, _ in NEEDS])
def test_without_it_one_message(tmp_path, monkeypatch, extra, module, need):
    def file(name, content):
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    for name in [name for name in sys.modules if name.split(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=rf"pip install 'drystone\[{extra}\]'"):
        need(file)

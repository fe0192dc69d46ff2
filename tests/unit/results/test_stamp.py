"""Every result says where it comes from. Truth: hashlib and importlib.metadata asked directly, files written here."""

import hashlib
import json
from importlib.metadata import version
from pathlib import Path

import h5py
import numba
import pytest

from drystone.io.named_files import path_digest
from drystone.results.store.run_reader import read_run
from drystone.results.store.run_writer import RunWriter
from drystone.results.store.stamp import STAMPED_LIBRARIES, format_stamp, make_stamp
from drystone.study.preparation import prepare_study, resume_study, write_manifest
from tests.unit.synthetic import boxes, start

MODEL = boxes([[0, 0, 0.5], [0, 0, 1.5]], fixed=[0])
RECORDED = """
structure = { generator = "block" }
joints = { friction = 0.6 }
analysis = { duration = 0.01, time_step = 0.001 }
motion = { record = "shake.csv" }
"""


def sha(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


def written(folder: Path, case: str, path: Path | None = None):
    with RunWriter.create(folder, case, MODEL, start(MODEL), every_steps=1, path=path):
        pass
    return read_run(folder)


def test_a_run_tells_program_machine_and_case(tmp_path):
    found = written(tmp_path, "# a case\n").stamp
    assert found["case"] == sha("# a case\n")
    assert found["libraries"] == {name: version(name) for name in STAMPED_LIBRARIES}
    assert {"numpy", "scipy", "numba", "clarabel", "h5py"} <= set(found["libraries"])
    assert found["libraries"]["numba"] == numba.__version__
    assert found["threads"] >= 1
    for number in (found["python"], found["platform"], *found["libraries"].values()):
        assert number in format_stamp(found)


def test_the_files_a_case_names_have_digests(tmp_path):
    (tmp_path / "shake.csv").write_text("0,0\n")
    found = written(tmp_path / "run", RECORDED, tmp_path / "case.toml").stamp
    assert found["files"] == {"shake.csv": sha("0,0\n")}
    assert found["case_file"] == str(tmp_path / "case.toml")


def test_another_block_is_another_geometry():
    higher = boxes([[0, 0, 0.5], [0, 0, 1.5 + 1e-12]], fixed=[0])
    stamps = [make_stamp("", None, model.blocks) for model in (MODEL, MODEL, higher)]
    assert stamps[0]["geometry"] == stamps[1]["geometry"] != stamps[2]["geometry"]


def test_a_run_without_stamp_says_so(tmp_path):
    written(tmp_path, "")
    with h5py.File(tmp_path / "run.h5", "r+") as file:
        del file.attrs["stamp"]
    assert read_run(tmp_path).stamp == {}
    assert "no stamp" in format_stamp({})


def test_the_digest_of_a_folder_is_of_all_its_files(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    whole = hashlib.sha256(bytes.fromhex(sha("a")) + bytes.fromhex(sha("b"))).hexdigest()
    assert path_digest(tmp_path) == whole
    (tmp_path / "b").write_text("other")
    assert path_digest(tmp_path) != whole
    assert path_digest(tmp_path / "none") == ""


def test_every_sitting_of_a_study_is_stamped(tmp_path):
    (tmp_path / "case.toml").write_text(RECORDED.replace('motion = { record = "shake.csv" }\n', ""))
    study = '[study]\nkind = "sweep"\ncase = "case.toml"\nvary = { "joints.friction" = [0.5] }\n'
    (tmp_path / "study.toml").write_text(study)
    write_manifest(prepare_study(tmp_path / "study.toml"), tmp_path / "out")
    write_manifest(resume_study(tmp_path / "out"), tmp_path / "out")
    stamps = json.loads((tmp_path / "out" / "study.json").read_text())["stamps"]
    assert [found["case"] for found in stamps] == 2 * [path_digest(tmp_path / "case.toml")]


@pytest.mark.parametrize("at_creation", [True, False])
def test_the_digest_is_that_of_what_is_kept(tmp_path, at_creation):
    """Faces and names are read back as other types than they were written: their digest must not know."""
    from drystone.build import arch
    from drystone.structure.model import build_model

    model = build_model(arch(blocks=5), friction=0.6)
    with RunWriter.create(tmp_path, "", model, start(model), every_steps=1):
        pass
    blocks = model.blocks if at_creation else read_run(tmp_path).model.blocks
    assert read_run(tmp_path).stamp["geometry"] == make_stamp("", None, blocks)["geometry"]

"""`drystone check`: exit codes, one JSON object, a new file and never the old one, and a picture with the colours in it."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from drystone.io.doctor.examination import examine
from drystone.io.geometry.block_file import read_blocks, write_blocks
from drystone.io.starter import write_starter
from drystone.show.pictures.defect_picture import KIND_COLOURS, defects_picture
from drystone.structure.model import build_model
from tests.unit.io.test_doctor_examine import BRICK, WALL, damaged, moved, raised

BROKEN = damaged(BRICK, faces=(*WALL[BRICK].faces[:2], WALL[BRICK].faces[2][::-1], *WALL[BRICK].faces[3:]))


@pytest.fixture
def file(tmp_path):
    """Write blocks and give the path."""

    def write(blocks, name="blocks.json"):
        write_blocks(tmp_path / name, blocks)
        return tmp_path / name

    return write


@pytest.mark.parametrize(
    ("blocks", "expected", "kinds"),
    [(WALL, 0, []), (moved(18, [0, 0, 5.0]), 0, ["no contact"]), (BROKEN, 1, ["inward face"])],
)
def test_exit_code_says_whether_it_can_run(command, file, blocks, expected, kinds):
    code, out, _ = command("check", file(blocks), "--json")
    assert code == expected
    assert [finding["kind"] for finding in json.loads(out)["findings"]] == kinds
    code, out, _ = command("check", file(blocks))
    assert code == expected
    assert all(kind in out for kind in kinds)


def test_findings_are_machine_readable(command, file):
    _, out, _ = command("check", file(BROKEN), "--json")
    facts = json.loads(out)
    assert (facts["blocks"], facts["sound_blocks"]) == (19, 18)
    finding = facts["findings"][0]
    assert finding["blocks"] == [WALL[BRICK].name]
    assert (finding["face"], finding["severity"], finding["value"]) == (2, "error", None)
    assert "reverse its vertex order" in finding["cure"]


def test_many_findings_of_a_kind_are_told_together(command, file):
    _, out, _ = command("check", file(raised(0.002, 0.4)))
    assert "gap, 8 times, 2 mm" in out
    assert "5 more; --json lists all" in out


@pytest.mark.parametrize("content", ["", "{}", '{"blocks": [{"vertices": []}]}'])
def test_a_file_that_cannot_be_read_is_code_2(command, tmp_path, content):
    path = tmp_path / "blocks.json"
    path.write_text(content)
    code, _, err = command("check", path)
    assert code == 2
    assert "blocks.json" in err


def test_fix_writes_a_new_file_that_runs(command, file, tmp_path):
    path, out = file(BROKEN), tmp_path / "fixed.json"
    before = path.read_bytes()
    code, printed, _ = command("check", path, "--fix", out, "--json")
    facts = json.loads(printed)
    assert code == 0
    assert facts["repairs"] == [{"kind": "surface", "block": WALL[BRICK].name, "said": "reversed face 2"}]
    assert facts["remaining"] == []
    assert path.read_bytes() == before
    build_model(read_blocks(out), friction=0.5)
    code, printed, _ = command("check", out, "--fix", tmp_path / "again.json")
    assert code == 0
    assert "nothing is left" in printed
    assert (tmp_path / "again.json").read_bytes() == out.read_bytes()


def test_fix_never_replaces_a_file(command, file):
    path = file(BROKEN)
    code, _, err = command("check", path, "--fix", path)
    assert code == 2
    assert "never overwrites" in err
    assert command("check", path, "--fix", path.with_suffix(".doc"))[0] == 2


def test_what_cannot_be_fixed_is_code_1(command, file, tmp_path):
    blocks = moved(BRICK, [0.05, 0, 0], BROKEN)
    code, out, _ = command("check", file(blocks), "--fix", tmp_path / "fixed.json", "--json")
    assert code == 1
    assert [finding["kind"] for finding in json.loads(out)["remaining"] if finding["severity"] == "error"] == ["overlap"]


def test_a_case_with_bad_blocks_is_examined(command, file, tmp_path):
    file(BROKEN)
    case = tmp_path / "case.toml"
    text = write_starter("wall")
    start, end = text.index("[structure]"), text.index("[joints]")
    case.write_text(text[:start] + '[structure]\nfile = "blocks.json"\n' + text[end:])
    code, out, _ = command("check", case, "--json")
    assert code == 1
    assert json.loads(out)["findings"][0]["kind"] == "inward face"
    file(WALL)
    code, out, _ = command("check", case, "--json")
    assert code == 0
    assert json.loads(out)["steps"] > 0


def test_within_must_be_sensible(command, file):
    for within in ("-0.1", "0.5"):
        code, _, err = command("check", file(WALL), "--within", within)
        assert code == 2
        assert "--within" in err


def test_picture_shows_the_colours_of_what_was_found(tmp_path):
    """The pixels of a defective brick have the hue of its kind; without defects that colour is nowhere."""
    image = defects_picture(examine(BROKEN), tmp_path / "broken.png")
    clean = defects_picture(examine(WALL), tmp_path / "clean.png")
    assert (tmp_path / "broken.png").read_bytes()[:4] == b"\x89PNG"
    assert _bluish(image) > 200 + 18 * 18  # more than the square of the legend
    assert _bluish(clean) == 0


def _bluish(image):
    red, _, blue = (image[..., k].astype(int) for k in range(3))
    assert KIND_COLOURS["inward face"][2] > KIND_COLOURS["inward face"][0] + 0.5
    return int((blue > red + 60).sum())


def test_blocks_that_are_no_solids_are_drawn(tmp_path):
    flat = replace(WALL[3], vertices=WALL[3].vertices * [1, 0, 1])
    blocks = [*damaged(BRICK, faces=WALL[BRICK].faces[1:]), replace(flat, name="flat"), replace(WALL[1], faces=(), name="none")]
    image = defects_picture(examine(blocks), tmp_path / "broken.png")
    assert np.isfinite(image).all()
    assert np.ptp(image) > 100


def test_the_page_names_every_kind_that_has_a_colour():
    page = (Path(__file__).parents[3] / "docs/doctor.md").read_text(encoding="utf-8")
    assert all(f"| {kind} |" in page for kind in KIND_COLOURS)

"""`drystone record`: a file of 101 samples in g, whose measures are known by hand, and one of two components."""

import json

import numpy as np
import pytest

SAMPLES = np.tile([0.0, 0.2, 0.0, -0.2], 25).tolist() + [0.0]  # [g] 0.01 s apart


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "zigzag.txt"
    path.write_text("".join(f"{i / 100:.2f} {value}\n" for i, value in enumerate(SAMPLES)))
    return path


def test_one_record_as_json(command, file):
    code, out, _ = command("record", file, "--unit", "g", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["dt"], found["samples"], found["duration"]) == (pytest.approx(0.01), 101, pytest.approx(1.0))
    assert found["pga"] == pytest.approx(0.2 * 9.81)
    assert found["pgv"] == pytest.approx(0.2 * 9.81 * 0.01)  # the area of one triangle
    assert found["arias"] == pytest.approx(np.pi / (2 * 9.81) * (0.2 * 9.81) ** 2 / 3)
    assert (found["unit_in_file"], found["component"], found["name"]) == ("g", "", "zigzag")
    assert found["pgd"] == pytest.approx(25 * 0.2 * 9.81 * 0.01 * 0.02)  # 25 times half of PGV for 0.04 s
    assert found["spectrum"]["damping"] == 0.05


def test_several_records_are_listed(command, file):
    two = file.with_name("two.txt")
    two.write_text("".join(f"{i / 100:.2f} {value} {2 * value}\n" for i, value in enumerate(SAMPLES)))
    code, out, _ = command("record", file, two, "--unit", "g", "--json")
    found = json.loads(out)["records"]
    assert code == 0
    assert [record["pga"] / 9.81 for record in found] == pytest.approx([0.2, 0.2, 0.4])
    _, out, _ = command("record", two, "--column", 3, "--unit", "g", "--json")
    assert json.loads(out)["pga"] == pytest.approx(0.4 * 9.81)
    _, out, _ = command("record", two, "--component", "column 2", "--unit", "g", "--json")
    assert json.loads(out)["pga"] == pytest.approx(0.2 * 9.81)
    code, out, _ = command("record", file, two, "--unit", "g")
    assert code == 0
    assert len([line for line in out.splitlines() if "(g)" in line]) == 3


def test_what_is_done_is_said(command, file):
    options = ("--baseline", "constant", "--band", 1, 40, "--window", 0.1, 0.9)
    _, out, _ = command("record", file, "--unit", "g", *options, "--json")
    found = json.loads(out)
    assert found["done"] == ["constant baseline taken off", "band from 1 to 40 Hz", "cut to 0.1 to 0.9 s"]
    assert found["samples"] == 81
    _, out, _ = command("record", file, "--unit", "g", "--baseline", "linear")
    assert "after a baseline correction" in " ".join(out.replace("│", " ").split())
    _, out, _ = command("record", file, "--unit", "g")
    assert "1.962 m/s2, 0.2 g" in out
    assert "as recorded" in out


def test_csv_is_read_back(command, file, tmp_path):
    """Written in m/s2 with a heading that says so: no unit needs to be given then, and no bit is lost."""
    first, second = tmp_path / "one.csv", tmp_path / "two.csv"
    assert command("record", file, "--unit", "g", "--out", first)[0] == 0
    code, out, _ = command("record", first, "--out", second, "--json")
    assert code == 0
    assert json.loads(out)["pga"] == pytest.approx(0.2 * 9.81)
    assert first.read_text() == second.read_text()


def test_a_figure(command, file, tmp_path):
    pytest.importorskip("matplotlib")
    assert command("record", file, "--unit", "g", "--plot", tmp_path / "out.png")[0] == 0
    assert (tmp_path / "out.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--unit", "g", "--baseline", "wavy"), "baseline 'wavy' is not known; give one of constant"),
        (("--unit", "g", "--band", 5, 1), "band from 5 to 1 Hz"),
        (("--unit", "g", "--damping", 5), "damping ratio is 5"),
        (("--unit", "g", "--component", "a", "--column", 2), "give only one of them"),
        ((), "unit"),
    ],
)
def test_mistakes_are_told(command, file, options, message):
    code, _, error = command("record", file, *options)
    assert code == 2
    assert message in error

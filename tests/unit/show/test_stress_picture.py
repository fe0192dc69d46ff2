"""Pictures of stresses. Truth: what must be seen of a block under its own weight."""

import numpy as np
import pytest
from typer.testing import CliRunner

import drystone as ds
from drystone.base.errors import InputError
from drystone.cli.options import app
from drystone.io.case import parse_case
from drystone.show.pictures.picture import picture
from drystone.show.pictures.stressed_bricks import STRESS_MEASURES

CASE = """
structure = { generator = "block", width = 0.5, height = 1.0, deformable = { young = 1e9, poisson = 0.2, mesh = [1, 1, 2] } }
joints = { friction = 0.6 }
analysis = { integrator = "cone-program", duration = 0.05, time_step = 0.001, theta = 1.0 }
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return ds.run(parse_case(CASE), tmp_path_factory.mktemp("run") / "block")


def test_the_foot_is_pressed_most(run, tmp_path):
    """The lower brick has the end of the scale, yellow; the upper one, with a third of its stress, is blue; the file is it."""
    image = picture(run, tmp_path / "stress.png", color="von mises", size=(200, 160), azimuth=0.0, elevation=5.0).astype(int)
    stone = [tuple(image[row, 100]) for row in range(160)]
    yellow = [row for row, (r, g, b) in enumerate(stone) if min(r, g) > b + 60]
    blue = [row for row, (r, g, b) in enumerate(stone) if b > r + 40]
    assert len(yellow) > 10
    assert len(blue) > 10
    assert np.max(blue) <= np.min(yellow) + 1
    assert (tmp_path / "stress.png").stat().st_size > 1000


def test_other_readings(run):
    """The block is nowhere in tension: all blue, where compression is yellow."""
    tension, compression = (picture(run, color=name, size=(80, 60)) for name in ("tension", "compression"))
    assert not np.array_equal(tension, compression)
    with pytest.raises(InputError, match=r"'tensoin', did you mean 'tension'\?: choose one of stone, displacement, velocity"):
        picture(run, color="tensoin")


def test_by_command(run, tmp_path):
    said = CliRunner().invoke(app, ["picture", str(run.folder), "-o", str(tmp_path / "a.png"), "--color", "von mises"])
    assert said.exit_code == 0, said.output
    assert (tmp_path / "a.png").exists()


def test_stresses_of_a_dome_are_read_about_its_axis():
    """By hand: at (2, 0, z) the hoop is y, at 45 degrees it is (-1, 1) / sqrt(2); pure shear in the meridian plane has its
    largest compression under 45 degrees."""
    stress = np.array([[1.0, 5.0, -3.0, 0.0, 0.0, 0.0], [2.0, 4.0, 0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 7.0]])
    place = np.array([[2.0, 0.0, 1.0], [1.0, 1.0, 0.0], [3.0, 0.0, 2.0]])
    np.testing.assert_allclose(STRESS_MEASURES["hoop tension"](stress, place), [5.0, 2.0, 0.0])
    np.testing.assert_allclose(STRESS_MEASURES["hoop compression"](-stress, place), [5.0, 2.0, 0.0])
    np.testing.assert_allclose(STRESS_MEASURES["meridian compression"](stress, place), [3.0, 0.0, 7.0])

"""What frames are coloured by: closed forms of a resting column, and turns counted by hand."""

import numpy as np
import pytest

import drystone as ds
from drystone.analysis.statics_run import record_statics
from drystone.base import quaternion
from drystone.base.errors import InputError
from drystone.io.case import parse_case
from drystone.results import quantities
from drystone.results.store.run_reader import read_run

COLUMN = """
[structure]
generator = "column"
width = "0.5 m"
depth = "0.4 m"
height = "2 m"
courses = 4
density = "2000 kg/m3"
[joints]
friction = 0.6
"""


@pytest.fixture(scope="module")
def resting(tmp_path_factory):
    """A column of 4 blocks of 0.5 m, at rest through a history."""
    case = parse_case(COLUMN + '[analysis]\nduration = "20 ms"\ntime_step = "5 ms"\n')
    return ds.run(case, tmp_path_factory.mktemp("rest") / "out")


@pytest.fixture(scope="module")
def balanced(tmp_path_factory):
    """The same column in equilibrium."""
    folder = tmp_path_factory.mktemp("still") / "out"
    for _ in record_statics(parse_case(COLUMN + '[analysis]\nkind = "equilibrium"\n'), folder):
        pass
    return read_run(folder)


@pytest.mark.parametrize("kind", ["resting", "balanced"])
def test_the_pressure_in_a_column_is_its_weight_over_its_area(kind, request):
    run = request.getfixturevalue(kind)
    value = quantities.find_quantity("joint pressure").of(run, run.frames - 1)
    above = {name: 2000.0 * 9.81 * 0.5 * count for name, count in zip(names(run), (4, 4, 3, 2, 1), strict=True)}
    assert dict(zip(names(run), value, strict=True)) == pytest.approx(above, rel=1e-4)


def names(run):
    """From the foundation up."""
    order = np.argsort(run.model.position[:, 2])
    assert (order == np.arange(len(order))).all()
    return [block.name for block in run.model.blocks]


def test_turns_are_counted():
    """A turn about an oblique axis by 0.5 rad a frame, seven turns and more, once the other way round."""
    axis = np.array([0.48, -0.6, 0.64])
    angle = 0.5 * np.arange(100)
    exact = np.stack([np.outer(angle, axis), np.outer(-angle, axis)], axis=1)
    half = exact / 2
    size = np.linalg.norm(half, axis=-1, keepdims=True)
    rotation = np.concatenate([np.cos(size), half * np.sinc(size / np.pi)], axis=-1)
    np.testing.assert_allclose(quantities._unwrapped(quaternion.rotation_vector(rotation)), exact, atol=1e-12)


def test_only_deformable_blocks_have_stresses(resting):
    assert "von mises" not in quantities.list_quantities(resting)
    with pytest.raises(InputError, match="rigid"):
        quantities.find_quantity("von mises").of(resting, 0)


def test_a_name_that_is_none(resting):
    with pytest.raises(InputError, match=r"presure.*did you mean.*joint pressure"):
        quantities.find_quantity("joint presure")

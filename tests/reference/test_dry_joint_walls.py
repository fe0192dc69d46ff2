"""Dry-joint walls of granite in shear and compression: truth is what was measured (Vasconcelos 2005, Vasconcelos and Lourenço
2009, in the database of Vanin et al. 2017)."""

from pathlib import Path

import numpy as np
import pytest

from drystone.analysis.statics.balance import assemble_balance
from drystone.analysis.statics.collapse_multiplier import solve_limit
from drystone.analysis.statics_run import analyse_case
from drystone.io.case import read_case
from drystone.validation.dry_joint_walls import (
    build_tested_wall,
    capacity_curve,
    limit_strength,
    read_curve,
    read_tests,
    wall_loads,
)

ROOT = Path(__file__).parents[2]
FOLDERS = [folder / "shared/data/experiments/dry_joint_walls" for folder in Path(__file__).parents]
DATA_FOLDER = next((folder for folder in FOLDERS if folder.exists()), FOLDERS[-1])
pytestmark = pytest.mark.skipif(not DATA_FOLDER.exists(), reason="needs shared/data/experiments beside the repository")

TESTS = [test for test in read_tests(DATA_FOLDER) if test.name.startswith("WS")] if DATA_FOLDER.exists() else []


@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.name)
def test_the_strength_is_that_measured(test):
    """Within 15 % of the largest force either way."""
    assert len(TESTS) == 9
    found = limit_strength(test)
    for measured in test.strengths:
        assert found == pytest.approx(measured, rel=0.15)


def test_the_wall_goes_on_rocking_as_measured():
    """From where the cracks are open to 20 mm, within 15 % of the largest force measured near by, either way."""
    test = next(test for test in TESTS if test.name == "WS1.100")
    points = capacity_curve(test, 0.021)
    displacement, force = read_curve(test.curve_file)
    for place in (0.010, 0.015, 0.020):
        computed = np.interp(place, [p.displacement for p in points], [p.multiplier for p in points])
        for sign in (1, -1):
            measured = (sign * force)[np.abs(sign * displacement - place) < 0.001].max()
            assert computed == pytest.approx(measured, rel=0.15)


def test_the_example_is_the_wall():
    """The case in kN, the wall of the table in N; the curve starts at the limit load."""
    case = read_case(ROOT / "examples/dry-joint-wall.toml")
    first = next(stage for stage in analyse_case(case, case.model()) if stage.step is not None)
    test = next(test for test in TESTS if test.name == "WS1.100")
    model = build_tested_wall(test)
    truth = solve_limit(assemble_balance(model), *wall_loads(test, model)).multiplier
    assert float(first.words.split()[1]) == pytest.approx(1e-3 * truth, rel=1e-5)

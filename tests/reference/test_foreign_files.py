"""The contact problems of siconos and FCLIB in ../shared: all are read, and what they say is what we solve.

Truth: the table in the README beside the files, their own matrices, and the residual that these give."""

import re
from pathlib import Path

import numpy as np
import pytest

from drystone.analysis.contact_problem import solve_file
from drystone.io.contact_problems.foreign_problem import remainder
from drystone.io.contact_problems.problem_file import read_contact_problem

FOLDERS = [folder / "shared/data/contact_problems" for folder in Path(__file__).parents]
DATA = next((folder for folder in FOLDERS if folder.exists()), FOLDERS[-1])
TABLE = (DATA / "README.md").read_text(encoding="utf-8") if DATA.exists() else ""
ROW = re.compile(r"^\| (\S+\.(?:dat|hdf5)) .*dimension (\d), contacts (\d+)", re.MULTILINE)
FACTS = {name: (int(dimension), int(contacts)) for name, dimension, contacts in ROW.findall(TABLE)}
SMALL = [name for name, (_, contacts) in FACTS.items() if contacts <= 60]
SIX_DIGITS = ("Confeti-ex13-4contact-Fc3D-SBM.dat", "Confeti-ex13-Fc3D-SBM.dat")  # rounding made eigenvalues negative
SPINNING = "Capsules", "OneObject", "RockPile"  # W is not symmetric

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="needs shared/data/contact_problems beside the repository")


def test_all_are_in_the_table():
    assert len(FACTS) == 22
    assert {path.name for path in DATA.iterdir()} == {*FACTS, "README.md"}


@pytest.mark.parametrize("name", FACTS)
def test_is_read(name):
    """W r + q is A (A^T r + free) + bias to rounding for a random r, and the skew part of W times r where it has one."""
    given = read_contact_problem(DATA / name)
    assert (given.dimension, len(given.friction)) == FACTS[name]
    r = np.zeros((len(given.friction), 3))
    r[:, : given.dimension] = np.random.default_rng(1).normal(size=(len(r), given.dimension))
    u, missing = given.velocity(r), remainder(given, given.problem(), r)
    scale = np.abs(u - given.velocity(0 * r)).max()
    if given.form == "local":
        skew = (given.W - given.W.T) @ r[:, : given.dimension].ravel() / 2
        assert (np.abs(skew).max() > 1e-10 * scale) == name.startswith(SPINNING)
        missing[:, : given.dimension] -= skew.reshape(-1, given.dimension)
    assert np.abs(missing).max() <= (1e-6 if name in SIX_DIGITS else 1e-12) * scale


@pytest.mark.parametrize("name", SMALL)
def test_associated_law(name):
    """Clarabel knows nothing of the file: its own matrices agree."""
    answer = solve_file(DATA / name, method="clarabel-static", law="associated")
    assert answer.facts["residual"] < 3e-5
    r, friction = answer.reaction, read_contact_problem(DATA / name).friction
    assert np.all(np.hypot(r[:, 1], r[:, 2]) <= friction * r[:, 0] + 1e-6 * np.abs(r).max())


@pytest.mark.parametrize("name", SMALL)
def test_coulombs_law(name):
    """What the files ask for, by the default method."""
    answer = solve_file(DATA / name)
    assert (answer.facts["method"], answer.facts["friction_law"]) == ("native", "coulomb")
    assert answer.good, answer.facts

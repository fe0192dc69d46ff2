"""The run that nothing happens to, once for all tests of this folder."""

import pytest

from tests.faults.programs import drystone, seconds_after, told_here, wall


@pytest.fixture(scope="session")
def truth(tmp_path_factory):
    """The run of the wall, and how many seconds it takes."""
    folder = tmp_path_factory.mktemp("truth")
    assert told_here("run", wall(folder), "-o", folder / "first", "--json")[0] == 0  # kernels are compiled
    lasts = seconds_after(drystone("run", wall(folder), "-o", folder / "run", "--json"), folder / "run" / "run.h5")
    return folder / "run", lasts

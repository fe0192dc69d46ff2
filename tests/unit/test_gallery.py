"""The gallery page is made of the generators as they are: nothing missing, nothing old."""

from pathlib import Path

import pytest

from drystone.build import GENERATORS
from drystone.io.starter import keys_of

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", GENERATORS)
def test_every_generator_is_shown(name):
    page = (DOCS / "gallery.md").read_text()
    assert f"## {name}\n" in page
    assert keys_of(name) in page, "run make gallery"
    assert (DOCS / "images" / "gallery" / f"{name}.png").stat().st_size > 2000

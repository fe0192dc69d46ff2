"""The gallery page is made of the generators as they are: nothing missing, nothing old."""

import re
from pathlib import Path

import pytest

from drystone.build import GENERATORS
from drystone.io.starter import format_generator_keys

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("name", GENERATORS)
def test_every_generator_is_shown(name):
    page = (DOCS / "gallery.md").read_text()
    assert f"## {name}\n" in page
    assert format_generator_keys(name) in page, "run make gallery"
    assert (DOCS / "images" / "gallery" / f"{name}.png").stat().st_size > 2000


@pytest.mark.parametrize("page", ["README.md", "docs/gallery.md"])
def test_every_picture_is_there_and_small(page):
    path = DOCS.parent / page
    shown = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", path.read_text())
    assert shown
    for name in shown:
        assert 2000 < (path.parent / name).stat().st_size < 1_500_000, name

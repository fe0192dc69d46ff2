"""Documentation that runs: doctests of all modules, the equations that code cites, the numbers of the tour, the examples.
Blocks of code of the pages are followed in test_tutorials.py."""

import doctest
import importlib
import importlib.util
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest

import drystone
from drystone.io.case import read_case

ROOT = Path(__file__).parents[1]
PACKAGE = Path(drystone.__file__).parent
MODULES = ["drystone", *(module.name for module in pkgutil.walk_packages(drystone.__path__, "drystone."))]
NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?")


@pytest.mark.parametrize("name", MODULES)
def test_doctests(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def cited(text: str) -> set[int]:
    """Numbers of the equations (T1) ... named in a text, ranges such as T3-T6 included."""
    found = {int(n) for n in re.findall(r"\bT(\d+)\b", text)}
    for first, last in re.findall(r"\bT(\d+)-T(\d+)\b", text):
        found |= set(range(int(first), int(last) + 1))
    return found


def test_cited_equations_exist():
    theory = (ROOT / "docs/theory.md").read_text(encoding="utf-8")
    stated = [int(n) for n in re.findall(r"\\tag\{T(\d+)\}", theory)]
    used = set().union(*(cited(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")))
    assert len(stated) == len(set(stated)), "each number once"  # a section has its own range
    assert used <= set(stated)


def test_links_between_documents_lead_somewhere():
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\(([^)#:]+?\.md)[^)]*\)", page.read_text(encoding="utf-8")):
            if not target.startswith("reference/"):  # made with the site, where test_site.py follows the links to it
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_tour_shows_what_the_code_does():
    """The words are the same and the numbers agree to a part in a thousand, or to their last digit or two. Which path
    the solver took is left out: it may change with the solver, and its residuals with the machine."""
    spec = importlib.util.spec_from_file_location("tour", ROOT / "docs/tour.py")
    tour = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tour)
    page = (ROOT / "docs/tour.md").read_text(encoding="utf-8")
    for name, text in tour.sections().items():
        shown = re.search(rf"<!-- {name} -->\n```text\n(.*?)\n```", page, re.DOTALL)[1]
        if name != "solver":
            assert NUMBER.sub("", shown).split() == NUMBER.sub("", text).split(), name
            old, new = ([float(n) for n in NUMBER.findall(part)] for part in (shown, text))
            np.testing.assert_allclose(new, old, rtol=1e-3, atol=2e-2 if name == "advance" else 2e-3, err_msg=name)


@pytest.mark.parametrize("case", sorted(ROOT.glob("examples/*.toml")), ids=lambda path: path.stem)
def test_examples_are_valid(case):
    assert read_case(case).model().blocks

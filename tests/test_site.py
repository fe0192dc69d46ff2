"""The site: it builds without a warning and fetches nothing; its references know every key that the examples use and every
option that the commands name in their own help; its equations are those of theory.md."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer

pytest.importorskip("myst_parser")
ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))

import mathml  # noqa: E402
import reference  # noqa: E402

from drystone.cli.options import app  # noqa: E402

TABLES = ("structure", "joints", "motion", "load", "change", "analysis", "solver", "output")


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", str(ROOT / "docs"), str(out)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return out


@pytest.fixture(scope="module")
def case_file() -> str:
    return reference.case_file()


def test_pages_fetch_nothing(site):
    """Links may lead out; pictures, scripts, styles and fonts may not."""
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r"<(?:script|img|iframe)[^>]*src=.https?:|<link[^>]*href=.https?:", text), page
    for style in site.rglob("*.css"):
        assert "url(http" not in style.read_text(encoding="utf-8"), style


def test_every_page_is_there(site):
    """One for each file of docs, and the links between pages, with their anchors, lead somewhere."""
    pages = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    for source in (ROOT / "docs").rglob("*.md"):
        if "_build" not in source.parts:
            assert site / source.relative_to(ROOT / "docs").with_suffix(".html") in pages
    for page, text in pages.items():
        for target, anchor in re.findall(r'class="reference internal" href="([^"#:]*)#([^"]+)"', text):
            there = (page.parent / target).resolve() if target else page
            assert f'id="{anchor}"' in pages[there], f"{page.name} links to {target}#{anchor}"


def test_numbers_of_equations_are_anchors(site):
    theory = (ROOT / "docs/theory.md").read_text(encoding="utf-8")
    shown = (site / "theory.html").read_text(encoding="utf-8")
    numbers = re.findall(r"\\tag\{(T\d+)\}", theory)
    assert len(numbers) > 90
    assert re.findall(r'<div class="equation" id="(T\d+)">', shown) == numbers
    assert "$" not in re.sub(r"<(pre|code).*?</\1>", "", shown, flags=re.DOTALL), "an equation that was not seen as one"


def test_equation_by_hand():
    """MathML of x = K / 2, a script letter (U+1D4A6), a number; an unknown command is refused."""
    shown = mathml.display(r"\mathcal K=\frac{x}{2} \tag{T999}")
    assert 'id="T999"' in shown
    assert "&#x1D4A6;" in shown
    assert "<mfrac><mrow><mi>x</mi></mrow><mrow><mn>2</mn></mrow></mfrac>" in shown
    assert "\\" not in mathml.inline(r"\Big\{x\Big\}")
    rows = mathml.display(r"\begin{aligned} a&=1,\\[2pt] b&=2 \end{aligned}")
    assert rows.count("<mtr>") == 2
    assert "&" not in re.sub(r"&#x\w+;", "", rows)
    assert "pt" not in rows
    with pytest.raises(ValueError, match="nosuchcommand"):
        mathml.inline(r"\nosuchcommand x")


def test_keys_of_examples_are_in_the_reference(case_file):
    sections = sections_of(case_file, r"^## `\[(\w+)\]`$")
    rows = {name: set(re.findall(r"^\| `(.+?)` \|", text, re.MULTILINE)) for name, text in sections.items()}
    assert tuple(rows) == TABLES
    for case in sorted(ROOT.glob("examples/*.toml")):
        for table, content in tomllib.loads(case.read_text(encoding="utf-8")).items():
            used = keys(content)
            assert used - rows[table] - generator_keys(rows) == set(), f"[{table}] of {case.name}"
            assert used or not content


def test_every_key_has_a_meaning(case_file):
    """Parameters of a generator are told in words above their table, which then has three columns."""
    cells = [row.split(" | ") for row in case_file.splitlines() if row.startswith("| `")]
    assert [row[0] for row in cells if len(row) == 4 and row[3].strip(" |") == ""] == []
    assert len([row for row in cells if len(row) == 4]) > 100


def test_meanings_come_from_the_code(case_file):
    """By hand, from the comments beside a key, beside a field of the record it goes to, and in a table within a table."""
    rows = {row.split("`")[1]: row for row in case_file.splitlines() if row.startswith("| `")}
    assert rows["collapse"].endswith("| lost share of the potential energy that counts as collapse |")
    assert rows["crushing"].endswith("| crushing strength |")
    assert rows["deformable.mesh"].endswith("| bricks along the edges of a block nearest to x, y and z |")
    assert rows["parts.turn"] == "| `parts.turn` | quantity [rad] | `0.0` | about z, from x towards y |"
    assert rows["from"].endswith("| keep what comes after |")


def sections_of(page: str, heading: str) -> dict[str, str]:
    """The text below each heading."""
    parts = re.split(heading, page, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def generator_keys(rows: dict[str, set[str]]) -> set[str]:
    """A part of a structure has the keys of its generator, told once."""
    return {f"parts.{key}" for key in rows["structure"]}


def keys(content, prefix: str = "") -> set[str]:
    """Paths of all keys of a table, as a.b; a list of tables has the keys of its tables."""
    if isinstance(content, list):
        return set().union(*(keys(each, prefix) for each in content))
    if not isinstance(content, dict):
        return set()
    return {prefix + name for name in content}.union(*(keys(value, f"{prefix}{name}.") for name, value in content.items()))


def test_options_of_the_help_are_in_the_reference():
    """Against what `drystone COMMAND --help` prints."""
    told = sections_of(reference.commands(), r"^### drystone (\S+)$")
    assert re.findall(r"^  ([a-z]+) {2,}\S", help_of(), re.MULTILINE) == list(told)
    assert set(told) == set(typer.main.get_command(app).commands)
    for name in ("run", "study", "picture"):
        options = set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", help_of(name), re.MULTILINE)) - {"--help"}
        assert len(options) > 3
        assert all(f"{option}`" in told[name] or f"{option}," in told[name] for option in options), name


def help_of(*command: str) -> str:
    line = [sys.executable, "-m", "drystone.cli", *command, "--help"]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout

"""Every block of code of README and docs is followed, in the order of its page, as a reader would, and prints what is shown.

The language of a block says what is done. `toml` is kept as the file that its first line names; without a name it is a part of
a case or a study, held against the schema. `sh` are commands of drystone, `python` is run; `text` shows lines of what the block
before printed, in words the same, in numbers to 2 %. A page may take for granted that there are a case.toml, its run in out/,
and its blocks in blocks.json.

A comment before a block says why it is not: `<!-- not run: reason -->`, or `<!-- long: reason -->` for one that `make soak`
runs. Such a block is only read: commands and options must exist, Python must compile. So is a command that opens a browser.
"""

import glob
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import jsonschema
import pytest
import typer

from drystone.analysis.dynamics import run
from drystone.cli import main
from drystone.cli.options import app
from drystone.io.case import read_case
from drystone.io.geometry.structure_file import write_structure
from drystone.io.schema import case_schema
from drystone.io.study_file import parse_study
from drystone.show.report import figures
from drystone.study.preparation import STUDY_KINDS

ROOT = Path(__file__).parents[1]
COMMANDS = typer.main.get_command(app).commands
MADE = {"tour.md", "case-file.md", "commands.md"}  # written from the code (tests/test_docs.py, tests/test_site.py)
PAGES = [page for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md")))
         if page.name not in MADE and "_build" not in page.parts]  # fmt: skip
PAGE_IS_BUILT = (ROOT / "src/drystone/show/page/bundle/index.html").exists()  # by npm; `drystone view` needs it
BLOCK = re.compile(r"^(?:<!-- (not run|long): .+? -->\n)?```(\S*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`drystone ([a-z]+)([^`]*)`")
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")
DONE, INTACT = 0, 0.02
SCHEMA = case_schema()
CASE = """
[structure]
generator = "arch"
[joints]
friction = 0.7
[motion]
pulse = "one-sine"
amplitude = "0.8 g"
half_period = "0.25 s"
[analysis]
duration = "0.2 s"
time_step = "4 ms"
"""


class Block(NamedTuple):
    """A block of code of a page."""

    excuse: str  # "not run", "long", or none
    language: str
    text: str


def blocks(page: Path) -> list[Block]:
    return [Block(*found) for found in BLOCK.findall(page.read_text(encoding="utf-8")) if not found[1].startswith("{")]


WITH_BLOCKS = [page for page in PAGES if blocks(page)]
LONG = [page for page in WITH_BLOCKS if any(block.excuse == "long" for block in blocks(page))]


@pytest.fixture(scope="module")
def granted(tmp_path_factory) -> Path:
    """What a page takes for granted."""
    folder = tmp_path_factory.mktemp("granted")
    (folder / "case.toml").write_text(CASE, encoding="utf-8")
    case = read_case(folder / "case.toml")
    run(case, folder / "out")
    write_structure(folder / "blocks.json", case.blocks())
    return folder


@pytest.fixture
def desk(granted, tmp_path, monkeypatch) -> None:
    """Where a reader sits: a folder with the examples of a clone."""
    shutil.copytree(granted, tmp_path, dirs_exist_ok=True)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")  # no line of a table is broken
    monkeypatch.setattr(figures, "PICTURE_SIZE", (160, 100))  # of the pictures of a report


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=lambda path: path.stem)
def test_page_can_be_followed(page, desk, capsys):
    follow(page, capsys, but=("not run", "long"))


@pytest.mark.soak
@pytest.mark.parametrize("page", LONG, ids=lambda path: path.stem)
def test_page_can_be_followed_to_its_end(page, desk, capsys):
    follow(page, capsys, but=("not run",))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_commands_in_the_text_exist(page):
    for name, rest in INLINE.findall(page.read_text(encoding="utf-8")):
        known = {option for each in COMMANDS[name].params for option in (*each.opts, *each.secondary_opts)}
        assert set(re.findall(r"(?<!\S)--[a-z-]+", rest)) <= known | {"--help"}, f"drystone {name}{rest}"


def follow(page: Path, capsys, but: tuple[str, ...]) -> None:
    """Do what the blocks of a page say; those with an excuse in `but` are only read."""
    printed: list[str] = []
    for block in blocks(page):
        if block.excuse in but:
            read_block(block)
            printed = []
        elif block.language == "text":
            for line in shown_lines(block.text):
                assert any(agrees(line, other) for other in printed), f"{line!r} is not among\n" + "\n".join(printed)
        else:
            do_block(block)
            printed = [words(line) for line in capsys.readouterr().out.splitlines()]


def read_block(block: Block) -> None:
    if block.language == "python":
        compile(block.text, "page", "exec")
    for command in commands(block) if block.language == "sh" else ():
        if command[0] == "drystone":
            COMMANDS[command[1]].make_context(command[1], command[2:])


def do_block(block: Block) -> None:
    if block.language == "toml":
        take(block.text)
    elif block.language == "python":
        exec(compile(block.text, "page", "exec"), {})
    else:
        assert block.language == "sh", f"a block of {block.language!r} would not be run:\n{block.text}"
        for command in commands(block):
            call(command)


def take(text: str) -> None:
    """A file, or a part of a case or of a study."""
    named = re.match(r"# (\S+\.toml)\n", text)
    if named:
        Path(named[1]).write_text(text, encoding="utf-8")
    elif "study" in tomllib.loads(text):
        parse_study(text, "page.toml", STUDY_KINDS)
    else:
        for table, content in tomllib.loads(text).items():
            jsonschema.Draft202012Validator(SCHEMA["properties"][table]).validate(content)


def commands(block: Block) -> Iterator[list[str]]:
    """Words of each line, patterns of names as the shell would have them."""
    for line in block.text.splitlines():
        said = shlex.split(line, comments=True)
        if said:
            yield [each for word in said for each in (sorted(glob.glob(word)) if "*" in word else []) or [word]]


def call(command: list[str]) -> None:
    assert command[0] == "drystone"
    opens_a_browser = command[1] == "studio" or (command[1] == "view" and "--html" not in command)
    if opens_a_browser or (command[1] == "view" and not PAGE_IS_BUILT):
        COMMANDS[command[1]].make_context(command[1], command[2:])
        return
    with pytest.raises(SystemExit) as end:
        main(command[1:])
    assert end.value.code == DONE, command


def shown_lines(text: str) -> Iterator[str]:
    """Lines of a page; what is indented goes on with the line before."""
    return (words(line) for line in re.sub(r"\n +", " ", text.rstrip()).splitlines())


def words(line: str) -> str:
    """Without the frame of a table."""
    return " ".join(re.sub("[\u2500-\u257f]", " ", line).split())


def agrees(shown: str, printed: str) -> bool:
    """The same words, and numbers to 2 %; a page may leave out the end of a line by ..."""
    if shown.endswith("..."):
        shown = shown.removesuffix("...").rstrip()
        printed = cut(printed, len(NUMBER.sub("#", shown)))
    if NUMBER.sub("#", shown) != NUMBER.sub("#", printed):
        return False
    pairs = zip(map(float, NUMBER.findall(shown)), map(float, NUMBER.findall(printed)), strict=True)
    return all(abs(one - other) <= INTACT * max(abs(one), abs(other)) + 1e-9 for one, other in pairs)


def cut(text: str, length: int) -> str:
    """The beginning of a text that is `length` long when every number counts as one sign."""
    for end in range(len(text), 0, -1):
        if len(NUMBER.sub("#", text[:end])) == length:
            return text[:end]
    return text


def test_agreement_can_fail():
    """The test of the test, by hand: another word, a number 3 % off, a line that is missing."""
    printed = "collapse multiplier 0.33463 (associated friction)"
    assert agrees("collapse multiplier 0.335 (associated friction)", printed)
    assert agrees("collapse multiplier 0.335 ...", printed)
    assert not agrees("collapse multiplier 0.345 (associated friction)", printed)
    assert not agrees("collapse angle 0.335 (associated friction)", printed)
    assert not agrees("collapse multiplier 0.335", printed)

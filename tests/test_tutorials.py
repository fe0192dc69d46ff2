"""Pages to follow along are followed: every block of code of the tutorials and how-tos is run in the order of the page, as a
reader would, and prints what the page shows.

The language of a block says what is done: `toml` is kept as the file that its first line names, `sh` are commands of drystone,
`python` is run; `text` shows lines of what the block before printed, in words the same, in numbers to 2 %.
"""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from drystone.cli import main

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("docs/tutorials/*.md")), ROOT / "docs/how-to.md"]
PAGE_IS_BUILT = (ROOT / "src/drystone/page/bundle/index.html").exists()  # by npm; `drystone view` needs it
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")
DONE, INTACT = 0, 0.02


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_page_can_be_followed(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")  # no line of a table is broken
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    printed: list[str] = []
    for language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "text":
            for line in shown_lines(text):
                assert any(agrees(line, other) for other in printed), f"{line!r} is not among\n" + "\n".join(printed)
            continue
        follow(language, text)
        printed = [words(line) for line in capsys.readouterr().out.splitlines()]


def follow(language: str, text: str) -> None:
    """Do what a block of code says."""
    if language == "toml":
        Path(text.split("\n")[0].removeprefix("# ")).write_text(text, encoding="utf-8")
    elif language == "python":
        exec(compile(text, "page", "exec"), {})
    else:
        assert language == "sh", f"a block of {language!r} would not be run"
        for command in filter(None, (shlex.split(line, comments=True) for line in text.splitlines())):
            call(command)


def call(command: list[str]) -> None:
    assert command[0] == "drystone"
    if command[1] == "view" and not PAGE_IS_BUILT:
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

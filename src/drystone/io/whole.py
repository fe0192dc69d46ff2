"""Files that are there whole or not at all: written beside their name, and renamed when all is written."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Where to write the file `path`; nothing is left if that fails."""
    part = path.with_name(path.name + ".part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_whole(path: Path, content: str) -> None:
    """Write a text file."""
    with whole(path) as part:
        part.write_text(content, encoding="utf-8", newline="")

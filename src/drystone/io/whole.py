"""Files that are there whole or not at all: written beside their name, and renamed when all is written.

What keeps a file from being written, a full disk, a folder that is not ours, is one `InputError` that names the file.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from drystone.errors import InputError


@contextmanager
def report_write_errors(path: Path) -> Iterator[None]:
    """Where the file `path` is written."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error}); make room, or give another place") from error


@contextmanager
def replace_atomically(path: Path) -> Iterator[Path]:
    """Where to write the file `path`; nothing is left if that fails."""
    part = path.with_name(path.name + ".part")
    with report_write_errors(path):
        try:
            yield part
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def write_atomic(path: Path, content: str) -> None:
    """Write a text file."""
    with replace_atomically(path) as part:
        part.write_text(content, encoding="utf-8", newline="")

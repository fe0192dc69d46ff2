"""Writes files atomically: to a temporary file in the same folder, which is renamed when it is complete.

If a file cannot be written, as on a full disk or in a folder without permission, one `InputError` names the file.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from drystone.base.errors import InputError


@contextmanager
def report_write_errors(path: Path) -> Iterator[None]:
    """Turn an `OSError` in the block, which writes the file `path`, into an `InputError` that names the file."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error}); make room, or give another place") from error


@contextmanager
def replace_atomically(path: Path) -> Iterator[Path]:
    """A temporary path that becomes the file `path` at the end of the block; it is removed if the block fails."""
    part = path.with_name(path.name + ".part")
    with report_write_errors(path):
        try:
            yield part
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def write_atomic(path: Path, content: str) -> None:
    """Write a text file atomically."""
    with replace_atomically(path) as part:
        part.write_text(content, encoding="utf-8", newline="")

"""Reads files with a bound on their size: returns the bytes or the text of a path, or raises one `InputError`.

Only regular files are read; a folder, a pipe or a device is refused, as it may never end. A file is read completely before it
is parsed, so that a count stated inside it can be compared with the data that are there.
"""

import json
import math
import stat
from pathlib import Path
from typing import Any

from drystone.base.errors import InputError

MAX_FILE_BYTES = 2**28  # [byte] a larger file is refused: 256 MB is about a million blocks
MAX_TEXT_BYTES = 2**22  # [byte] the same for a file that a person writes: a case or a study


def check_readable(path: str | Path, max_bytes: int = MAX_FILE_BYTES) -> Path:
    """The path, if it is a regular file of at most `max_bytes`."""
    path = Path(path)
    try:
        status = path.stat()
    except OSError as error:
        raise InputError(f"{str(path)[:1000]}: cannot be read ({error.strerror}); check the path") from None
    except ValueError as error:  # a name that no file can have
        raise InputError(f"{str(path)[:1000]!r}: cannot be read ({error}); check the path") from None
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{path}: cannot be read (a folder, a pipe or a device); give a file")
    if status.st_size > max_bytes:
        raise InputError(f"{path}: {status.st_size / 1e6:.1f} MB, more than {max_bytes / 1e6:.1f} MB; split the file")
    return path


def read_bytes(path: str | Path, max_bytes: int = MAX_FILE_BYTES) -> bytes:
    """The whole file."""
    path = check_readable(path, max_bytes)
    try:
        with path.open("rb") as file:
            return file.read(max_bytes)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from None


def read_utf8(path: str | Path, max_bytes: int = MAX_TEXT_BYTES) -> str:
    """The content of a text file in UTF-8."""
    try:
        return read_bytes(path, max_bytes).decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from None


def read_own_json(path: str | Path) -> Any:
    """The content of a JSON file that drystone wrote."""
    text = read_utf8(path, MAX_FILE_BYTES)
    try:
        return parse_json(text)
    except (RecursionError, ValueError) as error:
        raise InputError(f"{path}: is not JSON ({str(error)[:80]}); the file is damaged, create it again") from None


def parse_json(text: str | bytes) -> Any:
    """The content of a JSON text; a `ValueError` if the text is not JSON or has a number that is not finite."""
    return json.loads(text, parse_constant=_parse_finite, parse_float=_parse_finite)


def _parse_finite(word: str) -> float:
    number = float(word)
    if not math.isfinite(number):
        raise ValueError(f"{word[:40]} is not finite")
    return number

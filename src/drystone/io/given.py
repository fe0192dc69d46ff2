"""Files as they are given: a path comes in, its bytes or its text go out, or one `InputError`.

A file is a file: no folder, pipe or device, which may never end. It is read whole, up to a size, before anything is made of it,
so that a count inside it can be held against what is there.
"""

import json
import math
import stat
from pathlib import Path
from typing import Any

from drystone.errors import InputError

MAX_FILE_BYTES = 2**28  # [byte] a file of more is refused: 256 MB is about a million blocks
MAX_TEXT_BYTES = 2**22  # [byte] of a file that a person writes: a case, a study


def check_readable(path: str | Path, largest: int = MAX_FILE_BYTES) -> Path:
    """The path, if there is a file of at most so many bytes."""
    path = Path(path)
    try:
        found = path.stat()
    except OSError as error:
        raise InputError(f"{str(path)[:1000]}: cannot be read ({error.strerror}); check the path") from None
    except ValueError as error:  # a name that no file can have
        raise InputError(f"{str(path)[:1000]!r}: cannot be read ({error}); check the path") from None
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"{path}: cannot be read (a folder, a pipe or a device); give a file")
    if found.st_size > largest:
        raise InputError(f"{path}: {found.st_size / 1e6:.1f} MB, more than {largest / 1e6:.1f} MB; split the file")
    return path


def read_bytes(path: str | Path, largest: int = MAX_FILE_BYTES) -> bytes:
    """The whole file."""
    path = check_readable(path, largest)
    try:
        with path.open("rb") as file:
            return file.read(largest)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from None


def read_utf8(path: str | Path, largest: int = MAX_TEXT_BYTES) -> str:
    """What a text file in UTF-8 holds."""
    try:
        return read_bytes(path, largest).decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from None


def read_own_json(path: str | Path) -> Any:
    """What a JSON file of ours holds, of whatever form."""
    text = read_utf8(path, MAX_FILE_BYTES)
    try:
        return parse_json(text)
    except (RecursionError, ValueError) as error:
        raise InputError(f"{path}: is not JSON ({str(error)[:80]}); it was damaged, make it anew") from None


def parse_json(text: str | bytes) -> Any:
    """What JSON says, all of whose numbers are finite; ValueError if they are not, or if it is none."""
    return json.loads(text, parse_constant=_parse_finite, parse_float=_parse_finite)


def _parse_finite(word: str) -> float:
    number = float(word)
    if not math.isfinite(number):
        raise ValueError(f"{word[:40]} is not finite")
    return number

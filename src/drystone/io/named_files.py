"""Finds the files that a case names, and computes their digests."""

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

FILE_KEYS = ("file", "record")  # keys of any table of a case whose value is the path of a file or of a folder


def named_files(node: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """Every place in a case that names a file: the table and the key."""
    if isinstance(node, list):
        for each in node:
            yield from named_files(each)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key in FILE_KEYS and isinstance(value, str):
                yield node, key
            else:
                yield from named_files(value)


def file_digests(content: dict[str, Any], folder: Path) -> dict[str, str]:
    """SHA-256 of the files that a case names, by name; `folder` is that of the case."""
    return {str(table[key]): path_digest(folder / table[key]) for table, key in named_files(content)}


def path_digest(path: Path) -> str:
    """SHA-256 of a file, or of the digests of all files of a folder in turn; empty if there is no file."""
    if path.is_file():
        return _file_digest(path, path.stat().st_mtime_ns, path.stat().st_size).hex()
    files = sorted(each for each in path.rglob("*") if each.is_file())
    parts = [_file_digest(file, file.stat().st_mtime_ns, file.stat().st_size) for file in files]
    return hashlib.sha256(b"".join(parts)).hexdigest() if files else ""


@lru_cache(maxsize=10_000)
def _file_digest(path: Path, changed: int, size: int) -> bytes:
    """The digest of a file, which is read again only if its time or size has changed."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()

"""What a trial depends on: a case and a sample come in, the key of the trial or a case file of its own goes out.

The key is a digest of the case with the sample in it, of the content of every file it names, of the sample and of the version
of drystone. So a comment in the case changes nothing, and a changed number, block file or record makes another trial.
"""

import hashlib
import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import tomli_w

from drystone import __version__
from drystone.io.case import case_content
from drystone.study.trials import Sample, written

FILE_KEYS = ("file", "record")  # of any table of a case: the path of a file, or of a folder of files
DIGITS = 16  # of a key: 64 bits


def key_of(text: str, path: Path, sample: Sample) -> str:
    """The key of the trial of a sample; `text` and `path` are those of the case."""
    content = case_content(text, path, sample)
    files = {str(table[key]): _digest(path.parent / table[key]) for table, key in named_files(content)}
    whole = {"drystone": __version__, "case": content, "files": files, "sample": written(sample)}
    return hashlib.sha256(json.dumps(whole, sort_keys=True, default=str).encode()).hexdigest()[:DIGITS]


def own_text(text: str, path: Path, sample: Sample) -> str:
    """A case file with the sample in it that can be read from any folder."""
    content = case_content(text, path, sample)
    for table, key in named_files(content):
        table[key] = str((path.parent / table[key]).resolve())
    return tomli_w.dumps(content)


def named_files(node: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """Where in a case a file is named: the table and its key."""
    if isinstance(node, list):
        for each in node:
            yield from named_files(each)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key in FILE_KEYS and isinstance(value, str):
                yield node, key
            else:
                yield from named_files(value)


def _digest(path: Path) -> str:
    """Of a file, or of all files of a folder; empty if there is none, which the trial will say."""
    files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path] if path.is_file() else []
    parts = [_file_digest(file, file.stat().st_mtime_ns, file.stat().st_size) for file in files]
    return hashlib.sha256(b"".join(parts)).hexdigest() if files else ""


@lru_cache(maxsize=10_000)
def _file_digest(path: Path, changed: int, size: int) -> bytes:
    """Read again only if it was changed since."""
    return hashlib.sha256(path.read_bytes()).digest()

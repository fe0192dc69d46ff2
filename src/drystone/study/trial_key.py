"""The key of a trial, from everything its result depends on; and a case file with the trial's sample in it.

The key is a digest of the case with the sample inserted, of the content of every file that the case names, of the sample and of
the version of drystone. A comment in the case does not change it; a changed number, block file or accelerogram does.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import tomli_w

from drystone import __version__
from drystone.io.case import case_content
from drystone.io.named_files import file_digests, named_files
from drystone.study.trial_records import Sample, sample_text

KEY_DIGITS = 16  # hexadecimal digits of a key: 64 bits
IGNORED_BY_START = {
    "analysis": ("duration", "after", "collapse"),
    "motion": None,
    "output": None,
}  # the keys of a table; None: all


def trial_key(text: str, path: Path, sample: Sample) -> str:
    """The key of the trial of a sample; `text` and `path` are those of the case."""
    content = case_content(text, path, sample)
    files = file_digests(content, path.parent)
    return _digest({"drystone": __version__, "case": content, "files": files, "sample": sample_text(sample)})


def start_key(text: str, path: Path, sample: Sample) -> str:
    """The key of the initial state of a history, which depends neither on its motions nor on its duration."""
    content = case_content(text, path, sample)
    for table, keys in IGNORED_BY_START.items():
        for key in keys or ():
            content.get(table, {}).pop(key, None)
        if keys is None:
            content.pop(table, None)
    return _digest({"case": content, "files": file_digests(content, path.parent)})


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()[:KEY_DIGITS]


def self_contained_case(text: str, path: Path, sample: Sample) -> str:
    """The text of a case file with the sample inserted and absolute paths, so that it can be read from any folder."""
    content = case_content(text, path, sample)
    for table, key in named_files(content):
        # not `resolve`: it would access the disk, and the value may be no valid name
        table[key] = os.path.abspath(path.parent / table[key])
    return tomli_w.dumps(content)

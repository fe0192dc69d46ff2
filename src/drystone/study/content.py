"""What a trial depends on: a case and a sample come in, the key of the trial or a case file of its own goes out.

The key is a digest of the case with the sample in it, of the content of every file it names, of the sample and of the version
of drystone. So a comment in the case changes nothing, and a changed number, block file or record makes another trial.
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
from drystone.study.trials import Sample, sample_text

KEY_DIGITS = 16  # of a key: 64 bits
IGNORED_BY_START = {"analysis": ("duration", "after", "collapse"), "motion": None, "output": None}  # keys of tables, or all


def trial_key(text: str, path: Path, sample: Sample) -> str:
    """The key of the trial of a sample; `text` and `path` are those of the case."""
    content = case_content(text, path, sample)
    files = file_digests(content, path.parent)
    return _digest({"drystone": __version__, "case": content, "files": files, "sample": sample_text(sample)})


def start_key(text: str, path: Path, sample: Sample) -> str:
    """A key of all that the start of a history depends on: not on its motions, nor on how long it is followed."""
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
    """A case file with the sample in it that can be read from any folder."""
    content = case_content(text, path, sample)
    for table, key in named_files(content):
        table[key] = os.path.abspath(path.parent / table[key])  # not `resolve`, which looks at the disk: it may be no name
    return tomli_w.dumps(content)

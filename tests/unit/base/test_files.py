"""Files at the door. Truth: what was put there by hand; a message names the file, what is wrong and the cure."""

import os

import h5py
import numpy as np
import pytest

from drystone.base.errors import InputError
from drystone.base.files.hdf5_check import MAX_OBJECTS, reject_external_links
from drystone.base.files.reading import check_readable, read_bytes, read_own_json, read_utf8


def test_what_is_no_file_is_never_opened(tmp_path):
    """Who opens a pipe waits for its other end, who reads a device never ends."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "device"):
        with pytest.raises(InputError, match=r"cannot be read \(a folder, a pipe or a device\); give a file"):
            read_bytes(path)


@pytest.mark.parametrize("name", ["nothing", "a\0b", "x" * 300, "x/" * 3000])
def test_names_that_no_file_has(tmp_path, name):
    with pytest.raises(InputError, match=r"cannot be read .*; check the path") as caught:
        check_readable(tmp_path / name)
    assert len(str(caught.value)) < 1100


def test_a_file_that_is_too_large(tmp_path):
    (tmp_path / "a").write_bytes(b"12345678")
    assert read_bytes(tmp_path / "a", 8) == b"12345678"
    with pytest.raises(InputError, match=r"a: 0.0 MB, more than 0.0 MB; split the file"):
        read_bytes(tmp_path / "a", 7)


def test_text_is_utf_8_with_or_without_a_mark(tmp_path):
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfa\r\nb")
    assert read_utf8(tmp_path / "a") == "a\nb"
    (tmp_path / "a").write_bytes("ab\xe4".encode("latin-1"))
    with pytest.raises(InputError, match="byte 2 is not UTF-8; save the file as UTF-8"):
        read_utf8(tmp_path / "a")


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "9" * 10_000, "[Infinity]", "[NaN]", "[1e999]"])
def test_what_is_no_json(tmp_path, text):
    (tmp_path / "a").write_text(text)
    with pytest.raises(InputError, match="is not JSON"):
        read_own_json(tmp_path / "a")


OPEN = {
    "a link to another file": (lambda f, _: f.__setitem__("x", h5py.ExternalLink("/etc/passwd", "/")), "/x is a link"),
    "a link inside": (lambda f, _: f.__setitem__("x", h5py.SoftLink("/group/data")), "/x is a link"),
    "a circle": (lambda f, _: f["group"].__setitem__("x", f["/"]), "/group/x is a circular link"),
    "data elsewhere": (lambda f, at: f.create_dataset("x", (8,), "u1", external=[(str(at), 0, 8)]), "/x has its data in"),
    "more than there is": (lambda f, _: f.create_dataset("x", (10**9,), "f8", chunks=(10,)), "/x declares 8,000,000"),
    "very many parts": (
        lambda f, _: [f.create_group(f"g{i}") for i in range(MAX_OBJECTS)],
        "has more than 10,000 groups and datasets",
    ),
}


@pytest.mark.parametrize("kind", OPEN)
def test_files_that_are_not_closed_in_themselves(tmp_path, kind):
    spoil, said = OPEN[kind]
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["group/data"] = np.zeros(1000)
    with h5py.File(path, "r") as file:
        reject_external_links(file, path)
    with h5py.File(path, "r+") as file:
        spoil(file, tmp_path / "other")
    with h5py.File(path, "r") as file, pytest.raises(InputError, match=said):
        reject_external_links(file, path)

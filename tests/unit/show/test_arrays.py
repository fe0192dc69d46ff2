"""Arrays for the page: what goes in comes out, and the bytes are as docs/decisions/0012 says, read here by hand."""

import gzip
import json
import struct

import numpy as np
import pytest

from drystone.show.page.arrays import pack, unpack


def test_there_and_back():
    chance = np.random.default_rng(3)
    arrays = {
        "flags": chance.integers(0, 255, 5).astype(np.uint8),
        "vertex": chance.normal(size=(7, 3)).astype(np.float32),
        "turn": chance.integers(-32768, 32767, (4, 5, 3)).astype(np.int16),
        "none": np.zeros((0, 3), np.uint32),
        "value": chance.integers(0, 65535, (6, 2)).astype(np.uint16),
    }
    back = unpack(pack(arrays, coded=["turn", "value"]))
    assert list(back) == list(arrays)
    for name, array in arrays.items():
        assert back[name].dtype == array.dtype
        np.testing.assert_array_equal(back[name], array)


def test_the_bytes():
    """1 byte, padded to 4, then differences 1, 256 (low bytes 1, 0; high bytes 0, 1)."""
    content = gzip.decompress(pack({"one": np.array([9], np.uint8), "two": np.array([1, 257], np.uint16)}, coded=["two"]))
    (length,) = struct.unpack("<I", content[:4])
    assert json.loads(content[4 : 4 + length])[1] == {"name": "two", "type": "uint16", "shape": [2], "coded": True}
    start = -(-(4 + length) // 4) * 4
    assert list(content[start:]) == [9, 0, 0, 0, 1, 0, 0, 1]


def test_doubles_are_refused():
    with pytest.raises(AssertionError, match="float64"):
        pack({"wide": np.zeros(2)})

"""Arrays for the page (docs/decisions/0012): `pack` turns a dictionary of arrays into one gzip stream, `unpack` reads it back.

>>> arrays = {"pose": np.array([[0, 5], [1, 70], [2, 300]], np.int16)}
>>> (unpack(pack(arrays, coded=["pose"]))["pose"] == arrays["pose"]).all()
np.True_
"""

import gzip
import json
import struct
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

Array = np.ndarray

ARRAY_TYPES = ("float32", "uint32", "int16", "uint16", "uint8")
ALIGNMENT = 4  # [bytes] every array begins at a multiple of this
GZIP_LEVEL = 6


def pack(arrays: Mapping[str, Array], *, coded: Collection[str] = ()) -> bytes:
    """Arrays of `ARRAY_TYPES` as bytes. Those named in `coded`, of 16 bits, are stored as differences along the first axis,
    with their low and high bytes apart."""
    rows, parts = [], []
    for name, array in arrays.items():
        assert array.dtype.name in ARRAY_TYPES, f"{name}: {array.dtype}"
        rows.append({"name": name, "type": array.dtype.name, "shape": list(array.shape), "coded": name in coded})
        parts.append(_encode_differences(array) if name in coded else np.ascontiguousarray(array).tobytes())
    head = json.dumps(rows).encode()
    content = struct.pack("<I", len(head)) + head
    for part in parts:
        content += bytes(-len(content) % ALIGNMENT) + part
    return gzip.compress(content, GZIP_LEVEL, mtime=0)


def unpack(content: bytes) -> dict[str, Array]:
    """The arrays that `pack` has stored."""
    content = gzip.decompress(content)
    (length,) = struct.unpack_from("<I", content)
    rows: list[dict[str, Any]] = json.loads(content[4 : 4 + length])
    arrays, at = {}, 4 + length
    for row in rows:
        at += -at % ALIGNMENT
        kind, shape = np.dtype(row["type"]), tuple(row["shape"])
        size = kind.itemsize * int(np.prod(shape))
        part = content[at : at + size]
        arrays[row["name"]] = (
            _decode_differences(part, kind, shape) if row["coded"] else np.frombuffer(part, kind).reshape(shape)
        )
        at += size
    return arrays


def _encode_differences(array: Array) -> bytes:
    """The first row and the differences of each from the one before, modulo 2^16: all low bytes, then all high bytes."""
    rows = array.view(np.uint16).copy()
    rows[1:] -= rows[:-1].copy()
    return rows.reshape(-1).view(np.uint8).reshape(-1, 2).T.tobytes()


def _decode_differences(part: bytes, kind: np.dtype, shape: tuple[int, ...]) -> Array:
    pairs = np.frombuffer(part, np.uint8).reshape(2, -1).T
    rows = np.ascontiguousarray(pairs).view(np.uint16).reshape(shape)
    return np.cumsum(rows, axis=0, dtype=np.uint16).view(kind)

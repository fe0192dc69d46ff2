"""Writing of PNG files from arrays of colours, without a further library."""

import struct
import zlib
from pathlib import Path

import numpy as np

from drystone.base.files.atomic_write import replace_atomically

Array = np.ndarray


def write_png(path: str | Path, image: Array) -> None:
    """Write an image (H, W, 3) uint8."""
    height, width, _ = image.shape
    # filter 0 (none): pictures of few colours become a fifth smaller than with differences of neighbours
    lines = np.concatenate([np.zeros((height, 1), np.uint8), image.reshape(height, -1)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)) + _chunk(b"IEND", b"")
    with replace_atomically(Path(path)) as part:
        part.write_bytes(b"\x89PNG\r\n\x1a\n" + chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

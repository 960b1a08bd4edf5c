"""Writes PNG files (ISO/IEC 15948)."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]


def encode_png(pixels: Pixels) -> bytes:
    """The file of an image of 8-bit red, green and blue: an array (height, width, 3), top row
    first."""
    height, width, colours = pixels.shape
    if colours != 3 or pixels.dtype != np.uint8 or not pixels.size:
        raise ValueError(f"an image needs (height, width, 3) bytes, not {pixels.shape}")
    # Each row begins with its filter. Filter 2, the difference to the row above, suits walls.
    rows = pixels.reshape(height, width * 3)
    above = np.vstack([np.zeros((1, width * 3), np.uint8), rows[:-1]])
    filtered = np.hstack([np.full((height, 1), 2, np.uint8), rows - above])
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(filtered.tobytes(), 6)
    chunks = [_chunk(b"IHDR", head), _chunk(b"IDAT", body), _chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_png(path: Path, pixels: Pixels) -> None:
    path.write_bytes(encode_png(pixels))

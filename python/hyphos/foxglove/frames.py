"""Splits and classifies WebSocket frames (RFC 6455) of foxglove-sdk. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass

_BINARY = 2
_FIN = 0x80
_END_OF_HEAD = b"\r\n\r\n"
# Opcodes of Foxglove's protocol, first byte of a binary message.
_MESSAGE_DATA, _TIME = 1, 2
_MOST_HEAD = 16_384  # bytes of the reply to a handshake


@dataclass(frozen=True)
class Frame:
    """One frame, or the head of the HTTP reply before the first frame."""

    data: bytes
    # Frames of one flow supersede each other: the messages of one subscription, or the time. None:
    # this frame must not be lost.
    flow: bytes | None = None
    is_message: bool = False


class FrameSplitter:
    """Splits the bytes of a server into frames. `is_open` once the handshake has succeeded.

    The bytes of a reply that refuses the handshake pass unchanged. ValueError if the data are not
    HTTP. A large frame is copied twice: into the buffer, and out of it.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._refused = False
        self.is_open = False

    def feed(self, data: bytes) -> list[Frame]:
        """Returns all frames that are now complete."""
        self._buffer += data
        frames: list[Frame] = []
        if not self.is_open:
            frames += self._handshake()
        if self.is_open:
            frames += self._frames()
        return frames

    def _handshake(self) -> list[Frame]:
        if self._refused:
            head, end = bytes(self._buffer), len(self._buffer)
        else:
            end = self._buffer.find(_END_OF_HEAD) + len(_END_OF_HEAD)
            if end < len(_END_OF_HEAD):
                if len(self._buffer) > _MOST_HEAD:
                    raise ValueError("the reply to the handshake has no end")
                return []
            head = bytes(self._buffer[:end])
            self.is_open = head.startswith(b"HTTP/1.1 101")
            self._refused = not self.is_open
        del self._buffer[:end]
        return [Frame(head)]

    def _frames(self) -> list[Frame]:
        frames, at = [], 0
        while (size := frame_size(self._buffer, at)) is not None and at + size <= len(self._buffer):
            frames.append(tell(bytes(memoryview(self._buffer)[at : at + size])))
            at += size
        del self._buffer[:at]
        return frames


def _lengths(data: bytes | bytearray, at: int) -> tuple[int, int] | None:
    """Bytes of the head and of the payload of the frame at `at`. None if more bytes are needed."""
    if len(data) < at + 2:
        return None
    mask = 4 if data[at + 1] & 0x80 else 0
    length = data[at + 1] & 0x7F
    more = {126: 2, 127: 8}.get(length, 0)
    if len(data) < at + 2 + more:
        return None
    if more:
        length = int.from_bytes(data[at + 2 : at + 2 + more], "big")
    return 2 + more + mask, length


def frame_size(data: bytes | bytearray, at: int = 0) -> int | None:
    """Bytes of the whole frame at `at`. None if its head is not complete."""
    lengths = _lengths(data, at)
    return None if lengths is None else sum(lengths)


def tell(frame: bytes) -> Frame:
    """Classifies a frame. Only complete, unmasked messages with data of a subscription, or with the
    time, may be lost."""
    lengths = _lengths(frame, 0)
    if lengths is None or frame[0] != _FIN | _BINARY or frame[1] & 0x80 or not lengths[1]:
        return Frame(frame)
    start, opcode = lengths[0], frame[lengths[0]]
    if opcode == _MESSAGE_DATA and lengths[1] >= 5:
        return Frame(frame, frame[start : start + 5], is_message=True)
    return Frame(frame, b"time") if opcode == _TIME else Frame(frame)
